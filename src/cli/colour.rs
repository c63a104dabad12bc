//! `Colours`: which of our own words stand out on a terminal.
//!
//! In: `--color`, `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and whether a stream is a terminal, as
//! anstream reads them. Out: text with escape sequences around whole words, or the text as it was.
//! Text of others is coloured only after its own control characters are spelled out.

use std::ffi::OsString;

use anstream::AutoStream;
use anstream::stream::RawStream;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;

use locum_agent::session::outcome::OutcomeWord;
use locum_policy::verdict::Decision;

/// The flag that decides over colours.
const FLAG: &str = "--color";

/// What a word is, which its colour says again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Something failed or was refused.
    Bad,
    /// Something surprises, or waits for a person.
    Caution,
    /// Something went well or is allowed.
    Good,
    /// A note, or what to do.
    Advice,
    /// The head of a table, or of a block.
    Head,
    /// What frames the text.
    Quiet,
}

impl Role {
    fn style(self) -> Style {
        match self {
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Caution => AnsiColor::Yellow.on_default().bold(),
            Self::Good => AnsiColor::Green.on_default().bold(),
            Self::Advice => AnsiColor::Cyan.on_default().bold(),
            Self::Head => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
        }
    }
}

impl From<Decision> for Role {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Good,
            Decision::Hold => Self::Caution,
            Decision::Deny => Self::Bad,
        }
    }
}

impl From<OutcomeWord> for Role {
    fn from(word: OutcomeWord) -> Self {
        match word.exit_code() {
            0 => Self::Good,
            5 => Self::Caution,
            _ => Self::Bad,
        }
    }
}

/// Whether a stream shows colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colours(bool);

impl Colours {
    /// Colours on.
    pub const ON: Self = Self(true);
    /// Colours off.
    pub const OFF: Self = Self(false);

    /// Decides for a stream: the flag first, then the variables, then whether it is a terminal.
    pub fn of(choice: ColorChoice, stream: &impl RawStream) -> Self {
        match choice {
            ColorChoice::Always => Self::ON,
            ColorChoice::Never => Self::OFF,
            ColorChoice::Auto => Self(AutoStream::choice(stream) != anstream::ColorChoice::Never),
        }
    }

    /// Returns whether colours are on.
    pub fn are_on(self) -> bool {
        self.0
    }

    /// Returns a text in the colour of its role.
    pub fn paint(self, role: Role, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }

    /// Returns a line whose first word has the colour of its role.
    pub fn first_word(self, role: Role, line: &str) -> String {
        let start = line.len() - line.trim_start().len();
        let (indent, rest) = line.split_at(start);
        let (word, rest) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        format!("{indent}{}{rest}", self.paint(role, word))
    }

    /// Returns a line of a run that is followed, whose word at the beginning has a colour.
    pub fn live_line(self, line: &str) -> String {
        let role = match line.split_whitespace().next() {
            Some("allow" | "yes") => Role::Good,
            Some("deny" | "denied" | "failed") => Role::Bad,
            Some("hold" | "asks") => Role::Caution,
            Some("exit" | "check" | "checks" | "edit" | "todo" | "says") => Role::Quiet,
            Some("task" | "session" | "outcome") if !line.starts_with(' ') => Role::Head,
            Some(_) | None => return line.to_owned(),
        };
        self.first_word(role, line)
    }

    /// Returns the summary of an outcome, whose first line says it.
    pub fn summary(self, word: OutcomeWord, text: &str) -> String {
        let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
        format!("{}{rest}", self.paint(word.into(), first))
    }

    /// Returns a message whose words `error:`, `warning:`, `note:` and `hint:` at the beginning of
    /// lines stand out, and the excerpts of files between them.
    pub fn message(self, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        text.split('\n').map(|line| self.message_line(line)).collect::<Vec<_>>().join("\n")
    }

    fn message_line(self, line: &str) -> String {
        let roles = [
            ("error:", Role::Bad),
            ("warning:", Role::Caution),
            ("note:", Role::Advice),
            ("hint:", Role::Advice),
        ];
        for (word, role) in roles {
            if let Some(rest) = line.strip_prefix(word) {
                return format!("{}{rest}", self.paint(role, word));
            }
        }
        match line.split_once(" | ") {
            Some((number, carets)) if is_margin(number) && is_carets(carets) => {
                let margin = self.paint(Role::Quiet, &format!("{number} | "));
                format!("{margin}{}", self.paint(Role::Bad, carets))
            }
            Some((number, text)) if is_margin(number) => {
                format!("{}{text}", self.paint(Role::Quiet, &format!("{number} | ")))
            }
            Some(_) | None => line.to_owned(),
        }
    }
}

/// Returns what `--color` says among the arguments, for what is said before they are understood.
pub(super) fn choice_among(arguments: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut arguments = arguments.take_while(|word| word != "--");
    while let Some(word) = arguments.next() {
        let word = word.to_string_lossy().into_owned();
        let value = match word.strip_prefix(FLAG) {
            Some("") => arguments.next().map(|value| value.to_string_lossy().into_owned()),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        choice = value.and_then(|value| value.parse().ok()).unwrap_or(choice);
    }
    choice
}

/// Returns whether a text is what stands before an excerpt: two spaces, and a number or its room.
fn is_margin(text: &str) -> bool {
    text.strip_prefix("  ").is_some_and(|number| {
        !number.is_empty() && number.chars().all(|letter| letter == ' ' || letter.is_ascii_digit())
    })
}

fn is_carets(text: &str) -> bool {
    text.ends_with('^') && text.trim_start().chars().all(|letter| letter == '^')
}

#[cfg(test)]
mod tests {
    use super::{Colours, Role, choice_among};
    use clap::ColorChoice;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_our_own_words_are_coloured_and_only_where_asked() {
        let message = "error: a.yml:2:3: unknown key\n  2 | - alow: x\n    |   ^^^^\nhint: no";
        assert_eq!(Colours::OFF.message(message), message);
        assert_eq!(
            Colours::ON.message(message),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a.yml:2:3: unknown key\n\u{1b}[2m  2 | \u{1b}[0m- \
             alow: x\n\u{1b}[2m    | \u{1b}[0m\u{1b}[1m\u{1b}[31m  ^^^^\u{1b}[0m\n\u{1b}[1m\u{1b}\
             [36mhint:\u{1b}[0m no"
        );
        assert_eq!(Colours::ON.message("it has an error: no"), "it has an error: no");
        assert_eq!(
            Colours::ON.first_word(Role::Good, "  allow  read(a)"),
            "  \u{1b}[1m\u{1b}[32mallow\u{1b}[0m  read(a)"
        );
        assert_eq!(Colours::OFF.first_word(Role::Good, "  allow  read(a)"), "  allow  read(a)");
    }

    #[test]
    fn the_flag_is_found_among_arguments_that_do_not_parse() {
        for (words, expected) in [
            ("run --colour", ColorChoice::Auto),
            ("--color always rnu", ColorChoice::Always),
            ("rnu --color=never", ColorChoice::Never),
            ("--color sometimes", ColorChoice::Auto),
            ("run -- --color always", ColorChoice::Auto),
        ] {
            let found = choice_among(words.split(' ').map(Into::into));
            assert_eq!(found, expected, "{words}");
        }
    }
}
