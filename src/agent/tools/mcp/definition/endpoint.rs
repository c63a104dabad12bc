//! `ServerEndpoint`: how a server is reached, with its variables by name or filled in.
//!
//! In: what a definition says. Out: the same with values the caller allows. Nothing is looked up.

use std::collections::BTreeMap;

use crate::tools::mcp::definition::oauth::OauthClient;
use crate::tools::mcp::definition::variables::filled;
use locum_policy::urls::{Destination, Scheme, WebUrl};

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEndpoint {
    /// As a program that is started.
    Program {
        /// The program and its arguments.
        words: Vec<String>,
        /// Variables it gets.
        env: BTreeMap<String, String>,
        /// The folder it runs in, relative to the checkout.
        cwd: Option<String>,
    },
    /// As a service.
    Http {
        /// URL that requests are sent to.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// How it speaks.
        protocol: HttpProtocol,
        /// Who signs in there; `None` where nobody does.
        oauth: Option<OauthClient>,
    },
}

/// How a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpProtocol {
    /// Streamable HTTP.
    Streamable,
    /// Events, as before streamable HTTP.
    Sse,
    /// Streamable HTTP, or events where it answers that it does not know it.
    Either,
}

impl ServerEndpoint {
    /// Returns why no run uses it, whatever the policy says: a fragment.
    pub fn problem(&self) -> Option<String> {
        let Self::Http { url, headers, oauth, .. } = self else { return None };
        let url = WebUrl::parse(url);
        if let Some(why) = url.problem() {
            return Some(format!("its `url`: {why}"));
        }
        let in_the_clear = url.destination().is_some_and(|destination| {
            destination.scheme == Scheme::Http && !destination.host.is_loopback()
        });
        let keeps_nothing = headers.is_empty() && oauth.is_none();
        if in_the_clear && !keeps_nothing {
            let why = "its `headers` or tokens would be sent unencrypted: `url` has to begin with \
                       `https://`";
            return Some(why.to_owned());
        }
        let issuer = WebUrl::parse(oauth.as_ref()?.issuer.as_deref()?);
        if let Some(why) = issuer.problem() {
            return Some(format!("its `oauth.issuer`: {why}"));
        }
        let in_the_clear = issuer.destination().is_some_and(|destination| {
            destination.scheme == Scheme::Http && !destination.host.is_loopback()
        });
        in_the_clear.then(|| {
            "its secret would be sent unencrypted: `oauth.issuer` has to begin with `https://`"
                .to_owned()
        })
    }

    /// Returns every host that it names: its own, and that of who gives out its tokens.
    pub fn destinations(&self) -> Vec<Destination> {
        let Self::Http { url, oauth, .. } = self else { return Vec::new() };
        let issuer = oauth.as_ref().and_then(|client| client.issuer.as_ref());
        let named = std::iter::once(url).chain(issuer);
        named.filter_map(|url| WebUrl::parse(url).destination().cloned()).collect()
    }

    /// Returns why a client cannot sign in with the private key it was given: a fragment. For an
    /// endpoint whose variables are filled in.
    pub fn key_problem(&self) -> Option<String> {
        let Self::Http { oauth: Some(client), .. } = self else { return None };
        client.signing_key().err()
    }

    /// Returns it in a line, as it is written: variables by name.
    pub fn shown(&self) -> String {
        match self {
            Self::Program { words, .. } => words.join(" "),
            Self::Http { url, .. } => url.clone(),
        }
    }

    /// Returns it with every variable filled in: `${NAME}`, `${env:NAME}`, `${NAME:-otherwise}`,
    /// and `${workspaceFolder}`.
    ///
    /// # Errors
    /// A fragment that names a variable for which `value` has no answer.
    pub fn filled(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let fill = |text: &String| filled(text, value);
        let pairs = |pairs: &BTreeMap<String, String>| {
            pairs
                .iter()
                .map(|(name, text)| Ok((name.clone(), fill(text)?)))
                .collect::<Result<BTreeMap<_, _>, String>>()
        };
        Ok(match self {
            Self::Program { words, env, cwd } => Self::Program {
                words: words.iter().map(fill).collect::<Result<_, _>>()?,
                env: pairs(env)?,
                cwd: cwd.as_ref().map(fill).transpose()?,
            },
            Self::Http { url, headers, protocol, oauth } => Self::Http {
                url: fill(url)?,
                headers: pairs(headers)?,
                protocol: *protocol,
                oauth: oauth.as_ref().map(|client| client.filled(value)).transpose()?,
            },
        })
    }
}
