//! The body of a Responses request.
//!
//! In: a request and the wishes of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last, as items: what was said, calls, answers, and reasoning
//! just as it came. It sends nothing.

use std::borrow::Cow;
use std::slice;

use serde::Serialize;
use serde_json::Value;

use crate::profile::Effort;
use crate::transport::images::{DataUri, Shown, shown};
use crate::transport::json::Arguments;
use crate::transport::parts::{Part, in_order};
use crate::{ModelRequest, PictureWish};
use locum_base::chat::{Message, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// What a body depends on besides the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wishes<'a> {
    /// The model's name at the provider.
    pub(super) model: &'a str,
    /// Whose kept parts are sent back.
    pub(super) by: &'a str,
    /// Sampling temperature.
    pub(super) temperature: Option<f64>,
    /// Most tokens of the reply, reasoning included.
    pub(super) max_output_tokens: Option<u32>,
    /// How hard to think; the provider's default when absent.
    pub(super) effort: Option<Effort>,
    /// Asks for encrypted reasoning and sends it back.
    pub(super) encrypted: bool,
    /// Says that nothing is to be stored.
    pub(super) says_store: bool,
    /// The kinds of images it is shown.
    pub(super) images: &'static [ImageKind],
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    wishes: Wishes<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut input = Vec::with_capacity(request.messages.len());
    for message in request.messages {
        push_items(&mut input, message, wishes);
    }
    if let (Some(Item::Known(Known::Message { content, .. })), Some(from)) =
        (input.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        content.extend(shown(slice::from_ref(from), &ImageKind::ALL).map(Said::of));
    }
    serde_json::to_vec(&Body {
        model: wishes.model,
        stream: true,
        store: wishes.says_store.then_some(false),
        include: wishes.encrypted.then_some(["reasoning.encrypted_content"]),
        temperature: wishes.temperature,
        max_output_tokens: wishes.max_output_tokens,
        reasoning: wishes.effort.map(|effort| Reasoning { effort }),
        tools: request.tools.iter().map(wire_tool).chain(request.picture.map(painting)).collect(),
        tool_choice: request.picture.map(|_| Choice { kind: "image_generation" }),
        instructions: Some(request.system).filter(|system| !system.is_empty()),
        input,
    })
}

#[derive(Serialize)]
struct Body<'a> {
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
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: Effort,
}

#[derive(Serialize)]
struct Choice {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireTool<'a> {
    Function {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
        strict: bool,
    },
    /// The provider's own, which draws (OpenAI API, "Image generation": the tool of the Responses
    /// API).
    ImageGeneration {
        #[serde(skip_serializing_if = "Option::is_none")]
        output_format: Option<&'static str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Own(&'a Value),
    Known(Known<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known<'a> {
    Message {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a Value>,
        content: Vec<Said<'a>>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    Parts(Vec<Said<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
    InputImage { image_url: DataUri<'a> },
}

impl<'a> Said<'a> {
    fn of(shown: Shown<'a>) -> Self {
        match shown {
            Shown::Words(text) => Self::InputText { text },
            Shown::Picture(picture) => Self::InputImage { image_url: picture.data_uri() },
        }
    }
}

fn push_items<'a>(input: &mut Vec<Item<'a>>, message: &'a Message, wishes: Wishes<'_>) {
    match message {
        Message::User { text } => input.push(words("user", text, None)),
        Message::Assistant { text, calls, kept, .. } => {
            let kept = kept.as_ref().filter(|_| wishes.encrypted);
            let parts = in_order(text, calls, kept, wishes.by);
            if parts.is_empty() {
                input.push(words("assistant", "", None));
            }
            input.extend(parts.into_iter().filter_map(item));
        }
        Message::Tool { results } => {
            let item = |result: &'a ToolResult| Known::FunctionCallOutput {
                call_id: &result.call_id,
                output: output(result, wishes.images),
            };
            input.extend(results.iter().map(item).map(Item::Known));
        }
    }
}

fn output<'a>(result: &'a ToolResult, kinds: &'static [ImageKind]) -> Output<'a> {
    if result.images.is_empty() {
        return Output::Text(&result.text);
    }
    let images = shown(&result.images, kinds).map(Said::of);
    Output::Parts(std::iter::once(Said::InputText { text: &result.text }).chain(images).collect())
}

fn item(part: Part<'_>) -> Option<Item<'_>> {
    match part {
        Part::Own(own) => Some(Item::Own(own)),
        Part::Text(text, seal) => {
            (!text.is_empty()).then(|| words("assistant", text, seal.get("phase")))
        }
        Part::Call(call, _) => {
            let arguments = Arguments::text(&call.arguments);
            Some(Item::Known(Known::FunctionCall {
                call_id: &call.id,
                name: &call.name,
                arguments,
            }))
        }
    }
}

fn words<'a>(role: &'static str, text: &'a str, phase: Option<&'a Value>) -> Item<'a> {
    let content =
        vec![if role == "user" { Said::InputText { text } } else { Said::OutputText { text } }];
    Item::Known(Known::Message { role, phase, content })
}

fn wire_tool(tool: &ToolSpec) -> WireTool<'_> {
    WireTool::Function {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        strict: false,
    }
}

fn painting(wish: PictureWish<'_>) -> WireTool<'static> {
    let output_format = match wish.kind {
        ImageKind::Png | ImageKind::Jpeg | ImageKind::Webp => Some(wish.kind.as_str()),
        ImageKind::Gif => None,
    };
    WireTool::ImageGeneration { output_format }
}

#[cfg(test)]
mod tests;
