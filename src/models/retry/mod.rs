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

use crate::retry::assembly::{IncompleteReply, ReplyAssembly};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Reply, Usage};
use locum_base::clock::Clock;

/// Malformed answers are requested again at most this often; a model that keeps giving them will
/// not stop.
const GARBLED_RETRIES: u32 = 2;

/// A server that cannot be connected to is tried again at most this often, for some ten seconds:
/// an address is more often wrong than away.
const CONNECT_RETRIES: u32 = 4;

/// How often and how long a request is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimits {
    /// Attempts in all.
    pub attempts: u32,
    /// First pause; doubled each time, with jitter.
    pub base: Duration,
    /// Longest pause, also for what the provider asks for.
    pub longest: Duration,
    /// Wall time, pauses included, after which no other attempt begins. It never cuts off one that
    /// has begun: the model itself gives up a reply of which nothing more comes.
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

/// What is reported while a request is under way.
pub struct StreamObserver<'h> {
    /// Sees every delta as it comes, `Restart` between attempts.
    pub watch: &'h mut (dyn FnMut(&Delta) + Send),
    /// Gets the attempts that broke after the provider had taken the request, in order: it counts
    /// them. It also gets the attempt under way when the request is dropped.
    pub lost: &'h mut Vec<LostAttempt>,
    /// Is asked before each attempt but the first, and before a fallback is sent the request;
    /// false ends the request.
    pub admit: &'h mut dyn FnMut(NextAttempt<'_>) -> bool,
}

/// What another attempt would come on top of.
#[derive(Clone, Copy, Debug)]
pub struct NextAttempt<'l> {
    /// What the attempts before it used up.
    pub lost: &'l [LostAttempt],
    /// The label of the fallback that would be asked, as far as it is known.
    pub by: Option<&'l str>,
}

/// An attempt that broke after the provider had taken the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostAttempt {
    /// The model's label, where it stood in for the one that was asked.
    pub by: Option<String>,
    /// What the provider counted, as far as it got to say.
    pub usage: Option<Usage>,
    /// What had come of a reply: its words, its reasoning and its calls; often nothing.
    pub text: String,
    /// About how many tokens had come that are not text: an estimate.
    pub other_tokens: u64,
}

/// Why an attempt gave no reply.
enum BrokenAttempt {
    /// It failed.
    Failed(ModelError),
    /// The fallback that was to be asked was not admitted.
    NotAdmitted,
}

impl From<ModelError> for BrokenAttempt {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Sends a request until there is a whole reply.
///
/// # Errors
/// The last error, when it is not a passing one, the limits are reached, or the observer does not
/// admit another attempt.
pub async fn complete(
    model: &dyn Model,
    request: ModelRequest<'_>,
    limits: RetryLimits,
    clock: &dyn Clock,
    mut observer: StreamObserver<'_>,
) -> Result<Reply, ModelError> {
    let started = clock.elapsed();
    let (mut garbled, mut unconnected) = (0, 0);
    let mut attempt: u32 = 1;
    let mut by = None;
    loop {
        let spent = || clock.elapsed().saturating_sub(started);
        let err = match attempt_once(model, request, &mut observer, &mut by).await {
            Ok(reply) => return Ok(reply),
            Err(BrokenAttempt::Failed(err)) => err,
            Err(BrokenAttempt::NotAdmitted) => {
                return Err(ModelError::unavailable(model.label(), "its fallback is not admitted"));
            }
        };
        garbled += u32::from(matches!(err, ModelError::Garbled { .. }));
        unconnected += u32::from(matches!(err, ModelError::NotConnected { .. }));
        let seed = (
            request.task,
            request.turn,
            request.messages.len(),
            attempt,
            clock.now().subsec_nanosecond(),
        );
        let pause = pause_after(&err, attempt, limits, hashed(&seed));
        let pause = pause.filter(|pause| {
            attempt < limits.attempts
                && garbled <= GARBLED_RETRIES
                && unconnected <= CONNECT_RETRIES
                && spent() + *pause < limits.total
                && observer.admits(by.as_deref())
        });
        let Some(pause) = pause else {
            return Err(if attempt > 1 {
                with_note(err, &format!("{attempt} attempts in {} s", spent().as_secs()))
            } else {
                err
            });
        };
        warn!(attempt, pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), %err, "retrying the model request");
        (observer.watch)(&Delta::Restart);
        clock.sleep(pause).await;
        // Others may have spent meanwhile.
        if !observer.admits(by.as_deref()) {
            return Err(err);
        }
        attempt += 1;
    }
}

impl StreamObserver<'_> {
    fn admits(&mut self, by: Option<&str>) -> bool {
        (self.admit)(NextAttempt { lost: self.lost.as_slice(), by })
    }
}

/// Makes one attempt; `by` becomes the label of the last fallback that was asked.
async fn attempt_once(
    model: &dyn Model,
    request: ModelRequest<'_>,
    observer: &mut StreamObserver<'_>,
    by: &mut Option<String>,
) -> Result<Reply, BrokenAttempt> {
    *by = None;
    let mut attempt =
        ReplyAttempt { assembly: ReplyAssembly::default(), lost: &mut *observer.lost };
    let mut deltas = model.stream(request);
    while let Some(delta) = deltas.next().await.transpose()? {
        (observer.watch)(&delta);
        if delta == Delta::Restart {
            attempt.lost.extend(attempt.assembly.lost());
            *by = None;
        }
        // A fallback names itself before it is sent anything.
        if let Delta::By(label) = &delta {
            *by = Some(label.clone());
            let next = NextAttempt { lost: attempt.lost.as_slice(), by: Some(label.as_str()) };
            if !(observer.admit)(next) {
                return Err(BrokenAttempt::NotAdmitted);
            }
        }
        attempt.assembly.add(delta).map_err(|fault| incomplete(model, fault))?;
        if attempt.assembly.is_stopped() {
            break;
        }
    }
    let reply = attempt.assembly.finish(&request).map_err(|fault| incomplete(model, fault))?;
    debug!(task = %request.task, turn = request.turn, "model replied");
    Ok(reply)
}

/// An attempt under way: what has come of its reply is lost with it.
struct ReplyAttempt<'l> {
    assembly: ReplyAssembly,
    lost: &'l mut Vec<LostAttempt>,
}

impl Drop for ReplyAttempt<'_> {
    fn drop(&mut self) {
        self.lost.extend(self.assembly.lost());
    }
}

fn incomplete(model: &dyn Model, fault: IncompleteReply) -> ModelError {
    let model = model.label();
    match fault {
        IncompleteReply::Cut => {
            ModelError::unavailable(model, "the stream ended before the reply did")
        }
        IncompleteReply::Empty => {
            ModelError::garbled(model, "the reply is empty: no text and no tool call")
        }
        IncompleteReply::TooLarge(message) => ModelError::garbled(model, message),
    }
}

/// Returns how long to wait after a passing fault, `None` for one that stays. It is as long as the
/// provider asks, and never shorter than without being asked: attempts that follow at once would
/// all fail.
fn pause_after(
    err: &ModelError,
    attempt: u32,
    limits: RetryLimits,
    chance: u64,
) -> Option<Duration> {
    let passes = matches!(
        err,
        ModelError::Unavailable { .. }
            | ModelError::NotConnected { .. }
            | ModelError::Garbled { .. }
    );
    if !passes {
        return None;
    }
    let doubled = limits
        .base
        .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
        .min(limits.longest);
    let own = doubled / 2 + share(doubled / 2, chance);
    let asked = if let ModelError::Unavailable { retry_after: Some(asked), .. } = err {
        asked.saturating_add(share(*asked / 10, chance))
    } else {
        Duration::ZERO
    };
    Some(own.max(asked).min(limits.longest))
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

fn with_note(mut err: ModelError, note: &str) -> ModelError {
    if let ModelError::Unavailable { message, .. }
    | ModelError::NotConnected { message, .. }
    | ModelError::Garbled { message, .. } = &mut err
    {
        message.push_str(&format!(" ({note})"));
    }
    err
}

#[cfg(test)]
mod tests;
