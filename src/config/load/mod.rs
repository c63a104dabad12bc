//! Layers: built-in < user < repository (trusted ref) < environment < flags; each value knows where
//! it came from.
//!
//! In: texts of files, the environment, flags; nothing is read here. Out: [`Settings`], or every
//! mistake of every layer at once. Files are checked on a tree that knows line and column.
//! Each value then stands beside its key with its layer and the line, variable or flag it is from,
//! and the last one of a key counts.

use std::collections::{BTreeMap, BTreeSet};

use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use crate::config::environment::Environment;
use crate::config::keys::{self, KEYS, SettingScope};
use crate::config::kind::SettingKind;
use crate::config::settings::{ForgeSettings, SetValue, SettingValues, Settings};
use crate::config::source::{ConfigErrors, Layer, SettingSource};
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::{Diagnostics, nearest};
use locum_files::position::Position;
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};

/// Start of the variables that are settings.
const PREFIX: &str = "LOCUM_";
/// Variables with that start that are not settings: the log filter, and what the project's own
/// tests use.
const NOT_SETTINGS: &[&str] = &["LOCUM_LOG", "LOCUM_VECTORS", "LOCUM_TEST_"];

/// Keys that a price needs that has one of its keys for long requests.
const LONG_PRICE: [&str; 5] = [
    "price.input",
    "price.output",
    "price.above.tokens",
    "price.above.input",
    "price.above.output",
];

/// A text and where it is from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ConfigFile {
    /// Its name in messages.
    #[serde(rename = "name")]
    pub origin: String,
    /// Whole text of the file.
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

impl FlagValue {
    /// Returns a setting and the flag that gives it.
    pub fn new(flag: &str, key: &str, value: impl ToString) -> Self {
        Self { flag: flag.to_owned(), key: key.to_owned(), value: value.to_string() }
    }
}

/// Everything settings come from.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a> {
    /// The user's own file.
    pub user: Option<&'a ConfigFile>,
    /// The repository's file, as it is at the trusted ref.
    pub repository: Option<&'a ConfigFile>,
    /// Variables that set values.
    pub environment: &'a Environment,
    /// Flags in the order they were given.
    pub flags: &'a [FlagValue],
}

/// Merges the layers.
///
/// # Errors
/// Every mistake of every layer.
pub fn load(layers: &Layers<'_>) -> Result<Settings, ConfigErrors> {
    let mut errors = Vec::new();
    let mut providers = vec![built_in(layers.environment)];
    for (layer, file) in [(Layer::User, layers.user), (Layer::Repository, layers.repository)] {
        providers.extend(file.map(|file| of_file(layer, file, &mut errors)));
    }
    keep_own_servers(&mut providers);
    providers.push(of_environment(layers.environment, &mut errors));
    let mut flags = LayerValues::new(Layer::Flag);
    for flag in layers.flags {
        flags.read_text(&flag.flag, &flag.key, &flag.value, &mut errors);
    }
    providers.push(flags);
    errors.extend(missing(&providers));
    if errors.is_empty() { merge(providers) } else { Err(ConfigErrors(errors)) }
}

/// Takes out of the repository's layer what it says of servers that the user defines: such a
/// definition may hold a key, and is the user's as a whole.
fn keep_own_servers(layers: &mut [LayerValues]) {
    let server = |key: &str| {
        let (name, _) = key.strip_prefix("mcp.")?.split_once('.')?;
        Some(name.to_owned())
    };
    let of_user = layers.iter().filter(|layer| layer.layer == Layer::User);
    let of_user = of_user.flat_map(|layer| &layer.values);
    let own: BTreeSet<String> = of_user.filter_map(|found| server(&found.key)).collect();
    for layer in layers.iter_mut().filter(|layer| layer.layer == Layer::Repository) {
        layer.values.retain(|found| server(&found.key).is_none_or(|name| !own.contains(&name)));
    }
}

/// The values of one layer, each with its place: a provider for figment.
struct LayerValues {
    layer: Layer,
    values: Vec<FoundValue>,
}

/// A value as one layer gives it.
struct FoundValue {
    key: String,
    value: Value,
    /// `file:line`, the variable or the flag.
    place: String,
}

impl Provider for LayerValues {
    fn metadata(&self) -> Metadata {
        // As in the data, the last of several with one key counts.
        let place = |found: &FoundValue| (found.key.clone(), found.place.clone());
        let places: BTreeMap<String, String> = self.values.iter().map(place).collect();
        Metadata::named(self.layer.as_str())
            .interpolater(move |_, path| places.get(&path.join(".")).cloned().unwrap_or_default())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let mut data = Dict::new();
        for found in &self.values {
            insert(&mut data, &found.key, found.value.clone());
        }
        Ok(Profile::Default.collect(data))
    }
}

fn insert(data: &mut Dict, key: &str, value: Value) {
    let Some((group, rest)) = key.split_once('.') else {
        data.insert(key.to_owned(), value);
        return;
    };
    let group = data.entry(group.to_owned()).or_insert_with(|| Value::from(Dict::new()));
    if let Value::Dict(_, below) = group {
        insert(below, rest, value);
    }
}

fn merge(providers: Vec<LayerValues>) -> Result<Settings, ConfigErrors> {
    let found = providers.iter().flat_map(|layer| &layer.values);
    let keys: Vec<String> = found.map(|found| found.key.clone()).collect();
    let figment = providers.into_iter().fold(Figment::new(), Figment::merge);
    let values: SettingValues = figment
        .extract()
        .map_err(|errors| ConfigErrors(errors.into_iter().map(of_figment).collect()))?;
    let set = keys.into_iter().filter_map(|key| Some((key.clone(), set_value(&figment, &key)?)));
    Ok(Settings { set: set.collect(), values })
}

fn set_value(figment: &Figment, key: &str) -> Option<SetValue> {
    let metadata = figment.find_metadata(key)?;
    let place = metadata.interpolate(figment.profile(), &key.split('.').collect::<Vec<_>>());
    let source = SettingSource { layer: Layer::find(&metadata.name)?, place };
    Some(SetValue { value: serde_json::to_value(figment.find_value(key).ok()?).ok()?, source })
}

/// Values are checked before they are merged, so what figment still finds is a fault of the table
/// of keys.
fn of_figment(error: figment::Error) -> Diagnostic {
    let place = error
        .metadata
        .as_ref()
        .map(|metadata| metadata.interpolate(&Profile::Default, &error.path))
        .filter(|place| !place.is_empty())
        .unwrap_or_else(|| "settings".to_owned());
    Diagnostic::about(place, format!("`{}`: {}", error.path.join("."), error.kind))
}

fn built_in(environment: &Environment) -> LayerValues {
    let forge = ForgeSettings::default();
    let state =
        environment.state_folder().map(|folder| ("state_dir", folder.display().to_string()));
    let values = [("forge.api_url", forge.api_url), ("forge.token_env", forge.token_env)]
        .into_iter()
        .chain(state)
        .map(|(key, value)| FoundValue {
            key: key.to_owned(),
            value: Value::from(value),
            place: String::new(),
        });
    LayerValues { layer: Layer::BuiltIn, values: values.collect() }
}

/// Reads a file; one with a mistake gives no value.
fn of_file(layer: Layer, file: &ConfigFile, errors: &mut Vec<Diagnostic>) -> LayerValues {
    let document = YamlDocument::parse(&file.text);
    let mut mistakes = Diagnostics(document.mistakes);
    let mut found = LayerValues::new(layer);
    if let Some(root) = &document.root {
        let mut walk =
            LayerReader { origin: &file.origin, mistakes: &mut mistakes, found: &mut found };
        walk.group(root, "");
    }
    if !mistakes.0.is_empty() {
        found.values.clear();
    }
    errors.extend(
        mistakes.finish(&file.text).into_iter().map(|mistake| mistake.in_file(&file.origin)),
    );
    found
}

fn of_environment(environment: &Environment, errors: &mut Vec<Diagnostic>) -> LayerValues {
    let mut found = LayerValues::new(Layer::Environment);
    for key in KEYS.iter().filter(|key| !key.path.contains('*')) {
        for variable in key.variables {
            if let Some(value) = environment.get(variable) {
                found.read_text(variable, key.path, value, errors);
            }
        }
    }
    let ours = environment.variables().iter().filter(|(name, value)| {
        name.starts_with(PREFIX)
            && !value.is_empty()
            && !NOT_SETTINGS.iter().any(|other| name.starts_with(other))
    });
    for (variable, value) in ours {
        let key = key_of(variable);
        if keys::find(&key).is_some() {
            found.read_text(variable, &key, value, errors);
        } else {
            errors.push(unknown_variable(variable));
        }
    }
    found
}

/// Returns the key of a variable, in small letters: `LOCUM_BUDGET__TURNS` is `budget.turns`. The name
/// of a server's own variable at its end is kept as it is; that of a header means the same in small
/// letters.
fn key_of(variable: &str) -> String {
    let key = variable.strip_prefix(PREFIX).unwrap_or_default().replace("__", ".");
    let small = key.to_ascii_lowercase();
    let ends_freely = keys::find(&small).is_some_and(|setting| setting.path.ends_with(".env.*"));
    match (key.rsplit_once('.'), small.rsplit_once('.')) {
        (Some((_, last)), Some((group, _))) if ends_freely => format!("{group}.{last}"),
        _ => small,
    }
}

fn unknown_variable(variable: &str) -> Diagnostic {
    let known: Vec<String> = KEYS.iter().map(|key| variable_of(key.path)).collect();
    let hint = nearest(variable, &known.iter().map(String::as_str).collect::<Vec<_>>())
        .map_or_else(
            || "`locum config show` lists every setting".to_owned(),
            |near| format!("did you mean {near}?"),
        );
    Diagnostic::about(variable, "no setting has this name").hint(hint)
}

/// Finds profiles and prices that some layer began and none completed.
fn missing(layers: &[LayerValues]) -> Vec<Diagnostic> {
    let found = || layers.iter().flat_map(|layer| &layer.values);
    let mut errors: Vec<Diagnostic> = Vec::new();
    for FoundValue { key, place, value } in found() {
        let Some((profile, setting)) =
            key.strip_prefix("models.profiles.").and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let besides: &[&str] = match setting {
            _ if setting.starts_with("price.above.") => &LONG_PRICE,
            _ if setting.starts_with("price.") => &["price.input", "price.output"],
            // It is the word for a server that is not OpenAI's own.
            "provider" if value.as_str() == Some("custom-openai") => &["base_url"],
            _ => &[],
        };
        for name in ["model"].iter().chain(besides) {
            let needed = format!("models.profiles.{profile}.{name}");
            let error = Diagnostic::about(place, format!("`{needed}` is missing"));
            let is_known = errors.iter().any(|other| other.message == error.message);
            if !is_known && !found().any(|other| other.key == needed) {
                errors.push(error);
            }
        }
    }
    errors
}

impl LayerValues {
    fn new(layer: Layer) -> Self {
        Self { layer, values: Vec::new() }
    }

    /// Reads a value given as text by a variable or flag.
    fn read_text(&mut self, place: &str, key: &str, text: &str, errors: &mut Vec<Diagnostic>) {
        let Some(setting) = keys::find(key) else { return };
        let mut mistakes = Diagnostics::default();
        // A path in a flag starts where the command does, as the shell's paths do.
        let kind = match (setting.kind, self.layer) {
            (SettingKind::Folder, Layer::Flag) => SettingKind::Text,
            (kind, _) => kind,
        };
        if let Some(value) = kind.read(&kind.node(text), key, &mut mistakes) {
            let (key, place) = (key.to_owned(), place.to_owned());
            self.values.push(FoundValue { key, value, place });
        }
        errors.extend(mistakes.0.into_iter().map(|mistake| Diagnostic {
            hint: mistake.hint,
            ..Diagnostic::about(place, mistake.message)
        }));
    }
}

/// Walks a file's tree down to its values.
struct LayerReader<'a> {
    origin: &'a str,
    mistakes: &'a mut Diagnostics,
    found: &'a mut LayerValues,
}

impl LayerReader<'_> {
    fn group(&mut self, node: &YamlNode, path: &str) {
        let known = keys::below(path);
        let Some(entries) = node.entries() else {
            let name = if path.is_empty() { "the file" } else { path };
            return self.mistakes.wanted(node, name, "a mapping").unwrap_or_default();
        };
        for entry in entries {
            let key = &entry.key;
            let is_chosen = known.contains(&"*");
            if is_chosen && !keys::is_name(key) {
                let message =
                    format!("`{key}` is not a valid name: use letters, digits, `-` and `_`");
                self.mistakes.add(entry.key_place, message);
            } else if !is_chosen && !known.contains(&key.as_str()) {
                let hint = nearest(key, &known).map_or_else(
                    || format!("known here: {}", known.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                self.mistakes.add_with_hint(entry.key_place, format!("unknown key `{key}`"), hint);
            } else if entry.node.value == YamlValue::Null {
                let message = format!("`{key}` has no value");
                let hint = "give it one, or leave the key out";
                self.mistakes.add_with_hint(entry.key_place, message, hint);
            } else {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                self.entry(&entry.node, entry.key_place, path);
            }
        }
    }

    fn entry(&mut self, node: &YamlNode, key_place: Position, key: String) {
        let Some(setting) = keys::find(&key) else {
            return self.group(node, &key);
        };
        let refusal = match setting.scope {
            SettingScope::OneRun => Some((
                format!("a file may not set `{key}`"),
                format!("set it with {} or a flag", variable_of(&key)),
            )),
            SettingScope::NotRepository if self.found.layer == Layer::Repository => Some((
                format!("a repository may not set `{key}`"),
                "set it in the user's own configuration or in the environment".to_owned(),
            )),
            SettingScope::Everyone | SettingScope::NotRepository => None,
        };
        if let Some((message, hint)) = refusal {
            self.mistakes.add_with_hint(key_place, message, hint);
        } else if let Some(value) = setting.kind.read(node, &key, self.mistakes) {
            let place = format!("{}:{}", self.origin, key_place.line);
            self.found.values.push(FoundValue { key, value, place });
        }
    }
}

/// Returns the variable of a key: `budget.turns` is `LOCUM_BUDGET__TURNS`.
fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

#[cfg(test)]
mod tests;
