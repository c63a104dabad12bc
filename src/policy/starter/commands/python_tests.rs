//! Which runner the test files of a Python project are written for.
//!
//! In: a repository scan, with the texts of test files as far as they were read. Out: pytest, or
//! the commands by which another runner finds all of them. A runner that finds none would pass.

use std::collections::BTreeSet;

use crate::starter::scan::{StarterScan, has, is_installed, is_plain, parent, split};
use locum_base::path::RepoPath;

/// Most commands that share the tests.
const MOST: usize = 4;
/// Most commands that are named as left out.
const NAMED: usize = 5;
/// Files that make a folder below the top a project with tests of its own.
const OWN_PROJECT: &[&str] = &["pyproject.toml", "setup.py"];

/// What runs tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TestRunner {
    /// pytest, which finds tests of every kind.
    Pytest,
    /// These commands, of the standard library or of Django.
    Commands(Vec<String>),
}

/// What a test file is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestStyle {
    Pytest,
    Unittest,
    Django,
}

/// The test files of the top project.
struct OwnTests<'s> {
    /// Those whose texts show what they are written for.
    shown: Vec<(&'s RepoPath, TestStyle)>,
    /// Those that were not read, as there are too many.
    unread: Vec<&'s RepoPath>,
}

/// Returns true for a file of tests, by its name.
fn is_test(path: &RepoPath) -> bool {
    let (folder, name) = split(path);
    (name.starts_with("test_") && name.ends_with(".py"))
        || name.ends_with("_test.py")
        || folder.is_empty() && matches!(name, "test.py" | "tests.py")
}

/// Returns true for a file whose text may show what tests are written for: Django's own name for
/// the tests of an app is among them.
pub(in crate::starter) fn is_sampled(path: &RepoPath) -> bool {
    is_test(path) || path.name() == Some("tests.py")
}

/// Returns the files of tests. `tests.py` in a folder is one to Django alone.
pub(super) fn files(scan: &StarterScan) -> Vec<&RepoPath> {
    let has_manager = has_manager(scan);
    let is_meant = |path: &&RepoPath| is_test(path) || has_manager && is_sampled(path);
    scan.files.iter().filter(is_meant).collect()
}

/// Returns what runs the tests of the top project, and a file that shows it; `None` where no file
/// that was read does.
pub(super) fn runner<'s>(
    scan: &'s StarterScan,
    tests: &[&'s RepoPath],
) -> Option<(&'s RepoPath, TestRunner)> {
    let own = OwnTests::of(scan, tests);
    if let Some(path) = own.of_style(TestStyle::Pytest).next() {
        return Some((path, TestRunner::Pytest));
    }
    if let Some(path) = own.of_style(TestStyle::Django).next().filter(|_| has_manager(scan)) {
        return Some((path, TestRunner::Commands(vec!["python manage.py test".to_owned()])));
    }
    let first = own.of_style(TestStyle::Unittest).next()?;
    let mut commands = own.unittest(scan);
    commands.truncate(MOST);
    (!commands.is_empty()).then_some((first, TestRunner::Commands(commands)))
}

/// Returns the commands that are left out beside those of a project that run its tests.
pub(in crate::starter) fn beyond(scan: &StarterScan, success: &[&str]) -> Vec<String> {
    let commands = OwnTests::of(scan, &files(scan)).unittest(scan);
    let Some((taken, left)) = commands.split_at_checked(MOST) else { return Vec::new() };
    // What starts Python in the environment of the project.
    let start = success.iter().find_map(|own| {
        let mut starts = taken.iter().filter_map(|command| own.strip_suffix(command.as_str()));
        starts.find(|start| !start.starts_with("cd "))
    });
    let all = |start: &str| left.iter().map(|command| format!("{start}{command}")).collect();
    start.map(all).unwrap_or_default()
}

/// Says which tests are left out beside these success commands, as a sentence on what to do.
pub(in crate::starter) fn untested(scan: &StarterScan, success: &[&str]) -> Option<String> {
    let left = Some(beyond(scan, success)).filter(|left| !left.is_empty())?;
    let named: Vec<String> =
        left.iter().take(NAMED).map(|command| format!("`{command}`")).collect();
    let more = left.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!(
        "No success command runs {}{more}. If a change has to pass it, add it to \
         `publish.success`, or let one command run all tests.",
        named.join(", ")
    ))
}

impl<'s> OwnTests<'s> {
    fn of(scan: &'s StarterScan, tests: &[&'s RepoPath]) -> Self {
        let projects = folders_with(scan, OWN_PROJECT);
        let mut own = Self { shown: Vec::new(), unread: Vec::new() };
        for path in tests.iter().copied().filter(|path| !is_within(&projects, split(path).0)) {
            let has_name = is_test(path);
            if let Some(text) = scan.texts.get(path) {
                let style = style(text);
                let style = style.filter(|style| has_name || *style == TestStyle::Django);
                own.shown.extend(style.map(|style| (path, style)));
            } else if has_name && !is_installed(path) {
                own.unread.push(path);
            }
        }
        own
    }

    fn of_style(&self, wanted: TestStyle) -> impl Iterator<Item = &'s RepoPath> {
        self.shown.iter().filter(move |(_, style)| *style == wanted).map(|(path, _)| *path)
    }

    /// Returns the commands with which the standard library finds its tests, those of files that
    /// were read first. It looks into packages alone, and begins in the folder that holds the
    /// outermost of them.
    fn unittest(&self, scan: &StarterScan) -> Vec<String> {
        let packages = folders_with(scan, &["__init__.py"]);
        let start = |path: &'s RepoPath| -> (&'s str, bool) {
            let (mut start, name) = split(path);
            while !start.is_empty() && packages.contains(start) {
                start = parent(start);
            }
            (start, name.starts_with("test"))
        };
        let shown: BTreeSet<(&str, bool)> = self.of_style(TestStyle::Unittest).map(start).collect();
        if shown.is_empty() {
            return Vec::new();
        }
        let unread: BTreeSet<(&str, bool)> = self.unread.iter().copied().map(start).collect();
        let is_plain = |start: &str| start.is_empty() || is_plain(start);
        let command = |(start, is_usual): (&str, bool)| match (start, is_usual) {
            ("", true) => "python -m unittest".to_owned(),
            ("", false) => "python -m unittest discover -p '*_test.py'".to_owned(),
            (start, true) => format!("python -m unittest discover -s {start}"),
            (start, false) => format!("python -m unittest discover -s {start} -p '*_test.py'"),
        };
        let starts = shown.iter().chain(unread.difference(&shown)).copied();
        starts.filter(|(start, _)| is_plain(start)).map(command).collect()
    }
}

/// Whether a folder is one of these, or lies in one of them; the top is none.
fn is_within(folders: &BTreeSet<&str>, folder: &str) -> bool {
    let mut folder = folder;
    while !folder.is_empty() {
        if folders.contains(folder) {
            return true;
        }
        folder = parent(folder);
    }
    false
}

/// Returns the folders that hold a file of one of these names.
fn folders_with<'s>(scan: &'s StarterScan, names: &[&str]) -> BTreeSet<&'s str> {
    let files = scan.files.iter().map(split);
    files.filter(|(_, name)| names.contains(name)).map(|(folder, _)| folder).collect()
}

fn has_manager(scan: &StarterScan) -> bool {
    has(scan, "", "manage.py")
}

/// Returns what a file of tests is written for. Functions and plain classes are tests to pytest
/// alone.
fn style(text: &str) -> Option<TestStyle> {
    let begins =
        |words: &[&str]| text.lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    if imports(text, "pytest") || begins(&["def test", "async def test"]) {
        Some(TestStyle::Pytest)
    } else if imports(text, "django.test") || imports(text, "rest_framework.test") {
        Some(TestStyle::Django)
    } else if imports(text, "unittest") {
        Some(TestStyle::Unittest)
    } else {
        begins(&["class Test"]).then_some(TestStyle::Pytest)
    }
}

/// Whether a line imports a module, or something of it.
fn imports(text: &str, module: &str) -> bool {
    let is_meant = |name: &str| {
        let rest = name.trim_start().strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.', '\t', '#']))
    };
    text.lines().map(str::trim).any(|line| match line.strip_prefix("import ") {
        Some(names) => names.split(',').any(is_meant),
        None => line.strip_prefix("from ").is_some_and(is_meant),
    })
}

#[cfg(test)]
mod tests {
    use super::{TestStyle, imports, style};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_test_file_shows_what_it_is_written_for() {
        for (text, expected) in [
            ("import pytest\n", Some(TestStyle::Pytest)),
            ("import os, pytest\n", Some(TestStyle::Pytest)),
            ("def test_a():\n    assert 1\n", Some(TestStyle::Pytest)),
            ("async def test_a():\n    assert 1\n", Some(TestStyle::Pytest)),
            ("class TestA:\n    def test_a(self): ...\n", Some(TestStyle::Pytest)),
            ("from unittest import mock\ndef test_a(): ...\n", Some(TestStyle::Pytest)),
            ("import unittest\nclass TestA(unittest.TestCase): ...\n", Some(TestStyle::Unittest)),
            ("from unittest import TestCase\n", Some(TestStyle::Unittest)),
            ("from django.test import TestCase\n", Some(TestStyle::Django)),
            ("from x import test\n", None),
            ("", None),
        ] {
            assert_eq!(style(text), expected, "{text}");
        }
        assert!(imports("    from unittest.mock import patch\n", "unittest"));
        assert!(!imports("import unittest2\nfrom pytester import x\n", "unittest"));
    }
}
