//! Addresses on the network: how they are read, which rules are about them, and which are never
//! reached.
//!
//! In: what a model or a program wrote. Out: a [`WebUrl`] or a [`Destination`] in one form, or what
//! is wrong with it. Nothing is resolved here: the connecting code checks every address behind a
//! name with [`address::special`].

pub mod address;
pub mod host;
pub mod pattern;

use std::fmt;

use url::Url;

use crate::urls::host::Host;

/// Longest address, in bytes: enough for documentation, little for carrying anything away.
pub const URL_LIMIT_BYTES: usize = 1024;

/// Longest unbroken run of letters and digits in an address, in bytes. Hashes are shorter, encoded
/// data is longer.
pub(crate) const RUN_LIMIT_BYTES: usize = 100;

/// An address as written, and how it is read: one way, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebUrl {
    text: String,
    read: Result<(Url, Destination), String>,
}

impl WebUrl {
    /// Reads an address. One that is not understood is kept with its problem, and the policy
    /// refuses it.
    pub fn parse(text: &str) -> Self {
        Self { text: text.to_owned(), read: read(text) }
    }

    /// Returns what is wrong with it: a sentence without a full stop.
    pub fn problem(&self) -> Option<&str> {
        self.read.as_ref().err().map(String::as_str)
    }

    /// Returns why it is never asked for, whatever the rules say: its problem, or a host that
    /// nothing opens. A sentence without a full stop.
    pub fn forbidden(&self) -> Option<String> {
        let host = || self.destination().and_then(|destination| destination.host.forbidden());
        self.problem().map(str::to_owned).or_else(host)
    }

    /// Returns the address in its one form, without a fragment.
    pub fn url(&self) -> Option<&Url> {
        self.read.as_ref().ok().map(|(url, _)| url)
    }

    /// Returns the host and port that a request for it would connect to.
    pub fn destination(&self) -> Option<&Destination> {
        self.read.as_ref().ok().map(|(_, destination)| destination)
    }

    /// Returns the address of an API below this one: `path` after its own, with these parameters.
    /// What the parameters say was judged by itself, so that no limit of addresses counts for them.
    pub fn call(&self, path: &str, parameters: &[(&str, &str)]) -> Self {
        let read = self.read.clone().map(|(mut url, destination)| {
            let whole = format!("{}{path}", url.path().trim_end_matches('/'));
            url.set_path(&whole);
            url.set_query(None);
            if !parameters.is_empty() {
                url.query_pairs_mut().extend_pairs(parameters);
            }
            (url, destination)
        });
        Self { text: self.text.clone(), read }
    }

    /// Returns the address that `location` in an answer from this one leads to.
    pub fn join(&self, location: &str) -> Self {
        let absolute =
            location.split(['/', '?', '#']).next().is_some_and(|head| head.contains(':'));
        match self.url().map(|url| url.join(location)) {
            Some(Ok(joined)) if !absolute => Self::parse(joined.as_str()),
            Some(_) | None => Self::parse(location),
        }
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.read {
            Ok((url, _)) => write!(formatter, "{url}"),
            Err(_) => formatter.write_str(&self.text),
        }
    }
}

/// A host, a port, and whether the connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    /// Name or address to connect to.
    pub host: Host,
    /// The port, the scheme's own where none is written.
    pub port: u16,
    /// Whether connections to it are encrypted.
    pub scheme: Scheme,
}

/// The protocol of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `https`: encrypted, and the host proves its name.
    Https,
    /// `http`: not encrypted.
    Http,
}

impl Scheme {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// Returns the port it has where none is written.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

impl Destination {
    /// Reads `host`, `host:port` or `[v6]:port`, with `http://` before it where it is not
    /// encrypted.
    ///
    /// # Errors
    /// A sentence without a full stop that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = match text.split_once("://") {
            None | Some(("https", _)) => {
                (Scheme::Https, text.strip_prefix("https://").unwrap_or(text))
            }
            Some(("http", rest)) => (Scheme::Http, rest),
            Some((other, _)) => return Err(format!("`{other}` is neither https nor http")),
        };
        let (host, port) = split_port(rest)?;
        Ok(Self { host: Host::parse(host)?, port: port.unwrap_or(scheme.default_port()), scheme })
    }
}

impl fmt::Display for Destination {
    /// Writes `docs.rs:443`, or `http://docs.rs:80` where it is not encrypted.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Https => "",
            Scheme::Http => "http://",
        };
        write!(formatter, "{scheme}{}:{}", self.host, self.port)
    }
}

/// Splits `host:port`; the host of IPv6 keeps its brackets.
///
/// # Errors
/// When it is neither.
pub fn split_port(authority: &str) -> Result<(&str, Option<u16>), String> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err(format!("`{authority}` is not a host and a port; IPv6 stands in brackets"));
    }
    let Some(digits) = port else { return Ok((host, None)) };
    let number = digits
        .parse::<u16>()
        .ok()
        .filter(|port| *port > 0 && digits.bytes().all(|digit| digit.is_ascii_digit()));
    number.map(|port| (host, Some(port))).ok_or_else(|| format!("`{digits}` is not a port"))
}

/// Reads an address strictly: what a browser would repair is refused, so that no program reads it
/// another way.
fn read(text: &str) -> Result<(Url, Destination), String> {
    if text.len() > URL_LIMIT_BYTES {
        return Err(format!("it is longer than {URL_LIMIT_BYTES} bytes"));
    }
    if text.chars().any(|letter| letter.is_whitespace() || letter.is_control() || letter == '\\') {
        return Err(
            "blanks, control characters and backslashes have no place in an address".to_owned()
        );
    }
    let (scheme, rest) = text.split_once("://").ok_or("write it in full: `https://host/path`")?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "https" => Scheme::Https,
        "http" => Scheme::Http,
        _ => return Err(format!("`{scheme}` is neither https nor http")),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("it holds a name or password before `@`".to_owned());
    }
    let (host, port) = split_port(authority)?;
    let destination = Destination {
        host: Host::parse(host)?,
        port: port.unwrap_or(scheme.default_port()),
        scheme,
    };
    let mut url = Url::parse(text).map_err(|error| format!("it is not an address: {error}"))?;
    url.set_fragment(None);
    let plain =
        url.username().is_empty() && url.password().is_none() && url.scheme() == scheme.as_str();
    let same_host = url.host_str().map(|read| read.strip_suffix('.').unwrap_or(read))
        == Some(destination.host.to_string().as_str());
    if !(plain && same_host && url.port_or_known_default() == Some(destination.port)) {
        return Err("it can be read in two ways".to_owned());
    }
    // A dot at the end of a name means the same host, and is not what certificates say.
    url.set_host(Some(&destination.host.to_string()))
        .map_err(|error| format!("it is not an address: {error}"))?;
    if longest_run(&url[url::Position::BeforeHost..]) > RUN_LIMIT_BYTES {
        return Err(format!(
            "a part of it is longer than {RUN_LIMIT_BYTES} letters and digits, as data carried \
             away would be"
        ));
    }
    Ok((url, destination))
}

/// Returns the length of the longest unbroken run of letters and digits, in bytes.
pub(crate) fn longest_run(text: &str) -> usize {
    let carries =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'=' | b'+' | b'~');
    text.as_bytes().split(|byte| !carries(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
