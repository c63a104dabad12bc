//! The body of a Chat Completions request.
//!
//! In: a request and the wishes of profile and host. Out: JSON bytes whose keys always come in one
//! order with the conversation last, so that from turn to turn everything before the new messages
//! stays byte for byte the same and a provider's cache holds. It sends nothing.

use std::borrow::Cow;
use std::slice;

use serde::Serialize;
use serde_json::Value;

use crate::ModelRequest;
use crate::catalogue::HostWays;
use crate::profile::Effort;
use crate::wire::Dialect;
use crate::wire::images::{DataUri, Shown, shown};
use crate::wire::json::Arguments;
use crate::wire::parts::{Part, in_order};
use locum_base::chat::{Message, ToolCall, ToolResult, ToolSpec};
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
    /// Most tokens of one reply, where the request does not say.
    pub(super) max_output_tokens: Option<u32>,
    /// How hard to think; the provider's default when absent.
    pub(super) effort: Option<Effort>,
    /// Whether the model sees images.
    pub(super) sees_images: bool,
    /// What the host is known to want.
    pub(super) ways: &'a HostWays,
    /// How this server wants optional fields.
    pub(super) fields: Fields,
}

impl Wishes<'_> {
    fn returns_reasoning(&self) -> bool {
        self.ways.returns_reasoning || self.fields.has(Fields::RETURNS_REASONING)
    }

    fn strict_calls(&self) -> bool {
        self.ways.strict_calls || self.fields.has(Fields::STRICT_CALLS)
    }
}

/// How a server wants the fields on which compatible servers differ, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(pub(super) Dialect);

impl Fields {
    /// The newer name of the field that limits the reply.
    pub(super) const NEWER_LIMIT: Dialect = 1;
    /// No `stream_options`.
    const NO_STREAM_OPTIONS: Dialect = 1 << 1;
    /// No temperature.
    const NO_TEMPERATURE: Dialect = 1 << 2;
    /// No effort of reasoning.
    const NO_EFFORT: Dialect = 1 << 3;
    /// No images.
    const NO_IMAGES: Dialect = 1 << 4;
    /// The reasoning of replies with calls goes back.
    const RETURNS_REASONING: Dialect = 1 << 5;
    /// Names of calls of nine letters or digits, and nothing said between answers and the reply to
    /// them.
    const STRICT_CALLS: Dialect = 1 << 6;
    /// No thinking where there are tools.
    const UNTHINKING: Dialect = 1 << 7;

    fn has(self, bit: Dialect) -> bool {
        self.0 & bit != 0
    }

    /// Returns the fields to try after a server refused a request with these words; `None` when
    /// they are about something else.
    pub(super) fn corrected(self, status: u16, words: &str) -> Option<Self> {
        let lower = words.to_ascii_lowercase();
        // Whatever is wrong with an image: without it the conversation can go on.
        if matches!(status, 400 | 422) && lower.contains("image") && !self.has(Self::NO_IMAGES) {
            return Some(Self(self.0 | Self::NO_IMAGES));
        }
        // "The `reasoning_content` in the thinking mode must be passed back", "Missing
        // `reasoning_content` field in the assistant message".
        let is_missed = lower.contains("reasoning_content")
            && ["passed back", "missing"].iter().any(|word| lower.contains(word));
        if matches!(status, 400 | 422) && is_missed {
            return (!self.has(Self::RETURNS_REASONING))
                .then_some(Self(self.0 | Self::RETURNS_REASONING));
        }
        // "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "Unexpected
        // role 'user' after role 'tool'".
        let is_strict =
            ["with a length of 9", "after role 'tool'"].iter().any(|words| lower.contains(words));
        if matches!(status, 400 | 422) && is_strict {
            return (!self.has(Self::STRICT_CALLS)).then_some(Self(self.0 | Self::STRICT_CALLS));
        }
        // "Function tools with reasoning_effort are not supported for gpt-6 in
        // /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to
        // 'none'.": also where nothing was said of an effort.
        let is_torn = lower.contains("tools with reasoning_effort");
        if matches!(status, 400 | 422) && is_torn && !self.has(Self::UNTHINKING) {
            return Some(Self(self.0 | Self::UNTHINKING));
        }
        let refused = [
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
        if !matches!(status, 400 | 422) || !refused.iter().any(|word| lower.contains(word)) {
            return None;
        }
        let left_out = [
            ("stream_options", Self::NO_STREAM_OPTIONS),
            ("reasoning_effort", Self::NO_EFFORT),
            ("temperature", Self::NO_TEMPERATURE),
        ];
        if let Some((_, bit)) =
            left_out.into_iter().find(|(field, bit)| !self.has(*bit) && lower.contains(field))
        {
            return Some(Self(self.0 | bit));
        }
        let limit =
            if self.has(Self::NEWER_LIMIT) { "max_completion_tokens" } else { "max_tokens" };
        lower.contains(limit).then_some(Self(self.0 ^ Self::NEWER_LIMIT))
    }
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    wishes: Wishes<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let limit = request.max_output_tokens.or(wishes.max_output_tokens);
    let newer = wishes.fields.has(Fields::NEWER_LIMIT);
    let unthinking = wishes.fields.has(Fields::UNTHINKING) && !request.tools.is_empty();
    let effort = if unthinking { Some(Effort::None) } else { wishes.effort };
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(WireMessage::System { content: request.system });
    }
    for message in request.messages {
        push_message(&mut messages, message, wishes);
    }
    if let (Some(WireMessage::User { content }), Some(from)) =
        (messages.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        content.show(shown(slice::from_ref(from), &ImageKind::ALL).map(content_part));
    }
    serde_json::to_vec(&Body {
        model: wishes.model,
        stream: true,
        stream_options: (!wishes.fields.has(Fields::NO_STREAM_OPTIONS))
            .then_some(StreamOptions { include_usage: true }),
        temperature: wishes.temperature.filter(|_| !wishes.fields.has(Fields::NO_TEMPERATURE)),
        reasoning_effort: effort.filter(|_| !wishes.fields.has(Fields::NO_EFFORT)),
        max_tokens: limit.filter(|_| !newer),
        max_completion_tokens: limit.filter(|_| newer),
        modalities: request.picture.map(|_| ["image", "text"]),
        tools: request.tools.iter().map(wire_tool).collect(),
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
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
    tools: Vec<WireTool<'a>>,
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// Null beside tool calls: some servers refuse an empty text there.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a Value>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Words(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

impl<'a> Content<'a> {
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
    ImageUrl { image_url: Address<'a> },
}

#[derive(Serialize)]
struct Address<'a> {
    url: DataUri<'a>,
}

fn content_part(shown: Shown<'_>) -> ContentPart<'_> {
    match shown {
        Shown::Words(text) => ContentPart::Text { text },
        Shown::Picture(picture) => {
            ContentPart::ImageUrl { image_url: Address { url: picture.data_uri() } }
        }
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireToolFunction<'a>,
}

#[derive(Serialize)]
struct WireToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

fn push_message<'a>(messages: &mut Vec<WireMessage<'a>>, message: &'a Message, wishes: Wishes<'_>) {
    let strict = wishes.strict_calls();
    match message {
        Message::User { text } => match messages.last_mut() {
            // Nothing may stand between answers and the reply to them.
            Some(WireMessage::Tool { content, .. }) if strict => content.add(text),
            Some(_) | None => {
                messages.push(WireMessage::User { content: Content::Words(Cow::Borrowed(text)) })
            }
        },
        Message::Assistant { text, reasoning, calls, kept } => {
            let (mut details, mut tool_calls) = (None, Vec::with_capacity(calls.len()));
            for part in in_order(text, calls, kept.as_ref(), wishes.by) {
                match part {
                    Part::Own(own) => details = own.get("reasoning_details"),
                    Part::Text(..) => {}
                    Part::Call(call, seal) => {
                        tool_calls.push(wire_call(call, seal.get("extra_content"), strict))
                    }
                }
            }
            messages.push(WireMessage::Assistant {
                content: (!text.is_empty() || calls.is_empty()).then_some(text.as_str()),
                // A host that wants it back misses it beside calls even where there was none.
                reasoning_content: Some(reasoning.as_str()).filter(|reasoning| {
                    wishes.returns_reasoning() && !(reasoning.is_empty() && calls.is_empty())
                }),
                reasoning_details: details,
                tool_calls,
            });
        }
        Message::Tool { results } => push_answers(messages, results, wishes),
    }
}

/// Adds the answers to calls. An answer is text in this protocol: images follow in a message of
/// their own, except where a host wants nothing between answers and the reply to them; there they
/// stand in the answer.
fn push_answers<'a>(
    messages: &mut Vec<WireMessage<'a>>,
    results: &'a [ToolResult],
    wishes: Wishes<'_>,
) {
    let strict = wishes.strict_calls();
    let kinds: &'static [ImageKind] = if wishes.sees_images && !wishes.fields.has(Fields::NO_IMAGES)
    {
        &ImageKind::ALL
    } else {
        &[]
    };
    let mut pictures = Vec::new();
    for result in results {
        let mut content = Content::Words(Cow::Borrowed(&result.text));
        if strict && !result.images.is_empty() {
            let text = ContentPart::Text { text: &result.text };
            content = Content::Parts(
                std::iter::once(text)
                    .chain(shown(&result.images, kinds).map(content_part))
                    .collect(),
            );
        } else {
            pictures.extend(shown(&result.images, kinds).map(content_part));
        }
        messages
            .push(WireMessage::Tool { tool_call_id: call_id(&result.call_id, strict), content });
    }
    if !pictures.is_empty() {
        let text = ContentPart::Text { text: "The images of the answers above, in their order:" };
        messages.push(WireMessage::User {
            content: Content::Parts(std::iter::once(text).chain(pictures).collect()),
        });
    }
}

fn wire_call<'a>(
    call: &'a ToolCall,
    extra_content: Option<&'a Value>,
    strict: bool,
) -> WireCall<'a> {
    let function = WireFunction { name: &call.name, arguments: Arguments::text(&call.arguments) };
    WireCall { id: call_id(&call.id, strict), kind: "function", function, extra_content }
}

/// Returns the name of a call; nine letters or digits, always the same ones, where the host takes
/// no other.
fn call_id(id: &str, strict: bool) -> Cow<'_, str> {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    if !strict || (id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        return Cow::Borrowed(id);
    }
    // FNV-1a: short, and the same on every machine.
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut letters = String::with_capacity(9);
    for _ in 0..9 {
        let at = usize::try_from(hash % 36).unwrap_or_default();
        letters.extend(LETTERS.get(at).map(|byte| char::from(*byte)));
        hash /= 36;
    }
    Cow::Owned(letters)
}

fn wire_tool(tool: &ToolSpec) -> WireTool<'_> {
    let function = WireToolFunction {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
    };
    WireTool { kind: "function", function }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{Fields, Wishes, render_body};
    use crate::ModelRequest;
    use crate::catalogue::{HostWays, OutputLimit};
    use crate::profile::Effort;
    use locum_base::chat::{Kept, KeptPart, Message, ToolCall, ToolResult, ToolSpec};
    use locum_testing::images::answer;

    const fn ways(returns_reasoning: bool, strict_calls: bool) -> HostWays {
        HostWays {
            key: String::new(),
            output_limit: OutputLimit::MaxTokens,
            returns_reasoning,
            strict_calls,
        }
    }

    const WAYS: HostWays = ways(false, false);
    const RETURNING: HostWays = ways(true, false);
    const STRICT: HostWays = ways(false, true);

    const WISHES: Wishes<'static> = Wishes {
        model: "m",
        by: "me",
        temperature: None,
        effort: None,
        max_output_tokens: None,
        sees_images: true,
        ways: &WAYS,
        fields: Fields(0),
    };

    fn body(
        messages: &[Message],
        tools: &[ToolSpec],
        wishes: Wishes<'_>,
        limit: Option<u32>,
    ) -> String {
        let request = ModelRequest {
            system: "be brief",
            tools,
            max_output_tokens: limit,
            ..ModelRequest::with(messages)
        };
        String::from_utf8(render_body(&request, wishes).unwrap()).unwrap()
    }

    fn conversation() -> Vec<Message> {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments: arguments.into(),
        };
        vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: String::new(),
                reasoning: "hm".into(),
                calls: vec![call("a", r#"{"path":"x"}"#), call("b", "{ broken")],
                kept: None,
            },
            Message::Tool {
                results: ["a", "b"]
                    .map(|id| ToolResult {
                        call_id: id.into(),
                        text: format!("result {id}"),
                        ..ToolResult::default()
                    })
                    .to_vec(),
            },
            Message::Assistant {
                text: "so".into(),
                reasoning: String::new(),
                calls: vec![],
                kept: None,
            },
            Message::User { text: "on".into() },
        ]
    }

    #[test]
    fn images_follow_the_answers() {
        let mut messages = conversation();
        messages[2] = Message::Tool {
            results: vec![
                answer("a"),
                ToolResult { call_id: "b".into(), text: "b".into(), ..ToolResult::default() },
            ],
        };
        let seen = body(&messages, &[], WISHES, None);
        let expected = concat!(
            r#"{"role":"tool","tool_call_id":"a","content":"File: a"},{"role":"tool","tool_call_id":"b","content":"b"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"The images of the answers above, in their order:"},"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}},"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhAgADAAAAAAA="}},"#,
            r#"{"type":"text","text":"(An image stood here that is gone. Look at it again to see it.)"}]},{"role":"assistant""#,
        );
        assert!(seen.contains(expected), "{seen}");
        for blind in [
            Wishes { sees_images: false, ..WISHES },
            Wishes { fields: Fields(Fields::NO_IMAGES), ..WISHES },
        ] {
            let unseen = body(&messages, &[], blind, None);
            assert!(
                unseen.contains("(An image stands here that this model cannot be shown.)")
                    && !unseen.contains("iVBOR"),
                "{unseen}"
            );
        }
        let strict = body(&messages, &[], Wishes { ways: &STRICT, ..WISHES }, None);
        assert!(
            strict.contains(r#","content":[{"type":"text","text":"File: a"},{"type":"image_url""#)
                && !strict.contains("answers above"),
            "{strict}"
        );
    }

    #[test]
    fn has_one_shape() {
        let tools = [ToolSpec {
            name: "read_file".into(),
            description: "reads".into(),
            parameters: json!({ "type": "object" }),
        }];
        assert_eq!(
            body(&conversation(), &tools, WISHES, None),
            concat!(
                r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"#,
                r#""tools":[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object"}}}],"#,
                r#""messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go"},"#,
                r#"{"role":"assistant","content":null,"tool_calls":["#,
                r#"{"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"x\"}"}},"#,
                r#"{"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"not_an_object\":\"{ broken\"}"}}]},"#,
                r#"{"role":"tool","tool_call_id":"a","content":"result a"},{"role":"tool","tool_call_id":"b","content":"result b"},"#,
                r#"{"role":"assistant","content":"so"},{"role":"user","content":"on"}]}"#,
            )
        );
    }

    #[test]
    fn says_how_long_a_reply_may_be_in_the_servers_word() {
        let newer = Fields(Fields::NEWER_LIMIT | Fields::NO_STREAM_OPTIONS);
        for (wishes, limit, words) in [
            (WISHES, Some(9), r#""max_tokens":9,"#),
            (Wishes { max_output_tokens: Some(7), ..WISHES }, None, r#""max_tokens":7,"#),
            (Wishes { max_output_tokens: Some(7), ..WISHES }, Some(9), r#""max_tokens":9,"#),
            (
                Wishes { fields: newer, ..WISHES },
                Some(9),
                r#"{"model":"m","stream":true,"max_completion_tokens":9,"messages""#,
            ),
            (Wishes { temperature: Some(0.5), ..WISHES }, None, r#""temperature":0.5,"#),
        ] {
            let body = body(&conversation(), &[], wishes, limit);
            assert!(body.contains(words), "{body}");
        }
    }

    #[test]
    fn sends_reasoning_back_only_where_it_is_asked_for() {
        let with = body(&conversation(), &[], Wishes { ways: &RETURNING, ..WISHES }, None);
        assert!(with.contains(r#""content":null,"reasoning_content":"hm","tool_calls""#), "{with}");
        assert!(!body(&conversation(), &[], WISHES, None).contains("reasoning"));
        let mut thoughtless = conversation();
        if let Message::Assistant { reasoning, .. } = &mut thoughtless[1] {
            reasoning.clear();
        }
        let learned = Wishes { fields: Fields(Fields::RETURNS_REASONING), ..WISHES };
        let without = body(&thoughtless, &[], learned, None);
        assert!(
            without.contains(r#""content":null,"reasoning_content":"","tool_calls""#),
            "a host misses it beside calls: {without}"
        );
        assert!(without.contains(r#"{"role":"assistant","content":"so"}"#), "{without}");
    }

    #[test]
    fn a_longer_conversation_begins_with_the_shorter_one() {
        let messages = conversation();
        let shorter = body(&messages[..3], &[], WISHES, None);
        let longer = body(&messages, &[], WISHES, None);
        assert!(longer.starts_with(shorter.strip_suffix("]}").unwrap()));
    }

    #[test]
    fn learns_a_servers_dialect_from_its_refusals() {
        let start = Fields::default();
        for (status, words, learned) in [
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                 'max_completion_tokens' instead.",
                Some(Fields::NEWER_LIMIT),
            ),
            (
                422,
                "body -> stream_options: Extra inputs are not permitted",
                Some(Fields::NO_STREAM_OPTIONS),
            ),
            (
                400,
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
                Some(Fields::NO_TEMPERATURE),
            ),
            (
                400,
                "Unrecognized request argument supplied: reasoning_effort",
                Some(Fields::NO_EFFORT),
            ),
            (
                400,
                "Invalid content type. image_url is only supported by certain models.",
                Some(Fields::NO_IMAGES),
            ),
            (
                400,
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
                Some(Fields::RETURNS_REASONING),
            ),
            (
                400,
                "Missing `reasoning_content` field in the assistant message at message index 2.",
                Some(Fields::RETURNS_REASONING),
            ),
            (
                400,
                "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
                Some(Fields::STRICT_CALLS),
            ),
            (400, "Unexpected role 'user' after role 'tool'", Some(Fields::STRICT_CALLS)),
            (
                400,
                "Function tools with reasoning_effort are not supported for gpt-6 in \
                 /v1/chat/completions. To use function tools, use /v1/responses or set \
                 reasoning_effort to 'none'.",
                Some(Fields::UNTHINKING),
            ),
            (400, "max_tokens is too large: 9999", None),
            (400, "unknown model", None),
            (500, "unknown field stream_options", None),
        ] {
            assert_eq!(start.corrected(status, words), learned.map(Fields), "{words}");
        }
        assert_eq!(
            Fields(Fields::NEWER_LIMIT).corrected(400, "unknown field max_completion_tokens"),
            Some(start)
        );
    }

    #[test]
    fn a_server_that_takes_tools_from_models_that_do_not_think_is_told_so() {
        let tools =
            [ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}) }];
        let torn =
            Wishes { effort: Some(Effort::High), fields: Fields(Fields::UNTHINKING), ..WISHES };
        assert!(
            body(&conversation(), &tools, torn, None).contains(r#""reasoning_effort":"none","#)
        );
        assert!(body(&conversation(), &[], torn, None).contains(r#""reasoning_effort":"high","#));
        let refused_twice =
            Wishes { fields: Fields(Fields::UNTHINKING | Fields::NO_EFFORT), ..torn };
        assert!(!body(&conversation(), &tools, refused_twice, None).contains("reasoning_effort"));
    }

    #[test]
    fn what_a_gateway_hung_on_a_reply_goes_back_with_it() {
        let parts = vec![
            KeptPart::Own(
                json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "b3BhcXVl" }] }),
            ),
            KeptPart::Call {
                seal: json!({ "extra_content": { "google": { "thought_signature": "c2ln" } } }),
            },
        ];
        let call = ToolCall { id: "a".into(), name: "f".into(), arguments: "{}".into() };
        let kept = |by: &str| Some(Kept { by: by.into(), parts: parts.clone() });
        let reply = |by: &str| Message::Assistant {
            text: String::new(),
            reasoning: String::new(),
            calls: vec![call.clone()],
            kept: kept(by),
        };
        let own = body(&[reply("me")], &[], WISHES, None);
        for words in [
            r#""reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl"}]"#,
            r#""extra_content":{"google":"#,
        ] {
            assert!(own.contains(words), "{own}");
        }
        let other = body(&[reply("another")], &[], WISHES, None);
        assert!(!other.contains("b3BhcXVl") && !other.contains("c2ln"), "{other}");
    }

    #[test]
    fn a_strict_host_gets_names_and_an_order_it_takes() {
        let mut messages = conversation();
        messages.insert(3, Message::User { text: "hurry".into() });
        let learned = Wishes { fields: Fields(Fields::STRICT_CALLS), ..WISHES };
        assert_eq!(
            body(&messages, &[], learned, None),
            body(&messages, &[], Wishes { ways: &STRICT, ..WISHES }, None)
        );
        let body: serde_json::Value =
            serde_json::from_str(&body(&messages, &[], learned, None)).unwrap();
        let roles: Vec<&str> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
        assert_eq!(body["messages"][4]["content"], "result b\n\nhurry");
        let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert_eq!(body["messages"][3]["tool_call_id"], id);
        assert_ne!(body["messages"][4]["tool_call_id"], id);
    }
}
