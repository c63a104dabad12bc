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

/// What is reported while a request is under way.
pub struct StreamObserver<'h> {
    /// Sees every delta as it comes, `Restart` between attempts.
    pub watch: &'h mut (dyn FnMut(&Delta) + Send),
    /// Gets the attempts that broke after something of a reply had come, in order: a provider
    /// counts them. It also gets the attempt under way when the request is dropped.
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
    /// About how many tokens had come that are not text: an estimate.
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
    mut observer: StreamObserver<'_>,
) -> Result<Reply, ModelError> {
    let started = clock.elapsed();
    let mut garbled = 0;
    let mut attempt: u32 = 1;
    loop {
        let spent = || clock.elapsed().saturating_sub(started);
        let err = match attempt_once(model, request, limits.total, &spent, &mut observer).await {
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
        warn!(attempt, pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), %err, "retrying the model request");
        (observer.watch)(&Delta::Restart);
        clock.sleep(pause).await;
        attempt += 1;
    }
}

async fn attempt_once(
    model: &dyn Model,
    request: ModelRequest<'_>,
    total: Duration,
    spent: &(dyn Fn() -> Duration + Sync),
    observer: &mut StreamObserver<'_>,
) -> Result<Reply, ModelError> {
    let mut attempt =
        ReplyAttempt { assembly: ReplyAssembly::default(), lost: &mut *observer.lost };
    let mut deltas = model.stream(request);
    while let Some(delta) = deltas.next().await.transpose()? {
        (observer.watch)(&delta);
        if delta == Delta::Restart {
            attempt.lost.extend(attempt.assembly.lost());
        }
        attempt.assembly.add(delta).map_err(|fault| incomplete(model, fault))?;
        if attempt.assembly.is_stopped() {
            break;
        }
        if spent() > total {
            let message = format!("the reply was not complete after {} s", total.as_secs());
            return Err(ModelError::unavailable(model.label(), message));
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

/// Returns how long to wait after a passing fault, `None` for one that stays.
fn pause_after(
    err: &ModelError,
    attempt: u32,
    limits: RetryLimits,
    chance: u64,
) -> Option<Duration> {
    if let ModelError::Unavailable { retry_after: Some(asked), .. } = err {
        return Some((*asked + share(*asked / 10, chance)).min(limits.longest));
    }
    let passes = matches!(err, ModelError::Unavailable { .. } | ModelError::Garbled { .. });
    let doubled = limits
        .base
        .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
        .min(limits.longest);
    passes.then(|| doubled / 2 + share(doubled / 2, chance))
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
    if let ModelError::Unavailable { message, .. } | ModelError::Garbled { message, .. } = &mut err
    {
        message.push_str(&format!(" ({note})"));
    }
    err
}

#[cfg(test)]
mod tests;
