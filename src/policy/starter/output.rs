//! What builds and tests leave behind and git ignores, so that nothing of it is published: it may
//! be written and removed.
//!
//! In: a repository scan. Out: globs with why. Folders whose names begin with a dot are protected,
//! so that no line for `.pytest_cache` and its like would open them.

use std::collections::BTreeSet;

use crate::starter::scan::{ProposedLine, StarterScan};
use crate::words;

/// Folders that builds and tests write.
const FOLDERS: &str = "bin build coverage dist htmlcov out target";
/// Files that they write.
const FILES: &str = ".coverage .eslintcache coverage.out coverage.xml lcov.info";

/// Finds build output and caches of which the repository holds nothing.
pub(super) fn find(scan: &StarterScan) -> Vec<ProposedLine> {
    let ignored = scan.texts.iter().find(|(path, _)| path.as_str() == ".gitignore");
    let lines = ignored.map(|(_, text)| text.lines()).into_iter().flatten();
    let names = lines.map(|line| line.trim().trim_matches('/'));
    let globs: BTreeSet<String> = names.filter_map(|name| glob(scan, name)).collect();
    let line = |glob: &String| ProposedLine::new(format!("edit({glob})"), ".gitignore");
    globs.iter().filter_map(line).collect()
}

/// Returns the glob of what a name in `.gitignore` stands for.
fn glob(scan: &StarterScan, name: &str) -> Option<String> {
    let is_held = |name: &str| scan.files.iter().any(|path| path.as_str().starts_with(name));
    let anywhere = || scan.files.iter().any(|path| path.parts().any(|part| part == name));
    match name {
        // What is installed stays as it is.
        "node_modules" if !anywhere() => Some("node_modules/.cache/**".to_owned()),
        _ if words::holds(FOLDERS, name) && !is_held(&format!("{name}/")) => {
            Some(format!("{name}/**"))
        }
        _ if words::holds(FILES, name) && !is_held(name) => Some(name.to_owned()),
        _ => None,
    }
}
