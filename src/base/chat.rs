//! The conversation with a model, in no provider's dialect: messages, tool calls, usage.

use serde::{Deserialize, Serialize};

use crate::image::Image;
use crate::text::weighed_bytes;

/// One message of a task's conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the task's giver says: the task itself, reminders, answers.
    User {
        /// The text as the model sees it.
        text: String,
    },
    /// Images that belong to what was said before.
    Images {
        /// The images, in the order the text names them.
        images: Vec<Image>,
    },
    /// What the model said.
    Assistant {
        /// Its visible words; may be empty when it only called tools.
        text: String,
        /// Its reasoning where the provider shows it; sent back only to providers that ask for it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// The tools it called, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// What its provider wants back with it.
        #[serde(rename = "kept", default, skip_serializing_if = "Option::is_none")]
        opaque: Option<OpaqueState>,
    },
    /// The answers to every call of the assistant message before, in call order.
    Tool {
        /// One result for each call.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Returns the bytes of text it holds, with what its provider wants back, by their
    /// [weight](weighed_bytes); images count for as much text as they have tokens.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::User { text } => weighed_bytes(text),
            Self::Images { images } => {
                images.iter().map(|image| image.tokens().saturating_mul(4)).sum()
            }
            Self::Assistant { text, calls, opaque, .. } => {
                let opaque = opaque
                    .iter()
                    .flat_map(|opaque| &opaque.parts)
                    .map(OpaquePart::size_bytes)
                    .sum::<usize>();
                let call_bytes = |call: &ToolCall| {
                    call.id.len() + call.name.len() + weighed_bytes(&call.arguments)
                };
                weighed_bytes(text) + opaque + calls.iter().map(call_bytes).sum::<usize>()
            }
            Self::Tool { results } => {
                let images = results.iter().flat_map(|result| &result.images);
                let bytes =
                    |result: &ToolResult| result.call_id.len() + weighed_bytes(&result.text);
                results.iter().map(bytes).sum::<usize>()
                    + images.map(|image| image.tokens().saturating_mul(4)).sum::<usize>()
            }
        }
    }
}

/// What a provider wants back with a reply exactly as it sent it: signed or encrypted reasoning,
/// names of items. No other party can read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpaqueState {
    /// The model that wrote it, with its host: no other is shown it.
    pub by: String,
    /// The parts of the reply in the order they came.
    pub parts: Vec<OpaquePart>,
}

/// A part of a reply, as its provider wants it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpaquePart {
    /// A part that only its provider reads.
    Own(serde_json::Value),
    /// The next words of the reply.
    Text {
        /// How many bytes of them.
        bytes: usize,
        /// What hangs on them; null for nothing.
        #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
        seal: serde_json::Value,
    },
    /// The next call of the reply.
    Call {
        /// What hangs on it; null for nothing.
        #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
        seal: serde_json::Value,
    },
}

impl OpaquePart {
    /// Returns what its provider wants back, written out; empty for nothing.
    pub fn written(&self) -> String {
        match self {
            Self::Own(value) | Self::Text { seal: value, .. } | Self::Call { seal: value }
                if !value.is_null() =>
            {
                value.to_string()
            }
            Self::Own(_) | Self::Text { .. } | Self::Call { .. } => String::new(),
        }
    }

    /// Returns about how many bytes it adds to a request.
    pub fn size_bytes(&self) -> usize {
        self.written().len()
    }
}

/// One use of a tool, as the model wrote it: nothing about it has been checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's name for this call, or one given by the adapter where the provider gave none.
    /// Unique within a reply.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: meant to be a JSON object, possibly not even JSON.
    pub arguments: String,
}

/// The answer to one [`ToolCall`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// [`ToolCall::id`] of the call answered.
    pub call_id: String,
    /// What the model reads: already redacted and clipped.
    pub text: String,
    /// True when the call was refused or failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// True when the call ran a command that did not exit with 0: no error of the call, but a fixed
    /// step that failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_failed: bool,
    /// What the model is shown with it, if it sees images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// What a tool looks like to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, when to use it, what it returns.
    pub description: String,
    /// A JSON Schema of its arguments: an object.
    pub parameters: serde_json::Value,
}

/// Tokens counted by the provider for one request, or summed over many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read by the model, cached ones included.
    pub input: u64,
    /// Tokens written by the model, reasoning included.
    pub output: u64,
    /// Of `input`, those the provider had cached.
    #[serde(default)]
    pub cached_read: u64,
    /// Of `input`, those the provider put into its cache.
    #[serde(default)]
    pub cached_write: u64,
    /// Of `output`, those spent on reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

impl Usage {
    /// Returns input and output together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds another count to this one.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached_read = self.cached_read.saturating_add(other.cached_read);
        self.cached_write = self.cached_write.saturating_add(other.cached_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said what it wanted to say.
    #[default]
    End,
    /// It wants its tool calls answered.
    ToolUse,
    /// It reached the output limit; the last call may be cut.
    Length,
    /// The provider's filter stopped it; the last call may be cut.
    Filtered,
}

/// One complete turn of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Visible text of the reply.
    pub text: String,
    /// Its reasoning where shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools it called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What its provider wants back with it.
    #[serde(rename = "kept", default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<OpaqueState>,
    /// The images it gave. They are kept and mentioned, but not shown: a model that wants
    /// a file makes one with a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The model that replied, where it stood in for the one that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// True where a job's own steps gave it, and no model was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    /// Tokens as counted by the provider; `None` when it did not say.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Why it stopped.
    pub stop: StopReason,
}

impl Reply {
    /// Returns the reply as a message of the conversation.
    pub fn into_message(self) -> Message {
        Message::Assistant {
            text: self.text,
            reasoning: self.reasoning,
            calls: self.calls,
            opaque: self.opaque,
        }
    }
}
