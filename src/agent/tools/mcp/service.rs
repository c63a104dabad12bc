//! `ServiceClient`: sends requests to the one service of a definition.
//!
//! In: an address of the service, a method, headers. Out: an answer that is a success. Each request
//! goes over a connection of its own that the connector opens, to the host that the permit covers.
//! Redirects are not followed and cookies not kept, so a key in a header reaches no other server. A
//! service that asks for a token gets one, and the request once more.

use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::oauth::TokenSource;
use crate::tools::mcp::server_start::ServerStart;
use locum_base::secret::Secret;
use locum_base::text::{head, single_blanks};
use locum_policy::Permit;
use locum_policy::urls::WebUrl;
use locum_sandbox::network::Connector;
use locum_sandbox::network::exchange::{HttpMethod, StreamedResponse};

/// Bytes shown of an answer that is an error.
const ERROR_SHOWN_BYTES: usize = 300;

/// See the module.
pub(super) struct ServiceClient {
    pub(super) permit: Permit<ServerStart>,
    pub(super) connector: Connector,
    /// Where the service is.
    pub(super) url: WebUrl,
    /// What every request sends along.
    pub(super) headers: Vec<(String, Secret)>,
    /// Where tokens come from; `None` where the definition names no client.
    pub(super) tokens: Option<TokenSource>,
}

impl ServiceClient {
    /// Sends a request to an address of the service.
    ///
    /// # Errors
    /// When no connection can be made, or the answer is no success.
    pub(super) async fn send(
        &self,
        url: &WebUrl,
        verb: HttpMethod,
        more: &[(String, Secret)],
    ) -> Result<StreamedResponse, McpError> {
        let mut response = self.once(url, verb.clone(), more).await?;
        if let Some(tokens) = self.tokens.as_ref().filter(|_| response.status == 401) {
            let challenge = response.header("www-authenticate").unwrap_or_default().to_owned();
            tokens.renew(&self.connector, &self.url, &challenge).await?;
            response = self.once(url, verb, more).await?;
        }
        match response.status {
            200..=299 => Ok(response),
            300..=399 => Err(McpError::Told(format!(
                "it answered with status {}: redirects are not followed",
                response.status
            ))),
            status => {
                let body = response.body_within(ERROR_SHOWN_BYTES * 4).await.unwrap_or_default();
                let text = self.without_tokens(body);
                let text = String::from_utf8_lossy(&text);
                let text = single_blanks(&text);
                let text = head(&text, ERROR_SHOWN_BYTES).to_owned();
                Err(McpError::Status { status, text })
            }
        }
    }

    async fn once(
        &self,
        url: &WebUrl,
        verb: HttpMethod,
        more: &[(String, Secret)],
    ) -> Result<StreamedResponse, McpError> {
        let token = self.tokens.as_ref().and_then(TokenSource::header);
        let headers: Vec<(String, Secret)> =
            self.headers.iter().chain(more).cloned().chain(token).collect();
        let response = self.connector.exchange(&self.permit, url, verb, &headers).await;
        response.map_err(|error| McpError::Over(error.to_string()))
    }

    /// Takes tokens out of what the service sent back.
    pub(super) fn without_tokens(&self, bytes: Vec<u8>) -> Vec<u8> {
        match &self.tokens {
            Some(tokens) => tokens.removed_from(bytes),
            None => bytes,
        }
    }
}
