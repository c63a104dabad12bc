//! The context of a task, as its model is sent it.
//!
//! In: a state. Out: messages. `report::transcript` renders the same lines for maintainers.

use crate::session::state::SessionState;
use locum_base::chat::Message;
use locum_base::id::TaskId;

/// Returns the context of a task: what its model is sent next. Later contexts of the task begin
/// with it, byte for byte, unless it is compacted and as long as no call in it waits for its
/// answer. Calls that still wait are left to [`crate::session::task::turn::Turn::waiting`].
pub fn context(state: &SessionState, task: TaskId) -> &[Message] {
    state.task(task).map(|task| task.conversation.messages.as_slice()).unwrap_or_default()
}
