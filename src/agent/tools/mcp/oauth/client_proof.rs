//! `ClientProof`: what a request for a token carries, so that the authorization server knows who asks.
//!
//! In: the client, what the server says about itself. Out: a header or fields of the form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::tools::mcp::definition::oauth::OauthClient;
use crate::tools::mcp::oauth::metadata::{AuthorizationServer, SecretPlace};
use locum_base::secret::Secret;
use locum_sandbox::network::exchange::percent_encoded;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientProof {
    /// The header `Authorization`.
    pub(super) header: Option<Secret>,
    /// Fields of the form, by name.
    pub(super) fields: Vec<(&'static str, Secret)>,
    /// What of them is taken out of answers.
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
}

#[cfg(test)]
mod tests;
