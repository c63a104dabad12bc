//! The first thing a run says: that its request was seen. A token that may say nothing at all, or
//! may not push what the run is to change, is found out here, before a model costs anything.

use jiff::Timestamp;

use crate::run::publish::{Publisher, SEEN};
use locum_agent::report::comment::{self, Progress};
use locum_agent::report::waiting::DecisionChannel;
use locum_agent::tools::dispatch;
use locum_agent::tools::tool::ToolEffect;
use locum_base::tool::ToolName;
use locum_forge::ForgeError;
use locum_forge::posts::{OwnReaction, Posting};
use locum_policy::intent::{Intent, PublicationKind};
use locum_policy::schema::{CommitSigner, PublishForm};
use locum_policy::verdict::Decision;
use locum_workspace::repo::RepoError;

impl Publisher<'_> {
    /// Says on what started the run that it was seen.
    ///
    /// # Errors
    /// When the token may neither react nor comment there.
    pub async fn see(&self) -> Result<Option<OwnReaction>, ForgeError> {
        let Some(target) = self.reaction else { return Ok(None) };
        let seen = Posting::Reaction { target, content: SEEN.to_owned() };
        let Ok(permit) = self.run.policy.admit(seen, &self.run.plan.facts) else {
            return Ok(None);
        };
        match self.forge.post(permit).await {
            Ok(receipt) => Ok(Some(OwnReaction { target, id: receipt.id })),
            Err(ForgeError::Forbidden { .. }) => self.begin_comment().await.map(|()| None),
            Err(error) => {
                tracing::warn!(%error, "no reaction");
                Ok(None)
            }
        }
    }

    /// Checks that the token may push, where this run can change files and its changes become
    /// commits. A remote that cannot be asked now is no reason to stop.
    ///
    /// # Errors
    /// When the remote says that it may not.
    pub async fn check_push(&self) -> Result<(), RepoError> {
        let plan = &self.run.plan;
        let Some(remote) = self.remote.filter(|_| self.becomes_commit()) else { return Ok(()) };
        match self.git.check_push(remote, &plan.base).await {
            Err(error @ RepoError::PushRefused(_)) => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns whether a change of this run would be pushed by git.
    fn becomes_commit(&self) -> bool {
        let plan = &self.run.plan;
        let changes = plan.tools.iter().filter_map(|tool| ToolName::find(tool)).any(may_change);
        let pushed = matches!(self.form(), PublishForm::Commit | PublishForm::PullRequest)
            && self.run.policy.settings().publish.sign == CommitSigner::Git;
        let commit = Intent::Publish(PublicationKind::Commit);
        let allowed = self.run.policy.decide(&commit, &plan.facts).decision == Decision::Allow;
        changes && !plan.facts.restriction.read_only && pushed && allowed
    }

    /// Posts the run's comment before there is any progress.
    async fn begin_comment(&self) -> Result<(), ForgeError> {
        let Some(number) = self.destination.thread else { return Ok(()) };
        let facts = self.comment_facts(DecisionChannel::Unneeded);
        let body = comment::progress(&facts, &Progress::default(), Timestamp::UNIX_EPOCH);
        let posting = self.comment(number, (&body, None), &facts);
        let Ok(permit) = self.run.policy.admit(posting, &self.run.plan.facts) else {
            return Ok(());
        };
        match self.forge.post(permit).await {
            Err(error @ ForgeError::Forbidden { .. }) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// Whether a tool can change files, or hand work on to a task that can.
fn may_change(tool: ToolName) -> bool {
    tool == ToolName::NewTask || dispatch::effect(tool) == ToolEffect::Edits
}
