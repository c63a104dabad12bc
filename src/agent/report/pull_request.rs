//! Title and body of a pull request: what was asked, the result, what was checked, what the policy
//! said, what it closes.

use crate::report::markdown::visible;
use crate::report::sections::{self, ReportParts, ReportView, changed, checks};
use crate::report::surface::{Surface, join};
use crate::report::title;
use crate::report::waiting::DecisionChannel;
use crate::report::whole;
use crate::session::outcome::{CheckReport, Outcome};

/// Most characters of all that is not folded.
const RESULT_ROOM_CHARS: usize = 24_000;
/// Most notes in a list.
const NOTE_LIMIT: usize = 10;

/// What a pull request says.
#[derive(Clone, Copy, Debug)]
pub struct PullRequestFacts<'a> {
    /// The hidden first line.
    pub marker: &'a str,
    /// The issue it is for.
    pub issue: Option<u64>,
    /// Whether the policy lets it close the issue.
    pub closes: bool,
    /// Login of who asked.
    pub requested_by: Option<&'a str>,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// How many runs share the job summary at most, this one included.
    pub runs: usize,
    /// What else readers should know, as text of our own: why it is a draft, what was left out.
    pub notes: &'a [String],
}

/// Returns the title: the first line of what was done, or of what was asked.
pub fn title(words: &str) -> String {
    let words = visible(words);
    let line = words.lines().map(title::short).find(|line| !line.is_empty());
    line.unwrap_or_else(|| "Change by locum".to_owned())
}

/// Returns the body.
pub fn body(facts: &PullRequestFacts<'_>, outcome: &Outcome) -> String {
    let surface = Surface::Markdown;
    // The line of checks says it.
    let failed = outcome.failed_check().and_then(CheckReport::failure);
    let notes = facts.notes.iter().filter(|note| Some(*note) != failed.as_ref());
    let notes: Vec<&String> = notes.take(NOTE_LIMIT).collect();
    let notes = surface
        .listed(&notes, NOTE_LIMIT, |note| format!("- Note: {}", surface.words_within(note, 400)));
    let parts = ReportParts::of(
        outcome,
        &ReportView {
            surface,
            decide: DecisionChannel::Unneeded,
            again: None,
            published: &join(&[ran(outcome), notes]),
            room_chars: RESULT_ROOM_CHARS,
            whole: &whole::sentence(facts.run_url, outcome, facts.runs),
        },
    );
    let closes = facts
        .issue
        .map(|number| format!("{} #{number}", if facts.closes { "Closes" } else { "For" }));
    let room_chars = changed::NOT_MERGED_LIMIT_CHARS;
    let mut paragraphs = vec![
        format!("{}\n{}", facts.marker, join(&parts.lead)),
        closes.unwrap_or_default(),
        changed::not_merged_diff(&outcome.tasks, surface, room_chars),
    ];
    paragraphs.extend(parts.folds);
    paragraphs.push(format!(
        "{} A person should read it before it is merged.",
        sections::written_by(facts.requested_by, facts.run_url)
    ));
    join(&paragraphs)
}

/// Says what ran to check the change where the policy names no checks.
fn ran(outcome: &Outcome) -> String {
    if outcome.checks.is_empty() {
        checks::last_runs(outcome, Surface::Markdown)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{PullRequestFacts, body, title};
    use crate::report::markdown::marker;
    use crate::report::sample;
    use pretty_assertions::assert_eq;

    #[test]
    fn takes_the_first_line_as_title() {
        assert_eq!(title("\n  fix   the\ttest \nmore"), "fix the test");
        assert_eq!(title(" \n"), "Change by locum");
        assert_eq!(title(&"x".repeat(400)).chars().count(), 70);
    }

    #[test]
    fn says_what_was_checked_and_what_it_closes() {
        let marker = marker("pull-request", &[("issue", "7")]);
        let facts = PullRequestFacts {
            marker: &marker,
            issue: Some(7),
            closes: true,
            requested_by: Some("octocat"),
            run_url: Some("https://github.com/octo/repo/actions/runs/1"),
            runs: 1,
            notes: &["the check `cargo test` failed".to_owned()],
        };
        insta::assert_snapshot!("pull_request", body(&facts, &sample::checks_failed()));
        let plain = PullRequestFacts {
            closes: false,
            requested_by: None,
            run_url: None,
            notes: &[],
            ..facts
        };
        insta::assert_snapshot!("pull_request_without_checks", body(&plain, &sample::question()));
    }

    #[test]
    fn stays_below_the_limit_whatever_the_model_wrote() {
        let facts = PullRequestFacts {
            marker: "<!-- m -->",
            issue: None,
            closes: false,
            requested_by: None,
            run_url: None,
            runs: 1,
            notes: &[],
        };
        for filler in ["<", "`", "\u{200b}", "</details>\n"] {
            assert!(
                body(&facts, &sample::filled_with(filler, 40_000)).chars().count() < 60_000,
                "{filler:?}"
            );
        }
    }
}
