//! Gemini `generateContent`, streamed.
//!
//! In: a chosen model. Out: a model that speaks this protocol. The model stands in the address, the
//! key in a header of its own.

mod reply;
mod request;

use crate::gemini::reply::GeminiReply;
use crate::gemini::request::{Schema, Thinking, Wishes, render_body};
use crate::profile::Effort;
use crate::resolve::Chosen;
use crate::transport::{self, Dialect, Door, KeyHeader, Protocol, Remote, SetupError};
use crate::{Model, ModelRequest};
use locum_base::image::ImageKind;

/// The kinds of images it takes (Gemini API, "Image understanding").
const KINDS: &[ImageKind] = &[ImageKind::Png, ImageKind::Jpeg, ImageKind::Webp];

/// The bits of the dialect.
struct Fields;

impl Fields {
    /// Schemas in the older, smaller form.
    const OLD_SCHEMA: Dialect = 1;
    /// No word on thinking.
    const NO_THINKING: Dialect = 1 << 1;
    /// Nothing that was signed before.
    const UNSIGNED: Dialect = 1 << 2;
    /// No images.
    const NO_IMAGES: Dialect = 1 << 3;
    /// Little thinking where as little as can be is asked for: not every model of the third
    /// generation thinks less.
    const LITTLE_THINKING: Dialect = 1 << 4;
}

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct Gemini {
    /// Whose kept parts are sent back.
    by: String,
    generation: u32,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
    effort: Option<Effort>,
    sees_images: bool,
}

/// Prepares a model behind a `streamGenerateContent` endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &Chosen) -> Result<Box<dyn Model>, SetupError> {
    let model = &chosen.profile.model;
    let mut url = transport::endpoint(chosen, |path| {
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
        format!("{path}{folder}/{model}:streamGenerateContent")
    })?;
    if !url.query_pairs().any(|(name, _)| name == "alt") {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    let own = url.host_str().is_some_and(|host| host.ends_with(".googleapis.com"));
    let protocol = Gemini {
        by: transport::identity(chosen, &url),
        generation: generation(model),
        temperature: chosen.profile.temperature,
        max_output_tokens: chosen.profile.max_output_tokens,
        effort: chosen.profile.reasoning_effort,
        sees_images: chosen.limits.images,
    };
    let dialect = if own { 0 } else { Fields::OLD_SCHEMA };
    Ok(Box::new(Remote::new(
        chosen,
        Door { url, key_header: KeyHeader::Named("x-goog-api-key"), headers: &[], dialect },
        protocol,
    )?))
}

impl Protocol for Gemini {
    type Reading = GeminiReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: Dialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let has = |bit: Dialect| dialect & bit != 0;
        let wishes = Wishes {
            by: if has(Fields::UNSIGNED) { "" } else { &self.by },
            wants_signatures: self.generation >= 3,
            temperature: request.temperature.or(self.temperature),
            max_output_tokens: request.max_output_tokens.or(self.max_output_tokens),
            thinking: self.effort.filter(|_| !has(Fields::NO_THINKING)).map(|effort| {
                thinking(
                    if has(Fields::LITTLE_THINKING) { Effort::Low } else { effort },
                    self.generation,
                )
            }),
            schema: if has(Fields::OLD_SCHEMA) { Schema::Old } else { Schema::Json },
            images: if self.sees_images && !has(Fields::NO_IMAGES) { KINDS } else { &[] },
            images_in_answers: self.generation >= 3,
        };
        render_body(request, wishes)
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        let lower = words.to_ascii_lowercase();
        let bit = match status {
            400 if lower.contains("thought signature") || lower.contains("thought_signature") => {
                Fields::UNSIGNED
            }
            400 if lower.contains("parametersjsonschema")
                || lower.contains("parameters_json_schema") =>
            {
                Fields::OLD_SCHEMA
            }
            // Whatever is wrong with an image: without it the conversation can go on.
            400 if lower.contains("image")
                || lower.contains("inline_data")
                || lower.contains("mime") =>
            {
                Fields::NO_IMAGES
            }
            400 if lower.contains("thinking")
                && self.thinks_least()
                && dialect & Fields::LITTLE_THINKING == 0 =>
            {
                Fields::LITTLE_THINKING
            }
            400 if lower.contains("thinking") => Fields::NO_THINKING,
            _ => return None,
        };
        (dialect & bit == 0).then_some(dialect | bit)
    }
}

impl Gemini {
    /// Returns true where the least of the levels is asked for.
    fn thinks_least(&self) -> bool {
        self.generation >= 3 && matches!(self.effort, Some(Effort::None | Effort::Minimal))
    }
}

/// Returns the generation a model's name tells: 3 for `gemini-3.1-pro`; 0 where it tells none.
fn generation(model: &str) -> u32 {
    let digits = model.rsplit_once("gemini-").map(|(_, rest)| {
        rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default()
    });
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Returns what a generation is told about thinking: a level since the third, tokens before.
fn thinking(effort: Effort, generation: u32) -> Thinking {
    if generation >= 3 {
        return Thinking::Level(match effort {
            Effort::None | Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High | Effort::Xhigh | Effort::Max => "high",
        });
    }
    Thinking::Budget(match effort {
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
    use super::{Effort, Fields, Gemini, ModelRequest, Thinking, generation, thinking};
    use crate::transport::Protocol;

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
        assert_eq!(thinking(Effort::Max, 3), Thinking::Level("high"));
        assert_eq!(thinking(Effort::None, 2), Thinking::Budget(0));
    }

    #[test]
    fn learns_from_refusals_what_to_leave_out() {
        let gemini = Gemini {
            by: String::new(),
            generation: 3,
            temperature: None,
            max_output_tokens: None,
            effort: None,
            sees_images: true,
        };
        for (dialect, status, words, learned) in [
            (0, 400, "Corrupted thought signature.", Some(Fields::UNSIGNED)),
            (Fields::UNSIGNED, 400, "Function call is missing a thought_signature", None),
            (0, 400, "Unknown name \"parametersJsonSchema\"", Some(Fields::OLD_SCHEMA)),
            (0, 400, "Thinking level is not supported for this model.", Some(Fields::NO_THINKING)),
            (0, 400, "The input token count exceeds the maximum number of tokens allowed", None),
            (0, 400, "Unable to process input image.", Some(Fields::NO_IMAGES)),
            (0, 429, "thinking", None),
        ] {
            assert_eq!(gemini.corrected(dialect, status, words), learned, "{words}");
        }
        let refusal = "'minimal' is not a supported thinking level for this model. Allowed values \
                       are: medium, low, high.";
        let least = Gemini { effort: Some(Effort::None), ..gemini };
        let little = Some(Fields::LITTLE_THINKING);
        assert_eq!(least.corrected(0, 400, refusal), little, "the default would be to think more");
        assert_eq!(
            least.corrected(Fields::LITTLE_THINKING, 400, refusal),
            Some(Fields::LITTLE_THINKING | Fields::NO_THINKING)
        );
        let body = |dialect| {
            String::from_utf8(least.body(&ModelRequest::with(&[]), dialect).unwrap()).unwrap()
        };
        assert!(
            body(0).contains(r#""thinkingLevel":"minimal""#)
                && body(Fields::LITTLE_THINKING).contains(r#""thinkingLevel":"low""#)
        );
    }
}
