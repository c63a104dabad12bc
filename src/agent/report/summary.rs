//! The outcome for a terminal, and for the job summary of Actions.
//!
//! In: an outcome. Out: plain text without control characters, or Markdown of at most a mebibyte.

use crate::report::comment::Progress;
use crate::report::figures;
use crate::report::markdown::visible;
use crate::report::sections::{ReportParts, ReportView, StateLine, changed, tasks};
use crate::report::surface::{Surface, join};
use crate::report::waiting::DecisionChannel;
use crate::session::outcome::Outcome;

/// GitHub drops a job summary of more bytes than this ("Job summary isolation and limits",
/// <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>).
pub(crate) const SUMMARY_LIMIT_BYTES: usize = 1024 * 1024;
/// Most characters of all that is not folded.
const RESULT_ROOM_CHARS: usize = 150_000;

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

/// Returns the job summary. `landing` says in Markdown of our own where the changes went; empty
/// when there is nothing to say.
pub fn job_summary(outcome: &Outcome, mode: &str, landing: &str) -> String {
    let surface = Surface::Markdown;
    let state = StateLine {
        state: outcome.word.heading(),
        refused: &outcome.refusals,
        mode,
        spent: &outcome.spent,
        is_estimate: outcome.spent_is_estimate,
        budget: None,
        run_url: None,
    };
    let view = ReportView {
        surface,
        decide: DecisionChannel::Unneeded,
        again: None,
        published: landing,
        room_chars: RESULT_ROOM_CHARS,
        whole: "",
    };
    let parts = ReportParts::of(outcome, &view);
    let room_chars = changed::NOT_MERGED_LIMIT_CHARS;
    let mut paragraphs = vec![state.render()];
    paragraphs.extend(parts.lead);
    paragraphs.push(changed::not_merged_diff(&outcome.tasks, surface, room_chars));
    paragraphs.extend(parts.folds);
    let used_bytes: usize = paragraphs.iter().map(|text| text.len() + 2).sum();
    // A character has at most four bytes.
    let room_chars = SUMMARY_LIMIT_BYTES.saturating_sub(used_bytes) / 4;
    paragraphs.extend(changed::diff(&outcome.changes, surface, room_chars));
    let mut text = join(&paragraphs);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{DiffSection, SUMMARY_LIMIT_BYTES, job_summary, terminal};
    use crate::report::sample;

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
            job_summary(&sample::outcome(), "orchestrator", "Published as pull request #12.")
        );
        insta::assert_snapshot!("job_summary_held", job_summary(&sample::held(), "code", ""));
    }

    #[test]
    fn no_text_reaches_the_terminal_as_a_control_sequence() {
        let text = terminal(&sample::filled_with("\u{1b}[2J\u{7}\u{9b}", 100), DiffSection::Shown);
        assert!(text.chars().all(|letter| !letter.is_control() || letter == '\n'), "{text:?}");
    }

    #[test]
    fn the_job_summary_stays_below_its_limit() {
        let outcome = sample::with_diff_lines(200_000);
        let text = job_summary(&outcome, "code", "");
        assert!(
            text.len() <= SUMMARY_LIMIT_BYTES && text.contains("Shortened: "),
            "{}",
            text.len()
        );
    }
}
