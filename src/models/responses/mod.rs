//! OpenAI Responses.
//!
//! In: a chosen model. Out: a model that speaks this protocol. Nothing is stored at the provider:
//! the whole conversation is sent each time, with the reasoning of earlier replies encrypted, as it
//! came.

mod reply;
mod request;

use crate::resolve::ChosenModel;
use crate::responses::reply::ResponsesReply;
use crate::responses::request::render_body;
use crate::transport::protocol::{
    Endpoint, ModelDefaults, NO_IMAGES, Protocol, ServerDialect, endpoint_url, openai_key_header,
};
use crate::transport::{HttpModel, SetupError};
use crate::{Model, ModelRequest};

/// What the server says when fields or items are not to its liking.
const REFUSED: &[(&[&str], ServerDialect)] = &[
    (&["encrypted", "reasoning item", "of type 'reasoning'", "include"], NO_ENCRYPTED),
    (&["store"], NO_STORE),
    (&["temperature"], NO_TEMPERATURE),
    (&["reasoning"], NO_EFFORT),
    (&["max_output_tokens"], NO_LIMIT),
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

// The bits of the dialect.

/// Ask for no encrypted reasoning.
const NO_ENCRYPTED: ServerDialect = 1;
/// Do not say what is stored.
const NO_STORE: ServerDialect = 1 << 1;
/// Send no temperature.
const NO_TEMPERATURE: ServerDialect = 1 << 2;
/// Send no reasoning effort.
const NO_EFFORT: ServerDialect = 1 << 3;
/// Send no limit of the reply.
const NO_LIMIT: ServerDialect = 1 << 4;
/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Responses(ModelDefaults);

/// Prepares a model behind a Responses endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &ChosenModel) -> Result<Box<dyn Model>, SetupError> {
    let url = endpoint_url(chosen, |path| {
        if path.ends_with("/responses") { path.to_owned() } else { format!("{path}/responses") }
    })?;
    let protocol = Responses(ModelDefaults::new(chosen, &url));
    let endpoint = Endpoint {
        key_header: openai_key_header(chosen.profile.provider, &url),
        url,
        headers: &[],
        dialect: 0,
    };
    Ok(Box::new(HttpModel::new(chosen, endpoint, protocol)?))
}

impl Protocol for Responses {
    type Parser = ResponsesReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        render_body(request, self.0.options(request, dialect))
    }

    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect> {
        let lower = words.to_ascii_lowercase();
        // Whatever is wrong with an image: without it the conversation can go on.
        if matches!(status, 400 | 422) && lower.contains("image") && dialect & NO_IMAGES == 0 {
            return Some(dialect | NO_IMAGES);
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
    use super::{NO_EFFORT, NO_ENCRYPTED, NO_STORE, NO_TEMPERATURE, Responses};
    use crate::transport::protocol::{ModelDefaults, Protocol};

    #[test]
    fn learns_from_refusals_what_to_leave_out() {
        let responses = Responses(ModelDefaults::sample("m", None));
        for (dialect, status, words, learned) in [
            (0, 400, "Encrypted content is not supported with this model.", Some(NO_ENCRYPTED)),
            (0, 400, "The encrypted content could not be verified.", Some(NO_ENCRYPTED)),
            (
                0,
                400,
                "Unsupported parameter: 'temperature' is not supported with this model.",
                Some(NO_TEMPERATURE),
            ),
            (
                0,
                400,
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                Some(NO_EFFORT),
            ),
            (NO_EFFORT, 400, "Unsupported parameter: 'reasoning.effort'", None),
            (0, 422, "store: Extra inputs are not permitted", Some(NO_STORE)),
            (0, 400, "tools[0].name is wrong", None),
            (0, 500, "unknown field store", None),
        ] {
            assert_eq!(responses.corrected(dialect, status, words), learned, "{words}");
        }
    }
}
