//! `Promotion`: what becomes of what a command wrote. It stands in the journal before
//! anything of it happens, so that a session that was killed in between goes on with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::tools::Observation;
use locum_base::path::RepoPath;
use locum_policy::verdict::{Refusal, Verdict};
use locum_workspace::aside::SetAside;
use locum_workspace::layer::LayerChange;

/// What becomes of what a command wrote, and the answer to the command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promotion {
    /// Brought from its layer into the checkout.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bring: BTreeMap<RepoPath, LayerChange>,
    /// Kept out of it, with the session.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keep: BTreeSet<RepoPath>,
    /// What of this could not be read: it is kept as a whole.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unread: BTreeSet<RepoPath>,
    /// What stays in the layer, where something of this changes what git ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staying: Option<BTreeSet<RepoPath>>,
    /// Set aside until a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldChanges>,
    /// What may not stay and is left as it is, because it had changes that are in no commit.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lost: BTreeSet<RepoPath>,
    /// What the command answers.
    pub observation: Observation,
    /// Whether all of this happened, besides what a person decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
    /// Why something is kept out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Box<Refusal>>,
}

/// What a command wrote that waits for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldChanges {
    /// The files.
    pub paths: BTreeSet<RepoPath>,
    /// The checkout without and with them.
    pub aside: SetAside,
    /// What holds them.
    pub refusal: Box<Refusal>,
}

/// Paths that a command changed and that may not stay as they are.
#[derive(Default)]
pub(crate) struct RefusedEdits {
    /// They are kept out of the checkout.
    pub(crate) denied: BTreeMap<RepoPath, Verdict>,
    /// A person decides on them.
    pub(crate) held: BTreeMap<RepoPath, Verdict>,
}
