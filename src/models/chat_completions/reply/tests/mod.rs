//! Replies of compatible servers, whole and odd.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{ChatReply, ResponseError};
use crate::transport::error::reported_error;
use crate::transport::malformed;
use crate::transport::response::testing::{self, ReadReply, events};
use crate::{Delta, ModelError};
use locum_base::chat::{OpaquePart, StopReason, Usage};

mod calls;

fn read(body: &[u8], cut: usize, broken: Option<&str>) -> Result<Vec<Delta>, ResponseError> {
    testing::read::<ChatReply>(body, cut, broken)
}

fn read_reply(body: &str) -> Result<ReadReply, ResponseError> {
    testing::read_reply::<ChatReply>(body)
}

fn delta(piece: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{piece},"finish_reason":null}}]}}"#)
}

const END: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn images_of_a_gateway_are_taken_and_addresses_are_not() {
    let piece = delta(
        r#"{"content":"see","images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}},{"image_url":{"url":"https://x.example/a.png"}},7]}"#,
    );
    let reply = read_reply(&events(&[&piece, END])).unwrap();
    assert_eq!(
        (reply.words.as_str(), reply.images),
        ("see", vec!["image 2x3 png, 29 bytes".to_owned()])
    );
}

fn words(body: &str) -> String {
    read_reply(body).unwrap().words
}

#[test]
fn reads_the_protocol_as_it_is_written_down() {
    let body = events(&[
        r#"{"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
        &delta(r#"{"content":"Hel"}"#),
        &delta(r#"{"content":"lo ü"}"#),
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
        "[DONE]",
    ]);
    let usage = Usage { input: 9, output: 5, cached_read: 4, reasoning: 2, ..Usage::default() };
    assert_eq!(
        read_reply(&body),
        Ok(ReadReply {
            words: "Hello ü".into(),
            usage: Some(usage),
            stop: StopReason::Length,
            ..ReadReply::default()
        })
    );
}

#[test]
fn reads_content_in_parts_and_reasoning_under_every_name() {
    for (piece, words, reasoning) in [
        (r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "ab", ""),
        (
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"b"}]}"#,
            "b",
            "hm",
        ),
        (r#"{"content":null,"reasoning_content":"hm"}"#, "", "hm"),
        (r#"{"content":"","reasoning":"hm"}"#, "", "hm"),
        (r#"{"reasoning_content":"hm","reasoning":"hm","content":"b"}"#, "b", "hm"),
        (r#"{"reasoning_content":"","reasoning":"hm"}"#, "", "hm"),
        (r#"{"refusal":"no"}"#, "no", ""),
    ] {
        let reply = read_reply(&events(&[&delta(piece), END])).unwrap();
        assert_eq!((reply.words.as_str(), reply.reasoning.as_str()), (words, reasoning), "{piece}");
    }
}

#[test]
fn finds_the_count_of_tokens_wherever_it_is() {
    let usage = |frames: &[&str]| {
        read_reply(&events(frames))
            .unwrap()
            .usage
            .map(|usage| (usage.input, usage.output, usage.cached_read))
    };
    let with_finish = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    for (frames, found) in [
        (&[END, "[DONE]"][..], None),
        (&[with_finish, "[DONE]"], Some((3, 2, 0))),
        (&[with_finish, r#"{"choices":[],"usage":null}"#], Some((3, 2, 0))),
        (
            &[r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#, with_finish],
            Some((3, 2, 0)),
        ),
        (
            &[END, r#"{"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":2}}}"#],
            Some((3, 2, 0)),
        ),
        (
            &[
                r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3.0,"completion_tokens":2,"cached_tokens":1}}]}"#,
            ],
            Some((3, 2, 1)),
        ),
        (
            &[
                END,
                r#"{"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_cache_hit_tokens":1}}"#,
            ],
            Some((3, 2, 1)),
        ),
        (&[END, r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#], None),
    ] {
        assert_eq!(usage(frames), found, "{frames:?}");
    }
}

#[test]
fn output_that_only_the_total_counts_is_counted() {
    for (usage, output, reasoning) in [
        // xAI, with what it reasoned and without.
        (
            json!({ "prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 41_050, "completion_tokens_details": { "reasoning_tokens": 40_000 } }),
            40_050,
            40_000,
        ),
        (
            json!({ "prompt_tokens": 1000, "completion_tokens": 50, "completion_tokens_details": { "reasoning_tokens": 400 } }),
            450,
            400,
        ),
        // Gemini says nothing of what it reasoned.
        (json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 315 }), 305, 0),
        // OpenAI's count of the completion holds it.
        (
            json!({ "prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 60, "completion_tokens_details": { "reasoning_tokens": 40 } }),
            50,
            40,
        ),
        (
            json!({ "prompt_tokens": 10, "completion_tokens": 50, "completion_tokens_details": { "reasoning_tokens": 40 } }),
            50,
            40,
        ),
        // Totals that say something else.
        (json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 12 }), 5, 0),
        (
            json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 915, "prompt_tokens_details": { "cached_tokens": 900 } }),
            5,
            0,
        ),
    ] {
        let counted = json!({ "choices": [], "usage": usage }).to_string();
        let counted = read_reply(&events(&[END, &counted])).unwrap().usage.unwrap();
        assert_eq!((counted.output, counted.reasoning), (output, reasoning), "{usage}");
    }
}

#[test]
fn a_full_window_cuts_a_reply_and_without_one_the_conversation_is_too_long() {
    let full = r#"{"choices":[{"delta":{},"finish_reason":"model_context_window_exceeded"}]}"#;
    let text = delta(r#"{"content":"a"}"#);
    assert_eq!(read_reply(&events(&[&text, full])).unwrap().stop, StopReason::Length);
    let thought = delta(r#"{"reasoning_content":"hm"}"#);
    let nothing_said = read(events(&[&thought, full]).as_bytes(), 9, None).unwrap_err();
    let ResponseError::Reported(fault) = &nothing_said else { panic!("{nothing_said:?}") };
    assert!(matches!(reported_error("m", fault), ModelError::TooLong { .. }), "{fault}");
}

#[test]
fn is_whole_with_a_finish_reason_or_done() {
    let text = delta(r#"{"content":"a"}"#);
    for (frames, stop) in [
        (vec![text.as_str(), END, "[DONE]"], StopReason::End),
        (vec![&text, END], StopReason::End),
        (vec![&text, "[DONE]"], StopReason::End),
        (vec![&text, END, "{ junk"], StopReason::End),
        (vec![&text, r#"{"choices":[{"delta":{},"finish_reason":"eos"}]}"#], StopReason::End),
        (
            vec![&text, r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#],
            StopReason::Filtered,
        ),
    ] {
        let body = events(&frames);
        let deltas = read(body.trim_end().as_bytes(), 5, None).unwrap();
        assert_eq!(deltas.last(), Some(&Delta::Stop(stop)), "{frames:?}");
    }
    let broken_after_finish = read(events(&[&text, END]).as_bytes(), 9, Some("reset")).unwrap();
    assert_eq!(broken_after_finish.last(), Some(&Delta::Stop(StopReason::End)));
}

#[test]
fn is_broken_without_either() {
    let text = delta(r#"{"content":"a"}"#);
    for (body, broken) in [
        (events(&[&text]), None),
        (events(&[&text]), Some("reset")),
        (String::new(), None),
        (format!("{}data: {{\"choices\":[{{\"del", events(&[&text])), None),
        (": keep-alive\n\n".to_owned(), None),
        (r#"{"choices":[{"message":{"content":"hal"#.to_owned(), None),
        (events(&[r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#]), None),
        (events(&[&text, r#"{"choices":[{"delta":{},"finish_reason":"error_finish"}]}"#]), None),
        (
            events(&[
                r#"{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}"#,
            ]),
            None,
        ),
    ] {
        assert!(matches!(read(body.as_bytes(), 11, broken), Err(ResponseError::Cut(_))), "{body}");
    }
}

#[test]
fn says_what_is_no_answer_at_all() {
    for body in [
        "<html><body>Sign in</body></html>",
        "hello there",
        "data: hello\n\n",
        r#"{"hello":"there"}"#,
        "{ not json",
        "data: {\"choices\": [oops]}\n\ndata: [DONE]\n\n",
        r#"{"choices":"none"}"#,
    ] {
        let read = read(body.as_bytes(), 1000, None);
        assert!(matches!(read, Err(ResponseError::Malformed(_))), "{body}: {read:?}");
    }
}

#[test]
fn finds_errors_inside_an_accepted_answer() {
    let text = delta(r#"{"content":"a"}"#);
    for body in [
        events(&[&text, r#"{"error":{"message":"overloaded","code":529}}"#]),
        events(&[&text, r#"{"error":"out of memory"}"#]),
        events(&[
            r#"{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502}}]}"#,
        ]),
        events(&[r#"{"object":"error","message":"too long"}"#]),
        "event: error\ndata: {\"type\":\"error\",\"message\":\"x\"}\n\n".to_owned(),
        r#"{"error":{"message":"no"}}"#.to_owned(),
    ] {
        assert!(
            matches!(read(body.as_bytes(), 13, None), Err(ResponseError::Reported(_))),
            "{body}"
        );
    }
    assert_eq!(
        words(&events(&[r#"{"choices":[{"delta":{"content":"a"}}],"error":null}"#, END])),
        "a"
    );
}

#[test]
fn reads_an_answer_that_is_not_streamed() {
    let body = r#" {"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[
            {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":{"p":1}}}]},
            "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let usage = Usage { input: 3, output: 2, ..Usage::default() };
    let calls = vec!["a f {}".to_owned(), r#"b g {"p":1}"#.to_owned()];
    assert_eq!(
        read_reply(body),
        Ok(ReadReply {
            words: "hi".into(),
            calls,
            usage: Some(usage),
            stop: StopReason::ToolUse,
            ..ReadReply::default()
        })
    );
    assert_eq!(words(r#"{"choices":[{"message":{"content":"hi"}}]}"#), "hi");
    assert_eq!(
        words(&format!(
            "{}\n{}\n{END}\n",
            delta(r#"{"content":"a"}"#),
            delta(r#"{"content":"b"}"#)
        )),
        "ab"
    );
    assert_eq!(words(&format!("[{},{END}]", delta(r#"{"content":"a"}"#))), "a");
}

#[test]
fn reads_frames_however_odd() {
    let text = delta(r#"{"content":"a"}"#);
    for body in [
        format!("data:{text}\n\ndata:{END}\n\n"),
        format!("data: {text}\r\n\r\ndata: {END}\r\n\r\n"),
        format!(
            "\u{feff}: hi\n\n: PROCESSING\n\ndata: {text}\n\ndata: \n\ndata: ping\n\ndata: \
             {END}\n\ndata: [DONE]\n\ndata: {{ after\n\n"
        ),
        format!("data: {text}\ndata: {END}\ndata: [DONE]\n"),
        format!("event: message\nid: 1\ndata: {text}\n\nevent: message\ndata: {END}\n\n"),
        format!(
            "data: {text}\n\ndata: \
             {{\"choices\":[{{\"index\":1,\"delta\":{{\"content\":\"other\"}}}}]}}\n\ndata: \
             {END}\n\n"
        ),
    ] {
        assert_eq!(words(&body), "a", "{body}");
    }
}

#[test]
fn survives_bytes_that_are_no_text() {
    let body = [
        b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\n".as_slice(),
        events(&[END]).as_bytes(),
    ]
    .concat();
    assert_eq!(read(&body, 3, None).unwrap().first(), Some(&Delta::Text("a\u{fffd}b".into())));
}

#[test]
fn keeps_what_a_gateway_wants_back() {
    let reply = read_reply(&events(&[
        &delta(r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"h","signature":null}]}"#),
        &delta(r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"m"}]}"#),
        &delta(r#"{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"c2ln"}],"content":"so"}"#),
        &delta(r#"{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"b3BhcXVl"}]}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"x"}}}]}"#),
        END,
    ]))
    .unwrap();
    assert_eq!((reply.words.as_str(), reply.reasoning.as_str()), ("so", "hm"));
    let details = serde_json::json!({ "reasoning_details": [
        { "type": "reasoning.text", "index": 0, "text": "hm", "signature": "c2ln" },
        { "type": "reasoning.encrypted", "index": 1, "data": "b3BhcXVl" },
    ] });
    let seal = serde_json::json!({ "extra_content": { "google": { "thought_signature": "x" } } });
    assert_eq!(
        reply.opaque,
        [
            OpaquePart::Own(details),
            OpaquePart::Text { bytes: 2, seal: Value::Null },
            OpaquePart::Call { seal }
        ]
    );
}

#[test]
fn an_answer_broken_in_any_way_is_a_whole_reply_or_none() {
    let chunk = |delta: Value| json!({ "id": "x", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }], "usage": null });
    let call = |index: u64, id: &str, name: &str| {
        chunk(
            json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": "" } }] }),
        )
    };
    let arguments = |index: u64, part: &str| {
        chunk(json!({ "tool_calls": [{ "index": index, "function": { "arguments": part } }] }))
    };
    malformed::check_stream::<ChatReply>(&[
        chunk(json!({ "role": "assistant", "content": "" })),
        chunk(json!({ "reasoning_content": "hm" })),
        chunk(
            json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "index": 0, "data": "b3BhcXVl" }] }),
        ),
        chunk(json!({ "content": "so ü" })),
        chunk(json!({ "content": [{ "type": "text", "text": "!" }] })),
        call(0, "a", "read_file"),
        arguments(0, "{\"path\""),
        call(1, "b", "todo"),
        arguments(0, ":\"😀\"}"),
        arguments(1, "{}"),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 4 } } }),
    ]);
    malformed::check_plain::<ChatReply>(&json!({ "choices": [{
        "index": 0, "finish_reason": "tool_calls",
        "message": { "content": "so", "tool_calls": [{ "id": "a", "function": { "name": "f", "arguments": "{\"a\":1}" } }] },
    }], "usage": { "prompt_tokens": 9, "completion_tokens": 5 } }));
}
