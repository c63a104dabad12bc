//! A task that searches the web: the engine of the settings is asked where a rule allows the
//! query, and nobody is where none does.

use std::collections::BTreeMap;
use std::sync::Arc;

use locum_agent::search_engine::{EngineKind, SearchEngine, SearchSettings, UrlAuthor};
use locum_sandbox::network::Connector;
use locum_testing::network::{PUBLIC, RecordingTransport, serve};
use pretty_assertions::assert_eq;

use crate::session::fixture::Fixture;

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: ['read(**)', 'search(**)']\n  - deny: 'search(**project x**)'\n";

const SCRIPT: &str = r#"
  - turns:
      - calls: [{ tool: WebSearch, args: { query: "rust  async" } }]
      - calls: [{ tool: web_search, args: { query: "Project X plans" } }]
      - calls: [{ tool: attempt_completion, args: { result: "searched" } }]
"#;

const FOUND: &str =
    r#"{"results": [{"url": "https://tokio.rs/", "title": "Tokio", "content": "A runtime."}]}"#;

#[test]
fn an_allowed_query_is_asked_and_a_denied_one_never_leaves() {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{FOUND}", FOUND.len());
    let (server, requests) =
        serve(vec![("GET /search?q=rust+async&format=json ", answer.into_bytes())]);
    let (wire, connected) = RecordingTransport::new(server, &[]);
    let settings = SearchSettings {
        engine: Some(EngineKind::Searxng),
        url: Some("http://searx.example.org".to_owned()),
        api_key_env: None,
        model: None,
    };
    let mut run = Fixture::with_policy(SCRIPT, POLICY);
    run.connector = Connector::new(Arc::new(wire));
    run.search_engine =
        SearchEngine::find(&settings, &BTreeMap::new(), UrlAuthor::Repository).unwrap();
    let ran = run.run();
    assert_eq!(ran.word(), "nothing-to-do", "{}", ran.reason());
    let answers: Vec<String> =
        ["WebSearch", "web_search"].into_iter().flat_map(|name| ran.answers(name)).collect();
    let [found, refused] = answers.try_into().unwrap();
    assert!(found.contains("1. Tokio\n   https://tokio.rs/\n   A runtime."), "{found}");
    assert!(found.contains("[material: results of a web search; origin: searx.example.org]"));
    assert!(refused.contains("denied by `search(**project x**)`"), "{refused}");
    assert_eq!(requests.try_iter().count(), 1);
    let connected: Vec<String> = connected.try_iter().map(|address| address.to_string()).collect();
    assert_eq!(connected, [format!("{PUBLIC}:80")]);
}
