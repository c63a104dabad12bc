//! What every adapter of a provider's protocol shares: the connection, the bytes of an answer, the
//! errors it may mean.
//!
//! In: a chosen model, where its requests go, and a [`Protocol`]. Out: a [`Model`]. It tries
//! nothing again (that is `retry`'s part) except a request whose optional fields a server refuses:
//! that one is said in the server's dialect, which is remembered.
//!
//! The adapters are our own because servers are only nearly compatible, and what a general client
//! library makes of the differences is lost for good: arguments sent as objects, calls without a
//! number, a stream that ends without its last line, characters cut in two. Each of these is read
//! here and has its test. No redirect is followed, so a key never reaches a host it was not meant
//! for.

pub(crate) mod error;
pub(crate) mod images;
pub(crate) mod json;
#[cfg(test)]
pub(crate) mod malformed;
pub(crate) mod parts;
pub(crate) mod response;
mod split_chars;
mod sse;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use tokio::time::timeout;
use tracing::{debug, trace, warn};
use url::Url;

use crate::address::is_loopback;
use crate::proxy::Proxy;
use crate::resolve::Chosen;
use crate::transport::response::{AnswerReader, Broken, Reading};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::secret::{Redactor, Secret};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Most bytes read of an error's body.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;
/// Most times one request is said again in another dialect.
const DIALECTS: usize = 3;

/// One provider's protocol.
pub(crate) trait Protocol: Send + Sync {
    /// How its answers are read.
    type Reading: Reading;

    /// Returns the body of a request in a server's dialect.
    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: Dialect,
    ) -> Result<Vec<u8>, serde_json::Error>;

    /// Returns headers that belong to a dialect.
    fn headers(&self, _dialect: Dialect) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the dialect to try after a server refused a request with these words; `None` when
    /// they are about something else.
    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect>;
}

/// How a server wants the fields on which servers differ: bits that mean what the protocol says.
pub(crate) type Dialect = u8;

/// Where requests go.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    /// The address, in full.
    pub(crate) url: Url,
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
    /// Headers of the protocol; a profile's own win.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// What is known of the server's dialect before it was asked.
    pub(crate) dialect: Dialect,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of its own.
    Named(&'static str),
}

/// A model behind an address.
#[derive(Debug)]
pub(crate) struct Remote<P> {
    protocol: P,
    label: String,
    /// See [`identity`]: what was kept for another is not sent to it.
    by: String,
    url: Url,
    headers: HeaderMap,
    redactor: Redactor,
    /// What was learned of the server's dialect.
    dialect: AtomicU8,
    client: Client,
    patience: Patience,
}

/// Longest silences of a server.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// While the reply is not whole.
    idle: Duration,
    /// After the finish reason: a count of tokens may still come.
    finish: Duration,
    /// After `[DONE]`: only the end of the body may still come, and with it the connection can be
    /// used again.
    drain: Duration,
}

impl Patience {
    fn new(idle: Duration) -> Self {
        Self {
            idle,
            finish: Duration::from_secs(2).min(idle),
            drain: Duration::from_millis(50).min(idle),
        }
    }
}

/// A model cannot be reached the way it is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model `{model}` cannot be set up: {message}")]
pub struct SetupError {
    /// The model's label.
    pub model: String,
    /// What is wrong.
    pub message: String,
}

impl<P: Protocol> Remote<P> {
    /// Prepares a model. Certificates are loaded only when the address needs them.
    ///
    /// # Errors
    /// When a header cannot be used, or the system has no certificates to trust.
    pub(crate) fn new(chosen: &Chosen, door: Door, protocol: P) -> Result<Self, SetupError> {
        let fault = |message: String| SetupError { model: label(chosen), message };
        let headers = headers(chosen, &door).map_err(&fault)?;
        let client = client(&door.url, Way::Through(chosen.proxy.as_ref())).map_err(&fault)?;
        Ok(Self {
            protocol,
            label: label(chosen),
            by: identity(chosen, &door.url),
            url: door.url,
            headers,
            redactor: Redactor::new(chosen.key.clone()),
            dialect: AtomicU8::new(door.dialect),
            client,
            patience: Patience::new(chosen.profile.idle_timeout()),
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
            let response = match timeout(self.patience.idle, sent).await {
                Ok(Ok(response)) => response,
                Ok(Err(err)) => return Err(self.unsent(&err)),
                Err(_) => {
                    return Err(self.unavailable(format!(
                        "no answer within {} s",
                        self.patience.idle.as_secs_f64()
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
            match self.protocol.corrected(dialect, status, &error::read_words(&words)) {
                Some(other) if tries < DIALECTS => {
                    warn!(
                        status,
                        words = error::read_words(&words),
                        "the server refuses an optional field: it is left out from now on"
                    );
                    self.dialect.store(other, Ordering::Relaxed);
                }
                Some(_) | None => {
                    return Err(error::read_status(&self.label, status, &headers, &words));
                }
            }
        }
    }

    /// Reads the start of an error's body; what cannot be read is left out.
    async fn error_body(&self, mut response: Response) -> String {
        let mut body = Vec::new();
        while body.len() < ERROR_LIMIT_BYTES {
            match timeout(self.patience.idle.min(CONNECT_TIMEOUT), response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_LIMIT_BYTES);
        String::from_utf8_lossy(&body).into_owned()
    }

    fn broken(&self, broken: Broken) -> ModelError {
        match broken {
            Broken::Cut(message) => self.unavailable(message),
            Broken::Garbled(message) => self.garbled(message),
            Broken::Reported(fault) => {
                let words = self.redactor.redact(&fault.to_string());
                error::read_reported(&self.label, &serde_json::from_str(&words).unwrap_or(fault))
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

impl<P: Protocol> Model for Remote<P> {
    fn label(&self) -> &str {
        &self.label
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        stream::unfold(
            Some(Exchange { model: self, request, phase: Phase::Asking, ready: VecDeque::new() }),
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
struct Exchange<'a, P: Protocol> {
    model: &'a Remote<P>,
    request: ModelRequest<'a>,
    phase: Phase<P::Reading>,
    ready: VecDeque<Delta>,
}

enum Phase<R> {
    /// Nothing was sent yet.
    Asking,
    /// The answer is being read.
    Reading(Box<(Response, AnswerReader<R>)>),
    /// There is nothing more to read.
    Over,
}

impl<P: Protocol> Exchange<'_, P> {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            self.phase = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Asking => match self.model.open(&self.request).await {
                    Ok(response) => {
                        Phase::Reading(Box::new((response, AnswerReader::new(&self.model.by))))
                    }
                    Err(err) => return Some(Err(err)),
                },
                Phase::Reading(mut answer) => match self.read(&mut answer).await {
                    Ok(true) => Phase::Reading(answer),
                    Ok(false) => Phase::Over,
                    Err(err) => return Some(Err(err)),
                },
            };
        }
    }

    /// Reads the next part of the answer; false when it was the last.
    async fn read(
        &mut self,
        answer: &mut (Response, AnswerReader<P::Reading>),
    ) -> Result<bool, ModelError> {
        let (response, reader) = answer;
        let patience = match (reader.is_done(), reader.is_whole()) {
            (true, _) => self.model.patience.drain,
            (false, true) => self.model.patience.finish,
            (false, false) => self.model.patience.idle,
        };
        let ended = match timeout(patience, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                reader.feed(&bytes).map_err(|broken| self.model.broken(broken))?;
                trace!(bytes = bytes.len(), "a piece of the answer came");
                None
            }
            Ok(Ok(None)) => Some(None),
            Ok(Err(err)) => Some(Some(format!("the stream broke: {}", described(&err)))),
            Err(_) => Some(Some(format!("nothing came for {} s", patience.as_secs_f64()))),
        };
        let more = ended.is_none();
        if let Some(broken) = ended {
            reader.finish(broken).map_err(|broken| self.model.broken(broken))?;
        }
        self.ready.extend(reader.take_deltas());
        Ok(more)
    }
}

/// Sends a JSON text to an address that is no model, and returns the status of the answer.
///
/// # Errors
/// When a header cannot be used, or nobody answered in time.
pub async fn post(
    url: &Url,
    headers: &[(String, Secret)],
    body: String,
    patience: Duration,
) -> Result<u16, String> {
    let mut request = client(url, Way::OfTheSystem)?
        .post(url.clone())
        .timeout(patience)
        .header(CONTENT_TYPE, "application/json")
        .body(body);
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|err| format!("header `{name}`: {err}"))?;
        let mut value = HeaderValue::try_from(value.expose())
            .map_err(|err| format!("header `{name}`: {err}"))?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    Ok(request.send().await.map_err(|err| described(&err))?.status().as_u16())
}

/// Returns an address with its path changed; a query stays at the end.
pub(crate) fn endpoint(
    chosen: &Chosen,
    path: impl FnOnce(&str) -> String,
) -> Result<Url, SetupError> {
    let address = chosen.profile.base_url.as_deref().unwrap_or_default();
    let fault = |_| SetupError {
        model: label(chosen),
        message: format!("`base_url` `{address}` is not an address"),
    };
    let mut url = Url::parse(address).map_err(fault)?;
    let changed = path(url.path().trim_end_matches('/'));
    url.set_path(&changed);
    Ok(url)
}

/// Returns the header OpenAI's protocols carry their key in: Azure's hosts want one of their own.
pub(crate) fn openai_key_header(url: &Url) -> KeyHeader {
    const AZURE: &[&str] =
        &[".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    let host = url.host_str().unwrap_or_default();
    if AZURE.iter().any(|end| host.ends_with(end)) {
        KeyHeader::Named("api-key")
    } else {
        KeyHeader::Bearer
    }
}

/// Returns what tells a model from every other: its host, the protocol's path there, its name.
pub(crate) fn identity(chosen: &Chosen, url: &Url) -> String {
    format!("{}{} {}", url.host_str().unwrap_or_default(), url.path(), chosen.profile.model)
}

fn label(chosen: &Chosen) -> String {
    if chosen.name == chosen.profile.model {
        chosen.name.clone()
    } else {
        format!("{} ({})", chosen.name, chosen.profile.model)
    }
}

fn headers(chosen: &Chosen, door: &Door) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let own = chosen.profile.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in door.headers.iter().copied().chain(own) {
        let name = HeaderName::try_from(name).map_err(|err| format!("header `{name}`: {err}"))?;
        let value =
            HeaderValue::try_from(value).map_err(|err| format!("header `{name}`: {err}"))?;
        headers.insert(name, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some(key) = &chosen.key {
        let (name, value) = match door.key_header {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            KeyHeader::Named(name) => (HeaderName::from_static(name), key.expose().to_owned()),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| "the key cannot be sent in a header".to_owned())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// How a connection finds its way.
#[derive(Clone, Copy)]
enum Way<'p> {
    /// Through this proxy, or straight.
    Through(Option<&'p Proxy>),
    /// As the variables of this process say.
    OfTheSystem,
}

fn client(url: &Url, way: Way<'_>) -> Result<Client, String> {
    // The first caller in the process wins; a provider that is already installed is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("locum/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    if url.scheme() == "http" {
        // Reading the system's certificates is the dearest part of a client and of no use here.
        builder = builder.tls_certs_only([]);
    }
    // A proxy of the environment is for the world outside.
    builder = match way {
        Way::OfTheSystem if !is_loopback(url) => builder,
        Way::OfTheSystem | Way::Through(None) => builder.no_proxy(),
        Way::Through(Some(proxy)) => {
            let address =
                reqwest::Proxy::all(proxy.address.expose()).map_err(|err| described(&err))?;
            builder.no_proxy().proxy(address.no_proxy(reqwest::NoProxy::from_string(&proxy.except)))
        }
    };
    builder.build().map_err(|err| {
        let message = described(&err);
        lasting(&message).map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"))
    })
}

/// Returns what to do about a fault on the way that another try will not mend.
fn lasting(message: &str) -> Option<&'static str> {
    const LASTING: &[(&str, &str)] = &[
        (
            "invalid peer certificate",
            "`SSL_CERT_FILE` or `SSL_CERT_DIR` says whose certificates are trusted in place of \
             the system's",
        ),
        (
            "No CA certificates were loaded",
            "`SSL_CERT_FILE` or `SSL_CERT_DIR` stands in place of the system's certificates: is \
             it there?",
        ),
        (
            "proxy authorization required",
            "the address of the proxy needs a user name and a password before its host",
        ),
    ];
    LASTING.iter().find(|(fault, _)| message.contains(fault)).map(|(_, hint)| *hint)
}

/// Returns an error with its causes, without the address it happened at.
fn described(err: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut cause: Option<&dyn Error> = err.source();
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    causes.dedup();
    let what = if err.is_connect() {
        "cannot connect"
    } else if err.is_timeout() {
        "timed out"
    } else if err.is_builder() {
        "no connection can be made"
    } else {
        "the connection failed"
    };
    if causes.is_empty() { what.to_owned() } else { format!("{what}: {}", causes.join(": ")) }
}

#[cfg(test)]
mod tests {
    use super::{KeyHeader, openai_key_header};

    #[test]
    fn azure_gets_its_key_where_it_looks_for_it() {
        for (host, expected) in [
            ("https://mine.openai.azure.com/openai/deployments/x", KeyHeader::Named("api-key")),
            ("https://mine.services.ai.azure.com/models", KeyHeader::Named("api-key")),
            ("https://mine.openai.azure.com.evil.example/", KeyHeader::Bearer),
            ("https://api.openai.com/v1", KeyHeader::Bearer),
        ] {
            assert_eq!(openai_key_header(&host.parse().unwrap()), expected, "{host}");
        }
    }
}
