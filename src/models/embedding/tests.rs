//! What servers of embeddings answer, and what is made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{EmbeddingModel, Embeddings, VECTOR_LIMIT};
use crate::ModelError;
use crate::profile::{ModelSettings, Pointer, Price, Profile, Provider};
use crate::resolve::{ModelFacts, resolve};

/// Serves one answer; returns its address and, once it was asked, the request.
fn serve(status: &str, answer: &Value) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let body = answer.to_string();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let served = std::thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            reader.read_line(&mut head).unwrap();
            if let Some(value) = head[start..].strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        head + str::from_utf8(&body).unwrap()
    });
    (address, served)
}

/// Returns the model of a profile, as a run gets it.
fn prepared(profile: Profile) -> EmbeddingModel {
    let mut settings = ModelSettings::default();
    settings.profiles.insert("main".to_owned(), Profile::new("m"));
    settings.profiles.insert("near".to_owned(), profile);
    settings.pointers.embed = Pointer(vec!["near".to_owned()]);
    let env = BTreeMap::from([
        ("OPENAI_API_KEY".to_owned(), "sk-1".to_owned()),
        ("GEMINI_API_KEY".to_owned(), "AIza-1".to_owned()),
        ("OWN_KEY".to_owned(), "own-key-of-the-host".to_owned()),
    ]);
    let facts = ModelFacts { env: &env, asked: None, from_repository: &BTreeSet::new() };
    let chosen = resolve(&settings, &facts).unwrap().embed.unwrap().unwrap();
    EmbeddingModel::prepare(&chosen).unwrap()
}

/// Asks a server that answers this; returns the answer and what it was asked.
fn asked(
    status: &str,
    answer: &Value,
    profile: Profile,
    texts: &[&str],
) -> (Result<Embeddings, ModelError>, String) {
    let (address, served) = serve(status, answer);
    let base_url = Some(format!("http://{address}/v1"));
    let model = prepared(Profile { base_url, api_key_env: Some("OWN_KEY".into()), ..profile });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let embedded = runtime.block_on(model.embed(texts));
    (embedded, served.join().unwrap())
}

const OK: &str = "200 OK";

#[test]
fn openai_is_asked_for_all_texts_at_once_and_what_it_counts_is_priced() {
    let answer = json!({
        "data": [
            { "index": 1, "embedding": [0, -2.5], "object": "embedding" },
            { "index": 0, "embedding": [1, 0.5], "object": "embedding" },
        ],
        "usage": { "prompt_tokens": 500_000, "total_tokens": 500_000 },
    });
    let price = Some(Price { input: 0.02, ..Price::default() });
    let profile = Profile { price, ..Profile::new("text-small") };
    let (embedded, request) = asked(OK, &answer, profile.clone(), &["one", "two \"x\""]);
    let embedded = embedded.unwrap();
    assert_eq!(embedded.vectors, [[1.0, 0.5], [0.0, -2.5]]);
    assert_eq!((embedded.usage.usage.input, embedded.usage.cost_usd), (500_000, 0.01));
    assert!(!embedded.usage.is_estimate);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/embeddings HTTP/1.1"), "{head}");
    assert!(head.contains("authorization: Bearer own-key-of-the-host"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    let sent = json!({
        "model": "text-small", "input": ["one", "two \"x\""], "encoding_format": "float",
    });
    assert_eq!(body, sent);
    // One that does not count, and has no numbers: as they come, and an estimate.
    let answer = json!({ "data": [{ "embedding": [1.0] }, { "embedding": [2.0] }] });
    let (embedded, _) = asked(OK, &answer, profile, &["one", "two"]);
    let embedded = embedded.unwrap();
    assert_eq!(embedded.vectors, [[1.0], [2.0]]);
    assert!(embedded.usage.is_estimate && embedded.usage.usage.input > 0, "{embedded:?}");
}

#[test]
fn gemini_is_asked_in_its_own_words() {
    let answer = json!({ "embeddings": [{ "values": [0.5, 1] }] });
    let profile = Profile { provider: Provider::Gemini, ..Profile::new("gemini-embedding-001") };
    let (embedded, request) = asked(OK, &answer, profile, &["one"]);
    assert_eq!(embedded.unwrap().vectors, [[0.5, 1.0]]);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let path = "POST /v1/models/gemini-embedding-001:batchEmbedContents HTTP/1.1";
    assert!(head.starts_with(path), "{head}");
    assert!(head.contains("x-goog-api-key: own-key-of-the-host"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    let sent = json!({ "requests": [{
        "model": "models/gemini-embedding-001", "content": { "parts": [{ "text": "one" }] },
    }] });
    assert_eq!(body, sent);
}

#[test]
fn an_answer_that_is_none_says_why() {
    let long = vec![1.0; VECTOR_LIMIT + 1];
    for (status, answer, why) in [
        (OK, json!({ "data": [] }), "0 vectors came for 1 texts"),
        (OK, json!({ "data": [{ "embedding": [] }] }), "its vectors have 0 numbers, not 1 to 8192"),
        (OK, json!({ "data": [{ "embedding": long }] }), "its vectors have 8193 numbers"),
        (OK, json!({ "data": [{ "embedding": [0, 0] }] }), "have no direction"),
        (OK, json!({ "data": [{ "embedding": [1e300] }] }), "have no direction"),
        (
            OK,
            json!({ "data": [{ "embedding": "AAAA" }] }),
            "`data` of the answer is not understood",
        ),
        (OK, json!({ "vectors": [] }), "the answer has no `data`"),
        (OK, json!([]), "the answer has no `data`"),
        (OK, json!({ "error": { "message": "invalid request" } }), "invalid request"),
        ("400 Bad Request", json!({ "error": { "message": "no such model" } }), "no such model"),
        (
            "401 Unauthorized",
            json!({ "error": { "message": "wrong key own-key-of-the-host" } }),
            "refused the key in OWN_KEY)",
        ),
    ] {
        let (embedded, _) = asked(status, &answer, Profile::new("m"), &["one"]);
        let error = embedded.unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("`near (m)`"), "{error}");
        assert!(!error.contains("own-key-of-the-host"), "{error}");
    }
}

#[test]
fn a_connection_that_is_cut_is_tried_once_more_and_one_that_is_refused_is_not() {
    for (cut, is_answered) in [(1, true), (2, false)] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base_url = Some(format!("http://{}", listener.local_addr().unwrap()));
        let served = std::thread::spawn(move || {
            (0..cut).for_each(|_| drop(listener.accept().unwrap()));
            if is_answered {
                let (mut stream, _) = listener.accept().unwrap();
                let _request = stream.read(&mut [0; 4096]).unwrap();
                let body = r#"{"data":[{"embedding":[1]}]}"#;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                stream.write_all((head + body).as_bytes()).unwrap();
            }
        });
        let model = prepared(Profile { base_url, ..Profile::new("m") });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let embedded = runtime.block_on(model.embed(&["one"]));
        assert_eq!(embedded.is_ok(), is_answered, "{embedded:?}");
        served.join().unwrap();
    }
}

#[test]
fn what_may_be_spent_is_told_in_tokens() {
    let priced = |input| {
        let price = Some(Price { input, ..Price::default() });
        prepared(Profile { price, ..Profile::new("m") })
    };
    assert_eq!(priced(0.02).affordable_tokens(0.01), Some(500_000));
    assert_eq!(priced(0.02).affordable_tokens(-1.0), Some(0));
    assert_eq!(priced(0.0).affordable_tokens(0.0), None);
    assert_eq!(prepared(Profile::new("m")).affordable_tokens(0.0), None);
    let small = Profile { context_window: Some(512), ..Profile::new("m") };
    assert_eq!(prepared(small).text_limit_bytes(), 1024);
}

#[test]
fn one_model_that_can_is_chosen_and_gives_no_replies() {
    let env = BTreeMap::from([
        ("OPENAI_API_KEY".to_owned(), "sk-1".to_owned()),
        ("GEMINI_API_KEY".to_owned(), "AIza-1".to_owned()),
    ]);
    let case = |pointers: &str, near: &str| {
        let settings: ModelSettings = serde_yaml::from_str(&format!(
            "{{ profiles: {{ main: {{ model: a }}, near: {{ model: b, {near} }} }}, pointers: {{ \
             {pointers} }} }}"
        ))
        .unwrap();
        let facts = ModelFacts { env: &env, asked: None, from_repository: &BTreeSet::new() };
        let resolved = resolve(&settings, &facts).unwrap();
        assert_eq!(resolved.main.name, "main");
        resolved.embed.map(|embed| embed.map(|chosen| chosen.name).map_err(|err| err.to_string()))
    };
    for provider in ["openai", "openai-responses", "gemini"] {
        let near = format!("provider: {provider}");
        assert_eq!(case("embed: near", &near), Some(Ok("near".to_owned())));
    }
    assert_eq!(case("main: main, embed: []", "temperature: 0"), None);
    for (pointers, near, why) in [
        ("embed: near", "provider: scripted", "no model embeds texts by `provider: scripted`"),
        (
            "main: main, embed: [near, main]",
            "temperature: 0",
            "vectors of two models cannot be compared",
        ),
        ("main: main, embed: far", "temperature: 0", "the profile `far`, which does not exist"),
    ] {
        let problem = case(pointers, near).unwrap().unwrap_err();
        assert!(problem.contains(why), "{problem}");
    }
}
