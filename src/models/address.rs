//! Addresses of servers, as far as they decide what may go there.
//!
//! In: an address. Out: whether it stays on this machine, its origin, how it may be shown. Nothing
//! is looked up.

use url::Url;

/// Returns true when an address stays on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns scheme, host and port.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Returns an address without the user name and password in it; it need not be a good one.
pub(super) fn shown(address: &str) -> String {
    let (scheme, rest) =
        address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    match rest.rsplit_once('@') {
        Some((_, rest)) if scheme.is_empty() => format!("***@{rest}"),
        Some((_, rest)) => format!("{scheme}://***@{rest}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn no_password_is_shown_however_the_address_is_written() {
        for (address, expected) in [
            ("https://me:pw@host/v1", "https://***@host/v1"),
            ("me:p@w@host:3128", "***@host:3128"),
            ("htp://me@host", "htp://***@host"),
            ("https://host/v1", "https://host/v1"),
            ("host", "host"),
        ] {
            assert_eq!(shown(address), expected);
        }
    }
}
