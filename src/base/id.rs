//! `TaskId`: names one task inside its session.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one task inside its session: 0 is the root task, sub-tasks count up in order of creation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TaskId(pub u32);

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}
