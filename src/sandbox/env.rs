//! The environment child processes get: named variables only, and never one whose name says secret.
//!
//! In: the whole environment and the names a policy lists. Out: what is passed on. Pure; whether a
//! value is a secret under an innocent name cannot be seen here, that is what keeping the list
//! short is for.

use std::collections::BTreeMap;

use locum_base::secret::name::{Sureness, sureness};

/// Prefixes of what the runner gives its own steps: tokens, command files, inputs.
const RUNNER_PREFIXES: [&str; 3] = ["GITHUB_", "ACTIONS_", "INPUT_"];

/// Returns the variables of `all` that are named in `allowed` and not secret by their name.
pub fn clean_env(all: &BTreeMap<String, String>, allowed: &[String]) -> BTreeMap<String, String> {
    let passed = allowed.iter().filter(|name| !is_secret_name(name));
    passed
        .filter_map(|name| all.get_key_value(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns true for names that are never passed on, even when a policy lists them.
fn is_secret_name(name: &str) -> bool {
    RUNNER_PREFIXES.iter().any(|prefix| name.to_ascii_uppercase().starts_with(prefix))
        || holds_a_secret(name)
}

/// Returns true for names that say that their value is a secret. What a runner gives its steps is
/// withheld from commands, but most of it (the repository's name, say) is not secret.
pub fn holds_a_secret(name: &str) -> bool {
    sureness(name) == Sureness::Surely
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::{clean_env, is_secret_name};

    #[test]
    fn knows_secrets_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "GITHUB_ENV",
            "ACTIONS_RUNTIME_URL",
            "INPUT_MODEL",
            "OPENAI_API_KEY",
            "OPENAI_APIKEY",
            "npm_config__authToken",
            "NPM_AUTH",
            "SSH_AUTH_SOCK",
            "DB_PASSWORD",
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "GH_PAT",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "github_token",
            "GPG_PASSPHRASE",
            "SIGNING_PWD",
            "TLS_PRIVATE_KEY_FILE",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "LANG",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "KEYBOARD",
            "PATTERN",
            "GIT_AUTHOR_NAME",
            "MONKEY_MODE",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn passes_on_what_is_listed_and_nothing_else() {
        let env = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect::<BTreeMap<_, _>>()
        };
        let all = env(&[("PATH", "/bin"), ("HOME", "/h"), ("GITHUB_TOKEN", "x"), ("OTHER", "y")]);
        let allowed = ["PATH", "GITHUB_TOKEN", "UNSET", "HOME"].map(str::to_owned);
        assert_eq!(clean_env(&all, &allowed), env(&[("HOME", "/h"), ("PATH", "/bin")]));
        assert_eq!(clean_env(&all, &[]), env(&[]));
    }

    #[test]
    fn a_command_does_not_see_tokens_without_being_given_them() {
        let all = BTreeMap::from([
            ("PATH".to_owned(), "/bin".to_owned()),
            ("GITHUB_TOKEN".to_owned(), "x".to_owned()),
        ]);
        for allowed in [vec!["PATH".to_owned()], vec!["GITHUB_TOKEN".to_owned(), "PATH".to_owned()]]
        {
            let passed = clean_env(&all, &allowed);
            assert!(!passed.contains_key("GITHUB_TOKEN"), "{allowed:?}");
            assert!(passed.contains_key("PATH"), "{allowed:?}");
        }
    }
}
