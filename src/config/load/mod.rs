//! Layers: built-in < user < repository (trusted ref) < environment < flags; each value knows where
//! it came from.
//!
//! In: texts of files, the environment, flags; nothing is read here. Out: [`Settings`], or every
//! mistake of every layer at once. Files are checked on a tree that knows line and column.
//! Each value then stands beside its key with its layer and the line, variable or flag it is from,
//! and the last one of a key counts.

use serde_json::{Map, Value};

use crate::config::environment::Environment;
use crate::config::keys::{self, KEYS, SettingScope};
use crate::config::settings::{ForgeSettings, SetValue, Settings};
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
    let mut found = built_in(layers.environment);
    for (layer, file) in [(Layer::User, layers.user), (Layer::Repository, layers.repository)] {
        found.extend(file.into_iter().flat_map(|file| of_file(layer, file, &mut errors)));
    }
    found.extend(of_environment(layers.environment, &mut errors));
    for FlagValue { flag, key, value } in layers.flags {
        found.extend(read_text(Layer::Flag, flag, key, value, &mut errors));
    }
    errors.extend(missing(&found));
    if errors.is_empty() { merge(found) } else { Err(ConfigErrors(errors)) }
}

/// A key with the value that one layer gives it.
type FoundValue = (String, SetValue);

fn found(layer: Layer, place: &str, key: &str, value: Value) -> FoundValue {
    let source = SettingSource { layer, place: place.to_owned() };
    (key.to_owned(), SetValue { value, source })
}

/// Merges what the layers give, the strongest last.
fn merge(found: Vec<FoundValue>) -> Result<Settings, ConfigErrors> {
    let mut whole = Map::new();
    for (key, set) in &found {
        insert(&mut whole, key, set.value.clone());
    }
    let values = serde_json::from_value(Value::Object(whole))
        .map_err(|error| ConfigErrors(vec![Diagnostic::about("settings", error.to_string())]))?;
    Ok(Settings { set: found.into_iter().collect(), values })
}

fn insert(data: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((group, rest)) = key.split_once('.') else {
        data.insert(key.to_owned(), value);
        return;
    };
    if let Value::Object(below) = data.entry(group).or_insert_with(|| Map::new().into()) {
        insert(below, rest, value);
    }
}

fn built_in(environment: &Environment) -> Vec<FoundValue> {
    let forge = ForgeSettings::default();
    let state = environment.state_folder().map(|folder| folder.display().to_string());
    [("forge.api_url", forge.api_url), ("forge.token_env", forge.token_env)]
        .into_iter()
        .chain(state.map(|folder| ("state_dir", folder)))
        .map(|(key, value)| found(Layer::BuiltIn, "", key, Value::from(value)))
        .collect()
}

/// Reads a file; one with a mistake gives no value.
fn of_file(layer: Layer, file: &ConfigFile, errors: &mut Vec<Diagnostic>) -> Vec<FoundValue> {
    let document = YamlDocument::parse(&file.text);
    let mut mistakes = Diagnostics(document.mistakes);
    let mut found = Vec::new();
    if let Some(root) = &document.root {
        let (origin, mistakes, found) = (file.origin.as_str(), &mut mistakes, &mut found);
        LayerReader { layer, origin, mistakes, found }.group(root, "");
    }
    if !mistakes.0.is_empty() {
        found.clear();
    }
    errors.extend(
        mistakes.finish(&file.text).into_iter().map(|mistake| mistake.in_file(&file.origin)),
    );
    found
}

fn of_environment(environment: &Environment, errors: &mut Vec<Diagnostic>) -> Vec<FoundValue> {
    let mut found = Vec::new();
    for key in KEYS.iter().filter(|key| !key.path.contains('*')) {
        for variable in key.variables {
            let value = environment.get(variable);
            found.extend(value.and_then(|value| {
                read_text(Layer::Environment, variable, key.path, value, errors)
            }));
        }
    }
    let ours = environment.variables().iter().filter(|(name, value)| {
        name.starts_with(PREFIX)
            && !value.is_empty()
            && !NOT_SETTINGS.iter().any(|other| name.starts_with(other))
    });
    for (variable, value) in ours {
        let key = variable
            .strip_prefix(PREFIX)
            .unwrap_or_default()
            .to_ascii_lowercase()
            .replace("__", ".");
        if keys::find(&key).is_some() {
            found.extend(read_text(Layer::Environment, variable, &key, value, errors));
        } else {
            errors.push(unknown_variable(variable));
        }
    }
    found
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
fn missing(found: &[FoundValue]) -> Vec<Diagnostic> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    for (key, set) in found {
        let Some((profile, setting)) =
            key.strip_prefix("models.profiles.").and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let has_price = setting.starts_with("price.");
        let of_price: &[&str] = if has_price { &["price.input", "price.output"] } else { &[] };
        for name in ["model"].iter().chain(of_price) {
            let needed = format!("models.profiles.{profile}.{name}");
            let error = Diagnostic::about(&set.source.place, format!("`{needed}` is missing"));
            let is_known = errors.iter().any(|other| other.message == error.message);
            if !is_known && found.iter().all(|(other, _)| *other != needed) {
                errors.push(error);
            }
        }
    }
    errors
}

/// Reads a value that is written as plain text, in a variable or a flag.
fn read_text(
    layer: Layer,
    place: &str,
    key: &str,
    text: &str,
    errors: &mut Vec<Diagnostic>,
) -> Option<FoundValue> {
    let setting = keys::find(key)?;
    let mut mistakes = Diagnostics::default();
    let value = setting.kind.read(&setting.kind.node(text), key, &mut mistakes);
    errors.extend(mistakes.0.into_iter().map(|mistake| Diagnostic {
        hint: mistake.hint,
        ..Diagnostic::about(place, mistake.message)
    }));
    Some(found(layer, place, key, value?))
}

/// Walks a file's tree down to its values.
struct LayerReader<'a> {
    layer: Layer,
    origin: &'a str,
    mistakes: &'a mut Diagnostics,
    found: &'a mut Vec<FoundValue>,
}

impl LayerReader<'_> {
    fn group(&mut self, node: &YamlNode, path: &str) {
        let known = keys::below(path);
        let Some(entries) = node.entries() else {
            let name = if path.is_empty() { "the file" } else { path };
            self.mistakes.wanted(node, name, "a mapping");
            return;
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
            SettingScope::NotRepository if self.layer == Layer::Repository => Some((
                format!("a repository may not set `{key}`"),
                "set it in the user's own configuration or in the environment".to_owned(),
            )),
            SettingScope::Everyone | SettingScope::NotRepository => None,
        };
        if let Some((message, hint)) = refusal {
            self.mistakes.add_with_hint(key_place, message, hint);
        } else if let Some(value) = setting.kind.read(node, &key, self.mistakes) {
            let place = format!("{}:{}", self.origin, key_place.line);
            self.found.push(found(self.layer, &place, &key, value));
        }
    }
}

/// Returns the variable of a key: `budget.turns` is `LOCUM_BUDGET__TURNS`.
fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

#[cfg(test)]
mod tests;
