//! The lines of Claude Code and Kode: side chains are sub-tasks.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::session::event::JournalLine;
use crate::session::import::recorder::{Known, Recorder};
use crate::session::import::{ImportError, blocks};
use crate::session::recorded::ReplyCharge;
use locum_base::chat::{Reply, Usage};
use locum_base::id::TaskId;
use locum_base::json;

const FILE: &str = "the session";

/// Reads the lines of a session. The last one of an agent at work, or killed, may be cut off.
///
/// # Errors
/// When one is not JSON, or none holds words of a user.
pub(super) fn read(text: &str) -> Result<Vec<JournalLine>, ImportError> {
    let mut recorder: Option<Recorder> = None;
    let mut tasks: BTreeMap<String, TaskId> = BTreeMap::new();
    let mut charged: Option<String> = None;
    let mut pending: Option<PendingReply> = None;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Value = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(error) if error.is_eof() && number > 0 && text.ends_with(line) => break,
            Err(error) => {
                let line = Some(number + 1);
                return Err(ImportError { line, ..ImportError::json(FILE, &error) });
            }
        };
        let role = json::text(&line, "type");
        if !matches!(role, "user" | "assistant") || *json::field(&line, "isCompactSummary") == true
        {
            continue;
        }
        let content = json::field(json::field(&line, "message"), "content");
        let at: Option<Timestamp> =
            json::field(&line, "timestamp").as_str().and_then(|at| at.parse().ok());
        let Some(recorder) = &mut recorder else {
            let said = blocks::said(content);
            if role == "user" && !said.text.is_empty() && *json::field(&line, "isMeta") != true {
                let begun =
                    Recorder::begin(&known(text, &line), &said.text, at.unwrap_or_default());
                recorder = Some(begun);
                remember(&mut tasks, &line, TaskId(0));
            }
            continue;
        };
        let id = json::field(json::field(&line, "message"), "id").as_str().map(str::to_owned);
        if role == "assistant"
            && let Some(reply) = pending.as_mut().filter(|reply| id.is_some() && reply.id == id)
        {
            reply.join(&line);
            remember(&mut tasks, &line, reply.task);
            continue;
        }
        write(&mut pending, recorder);
        recorder.now(at);
        let parent =
            json::field(&line, "parentUuid").as_str().and_then(|parent| tasks.get(parent)).copied();
        let begins =
            *json::field(&line, "isSidechain") == true && parent.is_none_or(|parent| parent.0 == 0);
        let task = match parent {
            _ if begins && role == "user" => {
                let words = blocks::said(content).text;
                let task = recorder.start_task(Some(TaskId(0)), &words);
                remember(&mut tasks, &line, task);
                continue;
            }
            Some(parent) => parent,
            None => TaskId(0),
        };
        remember(&mut tasks, &line, task);
        if role == "assistant" {
            // The rest of a reply, behind the answer to one of its calls, was counted.
            let counted = id.is_some() && id == charged;
            let charge = if counted {
                ReplyCharge::default()
            } else {
                charge(json::field(&line, "message"))
            };
            charged.clone_from(&id);
            pending = Some(PendingReply { id, task, reply: blocks::reply(content), charge });
        } else {
            recorder.said(task, blocks::said(content));
        }
    }
    if let Some(recorder) = &mut recorder {
        write(&mut pending, recorder);
    }
    recorder.map(|recorder| recorder.lines).ok_or_else(|| {
        ImportError::about(FILE, "no line of it holds words of a user: it is no session")
    })
}

/// A reply of which more lines may follow: one each for its thoughts, its text and its calls.
struct PendingReply {
    id: Option<String>,
    task: TaskId,
    reply: Reply,
    charge: ReplyCharge,
}

impl PendingReply {
    /// Adds the next line of the reply. Its usage is that of the whole until then.
    fn join(&mut self, line: &Value) {
        let message = json::field(line, "message");
        blocks::join(&mut self.reply, blocks::reply(json::field(message, "content")));
        let (usage, later) = (&mut self.charge.usage, charge(message).usage);
        usage.input = usage.input.max(later.input);
        usage.output = usage.output.max(later.output);
        usage.cached_read = usage.cached_read.max(later.cached_read);
        usage.cached_write = usage.cached_write.max(later.cached_write);
    }
}

fn write(pending: &mut Option<PendingReply>, recorder: &mut Recorder) {
    if let Some(PendingReply { task, reply, charge, .. }) = pending.take() {
        recorder.replied(task, reply, charge);
    }
}

fn remember(tasks: &mut BTreeMap<String, TaskId>, line: &Value, task: TaskId) {
    if let Some(uuid) = json::field(line, "uuid").as_str() {
        tasks.insert(uuid.to_owned(), task);
    }
}

/// Returns what the lines say of the session as a whole.
fn known(text: &str, first: &Value) -> Known {
    let model = text.lines().find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let model = json::field(json::field(&line, "message"), "model").as_str()?;
        (*json::field(&line, "type") == "assistant").then(|| model.to_owned())
    });
    Known {
        mode: String::new(),
        model: model.unwrap_or_default(),
        folder: json::text(first, "cwd").to_owned(),
    }
}

/// Returns what a reply used. The lines have no price: its cost is not known.
fn charge(message: &Value) -> ReplyCharge {
    let count =
        |key: &str| json::field(json::field(message, "usage"), key).as_u64().unwrap_or_default();
    let (written, read) = (count("cache_creation_input_tokens"), count("cache_read_input_tokens"));
    let usage = Usage {
        input: count("input_tokens").saturating_add(written).saturating_add(read),
        output: count("output_tokens"),
        cached_read: read,
        cached_write: written,
        reasoning: 0,
    };
    ReplyCharge { usage, estimated: true, cost_usd: 0.0 }
}
