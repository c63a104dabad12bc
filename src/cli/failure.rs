//! How an error is shown: words on stderr and, to who asked for JSON, an object on stdout as well.
//!
//! In: an error, and the arguments as they were written, for it may be about them. Out: the words
//! and the object. A command that has already written its result writes no second object.

use std::ffi::OsString;

use serde::Serialize;

use crate::cli::ExitStatus;
use crate::cli::output::Output;
use crate::run::error::RunError;
use locum_files::diagnostic::Diagnostic;

/// What is asked of the result on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorForm {
    /// Text for readers: stdout stays empty.
    Text,
    /// One indented object.
    Json,
    /// One object on one line.
    JsonLine,
}

impl ErrorForm {
    /// Returns the form that arguments ask for, whether or not they are right.
    pub(super) fn asked(arguments: impl Iterator<Item = OsString>) -> Self {
        let words: Vec<String> = arguments
            .take_while(|word| word != "--")
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let format = |name: &str| {
            let joined = format!("--output-format={name}");
            words.contains(&joined)
                || words.windows(2).any(|pair| *pair == ["--output-format", name])
        };
        if format("stream-json") {
            Self::JsonLine
        } else if format("json") || words.iter().any(|word| word == "--json") {
            Self::Json
        } else {
            Self::Text
        }
    }
}

/// Whether arguments ask for messages in JSON, whether or not they are right.
pub(super) fn asks_for_json_messages(arguments: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = arguments.take_while(|word| word != "--").collect();
    words.iter().any(|word| word == "--log-format=json")
        || words.windows(2).any(|pair| *pair == ["--log-format", "json"])
}

/// An error as programs read it.
#[derive(Serialize)]
struct ErrorReport<'a> {
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    exit_code: u8,
    /// Every mistake that was found.
    mistakes: Vec<MistakeRow<'a>>,
}

#[derive(Serialize)]
struct MistakeRow<'a> {
    /// The file, variable or flag; empty where the message says it itself.
    origin: &'a str,
    /// Counted from 1; 0 for all of it.
    line: u32,
    /// Counted from 1; 0 for all of it.
    column: u32,
    /// The key it is about; may be empty.
    path: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> From<&'a Diagnostic> for MistakeRow<'a> {
    fn from(mistake: &'a Diagnostic) -> Self {
        let Diagnostic { origin, place, path, message, hint, excerpt: _ } = mistake;
        Self {
            origin,
            line: place.line,
            column: place.column,
            path,
            message,
            hint: hint.as_deref(),
        }
    }
}

/// Shows an error of a command.
pub(super) fn show(
    error: &RunError,
    status: ExitStatus,
    form: ErrorForm,
    output: &mut Output,
) -> ExitStatus {
    output.talk(error.report());
    object(&error.diagnostics, status, form, output);
    status
}

/// Shows mistakes as an object, where that was asked and nothing else is there.
pub(super) fn object(
    mistakes: &[Diagnostic],
    status: ExitStatus,
    form: ErrorForm,
    output: &mut Output,
) {
    if output.has_result() && form != ErrorForm::JsonLine {
        return;
    }
    let mistakes = mistakes.iter().map(MistakeRow::from).collect();
    let report = ErrorReport { error: ErrorBody { exit_code: status.code(), mistakes } };
    match form {
        ErrorForm::Text => {}
        ErrorForm::Json => output.json(&report),
        ErrorForm::JsonLine => output.json_line(&report),
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorForm, asks_for_json_messages};
    use pretty_assertions::assert_eq;

    #[test]
    fn json_is_asked_for_by_words_that_need_not_be_right() {
        for (words, expected) in [
            ("run x", ErrorForm::Text),
            ("rnu --json", ErrorForm::Json),
            ("run --output-format json", ErrorForm::Json),
            ("run --output-format=stream-json", ErrorForm::JsonLine),
            ("run -- --json", ErrorForm::Text),
            ("run --output-format text", ErrorForm::Text),
        ] {
            assert_eq!(ErrorForm::asked(words.split(' ').map(Into::into)), expected, "{words}");
        }
    }

    #[test]
    fn messages_in_json_are_asked_for_by_words_that_need_not_be_right() {
        for (words, expected) in [
            ("run --bogus --log-format json", true),
            ("--log-format=json rnu", true),
            ("run --log-format text", false),
            ("run json", false),
            ("run -- --log-format json", false),
        ] {
            let asked = asks_for_json_messages(words.split(' ').map(Into::into));
            assert_eq!(asked, expected, "{words}");
        }
    }
}
