//! What is tried again, how long the pauses are, what lost attempts are charged.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;

use super::{LostAttempt, NextAttempt, RetryLimits, StreamObserver, complete, pause_after};
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
    run_admitted(attempts, limits, &mut |_| true)
}

fn run_admitted(
    attempts: Vec<ScriptedAttempt>,
    limits: RetryLimits,
    admit: &mut dyn FnMut(NextAttempt<'_>) -> bool,
) -> RetryOutcome {
    let model = ScriptedAttempts(attempts, AtomicUsize::new(0));
    let clock = TestClock::default();
    let request = ModelRequest::with(&[]);
    let mut seen = Vec::new();
    let mut lost = Vec::new();
    let mut watch = |delta: &Delta| seen.push(delta.clone());
    let observer = StreamObserver { watch: &mut watch, lost: &mut lost, admit };
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
fn a_server_that_cannot_be_connected_to_is_soon_given_up() {
    let limits = RetryLimits { attempts: 11, ..LIMITS };
    let refused = || ModelError::NotConnected { model: "test".to_owned(), message: "x".to_owned() };
    let outcome = run(vec![vec![Err(refused())]], limits);
    assert_eq!(outcome.attempts, 5);
    let said = outcome.reply.unwrap_err().to_string();
    assert!(said.contains("5 attempts in"), "{said}");
    let overloaded = ModelError::unavailable("test", "overloaded");
    assert!(run(vec![vec![Err(overloaded)]], limits).attempts > 5);
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
fn counts_an_attempt_that_was_taken_and_broke_before_a_word_and_not_a_refused_one() {
    let taken = vec![Ok(Delta::Accepted), Err(unavailable(None))];
    let refused =
        vec![Ok(Delta::Accepted), Ok(Delta::Usage(Usage::default())), Err(unavailable(None))];
    let outcome = run(vec![taken, refused, whole("hello")], LIMITS);
    let nothing = LostAttempt { by: None, usage: None, text: String::new(), other_tokens: 0 };
    assert_eq!((outcome.reply.is_ok(), outcome.lost), (true, vec![nothing]));
}

#[test]
fn asks_before_each_other_attempt_with_what_was_lost() {
    let half = vec![Ok(Delta::Text("half".into())), Err(unavailable(None))];
    for (most, attempts) in [(0, 1), (1, 2), (9, 4)] {
        let mut asked = Vec::new();
        let outcome = run_admitted(
            vec![half.clone(), half.clone(), half.clone(), whole("hello")],
            LIMITS,
            &mut |next| {
                asked.push(next.lost.len());
                next.lost.len() <= most
            },
        );
        assert_eq!((outcome.attempts, outcome.reply.is_ok()), (attempts, attempts == 4), "{most}");
        assert!(asked.is_sorted() && !asked.contains(&0), "{asked:?}");
    }
}

#[test]
fn asks_before_a_fallback_is_sent_the_request() {
    let by = || Ok(Delta::By("b".into()));
    let stands_in = vec![
        Ok(Delta::Text("half".into())),
        Ok(Delta::Restart),
        by(),
        Ok(Delta::Text("hello".into())),
        Ok(Delta::Stop(StopReason::End)),
    ];
    for is_admitted in [true, false] {
        let mut asked = Vec::new();
        let outcome = run_admitted(vec![stands_in.clone()], LIMITS, &mut |next| {
            asked.push((next.lost.len(), next.by.map(str::to_owned)));
            is_admitted
        });
        assert_eq!(asked, [(1, Some("b".to_owned()))]);
        assert_eq!((outcome.reply.is_ok(), outcome.attempts), (is_admitted, 1));
        assert_eq!(outcome.seen.last() == Some(&Delta::By("b".into())), !is_admitted);
    }
    // It is asked again with the price of the one that failed.
    let failed = vec![by(), Err(unavailable(None))];
    let mut asked = Vec::new();
    run_admitted(vec![failed, whole("hello")], LIMITS, &mut |next| {
        asked.push(next.by.map(str::to_owned));
        true
    });
    assert_eq!(asked, vec![Some("b".to_owned()); 3], "at first, before the pause and after it");
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
    let observer = StreamObserver { watch: &mut |_| {}, lost: &mut lost, admit: &mut |_| true };
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
        ModelError::QuotaExhausted { model: model.clone(), status: 400, message: String::new() },
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
    for (asked, least, most) in [(0, 500, 1000), (7, 7000, 7700), (600, 30_000, 30_000)] {
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

/// Says so many words, one a second, and ends or breaks.
struct SlowModel<'c>(&'c TestClock, usize, Result<Delta, ModelError>, AtomicUsize);

impl Model for SlowModel<'_> {
    fn label(&self) -> &str {
        "test"
    }
    fn stream<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxStream<'a, Result<Delta, ModelError>> {
        self.3.fetch_add(1, Ordering::Relaxed);
        let words = stream::iter(0..self.1).map(|_| {
            self.0.advance(Duration::from_secs(1));
            Ok(Delta::Text("word ".into()))
        });
        words.chain(stream::iter([self.2.clone()])).boxed()
    }
}

#[test]
fn a_reply_that_comes_slowly_is_waited_for_and_one_that_breaks_late_is_not_asked_for_again() {
    let end = || Ok(Delta::Stop(StopReason::End));
    for (seconds, last, attempts) in
        [(1000, end(), 1), (100, Err(unavailable(None)), 1), (40, Err(unavailable(None)), 3)]
    {
        let clock = TestClock::default();
        let is_whole = last.is_ok();
        let model = SlowModel(&clock, seconds, last, AtomicUsize::new(0));
        let request = ModelRequest::with(&[]);
        let observer =
            StreamObserver { watch: &mut |_| {}, lost: &mut Vec::new(), admit: &mut |_| true };
        let reply = block_on(complete(&model, request, LIMITS, &clock, observer));
        assert_eq!((reply.is_ok(), model.3.into_inner()), (is_whole, attempts), "{seconds} s");
        assert!(reply.is_err() || reply.unwrap().text.len() == 5000, "{seconds} s");
    }
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
