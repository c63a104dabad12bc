//! Anthropic Messages.
//!
//! In: a chosen model. Out: a model that speaks this protocol. Which kind of thinking a model
//! takes, and which fields a server refuses, is guessed from its name and learned from its words.

mod event;
mod host;
mod reply;
mod request;

use crate::anthropic::host::MessagesHost;
use crate::anthropic::reply::MessagesReply;
use crate::anthropic::request::{ThinkingMode, render_body};
use crate::profile::Effort;
use crate::resolve::ChosenModel;
use crate::transport::protocol::{
    Endpoint, KeyHeader, ModelDefaults, NO_IMAGES, Protocol, RequestOptions, ServerDialect,
    endpoint_url,
};
use crate::transport::{HttpModel, SetupError};
use crate::{Model, ModelRequest};

/// Anthropic's own host, whose extras other servers may not know.
const OWN_HOST: &str = "api.anthropic.com";
/// Most tokens of one reply where the profile does not say: the window is shared by what is read
/// and what is written.
const OUTPUT_LIMIT_TOKENS: u32 = 32_000;
/// Room for words beside many thoughts, in tokens.
const WORDS_TOKENS: u32 = 8_000;
/// What the server says when fields or blocks are not to its liking.
const REFUSED: &[(&[&str], ServerDialect)] = &[
    (
        &["block_binding", "thinking.display", "thinking.adaptive.display", "anthropic-beta"],
        BARE_THINKING,
    ),
    (&["signature", "expected `thinking`", "thinking block", "cannot be modified"], PLAIN),
    (&["cache_control"], UNCACHED),
    (&["eager_input_streaming"], LATE_INPUT),
    (&["temperature"], NO_TEMPERATURE),
    // Whatever is wrong with an image: without it the conversation can go on.
    (&["image"], NO_IMAGES),
    (
        &["adaptive", "thinking.type", "budget_tokens", "output_config", "effort", "thinking"],
        OTHER_THINKING,
    ),
];

// The bits of the dialect.

/// Ask for no thinking, and send back none of what was thought before.
const PLAIN: ServerDialect = 1;
/// Set no marks for the cache.
const UNCACHED: ServerDialect = 1 << 1;
/// Do not ask for arguments as they are written.
const LATE_INPUT: ServerDialect = 1 << 2;
/// Send no temperature.
const NO_TEMPERATURE: ServerDialect = 1 << 3;
/// Use the other kind of thinking than the model's name suggests.
const OTHER_THINKING: ServerDialect = 1 << 4;
/// Do not say what becomes of thoughts.
const BARE_THINKING: ServerDialect = 1 << 5;

/// What the API wants beside a token that is no key. Source: OAUTH_API_BETA_HEADER in
/// github.com/anthropics/anthropic-sdk-python, src/anthropic/lib/credentials/_constants.py.
const TOKEN_BETA: &[(&str, &str)] = &[("anthropic-beta", "oauth-2025-04-20")];
/// Asks what becomes of thoughts that something before them has changed.
const BOUND_BETA: &[(&str, &str)] = &[("anthropic-beta", "thinking-binding-controls-2026-08-01")];
/// Both.
const BOUND_TOKEN_BETA: &[(&str, &str)] =
    &[("anthropic-beta", "oauth-2025-04-20,thinking-binding-controls-2026-08-01")];

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Messages {
    defaults: ModelDefaults,
    /// True where requests carry a token in place of a key.
    has_token: bool,
    host: MessagesHost,
}

/// Prepares a model behind a Messages endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &ChosenModel) -> Result<Box<dyn Model>, SetupError> {
    let host = MessagesHost::of(chosen.profile.provider);
    let url = endpoint_url(chosen, |path| host.path(path, &chosen.profile))?;
    let own = url.host_str() == Some(OWN_HOST);
    let mut defaults = ModelDefaults::new(chosen, &url);
    let thinks = chosen.profile.thinking_tokens.unwrap_or_default();
    let wanted = OUTPUT_LIMIT_TOKENS.max(thinks.saturating_add(WORDS_TOKENS));
    let limit_tokens = chosen.limits.max_output_tokens.min(wanted);
    defaults.profile.max_output_tokens.get_or_insert(limit_tokens);
    let has_token = chosen.credential.is_some() && host == MessagesHost::Anthropic;
    let endpoint = Endpoint {
        url,
        key_header: match host {
            MessagesHost::Anthropic => KeyHeader::Named("x-api-key"),
            MessagesHost::Bedrock | MessagesHost::Vertex => KeyHeader::Bearer,
        },
        headers: &[("anthropic-version", "2023-06-01")],
        dialect: if own { 0 } else { LATE_INPUT | BARE_THINKING },
    };
    Ok(Box::new(HttpModel::new(chosen, endpoint, Messages { defaults, has_token, host })?))
}

impl Protocol for Messages {
    type Parser = MessagesReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        self.host.body(render_body(request, self.defaults.options(request, dialect))?)
    }

    fn headers(&self, dialect: ServerDialect) -> &'static [(&'static str, &'static str)] {
        match (is_bound(&self.defaults.profile.model, dialect), self.has_token) {
            (true, true) => BOUND_TOKEN_BETA,
            (true, false) => BOUND_BETA,
            (false, true) => TOKEN_BETA,
            (false, false) => &[],
        }
    }

    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let lower = words.to_ascii_lowercase();
        let (_, bit) = REFUSED
            .iter()
            .find(|(phrases, _)| phrases.iter().any(|phrase| lower.contains(phrase)))?;
        // A model that refuses both kinds of thinking does none.
        let bit = if *bit == OTHER_THINKING && dialect & bit != 0 { PLAIN } else { *bit };
        (dialect & bit == 0).then_some(dialect | bit)
    }
}

/// Returns what a request says about thinking.
fn thinks(options: RequestOptions<'_>) -> ThinkingMode {
    let (by_name, other) = (thinks_adaptively(options.model), options.has(OTHER_THINKING));
    let always = always_thinks(options.model);
    if let Some(tokens) = options.thinking_tokens.filter(|_| !options.has(PLAIN)) {
        return if other { ThinkingMode::Adaptive(None) } else { ThinkingMode::Budget(tokens) };
    }
    match options.effort {
        _ if options.has(PLAIN) => ThinkingMode::Unsaid,
        // It thinks with or without the field, and the request has to say what becomes of its
        // thoughts.
        None if always && !other => ThinkingMode::Adaptive(None),
        None => ThinkingMode::Unsaid,
        // A model that always thinks is asked to think little.
        Some(Effort::None) if by_name && (other || always) => {
            ThinkingMode::Adaptive(Some(Effort::None))
        }
        Some(Effort::None) if by_name => ThinkingMode::Off,
        Some(Effort::None) => ThinkingMode::Unsaid,
        Some(effort) if by_name != other => ThinkingMode::Adaptive(Some(effort)),
        Some(effort) => ThinkingMode::Budget(effort.thinking_tokens()),
    }
}

/// Returns true where thoughts count only as long as nothing before them has changed, and may be
/// dropped else.
fn is_bound(model: &str, dialect: ServerDialect) -> bool {
    always_thinks(model) && dialect & (BARE_THINKING | PLAIN) == 0
}

/// Returns true for models that decide themselves how long to think, given an effort; older ones,
/// and other makers', take a number of tokens.
pub(crate) fn thinks_adaptively(model: &str) -> bool {
    version(model).is_some_and(|version| version >= (4, 6))
}

/// Returns true for models whose thinking cannot be switched off, and whose thoughts are bound to
/// what stood before them. Source: Claude API, "What's new in Claude Opus 5.5", 2026-09; the same
/// holds for Fable 5.1 and Sonnet 5.5.
fn always_thinks(model: &str) -> bool {
    version(model).is_some_and(|version| version > (5, 0))
}

/// Returns the version in the name of one of Anthropic's models; the highest where it names none.
fn version(model: &str) -> Option<(u32, u32)> {
    let (_, name) = model.rsplit_once("claude-")?;
    let mut numbers = name
        .split(['-', '.', '@', ':'])
        .skip_while(|part| part.parse::<u32>().is_err())
        .map(|part| part.parse::<u32>().ok());
    let Some(major) = numbers.next().flatten() else { return Some((u32::MAX, 0)) };
    Some((major, numbers.next().flatten().filter(|minor| *minor < 100).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
