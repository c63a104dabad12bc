//! The body of a Messages request.
//!
//! In: a request and the options of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last. It marks three places for the cache: the end of the system
//! prompt, which covers the tools, and the ends of the last two user messages. So what one request
//! wrote to the cache is what the next one reads.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::ModelRequest;
use crate::anthropic::{
    BARE_THINKING, LATE_INPUT, NO_TEMPERATURE, OUTPUT_LIMIT_TOKENS, PLAIN, UNCACHED, is_bound,
    thinks,
};
use crate::chat_completions::names::legal_letters;
use crate::profile::{Effort, LEAST_THINKING_TOKENS};
use crate::transport::images::{Base64, EncodedImage, SentImage, sent_images};
use crate::transport::json::CallArguments;
use crate::transport::parts::{ReplyPart, reply_parts};
use crate::transport::protocol::RequestOptions;
use locum_base::chat::{Message, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// What stands where a message has nothing to say: none may be empty.
const NOTHING_SAID: &str = "(nothing was said)";

/// What a request says about thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingMode {
    /// The field is left out.
    Unsaid,
    /// Thinking is switched off.
    Off,
    /// As long as it sees fit, and how hard.
    Adaptive(Option<Effort>),
    /// A budget of tokens.
    Budget(u32),
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    options: RequestOptions<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mark = (!options.has(UNCACHED)).then_some(CacheControl { kind: "ephemeral" });
    let messages = wire_messages(request.messages, options, mark);
    let max_tokens = options.max_output_tokens.unwrap_or(OUTPUT_LIMIT_TOKENS);
    let has_early_input = options.stream && !options.has(LATE_INPUT);
    let thinks = thinks(options);
    let thinking = thinking(thinks, max_tokens, options).filter(|thinking| {
        !matches!(thinking, MessagesThinking::Enabled { .. })
            || began_with_thinking(request.messages, options.by)
    });
    let effort = if let ThinkingMode::Adaptive(effort) = thinks { effort } else { None };
    serde_json::to_vec(&MessagesBody {
        model: options.model,
        max_tokens,
        stream: options.stream,
        temperature: options
            .temperature
            .filter(|_| !options.has(NO_TEMPERATURE))
            .filter(|_| matches!(thinking, None | Some(MessagesThinking::Disabled))),
        thinking,
        output_config: effort.map(|effort| OutputConfig { effort: effort_word(effort) }),
        tools: request.tools.iter().map(|tool| wire_tool(tool, has_early_input)).collect(),
        system: Some(request.system)
            .filter(|system| !system.trim().is_empty())
            .map(|text| [KnownBlock::Text { text, cache_control: mark }]),
        messages,
    })
}

#[derive(Serialize)]
struct MessagesBody<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<MessagesThinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<MessagesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[KnownBlock<'a>; 1]>,
    messages: Vec<MessagesMessage<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum MessagesThinking {
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<BlockBinding>,
    },
    Enabled {
        budget_tokens: u32,
    },
    Disabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct MessagesTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    eager_input_streaming: bool,
}

#[derive(Serialize)]
struct MessagesMessage<'a> {
    role: &'static str,
    content: Vec<MessageBlock<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageBlock<'a> {
    Own(&'a Value),
    Known(KnownBlock<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KnownBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: CallArguments<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<ResultContent<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultContent<'a> {
    Text(&'a str),
    Blocks(Vec<ResultBlock<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ResultBlock<'a> {
    Text { text: &'a str },
    Image { source: ImageSource<'a> },
}

#[derive(Serialize)]
struct ImageSource<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'static str,
    data: Base64<'a>,
}

/// Returns the conversation as messages whose roles alternate: what is said after the answers to
/// calls stands in one message with them.
fn wire_messages<'a>(
    messages: &'a [Message],
    options: RequestOptions<'_>,
    mark: Option<CacheControl>,
) -> Vec<MessagesMessage<'a>> {
    let mut wire: Vec<MessagesMessage<'a>> = Vec::with_capacity(messages.len());
    let mut names = CallIds::default();
    for message in messages {
        let (role, content) = match message {
            Message::User { text } => ("user", vec![said(text)]),
            Message::Images { images } => {
                ("user", sent_images(images, options.images).map(image_block).collect())
            }
            Message::Assistant { text, calls, opaque, .. } => {
                let opaque = opaque.as_ref().filter(|_| !options.has(PLAIN));
                names.begin();
                let parts = reply_parts(text, calls, opaque, options.by);
                (
                    "assistant",
                    parts.into_iter().filter_map(|part| part_block(part, &mut names)).collect(),
                )
            }
            Message::Tool { results } => {
                let names = names.given.iter().cloned().map(Some).chain(std::iter::repeat(None));
                (
                    "user",
                    results
                        .iter()
                        .zip(names)
                        .map(|(result, name)| result_block(result, name, options.images))
                        .collect(),
                )
            }
        };
        match wire.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            Some(_) | None => wire.push(MessagesMessage { role, content }),
        }
    }
    for message in &mut wire {
        if message.content.is_empty() {
            message.content.push(said(NOTHING_SAID));
        }
    }
    for message in wire.iter_mut().rev().filter(|message| message.role == "user").take(2) {
        if let Some(MessageBlock::Known(
            KnownBlock::Text { cache_control, .. }
            | KnownBlock::Image { cache_control, .. }
            | KnownBlock::ToolResult { cache_control, .. },
        )) = message.content.last_mut()
        {
            *cache_control = mark;
        }
    }
    wire
}

fn said(text: &str) -> MessageBlock<'_> {
    let text = if text.trim().is_empty() { NOTHING_SAID } else { text };
    MessageBlock::Known(KnownBlock::Text { text, cache_control: None })
}

fn part_block<'a>(part: ReplyPart<'a>, names: &mut CallIds<'a>) -> Option<MessageBlock<'a>> {
    match part {
        ReplyPart::Own(own) => Some(MessageBlock::Own(own)),
        ReplyPart::Text(text, _) => (!text.trim().is_empty())
            .then_some(MessageBlock::Known(KnownBlock::Text { text, cache_control: None })),
        ReplyPart::Call(call, _) => {
            let input = CallArguments::new(&call.arguments);
            let name = if call.name.is_empty() {
                Cow::Borrowed("unnamed")
            } else {
                legal_letters(&call.name)
            };
            Some(MessageBlock::Known(KnownBlock::ToolUse { id: names.give(&call.id), name, input }))
        }
    }
}

fn result_block<'a>(
    result: &'a ToolResult,
    name: Option<Cow<'a, str>>,
    kinds: &'static [ImageKind],
) -> MessageBlock<'a> {
    let tool_use_id = name.unwrap_or_else(|| legal_letters(&result.call_id));
    let content = if result.images.is_empty() {
        Some(ResultContent::Text(&result.text)).filter(|_| !result.text.is_empty())
    } else {
        let text =
            (!result.text.trim().is_empty()).then_some(ResultBlock::Text { text: &result.text });
        let images = sent_images(&result.images, kinds).map(content_block);
        Some(ResultContent::Blocks(text.into_iter().chain(images).collect()))
    };
    MessageBlock::Known(KnownBlock::ToolResult {
        tool_use_id,
        content,
        is_error: result.is_error,
        cache_control: None,
    })
}

fn content_block(shown: SentImage<'_>) -> ResultBlock<'_> {
    match shown {
        SentImage::Note(text) => ResultBlock::Text { text },
        SentImage::Image(picture) => ResultBlock::Image { source: source(picture) },
    }
}

fn image_block(shown: SentImage<'_>) -> MessageBlock<'_> {
    MessageBlock::Known(match shown {
        SentImage::Note(text) => KnownBlock::Text { text, cache_control: None },
        SentImage::Image(picture) => {
            KnownBlock::Image { source: source(picture), cache_control: None }
        }
    })
}

fn source(picture: EncodedImage<'_>) -> ImageSource<'_> {
    ImageSource {
        kind: "base64",
        media_type: picture.kind.media_type(),
        data: Base64(picture.bytes),
    }
}

fn wire_tool(tool: &ToolSpec, eager_input_streaming: bool) -> MessagesTool<'_> {
    MessagesTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
        eager_input_streaming,
    }
}

/// Ids of calls as this protocol wants them: of few letters, and none twice in a conversation.
/// Those of other providers may be neither.
#[derive(Default)]
struct CallIds<'a> {
    taken: BTreeSet<Cow<'a, str>>,
    /// Those of the last reply, in order.
    given: Vec<Cow<'a, str>>,
}

impl<'a> CallIds<'a> {
    fn begin(&mut self) {
        self.given.clear();
    }

    fn give(&mut self, id: &'a str) -> Cow<'a, str> {
        let mut name = legal_letters(id);
        while name.is_empty() || !self.taken.insert(name.clone()) {
            name = Cow::Owned(format!("{name}_{}", self.taken.len()));
        }
        self.given.push(name.clone());
        name
    }
}

fn thinking(
    thinks: ThinkingMode,
    max_tokens: u32,
    options: RequestOptions<'_>,
) -> Option<MessagesThinking> {
    let wanted = match thinks {
        ThinkingMode::Unsaid => return None,
        ThinkingMode::Off => return Some(MessagesThinking::Disabled),
        ThinkingMode::Adaptive(_) => {
            return Some(MessagesThinking::Adaptive {
                display: (!options.has(BARE_THINKING)).then_some("summarized"),
                block_binding: is_bound(options.model, options.dialect)
                    .then_some(BlockBinding { prefix_mismatch_behavior: "drop_block" }),
            });
        }
        ThinkingMode::Budget(tokens) => tokens,
    };
    // Thoughts are part of the reply, which needs room for words too.
    let budget_tokens = wanted.min(max_tokens.saturating_sub(LEAST_THINKING_TOKENS));
    (budget_tokens >= LEAST_THINKING_TOKENS).then_some(MessagesThinking::Enabled { budget_tokens })
}

fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

/// Returns false when the model has called tools since the last user message and its thoughts
/// before the first call are missing. Then it cannot continue thinking: another model may have
/// begun, or a thought may have held a secret.
fn began_with_thinking(messages: &[Message], by: &str) -> bool {
    let last_user = messages.iter().enumerate().rev().find(|(at, message)| {
        matches!(message, Message::User { .. })
            && !matches!(
                at.checked_sub(1).and_then(|before| messages.get(before)),
                Some(Message::Tool { .. })
            )
    });
    let first = messages
        .iter()
        .skip(last_user.map_or(0, |(at, _)| at + 1))
        .find(|message| matches!(message, Message::Assistant { .. }));
    match first {
        Some(Message::Assistant { text, calls, opaque, .. }) => {
            calls.is_empty()
                || matches!(
                    reply_parts(text, calls, opaque.as_ref(), by).first(),
                    Some(ReplyPart::Own(_))
                )
        }
        Some(Message::User { .. } | Message::Images { .. } | Message::Tool { .. }) | None => true,
    }
}

#[cfg(test)]
mod tests;
