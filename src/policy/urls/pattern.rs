//! `UrlPattern`: what a rule says of addresses: scheme, host, port and the start of the path.
//!
//! In: a pattern as written, `*.example.com/docs/**`. Out: whether it is about an address. Hosts
//! are compared by labels, paths by their parts. A rule that refuses is read more widely than one
//! that allows: what it does not write means any.

use url::Url;

use crate::glob::{LetterCase, folded};
use crate::urls::host::{Host, is_at_or_below};
use crate::urls::{Destination, Scheme, WebUrl, split_port};

/// Addresses a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    /// `None` where it is not written.
    scheme: Option<Scheme>,
    hosts: HostPattern,
    port: Option<u16>,
    /// Parts the path starts with.
    path: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    /// `*`
    Any,
    /// `*.example.com`: every name below it.
    Below(String),
    /// Exactly this host.
    One(Host),
}

impl UrlPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A sentence saying what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("address `{text}`: {what}");
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("https", rest)) => (Some(Scheme::Https), rest),
            Some(("http", rest)) => (Some(Scheme::Http), rest),
            Some(_) => return Err(wrong("only https and http can be allowed")),
        };
        if rest.contains(['@', '?', '#', '\\', '%']) || rest.contains(char::is_whitespace) {
            return Err(wrong("write scheme, host, port and the start of the path, nothing else"));
        }
        let (authority, path) =
            rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        let (host, port) = split_port(authority).map_err(|what| wrong(&what))?;
        let read = |name: &str| {
            Host::parse(name)
                .map_err(|_| wrong("write a host such as `docs.rs` or `*.example.com`"))
        };
        let hosts = match host.strip_prefix("*.") {
            None if host == "*" => HostPattern::Any,
            None => HostPattern::One(read(host)?),
            Some(domain) => match read(domain)? {
                Host::Name(name) => HostPattern::Below(name),
                Host::Address(_) => return Err(wrong("an address has nothing below it")),
            },
        };
        let plain = path.strip_suffix("/**").or_else(|| path.strip_suffix('/')).unwrap_or(path);
        if plain.contains(['*', '[', '{'])
            || plain.split('/').any(|part| matches!(part, "." | ".."))
            || plain.contains("//")
        {
            return Err(wrong(
                "a path is the start of one: `docs.rs/tokio`, or `docs.rs/tokio/**`, which means \
                 the same",
            ));
        }
        let path = plain.split('/').skip(1).map(str::to_owned).collect();
        Ok(Self { scheme, hosts, port, path })
    }

    /// Returns true when it is about this address. `LetterCase::Ignored` is for rules that refuse.
    pub fn matches(&self, url: &WebUrl, case: LetterCase) -> bool {
        let Some((url, destination)) = url.url().zip(url.destination()) else { return false };
        self.reaches(destination, case) && (self.path.is_empty() || self.path_matches(url, case))
    }

    /// Returns true when it is about this host, port and scheme, whatever the path.
    pub fn reaches(&self, destination: &Destination, case: LetterCase) -> bool {
        let named = match (&self.hosts, &destination.host) {
            (HostPattern::Any, _) => true,
            (HostPattern::Below(domain), Host::Name(name)) => {
                name != domain && is_at_or_below(name, domain)
            }
            (HostPattern::Below(_), Host::Address(_)) => false,
            (HostPattern::One(one), host) => one == host,
        };
        let scheme = match case {
            LetterCase::Exact => Some(self.scheme.unwrap_or(Scheme::Https)),
            LetterCase::Ignored => self.scheme,
        };
        let port = match case {
            LetterCase::Exact => Some(self.port.unwrap_or(destination.scheme.default_port())),
            LetterCase::Ignored => self.port,
        };
        named
            && scheme.is_none_or(|scheme| scheme == destination.scheme)
            && port.is_none_or(|port| port == destination.port)
    }

    /// Returns the host as a pattern writes it.
    pub fn host(&self) -> String {
        match &self.hosts {
            HostPattern::Any => "*".to_owned(),
            HostPattern::Below(domain) => format!("*.{domain}"),
            HostPattern::One(host) => host.to_string(),
        }
    }

    /// Returns true when it is about one port of this machine, and says so in full.
    pub fn is_loopback_port(&self) -> bool {
        let HostPattern::One(host) = &self.hosts else { return false };
        host.is_loopback() && self.port.is_some() && !self.has_path()
    }

    /// Returns true when it is about a part of what a host has.
    pub fn has_path(&self) -> bool {
        !self.path.is_empty()
    }

    /// Returns true when it is about every host.
    pub fn is_any_host(&self) -> bool {
        self.hosts == HostPattern::Any
    }

    /// Returns true when it is about more than one host.
    pub fn has_wildcard(&self) -> bool {
        !matches!(self.hosts, HostPattern::One(_))
    }

    /// Returns why no address it is about is ever reached, where that can be said of all of them.
    pub fn forbidden(&self) -> Option<String> {
        match &self.hosts {
            HostPattern::Any => None,
            HostPattern::Below(name) => Host::Name(format!("x.{name}")).forbidden(),
            HostPattern::One(host) => host.forbidden(),
        }
    }

    /// Returns true when every address the other is about is covered by this one.
    pub fn covers(&self, other: &Self) -> bool {
        let hosts = match (&self.hosts, &other.hosts) {
            (HostPattern::Any, _) => true,
            (HostPattern::Below(one), HostPattern::Below(two)) => is_at_or_below(two, one),
            (HostPattern::Below(one), HostPattern::One(Host::Name(two))) => {
                two != one && is_at_or_below(two, one)
            }
            (HostPattern::One(one), HostPattern::One(two)) => one == two,
            (HostPattern::Below(_) | HostPattern::One(_), _) => false,
        };
        hosts
            && self.scheme == other.scheme
            && self.port == other.port
            && other.path.starts_with(&self.path)
    }

    fn path_matches(&self, url: &Url, case: LetterCase) -> bool {
        let path = url.path();
        match case {
            // A server may read `%2e%2e%2f` as a way up, and an empty part as none.
            LetterCase::Exact => {
                let plain = !path.contains("//") && !encodes_structure(path);
                plain && starts_with(&self.path, path.split('/').skip(1).map(str::to_owned))
            }
            LetterCase::Ignored => {
                let parts = path
                    .split('/')
                    .map(decoded)
                    .flat_map(|part| part.split('/').map(str::to_owned).collect::<Vec<_>>());
                let wanted: Vec<String> = self.path.iter().map(|part| folded(part)).collect();
                starts_with(&wanted, parts.filter(|part| !part.is_empty() && part != "."))
            }
        }
    }
}

fn starts_with(wanted: &[String], mut parts: impl Iterator<Item = String>) -> bool {
    wanted.iter().all(|part| parts.next().as_ref() == Some(part))
}

/// Returns true when letters that give a path its parts are written as codes.
fn encodes_structure(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ["%2f", "%5c", "%2e", "%25", "%00", ";"].iter().any(|code| lower.contains(code))
}

/// Returns a part with its codes read, in lower case, as the most helpful server would.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| core::str::from_utf8(digits).ok());
        let read = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(read.unwrap_or(*first));
        rest = if read.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    folded(&String::from_utf8_lossy(&bytes).replace('\\', "/"))
}
