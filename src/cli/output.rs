//! `Output`: the one way to stdout and stderr. Results go to stdout, all other messages to stderr.
//!
//! A reader that closes stdout early (`locum modes list | head -1`) is not an error: what follows
//! is dropped in silence. Any other error (a full disk behind `>`) is kept and reported by
//! [`Output::finish`], so that a cut result is never taken for a whole one.

use std::io::{self, ErrorKind, IsTerminal as _, Write};

use clap::ColorChoice;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;

use crate::cli::colour::{Colours, Role};
use crate::cli::line_filter::LineFilter;
use crate::cli::table;
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;
use locum_base::secret::plain::PlainValues;

/// The streams for a command's result and its messages.
pub struct Output {
    results: Box<dyn Write>,
    talk: Box<dyn Write>,
    error: Option<io::Error>,
    /// What everything passes that is written.
    filter: LineFilter,
    /// Whether messages are JSON objects, as the logs beside them are.
    json_talk: bool,
    /// Whether something of a result was written.
    has_result: bool,
    /// Whether a terminal shows the result.
    is_seen: bool,
    /// Whether the result has colours.
    colours: Colours,
    /// Whether messages have colours.
    talk_colours: Colours,
    /// What stands below the lines on a terminal; hidden unless a run is followed there.
    below: ProgressBar,
    /// Whether stderr can show something that changes.
    draws: bool,
}

impl Output {
    /// Returns the process's own stdout (buffered, locked for good) and stderr.
    pub fn standard(color: ColorChoice) -> Self {
        let results = Box::new(io::BufWriter::new(io::stdout().lock()));
        Self {
            colours: Colours::of(color, &io::stdout()),
            talk_colours: Colours::of(color, &io::stderr()),
            draws: io::stderr().is_terminal(),
            is_seen: io::stdout().is_terminal(),
            ..Self::to(results, Box::new(io::stderr()))
        }
    }

    /// Returns an output that writes to given places.
    pub fn to(results: Box<dyn Write>, talk: Box<dyn Write>) -> Self {
        Self {
            results,
            talk,
            error: None,
            filter: LineFilter::default(),
            json_talk: false,
            has_result: false,
            is_seen: false,
            colours: Colours::OFF,
            talk_colours: Colours::OFF,
            below: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            draws: false,
        }
    }

    /// Takes these values out of everything that is written from now on.
    pub fn hide(&mut self, hidden: PlainValues) {
        self.filter.hide(hidden);
    }

    /// Says that an Actions runner reads what is written: from now on no line is a command to it
    /// but those of [`Output::command`].
    pub fn for_runner(&mut self) {
        self.filter.for_runner();
        self.draws = false;
    }

    /// Returns what everything passes that is written, for others that write to the same streams.
    pub(super) fn filter(&self) -> LineFilter {
        self.filter.clone()
    }

    /// Writes messages as logs in JSON are written: one object a line.
    pub fn talk_in_json(&mut self) {
        self.json_talk = true;
        self.draws = false;
    }

    /// Says that the terminal cannot move its cursor.
    pub fn draw_nothing(&mut self) {
        self.draws = false;
    }

    /// Returns whether stderr can show something that changes.
    pub(super) fn can_draw(&self) -> bool {
        self.draws
    }

    /// Returns what stands below the lines. Whoever else writes to the terminal suspends it.
    pub(super) fn below(&self) -> &ProgressBar {
        &self.below
    }

    /// Returns the colours of the result.
    pub fn colours(&self) -> Colours {
        self.colours
    }

    /// Returns the colours of messages.
    pub fn talk_colours(&self) -> Colours {
        if self.json_talk { Colours::OFF } else { self.talk_colours }
    }

    /// Writes a mistake, a warning or a note as a part of the result. It may repeat words of
    /// anyone's file.
    pub fn message(&mut self, text: &str) {
        self.line(self.colours.message(&visible(text)));
    }

    /// Writes a line of the result.
    pub fn line(&mut self, text: impl std::fmt::Display) {
        let text = self.filter.written(&text.to_string()).into_owned();
        self.line_as_it_is(text);
    }

    /// Writes a command of ours to the runner; `report::actions` makes it, of one line.
    pub fn command(&mut self, text: impl std::fmt::Display) {
        let text = self.filter.without_values(&text.to_string()).into_owned();
        self.line_as_it_is(text);
    }

    /// Writes a patch: for eyes, so that nothing in it hides; for a pipe or a file as it is, so
    /// that it applies.
    pub fn patch(&mut self, patch: &str) {
        let patch = patch.strip_suffix('\n').unwrap_or(patch);
        if self.is_seen { self.line(visible(patch)) } else { self.line(patch) }
    }

    /// Returns whether something of a result was written.
    pub(super) fn has_result(&self) -> bool {
        self.has_result
    }

    /// Writes a line that may name a secret: the command that makes the runner mask it.
    pub fn line_as_it_is(&mut self, text: impl std::fmt::Display) {
        self.has_result = true;
        self.write(|results| writeln!(results, "{text}"));
    }

    /// Prints rows below their headings; nothing where there is none.
    pub fn table<const N: usize>(
        &mut self,
        head: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        let rows: Vec<[String; N]> = rows.into_iter().collect();
        let lines = table::lines(head, &rows).into_iter().enumerate();
        for (number, line) in lines {
            let role = (number == 0).then_some(Role::Head);
            self.line(role.map_or(line.clone(), |role| self.colours.paint(role, &line)));
        }
    }

    /// Writes a value as indented JSON and a line end.
    pub fn json(&mut self, value: &impl Serialize) {
        self.json_text(serde_json::to_string_pretty(value));
    }

    /// Writes a value as one line of JSON and hands it on at once, for readers that follow along.
    pub fn json_line(&mut self, value: &impl Serialize) {
        self.json_record(value);
        self.write(|results| results.flush());
    }

    /// Writes a value as one line of JSON, to be handed on with [`Output::hand_on`].
    pub fn json_record(&mut self, value: &impl Serialize) {
        self.json_text(serde_json::to_string(value));
    }

    /// Hands on what was written. Returns false when the reader has closed its end.
    pub fn hand_on(&mut self) -> bool {
        self.write(|results| results.flush());
        self.error.is_none()
    }

    /// Writes bytes of the result as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.has_result = true;
        let bytes = self.filter.bytes_without_values(bytes).into_owned();
        self.write(|results| results.write_all(&bytes));
    }

    /// Writes a line to stderr. What was written to stdout before it is shown first.
    pub fn talk(&mut self, text: impl std::fmt::Display) {
        self.write(|results| results.flush());
        // NOTE: with stderr gone there is nowhere left to report it.
        let text = self.filter.written(&text.to_string()).into_owned();
        let text = if self.json_talk {
            let is_error = text.starts_with("error: ");
            let level = if is_error { "ERROR" } else { "INFO" };
            serde_json::json!({ "level": level, "message": text, "target": "locum::cli" })
                .to_string()
        } else {
            self.talk_colours.message(&text)
        };
        let talk = &mut self.talk;
        let _ = self.below.suspend(|| writeln!(talk, "{text}"));
    }

    /// Hands everything on.
    ///
    /// # Errors
    /// When a part of the result could not be written, except to a reader that went away.
    pub fn finish(&mut self) -> Result<(), RunError> {
        self.write(|results| results.flush());
        match self.error.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(RunError::internal(format!("stdout: {error}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn json_text(&mut self, text: serde_json::Result<String>) {
        match text {
            // The same value to whoever reads it as JSON.
            Ok(text) if self.filter.is_for_runner() => self.line(text.replace("##[", "#\\u0023[")),
            Ok(text) => self.line(text),
            Err(error) => self.write(|_| Err(error.into())),
        }
    }

    fn write(&mut self, act: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.error.is_none() {
            let results = &mut *self.results;
            self.error = self.below.suspend(|| act(results)).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Output;
    use locum_base::secret::Secret;
    use locum_base::secret::plain::PlainValues;
    use pretty_assertions::assert_eq;
    use std::io::{self, ErrorKind, Write};

    struct FailingWriter(ErrorKind);

    impl Write for FailingWriter {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_line_is_a_command_to_the_runner() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let results = Box::new(file.reopen().unwrap());
        let mut output = Output::to(results, Box::new(io::sink()));
        output.line("::notice::ours");
        output.for_runner();
        output.line("ok\n  ::add-mask::build\n##[error]x");
        output.json(&"##[error]x");
        output.finish().unwrap();
        assert_eq!(
            std::fs::read_to_string(file.path()).unwrap(),
            "::notice::ours\nok\n  : :add-mask::build\n## [error]x\n\"#\\u0023[error]x\"\n"
        );
    }

    #[test]
    fn a_message_is_no_command_and_shows_no_value_and_ours_is_a_command() {
        let (results, talk) =
            (tempfile::NamedTempFile::new().unwrap(), tempfile::NamedTempFile::new().unwrap());
        let writer = |file: &tempfile::NamedTempFile| Box::new(file.reopen().unwrap());
        let mut output = Output::to(writer(&results), writer(&talk));
        output.hide(PlainValues::new([Secret::new("correct-horse")]));
        output.talk("error: x\n::notice::before");
        output.for_runner();
        output.talk("error: `x\n::set-output name=a::b\n##[add-mask]a\r::stop-commands::z`");
        output.talk("correct-horse");
        output.command("::group::correct-horse");
        output.finish().unwrap();
        let read = |file: &tempfile::NamedTempFile| std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(
            read(&talk),
            "error: x\n::notice::before\nerror: `x\n: :set-output name=a::b\n## [add-mask]a\r: \
             :stop-commands::z`\n***\n"
        );
        assert_eq!(read(&results), "::group::***\n");
    }

    #[test]
    fn a_reader_that_went_away_is_no_fault_and_a_full_disk_is() {
        for (kind, is_fault) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
            let mut output = Output::to(Box::new(FailingWriter(kind)), Box::new(io::sink()));
            output.line("one");
            output.json(&[1, 2]);
            assert_eq!(output.finish().is_err(), is_fault, "{kind}");
        }
    }
}
