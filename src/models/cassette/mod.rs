//! Cassettes: the replies of a run, recorded once and played again without a model.
//!
//! A cassette is a file of JSON lines: a first one with its version, then one for each reply, with what was asked in hashes. What was asked is
//! told apart by parts (mode, system prompt, tools, what came before, what was said since), so that the first difference has a name.

pub mod record;
pub mod replay;

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::chat::{Message, Reply, ToolResult};
use crate::base::text::head;
use crate::models::ModelRequest;

/// The cassette's format; a reader refuses another.
pub const CASSETTE_VERSION: u32 = 1;
/// Bytes of a part that a cassette shows.
const SHOWN_BYTES: usize = 160;
/// Lines of a part that are told apart.
const LINES: usize = 400;

/// The first line of a cassette.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    cassette: u32,
    /// The window of the root task's model, in tokens: it decides when a conversation is shortened.
    #[serde(default = "no_window")]
    main_window: u32,
    /// That of sub-tasks.
    #[serde(default = "no_window")]
    task_window: u32,
    /// Whether the root task's model sees images: what is said of one depends on it.
    #[serde(default = "yes")]
    main_sees: bool,
    /// Whether those of sub-tasks do.
    #[serde(default = "yes")]
    task_sees: bool,
    /// The models that could be asked a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    experts: Vec<String>,
}

fn no_window() -> u32 {
    u32::MAX
}

fn yes() -> bool {
    true
}

/// What a recorded model could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Tokens of one request.
    pub window: u32,
    /// Whether it sees images.
    pub sees_images: bool,
}

/// One reply and what it was a reply to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Exchange {
    task: u32,
    turn: u32,
    mode: String,
    /// The model's label.
    model: String,
    asked: Vec<Part>,
    reply: Reply,
}

/// A part of what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    field: Field,
    /// Of all of it.
    hash: String,
    /// How it begins.
    shown: String,
    /// Of each line, the first ones.
    lines: Vec<u32>,
}

/// What a part of a request is; the names a replay may be told to tolerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// Everything said before the last reply.
    Before,
    /// What the model was told.
    Told,
    /// Answers to calls.
    Answers,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 5] = [Self::System, Self::Tools, Self::Before, Self::Told, Self::Answers];

    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::Before => "before",
            Self::Told => "told",
            Self::Answers => "answers",
        }
    }
}

/// Returns the parts of a request: what came before the last reply as one, each thing said since by itself.
fn parts(request: &ModelRequest<'_>) -> Vec<(Field, String)> {
    let since = request.messages.iter().rposition(|message| matches!(message, Message::Assistant { .. })).map_or(0, |at| at + 1);
    let (before, new) = request.messages.split_at(since);
    let mut parts = vec![
        (Field::System, request.system.to_owned()),
        (Field::Tools, request.tools.iter().map(|tool| format!("{}: {} {}\n", tool.name, tool.description, tool.parameters)).collect()),
        (Field::Before, before.iter().map(written).collect()),
    ];
    parts.extend(new.iter().flat_map(|message| match message {
        Message::User { text } => vec![(Field::Told, text.clone())],
        Message::Assistant { .. } => Vec::new(),
        Message::Tool { results } => results.iter().map(|result| (Field::Answers, answer(result))).collect(),
    }));
    parts
}

fn written(message: &Message) -> String {
    match message {
        Message::User { text } => format!("user: {text}\n"),
        Message::Assistant { text, calls, .. } => {
            let calls: String = calls.iter().map(|call| format!("call {} {}\n", call.name, call.arguments)).collect();
            format!("assistant: {text}\n{calls}")
        }
        Message::Tool { results } => results.iter().map(|result| format!("answer: {}\n", answer(result))).collect(),
    }
}

/// Returns an answer with what it shows: images by their hash.
fn answer(result: &ToolResult) -> String {
    let images = result.images.iter().map(|image| format!("\n[{image}, sha256 {}]", image.hash));
    std::iter::once(result.text.clone()).chain(images).collect()
}

impl Part {
    fn of(field: Field, text: &str) -> Self {
        let lines = text
            .lines()
            .take(LINES)
            .map(|line| Sha256::digest(line.as_bytes()).iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte)));
        Self { field, hash: hash(text), shown: head(text.trim_start(), SHOWN_BYTES).to_owned(), lines: lines.collect() }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).fold(String::with_capacity(32), |mut hex, byte| {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
