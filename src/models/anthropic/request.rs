//! The body of a Messages request.
//!
//! In: a request and the wishes of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last. The cache is told three places to remember: the end of the
//! system prompt, which covers the tools, and the ends of the last two things the model was told,
//! so that what the request before wrote is what this one reads. It sends nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::ModelRequest;
use crate::profile::Effort;
use crate::transport::images::{Base64, Shown, shown};
use crate::transport::json::Arguments;
use crate::transport::parts::{Part, in_order};
use locum_base::chat::{Message, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// Fewest tokens a model can be told to think for.
const LEAST_BUDGET_TOKENS: u32 = 1024;
/// What stands where a message has nothing to say: none may be empty.
const NOTHING_SAID: &str = "(nothing was said)";

/// What a body depends on besides the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wishes<'a> {
    /// The model's name at the provider.
    pub(super) model: &'a str,
    /// Whose kept parts are sent back.
    pub(super) by: &'a str,
    /// Sampling temperature; not together with thinking.
    pub(super) temperature: Option<f64>,
    /// Most tokens of the reply.
    pub(super) max_output_tokens: u32,
    /// What the model is told about thinking.
    pub(super) thinks: Thinks,
    /// Lets thoughts be dropped that no longer fit what stands before them: a mode or a summary has
    /// taken its place.
    pub(super) bound: bool,
    /// Asks for thoughts in words; newer models keep them to themselves else.
    pub(super) shows_thinking: bool,
    /// Sends thinking back with the conversation.
    pub(super) returns_thinking: bool,
    /// Marks what the cache is to remember.
    pub(super) cached: bool,
    /// Asks for arguments as they are written, not parameter by parameter.
    pub(super) eager_input: bool,
    /// The kinds of images it is shown.
    pub(super) images: &'static [ImageKind],
}

/// What a model is told about thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinks {
    /// Nothing.
    Unsaid,
    /// Not to.
    Off,
    /// As long as it sees fit, and how hard.
    Adaptive(Option<Effort>),
    /// How many tokens.
    Budget(Effort),
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    wishes: Wishes<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mark = wishes.cached.then_some(CacheControl { kind: "ephemeral" });
    let messages = wire_messages(request.messages, wishes, mark);
    let thinking = thinking(wishes).filter(|thinking| {
        !matches!(thinking, Thinking::Enabled { .. })
            || began_with_thinking(request.messages, wishes.by)
    });
    let effort =
        if let Thinks::Adaptive(effort) = wishes.thinks { effort.map(effort_word) } else { None };
    serde_json::to_vec(&Body {
        model: wishes.model,
        max_tokens: wishes.max_output_tokens,
        stream: true,
        temperature: wishes
            .temperature
            .filter(|_| matches!(thinking, None | Some(Thinking::Disabled))),
        thinking,
        output_config: effort.map(|effort| OutputConfig { effort }),
        tools: request.tools.iter().map(|tool| wire_tool(tool, wishes.eager_input)).collect(),
        system: Some(request.system)
            .filter(|system| !system.trim().is_empty())
            .map(|text| [Known::Text { text, cache_control: mark }]),
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Known<'a>; 1]>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Thinking {
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
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    eager_input_streaming: bool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Own(&'a Value),
    Known(Known<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Content::is_empty")]
        content: Content<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<ContentBlock<'a>>),
}

impl Content<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ContentBlock<'a> {
    Text { text: &'a str },
    Image { source: Source<'a> },
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'static str,
    data: Base64<'a>,
}

/// Returns the conversation as messages whose roles alternate: what is said after the answers to
/// calls stands in one message with them.
fn wire_messages<'a>(
    messages: &'a [Message],
    wishes: Wishes<'_>,
    mark: Option<CacheControl>,
) -> Vec<WireMessage<'a>> {
    let mut wire: Vec<WireMessage<'a>> = Vec::with_capacity(messages.len());
    let mut names = Names::default();
    for message in messages {
        let (role, content) = match message {
            Message::User { text } => ("user", vec![said(text)]),
            Message::Assistant { text, calls, kept, .. } => {
                let kept = kept.as_ref().filter(|_| wishes.returns_thinking);
                names.begin();
                let parts = in_order(text, calls, kept, wishes.by);
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
                        .map(|(result, name)| result_block(result, name, wishes.images))
                        .collect(),
                )
            }
        };
        match wire.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            Some(_) | None => wire.push(WireMessage { role, content }),
        }
    }
    for message in &mut wire {
        if message.content.is_empty() {
            message.content.push(said(NOTHING_SAID));
        }
    }
    for message in wire.iter_mut().rev().filter(|message| message.role == "user").take(2) {
        if let Some(Block::Known(
            Known::Text { cache_control, .. } | Known::ToolResult { cache_control, .. },
        )) = message.content.last_mut()
        {
            *cache_control = mark;
        }
    }
    wire
}

fn said(text: &str) -> Block<'_> {
    let text = if text.trim().is_empty() { NOTHING_SAID } else { text };
    Block::Known(Known::Text { text, cache_control: None })
}

fn part_block<'a>(part: Part<'a>, names: &mut Names<'a>) -> Option<Block<'a>> {
    match part {
        Part::Own(own) => Some(Block::Own(own)),
        Part::Text(text, _) => (!text.trim().is_empty())
            .then_some(Block::Known(Known::Text { text, cache_control: None })),
        Part::Call(call, _) => {
            let input = Arguments::new(&call.arguments);
            let name =
                if call.name.is_empty() { Cow::Borrowed("unnamed") } else { plain(&call.name) };
            Some(Block::Known(Known::ToolUse { id: names.give(&call.id), name, input }))
        }
    }
}

fn result_block<'a>(
    result: &'a ToolResult,
    name: Option<Cow<'a, str>>,
    kinds: &'static [ImageKind],
) -> Block<'a> {
    let tool_use_id = name.unwrap_or_else(|| plain(&result.call_id));
    let content = if result.images.is_empty() {
        Content::Text(&result.text)
    } else {
        let text =
            (!result.text.trim().is_empty()).then_some(ContentBlock::Text { text: &result.text });
        Content::Blocks(
            text.into_iter().chain(shown(&result.images, kinds).map(content_block)).collect(),
        )
    };
    Block::Known(Known::ToolResult {
        tool_use_id,
        content,
        is_error: result.is_error,
        cache_control: None,
    })
}

fn content_block(shown: Shown<'_>) -> ContentBlock<'_> {
    match shown {
        Shown::Words(text) => ContentBlock::Text { text },
        Shown::Picture(picture) => ContentBlock::Image {
            source: Source {
                kind: "base64",
                media_type: picture.media_type(),
                data: picture.base64(),
            },
        },
    }
}

fn wire_tool(tool: &ToolSpec, eager_input_streaming: bool) -> WireTool<'_> {
    WireTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
        eager_input_streaming,
    }
}

/// Names of calls as this protocol wants them: of few letters, and none twice in a conversation.
/// Those of other providers may be neither.
#[derive(Default)]
struct Names<'a> {
    taken: BTreeSet<Cow<'a, str>>,
    /// Those of the last reply, in order.
    given: Vec<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    fn begin(&mut self) {
        self.given.clear();
    }

    fn give(&mut self, id: &'a str) -> Cow<'a, str> {
        let mut name = plain(id);
        while name.is_empty() || !self.taken.insert(name.clone()) {
            name = Cow::Owned(format!("{name}_{}", self.taken.len()));
        }
        self.given.push(name.clone());
        name
    }
}

fn plain(name: &str) -> Cow<'_, str> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.chars().all(fits) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.replace(|letter| !fits(letter), "_"))
    }
}

fn thinking(wishes: Wishes<'_>) -> Option<Thinking> {
    let effort = match wishes.thinks {
        Thinks::Unsaid => return None,
        Thinks::Off => return Some(Thinking::Disabled),
        Thinks::Adaptive(_) => {
            return Some(Thinking::Adaptive {
                display: wishes.shows_thinking.then_some("summarized"),
                block_binding: wishes
                    .bound
                    .then_some(BlockBinding { prefix_mismatch_behavior: "drop_block" }),
            });
        }
        Thinks::Budget(effort) => effort,
    };
    let wanted = match effort {
        Effort::None | Effort::Minimal => LEAST_BUDGET_TOKENS,
        Effort::Low => 4096,
        Effort::Medium => 10_000,
        Effort::High => 20_000,
        Effort::Xhigh | Effort::Max => 31_999,
    };
    // Thoughts are part of the reply, which needs room for words too.
    let budget_tokens = wanted.min(wishes.max_output_tokens.saturating_sub(LEAST_BUDGET_TOKENS));
    (budget_tokens >= LEAST_BUDGET_TOKENS).then_some(Thinking::Enabled { budget_tokens })
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

/// Returns false when the model has called tools since it was last told something and its thoughts
/// before the first call are not there: then it cannot go on thinking (another model may have
/// begun, or a thought may have held a secret).
fn began_with_thinking(messages: &[Message], by: &str) -> bool {
    let told = messages.iter().enumerate().rev().find(|(at, message)| {
        matches!(message, Message::User { .. })
            && !matches!(
                at.checked_sub(1).and_then(|before| messages.get(before)),
                Some(Message::Tool { .. })
            )
    });
    let first = messages
        .iter()
        .skip(told.map_or(0, |(at, _)| at + 1))
        .find(|message| matches!(message, Message::Assistant { .. }));
    match first {
        Some(Message::Assistant { text, calls, kept, .. }) => {
            calls.is_empty()
                || matches!(in_order(text, calls, kept.as_ref(), by).first(), Some(Part::Own(_)))
        }
        Some(Message::User { .. } | Message::Tool { .. }) | None => true,
    }
}

#[cfg(test)]
mod tests;
