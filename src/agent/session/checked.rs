//! `CheckedWork`: what a session knows of the policy's checks, and of other commands that ran since
//! the last change.

use crate::session::command_report::CommandReport;
use crate::session::event::Event;
use crate::session::outcome::{CheckEnd, CheckReport};
use crate::tools::edit_check::EditCheck;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::command::Script;
use locum_sandbox::exec::Exit;

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
    /// Whether a command that checks the work ran since the last change, or a check after it.
    pub check_ran: bool,
    /// The last check after an edit of each file, for the files that are still as it saw them.
    pub after_edits: Vec<CheckedEdit>,
}

/// A check after an edit, on files that did not change since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedEdit {
    /// Whose checkout the files are in; `None` is the run's own.
    owner: Option<TaskId>,
    paths: Vec<RepoPath>,
    report: CheckReport,
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

    /// Notes that files changed where a task works: nothing is known of what is there now.
    pub(crate) fn changed(&mut self, owner: Option<TaskId>, paths: &[RepoPath]) {
        self.after_edits
            .retain(|check| check.owner != owner || !check.paths.iter().any(|p| paths.contains(p)));
        if owner.is_none() {
            self.reports.clear();
            self.check_ran = false;
        }
    }

    /// Notes the checks that followed an edit.
    pub(crate) fn followed(&mut self, owner: Option<TaskId>, checks: &[EditCheck]) {
        self.check_ran |= owner.is_none() && checks.iter().any(|check| check.end.is_ok());
        for EditCheck { command, paths, end, output } in checks {
            let end = match end {
                Ok(exit) => CheckEnd::Exited(*exit),
                Err(why) => CheckEnd::NotStarted(why.clone()),
            };
            let report = CheckReport { output: output.clone(), ..CheckReport::new(command, end) };
            self.after_edits
                .retain(|known| known.owner != owner || known.report.command != *command);
            self.after_edits.push(CheckedEdit { owner, paths: paths.clone(), report });
        }
    }

    /// Notes that files of a task's checkout are now in another one, as they are.
    pub(crate) fn merged(&mut self, from: TaskId, to: Option<TaskId>, paths: &[RepoPath]) {
        for check in &mut self.after_edits {
            if check.owner == Some(from) && check.paths.iter().any(|path| paths.contains(path)) {
                check.owner = to;
            }
        }
    }

    /// Returns the last checks after edits in the run's own checkout, those that failed first.
    pub(crate) fn edit_reports(&self) -> Vec<CheckReport> {
        let own = self.after_edits.iter().filter(|check| check.owner.is_none());
        let mut reports: Vec<CheckReport> = own.map(|check| check.report.clone()).collect();
        reports.sort_by_key(CheckReport::succeeded);
        reports
    }

    /// Notes a command that ran and changed nothing.
    pub(crate) fn ran(&mut self, report: &CommandReport) {
        self.check_ran |= has_checked(report);
    }
}

/// Whether a command checked the work: one of its programs does that, and started.
fn has_checked(CommandReport { command, exit, details, .. }: &CommandReport) -> bool {
    let script = Script::parse(command);
    let checks = script.check_commands();
    let is_missing =
        |words: &&[String]| words.iter().any(|word| details.not_started.contains(word));
    if matches!(exit, Exit::Code(126 | 127)) && checks.len() < 2 {
        return false;
    }
    // In a chain that broke off before it, a check did not run.
    let stages = || details.failed_steps.iter().flat_map(|step| &step.stages);
    let failed = |words: &&[String]| {
        words.first().is_some_and(|program| stages().any(|stage| stage.command.contains(program)))
    };
    let broke_off = command.contains("&&")
        && *exit != Exit::Code(0)
        && stages().next().is_some()
        && !checks.iter().any(failed);
    !broke_off && !checks.iter().all(is_missing)
}
