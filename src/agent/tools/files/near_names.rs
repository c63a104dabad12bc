//! Files whose names are like one that does not exist, for the answer to a wrong path. Only what
//! the policy lets be read is named.

use crate::tools::ToolContext;
use crate::tools::arguments::quoted;
use crate::tools::search::walk::FolderWalk;
use locum_base::path::RepoPath;

/// Most files and folders looked at.
const ENTRIES_LIMIT: usize = 20_000;

/// Most files named.
const NAMES_LIMIT: usize = 3;

/// Returns ` Did you mean ...?` with the files most like this one, or nothing.
pub(crate) fn did_you_mean(missing: &RepoPath, context: ToolContext<'_>) -> String {
    let Some(name) = missing.name().map(str::to_lowercase) else { return String::new() };
    let mut walk = FolderWalk::of_checkout(context.checkout.root());
    let entries = walk.builder().build().take(ENTRIES_LIMIT).flatten();
    let paths: Vec<RepoPath> = entries
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
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
    if named.is_empty() { String::new() } else { format!(" Did you mean {}?", quoted(&named)) }
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
}
