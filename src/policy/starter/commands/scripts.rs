//! Scripts of the repository that are started by their path: `./scripts/test.sh`. With the name of
//! a shell before it, each runs where scripts of a shell do.

use crate::command::tables::tasks;
use crate::starter::commands::{RepositoryTools, is_safe};
use crate::starter::scan::split;
use crate::words;
use locum_base::path::RepoPath;

/// Folders of scripts.
const FOLDERS: &str = "bin ci dev hack script scripts tools";
/// Parts of names of scripts that test, check or build: further words may follow these.
const CHECKING: &str = "build check ci fmt format lint spec test tests types typecheck unit verify";
/// Parts of names of scripts that change the machine, or start something that stays.
const OTHERS: &str = "bootstrap clean dev download fetch reset run serve server setup start up";
/// Most scripts with lines of their own.
const MOST: usize = 6;

/// Adds the scripts, those that check before the others.
pub(super) fn scripts(found: &mut RepositoryTools<'_>) {
    let mut scripts: Vec<(&RepoPath, bool)> =
        found.scan.files.iter().filter_map(|path| Some((path, checks(path)?))).collect();
    scripts.sort_by_key(|(path, checks)| (!checks, path.parts().count()));
    for (path, checks) in scripts.into_iter().take(MOST) {
        let more = if checks { ":*" } else { "" };
        for here in ["./", ""] {
            // At the top, the bare name would be a program of the machine.
            if here == "./" || path.parts().count() > 1 {
                found.add(&format!("{here}{path}{more}"), false, "a script of the repository");
            }
        }
    }
}

/// Returns whether a file is a script that checks; `None` for what is no script, or one whose name
/// says that it does more.
fn checks(path: &RepoPath) -> Option<bool> {
    let (folder, name) = split(path);
    let stem = name.strip_suffix(".sh").or_else(|| name.strip_suffix(".bash")).unwrap_or(name);
    let is_named = |list: &str| stem.split(['-', '_', '.']).any(|part| words::holds(list, part));
    let checks = is_named(CHECKING);
    let is_of_shell = stem != name && (folder.is_empty() || words::holds(FOLDERS, folder));
    let is_script = is_of_shell || checks && words::holds("bin hack script scripts", folder);
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !(stem == name && name.contains('.'));
    let does_more = tasks::reaches_out(path.as_str()) || is_named(OTHERS);
    (is_script && is_plain && is_safe(stem) && !does_more).then_some(checks)
}
