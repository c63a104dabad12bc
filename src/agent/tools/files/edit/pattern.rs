//! Regular expressions of an edit: the bounds within which they, and those of a search, are
//! compiled, and where they may match no text: at the beginnings and ends of lines that `^` or `$`
//! names, which something may be put at.

use regex::{Regex, RegexBuilder};

/// Longest regular expression, in bytes.
pub(crate) const PATTERN_LIMIT_BYTES: usize = 2 * 1024;

/// Most memory of a compiled expression, in bytes: what it is matched with grows with it.
const COMPILED_LIMIT_BYTES: usize = 256 * 1024;

/// Most memory of what is worked out while an expression is matched, in bytes.
const DFA_LIMIT_BYTES: usize = 8 * COMPILED_LIMIT_BYTES;

/// Deepest nesting of an expression.
pub(crate) const NEST_LIMIT: u32 = 50;

/// Compiles a pattern.
///
/// # Errors
/// With the place of a mistake, or what is too large.
pub(super) fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, String> {
    if pattern.len() > PATTERN_LIMIT_BYTES {
        let why = format!("it has more than {PATTERN_LIMIT_BYTES} bytes");
        return Err(why);
    }
    RegexBuilder::new(pattern)
        .multi_line(true)
        .case_insensitive(ignore_case)
        .size_limit(COMPILED_LIMIT_BYTES)
        .dfa_size_limit(DFA_LIMIT_BYTES)
        .nest_limit(NEST_LIMIT)
        .build()
        .map_err(|error| error.to_string())
}

/// Returns true where an empty match is meant: at an edge of a line that the pattern names.
pub(super) fn is_named_edge(pattern: &Regex, text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let begins = before.is_empty() || before.ends_with('\n');
    let ends = after.is_empty() || after.starts_with('\n');
    let names = |sign: char| pattern.as_str().contains(sign);
    begins && names('^') || ends && names('$')
}

/// Returns true behind the last line end, where there is no line any more.
pub(super) fn is_behind_last_line(text: &str, at: usize) -> bool {
    at == text.len() && (text.is_empty() || text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use crate::tools::files::apply_diff::NearCopies;
    use crate::tools::files::edit::search::{MeantPlaces, SearchEdit, SearchSyntax};
    use crate::tools::files::edit::{FileChange, change};
    use pretty_assertions::assert_eq;

    fn every(text: &str, search: &str, replace: &str) -> Result<String, String> {
        let edit = SearchEdit {
            search: search.to_owned(),
            replace: replace.to_owned(),
            syntax: SearchSyntax::Regex,
            ignore_case: false,
            places: MeantPlaces::Every,
            within: None,
        };
        let done = change(text, &FileChange::Search(edit), NearCopies::Ask);
        done.map(|applied| applied.content).map_err(|error| error.to_string())
    }

    #[test]
    fn every_line_is_prefixed_or_followed_by_something_empty_ones_too() {
        for (text, search, replace, expected) in [
            ("a\n\nb\n", "^(.*)$", "> $1", "> a\n> \n> b\n"),
            ("a\n\nb\n", "^", "> ", "> a\n> \n> b\n"),
            ("a\n\nb", "^", "> ", "> a\n> \n> b"),
            ("a\n\nb\n", "$", ";", "a;\n;\nb;\n"),
            ("a\n\nb\n", "^$", "-", "a\n-\nb\n"),
            ("a\r\n\r\nb\r\n", "^", "> ", "> a\r\n> \r\n> b\r\n"),
            ("\u{feff}a\nb\n", "^", "> ", "\u{feff}> a\n> b\n"),
            ("a  \nb\n", " *$", "", "a\nb\n"),
        ] {
            assert_eq!(every(text, search, replace).as_deref(), Ok(expected), "{text:?} {search}");
        }
        for (text, search) in [("ab\n", "x*"), ("ab\n", "^x*|y*"), ("ab\n", r"\b")] {
            let error = every(text, search, "-").unwrap_err();
            assert!(error.contains("matches the empty text, at line 1"), "{error}");
        }
        assert!(every("", "^", "> ").unwrap_err().contains("is not in the file"));
    }
}
