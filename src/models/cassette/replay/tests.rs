//! Cassettes recorded, replayed and refused.

use std::sync::Arc;

use futures::executor::block_on;
use futures::stream::{self, BoxStream, StreamExt};
use pretty_assertions::assert_eq;

use super::{ReplayModel, difference_text};
use crate::cassette::record::{CassetteWriter, RecordingModel};
use crate::cassette::{Capacities, Capacity, RequestField, RequestPart};
use crate::profile::ToolProtocol;
use crate::scripted::ScriptedModel;
use crate::scripted::script::ModelScript;
use crate::tokens::Tokenizer;
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Message, StopReason, ToolResult};
use locum_base::secret::{Redactor, Secret};
use locum_base::tool::ToolName;

const SCRIPT: &str = "version: 1\nname: a play\ntasks: [{ turns: [{ say: the key is \
                      hunter2hunter2, calls: [{ tool: read_file, args: { path: a } }] }, { \
                      say: done }] }]\n";

fn request<'a>(system: &'a str, messages: &'a [Message], turn: u32) -> ModelRequest<'a> {
    ModelRequest { system, turn, ..ModelRequest::with(messages) }
}

fn ask(model: &dyn Model, request: ModelRequest<'_>) -> Result<Vec<Delta>, ModelError> {
    block_on(model.stream(request).collect::<Vec<_>>()).into_iter().collect()
}

/// The conversation of a run whose file held these words.
fn conversation(words: &str) -> Vec<Message> {
    let calls = vec![locum_base::chat::ToolCall {
        id: "s".into(),
        name: "read_file".into(),
        arguments: r#"{"path":"a"}"#.into(),
    }];
    let results =
        vec![ToolResult { call_id: "s".into(), text: words.into(), ..ToolResult::default() }];
    vec![
        Message::User { text: "go".into() },
        Message::Assistant { text: String::new(), reasoning: String::new(), calls, opaque: None },
        Message::Tool { results },
    ]
}

fn capacities() -> Capacities {
    let main = Capacity {
        window: 9000,
        condense_percent: 60,
        sees_images: true,
        tool_protocol: ToolProtocol::Xml,
        tokenizer: Tokenizer::O200k,
        included_tools: vec![ToolName::ApplyPatch],
    };
    let task = Capacity {
        window: 5000,
        condense_percent: 75,
        sees_images: false,
        tool_protocol: ToolProtocol::Native,
        tokenizer: Tokenizer::Bytes,
        included_tools: Vec::new(),
    };
    Capacities {
        condense: Some(task.clone()),
        own: [("ask".to_owned(), task.clone())].into(),
        experts: vec!["wise".to_owned()],
        image_models: vec!["brush".to_owned()],
        main,
        task,
    }
}

/// The file of a run, and what the model of that run said turn by turn.
fn recorded() -> (String, [Vec<Delta>; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cassette");
    let tape =
        CassetteWriter::open(&path, Redactor::new([Secret::new("hunter2hunter2")]), capacities())
            .unwrap();
    let model = RecordingModel::new(
        Box::new(ScriptedModel::new(ModelScript::parse("s", SCRIPT).unwrap())),
        Arc::new(tape),
    );
    let messages = conversation("one\ntwo");
    let first = ask(&model, request("be brief", &messages[..1], 0)).unwrap();
    let second = ask(&model, request("be brief", &messages, 1)).unwrap();
    (std::fs::read_to_string(path).unwrap(), [first, second])
}

#[test]
fn plays_what_was_recorded_without_its_secrets() {
    let (text, [mut first, second]) = recorded();
    assert!(!text.contains("hunter2") && text.lines().count() == 3, "{text}");
    assert_eq!(
        first[0],
        Delta::Text("the key is hunter2hunter2".into()),
        "the run itself heard it"
    );
    first[0] = Delta::Text("the key is ***".into());
    let replay = ReplayModel::parse("run.cassette", &text, []).unwrap();
    assert_eq!(replay.capacities(), &capacities());
    let messages = conversation("one\ntwo");
    assert_eq!(ask(&replay, request("be brief", &messages[..1], 0)).unwrap(), first);
    assert_eq!(ask(&replay, request("be brief", &messages, 1)).unwrap(), second);
    let beyond = ask(&replay, request("be brief", &messages, 2)).unwrap_err().to_string();
    assert!(beyond.contains("nothing was recorded there"), "{beyond}");
}

#[test]
fn names_the_first_difference_and_tolerates_what_it_is_told_to() {
    let (text, [_, second]) = recorded();
    let strict = ReplayModel::parse("run.cassette", &text, []).unwrap();
    let changed = conversation("one\nzwei");
    let fault = ask(&strict, request("be brief", &changed, 1)).unwrap_err().to_string();
    assert!(
        fault.contains(
            "task 0, turn 2: `answers` is not what was recorded, from line 2 on: now it reads \
             `zwei`, recorded was `two`"
        ),
        "{fault}"
    );
    let fault = ask(&strict, request("be long", &changed, 1)).unwrap_err().to_string();
    assert!(fault.contains("`system`") && fault.contains("--replay-tolerate system"), "{fault}");
    let shorter = ask(&strict, request("be brief", &changed[..1], 1)).unwrap_err().to_string();
    assert!(shorter.contains("`before`"), "{shorter}");
    let tolerant = ReplayModel::parse("run.cassette", &text, [RequestField::Answers]).unwrap();
    assert_eq!(ask(&tolerant, request("be brief", &changed, 1)).unwrap(), second);
    let fault = ask(&tolerant, request("be long", &changed, 1)).unwrap_err().to_string();
    assert!(fault.contains("`system` is not what was recorded"), "{fault}");
}

#[test]
fn says_whether_lines_came_went_or_changed() {
    let told_of = |recorded: &str, now: &str| {
        let fault = difference_text(
            &RequestPart::of(RequestField::System, recorded),
            &RequestPart::of(RequestField::System, now),
            now,
        );
        fault.split_once("recorded, ").unwrap().1.split_once("; `--").unwrap().0.to_owned()
    };
    for (recorded, now, expected) in [
        ("a\nb\nc", "a\nB\nc", "from line 2 on: now it reads `B`, recorded was `b`"),
        ("a\nb\nc", "a\nc", "from line 2 on: 1 recorded line went (`b`); `c` follows now"),
        ("a\nb\nc", "a\nx\ny\nb\nc", "from line 2 on: 2 lines came: it reads `x`"),
        (
            "a\nb\nc",
            "a\nx\ny\nc",
            "from line 2 on: now it reads `x`, recorded was `b` (2 lines in place of 1)",
        ),
        ("a\nb\nc", "a", "from line 2 on: it ends there now; 2 recorded lines went (`b`)"),
        ("a\na", "a\na\na", "from line 3 on: 1 line came: it reads `a`"),
    ] {
        assert_eq!(told_of(recorded, now), expected, "{recorded:?} {now:?}");
    }
}

/// A model for which two messages are too many.
struct SmallModel;

impl Model for SmallModel {
    fn label(&self) -> &str {
        "small"
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let too_long =
            ModelError::TooLong { model: "small".into(), message: "too many tokens".into() };
        let fits = request.messages.len() < 2;
        let items = if fits {
            vec![Ok(Delta::Text("short".into())), Ok(Delta::Stop(StopReason::End))]
        } else {
            vec![Err(too_long)]
        };
        stream::iter(items).boxed()
    }
}

#[test]
fn a_conversation_that_was_too_long_is_too_long_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cassette");
    let model = RecordingModel::new(
        Box::new(SmallModel),
        Arc::new(CassetteWriter::open(&path, Redactor::new([]), capacities()).unwrap()),
    );
    let messages = conversation("one");
    let ask_both = |model: &dyn Model| {
        (ask(model, request("s", &messages, 1)), ask(model, request("s", &messages[..1], 1)))
    };
    let (too_long, shortened) = ask_both(&model);
    assert!(matches!(too_long, Err(ModelError::TooLong { .. })) && shortened.is_ok());
    let replay = ReplayModel::parse("x", &std::fs::read_to_string(path).unwrap(), []).unwrap();
    let played = ask_both(&replay);
    assert!(
        matches!(&played.0, Err(ModelError::TooLong { message, .. }) if message == "too many tokens"),
        "{played:?}"
    );
    assert_eq!(played.1, shortened);
}

#[test]
fn says_what_is_no_cassette() {
    let first = recorded().0.lines().next().unwrap().to_owned();
    for (text, words) in [
        ("", "is not a cassette"),
        ("{}", "is not a cassette"),
        ("{\"cassette\":9}", "version 9"),
        ("{\"cassette\":2}", "line 1"),
        (&format!("{first}\n{{}}"), "line 2"),
    ] {
        let fault = ReplayModel::parse("x", text, []).unwrap_err();
        assert!(fault.contains(words), "{fault}");
    }
}
