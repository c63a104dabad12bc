//! The message of a commit: subject, body, trailers.
//!
//! In: text of users and models. Out: plain text whose last paragraph is ours, so that no trailer
//! can be forged. `forge::sanitise` limits what a message may say: pings, closing words, words that
//! skip checks.

use crate::report::figures;
use crate::report::markdown::visible;
use locum_base::text::single_blanks;

/// Longest subject line, in characters.
const SUBJECT_LIMIT_CHARS: usize = 72;
/// Names what a commit is about: `issue-7`, `job-docs`.
pub const SUBJECT_TRAILER: &str = "Locum-Subject";
/// Longest body, in characters.
const BODY_LIMIT_CHARS: usize = 4_000;

/// What a message says.
#[derive(Clone, Copy, Debug)]
pub struct CommitFacts<'a> {
    /// What the change is, in one line: the title, or the task's first line.
    pub title: &'a str,
    /// The result in the model's words; may be empty.
    pub summary: &'a str,
    /// Name of the session.
    pub session: &'a str,
    /// What the run is about: `issue-7`, `job-docs`.
    pub subject: &'a str,
    /// Name and e-mail of who asked, where the forge knows both.
    pub requested_by: Option<(&'a str, &'a str)>,
}

/// Returns the message.
pub fn message(facts: &CommitFacts<'_>) -> String {
    let mut paragraphs = vec![subject(facts.title)];
    let body = body(facts.summary);
    if !body.is_empty() {
        paragraphs.push(body);
    }
    paragraphs.push(trailers(facts));
    format!("{}\n", paragraphs.join("\n\n"))
}

/// Returns the first line of a title, at most `SUBJECT_LIMIT_CHARS` of it, cut between words where
/// it has any; never empty.
pub fn subject(title: &str) -> String {
    let first = title.lines().map(one_line).find(|line| !line.is_empty());
    let Some(line) = first else { return "Change by locum".to_owned() };
    let clipped = figures::clip(&line, SUBJECT_LIMIT_CHARS);
    if clipped == line {
        return line;
    }
    match clipped.trim_end_matches('…').rsplit_once(' ') {
        Some((words, _)) if words.len() > SUBJECT_LIMIT_CHARS / 2 => format!("{words}…"),
        Some(_) | None => clipped,
    }
}

fn body(summary: &str) -> String {
    let text = visible(summary.trim());
    let lines = text.lines().map(|line| {
        if is_like_a_trailer(line) {
            format!("  {}", line.trim_start())
        } else {
            line.trim_end().to_owned()
        }
    });
    figures::clip(&lines.collect::<Vec<_>>().join("\n"), BODY_LIMIT_CHARS).trim_end().to_owned()
}

fn trailers(facts: &CommitFacts<'_>) -> String {
    let mut lines = vec![
        format!("Locum-Session: {}", one_line(facts.session)),
        format!("{SUBJECT_TRAILER}: {}", one_line(facts.subject)),
    ];
    if let Some((name, email)) = facts.requested_by {
        let clean = |text: &str| one_line(text).replace(['<', '>'], "");
        lines.push(format!("Co-authored-by: {} <{}>", clean(name), clean(email)));
    }
    lines.join("\n")
}

/// `Signed-off-by: ...` and its like: also moved out of the first column, because a squash joins
/// messages.
fn is_like_a_trailer(line: &str) -> bool {
    let Some((key, _)) = line.trim_start().split_once(':') else { return false };
    let key = key.to_ascii_lowercase();
    key.ends_with("-by") || key == "skip-checks" || key.starts_with("locum-")
}

fn one_line(text: &str) -> String {
    single_blanks(&visible(text))
}

#[cfg(test)]
mod tests {
    use super::{CommitFacts, message, subject};
    use locum_base::secret::Redactor;
    use locum_forge::sanitise::{TextRules, commit_message};
    use pretty_assertions::assert_eq;

    #[test]
    fn holds_subject_body_and_trailers() {
        let facts = CommitFacts {
            title: "Fix rounding\nin total",
            summary: "Rounds half up.\n\nSigned-off-by: Someone Else <x@y>\nTests \
                      pass.\n\nCo-authored-by: forged <f@f>",
            session: "0199aabb",
            subject: "issue-7",
            requested_by: Some(("Octo <Cat>", "583231+octocat@users.noreply.github.com")),
        };
        assert_eq!(
            message(&facts),
            "Fix rounding\n\nRounds half up.\n\n  Signed-off-by: Someone Else \
             <x@y>\nTests pass.\n\n  Co-authored-by: forged <f@f>\n\nLocum-Session: \
             0199aabb\nLocum-Subject: issue-7\nCo-authored-by: Octo Cat <583231+octocat@users.noreply.github.com>\n"
        );
    }

    #[test]
    fn the_sanitiser_leaves_our_trailers_alone_and_checks_on() {
        let requested_by = Some(("Octo Cat", "583231+octocat@users.noreply.github.com"));
        let facts = CommitFacts {
            title: "fix [skip ci]",
            summary: "thanks @octocat",
            session: "0199aabb",
            subject: "issue-7",
            requested_by,
        };
        let text = commit_message(&message(&facts), &TextRules::default(), &Redactor::default());
        assert!(!text.contains("[skip ci]") && !text.contains("@octocat"), "{text}");
        let ours = "Locum-Session: 0199aabb\nLocum-Subject: issue-7\nCo-authored-by: Octo Cat \
                    <583231+octocat@users.noreply.github.com>";
        assert!(text.trim_end().ends_with(ours), "{text}");
    }

    #[test]
    fn a_subject_is_one_short_line() {
        for (title, expected) in [
            ("", "Change by locum"),
            (" \n ", "Change by locum"),
            ("fix\n\nthe  thing", "fix"),
            ("\n fix  the thing \nWhen it rains", "fix the thing"),
            (
                "Reject a configuration file whose sections name the same output folder twice",
                "Reject a configuration file whose sections name the same output folder…",
            ),
        ] {
            assert_eq!(subject(title), expected);
        }
        assert_eq!(subject(&"x".repeat(200)).chars().count(), 72);
    }
}
