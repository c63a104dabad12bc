//! `EarlierConversation`: what a session that ended leaves to the one that goes on with its
//! conversation.
//!
//! It holds what the root task's model read and said, to which the first message of the new session
//! is added, and the work that was not published. Nothing else goes on: facts, limits, approvals
//! and refusals are the new session's own. `go_on` reads it off an ended session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::session::id::SessionId;
use crate::session::recorded::TouchedPath;
use locum_base::chat::Message;
use locum_workspace::repo::CommitId;

/// What a session begins with of the conversation of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierConversation {
    /// The session whose conversation it is.
    pub session: SessionId,
    /// What its root task's model was sent and replied; every call in it is answered.
    pub messages: Vec<Message>,
    /// Model replies there were before.
    pub turns: u32,
    /// What it changed and did not publish; `None` where the new session begins with its base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<UnpublishedWork>,
    /// What whoever made that work said of it when it was done; empty where it was never done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
}

/// Where a session was made of another one, with everything until then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionFork {
    /// The other session.
    pub session: SessionId,
    /// The checkpoint its conversation goes on from, counted from 1.
    pub checkpoint: usize,
    /// Lines of the journal that are the other's; what they spent is counted there.
    pub lines: usize,
    /// When it was made.
    pub at: Timestamp,
}

/// What a session changed and did not publish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpublishedWork {
    /// Its last checkpoint.
    pub checkpoint: CommitId,
    /// The paths it touched.
    pub touched: Vec<TouchedPath>,
}
