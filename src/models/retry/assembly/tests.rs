//! Replies put together from deltas.

use pretty_assertions::assert_eq;

use super::{IncompleteReply, REPLY_LIMIT_BYTES, ReplyAssembly, tidy_arguments};
use crate::{Delta, EarlierTurns, ModelRequest, RequestEstimate};
use locum_base::chat::{Reply, StopReason, ToolCall, Usage};
use locum_base::id::TaskId;

fn finish(deltas: impl IntoIterator<Item = Delta>) -> Result<Reply, IncompleteReply> {
    let request = ModelRequest {
        system: "",
        messages: &[],
        tools: &[],
        max_output_tokens: None,
        temperature: None,
        task: TaskId(1),
        mode: "code",
        turn: 4,
        picture: None,
        earlier: EarlierTurns::default(),
        estimate: RequestEstimate::default(),
    };
    let mut assembly = ReplyAssembly::default();
    deltas.into_iter().try_for_each(|delta| assembly.add(delta))?;
    assembly.finish(&request)
}

fn piece(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Delta {
    Delta::Call {
        index,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.to_owned(),
    }
}

#[test]
fn puts_interleaved_calls_together() {
    let reply = finish([
        Delta::Text("a".into()),
        piece(0, Some("x"), Some("read_file"), "{\"pa"),
        piece(1, Some("y"), Some("list_files"), "{"),
        Delta::Reasoning("r".into()),
        piece(0, None, None, "th\":1}"),
        piece(1, None, None, "}"),
        Delta::Text("b".into()),
        Delta::Usage(Usage { input: 1, ..Usage::default() }),
        Delta::Usage(Usage { input: 2, ..Usage::default() }),
        Delta::Stop(StopReason::End),
    ]);
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    let calls = vec![call("x", "read_file", "{\"path\":1}"), call("y", "list_files", "{}")];
    let usage = Some(Usage { input: 2, ..Usage::default() });
    assert_eq!(
        reply,
        Ok(Reply {
            text: "ab".into(),
            reasoning: "r".into(),
            calls,
            usage,
            stop: StopReason::ToolUse,
            ..Reply::default()
        })
    );
}

#[test]
fn gives_ids_where_they_are_missing_or_repeated() {
    let reply = finish([
        piece(0, None, Some("a"), ""),
        piece(1, Some("same"), Some("b"), ""),
        piece(2, Some("same"), Some("c"), ""),
        piece(3, Some(""), Some("d"), ""),
        Delta::Stop(StopReason::ToolUse),
    ]);
    let ids: Vec<String> = reply.unwrap().calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call-1-5-1", "same", "call-1-5-3", "call-1-5-4"]);
}

#[test]
fn sets_arguments_right_where_their_meaning_is_plain() {
    for (written, tidy) in [
        ("", "{}"),
        ("  ", "{}"),
        ("null", "{}"),
        (r#"{"a": 1}"#, r#"{"a": 1}"#),
        (r#""{\"a\": 1}""#, r#"{"a": 1}"#),
        (r#"{}{"a": 1}"#, r#"{"a": 1}"#),
        (r#""just words""#, r#""just words""#),
        (r#"{"a": "#, r#"{"a": "#),
        ("[1]", "[1]"),
        ("{}{", "{}{"),
    ] {
        assert_eq!(tidy_arguments(written.into()), tidy, "{written}");
    }
}

#[test]
fn is_no_reply_until_it_has_ended_and_said_something() {
    assert_eq!(finish([Delta::Text("half".into())]), Err(IncompleteReply::Cut));
    assert_eq!(
        finish([
            Delta::Reasoning("hm".into()),
            Delta::Text(" \n".into()),
            Delta::Stop(StopReason::End)
        ]),
        Err(IncompleteReply::Empty)
    );
    assert_eq!(finish([Delta::Stop(StopReason::Length)]).unwrap().stop, StopReason::Length);
    assert_eq!(
        finish([Delta::Text("a".into()), Delta::Stop(StopReason::ToolUse)]).unwrap().stop,
        StopReason::End
    );
}

#[test]
fn starts_anew_after_a_restart() {
    let reply = finish([
        Delta::Text("lost".into()),
        Delta::Restart,
        Delta::Text("kept".into()),
        Delta::Stop(StopReason::End),
    ]);
    assert_eq!(reply.unwrap().text, "kept");
}

#[test]
fn bounds_a_reply() {
    let half = "x".repeat(REPLY_LIMIT_BYTES / 2);
    assert!(matches!(
        finish([Delta::Text(half.clone()), piece(0, None, None, &half), Delta::Text("x".into())]),
        Err(IncompleteReply::TooLarge(_))
    ));
    assert!(matches!(
        finish((0..1000).map(|index| piece(index, None, Some("a"), ""))),
        Err(IncompleteReply::TooLarge(_))
    ));
}

#[test]
fn takes_ten_thousand_pieces_of_one_call() {
    let pieces = (0..10_000).map(|_| piece(0, None, None, "aaaaaaaaaa"));
    let reply = finish(pieces.chain([Delta::Stop(StopReason::ToolUse)])).unwrap();
    assert_eq!(reply.calls[0].arguments.len(), 100_000);
}
