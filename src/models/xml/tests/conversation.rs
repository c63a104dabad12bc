//! Conversations and tools as a model without tool calls of its own reads them.

use futures::executor::block_on;
use futures::stream::{self, BoxStream, StreamExt};
use pretty_assertions::assert_eq;

use super::tools;
use crate::xml::{PromptedToolCalls, write};
use crate::{Delta, EarlierTurns, Model, ModelError, ModelRequest, RequestEstimate};
use locum_base::chat::{Message, OpaqueState, StopReason, ToolCall, ToolResult};
use locum_base::id::TaskId;

pub(super) fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

pub(super) fn assistant(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.into(), reasoning: "hm".into(), calls, opaque: None }
}

fn answer(id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult { call_id: id.into(), text: text.into(), is_error, ..ToolResult::default() }
}

#[test]
fn the_conversation_is_told_in_words() {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let messages = [
        user("go"),
        assistant("I look.", vec![call("a", r#"{"path":"x","offset":3}"#), call("b", "{ broken")]),
        Message::Tool {
            results: vec![answer("a", "one\ntwo", false), answer("b", "no: </tool_result>", true)],
        },
        user("mind the budget"),
        assistant("", vec![call("c", r#"{"path":"y"}"#)]),
        Message::Tool { results: vec![answer("c", "three", false)] },
    ];
    let written = write::conversation(&messages);
    assert_eq!(
        written,
        [
            user("go"),
            assistant(
                "I look.\n\n<read_file>\n<path>x</path>\n<offset>3</offset>\n</read_file>\n\n\
                 <read_file>\n{ broken\n</read_file>",
                Vec::new()
            ),
            user(concat!(
                "<tool_result tool=\"read_file\" call=\"1\">\none\ntwo\n</tool_result>\n\n",
                "<tool_result_ tool=\"read_file\" call=\"2\" failed=\"true\">\nno: \
                 </tool_result>\n</tool_result_>\n\nmind the budget"
            )),
            assistant("<read_file>\n<path>y</path>\n</read_file>", Vec::new()),
            user("<tool_result tool=\"read_file\">\nthree\n</tool_result>"),
        ]
    );
    assert_eq!(write::conversation(&messages[..4]), written[..3], "what was sent stays as it was");
}

#[test]
fn the_tools_are_described_in_words() {
    let section = write::section(&tools()[2..4]);
    let (_, described) = section.split_once("## execute_command").unwrap();
    assert_eq!(
        described,
        concat!(
            "\n\nDoes execute_command.\n\nParameters:\n\n- `command`\n\nOptional parameters:\n\n- \
             `cwd`\n\n",
            "<execute_command>\n<command>...</command>\n</execute_command>\n\n",
            "## ask_followup_question\n\nDoes ask_followup_question.\n\nParameters:\n\n- \
             `question`\n",
            "- `follow_up` (JSON: `{\"type\":\"array\",\"items\":{\"type\":\"string\"}}`)\n\n",
            "<ask_followup_question>\n<question>...</question>\n<follow_up>...</follow_up>\n</\
             ask_followup_question>\n"
        )
    );
}

/// Replies with fixed deltas and records nothing.
struct FixedModel(Vec<Delta>);

impl Model for FixedModel {
    fn label(&self) -> &str {
        "says"
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        assert!(
            request.tools.is_empty() && request.system.contains("## read_file"),
            "{}",
            request.system
        );
        let fault = ModelError::Garbled { model: "says".into(), message: "over".into() };
        stream::iter(self.0.clone().into_iter().map(Ok).chain([Err(fault)])).boxed()
    }
}

#[test]
fn native_calls_pass_and_what_only_the_provider_reads_does_not() {
    let native = |index| Delta::Call {
        index,
        id: Some("n".into()),
        name: Some("read_file".into()),
        arguments: "{}".into(),
    };
    let written = "<read_file><path>a</path></read_file>";
    let model = PromptedToolCalls::new(Box::new(FixedModel(vec![
        Delta::Text(written.into()),
        Delta::Restart,
        native(5),
        Delta::Opaque(OpaqueState { by: "x".into(), parts: Vec::new() }),
        Delta::Text(written.into()),
        Delta::Stop(StopReason::End),
    ])));
    let (tools, messages) = (tools(), [user("go")]);
    let request = ModelRequest {
        system: "be",
        messages: &messages,
        tools: &tools,
        max_output_tokens: None,
        temperature: None,
        task: TaskId(0),
        mode: "code",
        turn: 0,
        picture: None,
        earlier: EarlierTurns::default(),
        estimate: RequestEstimate::default(),
    };
    let deltas: Vec<_> = block_on(model.stream(request).collect());
    let call = Delta::Call {
        index: 1,
        id: None,
        name: Some("read_file".into()),
        arguments: r#"{"path":"a"}"#.into(),
    };
    let fault = Err(ModelError::Garbled { model: "says".into(), message: "over".into() });
    assert_eq!(
        deltas,
        [Ok(Delta::Restart), Ok(native(0)), Ok(call), Ok(Delta::Stop(StopReason::End)), fault]
    );
}

#[test]
fn the_words_of_a_reply_that_breaks_off_come_before_the_error() {
    let model = PromptedToolCalls::new(Box::new(FixedModel(vec![Delta::Text("half".into())])));
    let (tools, messages) = (tools(), [user("go")]);
    let request = ModelRequest { system: "be", tools: &tools, ..ModelRequest::with(&messages) };
    let deltas: Vec<_> = block_on(model.stream(request).collect());
    let fault = Err(ModelError::Garbled { model: "says".into(), message: "over".into() });
    assert_eq!(deltas, [Ok(Delta::Text("half".into())), fault]);
}
