//! `ProxySettings`: what stands between this program and a model's server, as variables of the
//! environment name it.
//! In: the environment, a server's address, and whether a key goes there. Out: the proxy, its
//! password kept secret; or why the one that is named cannot be used. An unusable proxy is never
//! bypassed. Connecting is done elsewhere.

use std::collections::BTreeMap;

use url::Url;

use crate::address::{is_loopback, shown};
use locum_base::secret::Secret;

/// Variables that name a proxy, each of a kind in the order they count.
pub const VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Supported schemes of proxies.
const SCHEMES: &[&str] = &["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// A proxy, by its address and credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySettings {
    /// Its address, with the user name and password it wants.
    pub address: Secret,
    /// Hosts that are reached without it, separated by commas: names with all below them,
    /// addresses, networks, or `*`.
    pub except: String,
}

impl ProxySettings {
    /// Finds the proxy for a server. Servers on this machine are reached without one, and so are
    /// servers that are sent a key in the clear.
    ///
    /// # Errors
    /// Says which variable names a proxy that cannot be used.
    pub fn find(
        env: &BTreeMap<String, String>,
        server: &Url,
        carries_key: bool,
    ) -> Result<Option<Self>, String> {
        let is_plain = server.scheme() == "http";
        if is_loopback(server) || (is_plain && carries_key) {
            return Ok(None);
        }
        let other = if is_plain { "https_" } else { "http_" };
        let mut names =
            VARIABLES.into_iter().filter(|name| !name.to_ascii_lowercase().starts_with(other));
        let Some((name, value)) =
            names.find_map(|name| variable_value(env, name).map(|value| (name, value)))
        else {
            return Ok(None);
        };
        let address = parse(value).ok_or_else(|| {
            format!(
                "`{name}` is `{}`, which is not the address of a proxy; write it as `http://HOST:PORT` \
                 (supported schemes: {})",
                shown(value),
                SCHEMES.join(", ")
            )
        })?;
        let except = ["NO_PROXY", "no_proxy"]
            .into_iter()
            .find_map(|name| variable_value(env, name))
            .unwrap_or_default();
        Ok(Some(Self { address, except: except.to_owned() }))
    }
}

/// Reads a proxy's address; where it names no scheme, it is that of a plain HTTP proxy.
fn parse(value: &str) -> Option<Secret> {
    let address = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let url = Url::parse(&address).ok().filter(|url| {
        SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty())
    })?;
    Some(Secret::new(url.as_str()))
}

/// Returns the value of a variable that is set to something.
pub(super) fn variable_value<'e>(env: &'e BTreeMap<String, String>, name: &str) -> Option<&'e str> {
    env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::ProxySettings;

    fn found(
        server: &str,
        carries_key: bool,
        env: &[(&str, &str)],
    ) -> Result<Option<(String, String)>, String> {
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let proxy = ProxySettings::find(&env, &server.parse().unwrap(), carries_key)?;
        Ok(proxy.map(|proxy| (proxy.address.expose().to_owned(), proxy.except)))
    }

    #[test]
    fn the_variable_for_the_scheme_comes_before_the_one_for_all() {
        let all = [
            ("ALL_PROXY", "socks5h://all:1"),
            ("http_proxy", "plain:2"),
            ("HTTPS_PROXY", "http://me:pw@tls:3"),
            ("no_proxy", "x, y"),
        ];
        let found = |server, carries_key, env: &[(&str, &str)]| {
            found(server, carries_key, env).unwrap().map(|(address, _)| address)
        };
        assert_eq!(found("https://host", true, &all).as_deref(), Some("http://me:pw@tls:3/"));
        assert_eq!(found("http://host", false, &all).as_deref(), Some("http://plain:2/"));
        assert_eq!(found("https://host", true, &all[..2]).as_deref(), Some("socks5h://all:1"));
        assert_eq!(
            found("https://host", true, &[("HTTPS_PROXY", " "), ("https_proxy", "lower:4")])
                .as_deref(),
            Some("http://lower:4/")
        );
        assert_eq!(found("https://host", true, &[("HTTP_PROXY", "plain:2")]), None);
        assert_eq!(
            super::tests::found("https://host", true, &all)
                .unwrap()
                .map(|(_, except)| except)
                .as_deref(),
            Some("x, y")
        );
    }

    #[test]
    fn neither_this_machine_nor_a_key_in_the_clear_is_shown_to_a_proxy() {
        let all = [("ALL_PROXY", "http://all:1")];
        for (server, carries_key, uses) in [
            ("http://localhost:1", false, false),
            ("https://127.0.0.1", true, false),
            ("http://gpu.lan", true, false),
            ("http://gpu.lan", false, true),
            ("https://gpu.lan", true, true),
        ] {
            assert_eq!(
                found(server, carries_key, &all).unwrap().is_some(),
                uses,
                "{server} {carries_key}"
            );
        }
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_named_and_not_gone_round() {
        for address in ["htp://me:geheim@host:1", "http://", "me:geheim@host:no", "ftp://host"] {
            let problem = found("https://host", true, &[("HTTPS_PROXY", address)]).unwrap_err();
            assert!(
                problem.starts_with("`HTTPS_PROXY` is `") && !problem.contains("geheim"),
                "{problem}"
            );
        }
    }
}
