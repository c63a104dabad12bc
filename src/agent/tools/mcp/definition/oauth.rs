//! `OauthClient`: who signs in to a service without a person, by a client's own credentials.
//!
//! In: what a definition says of it. Out: the client, with its secret once the caller allows the
//! variable that holds it.

use crate::tools::mcp::definition::variables::filled;
use locum_base::secret::Secret;

/// Most scopes that are asked for.
const SCOPES_LIMIT: usize = 50;

/// What a user wrote about the client, before it is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OauthSpec {
    /// What the authorization server calls the client.
    pub client_id: Option<String>,
    /// The variable that holds its secret.
    pub client_secret_env: Option<String>,
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
    /// The variable that holds its secret.
    pub secret_env: String,
    /// Its secret; empty until variables are filled in.
    pub secret: Secret,
    /// The one authorization server that may learn the secret; `None` where the service names it.
    pub issuer: Option<String>,
    /// What it asks for; what the service says where this is empty.
    pub scopes: Vec<String>,
}

impl OauthSpec {
    /// Checks it as a whole.
    ///
    /// # Errors
    /// A fragment that says what is wrong with it.
    pub(super) fn check(self) -> Result<OauthClient, String> {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let (Some(id), Some(secret_env)) = (given(self.client_id), given(self.client_secret_env))
        else {
            return Err(
                "`oauth` needs `client_id`, and `client_secret_env`, the variable with its \
                        secret: nobody signs in to a run"
                    .to_owned(),
            );
        };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !secret_env.chars().all(is_name) {
            return Err("`client_secret_env` is the name of a variable, not its value".to_owned());
        }
        let plain =
            |scope: &String| !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic());
        if self.scopes.len() > SCOPES_LIMIT || !self.scopes.iter().all(plain) {
            return Err(format!("`scopes` are at most {SCOPES_LIMIT} words of ASCII"));
        }
        let (secret, issuer) = (Secret::new(""), given(self.issuer));
        Ok(OauthClient { id, secret_env, secret, issuer, scopes: self.scopes })
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
}
