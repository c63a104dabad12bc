//! `LiveRun`: a run as it is followed: a line for what happened and, on a terminal, below the lines
//! what it does now.
//!
//! In: events, and the output of commands. Out: lines on stdout or stderr. What stands below the
//! lines goes away when the run is over, however it ended. What the lines say is decided in
//! `report`.

use std::cell::RefCell;
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;

use crate::cli::colour::{Colours, Role};
use crate::cli::output::Output;
use crate::cli::run_args::OutputFormat;
use locum_agent::report::live::LiveLines;
use locum_agent::report::live_status::{LiveStatus, OUTPUT_LIMIT_LINES, StatusKind, StatusLine};
use locum_agent::session::event::JournalLine;
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_base::secret::Redactor;
use locum_sandbox::exec::tail::OutputTail;

/// Time between two drawings.
const TICK: Duration = Duration::from_millis(120);

/// Width that is taken for a terminal that does not say its own, in characters.
const WIDTH_DEFAULT: usize = 80;

/// Characters before each line of the status.
const INDENT: usize = 2;

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct RunDisplay {
    /// Form of the result.
    pub format: OutputFormat,
    /// Whether the run is followed line by line.
    pub live: LiveOutput,
}

/// Whether a run is followed line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveOutput {
    /// On stderr, next to the result.
    Beside,
    /// On stdout, as a part of the result.
    Within,
    /// Not at all.
    Off,
}

/// A run as it is followed.
pub(super) struct LiveRun<'a> {
    followed: RefCell<Followed<'a>>,
    /// What stands below the lines; hidden where nobody sees it change.
    bar: ProgressBar,
    clock: &'a dyn Clock,
    redactor: &'a Redactor,
    /// Output of the commands that run.
    pub(super) tail: OutputTail,
}

struct Followed<'a> {
    output: &'a mut Output,
    show: RunDisplay,
    lines: LiveLines,
    status: LiveStatus,
}

impl<'a> LiveRun<'a> {
    /// Begins to follow a run.
    pub(super) fn new(
        output: &'a mut Output,
        show: RunDisplay,
        clock: &'a dyn Clock,
        redactor: &'a Redactor,
    ) -> Self {
        let bar = output.below().clone();
        if show.live == LiveOutput::Beside && output.can_draw() {
            bar.set_style(style());
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let (lines, status) = (LiveLines::default(), LiveStatus::default());
        let followed = RefCell::new(Followed { output, show, lines, status });
        Self { followed, bar, clock, redactor, tail: OutputTail::default() }
    }

    /// Shows what happened.
    pub(super) fn follow(&self, line: &JournalLine, state: &SessionState) {
        let mut followed = self.followed.borrow_mut();
        let Followed { output, show, lines, status } = &mut *followed;
        status.take_in(line, state);
        if show.format == OutputFormat::StreamJson {
            output.json_line(line);
        }
        let lines = lines.lines(line, state);
        for text in lines {
            match show.live {
                LiveOutput::Off => {}
                LiveOutput::Beside => {
                    let colours = output.talk_colours();
                    output.talk(colours.live_line(&text));
                }
                LiveOutput::Within => output.line(output.colours().live_line(&text)),
            }
        }
    }

    /// Does the work of the run, and draws beside it.
    pub(super) async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        let mut ticks = tokio::time::interval(TICK);
        tokio::pin!(work);
        loop {
            tokio::select! {
                ended = &mut work => {
                    self.bar.finish_and_clear();
                    self.bar.set_draw_target(ProgressDrawTarget::hidden());
                    return ended;
                }
                _ = ticks.tick(), if !self.bar.is_hidden() => self.draw(),
            }
        }
    }

    fn draw(&self) {
        let followed = self.followed.borrow();
        let width = Term::stderr().size_checked().map_or(WIDTH_DEFAULT, |(_, width)| width.into());
        let colours = followed.output.talk_colours();
        let status = &followed.status;
        let output = if status.is_acting() {
            self.tail.lines(OUTPUT_LIMIT_LINES, self.redactor)
        } else {
            Vec::new()
        };
        draw(&self.bar, status, (self.clock.now(), &output), (width, colours));
    }
}

/// Draws a status where it stands.
fn draw(
    bar: &ProgressBar,
    status: &LiveStatus,
    (now, output): (Timestamp, &[String]),
    (width, colours): (usize, Colours),
) {
    // NOTE: with the last column free, no terminal wraps the line.
    let lines = status.lines(now, output, width.saturating_sub(INDENT + 1));
    let painted = |StatusLine { kind, text }: &StatusLine| match kind {
        StatusKind::Now => colours.paint(Role::Head, text),
        StatusKind::Todo => text.clone(),
        StatusKind::Output | StatusKind::Spent => colours.paint(Role::Quiet, text),
    };
    let lines: Vec<String> = lines.iter().map(painted).collect();
    bar.set_message(lines.join("\n  "));
    bar.tick();
}

fn style() -> ProgressStyle {
    ProgressStyle::default_spinner().tick_strings(&FRAMES)
}

/// What turns at the beginning of the first line; the last stands when it is over.
const FRAMES: [&str; 11] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", " "];

#[cfg(test)]
mod tests {
    use super::{draw, style};
    use crate::cli::colour::Colours;
    use indicatif::{InMemoryTerm, ProgressBar, ProgressDrawTarget, TermLike as _};
    use jiff::Timestamp;
    use locum_agent::report::live_status::LiveStatus;
    use locum_agent::session::event::{Event, JournalLine};
    use locum_agent::session::state::SessionState;
    use locum_base::id::TaskId;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_go_above_what_runs_and_nothing_is_left_of_it_at_the_end() {
        let term = InMemoryTerm::new(12, 40);
        let bar = ProgressBar::no_length();
        bar.set_style(style());
        bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(term.clone())));
        let at = |second| Timestamp::from_second(second).unwrap();
        let commands = vec!["cargo test".to_owned()];
        let (task, call) = (TaskId(0), "c".to_owned());
        let event = Event::Checking { task, call, commands, snapshot: None };
        let mut status = LiveStatus::default();
        status.take_in(&JournalLine { at: at(10), event }, &SessionState::default());
        let output = ["running 4 tests".to_owned()];
        draw(&bar, &status, (at(15), &output), (40, Colours::OFF));
        let shown = term.contents();
        assert!(shown.contains("cargo test · 5 s"), "{shown}");
        assert!(shown.contains("\n  │ running 4 tests\n"), "{shown}");
        assert!(shown.lines().last().unwrap().contains("0 turns"), "{shown}");
        bar.suspend(|| term.write_line("warning: a server did not start")).unwrap();
        let shown = term.contents();
        assert!(shown.starts_with("warning: a server did not start\n"), "{shown}");
        assert_eq!(shown.matches("cargo test").count(), 1, "{shown}");
        bar.finish_and_clear();
        assert_eq!(term.contents(), "warning: a server did not start");
    }
}
