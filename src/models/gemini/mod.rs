//! Gemini `generateContent`, streamed or not.
//!
//! In: a chosen model. Out: a model that speaks this protocol. The model stands in the address, the
//! key in a header of its own.

mod reply;
mod request;

use crate::gemini::reply::GeminiReply;
use crate::gemini::request::{GeminiThinking, render_body};
use crate::profile::{Effort, Provider};
use crate::resolve::ChosenModel;
use crate::transport::protocol::{
    Endpoint, KeyHeader, ModelDefaults, NO_IMAGES, Protocol, ServerDialect, endpoint_url,
};
use crate::transport::{HttpModel, SetupError};
use crate::{Model, ModelRequest};
use locum_base::image::ImageKind;

/// The kinds of images it takes (Gemini API, "Image understanding").
const KINDS: &[ImageKind] = &[ImageKind::Png, ImageKind::Jpeg, ImageKind::Webp];

// The bits of the dialect.

/// Send schemas in the older, smaller form.
const OLD_SCHEMA: ServerDialect = 1;
/// Send nothing about thinking.
const NO_THINKING: ServerDialect = 1 << 1;
/// Send back nothing that was signed before.
const UNSIGNED: ServerDialect = 1 << 2;
/// Little thinking where the least was requested: not every model of the third generation thinks
/// less.
const LITTLE_THINKING: ServerDialect = 1 << 3;

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Gemini {
    defaults: ModelDefaults,
    generation: u32,
}

/// Prepares a model behind a `streamGenerateContent` or `generateContent` endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &ChosenModel) -> Result<Box<dyn Model>, SetupError> {
    let model = &chosen.profile.model;
    let on_vertex = chosen.profile.provider == Provider::Vertex;
    let mut url = endpoint_url(chosen, |path| {
        let of_model = if on_vertex {
            format!("{path}/publishers/google/models/{model}")
        } else {
            model_path(path, model)
        };
        let action =
            if chosen.profile.stream { "streamGenerateContent" } else { "generateContent" };
        format!("{of_model}:{action}")
    })?;
    if chosen.profile.stream && !url.query_pairs().any(|(name, _)| name == "alt") {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    let own = url.host_str().is_some_and(|host| host.ends_with(".googleapis.com"));
    let mut defaults = ModelDefaults::new(chosen, &url);
    if !defaults.images.is_empty() {
        defaults.images = KINDS;
    }
    let protocol = Gemini { defaults, generation: generation(model) };
    let dialect = if own { 0 } else { OLD_SCHEMA };
    let key_header = if on_vertex { KeyHeader::Bearer } else { KeyHeader::Named("x-goog-api-key") };
    Ok(Box::new(HttpModel::new(
        chosen,
        Endpoint { url, key_header, headers: &[], dialect },
        protocol,
    )?))
}

/// Returns the path of a model below the one that a profile names.
pub(crate) fn model_path(path: &str, model: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let folder = match last {
        _ if model.contains('/') => "",
        "models" => "",
        "google" => "/models",
        _ if is_version => "/models",
        _ => "/v1beta/models",
    };
    format!("{path}{folder}/{model}")
}

impl Protocol for Gemini {
    type Parser = GeminiReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        render_body(request, self.defaults.options(request, dialect), self.generation)
    }

    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect> {
        let lower = words.to_ascii_lowercase();
        let bit = match status {
            400 if lower.contains("thought signature") || lower.contains("thought_signature") => {
                UNSIGNED
            }
            400 if lower.contains("parametersjsonschema")
                || lower.contains("parameters_json_schema") =>
            {
                OLD_SCHEMA
            }
            // Whatever is wrong with an image: without it the conversation can go on.
            400 if lower.contains("image")
                || lower.contains("inline_data")
                || lower.contains("mime") =>
            {
                NO_IMAGES
            }
            400 if lower.contains("thinking")
                && self.thinks_least()
                && dialect & LITTLE_THINKING == 0 =>
            {
                LITTLE_THINKING
            }
            400 if lower.contains("thinking") => NO_THINKING,
            _ => return None,
        };
        (dialect & bit == 0).then_some(dialect | bit)
    }
}

impl Gemini {
    /// Returns true where the lowest level is requested.
    fn thinks_least(&self) -> bool {
        self.generation >= 3
            && matches!(
                self.defaults.profile.reasoning_effort,
                Some(Effort::None | Effort::Minimal)
            )
    }
}

/// Returns the generation in a model's name: 3 for `gemini-3.1-pro`; 0 where it has none.
pub(crate) fn generation(model: &str) -> u32 {
    let digits = model.rsplit_once("gemini-").map(|(_, rest)| {
        rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default()
    });
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Returns what a generation takes about thinking: a level since the third, tokens before.
fn thinking(effort: Effort, generation: u32) -> GeminiThinking {
    if generation >= 3 {
        return GeminiThinking::Level(match effort {
            Effort::None | Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High | Effort::Xhigh | Effort::Max => "high",
        });
    }
    GeminiThinking::Budget(match effort {
        Effort::None => 0,
        Effort::Minimal => 512,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        Effort::Xhigh | Effort::Max => 24_576,
    })
}

#[cfg(test)]
mod tests {
    use super::{
        Effort, Gemini, GeminiThinking, LITTLE_THINKING, ModelRequest, NO_IMAGES, NO_THINKING,
        OLD_SCHEMA, UNSIGNED, generation, thinking,
    };
    use crate::transport::protocol::{ModelDefaults, Protocol};

    #[test]
    fn each_generation_thinks_in_its_own_measure() {
        for (model, number) in [
            ("gemini-2.5-pro", 2),
            ("models/gemini-3.1-pro-preview", 3),
            ("gemini-4-argon", 4),
            ("gemma", 0),
        ] {
            assert_eq!(generation(model), number, "{model}");
        }
        assert_eq!(thinking(Effort::Max, 3), GeminiThinking::Level("high"));
        assert_eq!(thinking(Effort::None, 2), GeminiThinking::Budget(0));
    }

    #[test]
    fn learns_from_refusals_what_to_leave_out() {
        let gemini = Gemini { defaults: ModelDefaults::sample("m", None), generation: 3 };
        for (dialect, status, words, learned) in [
            (0, 400, "Corrupted thought signature.", Some(UNSIGNED)),
            (UNSIGNED, 400, "Function call is missing a thought_signature", None),
            (0, 400, "Unknown name \"parametersJsonSchema\"", Some(OLD_SCHEMA)),
            (0, 400, "Thinking level is not supported for this model.", Some(NO_THINKING)),
            (0, 400, "The input token count exceeds the maximum number of tokens allowed", None),
            (0, 400, "Unable to process input image.", Some(NO_IMAGES)),
            (0, 429, "thinking", None),
        ] {
            assert_eq!(gemini.corrected(dialect, status, words), learned, "{words}");
        }
        let refusal = "'minimal' is not a supported thinking level for this model. Allowed values \
                       are: medium, low, high.";
        let least = Gemini { defaults: ModelDefaults::sample("m", Some(Effort::None)), ..gemini };
        let little = Some(LITTLE_THINKING);
        assert_eq!(least.corrected(0, 400, refusal), little, "the default would be to think more");
        assert_eq!(
            least.corrected(LITTLE_THINKING, 400, refusal),
            Some(LITTLE_THINKING | NO_THINKING)
        );
        let body = |dialect| {
            String::from_utf8(least.body(&ModelRequest::with(&[]), dialect).unwrap()).unwrap()
        };
        assert!(
            body(0).contains(r#""thinkingLevel":"minimal""#)
                && body(LITTLE_THINKING).contains(r#""thinkingLevel":"low""#)
        );
    }
}
