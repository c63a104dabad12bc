//! OpenAI Chat Completions and everything compatible.
//!
//! In: a chosen model. Out: a model that speaks this protocol in the dialect of its server.

mod chunk;
mod reply;
mod request;

use url::Url;

use crate::models::catalogue::OutputLimit;
use crate::models::chat_completions::reply::ChatReply;
use crate::models::chat_completions::request::{Fields, Wishes, render_body};
use crate::models::profile::Profile;
use crate::models::resolve::Chosen;
use crate::models::wire::{self, Dialect, Door, KeyHeader, Protocol, Remote, SetupError};
use crate::models::{Model, ModelRequest};

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct ChatCompletions {
    profile: Profile,
    returns_reasoning: bool,
}

/// Prepares a model behind a Chat Completions endpoint.
///
/// # Errors
/// When the address or a header cannot be used, or the system has no certificates to trust.
pub fn prepare(chosen: &Chosen) -> Result<Box<dyn Model>, SetupError> {
    let url =
        wire::endpoint(
            chosen,
            |path| {
                if path.ends_with("/chat/completions") { path.to_owned() } else { format!("{path}/chat/completions") }
            },
        )?;
    let fields = Fields { output_limit: chosen.ways.output_limit, no_stream_options: false };
    let door = Door { key_header: key_header(&url), url, headers: &[], dialect: to_bits(fields) };
    let protocol = ChatCompletions { profile: chosen.profile.clone(), returns_reasoning: chosen.ways.returns_reasoning };
    Ok(Box::new(Remote::new(chosen, door, protocol)?))
}

/// Azure's hosts want a key in a header of its own.
fn key_header(url: &Url) -> KeyHeader {
    const AZURE: &[&str] = &[".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    let host = url.host_str().unwrap_or_default();
    if AZURE.iter().any(|end| host.ends_with(end)) { KeyHeader::Named("api-key") } else { KeyHeader::Bearer }
}

impl Protocol for ChatCompletions {
    type Reading = ChatReply;

    fn body(&self, request: &ModelRequest<'_>, dialect: Dialect) -> Result<Vec<u8>, serde_json::Error> {
        let wishes = Wishes {
            model: &self.profile.model,
            temperature: self.profile.temperature,
            max_output_tokens: self.profile.max_output_tokens,
            returns_reasoning: self.returns_reasoning,
            fields: from_bits(dialect),
        };
        render_body(request, wishes)
    }

    fn corrected(&self, dialect: Dialect, status: u16, words: &str) -> Option<Dialect> {
        from_bits(dialect).corrected(status, words).map(to_bits)
    }
}

fn to_bits(fields: Fields) -> Dialect {
    u8::from(fields.output_limit == OutputLimit::MaxCompletionTokens) | u8::from(fields.no_stream_options) << 1
}

fn from_bits(bits: Dialect) -> Fields {
    let output_limit = if bits & 1 == 0 { OutputLimit::MaxTokens } else { OutputLimit::MaxCompletionTokens };
    Fields { output_limit, no_stream_options: bits & 2 != 0 }
}

#[cfg(test)]
mod tests {
    use super::{KeyHeader, key_header};

    #[test]
    fn azure_gets_its_key_where_it_looks_for_it() {
        for (host, expected) in [
            ("https://mine.openai.azure.com/openai/deployments/x", KeyHeader::Named("api-key")),
            ("https://mine.services.ai.azure.com/models", KeyHeader::Named("api-key")),
            ("https://mine.openai.azure.com.evil.example/", KeyHeader::Bearer),
            ("https://api.openai.com/v1", KeyHeader::Bearer),
        ] {
            assert_eq!(key_header(&host.parse().unwrap()), expected, "{host}");
        }
    }
}
