//! `HookHistory`: which hooks of the session were asked, and which are still to be asked before
//! the next request.
//!
//! In: the session's events. Out: how it began or resumed, prompts that no hook saw, sub-tasks
//! whose beginning hooks saw, and how often each task was kept from ending.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::session::event::Event;
use crate::tools::hooks::HookEvent;
use crate::tools::hooks::question::SessionSource;
use locum_base::id::TaskId;

/// What is known of hooks.
#[derive(Clone, Debug, Default)]
pub struct HookHistory {
    /// How the session began or resumed, until the hooks of that were asked.
    pub source: Option<SessionSource>,
    /// Prompts of the root task that no hook has let pass, in order.
    pub prompts: VecDeque<String>,
    /// Sub-tasks about whose beginning hooks were asked.
    pub begun: BTreeSet<TaskId>,
    /// Times that hooks kept each task from ending.
    kept_from_ending: BTreeMap<TaskId, u32>,
}

impl HookHistory {
    /// Takes an event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        if let Event::Started(start) = event {
            let goes_on = start.earlier.is_some();
            self.source =
                Some(if goes_on { SessionSource::Resume } else { SessionSource::Startup });
            self.prompts.push_back(start.task.clone());
        } else if matches!(event, Event::Resumed { .. }) {
            self.source = Some(SessionSource::Resume);
        } else if let Event::Continued { words: Some(words), .. } = event {
            self.prompts.push_back(words.clone());
        } else if let Event::HooksRan { task, event_name, stops, .. } = event {
            self.asked(*task, *event_name, *stops);
        }
    }

    fn asked(&mut self, task: TaskId, event: HookEvent, stops: bool) {
        match event {
            HookEvent::SessionStart => self.source = None,
            // One that is not let pass is asked about again, if the session ever goes on.
            HookEvent::UserPromptSubmit if stops => {}
            HookEvent::UserPromptSubmit => drop(self.prompts.pop_front()),
            HookEvent::SubagentStart => drop(self.begun.insert(task)),
            HookEvent::Stop | HookEvent::SubagentStop => {
                let times = self.kept_from_ending.entry(task).or_default();
                *times = times.saturating_add(u32::from(stops));
            }
            HookEvent::PreToolUse | HookEvent::PostToolUse => {}
        }
    }

    /// Returns how often hooks kept a task from ending.
    pub(crate) fn kept_from_ending(&self, task: TaskId) -> u32 {
        self.kept_from_ending.get(&task).copied().unwrap_or_default()
    }
}
