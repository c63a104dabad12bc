//! What a run at work does right now: the commands and edits that have not ended, and since when.
//!
//! In: each event as it happens. Out: what is under way, by task. It is computed anew in each
//! process; nothing depends on it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::report::figures;
use crate::report::surface::Surface;
use crate::session::event::{Event, JournalLine};
use crate::session::state::SessionState;
use locum_base::id::TaskId;

/// Most activities that are shown: of parallel sub-tasks, each may have one.
const SHOWN_LIMIT: usize = 4;

/// Something that began and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// One line for readers: `run cargo test`.
    pub what: String,
    /// When it began.
    pub since: Timestamp,
}

/// What is under way, by task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activities(BTreeMap<TaskId, Activity>);

impl Activities {
    /// Takes in an event, given the state it led to.
    pub fn take_in(&mut self, line: &JournalLine, state: &SessionState) {
        let what = match &line.event {
            Event::Performing { task, call, .. } => {
                let waiting = state.task(*task).map(|task| &task.turn.waiting);
                let waiting =
                    waiting.and_then(|calls| calls.iter().find(|waits| waits.call.id == *call));
                waiting.and_then(|waits| waits.headline.clone())
            }
            Event::Checking { commands, .. } => Some(commands.join(", ")),
            _ => None,
        };
        let Some(task) = line.event.task() else { return };
        match what {
            Some(what) => {
                self.0.insert(task, Activity { what, since: line.at });
            }
            None => {
                self.0.remove(&task);
            }
        }
    }

    /// Returns whether something is under way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns since when the latest of it is.
    pub fn latest(&self) -> Option<Timestamp> {
        self.0.values().map(|activity| activity.since).max()
    }

    /// Returns what is under way at a time, one line each.
    pub(crate) fn render(&self, now: Timestamp, surface: Surface) -> String {
        let activities: Vec<&Activity> = self.0.values().collect();
        let lines = activities.iter().take(SHOWN_LIMIT).map(|activity| {
            let seconds = now.duration_since(activity.since).as_secs();
            let elapsed = figures::duration(u64::try_from(seconds).unwrap_or_default());
            format!("⏳ {} for {elapsed}", surface.code(&activity.what))
        });
        lines.collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Activities;
    use crate::report::surface::Surface;
    use crate::session::event::{Event, JournalLine};
    use crate::session::state::SessionState;
    use jiff::Timestamp;
    use locum_base::id::TaskId;
    use pretty_assertions::assert_eq;

    fn at(second: i64, event: Event) -> JournalLine {
        JournalLine { at: Timestamp::from_second(second).unwrap(), event }
    }

    #[test]
    fn what_runs_is_shown_with_its_time_until_it_ends() {
        let state = SessionState::default();
        let mut activities = Activities::default();
        let now = Timestamp::from_second(230).unwrap();
        let commands = vec!["cargo test".to_owned()];
        let (task, call) = (TaskId(0), "c".to_owned());
        let checking = Event::Checking { task, call: call.clone(), commands, snapshot: None };
        activities.take_in(&at(30, checking), &state);
        activities.take_in(&at(40, Event::Resumed), &state);
        assert_eq!(activities.latest(), Some(Timestamp::from_second(30).unwrap()));
        assert_eq!(activities.render(now, Surface::Markdown), "⏳ `cargo test` for 3 min 20 s");
        let ended = Event::Checked { task, call, checks: Vec::new(), handed_back: false };
        activities.take_in(&at(231, ended), &state);
        assert_eq!(activities.render(now, Surface::Markdown), "");
        assert!(activities.is_empty());
    }
}
