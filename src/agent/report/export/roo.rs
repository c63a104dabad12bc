//! The folders that Roo Code and Kilo Code keep tasks in: `tasks/ID/` with
//! `api_conversation_history.json`, `ui_messages.json`, `task_metadata.json`, for Roo also
//! `history_item.json`. Shapes: `packages/types/src/message.ts` and `history.ts` of
//! <https://github.com/RooCodeInc/Roo-Code>.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::report::export::history::{HistoryEntry, TaskHistory, histories};
use crate::report::export::{Exported, ExportedFile, blocks, file, roo_ui};
use crate::session::event::Event;
use crate::session::recorded::CompactionKind;
use crate::session::task::TaskState;
use locum_base::chat::Message;
use locum_base::json;

/// Whose folders they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Roo,
    Kilo,
}

/// Returns the files of every task.
pub(super) fn files(session: &Exported<'_>, flavour: Flavour) -> Vec<ExportedFile> {
    let mut files = Vec::new();
    for (number, history) in histories(session.lines).iter().enumerate() {
        let Some(task) = session.state.task(history.task) else { continue };
        let id = session.task_id(history.task);
        let mut add = |name: &str, value: &Value| {
            files.push(file(format!("tasks/{id}/{name}"), value));
        };
        add("api_conversation_history.json", &conversation(session, history));
        add("ui_messages.json", &Value::Array(roo_ui::messages(session, history)));
        add("task_metadata.json", &metadata(session, task));
        if flavour == Flavour::Roo {
            add("history_item.json", &history_item(session, history, (task, number + 1)));
        }
    }
    files
}

/// Returns the messages as they went to the model. Those that were left out later say which message
/// stands for them.
fn conversation(session: &Exported<'_>, history: &TaskHistory) -> Value {
    let id_of = |entry: usize| session.derived_id(&format!("{} entry {entry}", history.task));
    let compaction = |entry: usize| history.entries.get(entry)?.compaction;
    let message = |(number, entry): (usize, &HistoryEntry)| {
        let (role, content) = blocks::blocks(&entry.message);
        let mut message = json!({ "role": role, "ts": entry.at.as_millisecond() });
        json::put(
            &mut message,
            "content",
            match &entry.message {
                Message::Assistant { reasoning, .. } if !reasoning.is_empty() => {
                    let thought = json!({ "type": "reasoning", "text": reasoning, "summary": [] });
                    std::iter::once(thought).chain(content).collect()
                }
                _ => Value::Array(content),
            },
        );
        match entry.compaction {
            Some(CompactionKind::Condensed) => {
                json::put(&mut message, "isSummary", true);
                json::put(&mut message, "condenseId", id_of(number));
            }
            Some(CompactionKind::Truncated) => {
                json::put(&mut message, "isTruncationMarker", true);
                json::put(&mut message, "truncationId", id_of(number));
            }
            None => {}
        }
        if let Some(by) = entry.replaced_by {
            let key = match compaction(by) {
                Some(CompactionKind::Truncated) => "truncationParent",
                _ => "condenseParent",
            };
            json::put(&mut message, key, id_of(by));
        }
        message
    };
    history.entries.iter().enumerate().map(message).collect()
}

/// Returns the files that the task read and edited.
fn metadata(session: &Exported<'_>, task: &TaskState) -> Value {
    let mut read: BTreeMap<&str, i64> = BTreeMap::new();
    let mut edited: BTreeMap<&str, i64> = BTreeMap::new();
    for line in session.lines {
        let Event::Answered { task: of, observation, .. } = &line.event else { continue };
        if *of != task.id {
            continue;
        }
        for seen in &observation.seen {
            read.insert(seen.path.as_str(), line.at.as_millisecond());
        }
        for touched in &observation.touched {
            edited.insert(touched.as_str(), line.at.as_millisecond());
        }
    }
    let mut files: Vec<Value> = Vec::new();
    let mut add = |path: &str, source: &str| {
        files.push(json!({
            "path": path,
            "record_state": "active",
            "record_source": source,
            "roo_read_date": read.get(path),
            "roo_edit_date": edited.get(path),
            "user_edit_date": null,
        }));
    };
    edited.keys().for_each(|path| add(path, "roo_edited"));
    let only_read = read.keys().filter(|path| !edited.contains_key(*path));
    only_read.for_each(|path| add(path, "read_tool"));
    json!({ "files_in_context": files })
}

/// Returns what Roo's list of tasks shows.
fn history_item(
    session: &Exported<'_>,
    history: &TaskHistory,
    (task, number): (&TaskState, usize),
) -> Value {
    let own = task.budgeting.own;
    let last = history.entries.last().map(|entry| entry.at.as_millisecond());
    let title = if task.parent.is_none() { &session.start.task } else { &task.message };
    let children = session.state.tasks.iter().filter(|other| other.parent == Some(task.id));
    let children: Vec<String> = children.map(|child| session.task_id(child.id)).collect();
    let mut item = json!({
        "id": session.task_id(task.id),
        "number": number,
        "ts": last,
        "task": title,
        "tokensIn": own.usage.input,
        "tokensOut": own.usage.output,
        "cacheWrites": own.usage.cached_write,
        "cacheReads": own.usage.cached_read,
        "totalCost": own.cost_usd,
        "workspace": session.folder(),
        "mode": task.mode,
        "toolProtocol": "native",
        "status": if task.ended.is_some() { "completed" } else { "active" },
    });
    if let Some((parent, _)) = &history.parent {
        json::put(&mut item, "rootTaskId", session.task_id(locum_base::id::TaskId(0)));
        json::put(&mut item, "parentTaskId", session.task_id(*parent));
    }
    if !children.is_empty() {
        json::put(&mut item, "childIds", children);
    }
    item
}
