//! Replies of scripts, and what scripts expect of requests.

use futures::executor::block_on;
use futures::stream::StreamExt;
use pretty_assertions::assert_eq;

use super::ScriptedModel;
use crate::scripted::script::ModelScript;
use crate::{Delta, EarlierTurns, Model, ModelError, ModelRequest, RequestEstimate};
use locum_base::chat::{Message, StopReason, ToolCall, ToolResult, ToolSpec, Usage};
use locum_base::id::TaskId;

const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: code
    contains: the parser
    turns:
      - say: looking
        calls: [{ tool: read_file, args: { path: a } }, { tool: list_files }]
      - expect: { contains: ["fn main"], not_contains: [refused], tools: [read_file], not_tools: [execute_command] }
        say: done
        usage: { input: 7, output: 3 }
  - mode: code
    turns:
      - fail: { unavailable: asleep }
      - fail: { garbled: noise }
  - mode: ask
    turns: [{ say: "answer", stop: length }]
"#;

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn answered(ids: &[&str], text: &str) -> Vec<Message> {
    let calls = ids
        .iter()
        .map(|id| ToolCall { id: (*id).into(), name: "read_file".into(), arguments: "{}".into() })
        .collect();
    let results = ids
        .iter()
        .map(|id| ToolResult { call_id: (*id).into(), text: text.into(), ..ToolResult::default() })
        .collect();
    vec![
        user("fix the parser"),
        Message::Assistant { text: String::new(), reasoning: String::new(), calls, opaque: None },
        Message::Tool { results },
    ]
}

fn play(mode: &str, messages: &[Message], turn: u32) -> Vec<Result<Delta, ModelError>> {
    play_after(EarlierTurns::default(), mode, messages, turn)
}

fn play_after(
    earlier: EarlierTurns,
    mode: &str,
    messages: &[Message],
    turn: u32,
) -> Vec<Result<Delta, ModelError>> {
    let tools = [ToolSpec {
        name: "read_file".into(),
        description: String::new(),
        parameters: serde_json::json!({}),
    }];
    let model = ScriptedModel::new(ModelScript::parse("s.yml", SCRIPT).unwrap());
    let request = ModelRequest {
        system: "sys",
        messages,
        tools: &tools,
        max_output_tokens: None,
        temperature: None,
        task: TaskId(2),
        mode,
        turn,
        picture: None,
        earlier,
        estimate: RequestEstimate::default(),
    };
    block_on(model.stream(request).collect())
}

fn fault(mode: &str, messages: &[Message], turn: u32) -> String {
    play(mode, messages, turn).pop().unwrap().unwrap_err().to_string()
}

#[test]
fn a_conversation_that_goes_on_is_played_by_what_this_run_added() {
    let earlier = EarlierTurns { messages: 4, turns: 4 };
    let mut messages = vec![user("something else")];
    messages.extend(answered(&["a"], "found"));
    messages.push(user("fix the parser"));
    let deltas = play_after(earlier, "code", &messages, 4);
    assert_eq!(deltas[..1], play("code", &[user("fix the parser")], 0)[..1]);
    // Its calls are named apart from those of before.
    assert!(matches!(&deltas[1], Ok(Delta::Call { id: Some(id), .. }) if id == "call-2-5-1"));
}

#[test]
fn chooses_the_reply_by_mode_message_and_turn() {
    let deltas = play("code", &[user("fix the parser")], 0);
    assert_eq!(deltas[0], Ok(Delta::Text("looking".into())));
    let call = |index, id: &str, name: &str, arguments: &str| {
        Ok(Delta::Call {
            index,
            id: Some(id.into()),
            name: Some(name.into()),
            arguments: arguments.into(),
        })
    };
    assert_eq!(deltas[1], call(0, "call-2-1-1", "read_file", r#"{"path":"a"}"#));
    assert_eq!(deltas[2], call(1, "call-2-1-2", "list_files", "{}"));
    assert_eq!(deltas[4], Ok(Delta::Stop(StopReason::ToolUse)));
    assert_eq!(play("ask", &[user("why")], 0).pop(), Some(Ok(Delta::Stop(StopReason::Length))));
    assert_eq!(
        play("code", &[user("fix the parser")], 0),
        deltas,
        "the same request gets the same reply"
    );
}

#[test]
fn reports_the_usage_of_the_script_or_an_estimate() {
    let messages = answered(&["a"], "fn main");
    assert!(play("code", &messages, 1).contains(&Ok(Delta::Usage(Usage {
        input: 7,
        output: 3,
        ..Usage::default()
    }))));
    let estimated = play("code", &[user("fix the parser")], 0);
    assert!(
        matches!(&estimated[3], Ok(Delta::Usage(usage)) if usage.input > 0 && usage.output > 0),
        "{estimated:?}"
    );
}

#[test]
fn plays_faults() {
    assert!(matches!(play("code", &[user("x")], 0)[0], Err(ModelError::Unavailable { .. })));
    assert!(matches!(play("code", &[user("x")], 1)[0], Err(ModelError::Garbled { .. })));
}

#[test]
fn says_where_the_script_and_the_run_part() {
    let good = answered(&["a"], "fn main");
    for (mode, messages, turn, words) in [
        ("debug", vec![user("x")], 0, "no task fits mode `debug`"),
        ("ask", vec![user("x")], 1, "task 3 (mode `ask`), turn 2: the script has only 1 turns"),
        (
            "code",
            answered(&["a"], "nothing"),
            1,
            "turn 2: the last messages do not contain `fn main`",
        ),
        (
            "code",
            answered(&["a"], "fn main refused"),
            1,
            "turn 2: the last messages contain `refused`",
        ),
        ("code", good.get(..2).unwrap().to_vec(), 1, "the request is malformed"),
    ] {
        let fault = fault(mode, &messages, turn);
        assert!(fault.contains("`s.yml`") && fault.contains(words), "{fault}\nshould say {words}");
    }
    assert!(play("code", &good, 1).iter().all(Result::is_ok));
}
