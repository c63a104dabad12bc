//! Requests to GitHub's REST API: the client, bounded retries of reads, answers as JSON or as an
//! error a person can act on.
//!
//! Writes are sent once: a comment posted twice is worse than one reported as failed. octocrab's
//! own retries repeat writes, so they are not compiled in.

use std::sync::Arc;
use std::time::Duration;

use octocrab::Octocrab;
use serde_json::Value;
use tokio::sync::OnceCell;
use tracing::debug;

use crate::ForgeError;
use locum_base::clock::Clock;
use locum_base::secret::Secret;
use locum_base::text::head;

/// The forge's name in errors.
pub(super) const NAME: &str = "github";

/// Attempts at a read, the first included.
const READ_ATTEMPTS: u32 = 3;

/// A read waits at most so long before it is tried again; what the forge asks beyond that is
/// reported instead.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

/// An answer longer than this is not read.
const ANSWER_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// The message of an answer is shown up to this length.
const MESSAGE_LIMIT_BYTES: usize = 400;

/// A connection to one API, made at the first request.
pub(super) struct Wire {
    base_url: String,
    token: Option<Secret>,
    clock: Arc<dyn Clock>,
    client: OnceCell<Octocrab>,
}

/// What is asked.
pub(super) struct Call {
    method: Method,
    path: String,
    body: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Patch,
    Put,
    Delete,
}

impl Call {
    /// Reads; may be asked again.
    pub(super) fn get(path: String) -> Self {
        Self { method: Method::Get, path, body: None }
    }

    /// Creates.
    pub(super) fn post(path: String, body: Value) -> Self {
        Self { method: Method::Post, path, body: Some(body) }
    }

    /// Changes.
    pub(super) fn patch(path: String, body: Value) -> Self {
        Self { method: Method::Patch, path, body: Some(body) }
    }

    /// Replaces.
    pub(super) fn put(path: String, body: Value) -> Self {
        Self { method: Method::Put, path, body: Some(body) }
    }

    /// Removes.
    pub(super) fn delete(path: String) -> Self {
        Self { method: Method::Delete, path, body: None }
    }

    fn name(&self) -> String {
        let method = match self.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        };
        format!("{method} {}", self.path)
    }
}

/// What one attempt came to.
enum Attempt {
    Answered(Value),
    Failed(ForgeError),
    /// May work later: after so long, where the forge said.
    Later(ForgeError, Option<Duration>),
}

impl Wire {
    /// Prepares a connection; nothing is opened yet. `base_url` is where the API starts,
    /// `https://ghes.example/api/v3`.
    pub(super) fn new(base_url: &str, token: Option<Secret>, clock: Arc<dyn Clock>) -> Self {
        Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            token,
            clock,
            client: OnceCell::new(),
        }
    }

    /// Asks and returns the answer.
    ///
    /// # Errors
    /// When the forge refuses, does not know the thing, asks to wait too long, or fails.
    pub(super) async fn ask(&self, call: Call) -> Result<Value, ForgeError> {
        let mut attempt = 1;
        loop {
            let (error, asked) = match self.attempt(&call).await {
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Later(error, asked) => (error, asked),
            };
            let pause = asked.unwrap_or(Duration::from_secs(u64::from(attempt)));
            if call.method != Method::Get || attempt >= READ_ATTEMPTS || pause > WAIT_LIMIT {
                return Err(error);
            }
            debug!(call = %call.name(), attempt, wait_s = pause.as_secs(), "asked again later");
            self.clock.sleep(pause).await;
            attempt += 1;
        }
    }

    async fn attempt(&self, call: &Call) -> Attempt {
        let failed =
            |message: String| ForgeError::Failed { forge: NAME, action: call.name(), message };
        let client = match self.client.get_or_try_init(|| self.connect()).await {
            Ok(client) => client,
            Err(message) => return Attempt::Failed(failed(message)),
        };
        let path = call.path.as_str();
        let sent = match call.method {
            Method::Get => client._get(path).await,
            Method::Post => client._post(path, call.body.as_ref()).await,
            Method::Patch => client._patch(path, call.body.as_ref()).await,
            Method::Put => client._put(path, call.body.as_ref()).await,
            Method::Delete => client._delete(path, call.body.as_ref()).await,
        };
        let response = match sent {
            Ok(response) => response,
            Err(error) => {
                return Attempt::Later(
                    failed(head(&chain(&error), MESSAGE_LIMIT_BYTES).to_owned()),
                    None,
                );
            }
        };
        let status = response.status().as_u16();
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let wait = Wait {
            retry_after: header("retry-after"),
            remaining: header("x-ratelimit-remaining"),
            reset: header("x-ratelimit-reset"),
        };
        let length = header("content-length").and_then(|length| length.parse::<u64>().ok());
        if length.is_some_and(|length| length > ANSWER_LIMIT_BYTES) {
            return Attempt::Failed(failed(format!(
                "the answer has more than {ANSWER_LIMIT_BYTES} bytes"
            )));
        }
        let body = match client.body_to_string(response).await {
            Ok(body) => body,
            Err(error) => {
                return Attempt::Later(
                    failed(format!(
                        "the answer broke off: {}",
                        head(&chain(&error), MESSAGE_LIMIT_BYTES)
                    )),
                    None,
                );
            }
        };
        self.judge(call, status, &wait, &body)
    }

    /// Reads what a status means.
    fn judge(&self, call: &Call, status: u16, wait: &Wait, body: &str) -> Attempt {
        let action = call.name();
        let message = message_of(status, body);
        match status {
            200..=299 if body.is_empty() => Attempt::Answered(Value::Null),
            200..=299 => match serde_json::from_str(body) {
                Ok(answer) => Attempt::Answered(answer),
                Err(error) => Attempt::Failed(ForgeError::Failed {
                    forge: NAME,
                    action,
                    message: format!("the answer is not JSON: {error}"),
                }),
            },
            403 | 429 if status == 429 || wait.is_a_limit(&message) => {
                let pause = wait.seconds(self.clock.now().as_second());
                Attempt::Later(
                    ForgeError::RateLimited { forge: NAME, action, retry_after_s: pause },
                    Some(pause.map_or(WAIT_LIMIT * 2, Duration::from_secs)),
                )
            }
            401 | 403 | 451 => {
                Attempt::Failed(ForgeError::Forbidden { forge: NAME, action, message })
            }
            404 | 410 => {
                Attempt::Failed(ForgeError::NotFound { forge: NAME, what: call.path.clone() })
            }
            408 | 500 | 502..=504 => {
                Attempt::Later(ForgeError::Failed { forge: NAME, action, message }, None)
            }
            _ => Attempt::Failed(ForgeError::Failed { forge: NAME, action, message }),
        }
    }

    /// Makes the client: rustls with ring, the system's proxies, no redirects of its own.
    async fn connect(&self) -> Result<Octocrab, String> {
        // A second caller's provider is the same one: whoever comes first installs it.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(60))
            .redirect(reqwest::redirect::Policy::none());
        if self.base_url.starts_with("http:") {
            // Reading the system's certificates is the dearest part of a client and of no use here.
            client = client.tls_certs_only([]);
        }
        let client =
            client.build().map_err(|error| format!("no HTTP client: {}", chain(&error)))?;
        let mut builder = Octocrab::builder()
            .base_uri(self.base_url.as_str())
            .map_err(|_| format!("`{}` is no address of an API", self.base_url))?;
        if let Some(token) = &self.token {
            let plain = !token.expose().is_empty()
                && token.expose().bytes().all(|byte| byte.is_ascii_graphic());
            if !plain {
                return Err(
                    "the token is empty or holds characters that tokens don't have".to_owned()
                );
            }
            builder = builder.personal_token(token.expose().to_owned());
        }
        builder
            .build_with_reqwest(client)
            .map_err(|error| format!("no client for `{}`: {}", self.base_url, chain(&error)))
    }
}

/// What an answer says about when to ask again.
struct Wait {
    retry_after: Option<String>,
    remaining: Option<String>,
    reset: Option<String>,
}

impl Wait {
    /// Tells a limit from a refusal: both come as 403.
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    fn is_a_limit(&self, message: &str) -> bool {
        self.retry_after.is_some()
            || self.remaining.as_deref() == Some("0")
            || message.to_ascii_lowercase().contains("rate limit")
    }

    /// Returns how many seconds to wait, where the forge says.
    fn seconds(&self, now_s: i64) -> Option<u64> {
        let after = self.retry_after.as_deref().and_then(|seconds| seconds.trim().parse().ok());
        let reset = self
            .reset
            .as_deref()
            .and_then(|at| at.trim().parse::<i64>().ok())
            .map(|at| u64::try_from(at - now_s).unwrap_or(0));
        after.or(reset)
    }
}

/// Returns the forge's own words for what is wrong, details included.
fn message_of(status: u16, answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let errors = answer.pointer("/errors").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<&str> = text(&answer, "/message")
        .into_iter()
        .chain(errors.filter_map(|error| error.as_str().or_else(|| text(error, "/message"))))
        .collect();
    head(&format!("{status} {}", words.join(": ")), MESSAGE_LIMIT_BYTES).trim_end().to_owned()
}

/// Returns a text of an answer.
pub(super) fn text<'a>(answer: &'a Value, pointer: &str) -> Option<&'a str> {
    answer.pointer(pointer).and_then(Value::as_str)
}

/// Returns a number of an answer.
pub(super) fn number(answer: &Value, pointer: &str) -> Option<u64> {
    answer.pointer(pointer).and_then(Value::as_u64)
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
