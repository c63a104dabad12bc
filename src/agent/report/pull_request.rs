//! Title and body of a pull request: what was asked, the result, what was checked, what the policy
//! said, what it closes.

use crate::report::markdown::{inline, visible};
use crate::report::{figures, sections};
use crate::session::outcome::{CommandReport, Outcome};

/// Longest title, in characters (GitHub takes 256).
const TITLE_LIMIT_CHARS: usize = 120;
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
    /// What else readers should know, as text of our own: why it is a draft, what was left out.
    pub notes: &'a [String],
}

/// Returns the title: the issue's, or the task's first line.
pub fn title(words: &str) -> String {
    let line = visible(words)
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if line.is_empty() {
        "Change by locum".to_owned()
    } else {
        figures::clip(&line, TITLE_LIMIT_CHARS)
    }
}

/// Returns the body.
pub fn body(facts: &PullRequestFacts<'_>, outcome: &Outcome) -> String {
    let mut paragraphs =
        vec![format!("{}\n{}", facts.marker, opening(facts)), sections::result(&outcome.summary)];
    paragraphs.push(format!("**Checked**\n\n{}", checked(outcome)));
    if !facts.notes.is_empty() {
        let notes: Vec<String> = facts
            .notes
            .iter()
            .take(NOTE_LIMIT)
            .map(|note| format!("- {}", inline(&figures::clip(note, 400))))
            .collect();
        paragraphs.push(format!("**Notes**\n\n{}", notes.join("\n")));
    }
    paragraphs.push(sections::notes(outcome));
    paragraphs.push(sections::not_merged(&outcome.tasks));
    let room_chars = sections::NOT_MERGED_LIMIT_CHARS;
    paragraphs.push(sections::not_merged_diff(&outcome.tasks, room_chars));
    paragraphs.extend(
        facts
            .issue
            .map(|number| format!("{} #{number}", if facts.closes { "Closes" } else { "For" })),
    );
    paragraphs.extend(sections::folds(outcome));
    sections::join(&paragraphs)
}

fn opening(facts: &PullRequestFacts<'_>) -> String {
    format!(
        "{} A person should read it before it is merged.",
        sections::written_by(facts.requested_by, facts.run_url)
    )
}

/// Says what ran and how it ended: the policy's own checks, else the last run of each command of
/// the session, and says so when there was none at all.
fn checked(outcome: &Outcome) -> String {
    if !outcome.checks.is_empty() {
        return sections::check_list(&outcome.checks);
    }
    let mut last: Vec<&CommandReport> = Vec::new();
    for command in &outcome.commands {
        last.retain(|other| other.command != command.command);
        last.push(command);
    }
    if last.is_empty() {
        return "Nothing was run to check this change.".to_owned();
    }
    let list = sections::commands(&last.into_iter().cloned().collect::<Vec<_>>());
    sections::join(&[list, figures::unchecked(outcome).to_owned()])
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
        assert_eq!(title(&"x".repeat(400)).chars().count(), 120);
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
