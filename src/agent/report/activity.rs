//! What a run at work does right now: the commands and edits that have not ended, and since when;
//! of other calls that only look, nothing.
//!
//! In: each event as it happens. Out: what is under way, by task. It is computed again in each
//! process; nothing depends on it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::report::figures;
use crate::report::surface::Surface;
use crate::session::event::{Event, JournalLine};
use crate::session::state::SessionState;
use locum_base::id::TaskId;
use locum_policy::verdict::{Decision, Verdict};

/// Most activities that are shown: parallel sub-tasks and commands may each have one.
const SHOWN_LIMIT: usize = 4;

/// Something that began and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// One line for readers: `run cargo test`.
    pub what: String,
    /// When it began.
    pub since: Timestamp,
}

/// What is under way, by task and call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activities(BTreeMap<(TaskId, String), Activity>);

impl Activities {
    /// Takes in an event, given the state it led to.
    pub fn take_in(&mut self, line: &JournalLine, state: &SessionState) {
        let began = match &line.event {
            Event::Performing { task, call, .. } => {
                let waiting = state.task(*task).and_then(|task| task.turn.call(call));
                waiting.and_then(|waits| waits.headline.clone()).map(|what| (call, what))
            }
            // Commands that only look are not announced; they begin once they may.
            Event::Judged { call, headline, command: Some(_), verdicts, approval, .. } => {
                let allowed = |verdict: &Verdict| verdict.decision == Decision::Allow;
                let begins = approval.is_some() || verdicts.iter().all(allowed);
                begins.then(|| (call, headline.clone()))
            }
            Event::Checking { call, commands, .. } => Some((call, commands.join(", "))),
            _ => None,
        };
        let Some(of) = line.event.task() else { return };
        match (began, &line.event) {
            (Some((call, what)), _) => {
                self.0.insert((of, call.clone()), Activity { what, since: line.at });
            }
            (None, Event::Answered { call, .. }) => {
                self.0.remove(&(of, call.clone()));
            }
            // Several are judged before the first of them begins.
            (None, Event::Judged { .. } | Event::HooksRan { .. }) => {}
            (None, _) => self.0.retain(|(task, _), _| *task != of),
        }
    }

    /// Returns whether something is under way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is under way, by task.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Activity> {
        self.0.values()
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
    use crate::tools::Observation;
    use jiff::Timestamp;
    use locum_base::id::TaskId;
    use locum_policy::verdict::{Decision, Verdict};
    use pretty_assertions::assert_eq;

    fn at(second: i64, event: Event) -> JournalLine {
        JournalLine { at: Timestamp::from_second(second).unwrap(), event }
    }

    #[test]
    fn commands_that_only_look_are_shown_too_until_each_ends() {
        let state = SessionState::default();
        let mut activities = Activities::default();
        let judged = |call: &str, decision, script: Option<&str>| {
            let verdict = Verdict { decision, ..Verdict::denied("x".into(), "y".into()) };
            Event::Judged {
                task: TaskId(0),
                call: call.to_owned(),
                headline: format!("run {call}"),
                command: script.map(str::to_owned),
                verdicts: vec![verdict],
                approval: None,
            }
        };
        for event in [
            judged("git log", Decision::Allow, Some("git log")),
            judged("du", Decision::Allow, Some("du")),
            judged("rm", Decision::Deny, Some("rm")),
            judged("list", Decision::Allow, None),
        ] {
            activities.take_in(&at(30, event), &state);
        }
        let now = Timestamp::from_second(35).unwrap();
        assert_eq!(
            activities.render(now, Surface::Markdown),
            "⏳ `run du` for 5 s\n\n⏳ `run git log` for 5 s"
        );
        let answered = Event::Answered {
            task: TaskId(0),
            call: "git log".to_owned(),
            tool: "execute_command".to_owned(),
            observation: Observation::default(),
            refusal: None,
            mistake: false,
        };
        activities.take_in(&at(33, answered), &state);
        assert_eq!(activities.render(now, Surface::Markdown), "⏳ `run du` for 5 s");
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
        activities.take_in(&at(40, Event::Resumed { outside_text: false }), &state);
        assert_eq!(activities.latest(), Some(Timestamp::from_second(30).unwrap()));
        assert_eq!(activities.render(now, Surface::Markdown), "⏳ `cargo test` for 3 min 20 s");
        let ended = Event::Checked { task, call, checks: Vec::new(), handed_back: false };
        activities.take_in(&at(231, ended), &state);
        assert_eq!(activities.render(now, Surface::Markdown), "");
        assert!(activities.is_empty());
    }
}
