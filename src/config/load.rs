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
mod tests {
    use super::{ConfigFile, FlagValue, Layers, load};
    use crate::config::environment::Environment;
    use crate::config::settings::{Publish, Settings};
    use crate::config::source::ConfigErrors;
    use locum_agent::session::outcome::OutcomeWord;
    use pretty_assertions::assert_eq;
    use std::path::PathBuf;

    fn file(origin: &str, text: &str) -> ConfigFile {
        ConfigFile { origin: origin.to_owned(), text: text.to_owned() }
    }

    fn read(
        user: &str,
        repository: &str,
        pairs: &[(&str, &str)],
        flags: &[FlagValue],
    ) -> Result<Settings, ConfigErrors> {
        let (user, repository) =
            (file("/h/.config/locum/config.yml", user), file(".locum/config.yml", repository));
        let environment = Environment::from_pairs(pairs.iter().copied());
        load(&Layers {
            user: Some(&user),
            repository: Some(&repository),
            environment: &environment,
            flags,
        })
    }

    fn told(result: Result<Settings, ConfigErrors>) -> Vec<String> {
        let hint = |hint: Option<String>| hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        result
            .unwrap_err()
            .0
            .into_iter()
            .map(|error| format!("{error}{}", hint(error.hint.clone())))
            .collect()
    }

    #[test]
    fn a_stronger_layer_wins_and_every_value_knows_its_place() {
        let flag = FlagValue {
            flag: "--mode".to_owned(),
            key: "mode".to_owned(),
            value: "debug".to_owned(),
        };
        let (user, repository) = (
            "mode: ask\nbudget: {turns: 9, files: 3}\n",
            "# settings\nmode: code\nbudget:\n  turns: 5\n",
        );
        let check = |pairs: &[(&str, &str)], flags: &[FlagValue], mode: &str, place: &str| {
            let settings = read(user, repository, pairs, flags).unwrap();
            assert_eq!(settings.values.mode.as_deref(), Some(mode));
            assert_eq!(settings.source("mode").unwrap().to_string(), place);
            assert_eq!(
                settings.source("budget.turns").unwrap().to_string(),
                "repository .locum/config.yml:4"
            );
            assert_eq!(
                settings.source("budget.files").unwrap().to_string(),
                "user /h/.config/locum/config.yml:2"
            );
        };
        check(&[], &[], "code", "repository .locum/config.yml:2");
        check(&[("INPUT_MODE", "review")], &[], "review", "environment INPUT_MODE");
        check(
            &[("INPUT_MODE", "review"), ("LOCUM_MODE", "ask")],
            &[],
            "ask",
            "environment LOCUM_MODE",
        );
        check(&[("LOCUM_MODE", "ask")], &[flag], "debug", "flag --mode");
        check(
            &[("LOCUM_MODE", ""), ("INPUT_MODE", "")],
            &[],
            "code",
            "repository .locum/config.yml:2",
        );
    }

    #[test]
    fn reads_every_kind_from_every_layer() {
        let text = "models:\n  profiles:\n    fast: {model: small, temperature: 0.5, price: \
                    {input: 1, output: 2.5}}\n  pointers: {main: fast}\nfail_on: [failed, \
                    on-hold]\nbudget: {tokens: 2M}\n";
        let settings = read(
            "",
            text,
            &[
                ("LOCUM_MODELS__PROFILES__FAST__MODEL", "tiny"),
                ("LOCUM_PUBLISH", "none"),
                ("INPUT_MAX-COST-USD", "2"),
            ],
            &[],
        );
        let settings = settings.unwrap();
        let values = &settings.values;
        let fast = values.models.profiles.get("fast").unwrap();
        assert_eq!(
            (fast.model.as_str(), fast.temperature, fast.price.unwrap().output),
            ("tiny", Some(0.5), 2.5)
        );
        assert_eq!(
            (values.publish, values.budget.tokens, values.budget.cost_usd),
            (Some(Publish::None), Some(2_000_000), Some(2.0))
        );
        assert_eq!(values.fail_on, Some(vec![OutcomeWord::Failed, OutcomeWord::OnHold]));
        let by_repository: Vec<String> = settings.models_from_repository().into_iter().collect();
        let expected = [
            "pointers.main",
            "profiles.fast.price.input",
            "profiles.fast.price.output",
            "profiles.fast.temperature",
        ];
        assert_eq!(by_repository, expected);
        let by_variable = read("", "", &[("LOCUM_FAIL_ON", "failed, refused")], &[]).unwrap();
        assert!(
            by_variable.fails_on(OutcomeWord::Refused)
                && !by_variable.fails_on(OutcomeWord::OnHold)
        );
    }

    #[test]
    fn tells_every_mistake_of_every_layer_at_once() {
        let repository = "mod: code\nbudget: {turns: many, diff_lins: 3}\nstate_dir: /tmp\nmodel: \
                          x\nmodels: {profiles: {a b: {}, c: {temperature: 9}}}\nmode: [a]\n";
        let pairs = [
            ("LOCUM_MDOE", "code"),
            ("LOCUM_BUDGET__TURNS", "soon"),
            ("INPUT_PUBLISH", "locl"),
            ("LOCUM_LOG", "debug"),
            ("LOCUM_X", ""),
        ];
        let flags = [FlagValue {
            flag: "--max-turns".to_owned(),
            key: "budget.turns".to_owned(),
            value: "0".to_owned(),
        }];
        assert_eq!(
            told(read("mode: code\nmode: ask\n", repository, &pairs, &flags)),
            [
                "/h/.config/locum/config.yml:2:1: duplicate key `mode`",
                ".locum/config.yml:1:1: unknown key `mod` (did you mean `mode`?)",
                ".locum/config.yml:2:17: `budget.turns` must be a whole number such as `400`, \
                 `20k` or `2M`, not text",
                ".locum/config.yml:2:23: unknown key `diff_lins` (did you mean `diff_lines`?)",
                ".locum/config.yml:3:1: a repository may not set `state_dir` (set it in the \
                 user's own configuration or in the environment)",
                ".locum/config.yml:4:1: a file may not set `model` (set it with LOCUM_MODEL or a \
                 flag)",
                ".locum/config.yml:5:21: `a b` is no name: use letters, digits, `-` and `_`",
                ".locum/config.yml:5:47: `models.profiles.c.temperature` must be a number from 0 \
                 to 2",
                ".locum/config.yml:6:7: `mode` must be text, not a list",
                "INPUT_PUBLISH: `publish` cannot be `locl` (did you mean `local`?)",
                "LOCUM_BUDGET__TURNS: `budget.turns` must be a whole number such as `400`, `20k` \
                 or `2M`, not text",
                "LOCUM_MDOE: no setting has this name (did you mean LOCUM_MODE?)",
                "--max-turns: `budget.turns` must be from 1 to 4294967295",
            ]
        );
    }

    #[test]
    fn a_profile_needs_a_model_from_some_layer() {
        assert_eq!(
            told(read(
                "",
                "models:\n  profiles:\n    fast:\n      temperature: 1\n      price: {input: 1}\n",
                &[],
                &[]
            )),
            [
                ".locum/config.yml:4: `models.profiles.fast.model` is missing",
                ".locum/config.yml:5: `models.profiles.fast.price.output` is missing"
            ]
        );
        let both = read(
            "models: {profiles: {fast: {model: m}}}",
            "models: {profiles: {fast: {temperature: 1}}}",
            &[],
            &[],
        )
        .unwrap();
        let rows = both.rows();
        let from = |key: &str| {
            rows.iter()
                .find(|row| row.key == key)
                .and_then(|row| Some((row.value.clone(), row.source.as_ref()?.to_string())))
        };
        assert_eq!(
            from("models.profiles.fast.model"),
            Some(("m".into(), "user /h/.config/locum/config.yml:1".into()))
        );
        assert_eq!(
            from("models.profiles.fast.temperature"),
            Some((1.0.into(), "repository .locum/config.yml:1".into()))
        );
    }

    #[test]
    fn a_repository_decides_nothing_about_keys_tokens_and_records() {
        for key in [
            "state_dir: /x",
            "session_dir: /x",
            "forge: {api_url: 'https://evil.example'}",
            "forge: {token_env: AWS_KEY}",
        ] {
            assert!(
                told(read("", key, &[], &[]))
                    .first()
                    .is_some_and(|told| told.contains("a repository may not set")),
                "{key}"
            );
            assert!(read(key, "", &[], &[]).is_ok(), "{key}");
        }
    }

    #[test]
    fn finds_a_place_for_sessions() {
        let folder = |pairs: &[(&str, &str)]| read("", "", pairs, &[]).unwrap().session_folder();
        assert_eq!(folder(&[("HOME", "/h")]), Ok(PathBuf::from("/h/.local/state/locum/sessions")));
        assert_eq!(
            folder(&[("HOME", "/h"), ("LOCUM_STATE_DIR", "/s")]),
            Ok(PathBuf::from("/s/sessions"))
        );
        assert_eq!(folder(&[("HOME", "/h"), ("LOCUM_SESSION_DIR", "/e")]), Ok(PathBuf::from("/e")));
        assert!(
            folder(&[]).is_err_and(|error| error
                .hint
                .is_some_and(|hint| hint.contains("LOCUM_STATE_DIR")))
        );
    }

    #[test]
    fn empty_files_set_nothing_and_secrets_are_not_shown() {
        assert_eq!(read("", "# nothing\n", &[], &[]).unwrap().values.mode, None);
        let text = "models: {profiles: {p: {model: m, base_url: 'https://me:pass@host/', headers: \
                    {X-Token: secret}}}}";
        let rows = read(text, "", &[], &[]).unwrap().rows();
        let shown = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.value.clone());
        assert_eq!(shown("models.profiles.p.headers.X-Token"), Some("***".into()));
        assert_eq!(shown("models.profiles.p.base_url"), Some("***".into()));
        assert_eq!(shown("models.profiles.p.model"), Some("m".into()));
        assert_eq!(shown("mode"), Some(serde_json::Value::Null));
    }
}
