//! Every setting there is: its key, what it takes, who may set it, and by which names beside
//! `LOCUM_...` it is known.
//!
//! One table; reading, checking, showing and the documentation follow it.

use crate::config::kind::SettingKind;

/// One setting and who may set it.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    /// Its dotted path; `*` matches a name that the user chooses.
    pub path: &'static str,
    /// Values that it takes.
    pub kind: SettingKind,
    /// Who may set it.
    pub scope: SettingScope,
    /// Variables that set it besides `LOCUM_{KEY}`, the weaker first: those of the Action's inputs
    /// and of Actions itself.
    pub variables: &'static [&'static str],
    /// What it is for, in a line.
    pub meaning: &'static str,
}

/// Who may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Every layer, the repository's included.
    Everyone,
    /// Everyone but the repository: it decides where keys, tokens or records go.
    NotRepository,
    /// Only variables and flags: it is about one run.
    OneRun,
}

const SMALL: SettingKind = SettingKind::Count { most: u32::MAX as u64 };
const USD: SettingKind = SettingKind::Number { least: 0.0, most: 1_000_000.0 };

const PROVIDER: SettingKind = SettingKind::Word(&[
    "openai",
    "custom-openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "vertex",
    "azure",
    "scripted",
]);
const EFFORT: SettingKind =
    SettingKind::Word(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

/// Every setting, in the order they are shown.
pub const KEYS: &[SettingKey] = &[
    key("mode", SettingKind::Text, "mode of a run that names none").also(&["INPUT_MODE"]),
    key(
        "mode_files",
        SettingKind::Word(&["strict", "lenient"]),
        "whether one broken mode rejects its whole file",
    ),
    key("language", SettingKind::Text, "language of results and questions: `German`"),
    key("context_files", SettingKind::Names, "files that every mode reads at the start"),
    key(
        "concurrent_reads",
        SettingKind::Count { most: 32 },
        "most calls that only read and run side by side",
    ),
    key(
        "instructions",
        SettingKind::Prose { most_bytes: 16 * 1024 },
        "instructions for every mode in every repository, yours or your organisation's",
    )
    .only(SettingScope::NotRepository),
    key("model", SettingKind::Text, "profile or model of the root task")
        .only(SettingScope::OneRun)
        .also(&["INPUT_MODEL"]),
    key(
        "models.pointers.main",
        SettingKind::Names,
        "profile of the root task; more to stand in for it",
    ),
    key(
        "models.pointers.task",
        SettingKind::Names,
        "profile of sub-tasks; more to stand in for it",
    ),
    key(
        "models.pointers.reasoning",
        SettingKind::Names,
        "profile of modes that ask for `reasoning`",
    ),
    key("models.pointers.quick", SettingKind::Names, "profile of modes that ask for `quick`"),
    key("models.pointers.condense", SettingKind::Names, "profile that sums up long conversations"),
    key("models.pointers.image", SettingKind::Names, "image model of `generate_image`"),
    key("models.pointers.embed", SettingKind::Names, "embedding model of `codebase_search`"),
    key("models.profiles.*.provider", PROVIDER, "whose protocol it speaks"),
    key("models.profiles.*.model", SettingKind::Text, "the model's name at the provider"),
    key("models.profiles.*.base_url", SettingKind::Text, "where the provider's API starts"),
    key("models.profiles.*.api_key_env", SettingKind::Text, "variable that holds the key"),
    key("models.profiles.*.max_output_tokens", SMALL, "most tokens of one reply"),
    key("models.profiles.*.context_window", SMALL, "tokens of one request"),
    key(
        "models.profiles.*.condense_percent",
        SettingKind::Count { most: 100 },
        "share of them that a conversation fills before it is summed up, in percent",
    ),
    key(
        "models.profiles.*.temperature",
        SettingKind::Number { least: 0.0, most: 2.0 },
        "sampling temperature",
    ),
    key("models.profiles.*.reasoning_effort", EFFORT, "how hard the model thinks"),
    key(
        "models.profiles.*.thinking_tokens",
        SMALL,
        "most tokens the model thinks, where it takes a number",
    ),
    key("models.profiles.*.headers.*", SettingKind::Hidden, "extra request header")
        .only(SettingScope::NotRepository),
    key("models.profiles.*.stream", SettingKind::Flag, "whether replies come piece by piece"),
    key(
        "models.profiles.*.idle_timeout_s",
        SettingKind::Count { most: 3600 },
        "longest silence in a reply, in seconds; of a whole reply, the longest wait",
    ),
    key("models.profiles.*.price.input", USD, "US dollars per million input tokens"),
    key("models.profiles.*.price.output", USD, "US dollars per million output tokens"),
    key(
        "models.profiles.*.price.cached_read",
        USD,
        "US dollars per million tokens read from the cache",
    ),
    key(
        "models.profiles.*.price.cached_write",
        USD,
        "US dollars per million tokens written to the cache",
    ),
    key(
        "models.profiles.*.price.above.tokens",
        SMALL,
        "input tokens above which a request costs the figures beside it",
    ),
    key(
        "models.profiles.*.price.above.input",
        USD,
        "US dollars per million input tokens of such a request",
    ),
    key(
        "models.profiles.*.price.above.output",
        USD,
        "US dollars per million output tokens of its reply",
    ),
    key(
        "models.profiles.*.price.above.cached_read",
        USD,
        "US dollars per million of its tokens read from the cache",
    ),
    key(
        "models.profiles.*.price.above.cached_write",
        USD,
        "US dollars per million of its tokens written to the cache",
    ),
    key("models.profiles.*.images", SettingKind::Flag, "whether the model sees images"),
    key(
        "models.profiles.*.included_tools",
        SettingKind::Words(&[
            "apply_patch",
            "fetch_instructions",
            "insert_content",
            "multi_edit",
            "notebook_edit",
            "think",
        ]),
        "opt-in tools the model is offered",
    ),
    key(
        "models.profiles.*.tool_protocol",
        SettingKind::Word(&["native", "xml"]),
        "how it calls tools",
    ),
    key(
        "models.profiles.*.tokenizer",
        SettingKind::Word(&["bytes", "o200k"]),
        "how its tokens are estimated",
    ),
    key(
        "mcp.*.type",
        SettingKind::Word(&["stdio", "streamable-http", "sse"]),
        "how the server is spoken to",
    ),
    key("mcp.*.command", SettingKind::Text, "the program that is the server"),
    key("mcp.*.args", SettingKind::Texts, "its arguments"),
    key(
        "mcp.*.env.*",
        SettingKind::Hidden,
        "variable it gets; `${NAME}` where the policy's `mcp.env` lists it",
    ),
    key("mcp.*.cwd", SettingKind::Text, "folder of the checkout it runs in"),
    key("mcp.*.url", SettingKind::Text, "where the server is reached"),
    key("mcp.*.headers.*", SettingKind::Hidden, "header of every request to it"),
    key(
        "mcp.*.oauth.client_id",
        SettingKind::Text,
        "the client that signs in to the server by its own credentials",
    ),
    key(
        "mcp.*.oauth.client_secret_env",
        SettingKind::Text,
        "variable that holds its secret; the policy's `mcp.env` lists it",
    ),
    key(
        "mcp.*.oauth.private_key_env",
        SettingKind::Text,
        "variable that holds its private key in place of a secret; the policy's `mcp.env` lists it",
    ),
    key("mcp.*.oauth.key_id", SettingKind::Text, "what the authorization server calls the key"),
    key(
        "mcp.*.oauth.signing_algorithm",
        SettingKind::Word(&["ES256", "RS256", "PS256"]),
        "how the key signs; what key and authorization server agree on if unset",
    ),
    key(
        "mcp.*.oauth.issuer",
        SettingKind::Text,
        "authorization server that may learn the secret or gets assertions; whom the server names \
         if unset",
    ),
    key(
        "mcp.*.oauth.scopes",
        SettingKind::Texts,
        "what it asks for; what the server says if unset",
    ),
    key("mcp.*.disabled", SettingKind::Flag, "whether the server is left alone"),
    key(
        "mcp.*.timeout",
        SettingKind::Count { most: 3600 },
        "longest wait for an answer, in seconds; 60 unless said, 10 while it starts",
    ),
    key("mcp.*.disabled_tools", SettingKind::Names, "tools of the server that no mode is offered"),
    key(
        "web_search.engine",
        SettingKind::Word(&["brave", "tavily", "searxng", "anthropic", "openai", "gemini"]),
        "search engine of `web_search`; no such tool when absent",
    ),
    key("web_search.url", SettingKind::Text, "where the search engine's API starts"),
    key("web_search.model", SettingKind::Text, "model that searches, where the engine has models"),
    key("web_search.api_key_env", SettingKind::Text, "variable that holds the search engine's key")
        .only(SettingScope::NotRepository),
    key(
        "browser.program",
        SettingKind::Text,
        "the browser of `browser_action`; where packages put one when absent",
    )
    .only(SettingScope::NotRepository),
    key("policy", SettingKind::Text, "the policy's path in the repository").also(&["INPUT_POLICY"]),
    key("budget.turns", SMALL, "most model replies; tightens the policy")
        .also(&["INPUT_MAX_TURNS"]),
    key("budget.tool_calls", SMALL, "most tool calls; tightens the policy"),
    key("budget.tokens", SettingKind::Count { most: u64::MAX }, "most tokens; tightens the policy")
        .also(&["INPUT_MAX_TOKENS"]),
    key("budget.cost_usd", USD, "most US dollars; tightens the policy")
        .also(&["INPUT_MAX_COST_USD"]),
    key("budget.minutes", SMALL, "most minutes; tightens the policy")
        .also(&["INPUT_TIMEOUT_MINUTES"]),
    key("budget.files", SMALL, "most changed files; tightens the policy"),
    key("budget.diff_lines", SMALL, "most changed lines; tightens the policy"),
    key("publish", SettingKind::Word(&["none", "local", "forge"]), "where results go")
        .also(&["INPUT_PUBLISH"]),
    key(
        "fail_on",
        SettingKind::Words(&[
            "needs-input",
            "on-hold",
            "refused",
            "budget-exhausted",
            "timed-out",
            "failed",
            "partial",
            "checks-failed",
            "cancelled",
            "not-published",
            "nothing-to-do",
        ]),
        "outcomes that make the Action's step red",
    )
    .also(&["INPUT_FAIL_ON"]),
    key("forge.api_url", SettingKind::Text, "where the forge's API starts")
        .only(SettingScope::NotRepository)
        .also(&["GITHUB_API_URL"]),
    key("forge.token_env", SettingKind::Text, "variable that holds the forge's token")
        .only(SettingScope::NotRepository),
    key("telemetry.traces", SettingKind::Flag, "sends a trace of the run to a collector"),
    key(
        "telemetry.content",
        SettingKind::Flag,
        "includes texts of users, models and tools in the trace",
    )
    .only(SettingScope::NotRepository),
    key("state_dir", SettingKind::Folder, "folder for everything kept between runs")
        .only(SettingScope::NotRepository),
    key(
        "session_dir",
        SettingKind::Folder,
        "folder for sessions; `sessions` below `state_dir` when absent",
    )
    .only(SettingScope::NotRepository),
    key(
        "session_retention_days",
        SMALL,
        "days after which a run removes sessions that are over; none are removed when absent",
    )
    .only(SettingScope::NotRepository),
];

const fn key(path: &'static str, kind: SettingKind, meaning: &'static str) -> SettingKey {
    SettingKey { path, kind, scope: SettingScope::Everyone, variables: &[], meaning }
}

impl SettingKey {
    const fn only(self, scope: SettingScope) -> Self {
        Self { scope, ..self }
    }

    const fn also(self, variables: &'static [&'static str]) -> Self {
        Self { variables, ..self }
    }

    fn is_at_or_below(&self, path: &str) -> bool {
        let mut parts = self.path.split('.');
        path.is_empty()
            || path
                .split('.')
                .all(|word| parts.next().is_some_and(|part| part == "*" || part == word))
    }
}

/// Finds the setting with this dotted path.
pub fn find(path: &str) -> Option<&'static SettingKey> {
    let depth = path.split('.').count();
    KEYS.iter().find(|key| key.path.split('.').count() == depth && key.is_at_or_below(path))
}

/// Returns the names that may follow a path, `*` among them where the user chooses; none where
/// the path is not a group.
pub fn below(path: &str) -> Vec<&'static str> {
    let depth = if path.is_empty() { 0 } else { path.split('.').count() };
    let mut names: Vec<&'static str> = KEYS
        .iter()
        .filter(|key| key.is_at_or_below(path))
        .filter_map(|key| key.path.split('.').nth(depth))
        .collect();
    names.dedup();
    names
}

/// The names a user may choose, as a regular expression.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9_-]+$";

/// Returns true for a name a user may choose: letters, digits, `-` and `_`.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::{KEYS, below, find};
    use locum_models::profile::price::LongPrice;
    use locum_models::profile::{Price, Profile};
    use locum_policy::budget::Budget;
    use pretty_assertions::assert_eq;

    #[test]
    fn finds_keys_and_what_may_follow_them() {
        let found = |path: &str| find(path).map(|key| key.path);
        assert_eq!(
            found("models.profiles.fast.price.input"),
            Some("models.profiles.*.price.input")
        );
        assert_eq!(found("models.profiles.fast"), None);
        assert_eq!(found("mode.x"), None);
        assert_eq!(below("models.profiles"), ["*"]);
        assert_eq!(below("forge"), ["api_url", "token_env"]);
        assert_eq!(below("mode"), Vec::<&str>::new());
    }

    #[test]
    fn names_every_field_of_profiles_and_budgets() {
        let names = |value: serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        let profile = Profile { price: Some(Price::default()), ..Profile::new("m") };
        assert_eq!(below("models.profiles.x"), names(serde_json::to_value(&profile).unwrap()));
        assert_eq!(
            below("models.profiles.x.price"),
            names(serde_json::to_value(Price::default()).unwrap())
        );
        assert_eq!(
            below("models.profiles.x.price.above"),
            names(serde_json::to_value(LongPrice::default()).unwrap())
        );
        assert_eq!(below("budget"), names(serde_json::to_value(Budget::default()).unwrap()));
    }

    #[test]
    fn no_two_keys_are_alike() {
        let mut paths: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), KEYS.len());
    }
}
