//! `Environment`: the process environment, read once at the start and handed to everyone who needs
//! a fact from it.
//! In: the variables of the process. Out: a plain map, the folders that follow from it, and the
//! Action's context. Variables whose name or value is not UTF-8 are left out. Settings are layered
//! in `load`.

#![expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment, and keys that are passed beside it"
)]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::config::collector_headers;
use locum_base::secret::Secret;
use locum_files::diagnostic::Diagnostic;
use locum_models::profile::Provider;
use locum_models::proxy;
use locum_models::resolve::MODEL_VARIABLE;
use locum_sandbox::env::holds_a_secret;

/// The variable that says which keys come through open files.
const KEY_FDS_VARIABLE: &str = "LOCUM_KEY_FDS";
/// Where a process finds the files it has open.
const OPEN_FILES: &str = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
/// Most bytes of one key.
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
    pub fn with_passed_keys(mut self) -> Result<Self, Diagnostic> {
        let Some(list) =
            self.variables.remove(KEY_FDS_VARIABLE).filter(|list| !list.trim().is_empty())
        else {
            return Ok(self);
        };
        for entry in list.split(',') {
            let (name, value) = self.passed_key(entry.trim()).map_err(|message| {
                Diagnostic::about(KEY_FDS_VARIABLE, message)
                    .hint("write `NAME=DESCRIPTOR`, separated by commas, as in `OPENAI_API_KEY=3`")
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
        let file = std::fs::File::open(format!("{OPEN_FILES}/{number}"));
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

    /// Takes given variables. Names of Action inputs are reduced to one form (`INPUT_MAX-TURNS`
    /// becomes `INPUT_MAX_TURNS`). The inputs `api-key`, `base-url` and `github-token` replace the
    /// variables they are for: the first two those of the provider that the model's name tells,
    /// else the key's own beginning, else `OPENAI_API_KEY` and `OPENAI_BASE_URL`.
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

    /// Returns only these variables.
    pub fn only(&self, names: &[&str]) -> Self {
        let kept = self.variables.iter().filter(|(name, _)| names.contains(&name.as_str()));
        Self::from_pairs(kept.map(|(name, value)| (name.clone(), value.clone())))
    }

    /// Returns a variable's value; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns every variable, empty ones included.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Returns the values of variables whose names say that they are secret: none of them may
    /// leave.
    pub fn secrets(&self) -> Vec<Secret> {
        let named =
            self.variables.iter().filter(|(name, value)| holds_a_secret(name) && !value.is_empty());
        let named = named.map(|(_, value)| Secret::new(value.clone()));
        let others =
            self.replaced.iter().cloned().chain(collector_headers::secrets(|name| self.get(name)));
        named
            .chain(others)
            .chain(proxy::VARIABLES.iter().filter_map(|name| self.get(name)).flat_map(passwords))
            .collect()
    }

    /// Returns the folder of the user's own configuration: `$XDG_CONFIG_HOME/locum`, else
    /// `~/.config/locum`.
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the folder for state: `$RUNNER_TEMP/locum` in Actions, else `$XDG_STATE_HOME/locum`,
    /// else `~/.local/state/locum`.
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
        .flat_map(|password| [password.to_owned(), collector_headers::percent_decoded(password)])
        .map(Secret::new)
        .collect()
}

/// Returns inputs of the Action and the variables they stand in for.
fn stand_ins(variables: &BTreeMap<String, String>) -> Vec<(&'static str, &'static str)> {
    let filled = |name: &str| variables.get(name).filter(|value| !value.trim().is_empty());
    let provider = filled("INPUT_MODEL")
        .or_else(|| filled(MODEL_VARIABLE))
        .map(|model| Provider::of_request(model.trim(), variables).0)
        .or_else(|| filled("INPUT_API_KEY").and_then(|key| Provider::of_key(key)));
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
mod tests;
