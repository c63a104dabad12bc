//! The adapters and their retries against a server that answers as it is told.

mod anthropic;
mod cassette;
mod clouds;
pub(crate) mod identity;
mod kept;
mod matrix;
mod protocol;
mod providers;
mod stop;
mod tested;
pub(crate) mod tunnel;
mod way_out;
mod whole;
mod xml;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::support::model_server::{Answer, ModelServer, Piece};
use locum_base::chat::{Message, Reply, StopReason, ToolCall, ToolResult, ToolSpec, Usage};
use locum_base::clock::Clock as _;
use locum_base::id::TaskId;
use locum_models::build::build;
use locum_models::profile::{Effort, ModelSettings, Profile};
use locum_models::resolve::{ModelFacts, resolve};
use locum_models::retry::{RetryLimits, StreamObserver, complete};
use locum_models::{Delta, EarlierTurns, Model, ModelError, ModelRequest, RequestEstimate};
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;
use serde_json::json;

fn model_at(base_url: &str, change: impl FnOnce(&mut Profile)) -> Box<dyn Model> {
    let mut profile = Profile {
        base_url: Some(base_url.to_owned()),
        api_key_env: Some("TEST_KEY".into()),
        ..Profile::new("big")
    };
    change(&mut profile);
    model_of(&profile)
}

fn model_of(profile: &Profile) -> Box<dyn Model> {
    let profile = profile.clone();
    let settings = ModelSettings {
        profiles: BTreeMap::from([("test".to_owned(), profile)]),
        ..ModelSettings::default()
    };
    let env = BTreeMap::from([("TEST_KEY".to_owned(), "sk-very-secret".to_owned())]);
    let facts = ModelFacts { env: &env, asked: None, from_repository: &BTreeSet::new() };
    build(&resolve(&settings, &facts).unwrap().main, None).unwrap()
}

/// A reply or the error, the requests sent, and how long the retries waited.
fn ask(server: &ModelServer) -> (Result<Reply, ModelError>, Duration, Vec<Delta>) {
    ask_model(&*model_at(&server.base_url, |_| {}), &[Message::User { text: "go".into() }])
}

fn ask_model(
    model: &dyn Model,
    messages: &[Message],
) -> (Result<Reply, ModelError>, Duration, Vec<Delta>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(ask_async(model, messages))
}

async fn ask_async(
    model: &dyn Model,
    messages: &[Message],
) -> (Result<Reply, ModelError>, Duration, Vec<Delta>) {
    let tools = [ToolSpec {
        name: "read_file".into(),
        description: "reads".into(),
        parameters: json!({ "type": "object" }),
    }];
    let request = ModelRequest {
        system: "be brief",
        messages,
        tools: &tools,
        max_output_tokens: None,
        temperature: None,
        task: TaskId(0),
        mode: "code",
        turn: 0,
        picture: None,
        earlier: EarlierTurns::default(),
        estimate: RequestEstimate::default(),
    };
    let clock = TestClock::default();
    let limits = RetryLimits { attempts: 3, ..RetryLimits::default() };
    let mut seen = Vec::new();
    let hearing = StreamObserver {
        watch: &mut |delta| seen.push(delta.clone()),
        lost: &mut Vec::new(),
        admit: &mut |_| true,
    };
    let reply = complete(model, request, limits, &clock, hearing).await;
    (reply, clock.elapsed(), seen)
}

#[test]
fn asks_and_reads_a_streamed_reply() {
    let mut server = ModelServer::start(vec![Answer::calls(&[
        ("read_file", json!({ "path": "a" })),
        ("read_file", json!({ "path": "b" })),
    ])]);
    let (reply, _, _) = ask(&server);
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let calls = vec![call("srv-0", r#"{"path":"a"}"#), call("srv-1", r#"{"path":"b"}"#)];
    let usage = Some(Usage { input: 100, output: 10, ..Usage::default() });
    assert_eq!(reply, Ok(Reply { calls, usage, stop: StopReason::ToolUse, ..Reply::default() }));
    let asked = &server.asked()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let body = asked.json();
    assert_eq!(
        (&body["model"], &body["stream"], &body["stream_options"]["include_usage"]),
        (&json!("big"), &json!(true), &json!(true))
    );
    assert_eq!(
        body["messages"],
        json!([{ "role": "system", "content": "be brief" }, { "role": "user", "content": "go" }])
    );
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
}

#[test]
fn joins_addresses_however_they_end() {
    let mut server = ModelServer::start(vec![Answer::words("hi")]);
    let root = server.base_url.trim_end_matches("/v1").to_owned();
    for (suffix, path) in [
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("", "/chat/completions"),
        ("/deep/er/v2//", "/deep/er/v2/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        (
            "/openai/deployments/x?api-version=1",
            "/openai/deployments/x/chat/completions?api-version=1",
        ),
    ] {
        let model = model_at(&format!("{root}{suffix}"), |_| {});
        assert!(ask_model(&*model, &[Message::User { text: "go".into() }]).0.is_ok());
        assert_eq!(server.asked().last().unwrap().path, path, "{suffix}");
    }
}

#[test]
fn sends_what_the_profile_says() {
    let mut server = ModelServer::start(vec![Answer::words("hi")]);
    let model = model_at(&server.base_url, |profile| {
        profile.temperature = Some(0.5);
        profile.max_output_tokens = Some(99);
        profile.headers = BTreeMap::from([("X-Title".to_owned(), "locum".to_owned())]);
    });
    assert_eq!(model.label(), "test (big)");
    assert!(ask_model(&*model, &[Message::User { text: "go".into() }]).0.is_ok());
    let asked = &server.asked()[0];
    assert_eq!(
        (
            asked.header("x-title"),
            asked.json()["temperature"].clone(),
            asked.json()["max_tokens"].clone()
        ),
        (Some("locum"), json!(0.5), json!(99))
    );
}

#[test]
fn keeps_one_connection_over_many_turns() {
    let mut server = ModelServer::start(vec![Answer::words("hi")]);
    let model = model_at(&server.base_url, |_| {});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for _ in 0..10 {
        let messages = [Message::User { text: "go".into() }];
        assert!(runtime.block_on(ask_async(&*model, &messages)).0.is_ok());
    }
    assert!(server.asked().iter().all(|asked| asked.connection == 1), "{:?}", server.asked());
}

#[test]
fn tries_again_while_the_fault_passes() {
    let whole = Answer::words("hi");
    let half = Answer::events(&[r#"{"choices":[{"delta":{"content":"hal"}}]}"#]);
    for (name, fault) in [
        ("too many requests", Answer::json(429, &json!({ "error": { "message": "slow down" } }))),
        ("server error", Answer::plain(500, "text/html", "<h1>oops</h1>")),
        ("bad gateway", Answer::plain(502, "text/html", "")),
        ("overloaded", Answer::json(529, &json!({ "error": { "type": "overloaded_error" } }))),
        ("timeout", Answer::plain(408, "text/plain", "")),
        ("stream cut", half.clone().then(Piece::Cut)),
        ("stream ended", half.clone()),
        (
            "error inside",
            Answer::events(&[
                r#"{"choices":[{"delta":{"content":"hal"}}]}"#,
                r#"{"error":{"message":"overloaded"}}"#,
            ]),
        ),
        ("nothing at all", Answer { pieces: vec![Piece::Cut], ..half.clone() }),
        ("empty body", Answer { pieces: vec![], ..half.clone() }),
        ("empty reply", Answer::words(" ")),
        ("page", Answer::plain(200, "text/html", "<html>sign in</html>")),
    ] {
        let mut server = ModelServer::start(vec![fault, whole.clone()]);
        let (reply, waited, seen) = ask(&server);
        assert_eq!(reply.map(|reply| reply.text), Ok("hi".to_owned()), "{name}");
        assert!(
            server.asked().len() == 2
                && waited >= Duration::from_millis(500)
                && seen.contains(&Delta::Restart),
            "{name}"
        );
        let (first, second) = (server.asked()[0].body.clone(), server.asked()[1].body.clone());
        assert_eq!(first, second, "{name}: the same request is sent again");
    }
}

#[test]
fn gives_up_at_once_where_another_try_is_no_use() {
    let too_long = json!({ "error": { "message": "maximum context length is 9", "code": "context_length_exceeded" } });
    for (answer, words) in [
        (
            Answer::json(
                401,
                &json!({ "error": { "message": "Incorrect API key: sk-very-secret" } }),
            ),
            "refused the key: Incorrect API key: ***",
        ),
        (Answer::plain(403, "text/plain", "not you"), "refused the key: not you"),
        (
            Answer::json(400, &json!({ "error": { "message": "bad tool" } })),
            "refused the request (400): bad tool",
        ),
        (Answer::json(400, &too_long), "too long"),
        (Answer::json(404, &json!({ "error": { "message": "no model" } })), "`base_url`"),
        (Answer::json(422, &json!({ "detail": "wrong" })), "(422): wrong"),
        (
            Answer::json(
                429,
                &json!({ "error": { "code": "insufficient_quota", "message": "pay" } }),
            ),
            "(429): pay",
        ),
    ] {
        let mut server = ModelServer::start(vec![answer, Answer::words("hi")]);
        let err = ask(&server).0.unwrap_err().to_string();
        assert!(err.contains(words) && err.contains("test (big)"), "{err}\nshould say {words}");
        assert_eq!(server.asked().len(), 1, "{words}");
    }
}

#[test]
fn waits_as_long_as_the_provider_asks() {
    let busy = Answer::plain(429, "text/plain", "busy").with_header("retry-after", "20");
    let (reply, waited, _) = ask(&ModelServer::start(vec![busy, Answer::words("hi")]));
    assert!(reply.is_ok() && (20..=22).contains(&waited.as_secs()), "{waited:?}");
}

#[test]
fn does_not_follow_a_redirect_with_the_key() {
    let mut elsewhere = ModelServer::start(vec![Answer::words("stolen")]);
    let redirect = Answer::plain(307, "text/plain", "")
        .with_header("location", &format!("{}/chat/completions", elsewhere.base_url));
    let err = ask(&ModelServer::start(vec![redirect])).0.unwrap_err();
    assert!(matches!(&err, ModelError::Rejected { status: 307, .. }), "{err}");
    assert_eq!(elsewhere.asked().len(), 0);
}

#[test]
fn says_when_nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = model_at(&format!("http://{address}/v1"), |_| {});
    let err = ask_model(&*model, &[Message::User { text: "go".into() }]).0.unwrap_err().to_string();
    assert!(err.contains("cannot connect") && err.contains("(3 attempts in"), "{err}");
}

#[test]
fn does_not_wait_for_a_silent_server_for_ever() {
    let half = Answer::events(&[r#"{"choices":[{"delta":{"content":"hal"}}]}"#]).then(Piece::Hang);
    let mut server = ModelServer::start(vec![half, Answer::words("hi")]);
    let model = model_at(&server.base_url, |profile| profile.idle_timeout_s = Some(1));
    let (reply, _, _) = ask_model(&*model, &[Message::User { text: "go".into() }]);
    assert_eq!((reply.unwrap().text.as_str(), server.asked().len()), ("hi", 2));
}

#[test]
fn takes_a_whole_reply_from_a_server_that_never_ends_it() {
    let done = Answer {
        pieces: [Answer::words("hi").pieces, vec![Piece::Hang]].concat(),
        ..Answer::words("hi")
    };
    assert_eq!(ask(&ModelServer::start(vec![done])).0.unwrap().text, "hi");
}

#[test]
fn reads_a_reply_from_a_server_that_does_not_stream() {
    let message = json!({ "choices": [{ "message": { "content": "hi" }, "finish_reason": "stop" }], "usage": { "prompt_tokens": 5, "completion_tokens": 1 } });
    let reply = ask(&ModelServer::start(vec![Answer::json(200, &message)])).0.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.map(|usage| usage.input)), ("hi", Some(5)));
}

#[test]
fn leaves_out_what_the_server_refuses_and_remembers() {
    let refusal = json!({ "detail": [{ "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted: stream_options" }] });
    let mut server = ModelServer::start_with(move |asked| {
        if asked.body.contains("stream_options") {
            Answer::json(422, &refusal)
        } else {
            Answer::words("hi")
        }
    });
    let model = model_at(&server.base_url, |_| {});
    for _ in 0..2 {
        let (reply, waited, _) = ask_model(&*model, &[Message::User { text: "go".into() }]);
        assert_eq!((reply.unwrap().text.as_str(), waited), ("hi", Duration::ZERO));
    }
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn leaves_out_as_many_fields_as_the_server_refuses_one_at_a_time() {
    let refusals = [
        ("stream_options", "Unknown field: stream_options"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.5."),
        ("reasoning_effort", "Unknown parameter: reasoning_effort"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
    ];
    let mut server = ModelServer::start_with(move |asked| {
        let names = |field: &str| asked.body.contains(&format!("\"{field}\""));
        match refusals.iter().find(|(field, _)| names(field)) {
            Some((_, words)) => Answer::json(400, &json!({ "error": { "message": words } })),
            None => Answer::words("hi"),
        }
    });
    let model = model_at(&server.base_url, |profile| {
        profile.temperature = Some(0.5);
        profile.reasoning_effort = Some(Effort::High);
        profile.max_output_tokens = Some(99);
    });
    let (reply, waited, _) = ask_model(&*model, &[Message::User { text: "go".into() }]);
    assert_eq!(reply.map(|reply| (reply.text, waited)), Ok(("hi".to_owned(), Duration::ZERO)));
    assert_eq!(server.asked().len(), refusals.len() + 1);
}

#[test]
fn keeps_the_beginning_of_the_request_from_turn_to_turn() {
    let mut server = ModelServer::start(vec![Answer::words("hi")]);
    let model = model_at(&server.base_url, |_| {});
    let mut messages = vec![Message::User { text: "go".into() }];
    for turn in 0..50 {
        assert!(ask_model(&*model, &messages).0.is_ok());
        let call =
            ToolCall { id: format!("c{turn}"), name: "read_file".into(), arguments: "{}".into() };
        messages.push(Message::Assistant {
            text: String::new(),
            reasoning: String::new(),
            calls: vec![call],
            opaque: None,
        });
        let result = ToolResult {
            call_id: format!("c{turn}"),
            text: "x".repeat(200),
            ..ToolResult::default()
        };
        messages.push(Message::Tool { results: vec![result] });
    }
    for pair in server.asked().windows(2) {
        let opaque = pair[0].body.strip_suffix("]}").unwrap();
        assert!(pair[1].body.starts_with(opaque));
    }
}

#[test]
fn reads_ten_thousand_pieces() {
    let piece = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word "}}]}}]}"#;
    let first = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}"#;
    let mut events = vec![piece; 10_000];
    events.insert(0, first);
    events.push("[DONE]");
    let reply = ask(&ModelServer::start(vec![Answer::events(&events)])).0.unwrap();
    assert_eq!(reply.calls[0].arguments.len(), 50_000);
}
