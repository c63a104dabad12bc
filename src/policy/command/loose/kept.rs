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
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut is_literal = false;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '\'' => is_literal = !is_literal,
            '$' | '`' if !is_literal => {
                out.push_str(LETTER);
                return out;
            }
            '"' | '\\' => {}
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
    out
}

/// Returns a word with a value in the place of a variable, where it holds that variable. What an
/// expansion in front of it stands for is left out.
pub(super) fn with_value(raw: &str, name: &str, value: &str) -> Option<String> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut out, mut rest, mut is_found) = (String::new(), raw, false);
    while let Some((before, behind)) = rest.split_once('$') {
        let (brace, inner) = match behind.strip_prefix('{') {
            Some(inner) => ("}", inner),
            None => ("", behind),
        };
        let of_it = inner.strip_prefix(name).filter(|after| !after.starts_with(is_of_name));
        out.push_str(before);
        let Some(after) = of_it else {
            out.push('$');
            rest = behind;
            continue;
        };
        if let Some(at) = out.rfind(['$', '`']) {
            out.truncate(at);
        }
        out.push_str(value);
        is_found = true;
        // `${f#x}` is a part of it.
        rest = after.split_once(brace).map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    is_found.then_some(out)
}

/// Returns what stands behind the last expansion of a word, below whatever folder that is.
pub(super) fn behind_expansion(raw: &str) -> Option<&str> {
    let last = raw.rfind(['$', '`'])?;
    Some(raw.get(last..)?.split_once('/')?.1)
}

/// Returns what an option names in its own word: the `a` of `--out=a` and of `-oa`.
pub(super) fn of_option(text: &str) -> Option<&str> {
    if let Some(option) = text.strip_prefix("--") {
        return option.split_once('=').map(|(_, value)| value);
    }
    let rest = text.strip_prefix('-')?;
    rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..))
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
    let is_open = kept.parts().last().is_some_and(|name| name.starts_with('*'));
    let is_any = glob.parts().last().is_some_and(|name| {
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        stem.chars().all(|letter| matches!(letter, '*' | '?'))
    });
    match (is_hidden(kept), is_hidden(glob)) {
        (true, false) => false,
        (false, _) if is_open || is_any => kept.matches(sample, LetterCase::Ignored),
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
            ("'$'/../.g*", "$/../.g*"),
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
            ("${f#x}", Some(".g*")),
            ("$a$f", Some(".g*")),
            ("$f$f", Some(".g*.g*")),
            ("-o$f", Some("-o.g*")),
            ("$a", None),
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
            "?GENTS.md",
            "src/.g*/config",
            "certs/*.pem",
            ".e*",
            ".github/x",
        ] {
            assert!(why(text, &root).is_some(), "{text}");
        }
        for text in [
            "src/*.py",
            "src/??.py",
            "*.py",
            "docs/*.md",
            "*",
            "*/*/*.py",
            "test_*.py",
            "src/x*",
            "a",
            "x",
        ] {
            assert_eq!(why(text, &root), None, "{text}");
        }
    }
}
