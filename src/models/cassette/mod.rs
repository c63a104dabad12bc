//! Cassettes: the replies of a run, recorded once and played again without a model.
//!
//! A cassette is a file of JSON lines: a first one with its version, then one for each reply, with
//! what was asked in hashes. What was asked is compared by parts (mode, system prompt, tools,
//! what came before, what was said since), so that the first difference has a name.

pub mod record;
pub mod replay;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ModelRequest;
use crate::profile::{CONDENSE_PERCENT, ToolProtocol};
use crate::tokens::Tokenizer;
use locum_base::chat::{Message, Reply, ToolResult};
use locum_base::image::Image;
use locum_base::text::head;
use locum_base::tool::ToolName;

/// The cassette's format; a reader refuses another.
pub(crate) const CASSETTE_VERSION: u32 = 2;
/// Bytes of a part that a cassette shows.
const SHOWN_BYTES: usize = 160;
/// Lines of a part that are compared.
const LINES: usize = 400;

/// The first line of a cassette.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CassetteHeader {
    cassette: u32,
    #[serde(flatten)]
    capacities: Capacities,
}

/// What the recorded models could take: what they are asked depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacities {
    /// Of the root task's model.
    pub main: Capacity,
    /// Of the model of sub-tasks.
    pub task: Capacity,
    /// Of the model that sums conversations up, where there is one for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condense: Option<Capacity>,
    /// Of the models of modes that have one of their own, by slug.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<String, Capacity>,
    /// The models that could be asked a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experts: Vec<String>,
    /// The configured image models.
    #[serde(rename = "painters", default, skip_serializing_if = "Vec::is_empty")]
    pub image_models: Vec<String>,
}

/// What a recorded model could take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// Tokens of one request: it decides when a conversation is shortened.
    pub window: u32,
    /// Share of them, in percent, from which that is done.
    #[serde(default = "usual_percent")]
    pub condense_percent: u32,
    /// Whether it sees images: what is said of one depends on it.
    pub sees_images: bool,
    /// How it calls tools: they are described accordingly.
    pub tool_protocol: ToolProtocol,
    /// How its tokens were estimated: what is asked of a budget depends on it.
    #[serde(default)]
    pub tokenizer: Tokenizer,
    /// Opt-in tools it was offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included_tools: Vec<ToolName>,
}

fn usual_percent() -> u32 {
    CONDENSE_PERCENT
}

/// One reply and what it was a reply to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedExchange {
    task: u32,
    turn: u32,
    mode: String,
    /// Label of the model that replied.
    model: String,
    asked: Vec<RequestPart>,
    /// The images of a reply that was to give one, each in base64: they are written to files, so
    /// their hashes are not enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<String>,
    #[serde(flatten)]
    said: RecordedResponse,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedResponse {
    /// A whole reply.
    Reply(Reply),
    /// That the conversation is too long for it, in its words: the run shortened it and asked
    /// again.
    TooLong(String),
}

/// A part of what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RequestPart {
    field: RequestField,
    /// Of all of it.
    hash: String,
    /// Beginning of its text, for messages.
    shown: String,
    /// Of each line, the first ones.
    lines: Vec<u32>,
}

/// What a part of a request is; the names that a replay may tolerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestField {
    /// Text of the system prompt.
    System,
    /// Names, descriptions and parameters of the tools.
    Tools,
    /// Everything said before the last reply.
    Before,
    /// Messages of the user or the session since the last reply.
    Told,
    /// Answers to calls.
    Answers,
}

impl RequestField {
    /// Returns its name.
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

/// Returns the parts of a request: what came before the last reply as one, each thing said since by
/// itself.
fn parts(request: &ModelRequest<'_>) -> Vec<(RequestField, String)> {
    let since = request
        .messages
        .iter()
        .rposition(|message| matches!(message, Message::Assistant { .. }))
        .map_or(0, |at| at + 1);
    let (before, new) = request.messages.split_at(since);
    let mut parts = vec![
        (RequestField::System, request.system.to_owned()),
        (
            RequestField::Tools,
            request
                .tools
                .iter()
                .map(|tool| format!("{}: {} {}\n", tool.name, tool.description, tool.parameters))
                .collect(),
        ),
        (RequestField::Before, before.iter().map(written).collect()),
    ];
    parts.extend(new.iter().flat_map(|message| match message {
        Message::User { text } => vec![(RequestField::Told, text.clone())],
        Message::Images { images } => vec![(RequestField::Told, described(images))],
        Message::Assistant { .. } => Vec::new(),
        Message::Tool { results } => {
            results.iter().map(|result| (RequestField::Answers, answer(result))).collect()
        }
    }));
    if let Some(wish) = request.picture {
        let from = wish
            .from
            .map(|image| format!(", from {image}, sha256 {}", image.hash))
            .unwrap_or_default();
        parts.push((RequestField::Told, format!("a picture as {}{from}", wish.kind.as_str())));
    }
    parts
}

fn written(message: &Message) -> String {
    match message {
        Message::User { text } => format!("user: {text}\n"),
        Message::Images { images } => format!("images:{}\n", described(images)),
        Message::Assistant { text, calls, .. } => {
            let calls: String = calls
                .iter()
                .map(|call| format!("call {} {}\n", call.name, call.arguments))
                .collect();
            format!("assistant: {text}\n{calls}")
        }
        Message::Tool { results } => {
            results.iter().map(|result| format!("answer: {}\n", answer(result))).collect()
        }
    }
}

/// Returns an answer with what it shows: images by their hash.
fn answer(result: &ToolResult) -> String {
    format!("{}{}", result.text, described(&result.images))
}

fn described(images: &[Image]) -> String {
    images.iter().map(|image| format!("\n[{image}, sha256 {}]", image.hash)).collect()
}

impl RequestPart {
    fn of(field: RequestField, text: &str) -> Self {
        let lines = text.lines().take(LINES).map(|line| {
            Sha256::digest(line.as_bytes())
                .iter()
                .take(4)
                .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
        });
        Self {
            field,
            hash: hash(text),
            shown: head(text.trim_start(), SHOWN_BYTES).to_owned(),
            lines: lines.collect(),
        }
    }
}

fn hash(text: &str) -> String {
    let mut hex = format!("{:x}", Sha256::digest(text.as_bytes()));
    hex.truncate(32);
    hex
}
