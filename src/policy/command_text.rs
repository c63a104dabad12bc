//! `command-text(...)`: rules that are compared with a command as text, as tools do that know no
//! words.
//!
//! In: the text of a rule and a simple command, both as judged and as written. Out: whether the
//! one starts with the other. A rule that refuses may match by either reading; one that allows
//! needs whole words.

use crate::command::tree::SimpleCommand;
use crate::command::{UNKNOWN, word};
use crate::glob::folded_letter;

/// A simple command as rules are compared with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedCommand<'c> {
    /// The words that are judged; one that is not known holds [`UNKNOWN`].
    pub(crate) words: &'c [String],
    /// The same words as they are written, with their quotes.
    pub(crate) written: &'c [String],
    /// It as it is written, redirections included; more may follow.
    pub(crate) source: &'c str,
}

impl<'c> From<&'c SimpleCommand> for NamedCommand<'c> {
    fn from(simple: &'c SimpleCommand) -> Self {
        Self { words: &simple.words, written: &simple.written, source: &simple.source }
    }
}

impl<'c> From<&'c [String]> for NamedCommand<'c> {
    fn from(words: &'c [String]) -> Self {
        Self { words, written: words, source: "" }
    }
}

/// Returns true when a rule with this text, in lower case, refuses the command: it stands at the
/// command's beginning, however that is written.
pub(crate) fn refuses(text: &str, command: NamedCommand<'_>) -> bool {
    begins(joined(command.words), text)
        || begins(joined(command.written), text)
        || begins(with_single_blanks(command.source), text)
        || (text.contains(['"', '\'', '\\'])
            && word::split(text).is_ok_and(|plain| begins(joined(command.words), &plain.join(" "))))
}

/// Whether a command begins with a text in lower case. Reads no more of the command than it needs.
fn begins(command: impl Iterator<Item = char>, text: &str) -> bool {
    let mut letters = command.map(folded_letter);
    text.chars().map(folded_letter).all(|wanted| letters.next() == Some(wanted))
}

fn joined(words: &[String]) -> impl Iterator<Item = char> {
    words
        .iter()
        .enumerate()
        .flat_map(|(index, word)| (index > 0).then_some(' ').into_iter().chain(word.chars()))
}

/// Returns the letters of a text with one blank for several, and none at its ends.
fn with_single_blanks(text: &str) -> impl Iterator<Item = char> {
    let mut letters = text.trim_start().chars().peekable();
    std::iter::from_fn(move || {
        let letter = letters.next()?;
        if !letter.is_whitespace() {
            return Some(letter);
        }
        while letters.next_if(|next| next.is_whitespace()).is_some() {}
        letters.peek().map(|_| ' ')
    })
}

/// Returns how many words of a command a rule with this text, in lower case, spells out; `None`
/// where it does not stand at the command's beginning. Words that are not known before the command
/// runs count as not spelled out.
pub(crate) fn spelled_out(text: &str, command: NamedCommand<'_>) -> Option<usize> {
    let wanted: Vec<&str> = text.split_ascii_whitespace().collect();
    let long_enough = command.words.len() > wanted.len()
        || (command.words.len() == wanted.len() && !text.ends_with(' '));
    let mut pairs = wanted.iter().zip(command.words);
    if long_enough && pairs.all(|(wanted, word)| *wanted == word.to_lowercase()) {
        return Some(wanted.len());
    }
    let known = command.words.iter().take_while(|word| !word.contains(UNKNOWN)).count();
    written_out(text, command.written).map(|spelled| spelled.min(known))
}

/// As [`spelled_out`], by the words as they are written. Single quotes do not count: the tools that
/// compare texts take them away first.
fn written_out(text: &str, written: &[String]) -> Option<usize> {
    let mut rest = text;
    let mut words = written.iter();
    let mut spelled = 0;
    while !rest.is_empty() {
        let word = words.next()?.to_lowercase();
        // A text that ends between double quotes ends within a word.
        if rest.starts_with('"') && word.starts_with(rest) && word != rest {
            return Some(spelled);
        }
        let after = rest.strip_prefix(word.as_str()).filter(|_| !word.contains('\''))?;
        rest = match after.strip_prefix(' ') {
            Some("") if words.len() == 0 => return None,
            Some(further) => further,
            None if after.is_empty() => after,
            None => return None,
        };
        spelled += 1;
    }
    Some(spelled)
}

/// Returns a script without its quotes, in lower case, with single blanks and none beside
/// operators.
pub(crate) fn bare(script: &str) -> String {
    let is_operator = |letter: char| ";&|<>()".contains(letter);
    let mut out = String::with_capacity(script.len());
    let mut blank = false;
    for letter in script.to_lowercase().chars().filter(|letter| !"'\"\\".contains(*letter)) {
        if letter.is_whitespace() {
            blank = true;
            continue;
        }
        if blank && !out.is_empty() && !out.ends_with(is_operator) && !is_operator(letter) {
            out.push(' ');
        }
        blank = false;
        out.push(letter);
    }
    out.truncate(out.trim_end_matches(';').len());
    out
}

#[cfg(test)]
mod tests {
    use super::{NamedCommand, bare, refuses, spelled_out};
    use crate::command::UNKNOWN;
    use pretty_assertions::{assert_eq, assert_ne};

    /// Cuts at `,`.
    fn words(text: &str) -> Vec<String> {
        text.split(',').map(|word| word.replace('?', UNKNOWN)).collect()
    }

    #[test]
    fn a_script_is_bare_without_quotes_and_blanks_that_mean_nothing() {
        for (one, other) in [("ls  && pwd;", "LS&&'pwd'"), ("a 'b' > c", "a b>c")] {
            assert_eq!(bare(one), bare(other));
        }
        for (one, other) in [("ls && pwd", "ls; pwd"), ("git commit", "gitcommit")] {
            assert_ne!(bare(one), bare(other));
        }
    }

    #[test]
    fn a_text_is_compared_with_the_command_as_judged_and_as_written() {
        for (text, judged, written, refused, spelled) in [
            ("echo $home", "echo,?", "echo,$HOME", true, Some(1)),
            ("echo $home", "echo,?", "echo,$HO", false, None),
            ("echo $ho", "echo,?", "echo,$HOME", true, None),
            ("npm run \"a b\"", "npm,run,a b", "npm,run,\"a b\"", true, Some(3)),
            ("npm run \"a", "npm,run,a b", "npm,run,\"a b\"", true, Some(2)),
            ("npm run 'a", "npm,run,a b", "npm,run,'a b'", true, None),
            ("npm run \"a\"", "npm,run,a", "npm,run,a", true, None),
            ("npm run \"b\"", "npm,run,a", "npm,run,a", false, None),
            ("git ", "git", "git", false, None),
            ("git ", "git,log", "git,log", true, Some(1)),
            ("gi", "git,log", "git,log", true, None),
        ] {
            let (judged, written) = (words(judged), words(written));
            let command = NamedCommand { words: &judged, written: &written, source: "" };
            assert_eq!(refuses(text, command), refused, "{text} refuses {written:?}");
            assert_eq!(spelled_out(text, command), spelled, "{text} allows {written:?}");
        }
    }
}
