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
pub(crate) mod error;
pub(crate) mod images;
pub(crate) mod json;
#[cfg(test)]
pub(crate) mod malformed;
pub(crate) mod parts;
pub(crate) mod protocol;
pub(crate) mod response;
mod split_chars;
mod sse;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::HeaderMap;
use reqwest::{Client, Response};
use tokio::time::timeout;
use tracing::{debug, trace, warn};
use url::Url;

use crate::resolve::ChosenModel;
use crate::transport::client::{CONNECT_TIMEOUT, ProxySource, client, described, headers, lasting};
use crate::transport::protocol::{Endpoint, Protocol, identity, label};
use crate::transport::response::{ResponseError, ResponseReader};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::secret::Redactor;

/// Most bytes read of an error's body.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;
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
    label: String,
    /// See [`identity`]: the provider state of another is not sent to it.
    by: String,
    url: Url,
    headers: HeaderMap,
    redactor: Redactor,
    /// What was learned of the server's dialect.
    dialect: AtomicU8,
    client: Client,
    timeouts: Timeouts,
}

/// Longest silences of a server.
#[derive(Clone, Copy, Debug)]
struct Timeouts {
    /// While the reply is not whole.
    idle: Duration,
    /// After the finish reason: a count of tokens may still come.
    finish: Duration,
    /// After `[DONE]`: only the end of the body may still come, and with it the connection can be
    /// used again.
    drain: Duration,
}

impl Timeouts {
    fn new(idle: Duration) -> Self {
        Self {
            idle,
            finish: Duration::from_secs(2).min(idle),
            drain: Duration::from_millis(50).min(idle),
        }
    }
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
        let fault = |message: String| SetupError { model: label(chosen), message };
        let headers = headers(chosen, &endpoint).map_err(&fault)?;
        let client = client(&endpoint.url, ProxySource::Configured(chosen.proxy.as_ref()))
            .map_err(&fault)?;
        Ok(Self {
            protocol,
            label: label(chosen),
            by: identity(chosen, &endpoint.url),
            url: endpoint.url,
            headers,
            redactor: Redactor::new(chosen.key.clone()),
            dialect: AtomicU8::new(endpoint.dialect),
            client,
            timeouts: Timeouts::new(chosen.profile.idle_timeout()),
        })
    }

    /// Sends the request and returns the answer once its status says that a reply follows.
    async fn open(&self, request: &ModelRequest<'_>) -> Result<Response, ModelError> {
        let mut tries = 0;
        loop {
            let dialect = self.dialect.load(Ordering::Relaxed);
            let body = self
                .protocol
                .body(request, dialect)
                .map_err(|err| self.garbled(format!("the request cannot be written: {err}")))?;
            debug!(task = %request.task, turn = request.turn, bytes = body.len(), "request");
            let request = self.client.post(self.url.clone()).headers(self.headers.clone());
            // A profile's own come with them.
            let request = self
                .protocol
                .headers(dialect)
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            let sent = request.body(body).send();
            let response = match timeout(self.timeouts.idle, sent).await {
                Ok(Ok(response)) => response,
                Ok(Err(err)) => return Err(self.unsent(&err)),
                Err(_) => {
                    return Err(self.unavailable(format!(
                        "no answer within {} s",
                        self.timeouts.idle.as_secs_f64()
                    )));
                }
            };
            let status = response.status().as_u16();
            if response.status().is_success() {
                return Ok(response);
            }
            let headers = response.headers().clone();
            let words = self.redactor.redact(&self.error_body(response).await);
            tries += 1;
            match self.protocol.corrected(dialect, status, &error::error_message(&words)) {
                Some(other) if tries < DIALECTS => {
                    warn!(
                        status,
                        words = error::error_message(&words),
                        "the server rejected an optional field; it is left out from now on"
                    );
                    self.dialect.store(other, Ordering::Relaxed);
                }
                Some(_) | None => {
                    return Err(error::status_error(&self.label, status, &headers, &words));
                }
            }
        }
    }

    /// Reads the start of an error's body; what cannot be read is left out.
    async fn error_body(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while body.len() < ERROR_LIMIT_BYTES {
            match timeout(self.timeouts.idle.min(CONNECT_TIMEOUT), response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_LIMIT_BYTES);
        String::from_utf8_lossy(&body).into_owned()
    }

    fn broken(&self, broken: ResponseError) -> ModelError {
        match broken {
            ResponseError::Cut(message) => self.unavailable(message),
            ResponseError::Malformed(message) => self.garbled(message),
            ResponseError::Reported(fault) => {
                let words = self.redactor.redact(&fault.to_string());
                error::reported_error(&self.label, &serde_json::from_str(&words).unwrap_or(fault))
            }
        }
    }

    /// Returns what it means that a request did not get through.
    fn unsent(&self, err: &reqwest::Error) -> ModelError {
        let message = self.redactor.redact(&described(err));
        match lasting(&message) {
            Some(hint) => ModelError::Unreachable {
                model: self.label.clone(),
                message: format!("{message}; {hint}"),
            },
            None => self.unavailable(message),
        }
    }

    fn unavailable(&self, message: String) -> ModelError {
        ModelError::Unavailable { model: self.label.clone(), message, retry_after: None }
    }

    fn garbled(&self, message: String) -> ModelError {
        ModelError::Garbled { model: self.label.clone(), message: self.redactor.redact(&message) }
    }
}

impl<P: Protocol> Model for HttpModel<P> {
    fn label(&self) -> &str {
        &self.label
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        stream::unfold(
            Some(ModelExchange {
                model: self,
                request,
                phase: ExchangePhase::Asking,
                ready: VecDeque::new(),
            }),
            |exchange| async {
                let mut exchange = exchange?;
                let item = exchange.next().await?;
                let rest = item.is_ok().then_some(exchange);
                Some((item, rest))
            },
        )
        .boxed()
    }
}

/// One request and its answer, as far as it was read.
struct ModelExchange<'a, P: Protocol> {
    model: &'a HttpModel<P>,
    request: ModelRequest<'a>,
    phase: ExchangePhase<P::Parser>,
    ready: VecDeque<Delta>,
}

enum ExchangePhase<R> {
    /// Nothing was sent yet.
    Asking,
    /// The answer is being read.
    Reading(Box<(Response, ResponseReader<R>)>),
    /// There is nothing more to read.
    Over,
}

impl<P: Protocol> ModelExchange<'_, P> {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            self.phase = match std::mem::replace(&mut self.phase, ExchangePhase::Over) {
                ExchangePhase::Over => return None,
                ExchangePhase::Asking => match self.model.open(&self.request).await {
                    Ok(response) => ExchangePhase::Reading(Box::new((
                        response,
                        ResponseReader::new(&self.model.by),
                    ))),
                    Err(err) => return Some(Err(err)),
                },
                ExchangePhase::Reading(mut answer) => match self.read(&mut answer).await {
                    Ok(true) => ExchangePhase::Reading(answer),
                    Ok(false) => ExchangePhase::Over,
                    Err(err) => return Some(Err(err)),
                },
            };
        }
    }

    /// Reads the next part of the answer; false when it was the last.
    async fn read(
        &mut self,
        answer: &mut (Response, ResponseReader<P::Parser>),
    ) -> Result<bool, ModelError> {
        let (response, reader) = answer;
        let timeouts = match (reader.is_done(), reader.is_whole()) {
            (true, _) => self.model.timeouts.drain,
            (false, true) => self.model.timeouts.finish,
            (false, false) => self.model.timeouts.idle,
        };
        let ended = match timeout(timeouts, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                reader.feed(&bytes).map_err(|broken| self.model.broken(broken))?;
                trace!(bytes = bytes.len(), "a piece of the answer came");
                None
            }
            Ok(Ok(None)) => Some(None),
            Ok(Err(err)) => Some(Some(format!("the stream broke: {}", described(&err)))),
            Err(_) => Some(Some(format!("nothing came for {} s", timeouts.as_secs_f64()))),
        };
        let more = ended.is_none();
        if let Some(broken) = ended {
            reader.finish(broken).map_err(|broken| self.model.broken(broken))?;
        }
        self.ready.extend(reader.take_deltas());
        Ok(more)
    }
}
