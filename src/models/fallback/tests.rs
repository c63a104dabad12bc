//! When the next model of a chain is asked, and when the first again.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use futures::stream::{self, BoxStream, StreamExt};
use pretty_assertions::assert_eq;

use super::{FAILURES, FallbackChain, FallbackModel, STAY_REQUESTS};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::StopReason;

/// Fails as often as set, then answers with its name.
struct FailingModel(&'static str, AtomicUsize, fn(String) -> ModelError);

impl Model for FailingModel {
    fn label(&self) -> &str {
        self.0
    }
    fn stream<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxStream<'a, Result<Delta, ModelError>> {
        let left = self.1.load(Ordering::Relaxed);
        if left > 0 {
            self.1.store(left - 1, Ordering::Relaxed);
            return stream::iter([
                Ok(Delta::Text("half".into())),
                Err((self.2)(self.0.to_owned())),
            ])
            .boxed();
        }
        stream::iter([Ok(Delta::Text(self.0.to_owned())), Ok(Delta::Stop(StopReason::End))]).boxed()
    }
}

fn unavailable(model: String) -> ModelError {
    ModelError::Unavailable { model, message: "busy".into(), retry_after: None }
}

fn too_long(model: String) -> ModelError {
    ModelError::TooLong { model, message: "long".into() }
}

/// A model by name, how often it fails and how, and its window.
type FailingSetup = (&'static str, usize, fn(String) -> ModelError, u32);

fn chain(links: &[FailingSetup]) -> FallbackChain {
    let link = |(name, failures, err, context_window): &FailingSetup| FallbackModel {
        model: Box::new(FailingModel(name, AtomicUsize::new(*failures), *err)),
        context_window: *context_window,
    };
    FallbackChain::new(links.iter().map(link).collect()).unwrap()
}

/// Returns who answers one attempt, by the reply's words and by its label.
fn ask(chain: &FallbackChain) -> Result<(String, Option<String>), ModelError> {
    let request = ModelRequest::with(&[]);
    let (mut words, mut by) = (String::new(), None);
    for delta in block_on(chain.stream(request).collect::<Vec<_>>()) {
        match delta? {
            Delta::Text(text) => words.push_str(&text),
            Delta::By(label) => by = Some(label),
            Delta::Restart => (words, by) = (String::new(), None),
            Delta::Reasoning(_)
            | Delta::Call { .. }
            | Delta::Image(_)
            | Delta::Opaque(_)
            | Delta::Fixed
            | Delta::Usage(_)
            | Delta::Stop(_) => {}
        }
    }
    Ok((words, by))
}

fn said(name: &str, stands_in: bool) -> Result<(String, Option<String>), ModelError> {
    Ok((name.to_owned(), stands_in.then(|| name.to_owned())))
}

#[test]
fn the_next_is_asked_after_failures_in_a_row_and_stays_for_a_while() {
    let chain = chain(&[("one", FAILURES, unavailable, 10), ("two", 0, unavailable, 10)]);
    for _ in 1..FAILURES {
        assert_eq!(ask(&chain), Err(unavailable("one".into())), "once is no outage");
    }
    for _ in 0..=STAY_REQUESTS {
        assert_eq!(ask(&chain), said("two", true));
    }
    assert_eq!(ask(&chain), said("one", false));
}

#[test]
fn what_is_too_long_goes_to_a_larger_window_or_nowhere() {
    assert_eq!(
        ask(&chain(&[
            ("one", 1, too_long, 10),
            ("two", 0, too_long, 10),
            ("three", 0, too_long, 20)
        ])),
        said("three", true)
    );
    assert_eq!(
        ask(&chain(&[("one", 1, too_long, 10), ("two", 0, too_long, 10)])),
        Err(too_long("one".into()))
    );
}

#[test]
fn an_empty_account_is_passed_over_and_a_wrong_key_is_not() {
    let poor = |model: String| ModelError::Rejected { model, status: 429, message: "quota".into() };
    let wrong = |model: String| ModelError::Unauthorized { model, message: "who".into() };
    assert_eq!(ask(&chain(&[("one", 1, poor, 10), ("two", 0, poor, 10)])), said("two", true));
    assert_eq!(
        ask(&chain(&[("one", 1, wrong, 10), ("two", 0, wrong, 10)])),
        Err(wrong("one".into()))
    );
}

#[test]
fn the_last_ones_failure_is_everyones() {
    let chain = chain(&[("one", 9, unavailable, 10), ("two", 9, unavailable, 10)]);
    assert!(ask(&chain).is_err());
    assert_eq!(ask(&chain), Err(unavailable("two".into())), "the second is asked and fails too");
    assert_eq!(ask(&chain), Err(unavailable("two".into())));
}
