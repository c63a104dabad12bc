//! Replies of `generateContent`, whole and odd.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{GeminiReply, ResponseError};
use crate::transport::malformed;
use crate::transport::response::testing::{self, ReadReply, events};
use locum_base::chat::{OpaquePart, StopReason, Usage};

fn body(frames: &[Value]) -> String {
    let frames: Vec<String> = frames.iter().map(Value::to_string).collect();
    events(&frames.iter().map(String::as_str).collect::<Vec<_>>())
}

fn read_reply(frames: &[Value]) -> ReadReply {
    testing::read_reply::<GeminiReply>(&body(frames)).unwrap()
}

fn broken(frames: &[Value]) -> ResponseError {
    testing::read::<GeminiReply>(body(frames).as_bytes(), 9, None).unwrap_err()
}

fn chunk(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }] })
}

fn ends(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

#[test]
fn an_image_is_given_and_not_sent_back() {
    let image =
        |kind: &str, data: &str| json!({ "inlineData": { "mimeType": kind, "data": data } });
    let reply = read_reply(&[
        chunk(
            &json!([{ "text": "see" }, image("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="), image("image/png", "broken"), image("audio/wav", "AAAA")]),
        ),
        ends("STOP"),
    ]);
    assert_eq!(
        (reply.words.as_str(), reply.images),
        ("see", vec!["image 2x3 png, 29 bytes".to_owned()])
    );
    assert!(!format!("{:?}", reply.opaque).contains("iVBOR"), "{:?}", reply.opaque);
}

#[test]
fn reads_the_protocol_as_it_is_written_down() {
    let usage = json!({ "promptTokenCount": 100, "candidatesTokenCount": 12, "thoughtsTokenCount": 8, "cachedContentTokenCount": 64, "totalTokenCount": 120 });
    let reply = read_reply(&[
        chunk(&json!([{ "text": "hm", "thought": true }])),
        chunk(&json!([{ "text": "s" }])),
        chunk(&json!([{ "text": "ö" }, { "text": "!", "thoughtSignature": "dGV4dA==" }])),
        chunk(
            &json!([{ "functionCall": { "id": "fc_1", "name": "read_file", "args": { "b": 1, "a": 2 } }, "thoughtSignature": "c2ln" }, { "functionCall": { "name": "todo" } }]),
        ),
        json!({ "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": "STOP" }], "usageMetadata": usage, "modelVersion": "x" }),
    ]);
    assert_eq!(
        reply,
        ReadReply {
            images: Vec::new(),
            words: "sö!".into(),
            reasoning: "hm".into(),
            calls: vec![r#"fc_1 read_file {"b":1,"a":2}"#.into(), " todo ".into()],
            usage: Some(Usage {
                input: 100,
                output: 20,
                cached_read: 64,
                cached_write: 0,
                reasoning: 8
            }),
            opaque: vec![
                OpaquePart::Text { bytes: 3, seal: Value::Null },
                OpaquePart::Text { bytes: 1, seal: json!({ "thoughtSignature": "dGV4dA==" }) },
                OpaquePart::Call { seal: json!({ "id": "fc_1", "thoughtSignature": "c2ln" }) },
                OpaquePart::Call { seal: Value::Null },
            ],
            stop: StopReason::ToolUse,
        }
    );
}

#[test]
fn reads_answers_however_odd() {
    for frames in [
        vec![chunk(&json!([{ "text": "a" }])), ends("STOP")],
        vec![ends("STOP"), chunk(&json!([{ "text": "a" }]))],
        vec![
            json!({ "candidates": [{ "content": { "parts": [{ "text": "a" }] }, "finishReason": "STOP" }, { "index": 1, "content": { "parts": [{ "text": "b" }] } }] }),
        ],
        vec![chunk(&json!([{ "text": "a" }, "junk", null])), ends("A_LATER_DAY")],
    ] {
        let reply = read_reply(&frames);
        assert_eq!(
            (reply.words.as_str(), reply.stop, reply.opaque),
            ("a", StopReason::End, vec![]),
            "{frames:?}"
        );
    }
    let list = json!([chunk(&json!([{ "text": "a" }])), ends("STOP")]).to_string();
    assert_eq!(testing::read_reply::<GeminiReply>(&list).unwrap().words, "a");
    let call = read_reply(&[
        chunk(&json!([{ "functionCall": { "name": "f", "args": "{\"a\":1}" } }])),
        ends("STOP"),
    ]);
    assert_eq!((call.calls, call.stop), (vec![r#" f {"a":1}"#.to_owned()], StopReason::ToolUse));
}

#[test]
fn a_signature_on_nothing_is_returned_on_nothing() {
    let reply = read_reply(&[
        chunk(&json!([{ "text": "a" }])),
        chunk(&json!([{ "text": "", "thoughtSignature": "c2ln" }])),
        ends("STOP"),
    ]);
    let signed = OpaquePart::Text { bytes: 0, seal: json!({ "thoughtSignature": "c2ln" }) };
    assert_eq!(reply.opaque, [OpaquePart::Text { bytes: 1, seal: Value::Null }, signed]);
}

#[test]
fn says_why_it_stopped() {
    for (reason, stop) in [
        ("STOP", StopReason::End),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::Filtered),
        ("RECITATION", StopReason::Filtered),
        ("PROHIBITED_CONTENT", StopReason::Filtered),
    ] {
        assert_eq!(
            read_reply(&[chunk(&json!([{ "text": "a" }])), ends(reason)]).stop,
            stop,
            "{reason}"
        );
    }
    let blocked = read_reply(&[json!({ "promptFeedback": { "blockReason": "SAFETY" } })]);
    assert_eq!((blocked.stop, blocked.words.as_str()), (StopReason::Filtered, ""));
    assert!(blocked.reasoning.contains("SAFETY"));
    let malformed = read_reply(&[
        json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(read)" }] }),
    ]);
    assert_eq!(
        (malformed.stop, malformed.words.as_str()),
        (StopReason::End, "(this call could not be read: print(read))")
    );
}

#[test]
fn tells_a_broken_answer_from_a_whole_one() {
    let text = chunk(&json!([{ "text": "a" }]));
    assert!(matches!(broken(std::slice::from_ref(&text)), ResponseError::Cut(_)));
    assert!(matches!(broken(&[json!({ "hello": "there" })]), ResponseError::Malformed(_)));
    assert!(matches!(broken(&[ends("OTHER")]), ResponseError::Cut(_)));
    let ResponseError::Reported(fault) = broken(&[
        text,
        json!({ "error": { "code": 503, "message": "overloaded", "status": "UNAVAILABLE" } }),
    ]) else {
        panic!("an error inside")
    };
    assert_eq!(fault["code"], 503);
}

#[test]
fn an_answer_broken_in_any_way_is_a_whole_reply_or_none() {
    let usage = json!({ "promptTokenCount": 100, "candidatesTokenCount": 12, "thoughtsTokenCount": 8, "totalTokenCount": 120 });
    let calls = json!([
        { "functionCall": { "id": "fc_1", "name": "read_file", "args": { "path": "😀" } }, "thoughtSignature": "c2ln" },
        { "functionCall": { "name": "todo" } },
    ]);
    let frames = [
        chunk(&json!([{ "text": "hm", "thought": true, "thoughtSignature": "dGg=" }])),
        chunk(&json!([{ "text": "sö" }, { "text": "!", "thoughtSignature": "dGV4dA==" }])),
        chunk(&calls),
        json!({ "candidates": [{ "content": { "parts": [{ "text": "" }] }, "finishReason": "STOP", "index": 0 }], "usageMetadata": usage }),
    ];
    malformed::check_stream::<GeminiReply>(&frames);
    malformed::check_plain::<GeminiReply>(&json!(frames));
    malformed::check_plain::<GeminiReply>(
        &json!({ "candidates": [{ "content": { "role": "model", "parts": calls }, "finishReason": "STOP" }], "usageMetadata": usage }),
    );
}
