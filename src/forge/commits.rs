//! `ForgeCommit`: a commit that the forge makes and signs itself, described path by path.

use locum_base::rebuilt::Rebuilt;
use locum_policy::intent::{Act, Intent, PublicationKind};

/// A commit to be made at the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeCommit {
    /// The branch it goes onto.
    pub branch: String,
    /// Whether that branch exists.
    pub onto: TargetBranch,
    /// What it changes.
    pub change: Rebuilt,
}

/// Whether a branch exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetBranch {
    /// It is made.
    NewBranch,
    /// It is moved forward from the parent.
    Branch,
    /// It holds commits of ours and nothing else, and is at this one: the new one takes its place.
    Replaced(String),
}

impl Act for ForgeCommit {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Commit)]
    }
}

/// Who makes commits, as git writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitAuthor {
    /// Name.
    pub name: String,
    /// Address by which the forge knows the account.
    pub email: String,
}

impl CommitAuthor {
    /// Returns name and address.
    pub fn pair(&self) -> (&str, &str) {
        (&self.name, &self.email)
    }
}

impl Default for CommitAuthor {
    /// Returns who it is where the forge does not say: no account has this address.
    fn default() -> Self {
        Self { name: "Locum".to_owned(), email: "locum@noreply.invalid".to_owned() }
    }
}
