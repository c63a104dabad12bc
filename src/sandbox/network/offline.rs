//! What tells package managers that there is no network, so that they fail at once and say why,
//! instead of trying again for a minute.
//!
//! In: the environment of a command without network. Out: the same with what these programs look
//! for. A variable that the policy passes on stays as it is.

use std::collections::BTreeMap;

use locum_policy::command::Script;

/// Variables and their values, by program.
const VARIABLES: &[(&str, &str)] = &[
    ("CARGO_NET_OFFLINE", "true"),
    ("CARGO_NET_RETRY", "0"),
    ("COMPOSER_DISABLE_NETWORK", "1"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_RETRIES", "0"),
    // What `uv run` would install anew cannot be had; what is installed is run.
    ("UV_NO_SYNC", "1"),
    ("UV_OFFLINE", "1"),
    ("YARN_ENABLE_NETWORK", "0"),
    ("npm_config_audit", "false"),
    ("npm_config_fetch_retries", "0"),
    ("npm_config_fund", "false"),
    ("npm_config_offline", "true"),
    ("npm_config_update_notifier", "false"),
];

/// Commands that would find nothing newer and call that a success, with the variable that makes
/// them do so. Without it they fail at once.
const UPDATES: &[(&str, &[&str], &str)] = &[
    ("cargo", &["update"], "CARGO_NET_OFFLINE"),
    ("npm", &["update", "upgrade", "up"], "npm_config_offline"),
];

/// What programs say that reached no host.
const COMPLAINTS: &[&str] = &[
    "EAI_AGAIN",
    "ENOTFOUND",
    "ENOTCACHED",
    "ENETUNREACH",
    "Could not resolve host",
    "Could not resolve proxy",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "failed to lookup address information",
    "no such host",
    "module lookup disabled by GOPROXY=off",
    "without the offline flag",
    "--offline was specified",
    "offline mode (via `--offline`)",
    "Failed to establish a new connection",
];

/// Tells the programs of a script that there is no network.
pub(crate) fn tell(env: &mut BTreeMap<String, String>, script: &Script) {
    let misled: Vec<&str> = UPDATES
        .iter()
        .filter(|(program, verbs, _)| script.calls(program, verbs))
        .map(|(.., variable)| *variable)
        .collect();
    for (name, value) in VARIABLES.iter().filter(|(name, _)| !misled.contains(name)) {
        env.entry((*name).to_owned()).or_insert_with(|| (*value).to_owned());
    }
}

/// Returns true where a program says that it reached no host.
pub fn is_complaint(output: &str) -> bool {
    COMPLAINTS.iter().any(|complaint| output.contains(complaint))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{is_complaint, tell};
    use locum_policy::command::Script;

    #[test]
    fn what_the_policy_passes_on_stays_as_it_is() {
        let mut env = BTreeMap::from([("GOPROXY".to_owned(), "file:///cache".to_owned())]);
        tell(&mut env, &Script::parse("cargo test"));
        assert_eq!(env["GOPROXY"], "file:///cache");
        assert_eq!(env["npm_config_offline"], "true");
        assert_eq!(env["CARGO_NET_OFFLINE"], "true");
    }

    #[test]
    fn an_update_is_not_told_for_it_would_claim_that_all_is_new() {
        for (script, misled) in [
            ("cargo update", true),
            ("cargo -q update -p serde && cargo test", true),
            ("timeout 60 cargo +nightly update", true),
            ("for x in a b; do cargo update -p $x; done", true),
            ("cargo test update", false),
            ("echo cargo update", false),
        ] {
            let mut env = BTreeMap::new();
            tell(&mut env, &Script::parse(script));
            assert_eq!(!env.contains_key("CARGO_NET_OFFLINE"), misled, "{script}");
            assert_eq!(env["npm_config_offline"], "true", "{script}");
        }
    }

    #[test]
    fn knows_what_programs_say_without_network() {
        for line in [
            "npm error code EAI_AGAIN",
            "curl: (6) Could not resolve host: example.com",
            "fatal: unable to access 'https://x/': Could not resolve host: x",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        ] {
            assert!(is_complaint(line), "{line}");
        }
        assert!(!is_complaint("test network::reaches_hosts ... FAILED"));
    }
}
