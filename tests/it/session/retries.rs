//! Requests that break again and again: each attempt has to fit what may be spent.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_agent::session::recorded::ReplyCharge;
use locum_models::profile::Price;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY};

/// Most attempts of a request.
const ATTEMPTS: u32 = 5;

/// A model whose every reply breaks after so many letters.
struct BreakingModel {
    letters: usize,
    sent: AtomicU32,
}

impl Model for BreakingModel {
    fn label(&self) -> &'static str {
        "breaking"
    }

    fn stream<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxStream<'a, Result<Delta, ModelError>> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let cut = ModelError::Unavailable {
            model: "breaking".to_owned(),
            message: "the stream broke off".to_owned(),
            retry_after: None,
        };
        let text = "x".repeat(self.letters);
        stream::iter([Ok(Delta::Accepted), Ok(Delta::Text(text)), Err(cut)]).boxed()
    }
}

/// Runs against a model that costs a dollar for 40,000 letters and nothing for what it reads;
/// returns the outcome, how often it was asked, and what was charged for that.
fn run(budget: &str, letters: usize) -> (Outcome, u32, Vec<ReplyCharge>) {
    let mut fixture = Fixture::with_policy("", &format!("{POLICY}budget: {{ {budget} }}\n"));
    fixture.price = Some(Price { input: 0.0, output: 100.0, ..Price::default() });
    fixture.attempts = ATTEMPTS;
    let model = BreakingModel { letters, sent: AtomicU32::new(0) };
    let journal = Journal::create(&fixture.journal).unwrap();
    let ran = fixture.run_with(&model, usize::MAX, journal, None).unwrap();
    let charges = ran.lines.into_iter().filter_map(|line| match line.event {
        Event::ReplyLost { charge, .. } => Some(charge),
        _other => None,
    });
    (ran.outcome, model.sent.into_inner(), charges.collect())
}

#[test]
fn no_attempt_begins_that_the_budget_has_no_room_for() {
    for (budget, word, attempts) in [
        ("cost_usd: 0.50", OutcomeWord::BudgetExhausted, 1),
        ("cost_usd: 1.50", OutcomeWord::BudgetExhausted, 2),
        ("cost_usd: 4.00", OutcomeWord::BudgetExhausted, 4),
        ("cost_usd: 9.00", OutcomeWord::Failed, ATTEMPTS),
    ] {
        let (outcome, sent, charges) = run(budget, 40_000);
        assert_eq!((outcome.word, sent), (word, attempts), "{budget}: {:?}", outcome.reason);
        assert_eq!(charges.len(), usize::try_from(attempts).unwrap(), "{budget}");
        let spent: f64 = charges.iter().map(|charge| charge.cost_usd).sum();
        assert!((outcome.spent.cost_usd - spent).abs() < 1e-9, "{budget}: {spent}");
        let reason = outcome.reason.unwrap();
        let is_named = reason.contains("budget of") && reason.contains("cost_usd");
        assert_eq!(is_named, word == OutcomeWord::BudgetExhausted, "{reason}");
    }
}

#[test]
fn an_attempt_that_broke_before_its_first_word_is_charged_what_it_read() {
    let (outcome, sent, charges) = run("cost_usd: 1.00", 0);
    assert_eq!((outcome.word, sent), (OutcomeWord::Failed, ATTEMPTS));
    assert_eq!(charges.len(), 5);
    for ReplyCharge { usage, estimated, .. } in charges {
        assert!(estimated && usage.input > 100 && usage.output == 0, "{usage:?}");
    }
    assert!(outcome.spent_is_estimate);
}
