//! Language models. A request in, a stream of deltas out; retries here, nothing else.

pub mod accounting;
mod address;
pub mod anthropic;
pub mod build;
pub mod cassette;
pub mod catalogue;
pub mod chat_completions;
pub mod conversation;
pub mod fallback;
pub mod gemini;
pub mod profile;
pub mod proxy;
pub mod resolve;
pub mod responses;
pub mod retry;
pub mod scripted;
pub mod tokens;
pub mod transport;
pub mod xml;

use std::time::Duration;

use futures::stream::BoxStream;

use locum_base::chat::{Kept, Message, StopReason, ToolSpec, Usage};
use locum_base::id::TaskId;
use locum_base::image::{Image, ImageKind};

/// A language model, or something that stands in for one.
pub trait Model: Send + Sync {
    /// Returns the profile's name and model, as shown to people.
    fn label(&self) -> &str;

    /// Sends one request and streams the reply. The stream ends after [`Delta::Stop`] or the first
    /// error.
    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>>;
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The conversation so far; every tool call in it is answered.
    pub messages: &'a [Message],
    /// The tools it may call.
    pub tools: &'a [ToolSpec],
    /// Most tokens it may write; `None` leaves it to the profile.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; `None` leaves it to the profile.
    pub temperature: Option<f64>,
    /// The task this is for.
    pub task: TaskId,
    /// The mode the task is in.
    pub mode: &'a str,
    /// How many replies this task has had before.
    pub turn: u32,
    /// Set where a picture is asked for and not words: by the one message of the conversation.
    pub picture: Option<PictureWish<'a>>,
}

/// A picture that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct PictureWish<'a> {
    /// What it is best given as; few providers can be told.
    pub kind: ImageKind,
    /// The picture it starts from.
    pub from: Option<&'a Image>,
}

#[cfg(test)]
impl<'a> ModelRequest<'a> {
    /// Returns the first request of a task with these messages and nothing else.
    pub(crate) fn with(messages: &'a [Message]) -> Self {
        Self {
            system: "",
            messages,
            tools: &[],
            max_output_tokens: None,
            temperature: None,
            task: TaskId(0),
            mode: "code",
            turn: 0,
            picture: None,
        }
    }
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Visible words.
    Text(String),
    /// Reasoning.
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
    /// An image.
    Image(Image),
    /// What the provider wants back with the reply; a later one replaces an earlier one.
    Kept(Kept),
    /// The model that replies stands in for the one that was asked: its label.
    By(String),
    /// The provider's count; a later one replaces an earlier one.
    Usage(Usage),
    /// The reply is complete.
    Stop(StopReason),
    /// An attempt failed midway: forget what came before, the reply starts anew.
    Restart,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong or not allowed to use the model (401, 403).
    #[error("model `{model}` refused the key: {message}")]
    Unauthorized {
        /// The model's label.
        model: String,
        /// The provider's words, clipped.
        message: String,
    },
    /// The request itself was refused (400, 404, 422).
    #[error("model `{model}` refused the request ({status}): {message}")]
    Rejected {
        /// The model's label.
        model: String,
        /// HTTP status.
        status: u16,
        /// The provider's words, clipped.
        message: String,
    },
    /// The conversation is longer than the model's window.
    #[error("the conversation is too long for model `{model}`: {message}")]
    TooLong {
        /// The model's label.
        model: String,
        /// The provider's words, clipped.
        message: String,
    },
    /// A passing fault: 408, 409, 429, 5xx, a connection refused or cut, a stream broken midway or
    /// idle for too long.
    #[error("model `{model}` is not available: {message}")]
    Unavailable {
        /// The model's label.
        model: String,
        /// What happened.
        message: String,
        /// How long the provider asked to wait.
        retry_after: Option<Duration>,
    },
    /// A fault on the way that does not pass: a certificate nobody trusted vouches for, a proxy
    /// that lets nobody through.
    #[error("model `{model}` cannot be reached: {message}")]
    Unreachable {
        /// The model's label.
        model: String,
        /// What happened.
        message: String,
    },
    /// What came back is no reply in the provider's own protocol.
    #[error("model `{model}` answered something that is not a reply: {message}")]
    Garbled {
        /// The model's label.
        model: String,
        /// What was wrong with it.
        message: String,
    },
    /// A script or cassette has no reply for this request.
    #[error("script `{model}`: {message}")]
    Script {
        /// The script's file.
        model: String,
        /// What is missing.
        message: String,
    },
}
