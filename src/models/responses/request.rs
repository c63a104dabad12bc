//! The body of a Responses request.
//!
//! In: a request and the options of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last, as items: what was said, calls, answers, and reasoning
//! just as it came. It sends nothing.

use std::borrow::Cow;
use std::slice;

use serde::Serialize;
use serde_json::Value;

use crate::chat_completions::names::{legal_id, legal_name};
use crate::profile::Effort;
use crate::responses::{NO_EFFORT, NO_ENCRYPTED, NO_LIMIT, NO_STORE, NO_TEMPERATURE};
use crate::transport::images::{DataUri, SentImage, sent_images};
use crate::transport::json::CallArguments;
use crate::transport::parts::{ReplyPart, reply_parts};
use crate::transport::protocol::RequestOptions;
use crate::{ImageRequest, ModelRequest};
use locum_base::chat::{Message, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// Longest id of a call that OpenAI takes in this protocol ("string too long. Expected a string
/// with maximum length 64").
const ID_LIMIT_BYTES: usize = 64;

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    options: RequestOptions<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut input = Vec::with_capacity(request.messages.len());
    for message in request.messages {
        push_items(&mut input, message, options);
    }
    if let (Some(InputItem::Known(KnownItem::Message { content, .. })), Some(from)) =
        (input.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        content.extend(sent_images(slice::from_ref(from), &ImageKind::ALL).map(MessagePart::of));
    }
    serde_json::to_vec(&ResponsesBody {
        model: options.model,
        stream: options.stream,
        store: (!options.has(NO_STORE)).then_some(false),
        include: (!options.has(NO_ENCRYPTED)).then_some(["reasoning.encrypted_content"]),
        temperature: options.temperature.filter(|_| !options.has(NO_TEMPERATURE)),
        max_output_tokens: options.max_output_tokens.filter(|_| !options.has(NO_LIMIT)),
        reasoning: options
            .effort
            .filter(|_| !options.has(NO_EFFORT))
            .map(|effort| Reasoning { effort }),
        tools: request
            .tools
            .iter()
            .map(|tool| ResponsesTool::Function { tool, strict: false })
            .chain(request.picture.map(image_tool))
            .collect(),
        tool_choice: request.picture.map(|_| ResponsesToolChoice {}),
        instructions: Some(request.system).filter(|system| !system.is_empty()),
        input,
    })
}

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ResponsesToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<InputItem<'a>>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: Effort,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "image_generation")]
struct ResponsesToolChoice {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsesTool<'a> {
    Function {
        #[serde(flatten)]
        tool: &'a ToolSpec,
        strict: bool,
    },
    /// The provider's own tool that generates images (OpenAI API, "Image generation": the tool of
    /// the Responses API).
    ImageGeneration {
        #[serde(skip_serializing_if = "Option::is_none")]
        output_format: Option<&'static str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum InputItem<'a> {
    Own(&'a Value),
    Known(KnownItem<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KnownItem<'a> {
    Message {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a Value>,
        content: Vec<MessagePart<'a>>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: CallOutput<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum CallOutput<'a> {
    Text(&'a str),
    Parts(Vec<MessagePart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessagePart<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
    InputImage { image_url: DataUri<'a> },
}

impl<'a> MessagePart<'a> {
    fn of(shown: SentImage<'a>) -> Self {
        match shown {
            SentImage::Note(text) => Self::InputText { text },
            SentImage::Image(picture) => Self::InputImage { image_url: DataUri(picture) },
        }
    }
}

fn push_items<'a>(
    input: &mut Vec<InputItem<'a>>,
    message: &'a Message,
    options: RequestOptions<'_>,
) {
    match message {
        Message::User { text } => input.push(words("user", text, None)),
        Message::Images { images } => {
            let parts = sent_images(images, options.images).map(MessagePart::of);
            match input.last_mut() {
                Some(InputItem::Known(KnownItem::Message { role: "user", content, .. })) => {
                    content.extend(parts);
                }
                Some(_) | None => {
                    let (role, phase, content) = ("user", None, parts.collect());
                    input.push(InputItem::Known(KnownItem::Message { role, phase, content }));
                }
            }
        }
        Message::Assistant { text, calls, opaque, .. } => {
            let opaque = opaque.as_ref().filter(|_| !options.has(NO_ENCRYPTED));
            let parts = reply_parts(text, calls, opaque, options.by);
            if parts.is_empty() {
                input.push(words("assistant", "", None));
            }
            input.extend(parts.into_iter().filter_map(item));
        }
        Message::Tool { results } => {
            let item = |result: &'a ToolResult| KnownItem::FunctionCallOutput {
                call_id: legal_id(&result.call_id, ID_LIMIT_BYTES),
                output: output(result, options.images),
            };
            input.extend(results.iter().map(item).map(InputItem::Known));
        }
    }
}

fn output<'a>(result: &'a ToolResult, kinds: &'static [ImageKind]) -> CallOutput<'a> {
    if result.images.is_empty() {
        return CallOutput::Text(&result.text);
    }
    let images = sent_images(&result.images, kinds).map(MessagePart::of);
    CallOutput::Parts(
        std::iter::once(MessagePart::InputText { text: &result.text }).chain(images).collect(),
    )
}

fn item(part: ReplyPart<'_>) -> Option<InputItem<'_>> {
    match part {
        ReplyPart::Own(own) => Some(InputItem::Own(own)),
        ReplyPart::Text(text, seal) => {
            (!text.is_empty()).then(|| words("assistant", text, seal.get("phase")))
        }
        ReplyPart::Call(call, _) => {
            let arguments = CallArguments::text(&call.arguments);
            Some(InputItem::Known(KnownItem::FunctionCall {
                call_id: legal_id(&call.id, ID_LIMIT_BYTES),
                name: legal_name(&call.name),
                arguments,
            }))
        }
    }
}

fn words<'a>(role: &'static str, text: &'a str, phase: Option<&'a Value>) -> InputItem<'a> {
    let content = vec![if role == "user" {
        MessagePart::InputText { text }
    } else {
        MessagePart::OutputText { text }
    }];
    InputItem::Known(KnownItem::Message { role, phase, content })
}

fn image_tool(wish: ImageRequest<'_>) -> ResponsesTool<'static> {
    let output_format = match wish.kind {
        ImageKind::Png | ImageKind::Jpeg | ImageKind::Webp => Some(wish.kind.as_str()),
        ImageKind::Gif => None,
    };
    ResponsesTool::ImageGeneration { output_format }
}

#[cfg(test)]
mod tests;
