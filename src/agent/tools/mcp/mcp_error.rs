//! [`McpError`]: why a request to a server has no result.

use std::time::Duration;

use locum_sandbox::exec::dialogue::DialogueEnd;

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum McpError {
    /// The server answered with an error.
    #[error("{0}")]
    Told(String),
    /// The service answered with an HTTP status that is no success.
    #[error("it answered with status {status}: {text}")]
    Status {
        /// HTTP status code.
        status: u16,
        /// The beginning of what it said.
        text: String,
    },
    /// The service answered the request with what is no answer to it.
    #[error("{what}: {beginning}")]
    NoAnswer {
        /// What it answered with, in words of ours.
        what: String,
        /// The beginning of it.
        beginning: String,
    },
    /// It did not answer in time.
    #[error("it did not answer within {} s", .0.as_secs_f64())]
    TooLate(Duration),
    /// The service says that it knows nothing of the conversation any more.
    #[error("it does not know this conversation any more")]
    Forgotten,
    /// It said so of a call, which is not made again: another conversation has begun.
    #[error("it did not know the conversation any more, and another one has begun")]
    Restarted,
    /// The connection is over: what was asked may have been done or not.
    #[error("{0}")]
    Over(String),
}

impl From<DialogueEnd> for McpError {
    fn from(silence: DialogueEnd) -> Self {
        Self::Over(silence.to_string())
    }
}
