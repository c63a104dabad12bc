//! The reaction that says how a request stands, one at a time: 👀, then 🚀 or 😕.
//!
//! In: what the request is, and the reaction that counts now. Out: that one alone; what an earlier
//! try left there is withdrawn. None of it can fail a run.

use crate::run::publish::poster::Poster;
use locum_forge::posts::{OwnReaction, Posting, ReactionTarget};

/// The reactions that say how a request stands.
const STATES: &[&str] = &["eyes", "rocket", "confused"];

impl Poster<'_> {
    /// Puts a reaction on something, in place of those of ours that said something else.
    pub(crate) async fn show(&self, target: ReactionTarget, content: &str) {
        self.react(target, content).await;
        self.withdraw_others(target, content).await;
    }

    /// Puts a reaction on something, beside those that are there.
    pub(crate) async fn react(&self, target: ReactionTarget, content: &str) {
        self.put(Posting::Reaction { target, content: content.to_owned() }).await;
    }

    /// Withdraws the reactions of ours that say something else than this; returns them.
    pub(crate) async fn withdraw_others(
        &self,
        target: ReactionTarget,
        content: &str,
    ) -> Vec<OwnReaction> {
        let there = self.forge.own_reactions(target).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "reactions of before are not looked for");
            Vec::new()
        });
        let other = |(one, name): (OwnReaction, String)| {
            (name != content && STATES.contains(&name.as_str())).then_some(one)
        };
        let others: Vec<OwnReaction> = there.into_iter().filter_map(other).collect();
        for one in &others {
            self.withdraw(*one).await;
        }
        others
    }

    /// Withdraws a reaction. One that cannot be withdrawn does no harm.
    pub(crate) async fn withdraw(&self, reaction: OwnReaction) {
        self.put(Posting::Withdrawal(reaction)).await;
    }

    async fn put(&self, posting: Posting) {
        if let Err(why) = self.post(posting).await {
            tracing::debug!(%why, "no reaction");
        }
    }
}
