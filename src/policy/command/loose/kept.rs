//! Globs that may match what is protected, given to a program of which nothing says that it only
//! reads them: `frob .g*/workflows/ci.yml`.
//!
//! In: a word as it is written, outside quotes, and the folder it is seen from. Out: why no rule
//! such as `command(frob:*)` covers it. Which files there are is not asked for, and what a variable
//! or a substitution stands for is not known here.

use crate::glob::{LetterCase, PathGlob};
use crate::paths::{self, Protection};
use locum_base::path::RepoPath;

/// What stands for the letters that are not known.
const LETTER: &str = "x";

/// Returns a word without its quotes, and with `?` for each set of letters. From the first
/// expansion on it is one letter.
pub(super) fn plain(raw: &str) -> String {
    let (known, is_cut) = match raw.split_once(['$', '`']) {
        Some((known, _)) => (known, true),
        None => (raw, false),
    };
    let mut out = String::with_capacity(known.len());
    let mut rest = known;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '"' | '\'' | '\\' => {}
            '[' => {
                let behind = rest.char_indices().skip(1).find(|(_, letter)| *letter == ']');
                match behind.and_then(|(end, _)| rest.get(end + 1..)) {
                    Some(behind) => {
                        out.push('?');
                        rest = behind;
                    }
                    None => out.push('['),
                }
            }
            letter => out.push(letter),
        }
    }
    if is_cut {
        out.push_str(LETTER);
    }
    out
}

/// Returns a word with a value in the place of a variable, where it holds that variable.
pub(super) fn with_value(raw: &str, name: &str, value: &str) -> Option<String> {
    let whole = format!("${{{name}}}");
    if let Some((before, behind)) = raw.split_once(&whole) {
        return Some(format!("{before}{value}{behind}"));
    }
    let (before, behind) = raw.split_once(&format!("${name}"))?;
    let goes_on = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!behind.starts_with(goes_on)).then(|| format!("{before}{value}{behind}"))
}

/// Returns why a word in its plain form may be the name of what is protected from edits or from
/// reading.
pub(super) fn why(text: &str, folder: &RepoPath) -> Option<String> {
    let sample = folder.join(&text.replace(['*', '?'], LETTER)).ok()?;
    let said = paths::protected(&sample).or_else(|| Protection::default().of_read(&sample));
    if let Some(said) = said {
        return Some(format!("`{text}` names what is protected: {said}"));
    }
    if !text.contains(['*', '?']) {
        return None;
    }
    let glob = match PathGlob::parse(&format!("{folder}/{text}")) {
        Ok(glob) => glob,
        Err(said) => return Some(said),
    };
    let protection = Protection::default();
    let mut kept = protection.unedited().chain(protection.unread());
    let met = kept.find(|kept| may_match(kept, &glob, &sample))?;
    Some(format!("`{text}` may match what `{}` protects; name the files", met.text()))
}

/// Whether a file may match both. A wildcard at the start of a name matches no dot there, and is
/// not about a file such as `AGENTS.md` that may be among the others. What is protected by the end
/// of its name alone counts where a glob has that end.
fn may_match(kept: &PathGlob, glob: &PathGlob, sample: &RepoPath) -> bool {
    let is_hidden = |glob: &PathGlob| glob.parts().iter().any(|part| part.starts_with('.'));
    let is_open =
        |glob: &PathGlob| glob.parts().last().is_some_and(|name| name.starts_with(['*', '?']));
    match (is_hidden(kept), is_hidden(glob)) {
        (true, false) => false,
        (false, _) if is_open(kept) || is_open(glob) => kept.matches(sample, LetterCase::Ignored),
        (true, true) | (false, _) => kept.meets(glob),
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, why, with_value};
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_word_is_plain_without_quotes_sets_and_expansions() {
        for (raw, expected) in [
            (".g*/a", ".g*/a"),
            ("'.g'*/\"a\"", ".g*/a"),
            (".[gG]ithub/[]a]", ".?ithub/?"),
            ("a[b", "a[b"),
            (".github/$x", ".github/x"),
            ("\"$x\"/a", "x"),
            ("a`b`", "ax"),
        ] {
            assert_eq!(plain(raw), expected, "{raw}");
        }
    }

    #[test]
    fn a_variable_is_replaced_by_its_whole_name() {
        for (raw, expected) in [
            ("\"$f\"", Some("\".g*\"")),
            ("a/${f}b", Some("a/.g*b")),
            ("$f.x", Some(".g*.x")),
            ("$fx", None),
            ("f", None),
        ] {
            assert_eq!(with_value(raw, "f", ".g*").as_deref(), expected, "{raw}");
        }
    }

    #[test]
    fn a_glob_that_may_match_what_is_protected_is_named() {
        let root = RepoPath::root();
        for text in [
            ".g*/workflows/ci.yml",
            "./.g*/a",
            ".github/*.yml",
            ".?ithub/a",
            "AGENTS*",
            "src/.g*/config",
            "certs/*.pem",
            ".e*",
            ".github/x",
        ] {
            assert!(why(text, &root).is_some(), "{text}");
        }
        for text in
            ["src/*.py", "*.py", "docs/*.md", "*", "*/*/*.py", "test_*.py", "src/x*", "a", "x"]
        {
            assert_eq!(why(text, &root), None, "{text}");
        }
    }
}
