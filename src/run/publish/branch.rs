//! Commits onto branches: a pull request's own, or one of ours, from which a pull request may be
//! opened.

use crate::run::publish::lease::LEASE_OVER;
use crate::run::publish::moved::JudgedCommit;
use crate::run::publish::own_branch::{BranchUpdate, OwnBranch, OwnBranchName};
use crate::run::publish::unpublished::Unpublished;
use crate::run::publish::{PublishResult, Publisher};
use locum_forge::ForgeError;
use locum_forge::commits::{ForgeCommit, TargetBranch};
use locum_policy::Permit;
use locum_policy::intent::{self, Act, Intent};
use locum_policy::schema::CommitSigner;
use locum_workspace::git_binary::FetchDepth;
use locum_workspace::remote::Remote;
use locum_workspace::repo::{CommitId, RepoError};

impl Publisher<'_> {
    /// Puts the changes onto the branch of a pull request of this repository.
    pub(super) async fn land_commit(
        &self,
        judged: &JudgedCommit,
        head_branch: &str,
    ) -> Result<PublishResult, Unpublished> {
        let JudgedCommit { base, id, flaw } = judged;
        if let Some(why) = flaw {
            return Err(Unpublished::Flawed(format!("{why}, so the branch is left as it was")));
        }
        let Some(remote) = self.remote else {
            let why = "there is no remote to push the pull request's branch to";
            return Err(Unpublished::Intended(why.to_owned()));
        };
        let placed = match self.run.policy.settings().publish.sign {
            CommitSigner::Git => {
                let permit = self.admit(PushBranch::of(head_branch, id))?;
                self.push(remote, &permit, Some(base)).await
            }
            CommitSigner::Api => self.made_by_forge(head_branch, id, TargetBranch::Branch).await,
        };
        Ok(PublishResult::Commit { id: placed?.0, branch: head_branch.to_owned() })
    }

    /// Puts the changes onto a branch of their own, and opens nothing.
    pub(super) async fn land_branch(
        &self,
        judged: &JudgedCommit,
    ) -> Result<PublishResult, Unpublished> {
        if let Some(why) = &judged.flaw {
            return Err(Unpublished::Flawed(format!("{why}, so no branch is pushed")));
        }
        let (branch, made) = self.place_own(judged).await?;
        Ok(PublishResult::Commit { id: made.0, branch })
    }

    /// Moves the branch of an earlier run: on to a commit that builds on it, or to one in place of
    /// its own. Returns the commit that is there; the same change stays as it is.
    pub(super) async fn move_own_branch(
        &self,
        earlier: &OwnBranch,
        JudgedCommit { base, id: commit, .. }: &JudgedCommit,
    ) -> Result<CommitId, Unpublished> {
        let OwnBranch { name, tip, update, .. } = earlier;
        let Some(remote) = self.remote else {
            let why = "there is no remote to push the branch to";
            return Err(Unpublished::Intended(why.to_owned()));
        };
        if self.workspace.repo.is_same_change(tip, commit).is_ok_and(|same| same) {
            return Ok(tip.clone());
        }
        let moved = match (self.run.policy.settings().publish.sign, update) {
            (CommitSigner::Api, BranchUpdate::OnTop) => {
                self.made_by_forge(name, commit, TargetBranch::Branch).await
            }
            (CommitSigner::Api, BranchUpdate::Replaced) => {
                self.made_by_forge(name, commit, TargetBranch::Replaced(tip.0.clone())).await
            }
            (CommitSigner::Git, update) => {
                let permit = self.admit(PushBranch::of(name, commit))?;
                match update {
                    BranchUpdate::OnTop => self.push(remote, &permit, Some(base)).await,
                    BranchUpdate::Replaced => self.replace(remote, &permit, tip).await,
                }
            }
        };
        Ok(moved?)
    }

    /// Puts the changes onto the branch of an earlier run, or onto a new one. Returns the branch
    /// and the commit that is there.
    pub(super) async fn place_own(
        &self,
        judged: &JudgedCommit,
    ) -> Result<(String, CommitId), Unpublished> {
        match &self.destination.continues {
            Some(earlier) => {
                Ok((earlier.name.clone(), self.move_own_branch(earlier, judged).await?))
            }
            None => self.push_own_branch(&judged.id).await,
        }
    }

    /// Pushes a branch of our own. Where that name holds something else, another name is chosen and
    /// the branch stays as it is.
    async fn push_own_branch(&self, commit: &CommitId) -> Result<(String, CommitId), Unpublished> {
        let plan = &self.run.plan;
        let rules = &self.run.policy.settings().publish;
        let template = self.branch_template.unwrap_or(&rules.branch);
        let own = OwnBranchName::of(template, &plan.subject, &plan.task);
        let session = plan.session.as_str();
        let tail = session.get(session.len().saturating_sub(8)..).unwrap_or(session);
        let mut refused = String::new();
        for tail in [None, Some(tail)] {
            let known = (self.destination.base_branch.as_str(), &self.run.redactor);
            let name = own.checked(tail, known).map_err(|why| why.to_string())?;
            let commit = self.same_change(&name, commit).unwrap_or_else(|| commit.clone());
            match self.place(&name, &commit).await {
                Ok(made) => return Ok((name, made)),
                Err(PlacementError::Taken(why)) => {
                    match self.same_at_remote(&name, &commit).await {
                        Some(tip) => return Ok((name, tip)),
                        None => refused = why,
                    }
                }
                Err(other @ (PlacementError::Refused(_) | PlacementError::Denied(_))) => {
                    return Err(other.into());
                }
            }
        }
        Err(refused.into())
    }

    /// Returns the tip of a branch here that is this very change: what an earlier try of the same
    /// session left.
    fn same_change(&self, name: &str, commit: &CommitId) -> Option<CommitId> {
        let tip = self.workspace.repo.commit_of(&format!("refs/heads/{name}")).ok()?;
        self.workspace.repo.is_same_change(&tip, commit).is_ok_and(|same| same).then_some(tip)
    }

    /// Returns the tip of a branch at the remote that is this very change: what an earlier try on
    /// another machine left.
    async fn same_at_remote(&self, name: &str, commit: &CommitId) -> Option<CommitId> {
        let remote = self.remote?;
        let local = format!("refs/locum/own/{name}");
        let refspec = format!("+refs/heads/{name}:{local}");
        self.git.fetch(remote, &refspec, self.depth_of_tip()).await.ok()?;
        let tip = self.workspace.repo.commit_of(&local).ok()?;
        self.workspace.repo.is_same_change(&tip, commit).is_ok_and(|same| same).then_some(tip)
    }

    /// A commit is compared with its parent beside it. A checkout with its whole history keeps it.
    fn depth_of_tip(&self) -> FetchDepth {
        if self.workspace.repo.is_shallow() { FetchDepth::Commits(2) } else { FetchDepth::Full }
    }

    /// Puts a commit onto a branch of our own: here, and at the remote where there is one. Returns
    /// the commit that is there.
    async fn place(&self, name: &str, commit: &CommitId) -> Result<CommitId, PlacementError> {
        if self.remote.is_some() && self.run.policy.settings().publish.sign == CommitSigner::Api {
            return self.made_by_forge(name, commit, TargetBranch::NewBranch).await;
        }
        let permit = self.admit(PushBranch::of(name, commit))?;
        let PushBranch { branch, commit } = permit.act();
        self.workspace
            .repo
            .set_branch(branch, commit)
            .map_err(|error| PlacementError::Taken(error.to_string()))?;
        match self.remote {
            Some(remote) => self.push(remote, &permit, None).await,
            None => Ok(commit.clone()),
        }
    }

    /// Pushes what was permitted, and nothing else: onto `from`, where the branch has to be, or as
    /// a branch that is not there yet. One that is gone by now is not recreated.
    async fn push(
        &self,
        remote: &Remote,
        permit: &Permit<PushBranch>,
        from: Option<&CommitId>,
    ) -> Result<CommitId, PlacementError> {
        let PushBranch { branch, commit } = permit.act();
        let error = match self.git.push(permit, remote, branch, (from, commit)).await {
            Ok(()) => return Ok(commit.clone()),
            Err(error @ RepoError::PushRefused { .. }) => error,
            Err(error) => return Err(PlacementError::Refused(error.to_string())),
        };
        let is_gone =
            from.is_some() && matches!(self.git.branch_tip(remote, branch).await, Ok(None));
        Err(PlacementError::Taken(if is_gone {
            format!("the branch `{branch}` is gone by now, and is not recreated")
        } else {
            error.to_string()
        }))
    }

    /// Pushes what was permitted in place of the commit that the branch is at.
    async fn replace(
        &self,
        remote: &Remote,
        permit: &Permit<PushBranch>,
        from: &CommitId,
    ) -> Result<CommitId, PlacementError> {
        let PushBranch { branch, commit } = permit.act();
        match self.git.replace_branch(permit, remote, branch, (from, commit)).await {
            Ok(()) => Ok(commit.clone()),
            Err(error) => Err(PlacementError::Refused(error.to_string())),
        }
    }

    /// Has the forge make the same commit and sign it.
    async fn made_by_forge(
        &self,
        branch: &str,
        commit: &CommitId,
        onto: TargetBranch,
    ) -> Result<CommitId, PlacementError> {
        let change = self
            .workspace
            .repo
            .rebuilt(commit)
            .map_err(|error| PlacementError::Refused(format!("{error}; `sign: git` can")))?;
        let permit = self.admit(ForgeCommit { branch: branch.to_owned(), onto, change })?;
        match self.forge.commit(permit).await {
            Ok(made) => Ok(CommitId(made)),
            Err(error @ ForgeError::Conflict { .. }) => {
                Err(PlacementError::Taken(error.to_string()))
            }
            Err(error) => Err(PlacementError::Refused(error.to_string())),
        }
    }

    fn admit<A: Act>(&self, act: A) -> Result<Permit<A>, PlacementError> {
        if self.is_late() {
            return Err(PlacementError::Refused(LEASE_OVER.to_owned()));
        }
        self.run
            .policy
            .admit(act, &self.run.plan.facts)
            .map_err(|refusal| PlacementError::Denied(refusal.to_string()))
    }
}

/// The act of putting a commit onto a branch where others see it.
#[derive(Clone, Debug)]
struct PushBranch {
    branch: String,
    commit: CommitId,
}

impl PushBranch {
    fn of(branch: &str, commit: &CommitId) -> Self {
        Self { branch: branch.to_owned(), commit: commit.clone() }
    }
}

impl Act for PushBranch {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(intent::PublicationKind::Commit)]
    }
}

/// Why a branch could not be placed.
enum PlacementError {
    /// A branch of this name holds something else.
    Taken(String),
    /// The remote or git refused.
    Refused(String),
    /// The policy does not let it.
    Denied(String),
}

impl From<PlacementError> for Unpublished {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::Taken(why) | PlacementError::Refused(why) => Self::hindered(why),
            PlacementError::Denied(why) => Self::Intended(why),
        }
    }
}
