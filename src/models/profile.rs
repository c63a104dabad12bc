//! `Profile`: one configured model; `Pointers`: which profile is used for what.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One configured model, without its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Whose protocol it speaks.
    #[serde(default)]
    pub provider: Provider,
    /// The model's name at the provider.
    pub model: String,
    /// Where the provider's API starts (`https://api.openai.com/v1`); the provider's own address when absent.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key; `OPENAI_API_KEY` when absent.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Most tokens of one reply.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Tokens the model can read and write in one request.
    #[serde(default)]
    pub context_window: Option<u32>,
    /// Sampling temperature; the provider's default when absent.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Longest silence between two pieces of a reply, in seconds.
    #[serde(default = "Profile::default_idle_timeout_s")]
    pub idle_timeout_s: u64,
    /// US dollars per million tokens; unknown models cost nothing and the receipt says so.
    #[serde(default)]
    pub price: Option<Price>,
}

impl Profile {
    fn default_idle_timeout_s() -> u64 {
        120
    }

    /// Returns the longest silence between two pieces of a reply.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_s)
    }
}

/// Whose protocol a model speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// OpenAI Chat Completions and everything compatible.
    #[default]
    Openai,
    /// Fixed replies from a script.
    Scripted,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that was not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache; as `input` when absent.
    #[serde(default)]
    pub cached_read: Option<f64>,
    /// Input written to the cache; as `input` when absent.
    #[serde(default)]
    pub cached_write: Option<f64>,
}

/// Configured models and their uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// Which profile is used for what.
    pub pointers: Pointers,
}

/// Which profile is used for what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pointers {
    /// The root task.
    pub main: Option<String>,
    /// Sub-tasks; as `main` when absent.
    pub task: Option<String>,
}
