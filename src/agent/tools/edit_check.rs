//! `EditCheck`: how a check ended that the policy runs after an edit, as it is recorded with the
//! answer to the edit.

use serde::{Deserialize, Serialize};

use locum_base::path::RepoPath;
use locum_sandbox::exec::Exit;

/// A check that followed an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditCheck {
    /// The command as it ran, with the file in it.
    pub command: String,
    /// The edited files that it is for.
    pub paths: Vec<RepoPath>,
    /// How it ended; an error says why it did not start.
    pub end: Result<Exit, String>,
    /// The last lines it wrote, where it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}
