//! OpenAI Chat Completions and everything compatible.
//!
//! In: a chosen model. Out: a model that speaks this protocol in the dialect of its server.

mod call;
mod chunk;
pub(crate) mod names;
mod reply;
mod request;

use crate::catalogue::{HostWays, OutputLimit};
use crate::chat_completions::reply::ChatReply;
use crate::chat_completions::request::render_body;
use crate::resolve::ChosenModel;
use crate::transport::protocol::{
    Endpoint, ModelDefaults, NO_IMAGES, Protocol, ServerDialect, endpoint_url, openai_key_header,
};
use crate::transport::{HttpModel, SetupError};
use crate::{Model, ModelRequest};

/// What the server says when fields are not to its liking.
const LEFT_OUT: &[(&str, ServerDialect)] = &[
    ("stream_options", NO_STREAM_OPTIONS),
    ("reasoning_effort", NO_EFFORT),
    ("temperature", NO_TEMPERATURE),
];
/// What refuses a field, and not its value.
const REFUSALS: &[&str] = &[
    "unsupported",
    "not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra ",
    "extra_",
    "not permitted",
    "not allowed",
];

// The bits of the dialect.

/// The newer name of the field that limits the reply.
const NEWER_LIMIT: ServerDialect = 1;
/// No `stream_options`.
const NO_STREAM_OPTIONS: ServerDialect = 1 << 1;
/// Send no temperature.
const NO_TEMPERATURE: ServerDialect = 1 << 2;
/// No effort of reasoning.
const NO_EFFORT: ServerDialect = 1 << 3;
/// No thinking where there are tools.
const UNTHINKING: ServerDialect = 1 << 4;
/// The reasoning of replies with calls goes back.
const RETURNS_REASONING: ServerDialect = 1 << 5;
/// Names of calls of nine letters or digits, and nothing said between answers and the reply to
/// them.
const STRICT_CALLS: ServerDialect = 1 << 6;
/// Ids of calls that are no longer than OpenAI takes. Elsewhere they go back as they came: some
/// servers and models read them (Kimi's `functions.read_file:0`, LiteLLM's with a signature in it).
const SHORT_IDS: ServerDialect = 1 << 8;

/// The protocol as one profile speaks it.
#[derive(Debug)]
struct ChatCompletions(ModelDefaults);

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
    let protocol = ChatCompletions(ModelDefaults::new(chosen, &url));
    let (key_header, dialect) =
        (openai_key_header(chosen.profile.provider, &url), dialect(&chosen.ways));
    let endpoint = Endpoint { key_header, url, headers: &[], dialect };
    Ok(Box::new(HttpModel::new(chosen, endpoint, protocol)?))
}

/// Returns the dialect of a host as far as it is known.
fn dialect(ways: &HostWays) -> ServerDialect {
    let known = [
        (ways.output_limit == OutputLimit::MaxCompletionTokens, NEWER_LIMIT),
        (ways.returns_reasoning, RETURNS_REASONING),
        (ways.strict_calls, STRICT_CALLS),
    ];
    known.iter().filter(|(is_known, _)| *is_known).fold(0, |dialect, (_, bit)| dialect | bit)
}

impl Protocol for ChatCompletions {
    type Parser = ChatReply;

    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        render_body(request, self.0.options(request, dialect))
    }

    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let lower = words.to_ascii_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        let with = |bit: ServerDialect| (dialect & bit == 0).then_some(dialect | bit);
        // Whatever is wrong with an image: without it the conversation can go on.
        if let Some(imageless) = with(NO_IMAGES).filter(|_| lower.contains("image")) {
            return Some(imageless);
        }
        // "The `reasoning_content` in the thinking mode must be passed back", "Missing
        // `reasoning_content` field in the assistant message".
        if lower.contains("reasoning_content") && says(&["passed back", "missing"]) {
            return with(RETURNS_REASONING);
        }
        // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "Unexpected
        // role 'user' after role 'tool'".
        if says(&["with a length of 9", "after role 'tool'"]) {
            return with(STRICT_CALLS);
        }
        // "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum
        // length 40, but got a string with length 46 instead."
        if lower.contains("id'") && says(&["string too long", "string_above_max_length"]) {
            return with(SHORT_IDS);
        }
        // "Function tools with reasoning_effort are not supported for gpt-6 in
        // /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to
        // 'none'.": also where nothing was said of an effort.
        let is_torn = lower.contains("tools with reasoning_effort");
        if let Some(unthinking) = with(UNTHINKING).filter(|_| is_torn) {
            return Some(unthinking);
        }
        if !says(REFUSALS) {
            return None;
        }
        let mut left_out = LEFT_OUT.iter().filter(|(field, _)| lower.contains(field));
        if let Some(plainer) = left_out.find_map(|(_, bit)| with(*bit)) {
            return Some(plainer);
        }
        let limit = if dialect & NEWER_LIMIT != 0 { "max_completion_tokens" } else { "max_tokens" };
        lower.contains(limit).then_some(dialect ^ NEWER_LIMIT)
    }
}
