//! What the events of a Responses answer say.
//!
//! In: events in the order they came, odd ones too: an item that was never begun, one that comes
//! only when it is done, a stream of which only the last event says anything. Out: words,
//! reasoning, calls, counts, why the model stopped, and the reasoning to be returned.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::wire::answer::{Broken, Form, Reading, Said, Taken};
use crate::wire::json::{count_at, read_arguments, read_text};
use locum_base::chat::{KeptPart, StopReason, Usage};

/// A reply as far as its events came.
#[derive(Debug, Default)]
pub(crate) struct ResponsesReply {
    items: BTreeMap<u64, Item>,
    calls: usize,
    /// The place of the item that the last event was about.
    last: u64,
    /// Places by what servers call their items.
    named: BTreeMap<String, u64>,
    /// Places whose items are whole.
    ended: BTreeSet<u64>,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Words,
    Call,
    Reasoning,
    Other,
}

/// An item of the output.
#[derive(Debug)]
enum Item {
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
        said: bool,
        whole: Option<Value>,
    },
    /// Another kind: nothing of it is sent back.
    Other,
}

impl Reading for ResponsesReply {
    type Piece = Value;

    fn take(
        &mut self,
        event: Value,
        _raw: &[u8],
        _form: Form,
        said: &mut Said,
    ) -> Result<Taken, Broken> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "error"
            || (kind.is_empty() && event.get("error").is_some_and(|error| !error.is_null()))
        {
            return Err(Broken::Reported(
                event.get("error").filter(|error| error.is_object()).cloned().unwrap_or(event),
            ));
        }
        let text = || read_text(event.get("delta")).unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {}
            "response.output_item.added" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                let at = self.place(&event, Kind::of(item));
                self.begin(at, item, said);
            }
            "response.output_item.done" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                let at = self.place(&event, Kind::of(item));
                self.ended.insert(at);
                self.end(at, item, said);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let at = self.place(&event, Kind::Words);
                if let Item::Words { bytes, .. } =
                    self.items.entry(at).or_insert(Item::Words { bytes: 0, phase: None })
                {
                    *bytes += text().len();
                    said.text(&text());
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let at = self.place(&event, Kind::Reasoning);
                if let Item::Reasoning { said: has_said, .. } =
                    self.items.entry(at).or_insert(Item::Reasoning { said: false, whole: None })
                {
                    *has_said = true;
                    said.reasoning(&text());
                }
            }
            "response.function_call_arguments.delta" => {
                let at = self.place(&event, Kind::Call);
                self.arguments(at, read_arguments(event.get("delta")), said);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                self.close(
                    event.get("response").unwrap_or(&Value::Null),
                    kind.trim_start_matches("response."),
                    said,
                )?;
            }
            "" if event.get("output").is_some() => {
                self.close(
                    &event,
                    event.get("status").and_then(Value::as_str).unwrap_or("completed"),
                    said,
                )?;
            }
            // The ends of parts, which their pieces have said already, notes on the text, events of
            // a later day.
            kind if kind.starts_with("response.") => {}
            _ => return Ok(Taken::Odd),
        }
        Ok(Taken::Piece)
    }

    fn parts(&mut self) -> Vec<KeptPart> {
        let parts = std::mem::take(&mut self.items).into_values().filter_map(|item| match item {
            Item::Words { bytes, phase } => Some(KeptPart::Text {
                bytes,
                seal: phase.map_or(Value::Null, |phase| serde_json::json!({ "phase": phase })),
            }),
            Item::Call { .. } => Some(KeptPart::Call { seal: Value::Null }),
            Item::Reasoning { whole, .. } => whole.map(KeptPart::Own),
            Item::Other => None,
        });
        parts.collect()
    }
}

impl Kind {
    fn of(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message" => Self::Words,
            "function_call" => Self::Call,
            "reasoning" => Self::Reasoning,
            _ => Self::Other,
        }
    }
}

impl Item {
    fn kind(&self) -> Kind {
        match self {
            Self::Words { .. } => Kind::Words,
            Self::Call { .. } => Kind::Call,
            Self::Reasoning { .. } => Kind::Reasoning,
            Self::Other => Kind::Other,
        }
    }
}

impl ResponsesReply {
    /// Finds the place of the item an event is about: by its number, which some servers leave out
    /// and some give to every item alike, by its names, which some give anew with every event, or
    /// else after what came last. What fits nowhere is a new item.
    fn place(&mut self, event: &Value, kind: Kind) -> u64 {
        let item = event.get("item");
        let call = item.and_then(|item| read_text(item.get("call_id")));
        let names: Vec<String> = [event.get("item_id"), item.and_then(|item| item.get("id"))]
            .into_iter()
            .filter_map(read_text)
            .collect();
        let fits = |at: &u64| {
            self.items.get(at).is_none_or(|known| known.kind() == kind)
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
        let is_named = matches!(self.items.get(&at), Some(Item::Call { is_named: true, .. }));
        call.is_none_or(|call| !is_named || self.named.get(call) == Some(&at))
    }

    fn begin(&mut self, at: u64, item: &Value, said: &mut Said) {
        match Kind::of(item) {
            Kind::Words => {
                drop(self.items.entry(at).or_insert(Item::Words { bytes: 0, phase: None }))
            }
            Kind::Reasoning => {
                drop(self.items.entry(at).or_insert(Item::Reasoning { said: false, whole: None }))
            }
            Kind::Call => self.name(at, item, said),
            Kind::Other => drop(self.items.entry(at).or_insert(Item::Other)),
        }
    }

    /// Names a call, once.
    fn name(&mut self, at: u64, item: &Value, said: &mut Said) {
        let index = self.call(at);
        if let Some(Item::Call { is_named, .. }) = self.items.get_mut(&at)
            && !std::mem::replace(is_named, true)
        {
            let id = read_text(item.get("call_id")).or_else(|| read_text(item.get("id")));
            said.call(index, id, read_text(item.get("name")), String::new());
        }
    }

    fn call(&mut self, at: u64) -> usize {
        let next = self.calls;
        match self.items.entry(at).or_insert(Item::Call {
            index: next,
            is_named: false,
            has_arguments: false,
        }) {
            Item::Call { index, .. } => {
                self.calls = self.calls.max(*index + 1);
                *index
            }
            Item::Words { .. } | Item::Reasoning { .. } | Item::Other => next,
        }
    }

    fn arguments(&mut self, at: u64, piece: String, said: &mut Said) {
        let call = self.call(at);
        if let Some(Item::Call { has_arguments, .. }) = self.items.get_mut(&at) {
            *has_arguments |= !piece.is_empty();
            said.call(call, None, None, piece);
        }
    }

    /// Takes a whole item: says what its pieces did not.
    fn end(&mut self, at: u64, item: &Value, said: &mut Said) {
        self.begin(at, item, said);
        match self.items.get_mut(&at) {
            Some(Item::Words { bytes, phase }) => {
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
                    said.text(&text);
                }
                if *bytes == 0 {
                    *bytes = texts(item.get("content")).len();
                }
            }
            Some(Item::Call { has_arguments: false, .. }) => {
                self.arguments(at, read_arguments(item.get("arguments")), said)
            }
            Some(Item::Reasoning { said: has_said, whole }) => {
                if !std::mem::replace(has_said, true) {
                    said.reasoning(&texts(item.get("summary")));
                    said.reasoning(&texts(item.get("content")));
                }
                // Without its encrypted content the provider, which stores nothing, could not find
                // it again.
                *whole = item
                    .get("encrypted_content")
                    .filter(|content| content.is_string())
                    .map(|_| item.clone());
            }
            Some(Item::Other)
                if item.get("type").is_some_and(|kind| kind == "image_generation_call") =>
            {
                if let Some(data) = item.get("result").and_then(Value::as_str) {
                    said.image(data);
                }
            }
            Some(Item::Call { .. } | Item::Other) | None => {}
        }
    }

    fn close(&mut self, response: &Value, status: &str, said: &mut Said) -> Result<(), Broken> {
        let usage = response.get("usage").filter(|usage| usage.is_object());
        said.count(usage.map(read_usage));
        if status == "failed" || response.get("error").is_some_and(|error| error.is_object()) {
            return Err(Broken::Reported(response.get("error").cloned().unwrap_or_default()));
        }
        if status == "cancelled" {
            return Err(Broken::Cut("the provider stopped writing with `cancelled`".to_owned()));
        }
        let output = response.get("output").and_then(Value::as_array);
        // Items are at their places already, unless the last event is the first to say anything.
        if self.items.values().all(|item| matches!(item, Item::Other)) {
            for (at, item) in output.into_iter().flatten().enumerate() {
                self.end(u64::try_from(at).unwrap_or(u64::MAX), item, said);
            }
        }
        let reason = response
            .get("incomplete_details")
            .and_then(|details| details.get("reason"))
            .and_then(Value::as_str);
        said.finish(Some(match (status, reason) {
            ("incomplete", Some("content_filter")) => StopReason::Filtered,
            ("incomplete", _) => StopReason::Length,
            _ if self.calls > 0 => StopReason::ToolUse,
            _ => StopReason::End,
        }));
        said.done();
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
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{Broken, ResponsesReply};
    use crate::wire::answer::testing::{self, Told, events};
    use crate::wire::mangled;
    use locum_base::chat::{KeptPart, StopReason, Usage};

    fn told(frames: &[Value]) -> Told {
        let frames: Vec<String> = frames.iter().map(Value::to_string).collect();
        testing::told::<ResponsesReply>(&events(
            &frames.iter().map(String::as_str).collect::<Vec<_>>(),
        ))
        .unwrap()
    }

    fn broken(frames: &[Value]) -> Broken {
        let frames: Vec<String> = frames.iter().map(Value::to_string).collect();
        let body = events(&frames.iter().map(String::as_str).collect::<Vec<_>>());
        testing::read::<ResponsesReply>(body.as_bytes(), 9, None).unwrap_err()
    }

    fn text(piece: &str) -> Value {
        json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": piece })
    }

    #[test]
    fn an_image_is_taken_when_it_is_whole() {
        let item = |kind: &str, result: Value| json!({ "type": kind, "output_index": 0, "item": { "id": "ig_1", "type": "image_generation_call", "result": result } });
        let (begun, done) = ("response.output_item.added", "response.output_item.done");
        let reply = told(&[
            item(begun, Value::Null),
            item(done, "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=".into()),
            completed(),
        ]);
        assert_eq!(reply.images, ["image 2x3 png, 29 bytes"]);
    }

    fn completed() -> Value {
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [] } })
    }

    #[test]
    fn reads_the_protocol_as_it_is_written_down() {
        let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "b3BhcXVl" });
        let call = |arguments: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": arguments });
        let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 64 }, "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 5 } });
        let reply = told(&[
            json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress", "output": [] } }),
            json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "reasoning", "id": "rs_1", "summary": [] } }),
            json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm" }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
            json!({ "type": "response.output_item.added", "output_index": 1, "item": { "type": "message", "content": [] } }),
            json!({ "type": "response.content_part.added", "output_index": 1 }),
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "s" }),
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": "ö" }),
            json!({ "type": "response.output_text.done", "output_index": 1, "text": "sö" }),
            json!({ "type": "response.output_item.done", "output_index": 1, "item": { "type": "message", "phase": "commentary", "content": [{ "type": "output_text", "text": "sö" }] } }),
            json!({ "type": "response.output_item.added", "output_index": 2, "item": call("") }),
            json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\"" }),
            json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}" }),
            json!({ "type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"a\":1}" }),
            json!({ "type": "response.output_item.done", "output_index": 2, "item": call("{\"a\":1}") }),
            json!({ "type": "response.completed", "response": { "status": "completed", "output": [reasoning, call("{\"a\":1}")], "usage": usage } }),
        ]);
        assert_eq!(
            reply,
            Told {
                images: Vec::new(),
                words: "sö".into(),
                reasoning: "hm".into(),
                calls: vec![r#"call_1 read_file {"a":1}"#.into()],
                usage: Some(Usage {
                    input: 100,
                    output: 20,
                    cached_read: 64,
                    cached_write: 0,
                    reasoning: 5
                }),
                kept: vec![
                    KeptPart::Own(reasoning),
                    KeptPart::Text { bytes: 3, seal: json!({ "phase": "commentary" }) },
                    KeptPart::Call { seal: Value::Null },
                ],
                stop: StopReason::ToolUse,
            }
        );
    }

    #[test]
    fn reads_events_however_odd() {
        let message =
            json!({ "type": "message", "content": [{ "type": "output_text", "text": "a" }] });
        let done =
            json!({ "type": "response.output_item.done", "output_index": 0, "item": message });
        for frames in [
            vec![text("a"), completed()],
            vec![json!({ "type": "response.output_text.delta", "delta": "a" }), completed()],
            vec![done.clone(), completed()],
            vec![done.clone(), done, completed()],
            vec![json!({ "type": "response.completed", "response": { "output": [message] } })],
            vec![
                text("a"),
                json!({ "type": "response.from_the_future" }),
                json!({ "type": "keepalive" }),
                completed(),
            ],
            vec![json!({ "type": "response.refusal.delta", "delta": "a" }), completed()],
        ] {
            let reply = told(&frames);
            assert_eq!(
                (reply.words.as_str(), reply.stop, reply.kept),
                ("a", StopReason::End, vec![]),
                "{frames:?}"
            );
        }
        let plain = json!({ "object": "response", "status": "completed", "output": [message, { "type": "function_call", "call_id": "c", "name": "f", "arguments": { "a": 1 } }], "error": null });
        let reply = testing::told::<ResponsesReply>(&plain.to_string()).unwrap();
        assert_eq!((reply.words.as_str(), reply.calls), ("a", vec![r#"c f {"a":1}"#.to_owned()]));
    }

    #[test]
    fn reads_parallel_calls_whose_pieces_come_in_turns() {
        let added = |at: u64, id: &str| {
            let item =
                json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "" });
            json!({ "type": "response.output_item.added", "output_index": at, "item": item })
        };
        let piece = |at: u64, piece: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": at, "delta": piece });
        let reply = told(&[
            added(0, "a"),
            added(1, "b"),
            piece(1, "{\"b\""),
            piece(0, "{\"a\""),
            piece(1, ":2}"),
            piece(0, ":1}"),
            completed(),
        ]);
        assert_eq!(reply.calls, [r#"a f {"a":1}"#, r#"b f {"b":2}"#]);
        let late = json!({ "type": "response.output_item.done", "output_index": 0, "item": { "type": "function_call", "call_id": "late", "name": "f", "arguments": "{}" } });
        assert_eq!(told(&[piece(0, "{}"), late, completed()]).calls, ["late f {}"]);
    }

    #[test]
    fn reads_items_without_numbers_as_llama_cpp_sends_them() {
        let added = |item: Value| json!({ "type": "response.output_item.added", "item": item });
        let done = |item: Value| json!({ "type": "response.output_item.done", "item": item });
        let call = |id: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": arguments });
        let piece = |id: &str, piece: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": id, "delta": piece });
        let message = json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": "a" }] });
        let reply = told(&[
            added(json!({ "type": "reasoning", "id": "rs_1", "summary": [] })),
            json!({ "type": "response.reasoning_text.delta", "item_id": "rs_1", "delta": "hm" }),
            added(json!({ "type": "message", "id": "msg_1", "content": [] })),
            json!({ "type": "response.output_text.delta", "item_id": "msg_1", "delta": "a" }),
            added(call("fc_1", "")),
            piece("fc_1", "{\"a\""),
            piece("fc_1", ":1}"),
            added(call("fc_2", "")),
            piece("fc_2", "{\"b\":2}"),
            done(
                json!({ "type": "reasoning", "id": "rs_1", "summary": [], "content": [{ "type": "reasoning_text", "text": "hm" }] }),
            ),
            done(message.clone()),
            done(call("fc_1", "{\"a\":1}")),
            done(call("fc_2", "{\"b\":2}")),
            completed(),
        ]);
        assert_eq!((reply.words.as_str(), reply.reasoning.as_str()), ("a", "hm"));
        assert_eq!(reply.calls, [r#"fc_1 f {"a":1}"#, r#"fc_2 f {"b":2}"#]);
        let at_the_end =
            told(&[done(message), done(call("fc_1", "{}")), done(call("fc_2", "{}")), completed()]);
        assert_eq!(
            (at_the_end.words.as_str(), at_the_end.calls),
            ("a", vec!["fc_1 f {}".to_owned(), "fc_2 f {}".to_owned()])
        );
    }

    #[test]
    fn tells_items_apart_however_they_are_numbered_and_named() {
        let words = |text: &str| json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] });
        let call = |name: &str| json!({ "type": "function_call", "name": name, "arguments": "{}" });
        let done = |item: &Value| json!({ "type": "response.output_item.done", "item": item });
        let nameless = told(&[done(&words("a")), done(&call("f")), done(&call("g")), completed()]);
        assert_eq!(
            (nameless.words.as_str(), nameless.calls),
            ("a", vec![" f {}".to_owned(), " g {}".to_owned()])
        );
        let numbered = |kind: &str, rest: Value| {
            let mut event = json!({ "type": kind, "output_index": 0 });
            event.as_object_mut().unwrap().extend(rest.as_object().cloned().unwrap());
            event
        };
        let with_id = |id: &str, call_id: &str| json!({ "item": { "type": "function_call", "id": id, "call_id": call_id, "name": "f", "arguments": "" } });
        let arguments = |id: &str, delta: &str| {
            numbered(
                "response.function_call_arguments.delta",
                json!({ "item_id": id, "delta": delta }),
            )
        };
        let every_item_is_zero = told(&[
            numbered("response.output_text.delta", json!({ "item_id": "m", "delta": "a" })),
            numbered("response.output_item.added", with_id("i", "c1")),
            arguments("i", "{\"x\":1}"),
            numbered("response.output_item.added", with_id("j", "c2")),
            arguments("j", "{\"y\":2}"),
            completed(),
        ]);
        assert_eq!(
            (every_item_is_zero.words.as_str(), every_item_is_zero.calls),
            ("a", vec![r#"c1 f {"x":1}"#.to_owned(), r#"c2 f {"y":2}"#.to_owned()])
        );
        let names_change = told(&[
            numbered("response.output_item.added", with_id("opaque-1", "c1")),
            arguments("opaque-2", "{\"x\""),
            arguments("opaque-3", ":1}"),
            numbered("response.output_item.done", with_id("opaque-4", "c1")),
            completed(),
        ]);
        assert_eq!(names_change.calls, [r#"c1 f {"x":1}"#]);
    }

    #[test]
    fn says_why_it_stopped() {
        let incomplete = |reason: &str| json!({ "type": "response.incomplete", "response": { "status": "incomplete", "incomplete_details": { "reason": reason } } });
        assert_eq!(told(&[text("a"), incomplete("max_output_tokens")]).stop, StopReason::Length);
        assert_eq!(told(&[text("a"), incomplete("content_filter")]).stop, StopReason::Filtered);
    }

    #[test]
    fn tells_a_broken_answer_from_a_whole_one() {
        assert!(matches!(broken(&[text("a")]), Broken::Cut(_)));
        assert!(matches!(broken(&[json!({ "hello": "there" })]), Broken::Garbled(_)));
        let failed = json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "server_error", "message": "oops" } } });
        for frame in [
            failed,
            json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow down" }),
            json!({ "error": { "message": "no" } }),
        ] {
            assert!(matches!(broken(&[text("a"), frame.clone()]), Broken::Reported(_)), "{frame}");
        }
    }

    #[test]
    fn an_answer_broken_in_any_way_is_a_whole_reply_or_none() {
        let about = |kind: &str, at: u64, rest: Value| {
            let mut event = json!({ "type": format!("response.{kind}"), "output_index": at });
            event.as_object_mut().unwrap().extend(rest.as_object().cloned().unwrap());
            event
        };
        let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "b3BhcXVl" });
        let message = json!({ "type": "message", "id": "msg_1", "phase": "commentary", "content": [{ "type": "output_text", "text": "sö" }] });
        let call = |arguments: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": arguments });
        let output = json!([reasoning, message, call("{\"path\":\"😀\"}")]);
        let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 64 }, "output_tokens": 20 });
        mangled::check_stream::<ResponsesReply>(&[
            json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress", "output": [] } }),
            about(
                "output_item.added",
                0,
                json!({ "item": { "type": "reasoning", "id": "rs_1", "summary": [] } }),
            ),
            about("reasoning_summary_text.delta", 0, json!({ "item_id": "rs_1", "delta": "hm" })),
            about("output_item.done", 0, json!({ "item": reasoning })),
            about(
                "output_item.added",
                1,
                json!({ "item": { "type": "message", "id": "msg_1", "content": [] } }),
            ),
            about("output_text.delta", 1, json!({ "item_id": "msg_1", "delta": "sö" })),
            about("output_item.done", 1, json!({ "item": message })),
            about("output_item.added", 2, json!({ "item": call("") })),
            about(
                "function_call_arguments.delta",
                2,
                json!({ "item_id": "fc_1", "delta": "{\"path\"" }),
            ),
            about(
                "function_call_arguments.delta",
                2,
                json!({ "item_id": "fc_1", "delta": ":\"😀\"}" }),
            ),
            about("output_item.done", 2, json!({ "item": call("{\"path\":\"😀\"}") })),
            json!({ "type": "response.completed", "response": { "status": "completed", "output": output, "usage": usage } }),
        ]);
        mangled::check_plain::<ResponsesReply>(
            &json!({ "object": "response", "status": "completed", "output": output, "usage": usage, "error": null }),
        );
    }
}
