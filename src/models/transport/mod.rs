//! What every adapter of a provider's protocol shares: the connection, the bytes of an answer, the
//! errors it may mean.
//!
//! In: a chosen model, where its requests go, and a `Protocol`. Out: a [`Model`]. It tries
//! nothing again (that is `retry`'s part) except a request whose optional fields a server refuses:
//! that one is sent in the server's dialect, which is remembered.
//!
//! The adapters are our own because servers are only nearly compatible, and what a general client
//! library makes of the differences is lost for good: arguments sent as objects, calls without a
//! number, a stream that ends without its last line, characters cut in two. Each of these is read
//! here and has its test.

pub mod client;
pub(crate) mod connection;
pub(crate) mod error;
mod event_stream;
pub(crate) mod images;
pub(crate) mod json;
#[cfg(test)]
pub(crate) mod malformed;
pub(crate) mod parts;
pub(crate) mod protocol;
pub(crate) mod response;
mod split_chars;
mod sse;

use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::timeout;
use tracing::{debug, trace, warn};

use crate::resolve::ChosenModel;
use crate::transport::client::described;
use crate::transport::connection::{Connection, ServerAnswer};
use crate::transport::event_stream::EventStreamReader;
use crate::transport::protocol::{Endpoint, Protocol, identity};
use crate::transport::response::{ResponseError, ResponseReader};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::Usage;

/// Longest silence after the finish reason: a count of tokens may still come.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest silence after `[DONE]`: only the end of the body may still come, and with it the
/// connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);
/// Longest wait for the next part of a reply while the server only keeps the connection open, with
/// comments or `ping`: models think that long. A longer `idle_timeout_s` is the limit in its place.
const KEPT_ALIVE_LIMIT: Duration = Duration::from_secs(600);
/// Most times one request is sent again in another dialect: a refusal teaches one bit of it, and no
/// protocol has more of them.
const CORRECTIONS: u32 = 9;

/// A model cannot be reached the way it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model `{model}` cannot be set up: {message}")]
pub struct SetupError {
    /// Label of the model.
    pub model: String,
    /// What is wrong with the configuration.
    pub message: String,
}

/// A model behind an address.
#[derive(Debug)]
pub(crate) struct HttpModel<P> {
    protocol: P,
    connection: Connection,
    /// See [`identity`]: the provider state of another is not sent to it.
    by: String,
    /// What was learned of the server's dialect.
    dialect: AtomicU16,
    /// Longest silence while the reply is not whole.
    idle_timeout: Duration,
    /// Longest wait for the next part of it while the connection is kept alive.
    kept_alive_limit: Duration,
}

/// What came of a request that was not refused.
enum OpenedRequest {
    /// An answer follows.
    Answered(Response),
    /// The server was silent for too long.
    Silent(ModelError),
}

/// An answer that is being read.
struct OpenAnswer<R> {
    response: Response,
    reader: ResponseReader<R>,
    /// Where it comes as Amazon's event stream.
    frames: Option<EventStreamReader>,
}

impl<P: Protocol> HttpModel<P> {
    /// Prepares a model. Certificates are loaded only when the address needs them.
    ///
    /// # Errors
    /// When a header cannot be used, or the system has no certificates to trust.
    pub(crate) fn new(
        chosen: &ChosenModel,
        endpoint: Endpoint,
        protocol: P,
    ) -> Result<Self, SetupError> {
        let idle_timeout = chosen.profile.idle_timeout();
        Ok(Self {
            protocol,
            connection: Connection::new(chosen, &endpoint)?,
            by: identity(chosen, &endpoint.url),
            dialect: AtomicU16::new(endpoint.dialect),
            idle_timeout,
            kept_alive_limit: idle_timeout.max(KEPT_ALIVE_LIMIT),
        })
    }

    /// Sends the request and returns the answer once its status says that a reply follows.
    async fn open(&self, request: &ModelRequest<'_>) -> Result<OpenedRequest, ModelError> {
        let mut corrections = 0;
        loop {
            let dialect = self.dialect.load(Ordering::Relaxed);
            let body = self.protocol.body(request, dialect).map_err(|err| {
                self.connection.garbled(&format!("the request cannot be written: {err}"))
            })?;
            debug!(task = %request.task, turn = request.turn, bytes = body.len(), "request");
            let refused = match self.connection.send(body, self.protocol.headers(dialect)).await? {
                ServerAnswer::Accepted(response) => return Ok(OpenedRequest::Answered(response)),
                ServerAnswer::Silent(silent) => return Ok(OpenedRequest::Silent(silent)),
                ServerAnswer::Refused(refused) => refused,
            };
            let words = error::error_message(&refused.words);
            match self.protocol.corrected(dialect, refused.status, &words) {
                Some(other) if corrections < CORRECTIONS => {
                    corrections += 1;
                    let status = refused.status;
                    warn!(
                        status,
                        words, "the server rejected an optional field; it is left out from now on"
                    );
                    self.dialect.store(other, Ordering::Relaxed);
                }
                Some(_) | None => return Err(self.connection.refusal(&refused)),
            }
        }
    }

    /// Reads an answer to its end or its first error, before which everything is given out that
    /// came.
    fn deltas(&self, opened: OpenedRequest) -> impl Stream<Item = Result<Delta, ModelError>> {
        let mut begun = vec![Ok(Delta::Accepted)];
        let answer = match opened {
            OpenedRequest::Answered(response) => {
                let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
                let frames = kind
                    .is_some_and(|kind| kind.starts_with(event_stream::CONTENT_TYPE))
                    .then(EventStreamReader::default);
                let reader = ResponseReader::<P::Parser>::new(&self.by);
                Some(OpenAnswer { response, reader, frames })
            }
            OpenedRequest::Silent(silent) => {
                begun.push(Err(silent));
                None
            }
        };
        let rest = stream::unfold(answer, async |answer| {
            let mut answer = answer?;
            let read = self.read(&mut answer).await;
            let mut deltas: Vec<Result<Delta, ModelError>> =
                answer.reader.take_deltas().into_iter().map(Ok).collect();
            let has_more = match read {
                Ok(has_more) => has_more,
                Err(broken) => {
                    if answer.reader.is_refusal(&broken) {
                        deltas.push(Ok(Delta::Usage(Usage::default())));
                    }
                    deltas.push(Err(self.broken(broken)));
                    false
                }
            };
            Some((stream::iter(deltas), has_more.then_some(answer)))
        });
        stream::iter(begun).chain(rest.flatten())
    }

    /// Reads on until a part of the reply came; false when the answer ended.
    async fn read(&self, answer: &mut OpenAnswer<P::Parser>) -> Result<bool, ResponseError> {
        let longest = match (answer.reader.is_done(), answer.reader.is_whole()) {
            (true, _) => self.idle_timeout.min(DRAIN_TIMEOUT),
            (false, true) => self.idle_timeout.min(FINISH_TIMEOUT),
            (false, false) => self.kept_alive_limit,
        };
        let silence = longest.min(self.idle_timeout);
        let read = timeout(longest, self.read_part(answer, silence)).await;
        match read {
            Ok(read) => read,
            Err(_) => {
                let seconds = longest.as_secs_f64();
                let broken = format!("no part of the reply came for {seconds} s");
                answer.reader.finish(Some(broken))?;
                Ok(false)
            }
        }
    }

    async fn read_part(
        &self,
        answer: &mut OpenAnswer<P::Parser>,
        silence: Duration,
    ) -> Result<bool, ResponseError> {
        let before = answer.reader.progress();
        while answer.reader.progress() == before {
            if !self.read_bytes(answer, silence).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next bytes of the answer; false when they were the last.
    async fn read_bytes(
        &self,
        answer: &mut OpenAnswer<P::Parser>,
        silence: Duration,
    ) -> Result<bool, ResponseError> {
        let broken = match timeout(silence, answer.response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let bytes = match &mut answer.frames {
                    Some(frames) => {
                        frames.feed(&bytes).map(Into::into).map_err(ResponseError::Malformed)?
                    }
                    None => bytes,
                };
                answer.reader.feed(&bytes)?;
                trace!(bytes = bytes.len(), "a piece of the answer came");
                return Ok(true);
            }
            Ok(Ok(None)) => None,
            Ok(Err(err)) => Some(format!("the stream broke: {}", described(&err))),
            Err(_) => Some(format!("nothing came for {} s", silence.as_secs_f64())),
        };
        answer.reader.finish(broken)?;
        Ok(false)
    }

    fn broken(&self, broken: ResponseError) -> ModelError {
        match broken {
            ResponseError::Cut(message) => self.connection.unavailable(message),
            ResponseError::Malformed(message) => self.connection.garbled(&message),
            ResponseError::Reported(fault) => self.connection.reported(fault),
        }
    }
}

impl<P: Protocol> Model for HttpModel<P> {
    fn label(&self) -> &str {
        self.connection.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        stream::once(async move { self.open(&request).await })
            .map_ok(|opened| self.deltas(opened))
            .try_flatten()
            .boxed()
    }
}

#[cfg(test)]
mod tests;
