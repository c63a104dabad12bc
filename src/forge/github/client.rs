//! A connection to GitHub's REST API: octocrab with typed answers over our own reqwest.
//!
//! In: a path and what is sent. Out: the answer, or an error a user can act on. Reads are repeated
//! within bounds. So are writes that come to the same when they are sent twice, and those that a
//! limit refused. Whatever creates something is looked for before it is sent again: a comment
//! posted twice is worse than one reported as failed. octocrab's own retries know no such
//! difference, so they are not compiled in.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use http_body_util::{LengthLimitError, Limited};
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::reqwest_connector::ReqwestConnector;
use octocrab::{AuthState, FromResponse as _, GitHubError, Octocrab, OctocrabBuilder};
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use tokio::sync::OnceCell;
use tower::util::MapResponseLayer;
use tracing::debug;

use crate::github::limit::{RateLimit, is_about_limit};
use crate::github::repeat;
use crate::{ForgeError, ReadPatience};
use locum_base::clock::Clock;
use locum_base::retry::{RetryBudget, RetryWaits};
use locum_base::secret::Secret;
use locum_base::text::head;

/// The forge's name in errors.
pub(super) const NAME: &str = "github";

/// Attempts at a read, the first included.
const READ_ATTEMPTS: u32 = 3;

/// A read waits at most so long before it is tried again; what the forge asks beyond that is
/// reported instead, unless it was said that reads wait as writes do.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

/// An answer longer than this is not read.
const ANSWER_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// The message of an answer is shown up to this length.
const MESSAGE_LIMIT_BYTES: usize = 400;

/// A connection to one API, opened by the first request.
pub(super) struct RestClient {
    base_url: String,
    token: Option<Secret>,
    clock: Arc<dyn Clock>,
    octocrab: OnceCell<Octocrab>,
    /// Time that writes may still wait before they are sent again, and reads that wait as they do.
    pub(super) budget: Arc<RetryBudget>,
    waits_as_writes: Arc<AtomicBool>,
}

/// What one read waited so far.
#[derive(Debug, Default)]
pub(super) struct ReadWaits {
    repeats: u32,
    as_writes: RetryWaits,
    /// Whether it waits for seconds only, however long reads may wait.
    is_short: bool,
}

impl ReadWaits {
    /// Those of a read that waits for seconds only.
    pub(super) fn short() -> Self {
        Self { is_short: true, ..Self::default() }
    }
}

/// A request as errors and logs name it.
#[derive(Clone, Copy)]
struct RequestLine<'a> {
    method: &'static str,
    path: &'a str,
}

impl RestClient {
    /// Prepares a connection; nothing is opened yet. `base_url` is where the API starts,
    /// `https://ghes.example/api/v3`.
    pub(super) fn new(base_url: &str, token: Option<Secret>, clock: Arc<dyn Clock>) -> Self {
        let base_url = base_url.trim_end_matches('/').to_owned();
        let budget = Arc::new(RetryBudget::default());
        let waits_as_writes = Arc::new(AtomicBool::new(false));
        Self { base_url, token, clock, octocrab: OnceCell::new(), budget, waits_as_writes }
    }

    /// Prepares a connection to another API of the same forge, which waits as this one does and out
    /// of the same budget.
    pub(super) fn beside(&self, base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            token: self.token.clone(),
            clock: Arc::clone(&self.clock),
            octocrab: OnceCell::new(),
            budget: Arc::clone(&self.budget),
            waits_as_writes: Arc::clone(&self.waits_as_writes),
        }
    }

    /// Says how long reads may wait from now on.
    pub(super) fn set_patience(&self, patience: ReadPatience) {
        self.waits_as_writes.store(patience == ReadPatience::AsWrites, Ordering::Relaxed);
    }

    /// Reads. Repeated when the forge is busy or asks for a short wait; for a longer one where
    /// reads wait as writes do.
    ///
    /// # Errors
    /// Like every request: when the forge refuses, does not know the thing, asks for a long wait,
    /// or fails.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ForgeError> {
        let request = RequestLine { method: "GET", path };
        let octocrab = self.connected(request).await?;
        let mut waits = ReadWaits::default();
        loop {
            let read = octocrab.get(path, None::<&()>).await;
            match read.map_err(|error| self.failure(request, &error)) {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait_to_read(&mut waits, error).await?,
            }
        }
    }

    /// Changes or replaces what is at `path`, and reads the answer. It has to come to the same when
    /// it is sent twice: it is repeated while the forge is busy, within the budget of writes.
    ///
    /// # Errors
    /// As [`RestClient::get`].
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        method: &'static str,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ForgeError> {
        self.send_as(method, path, body, |answer: T, _| Ok(answer)).await
    }

    /// As [`RestClient::send`], where an answer may hold an error: `read` returns what was asked
    /// for, or that. It is given the seconds that a limit asks to wait, too.
    pub(super) async fn send_as<T: DeserializeOwned, U>(
        &self,
        method: &'static str,
        path: &str,
        body: &(impl Serialize + Sync),
        read: impl Fn(T, Option<u64>) -> Result<U, ForgeError>,
    ) -> Result<U, ForgeError> {
        let mut waits = RetryWaits::default();
        loop {
            match self.send_once_as(method, path, body, &read).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait(&mut waits, error).await?,
            }
        }
    }

    /// Creates something at `path`. Where it is not known whether it was created, it is looked for
    /// before it is sent again.
    ///
    /// # Errors
    /// As [`RestClient::get`], and those of `find`.
    pub(super) async fn create<'f, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
        find: impl Fn() -> BoxFuture<'f, Result<Option<T>, ForgeError>>,
    ) -> Result<T, ForgeError> {
        self.create_as(path, body, |answer: T, _| Ok(answer), find).await
    }

    /// As [`RestClient::create`], where an answer may hold an error, as for
    /// [`RestClient::send_as`].
    pub(super) async fn create_as<'f, T: DeserializeOwned, U>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
        read: impl Fn(T, Option<u64>) -> Result<U, ForgeError>,
        find: impl Fn() -> BoxFuture<'f, Result<Option<U>, ForgeError>>,
    ) -> Result<U, ForgeError> {
        let mut waits = RetryWaits::default();
        loop {
            let error = match self.send_once_as("POST", path, body, &read).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let unknown = matches!(error, ForgeError::Unavailable { .. });
            let given_up = self.wait(&mut waits, error).await.err();
            if unknown && let Some(found) = find().await? {
                return Ok(found);
            }
            if let Some(error) = given_up {
                return Err(error);
            }
        }
    }

    /// Removes. The answer is empty, which octocrab's `delete` would take for broken JSON. What is
    /// gone already counts as removed.
    pub(super) async fn delete(&self, path: &str) -> Result<(), ForgeError> {
        let request = RequestLine { method: "DELETE", path };
        let octocrab = self.connected(request).await?;
        let mut waits = RetryWaits::default();
        loop {
            let sent = async {
                let answer = octocrab._delete(path, None::<&()>).await?;
                octocrab::map_github_error(answer).await.map(drop)
            };
            match sent.await.map_err(|error| self.failure(request, &error)) {
                Ok(()) => return Ok(()),
                Err(ForgeError::NotFound { .. }) if waits.is_repeated() => return Ok(()),
                Err(error) => self.wait(&mut waits, error).await?,
            }
        }
    }

    /// Asks for something that has no answer but that it was taken.
    ///
    /// # Errors
    /// As [`RestClient::get`].
    pub(super) async fn order(&self, path: &str) -> Result<(), ForgeError> {
        let request = RequestLine { method: "POST", path };
        let octocrab = self.connected(request).await?;
        let sent = async {
            let answer = octocrab._post(path, None::<&()>).await?;
            octocrab::map_github_error(answer).await.map(drop)
        };
        sent.await.map_err(|error| self.failure(request, &error))
    }

    /// Waits before a read is sent again: for seconds, or as long as writes do where that was said.
    ///
    /// # Errors
    /// The error itself where it is not to be repeated.
    pub(super) async fn wait_to_read(
        &self,
        waits: &mut ReadWaits,
        error: ForgeError,
    ) -> Result<(), ForgeError> {
        if !waits.is_short && self.waits_as_writes.load(Ordering::Relaxed) {
            return self.wait(&mut waits.as_writes, error).await;
        }
        let attempt = waits.repeats + 1;
        let pause = match &error {
            ForgeError::RateLimited { retry_after_s, .. } => retry_after_s.map(Duration::from_secs),
            ForgeError::Unavailable { .. } => Some(Duration::from_secs(u64::from(attempt))),
            ForgeError::Forbidden { .. }
            | ForgeError::NotFound { .. }
            | ForgeError::Conflict { .. }
            | ForgeError::Failed { .. } => None,
        };
        let pause = pause.filter(|pause| *pause <= WAIT_LIMIT && attempt < READ_ATTEMPTS);
        let Some(pause) = pause else { return Err(error) };
        debug!(%error, attempt, wait_s = pause.as_secs(), "repeated after a wait");
        self.clock.sleep(pause).await;
        waits.repeats = attempt;
        Ok(())
    }

    /// Waits before a request is sent again.
    ///
    /// # Errors
    /// The error itself where it is not to be repeated.
    pub(super) async fn wait(
        &self,
        waits: &mut RetryWaits,
        error: ForgeError,
    ) -> Result<(), ForgeError> {
        let Some(pause) = repeat::next(waits, &error, &self.budget) else { return Err(error) };
        debug!(%error, wait_s = pause.as_secs(), "repeated after a wait");
        self.clock.sleep(pause).await;
        Ok(())
    }

    /// Sends a write and never repeats it.
    ///
    /// # Errors
    /// As [`RestClient::get`].
    pub(super) async fn send_once<T: DeserializeOwned>(
        &self,
        method: &'static str,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ForgeError> {
        self.send_once_as(method, path, body, |answer: T, _| Ok(answer)).await
    }

    /// As [`RestClient::send_once`], where an answer may hold an error, as for
    /// [`RestClient::send_as`].
    pub(super) async fn send_once_as<T: DeserializeOwned, U>(
        &self,
        method: &'static str,
        path: &str,
        body: &(impl Serialize + Sync),
        read: impl FnOnce(T, Option<u64>) -> Result<U, ForgeError>,
    ) -> Result<U, ForgeError> {
        let request = RequestLine { method, path };
        let octocrab = self.connected(request).await?;
        let sent = async {
            let request = http::Request::builder().method(method).uri(path);
            let answer = octocrab.execute(octocrab.build_request(request, Some(body))?).await?;
            let answer = octocrab::map_github_error(answer).await?;
            let limit = RateLimit::of(answer.headers(), self.clock.now().as_second());
            Ok((T::from_response(answer).await?, limit.wait_s))
        };
        let (answer, wait_s) = sent.await.map_err(|error| self.failure(request, &error))?;
        read(answer, wait_s)
    }

    async fn connected(&self, request: RequestLine<'_>) -> Result<&Octocrab, ForgeError> {
        debug!(%request, "request");
        let octocrab = self.octocrab.get_or_try_init(|| async { self.connect() }).await;
        octocrab.map_err(|message| request.failed(message))
    }

    /// Returns where the API starts.
    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns what a request says who we are by; `None` without a token.
    pub(super) fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        self.token.as_ref().map(bearer).transpose()
    }

    /// Returns a client of our own: rustls with ring, the system's proxies.
    pub(super) fn plain_client(&self) -> reqwest::ClientBuilder {
        // A second caller's provider is the same one: whoever comes first installs it.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            // GitHub refuses requests without one; octocrab's own stack sends this.
            .user_agent("octocrab")
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(60));
        if self.base_url.starts_with("http:") {
            // Reading the system's certificates is the dearest part of a client and of no use here.
            client = client.tls_certs_only([]);
        }
        client
    }

    /// Makes the client of the API, with answers of bounded length.
    fn connect(&self) -> Result<Octocrab, String> {
        let client = self
            .plain_client()
            .build()
            .map_err(|error| format!("cannot make an HTTP client: {}", chain(&error)))?;
        let base: http::Uri = self
            .base_url
            .parse()
            .ok()
            .filter(|base: &http::Uri| base.scheme().is_some() && base.host().is_some())
            .ok_or_else(|| format!("`{}` is not the address of an API", self.base_url))?;
        let token = self.authorization()?;
        let bounded = MapResponseLayer::new(|answer: http::Response<_>| {
            answer.map(|body| Limited::new(body, ANSWER_LIMIT_BYTES))
        });
        OctocrabBuilder::new_empty()
            .with_service(ReqwestConnector::new(client))
            .with_layer(&bounded)
            .with_layer(&BaseUriLayer::new(base.clone()))
            .with_layer(&AuthHeaderLayer::new(token, base.clone(), base))
            .with_auth(AuthState::None)
            .build()
            .map_err(|never| match never {})
    }

    fn failure(&self, request: RequestLine<'_>, error: &octocrab::Error) -> ForgeError {
        let failed =
            if is_connection_lost(error) { RequestLine::unavailable } else { RequestLine::failed };
        failed(
            request,
            match error {
                octocrab::Error::GitHub { source, .. } => return self.refusal(request, source),
                octocrab::Error::Json { source, .. } => match source.inner().classify() {
                    Category::Data => {
                        format!("cannot read `{}` of the answer: {}", source.path(), source.inner())
                    }
                    Category::Io | Category::Syntax | Category::Eof => {
                        format!("the answer is not JSON: {}", source.inner())
                    }
                },
                octocrab::Error::Service { source, .. } if source.is::<LengthLimitError>() => {
                    format!("the answer has more than {ANSWER_LIMIT_BYTES} bytes")
                }
                octocrab::Error::Service { .. } => {
                    let cause = chain(error);
                    let cause = cause.rsplit(": ").next().unwrap_or(&cause);
                    format!(
                        "cannot reach `{}` ({cause}); check the network, the proxy and GITHUB_API_URL",
                        self.base_url
                    )
                }
                _ => chain(error),
            },
        )
    }

    /// Reads what a status means.
    fn refusal(&self, request: RequestLine<'_>, answer: &GitHubError) -> ForgeError {
        let (forge, action, message) = (NAME, request.to_string(), message_of(answer));
        let none = HeaderMap::new();
        let headers = answer.headers.as_ref().unwrap_or(&none);
        let limit = RateLimit::of(headers, self.clock.now().as_second());
        let is_limit = limit.is_reached || is_about_limit(&answer.message);
        match answer.status_code.as_u16() {
            status @ (403 | 429) if is_limit || status == 429 => {
                ForgeError::RateLimited { forge, action, retry_after_s: limit.wait_s }
            }
            401 | 403 | 451 => ForgeError::Forbidden { forge, action, message },
            404 | 410 => ForgeError::NotFound { forge, what: request.path.to_owned() },
            408 | 500 | 502..=504 => request.unavailable(message),
            _ => request.failed(message),
        }
    }
}

/// Returns whether the connection failed: a request may work after a moment.
fn is_connection_lost(error: &octocrab::Error) -> bool {
    match error {
        octocrab::Error::Service { source, .. } => !source.is::<LengthLimitError>(),
        _ => false,
    }
}

impl RequestLine<'_> {
    fn failed(self, message: String) -> ForgeError {
        let message = head(&message, MESSAGE_LIMIT_BYTES).trim_end().to_owned();
        ForgeError::Failed { forge: NAME, action: self.to_string(), message }
    }

    fn unavailable(self, message: String) -> ForgeError {
        let message = head(&message, MESSAGE_LIMIT_BYTES).trim_end().to_owned();
        ForgeError::Unavailable { forge: NAME, action: self.to_string(), message }
    }
}

impl fmt::Display for RequestLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, String> {
    let token = token.expose();
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let mut header = Some(format!("Bearer {token}"))
        .filter(|_| is_plain)
        .and_then(|header| HeaderValue::try_from(header).ok())
        .ok_or("the token is empty or holds characters that tokens don't have")?;
    header.set_sensitive(true);
    Ok(header)
}

/// Returns the forge's own words for what is wrong, details included.
fn message_of(answer: &GitHubError) -> String {
    // A gateway answers with a page of its own.
    let message = if answer.message.starts_with('<') {
        answer.status_code.canonical_reason().unwrap_or_default()
    } else {
        &answer.message
    };
    let details = answer.errors.iter().flatten().filter_map(|error| {
        error.as_str().or_else(|| error.get("message").and_then(serde_json::Value::as_str))
    });
    let words: Vec<&str> = std::iter::once(message).chain(details).collect();
    let text = format!("{} {}", answer.status_code.as_u16(), words.join(": "));
    head(&text, MESSAGE_LIMIT_BYTES).trim_end().to_owned()
}

/// Returns an error with what caused it; the outer ones alone say little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = vec![error.to_string().lines().next().unwrap_or_default().to_owned()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if words.last() != Some(&text) {
            words.push(text);
        }
        source = cause.source();
    }
    words.join(": ")
}
