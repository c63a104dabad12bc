//! `PublishDestination`: where the results of a run go. It is kept with a session that waits, so
//! that the workflow run that resumes it publishes in the same place.

use serde::{Deserialize, Serialize};

use crate::run::publish::own_branch::{BaseMerge, OwnBranch};

/// Where the results of a run go; the same for every workflow run that the session takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishDestination {
    /// The branch pull requests are made against.
    pub base_branch: String,
    /// The hidden line the run's comment is found by.
    pub marker: String,
    /// The marker of an earlier run's comment that the run's own takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The issue or pull request comments belong to.
    #[serde(default)]
    pub thread: Option<u64>,
    /// The comment that is answered below it, on a line or in a discussion; `None` comments on the
    /// issue or pull request itself.
    pub reply_to: Option<u64>,
    /// True where that is a comment of a discussion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_discussion: bool,
    /// Login of who asked.
    pub requested_by: Option<String>,
    /// What is said beside the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// True where the run starts from the tip of `base_branch`.
    #[serde(default)]
    pub is_from_base: bool,
    /// What asked, the same in each attempt: `comment-55`, `run-4242`.
    #[serde(default)]
    pub asked: String,
    /// The branch of an earlier run that this one goes on with.
    #[serde(default)]
    pub continues: Option<OwnBranch>,
    /// Name of the check whose verdict is shown, for a run that makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The base that is merged once the run has resolved the conflicts with it.
    #[serde(default)]
    pub merges: Option<BaseMerge>,
    /// The checks that the run tries to mend, as its comment names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
}

impl PublishDestination {
    /// Returns that of a run that nobody asked for on a forge.
    pub fn local(marker: String, base_branch: String, thread: Option<u64>) -> Self {
        Self {
            base_branch,
            marker,
            replaces: None,
            thread,
            reply_to: None,
            in_discussion: false,
            requested_by: None,
            remarks: Vec::new(),
            is_from_base: false,
            asked: String::new(),
            continues: None,
            check: None,
            merges: None,
            repairs: None,
        }
    }
}

/// The hidden lines in the comment of a run that goes on by a decision.
#[derive(Clone, Copy, Debug)]
pub struct ResumedLines<'a> {
    /// Where its session waited; it is found there again until the run has ended.
    pub waited: &'a str,
    /// Which comment decided, and which workflow run is at work.
    pub by: &'a str,
}
