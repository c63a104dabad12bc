//! A connection to the server of a model: what is sent with each request, and what it means that
//! one is refused or does not get through.
//!
//! In: a chosen model, where its requests go, bodies. Out: answers that were accepted, or refused
//! with the server's words. Nothing of what is accepted is read here.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::ModelError;
use crate::address::origin;
use crate::credentials::live::{CredentialError, LiveCredential};
use crate::resolve::ChosenModel;
use crate::transport::client::{CONNECT_TIMEOUT, ProxySource, client, described, headers, lasting};
use crate::transport::protocol::{Endpoint, label};
use crate::transport::{SetupError, error};
use locum_base::secret::Redactor;

/// Most bytes read of an error's body.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Connection {
    label: String,
    url: Url,
    headers: HeaderMap,
    /// Which key goes to which host, as shown where it is refused.
    key_words: String,
    redactor: Redactor,
    /// What stands in for a key.
    credential: Option<LiveCredential>,
    client: Client,
    /// Longest wait for the status of an answer.
    timeout: Duration,
}

/// What a server says to a request.
pub(crate) enum ServerAnswer {
    /// An answer follows.
    Accepted(Response),
    /// It does not take it.
    Refused(RefusedRequest),
    /// It was sent the request, and was silent for too long: it may be at work all the same.
    Silent(ModelError),
}

/// How a server refused a request.
pub(crate) struct RefusedRequest {
    pub(crate) status: u16,
    headers: HeaderMap,
    /// The body, without secrets.
    pub(crate) words: String,
}

impl Connection {
    /// Prepares a connection. Certificates are loaded only when the address needs them.
    ///
    /// # Errors
    /// When a header cannot be used, or the system has no certificates to trust.
    pub(crate) fn new(chosen: &ChosenModel, endpoint: &Endpoint) -> Result<Self, SetupError> {
        let fault = |message: String| SetupError { model: label(chosen), message };
        let proxy = ProxySource::Configured(chosen.proxy.as_ref());
        Ok(Self {
            label: label(chosen),
            url: endpoint.url.clone(),
            headers: headers(chosen, endpoint).map_err(&fault)?,
            key_words: key_words(chosen, &endpoint.url),
            redactor: Redactor::new(chosen.key.clone()),
            credential: chosen.credential.clone().map(LiveCredential::new),
            client: client(&endpoint.url, proxy).map_err(&fault)?,
            timeout: chosen.profile.idle_timeout(),
        })
    }

    /// Returns the profile's name and model, as shown to users.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Sends a body; once more with a new token where the first was withdrawn before its time.
    pub(crate) async fn send(
        &self,
        body: Vec<u8>,
        headers: &[(&'static str, &'static str)],
    ) -> Result<ServerAnswer, ModelError> {
        let Some(credential) = &self.credential else {
            return self.send_once(body, headers).await;
        };
        match self.send_once(body.clone(), headers).await? {
            ServerAnswer::Refused(RefusedRequest { status: 401, .. }) => {
                credential.forget();
                self.send_once(body, headers).await
            }
            answer => Ok(answer),
        }
    }

    async fn send_once(
        &self,
        body: Vec<u8>,
        headers: &[(&'static str, &'static str)],
    ) -> Result<ServerAnswer, ModelError> {
        let request = self.client.post(self.url.clone()).headers(self.authorized(&body).await?);
        // A profile's own come with them.
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let response = match timeout(self.timeout, request.body(body).send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(err)) => return Err(self.unsent(&err)),
            Err(_) => {
                let seconds = self.timeout.as_secs_f64();
                let silent = self.unavailable(format!("no answer within {seconds} s"));
                return Ok(ServerAnswer::Silent(silent));
            }
        };
        if response.status().is_success() {
            return Ok(ServerAnswer::Accepted(response));
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let words = self.redact(&self.error_body(response).await);
        Ok(ServerAnswer::Refused(RefusedRequest { status, headers, words }))
    }

    /// Reads the whole body of an answer.
    pub(crate) async fn whole(
        &self,
        mut response: Response,
        limit_bytes: usize,
    ) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|err| self.unsent(&err))? {
            body.extend_from_slice(&bytes);
            if body.len() > limit_bytes {
                return Err(self.garbled(&format!("the answer has more than {limit_bytes} bytes")));
            }
        }
        Ok(body)
    }

    /// Returns what a refusal means.
    pub(crate) fn refusal(&self, refused: &RefusedRequest) -> ModelError {
        let RefusedRequest { status, headers, words } = refused;
        self.with_key_words(error::status_error(&self.label, *status, headers, words))
    }

    /// Returns what an error object inside an accepted answer means.
    pub(crate) fn reported(&self, fault: Value) -> ModelError {
        let words = self.redact(&fault.to_string());
        let fault = serde_json::from_str(&words).unwrap_or(fault);
        self.with_key_words(error::reported_error(&self.label, &fault))
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
            match timeout(self.timeout.min(CONNECT_TIMEOUT), response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_LIMIT_BYTES);
        String::from_utf8_lossy(&body).into_owned()
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
            None if err.is_connect() => {
                ModelError::NotConnected { model: self.label.clone(), message }
            }
            None => self.unavailable(message),
        }
    }

    /// Returns an error that passes.
    pub(crate) fn unavailable(&self, message: String) -> ModelError {
        ModelError::unavailable(&self.label, message)
    }

    /// Returns what it means that an answer is not understood.
    pub(crate) fn garbled(&self, message: &str) -> ModelError {
        ModelError::garbled(&self.label, self.redact(message))
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
