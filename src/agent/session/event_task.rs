//! Which task an event is of.

use crate::session::event::Event;
use locum_base::id::TaskId;

impl Event {
    /// Returns the task it happened in; `None` for what happens to the session.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Started(_)
            | Self::Resumed { .. }
            | Self::Continued { .. }
            | Self::MessageReceived { .. }
            | Self::ServersListed { .. }
            | Self::ServerNoted { .. }
            | Self::Ended(_) => None,
            Self::Checkpointed { tree, .. } => *tree,
            Self::TaskStarted { task, .. }
            | Self::ParallelStarted { task, .. }
            | Self::WorkMerged { task, .. }
            | Self::WorkMeasured { task, .. }
            | Self::Noted { task, .. }
            | Self::Replied { task, .. }
            | Self::Consulted { task, .. }
            | Self::ImageGenerated { task, .. }
            | Self::ModelUsed { task, .. }
            | Self::Compacted { task, .. }
            | Self::Reminded { task, .. }
            | Self::MessageRead { task, .. }
            | Self::Judged { task, .. }
            | Self::HooksRan { task, .. }
            | Self::Decided { task, .. }
            | Self::Performing { task, .. }
            | Self::Promoting { task, .. }
            | Self::Answered { task, .. }
            | Self::Checking { task, .. }
            | Self::Checked { task, .. }
            | Self::TodosChanged { task, .. }
            | Self::ModeSwitched { task, .. }
            | Self::ReplyLost { task, .. }
            | Self::TaskEnded { task, .. } => Some(*task),
        }
    }
}
