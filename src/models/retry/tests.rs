//! What is tried again, how long the pauses are, what lost attempts are charged.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;

use super::{LostAttempt, RetryLimits, StreamObserver, complete, pause_after};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Reply, StopReason, Usage};
use locum_base::clock::Clock;

type ScriptedAttempt = Vec<Result<Delta, ModelError>>;

/// Plays one attempt after the other, the last for ever.
struct ScriptedAttempts(Vec<ScriptedAttempt>, AtomicUsize);

impl Model for ScriptedAttempts {
    fn label(&self) -> &str {
        "test"
    }
    fn stream<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxStream<'a, Result<Delta, ModelError>> {
        let at = self.1.fetch_add(1, Ordering::Relaxed).min(self.0.len() - 1);
        stream::iter(self.0[at].clone()).boxed()
    }
}

struct RetryOutcome {
    reply: Result<Reply, ModelError>,
    lost: Vec<LostAttempt>,
    attempts: usize,
    waited: Duration,
    seen: Vec<Delta>,
}

const LIMITS: RetryLimits = RetryLimits {
    attempts: 5,
    base: Duration::from_secs(1),
    longest: Duration::from_secs(30),
    total: Duration::from_secs(100),
};

fn run(attempts: Vec<ScriptedAttempt>, limits: RetryLimits) -> RetryOutcome {
    let model = ScriptedAttempts(attempts, AtomicUsize::new(0));
    let clock = TestClock::default();
    let request = ModelRequest::with(&[]);
    let mut seen = Vec::new();
    let mut lost = Vec::new();
    let observer = StreamObserver { watch: &mut |delta| seen.push(delta.clone()), lost: &mut lost };
    let reply = block_on(complete(&model, request, limits, &clock, observer));
    RetryOutcome { reply, lost, attempts: model.1.into_inner(), waited: clock.elapsed(), seen }
}

fn unavailable(retry_after: Option<u64>) -> ModelError {
    ModelError::Unavailable {
        model: "test".into(),
        message: "busy".into(),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

fn whole(text: &str) -> ScriptedAttempt {
    vec![Ok(Delta::Text(text.into())), Ok(Delta::Stop(StopReason::End))]
}

#[test]
fn tries_again_after_passing_faults() {
    let outcome = run(
        vec![vec![Err(unavailable(None))], vec![Ok(Delta::Text("half".into()))], whole("hello")],
        LIMITS,
    );
    assert_eq!((outcome.reply.unwrap().text.as_str(), outcome.attempts), ("hello", 3));
    assert!((1500..=3000).contains(&outcome.waited.as_millis()), "{:?}", outcome.waited);
    let text = |text: &str| Delta::Text(text.into());
    assert_eq!(
        outcome.seen,
        [Delta::Restart, text("half"), Delta::Restart, text("hello"), Delta::Stop(StopReason::End)]
    );
}

#[test]
fn counts_what_broken_attempts_used_up() {
    let usage = Usage { input: 900, output: 3, ..Usage::default() };
    let said =
        vec![Ok(Delta::Usage(usage)), Ok(Delta::Text("half of it".into())), Err(unavailable(None))];
    let stood_in = vec![
        Ok(Delta::By("b".into())),
        Ok(Delta::Text("12345678".into())),
        Ok(Delta::Restart),
        Err(unavailable(None)),
    ];
    let outcome = run(vec![vec![Err(unavailable(None))], said, stood_in, whole("hello")], LIMITS);
    assert!(outcome.reply.is_ok());
    let expected = [
        LostAttempt { by: None, usage: Some(usage), text: "half of it".into(), other_tokens: 0 },
        LostAttempt { by: Some("b".into()), usage: None, text: "12345678".into(), other_tokens: 0 },
    ];
    assert_eq!(outcome.lost, expected, "an attempt that nothing came of costs nothing");
    assert_eq!(run(vec![whole("hello")], LIMITS).lost, []);
}

#[test]
fn counts_what_had_come_when_nobody_waits_any_more() {
    struct HaltingModel;
    impl Model for HaltingModel {
        fn label(&self) -> &str {
            "test"
        }
        fn stream<'a>(
            &'a self,
            _request: ModelRequest<'a>,
        ) -> BoxStream<'a, Result<Delta, ModelError>> {
            stream::iter([Ok(Delta::Text("half of it".into()))]).chain(stream::pending()).boxed()
        }
    }
    let (clock, mut lost) = (TestClock::default(), Vec::new());
    let request = ModelRequest::with(&[]);
    let observer = StreamObserver { watch: &mut |_| {}, lost: &mut lost };
    assert!(complete(&HaltingModel, request, LIMITS, &clock, observer).now_or_never().is_none());
    assert_eq!(lost.iter().map(|lost| lost.text.as_str()).collect::<Vec<_>>(), ["half of it"]);
}

#[test]
fn keeps_nothing_of_a_broken_attempt() {
    let call = Delta::Call {
        index: 0,
        id: Some("a".into()),
        name: Some("execute_command".into()),
        arguments: "{}".into(),
    };
    let outcome = run(vec![vec![Ok(call), Err(unavailable(None))], whole("hello")], LIMITS);
    assert_eq!(
        outcome.reply.unwrap(),
        Reply { text: "hello".into(), stop: StopReason::End, ..Reply::default() }
    );
}

#[test]
fn does_not_try_again_what_will_not_pass() {
    let model = String::from("test");
    for err in [
        ModelError::Unauthorized { model: model.clone(), message: String::new() },
        ModelError::Rejected { model: model.clone(), status: 400, message: String::new() },
        ModelError::TooLong { model: model.clone(), message: String::new() },
        ModelError::Unreachable { model: model.clone(), message: String::new() },
        ModelError::Script { model, message: String::new() },
    ] {
        let outcome = run(vec![vec![Err(err.clone())], whole("hello")], LIMITS);
        assert_eq!((outcome.reply, outcome.attempts), (Err(err), 1));
    }
}

#[test]
fn waits_as_long_as_the_provider_asks_up_to_the_longest_pause() {
    for (asked, least, most) in [(0, 0, 0), (7, 7000, 7700), (600, 30_000, 30_000)] {
        let outcome = run(vec![vec![Err(unavailable(Some(asked)))], whole("hello")], LIMITS);
        let waited = outcome.waited.as_millis();
        assert!((least..=most).contains(&waited), "asked {asked} s, waited {waited} ms");
    }
}

#[test]
fn gives_up_at_each_limit_and_says_how_hard_it_tried() {
    let attempts = run(vec![vec![Err(unavailable(None))]], LIMITS);
    assert_eq!(attempts.attempts, 5);
    assert!(attempts.reply.unwrap_err().to_string().contains("busy (5 attempts in "));
    let total =
        run(vec![vec![Err(unavailable(Some(25)))]], RetryLimits { attempts: 1000, ..LIMITS });
    assert!(
        total.attempts < 5 && total.waited < LIMITS.total,
        "{} attempts, {:?}",
        total.attempts,
        total.waited
    );
}

#[test]
fn a_reply_that_drips_for_ever_is_cut_off() {
    struct DrippingModel<'c>(&'c TestClock);
    impl Model for DrippingModel<'_> {
        fn label(&self) -> &str {
            "test"
        }
        fn stream<'a>(
            &'a self,
            _request: ModelRequest<'a>,
        ) -> BoxStream<'a, Result<Delta, ModelError>> {
            let drop_by_drop = stream::repeat(()).map(|()| {
                self.0.advance(Duration::from_secs(1));
                Ok(Delta::Text("drip ".into()))
            });
            drop_by_drop.boxed()
        }
    }
    let clock = TestClock::default();
    let request = ModelRequest::with(&[]);
    let observer = StreamObserver { watch: &mut |_| {}, lost: &mut Vec::new() };
    let reply = block_on(complete(&DrippingModel(&clock), request, LIMITS, &clock, observer));
    assert!(
        matches!(&reply, Err(ModelError::Unavailable { message, .. }) if message.contains("not complete after 100 s")),
        "{reply:?}"
    );
}

#[test]
fn asks_again_for_empty_replies_but_not_for_ever() {
    let empty = vec![Ok(Delta::Reasoning("hm".into())), Ok(Delta::Stop(StopReason::End))];
    let outcome = run(vec![empty.clone()], LIMITS);
    assert_eq!(outcome.attempts, 3);
    assert!(
        matches!(&outcome.reply, Err(ModelError::Garbled { message, .. }) if message.contains("empty")),
        "{:?}",
        outcome.reply
    );
    assert_eq!(run(vec![empty, whole("hello")], LIMITS).reply.unwrap().text, "hello");
}

#[test]
fn pauses_grow_and_differ() {
    let pause = |attempt, chance| {
        pause_after(&unavailable(None), attempt, LIMITS, chance).unwrap().as_millis()
    };
    let pauses: Vec<u128> = (1..=7).map(|attempt| pause(attempt, 1000)).collect();
    assert_eq!(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert_eq!((pause(1, 0), pause(1, 500), pause(u32::MAX, 0)), (500, 750, 15_000));
}

#[test]
fn ten_thousand_deltas_make_one_reply() {
    let mut attempt: ScriptedAttempt =
        (0..10_000).map(|_| Ok(Delta::Text("word ".into()))).collect();
    attempt.push(Ok(Delta::Stop(StopReason::End)));
    assert_eq!(run(vec![attempt], LIMITS).reply.unwrap().text.len(), 50_000);
}
