//! Anthropic Messages.
//!
//! In: a chosen model. Out: a model that speaks this protocol. Which kind of thinking a model takes, and which fields a server refuses, is
//! guessed from its name and learned from its words.

mod event;
mod reply;
mod request;

use crate::base::image::ImageKind;
use crate::models::anthropic::reply::MessagesReply;
use crate::models::anthropic::request::{Wishes, render_body};
use crate::models::profile::Effort;
use crate::models::resolve::Chosen;
use crate::models::wire::{self, Dialect, Door, KeyHeader, Protocol, Remote, SetupError};
use crate::models::{Model, ModelRequest};

/// Anthropic's own host, whose extras other servers may not know.
const OWN_HOST: &str = "api.anthropic.com";
/// Most tokens of one reply where the profile does not say: the window is shared by what is read and what is written.
const OUTPUT_LIMIT_TOKENS: u32 = 32_000;
/// What the server says when fields or blocks are not to its liking.
const REFUSED: &[(&[&str], Dialect)] = &[
    (&["signature", "expected `thinking`", "must start with a thinking block", "thinking blocks", "cannot be modified"], Fields::PLAIN),
    (&["cache_control"], Fields::UNCACHED),
    (&["eager_input_streaming"], Fields::LATE_INPUT),
    (&["temperature"], Fields::NO_TEMPERATURE),
    // Whatever is wrong with an image: without it the conversation can go on.
    (&["image"], Fields::NO_IMAGES),
    (&["adaptive", "thinking.type", "budget_tokens", "output_config", "effort", "thinking"], Fields::OTHER_THINKING),
];

/// The bits of the dialect.
struct Fields;

impl Fields {
    /// No thinking, and none of what was thought before.
    const PLAIN: Dialect = 1;
    /// No marks for the cache.
    const UNCACHED: Dialect = 1 << 1;
    /// No wish for arguments as they are written.
    const LATE_INPUT: Dialect = 1 << 2;
    /// No temperature.
    const NO_TEMPERATURE: Dialect = 1 << 3;
    /// The other kind of thinking than the model's name suggests.
    const OTHER_THINKING: Dialect = 1 << 4;
    /// No images.
    const NO_IMAGES: Dialect = 1 << 5;
}

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Messages {
    model: String,
    /// Whose kept parts are sent back.
    by: String,
    temperature: Option<f64>,
    max_output_tokens: u32,
    effort: Option<Effort>,
    sees_images: bool,
}

/// Prepares a model behind a Messages endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &Chosen) -> Result<Box<dyn Model>, SetupError> {
    let url = wire::endpoint(chosen, |path| match path {
        path if path.ends_with("/messages") => path.to_owned(),
        path if path.ends_with("/v1") => format!("{path}/messages"),
        path => format!("{path}/v1/messages"),
    })?;
    let own = url.host_str() == Some(OWN_HOST);
    let protocol = Messages {
        model: chosen.profile.model.clone(),
        by: wire::identity(chosen, &url),
        temperature: chosen.profile.temperature,
        max_output_tokens: chosen.profile.max_output_tokens.unwrap_or(chosen.limits.max_output_tokens.min(OUTPUT_LIMIT_TOKENS)),
        effort: chosen.profile.reasoning_effort,
        sees_images: chosen.limits.images,
    };
    let door = Door {
        url,
        key_header: KeyHeader::Named("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
        dialect: if own { 0 } else { Fields::LATE_INPUT },
    };
    Ok(Box::new(Remote::new(chosen, door, protocol)?))
}

impl Protocol for Messages {
    type Reading = MessagesReply;

    fn body(&self, request: &ModelRequest<'_>, dialect: Dialect) -> Result<Vec<u8>, serde_json::Error> {
        let has = |bit: Dialect| dialect & bit != 0;
        let wishes = Wishes {
            model: &self.model,
            by: &self.by,
            temperature: request.temperature.or(self.temperature).filter(|_| !has(Fields::NO_TEMPERATURE)),
            max_output_tokens: request.max_output_tokens.unwrap_or(self.max_output_tokens),
            effort: self.effort.filter(|_| !has(Fields::PLAIN)),
            adaptive: thinks_adaptively(&self.model) != has(Fields::OTHER_THINKING),
            returns_thinking: !has(Fields::PLAIN),
            cached: !has(Fields::UNCACHED),
            eager_input: !has(Fields::LATE_INPUT),
            images: if self.sees_images && !has(Fields::NO_IMAGES) { &ImageKind::ALL } else { &[] },
        };
        render_body(request, wishes)
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let lower = words.to_ascii_lowercase();
        let (_, bit) = REFUSED.iter().find(|(phrases, _)| phrases.iter().any(|phrase| lower.contains(phrase)))?;
        // A model that refuses both kinds of thinking does none.
        let bit = if *bit == Fields::OTHER_THINKING && dialect & bit != 0 { Fields::PLAIN } else { *bit };
        (dialect & bit == 0).then_some(dialect | bit)
    }
}

/// Returns true for models that decide themselves how long to think, told how hard; older ones, and other makers', are told how many tokens.
fn thinks_adaptively(model: &str) -> bool {
    let Some((_, name)) = model.rsplit_once("claude-") else { return false };
    let mut numbers = name.split(['-', '.', '@', ':']).skip_while(|part| part.parse::<u32>().is_err()).map(|part| part.parse::<u32>().ok());
    let Some(major) = numbers.next().flatten() else { return true };
    let minor = numbers.next().flatten().filter(|minor| *minor < 100).unwrap_or(0);
    (major, minor) >= (4, 6)
}

#[cfg(test)]
mod tests {
    use super::{Effort, Fields, Messages, thinks_adaptively};
    use crate::models::wire::Protocol;

    #[test]
    fn knows_which_models_take_a_budget_of_thought() {
        for (model, adaptive) in [
            ("claude-3-7-sonnet-20250219", false),
            ("claude-opus-4-20250514", false),
            ("claude-haiku-4-5", false),
            ("claude-sonnet-4-5-20250929", false),
            ("claude-opus-4-6", true),
            ("claude-sonnet-5", true),
            ("anthropic/claude-opus-5.5", true),
            ("claude-next", true),
            ("deepseek-chat", false),
        ] {
            assert_eq!(thinks_adaptively(model), adaptive, "{model}");
        }
    }

    #[test]
    fn learns_from_refusals_what_to_leave_out() {
        let messages = Messages {
            model: "claude-opus-5".into(),
            by: String::new(),
            temperature: Some(0.5),
            max_output_tokens: 9,
            effort: Some(Effort::High),
            sees_images: true,
        };
        for (dialect, status, words, learned) in [
            (0, 400, "messages.1.content.0: Invalid `signature` in `thinking` block", Some(Fields::PLAIN)),
            (0, 400, "system.0.cache_control: Extra inputs are not permitted", Some(Fields::UNCACHED)),
            (0, 400, "tools.0.custom.eager_input_streaming: Extra inputs are not permitted", Some(Fields::LATE_INPUT)),
            (0, 400, "`temperature` is deprecated for this model", Some(Fields::NO_TEMPERATURE)),
            (0, 400, "adaptive thinking is not supported on this model", Some(Fields::OTHER_THINKING)),
            (Fields::OTHER_THINKING, 400, "thinking is not supported", Some(Fields::OTHER_THINKING | Fields::PLAIN)),
            (0, 400, "messages.2.content.0.tool_result: Could not process image", Some(Fields::NO_IMAGES)),
            (Fields::PLAIN, 400, "Invalid `signature` in `thinking` block", None),
            (0, 400, "prompt is too long: 9 tokens > 8 maximum", None),
            (0, 429, "thinking too much", None),
        ] {
            assert_eq!(messages.corrected(dialect, status, words), learned, "{words}");
        }
    }
}
