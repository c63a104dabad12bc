//! `Diagnostic`: one mistake in a file, a variable or a flag, with where it is and what to do about
//! it.
//!
//! In: what its reader found. Out: the same as data, and as text: `file:line:column: what`, the
//! line it is on, then `hint: what to do`.

use std::fmt;

use crate::excerpt::Excerpt;
use crate::position::Position;
use locum_base::secret::Redactor;

/// One mistake in what a user wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, variable or flag; empty where the message says it itself, or the reader was given
    /// a text without a name.
    pub origin: String,
    /// Line and column in the file; line 0 means all of it.
    pub place: Position,
    /// Where in the file's data, such as `customModes.0.groups`; empty where that adds nothing.
    pub path: String,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl Diagnostic {
    /// Returns a mistake at a place of a text whose name the caller knows.
    pub fn new(place: Position, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), ..Self::default() }
    }

    /// Returns a mistake in a flag, a variable or a whole file.
    pub fn about(origin: impl Into<String>, message: impl Into<String>) -> Self {
        Self { origin: origin.into(), message: message.into(), ..Self::default() }
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the file it is in.
    pub fn in_file(mut self, origin: &str) -> Self {
        origin.clone_into(&mut self.origin);
        self
    }

    /// Returns `file:line:column`; the origin alone where all of it is meant.
    pub fn location(&self) -> String {
        let Self { origin, place, .. } = self;
        if place.line == 0 { origin.clone() } else { format!("{origin}:{place}") }
    }

    /// Returns what is wrong, behind the path of the key it is about.
    pub fn what(&self) -> String {
        let Self { path, message, .. } = self;
        if path.is_empty() { message.clone() } else { format!("`{path}`: {message}") }
    }

    /// Returns where and what in one line, without excerpt and hint.
    pub fn headline(&self) -> String {
        let location = self.location();
        let colon = if location.is_empty() { "" } else { ": " };
        format!("{location}{colon}{}", self.what())
    }

    /// Gives mistakes of one text their excerpts.
    pub fn attach_excerpts(mistakes: &mut [Self], text: &str) {
        let redactor = Redactor::new([]);
        let mut lines: Vec<u32> = mistakes.iter().map(|mistake| mistake.place.line).collect();
        lines.sort_unstable();
        let needed = (1u32..)
            .zip(text.trim_start_matches('\u{feff}').lines())
            .filter(|(number, _)| lines.binary_search(number).is_ok());
        for (number, line) in needed {
            for mistake in mistakes.iter_mut().filter(|mistake| mistake.place.line == number) {
                mistake.excerpt = Excerpt::of(line, mistake.place, &redactor);
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.headline())?;
        if let Some(excerpt) = &self.excerpt {
            write!(formatter, "\n{excerpt}")?;
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Diagnostic;
    use crate::excerpt::Excerpt;
    use crate::position::Position;
    use pretty_assertions::assert_eq;

    #[test]
    fn shows_the_place_the_line_and_the_hint_where_there_are_any() {
        let place = Position { line: 2, column: 3 };
        let mistake = Diagnostic::new(place, "unknown key `alow`").in_file("policy.yml");
        assert_eq!(mistake.to_string(), "policy.yml:2:3: unknown key `alow`");
        let shown = Diagnostic {
            path: "rules.0".to_owned(),
            excerpt: Excerpt::find("rules:\n- alow: x\n", place),
            ..mistake.hint("did you mean `allow`?")
        };
        let expected = "policy.yml:2:3: `rules.0`: unknown key `alow`\n  2 | - alow: x\n    |   \
                        ^^^^\nhint: did you mean `allow`?";
        assert_eq!(shown.to_string(), expected);
        let whole = Diagnostic::new(Position::default(), "the file is empty");
        assert_eq!(whole.to_string(), "the file is empty");
        assert_eq!(whole.in_file("a.yml").to_string(), "a.yml: the file is empty");
    }
}
