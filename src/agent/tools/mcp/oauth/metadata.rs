//! What services and authorization servers say about tokens: where it is said (RFC 9728, RFC 8414,
//! OpenID Connect Discovery), and what of it counts.
//!
//! In: addresses, a challenge, JSON. Out: a [`ProtectedResource`], an [`AuthorizationServer`], or
//! what is wrong with them. Nothing is asked here.

use serde_json::Value;

use crate::tools::mcp::schema::one_line;
use crate::tools::mcp::signing_key::SigningAlgorithm;
use locum_policy::urls::WebUrl;

/// Most authorization servers of one service that are tried.
const SERVERS_LIMIT: usize = 4;

/// Most ways of proving who a client is that are read, and most algorithms.
const METHODS_LIMIT: usize = 50;

/// The way of a client that signs an assertion with its key (RFC 7523).
const SIGNED: &str = "private_key_jwt";

/// Longest text of theirs that is shown, in bytes.
const SHOWN_BYTES: usize = 200;

/// Longest scope that is passed on, in bytes.
const SCOPE_LIMIT_BYTES: usize = 1024;

/// What a service says about its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProtectedResource {
    /// The service, as its tokens name it.
    pub(super) resource: String,
    /// Who gives out tokens, by their own addresses.
    pub(super) authorization_servers: Vec<WebUrl>,
    scopes: Vec<String>,
}

/// What an authorization server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthorizationServer {
    /// What it calls itself, letter by letter: assertions for it say the same.
    pub(super) issuer: String,
    /// Where it gives out tokens.
    pub(super) token_endpoint: WebUrl,
    /// How a client may prove who it is; `None` where it does not say.
    methods: Option<Vec<String>>,
    /// What assertions may be signed with; `None` where it does not say.
    algorithms: Option<Vec<String>>,
}

/// Where the secret stands in a request for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretPlace {
    /// In a header (`client_secret_basic`).
    Header,
    /// In the form (`client_secret_post`).
    Form,
}

/// Returns where a service may say who gives out its tokens: what its challenge names, or the usual
/// places.
///
/// # Errors
/// When the challenge names another host.
pub(super) fn metadata_urls(service: &WebUrl, challenge: &str) -> Result<Vec<WebUrl>, String> {
    if let Some(named) = parameter(challenge, "resource_metadata") {
        let url = service.join(&named);
        if url.destination().is_none() || url.destination() != service.destination() {
            return Err(format!(
                "it names `{}`, which is not its own, to say who gives out its tokens",
                one_line(&named, SHOWN_BYTES)
            ));
        }
        return Ok(vec![url]);
    }
    let usual = "/.well-known/oauth-protected-resource";
    let path = path_of(service);
    let mut urls = vec![service.join(&format!("{usual}{path}"))];
    if !path.is_empty() {
        urls.push(service.join(usual));
    }
    Ok(urls)
}

/// Returns the scope that a challenge asks for.
pub(super) fn scope_of(challenge: &str) -> Option<String> {
    parameter(challenge, "scope").filter(|scope| is_scope(scope))
}

impl ProtectedResource {
    /// Reads what a service says.
    ///
    /// # Errors
    /// When it is about another service.
    pub(super) fn parse(said: &Value, service: &WebUrl) -> Result<Self, String> {
        let resource = said.get("resource").and_then(Value::as_str).unwrap_or_default();
        let url = WebUrl::parse(resource);
        let within = || {
            let (path, whole) = (path_of(&url), path_of(service));
            whole
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if url.destination().is_none() || url.destination() != service.destination() || !within() {
            return Err(format!(
                "what it says of its tokens is about `{}`, not about `{service}`",
                one_line(resource, SHOWN_BYTES)
            ));
        }
        let servers = texts(said, "authorization_servers");
        Ok(Self {
            resource: resource.to_owned(),
            authorization_servers: servers.take(SERVERS_LIMIT).map(WebUrl::parse).collect(),
            scopes: texts(said, "scopes_supported").map(str::to_owned).collect(),
        })
    }

    /// Returns every scope that it knows, as one text.
    pub(super) fn scope(&self) -> Option<String> {
        Some(self.scopes.join(" ")).filter(|scope| is_scope(scope))
    }
}

impl AuthorizationServer {
    /// Returns where a server may say this about itself.
    pub(super) fn urls(issuer: &WebUrl) -> Vec<WebUrl> {
        let (path, oauth) = (path_of(issuer), "/.well-known/oauth-authorization-server");
        let openid = "/.well-known/openid-configuration";
        let mut places = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
        if !path.is_empty() {
            places.push(format!("{path}{openid}"));
        }
        places.iter().map(|place| issuer.join(place)).collect()
    }

    /// Reads what a server says.
    ///
    /// # Errors
    /// When it is another server, or gives out no tokens for a client's credentials.
    pub(super) fn parse(said: &Value, issuer: &WebUrl) -> Result<Self, String> {
        let word = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
        let named = WebUrl::parse(word("issuer"));
        let same = named.destination().is_some()
            && named.destination() == issuer.destination()
            && path_of(&named) == path_of(issuer);
        if !same {
            return Err(format!(
                "`{issuer}` says that it is `{}`",
                one_line(word("issuer"), SHOWN_BYTES)
            ));
        }
        let list = |key: &str| {
            let is_list = said.get(key).is_some_and(Value::is_array);
            is_list.then(|| texts(said, key).take(METHODS_LIMIT).map(str::to_owned).collect())
        };
        let grants: Option<Vec<String>> = list("grant_types_supported");
        if grants.is_some_and(|grants| !grants.iter().any(|grant| grant == "client_credentials")) {
            return Err(format!("`{issuer}` gives none for a client's own credentials"));
        }
        Ok(Self {
            issuer: word("issuer").to_owned(),
            token_endpoint: WebUrl::parse(word("token_endpoint")),
            methods: list("token_endpoint_auth_methods_supported"),
            algorithms: list("token_endpoint_auth_signing_alg_values_supported"),
        })
    }

    /// Returns where it takes a client's secret: in a header where it does not say (RFC 8414).
    ///
    /// # Errors
    /// When it takes none.
    pub(super) fn secret_place(&self) -> Result<SecretPlace, String> {
        let Some(methods) = &self.methods else { return Ok(SecretPlace::Header) };
        let takes = |wanted: &str| methods.iter().any(|method| method == wanted);
        match (takes("client_secret_basic"), takes("client_secret_post")) {
            (true, _) => Ok(SecretPlace::Header),
            (false, true) => Ok(SecretPlace::Form),
            (false, false) => Err(format!(
                "`{}` takes no client's secret; it takes {}{}",
                self.shown(),
                listed(methods),
                if takes(SIGNED) { ": name a key with `oauth.private_key_env`" } else { "" }
            )),
        }
    }

    /// Returns which of some algorithms an assertion for it is signed with: the first that it
    /// takes, or the first where it does not say.
    ///
    /// # Errors
    /// When it takes no signed assertions, or none that is signed so.
    pub(super) fn algorithm(&self, own: &[SigningAlgorithm]) -> Result<SigningAlgorithm, String> {
        if let Some(methods) = &self.methods
            && !methods.iter().any(|method| method == SIGNED)
        {
            let takes = listed(methods);
            return Err(format!(
                "`{}` takes no assertion that a client signs (`{SIGNED}`); it takes {takes}",
                self.shown()
            ));
        }
        let taken = |one: &&SigningAlgorithm| match &self.algorithms {
            Some(names) => names.iter().any(|name| name == one.as_str()),
            None => true,
        };
        own.iter().find(taken).copied().ok_or_else(|| {
            let own: Vec<String> = own.iter().map(|one| one.as_str().to_owned()).collect();
            format!(
                "`{}` takes signatures by {}, and the client signs by {}",
                self.shown(),
                listed(self.algorithms.as_deref().unwrap_or_default()),
                listed(&own)
            )
        })
    }

    fn shown(&self) -> String {
        one_line(&self.issuer, SHOWN_BYTES)
    }
}

/// Returns names in a list, to be shown.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    one_line(&quoted.join(", "), SHOWN_BYTES)
}

fn texts<'v>(said: &'v Value, key: &str) -> impl Iterator<Item = &'v str> {
    said.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the path of an address without a slash at its end.
fn path_of(url: &WebUrl) -> String {
    url.url().map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default()
}

fn is_scope(scope: &str) -> bool {
    !scope.is_empty()
        && scope.len() <= SCOPE_LIMIT_BYTES
        && scope.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

/// Reads a parameter of a challenge: `Bearer scope="a b", resource_metadata="https://..."`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut rest = challenge;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at_checked(at)?;
        let after = after.strip_prefix('=')?;
        let from = before.rfind(|letter| !is_name(letter)).map_or(0, |at| at + 1);
        let found = before.get(from..)?;
        let (value, behind) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.find([',', ' ']).map_or((after, ""), |end| after.split_at(end)),
        };
        if found.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = behind;
    }
    None
}
