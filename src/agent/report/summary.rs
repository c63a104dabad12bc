//! The outcome for a terminal, and for the job summary of Actions.
//!
//! In: an outcome. Out: plain text without control characters, or Markdown of as many bytes as
//! there is room for.

use crate::report::comment::{FOLDS_CHARS, Progress, fitting};
use crate::report::figures;
use crate::report::markdown::visible;
use crate::report::sections::{ReportParts, ReportView, StateLine, changed, tasks};
use crate::report::surface::{Surface, join};
use crate::report::waiting::DecisionChannel;
use crate::report::whole::CHARACTER_LIMIT_BYTES;
use crate::session::outcome::Outcome;

/// What stands in place of a summary that has no room at all.
const LEFT_OUT: &str = "Left out for length: everything that this step did shares one summary.";

/// Returns the outcome for a terminal, in the words of the comment. The diff stands above what is
/// folded there when `diff` asks for it.
pub fn terminal(outcome: &Outcome, diff: DiffSection) -> String {
    let surface = Surface::Terminal;
    let view = ReportView {
        surface,
        decide: DecisionChannel::CommandLine,
        again: None,
        published: "",
        room_chars: usize::MAX,
        whole: "",
    };
    let parts = ReportParts::of(outcome, &view);
    let mut blocks = vec![format!("outcome: {}", outcome.word.as_str())];
    blocks.extend(parts.lead);
    match diff {
        DiffSection::Shown => {
            blocks.push(visible(figures::diff(&outcome.changes).trim_end()));
            blocks.push(changed::not_merged_diff(&outcome.tasks, surface, usize::MAX));
        }
        DiffSection::LeftOut => {}
    }
    blocks.push(changed::files(&outcome.changes, surface));
    blocks.extend(parts.folds);
    join(&blocks)
}

/// Returns how far a session came that has no outcome, for a terminal: tasks and what was spent.
pub fn so_far(progress: &Progress) -> String {
    let surface = Surface::Terminal;
    let spent =
        format!("spent so far: {}", figures::spent(&progress.spent, progress.spent_is_estimate));
    join(&[tasks::tasks_at_work(&progress.tasks, surface), spent])
}

/// Whether a summary holds the diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSection {
    /// The diff is shown.
    Shown,
    /// The diff is left out.
    LeftOut,
}

/// Returns the job summary, of so many bytes at most: where that is too little, the diff goes
/// first, then folds, then the end of the result. `landing` says in Markdown of our own where the
/// changes went; empty when there is nothing to say.
pub fn job_summary(outcome: &Outcome, mode: &str, landing: &str, room_bytes: usize) -> String {
    let state = StateLine {
        state: outcome.word.heading(),
        refused: &outcome.refusals,
        mode,
        spent: &outcome.spent,
        is_estimate: outcome.spent_is_estimate,
        budget: None,
        run_url: None,
    };
    let state = state.render();
    let least_chars = room_bytes / CHARACTER_LIMIT_BYTES;
    let mut room_chars = room_bytes;
    loop {
        let text = summary_within(outcome, (&state, landing), room_chars);
        if text.len() <= room_bytes {
            return text;
        }
        // Of so few characters it would fit, if it could be made as short.
        if room_chars <= least_chars {
            return format!("{state}\n\n{LEFT_OUT}\n");
        }
        let share = room_chars.saturating_mul(room_bytes) / text.len();
        room_chars = share.clamp(least_chars, room_chars - 1);
    }
}

/// Returns the job summary, of so many characters as far as its parts can be made to fit.
fn summary_within(
    outcome: &Outcome,
    (state, landing): (&str, &str),
    mut room_chars: usize,
) -> String {
    let surface = Surface::Markdown;
    room_chars = room_chars.saturating_sub(figures::width(state) + 3);
    let view = ReportView {
        surface,
        decide: DecisionChannel::Unneeded,
        again: None,
        published: landing,
        room_chars: room_chars.saturating_sub(FOLDS_CHARS.min(room_chars / 4)),
        whole: "",
    };
    let parts = ReportParts::of(outcome, &view);
    let lead = join(&parts.lead);
    room_chars = room_chars.saturating_sub(figures::width(&lead) + 2);
    let folds = fitting(parts.folds, &mut room_chars);
    let not_merged = changed::not_merged_diff(&outcome.tasks, surface, room_chars);
    room_chars = room_chars.saturating_sub(figures::width(&not_merged) + 2);
    let mut paragraphs = vec![state.to_owned(), lead, not_merged];
    paragraphs.extend(folds);
    paragraphs.extend(changed::diff(&outcome.changes, surface, room_chars));
    let mut text = join(&paragraphs);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{DiffSection, LEFT_OUT, job_summary, terminal};
    use crate::report::sample;
    use crate::report::whole::SUMMARY_LIMIT_BYTES;

    #[test]
    fn shows_everything_on_a_terminal() {
        insta::assert_snapshot!("terminal", terminal(&sample::outcome(), DiffSection::Shown));
        insta::assert_snapshot!(
            "terminal_question",
            terminal(&sample::question(), DiffSection::LeftOut)
        );
        insta::assert_snapshot!(
            "terminal_checks_failed",
            terminal(&sample::checks_failed(), DiffSection::LeftOut)
        );
        insta::assert_snapshot!("terminal_held", terminal(&sample::held(), DiffSection::LeftOut));
    }

    #[test]
    fn shows_everything_in_the_job_summary() {
        insta::assert_snapshot!(
            "job_summary",
            job_summary(
                &sample::outcome(),
                "orchestrator",
                "Published as pull request #12.",
                SUMMARY_LIMIT_BYTES
            )
        );
        insta::assert_snapshot!(
            "job_summary_held",
            job_summary(&sample::held(), "code", "", SUMMARY_LIMIT_BYTES)
        );
    }

    #[test]
    fn no_text_reaches_the_terminal_as_a_control_sequence() {
        let text = terminal(&sample::filled_with("\u{1b}[2J\u{7}\u{9b}", 100), DiffSection::Shown);
        assert!(text.chars().all(|letter| !letter.is_control() || letter == '\n'), "{text:?}");
    }

    #[test]
    fn the_job_summary_stays_below_its_limit_and_the_diff_goes_first() {
        let long = sample::with_diff_lines(100_000);
        let mut foreign = long.clone();
        foreign.changes.iter_mut().for_each(|one| one.patch = one.patch.replace("line", "行の行"));
        for room_bytes in [SUMMARY_LIMIT_BYTES, 200_000, 60_000] {
            for outcome in [&long, &foreign] {
                let text = job_summary(outcome, "code", "", room_bytes);
                assert!(text.len() <= room_bytes, "{} of {room_bytes}", text.len());
                // What there is room for is used, and none of the result is lost for a diff.
                assert!(text.len() > room_bytes / 2, "{} of {room_bytes}", text.len());
                assert!(text.contains(&outcome.summary) && text.contains("Shortened: "), "{text}");
            }
            let full = sample::filled_with("<日", 40_000);
            let text = job_summary(&full, "code", "", room_bytes);
            assert!(text.len() <= room_bytes, "{} of {room_bytes}", text.len());
        }
    }

    #[test]
    fn a_summary_without_room_says_so_and_one_that_fits_is_whole() {
        let short = sample::outcome();
        let whole = job_summary(&short, "code", "", SUMMARY_LIMIT_BYTES);
        assert_eq!(job_summary(&short, "code", "", whole.len() + 200), whole);
        let text = job_summary(&sample::filled_with("x", 20_000), "code", "", 2_000);
        assert!(text.len() < 2_000 && text.ends_with(&format!("\n\n{LEFT_OUT}\n")), "{text}");
    }
}
