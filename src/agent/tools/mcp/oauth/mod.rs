//! `TokenSource`: tokens for a service that wants one, by the client's own credentials (OAuth 2.1,
//! MCP's extension `io.modelcontextprotocol/oauth-client-credentials`).
//!
//! In: what a service answered that refuses a request without a token. Out: a token, kept in memory
//! for that service alone. What is asked in turn: the service, who gives out its tokens; that
//! server, where; and there, a token. Each host is judged like the service's own. The secret, or an
//! assertion in its place, goes to the place of tokens and nowhere else, over an encrypted
//! connection or within this machine. A private key goes nowhere.

mod client_proof;
mod metadata;

use std::cell::RefCell;

use serde_json::Value;

use crate::tools::mcp::definition::oauth::OauthClient;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::oauth::client_proof::ClientProof;
use crate::tools::mcp::oauth::metadata::{
    AuthorizationServer, ProtectedResource, metadata_urls, scope_of,
};
use crate::tools::mcp::schema::one_line;
use crate::tools::mcp::signing_key::SigningKey;
use jiff::Timestamp;
use locum_base::secret::Secret;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::urls::{Destination, Scheme, WebUrl};
use locum_sandbox::network::Connector;
use locum_sandbox::network::exchange::{HttpMethod, percent_encoded};

/// Longest answer that is read, in bytes.
const ANSWER_LIMIT_BYTES: usize = 64 * 1024;

/// Longest token that is accepted, in bytes.
const TOKEN_LIMIT_BYTES: usize = 16 * 1024;

/// Tokens of one service that are still taken out of what it says.
const TOKENS_KNOWN: usize = 8;

/// Backslashes before a letter that are looked behind: more than anything puts there.
const SLASHES_LIMIT: usize = 64;

/// What stands in place of a token.
const MASK: &str = "***";

/// See the module.
pub(super) struct TokenSource {
    /// The server's name in the settings.
    pub(super) server: String,
    /// Who asks.
    pub(super) client: OauthClient,
    /// Its private key; `None` where it has a secret.
    pub(super) key: Option<SigningKey>,
    /// Decides on the hosts, under the circumstances in which the server was started.
    pub(super) policy: Policy,
    pub(super) facts: Facts,
    /// The tokens it got, the one in use last.
    pub(super) tokens: RefCell<Vec<Secret>>,
}

/// A connection to what gives out tokens for a server.
struct TokenConnection {
    server: String,
    destination: Destination,
}

impl Act for TokenConnection {
    fn intents(&self) -> Vec<Intent> {
        let (server, destination) = (self.server.clone(), self.destination.clone());
        vec![Intent::Service { server, destination }]
    }
}

impl TokenSource {
    /// Returns the header that a request carries; `None` until there is a token.
    pub(super) fn header(&self) -> Option<(String, Secret)> {
        let tokens = self.tokens.borrow();
        let token = tokens.last()?;
        Some(("authorization".to_owned(), Secret::new(format!("Bearer {}", token.expose()))))
    }

    /// Takes its tokens out of what a service sent.
    pub(super) fn removed_from(&self, bytes: Vec<u8>) -> Vec<u8> {
        let tokens = self.tokens.borrow();
        tokens.iter().fold(bytes, |bytes, token| without(token.expose(), bytes))
    }

    /// Gets a new token for a service that answered with a challenge.
    ///
    /// # Errors
    /// When there is none: why, without a secret.
    pub(super) async fn renew(
        &self,
        connector: &Connector,
        service: &WebUrl,
        challenge: &str,
    ) -> Result<(), McpError> {
        let found = self.token(connector, service, challenge).await;
        let token = found.map_err(|error| match error {
            McpError::Told(why) => McpError::Told(format!("it wants a token, and {why}")),
            other => other,
        })?;
        let mut tokens = self.tokens.borrow_mut();
        tokens.retain(|known| known.expose() != token.expose());
        tokens.push(token);
        let old = tokens.len().saturating_sub(TOKENS_KNOWN);
        tokens.drain(..old);
        Ok(())
    }

    async fn token(
        &self,
        connector: &Connector,
        service: &WebUrl,
        challenge: &str,
    ) -> Result<Secret, McpError> {
        let resource = self.resource(connector, service, challenge).await?;
        let issuer = self.issuer(connector, &resource).await?;
        let scope = match self.client.scopes.is_empty() {
            true => scope_of(challenge).or_else(|| resource.scope()),
            false => Some(self.client.scopes.join(" ")),
        };
        let mut form = vec![("grant_type", "client_credentials".to_owned())];
        form.push(("resource", resource.resource.clone()));
        form.extend(scope.map(|scope| ("scope", scope)));
        let mut headers = vec![("accept".to_owned(), Secret::new("application/json"))];
        let proof = self.proof(&issuer).map_err(McpError::Told)?;
        headers.extend(proof.header.clone().map(|header| ("authorization".to_owned(), header)));
        form.extend(proof.fields.iter().map(|(name, value)| (*name, value.expose().to_owned())));
        let form: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
        let url = &issuer.token_endpoint;
        let (status, answer) =
            self.ask(connector, url, (HttpMethod::Form(form.join("&")), &headers)).await?;
        read_token(status, &answer.unwrap_or_default(), &proof)
    }

    /// Returns what shows an authorization server who asks.
    #[expect(clippy::disallowed_methods, reason = "assertions are dated by the system's time")]
    fn proof(&self, server: &AuthorizationServer) -> Result<ClientProof, String> {
        match &self.key {
            Some(key) => ClientProof::by_key(&self.client, key, server, Timestamp::now()),
            None => ClientProof::by_secret(&self.client, server),
        }
    }

    /// Finds what a service says about who gives out its tokens.
    async fn resource(
        &self,
        connector: &Connector,
        service: &WebUrl,
        challenge: &str,
    ) -> Result<ProtectedResource, McpError> {
        for url in metadata_urls(service, challenge).map_err(McpError::Told)? {
            if let (200, Some(said)) = self.ask(connector, &url, GET).await? {
                return ProtectedResource::parse(&said, service).map_err(McpError::Told);
            }
        }
        Err(McpError::Told("it does not say who gives out its tokens".to_owned()))
    }

    /// Finds where an authorization server gives out tokens: the first one that the policy lets be
    /// asked.
    async fn issuer(
        &self,
        connector: &Connector,
        resource: &ProtectedResource,
    ) -> Result<AuthorizationServer, McpError> {
        let mut why = McpError::Told("it does not say who gives out its tokens".to_owned());
        let wanted = self.client.issuer.as_deref().map(without_slash);
        let is_wanted = |issuer: &&WebUrl| {
            wanted.is_none_or(|wanted| wanted == without_slash(&issuer.to_string()))
        };
        if let Some(wanted) = wanted {
            why = McpError::Told(format!("it does not name `{wanted}`, which `oauth.issuer` does"));
        }
        for issuer in resource.authorization_servers.iter().filter(is_wanted) {
            for url in AuthorizationServer::urls(issuer) {
                match self.ask(connector, &url, GET).await {
                    Ok((200, Some(said))) => {
                        return AuthorizationServer::parse(&said, issuer).map_err(McpError::Told);
                    }
                    Ok(_) => why = McpError::Told(format!("`{issuer}` does not say where")),
                    Err(error) => why = error,
                }
            }
        }
        Err(why)
    }

    /// Sends one request; returns the status, and the body where it is JSON.
    async fn ask(
        &self,
        connector: &Connector,
        url: &WebUrl,
        (verb, headers): (HttpMethod, &[(String, Secret)]),
    ) -> Result<(u16, Option<Value>), McpError> {
        let refused = |why: String| McpError::Told(format!("`{url}` is not asked for one: {why}"));
        if let Some(why) = url.problem() {
            return Err(refused(why.to_owned()));
        }
        let Some(destination) = url.destination().cloned() else {
            return Err(refused("it is no address".to_owned()));
        };
        if destination.scheme == Scheme::Http && !destination.host.is_loopback() {
            return Err(refused("the connection would not be encrypted".to_owned()));
        }
        let act = TokenConnection { server: self.server.clone(), destination };
        let permit = self.policy.admit(act, &self.facts).map_err(|refusal| {
            let first = refusal.verdicts.first();
            refused(first.map(|verdict| verdict.reason()).unwrap_or_default())
        })?;
        let response = connector.exchange(&permit, url, verb, headers).await;
        let mut response = response.map_err(|error| refused(error.to_string()))?;
        let body = response.body_within(ANSWER_LIMIT_BYTES).await;
        let body = body.map_err(|error| refused(error.to_string()))?;
        Ok((response.status, serde_json::from_slice(&body).ok()))
    }
}

fn without_slash(address: &str) -> &str {
    address.trim_end_matches('/')
}

/// A request without headers of its own.
const GET: (HttpMethod, &[(String, Secret)]) = (HttpMethod::Get, &[]);

/// Takes a token out of a text, in which each letter may be written as JSON writes it, however
/// often it was put into JSON again: `e`, `\\u0065`, `\\\\u0065`. The text need not be whole.
fn without(token: &str, text: Vec<u8>) -> Vec<u8> {
    let mut clean = Vec::with_capacity(text.len());
    let mut rest = text.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        match end_of(token, rest) {
            Some(after) => {
                clean.extend(MASK.as_bytes());
                rest = after;
            }
            None => {
                clean.push(*first);
                rest = behind;
            }
        }
    }
    clean
}

/// Returns what stands behind a token that a text begins with.
fn end_of<'t>(token: &str, text: &'t [u8]) -> Option<&'t [u8]> {
    token.bytes().try_fold(text, |rest, wanted| {
        if rest.first() == Some(&wanted) {
            return rest.get(1..);
        }
        let slashes = rest.iter().take(SLASHES_LIMIT + 1);
        let slashes = slashes.take_while(|byte| **byte == b'\\').count();
        let escaped = rest.get(slashes..).filter(|_| (1..=SLASHES_LIMIT).contains(&slashes))?;
        if escaped.first() == Some(&wanted) {
            return escaped.get(1..);
        }
        let code = escaped.strip_prefix(b"u")?.get(..4)?;
        let code = u32::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok()?;
        (code == u32::from(wanted)).then_some(escaped.get(5..))?
    })
}

/// Whether a byte may stand in a token (`b64token` of RFC 6750). What stands in place of one has no
/// such byte, so that no token is found in it again.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Reads the answer to a request for a token. An error is shown without what proved who asks.
fn read_token(status: u16, answer: &Value, proof: &ClientProof) -> Result<Secret, McpError> {
    let word = |name: &str| answer.get(name).and_then(Value::as_str);
    if status != 200 {
        let shown = |error: &str| one_line(&error.replace(proof.hidden.expose(), MASK), 100);
        let why = word("error").map(|error| format!(": {}", shown(error)));
        return Err(McpError::Told(format!(
            "none is given out (status {status}){}",
            why.unwrap_or_default()
        )));
    }
    let is_bearer = word("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    let token = word("access_token").filter(|token| {
        (1..=TOKEN_LIMIT_BYTES).contains(&token.len()) && token.bytes().all(is_of_token)
    });
    match token {
        Some(token) if is_bearer => Ok(Secret::new(token)),
        Some(_) | None => Err(McpError::Told("what is given out is no bearer token".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::TokenSource;
    use crate::tools::mcp::definition::oauth::{ClientAuthentication, OauthClient};
    use locum_base::secret::Secret;
    use locum_policy::Policy;
    use locum_policy::intent::Facts;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_token_is_taken_out_however_json_writes_it() {
        let tokens = ["a/token+one", "two"].map(Secret::new).to_vec().into();
        let client = OauthClient {
            id: "ci".to_owned(),
            authentication: ClientAuthentication::Secret,
            secret_env: "KEY".to_owned(),
            secret: Secret::new("key"),
            issuer: None,
            scopes: Vec::new(),
        };
        let (policy, facts) = (Policy::builtin(), Facts::default());
        let (server, key) = ("docs".to_owned(), None);
        let source = TokenSource { server, client, key, policy, facts, tokens };
        for (said, expected) in [
            (r#"{"a":"Bearer a/token+one"}"#, r#"{"a":"Bearer ***"}"#),
            (r#"{"a":["a\/token\u002bone \n"]}"#, r#"{"a":["*** \n"]}"#),
            (r#"{"a\/token+one":2}"#, r#"{"***":2}"#),
            (r#"{"a":"{\"b\":\"a\\/tok\\u0065n+one\"}"}"#, r#"{"a":"{\"b\":\"***\"}"}"#),
            (r#"{"cut": "t\u0077o, a\/tok\u0065n+on"#, r#"{"cut": "***, a\/tok\u0065n+on"#),
            (r"t\u0077 o, t\u0078o, t\u00", r"t\u0077 o, t\u0078o, t\u00"),
            ("no JSON: a/token+one, two", "no JSON: ***, ***"),
            (
                r#"{"n":12345678901234567890123, "a":"b"}"#,
                r#"{"n":12345678901234567890123, "a":"b"}"#,
            ),
        ] {
            let clean = source.removed_from(said.as_bytes().to_vec());
            assert_eq!(String::from_utf8(clean).unwrap(), expected);
        }
    }
}
