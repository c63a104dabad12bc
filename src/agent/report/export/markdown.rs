//! A session as a Markdown document: what was asked, how it ended, and each task's conversation.

use std::fmt::Write as _;

use crate::report::export::Exported;
use crate::report::export::history::{HistoryEntry, TaskHistory, histories};
use crate::report::figures;
use crate::report::markdown::{code, fenced};
use locum_base::chat::Message;

/// Returns the document.
pub(super) fn document(session: &Exported<'_>) -> String {
    let mut text = format!("# Session {}\n\n", session.start.id);
    let root = session.state.root();
    let (_, spent) = session.state.spending();
    let outcome = session.state.outcome.as_ref();
    for (title, value) in [
        ("Mode", root.map_or(&session.start.mode, |root| &root.mode).clone()),
        ("Base", session.start.base.0.clone()),
        ("Outcome", outcome.map_or("unfinished", |outcome| outcome.word.as_str()).to_owned()),
        ("Spent", figures::spent(&spent, session.state.spent_is_estimate())),
    ] {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "- {title}: {value}");
    }
    let _ = write!(text, "\n## Task\n\n{}\n", fenced(&session.start.task, ""));
    for history in histories(session.lines) {
        let under = history
            .parent
            .as_ref()
            .map_or(String::new(), |(parent, _)| format!(", for task {parent}"));
        let _ = write!(text, "\n## Task {} in mode {}{under}\n", history.task, history.mode);
        write_entries(&mut text, &history);
    }
    if let Some(outcome) = outcome {
        let _ = write!(text, "\n## Result\n\n{}\n", fenced(&outcome.summary, ""));
        let diff = figures::diff(&outcome.changes);
        if !diff.is_empty() {
            let _ = write!(text, "\n## Changes\n\n{}\n", fenced(&diff, "diff"));
        }
    }
    text
}

fn write_entries(text: &mut String, history: &TaskHistory) {
    let mut turn = 0;
    for entry in &history.entries {
        let HistoryEntry { at, message, .. } = entry;
        let at = at.strftime("%H:%M:%S");
        // Writing into a String cannot fail.
        let _ = match message {
            Message::User { text: words } if entry.compaction.is_some() => {
                write!(text, "\n### {at} · the context was shortened\n\n{}\n", fenced(words, ""))
            }
            Message::User { text: words } => {
                write!(text, "\n### {at} · to the model\n\n{}\n", fenced(words, ""))
            }
            Message::Images { images } => {
                let shown = images.iter().map(|image| format!("- {image}\n"));
                write!(text, "\n{}", shown.collect::<String>())
            }
            Message::Assistant { text: words, calls, .. } => {
                turn += 1;
                let cost = entry.charged.as_ref().map(figures::charged).unwrap_or_default();
                let mut said = format!("\n### {at} · turn {turn} · {cost}\n");
                if !words.is_empty() {
                    let _ = write!(said, "\n{}\n", fenced(words, ""));
                }
                for call in calls {
                    let arguments = fenced(&call.arguments, "json");
                    let _ = write!(said, "\nCalls {}:\n\n{arguments}\n", code(&call.name));
                }
                text.push_str(&said);
                Ok(())
            }
            Message::Tool { results } => results.iter().try_for_each(|result| {
                let failed = if result.is_error { " (failed)" } else { "" };
                write!(text, "\nAnswer{failed}:\n\n{}\n", fenced(&result.text, ""))
            }),
        };
    }
}
