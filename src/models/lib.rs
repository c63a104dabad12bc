//! Language models over four wire protocols, with retries, fallbacks, recordings and scripts.
//!
//! A [`Model`] takes a [`ModelRequest`] and streams [`Delta`]s; everything in this crate makes one,
//! wraps one or puts its deltas together. No crate of an agent is needed to use it.
//!
//! # The way of a request
//!
//! 1. [`resolve::resolve`] picks a profile for each use, with its limits and price from the
//!    [`catalogue`], and the key it may use: a key goes only to a host it is tied to.
//! 2. [`build::build`] makes the model of a profile. A model without tool calls of its own is
//!    wrapped in [`xml`], which asks for them in the prompt.
//! 3. [`fallback`] asks the next model when one fails; [`cassette`] records or replays
//!    what is said.
//! 4. [`retry::complete`] sends the request until there is a whole reply, within limits of attempts
//!    and time. Nothing of a broken attempt is ever executed, but it is charged.
//! 5. [`accounting`] estimates tokens before the provider has counted them ([`tokens`]) and prices
//!    what it counted.
//!
//! # The adapters
//!
//! [`chat_completions`], [`responses`], [`anthropic`] and [`gemini`] each say what a body looks
//! like and what an event means. [`transport`] does the rest for all of them: connection, framing,
//! timeouts, errors, split characters, and optional fields that a server refuses. [`scripted`]
//! plays replies from a file and needs no network.
//!
//! To add a provider, write a module like [`responses`]: a request that serialises to the body, a
//! parser of its events, and a row in [`build::build`] and [`profile::Provider`].

pub mod accounting;
mod address;
pub mod anthropic;
pub mod build;
pub mod cassette;
pub mod catalogue;
pub mod chat_completions;
pub mod conversation;
pub mod credentials;
pub mod embedding;
pub mod fallback;
pub mod gemini;
pub mod profile;
pub mod proxy;
pub mod reply_bounds;
pub mod reply_limits;
pub mod resolve;
pub mod responses;
pub mod retry;
pub mod scripted;
pub mod tokens;
pub mod transport;
pub mod xml;

use std::time::Duration;

use futures::stream::BoxStream;

use crate::reply_limits::{ReplyLimit, ReplyLimits};
use locum_base::chat::{Message, OpaqueState, StopReason, ToolSpec, Usage};
use locum_base::id::TaskId;
use locum_base::image::{Image, ImageKind};

/// A language model, or something that stands in for one.
pub trait Model: Send + Sync {
    /// Returns the profile's name and model, as shown to users.
    fn label(&self) -> &str;

    /// Returns false when it is known that there is no reply to a request like this one: a script
    /// that has ended.
    fn may_reply(&self, _request: &ModelRequest<'_>) -> bool {
        true
    }

    /// Sends one request and streams the reply. The stream ends after [`Delta::Stop`] or the first
    /// error.
    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>>;
}

/// One request to a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelRequest<'a> {
    /// Text of the system prompt.
    pub system: &'a str,
    /// The conversation so far; every tool call in it is answered.
    pub messages: &'a [Message],
    /// The tools it may call.
    pub tools: &'a [ToolSpec],
    /// Most tokens it may write, and never more than the profile says; `None` leaves it to the
    /// profile.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; `None` leaves it to the profile.
    pub temperature: Option<f64>,
    /// The task this is for.
    pub task: TaskId,
    /// The mode the task is in.
    pub mode: &'a str,
    /// How many replies this task has had before, with those of earlier runs.
    pub turn: u32,
    /// Which part of the conversation is of earlier runs.
    pub earlier: EarlierTurns,
    /// Set where an image is requested instead of text, by the one message of the conversation.
    pub picture: Option<ImageRequest<'a>>,
    /// How long it is, and how long its reply may get.
    pub estimate: RequestEstimate<'a>,
}

/// How long a request is, and how long its reply may get, as far as that was estimated.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestEstimate<'a> {
    /// About how many tokens the model reads; 0 where that was not estimated.
    pub input_tokens: u64,
    /// How long the reply of each model of a chain may get; as their profiles say where absent.
    pub reply_limits: Option<&'a ReplyLimits>,
}

impl RequestEstimate<'_> {
    /// Returns the limit of the model at this place of a chain.
    pub(crate) fn limit_of(&self, place: usize) -> ReplyLimit {
        self.reply_limits.map_or(ReplyLimit::Profile, |limits| limits.of(place))
    }
}

/// Which part of a conversation is of earlier runs, whose conversation a task goes on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlierTurns {
    /// Messages at its beginning; 0 once they are left out.
    pub messages: usize,
    /// Replies of the model.
    pub turns: u32,
}

/// An image that is requested.
#[derive(Clone, Copy, Debug)]
pub struct ImageRequest<'a> {
    /// Preferred format; few providers take it.
    pub kind: ImageKind,
    /// The image it starts from.
    pub from: Option<&'a Image>,
}

impl<'a> ModelRequest<'a> {
    /// Returns a request with these messages alone: no system prompt, no tools, limits as the
    /// profile has them.
    pub fn new(messages: &'a [Message], task: TaskId, mode: &'a str, turn: u32) -> Self {
        Self { messages, task, mode, turn, ..Self::default() }
    }

    /// Returns the first request of a task with these messages and nothing else.
    #[cfg(test)]
    pub(crate) fn with(messages: &'a [Message]) -> Self {
        Self::new(messages, TaskId(0), "code", 0)
    }
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Visible text of the reply.
    Text(String),
    /// Readable part of the reasoning.
    Reasoning(String),
    /// A piece of a tool call; pieces with one index belong together, in order.
    Call {
        /// Which call of the reply.
        index: usize,
        /// The provider's id, in the first piece where it gives one.
        id: Option<String>,
        /// The tool's name, in the first piece.
        name: Option<String>,
        /// The next piece of the arguments.
        arguments: String,
    },
    /// A whole generated image.
    Image(Image),
    /// Opaque state the provider wants back with the reply; a later one replaces an earlier one.
    Opaque(OpaqueState),
    /// The label of the fallback that replies in place of the first model.
    By(String),
    /// No model is asked: the reply was fixed beforehand.
    Fixed,
    /// The provider took the request: from here on it may count, also where no reply comes.
    Accepted,
    /// The provider's count so far; a later one replaces an earlier one. One of nothing, where no
    /// reply follows, means that the request was refused after all.
    Usage(Usage),
    /// The reply is complete.
    Stop(StopReason),
    /// An attempt failed midway: discard what came before, the reply starts again.
    Restart,
}

/// Why a request got no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong or not allowed to use the model (401, 403).
    #[error("model `{model}` refused the key: {message}")]
    Unauthorized {
        /// Label of the model.
        model: String,
        /// The provider's message, clipped.
        message: String,
    },
    /// The request itself was refused (400, 404, 422).
    #[error("model `{model}` refused the request ({status}): {message}")]
    Rejected {
        /// Label of the model.
        model: String,
        /// HTTP status code.
        status: u16,
        /// The provider's message, clipped.
        message: String,
    },
    /// The account is empty, or a quota is used up that does not come back soon.
    #[error("model `{model}` refused the request ({status}): {message}")]
    QuotaExhausted {
        /// Label of the model.
        model: String,
        /// HTTP status code; 200 where the answer itself says it.
        status: u16,
        /// The provider's message, clipped.
        message: String,
    },
    /// The conversation is longer than the model's window.
    #[error("the conversation is too long for model `{model}`: {message}")]
    TooLong {
        /// Label of the model.
        model: String,
        /// The provider's message, clipped.
        message: String,
    },
    /// A passing fault: 408, 409, 429, 5xx, a connection cut, a stream broken midway or idle for
    /// too long.
    #[error("model `{model}` is not available: {message}")]
    Unavailable {
        /// Label of the model.
        model: String,
        /// What happened, in one sentence.
        message: String,
        /// How long the provider asked to wait.
        retry_after: Option<Duration>,
    },
    /// No server answers at its address: a name that is not found, a connection refused.
    #[error("model `{model}` is not available: {message}")]
    NotConnected {
        /// Label of the model.
        model: String,
        /// What happened, in one sentence.
        message: String,
    },
    /// A lasting fault on the way: a certificate without a trusted issuer, a proxy that refuses.
    #[error("model `{model}` cannot be reached: {message}")]
    Unreachable {
        /// Label of the model.
        model: String,
        /// What happened, in one sentence.
        message: String,
    },
    /// The response is not one of the provider's protocol.
    #[error("model `{model}` returned a malformed response: {message}")]
    Garbled {
        /// Label of the model.
        model: String,
        /// What was wrong with it.
        message: String,
    },
    /// What is left of the budget does not cover the request: it was not sent.
    #[error("what is left of the budget does not cover a request to model `{model}`")]
    Unaffordable {
        /// Label of the model.
        model: String,
    },
    /// A script or cassette has no reply for this request.
    #[error("script `{model}`: {message}")]
    Script {
        /// Path of the script.
        model: String,
        /// What is missing in the script.
        message: String,
    },
}

impl ModelError {
    pub(crate) fn unavailable(model: &str, message: impl Into<String>) -> Self {
        let (model, message) = (model.to_owned(), message.into());
        Self::Unavailable { model, message, retry_after: None }
    }

    pub(crate) fn garbled(model: &str, message: impl Into<String>) -> Self {
        Self::Garbled { model: model.to_owned(), message: message.into() }
    }
}
