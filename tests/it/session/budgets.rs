//! What a request may cost: at the price of the model that is asked, with a reply no longer than
//! what is left pays.

use std::sync::Mutex;

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_agent::session::model::Fallback;
use locum_base::chat::{StopReason, Usage};
use locum_models::fallback::{FallbackChain, FallbackModel};
use locum_models::profile::Price;
use locum_models::reply_bounds::ReplyBounds;
use locum_models::tokens::Tokenizer;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY, Ran};

/// Reads file after file, and counts the same for each reply; one that is limited is as long as it
/// may get.
struct Reader {
    label: &'static str,
    usage: Usage,
    /// Whether it answers at all.
    is_up: bool,
    /// The limits of the requests it was sent.
    limits: Mutex<Vec<Option<u32>>>,
}

impl Reader {
    fn new(label: &'static str, usage: Usage) -> Self {
        Self { label, usage, is_up: true, limits: Mutex::default() }
    }

    fn sent(&self) -> Vec<Option<u32>> {
        self.limits.lock().unwrap().clone()
    }
}

impl Model for &'static Reader {
    fn label(&self) -> &str {
        self.label
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        self.limits.lock().unwrap().push(request.max_output_tokens);
        if !self.is_up {
            let model = self.label.to_owned();
            let message = "busy".to_owned();
            return stream::iter([Err(ModelError::Unavailable {
                model,
                message,
                retry_after: None,
            })])
            .boxed();
        }
        let limit = request.max_output_tokens.map_or(u64::MAX, u64::from);
        let usage = Usage { output: self.usage.output.min(limit), ..self.usage };
        let call = Delta::Call {
            index: 0,
            id: Some(format!("call-{}", request.turn)),
            name: Some("read_file".to_owned()),
            arguments: format!(r#"{{"path":"src/long.txt","start_line":{}}}"#, request.turn + 1),
        };
        let deltas = if self.usage.output > limit {
            vec![
                Delta::Text("It is".to_owned()),
                Delta::Usage(usage),
                Delta::Stop(StopReason::Length),
            ]
        } else {
            vec![call, Delta::Usage(usage), Delta::Stop(StopReason::ToolUse)]
        };
        stream::iter(deltas.into_iter().map(Ok)).boxed()
    }
}

/// A model that lives as long as the tests do.
fn reader(label: &'static str, usage: Usage) -> &'static Reader {
    Box::leak(Box::new(Reader::new(label, usage)))
}

fn away(label: &'static str) -> &'static Reader {
    Box::leak(Box::new(Reader { is_up: false, ..Reader::new(label, Usage::default()) }))
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn fixture(budget: &str, price: Price) -> Fixture {
    let mut fixture = Fixture::with_policy("", &format!("{POLICY}budget: {{ {budget} }}\n"));
    std::fs::write(fixture.root.join("src/long.txt"), "a line\n".repeat(100)).unwrap();
    fixture.price = Some(price);
    fixture.window = Some(2_000_000);
    fixture
}

fn run(fixture: &Fixture, model: &dyn Model) -> Ran {
    fixture.run_with(model, usize::MAX, Journal::create(&fixture.journal).unwrap(), None).unwrap()
}

/// Runs a chain of two models; a dollar pays 10,000 tokens of the second one.
fn run_chain(budget: &str, first: &'static Reader, second: &'static Reader) -> Ran {
    let mut fixture = fixture(budget, Price::default());
    fixture.attempts = 5;
    fixture.fallbacks = vec![Fallback {
        label: second.label.to_owned(),
        price: Some(Price { input: 1.0, output: 100.0, ..Price::default() }),
        tokenizer: Tokenizer::Bytes,
        context_window: 2_000_000,
        reply: ReplyBounds::default(),
    }];
    let link = |model: &'static Reader| FallbackModel {
        model: Box::new(model),
        context_window: 2_000_000,
    };
    let chain = FallbackChain::new(vec![link(first), link(second)]).unwrap();
    run(&fixture, &chain)
}

#[test]
fn a_reply_gets_no_longer_than_what_is_left_pays() {
    let price = Price { input: 1.0, output: 100.0, ..Price::default() };
    let model = reader("long", usage(1000, 32_000));
    let ran = run(&fixture("cost_usd: 1.00", price), &model);
    assert_eq!(ran.word(), "budget-exhausted", "{}", ran.reason());
    assert!(ran.reason().contains("budget of 1.00 cost_usd"), "{}", ran.reason());
    let spent = ran.outcome.spent.cost_usd;
    assert!(spent > 0.85 && spent <= 1.0, "{spent}");
    let sent = model.sent();
    let limit = sent[0].unwrap();
    assert!(limit < 10_000, "a dollar pays ten thousand: {sent:?}");
    assert!(sent.iter().all(|limit| limit.is_some_and(|limit| limit >= 1024)), "{sent:?}");
    let is_reminded = ran.lines.iter().any(|line| {
        matches!(&line.event, Event::Reminded { text, .. }
            if text.contains("what was left of the budget"))
    });
    assert!(is_reminded, "the model reads why its reply was cut");
}

#[test]
fn a_reply_is_limited_by_what_is_left_of_the_tokens_too() {
    let model = reader("long", usage(1000, 60_000));
    let ran = run(&fixture("tokens: 40k", Price::default()), &model);
    assert_eq!(ran.word(), "budget-exhausted", "{}", ran.reason());
    assert!(ran.outcome.spent.usage.total() <= 40_000, "{:?}", ran.outcome.spent);
    // With enough left, nothing is limited that its profile does not limit.
    let model = reader("short", usage(1000, 100));
    run(&fixture("tokens: 20M, turns: 3", Price::default()), &model);
    assert_eq!(model.sent(), [None, None, None]);
}

#[test]
fn a_request_that_leaves_no_room_for_a_reply_is_not_sent() {
    let price = Price { input: 0.0, output: 100.0, ..Price::default() };
    for (budget, requests) in [("cost_usd: 0.10", 0), ("cost_usd: 0.11", 1)] {
        let model = reader("long", usage(0, 32_000));
        let ran = run(&fixture(budget, price), &model);
        assert_eq!((ran.word(), model.sent().len()), ("budget-exhausted", requests), "{budget}");
    }
}

#[test]
fn a_fallback_is_asked_at_its_own_price_or_not_at_all() {
    let dear = reader("dear", usage(1000, 100));
    let ran = run_chain("cost_usd: 0.05, turns: 3", away("cheap"), dear);
    assert_eq!((ran.word(), dear.sent()), ("budget-exhausted", vec![]), "{}", ran.reason());
    assert!(ran.reason().contains("budget of 0.05 cost_usd"), "{}", ran.reason());
    assert!(ran.reason().contains("model `dear`"), "{}", ran.reason());
    assert_eq!(ran.outcome.spent.cost_usd, 0.0);
    let dear = reader("dear", usage(1000, 100));
    let ran = run_chain("cost_usd: 2.00, turns: 3", away("cheap"), dear);
    assert_eq!(dear.sent().len(), 3, "{}", ran.reason());
    assert!(dear.sent().iter().all(|limit| limit.is_some_and(|limit| limit < 20_000)));
}

#[test]
fn only_what_a_provider_said_it_cached_counts_as_cached() {
    let price = Price { input: 5.0, output: 0.0, cached_read: Some(0.5), ..Price::default() };
    let uncached = reader("uncached", usage(100_000, 10));
    let ran = run(&fixture("cost_usd: 1.25", price), &uncached);
    assert_eq!((ran.word(), uncached.sent().len()), ("budget-exhausted", 2), "{}", ran.reason());
    assert!(ran.outcome.spent.cost_usd <= 1.25);
    let cached = Usage { cached_read: 99_000, ..usage(100_000, 10) };
    let cached = reader("cached", cached);
    let ran = run(&fixture("cost_usd: 1.25, turns: 9", price), &cached);
    assert_eq!(cached.sent().len(), 9, "{}", ran.reason());
}
