//! `Environment`: the process environment, read once at the start and handed to everyone who needs
//! a fact from it.
//!
//! In: the variables of the process. Out: a plain map, the folders that follow from it, and the
//! Action's context. Variables whose name or value is not UTF-8 are left out. It decides nothing:
//! layering is `load`'s work.

#![expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment, and keys that are passed beside it"
)]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::config::source::ConfigError;
use crate::config::telemetry;
use locum_base::secret::Secret;
use locum_models::profile::Provider;
use locum_models::proxy;
use locum_models::resolve::MODEL_VARIABLE;
use locum_sandbox::env::holds_a_secret;

/// The variable that says which keys come through open files.
const KEY_FDS_VARIABLE: &str = "LOCUM_KEY_FDS";
/// Largest key.
const KEY_LIMIT_BYTES: u64 = 16 * 1024;

/// The variables of the process at its start.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Secrets that an input took the place of.
    replaced: Vec<Secret>,
}

impl Environment {
    /// Reads the environment of this process.
    #[must_use]
    pub fn snapshot() -> Self {
        Self::from_pairs(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// Takes keys in that come through open files: `LOCUM_KEY_FDS` names each variable with the
    /// descriptor that holds its value, as in `OPENAI_API_KEY=3,ANTHROPIC_API_KEY=4`. From there on
    /// they are as if they had been set.
    ///
    /// # Errors
    /// When it is not written so, a variable is set already, or nothing can be read there.
    pub fn with_passed_keys(mut self) -> Result<Self, ConfigError> {
        let Some(list) =
            self.variables.remove(KEY_FDS_VARIABLE).filter(|list| !list.trim().is_empty())
        else {
            return Ok(self);
        };
        for entry in list.split(',') {
            let (name, value) = self.passed_key(entry.trim()).map_err(|message| ConfigError {
                place: KEY_FDS_VARIABLE.to_owned(),
                message,
                hint: Some(
                    "write `NAME=DESCRIPTOR`, separated by commas, as in `OPENAI_API_KEY=3`"
                        .to_owned(),
                ),
                excerpt: None,
            })?;
            self.replaced.push(Secret::new(value.clone()));
            self.variables.insert(name, value);
        }
        Ok(self)
    }

    fn passed_key(&self, entry: &str) -> Result<(String, String), String> {
        let (name, descriptor) =
            entry.split_once('=').ok_or_else(|| format!("`{entry}` names no descriptor"))?;
        let plain = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let number = descriptor.parse::<u16>().ok().filter(|number| plain && *number > 2);
        let number = number.ok_or_else(|| {
            format!("`{entry}` is not the name of a variable and a descriptor above 2")
        })?;
        if self.get(name).is_some() {
            return Err(format!("`{name}` is set already"));
        }
        let mut text = String::new();
        let file = std::fs::File::open(format!("/proc/self/fd/{number}"));
        let read = file.and_then(|file| file.take(KEY_LIMIT_BYTES).read_to_string(&mut text));
        read.map_err(|error| format!("descriptor {number} for `{name}` cannot be read: {error}"))?;
        match text.trim() {
            "" => Err(format!("descriptor {number} holds no key for `{name}`")),
            key if key.lines().count() > 1 => {
                Err(format!("descriptor {number} holds more than one line for `{name}`"))
            }
            key => Ok((name.to_owned(), key.to_owned())),
        }
    }

    /// Takes given variables. Names of Action inputs are brought to one form (`INPUT_MAX-TURNS`
    /// becomes `INPUT_MAX_TURNS`), and the inputs `api-key`, `base-url` and `github-token` take the
    /// place of the variables they stand for: the first two of those of the provider that the
    /// model's name begins with, else of `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
    #[must_use]
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        let mut replaced = Vec::new();
        for (name, value) in pairs {
            let (name, value) = (name.into(), value.into());
            let name = if name.starts_with("INPUT_") {
                name.to_ascii_uppercase().replace(['-', ' '], "_")
            } else {
                name
            };
            if !value.is_empty() || !variables.contains_key(&name) {
                variables.insert(name, value);
            }
        }
        for (input, variable) in stand_ins(&variables) {
            // An input that is filled wins.
            if let Some(value) = variables.remove(input).filter(|value| !value.is_empty()) {
                replaced.extend(variables.insert(variable.to_owned(), value).map(Secret::new));
            }
        }
        Self { variables, replaced }
    }

    /// Returns a variable's value; an empty one counts as not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns every variable, empty ones included.
    #[must_use]
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Returns the values of variables whose names say that they are secret: none of them may
    /// leave.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        let named =
            self.variables.iter().filter(|(name, value)| holds_a_secret(name) && !value.is_empty());
        let named = named.map(|(_, value)| Secret::new(value.clone()));
        let others = self.replaced.iter().cloned().chain(telemetry::secrets(|name| self.get(name)));
        named
            .chain(others)
            .chain(proxy::VARIABLES.iter().filter_map(|name| self.get(name)).flat_map(passwords))
            .collect()
    }

    /// Returns the folder of the user's own configuration: `$XDG_CONFIG_HOME/locum`, else
    /// `~/.config/locum`.
    #[must_use]
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the folder for state: `$RUNNER_TEMP/locum` in Actions, else `$XDG_STATE_HOME/locum`,
    /// else `~/.local/state/locum`.
    #[must_use]
    pub fn state_folder(&self) -> Option<PathBuf> {
        let runner = self.get("RUNNER_TEMP").map(|folder| Path::new(folder).join("locum"));
        runner.or_else(|| self.folder("XDG_STATE_HOME", ".local/state"))
    }

    /// The XDG rules: a relative path in such a variable is to be ignored.
    fn folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let folder =
            named.or_else(|| self.get("HOME").map(|home| Path::new(home).join(below_home)))?;
        Some(folder.join("locum"))
    }
}

/// Returns the password in a proxy's address, as it is written and as it is meant.
fn passwords(address: &str) -> Vec<Secret> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let password = rest
        .rsplit_once('@')
        .and_then(|(user, _)| user.split_once(':'))
        .map(|(_, password)| password);
    password
        .into_iter()
        .flat_map(|password| [password.to_owned(), telemetry::percent_decoded(password)])
        .map(Secret::new)
        .collect()
}

/// Returns inputs of the Action and the variables they stand in for.
fn stand_ins(variables: &BTreeMap<String, String>) -> Vec<(&'static str, &'static str)> {
    let filled = |name: &str| variables.get(name).filter(|value| !value.trim().is_empty());
    let provider = filled("INPUT_MODEL")
        .or_else(|| filled(MODEL_VARIABLE))
        .map(|model| Provider::before(model.trim()).0);
    let home = provider.and_then(Provider::home).or_else(|| Provider::default().home());
    let of_model = home
        .map(|home| [("INPUT_API_KEY", home.key_variable), ("INPUT_BASE_URL", home.url_variable)]);
    of_model.into_iter().flatten().chain([("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN")]).collect()
}

/// Shows the names only: values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use pretty_assertions::assert_eq;
    use std::path::PathBuf;

    #[test]
    fn knows_action_inputs_in_every_spelling() {
        for name in ["INPUT_MAX-TURNS", "INPUT_MAX_TURNS", "INPUT_max-turns"] {
            assert_eq!(
                Environment::from_pairs([(name, "3")]).get("INPUT_MAX_TURNS"),
                Some("3"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_key_comes_through_an_open_file() {
        use std::io::{Seek as _, Write as _};
        use std::os::fd::AsRawFd as _;
        let passing = |content: &str| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            file.rewind().unwrap();
            file
        };
        let (key, empty) = (passing("sk-through-a-file\n"), passing("\n"));
        let with = |list: String, more: &[(&str, &str)]| {
            let pairs = more.iter().copied().chain([("LOCUM_KEY_FDS", list.as_str())]);
            Environment::from_pairs(pairs).with_passed_keys()
        };
        let taken = with(format!("MY_KEY={}", key.as_raw_fd()), &[]).unwrap();
        assert_eq!(
            (taken.get("MY_KEY"), taken.get("LOCUM_KEY_FDS")),
            (Some("sk-through-a-file"), None)
        );
        assert!(taken.secrets().iter().any(|secret| secret.expose() == "sk-through-a-file"));
        for (list, more) in [
            (format!("MY_KEY={}", empty.as_raw_fd()), &[][..]),
            (format!("MY_KEY={}", key.as_raw_fd()), &[("MY_KEY", "set")]),
            ("MY_KEY=60000".to_owned(), &[]),
            ("MY_KEY=0".to_owned(), &[]),
            ("MY_KEY".to_owned(), &[]),
            ("MY KEY=9".to_owned(), &[]),
        ] {
            let error = with(list.clone(), more).unwrap_err();
            assert!(
                error.place == "LOCUM_KEY_FDS" && !error.message.contains("sk-"),
                "{list}: {error:?}"
            );
        }
        assert_eq!(
            Environment::from_pairs([("A", "b")]).with_passed_keys().unwrap().get("A"),
            Some("b")
        );
    }

    #[test]
    fn a_filled_input_stands_in_for_its_variable_and_an_empty_one_does_not() {
        let filled =
            Environment::from_pairs([("INPUT_API-KEY", "given"), ("OPENAI_API_KEY", "ambient")]);
        assert_eq!(
            (filled.get("OPENAI_API_KEY"), filled.get("INPUT_API_KEY")),
            (Some("given"), None)
        );
        let empty = Environment::from_pairs([("INPUT_API_KEY", ""), ("OPENAI_API_KEY", "ambient")]);
        assert_eq!(empty.get("OPENAI_API_KEY"), Some("ambient"));
    }

    #[test]
    fn the_key_of_the_action_belongs_to_the_provider_that_the_model_is_named_with() {
        for (model, key, url) in [
            ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
            ("gemini:gemini-3-pro", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
            ("openai-responses:gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
            ("gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
            ("llama3:8b", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ] {
            for variable in ["INPUT_MODEL", "LOCUM_MODEL"] {
                let pairs = [
                    (variable, model),
                    ("INPUT_API-KEY", "given"),
                    ("INPUT_BASE-URL", "https://gate.example"),
                ];
                let environment = Environment::from_pairs(pairs);
                let held: Vec<&str> = environment
                    .variables()
                    .keys()
                    .map(String::as_str)
                    .filter(|name| *name != variable)
                    .collect();
                let mut expected = [key, url];
                expected.sort_unstable();
                assert_eq!(held, expected, "{variable}={model}");
            }
        }
    }

    #[test]
    fn secrets_are_known_by_name_and_none_is_forgotten_for_an_input() {
        let pairs = [
            ("INPUT_GITHUB_TOKEN", "given"),
            ("GITHUB_TOKEN", "ambient"),
            ("MY_PASSWORD", "p"),
            ("LANG", "C"),
            ("EMPTY_TOKEN", ""),
            ("https_proxy", "http://me:a%2Db@proxy:3128"),
            ("ALL_PROXY", "me:pw@proxy:3128"),
            ("HTTP_PROXY", "http://me@proxy:3128"),
        ];
        let mut secrets: Vec<String> = Environment::from_pairs(pairs)
            .secrets()
            .iter()
            .map(|secret| secret.expose().to_owned())
            .collect();
        secrets.sort();
        assert_eq!(secrets, ["a%2Db", "a-b", "ambient", "given", "p", "pw", "pw"]);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        assert_eq!(Environment::from_pairs([("LOCUM_MODE", "")]).get("LOCUM_MODE"), None);
    }

    #[test]
    fn finds_the_folders() {
        let check = |pairs: &[(&str, &str)], config: Option<&str>, state: Option<&str>| {
            let environment = Environment::from_pairs(pairs.iter().copied());
            assert_eq!(environment.config_folder(), config.map(PathBuf::from), "{pairs:?}");
            assert_eq!(environment.state_folder(), state.map(PathBuf::from), "{pairs:?}");
        };
        check(&[], None, None);
        check(&[("HOME", "/h")], Some("/h/.config/locum"), Some("/h/.local/state/locum"));
        check(
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s")],
            Some("/c/locum"),
            Some("/s/locum"),
        );
        check(
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")],
            Some("/h/.config/locum"),
            Some("/h/.local/state/locum"),
        );
        check(&[("HOME", "/h"), ("RUNNER_TEMP", "/r")], Some("/h/.config/locum"), Some("/r/locum"));
    }

    #[test]
    fn never_shows_a_value() {
        let shown =
            format!("{:?}", Environment::from_pairs([("OPENAI_API_KEY", "sk-very-secret")]));
        assert_eq!(shown, "{\"OPENAI_API_KEY\"}");
    }
}
