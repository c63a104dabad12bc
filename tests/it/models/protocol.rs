//! How each provider's server answers: what the fault matrix and the shape tests are told in.

use locum_models::profile::{Profile, Provider};
use serde_json::{Value, json};

use crate::support::model_server::{Answer, Asked};

/// Every protocol there is an adapter for.
pub(crate) const ALL: [Provider; 4] =
    [Provider::Openai, Provider::OpenaiResponses, Provider::Anthropic, Provider::Gemini];

/// Returns a profile that speaks a protocol with the server at `base_url`.
pub(crate) fn profile(provider: Provider, base_url: &str) -> Profile {
    Profile {
        provider,
        base_url: Some(base_url.to_owned()),
        api_key_env: Some("TEST_KEY".into()),
        ..Profile::new("big")
    }
}

/// The pieces a whole reply of words is made of: the last one ends it.
pub(crate) fn words(provider: Provider) -> Vec<String> {
    let events = match provider {
        Provider::Openai => vec![
            json!({ "choices": [{ "index": 0, "delta": { "content": "hi" } }] }),
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 100, "completion_tokens": 10 } }),
        ],
        Provider::Anthropic => vec![
            json!({ "type": "message_start", "message": { "content": [], "usage": { "input_tokens": 100, "output_tokens": 1 } } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "hi" } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 10 } }),
        ],
        Provider::OpenaiResponses => vec![
            json!({ "type": "response.created", "response": { "status": "in_progress" } }),
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "hi" }),
            json!({ "type": "response.completed", "response": { "status": "completed", "usage": { "input_tokens": 100, "output_tokens": 10 } } }),
        ],
        Provider::Gemini => vec![
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "hi" }] } }] }),
            json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10 } }),
        ],
        Provider::Scripted | Provider::Bedrock | Provider::Vertex | Provider::Azure => vec![],
    };
    events.iter().map(Value::to_string).collect()
}

/// The pieces of a reply with two calls.
pub(crate) fn calls(provider: Provider) -> Vec<String> {
    let events = match provider {
        Provider::Openai => {
            let call = |index: usize, id: &str, path: &str| {
                let function = json!({ "name": "read_file", "arguments": json!({ "path": path }).to_string() });
                json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": index, "id": id, "function": function }] } }] })
            };
            vec![
                call(0, "c1", "a"),
                call(1, "c2", "b"),
                json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
            ]
        }
        Provider::Anthropic => {
            let block = |index: usize, id: &str| {
                let block =
                    json!({ "type": "tool_use", "id": id, "name": "read_file", "input": {} });
                json!({ "type": "content_block_start", "index": index, "content_block": block })
            };
            let piece = |index: usize, path: &str| {
                let delta = json!({ "type": "input_json_delta", "partial_json": json!({ "path": path }).to_string() });
                json!({ "type": "content_block_delta", "index": index, "delta": delta })
            };
            let end = json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "input_tokens": 100, "output_tokens": 10 } });
            vec![block(0, "c1"), piece(0, "a"), block(1, "c2"), piece(1, "b"), end]
        }
        Provider::OpenaiResponses => {
            let call = |at: usize, id: &str, path: &str| {
                let arguments = json!({ "path": path }).to_string();
                let item = json!({ "type": "function_call", "call_id": id, "name": "read_file", "arguments": arguments });
                json!({ "type": "response.output_item.done", "output_index": at, "item": item })
            };
            vec![
                call(0, "c1", "a"),
                call(1, "c2", "b"),
                json!({ "type": "response.completed", "response": { "status": "completed" } }),
            ]
        }
        Provider::Gemini => {
            let call = |path: &str| json!({ "functionCall": { "name": "read_file", "args": { "path": path } } });
            vec![
                json!({ "candidates": [{ "content": { "parts": [call("a"), call("b")] } }] }),
                json!({ "candidates": [{ "finishReason": "STOP" }] }),
            ]
        }
        Provider::Scripted | Provider::Bedrock | Provider::Vertex | Provider::Azure => vec![],
    };
    events.iter().map(Value::to_string).collect()
}

/// One call of a tool whose arguments are written in one piece, with an id or without.
pub(crate) fn one_call(
    provider: Provider,
    name: &str,
    arguments: &Value,
    id: Option<&str>,
) -> Answer {
    let with_id = |mut call: Value, key: &str| {
        id.map(|id| call.as_object_mut().unwrap().insert(key.to_owned(), id.into()));
        call
    };
    let events = match provider {
        Provider::Openai
        | Provider::Scripted
        | Provider::Bedrock
        | Provider::Vertex
        | Provider::Azure => {
            let call = with_id(
                json!({ "index": 0, "function": { "name": name, "arguments": arguments } }),
                "id",
            );
            vec![
                json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }),
                json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
            ]
        }
        Provider::OpenaiResponses => {
            let item = with_id(
                json!({ "type": "function_call", "name": name, "arguments": arguments }),
                "call_id",
            );
            vec![
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                json!({ "type": "response.completed", "response": {} }),
            ]
        }
        Provider::Anthropic => {
            let block =
                with_id(json!({ "type": "tool_use", "name": name, "input": arguments }), "id");
            vec![
                json!({ "type": "content_block_start", "index": 0, "content_block": block }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
            ]
        }
        Provider::Gemini => {
            let call = with_id(json!({ "name": name, "args": arguments }), "id");
            vec![
                json!({ "candidates": [{ "content": { "parts": [{ "functionCall": call }] }, "finishReason": "STOP" }] }),
            ]
        }
    };
    stream(&events.iter().map(Value::to_string).collect::<Vec<_>>())
}

/// A whole reply with nothing in it.
pub(crate) fn empty(provider: Provider) -> Vec<String> {
    words(provider).into_iter().filter(|event| !event.contains("\"hi\"")).collect()
}

/// An error inside a stream.
pub(crate) fn fault(provider: Provider) -> String {
    let error = json!({ "type": "overloaded_error", "message": "overloaded" });
    match provider {
        Provider::Openai
        | Provider::Gemini
        | Provider::Scripted
        | Provider::Bedrock
        | Provider::Vertex
        | Provider::Azure => json!({ "error": error }),
        Provider::OpenaiResponses => {
            json!({ "type": "response.failed", "response": { "status": "failed", "error": error } })
        }
        Provider::Anthropic => json!({ "type": "error", "error": error }),
    }
    .to_string()
}

/// What a server says to a conversation that is too long.
pub(crate) fn too_long(provider: Provider) -> Value {
    let message = match provider {
        Provider::Openai
        | Provider::Scripted
        | Provider::Bedrock
        | Provider::Vertex
        | Provider::Azure => "This model's maximum context length is 9 tokens.",
        Provider::OpenaiResponses => "Your input exceeds the context window of this model.",
        Provider::Gemini => {
            "The input token count (9) exceeds the maximum number of tokens allowed (8)."
        }
        Provider::Anthropic => "prompt is too long: 9 tokens > 8 maximum",
    };
    json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
}

/// A stream of these events.
pub(crate) fn stream(events: &[String]) -> Answer {
    Answer::events(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Where a request's key is, for each protocol.
pub(crate) fn key(provider: Provider, asked: &Asked) -> Option<&str> {
    match provider {
        Provider::Openai
        | Provider::OpenaiResponses
        | Provider::Scripted
        | Provider::Bedrock
        | Provider::Vertex
        | Provider::Azure => asked.header("authorization"),
        Provider::Gemini => asked.header("x-goog-api-key"),
        Provider::Anthropic => asked.header("x-api-key"),
    }
}
