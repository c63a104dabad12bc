//! Every setting there is: its key, what it takes, who may set it, and by which names beside
//! `LOCUM_...` it is known.
//!
//! One table; reading, checking, showing and the documentation follow it.

use locum_files::fields::Mistakes;
use locum_files::shape::{Count, Flag, Many, Number, Shape, Word};
use locum_files::yaml::{Node, Place, Value};

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its dotted path; `*` stands for a name people choose.
    pub path: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Who may set it.
    pub scope: Scope,
    /// Variables that set it besides `LOCUM_{KEY}`, the weaker first: those of the Action's inputs
    /// and of Actions itself.
    pub variables: &'static [&'static str],
    /// What it is for, in a line.
    pub meaning: &'static str,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Text that is not empty.
    Text,
    /// One text or several, none of them empty.
    Names,
    /// Text that may be secret and is never shown.
    Hidden,
    /// A whole number from 1 to a limit.
    Count {
        /// The limit.
        most: u64,
    },
    /// A number within bounds.
    Number {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
    },
    /// True or false.
    Flag,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// Any of a few words, each at most once.
    Words(&'static [&'static str]),
    /// Texts of any kind, in order.
    Texts,
}

/// Who may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everyone.
    Everyone,
    /// Everyone but the repository: it decides where keys, tokens or records go.
    NotRepository,
    /// Only variables and flags: it is about one run.
    OneRun,
}

const SMALL: Kind = Kind::Count { most: u32::MAX as u64 };
const USD: Kind = Kind::Number { least: 0.0, most: 1_000_000.0 };

const PROVIDER: Kind =
    Kind::Word(&["openai", "openai-responses", "anthropic", "gemini", "scripted"]);
const EFFORT: Kind = Kind::Word(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

/// Every setting, in the order they are shown.
pub const KEYS: &[Key] = &[
    key("mode", Kind::Text, Scope::Everyone, &["INPUT_MODE"], "mode of a run that names none"),
    key(
        "mode_files",
        Kind::Word(&["strict", "lenient"]),
        Scope::Everyone,
        &[],
        "what one broken mode does to its file",
    ),
    key(
        "language",
        Kind::Text,
        Scope::Everyone,
        &[],
        "language of results and questions: `German`",
    ),
    key("model", Kind::Text, Scope::OneRun, &["INPUT_MODEL"], "profile or model of the root task"),
    key(
        "models.pointers.main",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile of the root task; more to stand in for it",
    ),
    key(
        "models.pointers.task",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile of sub-tasks; more to stand in for it",
    ),
    key(
        "models.pointers.reasoning",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile of modes that ask for `reasoning`",
    ),
    key(
        "models.pointers.quick",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile of modes that ask for `quick`",
    ),
    key(
        "models.pointers.condense",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile that sums up long conversations",
    ),
    key(
        "models.pointers.image",
        Kind::Names,
        Scope::Everyone,
        &[],
        "profile that draws pictures for `generate_image`",
    ),
    key("models.profiles.*.provider", PROVIDER, Scope::Everyone, &[], "whose protocol it speaks"),
    key(
        "models.profiles.*.model",
        Kind::Text,
        Scope::Everyone,
        &[],
        "the model's name at the provider",
    ),
    key(
        "models.profiles.*.base_url",
        Kind::Text,
        Scope::Everyone,
        &[],
        "where the provider's API starts",
    ),
    key(
        "models.profiles.*.api_key_env",
        Kind::Text,
        Scope::Everyone,
        &[],
        "variable that holds the key",
    ),
    key(
        "models.profiles.*.max_output_tokens",
        SMALL,
        Scope::Everyone,
        &[],
        "most tokens of one reply",
    ),
    key("models.profiles.*.context_window", SMALL, Scope::Everyone, &[], "tokens of one request"),
    key(
        "models.profiles.*.temperature",
        Kind::Number { least: 0.0, most: 2.0 },
        Scope::Everyone,
        &[],
        "sampling temperature",
    ),
    key(
        "models.profiles.*.reasoning_effort",
        EFFORT,
        Scope::Everyone,
        &[],
        "how hard the model thinks",
    ),
    key(
        "models.profiles.*.headers.*",
        Kind::Hidden,
        Scope::NotRepository,
        &[],
        "extra request header",
    ),
    key(
        "models.profiles.*.idle_timeout_s",
        Kind::Count { most: 3600 },
        Scope::Everyone,
        &[],
        "longest silence in a reply, in seconds",
    ),
    key(
        "models.profiles.*.price.input",
        USD,
        Scope::Everyone,
        &[],
        "US dollars per million input tokens",
    ),
    key(
        "models.profiles.*.price.output",
        USD,
        Scope::Everyone,
        &[],
        "US dollars per million output tokens",
    ),
    key(
        "models.profiles.*.price.cached_read",
        USD,
        Scope::Everyone,
        &[],
        "US dollars per million tokens read from the cache",
    ),
    key(
        "models.profiles.*.price.cached_write",
        USD,
        Scope::Everyone,
        &[],
        "US dollars per million tokens written to the cache",
    ),
    key(
        "models.profiles.*.images",
        Kind::Flag,
        Scope::Everyone,
        &[],
        "whether the model sees images",
    ),
    key(
        "models.profiles.*.included_tools",
        Kind::Words(&["apply_patch"]),
        Scope::Everyone,
        &[],
        "opt-in tools the model is offered",
    ),
    key(
        "models.profiles.*.tool_protocol",
        Kind::Word(&["native", "xml"]),
        Scope::Everyone,
        &[],
        "how it calls tools",
    ),
    key(
        "models.profiles.*.tokenizer",
        Kind::Word(&["bytes", "o200k"]),
        Scope::Everyone,
        &[],
        "how its tokens are estimated",
    ),
    key(
        "mcp.*.type",
        Kind::Word(&["stdio", "streamable-http"]),
        Scope::Everyone,
        &[],
        "how the server is spoken to",
    ),
    key("mcp.*.command", Kind::Text, Scope::Everyone, &[], "the program that is the server"),
    key("mcp.*.args", Kind::Texts, Scope::Everyone, &[], "its arguments"),
    key(
        "mcp.*.env.*",
        Kind::Hidden,
        Scope::Everyone,
        &[],
        "variable it gets; `${NAME}` where the policy's `mcp.env` lists it",
    ),
    key("mcp.*.cwd", Kind::Text, Scope::Everyone, &[], "folder of the checkout it runs in"),
    key("mcp.*.url", Kind::Text, Scope::Everyone, &[], "where the server is reached"),
    key("mcp.*.headers.*", Kind::Hidden, Scope::Everyone, &[], "header of every request to it"),
    key("mcp.*.disabled", Kind::Flag, Scope::Everyone, &[], "whether the server is left alone"),
    key(
        "mcp.*.timeout",
        Kind::Count { most: 3600 },
        Scope::Everyone,
        &[],
        "longest wait for an answer, in seconds",
    ),
    key(
        "mcp.*.disabled_tools",
        Kind::Names,
        Scope::Everyone,
        &[],
        "tools of it that nobody is offered",
    ),
    key(
        "policy",
        Kind::Text,
        Scope::Everyone,
        &["INPUT_POLICY"],
        "the policy's path in the repository",
    ),
    key(
        "budget.turns",
        SMALL,
        Scope::Everyone,
        &["INPUT_MAX_TURNS"],
        "most model replies; tightens the policy",
    ),
    key("budget.tool_calls", SMALL, Scope::Everyone, &[], "most tool calls; tightens the policy"),
    key(
        "budget.tokens",
        Kind::Count { most: u64::MAX },
        Scope::Everyone,
        &["INPUT_MAX_TOKENS"],
        "most tokens; tightens the policy",
    ),
    key(
        "budget.cost_usd",
        USD,
        Scope::Everyone,
        &["INPUT_MAX_COST_USD"],
        "most US dollars; tightens the policy",
    ),
    key(
        "budget.minutes",
        SMALL,
        Scope::Everyone,
        &["INPUT_TIMEOUT_MINUTES"],
        "most minutes; tightens the policy",
    ),
    key("budget.files", SMALL, Scope::Everyone, &[], "most changed files; tightens the policy"),
    key(
        "budget.diff_lines",
        SMALL,
        Scope::Everyone,
        &[],
        "most changed lines; tightens the policy",
    ),
    key(
        "publish",
        Kind::Word(&["none", "local", "forge"]),
        Scope::Everyone,
        &["INPUT_PUBLISH"],
        "where results go",
    ),
    key(
        "fail_on",
        Kind::Words(&[
            "needs-input",
            "on-hold",
            "refused",
            "budget-exhausted",
            "timed-out",
            "failed",
            "cancelled",
            "nothing-to-do",
        ]),
        Scope::Everyone,
        &["INPUT_FAIL_ON"],
        "outcomes that make the Action's step red",
    ),
    key(
        "forge.api_url",
        Kind::Text,
        Scope::NotRepository,
        &["GITHUB_API_URL"],
        "where the forge's API starts",
    ),
    key(
        "forge.token_env",
        Kind::Text,
        Scope::NotRepository,
        &[],
        "variable that holds the forge's token",
    ),
    key(
        "telemetry.traces",
        Kind::Flag,
        Scope::Everyone,
        &[],
        "sends a trace of the run to a collector",
    ),
    key("telemetry.content", Kind::Flag, Scope::NotRepository, &[], "tells texts in the trace"),
    key(
        "state_dir",
        Kind::Text,
        Scope::NotRepository,
        &[],
        "folder for everything kept between runs",
    ),
    key(
        "session_dir",
        Kind::Text,
        Scope::NotRepository,
        &[],
        "folder for sessions; `sessions` below `state_dir` when absent",
    ),
];

const fn key(
    path: &'static str,
    kind: Kind,
    scope: Scope,
    variables: &'static [&'static str],
    meaning: &'static str,
) -> Key {
    Key { path, kind, scope, variables, meaning }
}

/// Finds the setting with this path.
#[must_use]
pub fn find(path: &[&str]) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path.split('.').count() == path.len() && is_prefix(path, key))
}

/// Returns the names that may follow a path, `*` among them where people choose; none where the
/// path is no group.
#[must_use]
pub fn below(path: &[&str]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = KEYS
        .iter()
        .filter(|key| is_prefix(path, key))
        .filter_map(|key| key.path.split('.').nth(path.len()))
        .collect();
    names.dedup();
    names
}

/// The names people may choose, as a regular expression.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9_-]+$";

/// Returns true for a name people may choose: letters, digits, `-` and `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

fn is_prefix(path: &[&str], key: &Key) -> bool {
    let parts: Vec<&str> = key.path.split('.').collect();
    parts.len() >= path.len()
        && parts.iter().zip(path).all(|(part, word)| *part == "*" || part == word)
}

impl Kind {
    /// Reads a value out of a file; `name` is how the setting is called in a mistake.
    pub fn read(
        self,
        node: &Node,
        name: &str,
        mistakes: &mut Mistakes,
    ) -> Option<figment::value::Value> {
        match self {
            Self::Text | Self::Hidden => {
                let text = mistakes.text(node, name)?;
                if text.trim().is_empty() {
                    mistakes.add(node.place, format!("`{name}` is empty"));
                    return None;
                }
                Some(figment::value::Value::from(text))
            }
            Self::Names => {
                let before = mistakes.0.len();
                let nodes = node.list().unwrap_or(std::slice::from_ref(node));
                let names: Vec<figment::value::Value> =
                    nodes.iter().filter_map(|node| Self::Text.read(node, name, mistakes)).collect();
                (mistakes.0.len() == before).then(|| figment::value::Value::from(names))
            }
            Self::Texts => {
                let before = mistakes.0.len();
                let texts: Vec<figment::value::Value> = mistakes
                    .texts(node, name)
                    .into_iter()
                    .map(|(text, _)| figment::value::Value::from(text))
                    .collect();
                (mistakes.0.len() == before).then(|| figment::value::Value::from(texts))
            }
            Self::Count { most } => {
                Count { least: 1, most }.read(node, name, mistakes).map(figment::value::Value::from)
            }
            Self::Number { least, most } => {
                Number { least, most }.read(node, name, mistakes).map(figment::value::Value::from)
            }
            Self::Flag => Flag.read(node, name, mistakes).map(figment::value::Value::from),
            Self::Word(words) => {
                Word(&pairs(words)).read(node, name, mistakes).map(figment::value::Value::from)
            }
            Self::Words(words) => {
                let before = mistakes.0.len();
                let found = Many(Word(&pairs(words))).read(node, name, mistakes)?;
                (mistakes.0.len() == before).then(|| figment::value::Value::from(found))
            }
        }
    }

    /// Returns the JSON Schema of what is read.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Text | Self::Hidden => serde_json::json!({ "type": "string", "pattern": "\\S" }),
            Self::Names => {
                let name = Self::Text.schema();
                serde_json::json!({ "anyOf": [name, { "type": "array", "items": name }] })
            }
            Self::Texts => {
                serde_json::json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
            }
            Self::Count { most } => Count { least: 1, most }.schema(),
            Self::Number { least, most } => Number { least, most }.schema(),
            Self::Flag => Flag.schema(),
            Self::Word(words) => Word(&pairs(words)).schema(),
            Self::Words(words) => Many(Word(&pairs(words))).schema(),
        }
    }

    /// Brings the text of a variable or flag to the form a file has: lists are separated by commas.
    #[must_use]
    pub fn node(self, text: &str) -> Node {
        let place = Place::default();
        let words = |text: &str| {
            text.split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let value = match self {
            Self::Flag if matches!(text.trim(), "true" | "false") => {
                Value::Bool(text.trim() == "true")
            }
            Self::Text | Self::Hidden | Self::Flag | Self::Word(_) => {
                Value::Text(text.trim().to_owned())
            }
            Self::Count { .. } | Self::Number { .. } if text.trim().parse::<f64>().is_ok() => {
                Value::Number(text.trim().to_owned())
            }
            Self::Count { .. } | Self::Number { .. } => Value::Text(text.trim().to_owned()),
            Self::Names | Self::Words(_) | Self::Texts => Value::List(
                words(text)
                    .into_iter()
                    .map(|word| Node { place, value: Value::Text(word) })
                    .collect(),
            ),
        };
        Node { place, value }
    }
}

fn pairs(words: &'static [&'static str]) -> Vec<(&'static str, &'static str)> {
    words.iter().map(|word| (*word, *word)).collect()
}

#[cfg(test)]
mod tests {
    use super::{KEYS, below, find};
    use locum_models::profile::{Price, Profile};
    use locum_policy::budget::Budget;
    use pretty_assertions::assert_eq;

    #[test]
    fn finds_keys_and_what_may_follow_them() {
        let found = |path: &str| find(&path.split('.').collect::<Vec<_>>()).map(|key| key.path);
        assert_eq!(
            found("models.profiles.fast.price.input"),
            Some("models.profiles.*.price.input")
        );
        assert_eq!(found("models.profiles.fast"), None);
        assert_eq!(found("mode.x"), None);
        assert_eq!(below(&["models", "profiles"]), ["*"]);
        assert_eq!(below(&["forge"]), ["api_url", "token_env"]);
        assert_eq!(below(&["mode"]), Vec::<&str>::new());
    }

    #[test]
    fn names_every_field_of_profiles_and_budgets() {
        let names = |value: serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        let profile = Profile { price: Some(Price::default()), ..Profile::new("m") };
        assert_eq!(
            below(&["models", "profiles", "x"]),
            names(serde_json::to_value(&profile).unwrap())
        );
        assert_eq!(
            below(&["models", "profiles", "x", "price"]),
            names(serde_json::to_value(Price::default()).unwrap())
        );
        assert_eq!(below(&["budget"]), names(serde_json::to_value(Budget::default()).unwrap()));
    }

    #[test]
    fn no_two_keys_are_alike() {
        let mut paths: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), KEYS.len());
    }
}
