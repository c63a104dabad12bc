//! The first thing a run says: that its request was seen. A token that may say nothing at all is
//! found out here, before a model costs anything.

use crate::run::progress;
use crate::run::publish::{Publisher, SEEN};
use locum_agent::report::comment::{self, Progress};
use locum_forge::ForgeError;
use locum_forge::posts::{OwnReaction, Posting};

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

    /// Posts the run's comment before there is any progress.
    async fn begin_comment(&self) -> Result<(), ForgeError> {
        let Some(number) = self.destination.thread else { return Ok(()) };
        let body =
            comment::progress(&self.comment_facts(progress::UNDECIDED), &Progress::default());
        let posting = self.comment(number, &body, progress::UNDECIDED);
        let Ok(permit) = self.run.policy.admit(posting, &self.run.plan.facts) else {
            return Ok(());
        };
        match self.forge.post(permit).await {
            Err(error @ ForgeError::Forbidden { .. }) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
