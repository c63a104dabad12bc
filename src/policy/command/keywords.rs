//! Words that are part of the shell's grammar, such as `time` or `if`, where a command could start.
//!
//! In: the text of a script. Out: each such word with what stands behind it, so that rules which
//! refuse one can be compared with it. What is quoted is no keyword.

use brush_parser::{Token, tokenize_str};

use crate::command::limits;

const KEYWORDS: &[&str] = &[
    "!", "{", "}", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "select", "then", "time", "until", "while",
];

/// Most bytes of a script in which keywords are looked for.
const LOOKED_AT_BYTES: usize = 65_536;

/// Where a command ends in a text that is not read as a script.
const COMMAND_ENDS: [char; 8] = ['\n', '\r', ';', '&', '|', '(', ')', '`'];

/// The words of a script, cut where a command could start.
pub(crate) struct KeywordFinder(Vec<Vec<String>>);

impl KeywordFinder {
    /// Reads a script. One that is no complete syntax, or beyond the limits of the grammar, is cut
    /// by its letters.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(LOOKED_AT_BYTES)).unwrap_or(text);
        let mut parts = Vec::new();
        match limits::check(text).map(|()| tokenize_str(text)) {
            Ok(Ok(tokens)) => {
                for tokens in tokens.split(|token| matches!(token, Token::Operator(..))) {
                    let words = || tokens.iter().map(Token::to_str);
                    parts.push(words().map(str::to_owned).collect());
                    // Within a word, a command may stand in a substitution.
                    let holds = |word: &&str| word.contains("$(") || word.contains('`');
                    words().filter(holds).for_each(|word| parts.extend(by_letters(word)));
                }
            }
            Ok(Err(_)) | Err(_) => parts.extend(by_letters(text)),
        }
        Self(parts)
    }

    /// Returns each keyword that a command could start with, and the words behind it.
    pub(crate) fn found(&self) -> impl Iterator<Item = &[String]> {
        let is_keyword = |word: &&String| KEYWORDS.contains(&word.as_str());
        self.0.iter().flat_map(move |words| {
            let count = words.iter().take_while(is_keyword).count();
            (0..count).filter_map(|at| words.get(at..))
        })
    }
}

fn by_letters(text: &str) -> impl Iterator<Item = Vec<String>> {
    text.split(COMMAND_ENDS).map(|part| part.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::KeywordFinder;
    use pretty_assertions::assert_eq;

    #[test]
    fn keywords_are_found_where_a_command_could_start() {
        for (text, expected) in [
            ("time ls", "time"),
            ("ls; ! time ls", "! time"),
            ("if a; then b; fi", "if then fi"),
            ("for x in a b\ndo c; done", "for do done"),
            ("{ a; }", "{ }"),
            ("(time a) && ! b | while c; do d; done", "time ! while do done"),
            ("echo \"$(time a)\" `! b`", "time !"),
            ("a 'b", ""),
            ("a; time 'b", "time"),
        ] {
            let found = KeywordFinder::of(text);
            let found: Vec<&str> = found.found().map(|words| words[0].as_str()).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
        for text in [
            "ls time",
            "echo \"a; time b\"",
            "git commit -m 'fix (for now)'",
            "git commit -m \"one\nfor two\n\"",
            "grep -E '(if|for) x' src",
            "cat <<'E'\nfor x\nE",
            "'time' ls",
            "ls # ; time",
        ] {
            assert_eq!(KeywordFinder::of(text).found().count(), 0, "{text}");
        }
    }
}
