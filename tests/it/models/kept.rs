//! What a provider keeps with a reply: it goes back to its model, also after a way through the
//! journal, and to no other.

use locum_base::chat::{Message, Reply, ToolCall, ToolResult};
use locum_models::profile::{Profile, Provider};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::protocol::{ALL, profile, stream, words};
use crate::models::{ask_model, model_of};
use crate::support::model_server::{Answer, ModelServer};

/// What only the provider can read.
const OPAQUE: &str = "b3BhcXVl";

/// A reply that reasons in secret and calls a tool.
fn secretive(provider: Provider) -> Answer {
    let events = match provider {
        Provider::Openai
        | Provider::Scripted
        | Provider::Bedrock
        | Provider::Vertex
        | Provider::Azure => vec![
            json!({ "choices": [{ "delta": { "reasoning_details": [{ "type": "reasoning.encrypted", "data": OPAQUE, "index": 0 }] } }] }),
            json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "read_file", "arguments": "{}" } }] } }] }),
            json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
        ],
        Provider::OpenaiResponses => {
            let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": OPAQUE });
            let call = json!({ "type": "function_call", "call_id": "c", "name": "read_file", "arguments": "{}" });
            vec![
                json!({ "type": "response.completed", "response": { "status": "completed", "output": [reasoning, call] } }),
            ]
        }
        Provider::Anthropic => vec![
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "redacted_thinking", "data": OPAQUE } }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "c", "name": "read_file", "input": {} } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        ],
        Provider::Gemini => {
            let part = json!({ "functionCall": { "name": "read_file", "args": {} }, "thoughtSignature": OPAQUE });
            vec![
                json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] }),
            ]
        }
    };
    stream(&events.iter().map(Value::to_string).collect::<Vec<_>>())
}

fn next(reply: Reply) -> Vec<Message> {
    let id = reply.calls.first().unwrap().id.clone();
    let answered = Message::Tool {
        results: vec![ToolResult { call_id: id, text: "text".into(), ..ToolResult::default() }],
    };
    vec![Message::User { text: "go".into() }, reply.into_message(), answered]
}

#[test]
fn it_goes_back_to_its_own_model_and_to_no_other() {
    for provider in ALL {
        let whole = stream(&words(provider));
        let mut server = ModelServer::start(vec![secretive(provider), whole]);
        let first = profile(provider, &server.base_url);
        let model = model_of(&first);
        let reply = ask_model(&*model, &[Message::User { text: "go".into() }]).0.unwrap();
        let journaled: Reply =
            serde_json::from_str(&serde_json::to_string(&reply).unwrap()).unwrap();
        assert_eq!(journaled, reply, "{provider:?}");
        assert!(ask_model(&*model, &next(journaled)).0.is_ok());
        assert!(
            ask_model(
                &*model_of(&Profile { model: "other".into(), ..first }),
                &next(reply.clone())
            )
            .0
            .is_ok()
        );
        let returned =
            |at: usize, server: &mut ModelServer| server.asked()[at].body.matches(OPAQUE).count();
        assert_eq!((returned(1, &mut server), returned(2, &mut server)), (1, 0), "{provider:?}");
        for other in ALL.into_iter().filter(|other| *other != provider) {
            let mut server = ModelServer::start(vec![stream(&words(other))]);
            assert!(
                ask_model(&*model_of(&profile(other, &server.base_url)), &next(reply.clone()))
                    .0
                    .is_ok()
            );
            let body = &server.asked()[0].body;
            assert!(
                !body.contains(OPAQUE) && body.contains("read_file") && body.contains("text"),
                "{provider:?} to {other:?}: {body}"
            );
        }
    }
}

#[test]
fn a_broken_call_of_the_past_does_not_spoil_the_request() {
    for provider in ALL {
        let mut server = ModelServer::start(vec![secretive(provider), stream(&words(provider))]);
        let model = model_of(&profile(provider, &server.base_url));
        let mut reply = ask_model(&*model, &[Message::User { text: "go".into() }]).0.unwrap();
        reply.calls[0].arguments = "{\"path\": \"cut of".into();
        assert!(ask_model(&*model, &next(reply)).0.is_ok());
        assert!(server.asked()[1].body.contains("not_an_object"), "{provider:?}");
    }
}

#[test]
fn requests_go_to_the_providers_own_paths() {
    for (provider, path) in [
        (Provider::Openai, "/v1/chat/completions"),
        (Provider::OpenaiResponses, "/v1/responses"),
        (Provider::Anthropic, "/v1/messages"),
        (Provider::Gemini, "/v1/models/big:streamGenerateContent?alt=sse"),
    ] {
        let mut server = ModelServer::start(vec![stream(&words(provider))]);
        assert!(
            ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }]
            )
            .0
            .is_ok()
        );
        assert_eq!(server.asked()[0].path, path);
    }
}

#[test]
fn reasoning_goes_back_to_a_server_that_misses_it() {
    let refusal = json!({ "error": { "message": "The `reasoning_content` in the thinking mode must be passed back to the API.", "type": "invalid_request_error" } });
    let whole = stream(&words(Provider::Openai));
    let mut server = ModelServer::start_with(move |asked| {
        let body = asked.json();
        let misses = |message: &Value| {
            message.get("tool_calls").is_some() && message.get("reasoning_content").is_none()
        };
        if body["messages"].as_array().unwrap().iter().any(misses) {
            Answer::json(400, &refusal)
        } else {
            whole.clone()
        }
    });
    let model = model_of(&profile(Provider::Openai, &server.base_url));
    let call =
        |id: &str| ToolCall { id: id.into(), name: "read_file".into(), arguments: "{}".into() };
    let turn = |id: &str, reasoning: &str| {
        let result =
            ToolResult { call_id: id.into(), text: "text".into(), ..ToolResult::default() };
        let reply = Message::Assistant {
            text: String::new(),
            reasoning: reasoning.into(),
            calls: vec![call(id)],
            opaque: None,
        };
        [reply, Message::Tool { results: vec![result] }]
    };
    let messages = [
        vec![Message::User { text: "go".into() }],
        turn("a", "hm").to_vec(),
        turn("b", "").to_vec(),
    ]
    .concat();
    for _ in 0..2 {
        assert!(ask_model(&*model, &messages).0.is_ok());
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3, "it is learned once");
    assert_eq!(
        (
            &asked[2].json()["messages"][2]["reasoning_content"],
            &asked[2].json()["messages"][4]["reasoning_content"]
        ),
        (&json!("hm"), &json!(""))
    );
}

#[test]
fn a_request_begins_with_the_one_before_it() {
    const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
    for provider in ALL {
        let mut server = ModelServer::start(vec![secretive(provider), stream(&words(provider))]);
        let model = model_of(&profile(provider, &server.base_url));
        let mut messages = vec![Message::User { text: "go".into() }];
        let reply = ask_model(&*model, &messages).0.unwrap();
        for turn in 0..12 {
            let mut reply = reply.clone();
            reply.calls[0].id = format!("call:{turn}");
            messages = [messages, next(reply).split_off(1)].concat();
            if let Some(Message::Tool { results }) = messages.last_mut() {
                results[0].call_id = format!("call:{turn}");
                results[0].text = "a line of a file\n".repeat(40);
            }
            if turn % 3 == 2 {
                messages.push(Message::User { text: "hurry".into() });
            }
            assert!(ask_model(&*model, &messages).0.is_ok());
        }
        let bodies: Vec<String> =
            server.asked().iter().map(|asked| asked.body.replace(MARK, "")).collect();
        for pair in bodies.windows(2) {
            let begins = pair[0].trim_end_matches([']', '}']);
            assert!(pair[1].starts_with(begins), "{provider:?}:\n{}\n{}", pair[0], pair[1]);
        }
    }
}
