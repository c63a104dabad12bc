//! `LiveCredential`: the token of a credential, fetched when it is needed and before it expires.
//!
//! In: a [`Credential`]. Out: a token for a request's header, the same one until two minutes before
//! it expires. It reaches no other place: no variable, no file, no command. Requests that run at
//! the same time wait for one exchange.
#![expect(
    clippy::disallowed_methods,
    reason = "tokens expire by the system's time, and identities lie in files that are renewed"
)]

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::RequestBuilder;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tracing::debug;
use url::Url;

use crate::address::{is_loopback, origin};
use crate::credentials::exchange::{read_identity, read_token};
use crate::credentials::{Credential, SubjectToken, TokenExchange};
use crate::transport::client::{ProxySource, client, described};
use crate::transport::error::error_message;
use locum_base::secret::{Redactor, Secret};

/// A token is renewed this long before it expires.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_secs(120);
/// Longest wait for one answer of a token endpoint.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes of an identity token or of a token endpoint's answer.
const ANSWER_LIMIT_BYTES: usize = 256 * 1024;

/// A credential in use.
#[derive(Debug)]
pub(crate) struct LiveCredential {
    source: Credential,
    held: watch::Sender<HeldTokens>,
    exchanging: Semaphore,
}

/// The tokens of a run so far.
#[derive(Debug, Default)]
struct HeldTokens {
    /// The one in use, and when to renew it.
    current: Option<(Secret, Timestamp)>,
    /// Every one there was: none may be shown.
    all: Vec<Secret>,
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CredentialError {
    /// The identity or its exchange was refused; another try is of no use.
    Refused(String),
    /// The endpoint did not answer, or not as it should.
    Unavailable(String),
}

impl LiveCredential {
    pub(crate) fn new(source: Credential) -> Self {
        let held = watch::Sender::new(HeldTokens::default());
        Self { source, held, exchanging: Semaphore::new(1) }
    }

    /// Returns a token that is good for the next two minutes.
    pub(crate) async fn token(&self) -> Result<Secret, CredentialError> {
        // The semaphore is never closed.
        let _only = self.exchanging.acquire().await;
        let now = Timestamp::now();
        if let Some((token, renew)) = &self.held.borrow().current
            && now < *renew
        {
            return Ok(token.clone());
        }
        let Credential::Exchange(exchange) = &self.source;
        let (token, lifetime) = exchange.token(&self.held).await?;
        debug!(lifetime_s = lifetime.as_secs(), "the job's identity was exchanged for a token");
        let lifetime = SignedDuration::try_from(lifetime).unwrap_or(RENEW_BEFORE);
        self.held.send_modify(|held| {
            let renew = now.saturating_add(lifetime - RENEW_BEFORE).unwrap_or(now);
            held.current = Some((token.clone(), renew));
            held.all.push(token.clone());
        });
        Ok(token)
    }

    /// Gives up the token in use: its server does not take it.
    pub(crate) fn forget(&self) {
        self.held.send_modify(|held| held.current = None);
    }

    /// Returns a text without any token of this credential.
    pub(crate) fn redact(&self, text: &str) -> String {
        redactor(&self.held).redact(text)
    }
}

fn redactor(held: &watch::Sender<HeldTokens>) -> Redactor {
    Redactor::new(held.borrow().all.iter().cloned())
}

impl TokenExchange {
    async fn token(
        &self,
        held: &watch::Sender<HeldTokens>,
    ) -> Result<(Secret, Duration), CredentialError> {
        let subject = self.subject.fetch().await?;
        held.send_modify(|held| held.all.push(subject.clone()));
        let url = endpoint(&self.url)?;
        let request = self.grant.request(&subject);
        let mut post = http(&url)?.post(url.clone()).body(request.body);
        for (name, value) in &request.headers {
            post = post.header(*name, value);
        }
        let answer = answer(post, &url).await.map_err(|error| {
            let error = error.map(|text| redactor(held).redact(&text));
            match error {
                CredentialError::Refused(text) => {
                    CredentialError::Refused(format!("{text}; {}", self.grant.advice()))
                }
                CredentialError::Unavailable(text) => CredentialError::Unavailable(text),
            }
        })?;
        read_token(&answer).map_err(|problem| {
            CredentialError::Unavailable(format!("`{}`: {problem}", origin(&url)))
        })
    }
}

impl CredentialError {
    fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Refused(text) => Self::Refused(change(text)),
            Self::Unavailable(text) => Self::Unavailable(change(text)),
        }
    }
}

impl SubjectToken {
    async fn fetch(&self) -> Result<Secret, CredentialError> {
        match self {
            Self::Given(token) => Ok(token.clone()),
            Self::File(path) => read_file(path),
            Self::Actions { url, token, audience } => {
                let mut url = endpoint(url)?;
                url.query_pairs_mut().append_pair("audience", audience);
                let get = http(&url)?.get(url.clone()).bearer_auth(token.expose());
                let answer = answer(get, &url).await?;
                read_identity(&answer).map_err(|problem| {
                    CredentialError::Unavailable(format!("`{}`: {problem}", origin(&url)))
                })
            }
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, CredentialError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        CredentialError::Refused(format!("the identity token in `{}`: {error}", path.display()))
    })?;
    match text.trim() {
        token if !token.is_empty() && token.len() <= ANSWER_LIMIT_BYTES => Ok(Secret::new(token)),
        _ => Err(CredentialError::Refused(format!("`{}` holds no token", path.display()))),
    }
}

/// Reads the address of an endpoint. An identity travels encrypted, or not at all.
fn endpoint(address: &str) -> Result<Url, CredentialError> {
    Url::parse(address)
        .ok()
        .filter(|url| url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)))
        .ok_or_else(|| {
            CredentialError::Refused(
                "the address of a token endpoint has to begin with `https://`".to_owned(),
            )
        })
}

fn http(url: &Url) -> Result<reqwest::Client, CredentialError> {
    client(url, ProxySource::System).map_err(CredentialError::Refused)
}

/// Sends a request to an endpoint and returns the text it answers with.
async fn answer(request: RequestBuilder, url: &Url) -> Result<String, CredentialError> {
    let place = origin(url);
    let failed = |error: &reqwest::Error| {
        CredentialError::Unavailable(format!("the token endpoint `{place}`: {}", described(error)))
    };
    let mut response = request.timeout(TIMEOUT).send().await.map_err(|error| failed(&error))?;
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| failed(&error))? {
        body.extend_from_slice(&part);
        if body.len() > ANSWER_LIMIT_BYTES {
            let text = format!("the token endpoint `{place}` answers with too many bytes");
            return Err(CredentialError::Unavailable(text));
        }
    }
    let (status, text) = (response.status(), String::from_utf8_lossy(&body).into_owned());
    if status.is_success() {
        return Ok(text);
    }
    let number = status.as_u16();
    let words = format!("the token endpoint `{place}` refused ({number}): {}", refusal(&text));
    Err(if status.is_server_error() || number == 429 {
        CredentialError::Unavailable(words)
    } else {
        CredentialError::Refused(words)
    })
}

/// Returns the words of a refusal. RFC 6749, 5.2: `error` is a code, `error_description` says what
/// it means.
fn refusal(text: &str) -> String {
    let answer = serde_json::from_str::<Value>(text).unwrap_or_default();
    let field = |name: &str| answer.get(name).and_then(Value::as_str);
    match (field("error"), field("error_description")) {
        (Some(code), Some(words)) => {
            // What follows the first line are numbers for the maker's support.
            format!("{} [{code}]", words.lines().next().unwrap_or_default())
        }
        _ => error_message(text),
    }
}
