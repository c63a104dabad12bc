//! A task's folder of Roo Code or Kilo Code.

use jiff::Timestamp;
use serde_json::Value;

use crate::session::event::JournalLine;
use crate::session::import::recorder::{Known, Recorder};
use crate::session::import::{ImportError, blocks};
use crate::session::recorded::ReplyCharge;
use locum_base::chat::Usage;
use locum_base::id::TaskId;
use locum_base::json;

const CONVERSATION: &str = "api_conversation_history.json";
const SHOWN: &str = "ui_messages.json";
const ITEM: &str = "history_item.json";

/// Reads the texts of a task's files.
///
/// # Errors
/// When one is not JSON, or there is no message.
pub(super) fn read(
    conversation: &str,
    shown: Option<&str>,
    item: Option<&str>,
) -> Result<Vec<JournalLine>, ImportError> {
    let messages: Vec<Value> = serde_json::from_str(conversation)
        .map_err(|error| ImportError::json(CONVERSATION, &error))?;
    let shown: Vec<Value> = serde_json::from_str(shown.unwrap_or("[]"))
        .map_err(|error| ImportError::json(SHOWN, &error))?;
    let item: Value = serde_json::from_str(item.unwrap_or("null"))
        .map_err(|error| ImportError::json(ITEM, &error))?;
    let Some(first) = messages.first().filter(|message| *json::field(message, "role") == "user")
    else {
        return Err(ImportError::about(CONVERSATION, "it does not begin with words of a user"));
    };
    let text = |key: &str| json::text(&item, key).to_owned();
    let known = Known { mode: text("mode"), model: String::new(), folder: text("workspace") };
    let task = untagged(&blocks::said(json::field(first, "content")).text);
    let mut recorder = Recorder::begin(&known, &task, time(first).unwrap_or_default());
    let mut charges = charges(&shown).into_iter();
    let root = TaskId(0);
    for message in messages.iter().skip(1) {
        recorder.now(time(message));
        let content = json::field(message, "content");
        // What stands for messages left out is no one's words: they are all here.
        if *json::field(message, "isSummary") == true
            || *json::field(message, "isTruncationMarker") == true
        {
            continue;
        }
        if *json::field(message, "role") == "assistant" {
            let charge = charges.next().unwrap_or_default();
            recorder.replied(root, blocks::reply(content), charge);
        } else {
            recorder.said(root, blocks::said(content));
        }
    }
    Ok(recorder.lines)
}

fn time(message: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(json::field(message, "ts").as_i64()?).ok()
}

/// Returns the words of a task without the tags that stand around them.
fn untagged(text: &str) -> String {
    let text = text.trim();
    for tag in ["task", "user_message"] {
        let inner = text.strip_prefix(&format!("<{tag}>"));
        if let Some((words, _)) = inner.and_then(|inner| inner.split_once(&format!("</{tag}>"))) {
            return words.trim().to_owned();
        }
    }
    text.to_owned()
}

/// Returns what each request cost, as the shown messages say it.
fn charges(shown: &[Value]) -> Vec<ReplyCharge> {
    let requests = shown.iter().filter(|message| *json::field(message, "say") == "api_req_started");
    let charge = |message: &Value| {
        let text = json::field(message, "text").as_str().unwrap_or("null");
        let request: Value = serde_json::from_str(text).unwrap_or_default();
        let count = |key: &str| json::field(&request, key).as_u64().unwrap_or_default();
        let usage = Usage {
            input: count("tokensIn"),
            output: count("tokensOut"),
            cached_read: count("cacheReads"),
            cached_write: count("cacheWrites"),
            reasoning: 0,
        };
        let cost_usd = json::field(&request, "cost").as_f64().unwrap_or_default();
        ReplyCharge { usage, estimated: false, cost_usd }
    };
    requests.map(charge).collect()
}
