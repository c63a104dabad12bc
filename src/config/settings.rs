//! `Settings`: every setting of a run, typed, each value with where it came from.
//!
//! In: what `load` merged. Out: values for the crates that use them, and rows for `config show`.
//! Files are read elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::keys;
use crate::config::kind::SettingKind;
use crate::config::source::{Layer, SettingSource};
use locum_agent::search_engine::SearchSettings;
use locum_agent::session::outcome::OutcomeWord;
use locum_agent::session::word::Severity;
use locum_agent::tools::mcp::definition::ServerSpec;
use locum_files::diagnostic::Diagnostic;
use locum_models::profile::ModelSettings;
use locum_modes::loader::Strictness;
use locum_policy::budget::Budget;

/// What is shown in place of a value that may be secret.
pub(crate) const HIDDEN: &str = "***";

/// Every setting of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Values of all layers together.
    pub values: SettingValues,
    /// Every value that is set, by its dotted key, as text, with where it came from.
    pub set: BTreeMap<String, SetValue>,
}

/// A value that is set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetValue {
    /// The value, as a program reads it.
    pub value: serde_json::Value,
    /// Where it came from.
    pub source: SettingSource,
}

/// The values of all settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingValues {
    /// Mode of a run that names none.
    pub mode: Option<String>,
    /// What becomes of a mode file with a mistake in one of its modes.
    pub mode_files: Strictness,
    /// Language of results and questions.
    pub language: Option<String>,
    /// Files of the repository that every mode reads at the start.
    pub context_files: Vec<String>,
    /// Most calls that only read and run side by side.
    pub concurrent_reads: Option<u32>,
    /// Instructions for every mode in every repository.
    pub instructions: Option<String>,
    /// Profile or model of the root task, requested by flag, input or variable.
    pub model: Option<String>,
    /// Profiles and pointers.
    pub models: ModelSettings,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, ServerSpec>,
    /// The search engine of `web_search`.
    pub web_search: SearchSettings,
    /// The browser of `browser_action`.
    pub browser: BrowserSettings,
    /// Path of the policy in the repository.
    pub policy: Option<String>,
    /// Limits that tighten the policy's budget.
    pub budget: BudgetLimits,
    /// Where results go.
    pub publish: Option<Publish>,
    /// Outcomes that make the Action's step red; `None` means every outcome that is not a good end.
    pub fail_on: Option<Vec<OutcomeWord>>,
    /// Forge of the repository, and how it is reached.
    pub forge: ForgeSettings,
    /// What a run sends to a trace collector.
    pub telemetry: TelemetrySettings,
    /// Folder for everything kept between runs; `None` where the environment names no home.
    pub state_dir: Option<PathBuf>,
    /// Folder for sessions.
    pub session_dir: Option<PathBuf>,
    /// Days after which a run removes sessions that are over; `None` keeps them all.
    pub session_retention_days: Option<u32>,
}

/// Which browser opens pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserSettings {
    /// Its program; where packages put one if absent.
    pub program: Option<PathBuf>,
}

/// What a run sends to a trace collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Whether there is a trace at all.
    pub traces: bool,
    /// Whether it holds texts of users, models and tools.
    pub content: bool,
}

/// Limits that tighten the policy's budget; absent ones leave the policy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Most model replies.
    pub turns: Option<u32>,
    /// Most tool calls.
    pub tool_calls: Option<u32>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Most US dollars, by the price table.
    pub cost_usd: Option<f64>,
    /// Wall time in minutes.
    pub minutes: Option<u32>,
    /// Most files changed.
    pub files: Option<u32>,
    /// Added and removed lines together.
    pub diff_lines: Option<u32>,
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Publish {
    /// Nothing is published.
    None,
    /// Into a folder.
    Local,
    /// To the forge the run came from.
    Forge,
}

/// Which forge is used, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForgeSettings {
    /// Where its API starts.
    pub api_url: String,
    /// The variable that holds its token.
    pub token_env: String,
}

impl Default for ForgeSettings {
    fn default() -> Self {
        Self { api_url: "https://api.github.com".to_owned(), token_env: "GITHUB_TOKEN".to_owned() }
    }
}

impl BudgetLimits {
    /// Returns the limits that are higher than the policy's, and so do nothing: key, what is set,
    /// what holds.
    pub fn above(&self, policy: &Budget) -> Vec<(&'static str, String, String)> {
        fn higher<T: PartialOrd + ToString>(
            key: &'static str,
            set: Option<T>,
            policy: T,
        ) -> Option<(&'static str, String, String)> {
            let set = set.filter(|set| *set > policy)?;
            Some((key, set.to_string(), policy.to_string()))
        }
        [
            higher("budget.turns", self.turns, policy.turns),
            higher("budget.tool_calls", self.tool_calls, policy.tool_calls),
            higher("budget.tokens", self.tokens, policy.tokens),
            higher("budget.cost_usd", self.cost_usd, policy.cost_usd),
            higher("budget.minutes", self.minutes, policy.minutes),
            higher("budget.files", self.files, policy.files),
            higher("budget.diff_lines", self.diff_lines, policy.diff_lines),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the policy's budget with every limit that is lower here.
    pub fn tighten(&self, policy: Budget) -> Budget {
        Budget {
            turns: self.turns.map_or(policy.turns, |turns| turns.min(policy.turns)),
            tool_calls: self
                .tool_calls
                .map_or(policy.tool_calls, |calls| calls.min(policy.tool_calls)),
            tokens: self.tokens.map_or(policy.tokens, |tokens| tokens.min(policy.tokens)),
            cost_usd: self.cost_usd.map_or(policy.cost_usd, |cost| cost.min(policy.cost_usd)),
            minutes: self.minutes.map_or(policy.minutes, |minutes| minutes.min(policy.minutes)),
            files: self.files.map_or(policy.files, |files| files.min(policy.files)),
            diff_lines: self
                .diff_lines
                .map_or(policy.diff_lines, |lines| lines.min(policy.diff_lines)),
        }
    }
}

impl Settings {
    /// Returns where a setting's value came from; `None` when it is not set.
    pub fn source(&self, key: &str) -> Option<&SettingSource> {
        self.set.get(key).map(|set| &set.source)
    }

    /// Returns the settings below `models` that the repository's own file gave, without that
    /// prefix: `profiles.fast.base_url`.
    pub fn models_from_repository(&self) -> BTreeSet<String> {
        let from_repository =
            self.set.iter().filter(|(_, set)| set.source.layer == Layer::Repository);
        from_repository
            .filter_map(|(key, _)| key.strip_prefix("models."))
            .map(str::to_owned)
            .collect()
    }

    /// Returns the folder that holds the sessions.
    ///
    /// # Errors
    /// When neither a setting nor the environment names one.
    pub fn session_folder(&self) -> Result<PathBuf, Diagnostic> {
        let below_state = || self.values.state_dir.as_ref().map(|folder| folder.join("sessions"));
        self.values.session_dir.clone().or_else(below_state).ok_or_else(|| {
            Diagnostic::about("HOME", "not set, so there is no place for sessions")
                .hint("set LOCUM_STATE_DIR or HOME, or pass --session-dir")
        })
    }

    /// Returns true when an outcome is to make the Action's step red.
    pub fn fails_on(&self, word: OutcomeWord) -> bool {
        match &self.values.fail_on {
            Some(words) => words.contains(&word),
            None => word.severity() != Severity::Good,
        }
    }

    /// Returns a row for every setting: those that are set, and those that could be, in the table's
    /// order.
    pub fn rows(&self) -> Vec<SettingRow> {
        let mut rows = Vec::new();
        for key in keys::KEYS {
            let found = self
                .set
                .iter()
                .filter(|(path, _)| keys::find(path).is_some_and(|other| other.path == key.path));
            let before = rows.len();
            rows.extend(found.map(|(path, set)| SettingRow {
                key: path.clone(),
                value: shown(key.kind, &set.value),
                source: Some(set.source.clone()),
                meaning: key.meaning,
            }));
            if rows.len() == before && !key.path.contains('*') {
                rows.push(SettingRow {
                    key: key.path.to_owned(),
                    value: serde_json::Value::Null,
                    source: None,
                    meaning: key.meaning,
                });
            }
        }
        rows
    }
}

/// One setting as `config show` prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingRow {
    /// Dotted key of the setting.
    pub key: String,
    /// Its value, `***` where it may be secret, `null` where it is not set.
    pub value: serde_json::Value,
    /// Where it came from; `None` when it is not set.
    pub source: Option<SettingSource>,
    /// What it is for.
    pub meaning: &'static str,
}

fn shown(kind: SettingKind, value: &serde_json::Value) -> serde_json::Value {
    let holds_userinfo =
        value.as_str().is_some_and(|text| text.contains("://") && text.contains('@'));
    if matches!(kind, SettingKind::Hidden) || holds_userinfo {
        serde_json::Value::from(HIDDEN)
    } else {
        value.clone()
    }
}
