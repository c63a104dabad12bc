//! `Catalogue`: what is known about common models and the hosts that serve them, compiled in from
//! `config/models.yml`.
//! In: a model's name or a host. Out: its limits, its price, its dialect; nothing for what is not
//! listed. The figures have a date and a source; a profile overrides them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::profile::{Price, Profile, Provider, ToolProtocol};
use crate::tokens::Tokenizer;
use locum_base::tool::ToolName;

/// Everything the program knows about models without configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The day the figures were read, `YYYY-MM-DD`.
    pub date: String,
    /// Where they were read.
    pub source: String,
    unknown: DefaultLimits,
    /// The model of each provider that is asked where none is named, as `PROVIDER:MODEL`.
    defaults: Vec<String>,
    hosts: BTreeMap<String, HostWays>,
    models: BTreeMap<String, CatalogueEntry>,
}

/// What is known about one model.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// Most tokens of one reply.
    pub max_output_tokens: u32,
    /// Price per million tokens.
    pub price: Price,
    /// How it calls tools.
    #[serde(default)]
    pub tool_protocol: ToolProtocol,
    /// True when it sees images.
    #[serde(default)]
    pub images: bool,
    /// How its tokens are estimated.
    #[serde(default)]
    pub tokenizer: Tokenizer,
    /// True when it was trained on the tool `apply_patch`.
    #[serde(default)]
    pub apply_patch: bool,
}

/// How one host differs from the others that speak the same protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostWays {
    /// The environment variable whose value is this host's key.
    pub key: String,
    /// The request field that limits the reply.
    #[serde(default)]
    pub(crate) output_limit: OutputLimit,
    /// True when it wants a reply's reasoning back with the conversation.
    #[serde(default)]
    pub(crate) returns_reasoning: bool,
    /// True when it wants names of calls of nine letters or digits, and nothing said between
    /// answers and the reply to them.
    #[serde(default)]
    pub(crate) strict_calls: bool,
}

/// The request field that limits a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    /// The older name; what most compatible servers read.
    #[default]
    MaxTokens,
    /// The newer name; the only one some hosts accept for their reasoning models.
    MaxCompletionTokens,
}

/// What one configured model can take and what it costs, with where that is known from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModelLimits {
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// Most tokens of one reply.
    pub max_output_tokens: u32,
    /// What it costs; `None` when it is unknown.
    pub price: Option<Price>,
    /// How it calls tools.
    pub tool_protocol: ToolProtocol,
    /// True when it sees images.
    pub images: bool,
    /// How its tokens are estimated.
    pub tokenizer: Tokenizer,
    /// True when the model is neither listed nor described by its profile: the window is a careful
    /// guess.
    pub guessed: bool,
    /// The source of each figure.
    pub sources: LimitSources,
}

impl ModelLimits {
    /// Returns the most tokens of one reply where that is not a guess.
    pub fn known_output(&self) -> Option<u32> {
        match self.sources.max_output_tokens {
            LimitSource::Profile | LimitSource::Catalogue => Some(self.max_output_tokens),
            LimitSource::Default => None,
        }
    }
}

/// Who said what a model can take and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LimitSources {
    /// Source of the context window.
    pub context_window: LimitSource,
    /// The limit of a reply.
    pub max_output_tokens: LimitSource,
    /// Source of the price; `Default` where it is unknown.
    pub price: LimitSource,
}

/// Who said a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The profile gives it.
    Profile,
    /// The catalogue gives it.
    Catalogue,
    /// Neither: it is a careful guess.
    Default,
}

impl LimitSource {
    fn of(in_profile: bool, is_listed: bool) -> Self {
        match (in_profile, is_listed) {
            (true, _) => Self::Profile,
            (false, true) => Self::Catalogue,
            (false, false) => Self::Default,
        }
    }

    /// Returns the source's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Catalogue => "catalogue",
            Self::Default => "default",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultLimits {
    context_window: u32,
    max_output_tokens: u32,
}

impl Catalogue {
    /// Reads the catalogue compiled into the program.
    ///
    /// # Errors
    /// When the compiled-in text is broken, which a test rules out.
    pub fn built_in() -> Result<Self, String> {
        serde_yaml::from_str(include_str!("../../config/models.yml"))
            .map_err(|err| format!("the built-in model catalogue is broken: {err}"))
    }

    /// Finds a model by the name its provider gives it; a vendor before a `/` and a date, `-latest`
    /// or a `:tag` at the end don't matter.
    pub fn find(&self, model: &str) -> Option<&CatalogueEntry> {
        let name = model.rsplit('/').next().unwrap_or(model);
        // As the clouds call them: `us.anthropic.claude-x-v1:0`, `claude-x@20250929`.
        let name = name.rsplit_once("anthropic.").map_or(name, |(_, name)| name);
        let untagged = name.split([':', '@']).next().unwrap_or(name);
        let untagged = ["-v1", "-v2"]
            .iter()
            .find_map(|version| untagged.strip_suffix(version))
            .unwrap_or(untagged);
        let plain = plain_name(untagged);
        let dashed = plain.replace('.', "-");
        [model, name, untagged, plain, dashed.as_str()]
            .into_iter()
            .find_map(|name| self.models.get(name))
    }

    /// Finds what is known about a host (`api.openai.com`).
    pub fn host(&self, host: &str) -> Option<&HostWays> {
        self.hosts.get(host)
    }

    /// Returns the models that are asked where none is named, as `PROVIDER:MODEL`, each with the
    /// variable that holds its provider's key.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.defaults
            .iter()
            .filter_map(|name| Some((Provider::before(name).0.home()?.key_variable, name.as_str())))
    }

    /// Returns the opt-in tools that a configured model is offered: those its profile names, else
    /// those the model was trained on.
    pub fn included_tools(&self, profile: &Profile) -> Vec<ToolName> {
        let is_remote = profile.provider.home().is_some();
        let is_trained =
            || is_remote && self.find(&profile.model).is_some_and(|entry| entry.apply_patch);
        profile
            .included_tools
            .clone()
            .unwrap_or_else(|| if is_trained() { vec![ToolName::ApplyPatch] } else { Vec::new() })
    }

    /// Returns every host with the environment variable that holds its key.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hosts.iter().map(|(host, ways)| (host.as_str(), ways.key.as_str()))
    }

    /// Returns what a configured model can take: the profile's word first, then the catalogue's,
    /// then careful defaults.
    pub fn limits(&self, profile: &Profile) -> ModelLimits {
        let is_remote = profile.provider.home().is_some();
        let entry = if is_remote { self.find(&profile.model) } else { None };
        let window = profile.context_window.or(entry.map(|entry| entry.context_window));
        let output = profile.max_output_tokens.or(entry.map(|entry| entry.max_output_tokens));
        ModelLimits {
            context_window: window.unwrap_or(self.unknown.context_window),
            max_output_tokens: output.unwrap_or(self.unknown.max_output_tokens),
            price: profile.price.or(entry.map(|entry| entry.price)),
            tool_protocol: profile
                .tool_protocol
                .or(entry.map(|entry| entry.tool_protocol))
                .unwrap_or_default(),
            images: profile.images.unwrap_or(entry.is_some_and(|entry| entry.images)),
            tokenizer: profile.tokenizer.or(entry.map(|entry| entry.tokenizer)).unwrap_or_default(),
            guessed: window.is_none() && is_remote,
            sources: LimitSources {
                context_window: LimitSource::of(profile.context_window.is_some(), entry.is_some()),
                max_output_tokens: LimitSource::of(
                    profile.max_output_tokens.is_some(),
                    entry.is_some(),
                ),
                price: LimitSource::of(profile.price.is_some(), entry.is_some()),
            },
        }
    }
}

/// Returns a model's name without the date or `-latest` at its end.
fn plain_name(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let mut rest = name;
    for _ in 0..3 {
        match rest.rsplit_once('-') {
            Some((head, tail))
                if tail.len() >= 2 && tail.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                rest = head
            }
            Some(_) | None => break,
        }
    }
    let dropped = name.len() - rest.len();
    // `-20250929` and `-2025-08-07` are dates, `-4-5` is a version.
    if dropped >= "-20250101".len() { rest } else { name }
}

#[cfg(test)]
mod tests;
