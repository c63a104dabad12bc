//! Tools that steer the session: ask, complete, start a sub-task, switch the mode, keep the
//! checklist, think. They change nothing themselves: each ends in a [`crate::tools::Control`] for
//! the session, or the session takes the call up itself.

pub mod ask;
pub mod complete;
pub mod coordinate_mode;
pub mod expert;
pub mod instructions;
pub mod new_task;
pub mod request_mode_switch;
pub mod slash_command;
pub mod steering;
pub mod switch_mode;
pub mod think;
pub mod todo;
pub mod verdict;
