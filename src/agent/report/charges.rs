//! What a session spent, request by request: when, in which mode, on which model.
//!
//! In: the lines of a journal. Out: [`SessionCharge`]s, which sums over many sessions are made of.

use jiff::Timestamp;

use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::outcome::ChargedUsage;
use crate::session::state::SessionState;
use crate::session::task::TaskState;

/// What one request of a session cost.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCharge {
    /// When its reply came, or broke off.
    pub at: Timestamp,
    /// Slug of the mode its task was in.
    pub mode: String,
    /// Label of the model; for an expert and a model that works for a tool, the name of its
    /// profile.
    pub model: String,
    /// Tokens and US dollars.
    pub charged: ChargedUsage,
}

/// Returns what a session spent, in order. What the session spent that it was made of is that
/// one's.
pub fn charges(lines: &[JournalLine]) -> Vec<SessionCharge> {
    let mut state = SessionState::default();
    let charge_of = |(at, line): (usize, &JournalLine)| {
        state.apply(line);
        let fork = state.start.as_ref().and_then(|start| start.fork.as_ref());
        charge(line, &state).filter(|_| fork.is_none_or(|fork| at >= fork.lines))
    };
    lines.iter().enumerate().filter_map(charge_of).collect()
}

/// Returns what a line says that was spent, given the state it led to.
pub(crate) fn charge(line: &JournalLine, state: &SessionState) -> Option<SessionCharge> {
    let charged = line.event.charged()?;
    let task = state.task(line.event.task()?)?;
    let model = model(&line.event, task, state.start.as_ref()?);
    Some(SessionCharge { at: line.at, mode: task.mode.clone(), model, charged })
}

fn model(event: &Event, task: &TaskState, start: &SessionStart) -> String {
    let of_the_task = || {
        let (main, sub_task) = &start.models;
        let usual = if task.parent.is_none() { main } else { sub_task };
        start.mode_models.get(&task.mode).unwrap_or(usual).clone()
    };
    match event {
        Event::Replied { reply, .. } => reply.by.clone().unwrap_or_else(of_the_task),
        Event::Consulted { expert, .. } => expert.clone(),
        Event::ImageGenerated { generated, .. } => generated.by.clone(),
        Event::ModelUsed { by, .. } => by.clone(),
        Event::Compacted { .. } => start.condense_model.clone().unwrap_or_else(of_the_task),
        _ => of_the_task(),
    }
}
