//! The JSON of a Messages answer, as loosely typed as servers write it.
//!
//! In: the JSON of one event, or of a whole message. Out: its parts and plain readings of them. How
//! events become a reply is `reply`'s part.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::transport::json::count_at;
use locum_base::chat::Usage;

/// One event of a stream, or a whole message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessagesEvent {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) index: Option<u64>,
    pub(crate) message: Option<Value>,
    pub(crate) content_block: Option<Map<String, Value>>,
    pub(crate) delta: Option<Map<String, Value>>,
    pub(crate) usage: Option<Value>,
    pub(crate) error: Option<Value>,
    /// Of a whole message: its blocks.
    pub(crate) content: Option<Value>,
    /// Of a whole message: why it ends.
    pub(crate) stop_reason: Option<String>,
}

/// What the counts of a reply add up to: later ones replace earlier ones, kind by kind, as the end
/// counts what the beginning could not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsageCounts {
    plain_input: u64,
    cached_read: u64,
    cached_write: u64,
    output: u64,
    reasoning: u64,
}

impl UsageCounts {
    /// Takes a count in and returns the sum.
    pub(crate) fn take(&mut self, usage: &Value) -> Usage {
        let newer = |known: u64, path: &[&str]| {
            Some(count_at(usage, path)).filter(|count| *count > 0).unwrap_or(known)
        };
        self.plain_input = newer(self.plain_input, &["input_tokens"]);
        self.cached_read = newer(self.cached_read, &["cache_read_input_tokens"]);
        self.cached_write = newer(self.cached_write, &["cache_creation_input_tokens"]);
        self.output = newer(self.output, &["output_tokens"]);
        self.reasoning = newer(self.reasoning, &["output_tokens_details", "thinking_tokens"]);
        Usage {
            // What was cached is not in the provider's own count of the input.
            input: self
                .plain_input
                .saturating_add(self.cached_read)
                .saturating_add(self.cached_write),
            output: self.output,
            cached_read: self.cached_read,
            cached_write: self.cached_write,
            reasoning: self.reasoning,
        }
    }
}
