//! Layers: built-in < user < repository (trusted ref) < environment < flags; each value knows where
//! it came from.
//!
//! In: texts of files, the environment, flags; nothing is read here. Out: [`Settings`], or every
//! mistake of every layer at once. Files are checked on a tree that knows line and column; figment
//! does the layering: every single value enters it as a provider of its own, so that its metadata
//! names the very line, variable or flag.

use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::config::environment::Environment;
use crate::config::keys::{self, KEYS, Key, Scope};
use crate::config::settings::{ForgeSettings, SetValue, Settings, Values};
use crate::config::source::{ConfigError, ConfigErrors, Layer, Source};
use locum_files::fields::{Mistakes, nearest};
use locum_files::yaml::{Document, Mistake, Node, Place, Value as YamlValue};

/// Start of the variables that are settings.
const PREFIX: &str = "LOCUM_";
/// Variables with that start that are no settings: the log filter, and what the project's own tests
/// use.
const NO_SETTINGS: &[&str] = &["LOCUM_LOG", "LOCUM_VECTORS", "LOCUM_TEST_"];

/// A configuration file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its name in messages.
    pub origin: String,
    /// Its text.
    pub text: String,
}

/// A setting given by a flag.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FlagValue {
    /// The flag: `--max-turns`.
    pub flag: String,
    /// The setting's key: `budget.turns`.
    pub key: String,
    /// The value as written.
    pub value: String,
}

/// Everything settings come from.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a> {
    /// The user's own file.
    pub user: Option<&'a ConfigFile>,
    /// The repository's file, as it is at the trusted ref.
    pub repository: Option<&'a ConfigFile>,
    /// The environment.
    pub environment: &'a Environment,
    /// Flags.
    pub flags: &'a [FlagValue],
}

/// Merges the layers.
///
/// # Errors
/// Every mistake of every layer.
pub fn load(layers: &Layers<'_>) -> Result<Settings, ConfigErrors> {
    let mut reading = Reading::default();
    reading.built_in(layers.environment);
    for (layer, file) in [(Layer::User, layers.user), (Layer::Repository, layers.repository)] {
        if let Some(file) = file {
            reading.file(layer, file);
        }
    }
    reading.environment(layers.environment);
    for flag in layers.flags {
        reading.text(Layer::Flag, &flag.flag, &flag.key, &flag.value);
    }
    reading.missing();
    if reading.errors.is_empty() {
        settings(reading.found)
    } else {
        Err(ConfigErrors(reading.errors))
    }
}

/// One value on its way into figment.
#[derive(Clone, Debug)]
struct Found {
    path: Vec<String>,
    value: Value,
    source: Source,
}

impl Provider for Found {
    fn metadata(&self) -> Metadata {
        Metadata::from(
            self.source.layer.as_str(),
            figment::Source::Custom(self.source.place.clone()),
        )
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let nested = self.path.iter().rev().fold(self.value.clone(), |value, part| {
            Value::from(Dict::from([(part.clone(), value)]))
        });
        Ok(Map::from([(Profile::Default, nested.into_dict().unwrap_or_default())]))
    }
}

fn settings(found: Vec<Found>) -> Result<Settings, ConfigErrors> {
    let mut paths: Vec<String> = found.iter().map(|found| found.path.join(".")).collect();
    paths.sort_unstable();
    paths.dedup();
    let figment = found.into_iter().fold(Figment::new(), Figment::merge);
    let values: Values = figment
        .extract()
        .map_err(|errors| ConfigErrors(errors.into_iter().map(of_figment).collect()))?;
    let set = paths
        .into_iter()
        .filter_map(|path| set_value(&figment, &path).map(|set| (path, set)))
        .collect();
    Ok(Settings { values, set })
}

fn set_value(figment: &Figment, path: &str) -> Option<SetValue> {
    let metadata = figment.find_metadata(path)?;
    let place =
        metadata.source.as_ref().and_then(figment::Source::custom).unwrap_or_default().to_owned();
    let source = Source { layer: Layer::find(&metadata.name)?, place };
    Some(SetValue { value: serde_json::to_value(figment.find_value(path).ok()?).ok()?, source })
}

/// Values are checked before they are merged, so what figment still finds is a fault of the table
/// of keys.
fn of_figment(error: figment::Error) -> ConfigError {
    let place = error
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.source.as_ref())
        .and_then(figment::Source::custom)
        .unwrap_or("settings");
    ConfigError {
        place: place.to_owned(),
        message: format!("`{}`: {}", error.path.join("."), error.kind),
        hint: None,
        excerpt: None,
    }
}

#[derive(Default)]
struct Reading {
    found: Vec<Found>,
    errors: Vec<ConfigError>,
}

impl Reading {
    fn built_in(&mut self, environment: &Environment) {
        let forge = ForgeSettings::default();
        let state =
            environment.state_folder().map(|folder| ("state_dir", folder.display().to_string()));
        for (key, value) in [("forge.api_url", forge.api_url), ("forge.token_env", forge.token_env)]
            .into_iter()
            .chain(state)
        {
            self.found.push(Found {
                path: key.split('.').map(str::to_owned).collect(),
                value: Value::from(value),
                source: Source { layer: Layer::BuiltIn, place: String::new() },
            });
        }
    }

    fn file(&mut self, layer: Layer, file: &ConfigFile) {
        let document = Document::parse(&file.text);
        let mut mistakes = Mistakes(document.mistakes);
        let first = self.found.len();
        if let Some(root) = &document.root {
            let mut walk = Walk {
                layer,
                origin: &file.origin,
                mistakes: &mut mistakes,
                found: &mut self.found,
            };
            walk.group(root, &mut Vec::new());
        }
        if !mistakes.0.is_empty() {
            self.found.truncate(first);
        }
        self.errors.extend(
            mistakes.finish(&file.text).into_iter().map(|mistake| in_file(&file.origin, mistake)),
        );
    }

    fn environment(&mut self, environment: &Environment) {
        for (key, variable, value) in KEYS
            .iter()
            .filter(|key| !key.path.contains('*'))
            .flat_map(|key| named(key, environment))
        {
            self.text(Layer::Environment, variable, key.path, value);
        }
        let known: Vec<String> = KEYS.iter().map(|key| variable_of(key.path)).collect();
        let ours = environment
            .variables()
            .iter()
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty());
        for (variable, value) in
            ours.filter(|(name, _)| !NO_SETTINGS.iter().any(|other| name.starts_with(other)))
        {
            let path = variable
                .strip_prefix(PREFIX)
                .unwrap_or_default()
                .to_ascii_lowercase()
                .replace("__", ".");
            if keys::find(&path.split('.').collect::<Vec<_>>()).is_some() {
                self.text(Layer::Environment, variable, &path, value);
            } else {
                let near = nearest(variable, &known.iter().map(String::as_str).collect::<Vec<_>>())
                    .map(str::to_owned);
                let hint = near.map_or_else(
                    || "`locum config show` lists every setting".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                self.errors.push(ConfigError {
                    place: variable.clone(),
                    message: "no setting has this name".to_owned(),
                    hint: Some(hint),
                    excerpt: None,
                });
            }
        }
    }

    /// Reads a value given as text by a variable or flag.
    fn text(&mut self, layer: Layer, place: &str, path: &str, text: &str) {
        let parts: Vec<&str> = path.split('.').collect();
        let Some(key) = keys::find(&parts) else { return };
        let mut mistakes = Mistakes::default();
        if let Some(value) = key.kind.read(&key.kind.node(text), path, &mut mistakes) {
            let source = Source { layer, place: place.to_owned() };
            self.found.push(Found {
                path: parts.into_iter().map(str::to_owned).collect(),
                value,
                source,
            });
        }
        let told = |mistake: Mistake| ConfigError {
            place: place.to_owned(),
            message: mistake.message,
            hint: mistake.hint,
            excerpt: None,
        };
        self.errors.extend(mistakes.0.into_iter().map(told));
    }

    /// Finds profiles and prices that some layer began and none completed.
    fn missing(&mut self) {
        let is_set = |path: &[String]| self.found.iter().any(|found| found.path == path);
        let mut errors: Vec<ConfigError> = Vec::new();
        for found in self
            .found
            .iter()
            .filter(|found| found.path.starts_with(&["models".to_owned(), "profiles".to_owned()]))
        {
            let group = |depth: usize| found.path.get(..depth).unwrap_or_default();
            let has_price = found.path.get(3).is_some_and(|part| part == "price");
            let needed = [(3, "model")]
                .into_iter()
                .chain(has_price.then_some([(4, "input"), (4, "output")]).into_iter().flatten());
            for (depth, name) in needed {
                let path = [group(depth), &[name.to_owned()]].concat();
                let error = ConfigError {
                    place: found.source.place.clone(),
                    message: format!("`{}` is missing", path.join(".")),
                    hint: None,
                    excerpt: None,
                };
                if !is_set(&path) && !errors.iter().any(|other| other.message == error.message) {
                    errors.push(error);
                }
            }
        }
        self.errors.extend(errors);
    }
}

/// Walks a file's tree down to its values.
struct Walk<'a> {
    layer: Layer,
    origin: &'a str,
    mistakes: &'a mut Mistakes,
    found: &'a mut Vec<Found>,
}

impl Walk<'_> {
    fn group(&mut self, node: &Node, path: &mut Vec<String>) {
        let name = path.join(".");
        let known = keys::below(&path.iter().map(String::as_str).collect::<Vec<_>>());
        let Some(entries) = node.entries() else {
            self.mistakes.wanted(
                node,
                if name.is_empty() { "the file" } else { &name },
                "a mapping",
            );
            return;
        };
        for entry in entries {
            let people_choose = known.contains(&"*");
            if people_choose && !keys::is_name(&entry.key) {
                self.mistakes.add(
                    entry.key_place,
                    format!("`{}` is no name: use letters, digits, `-` and `_`", entry.key),
                );
            } else if !people_choose && !known.contains(&entry.key.as_str()) {
                let near = nearest(&entry.key, &known);
                let hint = near.map_or_else(
                    || format!("known here: {}", known.join(", ")),
                    |key| format!("did you mean `{key}`?"),
                );
                self.mistakes.add_with_hint(
                    entry.key_place,
                    format!("unknown key `{}`", entry.key),
                    hint,
                );
            } else if entry.node.value == YamlValue::Null {
                let hint = "give it one, or leave the key out";
                self.mistakes.add_with_hint(
                    entry.key_place,
                    format!("`{}` has no value", entry.key),
                    hint,
                );
            } else {
                path.push(entry.key.clone());
                self.entry(&entry.node, entry.key_place, path);
                path.pop();
            }
        }
    }

    fn entry(&mut self, node: &Node, key_place: Place, path: &mut Vec<String>) {
        let Some(key) = keys::find(&path.iter().map(String::as_str).collect::<Vec<_>>()) else {
            return self.group(node, path);
        };
        let name = path.join(".");
        match key.scope {
            Scope::Everyone => {}
            Scope::NotRepository if self.layer != Layer::Repository => {}
            Scope::NotRepository => {
                let hint = "set it in the user's own configuration or in the environment";
                return self.mistakes.add_with_hint(
                    key_place,
                    format!("a repository may not set `{name}`"),
                    hint,
                );
            }
            Scope::OneRun => {
                let hint = format!("set it with {} or a flag", variable_of(&name));
                return self.mistakes.add_with_hint(
                    key_place,
                    format!("a file may not set `{name}`"),
                    hint,
                );
            }
        }
        if let Some(value) = key.kind.read(node, &name, self.mistakes) {
            let source =
                Source { layer: self.layer, place: format!("{}:{}", self.origin, key_place.line) };
            self.found.push(Found { path: path.clone(), value, source });
        }
    }
}

/// Returns the variables besides `LOCUM_...` that set a key and are filled, the weaker first.
fn named<'e>(
    key: &'static Key,
    environment: &'e Environment,
) -> impl Iterator<Item = (&'static Key, &'static str, &'e str)> {
    key.variables
        .iter()
        .filter_map(move |variable| Some((key, *variable, environment.get(variable)?)))
}

/// Returns the variable of a key: `budget.turns` is `LOCUM_BUDGET__TURNS`.
fn variable_of(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "__").to_ascii_uppercase())
}

fn in_file(origin: &str, mistake: Mistake) -> ConfigError {
    let place = if mistake.place.line == 0 {
        origin.to_owned()
    } else {
        format!("{origin}:{}", mistake.place)
    };
    ConfigError { place, message: mistake.message, hint: mistake.hint, excerpt: mistake.excerpt }
}

#[cfg(test)]
mod tests;
