//! OpenAI Chat Completions and everything compatible.
//!
//! In: a chosen model. Out: a model that speaks this protocol in the dialect of its server.

mod chunk;
mod reply;
mod request;

use crate::catalogue::{HostWays, OutputLimit};
use crate::chat_completions::reply::ChatReply;
use crate::chat_completions::request::{ChatFields, ChatOptions, render_body};
use crate::resolve::ChosenModel;
use crate::transport::protocol::{
    Endpoint, ModelDefaults, Protocol, ServerDialect, endpoint_url, openai_key_header,
};
use crate::transport::{HttpModel, SetupError};
use crate::{Model, ModelRequest};
use locum_base::image::ImageKind;

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct ChatCompletions {
    defaults: ModelDefaults,
    ways: HostWays,
}

/// Prepares a model behind a Chat Completions endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &ChosenModel) -> Result<Box<dyn Model>, SetupError> {
    let url = endpoint_url(chosen, |path| {
        if path.ends_with("/chat/completions") {
            path.to_owned()
        } else {
            format!("{path}/chat/completions")
        }
    })?;
    let newer = chosen.ways.output_limit == OutputLimit::MaxCompletionTokens;
    let dialect = if newer { ChatFields::NEWER_LIMIT } else { 0 };
    let protocol =
        ChatCompletions { defaults: ModelDefaults::new(chosen, &url), ways: chosen.ways.clone() };
    let endpoint = Endpoint { key_header: openai_key_header(&url), url, headers: &[], dialect };
    Ok(Box::new(HttpModel::new(chosen, endpoint, protocol)?))
}

impl Protocol for ChatCompletions {
    type Parser = ChatReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let fields = ChatFields(dialect);
        let options = ChatOptions {
            model: &self.defaults.model,
            by: &self.defaults.by,
            temperature: self.defaults.temperature(request),
            max_output_tokens: self.defaults.max_output_tokens(request),
            effort: self.defaults.effort,
            images: self.defaults.images(&ImageKind::ALL, fields.has(ChatFields::NO_IMAGES)),
            ways: &self.ways,
            fields,
        };
        render_body(request, options)
    }

    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect> {
        ChatFields(dialect).corrected(status, words).map(|fields| fields.0)
    }
}
