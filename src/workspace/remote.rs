//! `Remote`: where commits are fetched from and pushed to, and the token for it.
//!
//! In: a URL from a forge or a maintainer. Out: a checked one: `https`, plain `http` on this
//! machine only, or a local folder. Never a URL that runs a program, carries a password, or reads
//! as an option.

use base64::Engine as _;

use locum_base::secret::Secret;

/// A checked place to fetch from and push to.
#[derive(Clone, Debug)]
pub struct Remote {
    url: String,
    protocol: &'static str,
    token: Option<Secret>,
}

/// Why a URL is not a [`Remote`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Only these can be used.
    #[error("remote `{0}` is neither `https://`, nor `file://`, nor an absolute path")]
    Unsupported(String),
    /// A password would end up in arguments and messages.
    #[error("the remote's URL holds a user or password; give the token on its own")]
    Password,
    /// A token would travel unprotected.
    #[error("remote `{0}` is not encrypted; `http://` is for this machine only")]
    Plain(String),
}

impl Remote {
    /// Checks where to fetch from and push to. The token goes to this host only, and nowhere for a
    /// local folder.
    ///
    /// # Errors
    /// When the URL is of another kind or holds a password.
    pub fn parse(url: &str, token: Option<Secret>) -> Result<Self, RemoteError> {
        let unsupported = || RemoteError::Unsupported(url.to_owned());
        if url.chars().any(char::is_control) {
            return Err(unsupported());
        }
        if url.starts_with('/') {
            return Ok(Self { url: url.to_owned(), protocol: "file", token: None });
        }
        let parsed = url::Url::parse(url).map_err(|_| unsupported())?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(RemoteError::Password);
        }
        let protocol = match parsed.scheme() {
            "https" => "https",
            "http" if is_this_machine(&parsed) => "http",
            "http" => return Err(RemoteError::Plain(url.to_owned())),
            "file" if parsed.host().is_none() => "file",
            _ => return Err(unsupported()),
        };
        // What was checked is what is used: the URL in the form it was understood.
        Ok(Self { url: parsed.to_string(), protocol, token: token.filter(|_| protocol != "file") })
    }

    /// Returns the URL; it holds no secret.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the one protocol git may speak.
    pub(super) fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// Returns a configuration file that makes git send the token, to this host only, in place of
    /// any a repository has for it.
    pub(super) fn authorization(&self) -> Option<String> {
        let origin = url::Url::parse(&self.url).map(|url| url.origin().ascii_serialization());
        let (Some(token), Ok(origin)) = (&self.token, origin) else { return None };
        // An empty value takes back what was set before: two such headers are refused.
        Some(format!(
            "[http \"{origin}/\"]\n\textraHeader =\n\textraHeader = \"Authorization: Basic {}\"\n",
            basic(token)
        ))
    }

    /// Returns the token, and what of it stands in the header.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.token.iter().flat_map(|token| [token.clone(), Secret::new(basic(token))]).collect()
    }
}

fn basic(token: &Secret) -> String {
    base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{}", token.expose()))
}

fn is_this_machine(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Remote, RemoteError};
    use locum_base::secret::Secret;

    #[test]
    fn takes_three_kinds_of_places() {
        for (url, used, protocol) in [
            ("https://example.org/a/b.git", "https://example.org/a/b.git", "https"),
            ("HTTPS://Example.org:443/a", "https://example.org/a", "https"),
            ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a", "http"),
            ("file:///srv/a.git", "file:///srv/a.git", "file"),
            ("/srv/a b.git", "/srv/a b.git", "file"),
        ] {
            let remote = Remote::parse(url, None).unwrap();
            assert_eq!((remote.url(), remote.protocol()), (used, protocol), "{url}");
        }
    }

    #[test]
    fn refuses_every_other() {
        for url in [
            "ext::sh -c x",
            "ssh://h/a",
            "git@h:a/b",
            "git://h/a",
            "--upload-pack=x",
            "-x",
            "",
            "a/b",
            "file://h/a",
            "/a\nb",
            "fd::3",
        ] {
            assert_eq!(
                Remote::parse(url, None).err(),
                Some(RemoteError::Unsupported(url.to_owned())),
                "{url}"
            );
        }
        assert_eq!(Remote::parse("https://user:pw@h/a", None).err(), Some(RemoteError::Password));
        let plain = "http://example.org/a";
        assert_eq!(Remote::parse(plain, None).err(), Some(RemoteError::Plain(plain.to_owned())));
    }

    #[test]
    fn hands_the_token_to_its_host_only_and_never_shows_it() {
        let token = || Some(Secret::new("t0ken-value"));
        let remote = Remote::parse("https://example.org:8443/a/b.git", token()).unwrap();
        let header = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4tdmFsdWU=";
        let settings = format!(
            "[http \"https://example.org:8443/\"]\n\textraHeader =\n\textraHeader = \"{header}\"\n"
        );
        assert_eq!(remote.authorization(), Some(settings));
        assert!(remote.secrets().iter().any(|secret| header.ends_with(secret.expose())));
        assert!(!format!("{remote:?}").contains("t0ken"));
        assert_eq!(Remote::parse("/srv/a", token()).unwrap().authorization(), None);
    }
}
