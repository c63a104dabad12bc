//! The JSON of a Chat Completions answer, as loosely typed as servers write it.
//!
//! In: the bytes of one event or body. Out: a `Chunk`, its parts left as JSON values where servers disagree about their type, and plain
//! readings of those values. How chunks become a reply is `reply`'s part.

use serde::Deserialize;
use serde_json::Value;

use crate::base::chat::Usage;

/// One event of a stream, or the whole of an answer that is not streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Value>,
    pub(super) x_groq: Option<Value>,
    pub(super) error: Option<Value>,
    pub(super) object: Option<Value>,
    #[serde(rename = "type")]
    pub(super) kind: Option<Value>,
}

/// One of the replies asked for; only the first counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) index: Option<Value>,
    pub(super) delta: Option<Piece>,
    pub(super) message: Option<Piece>,
    pub(super) finish_reason: Option<Value>,
    pub(super) usage: Option<Value>,
    pub(super) error: Option<Value>,
}

/// A piece of a reply, or all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Piece {
    pub(super) content: Option<Value>,
    pub(super) reasoning_content: Option<Value>,
    pub(super) reasoning: Option<Value>,
    pub(super) refusal: Option<Value>,
    pub(super) tool_calls: Option<Value>,
    pub(super) function_call: Option<Value>,
}

/// A piece of a tool call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallPiece {
    /// The server's number for the call.
    pub(super) index: Option<u64>,
    /// The server's name for the call; never empty.
    pub(super) id: Option<String>,
    /// The tool's name or a part of it; never empty.
    pub(super) name: Option<String>,
    /// A part of the arguments as text; objects are written out.
    pub(super) arguments: String,
}

impl Chunk {
    /// Reads a chunk; bytes that are not UTF-8 are replaced, as a tokenizer may have cut a character in two.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes).or_else(|err| match std::str::from_utf8(bytes) {
            Ok(_) => Err(err),
            Err(_) => serde_json::from_str(&String::from_utf8_lossy(bytes)),
        })
    }

    /// Returns what the provider says went wrong, where this is no piece of a reply but an error.
    pub(super) fn fault(&self) -> Option<&Value> {
        let own = self.error.as_ref().filter(|error| is_said(error));
        own.or_else(|| self.choices.iter().flatten().find_map(|choice| choice.error.as_ref().filter(|error| is_said(error))))
    }

    /// Returns true for the older form of an error: the object itself.
    pub(super) fn is_fault(&self) -> bool {
        [&self.object, &self.kind].into_iter().flatten().any(|word| word == "error")
    }

    /// Returns the tokens counted, wherever the server put them.
    pub(super) fn usage(&self) -> Option<Usage> {
        let groq = self.x_groq.as_ref().and_then(|own| own.get("usage"));
        let in_choice = self.choices.iter().flatten().find_map(|choice| choice.usage.as_ref());
        [self.usage.as_ref(), groq, in_choice].into_iter().flatten().find_map(read_usage)
    }
}

impl Piece {
    /// Returns the visible words and the reasoning of this piece.
    pub(super) fn texts(&self) -> (String, String) {
        let mut words = String::new();
        let mut reasoning = String::new();
        // Servers in the middle of a rename send the same reasoning under both names.
        let named = [&self.reasoning_content, &self.reasoning].into_iter().flatten().find(|value| is_said(value));
        collect_text(named, &mut reasoning, &mut String::new());
        collect_text(self.content.as_ref(), &mut words, &mut reasoning);
        collect_text(self.refusal.as_ref(), &mut words, &mut String::new());
        (words, reasoning)
    }

    /// Returns the pieces of tool calls, in the order they are written.
    pub(super) fn calls(&self) -> Vec<CallPiece> {
        let listed = match &self.tool_calls {
            Some(Value::Array(calls)) => calls.iter().map(read_call).collect(),
            Some(call @ Value::Object(_)) => vec![read_call(call)],
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => Vec::new(),
        };
        let legacy = self.function_call.as_ref().filter(|call| call.is_object() && listed.is_empty());
        let legacy = legacy.map(|call| CallPiece { index: Some(0), ..read_call(call) });
        listed.into_iter().chain(legacy).filter(|piece| *piece != CallPiece { index: piece.index, ..CallPiece::default() }).collect()
    }
}

fn read_call(call: &Value) -> CallPiece {
    let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let id = text(call.get("id")).or_else(|| call.get("id").and_then(Value::as_u64).map(|number| number.to_string()));
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(value @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_))) => value.to_string(),
    };
    CallPiece { index: call.get("index").and_then(read_number), id, name: text(function.get("name")), arguments }
}

/// Adds the text of a content field: a string, or parts of which some are reasoning.
fn collect_text(value: Option<&Value>, words: &mut String, reasoning: &mut String) {
    match value {
        Some(Value::String(text)) => words.push_str(text),
        Some(Value::Array(parts)) => parts.iter().for_each(|part| collect_text(Some(part), words, reasoning)),
        Some(Value::Object(part)) => {
            let inner = ["text", "content", "thinking", "reasoning"].iter().find_map(|key| part.get(*key));
            let thinks =
                part.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("thinking") || kind.starts_with("reasoning"));
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
    let number = |path: &[&str]| path.iter().try_fold(value, |value, key| value.get(key)).and_then(read_number);
    let first = |paths: &[&[&str]]| paths.iter().find_map(|path| number(path).filter(|count| *count > 0)).unwrap_or(0);
    let usage = Usage {
        input: first(&[&["prompt_tokens"], &["input_tokens"]]),
        output: first(&[&["completion_tokens"], &["output_tokens"]]),
        cached_read: first(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["prompt_cache_hit_tokens"],
            &["cached_tokens"],
        ]),
        cached_write: first(&[&["prompt_tokens_details", "cache_write_tokens"], &["cache_creation_input_tokens"]]),
        reasoning: first(&[&["completion_tokens_details", "reasoning_tokens"], &["output_tokens_details", "reasoning_tokens"]]),
    };
    (usage.total() > 0).then_some(usage)
}

/// Reads a count that may be written as a float or as text.
fn read_number(value: &Value) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
    let from_float = |number: f64| (number.fract() == 0.0 && (0.0..9.0e15).contains(&number)).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(from_float)).or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

fn is_said(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}
