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

use std::sync::atomic::{AtomicU8, Ordering};
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

/// Longest silence after the finish reason: a count of tokens may still come.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest silence after `[DONE]`: only the end of the body may still come, and with it the
/// connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);
/// Most times one request is sent again in another dialect.
const DIALECTS: usize = 3;

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
    dialect: AtomicU8,
    /// Longest silence while the reply is not whole.
    idle_timeout: Duration,
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
        Ok(Self {
            protocol,
            connection: Connection::new(chosen, &endpoint)?,
            by: identity(chosen, &endpoint.url),
            dialect: AtomicU8::new(endpoint.dialect),
            idle_timeout: chosen.profile.idle_timeout(),
        })
    }

    /// Sends the request and returns the answer once its status says that a reply follows.
    async fn open(&self, request: &ModelRequest<'_>) -> Result<Response, ModelError> {
        let mut tries = 0;
        loop {
            let dialect = self.dialect.load(Ordering::Relaxed);
            let body = self.protocol.body(request, dialect).map_err(|err| {
                self.connection.garbled(&format!("the request cannot be written: {err}"))
            })?;
            debug!(task = %request.task, turn = request.turn, bytes = body.len(), "request");
            let refused = match self.connection.send(body, self.protocol.headers(dialect)).await? {
                ServerAnswer::Accepted(response) => return Ok(response),
                ServerAnswer::Refused(refused) => refused,
            };
            tries += 1;
            let words = error::error_message(&refused.words);
            match self.protocol.corrected(dialect, refused.status, &words) {
                Some(other) if tries < DIALECTS => {
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

    /// Reads an answer to its end or its first error.
    fn deltas(&self, response: Response) -> impl Stream<Item = Result<Delta, ModelError>> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let frames = kind
            .is_some_and(|kind| kind.starts_with(event_stream::CONTENT_TYPE))
            .then(EventStreamReader::default);
        let answer = Some((response, ResponseReader::<P::Parser>::new(&self.by), frames));
        stream::try_unfold(answer, async |answer| {
            let Some((mut response, mut reader, mut frames)) = answer else { return Ok(None) };
            let has_more = self.read(&mut response, &mut reader, &mut frames).await?;
            let deltas = stream::iter(reader.take_deltas().into_iter().map(Ok));
            Ok(Some((deltas, has_more.then_some((response, reader, frames)))))
        })
        .try_flatten()
    }

    /// Reads the next part of the answer; false when it was the last.
    async fn read(
        &self,
        response: &mut Response,
        reader: &mut ResponseReader<P::Parser>,
        frames: &mut Option<EventStreamReader>,
    ) -> Result<bool, ModelError> {
        let longest = match (reader.is_done(), reader.is_whole()) {
            (true, _) => self.idle_timeout.min(DRAIN_TIMEOUT),
            (false, true) => self.idle_timeout.min(FINISH_TIMEOUT),
            (false, false) => self.idle_timeout,
        };
        let broken = match timeout(longest, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let bytes = match frames {
                    Some(frames) => frames
                        .feed(&bytes)
                        .map(Into::into)
                        .map_err(|problem| self.connection.garbled(&problem))?,
                    None => bytes,
                };
                reader.feed(&bytes).map_err(|broken| self.broken(broken))?;
                trace!(bytes = bytes.len(), "a piece of the answer came");
                return Ok(true);
            }
            Ok(Ok(None)) => None,
            Ok(Err(err)) => Some(format!("the stream broke: {}", described(&err))),
            Err(_) => Some(format!("nothing came for {} s", longest.as_secs_f64())),
        };
        reader.finish(broken).map_err(|broken| self.broken(broken))?;
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
            .map_ok(|response| self.deltas(response))
            .try_flatten()
            .boxed()
    }
}
