//! `CheckedWork`: what a session knows of the policy's checks, and of other commands that ran since
//! the last change.

use crate::session::event::Event;
use crate::session::outcome::{CheckReport, CommandReport};
use locum_policy::command::Script;

/// What is known of checks.
#[derive(Clone, Debug, Default)]
pub struct CheckedWork {
    /// The policy's checks as they ran on what is there now; empty where they did not.
    pub reports: Vec<CheckReport>,
    /// Times a failed check was handed back to the model.
    pub handed_back: u32,
    /// The checks that began and of which nothing is known yet.
    pub under_way: Option<ChecksUnderWay>,
    /// What was decided on a completion that has no answer yet.
    pub decided: Option<DecidedCompletion>,
    /// Whether a command that does more than look ran since the last change.
    pub command_ran: bool,
}

/// Checks that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksUnderWay {
    /// The checkout before them, stored next to the journal under this hash; `None` where they
    /// write to a layer.
    pub snapshot: Option<String>,
}

/// What became of a completion after its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedCompletion {
    /// Id of the call.
    pub call: String,
    /// Whether the model gets the failed check instead of the end of the task.
    pub handed_back: bool,
}

impl CheckedWork {
    /// Takes an event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        if let Event::Checking { snapshot, .. } = event {
            self.under_way = Some(ChecksUnderWay { snapshot: snapshot.clone() });
        } else if let Event::Checked { call, checks, handed_back, .. } = event {
            self.under_way = None;
            self.reports.clone_from(checks);
            self.handed_back = self.handed_back.saturating_add(u32::from(*handed_back));
            let decided = DecidedCompletion { call: call.clone(), handed_back: *handed_back };
            self.decided = Some(decided).filter(|_| !checks.is_empty());
        } else if let Event::Answered { call, .. } = event {
            self.decided.take_if(|decided| decided.call == *call);
        }
    }

    /// Notes that files changed: nothing is known of what is there now.
    pub(crate) fn changed(&mut self) {
        self.reports.clear();
        self.command_ran = false;
    }

    /// Notes a command that ran and changed nothing.
    pub(crate) fn ran(&mut self, report: &CommandReport) {
        self.command_ran |= !Script::parse(&report.command).only_reads();
    }
}
