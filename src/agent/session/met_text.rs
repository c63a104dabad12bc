//! What a session met since it began that may be anyone's text. What it keeps for later runs waits
//! for a maintainer then.

use crate::session::event::Event;
use crate::session::recorded::PersonDecision;
use crate::session::task::turn::WaitingCall;
use crate::tools::dispatch;
use locum_base::tool::ToolName;

/// What a session met since it began that may be anyone's text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetText {
    /// A page, or an answer of a server.
    pub(crate) fetched: bool,
    /// The output of a command, whoever started it: a model, a hook, a check.
    pub(crate) ran: bool,
    /// Words of somebody who answered or decided.
    pub(crate) from_people: bool,
    /// Files of a checkout that may be anyone's when the session was resumed in it.
    pub(crate) files: bool,
}

impl MetText {
    /// Returns what was met after a line of the journal; `answered` is the call that the line
    /// answers.
    pub(crate) fn after(mut self, event: &Event, answered: Option<&WaitingCall>) -> Self {
        match event {
            Event::Answered { observation, refusal, .. } => {
                let began =
                    answered.is_none_or(|call| call.performing.is_some()) || refusal.is_none();
                let tool = answered.and_then(|call| dispatch::meant(&call.call));
                self.fetched |=
                    began && tool.is_some_and(|tool| dispatch::answers(tool).from_outside);
                self.ran |= observation.exit.is_some()
                    || !observation.edit_checks.is_empty()
                    || (began && tool == Some(ToolName::ExecuteCommand));
            }
            Event::Resumed { outside_text } => self.files |= *outside_text,
            Event::HooksRan { .. } | Event::Checked { .. } => self.ran = true,
            Event::Decided { decision, .. } => {
                let has_words = match &decision.word {
                    PersonDecision::Approve => false,
                    PersonDecision::Deny { reason } => !reason.is_empty(),
                    PersonDecision::Answer { .. } => true,
                };
                self.from_people |= has_words || !decision.note.is_empty();
            }
            _ => {}
        }
        self
    }
}
