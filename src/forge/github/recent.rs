//! What was written lately anywhere in the repository, and whether we reacted to it.

use jiff::Timestamp;

use crate::github::GitHub;
use crate::github::answers::{PlacedPost, Reaction};
use crate::github::comments::{may_be_ours, thread_comment};
use crate::posts::{OwnReaction, ReactionTarget};
use crate::{ForgeError, PlacedComment};

/// Pages of each list that are read, of 100 comments each.
const PAGES: usize = 3;

impl GitHub {
    /// Reads comments on all threads and lines that changed since then.
    pub(super) async fn read_recent(
        &self,
        since: Timestamp,
    ) -> Result<Vec<PlacedComment>, ForgeError> {
        let query =
            format!("sort=updated&direction=desc&since={}", since.strftime("%Y-%m-%dT%H:%M:%SZ"));
        let mut found = Vec::new();
        for list in ["issues/comments", "pulls/comments"] {
            let path = self.path(&format!("{list}?{query}"));
            found.extend(self.client.list_first(PAGES, &path, Some::<PlacedPost>).await?);
        }
        let own = if found.is_empty() { None } else { self.read_own_login().await };
        let placed = |post: PlacedPost| {
            let thread = post.issue_url.or(post.pull_request_url)?;
            let number = thread.rsplit('/').next()?.parse().ok()?;
            Some(PlacedComment { number, comment: thread_comment(post.read, own) })
        };
        Ok(found.into_iter().filter_map(placed).collect())
    }

    /// Returns the reactions of ours that are on something, each with its name.
    pub(super) async fn reactions_of_ours(
        &self,
        target: ReactionTarget,
    ) -> Result<Vec<(OwnReaction, String)>, ForgeError> {
        let reactions = self.client.list(&self.reactions(target), Some::<Reaction>).await?;
        let own = if reactions.is_empty() { None } else { self.read_own_login().await };
        let ours = reactions.into_iter().filter(|one| may_be_ours(own, one.user.as_ref()));
        Ok(ours.map(|one| (OwnReaction { target, id: one.id }, one.content)).collect())
    }
}
