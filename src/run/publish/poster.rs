//! `Poster`: what is to be published, asked of the policy and then given to the forge.
//!
//! In: a posting. Out: its receipt, or which of both did not take it.

use crate::run::publish::unpublished::NotPosted;
use locum_forge::Forge;
use locum_forge::posts::{Posting, Receipt};
use locum_policy::Policy;
use locum_policy::intent::Facts;

/// Where is posted, and what permits it.
#[derive(Clone, Copy)]
pub(crate) struct Poster<'a> {
    /// API of the forge.
    pub(crate) forge: &'a dyn Forge,
    /// The policy that lets Locum post.
    pub(crate) policy: &'a Policy,
    /// What its decision depends on.
    pub(crate) facts: &'a Facts,
}

impl Poster<'_> {
    /// Posts.
    ///
    /// # Errors
    /// When the policy does not let it, or the forge does not take it.
    pub(crate) async fn post(&self, posting: Posting) -> Result<Receipt, NotPosted> {
        let permit = self.policy.admit(posting, self.facts).map_err(NotPosted::Policy)?;
        self.forge.post(permit).await.map_err(NotPosted::Forge)
    }

    /// Posts what is of no use to anything else; where it is not posted, the log says what that
    /// means. What the policy does not let be said is meant to be said nowhere.
    pub(crate) async fn try_to_post(&self, posting: Posting, lost: &str) -> Option<Receipt> {
        match self.post(posting).await {
            Ok(receipt) => Some(receipt),
            Err(NotPosted::Policy(refusal)) => {
                tracing::debug!(%refusal, lost, "not posted");
                None
            }
            Err(why) => {
                tracing::warn!(%why, lost, "not posted");
                None
            }
        }
    }
}
