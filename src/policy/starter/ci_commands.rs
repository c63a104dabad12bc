//! The plain commands of a repository's own workflows, each once, for those who want to see what
//! the policy decides about them.

use std::collections::BTreeSet;

use crate::starter::ci;
use crate::starter::scan::StarterScan;

/// A command of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiCommand {
    /// The command.
    pub command: String,
    /// The file and line of its step.
    pub place: String,
}

/// Returns the commands, those of jobs that test a change first. Whatever is not known before a
/// workflow runs is left out.
pub fn ci_commands(scan: &StarterScan) -> Vec<CiCommand> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for job in ci::jobs(scan) {
        for step in &job.steps {
            for command in step.commands.iter().filter(|command| seen.insert((*command).clone())) {
                let place = format!("{}:{}", job.workflow, step.line);
                found.push(CiCommand { command: command.clone(), place });
            }
        }
    }
    found
}
