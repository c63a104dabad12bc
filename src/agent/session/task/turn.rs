//! `Turn`: the calls of a task's last reply until each has its answer, and what is still to be done
//! about them.

use std::collections::VecDeque;

use crate::session::event::Event;
use crate::session::promotion::{HeldChanges, Promotion};
use crate::session::recorded::{FileBefore, GeneratedImage, RecordedDecision};
use crate::tools::{Control, Observation};
use locum_base::chat::{Message, Reply, StopReason, ToolCall, ToolResult};
use locum_base::id::TaskId;
use locum_sandbox::exec::Exit;

/// The last reply of a task and what became of it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Model replies of this task alone: the number of the next one.
    pub number: u32,
    /// The calls of the last reply in order, answered or not; empty once all of them are and stand
    /// in the conversation.
    pub waiting: Vec<WaitingCall>,
    /// True when the last reply called no tool and the model was not reminded of it yet.
    pub needs_nudge: bool,
    /// Replies in a row that called no tool.
    pub toolless_in_a_row: u32,
    /// Why the last reply stopped.
    pub stop: StopReason,
    /// What answered calls asked of the session and has not been done yet.
    pub pending_controls: VecDeque<Control>,
    /// Reminders that arose while calls wait; they come after their answers.
    held_back: Vec<Message>,
}

/// A call of the last reply.
#[derive(Clone, Debug)]
pub struct WaitingCall {
    /// The call as the model wrote it.
    pub call: ToolCall,
    /// True when a secret was taken out of its arguments.
    pub withheld: bool,
    /// One line for readers, once it was judged.
    pub headline: Option<String>,
    /// The script it would run, once it was judged.
    pub command: Option<String>,
    /// What a maintainer decided on it.
    pub decided: Option<RecordedDecision>,
    /// Whether hooks were asked about it and none is against it.
    pub hooked: bool,
    /// Set when its effect was announced.
    pub performing: Option<AnnouncedEffect>,
    /// What another model answered to the question it puts.
    pub consulted: Option<String>,
    /// What another model gave for the image it asks for.
    pub generated: Option<GeneratedImage>,
    /// The sub-task it started.
    pub child: Option<TaskId>,
    /// Answer to the call, once there is one.
    pub answer: Option<ToolResult>,
}

/// What there was before an effect that was announced.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnouncedEffect {
    /// The files it edits.
    pub before: Vec<FileBefore>,
    /// For commands: the checkout, stored next to the journal under this hash.
    pub snapshot: Option<String>,
    /// For commands that ended: what was to become of what they wrote.
    pub promotion: Option<Box<Promotion>>,
}

impl Turn {
    /// Returns the calls without an answer, in order.
    pub fn open(&self) -> impl Iterator<Item = &WaitingCall> {
        self.waiting.iter().filter(|waiting| waiting.answer.is_none())
    }

    /// Returns the call that a line of the journal answers.
    pub(crate) fn answered_by(&self, event: &Event) -> Option<&WaitingCall> {
        let Event::Answered { call, .. } = event else { return None };
        self.call(call)
    }

    /// Returns a call of the last reply.
    pub fn call(&self, call: &str) -> Option<&WaitingCall> {
        self.waiting.iter().find(|waiting| waiting.call.id == call)
    }

    /// Returns a call of the last reply that has no answer.
    pub(crate) fn open_call(&mut self, call: &str) -> Option<&mut WaitingCall> {
        self.waiting.iter_mut().find(|waiting| waiting.call.id == call && waiting.answer.is_none())
    }

    /// Returns what comes after the answers to the calls that wait.
    pub(crate) fn held_back(&self) -> &[Message] {
        &self.held_back
    }

    /// Takes an event in; returns the messages it adds to the conversation.
    pub(crate) fn apply(&mut self, event: &Event) -> Vec<Message> {
        if let Event::Replied { reply, withheld, .. } = event {
            return vec![self.begin(reply.clone(), withheld)];
        }
        if let Event::Reminded { text, .. } = event {
            return self.remind(text.clone());
        }
        if let Event::MessageRead { text, images, .. } = event {
            // A result that was given before it was read is not the last word.
            self.pending_controls.retain(|control| !matches!(control, Control::Complete { .. }));
            let shown = (!images.is_empty()).then(|| Message::Images { images: images.clone() });
            let said = Message::User { text: text.clone() };
            return self.say(std::iter::once(said).chain(shown).collect());
        }
        if let Event::Answered { call, observation, .. } = event {
            return self.answer(call, observation);
        }
        if matches!(event, Event::TodosChanged { .. } | Event::ModeSwitched { .. }) {
            self.pending_controls.pop_front();
        }
        self.note(event);
        Vec::new()
    }

    fn begin(&mut self, reply: Reply, withheld: &[String]) -> Message {
        let calls = &reply.calls;
        self.number = self.number.saturating_add(1);
        self.stop = reply.stop;
        self.needs_nudge = calls.is_empty();
        self.toolless_in_a_row =
            if calls.is_empty() { self.toolless_in_a_row.saturating_add(1) } else { 0 };
        let waiting = |call: &ToolCall| WaitingCall::new(call.clone(), withheld.contains(&call.id));
        self.waiting = calls.iter().map(waiting).collect();
        reply.into_message()
    }

    /// Takes a message to the model in; returns it where no call waits, else it comes after the
    /// answers.
    pub(crate) fn remind(&mut self, text: String) -> Vec<Message> {
        self.say(vec![Message::User { text }])
    }

    /// As [`Turn::remind`], for several messages.
    fn say(&mut self, messages: Vec<Message>) -> Vec<Message> {
        self.needs_nudge = false;
        if self.waiting.is_empty() {
            return messages;
        }
        self.held_back.extend(messages);
        Vec::new()
    }

    /// Takes an answer in; once every call has one, they become a message and the turn is over.
    fn answer(&mut self, call: &str, observation: &Observation) -> Vec<Message> {
        let Some(waiting) = self.open_call(call) else { return Vec::new() };
        waiting.answer = Some(ToolResult {
            call_id: call.to_owned(),
            text: observation.text.clone(),
            is_error: observation.is_error,
            command_failed: observation.exit.is_some_and(|exit| exit != Exit::Code(0)),
            images: observation.images.clone(),
        });
        let control = observation.control.clone().filter(|_| !observation.is_error);
        self.pending_controls.extend(control);
        if self.open().next().is_some() {
            return Vec::new();
        }
        let results = std::mem::take(&mut self.waiting);
        let results = results.into_iter().filter_map(|waiting| waiting.answer).collect();
        let held_back = std::mem::take(&mut self.held_back).into_iter();
        std::iter::once(Message::Tool { results }).chain(held_back).collect()
    }

    /// Forgets what hooks said of calls that have no answer.
    pub(crate) fn ask_hooks_again(&mut self) {
        self.waiting.iter_mut().for_each(|waiting| waiting.hooked = false);
    }

    /// Notes what an event says of a call on its way to an answer.
    fn note(&mut self, event: &Event) {
        if let Event::Judged { call, headline, command, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            waiting.headline = Some(headline.clone());
            waiting.command.clone_from(command);
        } else if let Event::HooksRan { call, stops, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            waiting.hooked = !stops;
        } else if let Event::Decided { call, decision, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            waiting.decided = Some(decision.clone());
        } else if let Event::Performing { call, before, snapshot, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            let (before, snapshot) = (before.clone(), snapshot.clone());
            waiting.performing = Some(AnnouncedEffect { before, snapshot, promotion: None });
        } else if let Event::Promoting { call, promotion, .. } = event
            && let Some(waiting) = self.open_call(call)
            && let Some(performing) = &mut waiting.performing
        {
            performing.promotion = Some(promotion.clone());
        } else if let Event::Consulted { call, answer, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            waiting.consulted = Some(answer.clone());
        } else if let Event::ImageGenerated { call, generated, .. } = event
            && let Some(waiting) = self.open_call(call)
        {
            waiting.generated = Some(generated.clone());
        }
    }
}

impl WaitingCall {
    /// Returns what the command wrote that waits for a decision; `None` where there is nothing.
    pub(crate) fn held_changes(&self) -> Option<&HeldChanges> {
        let promotion = self.performing.as_ref()?.promotion.as_ref()?;
        promotion.held.as_ref().filter(|_| promotion.settled)
    }

    /// Returns a call that nothing is known of yet.
    pub(crate) fn new(call: ToolCall, withheld: bool) -> Self {
        Self {
            call,
            withheld,
            headline: None,
            command: None,
            decided: None,
            hooked: false,
            performing: None,
            consulted: None,
            generated: None,
            child: None,
            answer: None,
        }
    }
}
