//! The body of a Chat Completions request.
//!
//! In: a request and the wishes of profile and host. Out: JSON bytes whose keys always come in one order with the conversation last, so
//! that from turn to turn everything before the new messages stays byte for byte the same and a provider's cache holds. It sends nothing.

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::base::chat::{Message, ToolCall, ToolSpec};
use crate::models::ModelRequest;
use crate::models::catalogue::OutputLimit;
use crate::models::wire::json::as_object;

/// What a body depends on besides the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wishes<'a> {
    /// The model's name at the provider.
    pub(super) model: &'a str,
    /// Sampling temperature.
    pub(super) temperature: Option<f64>,
    /// Most tokens of one reply, where the request does not say.
    pub(super) max_output_tokens: Option<u32>,
    /// Sends a reply's reasoning back with the conversation.
    pub(super) returns_reasoning: bool,
    /// How this server wants optional fields.
    pub(super) fields: Fields,
}

/// How a server wants the fields on which compatible servers differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    /// The field that limits the reply.
    pub(super) output_limit: OutputLimit,
    /// True when the server refuses `stream_options`.
    pub(super) no_stream_options: bool,
}

impl Fields {
    /// Returns the fields to try after a server refused a request with these words; `None` when they are about something else.
    pub(super) fn corrected(self, status: u16, words: &str) -> Option<Self> {
        let lower = words.to_ascii_lowercase();
        let refused =
            ["unsupported", "not support", "unknown", "unrecognized", "unexpected", "extra ", "extra_", "not permitted", "not allowed"];
        if !matches!(status, 400 | 422) || !refused.iter().any(|word| lower.contains(word)) {
            return None;
        }
        if !self.no_stream_options && lower.contains("stream_options") {
            return Some(Self { no_stream_options: true, ..self });
        }
        match self.output_limit {
            OutputLimit::MaxTokens if lower.contains("max_tokens") => Some(Self { output_limit: OutputLimit::MaxCompletionTokens, ..self }),
            OutputLimit::MaxCompletionTokens if lower.contains("max_completion_tokens") => {
                Some(Self { output_limit: OutputLimit::MaxTokens, ..self })
            }
            OutputLimit::MaxTokens | OutputLimit::MaxCompletionTokens => None,
        }
    }
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(request: &ModelRequest<'_>, wishes: Wishes<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let limit = request.max_output_tokens.or(wishes.max_output_tokens);
    let of = |field: OutputLimit| limit.filter(|_| wishes.fields.output_limit == field);
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(WireMessage::System { content: request.system });
    }
    for message in request.messages {
        push_message(&mut messages, message, wishes.returns_reasoning);
    }
    serde_json::to_vec(&Body {
        model: wishes.model,
        stream: true,
        stream_options: (!wishes.fields.no_stream_options).then_some(StreamOptions { include_usage: true }),
        temperature: wishes.temperature,
        max_tokens: of(OutputLimit::MaxTokens),
        max_completion_tokens: of(OutputLimit::MaxCompletionTokens),
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
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
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
        content: &'a str,
    },
    Assistant {
        /// Null beside tool calls: some servers refuse an empty text there.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Written(&'a str),
    Wrapped(String),
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

fn push_message<'a>(messages: &mut Vec<WireMessage<'a>>, message: &'a Message, returns_reasoning: bool) {
    match message {
        Message::User { text } => messages.push(WireMessage::User { content: text }),
        Message::Assistant { text, reasoning, calls, kept: _ } => messages.push(WireMessage::Assistant {
            content: (!text.is_empty() || calls.is_empty()).then_some(text.as_str()),
            reasoning_content: Some(reasoning.as_str()).filter(|reasoning| returns_reasoning && !reasoning.is_empty()),
            tool_calls: calls.iter().map(wire_call).collect(),
        }),
        Message::Tool { results } => {
            messages.extend(results.iter().map(|result| WireMessage::Tool { tool_call_id: &result.call_id, content: &result.text }));
        }
    }
}

fn wire_call(call: &ToolCall) -> WireCall<'_> {
    WireCall { id: &call.id, kind: "function", function: WireFunction { name: &call.name, arguments: wire_arguments(&call.arguments) } }
}

/// Returns arguments that are a JSON object, see [`as_object`].
fn wire_arguments(written: &str) -> Arguments<'_> {
    let object = written.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(written).is_ok();
    if object { Arguments::Written(written) } else { Arguments::Wrapped(as_object(written).to_string()) }
}

fn wire_tool(tool: &ToolSpec) -> WireTool<'_> {
    let function = WireToolFunction { name: &tool.name, description: &tool.description, parameters: &tool.parameters };
    WireTool { kind: "function", function }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{Fields, Wishes, render_body};
    use crate::base::chat::{Message, ToolCall, ToolResult, ToolSpec};
    use crate::base::id::TaskId;
    use crate::models::ModelRequest;
    use crate::models::catalogue::OutputLimit;

    const WISHES: Wishes<'static> = Wishes {
        model: "m",
        temperature: None,
        max_output_tokens: None,
        returns_reasoning: false,
        fields: Fields { output_limit: OutputLimit::MaxTokens, no_stream_options: false },
    };

    fn body(messages: &[Message], tools: &[ToolSpec], wishes: Wishes<'_>, limit: Option<u32>) -> String {
        let request =
            ModelRequest { system: "be brief", messages, tools, max_output_tokens: limit, task: TaskId(0), mode: "code", turn: 0 };
        String::from_utf8(render_body(&request, wishes).unwrap()).unwrap()
    }

    fn conversation() -> Vec<Message> {
        let call = |id: &str, arguments: &str| ToolCall { id: id.into(), name: "read_file".into(), arguments: arguments.into() };
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
                    .map(|id| ToolResult { call_id: id.into(), text: format!("result {id}"), ..ToolResult::default() })
                    .to_vec(),
            },
            Message::Assistant { text: "so".into(), reasoning: String::new(), calls: vec![], kept: None },
            Message::User { text: "on".into() },
        ]
    }

    #[test]
    fn has_one_shape() {
        let tools = [ToolSpec { name: "read_file".into(), description: "reads".into(), parameters: json!({ "type": "object" }) }];
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
        let newer = Fields { output_limit: OutputLimit::MaxCompletionTokens, no_stream_options: true };
        for (wishes, limit, words) in [
            (WISHES, Some(9), r#""max_tokens":9,"#),
            (Wishes { max_output_tokens: Some(7), ..WISHES }, None, r#""max_tokens":7,"#),
            (Wishes { max_output_tokens: Some(7), ..WISHES }, Some(9), r#""max_tokens":9,"#),
            (Wishes { fields: newer, ..WISHES }, Some(9), r#"{"model":"m","stream":true,"max_completion_tokens":9,"messages""#),
            (Wishes { temperature: Some(0.5), ..WISHES }, None, r#""temperature":0.5,"#),
        ] {
            let body = body(&conversation(), &[], wishes, limit);
            assert!(body.contains(words), "{body}");
        }
    }

    #[test]
    fn sends_reasoning_back_only_where_it_is_asked_for() {
        let with = body(&conversation(), &[], Wishes { returns_reasoning: true, ..WISHES }, None);
        assert!(with.contains(r#""content":null,"reasoning_content":"hm","tool_calls""#), "{with}");
        assert!(!body(&conversation(), &[], WISHES, None).contains("reasoning"));
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
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some((true, false)),
            ),
            (422, "body -> stream_options: Extra inputs are not permitted", Some((false, true))),
            (400, "max_tokens is too large: 9999", None),
            (400, "unknown model", None),
            (500, "unknown field stream_options", None),
        ] {
            let found = start.corrected(status, words);
            let expected = learned.map(|(newer, no_stream_options)| Fields {
                output_limit: if newer { OutputLimit::MaxCompletionTokens } else { OutputLimit::MaxTokens },
                no_stream_options,
            });
            assert_eq!(found, expected, "{words}");
        }
        let newer = Fields { output_limit: OutputLimit::MaxCompletionTokens, ..start };
        assert_eq!(newer.corrected(400, "unknown field max_completion_tokens"), Some(start));
    }
}
