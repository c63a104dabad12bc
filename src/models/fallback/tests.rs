//! When the next model of a chain is asked, and when the first again.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use futures::stream::{self, BoxStream, StreamExt};
use pretty_assertions::assert_eq;

use super::{FAILURES, FallbackChain, FallbackModel, PATIENT_FAILURES, STAY_REQUESTS, limited};
use crate::reply_limits::{ReplyLimit, ReplyLimits};
use crate::{Delta, ImageRequest, Model, ModelError, ModelRequest, RequestEstimate};
use locum_base::chat::StopReason;
use locum_base::image::ImageKind;

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
    ask_for(chain, RequestEstimate::default())
}

/// The same for a request of so many tokens.
fn ask_long(chain: &FallbackChain, tokens: u64) -> Result<(String, Option<String>), ModelError> {
    ask_for(chain, RequestEstimate { input_tokens: tokens, reply_limits: None })
}

/// The same for a request whose replies may get this long.
fn ask_within<const N: usize>(
    chain: &FallbackChain,
    limits: [ReplyLimit; N],
) -> Result<(String, Option<String>), ModelError> {
    let limits = ReplyLimits::new(limits);
    ask_for(chain, RequestEstimate { input_tokens: 0, reply_limits: Some(&limits) })
}

fn ask_for(
    chain: &FallbackChain,
    estimate: RequestEstimate<'_>,
) -> Result<(String, Option<String>), ModelError> {
    let request = ModelRequest { estimate, ..ModelRequest::with(&[]) };
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
            | Delta::Accepted
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
    let empty = |model: String| ModelError::QuotaExhausted {
        model,
        status: 400,
        message: "credit balance".into(),
    };
    let wrong = |model: String| ModelError::Unauthorized { model, message: "who".into() };
    assert_eq!(ask(&chain(&[("one", 1, empty, 10), ("two", 0, empty, 10)])), said("two", true));
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

#[test]
fn a_fallback_without_room_is_asked_once_the_first_does_not_come_back() {
    let links = |failures| -> [FailingSetup; 2] {
        [("one", failures, unavailable, 200), ("two", 0, too_long, 16)]
    };
    let away_for_a_moment = chain(&links(FAILURES));
    for _ in 0..FAILURES {
        assert_eq!(ask_long(&away_for_a_moment, 100), Err(unavailable("one".into())));
    }
    assert_eq!(ask_long(&away_for_a_moment, 100), said("one", false));
    let away = chain(&links(99));
    for _ in 1..PATIENT_FAILURES {
        assert_eq!(ask_long(&away, 100), Err(unavailable("one".into())));
    }
    assert_eq!(ask_long(&away, 100), said("two", true));
    // One with room takes over at once, also where it stands behind one without.
    let third = chain(&[links(99)[0], links(0)[1], ("three", 0, too_long, 150)]);
    for _ in 1..FAILURES {
        assert!(ask_long(&third, 100).is_err());
    }
    assert_eq!(ask_long(&third, 100), said("three", true));
}

#[test]
fn what_is_too_long_for_a_fallback_goes_back_to_a_larger_window_once() {
    let links = |failures| -> [FailingSetup; 2] {
        [("one", failures, unavailable, 200), ("two", 9, too_long, 16)]
    };
    let back = chain(&links(FAILURES));
    assert!(ask(&back).is_err());
    assert_eq!(ask(&back), said("one", false), "it is up again");
    let away = chain(&links(99));
    for _ in 0..FAILURES {
        assert_eq!(ask(&away), Err(unavailable("one".into())));
    }
    assert_eq!(ask(&away), Err(too_long("two".into())), "then the conversation is to be shortened");
}

#[test]
fn a_fallback_is_asked_only_where_the_budget_covers_it() {
    use ReplyLimit::{Profile, Tokens, Unaffordable};
    let links: [FailingSetup; 3] = [
        ("one", FAILURES, unavailable, 10),
        ("two", 0, unavailable, 10),
        ("three", 0, unavailable, 10),
    ];
    let dear = |model: &str| Err(ModelError::Unaffordable { model: model.to_owned() });
    let both = chain(&links[..2]);
    for _ in 0..FAILURES {
        assert_eq!(ask_within(&both, [Profile, Unaffordable]), Err(unavailable("one".into())));
    }
    assert_eq!(ask_within(&both, [Profile, Unaffordable]), said("one", false), "it came back");
    let away = chain(&[("one", 99, unavailable, 10), links[1]]);
    for _ in 1..PATIENT_FAILURES {
        assert_eq!(ask_within(&away, [Profile, Unaffordable]), Err(unavailable("one".into())));
    }
    assert_eq!(ask_within(&away, [Profile, Unaffordable]), dear("two"));
    let third = chain(&links);
    for _ in 1..FAILURES {
        assert!(ask_within(&third, [Profile, Unaffordable, Tokens(7)]).is_err());
    }
    assert_eq!(ask_within(&third, [Profile, Unaffordable, Tokens(7)]), said("three", true));
    // The one that stays is too dear now, and the first may be back.
    assert_eq!(ask_within(&third, [Profile, Unaffordable, Unaffordable]), said("one", false));
    assert_eq!(ask_within(&third, [Unaffordable, Profile, Profile]), dear("one"));
}

#[test]
fn each_model_is_sent_its_own_limit() {
    let limits = [ReplyLimit::Tokens(2000), ReplyLimit::Profile, ReplyLimit::Unaffordable];
    let limits = ReplyLimits::new(limits);
    let estimate = RequestEstimate { input_tokens: 0, reply_limits: Some(&limits) };
    let request = ModelRequest { estimate, ..ModelRequest::with(&[]) };
    let most = |request, at| limited(request, at).map(|request| request.max_output_tokens);
    assert_eq!(most(request, 0), Some(Some(2000)));
    assert_eq!(most(request, 1), Some(None));
    assert_eq!(most(request, 2), None);
    assert_eq!(most(request, 3), Some(None), "one that nothing is known of has no limit");
    let short = ModelRequest { max_output_tokens: Some(16), ..request };
    assert_eq!((most(short, 0), most(short, 1)), (Some(Some(16)), Some(Some(16))));
    let picture = Some(ImageRequest { kind: ImageKind::Png, from: None });
    assert_eq!(most(ModelRequest { picture, ..request }, 0), Some(None), "none is cut");
}
