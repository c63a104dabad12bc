//! `docs/compatibility.md` says of what three other agents do whether it is here: its rows have one
//! form, its counts are those of its rows, what it points to exists, and each that says yes names a
//! command or a test that shows it.

use std::collections::{BTreeMap, BTreeSet};

use pretty_assertions::assert_eq;
use regex::Regex;

use crate::docs::{read, root, sources};

const PAGE: &str = "docs/compatibility.md";
const MARKS: &[&str] = &["yes", "in part", "not yet", "not for a bot"];
const AGENTS: &[&str] = &["roo", "kilo", "kode"];

/// Fewest `_` of a quoted word that can only be the name of a test.
const FEWEST_BLANKS_OF_A_TEST: usize = 4;

/// Fewest words of a reason why something is not for a bot.
const REASON_WORDS: usize = 4;

/// Returns the cells of each row of the tables in a text, without the heads.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut is_body = false;
    for line in text.lines() {
        if line.starts_with("|---") {
            is_body = true;
        } else if !line.starts_with('|') {
            is_body = false;
        } else if is_body {
            let cells = line.trim_matches('|').split('|');
            found.push(cells.map(|cell| cell.trim().to_owned()).collect());
        }
    }
    found
}

/// Returns what stands before the first section of the page, and the rows of the sections.
fn page() -> (String, Vec<Vec<String>>) {
    let text = read(PAGE);
    let (head, sections) = text.split_once("\n## ").unwrap();
    (head.to_owned(), rows(sections))
}

/// Returns the mark of a row's last cell, and what follows it.
fn marked(cell: &str) -> Option<(&str, &str)> {
    let (mark, rest) = cell.split_once(": ")?;
    MARKS.contains(&mark).then_some((mark, rest))
}

#[test]
fn every_row_of_the_comparison_has_a_place_a_mark_and_what_shows_it() {
    let shown = Regex::new(r"\]\(|`").unwrap();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let (_, rows) = page();
    for row in &rows {
        let [what, agents, here] = row.as_slice() else {
            wrong.push(format!("not three cells: {row:?}"));
            continue;
        };
        if !seen.insert(what.clone()) {
            wrong.push(format!("twice: {what}"));
        }
        let named: Vec<&str> = agents.split(", ").collect();
        let in_order: Vec<&str> =
            AGENTS.iter().copied().filter(|agent| named.contains(agent)).collect();
        if named != in_order {
            wrong.push(format!("{what}: {agents}"));
        }
        let is_complete = match marked(here) {
            None => false,
            Some(("not yet", rest)) => !rest.is_empty(),
            Some(("not for a bot", rest)) => rest.split_whitespace().count() >= REASON_WORDS,
            Some((_, rest)) => shown.is_match(rest),
        };
        if !is_complete {
            wrong.push(format!("{what}: {here}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() > 150, "the rows were not found");
}

#[test]
fn the_counts_of_the_comparison_are_those_of_its_rows() {
    let (head, table) = page();
    let mut counts: BTreeMap<String, usize> =
        MARKS.iter().map(|mark| ((*mark).to_owned(), 0)).collect();
    for row in &table {
        let mark = row.last().and_then(|here| marked(here)).map(|(mark, _)| mark);
        *counts.get_mut(mark.unwrap_or_default()).unwrap() += 1;
    }
    counts.insert("all".to_owned(), table.len());
    let mut said = BTreeMap::new();
    for row in rows(&head) {
        let (mark, count) = (row.first().unwrap(), row.last().unwrap());
        said.insert(mark.clone(), count.parse::<usize>().unwrap());
    }
    assert_eq!(said, counts, "the table above the first section of {PAGE}");
}

#[test]
fn the_comparison_names_only_pages_and_commands_that_exist() {
    let text = read(PAGE);
    let mut wrong = Vec::new();
    let link = Regex::new(r"\]\(([^)#\s]+)").unwrap();
    for found in link.captures_iter(&text) {
        let target = &found[1];
        if !root().join("docs").join(target).is_file() {
            wrong.push(target.to_owned());
        }
    }
    let reference = read("docs/reference-cli.md");
    let known: Vec<&str> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|name| name.starts_with("locum "))
        .collect();
    let command = Regex::new(r"`(locum [^`]+)`").unwrap();
    let mut commands = 0;
    for found in command.captures_iter(&text) {
        commands += 1;
        let written = &found[1];
        let is_known = known.iter().any(|name| {
            written.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        if !is_known {
            wrong.push(written.to_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(commands > 20, "the commands were not found");
}

#[test]
fn each_yes_of_the_comparison_names_a_command_or_a_test_that_shows_it() {
    let tests = test_names();
    let quoted = Regex::new(r"`([^`]+)`").unwrap();
    let mut wrong = Vec::new();
    let (_, rows) = page();
    for row in &rows {
        let Some(("yes", rest)) = row.last().and_then(|here| marked(here)) else { continue };
        let names: Vec<&str> =
            quoted.captures_iter(rest).map(|found| found.get(1).unwrap().as_str()).collect();
        let shows = |name: &&str| {
            let is_file = name.starts_with("tests/") && root().join(name).is_file();
            name.starts_with("locum ") || is_file || tests.contains(*name)
        };
        let is_gone = |name: &&str| {
            let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_test = is_word && name.matches('_').count() >= FEWEST_BLANKS_OF_A_TEST;
            is_test && !tests.contains(*name)
        };
        if !names.iter().any(shows) || names.iter().any(is_gone) {
            wrong.push(row.join(" | "));
        }
    }
    assert!(wrong.is_empty(), "nothing shows it, or a test is gone:\n{}", wrong.join("\n"));
}

/// Returns the names of all tests of the repository.
fn test_names() -> BTreeSet<String> {
    let test =
        Regex::new(r"(?m)^ *#\[(?:tokio::)?test[^\n]*\]\n(?: *#\[[^\n]*\n)* *(?:async )?fn (\w+)")
            .unwrap();
    let sources = ["src", "tests"].map(|folder| sources(root().join(folder)));
    let names = sources.iter().flat_map(|text| test.captures_iter(text));
    names.map(|found| found[1].to_owned()).collect()
}
