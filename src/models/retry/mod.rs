//! `complete`: one whole reply from a model, tried again while the fault is a passing one.
//!
//! In: a model, a request, limits, a clock. Out: a whole reply or the last error, and what broken
//! attempts used up. A reply exists only when it is whole, so nothing of a broken attempt is ever
//! executed. It does not know any provider's protocol and keeps nothing between requests.

pub(crate) mod assembly;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use futures::stream::StreamExt;
use tracing::{debug, warn};

use crate::retry::assembly::{Assembly, Incomplete};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Reply, Usage};
use locum_base::clock::Clock;

/// Answers that are no reply are asked for again at most this often; a model that keeps giving them
/// will not stop.
const GARBLED_RETRIES: u32 = 2;

/// How often and how long a request is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimits {
    /// Attempts in all.
    pub attempts: u32,
    /// First pause; doubled each time, with jitter.
    pub base: Duration,
    /// Longest pause, also for what the provider asks for.
    pub longest: Duration,
    /// Wall time in all, pauses included.
    pub total: Duration,
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self {
            attempts: 8,
            base: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            total: Duration::from_secs(20 * 60),
        }
    }
}

/// What is told while a request is under way.
pub struct Hearing<'h> {
    /// Sees every delta as it comes, `Restart` between attempts.
    pub watch: &'h mut (dyn FnMut(&Delta) + Send),
    /// Gets the attempts that broke after something of a reply had come, in order: a provider
    /// counts them. So it does the one that is under way when nobody waits for the reply any more
    /// and the request is dropped.
    pub lost: &'h mut Vec<LostAttempt>,
}

/// An attempt that broke after something of a reply had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostAttempt {
    /// The model's label, where it stood in for the one that was asked.
    pub by: Option<String>,
    /// What the provider counted, as far as it got to say.
    pub usage: Option<Usage>,
    /// What had come of a reply: its words, its reasoning and its calls.
    pub text: String,
    /// About how many tokens had come that are no text: an estimate.
    pub other_tokens: u64,
}

/// Sends a request until there is a whole reply.
///
/// # Errors
/// The last error, when it is not a passing one or the limits are reached.
pub async fn complete(
    model: &dyn Model,
    request: ModelRequest<'_>,
    limits: RetryLimits,
    clock: &dyn Clock,
    mut hearing: Hearing<'_>,
) -> Result<Reply, ModelError> {
    let started = clock.elapsed();
    let mut garbled = 0;
    let mut attempt: u32 = 1;
    loop {
        let spent = || clock.elapsed().saturating_sub(started);
        let err = match attempt_once(model, request, limits.total, &spent, &mut hearing).await {
            Ok(reply) => return Ok(reply),
            Err(err) => err,
        };
        garbled += u32::from(matches!(err, ModelError::Garbled { .. }));
        let seed = (
            request.task,
            request.turn,
            request.messages.len(),
            attempt,
            clock.now().subsec_nanosecond(),
        );
        let pause = pause_after(&err, attempt, limits, hashed(&seed));
        let Some(pause) = pause.filter(|pause| {
            attempt < limits.attempts
                && garbled <= GARBLED_RETRIES
                && spent() + *pause < limits.total
        }) else {
            return Err(if attempt > 1 {
                with_note(err, &format!("{attempt} attempts in {} s", spent().as_secs()))
            } else {
                err
            });
        };
        warn!(attempt, pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), %err, "model request is tried again");
        (hearing.watch)(&Delta::Restart);
        clock.sleep(pause).await;
        attempt += 1;
    }
}

async fn attempt_once(
    model: &dyn Model,
    request: ModelRequest<'_>,
    total: Duration,
    spent: &(dyn Fn() -> Duration + Sync),
    hearing: &mut Hearing<'_>,
) -> Result<Reply, ModelError> {
    let mut attempt = Attempt { assembly: Assembly::default(), lost: &mut *hearing.lost };
    let mut deltas = model.stream(request);
    let broken = loop {
        let delta = match deltas.next().await {
            None => break None,
            Some(Ok(delta)) => delta,
            Some(Err(err)) => break Some(err),
        };
        (hearing.watch)(&delta);
        if delta == Delta::Restart {
            attempt.lost.extend(attempt.assembly.lost());
        }
        if let Err(fault) = attempt.assembly.add(delta) {
            break Some(incomplete(model, fault));
        }
        if attempt.assembly.is_stopped() {
            break None;
        }
        if spent() > total {
            let message = format!("the reply was not whole after {} s", total.as_secs());
            break Some(ModelError::Unavailable {
                model: model.label().to_owned(),
                message,
                retry_after: None,
            });
        }
    };
    if let Some(err) = broken {
        return Err(err);
    }
    let reply = attempt.assembly.finish(&request).map_err(|fault| incomplete(model, fault))?;
    debug!(task = %request.task, turn = request.turn, "model replied");
    Ok(reply)
}

/// An attempt under way: what has come of its reply is lost with it.
struct Attempt<'l> {
    assembly: Assembly,
    lost: &'l mut Vec<LostAttempt>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.lost.extend(self.assembly.lost());
    }
}

fn incomplete(model: &dyn Model, fault: Incomplete) -> ModelError {
    let model = model.label().to_owned();
    match fault {
        Incomplete::Cut => ModelError::Unavailable {
            model,
            message: "the stream ended before the reply did".to_owned(),
            retry_after: None,
        },
        Incomplete::Empty => ModelError::Garbled {
            model,
            message: "the reply is empty: no words and no tool call".to_owned(),
        },
        Incomplete::TooLarge(message) => ModelError::Garbled { model, message },
    }
}

/// Returns how long to wait after a passing fault, `None` for one that stays.
fn pause_after(
    err: &ModelError,
    attempt: u32,
    limits: RetryLimits,
    chance: u64,
) -> Option<Duration> {
    let doubled = limits
        .base
        .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
        .min(limits.longest);
    match err {
        ModelError::Unavailable { retry_after: Some(asked), .. } => {
            Some((*asked + share(*asked / 10, chance)).min(limits.longest))
        }
        ModelError::Unavailable { retry_after: None, .. } | ModelError::Garbled { .. } => {
            Some(doubled / 2 + share(doubled / 2, chance))
        }
        ModelError::Unauthorized { .. }
        | ModelError::Rejected { .. }
        | ModelError::TooLong { .. }
        | ModelError::Unreachable { .. }
        | ModelError::Script { .. } => None,
    }
}

/// Returns between nothing and all of `whole`, as `chance` falls: runs that failed together must
/// not come back together.
fn share(whole: Duration, chance: u64) -> Duration {
    let permille = u32::try_from(chance % 1001).unwrap_or_default();
    whole.saturating_mul(permille) / 1000
}

fn hashed(seed: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    hasher.finish()
}

fn with_note(err: ModelError, note: &str) -> ModelError {
    match err {
        ModelError::Unavailable { model, message, retry_after } => {
            ModelError::Unavailable { model, message: format!("{message} ({note})"), retry_after }
        }
        ModelError::Garbled { model, message } => {
            ModelError::Garbled { model, message: format!("{message} ({note})") }
        }
        err @ (ModelError::Unauthorized { .. }
        | ModelError::Rejected { .. }
        | ModelError::TooLong { .. }
        | ModelError::Unreachable { .. }
        | ModelError::Script { .. }) => err,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::executor::block_on;
    use futures::future::{BoxFuture, FutureExt};
    use futures::stream::{self, BoxStream, StreamExt};
    use jiff::Timestamp;
    use pretty_assertions::assert_eq;

    use super::{Hearing, LostAttempt, RetryLimits, complete, pause_after};
    use crate::{Delta, Model, ModelError, ModelRequest};
    use locum_base::chat::{Reply, StopReason, Usage};
    use locum_base::clock::Clock;

    type Attempt = Vec<Result<Delta, ModelError>>;

    /// Time that passes only while somebody sleeps.
    #[derive(Default)]
    struct SleepClock(AtomicU64);

    impl Clock for SleepClock {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn elapsed(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        }
        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
            self.0.fetch_add(u64::try_from(duration.as_millis()).unwrap(), Ordering::Relaxed);
            futures::future::ready(()).boxed()
        }
    }

    /// Plays one attempt after the other, the last for ever.
    struct Attempts(Vec<Attempt>, AtomicUsize);

    impl Model for Attempts {
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

    struct Outcome {
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

    fn run(attempts: Vec<Attempt>, limits: RetryLimits) -> Outcome {
        let model = Attempts(attempts, AtomicUsize::new(0));
        let clock = SleepClock::default();
        let request = ModelRequest::with(&[]);
        let mut seen = Vec::new();
        let mut lost = Vec::new();
        let hearing = Hearing { watch: &mut |delta| seen.push(delta.clone()), lost: &mut lost };
        let reply = block_on(complete(&model, request, limits, &clock, hearing));
        Outcome { reply, lost, attempts: model.1.into_inner(), waited: clock.elapsed(), seen }
    }

    fn unavailable(retry_after: Option<u64>) -> ModelError {
        ModelError::Unavailable {
            model: "test".into(),
            message: "busy".into(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    fn whole(text: &str) -> Attempt {
        vec![Ok(Delta::Text(text.into())), Ok(Delta::Stop(StopReason::End))]
    }

    #[test]
    fn tries_again_after_passing_faults() {
        let outcome = run(
            vec![
                vec![Err(unavailable(None))],
                vec![Ok(Delta::Text("half".into()))],
                whole("hello"),
            ],
            LIMITS,
        );
        assert_eq!((outcome.reply.unwrap().text.as_str(), outcome.attempts), ("hello", 3));
        assert!((1500..=3000).contains(&outcome.waited.as_millis()), "{:?}", outcome.waited);
        let text = |text: &str| Delta::Text(text.into());
        assert_eq!(
            outcome.seen,
            [
                Delta::Restart,
                text("half"),
                Delta::Restart,
                text("hello"),
                Delta::Stop(StopReason::End)
            ]
        );
    }

    #[test]
    fn counts_what_broken_attempts_used_up() {
        let usage = Usage { input: 900, output: 3, ..Usage::default() };
        let said = vec![
            Ok(Delta::Usage(usage)),
            Ok(Delta::Text("half of it".into())),
            Err(unavailable(None)),
        ];
        let stood_in = vec![
            Ok(Delta::By("b".into())),
            Ok(Delta::Text("12345678".into())),
            Ok(Delta::Restart),
            Err(unavailable(None)),
        ];
        let outcome =
            run(vec![vec![Err(unavailable(None))], said, stood_in, whole("hello")], LIMITS);
        assert!(outcome.reply.is_ok());
        let expected = [
            LostAttempt {
                by: None,
                usage: Some(usage),
                text: "half of it".into(),
                other_tokens: 0,
            },
            LostAttempt {
                by: Some("b".into()),
                usage: None,
                text: "12345678".into(),
                other_tokens: 0,
            },
        ];
        assert_eq!(outcome.lost, expected, "an attempt that nothing came of costs nothing");
        assert_eq!(run(vec![whole("hello")], LIMITS).lost, []);
    }

    #[test]
    fn counts_what_had_come_when_nobody_waits_any_more() {
        struct Halting;
        impl Model for Halting {
            fn label(&self) -> &str {
                "test"
            }
            fn stream<'a>(
                &'a self,
                _request: ModelRequest<'a>,
            ) -> BoxStream<'a, Result<Delta, ModelError>> {
                stream::iter([Ok(Delta::Text("half of it".into()))])
                    .chain(stream::pending())
                    .boxed()
            }
        }
        let (clock, mut lost) = (SleepClock::default(), Vec::new());
        let request = ModelRequest::with(&[]);
        let hearing = Hearing { watch: &mut |_| {}, lost: &mut lost };
        assert!(complete(&Halting, request, LIMITS, &clock, hearing).now_or_never().is_none());
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
        struct Dripping<'c>(&'c SleepClock);
        impl Model for Dripping<'_> {
            fn label(&self) -> &str {
                "test"
            }
            fn stream<'a>(
                &'a self,
                _request: ModelRequest<'a>,
            ) -> BoxStream<'a, Result<Delta, ModelError>> {
                let drop_by_drop = stream::repeat(()).map(|()| {
                    self.0.0.fetch_add(1000, Ordering::Relaxed);
                    Ok(Delta::Text("drip ".into()))
                });
                drop_by_drop.boxed()
            }
        }
        let clock = SleepClock::default();
        let request = ModelRequest::with(&[]);
        let hearing = Hearing { watch: &mut |_| {}, lost: &mut Vec::new() };
        let reply = block_on(complete(&Dripping(&clock), request, LIMITS, &clock, hearing));
        assert!(
            matches!(&reply, Err(ModelError::Unavailable { message, .. }) if message.contains("not whole after 100 s")),
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
        let mut attempt: Attempt = (0..10_000).map(|_| Ok(Delta::Text("word ".into()))).collect();
        attempt.push(Ok(Delta::Stop(StopReason::End)));
        assert_eq!(run(vec![attempt], LIMITS).reply.unwrap().text.len(), 50_000);
    }
}
