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
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response};
use tokio::time::timeout;
use tracing::{debug, trace, warn};
use url::Url;

use crate::address::origin;
use crate::credentials::live::{CredentialError, LiveCredential};
use crate::resolve::ChosenModel;
use crate::transport::client::{CONNECT_TIMEOUT, ProxySource, client, described, headers, lasting};
use crate::transport::event_stream::EventStreamReader;
use crate::transport::protocol::{Endpoint, Protocol, identity, label};
use crate::transport::response::{ResponseError, ResponseReader};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::secret::Redactor;

/// Most bytes read of an error's body.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;
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
    label: String,
    /// See [`identity`]: the provider state of another is not sent to it.
    by: String,
    url: Url,
    headers: HeaderMap,
    /// Which key goes to which host, as told where it is refused.
    key_words: String,
    redactor: Redactor,
    /// What stands in for a key.
    credential: Option<LiveCredential>,
    /// What was learned of the server's dialect.
    dialect: AtomicU8,
    client: Client,
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
        let fault = |message: String| SetupError { model: label(chosen), message };
        let headers = headers(chosen, &endpoint).map_err(&fault)?;
        let client = client(&endpoint.url, ProxySource::Configured(chosen.proxy.as_ref()))
            .map_err(&fault)?;
        Ok(Self {
            protocol,
            label: label(chosen),
            by: identity(chosen, &endpoint.url),
            key_words: key_words(chosen, &endpoint.url),
            url: endpoint.url,
            headers,
            redactor: Redactor::new(chosen.key.clone()),
            credential: chosen.credential.clone().map(LiveCredential::new),
            dialect: AtomicU8::new(endpoint.dialect),
            client,
            idle_timeout: chosen.profile.idle_timeout(),
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
            let headers = self.authorized(&body).await?;
            debug!(task = %request.task, turn = request.turn, bytes = body.len(), "request");
            let request = self.client.post(self.url.clone()).headers(headers);
            // A profile's own come with them.
            let request = self
                .protocol
                .headers(dialect)
                .iter()
                .fold(request, |request, (name, value)| request.header(*name, *value));
            let sent = request.body(body).send();
            let response = match timeout(self.idle_timeout, sent).await {
                Ok(Ok(response)) => response,
                Ok(Err(err)) => return Err(self.unsent(&err)),
                Err(_) => {
                    return Err(self.unavailable(format!(
                        "no answer within {} s",
                        self.idle_timeout.as_secs_f64()
                    )));
                }
            };
            let status = response.status().as_u16();
            if response.status().is_success() {
                return Ok(response);
            }
            let headers = response.headers().clone();
            let words = self.redact(&self.error_body(response).await);
            tries += 1;
            // A token may be withdrawn before its time.
            if let (401, 1, Some(credential)) = (status, tries, &self.credential) {
                credential.forget();
                continue;
            }
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
                    return Err(self.with_key_words(error::status_error(
                        &self.label,
                        status,
                        &headers,
                        &words,
                    )));
                }
            }
        }
    }

    /// Returns the headers of a request, with what stands in for a key.
    async fn authorized(&self, body: &[u8]) -> Result<HeaderMap, ModelError> {
        let mut headers = self.headers.clone();
        let Some(credential) = &self.credential else { return Ok(headers) };
        let proofs = credential.headers(&self.url, body).await.map_err(|error| match error {
            CredentialError::Refused(message) => {
                ModelError::Unreachable { model: self.label.clone(), message }
            }
            CredentialError::Unavailable(message) => self.unavailable(message),
        })?;
        for (name, value) in proofs {
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| self.unavailable(format!("`{name}` cannot be sent in a header")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Returns a text without keys and tokens.
    fn redact(&self, text: &str) -> String {
        let text = self.redactor.redact(text);
        self.credential.as_ref().map_or_else(|| text.clone(), |held| held.redact(&text))
    }

    /// Reads the start of an error's body; what cannot be read is left out.
    async fn error_body(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while body.len() < ERROR_LIMIT_BYTES {
            match timeout(self.idle_timeout.min(CONNECT_TIMEOUT), response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_LIMIT_BYTES);
        String::from_utf8_lossy(&body).into_owned()
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
                        .map_err(|problem| self.garbled(problem))?,
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
            ResponseError::Cut(message) => self.unavailable(message),
            ResponseError::Malformed(message) => self.garbled(message),
            ResponseError::Reported(fault) => {
                let words = self.redact(&fault.to_string());
                self.with_key_words(error::reported_error(
                    &self.label,
                    &serde_json::from_str(&words).unwrap_or(fault),
                ))
            }
        }
    }

    /// Adds to a refused key which one it was.
    fn with_key_words(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Unauthorized { model, message } => {
                ModelError::Unauthorized { model, message: format!("{message} {}", self.key_words) }
            }
            other => other,
        }
    }

    /// Returns what it means that a request did not get through.
    fn unsent(&self, err: &reqwest::Error) -> ModelError {
        let message = self.redact(&described(err));
        match lasting(&message) {
            Some(hint) => ModelError::Unreachable {
                model: self.label.clone(),
                message: format!("{message}; {hint}"),
            },
            None => self.unavailable(message),
        }
    }

    fn unavailable(&self, message: String) -> ModelError {
        ModelError::unavailable(&self.label, message)
    }

    fn garbled(&self, message: String) -> ModelError {
        ModelError::garbled(&self.label, self.redact(&message))
    }
}

/// Returns which key goes to which host, in brackets.
fn key_words(chosen: &ChosenModel, url: &Url) -> String {
    let host = origin(url);
    match (&chosen.key_variable, &chosen.key) {
        (Some(variable), _) => format!("(`{host}` refused the key in {variable})"),
        (None, _) if chosen.credential.is_some() => {
            format!("(`{host}` refused the credentials that stand in for a key)")
        }
        (None, Some(_)) => format!("(`{host}` refused it)"),
        (None, None) => format!(
            "(no key was sent to `{host}`: name its variable in the profile's `api_key_env`)"
        ),
    }
}

impl<P: Protocol> Model for HttpModel<P> {
    fn label(&self) -> &str {
        &self.label
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        stream::once(async move { self.open(&request).await })
            .map_ok(|response| self.deltas(response))
            .try_flatten()
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use super::key_words;
    use crate::profile::ModelSettings;
    use crate::resolve::{ModelFacts, resolve};

    #[test]
    fn a_refused_key_is_named_by_its_variable_and_the_host() {
        let env = BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "sk-1".to_owned())]);
        for (asked, url, words) in [
            (
                "claude-x",
                "https://api.anthropic.com/v1/messages",
                "(`https://api.anthropic.com` refused the key in ANTHROPIC_API_KEY)",
            ),
            (
                "play",
                "http://localhost:1/v1/chat/completions",
                "(no key was sent to `http://localhost:1`: name its variable in the profile's \
                 `api_key_env`)",
            ),
        ] {
            let settings: ModelSettings = serde_yaml::from_str(
                "{ profiles: { play: { model: m, base_url: 'http://localhost:1/v1' } } }",
            )
            .unwrap();
            let nothing = BTreeSet::new();
            let facts = ModelFacts { env: &env, asked: Some(asked), from_repository: &nothing };
            let chosen = resolve(&settings, &facts).unwrap().main;
            assert_eq!(key_words(&chosen, &url.parse().unwrap()), words);
        }
    }
}
