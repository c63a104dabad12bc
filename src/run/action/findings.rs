//! Findings of earlier reviews as a run is given them: by number, with what became of each.
//!
//! In: our own comments on lines of a pull request, and the state of their threads. Out: texts for
//! the first message.

use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::task_material::TaskMaterial;
use locum_agent::report::findings::FINDING_MARK;
use locum_base::text::ClippedText;
use locum_forge::ThreadComment;
use locum_forge::event::EventSubject;
use locum_forge::threads::ReviewThread;
use locum_modes::prompts::task::seen_of_markdown;

/// Findings that a run is given.
const FINDINGS_LIMIT: usize = 40;
/// Bytes of one of them.
const FINDING_LIMIT_BYTES: usize = 4 * 1024;
/// Bytes of all together; the latest are kept.
const TOGETHER_LIMIT_BYTES: usize = 24 * 1024;

/// What stands below the findings.
const ADVICE: &str = "Do not report any of them again, in other words either, whatever became of \
                      it. For each open one that is fixed by now, add to the list of your result \
                      an entry with its number: `- Fixed: finding 12`. That resolves its thread. \
                      Your verdict counts those that are open.";

/// Returns the findings on a thread for a run: the one that is answered, then all.
pub(super) async fn materials(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    (subject, own): (&EventSubject, &[ThreadComment]),
) -> Vec<TaskMaterial> {
    let found: Vec<&ThreadComment> =
        own.iter().filter(|comment| comment.body.starts_with(FINDING_MARK)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let threads = env.forge.review_threads(subject.number).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "what became of earlier findings is not known");
        Vec::new()
    });
    let answered = admitted.event.trigger.comment.as_ref().and_then(|asks| asks.in_reply_to);
    let answered = found.iter().find(|comment| Some(comment.id) == answered);
    let answered = answered
        .map(|comment| material("the finding that the comment answers", line(comment, &threads)));
    let mut lines: Vec<String> = Vec::new();
    let mut room = TOGETHER_LIMIT_BYTES;
    for comment in found.iter().rev().take(FINDINGS_LIMIT) {
        let line = line(comment, &threads);
        let Some(rest) = room.checked_sub(line.len()) else { break };
        room = rest;
        lines.push(line);
    }
    if let left_out @ 1.. = found.len() - lines.len() {
        lines.push(format!("{left_out} older ones are left out."));
    }
    lines.push(ADVICE.to_owned());
    let what = format!("findings of earlier reviews of #{}, the latest first", subject.number);
    answered.into_iter().chain([material(&what, lines.join("\n"))]).collect()
}

/// Returns a finding as an entry of a list, with its number, its place and what became of it.
fn line(comment: &ThreadComment, threads: &[ReviewThread]) -> String {
    let said: Vec<&str> = comment.body.lines().skip(1).collect();
    let said =
        ClippedText::head_tail(&seen_of_markdown(&said.join("\n  ")), FINDING_LIMIT_BYTES).text;
    let place = comment.place.as_deref().unwrap_or("no line any more");
    let thread = threads.iter().find(|thread| thread.first == comment.id);
    let state = thread.map_or_else(String::new, |thread| format!(" ({})", state(thread)));
    format!("- finding {}{state}, {place}: {said}", comment.id)
}

/// Says what became of a finding.
fn state(thread: &ReviewThread) -> String {
    let mut words = vec![if thread.is_resolved { "resolved" } else { "open" }];
    if thread.answers > 0 {
        words.push("answered");
    }
    if thread.down_votes > 0 {
        words.push("voted down");
    }
    words.join(", ")
}

fn material(what: &str, text: String) -> TaskMaterial {
    TaskMaterial { what: what.to_owned(), origin: "written by Locum".to_owned(), text }
}
