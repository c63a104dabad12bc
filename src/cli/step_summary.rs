//! The job summary of a step: what everything that it did came to, in what GitHub shows of a step.
//!
//! In: how everything ended. Out: Markdown at the end of the runner's file. GitHub drops the
//! summary of a step that is too long as a whole, so what ended shares the room: what is short
//! stays as it is, and of the others each gets as much. Of a run the diff goes first.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::config::action_context::ActionContext;
use crate::run::action::{ActionEnd, FinishedCheck, FinishedRun};
use crate::run::error::RunError;
use crate::run::publish::{Publication, PublishResult, summary_words};
use locum_agent::report::comment::PullRequestEffect;
use locum_agent::report::whole::SUMMARY_LIMIT_BYTES;
use locum_agent::report::{figures, markdown, summary};
use locum_base::secret::Redactor;
use locum_base::text;

/// What a byte of foreign text can become on one line of Markdown, in bytes.
const GROWTH: usize = 16;

/// Writes how everything ended.
///
/// # Errors
/// When the runner's file cannot be written.
pub(super) fn write(
    ends: &[ActionEnd],
    job: &ActionContext,
    redactor: &Redactor,
) -> Result<(), RunError> {
    let Some(file) = &job.summary_file else { return Ok(()) };
    let texts =
        fitting(ends, room_in(file), |end, room_bytes| redactor.redact(&text_of(end, room_bytes)));
    append(file, &texts.concat())
}

/// Writes why nothing was started.
///
/// # Errors
/// As [`write`].
pub(super) fn write_failure(
    message: &str,
    job: &ActionContext,
    redactor: &Redactor,
) -> Result<(), RunError> {
    let Some(file) = &job.summary_file else { return Ok(()) };
    let render =
        |message: &&str, room_bytes| redactor.redact(&block("failed", message, room_bytes));
    append(file, &fitting(&[message], room_in(file), render).concat())
}

/// The runner's files are appended to: other steps wrote there before.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn append(file: &Path, text: &str) -> Result<(), RunError> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .map_err(|error| RunError::internal(format!("`{}`: {error}", file.display())))
}

/// Returns how many bytes of a summary its file has room for.
fn room_in(file: &Path) -> usize {
    let there = file.metadata().map_or(0, |there| there.len());
    SUMMARY_LIMIT_BYTES.saturating_sub(usize::try_from(there).unwrap_or(usize::MAX))
}

/// Renders everything so that it fits, each with a blank line behind it.
fn fitting<T>(items: &[T], room_bytes: usize, render: impl Fn(&T, usize) -> String) -> Vec<String> {
    let room_bytes = room_bytes.saturating_sub(items.len());
    let mut texts: Vec<String> = items.iter().map(|item| render(item, room_bytes)).collect();
    let lengths: Vec<usize> = texts.iter().map(String::len).collect();
    if let Some(share_bytes) = share_of(lengths, room_bytes) {
        for (item, text) in
            items.iter().zip(&mut texts).filter(|(_, text)| text.len() > share_bytes)
        {
            *text = render(item, share_bytes);
            // Half a fold would hide what follows.
            if text.len() > share_bytes {
                text.clear();
            }
        }
    }
    texts.iter_mut().filter(|text| !text.is_empty()).for_each(|text| text.push('\n'));
    texts
}

/// Returns how many bytes each text may have at most for all to fit; `None` where they do as they
/// are. What is shorter than its share leaves the rest of it to the others.
fn share_of(mut lengths: Vec<usize>, room_bytes: usize) -> Option<usize> {
    lengths.sort_unstable();
    let (mut room_bytes, mut left) = (room_bytes, lengths.len());
    for length in lengths {
        let share_bytes = room_bytes / left.max(1);
        if length > share_bytes {
            return Some(share_bytes);
        }
        (room_bytes, left) = (room_bytes - length, left - 1);
    }
    None
}

/// Returns what a summary says of one end.
fn text_of(end: &ActionEnd, room_bytes: usize) -> String {
    match end {
        ActionEnd::Skipped(why) => line(&format!("nothing started: {why}"), room_bytes),
        ActionEnd::Answered { what, .. } => line(what, room_bytes),
        ActionEnd::Unusable(mistakes) => block("a job cannot run", &mistakes.report(), room_bytes),
        ActionEnd::Planned(plan) => block("dry run", &plan.to_string(), room_bytes),
        ActionEnd::Checked(check) => block("check", &check_words(check), room_bytes),
        ActionEnd::Ran(ran) => {
            let beside = paragraphs_of(ran).join("\n\n");
            summary::job_summary(&ran.outcome, &ran.plan.mode, &beside, room_bytes)
        }
    }
}

fn line(words: &str, room_bytes: usize) -> String {
    let words = text::head(words, room_bytes / GROWTH);
    format!("**locum**: {}\n", markdown::inline(words))
}

/// Returns words in a block of their own, of which as much as fits is shown.
fn block(title: &str, words: &str, room_bytes: usize) -> String {
    let mut keep_bytes = words.len();
    loop {
        let shown = text::head(words, keep_bytes);
        let note = if shown.len() < words.len() { "\n*Shortened.*\n" } else { "" };
        let text = format!("**locum**: {title}\n\n{}\n{note}", markdown::fenced(shown, "text"));
        if text.len() <= room_bytes || keep_bytes == 0 {
            return text;
        }
        let share = keep_bytes.saturating_mul(room_bytes) / text.len();
        keep_bytes = share.min(keep_bytes - 1);
    }
}

/// Says how a check ended.
pub(super) fn check_words(check: &FinishedCheck) -> String {
    let FinishedCheck { name, title, details, unpublished, .. } = check;
    let not = unpublished.as_ref().map(|why| format!("\nnot published: {why}"));
    let details = if details.is_empty() { String::new() } else { format!("\n{details}") };
    format!("{name}: {title}{details}{}", not.unwrap_or_default())
}

/// Returns what is said of a run beside its result.
fn paragraphs_of(ran: &FinishedRun) -> Vec<String> {
    let landing = match &ran.publication.result {
        PublishResult::PullRequest { number, url, branch, effect, .. } => {
            let effect = match effect {
                PullRequestEffect::Opened => "",
                PullRequestEffect::Updated => ", updated",
                PullRequestEffect::Unchanged => ", as it was",
            };
            format!("Pull request [#{number}]({url}) from `{branch}`{effect}.")
        }
        PublishResult::Commit { id, branch } => format!("Commit `{id}` on `{branch}`."),
        PublishResult::Review { url, comments } => {
            format!("[Review]({url}) with {}.", figures::count(*comments, "comment"))
        }
        PublishResult::Nowhere(why) | PublishResult::Diff(why) => {
            summary_words::unpublished(&ran.publication, why, ran.outcome.changes.len())
        }
    };
    let mut paragraphs = vec![summary_words::decide_on(&ran.publication), landing];
    if let Some(patch) =
        ran.outcome.hindrance.is_some().then_some(&ran.patch).and_then(Option::as_ref)
    {
        paragraphs.push(format!(
            "The changes are kept as a patch: {}, which is the output `patch-path`.",
            markdown::code(&patch.display().to_string())
        ));
    }
    let said = |note: &&String| match &ran.publication.result {
        PublishResult::Nowhere(why) | PublishResult::Diff(why) => *note != why,
        PublishResult::PullRequest { .. }
        | PublishResult::Commit { .. }
        | PublishResult::Review { .. } => true,
    };
    for note in ran.publication.notes.iter().filter(said) {
        paragraphs.push(format!("Not published: {}", markdown::inline(note)));
    }
    let Publication { remarks, about_findings, .. } = &ran.publication;
    for note in remarks.iter().chain(about_findings).chain(&ran.plan.notes) {
        paragraphs.push(format!("Note: {}", markdown::inline(note)));
    }
    for risk in &ran.plan.risks {
        paragraphs.push(format!("{}.", markdown::inline(risk)));
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::{block, fitting, line, room_in, share_of};
    use locum_agent::report::whole::SUMMARY_LIMIT_BYTES;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_short_leaves_its_room_to_the_others() {
        for (lengths, room_bytes, expected) in [
            (&[][..], 10, None),
            (&[4, 6], 10, None),
            (&[4, 7], 10, Some(6)),
            (&[7, 4, 1], 10, Some(5)),
            (&[9, 9, 9, 1], 10, Some(3)),
            (&[3], 0, Some(0)),
        ] {
            assert_eq!(share_of(lengths.to_vec(), room_bytes), expected, "{lengths:?}");
        }
    }

    #[test]
    fn all_texts_together_fit_and_none_is_half_a_text() {
        let words = ["short".to_owned(), "\u{1b}日本\n".repeat(9_000), "x".repeat(90_000)];
        for room_bytes in [0, 50, 1_000, 20_000, 60_000, 500_000] {
            let render = |words: &String, room_bytes| block("check", words, room_bytes);
            let texts = fitting(&words, room_bytes, render);
            let all: usize = texts.iter().map(String::len).sum();
            assert!(all <= room_bytes, "{all} of {room_bytes}");
            for text in texts.iter().filter(|text| !text.is_empty()) {
                assert_eq!(text.matches("```").count(), 2, "{text}");
                assert!(text.ends_with("```\n\n") || text.ends_with("*Shortened.*\n\n"), "{text}");
            }
            assert_eq!(room_bytes < 1_000, texts.iter().all(String::is_empty), "{room_bytes}");
        }
        assert!(line(&"\u{1b}<".repeat(5_000), 2_000).len() <= 2_000);
    }

    #[test]
    fn what_stands_in_the_file_takes_its_room() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("summary");
        assert_eq!(room_in(&file), SUMMARY_LIMIT_BYTES);
        super::append(&file, "12345").unwrap();
        assert_eq!(room_in(&file), SUMMARY_LIMIT_BYTES - 5);
        super::append(&file, &"x".repeat(SUMMARY_LIMIT_BYTES)).unwrap();
        assert_eq!(room_in(&file), 0);
    }
}
