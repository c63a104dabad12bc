//! Benchmarks of the adapters: what a request costs by the length of its conversation, what a
//! streamed reply costs by its pieces, and how much of a request is the beginning of the next one;
//! and what it costs to estimate the tokens of a text.
//!
//! Each adapter talks to a server on 127.0.0.1 in its own protocol. Time is that of the processor
//! for the thread that asks, so that the server's own work is not in it. Figures are printed, never
//! asserted.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the table is the result")]

mod figures;
#[path = "../it/models/protocol.rs"]
#[expect(dead_code, reason = "the tests' own faults are not measured")]
mod protocol;
#[path = "../it/support/mod.rs"]
#[expect(dead_code, reason = "the tests' own needs are not measured")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use figures::Figure;
use futures::StreamExt;
use locum_base::chat::{Message, ToolCall, ToolResult, ToolSpec};
use locum_base::id::TaskId;
use locum_models::build::build;
use locum_models::profile::{ModelSettings, Provider};
use locum_models::resolve::{ModelFacts, resolve};
use locum_models::tokens::Tokenizer;
use locum_models::{EarlierTurns, Model, ModelRequest, RequestEstimate};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use support::model_server::{Answer, ModelServer, Piece};

/// Bytes of one answer of a tool: a file of fifty lines.
const ANSWER_BYTES: usize = 2500;
/// What asks Anthropic's cache to remember, as it is written; it moves from turn to turn and is no
/// part of what is remembered.
const CACHE_MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// Requests of which the median counts.
const REQUESTS: usize = 15;

fn main() {
    let parts: [(&str, fn()); 4] =
        [("requests", requests), ("pieces", pieces), ("prefix", prefix), ("tokens", tokens)];
    parts.iter().filter(|(name, _)| figures::wanted(name)).for_each(|(_, measure)| measure());
}

/// A request of few and of many turns.
fn requests() {
    figures::heading("A request and its reply, by turns of the conversation: processor");
    for provider in protocol::ALL {
        for turns in [10, 100, 1000] {
            let mut server = ModelServer::start(vec![protocol::stream(&protocol::words(provider))]);
            let (asker, messages) = (Asker::new(provider, &server), conversation(turns));
            let times: Vec<Duration> = (0..REQUESTS).map(|_| asker.ask(&messages)).collect();
            let bytes = server.asked().last().unwrap().body.len();
            let label =
                format!("{}, {turns} turns, {:.2} MB", provider.as_str(), bytes as f64 / 1e6);
            figures::plain(&label, Figure::Time(figures::median(&times)));
        }
    }
}

/// A reply in one piece and in ten thousand.
fn pieces() {
    const PIECES: usize = 10_000;
    figures::heading("A reply in 10,000 pieces, twenty a packet: processor");
    for provider in protocol::ALL {
        let time = |pieces: usize| {
            let server = ModelServer::start(vec![many(provider, pieces)]);
            let (asker, messages) = (Asker::new(provider, &server), conversation(1));
            figures::median(&(0..REQUESTS).map(|_| asker.ask(&messages)).collect::<Vec<_>>())
        };
        figures::plain(provider.as_str(), Figure::Time(time(PIECES).saturating_sub(time(1))));
    }
}

/// How much of each request is the beginning of the next.
fn prefix() {
    const TURNS: usize = 100;
    figures::heading("Bytes of a request that the next one begins with, %");
    for provider in protocol::ALL {
        let mut server = ModelServer::start(vec![protocol::stream(&protocol::words(provider))]);
        let asker = Asker::new(provider, &server);
        for turns in 1..=TURNS {
            asker.ask(&conversation(turns));
        }
        let sent: Vec<String> = server.asked().iter().map(|asked| asked.body.clone()).collect();
        let unmarked: Vec<String> = sent.iter().map(|body| body.replace(CACHE_MARK, "")).collect();
        let mut told = vec![("as sent", &sent)];
        if sent != unmarked {
            told.push(("marks for the cache left out", &unmarked));
        }
        for (how, bodies) in told {
            let share =
                |pair: &[String]| 100.0 * common(&pair[0], &pair[1]) as f64 / pair[0].len() as f64;
            let shares: Vec<f64> = bodies.windows(2).map(share).collect();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            figures::plain(
                &format!("{}, {TURNS} turns, {how}: mean", provider.as_str()),
                Figure::Number(mean),
            );
            figures::plain(
                &format!("{}, {TURNS} turns, {how}: last", provider.as_str()),
                Figure::Number(shares[shares.len() - 1]),
            );
        }
    }
}

/// Estimates of a megabyte of source, and of what is worst for a tokenizer: one word without end.
fn tokens() {
    const BYTES: usize = 1_000_000;
    figures::heading("Tokens of a megabyte, estimated: processor");
    let source =
        concat!(include_str!("models.rs"), include_str!("route.rs"), include_str!("floors.rs"));
    let hashes = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";
    for (what, unit) in [
        ("source", source),
        ("hashes", hashes),
        ("one letter", "a"),
        ("spaces", " "),
        ("Chinese", "你好世界这是一个很长的句子"),
    ] {
        let text = unit.repeat(BYTES.div_ceil(unit.len()));
        for tokenizer in Tokenizer::ALL {
            let times: Vec<Duration> = (0..REQUESTS).map(|_| estimate(tokenizer, &text)).collect();
            figures::plain(
                &format!("{what}, {}", tokenizer.as_str()),
                Figure::Time(figures::median(&times)),
            );
        }
    }
}

fn estimate(tokenizer: Tokenizer, text: &str) -> Duration {
    let began = processor_time();
    assert!(tokenizer.tokens(text) > 0);
    processor_time().saturating_sub(began)
}

/// A model and what is needed to ask it.
struct Asker {
    model: Box<dyn Model>,
    tools: Vec<ToolSpec>,
    runtime: tokio::runtime::Runtime,
}

impl Asker {
    fn new(provider: Provider, server: &ModelServer) -> Self {
        let settings = ModelSettings {
            profiles: BTreeMap::from([(
                "bench".to_owned(),
                protocol::profile(provider, &server.base_url),
            )]),
            ..ModelSettings::default()
        };
        let env = BTreeMap::from([("TEST_KEY".to_owned(), "key-of-a-benchmark".to_owned())]);
        let facts = ModelFacts { env: &env, asked: None, from_repository: &BTreeSet::new() };
        let model = build(&resolve(&settings, &facts).unwrap().main, None).unwrap();
        let parameters = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let tools = (0..15).map(|number| ToolSpec {
            name: format!("tool_{number}"),
            description: "Does what a tool of its kind does, with a path of the checkout."
                .repeat(5),
            parameters: parameters.clone(),
        });
        Self {
            model,
            tools: tools.collect(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Asks once; returns the processor time of this thread.
    fn ask(&self, messages: &[Message]) -> Duration {
        let request = ModelRequest {
            system: "You are asked for a benchmark.",
            messages,
            tools: &self.tools,
            max_output_tokens: None,
            temperature: None,
            task: TaskId(0),
            mode: "code",
            turn: 0,
            picture: None,
            earlier: EarlierTurns::default(),
            estimate: RequestEstimate::default(),
        };
        let began = processor_time();
        self.runtime.block_on(
            self.model.stream(request).for_each(|delta| async move { drop(delta.unwrap()) }),
        );
        processor_time().saturating_sub(began)
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// A conversation of so many calls, each answered.
fn conversation(turns: usize) -> Vec<Message> {
    let answer = "    let total = items.iter().map(|item| item.price).sum::<u64>(); // \"in \
                  cents\"\n"
        .repeat(ANSWER_BYTES / 80);
    let turn = |turn: usize| {
        let id = format!("call-{turn}");
        let arguments = json!({ "path": format!("src/file{turn}.rs") }).to_string();
        let call = ToolCall { id: id.clone(), name: "tool_1".to_owned(), arguments };
        let result = ToolResult { call_id: id, text: answer.clone(), ..ToolResult::default() };
        [
            Message::Assistant {
                text: "I look.".to_owned(),
                reasoning: String::new(),
                calls: vec![call],
                opaque: None,
            },
            Message::Tool { results: vec![result] },
        ]
    };
    std::iter::once(Message::User { text: "Do the thing.".to_owned() })
        .chain((0..turns).flat_map(turn))
        .collect()
}

/// A reply in so many pieces.
fn many(provider: Provider, pieces: usize) -> Answer {
    let events = protocol::words(provider);
    let words = events.iter().position(|event| event.contains("\"hi\"")).unwrap();
    let (before, after) = events.split_at(words);
    let all: Vec<&String> =
        before.iter().chain(std::iter::repeat_n(&after[0], pieces)).chain(&after[1..]).collect();
    // Many events a packet, as a fast server sends them.
    let packets = all.chunks(20).map(|events| {
        Piece::Bytes(
            events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into(),
        )
    });
    Answer { pieces: packets.collect(), ..protocol::stream(&[]) }
}

/// Returns how many bytes two texts begin with alike.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}
