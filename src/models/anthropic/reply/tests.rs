//! Replies of Messages servers, whole and odd.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{MessagesReply, ResponseError};
use crate::transport::malformed;
use crate::transport::response::testing::{self, ReadReply, events};
use locum_base::chat::{OpaquePart, StopReason, Usage};

fn read_reply(frames: &[&str]) -> ReadReply {
    testing::read_reply::<MessagesReply>(&events(frames)).unwrap()
}

fn broken(frames: &[&str]) -> ResponseError {
    testing::read::<MessagesReply>(events(frames).as_bytes(), 9, None).unwrap_err()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":50,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn ends(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":20}}}}"#
    )
}

#[test]
fn reads_the_protocol_as_it_is_written_down() {
    let reply = read_reply(&[
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"so ü"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":":\"a\"}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"todo","input":{}}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        &ends("tool_use"),
        STOP,
    ]);
    let own = |value: Value| OpaquePart::Own(value);
    assert_eq!(
        reply,
        ReadReply {
            images: Vec::new(),
            words: "so ü".into(),
            reasoning: "hm".into(),
            calls: vec![r#"toolu_1 read_file {"path":"a"}"#.into(), "toolu_2 todo ".into()],
            usage: Some(Usage {
                input: 960,
                output: 20,
                cached_read: 900,
                cached_write: 50,
                reasoning: 0
            }),
            opaque: vec![
                own(json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" })),
                own(json!({ "type": "redacted_thinking", "data": "b3BhcXVl" })),
                OpaquePart::Text { bytes: 5, seal: Value::Null },
                OpaquePart::Call { seal: Value::Null },
                OpaquePart::Call { seal: Value::Null },
            ],
            stop: StopReason::ToolUse,
        }
    );
}

#[test]
fn reads_events_however_odd() {
    let text =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    for frames in [
        vec![text, STOP],
        vec![START, text, STOP],
        vec![
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
            &ends("end_turn"),
        ],
        vec![
            text,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            STOP,
        ],
        vec![
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
            &ends("stop_sequence"),
        ],
        vec![
            text,
            r#"{"type":"from_the_future","index":7}"#,
            r#"{"type":"message_delta","delta":{}}"#,
            STOP,
        ],
        vec![
            r#"{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1}}"#,
        ],
    ] {
        let reply = read_reply(&frames);
        assert_eq!(
            (reply.words.as_str(), reply.stop, reply.opaque),
            ("a", StopReason::End, vec![]),
            "{frames:?}"
        );
    }
    let plain = r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#;
    let reply = testing::read_reply::<MessagesReply>(plain).unwrap();
    assert_eq!(
        (reply.calls, reply.usage.map(|usage| usage.input)),
        (vec![r#"t f {"a":1}"#.to_owned()], Some(3))
    );
}

#[test]
fn reads_calls_however_they_come() {
    let begun = |input: &str| {
        format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"t","name":"f","input":{input}}}}}"#
        )
    };
    let piece = |piece: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{piece}}}}}"#
        )
    };
    for (frames, call) in [
        (vec![begun(r#"{"a":1}"#)], r#"t f {"a":1}"#),
        (vec![begun(r#"{"a":1}"#), piece(r#""{\"b\":2}""#)], r#"t f {"b":2}"#),
        (vec![begun("{}"), piece(r#"{"b":2}"#)], r#"t f {"b":2}"#),
        (vec![begun("{}"), piece(r#""{\"b\":""#)], r#"t f {"b":"#),
        (vec![begun("null")], "t f "),
        (vec![piece(r#""{}""#)], "  {}"),
    ] {
        let stop = ends("tool_use");
        let frames: Vec<&str> =
            frames.iter().map(String::as_str).chain([stop.as_str(), STOP]).collect();
        assert_eq!(read_reply(&frames).calls, [call], "{frames:?}");
    }
}

#[test]
fn half_a_thought_is_not_returned() {
    let thought = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
    ];
    let (cut, whole) = (ends("max_tokens"), ends("end_turn"));
    assert_eq!(read_reply(&[thought[0], thought[1], &cut, STOP]).opaque, []);
    assert_eq!(read_reply(&[thought[0], thought[1], &whole, STOP]).opaque.len(), 1);
}

#[test]
fn says_why_it_stopped() {
    let text =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    for (reason, stop) in [
        ("end_turn", StopReason::End),
        ("pause_turn", StopReason::End),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("refusal", StopReason::Filtered),
    ] {
        assert_eq!(read_reply(&[START, text, &ends(reason), STOP]).stop, stop, "{reason}");
    }
}

#[test]
fn tells_a_broken_answer_from_a_whole_one() {
    let text =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
    assert!(matches!(broken(&[START, text]), ResponseError::Cut(_)));
    assert!(matches!(broken(&[r#"{"type":"ping"}"#]), ResponseError::Malformed(_)));
    assert!(matches!(
        broken(&[r#"{"type":"message_start","message":["#]),
        ResponseError::Malformed(_)
    ));
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let ResponseError::Reported(fault) = broken(&[START, text, overloaded]) else {
        panic!("an error inside")
    };
    assert_eq!(fault["type"], "overloaded_error");
    assert_eq!(read_reply(&[START, text, &ends("end_turn"), "{ junk"][..3]).words, "a");
}

#[test]
fn an_answer_broken_in_any_way_is_a_whole_reply_or_none() {
    let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let piece = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let arguments = |index: u64, part: &str| {
        piece(index, json!({ "type": "input_json_delta", "partial_json": part }))
    };
    let stop = |index: u64| json!({ "type": "content_block_stop", "index": index });
    malformed::check_stream::<MessagesReply>(&[
        json!({ "type": "message_start", "message": { "id": "msg_1", "role": "assistant", "content": [], "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        json!({ "type": "ping" }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        piece(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        piece(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        stop(0),
        start(1, json!({ "type": "redacted_thinking", "data": "b3BhcXVl" })),
        stop(1),
        start(2, json!({ "type": "text", "text": "" })),
        piece(2, json!({ "type": "text_delta", "text": "so ü" })),
        stop(2),
        start(3, json!({ "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {} })),
        arguments(3, "{\"path\""),
        arguments(3, ":\"😀\"}"),
        stop(3),
        start(4, json!({ "type": "tool_use", "id": "toolu_2", "name": "todo", "input": {} })),
        stop(4),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null }, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ]);
    malformed::check_plain::<MessagesReply>(&json!({
        "type": "message", "role": "assistant",
        "content": [{ "type": "text", "text": "so" }, { "type": "tool_use", "id": "t", "name": "f", "input": { "a": 1 } }],
        "stop_reason": "tool_use", "usage": { "input_tokens": 3, "output_tokens": 2 },
    }));
}
