//! OpenAI Chat Completions and everything compatible.
//!
//! In: a chosen model. Out: a model that speaks this protocol in the dialect of its server.

mod chunk;
mod reply;
mod request;

use crate::catalogue::{HostWays, OutputLimit};
use crate::chat_completions::reply::ChatReply;
use crate::chat_completions::request::{Fields, Wishes, render_body};
use crate::profile::Profile;
use crate::resolve::Chosen;
use crate::transport::{self, Dialect, Door, Protocol, Remote, SetupError};
use crate::{Model, ModelRequest};

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct ChatCompletions {
    profile: Profile,
    /// Whose kept parts are sent back.
    by: String,
    ways: HostWays,
    sees_images: bool,
}

/// Prepares a model behind a Chat Completions endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &Chosen) -> Result<Box<dyn Model>, SetupError> {
    let url = transport::endpoint(chosen, |path| {
        if path.ends_with("/chat/completions") {
            path.to_owned()
        } else {
            format!("{path}/chat/completions")
        }
    })?;
    let newer = chosen.ways.output_limit == OutputLimit::MaxCompletionTokens;
    let dialect = if newer { Fields::NEWER_LIMIT } else { 0 };
    let protocol = ChatCompletions {
        profile: chosen.profile.clone(),
        by: transport::identity(chosen, &url),
        ways: chosen.ways.clone(),
        sees_images: chosen.limits.images,
    };
    let door = Door { key_header: transport::openai_key_header(&url), url, headers: &[], dialect };
    Ok(Box::new(Remote::new(chosen, door, protocol)?))
}

impl Protocol for ChatCompletions {
    type Reading = ChatReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: Dialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let wishes = Wishes {
            model: &self.profile.model,
            by: &self.by,
            temperature: request.temperature.or(self.profile.temperature),
            max_output_tokens: self.profile.max_output_tokens,
            effort: self.profile.reasoning_effort,
            sees_images: self.sees_images,
            ways: &self.ways,
            fields: Fields(dialect),
        };
        render_body(request, wishes)
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        Fields(dialect).corrected(status, words).map(|fields| fields.0)
    }
}
