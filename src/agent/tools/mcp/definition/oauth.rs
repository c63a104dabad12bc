//! `OauthClient`: who signs in to a service without a person, by a client's own credentials.
//!
//! In: what a definition says of it. Out: the client, with its secret or private key once the
//! caller allows the variable that holds it.

use crate::tools::mcp::definition::variables::filled;
use crate::tools::mcp::signing_key::{SigningAlgorithm, SigningKey, SigningKeyError};
use locum_base::secret::Secret;

/// Most scopes that are asked for.
const SCOPES_LIMIT: usize = 50;

/// What is wrong with a client that cannot prove who it is.
const NO_CLIENT: &str = "`oauth` needs `client_id`, and `client_secret_env` or `private_key_env`, \
                         the variable with its secret or its private key: nobody signs in to a run";

/// What a user wrote about the client, before it is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OauthSpec {
    /// What the authorization server calls the client.
    pub client_id: Option<String>,
    /// The variable that holds its secret.
    pub client_secret_env: Option<String>,
    /// The variable that holds its private key, where it has one in place of a secret.
    pub private_key_env: Option<String>,
    /// What the authorization server calls the key.
    pub key_id: Option<String>,
    /// How the key signs: `ES256`, `RS256` or `PS256`.
    pub signing_algorithm: Option<String>,
    /// The authorization server that gives out its tokens; whom the service names where this is
    /// absent.
    pub issuer: Option<String>,
    /// What it asks for; what the service says where this is empty.
    pub scopes: Vec<String>,
}

/// A client, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthClient {
    /// What the authorization server calls it.
    pub id: String,
    /// How it proves who it is.
    pub authentication: ClientAuthentication,
    /// The variable that holds its secret, or its private key.
    pub secret_env: String,
    /// What that variable holds; empty until variables are filled in.
    pub secret: Secret,
    /// The one authorization server that may learn the secret or gets assertions; `None` where the
    /// service names it.
    pub issuer: Option<String>,
    /// What it asks for; what the service says where this is empty.
    pub scopes: Vec<String>,
}

/// How a client proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// By a secret that the authorization server knows (`client_secret_basic`,
    /// `client_secret_post`).
    Secret,
    /// By an assertion that its private key signs (`private_key_jwt`).
    SignedAssertion {
        /// What the authorization server calls the key; `None` where it knows one only.
        key_id: Option<String>,
        /// How the key signs; what key and server agree on where this is `None`.
        algorithm: Option<SigningAlgorithm>,
    },
}

impl OauthSpec {
    /// Checks it as a whole.
    ///
    /// # Errors
    /// A fragment that says what is wrong with it.
    pub(super) fn check(self) -> Result<OauthClient, String> {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let (id, issuer) = (given(self.client_id), given(self.issuer));
        let (key_id, algorithm) = (given(self.key_id), given(self.signing_algorithm));
        let secrets = (given(self.client_secret_env), given(self.private_key_env));
        let (key, secret_env, authentication) = match secrets {
            (Some(_), Some(_)) => {
                return Err("`oauth` has `client_secret_env` and `private_key_env`: a client \
                            proves who it is by one of the two"
                    .to_owned());
            }
            (Some(_), None) if key_id.is_some() || algorithm.is_some() => {
                return Err("`key_id` and `signing_algorithm` are for `private_key_env`".to_owned());
            }
            (Some(variable), None) => ("client_secret_env", variable, ClientAuthentication::Secret),
            (None, Some(variable)) => {
                let algorithm = algorithm.as_deref().map(algorithm_of).transpose()?;
                let signed = ClientAuthentication::SignedAssertion { key_id, algorithm };
                ("private_key_env", variable, signed)
            }
            (None, None) => return Err(NO_CLIENT.to_owned()),
        };
        let Some(id) = id else { return Err(NO_CLIENT.to_owned()) };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !secret_env.chars().all(is_name) {
            return Err(format!("`{key}` is the name of a variable, not its value"));
        }
        let plain =
            |scope: &String| !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic());
        if self.scopes.len() > SCOPES_LIMIT || !self.scopes.iter().all(plain) {
            return Err(format!("`scopes` are at most {SCOPES_LIMIT} words of ASCII"));
        }
        let (secret, scopes) = (Secret::new(""), self.scopes);
        Ok(OauthClient { id, authentication, secret_env, secret, issuer, scopes })
    }
}

impl OauthClient {
    /// Returns it with its secret.
    ///
    /// # Errors
    /// A fragment that names a variable for which `value` has no answer.
    pub(super) fn filled(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let secret = value(&self.secret_env).filter(|secret| !secret.trim().is_empty());
        let secret = secret.ok_or_else(|| format!("`{}` has no value", self.secret_env))?;
        let id = filled(&self.id, value)?;
        Ok(Self { id, secret: Secret::new(secret.trim()), ..self.clone() })
    }
    /// Returns its private key; `None` where it has a secret.
    ///
    /// # Errors
    /// A fragment that says why what the variable holds is no key that signs.
    pub(in crate::tools::mcp) fn signing_key(&self) -> Result<Option<SigningKey>, String> {
        let ClientAuthentication::SignedAssertion { algorithm, .. } = &self.authentication else {
            return Ok(None);
        };
        let parsed = SigningKey::parse(self.secret.expose());
        let checked = parsed.and_then(|key| match algorithm {
            Some(algorithm) => key.check(*algorithm).map(|()| key),
            None => Ok(key),
        });
        checked.map(Some).map_err(|why: SigningKeyError| {
            format!("`oauth`: the private key in `{}` {why}", self.secret_env)
        })
    }
}

/// Reads how a key signs.
fn algorithm_of(name: &str) -> Result<SigningAlgorithm, String> {
    let known = SigningAlgorithm::ALL.iter().find(|known| known.as_str() == name);
    known.copied().ok_or_else(|| {
        let names = SigningAlgorithm::ALL.map(|known| format!("`{}`", known.as_str())).join(", ");
        format!("`signing_algorithm` cannot be `{name}`; it is one of {names}")
    })
}
