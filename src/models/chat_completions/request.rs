//! The body of a Chat Completions request.
//!
//! In: a request and the options of profile and host. Out: JSON bytes whose keys always come in one
//! order with the conversation last. So everything before the new messages stays the same from turn
//! to turn, byte for byte, and a provider's cache holds.

use std::borrow::Cow;
use std::slice;

use serde::Serialize;
use serde_json::Value;

use crate::ModelRequest;
use crate::chat_completions::names::{legal_id, legal_name, strict_id};
use crate::chat_completions::{
    NEWER_LIMIT, NO_EFFORT, NO_STREAM_OPTIONS, NO_TEMPERATURE, RETURNS_REASONING, SHORT_IDS,
    STRICT_CALLS, UNTHINKING,
};
use crate::profile::Effort;
use crate::transport::images::{DataUri, SentImage, sent_images};
use crate::transport::json::CallArguments;
use crate::transport::parts::{ReplyPart, reply_parts};
use crate::transport::protocol::RequestOptions;
use locum_base::chat::{Message, ToolCall, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// Longest id of a call that OpenAI takes in this protocol ("string too long. Expected a string
/// with maximum length 40").
const ID_LIMIT_BYTES: usize = 40;

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    options: RequestOptions<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let limit = options.max_output_tokens;
    let newer = options.has(NEWER_LIMIT);
    let unthinking = options.has(UNTHINKING) && !request.tools.is_empty();
    let effort = if unthinking { Some(Effort::None) } else { options.effort };
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(ChatMessage::System { content: request.system });
    }
    for message in request.messages {
        push_message(&mut messages, message, options);
    }
    if let (Some(ChatMessage::User { content }), Some(from)) =
        (messages.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        content.show(sent_images(slice::from_ref(from), &ImageKind::ALL).map(content_part));
    }
    serde_json::to_vec(&ChatBody {
        model: options.model,
        stream: options.stream,
        stream_options: (options.stream && !options.has(NO_STREAM_OPTIONS))
            .then_some(StreamOptions { include_usage: true }),
        temperature: options.temperature.filter(|_| !options.has(NO_TEMPERATURE)),
        reasoning_effort: effort.filter(|_| !options.has(NO_EFFORT)),
        max_tokens: limit.filter(|_| !newer),
        max_completion_tokens: limit.filter(|_| newer),
        modalities: request.picture.map(|_| ["image", "text"]),
        tools: request.tools.iter().map(|function| ChatTool { function }).collect(),
        messages,
    })
}

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    /// What a reply may hold besides words (OpenRouter and Vercel's gateway, "Image generation").
    #[serde(skip_serializing_if = "Option::is_none")]
    modalities: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ChatTool<'a>>,
    messages: Vec<ChatMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum ChatMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: ChatContent<'a>,
    },
    Assistant {
        /// Null next to tool calls: some servers refuse an empty text there.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ChatCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: ChatContent<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChatContent<'a> {
    Words(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

impl<'a> ChatContent<'a> {
    fn add(&mut self, text: &'a str) {
        match self {
            Self::Words(words) => {
                let words = words.to_mut();
                words.push_str("\n\n");
                words.push_str(text);
            }
            Self::Parts(parts) => parts.push(ContentPart::Text { text }),
        }
    }

    fn show(&mut self, images: impl Iterator<Item = ContentPart<'a>>) {
        match self {
            Self::Words(Cow::Borrowed(text)) => {
                let text = ContentPart::Text { text };
                *self = Self::Parts(std::iter::once(text).chain(images).collect());
            }
            // Words are only put together where nothing is shown.
            Self::Words(Cow::Owned(_)) => {}
            Self::Parts(parts) => parts.extend(images),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUri<'a>,
}

fn content_part(shown: SentImage<'_>) -> ContentPart<'_> {
    match shown {
        SentImage::Note(text) => ContentPart::Text { text },
        SentImage::Image(picture) => {
            ContentPart::ImageUrl { image_url: ImageUrl { url: DataUri(picture) } }
        }
    }
}

#[derive(Serialize)]
struct ChatCall<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct ChatTool<'a> {
    function: &'a ToolSpec,
}

fn push_message<'a>(
    messages: &mut Vec<ChatMessage<'a>>,
    message: &'a Message,
    options: RequestOptions<'_>,
) {
    let strict = options.has(STRICT_CALLS);
    match message {
        Message::User { text } => match messages.last_mut() {
            // Nothing may stand between answers and the reply to them.
            Some(ChatMessage::Tool { content, .. }) if strict => content.add(text),
            Some(_) | None => messages
                .push(ChatMessage::User { content: ChatContent::Words(Cow::Borrowed(text)) }),
        },
        Message::Images { images } => {
            let parts = sent_images(images, options.images).map(content_part);
            match messages.last_mut() {
                Some(ChatMessage::User { content }) => content.show(parts),
                Some(_) | None => messages
                    .push(ChatMessage::User { content: ChatContent::Parts(parts.collect()) }),
            }
        }
        Message::Assistant { text, reasoning, calls, opaque } => {
            let (mut details, mut tool_calls) = (None, Vec::with_capacity(calls.len()));
            for part in reply_parts(text, calls, opaque.as_ref(), options.by) {
                match part {
                    ReplyPart::Own(own) => details = own.get("reasoning_details"),
                    ReplyPart::Text(..) => {}
                    ReplyPart::Call(call, seal) => {
                        tool_calls.push(wire_call(call, seal.get("extra_content"), options))
                    }
                }
            }
            messages.push(ChatMessage::Assistant {
                content: (!text.is_empty() || calls.is_empty()).then_some(text.as_str()),
                // A host that wants it back misses it beside calls even where there was none.
                reasoning_content: Some(reasoning.as_str()).filter(|reasoning| {
                    options.has(RETURNS_REASONING) && !(reasoning.is_empty() && calls.is_empty())
                }),
                reasoning_details: details,
                tool_calls,
            });
        }
        Message::Tool { results } => push_answers(messages, results, options),
    }
}

/// Adds the answers to calls. An answer is text in this protocol: images follow in a message of
/// their own, except where a host wants nothing between answers and the reply to them; there they
/// stand in the answer.
fn push_answers<'a>(
    messages: &mut Vec<ChatMessage<'a>>,
    results: &'a [ToolResult],
    options: RequestOptions<'_>,
) {
    let strict = options.has(STRICT_CALLS);
    let mut pictures = Vec::new();
    for result in results {
        let mut content = ChatContent::Words(Cow::Borrowed(&result.text));
        if strict && !result.images.is_empty() {
            let text = ContentPart::Text { text: &result.text };
            content = ChatContent::Parts(
                std::iter::once(text)
                    .chain(sent_images(&result.images, options.images).map(content_part))
                    .collect(),
            );
        } else {
            pictures.extend(sent_images(&result.images, options.images).map(content_part));
        }
        messages
            .push(ChatMessage::Tool { tool_call_id: call_id(&result.call_id, options), content });
    }
    if !pictures.is_empty() {
        let text = ContentPart::Text { text: "The images of the answers above, in their order:" };
        messages.push(ChatMessage::User {
            content: ChatContent::Parts(std::iter::once(text).chain(pictures).collect()),
        });
    }
}

fn wire_call<'a>(
    call: &'a ToolCall,
    extra_content: Option<&'a Value>,
    options: RequestOptions<'_>,
) -> ChatCall<'a> {
    let (name, arguments) = (legal_name(&call.name), CallArguments::text(&call.arguments));
    let function = CalledFunction { name, arguments };
    ChatCall { id: call_id(&call.id, options), kind: "function", function, extra_content }
}

/// Returns the id of a call as the server takes it: as it came, unless it refused that.
fn call_id<'a>(id: &'a str, options: RequestOptions<'_>) -> Cow<'a, str> {
    if options.has(STRICT_CALLS) {
        strict_id(id)
    } else if options.has(SHORT_IDS) {
        legal_id(id, ID_LIMIT_BYTES)
    } else {
        Cow::Borrowed(id)
    }
}

#[cfg(test)]
mod tests;
