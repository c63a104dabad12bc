//! Sessions of other agents as ours.

use super::{ImportSource, import};
use crate::report::export::{ExportFormat, export};
use crate::session::event::{Event, JournalLine};
use crate::session::state::SessionState;
use locum_base::id::TaskId;
use pretty_assertions::assert_eq;

const CONVERSATION: &str = r#"[
  {"role":"user","ts":1700000000000,"content":[
    {"type":"text","text":"<task>\nMend the sum.\n</task>"},
    {"type":"text","text":"<environment_details>\nopen tabs\n</environment_details>"}]},
  {"role":"assistant","ts":1700000001000,"content":[
    {"type":"reasoning","text":"Look first.","summary":[]},
    {"type":"text","text":"I read it."},
    {"type":"tool_use","id":"c1","name":"read_file","input":{"path":"sum.rs"}}]},
  {"role":"user","ts":1700000002000,"content":[
    {"type":"tool_result","tool_use_id":"c1","content":"1 | fn sum() {}"},
    {"type":"text","text":"And be quick."}]},
  {"role":"user","isSummary":true,"condenseId":"x","ts":1700000002500,"content":"summary"},
  {"role":"assistant","ts":1700000003000,"content":[
    {"type":"tool_use","id":"c2","name":"attempt_completion","input":{"result":"Mended."}}]}
]"#;
const SHOWN: &str = r#"[
  {"ts":1,"type":"say","say":"text","text":"Mend the sum."},
  {"ts":2,"type":"say","say":"api_req_started","text":"{\"tokensIn\":100,\"tokensOut\":20,\"cacheReads\":40,\"cost\":0.25}"},
  {"ts":3,"type":"say","say":"api_req_started","text":"{\"tokensIn\":200,\"tokensOut\":10,\"cost\":0.5}"}
]"#;
const ITEM: &str = r#"{"id":"t","mode":"debug","workspace":"/home/me/sums"}"#;

fn roo() -> ImportSource {
    ImportSource::Roo {
        conversation: CONVERSATION.into(),
        shown: Some(SHOWN.into()),
        item: Some(ITEM.into()),
    }
}

fn words(lines: &[JournalLine]) -> Vec<String> {
    let word = |line: &JournalLine| match &line.event {
        Event::TaskStarted { task, message, .. } => format!("task {task}: {message}"),
        Event::Replied { task, reply, .. } => {
            let calls: Vec<&str> = reply.calls.iter().map(|call| call.name.as_str()).collect();
            format!("{task} replied {:?} {calls:?}", reply.text)
        }
        Event::Answered { tool, observation, .. } => format!("{tool}: {}", observation.text),
        Event::MessageReceived { message } => format!("{} wrote {}", message.by, message.text),
        Event::TaskEnded { result, .. } => format!("ended: {result}"),
        _ => String::new(),
    };
    lines.iter().map(word).filter(|word| !word.is_empty()).collect()
}

const WORDS: [&str; 6] = [
    "task 0: Mend the sum.",
    r#"0 replied "I read it." ["read_file"]"#,
    "read_file: 1 | fn sum() {}",
    "the user wrote And be quick.",
    r#"0 replied "" ["attempt_completion"]"#,
    "ended: Mended.",
];

#[test]
fn a_task_of_roo_is_read_with_its_costs() {
    let lines = import(&roo(), "/x").unwrap();
    assert_eq!(words(&lines), WORDS);
    let state = SessionState::of(&lines);
    let start = state.start.as_ref().unwrap();
    assert!(start.is_imported());
    assert_eq!(
        (start.mode.as_str(), start.caller["folder"].as_str()),
        ("debug", Some("/home/me/sums"))
    );
    let (_, spent) = state.spending();
    assert_eq!((spent.turns, spent.usage.input, spent.usage.cached_read), (2, 300, 40));
    assert!((spent.cost_usd - 0.75).abs() < 1e-9);
    assert_eq!(lines.last().unwrap().at.as_millisecond(), 1_700_000_003_000);
}

#[test]
fn what_is_exported_for_others_is_read_again() {
    let lines = import(&roo(), "/x").unwrap();
    for format in [ExportFormat::Roo, ExportFormat::Kilo] {
        let files = export(&lines, format);
        let text = |name: &str| {
            files.iter().find(|file| file.path.ends_with(name)).map(|file| file.text.clone())
        };
        assert_eq!(text("history_item.json").is_some(), format == ExportFormat::Roo);
        let source = ImportSource::Roo {
            conversation: text("api_conversation_history.json").unwrap(),
            shown: text("ui_messages.json"),
            item: text("history_item.json"),
        };
        let again = import(&source, "/y").unwrap();
        assert_eq!(words(&again), WORDS, "{format:?}");
        assert_eq!(SessionState::of(&again).spending().1, SessionState::of(&lines).spending().1);
    }
    let claude = export(&lines, ExportFormat::Claude).remove(0);
    assert!(claude.path.starts_with("projects/-home-me-sums/"), "{}", claude.path);
    assert_eq!(words(&import(&ImportSource::Claude(claude.text), "/z").unwrap()), WORDS);
    let journal = export(&lines, ExportFormat::Json).remove(0).text;
    let mut later: serde_json::Value = serde_json::from_str(&journal).unwrap();
    let whole = import(&ImportSource::Journal(journal), "/z").unwrap();
    assert_eq!(words(&whole), WORDS);
    let names = |lines: &[JournalLine]| SessionState::of(lines).start.unwrap().id;
    assert_eq!(names(&whole), names(&lines), "it keeps its name");
    later["events"][0]["version"] = 99.into();
    let error = import(&ImportSource::Journal(later.to_string()), "/x").unwrap_err().to_string();
    assert!(error.contains("its format is 99"), "{error}");
}

#[test]
fn side_chains_of_claude_are_sub_tasks() {
    let line = |kind: &str, ids: (&str, &str), side: bool, content: &str| {
        let (uuid, parent) = ids;
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"isSidechain":{side},"cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","message":{{"id":"m{uuid}","model":"claude-x","role":"{kind}","content":{content},"usage":{{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":3}}}}}}"#
        )
    };
    let text = [
        r#"{"type":"summary","summary":"x"}"#.to_owned(),
        line("user", ("a", "null"), false, r#""Look around.""#),
        line("assistant", ("b", "\"a\""), false, r#"[{"type":"tool_use","id":"t1","name":"Task","input":{}}]"#),
        line("user", ("s1", "null"), true, r#""You look at src.""#),
        line("assistant", ("s2", "\"s1\""), true, r#"[{"type":"text","text":"Seen."}]"#),
        line("user", ("c", "\"b\""), false, r#"[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"Seen."}]}]"#),
    ]
    .join("\n");
    let lines = import(&ImportSource::Claude(text.clone()), "/x").unwrap();
    let cut_off = format!("{text}\n{{\"type\":\"assist");
    assert_eq!(words(&import(&ImportSource::Claude(cut_off), "/x").unwrap()), words(&lines));
    assert_eq!(
        words(&lines),
        [
            "task 0: Look around.",
            r#"0 replied "" ["Task"]"#,
            "task 1: You look at src.",
            r#"1 replied "Seen." []"#,
            "Task: Seen.",
        ]
    );
    let state = SessionState::of(&lines);
    assert_eq!(state.start.as_ref().unwrap().models.0, "claude-x");
    assert_eq!(state.task(TaskId(1)).unwrap().budgeting.own.usage.input, 12);
    assert!(state.spent_is_estimate(), "no price is known");
}

#[test]
fn a_reply_of_claude_that_takes_several_lines_is_one_turn_with_its_largest_usage() {
    let line = |kind: &str, id: &str, content: &str, out: u32| {
        format!(
            r#"{{"type":"{kind}","uuid":"{out}","timestamp":"2026-01-01T00:00:00.000Z","message":{{"id":"{id}","content":{content},"usage":{{"input_tokens":5,"output_tokens":{out}}}}}}}"#
        )
    };
    let call =
        |id: &str| format!(r#"[{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}]"#);
    let answer = |id: &str| {
        format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"seen {id}"}}]"#)
    };
    let text = [
        line("user", "", r#""Look around.""#, 0),
        line("assistant", "m1", r#"[{"type":"thinking","thinking":"First."}]"#, 3),
        line("assistant", "m1", r#"[{"type":"text","text":"I look."}]"#, 3),
        line("assistant", "m1", &call("t1"), 9),
        line("assistant", "m1", &call("t2"), 9),
        line("user", "", &answer("t1"), 0),
        line("user", "", &answer("t2"), 0),
        line("assistant", "m2", r#"[{"type":"text","text":"Done."}]"#, 4),
    ]
    .join("\n");
    let lines = import(&ImportSource::Claude(text), "/x").unwrap();
    assert_eq!(
        words(&lines),
        [
            "task 0: Look around.",
            r#"0 replied "I look." ["Read", "Read"]"#,
            "Read: seen t1",
            "Read: seen t2",
            r#"0 replied "Done." []"#,
        ]
    );
    let spent = SessionState::of(&lines).spending().1;
    assert_eq!((spent.turns, spent.usage.input, spent.usage.output), (2, 10, 13));
}

#[test]
fn what_is_no_session_is_refused_with_its_place() {
    let roo = |conversation: &str| ImportSource::Roo {
        conversation: conversation.into(),
        shown: None,
        item: None,
    };
    for (source, words) in [
        (roo("[\n{"), "api_conversation_history.json:2: "),
        (roo("[]"), "it does not begin with words of a user"),
        (ImportSource::Claude("{}\n{\n".into()), "the session:2: "),
        (ImportSource::Claude("{}".into()), "it is no session"),
        (ImportSource::Journal("{}".into()), "the exported session:1: "),
        (ImportSource::Journal(r#"{"version":99,"events":[]}"#.into()), "its format is 99"),
        (ImportSource::Journal(r#"{"version":3,"events":[]}"#.into()), "it does not begin as"),
    ] {
        let error = import(&source, "/x").unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
