//! `Promotion`: what becomes of what a command wrote to its layer. It stands in the journal before
//! anything of it happens, so that a session that was killed in between goes on with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::tools::Observation;
use locum_base::path::RepoPath;
use locum_policy::verdict::Refusal;
use locum_workspace::layer::LayerChange;

/// What becomes of what a command wrote to its layer, and the answer to the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promotion {
    /// Brought into the checkout.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bring: BTreeMap<RepoPath, LayerChange>,
    /// Kept out of it, with the session.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keep: BTreeSet<RepoPath>,
    /// What the command answers.
    pub observation: Observation,
    /// Why something is kept out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Box<Refusal>>,
}
