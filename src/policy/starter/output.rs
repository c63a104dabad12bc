//! What builds and tests leave behind and git ignores, so that nothing of it is published: it may
//! be written and removed.
//!
//! In: a repository scan, and the folders whose tests run. Out: globs with why. What lies in a
//! folder at the top whose name begins with a dot is protected: a line for `.pytest_cache` and its
//! like lets it be removed, and opens nothing in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::starter::scan::{ProposedLine, StarterScan, at, parent};
use crate::words;

/// Number of folders side by side from which one pattern replaces theirs.
const SIBLINGS: usize = 3;
/// The name of ignore files.
const IGNORE_FILE: &str = ".gitignore";
/// Folders that builds and tests write.
const FOLDERS: &str = "\
    _build bin build cover coverage dist htmlcov out playwright-report site storybook-static \
    target test-results";
/// Caches and build output with a dot before their names.
const CACHES: &str = "\
    .angular .build .dart_tool .docusaurus .expo .gradle .hypothesis .mypy_cache .next .nuxt \
    .nyc_output .output .parcel-cache .pytest_cache .ruff_cache .svelte-kit .turbo .vite";
/// Those of them that leave themselves out of commits, in projects in Python.
const OF_PYTHON: &[&str] = &[".mypy_cache", ".pytest_cache", ".ruff_cache"];
/// Caches in a folder of installed packages, which stays as it is otherwise.
const OF_PACKAGES: &[&str] = &[".cache", ".vite", ".vitest"];
/// Files that they write.
const FILES: &str = ".coverage .eslintcache coverage.out coverage.xml lcov.info";

/// What git ignores in one folder, and the ignore file that says so.
type IgnoredName<'s> = (&'s str, &'s str, String);

/// Finds build output and caches of which the repository holds nothing: at the top, and in these
/// folders, whose tests write there.
pub(super) fn find(scan: &StarterScan, folders: &BTreeSet<String>) -> Vec<ProposedLine> {
    let mut ignored: Vec<IgnoredName<'_>> = Vec::new();
    for folder in std::iter::once("").chain(folders.iter().map(String::as_str)) {
        for file in BTreeSet::from([at(folder, IGNORE_FILE), IGNORE_FILE.to_owned()]) {
            let is_own = file == at(folder, IGNORE_FILE);
            let text = scan.texts.iter().find(|(path, _)| path.as_str() == file);
            let lines = text.map(|(_, text)| text.lines()).into_iter().flatten().map(str::trim);
            // A line that begins with a slash is about the folder of the file alone.
            let lines = lines.filter(|line| is_own || !line.starts_with('/'));
            ignored.extend(lines.map(|line| (folder, line.trim_matches('/'), file.clone())));
        }
    }
    ignored.retain(|(folder, name, _)| !opened(scan, folder, name).is_empty());
    let mut globs: BTreeMap<String, &str> = BTreeMap::new();
    for (folder, name, file) in &ignored {
        let shared = (!folder.is_empty()).then(|| at(parent(folder), "*"));
        let is_alike =
            |other: &&IgnoredName<'_>| other.1 == *name && parent(other.0) == parent(folder);
        let is_shared = ignored.iter().filter(is_alike).count() >= SIBLINGS;
        let shared = shared.filter(|_| is_shared && !is_held_beside(scan, folder, name));
        let place = shared.as_deref().unwrap_or(folder);
        for glob in opened(scan, place, name) {
            globs.entry(glob).or_insert(file);
        }
    }
    if scan.files.iter().any(|path| path.as_str().ends_with(".py")) {
        for glob in OF_PYTHON.iter().flat_map(|name| opened(scan, "", name)) {
            globs.entry(glob).or_insert("it ignores itself");
        }
    }
    let line = |(glob, file): (String, &str)| ProposedLine::new(format!("edit({glob})"), file);
    globs.into_iter().filter_map(line).collect()
}

/// Whether a folder beside this one holds something of a name.
fn is_held_beside(scan: &StarterScan, folder: &str, name: &str) -> bool {
    let is_held = |path: &str| {
        let below = path.strip_prefix(parent(folder)).unwrap_or_default().trim_start_matches('/');
        below.split('/').nth(1) == Some(name)
    };
    scan.files.iter().any(|file| is_held(file.as_str()))
}

/// Returns the globs of what a name in an ignore file stands for in a folder.
fn opened(scan: &StarterScan, folder: &str, name: &str) -> Vec<String> {
    let path = at(folder, name);
    let is_held = |path: &str| scan.files.iter().any(|file| file.as_str().starts_with(path));
    let anywhere = || scan.files.iter().any(|path| path.parts().any(|part| part == name));
    if name == "node_modules" && !anywhere() {
        return OF_PACKAGES.iter().map(|cache| format!("{path}/{cache}/**")).collect();
    }
    let is_cache = words::holds(CACHES, name);
    if is_held(&format!("{path}/")) {
        return Vec::new();
    }
    match name {
        _ if is_cache && folder.is_empty() => vec![path],
        _ if is_cache || words::holds(FOLDERS, name) => vec![format!("{path}/**")],
        _ if words::holds(FILES, name) && !is_held(&path) => vec![path],
        _ => Vec::new(),
    }
}
