//! `Host`: who an address on the network names, in one form however it was spelled.
//!
//! In: a host as written. Out: a name in lower-case ASCII, or an address; what has two readings, or
//! hides what it is, is refused and not repaired: odd numbers, encoded or invisible letters, a
//! zone, an empty label. Nothing is looked up.

use core::net::IpAddr;
use std::fmt;

use crate::urls::address::special;
use crate::words;
use locum_base::secret::view::is_invisible;

/// Longest name, in bytes, and longest label of one (RFC 1035).
const NAME_LIMIT_BYTES: usize = 253;
const LABEL_LIMIT_BYTES: usize = 63;

/// Last labels of names that mean a machine or a network nearby, whoever answers for them.
const NEARBY: &str = "\
    localhost localdomain local internal intranet private corp home lan domain workgroup \
    invalid test onion arpa svc pod consul nomad kube docker";

/// Names under which clouds hand out metadata and that end like public ones.
const METADATA: &[&str] = &[
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
];

/// The host part of an address, in its one canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, in ASCII and lower case, without a dot at its end.
    Name(String),
    /// An address, IPv4 or IPv6.
    Address(IpAddr),
}

impl Host {
    /// Reads a host as it stands in an address, IPv6 in brackets.
    ///
    /// # Errors
    /// A sentence without a full stop that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it names no host".to_owned());
        }
        if let Some(odd) = text
            .chars()
            .find(|letter| letter.is_whitespace() || letter.is_control() || is_invisible(*letter))
        {
            return Err(format!("its host holds the invisible character U+{:04X}", u32::from(odd)));
        }
        if text.contains('%') {
            return Err("its host holds `%`: encoded letters and zones are refused".to_owned());
        }
        let read =
            url::Host::parse(text).map_err(|_| "it names no host that could exist".to_owned())?;
        match read {
            url::Host::Domain(name) => checked_name(text, &name).map(Self::Name),
            url::Host::Ipv4(address) if address.to_string() == text => {
                Ok(Self::Address(IpAddr::V4(address)))
            }
            url::Host::Ipv4(address) => Err(format!(
                "its host is an odd spelling of {address}; addresses are written as four decimal \
                 numbers"
            )),
            url::Host::Ipv6(address) => Ok(Self::Address(IpAddr::V6(address))),
        }
    }

    /// Returns true for this machine alone: `localhost`, and the addresses that lead back to it.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Name(name) => name == "localhost",
        }
    }

    /// Returns why this host is never reached, whatever the rules say: a name of this machine or
    /// its network, an address that is not public. Addresses behind a name are checked again when
    /// it is resolved.
    pub fn forbidden(&self) -> Option<String> {
        match self {
            Self::Address(address) => {
                special(*address).map(|what| format!("`{address}` is {what}"))
            }
            Self::Name(name) => {
                let (head, last) = name.rsplit_once('.').unwrap_or(("", name));
                if head.is_empty() {
                    Some(format!("`{name}` is a name of this machine or its network"))
                } else if words::holds(NEARBY, last) {
                    Some(format!("names that end in `.{last}` stay on this machine or its network"))
                } else if METADATA.iter().any(|known| is_at_or_below(name, known)) {
                    Some(format!("`{name}` hands out a cloud's metadata"))
                } else {
                    None
                }
            }
        }
    }
}

impl fmt::Display for Host {
    /// Writes the host as it stands in an address, IPv6 in brackets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

/// Returns true for the domain itself and every name below it, compared by labels.
pub(super) fn is_at_or_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|head| head.is_empty() || head.ends_with('.'))
}

/// `written` is what stands in the address, `name` what it maps to in ASCII.
fn checked_name(written: &str, name: &str) -> Result<String, String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
    };
    let good = |label: &str| {
        !label.is_empty() && label.len() <= LABEL_LIMIT_BYTES && label.chars().all(plain)
    };
    if name.len() > NAME_LIMIT_BYTES || !name.split('.').all(good) {
        return Err("its host is not the name of one".to_owned());
    }
    if written.is_ascii() {
        return Ok(name.to_owned());
    }
    // Letters of other scripts become `xn--` labels; whatever becomes a plain letter or a dot only
    // looked like something else.
    let labels = || written.trim_end_matches('.').split('.');
    let same = labels().count() == name.split('.').count()
        && labels()
            .zip(name.split('.'))
            .all(|(one, other)| one.is_ascii() || other.starts_with("xn--"));
    if same {
        Ok(name.to_owned())
    } else {
        Err(format!("its host only looks like `{name}`: write that"))
    }
}
