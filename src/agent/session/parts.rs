//! `SessionParts`: everything a session works with.

use crate::env::RunEnv;
use crate::session::event::{JournalLine, SessionStart};
use crate::session::messages::Inbox;
use crate::session::model::RunModels;
use crate::session::state::SessionState;
use crate::tools::hooks::HookDefinition;
use crate::tools::mcp::servers::McpServers;
use crate::tools::memory::entry::EarlierNotes;
use locum_base::clock::Clock;
use locum_modes::ModeSet;
use locum_modes::prompts::RepositoryInstructions;
use locum_policy::spending_limit::Remaining;
use locum_workspace::Workspace;
use locum_workspace::repo::CommitId;

/// Sees every line after it is in the journal, and the state it led to.
pub type JournalObserver<'a> = Box<dyn FnMut(&JournalLine, &SessionState) + 'a>;

/// Most calls that only read and run side by side, where the settings do not say.
pub const CONCURRENT_READS: usize = 10;

/// When the policy's checks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckTiming {
    /// When the root task says that it is done, and something changed.
    #[default]
    AfterChanges,
    /// When the root task says that it is done; each of them, also after one that fails.
    Always,
}

/// Everything a session works with. Nothing in it is looked up again later.
pub struct SessionParts<'a> {
    /// What is to be done; the journal's first line.
    pub start: SessionStart,
    /// What its effects go through.
    pub run: RunEnv<'a>,
    /// Every mode that tasks may switch to.
    pub modes: &'a ModeSet,
    /// What the trusted ref adds to prompts, all modes together.
    pub instructions: &'a RepositoryInstructions,
    /// The commit that is trusted: rules files of folders are read there.
    pub trusted: &'a CommitId,
    /// The commit that a review compares the checkout with, what is not committed included; `None`
    /// compares what the run begins with and writes with the trusted commit.
    pub review_base: Option<&'a CommitId>,
    /// Who is asked.
    pub models: RunModels<'a>,
    /// What the policy's ceilings leave to this run.
    pub remaining: Remaining,
    /// The checkout that tools change.
    pub workspace: &'a Workspace,
    /// The checkout that commands find it at, where that is another: what git ignores there is
    /// seen.
    pub stands_for: Option<&'a Workspace>,
    /// When the policy's checks run.
    pub checks: CheckTiming,
    /// Most calls that only read and run side by side; at least 1.
    pub concurrent_reads: usize,
    /// The hooks of the trusted ref; none where the policy turns them off.
    pub hooks: &'a [HookDefinition],
    /// The MCP servers, started already.
    pub servers: &'a McpServers<'a>,
    /// The notes that earlier runs kept.
    pub memory: EarlierNotes,
    /// Where messages of people arrive.
    pub inbox: &'a Inbox,
    /// Source of the current time, fixed in tests.
    pub clock: &'a dyn Clock,
    /// Resolves when the run is to stop (Ctrl-C, SIGTERM).
    pub cancelled: futures::future::BoxFuture<'a, ()>,
    /// Sees every line after it is in the journal, with the state it led to.
    pub watch: JournalObserver<'a>,
}
