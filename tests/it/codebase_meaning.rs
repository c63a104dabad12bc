//! `codebase_search` with a model that embeds texts, through the binary: what is found by meaning,
//! what the model is sent and what not, who pays, what is kept.

use std::process::Stdio;

use crate::support::model_server::{Answer, Asked, ModelServer};
use crate::support::stage::{Ran, Stage};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)"]
  - deny: ["read(src/secret.rs)", "read(.locum/**)"]
"#;

const CONFIG: &str = "models: { profiles: { play: { provider: scripted, model: .locum/play.yml }, near: \
                      { model: near, price: { input: 1000, output: 0 } } }, pointers: { main: play, \
                      embed: near } }\n";

const KEY: &str = "sk-near-0123456789";

const FILES: &[(&str, &str)] = &[
    (".locum/policy.yml", POLICY),
    (".locum/config.yml", CONFIG),
    (
        "src/lib.rs",
        "pub struct Token;\n\nimpl Token {\n    pub fn expiry(&self) -> u64 {\n        self.issued + \
         LIFETIME\n    }\n\n    fn paint(&self) {\n        self.colour();\n    }\n}\n",
    ),
    ("src/retry.py", "def again():\n    return backoff()\n"),
    ("src/secret.rs", "fn expiry() { password() }\n"),
    ("docs/keys.md", "The session ends after sk-near-0123456789 is too old.\n"),
];

/// What words are about: the axis of their vector.
const TOPICS: &[&[&str]] = &[
    &["expiry", "lifetime", "ends", "old", "deadline", "stale"],
    &["backoff", "again", "jitter"],
    &["paint", "colour", "brush"],
];

/// Returns a vector by what a text's words are about.
fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let about = |words: &&[&str]| words.iter().map(|word| text.matches(word).count() as f32).sum();
    std::iter::once(0.01).chain(TOPICS.iter().map(about)).collect()
}

fn texts(asked: &Asked) -> Vec<String> {
    let input = asked.json()["input"].as_array().unwrap().clone();
    input.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn embeddings(asked: &Asked) -> Answer {
    assert_eq!((asked.path.as_str(), &asked.json()["model"]), ("/v1/embeddings", &json!("near")));
    let data: Vec<Value> = texts(asked)
        .iter()
        .enumerate()
        .map(|(index, text)| json!({ "index": index, "embedding": vector(text) }))
        .collect();
    let count = data.len();
    Answer::json(200, &json!({ "data": data, "usage": { "prompt_tokens": count } }))
}

fn server() -> ModelServer {
    ModelServer::start_with(embeddings)
}

/// A run of searches, one after the other.
fn search(stage: &Stage, server: &ModelServer, queries: &[&str], more: &[&str]) -> Ran {
    let turns: String = queries
        .iter()
        .map(|query| format!("      - calls: [{{ tool: codebase_search, args: {query} }}]\n"))
        .collect();
    let end = "      - calls: [{ tool: attempt_completion, args: { result: ok } }]\n";
    stage.write(
        "checkout/.locum/play.yml",
        &format!("version: 1\ntasks:\n  - turns:\n{turns}{end}"),
    );
    stage.commit("the script");
    let mut command = stage.locum(&["run", "Look.", "--output-format", "json"]);
    command.args(more).env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", &server.base_url);
    let ran = Ran::from(command.stderr(Stdio::piped()).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn events(stage: &Stage, ran: &Ran) -> Vec<Event> {
    let session = ran.json()["session"].as_str().unwrap().to_owned();
    let lines = Journal::read(&stage.path("state/locum/sessions").join(session)).unwrap();
    lines.into_iter().map(|line| line.event).collect()
}

fn answers(stage: &Stage, ran: &Ran) -> Vec<String> {
    let of = |event| match event {
        Event::Answered { tool, observation, .. } if tool == "codebase_search" => {
            Some(observation.text)
        }
        _ => None,
    };
    events(stage, ran).into_iter().filter_map(of).collect()
}

/// Returns how many texts were embedded for each search, with the dollars.
fn embedded(stage: &Stage, ran: &Ran) -> Vec<(usize, f64)> {
    let of = |event| match event {
        Event::ModelUsed { by, what, charge, .. } if by == "near" => {
            assert!(!charge.estimated, "{charge:?}");
            let (count, what) = what.split_once(' ').unwrap();
            assert!(["text embedded", "texts embedded"].contains(&what), "{what}");
            Some((count.parse().unwrap(), charge.cost_usd))
        }
        _ => None,
    };
    events(stage, ran).into_iter().filter_map(of).collect()
}

#[test]
fn places_are_found_that_have_no_word_of_the_query() {
    let (stage, mut server) = (Stage::with(FILES), server());
    let queries =
        ["{ query: when is it stale }", "{ query: jitter, path: src }", "{ query: token }"];
    let ran = search(&stage, &server, &queries, &[]);
    let answers = answers(&stage, &ran);
    let files = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
    };
    assert_eq!(files(&answers[0])[..2], ["docs/keys.md", "src/lib.rs"], "{}", answers[0]);
    let place = "# src/lib.rs\n4-6 | pub fn expiry(&self) -> u64 {\n";
    assert!(answers[0].contains(place), "{}", answers[0]);
    assert_eq!(files(&answers[1])[0], "src/retry.py", "{}", answers[1]);
    assert_eq!(files(&answers[2])[0], "src/lib.rs", "words count, too: {}", answers[2]);
    assert!(answers.iter().all(|answer| !answer.contains("src/secret.rs")), "{answers:?}");
    // The first search has every chunk embedded, the others the query alone; the run pays.
    let embedded = embedded(&stage, &ran);
    let counts: Vec<usize> = embedded.iter().map(|(count, _)| *count).collect();
    assert!(counts[0] > 5 && counts[1..] == [1, 1], "{counts:?}");
    let dollars: f64 = embedded.iter().map(|(_, cost)| cost).sum();
    let total = f64::from(u32::try_from(counts.iter().sum::<usize>()).unwrap());
    assert!((dollars - total / 1000.0).abs() < 1e-9, "{dollars}");
    assert!((ran.json()["spent"]["cost_usd"].as_f64().unwrap() - dollars).abs() < 1e-9, "{ran:?}");
    let cost = stage.run(&["cost", "--by", "model", "--json"]);
    assert!(cost.out.contains("\"near\""), "{cost:?}");
    assert!(ran.err.contains("model   near · "), "{}", ran.err);
    // Neither what may not be read nor a secret is sent.
    let sent: Vec<String> = server.asked().iter().flat_map(texts).collect();
    assert!(
        sent.iter().all(|text| !text.contains("password()") && !text.contains(KEY)),
        "{sent:?}"
    );
    assert!(sent.iter().any(|text| text.contains("The session ends after")), "{sent:?}");
}

#[test]
fn what_is_known_is_kept_and_an_edit_is_embedded_anew() {
    let (stage, mut server) = (Stage::with(FILES), server());
    let query = ["{ query: stale }"];
    search(&stage, &server, &query, &[]);
    let first: usize = server.asked().iter().map(|asked| texts(asked).len()).sum();
    let again = search(&stage, &server, &query, &[]);
    assert_eq!(embedded(&stage, &again), [(1, 0.001)]);
    let edited = stage.read("checkout/src/lib.rs").replace("LIFETIME", "DEADLINE");
    stage.write("checkout/src/lib.rs", &edited);
    let third = search(&stage, &server, &query, &[]);
    assert_eq!(embedded(&stage, &third)[0].0, 2, "the query and the function that changed");
    let sent: Vec<String> = server.asked().iter().flat_map(texts).skip(first + 2).collect();
    assert!(sent.len() == 1 && sent[0].contains("DEADLINE"), "{sent:?}");
    assert_eq!(stage.names("state/locum/index").len(), 2, "words and vectors");
    // A file that is damaged is no index.
    let kept = stage.names("state/locum/index").into_iter().find(|name| name.ends_with("vectors"));
    stage.write(&format!("state/locum/index/{}", kept.unwrap()), "locum vectors 1\nx");
    let fourth = search(&stage, &server, &query, &[]);
    assert!(embedded(&stage, &fourth)[0].0 > 5, "{fourth:?}");
}

#[test]
fn where_the_model_gives_nothing_words_are_enough() {
    let stage = Stage::with(FILES);
    let server = ModelServer::start_with(|_| {
        Answer::json(400, &json!({ "error": { "message": "no such model near" } }))
    });
    let ran = search(&stage, &server, &["{ query: expiry }", "{ query: stale }"], &[]);
    let answers = answers(&stage, &ran);
    assert!(answers[0].contains("# src/lib.rs\n4-6 | pub fn expiry"), "{}", answers[0]);
    let note = "(By words alone: model `near` refused the request (400): no such model near.)";
    assert!(answers.iter().all(|answer| answer.contains(note)), "{answers:?}");
    assert!(answers[1].starts_with("No word of the query is in any of "), "{}", answers[1]);
    assert_eq!(embedded(&stage, &ran), []);
}

#[test]
fn no_part_of_a_secret_is_sent_wherever_a_text_is_cut() {
    let token = format!("ghp_{}", "aB3dE6".repeat(6));
    let long = format!("static LONG: &str = \"{} {token} end\";\n", "x".repeat(4096 - 30));
    let key: String =
        (0..80).map(|line| format!("MIIEvQIBADANBgkqhkiG{line:02}w0BAQEF\n")).collect();
    let key = format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n");
    let price = CONFIG.replace("input: 1000", "input: 1");
    let mut files = [FILES, &[("src/long.rs", &long), ("src/key.txt", &key)]].concat();
    files[1].1 = &price;
    let (stage, mut server) = (Stage::with(&files), server());
    search(&stage, &server, &["{ query: stale }"], &[]);
    let sent: Vec<String> = server.asked().iter().flat_map(texts).collect();
    assert!(sent.iter().any(|text| text.contains("static LONG")), "{sent:?}");
    let leaks = |text: &&String| text.contains("ghp_") || text.contains("MIIEvQIBADANBgkqhkiG");
    assert_eq!(sent.iter().find(leaks), None);
}

#[test]
fn what_was_asked_before_a_failure_is_paid_for_and_nothing_is_asked_after_it() {
    let price = CONFIG.replace("input: 1000", "input: 1");
    let long: String = (0..2000).map(|n| format!("fn f{n}() {{\n    g({n});\n}}\n\n")).collect();
    let mut files = [FILES, &[("src/long.rs", long.as_str())]].concat();
    files[1].1 = &price;
    let stage = Stage::with(&files);
    let mut requests = 0;
    let mut server = ModelServer::start_with(move |asked| {
        requests += 1;
        // The query is the first.
        if requests == 2 {
            return Answer::json(400, &json!({ "error": { "message": "no more" } }));
        }
        embeddings(asked)
    });
    let ran = search(&stage, &server, &["{ query: stale }"], &[]);
    let asked: Vec<usize> = server.asked().iter().map(|asked| texts(asked).len()).collect();
    // Out of 32: how many more are asked until the refusal arrives is for the machine to say.
    assert!(asked.len() < 20, "those under way, and no other: {asked:?}");
    let answered = asked.iter().sum::<usize>() - asked[1];
    assert_eq!(embedded(&stage, &ran)[0].0, answered, "{asked:?}");
    let answer = &answers(&stage, &ran)[0];
    assert!(answer.contains("known by meaning, not more: model `near` refused"), "{answer}");
}

#[test]
fn a_search_spends_a_tenth_of_the_budget_at_most() {
    let stage = Stage::with(FILES);
    let long: String =
        (0..200).map(|n| format!("fn f{n}() {{\n    expiry({n});\n}}\n\n")).collect();
    stage.write("checkout/src/long.rs", &long);
    let server = server();
    let ran = search(&stage, &server, &["{ query: stale }"], &["--max-cost-usd", "9"]);
    let answers = answers(&stage, &ran);
    let note = "not more: searches of one reply may spend a tenth of what is left of the budget.)";
    assert!(answers[0].contains(note), "{}", answers[0]);
    let spent = ran.json()["spent"]["cost_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent < 0.9, "{spent}");
}

#[test]
fn a_profile_that_embeds_nothing_is_named_before_the_run() {
    let config = CONFIG.replace("near: { model", "near: { provider: anthropic, model");
    let mut files = FILES.to_vec();
    files[1].1 = &config;
    let stage = Stage::with(&files);
    stage.write("checkout/.locum/play.yml", "version: 1\ntasks: [{ turns: [{ say: hello }] }]\n");
    stage.commit("the script");
    let ran = stage.run(&["run", "Look.", "--dry-run"]);
    let note = "code is found by words alone: model `near`";
    assert!(ran.out.contains(note) && ran.out.contains("`provider: anthropic`"), "{ran:?}");
    let stage = Stage::with(FILES);
    let listed = stage.locum(&["models", "list", "--json"]).env("OPENAI_API_KEY", KEY).output();
    let rows = Ran::from(listed.unwrap()).json();
    let near = rows.as_array().unwrap().iter().find(|row| row["name"] == "near").unwrap();
    assert_eq!(near["used_for"], json!(["embed"]), "{rows}");
}
