//! [`RunExecution`]: a prepared run, and what carrying it out takes besides.

use std::path::Path;

use crate::run::extras::RunExtras;
use crate::run::prepare::PreparedRun;
use crate::run::spending::store::RecordStore;
use locum_agent::session::messages::Inbox;
use locum_base::clock::Clock;
use locum_forge::Forge;
use locum_sandbox::exec::tail::OutputTail;
use locum_workspace::Workspace;

/// Whether a session begins or resumes.
#[derive(Clone, Copy)]
pub enum SessionOrigin<'a> {
    /// It is new, and begins with these.
    Fresh(&'a RunExtras),
    /// It was killed and resumes where its journal ends.
    Resumed,
}

/// A prepared run, and what carrying it out takes besides.
pub struct RunExecution<'a> {
    /// What was prepared for the run.
    pub run: &'a PreparedRun,
    /// The checkout it works in.
    pub workspace: &'a Workspace,
    /// The checkout that commands find it at, where that is another.
    pub stands_for: Option<&'a Workspace>,
    /// The folder of this session; holds the journal.
    pub folder: &'a Path,
    /// Whether it begins or resumes.
    pub beginning: SessionOrigin<'a>,
    /// What a resume needs to prepare the same run again.
    pub caller: serde_json::Value,
    /// Where is kept count of what runs spend together.
    pub record: RecordStore<'a>,
    /// Whether it may write notes for later runs: not in a job that writes nothing.
    pub keeps_memory: bool,
    /// Where issues that the task names are read; `None` where there is none.
    pub forge: Option<&'a dyn Forge>,
    /// Where messages of people arrive while it works.
    pub inbox: &'a Inbox,
    /// Source of the current time, fixed in tests.
    pub clock: &'a dyn Clock,
    /// Who follows the output of commands.
    pub tail: Option<&'a OutputTail>,
}
