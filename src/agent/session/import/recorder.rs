//! Writes what happened in another agent's session as events of ours.

use jiff::Timestamp;
use serde_json::json;

use crate::session::event::{Event, JOURNAL_VERSION, JournalLine, SessionStart};
use crate::session::id::SessionId;
use crate::session::import::blocks::Said;
use crate::session::messages::PersonMessage;
use crate::session::recorded::ReplyCharge;
use crate::tools::Observation;
use locum_base::chat::{Reply, ToolResult};
use locum_base::id::TaskId;
use locum_base::json;
use locum_modes::prompts::place::RunPlace;
use locum_policy::budget::Budget;
use locum_policy::intent::Facts;
use locum_workspace::repo::CommitId;

/// Who wrote the words of a user that has no name there.
const USER: &str = "the user";

/// What is known of a session before its first message.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) mode: String,
    pub(super) model: String,
    pub(super) folder: String,
}

/// Writes events.
pub(super) struct Recorder {
    pub(super) lines: Vec<JournalLine>,
    tasks: Vec<TaskCalls>,
    mode: String,
    at: Timestamp,
}

/// The calls of a task's last reply: names by id.
#[derive(Default)]
struct TaskCalls(Vec<(String, String)>);

impl Recorder {
    /// Begins with the root task.
    pub(super) fn begin(known: &Known, task: &str, at: Timestamp) -> Self {
        let mode = if known.mode.is_empty() { "code" } else { &known.mode };
        let start = SessionStart {
            version: JOURNAL_VERSION,
            id: SessionId::fresh(),
            task: task.to_owned(),
            message: task.to_owned(),
            images: Vec::new(),
            earlier: None,
            mode: mode.to_owned(),
            facts: Facts { mode: mode.to_owned(), ..Facts::default() },
            budget: Budget::default(),
            base: CommitId(String::new()),
            policy_hash: String::new(),
            models: (known.model.clone(), known.model.clone()),
            mode_models: std::collections::BTreeMap::new(),
            fork: None,
            condense_model: None,
            place: RunPlace::default(),
            caller: json!({ "folder": known.folder }),
        };
        let first = JournalLine { at, event: Event::Started(Box::new(start)) };
        let mut recorder =
            Self { lines: vec![first], tasks: Vec::new(), mode: mode.to_owned(), at };
        recorder.start_task(None, task);
        recorder
    }

    /// Begins a task; returns it.
    pub(super) fn start_task(&mut self, parent: Option<TaskId>, message: &str) -> TaskId {
        let task = TaskId(u32::try_from(self.tasks.len()).unwrap_or(u32::MAX));
        self.tasks.push(TaskCalls::default());
        self.write(Event::TaskStarted {
            task,
            parent,
            parent_call: None,
            mode: self.mode.clone(),
            message: message.to_owned(),
            title: None,
            todos: Vec::new(),
            budget: Budget::default(),
            tree: None,
        });
        task
    }

    /// Takes the time of what follows; one that lies before the last is left out.
    pub(super) fn now(&mut self, at: Option<Timestamp>) {
        self.at = at.filter(|at| *at > self.at).unwrap_or(self.at);
    }

    /// Writes what a model said, and what it called.
    pub(super) fn replied(&mut self, task: TaskId, reply: Reply, charge: ReplyCharge) {
        if let Some(TaskCalls(calls)) = self.tasks.get_mut(task.0 as usize) {
            *calls = reply.calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        }
        let done = reply.calls.iter().find(|call| call.name == "attempt_completion");
        let result = done.map(|call| {
            let arguments: serde_json::Value =
                serde_json::from_str(&call.arguments).unwrap_or_default();
            json::text(&arguments, "result").to_owned()
        });
        self.write(Event::Replied { task, reply, charge, priced: true, withheld: Vec::new() });
        if let Some(result) = result {
            let (status, reason, verdict) = (None, None, None);
            self.write(Event::TaskEnded { task, result, completed: true, status, reason, verdict });
        }
    }

    /// Writes what was said to a model: answers, and words of a person.
    pub(super) fn said(&mut self, task: TaskId, said: Said) {
        for ToolResult { call_id, text, is_error, .. } in said.results {
            let known = self
                .tasks
                .get(task.0 as usize)
                .and_then(|TaskCalls(calls)| calls.iter().find(|(id, _)| *id == call_id));
            let tool = known.map_or_else(String::new, |(_, name)| name.clone());
            let observation = Observation { text, is_error, ..Observation::default() };
            self.write(Event::Answered {
                task,
                call: call_id,
                tool,
                observation,
                refusal: None,
                mistake: false,
            });
        }
        if !said.text.is_empty() {
            let id = format!("{:08}", self.lines.len());
            let (by, text) = (USER.to_owned(), said.text);
            let message =
                PersonMessage { id: id.clone(), by, text: text.clone(), images: Vec::new() };
            self.write(Event::MessageReceived { message });
            self.write(Event::MessageRead { task, message: id, text, images: Vec::new() });
        }
    }

    fn write(&mut self, event: Event) {
        self.lines.push(JournalLine { at: self.at, event });
    }
}
