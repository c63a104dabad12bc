//! What the name of a variable or a setting says of its value: whether it is a secret.
//!
//! In: a name. Out: how surely its value is one. A secret under an innocent name cannot be seen
//! here.

/// Words that mark a name as a secret's wherever they stand in it.
const WORDS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "credential",
    "cookie",
    "authorization",
    "extraheader",
    "apikey",
    "api_key",
    "access_key",
    "private_key",
];

/// Words that do so where they are a part of it, between underscores or at the end of one.
const PARTS: &[&str] = &["key", "keys", "auth", "pat"];

/// Words that may do so wherever they stand.
const POSSIBLE_WORDS: &[&str] = &["key", "auth", "header", "url"];

/// How surely the value under a name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// Nothing says so.
    No,
    /// It may be one: `remote.origin.url`.
    Perhaps,
    /// The name can hardly mean anything else: `GITHUB_TOKEN`.
    Surely,
}

/// Returns how surely the value under a name is a secret. A name that is empty says nothing, so it
/// may be anything.
pub fn sureness(name: &str) -> Sureness {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    // `PWD` and `OLDPWD` are the folders a shell is and was in.
    let is_folder = |part: &str| part == "oldpwd" || (part == "pwd" && parts.len() == 1);
    let is_part = |part: &&str| PARTS.contains(part) || (part.ends_with("pwd") && !is_folder(part));
    if holds_word(&lower) || parts.iter().any(is_part) {
        Sureness::Surely
    } else if lower.is_empty() || POSSIBLE_WORDS.iter().any(|word| lower.contains(word)) {
        Sureness::Perhaps
    } else {
        Sureness::No
    }
}

/// Whether a text holds a word that marks what it is about as a secret.
pub fn holds_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{Sureness, holds_word, sureness};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_name_says_how_surely_its_value_is_a_secret() {
        for (name, expected) in [
            ("GITHUB_TOKEN", Sureness::Surely),
            ("npm_config__authToken", Sureness::Surely),
            ("OPENAI_APIKEY", Sureness::Surely),
            ("SSH_AUTH_SOCK", Sureness::Surely),
            ("GH_PAT", Sureness::Surely),
            ("GPG_PASSPHRASE", Sureness::Surely),
            ("VAULT_PASSCODE", Sureness::Surely),
            ("SIGNING_PWD", Sureness::Surely),
            ("MYSQLPWD", Sureness::Surely),
            ("http.x.extraheader", Sureness::Surely),
            ("gpg.private_key_file", Sureness::Surely),
            ("user.signingkey", Sureness::Perhaps),
            ("remote.origin.url", Sureness::Perhaps),
            ("KEYBOARD", Sureness::Perhaps),
            ("", Sureness::Perhaps),
            ("PWD", Sureness::No),
            ("OLDPWD", Sureness::No),
            ("PATTERN", Sureness::No),
            ("HOME", Sureness::No),
        ] {
            assert_eq!(sureness(name), expected, "{name}");
        }
        assert!(holds_word("Authorization: Basic x") && !holds_word("url = git@example.com"));
    }
}
