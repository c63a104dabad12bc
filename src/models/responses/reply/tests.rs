//! Replies of Responses servers, whole and odd.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{ResponseError, ResponsesReply};
use crate::transport::malformed;
use crate::transport::response::testing::{self, ReadReply, events};
use locum_base::chat::{OpaquePart, StopReason, Usage};

fn read_reply(frames: &[Value]) -> ReadReply {
    let frames: Vec<String> = frames.iter().map(Value::to_string).collect();
    testing::read_reply::<ResponsesReply>(&events(
        &frames.iter().map(String::as_str).collect::<Vec<_>>(),
    ))
    .unwrap()
}

fn broken(frames: &[Value]) -> ResponseError {
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
    let reply = read_reply(&[
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
    let reply = read_reply(&[
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
        ReadReply {
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
            opaque: vec![
                OpaquePart::Own(reasoning),
                OpaquePart::Text { bytes: 3, seal: json!({ "phase": "commentary" }) },
                OpaquePart::Call { seal: Value::Null },
            ],
            stop: StopReason::ToolUse,
        }
    );
}

#[test]
fn reads_events_however_odd() {
    let message = json!({ "type": "message", "content": [{ "type": "output_text", "text": "a" }] });
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": message });
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
        let reply = read_reply(&frames);
        assert_eq!(
            (reply.words.as_str(), reply.stop, reply.opaque),
            ("a", StopReason::End, vec![]),
            "{frames:?}"
        );
    }
    let plain = json!({ "object": "response", "status": "completed", "output": [message, { "type": "function_call", "call_id": "c", "name": "f", "arguments": { "a": 1 } }], "error": null });
    let reply = testing::read_reply::<ResponsesReply>(&plain.to_string()).unwrap();
    assert_eq!((reply.words.as_str(), reply.calls), ("a", vec![r#"c f {"a":1}"#.to_owned()]));
}

#[test]
fn reads_parallel_calls_whose_pieces_come_in_turns() {
    let added = |at: u64, id: &str| {
        let item = json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "" });
        json!({ "type": "response.output_item.added", "output_index": at, "item": item })
    };
    let piece = |at: u64, piece: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": at, "delta": piece });
    let reply = read_reply(&[
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
    assert_eq!(read_reply(&[piece(0, "{}"), late, completed()]).calls, ["late f {}"]);
}

#[test]
fn reads_items_without_numbers_as_llama_cpp_sends_them() {
    let added = |item: Value| json!({ "type": "response.output_item.added", "item": item });
    let done = |item: Value| json!({ "type": "response.output_item.done", "item": item });
    let call = |id: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": arguments });
    let piece = |id: &str, piece: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": id, "delta": piece });
    let message = json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": "a" }] });
    let reply = read_reply(&[
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
    let at_the_end = read_reply(&[
        done(message),
        done(call("fc_1", "{}")),
        done(call("fc_2", "{}")),
        completed(),
    ]);
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
    let nameless =
        read_reply(&[done(&words("a")), done(&call("f")), done(&call("g")), completed()]);
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
        numbered("response.function_call_arguments.delta", json!({ "item_id": id, "delta": delta }))
    };
    let every_item_is_zero = read_reply(&[
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
    let names_change = read_reply(&[
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
    assert_eq!(read_reply(&[text("a"), incomplete("max_output_tokens")]).stop, StopReason::Length);
    assert_eq!(read_reply(&[text("a"), incomplete("content_filter")]).stop, StopReason::Filtered);
}

#[test]
fn tells_a_broken_answer_from_a_whole_one() {
    assert!(matches!(broken(&[text("a")]), ResponseError::Cut(_)));
    assert!(matches!(broken(&[json!({ "hello": "there" })]), ResponseError::Malformed(_)));
    let failed = json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "server_error", "message": "oops" } } });
    for frame in [
        failed,
        json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow down" }),
        json!({ "error": { "message": "no" } }),
    ] {
        assert!(
            matches!(broken(&[text("a"), frame.clone()]), ResponseError::Reported(_)),
            "{frame}"
        );
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
    malformed::check_stream::<ResponsesReply>(&[
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
    malformed::check_plain::<ResponsesReply>(
        &json!({ "object": "response", "status": "completed", "output": output, "usage": usage, "error": null }),
    );
}
