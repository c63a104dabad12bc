//! `TaskHistory`: every message of a task in order, also those that its model no longer sees.
//!
//! In: the lines of a journal. Out: a history of each task, which every format is written from.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::report::charges;
use crate::session::event::{Event, JournalLine};
use crate::session::outcome::ChargedUsage;
use crate::session::recorded::CompactionKind;
use crate::session::state::SessionState;
use locum_base::chat::Message;
use locum_base::id::TaskId;

/// Every message of a task.
#[derive(Clone, Debug)]
pub(super) struct TaskHistory {
    pub(super) task: TaskId,
    /// The task that requested it, and the call it did so with.
    pub(super) parent: Option<(TaskId, String)>,
    /// Slug of the mode it began in.
    pub(super) mode: String,
    pub(super) entries: Vec<HistoryEntry>,
}

/// A message of a task.
#[derive(Clone, Debug)]
pub(super) struct HistoryEntry {
    pub(super) at: Timestamp,
    pub(super) message: Message,
    /// What it cost; `None` for what no model wrote.
    pub(super) charged: Option<ChargedUsage>,
    /// Label of the model that wrote it; empty for what none wrote.
    pub(super) model: String,
    /// Set for a message that stands for others: how they were left out.
    pub(super) compaction: Option<CompactionKind>,
    /// The entry that stands for it since the context was shortened.
    pub(super) replaced_by: Option<usize>,
}

/// Returns the histories of a session's tasks, the root task's first.
pub(super) fn histories(lines: &[JournalLine]) -> Vec<TaskHistory> {
    let mut state = SessionState::default();
    let mut histories: BTreeMap<TaskId, (TaskHistory, Vec<usize>)> = BTreeMap::new();
    for line in lines {
        let event = &line.event;
        let before = event.task().and_then(|task| state.task(task));
        let known = before.map_or(0, |task| task.conversation.messages.len());
        state.apply(line);
        let Some(task) = event.task().and_then(|task| state.task(task)) else { continue };
        let (history, visible) = histories.entry(task.id).or_insert_with(|| {
            let parent_call = match event {
                Event::TaskStarted { parent_call, .. } => parent_call.clone(),
                _ => None,
            };
            let parent = task.parent.map(|parent| (parent, parent_call.unwrap_or_default()));
            let mode = task.mode.clone();
            (TaskHistory { task: task.id, parent, mode, entries: Vec::new() }, Vec::new())
        });
        let charge = charges::charge(line, &state);
        let entry = |message: &Message| HistoryEntry {
            at: line.at,
            message: message.clone(),
            charged: charge.as_ref().map(|charge| charge.charged),
            model: charge.as_ref().map(|charge| charge.model.clone()).unwrap_or_default(),
            compaction: None,
            replaced_by: None,
        };
        if let Event::Compacted { how, left_out, text, .. } = event {
            let summary = history.entries.len();
            let left_out = (*left_out).min(visible.len());
            for replaced in visible.splice(..left_out, [summary]) {
                if let Some(entry) = history.entries.get_mut(replaced) {
                    entry.replaced_by = Some(summary);
                }
            }
            let message = Message::User { text: text.clone() };
            history.entries.push(HistoryEntry { compaction: Some(*how), ..entry(&message) });
            continue;
        }
        for message in task.conversation.messages.iter().skip(known) {
            visible.push(history.entries.len());
            history.entries.push(entry(message));
        }
    }
    histories.into_values().map(|(history, _)| history).collect()
}
