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
use crate::wire::images::{Base64, Shown, shown};
use crate::wire::json::Arguments;
use crate::wire::parts::{Part, in_order};
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
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{Thinks, Wishes, render_body};
    use crate::ModelRequest;
    use crate::profile::Effort;
    use locum_base::chat::{Kept, KeptPart, Message, ToolCall, ToolResult, ToolSpec};
    use locum_base::image::ImageKind;
    use locum_testing::images::answer;

    const WISHES: Wishes<'static> = Wishes {
        model: "m",
        by: "me",
        temperature: None,
        max_output_tokens: 9000,
        thinks: Thinks::Unsaid,
        bound: false,
        shows_thinking: false,
        returns_thinking: true,
        cached: false,
        eager_input: false,
        images: &[],
    };

    fn written(messages: &[Message], wishes: Wishes<'_>) -> String {
        let tools = [ToolSpec {
            name: "read_file".into(),
            description: "reads".into(),
            parameters: json!({ "type": "object" }),
        }];
        let request =
            ModelRequest { system: "be brief", tools: &tools, ..ModelRequest::with(messages) };
        String::from_utf8(render_body(&request, wishes).unwrap()).unwrap()
    }

    fn body(messages: &[Message], wishes: Wishes<'_>) -> Value {
        serde_json::from_str(&written(messages, wishes)).unwrap()
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn called(calls: &[(&str, &str)], kept: Option<Kept>) -> Message {
        let call = |(id, arguments): &(&str, &str)| ToolCall {
            id: (*id).into(),
            name: "read_file".into(),
            arguments: (*arguments).into(),
        };
        Message::Assistant {
            text: String::new(),
            reasoning: "hm".into(),
            calls: calls.iter().map(call).collect(),
            kept,
        }
    }

    fn answered(ids: &[&str]) -> Message {
        let result = |id: &&str| ToolResult {
            call_id: (*id).into(),
            text: format!("result {id}"),
            ..ToolResult::default()
        };
        Message::Tool { results: ids.iter().map(result).collect() }
    }

    fn thought(by: &str) -> Option<Kept> {
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
        Some(Kept {
            by: by.into(),
            parts: vec![KeptPart::Own(thinking), KeptPart::Call { seal: Value::Null }],
        })
    }

    #[test]
    fn images_stand_in_the_answer() {
        let messages = [
            user("go"),
            called(&[("a", "{}")], None),
            Message::Tool { results: vec![answer("a")] },
        ];
        let seen = written(&messages, Wishes { images: &ImageKind::ALL, ..WISHES });
        let expected = concat!(
            r#""content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"File: a"},"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}},"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAgADAAAAAAA="}},"#,
            r#"{"type":"text","text":"(An image stood here that is gone. Look at it again to see it.)"}]}]"#,
        );
        assert!(seen.contains(expected), "{seen}");
        let unseen = written(&messages, WISHES);
        assert!(
            unseen.contains(r#"{"type":"text","text":"(An image stands here that this model cannot be shown.)"}"#)
                && !unseen.contains("iVBOR"),
            "{unseen}"
        );
    }

    #[test]
    fn has_one_shape() {
        let messages = [
            user("go"),
            called(&[("a", r#"{"path":"x","line":1.0}"#), ("b", "{ broken")], None),
            Message::Tool {
                results: vec![
                    ToolResult {
                        call_id: "a".into(),
                        text: "result a".into(),
                        ..ToolResult::default()
                    },
                    ToolResult {
                        call_id: "b".into(),
                        text: String::new(),
                        is_error: true,
                        ..ToolResult::default()
                    },
                ],
            },
            user("hurry"),
        ];
        assert_eq!(
            written(
                &messages,
                Wishes { cached: true, eager_input: true, temperature: Some(0.5), ..WISHES }
            ),
            concat!(
                r#"{"model":"m","max_tokens":9000,"stream":true,"temperature":0.5,"#,
                r#""tools":[{"name":"read_file","description":"reads","input_schema":{"type":"object"},"eager_input_streaming":true}],"#,
                r#""system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"#,
                r#""messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},"#,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read_file","input":{"path":"x","line":1.0}},"#,
                r#"{"type":"tool_use","id":"b","name":"read_file","input":{"not_an_object":"{ broken"}}]},"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"result a"},"#,
                r#"{"type":"tool_result","tool_use_id":"b","is_error":true},"#,
                r#"{"type":"text","text":"hurry","cache_control":{"type":"ephemeral"}}]}]}"#,
            )
        );
    }

    #[test]
    fn the_cache_is_asked_for_what_the_request_before_wrote() {
        let mut messages = vec![user("go")];
        let marked = |messages: &[Message]| -> Vec<usize> {
            let body = body(messages, Wishes { cached: true, ..WISHES });
            let has = |message: &Value| {
                message["content"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|block| block.get("cache_control").is_some())
            };
            body["messages"]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
                .filter(|(_, message)| has(message))
                .map(|(at, _)| at)
                .collect()
        };
        let mut before = marked(&messages);
        for turn in 0..5 {
            let id = format!("c{turn}");
            messages.extend([called(&[(&id, "{}")], None), answered(&[&id])]);
            let now = marked(&messages);
            assert!(
                now.len() <= 3 && before.last().is_some_and(|last| now.contains(last)),
                "{before:?} {now:?}"
            );
            before = now;
        }
    }

    /// What a server's cache does with requests: an entry is written at every mark, and from every
    /// mark it looks for one at most 20 blocks back (Claude API, "Prompt caching"). Returns how
    /// many blocks of the conversation each request found there.
    fn found_in_cache(requests: &[Value]) -> Vec<usize> {
        const LOOK_BACK: usize = 20;
        let mut entries: Vec<Vec<Value>> = Vec::new();
        let mut found = Vec::new();
        for request in requests {
            let blocks: Vec<&Value> = request["messages"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|message| message["content"].as_array().unwrap())
                .collect();
            let plain = |block: &Value| {
                let mut block = block.clone();
                block.as_object_mut().unwrap().remove("cache_control");
                block
            };
            let bare: Vec<Value> = blocks.iter().map(|block| plain(block)).collect();
            let marks: Vec<usize> = (1..=blocks.len())
                .filter(|end| blocks[end - 1].get("cache_control").is_some())
                .collect();
            assert!(
                marks.len() <= 3,
                "one more stands on the system prompt, and there are four: {marks:?}"
            );
            let looked = marks.iter().flat_map(|end| end.saturating_sub(LOOK_BACK)..=*end).rev();
            found.push(
                looked
                    .filter(|end| entries.iter().any(|entry| *entry == bare[..*end]))
                    .max()
                    .unwrap_or(0),
            );
            entries.extend(marks.iter().map(|end| bare[..*end].to_vec()));
        }
        found
    }

    #[test]
    fn many_calls_in_one_reply_do_not_hide_what_is_cached() {
        let mut messages = vec![user("go")];
        let (mut requests, mut told) = (Vec::new(), Vec::new());
        for (turn, calls) in [1, 30, 2, 40, 40, 1, 30].into_iter().enumerate() {
            let wishes = Wishes { cached: true, ..WISHES };
            requests.push(body(&messages, wishes));
            told.push(
                requests[turn]["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|message| message["content"].as_array().unwrap().len())
                    .sum(),
            );
            let ids: Vec<String> = (0..calls).map(|at| format!("c{turn}-{at}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let pairs: Vec<(&str, &str)> = ids.iter().map(|id| (*id, "{}")).collect();
            messages.extend([called(&pairs, None), answered(&ids)]);
            if turn == 3 {
                messages.push(user("and this"));
            }
        }
        let before: Vec<usize> =
            std::iter::once(0).chain(told[..told.len() - 1].iter().copied()).collect();
        assert_eq!(
            found_in_cache(&requests),
            before,
            "each request finds all that the one before it held"
        );
    }

    #[test]
    fn thinking_is_returned_unchanged_to_its_own_model_and_to_no_other() {
        let wishes =
            Wishes { thinks: Thinks::Budget(Effort::High), temperature: Some(0.5), ..WISHES };
        let messages =
            |by: &str| [user("go"), called(&[("a", "{}")], thought(by)), answered(&["a"])];
        let own = body(&messages("me"), wishes);
        assert_eq!(
            own["messages"][1]["content"][0],
            json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" })
        );
        assert_eq!(
            (&own["thinking"], own.get("temperature")),
            (&json!({ "type": "enabled", "budget_tokens": 7976 }), None)
        );
        let other = body(&messages("another"), wishes);
        assert_eq!(other["messages"][1]["content"][0]["type"], "tool_use");
        assert_eq!(other.get("thinking"), None, "a model cannot think on where another began");
        let again = [messages("another").as_slice(), &[user("more")]].concat();
        assert_eq!(
            body(&again, wishes).get("thinking"),
            None,
            "what is said with the answers begins nothing new"
        );
        let anew = [messages("another").as_slice(), &[called(&[], None), user("more")]].concat();
        assert!(body(&anew, wishes).get("thinking").is_some());
        let plain = body(
            &messages("me"),
            Wishes { returns_thinking: false, thinks: Thinks::Unsaid, ..wishes },
        );
        assert_eq!(plain["messages"][1]["content"][0]["type"], "tool_use");
    }

    #[test]
    fn thinks_as_hard_as_it_is_told() {
        let body = |thinks, max_output_tokens| {
            body(&[user("go")], Wishes { thinks, max_output_tokens, ..WISHES })
        };
        let adaptive = |effort| body(Thinks::Adaptive(effort), 9000);
        assert_eq!(adaptive(Some(Effort::High))["thinking"], json!({ "type": "adaptive" }));
        assert_eq!(adaptive(Some(Effort::Xhigh))["output_config"], json!({ "effort": "xhigh" }));
        assert_eq!(
            (adaptive(None).get("output_config"), &adaptive(Some(Effort::None))["output_config"]),
            (None, &json!({ "effort": "low" }))
        );
        assert_eq!(body(Thinks::Budget(Effort::Low), 9000)["thinking"]["budget_tokens"], 4096);
        assert_eq!(
            body(Thinks::Budget(Effort::High), 2000).get("thinking"),
            None,
            "there is no room for thoughts and words"
        );
        assert_eq!(
            (body(Thinks::Unsaid, 9000).get("thinking"), &body(Thinks::Off, 9000)["thinking"]),
            (None, &json!({ "type": "disabled" }))
        );
    }

    #[test]
    fn thoughts_are_asked_for_in_words_and_may_be_dropped_where_they_are_bound() {
        let wishes = Wishes { thinks: Thinks::Adaptive(None), shows_thinking: true, ..WISHES };
        let thinking = |wishes| written(&[user("go")], wishes);
        assert!(
            thinking(wishes).contains(r#""thinking":{"type":"adaptive","display":"summarized"},"#)
        );
        let bound = r#""thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"#;
        assert!(thinking(Wishes { bound: true, ..wishes }).contains(bound));
    }

    #[test]
    fn names_of_calls_are_fitting_and_none_comes_twice() {
        let messages = [
            user("go"),
            called(&[("a:1", "{}"), ("b", "{}")], None),
            answered(&["a:1", "b"]),
            called(&[("b", "{}")], None),
            answered(&["b"]),
        ];
        let body = body(&messages, WISHES);
        let ids = |at: usize, key: &str| -> Vec<String> {
            body["messages"][at]["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block[key].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            (ids(1, "id"), ids(2, "tool_use_id")),
            (vec!["a_1".into(), "b".into()], vec!["a_1".into(), "b".into()])
        );
        assert_eq!(
            (ids(3, "id"), ids(4, "tool_use_id")),
            (vec!["b_2".to_owned()], vec!["b_2".to_owned()])
        );
    }

    #[test]
    fn nothing_is_sent_empty() {
        let silent = Message::Assistant {
            text: " \n".into(),
            reasoning: String::new(),
            calls: vec![],
            kept: None,
        };
        let body = body(&[user(""), silent, user("on")], WISHES);
        assert_eq!(body["messages"][0]["content"][0]["text"], "(nothing was said)");
        assert_eq!(body["messages"][1]["content"][0]["text"], "(nothing was said)");
    }

    #[test]
    fn a_longer_conversation_begins_with_the_shorter_one() {
        let messages = [
            user("go"),
            called(&[("a", "{}")], thought("me")),
            answered(&["a"]),
            called(&[("b", "{}")], None),
            answered(&["b"]),
        ];
        let shorter = written(&messages[..3], WISHES);
        assert!(written(&messages, WISHES).starts_with(shorter.strip_suffix("]}").unwrap()));
    }
}
