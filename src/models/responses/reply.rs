//! What the events of a Responses answer say.
//!
//! In: events in the order they came, odd ones too: an item that was never begun, one that comes
//! only when it is done, a stream of which only the last event says anything. Out: words,
//! reasoning, calls, counts, why the model stopped, and the reasoning to be returned.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use serde_json::Value;

use crate::transport::json::{count_at, read_arguments, read_text};
use crate::transport::response::{
    DeltaWriter, PieceKind, ReplyParser, ResponseError, ResponseForm,
};
use locum_base::chat::{OpaquePart, StopReason, Usage};

/// A reply as far as its events came.
#[derive(Debug, Default)]
pub(crate) struct ResponsesReply {
    items: BTreeMap<u64, OutputItem>,
    calls: usize,
    /// The place of the item that the last event was about.
    last: u64,
    /// Places by what servers call their items.
    named: BTreeMap<String, u64>,
    /// Places whose items are whole.
    ended: BTreeSet<u64>,
}

/// An item of the output.
#[derive(Debug)]
enum OutputItem {
    Words {
        bytes: usize,
        phase: Option<Value>,
    },
    Call {
        index: usize,
        is_named: bool,
        has_arguments: bool,
    },
    Reasoning {
        has_text: bool,
        whole: Option<Value>,
    },
    /// Another kind: nothing of it is sent back.
    Other,
}

impl ReplyParser for ResponsesReply {
    type Piece = Value;

    fn take(
        &mut self,
        event: Value,
        _raw: &[u8],
        _form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "error"
            || (kind.is_empty() && event.get("error").is_some_and(|error| !error.is_null()))
        {
            return Err(ResponseError::Reported(
                event.get("error").filter(|error| error.is_object()).cloned().unwrap_or(event),
            ));
        }
        let text = || read_text(event.get("delta")).unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {}
            "response.output_item.added" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                let at = self.place(&event, &OutputItem::of(item));
                self.begin(at, item, out);
            }
            "response.output_item.done" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                let at = self.place(&event, &OutputItem::of(item));
                self.ended.insert(at);
                self.end(at, item, out);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let at = self.place(&event, &OutputItem::WORDS);
                if let OutputItem::Words { bytes, .. } =
                    self.items.entry(at).or_insert(OutputItem::WORDS)
                {
                    *bytes += text().len();
                    out.text(&text());
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let at = self.place(&event, &OutputItem::REASONING);
                if let OutputItem::Reasoning { has_text, .. } =
                    self.items.entry(at).or_insert(OutputItem::REASONING)
                {
                    *has_text = true;
                    out.reasoning(&text());
                }
            }
            "response.function_call_arguments.delta" => {
                let at = self.place(&event, &OutputItem::CALL);
                self.arguments(at, read_arguments(event.get("delta")), out);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                self.close(
                    event.get("response").unwrap_or(&Value::Null),
                    kind.trim_start_matches("response."),
                    out,
                )?;
            }
            "" if event.get("output").is_some() => {
                self.close(
                    &event,
                    event.get("status").and_then(Value::as_str).unwrap_or("completed"),
                    out,
                )?;
            }
            // The ends of parts, which their pieces have said already, notes on the text, events of
            // a later day.
            kind if kind.starts_with("response.") => {}
            _ => return Ok(PieceKind::Other),
        }
        Ok(PieceKind::Reply)
    }

    fn parts(&mut self) -> Vec<OpaquePart> {
        let parts = std::mem::take(&mut self.items).into_values().filter_map(|item| match item {
            OutputItem::Words { bytes, phase } => Some(OpaquePart::Text {
                bytes,
                seal: phase.map_or(Value::Null, |phase| serde_json::json!({ "phase": phase })),
            }),
            OutputItem::Call { .. } => Some(OpaquePart::Call { seal: Value::Null }),
            OutputItem::Reasoning { whole, .. } => whole.map(OpaquePart::Own),
            OutputItem::Other => None,
        });
        parts.collect()
    }
}

impl OutputItem {
    const WORDS: Self = Self::Words { bytes: 0, phase: None };
    const CALL: Self = Self::Call { index: 0, is_named: false, has_arguments: false };
    const REASONING: Self = Self::Reasoning { has_text: false, whole: None };

    /// Returns an item of which nothing is known but its kind.
    fn of(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => Self::WORDS,
            "function_call" => Self::CALL,
            "reasoning" => Self::REASONING,
            _ => Self::Other,
        }
    }
}

impl ResponsesReply {
    /// Finds the place of the item an event is about. It goes by the item's number, which some
    /// servers leave out or give to every item alike; by its names, which some change with every
    /// event; or else by what came last. What fits nowhere is a new item.
    fn place(&mut self, event: &Value, kind: &OutputItem) -> u64 {
        let item = event.get("item");
        let call = item.and_then(|item| read_text(item.get("call_id")));
        let names: Vec<String> = [event.get("item_id"), item.and_then(|item| item.get("id"))]
            .into_iter()
            .filter_map(read_text)
            .collect();
        let fits = |at: &u64| {
            self.items.get(at).is_none_or(|known| discriminant(known) == discriminant(kind))
                && self.takes_call(*at, call.as_ref())
        };
        let number = event.get("output_index").and_then(Value::as_u64);
        let named = || call.iter().chain(&names).find_map(|name| self.named.get(name)).copied();
        let goes_on = || {
            let is_new = match (item.is_some(), names.is_empty() && call.is_none()) {
                (false, _) => false,
                (true, true) => {
                    self.ended.contains(&self.last)
                        || event
                            .get("type")
                            .is_some_and(|kind| kind == "response.output_item.added")
                }
                (true, false) => {
                    self.named.values().any(|at| *at == self.last)
                        || self.ended.contains(&self.last)
                }
            };
            (!is_new).then_some(self.last)
        };
        let next = self.items.last_key_value().map_or(0, |(at, _)| at.saturating_add(1));
        let at = number
            .filter(fits)
            .or_else(|| named().filter(fits))
            .or_else(|| goes_on().filter(fits))
            .unwrap_or(next);
        self.named.extend(names.into_iter().chain(call).map(|name| (name, at)));
        self.last = at;
        at
    }

    /// Returns true unless another call is known to be at this place.
    fn takes_call(&self, at: u64, call: Option<&String>) -> bool {
        let is_named = matches!(self.items.get(&at), Some(OutputItem::Call { is_named: true, .. }));
        call.is_none_or(|call| !is_named || self.named.get(call) == Some(&at))
    }

    fn begin(&mut self, at: u64, item: &Value, out: &mut DeltaWriter) {
        match OutputItem::of(item) {
            OutputItem::Call { .. } => self.name(at, item, out),
            other => {
                self.items.entry(at).or_insert(other);
            }
        }
    }

    /// Names a call, once.
    fn name(&mut self, at: u64, item: &Value, out: &mut DeltaWriter) {
        let index = self.call(at);
        if let Some(OutputItem::Call { is_named, .. }) = self.items.get_mut(&at)
            && !std::mem::replace(is_named, true)
        {
            let id = read_text(item.get("call_id")).or_else(|| read_text(item.get("id")));
            out.call(index, id, read_text(item.get("name")), String::new());
        }
    }

    fn call(&mut self, at: u64) -> usize {
        let next = self.calls;
        let fresh = OutputItem::Call { index: next, is_named: false, has_arguments: false };
        let OutputItem::Call { index, .. } = self.items.entry(at).or_insert(fresh) else {
            return next;
        };
        self.calls = self.calls.max(*index + 1);
        *index
    }

    fn arguments(&mut self, at: u64, piece: String, out: &mut DeltaWriter) {
        let call = self.call(at);
        if let Some(OutputItem::Call { has_arguments, .. }) = self.items.get_mut(&at) {
            *has_arguments |= !piece.is_empty();
            out.call(call, None, None, piece);
        }
    }

    /// Takes a whole item: says what its pieces did not.
    fn end(&mut self, at: u64, item: &Value, out: &mut DeltaWriter) {
        self.begin(at, item, out);
        match self.items.get_mut(&at) {
            Some(OutputItem::Words { bytes, phase }) => {
                *phase = item.get("phase").filter(|phase| !phase.is_null()).cloned();
                for part in item
                    .get("content")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter(|_| *bytes == 0)
                {
                    let text = read_text(part.get("text"))
                        .or_else(|| read_text(part.get("refusal")))
                        .unwrap_or_default();
                    out.text(&text);
                }
                if *bytes == 0 {
                    *bytes = texts(item.get("content")).len();
                }
            }
            Some(OutputItem::Call { has_arguments: false, .. }) => {
                self.arguments(at, read_arguments(item.get("arguments")), out)
            }
            Some(OutputItem::Reasoning { has_text, whole }) => {
                if !std::mem::replace(has_text, true) {
                    out.reasoning(&texts(item.get("summary")));
                    out.reasoning(&texts(item.get("content")));
                }
                // Without its encrypted content the provider, which stores nothing, could not find
                // it again.
                *whole = item
                    .get("encrypted_content")
                    .filter(|content| content.is_string())
                    .map(|_| item.clone());
            }
            Some(OutputItem::Other)
                if item.get("type").is_some_and(|kind| kind == "image_generation_call") =>
            {
                if let Some(data) = item.get("result").and_then(Value::as_str) {
                    out.image(data);
                }
            }
            Some(OutputItem::Call { .. } | OutputItem::Other) | None => {}
        }
    }

    fn close(
        &mut self,
        response: &Value,
        status: &str,
        out: &mut DeltaWriter,
    ) -> Result<(), ResponseError> {
        let usage = response.get("usage").filter(|usage| usage.is_object());
        out.count(usage.map(read_usage));
        if status == "failed" || response.get("error").is_some_and(|error| error.is_object()) {
            return Err(ResponseError::Reported(
                response.get("error").cloned().unwrap_or_default(),
            ));
        }
        if status == "cancelled" {
            return Err(ResponseError::Cut("the provider stopped with `cancelled`".to_owned()));
        }
        let output = response.get("output").and_then(Value::as_array);
        // Items are at their places already, unless the last event is the first to say anything.
        if self.items.values().all(|item| matches!(item, OutputItem::Other)) {
            for (at, item) in output.into_iter().flatten().enumerate() {
                self.end(u64::try_from(at).unwrap_or(u64::MAX), item, out);
            }
        }
        let reason = response
            .get("incomplete_details")
            .and_then(|details| details.get("reason"))
            .and_then(Value::as_str);
        out.finish(Some(match (status, reason) {
            ("incomplete", Some("content_filter")) => StopReason::Filtered,
            ("incomplete", _) => StopReason::Length,
            _ if self.calls > 0 => StopReason::ToolUse,
            _ => StopReason::End,
        }));
        out.done();
        Ok(())
    }
}

fn texts(parts: Option<&Value>) -> String {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    parts
        .filter_map(|part| read_text(part.get("text")).or_else(|| read_text(part.get("refusal"))))
        .collect()
}

fn read_usage(usage: &Value) -> Usage {
    Usage {
        input: count_at(usage, &["input_tokens"]),
        output: count_at(usage, &["output_tokens"]),
        cached_read: count_at(usage, &["input_tokens_details", "cached_tokens"]),
        cached_write: count_at(usage, &["input_tokens_details", "cache_write_tokens"]),
        reasoning: count_at(usage, &["output_tokens_details", "reasoning_tokens"]),
    }
}

#[cfg(test)]
mod tests;
