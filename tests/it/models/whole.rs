//! Replies that are requested whole: the same comes of them as of streamed ones.

use locum_base::chat::{Message, Reply, StopReason, ToolCall};
use locum_models::ModelError;
use locum_models::profile::{Profile, Provider};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::protocol::{ALL, fault, profile, stream, too_long, words};
use crate::models::{ask_model, model_of};
use crate::support::model_server::{Answer, Asked, ModelServer, Piece};
use crate::support::stage::Stage;

/// A whole reply that thinks, speaks and reads a file.
fn calling(provider: Provider) -> Value {
    let path = json!({ "path": "a" });
    match provider {
        Provider::OpenaiResponses => json!({
            "status": "completed",
            "output": [
                { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] },
                { "type": "message", "content": [{ "type": "output_text", "text": "hi" }] },
                { "type": "function_call", "call_id": "c1", "name": "read_file",
                  "arguments": path.to_string() },
            ],
            "usage": { "input_tokens": 100, "output_tokens": 10 },
        }),
        Provider::Anthropic => json!({
            "type": "message",
            "content": [
                { "type": "thinking", "thinking": "hm", "signature": "s" },
                { "type": "text", "text": "hi" },
                { "type": "tool_use", "id": "c1", "name": "read_file", "input": path },
            ],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 100, "output_tokens": 10 },
        }),
        Provider::Gemini => json!({
            "candidates": [{ "finishReason": "STOP", "content": { "parts": [
                { "text": "hm", "thought": true },
                { "text": "hi" },
                { "functionCall": { "id": "c1", "name": "read_file", "args": path } },
            ] } }],
            "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10 },
        }),
        _ => json!({
            "choices": [{ "finish_reason": "tool_calls", "message": {
                "content": "hi", "reasoning_content": "hm",
                "tool_calls": [{ "id": "c1", "function":
                    { "name": "read_file", "arguments": path.to_string() } }],
            } }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 10 },
        }),
    }
}

/// A whole reply of words that is as long as it may be.
fn cut_off(provider: Provider) -> Value {
    match provider {
        Provider::OpenaiResponses => json!({
            "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
            "output": [{ "type": "message", "content": [{ "text": "hi" }] }],
        }),
        Provider::Anthropic => json!({
            "type": "message", "content": [{ "type": "text", "text": "hi" }],
            "stop_reason": "max_tokens",
        }),
        Provider::Gemini => json!({
            "candidates": [{ "finishReason": "MAX_TOKENS",
                             "content": { "parts": [{ "text": "hi" }] } }],
        }),
        _ => json!({
            "choices": [{ "finish_reason": "length", "message": { "content": "hi" } }],
        }),
    }
}

/// Whether a request wants events of a stream.
fn wants_stream(asked: &Asked) -> bool {
    asked.json()["stream"] == true || asked.path.contains(":streamGenerateContent")
}

fn ask(
    provider: Provider,
    answers: Vec<Answer>,
    change: impl FnOnce(&mut Profile),
) -> (Result<Reply, ModelError>, Vec<Asked>) {
    let mut server = ModelServer::start(answers);
    let mut profile = profile(provider, &server.base_url);
    change(&mut profile);
    let messages = [Message::User { text: "go".into() }];
    let reply = ask_model(&*model_of(&profile), &messages).0;
    (reply, server.asked().to_vec())
}

fn whole(profile: &mut Profile) {
    profile.stream = false;
}

#[test]
fn a_whole_reply_says_what_a_streamed_one_says() {
    for provider in ALL {
        let (reply, asked) = ask(provider, vec![Answer::json(200, &calling(provider))], whole);
        let reply = reply.unwrap();
        assert!(!wants_stream(&asked[0]), "{provider:?}: {:?}", asked[0]);
        assert!(!asked[0].body.contains("stream_options"), "{provider:?}");
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("hi", "hm"), "{provider:?}");
        let [ToolCall { name, arguments, .. }] = reply.calls.as_slice() else {
            panic!("{reply:?}")
        };
        assert_eq!((name.as_str(), arguments.as_str()), ("read_file", r#"{"path":"a"}"#));
        assert_eq!(reply.stop, StopReason::ToolUse, "{provider:?}");
        assert_eq!(reply.usage.map(|usage| usage.total()), Some(110), "{provider:?}");
        let (reply, _) = ask(provider, vec![Answer::json(200, &cut_off(provider))], whole);
        assert_eq!(reply.map(|reply| reply.stop), Ok(StopReason::Length), "{provider:?}");
        // Without the setting it is a stream.
        let (reply, asked) = ask(provider, vec![stream(&words(provider))], |_| {});
        assert_eq!((reply.unwrap().text.as_str(), wants_stream(&asked[0])), ("hi", true));
    }
}

#[test]
fn faults_of_whole_replies_are_those_of_streams() {
    for provider in ALL {
        let good = Answer::json(200, &cut_off(provider));
        let half = good.pieces.first().map(|piece| match piece {
            Piece::Bytes(bytes) => Piece::Bytes(bytes[..bytes.len() / 2].to_vec()),
            other => other.clone(),
        });
        let half = Answer { pieces: half.into_iter().collect(), ..good.clone() };
        let fault: Value = serde_json::from_str(&fault(provider)).unwrap();
        let fault = fault.get("response").unwrap_or(&fault);
        for (name, answer) in [
            ("an error in the reply", Answer::json(200, fault)),
            ("an error in its place", Answer::json(529, fault)),
            ("half a reply", half.clone()),
            ("cut", half.clone().then(Piece::Cut)),
            ("nothing", Answer { pieces: vec![], ..good.clone() }),
            ("silence", half.then(Piece::Hang)),
        ] {
            let limit = Some(if name == "silence" { 1 } else { 60 });
            let (reply, asked) = ask(provider, vec![answer, good.clone()], |profile| {
                whole(profile);
                profile.idle_timeout_s = limit;
            });
            assert_eq!(reply.map(|reply| reply.text), Ok("hi".to_owned()), "{name} {provider:?}");
            assert_eq!(asked.len(), 2, "{name} {provider:?}");
        }
        let (reply, asked) = ask(provider, vec![Answer::json(400, &too_long(provider))], whole);
        assert!(reply.unwrap_err().to_string().contains("too long"), "{provider:?}");
        assert_eq!(asked.len(), 1);
    }
}

#[test]
fn a_run_takes_whole_replies_where_its_profile_says_so() {
    let done = |streamed: bool| {
        let function = json!({
            "name": "attempt_completion",
            "arguments": json!({ "result": if streamed { "Streamed." } else { "Whole." } }).to_string(),
        });
        let call = json!({ "index": 0, "id": "c1", "type": "function", "function": function });
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10 });
        let said = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let said_in = if streamed { "delta" } else { "message" };
        let choice = json!({ "index": 0, said_in: said, "finish_reason": "tool_calls" });
        let reply = json!({ "choices": [choice], "usage": usage });
        if streamed {
            Answer::events(&[&reply.to_string(), "[DONE]"])
        } else {
            Answer::json(200, &reply)
        }
    };
    for (field, result) in [("stream: false, ", "Whole."), ("", "Streamed.")] {
        let mut server = ModelServer::start_with(move |asked| done(wants_stream(asked)));
        let config = format!(
            "models: {{ profiles: {{ m: {{ {field}model: small, context_window: 100000 }} }} }}\n"
        );
        let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      \"read(**)\"\n";
        let stage =
            Stage::with(&[(".locum/policy.yml", policy), (".locum/config.yml", config.as_str())]);
        let mut command = stage.locum(&["run", "Do it.", "--model", "m", "--json"]);
        command
            .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
            .env("OPENAI_BASE_URL", &server.base_url);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_str(&shown).unwrap();
        assert!(shown.contains(result), "{shown}");
        assert_eq!(report["spent"]["input_tokens"], json!(100), "{shown}");
        assert_eq!(server.asked().len(), 1);
    }
}
