//! Anthropic Messages over the wire: where requests go, what is in them, what is returned, what is
//! left out after a refusal.

use std::collections::BTreeMap;

use locum_base::chat::{Message, OpaqueState, ToolResult};
use locum_models::profile::{Effort, Profile, Provider};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::protocol::{profile, stream, words};
use crate::models::{ask_model, model_of};
use crate::support::model_server::{Answer, ModelServer};

fn user() -> Message {
    Message::User { text: "go".into() }
}

#[test]
fn asks_where_the_api_is_with_its_version() {
    let mut server = ModelServer::start(vec![stream(&words(Provider::Anthropic))]);
    let root = server.base_url.trim_end_matches("/v1").to_owned();
    for (suffix, path) in [
        ("", "/v1/messages"),
        ("/v1/", "/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/x/v1/messages?beta=true", "/x/v1/messages?beta=true"),
    ] {
        assert!(
            ask_model(
                &*model_of(&profile(Provider::Anthropic, &format!("{root}{suffix}"))),
                &[user()]
            )
            .0
            .is_ok()
        );
        let asked = server.asked().last().unwrap();
        assert_eq!(
            (asked.path.as_str(), asked.header("anthropic-version")),
            (path, Some("2023-06-01"))
        );
    }
    let beta = Profile {
        headers: BTreeMap::from([("anthropic-beta".to_owned(), "some-day".to_owned())]),
        ..profile(Provider::Anthropic, &root)
    };
    assert!(ask_model(&*model_of(&beta), &[user()]).0.is_ok());
    let asked = server.asked().last().unwrap();
    assert_eq!(
        (asked.header("anthropic-beta"), &asked.json()["max_tokens"]),
        (Some("some-day"), &json!(4096))
    );
}

/// A reply that thinks and calls, as the server streams it.
fn thoughtful() -> Answer {
    stream(
        &[
            json!({ "type": "message_start", "message": { "usage": { "input_tokens": 5, "cache_read_input_tokens": 95 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "c2ln" } }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "redacted_thinking", "data": "b3BhcXVl" } }),
            json!({ "type": "content_block_start", "index": 2, "content_block": { "type": "tool_use", "id": "t1", "name": "read_file", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 2, "delta": { "type": "input_json_delta", "partial_json": "{\"path\":\"a\"}" } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 7 } }),
            json!({ "type": "message_stop" }),
        ]
        .map(|event: Value| event.to_string()),
    )
}

#[test]
fn thoughts_come_back_as_they_were_also_through_the_journals_form() {
    let mut server = ModelServer::start(vec![thoughtful(), stream(&words(Provider::Anthropic))]);
    let thinking = Profile {
        reasoning_effort: Some(Effort::Low),
        max_output_tokens: Some(9000),
        ..profile(Provider::Anthropic, &server.base_url)
    };
    let model = model_of(&thinking);
    let reply = ask_model(&*model, &[user()]).0.unwrap();
    assert_eq!(
        reply.usage.map(|usage| (usage.input, usage.cached_read, usage.output)),
        Some((100, 95, 7))
    );
    let through_the_journal: Option<OpaqueState> =
        serde_json::from_str(&serde_json::to_string(&reply.kept).unwrap()).unwrap();
    assert_eq!(through_the_journal, reply.kept);
    let answered = Message::Tool {
        results: vec![ToolResult {
            call_id: "t1".into(),
            text: "text".into(),
            ..ToolResult::default()
        }],
    };
    assert!(ask_model(&*model, &[user(), reply.into_message(), answered]).0.is_ok());
    let body = server.asked()[1].json();
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "redacted_thinking", "data": "b3BhcXVl" },
            { "type": "tool_use", "id": "t1", "name": "read_file", "input": { "path": "a" } },
        ])
    );
    assert_eq!(body["thinking"], json!({ "type": "enabled", "budget_tokens": 4096 }));
}

#[test]
fn another_model_is_not_shown_what_was_kept() {
    let mut server = ModelServer::start(vec![thoughtful(), stream(&words(Provider::Anthropic))]);
    let first = Profile {
        reasoning_effort: Some(Effort::Low),
        max_output_tokens: Some(9000),
        ..profile(Provider::Anthropic, &server.base_url)
    };
    let reply = ask_model(&*model_of(&first), &[user()]).0.unwrap();
    let answered = Message::Tool {
        results: vec![ToolResult {
            call_id: "t1".into(),
            text: "text".into(),
            ..ToolResult::default()
        }],
    };
    let other = Profile { model: "small".into(), ..first };
    assert!(ask_model(&*model_of(&other), &[user(), reply.into_message(), answered]).0.is_ok());
    let body = &server.asked()[1].body;
    assert!(
        !body.contains("c2ln") && !body.contains("b3BhcXVl") && !body.contains("budget_tokens"),
        "{body}"
    );
}

#[test]
fn leaves_out_what_the_server_refuses_and_remembers() {
    let refusal = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "system.0.cache_control: Extra inputs are not permitted" } });
    let whole = stream(&words(Provider::Anthropic));
    let mut server = ModelServer::start_with(move |asked| {
        if asked.body.contains("cache_control") {
            Answer::json(400, &refusal)
        } else {
            whole.clone()
        }
    });
    let model = model_of(&profile(Provider::Anthropic, &server.base_url));
    assert!(ask_model(&*model, &[user()]).0.is_ok() && ask_model(&*model, &[user()]).0.is_ok());
    assert_eq!(server.asked().len(), 3);
}
