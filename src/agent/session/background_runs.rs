//! Commands in the background, as the journal tells of them: what ran, and what ended it.
//!
//! In: events in order. Out: a command for reports, once it is over.

use std::collections::BTreeMap;

use crate::session::command_report::{BackgroundEnd, CommandReport};
use crate::session::event::Event;
use crate::session::task::TaskState;
use crate::tools::command_details::CommandDetails;
use locum_base::id::TaskId;
use locum_sandbox::exec::Exit;

/// The commands that run in the background, by task and number.
#[derive(Clone, Debug, Default)]
pub(crate) struct BackgroundRuns(BTreeMap<(TaskId, u32), String>);

impl BackgroundRuns {
    /// Takes an event of a task in; returns the commands that are over with it.
    pub(crate) fn ended_by(
        &mut self,
        event: &Event,
        task: Option<&TaskState>,
    ) -> Vec<CommandReport> {
        match event {
            Event::Answered { task: id, call, observation, .. } => {
                let Some(note) = observation.background else { return Vec::new() };
                let waiting = task.and_then(|task| task.turn.call(call));
                let command = waiting.and_then(|waiting| waiting.command.clone());
                let Some(exit) = note.exit else {
                    self.0.insert((*id, note.number), command.unwrap_or_default());
                    return Vec::new();
                };
                let by = if note.stopped { BackgroundEnd::Stopped } else { BackgroundEnd::Itself };
                // One that ended at once is answered by the call that started it.
                let command = self.0.remove(&(*id, note.number)).or(command);
                command.map(|command| report(command, exit, by)).into_iter().collect()
            }
            Event::TaskEnded { task: id, .. } | Event::ModeSwitched { task: id, .. } => {
                let over: Vec<(TaskId, u32)> =
                    self.0.keys().filter(|(task, _)| task == id).copied().collect();
                let commands = over.iter().filter_map(|key| self.0.remove(key));
                commands.map(|it| report(it, Exit::Signal(9), BackgroundEnd::Task)).collect()
            }
            _other => Vec::new(),
        }
    }
}

fn report(command: String, exit: Exit, by: BackgroundEnd) -> CommandReport {
    CommandReport { command, exit, details: CommandDetails::default(), background: Some(by) }
}
