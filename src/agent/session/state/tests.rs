//! What events make of a state.

use std::collections::BTreeSet;

use super::SessionState;
use crate::session::earlier::EarlierConversation;
use crate::session::event::{Event, JOURNAL_VERSION, JournalLine, SessionStart};
use crate::session::go_on;
use crate::session::id::SessionId;
use crate::session::recorded::{ReplyCharge, TouchedPath};
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::{Control, Observation};
use locum_base::chat::{Message, Reply, StopReason, ToolCall, Usage};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::prompts::place::RunPlace;
use locum_policy::budget::Budget;
use locum_policy::intent::Facts;
use locum_workspace::repo::CommitId;
use pretty_assertions::assert_eq;

const ROOT: TaskId = TaskId(0);
const CHILD: TaskId = TaskId(1);

#[derive(Default)]
struct RecordedLines(Vec<JournalLine>);

impl RecordedLines {
    /// One more event, a second after the one before.
    fn then(mut self, event: Event) -> Self {
        let at = jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(self.0.len()).unwrap())
            .unwrap();
        self.0.push(JournalLine { at, event });
        self
    }

    /// The first line of a session.
    fn begun(self, id: &str, earlier: Option<EarlierConversation>) -> Self {
        self.then(Event::Started(Box::new(SessionStart {
            version: JOURNAL_VERSION,
            id: SessionId::parse(id).unwrap(),
            task: String::new(),
            message: String::new(),
            images: vec![],
            earlier: earlier.map(Box::new),
            mode: "code".to_owned(),
            facts: Facts::default(),
            budget: Budget::default(),
            base: CommitId("b".into()),
            policy_hash: String::new(),
            models: Default::default(),
            mode_models: Default::default(),
            fork: None,
            condense_model: None,
            place: RunPlace::default(),
            caller: serde_json::Value::Null,
        })))
    }

    fn started(self, task: TaskId, parent: Option<(TaskId, &str)>) -> Self {
        let (parent, parent_call) = parent.map(|(parent, call)| (parent, call.to_owned())).unzip();
        let (mode, message) = ("code".to_owned(), format!("task {task}"));
        self.then(Event::TaskStarted {
            task,
            parent,
            parent_call,
            mode,
            message,
            title: None,
            todos: vec![],
            budget: Budget::default(),
            tree: None,
        })
    }

    fn replied(self, task: TaskId, calls: &[&str]) -> Self {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "read_file".into(),
            arguments: format!("{{\"path\":\"{id}\"}}"),
        };
        let calls: Vec<ToolCall> = calls.iter().map(call).collect();
        let reply =
            Reply { text: "words".into(), calls, stop: StopReason::ToolUse, ..Reply::default() };
        let usage = Usage { input: 10, output: 1, ..Usage::default() };
        self.then(Event::Replied {
            task,
            reply,
            charge: ReplyCharge { usage, estimated: false, cost_usd: 0.5 },
            priced: true,
            withheld: vec![],
        })
    }

    fn answered(self, task: TaskId, call: &str, mistake: bool) -> Self {
        let observation = Observation {
            text: format!("answer {call}"),
            is_error: mistake,
            ..Observation::default()
        };
        self.observed(task, call, observation, mistake)
    }

    fn observed(self, task: TaskId, call: &str, observation: Observation, mistake: bool) -> Self {
        self.then(Event::Answered {
            task,
            call: call.into(),
            tool: "read_file".into(),
            observation,
            refusal: None,
            mistake,
        })
    }

    fn reminded(self, task: TaskId, mistake: bool) -> Self {
        self.then(Event::Reminded { task, text: "go on".into(), mistake, about: None })
    }

    fn state(&self) -> SessionState {
        SessionState::of(&self.0)
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// What the model of the root task is sent next.
fn context(state: &SessionState) -> &[Message] {
    state.task(ROOT).map(|task| task.conversation.messages.as_slice()).unwrap_or_default()
}

#[test]
fn answers_stand_in_call_order_whatever_order_they_came_in() {
    let lines = RecordedLines::default().started(ROOT, None).replied(ROOT, &["a", "b", "c"]);
    let lines = lines.answered(ROOT, "c", false).answered(ROOT, "a", false);
    assert_eq!(context(&lines.state()).len(), 2, "no tool message before every call is answered");
    assert_eq!(lines.state().task(ROOT).unwrap().first_unanswered().unwrap().call.id, "b");
    let state = lines.answered(ROOT, "b", false).state();
    let Some(Message::Tool { results }) = context(&state).last() else { panic!("{state:?}") };
    assert_eq!(
        results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
}

#[test]
fn each_context_begins_with_the_one_before() {
    let lines = RecordedLines::default()
        .started(ROOT, None)
        .replied(ROOT, &["a"])
        .answered(ROOT, "a", false)
        .replied(ROOT, &[]);
    let lines = lines
        .reminded(ROOT, false)
        .replied(ROOT, &["b", "c"])
        .answered(ROOT, "b", true)
        .reminded(ROOT, false);
    let lines = lines.answered(ROOT, "c", false);
    let mut before: Vec<Message> = Vec::new();
    for count in 0..=lines.0.len() {
        let now = context(&SessionState::of(&lines.0[..count])).to_vec();
        assert_eq!(now.get(..before.len()), Some(before.as_slice()), "after {count} lines");
        before = now;
    }
    assert!(
        matches!(before.as_slice(), [.., Message::Tool { .. }, Message::User { .. }]),
        "what was said midway comes after: {before:?}"
    );
}

#[test]
fn a_session_goes_on_with_the_conversation_and_the_work_of_an_ended_one() {
    let touched = vec![TouchedPath { path: path("x"), diff_lines: Some(2), amount: None }];
    let ended = RecordedLines::default()
        .begun("1111", None)
        .started(ROOT, None)
        .replied(ROOT, &["a"])
        .answered(ROOT, "a", false)
        .then(Event::Checkpointed {
            tree: None,
            commit: CommitId("c".into()),
            touched,
            uncommitted: BTreeSet::new(),
        })
        .replied(ROOT, &["cut", "off"])
        .answered(ROOT, "off", false);
    let earlier = go_on::conversation_of(&ended.state()).unwrap();
    let said = context(&ended.state())[..3].to_vec();
    assert_eq!((earlier.messages.clone(), earlier.turns), (said, 2), "no call is open");

    let messages = earlier.messages.clone();
    let next = RecordedLines::default().begun("2222", Some(earlier)).started(ROOT, None);
    let own = Message::User { text: "task 0".into() };
    let state = next.state();
    assert_eq!(context(&state), [messages, vec![own]].concat());
    assert_eq!(state.tree.checkpoint, Some(CommitId("c".into())));
    assert_eq!(state.tree.touched.get(&path("x")), Some(&Some(2)));
    assert_eq!(state.spending().1.turns, 0, "it spends on its own account");
    assert_eq!(state.tasks[0].last_words(), "", "it has said nothing itself");

    // Its own reply makes it a conversation that goes on again.
    let again = next.replied(ROOT, &["b"]).answered(ROOT, "b", false);
    let earlier = go_on::conversation_of(&again.state()).unwrap();
    assert_eq!((earlier.messages.len(), earlier.turns, earlier.session.as_str()), (6, 3, "2222"));
    assert_eq!(go_on::conversation_of(&RecordedLines::default().started(ROOT, None).state()), None);
}

#[test]
fn a_turn_of_mistakes_counts_once_and_a_success_forgets_them() {
    let mistakes =
        |lines: &RecordedLines| lines.state().task(ROOT).unwrap().nudges.mistakes_in_a_row;
    let lines = RecordedLines::default()
        .started(ROOT, None)
        .replied(ROOT, &["a", "b"])
        .answered(ROOT, "a", true)
        .answered(ROOT, "b", true);
    assert_eq!(mistakes(&lines), 1);
    let lines = lines.replied(ROOT, &[]).reminded(ROOT, true);
    assert_eq!(mistakes(&lines), 2);
    let lines =
        lines.replied(ROOT, &["c", "d"]).answered(ROOT, "c", true).answered(ROOT, "d", false);
    assert_eq!(mistakes(&lines), 0);
}

#[test]
fn what_a_sub_task_spends_its_parents_have_spent() {
    let lines = RecordedLines::default()
        .started(ROOT, None)
        .replied(ROOT, &["new"])
        .started(CHILD, Some((ROOT, "new")));
    let lines = lines.replied(CHILD, &["x"]).answered(CHILD, "x", false).replied(CHILD, &["y"]);
    let state = lines.state();
    let (root, child) = (&state.tasks[0], &state.tasks[1]);
    assert_eq!(
        (
            root.budgeting.spent.turns,
            root.budgeting.spent.tool_calls,
            root.budgeting.spent.usage.total(),
            root.budgeting.spent.cost_usd
        ),
        (3, 1, 33, 1.5)
    );
    assert_eq!(
        (
            child.budgeting.spent.turns,
            child.budgeting.spent.tool_calls,
            child.budgeting.spent.usage.total(),
            child.budgeting.spent.cost_usd
        ),
        (2, 1, 22, 1.0)
    );
    assert_eq!(
        (root.turn.number, child.turn.number, child.depth, child.parent),
        (1, 2, 1, Some(ROOT))
    );
    assert_eq!((root.budgeting.spent.seconds, child.budgeting.spent.seconds), (5, 3));
    assert_eq!(root.turn.waiting[0].child, Some(CHILD));
    let ended = lines
        .then(Event::TaskEnded {
            task: CHILD,
            result: "done".into(),
            completed: true,
            status: None,
            reason: None,
            verdict: None,
        })
        .replied(ROOT, &[]);
    assert_eq!(ended.state().running, [ROOT]);
    assert_eq!(ended.state().tasks[1].budgeting.spent.turns, 2, "an ended task spends no more");
}

#[test]
fn the_time_a_session_lay_dead_does_not_count() {
    let mut lines = RecordedLines::default()
        .started(ROOT, None)
        .replied(ROOT, &["a"])
        .then(Event::Resumed { outside_text: false })
        .answered(ROOT, "a", false);
    for line in &mut lines.0[2..] {
        line.at = line.at.saturating_add(jiff::SignedDuration::from_hours(5)).unwrap();
    }
    assert_eq!(lines.state().tasks[0].budgeting.spent.seconds, 2);
}

#[test]
fn counts_changed_files_and_lines_at_checkpoints() {
    let touched = |paths: &[&str]| Observation {
        touched: paths.iter().map(|text| path(text)).collect(),
        ..Observation::default()
    };
    let saved = |sizes: &[(&str, Option<u32>)]| {
        let touched = sizes
            .iter()
            .map(|(text, diff_lines)| TouchedPath {
                path: path(text),
                diff_lines: *diff_lines,
                amount: None,
            })
            .collect();
        let (commit, uncommitted) = (CommitId("c".into()), BTreeSet::new());
        Event::Checkpointed { tree: None, commit, touched, uncommitted }
    };
    let lines = RecordedLines::default().started(ROOT, None).replied(ROOT, &["a"]).observed(
        ROOT,
        "a",
        touched(&["x", "y"]),
        false,
    );
    assert_eq!(lines.state().tree.unsaved.len(), 2);
    let lines = lines.then(saved(&[("x", Some(5)), ("y", Some(2))]));
    let counts = |lines: &RecordedLines| {
        (
            lines.state().tasks[0].budgeting.spent.files,
            lines.state().tasks[0].budgeting.spent.diff_lines,
        )
    };
    assert_eq!(counts(&lines), (2, 7));
    assert!(lines.state().tree.unsaved.is_empty());
    let lines = lines
        .replied(ROOT, &["b"])
        .observed(ROOT, "b", touched(&["x"]), false)
        .then(saved(&[("x", None)]));
    assert_eq!(counts(&lines), (1, 2), "a file that is as it was before is no change");
}

#[test]
fn a_control_is_pending_until_its_event_unless_the_call_failed() {
    let complete = |is_error| Observation {
        is_error,
        control: Some(Control::Complete {
            result: "r".into(),
            status: CompletionStatus::Done,
            reason: None,
            verdict: None,
        }),
        ..Observation::default()
    };
    let lines = || RecordedLines::default().started(ROOT, None).replied(ROOT, &["a"]);
    assert_eq!(
        lines().observed(ROOT, "a", complete(false), false).state().tasks[0]
            .turn
            .pending_controls
            .len(),
        1
    );
    assert_eq!(
        lines().observed(ROOT, "a", complete(true), false).state().tasks[0]
            .turn
            .pending_controls
            .len(),
        0
    );
}
