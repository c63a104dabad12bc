//! `/locum ...` in a comment: found only at the start of a line, outside code, quotes and HTML
//! comments.
//!
//! In: the comment's text and the prefix. Out: the first command, as written. It does not know
//! which words are modes, nor what a command does: the caller does.

pub mod flag;
mod plain_text;
pub mod verb;

use crate::command::flag::Flag;
use crate::command::verb::{BelowQuestion, Verb};

/// A command as written in a comment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommentCommand {
    /// The first word after the prefix when it is a verb or could be a mode, in small letters and
    /// without the sign behind it; the caller knows the modes.
    pub verb: Option<String>,
    /// The verb as it is written and the line end behind it, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// `--flag`, `--flag=value`, in order.
    pub flags: Vec<(String, Option<String>)>,
    /// The rest of the line and the lines after it.
    pub text: String,
}

impl CommentCommand {
    /// Returns a command below a quoted question as the answer to it, unless its verb is about what
    /// waits, or about the thread.
    fn answering(self, question: &str) -> Self {
        match self.known_verb().map(Verb::below_question) {
            Some(BelowQuestion::Itself) => self,
            Some(BelowQuestion::ItselfAlone) if self.text.is_empty() => self,
            Some(BelowQuestion::ItselfAlone | BelowQuestion::Answer) | None => {
                let text = format!("{question} {}", self.whole_text());
                let verb = Some(Verb::Answer.as_str().to_owned());
                Self { verb, written: None, text, ..self }
            }
        }
    }

    /// Returns the verb, where the first word is one; a mode may have the same name.
    pub fn known_verb(&self) -> Option<Verb> {
        Verb::parse(self.verb.as_deref()?)
    }

    /// Returns verb and text together: the task, for a caller to whom the first word is neither
    /// verb nor mode.
    pub fn whole_text(&self) -> String {
        match (self.written.as_ref().or(self.verb.as_ref()), self.text.as_str()) {
            (None, text) => text.to_owned(),
            (Some(verb), "") => verb.trim_end().to_owned(),
            (Some(verb), text) if verb.ends_with('\n') => format!("{verb}{text}"),
            (Some(verb), text) => format!("{verb} {text}"),
        }
    }
}

/// Digits of the name of a question or hold.
pub const QUESTION_DIGITS: usize = 16;

/// A word is read as a flag or verb up to this length.
const WORD_LIMIT_BYTES: usize = 100;

/// Finds the command of a comment; the first one counts. `None` when there is none.
pub fn parse(body: &str, prefix: &str) -> Option<CommentCommand> {
    let body = with_plain_ends(body);
    let (command, above) = find_command(&body, prefix)?;
    Some(match quoted_question(&quoted(&body, above), prefix) {
        Some(question) => command.answering(&question),
        None => command,
    })
}

/// Returns what is quoted above the command of a comment, without the marks of the quote; `None`
/// where there is no command, or one whose verb is about what waits, or about the thread.
pub fn quoted_above(body: &str, prefix: &str) -> Option<String> {
    let body = with_plain_ends(body);
    let (command, above) = find_command(&body, prefix)?;
    let quoted = quoted(&body, above);
    let is_no_answer = command.clone().answering("").verb == command.verb;
    if is_no_answer || quoted_question(&quoted, prefix).is_some() {
        return None;
    }
    let unmarked = quoted.iter().filter_map(|line| line.trim_start_matches(' ').strip_prefix('>'));
    let text = unmarked.map(str::trim).collect::<Vec<_>>().join("\n");
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns the line of the command of a comment, as written.
pub fn line_of(body: &str, prefix: &str) -> Option<String> {
    let body = with_plain_ends(body);
    let (_, above) = find_command(&body, prefix)?;
    body.lines().nth(above).map(|line| line.trim().to_owned())
}

fn with_plain_ends(body: &str) -> String {
    body.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the first command, with how many lines stand above it.
fn find_command(body: &str, prefix: &str) -> Option<(CommentCommand, usize)> {
    let mut plain = None;
    let mut at = 0;
    for (above, line) in body.split_inclusive('\n').enumerate() {
        at += line.len();
        let Some(rest) = command_in(line, prefix) else { continue };
        // Most comments hold no command, and are not read as Markdown.
        let plain = plain.get_or_insert_with(|| plain_text::plain_lines(body));
        if plain.get(&(above + 1)).is_some_and(|word| begins(line, word)) {
            return Some((read_command(rest, body.get(at..).unwrap_or_default()), above));
        }
    }
    None
}

/// Returns the lines of quotes among the first lines of a comment.
fn quoted(body: &str, above: usize) -> Vec<&str> {
    let head = body.lines().take(above);
    if !head.clone().any(|line| line.trim_start_matches(' ').starts_with('>')) {
        return Vec::new();
    }
    let quotes = plain_text::quoted_lines(body);
    head.enumerate()
        .filter(|(index, _)| quotes.contains(&(index + 1)))
        .map(|(_, line)| line)
        .collect()
}

/// Whether a line begins with a word that is seen at its start.
fn begins(line: &str, word: &str) -> bool {
    !word.is_empty() && line.trim_start_matches(' ').starts_with(word)
}

/// Returns the name of the question that is quoted: what the run's comment says to answer it with.
fn quoted_question(quoted: &[&str], prefix: &str) -> Option<String> {
    let call = format!("{prefix} answer ");
    quoted.iter().filter_map(|line| command_of_quote(line, &call)).find_map(|rest| {
        let name = rest.split([' ', '`']).next()?;
        (name.len() == QUESTION_DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .then(|| name.to_owned())
    })
}

/// Returns what follows a command in a quoted line: on a line of its own, as the run's comment
/// shows it to be copied, or in a code span.
fn command_of_quote<'l>(line: &'l str, call: &str) -> Option<&'l str> {
    let own = line.trim_start_matches(['>', ' ']).strip_prefix(call);
    own.or_else(|| line.split_once(&format!("`{call}")).map(|(_, rest)| rest))
}

/// Returns what follows the prefix when the line starts with it: three blanks before it at most, a
/// word boundary after it.
fn command_in<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let trimmed = line.trim_start_matches(' ');
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    after_prefix(trimmed, prefix)
}

/// Returns what follows the prefix of commands where a text begins with it, in letters of either
/// case and with a word boundary after it.
pub(crate) fn after_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    let begins = !prefix.is_empty() && head.eq_ignore_ascii_case(prefix);
    (begins && rest.chars().next().is_none_or(char::is_whitespace)).then_some(rest)
}

fn read_command(line: &str, after: &str) -> CommentCommand {
    let mut command = CommentCommand::default();
    let mut rest = line.trim();
    loop {
        let (word, next) = split_word(rest);
        if let Some(flag) = flag_of(word).filter(|flag| is_flag(flag)) {
            rest = command.take_flag(flag, next);
        } else if let (None, Some(verb)) = (&command.verb, verb_of(word)) {
            let ends_line = next.is_empty() && !after.trim().is_empty();
            command.written = (ends_line || verb != word)
                .then(|| if ends_line { format!("{word}\n") } else { word.to_owned() });
            command.verb = Some(verb);
            rest = next;
        } else {
            break;
        }
        // After the verb only flags are read; the first other word starts the text.
        if command.verb.is_some() && flag_of(rest).is_none() {
            break;
        }
    }
    command.text = format!("{rest}\n{after}").trim().to_owned();
    command
}

impl CommentCommand {
    /// Records a flag and returns what is left of the line.
    fn take_flag<'a>(&mut self, flag: &str, rest: &'a str) -> &'a str {
        let (name, value, rest) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.trim_matches('"')), rest),
            None if Flag::parse(flag).is_some_and(Flag::takes_value) => match split_word(rest) {
                (value, next) if !value.is_empty() && !value.starts_with("--") => {
                    (flag, Some(value), next)
                }
                _ => (flag, None, rest),
            },
            None => (flag, None, rest),
        };
        self.flags.push((name.to_owned(), value.map(str::to_owned)));
        rest
    }
}

fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    }
}

/// Returns what follows the dashes of a flag. Keyboards of phones make one long dash of two.
pub fn flag_of(word: &str) -> Option<&str> {
    word.strip_prefix("--").or_else(|| word.strip_prefix(['–', '—']))
}

fn is_flag(text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    text.len() <= 4 * WORD_LIMIT_BYTES && is_verb(name)
}

/// Returns the verb or mode that a word may be, whatever the case of its letters and the sign
/// behind it.
fn verb_of(word: &str) -> Option<String> {
    if matches!(word, "?" | "-h") {
        return Some("help".to_owned());
    }
    let verb = word.trim_end_matches(['.', ',', ':', ';', '!', '?']).to_ascii_lowercase();
    is_verb(&verb).then_some(verb)
}

/// Verbs and modes are one word: a small letter, then small letters, digits and dashes.
fn is_verb(text: &str) -> bool {
    text.len() <= WORD_LIMIT_BYTES
        && text.starts_with(|letter: char| letter.is_ascii_lowercase())
        && text
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
}

#[cfg(test)]
mod tests;
