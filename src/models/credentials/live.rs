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
use crate::credentials::exchange::{TokenRequest, read_identity, read_token};
use crate::credentials::external_account::{ExternalAccount, IdentitySource};
use crate::credentials::{AccountSource, Credential, SubjectToken, sigv4};
use crate::transport::client::{ProxySource, client, described};
use crate::transport::error::error_message;
use locum_base::secret::{Redactor, Secret};

/// A token is renewed this long before it expires.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_secs(120);
/// Longest wait for one answer of a token endpoint.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Most bytes of an identity token or of a token endpoint's answer.
const ANSWER_LIMIT_BYTES: usize = 256 * 1024;

/// What to look at where Google refuses.
const GOOGLE_ADVICE: &str = "the workload identity pool's provider has to accept issuer, audience \
                             and attributes of the job's identity";
/// What to look at where the service account is refused.
const IMPERSONATION_ADVICE: &str = "the identity needs the role \
                                    `roles/iam.workloadIdentityUser` on the service account";

/// A credential in use.
pub(crate) struct LiveCredential {
    source: Credential,
    /// The file of an external account, as it was before anything happened.
    account: Option<Result<ExternalAccount, String>>,
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
        let account = match &source {
            Credential::Google(AccountSource::File(path)) => Some(read_account(path)),
            Credential::Google(AccountSource::Text(text)) => Some(
                ExternalAccount::parse(text.expose())
                    .map_err(|problem| format!("the external account of the variables {problem}")),
            ),
            Credential::Exchange(_) | Credential::Aws(_) => None,
        };
        Self { source, account, held, exchanging: Semaphore::new(1) }
    }

    /// Returns the headers that prove who sends a request.
    pub(crate) async fn headers(
        &self,
        url: &Url,
        body: &[u8],
    ) -> Result<Vec<(&'static str, String)>, CredentialError> {
        match &self.source {
            Credential::Exchange(_) | Credential::Google(_) => {
                let token = self.token().await?;
                Ok(vec![("authorization", format!("Bearer {}", token.expose()))])
            }
            Credential::Aws(keys) => {
                let post = (url, "application/json", body);
                Ok(sigv4::sign(keys, "bedrock", post, Timestamp::now()))
            }
        }
    }

    /// Returns a token that is good for the next two minutes.
    async fn token(&self) -> Result<Secret, CredentialError> {
        // The semaphore is never closed.
        let _only = self.exchanging.acquire().await;
        let now = Timestamp::now();
        if let Some((token, renew)) = &self.held.borrow().current
            && now < *renew
        {
            return Ok(token.clone());
        }
        let (token, lifetime) = self.exchanged().await?;
        debug!(lifetime_s = lifetime.as_secs(), "the job's identity was exchanged for a token");
        let lifetime = SignedDuration::try_from(lifetime).unwrap_or(RENEW_BEFORE);
        self.held.send_modify(|held| {
            let renew = now.saturating_add(lifetime - RENEW_BEFORE).unwrap_or(now);
            held.current = Some((token.clone(), renew));
            held.all.push(token.clone());
        });
        Ok(token)
    }

    async fn exchanged(&self) -> Result<(Secret, Duration), CredentialError> {
        match (&self.source, &self.account) {
            (Credential::Exchange(exchange), _) => {
                let subject = exchange.subject.fetch().await?;
                let request = exchange.grant.request(&subject);
                self.keep(&subject);
                self.post(&exchange.url, request, exchange.grant.advice()).await
            }
            (_, Some(Ok(account))) => {
                let subject = account.source.fetch().await?;
                self.keep(&subject);
                let request = account.exchange(&subject);
                let (token, lifetime) =
                    self.post(&account.token_url, request, GOOGLE_ADVICE).await?;
                let Some(url) = &account.impersonation_url else { return Ok((token, lifetime)) };
                self.keep(&token);
                let request = ExternalAccount::impersonation(&token);
                self.post(url, request, IMPERSONATION_ADVICE).await
            }
            (_, Some(Err(problem))) => Err(CredentialError::Refused(problem.clone())),
            (Credential::Aws(_) | Credential::Google(_), None) => {
                Err(CredentialError::Refused("there is no identity to exchange".to_owned()))
            }
        }
    }

    /// Posts a request to a token endpoint.
    async fn post(
        &self,
        address: &str,
        request: TokenRequest,
        advice: &str,
    ) -> Result<(Secret, Duration), CredentialError> {
        let url = endpoint(address)?;
        let mut post = http(&url)?.post(url.clone()).body(request.body);
        for (name, value) in &request.headers {
            post = post.header(*name, value);
        }
        let answer = answer(post, &url).await.map_err(|error| match error {
            CredentialError::Refused(text) => {
                CredentialError::Refused(format!("{}; {advice}", self.redact(&text)))
            }
            CredentialError::Unavailable(text) => CredentialError::Unavailable(self.redact(&text)),
        })?;
        read_token(&answer).map_err(|problem| unreadable(&url, &problem))
    }

    /// Keeps a value that may not be shown.
    fn keep(&self, value: &Secret) {
        self.held.send_modify(|held| held.all.push(value.clone()));
    }

    /// Gives up the token in use: its server does not take it.
    pub(crate) fn forget(&self) {
        self.held.send_modify(|held| held.current = None);
    }

    /// Returns a text without any token of this credential.
    pub(crate) fn redact(&self, text: &str) -> String {
        Redactor::new(self.held.borrow().all.iter().cloned()).redact(text)
    }
}

impl std::fmt::Debug for LiveCredential {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LiveCredential").field("source", &self.source).finish()
    }
}

impl IdentitySource {
    async fn fetch(&self) -> Result<Secret, CredentialError> {
        let (text, place) = match (&self.url, &self.file) {
            (Some(address), _) => {
                let url = endpoint(address)?;
                let mut get = http(&url)?.get(url.clone());
                for (name, value) in &self.headers {
                    get = get.header(name, value);
                }
                (answer(get, &url).await?, origin(&url))
            }
            (None, Some(file)) => {
                (read_file(file)?.expose().to_owned(), file.display().to_string())
            }
            (None, None) => {
                let problem = "the external account's file names no source of an identity";
                return Err(CredentialError::Refused(problem.to_owned()));
            }
        };
        self.read(&text)
            .map_err(|problem| CredentialError::Refused(format!("`{place}`: {problem}")))
    }
}

fn read_account(path: &Path) -> Result<ExternalAccount, String> {
    let file = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the external account in `{file}` cannot be read: {error}"))?;
    ExternalAccount::parse(&text).map_err(|problem| format!("`{file}` {problem}"))
}

fn unreadable(url: &Url, problem: &str) -> CredentialError {
    CredentialError::Unavailable(format!("`{}`: {problem}", origin(url)))
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
                read_identity(&answer).map_err(|problem| unreadable(&url, &problem))
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
