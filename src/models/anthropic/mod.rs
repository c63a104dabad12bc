//! Anthropic Messages.
//!
//! In: a chosen model. Out: a model that speaks this protocol. Which kind of thinking a model
//! takes, and which fields a server refuses, is guessed from its name and learned from its words.

mod event;
mod reply;
mod request;

use crate::anthropic::reply::MessagesReply;
use crate::anthropic::request::{Thinks, Wishes, render_body};
use crate::profile::Effort;
use crate::resolve::Chosen;
use crate::transport::{self, Dialect, Door, KeyHeader, Protocol, Remote, SetupError};
use crate::{Model, ModelRequest};
use locum_base::image::ImageKind;

/// Anthropic's own host, whose extras other servers may not know.
const OWN_HOST: &str = "api.anthropic.com";
/// Most tokens of one reply where the profile does not say: the window is shared by what is read
/// and what is written.
const OUTPUT_LIMIT_TOKENS: u32 = 32_000;
/// What the server says when fields or blocks are not to its liking.
const REFUSED: &[(&[&str], Dialect)] = &[
    (
        &["block_binding", "thinking.display", "thinking.adaptive.display", "anthropic-beta"],
        Fields::BARE_THINKING,
    ),
    (&["signature", "expected `thinking`", "thinking block", "cannot be modified"], Fields::PLAIN),
    (&["cache_control"], Fields::UNCACHED),
    (&["eager_input_streaming"], Fields::LATE_INPUT),
    (&["temperature"], Fields::NO_TEMPERATURE),
    // Whatever is wrong with an image: without it the conversation can go on.
    (&["image"], Fields::NO_IMAGES),
    (
        &["adaptive", "thinking.type", "budget_tokens", "output_config", "effort", "thinking"],
        Fields::OTHER_THINKING,
    ),
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
    /// No word on what becomes of thoughts.
    const BARE_THINKING: Dialect = 1 << 6;
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
    let url = transport::endpoint(chosen, |path| match path {
        path if path.ends_with("/messages") => path.to_owned(),
        path if path.ends_with("/v1") => format!("{path}/messages"),
        path => format!("{path}/v1/messages"),
    })?;
    let own = url.host_str() == Some(OWN_HOST);
    let protocol = Messages {
        model: chosen.profile.model.clone(),
        by: transport::identity(chosen, &url),
        temperature: chosen.profile.temperature,
        max_output_tokens: chosen
            .profile
            .max_output_tokens
            .unwrap_or(chosen.limits.max_output_tokens.min(OUTPUT_LIMIT_TOKENS)),
        effort: chosen.profile.reasoning_effort,
        sees_images: chosen.limits.images,
    };
    let door = Door {
        url,
        key_header: KeyHeader::Named("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
        dialect: if own { 0 } else { Fields::LATE_INPUT | Fields::BARE_THINKING },
    };
    Ok(Box::new(Remote::new(chosen, door, protocol)?))
}

impl Protocol for Messages {
    type Reading = MessagesReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: Dialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let has = |bit: Dialect| dialect & bit != 0;
        let wishes = Wishes {
            model: &self.model,
            by: &self.by,
            temperature: request
                .temperature
                .or(self.temperature)
                .filter(|_| !has(Fields::NO_TEMPERATURE)),
            max_output_tokens: request.max_output_tokens.unwrap_or(self.max_output_tokens),
            thinks: self.thinks(dialect),
            bound: self.is_bound(dialect),
            shows_thinking: !has(Fields::BARE_THINKING),
            returns_thinking: !has(Fields::PLAIN),
            cached: !has(Fields::UNCACHED),
            eager_input: !has(Fields::LATE_INPUT),
            images: if self.sees_images && !has(Fields::NO_IMAGES) { &ImageKind::ALL } else { &[] },
        };
        render_body(request, wishes)
    }

    fn headers(&self, dialect: Dialect) -> &'static [(&'static str, &'static str)] {
        if self.is_bound(dialect) {
            &[("anthropic-beta", "thinking-binding-controls-2026-08-01")]
        } else {
            &[]
        }
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let lower = words.to_ascii_lowercase();
        let (_, bit) = REFUSED
            .iter()
            .find(|(phrases, _)| phrases.iter().any(|phrase| lower.contains(phrase)))?;
        // A model that refuses both kinds of thinking does none.
        let bit =
            if *bit == Fields::OTHER_THINKING && dialect & bit != 0 { Fields::PLAIN } else { *bit };
        (dialect & bit == 0).then_some(dialect | bit)
    }
}

impl Messages {
    /// Returns what the model is told about thinking.
    fn thinks(&self, dialect: Dialect) -> Thinks {
        let (by_name, other) =
            (thinks_adaptively(&self.model), dialect & Fields::OTHER_THINKING != 0);
        match self.effort {
            _ if dialect & Fields::PLAIN != 0 => Thinks::Unsaid,
            // It thinks whether it is told so or not, and has to be told what becomes of its
            // thoughts.
            None if always_thinks(&self.model) && !other => Thinks::Adaptive(None),
            None => Thinks::Unsaid,
            // A model that cannot but think is told to think little.
            Some(Effort::None) if by_name && (other || always_thinks(&self.model)) => {
                Thinks::Adaptive(Some(Effort::None))
            }
            Some(Effort::None) => {
                if by_name {
                    Thinks::Off
                } else {
                    Thinks::Unsaid
                }
            }
            Some(effort) if by_name != other => Thinks::Adaptive(Some(effort)),
            Some(effort) => Thinks::Budget(effort),
        }
    }

    /// Returns true where thoughts count only as long as nothing before them has changed, and may
    /// be dropped else.
    fn is_bound(&self, dialect: Dialect) -> bool {
        always_thinks(&self.model) && dialect & (Fields::BARE_THINKING | Fields::PLAIN) == 0
    }
}

/// Returns true for models that decide themselves how long to think, told how hard; older ones, and
/// other makers', are told how many tokens.
fn thinks_adaptively(model: &str) -> bool {
    version(model).is_some_and(|version| version >= (4, 6))
}

/// Returns true for models that cannot be told not to think, and whose thoughts are bound to what
/// stood before them (Claude API, "What's new in Claude Opus 5.5", 2026-09; the same of Fable 5.1
/// and Sonnet 5.5).
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
