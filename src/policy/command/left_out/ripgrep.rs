//! Which files a search by `rg` passes over, by its options.
//!
//! In: the words of a command. Out: the patterns of files that it names, and whether it names types
//! of files; nothing where an option may make it pass over fewer files than that.

use std::sync::LazyLock;

use crate::command::tables::options::OptionTable;
use crate::command::tables::text::RIPGREP_NO_MORE_FILES;

static TABLE: LazyLock<OptionTable> =
    LazyLock::new(|| OptionTable::new([RIPGREP_NO_MORE_FILES, ""]));

/// What the options of a search say of the files that it looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileOptions {
    /// Patterns of files, as they are written.
    pub(super) globs: Vec<String>,
    /// Whether types of files are named: what is of one is searched under a hidden name too.
    pub(super) has_types: bool,
}

/// Returns what the options of `rg` say; `None` where more files may be searched.
pub(super) fn file_options(words: &[String]) -> Option<FileOptions> {
    let mut found = FileOptions::default();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| *word != "--") {
        if word.len() < 2 || !word.starts_with('-') {
            at += 1;
            continue;
        }
        let read = TABLE.read(words, at);
        if !read.is_known {
            return None;
        }
        for given in &read.given {
            match given.name {
                "-g" | "--glob" => {
                    let glob = given.value.filter(|_| !given.after_equals)?;
                    found.globs.push(glob.to_owned());
                }
                "-t" | "--type" => found.has_types = true,
                _ => {}
            }
        }
        at = read.next;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::file_options;
    use pretty_assertions::assert_eq;

    #[test]
    fn patterns_and_types_are_found_among_options_that_search_no_more_files() {
        for (text, expected) in [
            ("rg x", Some("")),
            ("rg -n -A3 -B 2 --sort=path x src", Some("")),
            ("rg -rx -M 200 --vimgrep x", Some("")),
            ("rg -g *.rs x", Some("*.rs")),
            ("rg -ng*.rs --glob !a --glob=b x", Some("*.rs !a b")),
            ("rg -tpy x", Some("types")),
            ("rg --type rust -g a x", Some("a types")),
            // A value is not an option, and what is behind `--` is not one either.
            ("rg -e -g x", Some("")),
            ("rg -e --hidden x", Some("")),
            ("rg -- x -g", Some("")),
            ("rg -u x", None),
            ("rg -nu x", None),
            ("rg -. x", None),
            ("rg --hidden x", None),
            ("rg --no-ignore x", None),
            ("rg --iglob a x", None),
            ("rg --ignore-file a x", None),
            ("rg -L x", None),
            ("rg -g=a x", None),
            ("rg x -g", None),
            ("rg --unheard x", None),
        ] {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let found = file_options(&words).map(|found| {
                let types = found.has_types.then(|| "types".to_owned());
                found.globs.into_iter().chain(types).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
