//! What other agents' readers find in an exported session.

use super::{ExportFormat, export};
use crate::session::event::{Event, JournalLine};
use crate::session::import::{ImportSource, import};
use crate::session::recorded::{CompactionKind, ReplyCharge};
use locum_base::id::TaskId;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const CONVERSATION: &str = r#"[
  {"role":"user","ts":1700000000000,"content":"Go."},
  {"role":"assistant","ts":1700000001000,"content":[
    {"type":"tool_use","id":"c1","name":"execute_command","input":{"command":"ls"}}]},
  {"role":"user","ts":1700000002000,"content":[
    {"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"refused: rule 3"}]}
]"#;

fn lines() -> Vec<JournalLine> {
    let conversation = CONVERSATION.to_owned();
    import(&ImportSource::Roo { conversation, shown: None, item: None }, "/x").unwrap()
}

fn json_of(lines: &[JournalLine], name: &str) -> Value {
    let files = export(lines, ExportFormat::Roo);
    let file = files.iter().find(|file| file.path.ends_with(name)).unwrap();
    serde_json::from_str(&file.text).unwrap()
}

#[test]
fn messages_that_were_left_out_say_what_stands_for_them() {
    for (how, parent, id, is) in [
        (CompactionKind::Condensed, "condenseParent", "condenseId", "isSummary"),
        (CompactionKind::Truncated, "truncationParent", "truncationId", "isTruncationMarker"),
    ] {
        let mut lines = lines();
        lines.push(JournalLine {
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
            event: Event::Compacted {
                task: TaskId(0),
                how,
                left_out: 2,
                text: "so far".into(),
                charge: ReplyCharge::default(),
            },
        });
        let all = json_of(&lines, "api_conversation_history.json");
        assert_eq!(all.as_array().unwrap().len(), 4);
        assert_eq!(all[3][is], true);
        for (number, replaced) in [(0, true), (1, true), (2, false)] {
            assert_eq!(all[number].get(parent).is_some(), replaced, "{number}");
        }
        assert_eq!(all[0][parent], all[3][id]);
    }
}

#[test]
fn commands_and_their_answers_are_shown_apart() {
    let shown = json_of(&lines(), "ui_messages.json");
    let kinds: Vec<(&str, &str)> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let kind = message["say"].as_str().or(message["ask"].as_str()).unwrap();
            (kind, message["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(kinds[0], ("text", "Go."));
    assert_eq!(kinds[1].0, "api_req_started");
    assert_eq!(kinds[2..], [("command", "ls"), ("command_output", "refused: rule 3")]);
    assert!(shown.as_array().unwrap().iter().all(|message| message["ts"].is_i64()));
}

#[test]
fn a_document_keeps_hostile_words_inside_their_fences() {
    let mut lines = lines();
    if let Event::Started(start) = &mut lines[0].event {
        start.task = "```\n# not a heading of ours\n```".into();
    }
    let text = export(&lines, ExportFormat::Markdown).remove(0).text;
    assert!(text.contains("````\n```\n# not a heading of ours\n```\n````"), "{text}");
    assert!(text.contains("- Outcome: unfinished\n"), "{text}");
}

#[test]
fn a_session_that_never_began_has_no_files() {
    assert_eq!(export(&[], ExportFormat::Json), []);
    assert_eq!(json!(export(&lines(), ExportFormat::Kilo).len()), json!(3));
}
