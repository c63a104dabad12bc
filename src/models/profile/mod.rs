//! `Profile`: one configured model; `Pointers`: which profile is used for what.

mod headers;
pub mod price;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::profile::headers::check_header;
use crate::profile::price::LongPrice;
use crate::tokens::Tokenizer;
use locum_base::tool::ToolName;

/// Longest idle timeout accepted, in seconds.
const IDLE_TIMEOUT_LIMIT_S: u64 = 3600;
/// Longest silence between two pieces of a reply, where the profile does not say.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// The same of a reply that comes whole: nothing is heard before its end.
const WHOLE_REPLY_TIMEOUT: Duration = Duration::from_secs(280);

/// Fewest tokens that Anthropic's models are let think.
pub(crate) const LEAST_THINKING_TOKENS: u32 = 1024;

/// Share of a model's window, in percent, that a conversation fills before it is summed up, where
/// the profile does not say.
pub const CONDENSE_PERCENT: u32 = 75;

/// One configured model, without its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Protocol of its server.
    #[serde(default)]
    pub provider: Provider,
    /// The model's name at the provider; for `scripted` the script's file.
    pub model: String,
    /// Where the provider's API starts (`https://api.openai.com/v1`); the provider's own address
    /// when absent.
    pub base_url: Option<String>,
    /// The environment variable that holds the key; when absent the one that belongs to a known
    /// host, or `OPENAI_API_KEY` where `base_url` is absent or the place `OPENAI_BASE_URL` names.
    pub api_key_env: Option<String>,
    /// Most tokens of one reply.
    pub max_output_tokens: Option<u32>,
    /// Tokens the model can read and write in one request.
    pub context_window: Option<u32>,
    /// Share of that, in percent, that a conversation fills before it is summed up.
    pub condense_percent: Option<u32>,
    /// Sampling temperature; the provider's default when absent.
    pub temperature: Option<f64>,
    /// How hard the model thinks before it speaks; the provider's default when absent.
    pub reasoning_effort: Option<Effort>,
    /// Most tokens the model thinks before it speaks, for protocols that take a number; not beside
    /// an effort.
    pub thinking_tokens: Option<u32>,
    /// Extra request headers. Never a key: their values are not secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether replies are requested piece by piece, as events of a stream; true when absent.
    /// Otherwise each is requested whole.
    #[serde(default = "Profile::streams")]
    pub stream: bool,
    /// Longest silence between two pieces of a reply, in seconds; where replies come whole, the
    /// longest wait for one. 120 and 280 when absent.
    pub idle_timeout_s: Option<u64>,
    /// US dollars per million tokens; unknown models cost nothing and the receipt says so.
    pub price: Option<Price>,
    /// Whether the model sees images; what the catalogue says when absent.
    pub images: Option<bool>,
    /// Opt-in tools the model is offered where its mode has their group: those some models were
    /// trained on. What the catalogue says when absent.
    pub included_tools: Option<Vec<ToolName>>,
    /// How it calls tools; as the catalogue says when absent, natively where that says nothing.
    pub tool_protocol: Option<ToolProtocol>,
    /// How its tokens are estimated; as the catalogue says when absent, by bytes where that says
    /// nothing.
    pub tokenizer: Option<Tokenizer>,
}

impl Profile {
    /// Returns a profile that says nothing but the model's name.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            provider: Provider::default(),
            model: model.into(),
            base_url: None,
            api_key_env: None,
            max_output_tokens: None,
            context_window: None,
            condense_percent: None,
            temperature: None,
            reasoning_effort: None,
            thinking_tokens: None,
            headers: BTreeMap::new(),
            stream: Self::streams(),
            idle_timeout_s: None,
            price: None,
            images: None,
            included_tools: None,
            tool_protocol: None,
            tokenizer: None,
        }
    }

    /// Checks what the types leave open.
    ///
    /// # Errors
    /// Names the key and what is wrong with its value.
    pub fn check(&self) -> Result<(), String> {
        if self.model.trim().is_empty() {
            return Err("`model` is empty".to_owned());
        }
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return Err("`temperature` is outside 0 to 2".to_owned());
        }
        if self.max_output_tokens == Some(0) || self.context_window == Some(0) {
            return Err("`max_output_tokens` and `context_window` are at least 1".to_owned());
        }
        if self.condense_percent.is_some_and(|percent| !(1..=100).contains(&percent)) {
            return Err("`condense_percent` is outside 1 to 100".to_owned());
        }
        if let Some(tokens) = self.thinking_tokens {
            self.check_thinking(tokens)?;
        }
        if self.idle_timeout_s.is_some_and(|limit| !(1..=IDLE_TIMEOUT_LIMIT_S).contains(&limit)) {
            return Err(format!("`idle_timeout_s` is outside 1 to {IDLE_TIMEOUT_LIMIT_S}"));
        }
        let price = self.price.unwrap_or_default();
        let is_wrong = |price: Price| {
            let cached = [price.cached_read, price.cached_write].into_iter().flatten();
            let mut figures = [price.input, price.output].into_iter().chain(cached);
            figures.any(|figure| !figure.is_finite() || figure < 0.0)
        };
        if is_wrong(price) || price.above.is_some_and(|long| is_wrong(long.figures())) {
            return Err("`price` holds a number below 0".to_owned());
        }
        self.headers.iter().try_for_each(|(name, value)| check_header(name, value))
    }

    fn check_thinking(&self, tokens: u32) -> Result<(), String> {
        let least = match self.provider {
            Provider::Anthropic | Provider::Bedrock => LEAST_THINKING_TOKENS,
            Provider::Vertex if self.model.starts_with("claude-") => LEAST_THINKING_TOKENS,
            Provider::Gemini | Provider::Vertex => 1,
            Provider::Openai | Provider::OpenaiResponses | Provider::Azure | Provider::Scripted => {
                return Err(format!(
                    "`thinking_tokens`: provider `{}` takes no number of tokens to think; set \
                     `reasoning_effort`",
                    self.provider.as_str()
                ));
            }
        };
        if self.reasoning_effort.is_some() {
            return Err("`thinking_tokens` stands beside `reasoning_effort`: set one".to_owned());
        }
        if tokens < least {
            return Err(format!("`thinking_tokens` is below {least}, the least it takes"));
        }
        if self.max_output_tokens.is_some_and(|most| tokens.saturating_add(least) > most) {
            return Err("`thinking_tokens` leaves no room for words in `max_output_tokens`".into());
        }
        Ok(())
    }

    fn streams() -> bool {
        true
    }

    /// Returns the longest silence while a reply is not whole.
    pub(crate) fn idle_timeout(&self) -> Duration {
        let usual = if self.stream { IDLE_TIMEOUT } else { WHOLE_REPLY_TIMEOUT };
        self.idle_timeout_s.map_or(usual, Duration::from_secs)
    }
}

/// Protocol of a model's server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// OpenAI Chat Completions and everything compatible. Settings name it `custom-openai` where
    /// they also name a server.
    #[default]
    #[serde(alias = "custom-openai")]
    Openai,
    /// The OpenAI Responses API.
    OpenaiResponses,
    /// The Anthropic Messages API.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Anthropic's models on Amazon Bedrock, by `InvokeModelWithResponseStream`.
    Bedrock,
    /// Gemini and Anthropic's models on Google Vertex AI.
    Vertex,
    /// The OpenAI Responses API of an Azure resource; the model is a deployment.
    Azure,
    /// Fixed replies from a script.
    Scripted,
}

/// Where a provider's own API starts, and the variables of the environment that are about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderApi {
    /// Where its API starts.
    pub url: &'static str,
    /// The variable that names another place for it.
    pub url_variable: &'static str,
    /// The variable that holds its key.
    pub key_variable: &'static str,
}

impl Provider {
    /// Every provider, for iteration.
    pub const ALL: [Self; 8] = [
        Self::Openai,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
        Self::Vertex,
        Self::Azure,
        Self::Scripted,
    ];

    /// Returns the word it is configured by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Vertex => "vertex",
            Self::Azure => "azure",
            Self::Scripted => "scripted",
        }
    }

    /// Finds a provider by its word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == word)
    }

    /// Splits a model's name that may begin with its provider: `anthropic:claude-opus-5`.
    pub fn before(name: &str) -> (Self, &str) {
        name.split_once(':')
            .and_then(|(word, model)| Some((Self::named(word)?, model)))
            .unwrap_or((Self::default(), name))
    }

    /// Finds the provider that a model's name alone tells: by what stands before a colon, or as the
    /// maker names its models.
    pub fn of_name(name: &str) -> Option<Self> {
        let written = name.split_once(':').and_then(|(word, _)| Self::named(word));
        written.or_else(|| Self::of_maker(name))
    }

    /// Finds the API of the maker whose models are named like this one. OpenAI's open models are
    /// served by others.
    pub(crate) fn of_maker(name: &str) -> Option<Self> {
        let is_series = |series: &str| {
            name.strip_prefix(series).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        match name {
            _ if name.contains(['/', ':']) || name.starts_with("gpt-oss") => None,
            _ if name.starts_with("claude-") => Some(Self::Anthropic),
            _ if name.starts_with("gemini-") => Some(Self::Gemini),
            _ if name.starts_with("gpt-") => Some(Self::OpenaiResponses),
            _ if ["o1", "o3", "o4"].into_iter().any(is_series) => Some(Self::OpenaiResponses),
            _ => None,
        }
    }

    /// Finds the provider whose keys begin like this one.
    pub fn of_key(key: &str) -> Option<Self> {
        match key.trim() {
            key if key.starts_with("sk-ant-") => Some(Self::Anthropic),
            key if key.starts_with("AIza") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// Returns true where the environment names a server of its own for OpenAI's protocols.
    pub(crate) fn has_own_server(env: &BTreeMap<String, String>) -> bool {
        ["OPENAI_BASE_URL", "INPUT_BASE_URL"]
            .iter()
            .any(|variable| env.get(*variable).is_some_and(|url| !url.trim().is_empty()))
    }

    /// Splits a model's name as [`Provider::before`] does. A name of another maker means that
    /// maker's API, unless the environment names a server for all models.
    pub fn of_request<'n>(name: &'n str, env: &BTreeMap<String, String>) -> (Self, &'n str) {
        match (Self::before(name), Self::of_name(name)) {
            ((provider, model), Some(made))
                if provider == Self::default() && !Self::has_own_server(env) =>
            {
                (made, model)
            }
            (written, _) => written,
        }
    }

    /// Returns true when a model can generate an image in its protocol.
    pub(crate) fn gives_images(self) -> bool {
        match self {
            Self::Openai
            | Self::OpenaiResponses
            | Self::Gemini
            | Self::Vertex
            | Self::Azure
            | Self::Scripted => true,
            Self::Anthropic | Self::Bedrock => false,
        }
    }

    /// Returns true when vectors of texts can be asked for in its protocol.
    pub(crate) fn embeds(self) -> bool {
        match self {
            Self::Openai | Self::OpenaiResponses | Self::Azure | Self::Gemini => true,
            Self::Anthropic | Self::Bedrock | Self::Vertex | Self::Scripted => false,
        }
    }

    /// Returns where its API starts; `None` for what is asked over no network.
    pub fn home(self) -> Option<ProviderApi> {
        let home =
            |url, url_variable, key_variable| Some(ProviderApi { url, url_variable, key_variable });
        match self {
            Self::Openai | Self::OpenaiResponses => {
                home("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")
            }
            Self::Anthropic => {
                home("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")
            }
            Self::Gemini => home(
                "https://generativelanguage.googleapis.com/v1beta",
                "GOOGLE_GEMINI_BASE_URL",
                "GEMINI_API_KEY",
            ),
            // Of the default region, the global location and no resource: the environment says
            // more.
            Self::Bedrock => home(
                "https://bedrock-runtime.us-east-1.amazonaws.com",
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
                "AWS_BEARER_TOKEN_BEDROCK",
            ),
            Self::Vertex => home(
                "https://aiplatform.googleapis.com",
                "GOOGLE_VERTEX_BASE_URL",
                "GOOGLE_OAUTH_ACCESS_TOKEN",
            ),
            Self::Azure => home("", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
            Self::Scripted => None,
        }
    }
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolProtocol {
    /// By its provider's protocol.
    #[default]
    Native,
    /// Prompted: the tools are described in the prompt, calls are written as XML in the reply.
    Xml,
}

/// How hard a model thinks before it answers. Not every model knows every level; the nearest one it
/// knows is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// As much as most tasks need.
    Medium,
    /// Long.
    High,
    /// Very long.
    Xhigh,
    /// As long as it can.
    Max,
}

impl Effort {
    /// Returns about how many tokens a model thinks at most that is asked to think this hard.
    /// Anthropic's older models are given this number.
    pub(crate) fn thinking_tokens(self) -> u32 {
        match self {
            // Some cannot be asked to think nothing.
            Self::None | Self::Minimal => LEAST_THINKING_TOKENS,
            Self::Low => 4096,
            Self::Medium => 10_000,
            Self::High => 20_000,
            Self::Xhigh | Self::Max => 31_999,
        }
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that was not cached.
    pub input: f64,
    /// Output, of whatever kind.
    pub output: f64,
    /// Input read from the cache; as `input` when absent.
    pub cached_read: Option<f64>,
    /// Input written to the cache; as `input` when absent.
    pub cached_write: Option<f64>,
    /// What longer requests cost, where that is more.
    pub above: Option<LongPrice>,
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

/// Which profile is used for what. A pointer is one name or several: those after the first are its
/// fallbacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pointers {
    /// Used by the root task.
    pub main: Pointer,
    /// Sub-tasks; as `main` when absent.
    pub task: Pointer,
    /// For modes that ask for it: the model that thinks longest.
    pub reasoning: Pointer,
    /// For modes that ask for it: the model that answers fastest.
    pub quick: Pointer,
    /// Sums up conversations that became too long; each task's own model when absent.
    pub condense: Pointer,
    /// The image model of `generate_image`; without it there are no images.
    pub image: Pointer,
    /// The embedding model of `codebase_search`; without it code is found by words alone.
    pub embed: Pointer,
}

impl Pointers {
    /// Returns every pointer with its name.
    pub fn each(&self) -> [(&'static str, &Pointer); 7] {
        [
            ("main", &self.main),
            ("task", &self.task),
            ("reasoning", &self.reasoning),
            ("quick", &self.quick),
            ("condense", &self.condense),
            ("image", &self.image),
            ("embed", &self.embed),
        ]
    }
}

/// Names of profiles, the first to be asked first; none when absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct Pointer(pub Vec<String>);

/// One name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl From<OneOrMore> for Pointer {
    fn from(names: OneOrMore) -> Self {
        match names {
            OneOrMore::One(name) => Self(vec![name]),
            OneOrMore::More(names) => Self(names),
        }
    }
}

#[cfg(test)]
mod tests;
