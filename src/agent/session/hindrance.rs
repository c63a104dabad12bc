//! `Hindrance`: why something of a run could not be published where it belongs, and what helps.

use serde::{Deserialize, Serialize};

/// What stood in the way of publishing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hindrance {
    /// What failed and why, as a sentence without a full stop.
    pub why: String,
    /// What a person does about it: the setting's name and where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
    /// The branch that holds the changes all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed: Option<PushedBranch>,
    /// File that holds the changes as a patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// A branch at the forge that has no pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushedBranch {
    /// Its name.
    pub name: String,
    /// Page that opens a pull request from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_url: Option<String>,
}
