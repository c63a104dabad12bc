//! The JSON of a Chat Completions answer, as loosely typed as servers write it.
//!
//! In: the bytes of one event or body. Out: a `ChatChunk`, its parts left as JSON values where
//! servers disagree about their type, and plain readings of those values. How chunks become a reply
//! is `reply`'s part.

use serde::Deserialize;
use serde_json::Value;

use crate::transport::json::{count_at, is_set, read_arguments, read_number, read_text};
use locum_base::chat::Usage;

/// One event of a stream, or the whole of an answer that is not streamed.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatChunk {
    pub(crate) choices: Option<Vec<ChatChoice>>,
    pub(crate) usage: Option<Value>,
    pub(crate) x_groq: Option<Value>,
    pub(crate) error: Option<Value>,
    pub(crate) object: Option<Value>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<Value>,
}

/// One of the requested replies; only the first counts.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatChoice {
    pub(crate) index: Option<Value>,
    pub(crate) delta: Option<ChatPiece>,
    pub(crate) message: Option<ChatPiece>,
    pub(crate) finish_reason: Option<Value>,
    pub(crate) usage: Option<Value>,
    pub(crate) error: Option<Value>,
}

/// A piece of a reply, or all of it.
#[derive(Debug, Deserialize)]
pub(crate) struct ChatPiece {
    pub(crate) content: Option<Value>,
    pub(crate) reasoning_content: Option<Value>,
    pub(crate) reasoning: Option<Value>,
    pub(crate) reasoning_details: Option<Value>,
    pub(crate) refusal: Option<Value>,
    pub(crate) tool_calls: Option<Value>,
    pub(crate) function_call: Option<Value>,
    pub(crate) images: Option<Value>,
}

/// A piece of a tool call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallPiece {
    /// The server's number for the call.
    pub(crate) index: Option<u64>,
    /// The server's name for the call; never empty.
    pub(crate) id: Option<String>,
    /// The tool's name or a part of it; never empty.
    pub(crate) name: Option<String>,
    /// A part of the arguments as text; objects are written out.
    pub(crate) arguments: String,
    /// What a gateway hangs on the call and wants back.
    pub(crate) extra_content: Option<Value>,
}

impl ChatChunk {
    /// Returns the error that the provider reports, where this is an error instead of a piece of a
    /// reply.
    pub(crate) fn fault(&self) -> Option<&Value> {
        let own = self.error.as_ref().filter(|error| is_set(error));
        own.or_else(|| {
            self.choices
                .iter()
                .flatten()
                .find_map(|choice| choice.error.as_ref().filter(|error| is_set(error)))
        })
    }

    /// Returns true for the older form of an error: the object itself.
    pub(crate) fn is_fault(&self) -> bool {
        [&self.object, &self.kind].into_iter().flatten().any(|word| word == "error")
    }

    /// Returns the tokens counted, wherever the server put them.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let groq = self.x_groq.as_ref().and_then(|own| own.get("usage"));
        let in_choice = self.choices.iter().flatten().find_map(|choice| choice.usage.as_ref());
        [self.usage.as_ref(), groq, in_choice].into_iter().flatten().find_map(read_usage)
    }
}

impl ChatPiece {
    /// Returns the visible words and the reasoning of this piece.
    pub(crate) fn texts(&self) -> (String, String) {
        let mut words = String::new();
        let mut reasoning = String::new();
        // Servers in the middle of a rename send the same reasoning under both names.
        let named = [&self.reasoning_content, &self.reasoning, &self.reasoning_details]
            .into_iter()
            .flatten()
            .find(|value| is_set(value));
        let mut thoughts = String::new();
        collect_text(named, &mut reasoning, &mut thoughts);
        reasoning.push_str(&thoughts);
        collect_text(self.content.as_ref(), &mut words, &mut reasoning);
        collect_text(self.refusal.as_ref(), &mut words, &mut String::new());
        (words, reasoning)
    }

    /// Returns the base64 of images, which gateways give as addresses that hold them.
    pub(crate) fn images(&self) -> impl Iterator<Item = &str> {
        self.images.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(|image| {
            let (head, data) =
                image.pointer("/image_url/url").and_then(Value::as_str)?.split_once(',')?;
            (head.starts_with("data:image/") && head.ends_with(";base64")).then_some(data)
        })
    }

    /// Returns the pieces of tool calls, in the order they are written.
    pub(crate) fn calls(&self) -> Vec<CallPiece> {
        let listed = match &self.tool_calls {
            Some(Value::Array(calls)) => calls.iter().map(read_call).collect(),
            Some(call @ Value::Object(_)) => vec![read_call(call)],
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
                Vec::new()
            }
        };
        let legacy =
            self.function_call.as_ref().filter(|call| call.is_object() && listed.is_empty());
        let legacy = legacy.map(|call| CallPiece { index: Some(0), ..read_call(call) });
        listed
            .into_iter()
            .chain(legacy)
            .filter(|piece| *piece != CallPiece { index: piece.index, ..CallPiece::default() })
            .collect()
    }
}

fn read_call(call: &Value) -> CallPiece {
    let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let id = read_text(call.get("id"))
        .or_else(|| call.get("id").and_then(Value::as_u64).map(|number| number.to_string()));
    let arguments = read_arguments(function.get("arguments"));
    CallPiece {
        index: call.get("index").and_then(read_number),
        id,
        name: read_text(function.get("name")),
        arguments,
        extra_content: call.get("extra_content").filter(|extra| is_set(extra)).cloned(),
    }
}

/// Adds the text of a content field: a string, or parts of which some are reasoning.
fn collect_text(value: Option<&Value>, words: &mut String, reasoning: &mut String) {
    match value {
        Some(Value::String(text)) => words.push_str(text),
        Some(Value::Array(parts)) => {
            parts.iter().for_each(|part| collect_text(Some(part), words, reasoning))
        }
        Some(Value::Object(part)) => {
            let inner = ["text", "content", "thinking", "reasoning", "summary"]
                .iter()
                .find_map(|key| part.get(*key));
            let thinks = part
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.starts_with("thinking") || kind.starts_with("reasoning"));
            if thinks {
                collect_text(inner, reasoning, &mut String::new());
            } else {
                collect_text(inner, words, reasoning);
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => {}
    }
}

fn read_usage(value: &Value) -> Option<Usage> {
    let first = |paths: &[&[&str]]| {
        paths.iter().map(|path| count_at(value, path)).find(|count| *count > 0).unwrap_or(0)
    };
    let mut usage = Usage {
        input: first(&[&["prompt_tokens"], &["input_tokens"]]),
        output: first(&[&["completion_tokens"], &["output_tokens"]]),
        cached_read: first(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cached_tokens"],
        ]),
        cached_write: first(&[
            &["prompt_tokens_details", "cache_write_tokens"],
            &["cache_creation_input_tokens"],
        ]),
        reasoning: first(&[
            &["completion_tokens_details", "reasoning_tokens"],
            &["output_tokens_details", "reasoning_tokens"],
        ]),
    };
    let beside = output_beside(&usage, count_at(value, &["total_tokens"]));
    usage.output = usage.output.saturating_add(beside);
    (usage.total() > 0).then_some(usage)
}

/// Returns the tokens that the model wrote and the server does not count as output. OpenAI's count
/// of the output holds the reasoning; at xAI and at Gemini's endpoint for this protocol only the
/// total does (docs.x.ai, "Reasoning": "counted separately from completion_tokens").
fn output_beside(usage: &Usage, total: u64) -> u64 {
    if total == 0 {
        // What is reasoned is never more than the output that holds it.
        return if usage.reasoning > usage.output { usage.reasoning } else { 0 };
    }
    let beside = total.saturating_sub(usage.total());
    // Some gateways count what was cached in the total, and not in the input.
    let is_cached = beside == usage.cached_read.saturating_add(usage.cached_write);
    match usage.reasoning {
        _ if is_cached => 0,
        0 => beside,
        reasoning => beside.min(reasoning),
    }
}
