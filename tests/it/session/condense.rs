//! Conversations that grow too long: summed up or cut, with what counts kept, in the journal and
//! after a kill.

use futures::stream::{self, BoxStream, StreamExt};
use locum_agent::report::transcript::{EventSelection, transcript};
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::Journal;
use locum_agent::session::model::Fallback;
use locum_agent::session::recorded::CompactionKind;
use locum_agent::session::state::SessionState;
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_models::reply_bounds::ReplyBounds;
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::tokens::Tokenizer;
use locum_models::{Delta, Model, ModelError, ModelRequest};
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, Ran};

/// Reads large files one after the other, after a checklist and a refusal.
const READS: &str = r#"  - mode: code
    turns:
      - calls: [{ tool: update_todo_list, args: { todos: "- [x] begin\n- [ ] read it all" } }]
      - calls: [{ tool: write_to_file, args: { path: src/secret.txt, content: "x" } }]
      - calls: [{ tool: write_to_file, args: { path: src/secret.txt, content: "y" } }, { tool: write_to_file, args: { path: src/new.txt, content: "n" } }]
      - calls: [{ tool: read_file, args: { path: src/1.txt } }]
      - calls: [{ tool: read_file, args: { path: src/2.txt } }]
      - calls: [{ tool: read_file, args: { path: src/3.txt } }]
      - calls: [{ tool: read_file, args: { path: src/4.txt } }]
      - calls: [{ tool: read_file, args: { path: src/5.txt } }]
      - calls: [{ tool: read_file, args: { path: src/6.txt } }]
      - calls: [{ tool: attempt_completion, args: { result: "read" } }]
"#;
const SUMMARIES: &str = r#"  - mode: condense
    turns:
      - { say: "SUMMARY: the first files hold nothing but x." }
      - { say: "SUMMARY: still x." }
      - { say: "SUMMARY: x all along." }
"#;

fn fixture(script: &str) -> Fixture {
    let mut fixture = Fixture::new(script);
    for number in 1..=6 {
        let text = format!("{}\n", "x".repeat(99)).repeat(120);
        std::fs::write(fixture.root.join(format!("src/{number}.txt")), text).unwrap();
    }
    fixture.window = Some(20_000);
    fixture
}

fn shortenings(lines: &[JournalLine]) -> Vec<(CompactionKind, usize, String)> {
    let found = |line: &JournalLine| match &line.event {
        Event::Compacted { how, left_out, text, .. } => Some((*how, *left_out, text.clone())),
        _other => None,
    };
    lines.iter().filter_map(found).collect()
}

fn answers(ran: &Ran) -> usize {
    ran.answers("read_file").iter().filter(|answer| answer.contains("xxx")).count()
}

#[test]
fn a_long_conversation_is_summed_up_and_what_counts_stays() {
    let ran = fixture(&format!("{SUMMARIES}{READS}")).run();
    assert_eq!((ran.word(), answers(&ran)), ("done", 6), "{}", ran.reason());
    let shortened = shortenings(&ran.lines);
    let (how, left_out, text) = shortened.first().unwrap();
    assert_eq!(*how, CompactionKind::Condensed);
    assert!(*left_out >= 3);
    for words in [
        "Do the thing.\nAll of it.\n\n---\n",
        "SUMMARY: the first files hold nothing but x.",
        "- [x] begin\n- [ ] read it all",
        "The policy refused these, and will again:\n- ",
        "nobody changes this one",
        " (2 times)\n",
        "Files you changed so far:\n- src/new.txt\n",
        "- src/1.txt",
    ] {
        assert!(text.contains(words), "{text}\nshould say {words}");
    }
    let state = SessionState::of(&ran.lines);
    let now = &state.task(TaskId(0)).unwrap().conversation.messages;
    assert!(matches!(now.first(), Some(Message::User { text }) if text.contains("SUMMARY")));
    assert!(matches!(now.get(1), Some(Message::Assistant { .. })));
    assert!(state.task(TaskId(0)).unwrap().conversation.size_bytes < 80_000);
    let shown = transcript(&ran.lines, &EventSelection::default());
    assert!(shown.contains("messages of its context were condensed ("), "{shown}");
    assert!(shown.contains(" out · about $0.00); this stands for them:\nDo the thing."), "{shown}");
    assert!(ran.outcome.tasks[0].turns == 10, "a summary is no turn");
}

#[test]
fn a_profile_says_how_full_the_window_gets() {
    let first = |percent: Option<u32>| {
        let mut fixture = fixture(&format!("{SUMMARIES}{READS}"));
        fixture.condense_percent = percent;
        let ran = fixture.run();
        assert_eq!((ran.word(), answers(&ran)), ("done", 6), "{}", ran.reason());
        let is_shortened = |line: &JournalLine| matches!(line.event, Event::Compacted { .. });
        ran.lines.iter().position(is_shortened).unwrap_or(ran.lines.len())
    };
    let (early, usual, late) = (first(Some(30)), first(None), first(Some(100)));
    assert!(early < usual && usual < late, "{early}, {usual}, {late}");
    assert_eq!(usual, first(Some(75)));
}

#[test]
fn where_nobody_sums_up_the_beginning_is_left_out() {
    let ran = fixture(READS).run();
    assert_eq!((ran.word(), answers(&ran)), ("done", 6), "{}", ran.reason());
    let (how, _, text) = shortenings(&ran.lines).remove(0);
    assert_eq!(how, CompactionKind::Truncated);
    assert!(
        text.contains("messages were left out.")
            && text.contains("- [ ] read it all")
            && text.contains("nobody changes this one"),
        "{text}"
    );
    assert!(
        transcript(&ran.lines, &EventSelection::default())
            .contains("messages of its context were left out")
    );
}

#[test]
fn a_short_conversation_is_left_alone() {
    let mut fixture = fixture(&format!("{SUMMARIES}{READS}"));
    fixture.window = Some(200_000);
    let ran = fixture.run();
    assert_eq!((ran.word(), shortenings(&ran.lines)), ("done", vec![]));
}

#[test]
fn a_kill_at_any_line_changes_nothing() {
    let script = format!("{SUMMARIES}{READS}");
    let whole = fixture(&script).run();
    let at =
        whole.lines.iter().position(|line| matches!(line.event, Event::Compacted { .. })).unwrap();
    for lines in [at, at + 1, at + 2, at + 3] {
        let fixture = fixture(&script);
        assert!(fixture.run_killed_at(lines).is_none());
        let resumed = fixture.resume();
        assert_eq!(shortenings(&resumed.lines), shortenings(&whole.lines), "killed at {lines}");
        assert_eq!((resumed.word(), answers(&resumed)), ("done", 6));
    }
}

/// A model that can take so many bytes of conversation, and says so only when it is too late.
struct Small(ScriptedModel, usize);

impl Model for Small {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let bytes: usize = request.messages.iter().map(Message::size_bytes).sum();
        if bytes > self.1 {
            let err =
                ModelError::TooLong { model: "small".into(), message: "prompt is too long".into() };
            return stream::iter([Err(err)]).boxed();
        }
        self.0.stream(request)
    }
}

fn run_small(limit_bytes: usize) -> Ran {
    let mut fixture = fixture("");
    fixture.window = None;
    let script = format!("version: 1\ntasks:\n{SUMMARIES}{READS}");
    let model = Small(ScriptedModel::new(ModelScript::parse("s", &script).unwrap()), limit_bytes);
    fixture.run_with(&model, usize::MAX, Journal::create(&fixture.journal).unwrap(), None).unwrap()
}

#[test]
fn what_the_provider_calls_too_long_is_shortened_until_it_fits() {
    let ran = run_small(45_000);
    assert_eq!((ran.word(), answers(&ran)), ("done", 6), "{}", ran.reason());
    assert!(!shortenings(&ran.lines).is_empty());
}

#[test]
fn what_never_fits_ends_the_task() {
    let ran = run_small(2000);
    assert_eq!(ran.word(), "failed");
    assert!(
        ran.reason().contains("too long") && shortenings(&ran.lines).len() <= 3,
        "{}",
        ran.reason()
    );
}

/// A model whose summaries another one writes, which takes fewer bytes.
struct SmallSummaries(ScriptedModel, usize);

impl Model for SmallSummaries {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let bytes: usize = request.messages.iter().map(Message::size_bytes).sum();
        if request.mode == "condense" && bytes > self.1 {
            let err =
                ModelError::TooLong { model: "small".into(), message: "prompt is too long".into() };
            return stream::iter([Err(err)]).boxed();
        }
        self.0.stream(request)
    }
}

#[test]
fn a_summary_is_requested_again_in_the_size_of_the_model_that_answers() {
    let summarised = |fallback: Option<u32>| {
        let mut fixture = fixture("");
        fixture.fallbacks.extend(fallback.map(|context_window| Fallback {
            label: "small".to_owned(),
            price: None,
            tokenizer: Tokenizer::Bytes,
            context_window,
            reply: ReplyBounds::default(),
        }));
        let script = format!("version: 1\ntasks:\n{SUMMARIES}{READS}");
        let script = ScriptedModel::new(ModelScript::parse("s", &script).unwrap());
        let model = SmallSummaries(script, 3600);
        let journal = Journal::create(&fixture.journal).unwrap();
        let ran = fixture.run_with(&model, usize::MAX, journal, None).unwrap();
        assert_eq!((ran.word(), answers(&ran)), ("done", 6), "{}", ran.reason());
        (shortenings(&ran.lines).remove(0).0, ran.outcome.notes)
    };
    assert_eq!(summarised(Some(800)).0, CompactionKind::Condensed);
    let (how, notes) = summarised(None);
    assert_eq!(how, CompactionKind::Truncated);
    assert!(notes[0].contains("without a summary: the conversation is too long"), "{notes:?}");
}
