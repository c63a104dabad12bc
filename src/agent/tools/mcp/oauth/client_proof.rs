//! `ClientProof`: what a request for a token carries, so that the authorization server knows who
//! asks: a secret, or an assertion that the client's key signs (RFC 7523).
//!
//! In: the client, its key, what the server says about itself, the time. Out: a header or fields of
//! the form. An assertion is for that one server, which it names as the server names itself, and is
//! good for a minute and for one request.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, Value, json};

use crate::tools::mcp::definition::oauth::{ClientAuthentication, OauthClient};
use crate::tools::mcp::oauth::metadata::{AuthorizationServer, SecretPlace};
use crate::tools::mcp::signing_key::SigningKey;
use locum_base::secret::Secret;
use locum_sandbox::network::exchange::percent_encoded;

/// How long an assertion is good, in seconds: enough for one request, and for clocks that differ.
const LIFETIME_S: i64 = 60;

/// What an assertion is, for the server (RFC 7523, section 2.2).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientProof {
    /// The header `Authorization`.
    pub(super) header: Option<Secret>,
    /// Fields of the form, by name.
    pub(super) fields: Vec<(&'static str, Secret)>,
    /// Which part of them is taken out of answers.
    pub(super) hidden: Secret,
}

impl ClientProof {
    /// Makes one by the client's secret.
    ///
    /// # Errors
    /// When the server takes none.
    pub(super) fn by_secret(
        client: &OauthClient,
        server: &AuthorizationServer,
    ) -> Result<Self, String> {
        let (id, secret) = (client.id.as_str(), client.secret.expose());
        Ok(match server.secret_place()? {
            SecretPlace::Header => {
                let both = format!("{}:{}", percent_encoded(id), percent_encoded(secret));
                let header = Secret::new(format!("Basic {}", STANDARD.encode(both)));
                Self { header: Some(header.clone()), fields: Vec::new(), hidden: header }
            }
            SecretPlace::Form => {
                let hidden = client.secret.clone();
                let id = ("client_id", Secret::new(id));
                Self { header: None, fields: vec![id, ("client_secret", hidden.clone())], hidden }
            }
        })
    }

    /// Makes one by an assertion that the client's key signs.
    ///
    /// # Errors
    /// When the server takes none that this key can sign.
    pub(super) fn by_key(
        client: &OauthClient,
        key: &SigningKey,
        server: &AuthorizationServer,
        now: Timestamp,
    ) -> Result<Self, String> {
        let mut header = Map::new();
        let mut own = key.algorithms();
        if let ClientAuthentication::SignedAssertion { key_id, algorithm } = &client.authentication
        {
            header.extend(key_id.iter().map(|id| ("kid".to_owned(), Value::from(id.as_str()))));
            own = algorithm.as_ref().map_or(own, std::slice::from_ref);
        }
        let algorithm = server.algorithm(own)?;
        header.insert("alg".to_owned(), algorithm.as_str().into());
        header.insert("typ".to_owned(), "JWT".into());
        let issued_at = now.as_second();
        let claims = json!({
            "iss": client.id,
            "sub": client.id,
            "aud": server.issuer,
            "iat": issued_at,
            "exp": issued_at + LIFETIME_S,
            "jti": unique_id()?,
        });
        let encoded = |text: String| URL_SAFE_NO_PAD.encode(text);
        let message = format!(
            "{}.{}",
            encoded(Value::Object(header).to_string()),
            encoded(claims.to_string())
        );
        let signature = key.sign(algorithm, message.as_bytes());
        let signature =
            signature.map_err(|why| format!("the private key in `{}` {why}", client.secret_env))?;
        let hidden = Secret::new(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)));
        Ok(Self {
            header: None,
            fields: vec![
                ("client_assertion_type", Secret::new(ASSERTION_TYPE)),
                ("client_assertion", hidden.clone()),
            ],
            hidden,
        })
    }
}

/// Returns a name that no other assertion has.
fn unique_id() -> Result<String, String> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests;
