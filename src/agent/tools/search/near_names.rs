//! Files and folders whose names are like one that does not exist, for the answer to a wrong path.
//! Only what the policy lets be read is named.

use crate::tools::ToolContext;
use crate::tools::search::walk::FolderWalk;
use locum_base::path::RepoPath;
use locum_base::text::code_list;

/// Most files and folders looked at.
const ENTRIES_LIMIT: usize = 20_000;

/// Most files or folders named.
const NAMES_LIMIT: usize = 3;

/// What a wrong path was to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedEntry {
    File,
    Folder,
    Either,
}

/// Returns ` Did you mean ...?` with the entries most like this one, or nothing.
pub(crate) fn did_you_mean(
    missing: &RepoPath,
    wanted: WantedEntry,
    context: ToolContext<'_>,
) -> String {
    let Some(name) = missing.name().map(str::to_lowercase) else { return String::new() };
    let mut walk = FolderWalk::of_checkout(context.checkout.root());
    let entries = walk.builder().build().take(ENTRIES_LIMIT).flatten();
    let paths: Vec<RepoPath> = entries
        .filter(|entry| {
            entry.file_type().is_some_and(|kind| match wanted {
                WantedEntry::File => kind.is_file(),
                WantedEntry::Folder => kind.is_dir(),
                WantedEntry::Either => kind.is_file() || kind.is_dir(),
            })
        })
        .filter_map(|entry| walk.path_of(&entry))
        .collect();
    let mut near: Vec<(usize, usize, RepoPath)> = paths
        .into_iter()
        .filter_map(|path| {
            let distance = likeness(&name, &path.name()?.to_lowercase())?;
            let apart = strsim::levenshtein(missing.as_str(), path.as_str());
            Some((distance, apart, path))
        })
        .collect();
    near.sort();
    let named: Vec<RepoPath> = near
        .into_iter()
        .map(|(_, _, path)| path)
        .filter(|path| (context.visible)(path))
        .take(NAMES_LIMIT)
        .collect();
    if named.is_empty() { String::new() } else { format!(" Did you mean {}?", code_list(&named)) }
}

/// Returns how far two names are apart; `None` where they are not alike.
fn likeness(wanted: &str, name: &str) -> Option<usize> {
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    if stem(wanted) == stem(name) {
        return Some(usize::from(wanted != name));
    }
    let allowed = 1 + wanted.chars().count() / 5;
    if wanted.len().abs_diff(name.len()) > allowed {
        return None;
    }
    Some(1 + strsim::damerau_levenshtein(wanted, name)).filter(|far| *far <= 1 + allowed)
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn names_files_like_the_one_that_is_missing() {
        let mut fixture = ToolFixture::new(&[
            ("app/utils.py", "x\n"),
            ("lib/utils.py", "x\n"),
            ("app/main.rs", "x\n"),
            ("secret/utils.py", "x\n"),
            ("README.md", "x\n"),
        ]);
        fixture.hidden.push("secret/utils.py");
        let read =
            |path: &str| fixture.call("read_file", &format!("{{\"path\": \"{path}\"}}")).text;
        for (path, expected) in [
            ("app/utls.py", " Did you mean `app/utils.py`, `lib/utils.py`?"),
            ("utils.py", " Did you mean `app/utils.py`, `lib/utils.py`?"),
            ("app/Main.rs", " Did you mean `app/main.rs`?"),
            ("readme.txt", " Did you mean `README.md`?"),
            ("app/other.py", ""),
        ] {
            assert_eq!(
                read(path),
                format!("Cannot read `{path}`: `{path}` does not exist.{expected}")
            );
        }
    }

    #[test]
    fn names_folders_where_a_folder_is_wanted() {
        let mut fixture = ToolFixture::new(&[
            ("app/parser/a.rs", "x\n"),
            ("app/pars", "x\n"),
            ("hidden/parser/b.rs", "x\n"),
        ]);
        fixture.hidden.extend(["hidden/parser", "hidden/parser/b.rs"]);
        let call = |tool: &str, arguments: serde_json::Value| {
            fixture.call(tool, &arguments.to_string()).text
        };
        let (folder, files) = ("app/parsr", json!({ "path": "app/parsr", "regex": "x" }));
        let meant = " Did you mean `app/parser`?";
        for (said, expected) in [
            (
                call("list_files", json!({ "path": folder })),
                "Cannot list `app/parsr`: it does not exist.",
            ),
            (
                call("glob", json!({ "pattern": "*", "path": folder })),
                "Cannot search `app/parsr`: it does not exist.",
            ),
            (
                call("execute_command", json!({ "command": "ls", "cwd": folder })),
                "The command cannot run in `app/parsr`: it is not a folder.",
            ),
            (
                call("execute_command", json!({ "command": "cd app/parsr && ls" })),
                "The command cannot run in `app/parsr`: it is not a folder.",
            ),
        ] {
            assert_eq!(said, format!("{expected}{meant}"));
        }
        let either = " Did you mean `app/pars`, `app/parser`?";
        let said = call("search_files", files);
        assert_eq!(said, format!("Cannot search `app/parsr`: it does not exist.{either}"));
        assert_eq!(
            call("list_files", json!({ "path": "other" })),
            "Cannot list `other`: it does not exist."
        );
    }
}
