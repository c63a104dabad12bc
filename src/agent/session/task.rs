//! `TaskState`: one conversation of a session, as its events left it.
//!
//! In: what happened in the task, in order. Out: the context its model is sent (grown message by
//! message, never rebuilt, so that what was sent stays the prefix of what is sent next), the calls
//! that still wait for an answer, and its counts.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::session::event::{Decided, FileBefore, ForkedCall, Painting};
use crate::session::outcome::Charged;
use crate::session::repetition::Recent;
use crate::tools::{Control, Observation, Todo};
use locum_base::chat::{Message, Reply, StopReason, ToolCall, ToolResult};
use locum_base::id::TaskId;
use locum_base::image::{IMAGES_LIMIT, IMAGES_LIMIT_BYTES};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::access::Purpose;
use locum_policy::budget::{Budget, Spent};
use locum_sandbox::exec::Exit;
use locum_workspace::merge::Conflict;
use locum_workspace::repo::CommitId;

/// One conversation of a session.
#[derive(Clone, Debug)]
pub struct TaskState {
    /// Its name.
    pub id: TaskId,
    /// Who asked for it.
    pub parent: Option<TaskId>,
    /// The call of the parent that waits for it.
    pub parent_call: Option<String>,
    /// The root task is depth 0.
    pub depth: u32,
    /// What it is there for.
    pub purpose: Purpose,
    /// Its mode now.
    pub mode: String,
    /// What it was told first.
    pub message: String,
    /// What it may spend.
    pub budget: Budget,
    /// Whether it works in a worktree of its own.
    pub apart: bool,
    /// The sub-tasks it starts beside each other, until their calls are answered.
    pub fork: Option<Fork>,
    /// What became of the changes it made in its own worktree.
    pub brought: Option<Brought>,
    /// What it and its sub-tasks spent.
    pub spent: Spent,
    /// True when some of that was estimated or had no price.
    pub spent_is_estimate: bool,
    /// What its own requests used up.
    pub own: Charged,
    /// Wall time it took, with its sub-tasks.
    pub wall: Duration,
    /// Model replies of this task alone.
    pub turns: u32,
    /// The conversation; every call in it is answered as soon as `waiting` is empty. Shared with
    /// the request under way.
    pub messages: Arc<Vec<Message>>,
    /// Bytes of text in `messages`.
    pub context_bytes: usize,
    /// What the provider counted last.
    pub measured: Option<Measured>,
    /// How often its beginning was left out.
    pub shortened: u32,
    /// How often another model answered a question of its.
    pub consulted: u32,
    /// How often another model was asked for a picture.
    pub painted: u32,
    /// The last picture that could not be written where it was to go.
    pub unplaced: Option<Painting>,
    /// The calls of the last reply in order, answered or not; empty once all of them are and stand
    /// in `messages`.
    pub waiting: Vec<WaitingCall>,
    /// True when the last reply called no tool and nothing was said to that yet.
    pub unreminded: bool,
    /// Replies in a row that called no tool.
    pub toolless_in_a_row: u32,
    /// Turns in a row in which the model made mistakes and nothing it called succeeded.
    pub mistakes_in_a_row: u32,
    /// What the last mistake was about.
    pub last_mistake: Option<String>,
    /// Why the last reply stopped.
    pub stop: StopReason,
    /// The last calls, for noticing repetition.
    pub recent: Recent,
    /// What answered calls asked of the session and has not been done yet.
    pub owed: VecDeque<Control>,
    /// Its checklist.
    pub todos: Vec<Todo>,
    /// The edit that its mode kept it from last, and the tool it was to be made with.
    pub barred: Option<(ToolName, RepoPath)>,
    /// The mode it chose for the task that asked, and why; no mode for a refusal.
    pub chosen: Option<(Option<String>, String)>,
    /// What it was told that is told once.
    pub told: BTreeSet<String>,
    /// Files it and its sub-tasks touched.
    pub touched: BTreeSet<RepoPath>,
    /// How it ended, once it did.
    pub ended: Option<TaskEnd>,
    turn_made_mistake: bool,
    turn_succeeded: bool,
    held_back: Vec<String>,
}

/// A conversation with its last reply, as its provider counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its tokens, with what was sent beside it.
    pub tokens: u64,
    /// The bytes of text it had then.
    pub bytes: usize,
    /// The messages it had then.
    pub messages: usize,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEnd {
    /// Its result in the model's words, or why it failed.
    pub result: String,
    /// True when it reached its goal by its own account.
    pub completed: bool,
}

/// Sub-tasks of one turn that work beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    /// The calls that ask for them, and what each may spend.
    pub calls: Vec<ForkedCall>,
    /// What each of them begins with.
    pub from: CommitId,
}

/// What became of the changes that a sub-task made in its own worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Files that changed where its parent works.
    pub taken: Vec<RepoPath>,
    /// What stood in the way; nothing was taken over then.
    pub conflicts: Vec<Conflict>,
    /// The ref its changes are kept on when they were not taken over.
    pub kept: Option<String>,
}

/// A call of the last reply.
#[derive(Clone, Debug)]
pub struct WaitingCall {
    /// The call.
    pub call: ToolCall,
    /// True when a secret was taken out of its arguments.
    pub withheld: bool,
    /// One line for people, once it was judged.
    pub headline: Option<String>,
    /// The script it would run, once it was judged.
    pub command: Option<String>,
    /// What a person said to it.
    pub decided: Option<Decided>,
    /// Set when its effect was announced.
    pub performing: Option<Performing>,
    /// What another model answered to the question it puts.
    pub consulted: Option<String>,
    /// What another model gave for the picture it asks for.
    pub painted: Option<Painting>,
    /// The sub-task it started.
    pub child: Option<TaskId>,
    /// Its answer.
    pub answer: Option<ToolResult>,
}

/// What there was before an effect that was announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performing {
    /// The files it edits.
    pub before: Vec<FileBefore>,
    /// For commands: the checkout, kept beside the journal under this hash.
    pub snapshot: Option<String>,
}

impl TaskState {
    /// Begins a task.
    #[must_use]
    pub fn new(
        id: TaskId,
        parent: Option<(TaskId, String)>,
        mode: String,
        message: String,
        budget: Budget,
    ) -> Self {
        let (parent, parent_call) = parent.unzip();
        let mut task = Self {
            id,
            parent,
            parent_call,
            depth: 0,
            purpose: Purpose::Work,
            mode,
            message: message.clone(),
            budget,
            apart: false,
            fork: None,
            brought: None,
            spent: Spent::default(),
            spent_is_estimate: false,
            own: Charged::default(),
            wall: Duration::ZERO,
            turns: 0,
            messages: Arc::default(),
            context_bytes: 0,
            measured: None,
            shortened: 0,
            consulted: 0,
            painted: 0,
            unplaced: None,
            waiting: Vec::new(),
            unreminded: false,
            toolless_in_a_row: 0,
            mistakes_in_a_row: 0,
            last_mistake: None,
            stop: StopReason::End,
            recent: Recent::default(),
            owed: VecDeque::new(),
            todos: Vec::new(),
            barred: None,
            chosen: None,
            told: BTreeSet::new(),
            touched: BTreeSet::new(),
            ended: None,
            turn_made_mistake: false,
            turn_succeeded: false,
            held_back: Vec::new(),
        };
        task.push(Message::User { text: message });
        task
    }

    /// Returns what requests used up, its own and those of its sub-tasks.
    #[must_use]
    pub fn charged(&self) -> Charged {
        let Spent { turns, usage, cost_usd, .. } = self.spent;
        Charged { turns, usage, cost_usd, is_estimate: self.spent_is_estimate }
    }

    /// Returns the first call without an answer and its place in the reply.
    #[must_use]
    pub fn first_unanswered(&self) -> Option<(usize, &WaitingCall)> {
        self.waiting.iter().enumerate().find(|(_, waiting)| waiting.answer.is_none())
    }

    /// Returns the next call of a fork whose sub-task has not begun.
    #[must_use]
    pub fn to_be_forked(&self) -> Option<(&CommitId, &ForkedCall, &WaitingCall)> {
        let fork = self.fork.as_ref()?;
        let open = |waiting: &&WaitingCall| waiting.answer.is_none() && waiting.child.is_none();
        self.waiting.iter().filter(open).find_map(|waiting| {
            let forked = fork.calls.iter().find(|forked| forked.call == waiting.call.id)?;
            Some((&fork.from, forked, waiting))
        })
    }

    /// Returns a call of the last reply.
    #[must_use]
    pub fn waiting_call(&self, call: &str) -> Option<&WaitingCall> {
        self.waiting.iter().find(|waiting| waiting.call.id == call)
    }

    /// Charges what a request of its own or of a sub-task used up.
    pub(crate) fn charge(&mut self, charged: Charged) {
        self.spent.turns = self.spent.turns.saturating_add(charged.turns);
        self.spent.usage.add(charged.usage);
        self.spent.cost_usd += charged.cost_usd;
        self.spent_is_estimate |= charged.is_estimate;
    }

    pub(crate) fn waiting_call_mut(&mut self, call: &str) -> Option<&mut WaitingCall> {
        self.waiting.iter_mut().find(|waiting| waiting.call.id == call && waiting.answer.is_none())
    }

    pub(crate) fn replied(&mut self, reply: Reply, withheld: &[String]) {
        self.turns = self.turns.saturating_add(1);
        self.stop = reply.stop;
        self.unreminded = reply.calls.is_empty();
        self.toolless_in_a_row =
            if reply.calls.is_empty() { self.toolless_in_a_row.saturating_add(1) } else { 0 };
        self.turn_made_mistake = false;
        self.turn_succeeded = false;
        self.waiting = reply
            .calls
            .iter()
            .map(|call| WaitingCall::new(call.clone(), withheld.contains(&call.id)))
            .collect();
        self.push(reply.into_message());
    }

    /// Takes in what another model gave for a picture that a call asks for.
    pub(crate) fn painted(&mut self, call: &str, painting: &Painting) {
        self.unplaced = None;
        self.painted = self.painted.saturating_add(u32::from(!painting.again));
        if let Some(waiting) = self.waiting_call_mut(call) {
            waiting.painted = Some(painting.clone());
        }
    }

    pub(crate) fn reminded(&mut self, text: String, mistake: bool) {
        self.unreminded = false;
        if mistake {
            self.count_mistake(&text);
        }
        if self.waiting.is_empty() {
            self.push(Message::User { text });
        } else {
            self.held_back.push(text);
        }
    }

    /// Takes an answer in; once every call has one, they become a message and the turn is over.
    pub(crate) fn answered(&mut self, call: &str, observation: &Observation, mistake: bool) {
        let Some(waiting) = self.waiting_call_mut(call) else { return };
        let command_failed = observation.exit.is_some_and(|exit| exit != Exit::Code(0));
        let (text, images) = (observation.text.clone(), observation.images.clone());
        waiting.answer = Some(ToolResult {
            call_id: call.to_owned(),
            text,
            is_error: observation.is_error,
            command_failed,
            images,
        });
        let (made, unplaced) = (
            waiting.call.clone(),
            waiting
                .painted
                .clone()
                .filter(|painting| observation.is_error && painting.image.is_some()),
        );
        self.unplaced = unplaced.or_else(|| self.unplaced.take());
        self.recent.push(&made);
        self.turn_succeeded |= !observation.is_error;
        if mistake {
            self.turn_made_mistake = true;
            self.last_mistake = Some(observation.text.clone());
        }
        self.owed.extend(observation.control.clone().filter(|_| !observation.is_error));
        if let Some(Control::CoordinateMode { slug, reason }) = &observation.control {
            self.chosen = Some((slug.clone(), reason.clone()));
        }
        if self.first_unanswered().is_none() {
            self.close_turn();
        }
    }

    /// Leaves out images of an observation that the conversation has no room for.
    #[must_use]
    pub(crate) fn with_room_for_images(&self, mut observation: Observation) -> Observation {
        if observation.images.is_empty() {
            return observation;
        }
        let answered = self.messages.iter().flat_map(|message| match message {
            Message::Tool { results } => results.as_slice(),
            Message::User { .. } | Message::Assistant { .. } => &[],
        });
        let shown = answered
            .chain(self.waiting.iter().filter_map(|waiting| waiting.answer.as_ref()))
            .flat_map(|result| &result.images);
        let (mut count, mut bytes) = shown.fold((0, 0_usize), |(count, bytes), image| {
            (count + 1, bytes.saturating_add(image.size_bytes))
        });
        observation.images.retain(|image| {
            let fits = count < IMAGES_LIMIT
                && bytes.saturating_add(image.size_bytes) <= IMAGES_LIMIT_BYTES;
            if fits {
                (count, bytes) = (count + 1, bytes + image.size_bytes);
            } else {
                let limit = IMAGES_LIMIT_BYTES / (1024 * 1024);
                let left_out = format!(
                    "\n\nThis {image} is left out: a conversation holds {IMAGES_LIMIT} images of \
                     {limit} MB together at most."
                );
                observation.text.push_str(&left_out);
            }
            fits
        });
        observation
    }

    fn close_turn(&mut self) {
        self.fork = None;
        let results = std::mem::take(&mut self.waiting)
            .into_iter()
            .filter_map(|waiting| waiting.answer)
            .collect();
        self.push(Message::Tool { results });
        for text in std::mem::take(&mut self.held_back) {
            self.push(Message::User { text });
        }
        if self.turn_succeeded {
            self.mistakes_in_a_row = 0;
        } else if self.turn_made_mistake {
            self.mistakes_in_a_row = self.mistakes_in_a_row.saturating_add(1);
        }
    }

    /// Leaves out the first messages, for which this text stands.
    pub(crate) fn shorten(&mut self, left_out: usize, text: String) {
        let rest = self.messages.get(left_out..).unwrap_or_default().iter().cloned();
        self.messages = Arc::new(std::iter::once(Message::User { text }).chain(rest).collect());
        self.context_bytes = self.messages.iter().map(Message::size_bytes).sum();
        self.measured = None;
        // Rules it was told once may be among what was left out.
        self.told.clear();
        self.shortened = self.shortened.saturating_add(1);
    }

    fn count_mistake(&mut self, text: &str) {
        self.mistakes_in_a_row = self.mistakes_in_a_row.saturating_add(1);
        self.last_mistake = Some(text.to_owned());
    }

    fn push(&mut self, message: Message) {
        self.context_bytes = self.context_bytes.saturating_add(message.size_bytes());
        Arc::make_mut(&mut self.messages).push(message);
    }
}

impl WaitingCall {
    fn new(call: ToolCall, withheld: bool) -> Self {
        Self {
            call,
            withheld,
            headline: None,
            command: None,
            decided: None,
            performing: None,
            consulted: None,
            painted: None,
            child: None,
            answer: None,
        }
    }
}
