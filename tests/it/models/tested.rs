//! `locum models test`: one request, what it cost, and what is wrong where none is answered.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::{Ran, Stage};

const KEY: &str = "sk-of-the-test-0123456789";

/// A profile at the server, and the answers of `locum models test WORDS`.
fn test(answer: Answer, words: &[&str]) -> (Ran, ModelServer) {
    let server = ModelServer::start(vec![answer]);
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let profiles = format!(
        "models: {{ profiles: {{ near: {{ model: big, base_url: '{}', api_key_env: MY_KEY, price: \
         {{ input: 1000, output: 2000 }} }} }} }}\n",
        server.base_url
    );
    stage.write("config/locum/config.yml", &profiles);
    let ran =
        stage.locum(&[&["models", "test"], words].concat()).env("MY_KEY", KEY).output().unwrap();
    (ran.into(), server)
}

fn counted() -> Answer {
    Answer::events(&[
        r#"{"choices":[{"index":0,"delta":{"content":"ready"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":1}}"#,
        "[DONE]",
    ])
}

#[test]
fn a_model_that_answers_is_told_with_tokens_and_cost() {
    let (ran, mut server) = test(counted(), &["--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    for time in ["latency_ms", "first_piece_ms"] {
        assert!(told[time].as_u64().is_some(), "{told}");
        told[time] = json!(0);
    }
    told["notes"] = json!([]);
    assert_eq!(
        told,
        json!({
            "name": "near", "model": "big", "provider": "openai", "endpoint": server.base_url,
            "key": "MY_KEY", "answered": true, "latency_ms": 0, "first_piece_ms": 0,
            "usage": { "input": 20, "output": 1, "cached_read": 0, "cached_write": 0, "reasoning": 0 },
            "cost_usd": 0.022, "problem": null, "notes": [],
        })
    );
    assert_eq!(server.asked().len(), 1, "one request");
    assert!(server.asked()[0].body.len() < 1_000, "a cheap one");
    let (ran, _) = test(counted(), &["near"]);
    assert!(ran.out.contains("usage      20 tokens in, 1 out"), "{}", ran.out);
    assert!(ran.out.contains("cost       $0.022000"), "{}", ran.out);
}

#[test]
fn a_model_that_does_not_answer_is_told_as_in_a_run() {
    let refused = json!({ "error": { "message": format!("bad key {KEY}") } });
    for (answer, words, attempts) in [
        (Answer::json(401, &refused), "refused the key in MY_KEY); check the variable", 1),
        (Answer::plain(503, "text/plain", "busy"), "is not available: busy (status 503)", 1),
    ] {
        let (ran, mut server) = test(answer, &[]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.err.starts_with("error: model `near (big)`") && ran.err.contains(words),
            "{ran:?}"
        );
        assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY), "{ran:?}");
        assert_eq!(server.asked().len(), attempts, "{words}");
    }
}

#[test]
fn what_is_not_configured_is_a_mistake_of_usage() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let ran: Ran = stage.locum(&["models", "test"]).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.starts_with("error: models: no model is configured\nhint: "), "{ran:?}");
    let ran: Ran = stage.locum(&["models", "test", "anthropic:"]).output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("`anthropic:` names no model"), "{ran:?}");
}

#[test]
fn a_model_that_embeds_texts_is_asked_for_a_vector() {
    let mut requests = 0;
    let server = ModelServer::start_with(move |asked| {
        if asked.path.ends_with("/embeddings") {
            requests += 1;
            let data = json!([{ "index": 0, "embedding": [0.5, 1.0, 0.25] }]);
            // Not every server counts.
            let usage = json!({ "prompt_tokens": if requests < 3 { 20 } else { 0 } });
            Answer::json(200, &json!({ "data": data, "usage": usage }))
        } else {
            Answer::json(404, &json!({ "error": { "message": "no chat here" } }))
        }
    });
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let test = |embed: &str, words: &[&str]| -> Ran {
        let profile = format!("base_url: '{}', api_key_env: MY_KEY", server.base_url);
        let settings = format!(
            "models: {{ profiles: {{ near: {{ model: v, price: {{ input: 1000, output: 0 }}, {profile} \
             }} }}, pointers: {{ {embed} }} }}\n"
        );
        stage.write("config/locum/config.yml", &settings);
        let mut command = stage.locum(&[&["models", "test", "near"], words].concat());
        command.env("MY_KEY", KEY).output().unwrap().into()
    };
    let ran = test("embed: near", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for row in ["vector     3 numbers", "usage      20 tokens in, 0 out", "cost       $0.020000"] {
        assert!(ran.out.contains(row), "{}", ran.out);
    }
    let found = test("embed: near", &["--json"]).json();
    assert_eq!((&found["vector_length"], &found["answered"]), (&json!(3), &json!(true)));
    let ran = test("embed: near", &[]);
    assert!(ran.out.contains("cost       unknown: the provider counted nothing"), "{}", ran.out);
    // Without the pointer it is a model that is to reply.
    let ran = test("main: near", &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("no chat here"), "{ran:?}");
}
