//! `TaskState`: one conversation of a session, as its events left it: six machines that each take
//! every event of the task in, and what the task is and led to.

pub mod budgeting;
pub mod consultation;
pub mod conversation;
pub mod isolation;
pub mod nudges;
pub mod turn;
pub(crate) mod unfit;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::session::command_report::CommandReport;
use crate::session::event::Event;
use crate::session::task::budgeting::TaskBudget;
use crate::session::task::consultation::Consultation;
use crate::session::task::conversation::Conversation;
use crate::session::task::isolation::Isolation;
use crate::session::task::nudges::Nudges;
use crate::session::task::turn::{Turn, WaitingCall};
use crate::tools::files::known::KnownFiles;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::{Control, Observation, Todo};
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_base::image::{IMAGES_LIMIT, IMAGES_LIMIT_BYTES, Image};
use locum_base::path::RepoPath;
use locum_base::text::head;
use locum_modes::access::TaskPurpose;
use locum_policy::budget::{Budget, EndReserve};

/// Most bytes kept of what a model said that called no tool any more.
const LAST_WORDS_LIMIT_BYTES: usize = 32 * 1024;

/// One conversation of a session.
#[derive(Clone, Debug)]
pub struct TaskState {
    /// Number in the session.
    pub id: TaskId,
    /// The task that requested it.
    pub parent: Option<TaskId>,
    /// The root task is depth 0.
    pub depth: u32,
    /// What it is there for.
    pub purpose: TaskPurpose,
    /// Slug of the mode it is in now.
    pub mode: String,
    /// Slugs of the modes it was in, in order: the first is the one it was given.
    pub modes: Vec<String>,
    /// Slugs of the modes it left, each once, the one left last at the end.
    pub left_modes: Vec<String>,
    /// What the call that requested it names it.
    pub title: Option<String>,
    /// First message of its conversation.
    pub message: String,
    /// Checklist as last replaced.
    pub todos: Vec<Todo>,
    /// The mode it chose for the task that asked, and why.
    pub chosen: Option<ChosenMode>,
    /// Commands that it and its sub-tasks ran, in order; of the root task the session has them.
    pub commands: Vec<CommandReport>,
    /// How many of the session's messages from people it has read.
    pub messages_read: usize,
    /// Files it and its sub-tasks touched.
    pub touched: BTreeSet<RepoPath>,
    /// How it ended, once it did.
    pub ended: Option<TaskEnd>,
    /// What it may spend and spent.
    pub budgeting: TaskBudget,
    /// What its model is sent.
    pub conversation: Conversation,
    /// The last reply, with its calls and their answers.
    pub turn: Turn,
    /// Where it works.
    pub isolation: Isolation,
    /// What keeps its model on its way.
    pub nudges: Nudges,
    /// What other models did for it.
    pub consultation: Consultation,
    /// What its model knows of files. Shared with the calls under way.
    pub known: Arc<KnownFiles>,
}

/// The coordinator's choice for the task that requested another mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenMode {
    /// The mode; `None` for a refusal.
    pub slug: Option<String>,
    /// Why it was chosen or refused.
    pub reason: String,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEnd {
    /// Its result in the model's words, or why it failed.
    pub result: String,
    /// How far it came by its own account; `None` where it was ended.
    pub status: Option<CompletionStatus>,
    /// Why it did not reach its goal, in the model's words.
    pub reason: Option<String>,
    /// What the check comes to that it makes.
    pub verdict: Option<CheckVerdict>,
}

impl TaskEnd {
    /// Returns true when it reached its goal by its own account.
    pub fn is_completed(&self) -> bool {
        self.status == Some(CompletionStatus::Done)
    }

    /// Returns why it did not, as a sentence without a full stop; empty when it did.
    pub fn why(&self) -> String {
        match (self.status, &self.reason) {
            (Some(CompletionStatus::Done), _) => String::new(),
            (Some(_), Some(reason)) => format!("the model reports: {reason}"),
            (Some(status), None) => format!("the model reports that {}", status.said()),
            (None, _) => self.result.clone(),
        }
    }
}

impl TaskState {
    /// Begins a task.
    pub fn new(
        id: TaskId,
        parent: Option<TaskId>,
        mode: String,
        message: String,
        budget: Budget,
    ) -> Self {
        let mut conversation = Conversation::default();
        conversation.push(Message::User { text: message.clone() });
        Self {
            id,
            parent,
            depth: 0,
            purpose: TaskPurpose::Work,
            modes: vec![mode.clone()],
            left_modes: Vec::new(),
            title: None,
            mode,
            message,
            todos: Vec::new(),
            chosen: None,
            commands: Vec::new(),
            messages_read: 0,
            touched: BTreeSet::new(),
            ended: None,
            budgeting: TaskBudget { budget, ..TaskBudget::default() },
            conversation,
            turn: Turn::default(),
            isolation: Isolation::default(),
            nudges: Nudges::default(),
            consultation: Consultation::default(),
            known: Arc::default(),
        }
    }

    /// Takes in an event of this task.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.budgeting.own.add(event.charged().unwrap_or_default());
        if matches!(event, Event::Replied { .. }) {
            self.budgeting.note_reply();
        }
        self.nudges.apply(event, &self.turn);
        self.consultation.apply(event, &self.turn);
        let added = self.turn.apply(event);
        self.conversation.apply(event, added);
        self.isolation.apply(event, &self.turn);
        if let Event::Answered { observation: Observation { seen, unconfirmed, .. }, .. } = event
            && !(seen.is_empty() && unconfirmed.is_none())
        {
            Arc::make_mut(&mut self.known).note(seen, unconfirmed.as_ref());
        }
        if matches!(event, Event::Replied { .. }) && self.known.has_asked() {
            Arc::make_mut(&mut self.known).replied();
        }
        if let Event::MessageRead { .. } = event {
            self.messages_read = self.messages_read.saturating_add(1);
        } else if let Event::TaskStarted { title, todos, .. } = event {
            self.title.clone_from(title);
            self.todos.clone_from(todos);
        } else if let Event::TodosChanged { todos, .. } = event {
            self.todos.clone_from(todos);
        } else if let Event::ModeSwitched { from, to, .. } = event {
            self.mode.clone_from(to);
            self.left_modes.retain(|left| left != from);
            self.left_modes.push(from.clone());
            if !self.modes.contains(to) {
                self.modes.push(to.clone());
            }
        } else if let Event::TaskEnded { result, completed, status, reason, verdict, .. } = event {
            let status = if *completed { Some(CompletionStatus::Done) } else { *status };
            let (result, reason, verdict) = (result.clone(), reason.clone(), *verdict);
            self.ended = Some(TaskEnd { result, status, reason, verdict });
        } else if let Event::Answered { observation, .. } = event
            && let Some(Control::CoordinateMode { slug, reason }) = &observation.control
        {
            self.chosen = Some(ChosenMode { slug: slug.clone(), reason: reason.clone() });
        }
    }

    /// Returns what the model said in its last replies, where these called no tool; empty
    /// otherwise. What it said twice is there once.
    pub fn last_words(&self) -> String {
        let mut texts: Vec<&str> = Vec::new();
        let own = self.conversation.messages.iter().skip(self.conversation.earlier.messages);
        for message in own.rev() {
            match message {
                Message::Assistant { text, calls, .. } if calls.is_empty() => {
                    texts.retain(|other| *other != text.trim());
                    texts.push(text.trim());
                }
                Message::User { .. } | Message::Images { .. } => {}
                Message::Assistant { .. } | Message::Tool { .. } => break,
            }
        }
        texts.retain(|text| !text.is_empty());
        texts.reverse();
        head(&texts.join("\n\n"), LAST_WORDS_LIMIT_BYTES).to_owned()
    }

    /// Returns the first call without an answer.
    pub fn first_unanswered(&self) -> Option<&WaitingCall> {
        self.turn.open().next()
    }

    /// Returns what its last two turns take, as far as its earlier ones tell.
    pub(crate) fn end_reserve(&self) -> EndReserve {
        let (own, turns) = (self.budgeting.own, self.turn.number.max(1));
        let average = own.usage.total() / u64::from(turns);
        let tokens = self.conversation.measured.map_or(average, |measured| measured.tokens);
        EndReserve {
            open_calls: u32::try_from(self.turn.open().count()).unwrap_or(u32::MAX),
            tokens: tokens.saturating_mul(2),
            cost_usd: own.cost_usd / f64::from(turns) * 2.0,
        }
    }

    /// Returns what a sub-task of it may spend now.
    pub(crate) fn rest_for_sub_task(&self) -> Budget {
        self.budgeting.budget.carve(&self.budgeting.spent, &self.end_reserve())
    }

    /// Leaves out images that the conversation has no room for; returns a paragraph about each.
    pub(crate) fn leave_out_images(&self, images: &mut Vec<Image>) -> String {
        let mut left_out = String::new();
        if images.is_empty() {
            return left_out;
        }
        let (mut given, mut answered) = (Vec::new(), Vec::new());
        for message in self.conversation.messages.iter().chain(self.turn.held_back()) {
            match message {
                Message::Images { images } => given.extend(images),
                Message::Tool { results } => answered.extend(results),
                Message::User { .. } | Message::Assistant { .. } => {}
            }
        }
        answered.extend(self.turn.waiting.iter().filter_map(|waiting| waiting.answer.as_ref()));
        let shown = given.into_iter().chain(answered.into_iter().flat_map(|result| &result.images));
        let (mut count, mut bytes) = shown.fold((0, 0_usize), |(count, bytes), image| {
            (count + 1, bytes.saturating_add(image.size_bytes))
        });
        images.retain(|image| {
            let fits = count < IMAGES_LIMIT
                && bytes.saturating_add(image.size_bytes) <= IMAGES_LIMIT_BYTES;
            if fits {
                (count, bytes) = (count + 1, bytes + image.size_bytes);
            } else {
                let limit = IMAGES_LIMIT_BYTES / (1024 * 1024);
                left_out.push_str(&format!(
                    "\n\nThis {image} is left out: a conversation holds {IMAGES_LIMIT} images of \
                     {limit} MB together at most."
                ));
            }
            fits
        });
        left_out
    }
}
