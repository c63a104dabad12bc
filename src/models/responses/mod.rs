//! OpenAI Responses.
//!
//! In: a chosen model. Out: a model that speaks this protocol. Nothing is stored at the provider:
//! the whole conversation is sent each time, with the reasoning of earlier replies encrypted, as it
//! came.

mod reply;
mod request;

use crate::profile::Effort;
use crate::resolve::Chosen;
use crate::responses::reply::ResponsesReply;
use crate::responses::request::{Wishes, render_body};
use crate::transport::{self, Dialect, Door, Protocol, Remote, SetupError};
use crate::{Model, ModelRequest};
use locum_base::image::ImageKind;

/// What the server says when fields or items are not to its liking.
const REFUSED: &[(&[&str], Dialect)] = &[
    (&["encrypted", "reasoning item", "of type 'reasoning'", "include"], Fields::NO_ENCRYPTED),
    (&["store"], Fields::NO_STORE),
    (&["temperature"], Fields::NO_TEMPERATURE),
    (&["reasoning"], Fields::NO_EFFORT),
    (&["max_output_tokens"], Fields::NO_LIMIT),
];
/// What refuses a field, and not its value.
const REFUSALS: &[&str] = &[
    "support",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra ",
    "not permitted",
    "not allowed",
    "invalid",
    "could not be",
    "not found",
];

/// The bits of the dialect.
struct Fields;

impl Fields {
    /// No encrypted reasoning.
    const NO_ENCRYPTED: Dialect = 1;
    /// No word on what is stored.
    const NO_STORE: Dialect = 1 << 1;
    /// No temperature.
    const NO_TEMPERATURE: Dialect = 1 << 2;
    /// No effort of reasoning.
    const NO_EFFORT: Dialect = 1 << 3;
    /// No limit of the reply.
    const NO_LIMIT: Dialect = 1 << 4;
    /// No images.
    const NO_IMAGES: Dialect = 1 << 5;
}

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Responses {
    model: String,
    /// Whose kept parts are sent back.
    by: String,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
    effort: Option<Effort>,
    sees_images: bool,
}

/// Prepares a model behind a Responses endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &Chosen) -> Result<Box<dyn Model>, SetupError> {
    let url = transport::endpoint(chosen, |path| {
        if path.ends_with("/responses") { path.to_owned() } else { format!("{path}/responses") }
    })?;
    let protocol = Responses {
        model: chosen.profile.model.clone(),
        by: transport::identity(chosen, &url),
        temperature: chosen.profile.temperature,
        max_output_tokens: chosen.profile.max_output_tokens,
        effort: chosen.profile.reasoning_effort,
        sees_images: chosen.limits.images,
    };
    let door =
        Door { key_header: transport::openai_key_header(&url), url, headers: &[], dialect: 0 };
    Ok(Box::new(Remote::new(chosen, door, protocol)?))
}

impl Protocol for Responses {
    type Reading = ResponsesReply;

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
            max_output_tokens: request
                .max_output_tokens
                .or(self.max_output_tokens)
                .filter(|_| !has(Fields::NO_LIMIT)),
            effort: self.effort.filter(|_| !has(Fields::NO_EFFORT)),
            encrypted: !has(Fields::NO_ENCRYPTED),
            says_store: !has(Fields::NO_STORE),
            images: if self.sees_images && !has(Fields::NO_IMAGES) { &ImageKind::ALL } else { &[] },
        };
        render_body(request, wishes)
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        let lower = words.to_ascii_lowercase();
        // Whatever is wrong with an image: without it the conversation can go on.
        if matches!(status, 400 | 422)
            && lower.contains("image")
            && dialect & Fields::NO_IMAGES == 0
        {
            return Some(dialect | Fields::NO_IMAGES);
        }
        if !matches!(status, 400 | 404 | 422) || !REFUSALS.iter().any(|word| lower.contains(word)) {
            return None;
        }
        let mut refused = REFUSED
            .iter()
            .filter(|(phrases, _)| phrases.iter().any(|phrase| lower.contains(phrase)));
        refused.find(|(_, bit)| dialect & bit == 0).map(|(_, bit)| dialect | bit)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Responses};
    use crate::transport::Protocol;

    #[test]
    fn learns_from_refusals_what_to_leave_out() {
        let responses = Responses {
            model: "m".into(),
            by: String::new(),
            temperature: None,
            max_output_tokens: None,
            effort: None,
            sees_images: false,
        };
        for (dialect, status, words, learned) in [
            (
                0,
                400,
                "Encrypted content is not supported with this model.",
                Some(Fields::NO_ENCRYPTED),
            ),
            (0, 400, "The encrypted content could not be verified.", Some(Fields::NO_ENCRYPTED)),
            (
                0,
                400,
                "Unsupported parameter: 'temperature' is not supported with this model.",
                Some(Fields::NO_TEMPERATURE),
            ),
            (
                0,
                400,
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                Some(Fields::NO_EFFORT),
            ),
            (Fields::NO_EFFORT, 400, "Unsupported parameter: 'reasoning.effort'", None),
            (0, 422, "store: Extra inputs are not permitted", Some(Fields::NO_STORE)),
            (0, 400, "tools[0].name is wrong", None),
            (0, 500, "unknown field store", None),
        ] {
            assert_eq!(responses.corrected(dialect, status, words), learned, "{words}");
        }
    }
}
