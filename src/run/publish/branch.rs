//! Commits onto branches: a pull request's own, or one of ours, from which a pull request may be
//! opened.

use crate::run::plan::RunSubject;
use crate::run::publish::{Publication, PublishResult, Publisher};
use locum_agent::report::{branch, pull_request};
use locum_agent::session::outcome::Outcome;
use locum_forge::ForgeError;
use locum_forge::commits::{ForgeCommit, TargetBranch};
use locum_forge::posts::Posting;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::Permit;
use locum_policy::intent::{self, Act, Intent};
use locum_policy::schema::CommitSigner;
use locum_workspace::remote::Remote;
use locum_workspace::repo::{CommitId, RepoError};

impl Publisher<'_> {
    /// Puts the changes onto the branch of a pull request of this repository.
    pub(super) async fn land_commit(
        &self,
        commit: &CommitId,
        head_branch: &str,
        flaw: Option<String>,
    ) -> Result<PublishResult, String> {
        if let Some(why) = flaw {
            return Err(format!("{why}, so the branch is left as it was"));
        }
        let Some(remote) = self.remote else {
            return Err("there is no remote to push the pull request's branch to".to_owned());
        };
        let placed = match self.run.policy.settings().publish.sign {
            CommitSigner::Git => {
                self.push(
                    remote,
                    &self
                        .admit(PushBranch::of(head_branch, commit))
                        .map_err(|why| why.to_string())?,
                )
                .await
            }
            CommitSigner::Api => {
                self.made_by_forge(head_branch, commit, TargetBranch::Branch).await
            }
        };
        let made = placed.map_err(|why| why.to_string())?;
        Ok(PublishResult::Commit { id: made.0, branch: head_branch.to_owned() })
    }

    /// Puts the changes onto a branch of their own, and opens nothing.
    pub(super) async fn land_branch(
        &self,
        commit: &CommitId,
        flaw: Option<String>,
    ) -> Result<PublishResult, String> {
        if let Some(why) = flaw {
            return Err(format!("{why}, so no branch is pushed"));
        }
        let (branch, made) = self.push_own_branch(commit).await?;
        Ok(PublishResult::Commit { id: made.0, branch })
    }

    /// Puts the changes onto a branch of their own and makes a pull request of it: a draft where
    /// something is known against it.
    pub(super) async fn land_pull_request(
        &self,
        outcome: &Outcome,
        (commit, flaw): (&CommitId, Option<String>),
        published: &mut Publication,
    ) -> Result<PublishResult, String> {
        let (branch, _) = self.push_own_branch(commit).await?;
        let plan = &self.run.plan;
        let rules = &self.run.policy.settings().publish;
        let draft = rules.draft || flaw.is_some();
        let marker = locum_agent::report::markdown::marker(
            "pull-request",
            &[("session", plan.session.as_str())],
        );
        let notes: Vec<String> = flaw.iter().chain(&published.notes).cloned().collect();
        let issue =
            if let RunSubject::Issue { number, .. } = plan.subject { Some(number) } else { None };
        let facts = pull_request::PullRequestFacts {
            marker: &marker,
            issue,
            closes: rules.close_issues,
            requested_by: self.destination.requested_by.as_deref(),
            run_url: self.run_url,
            notes: &notes,
        };
        let text_rules = TextRules { closing: rules.close_issues, ..self.text_rules(&marker) };
        let posting = Posting::PullRequest {
            head: branch.clone(),
            base: self.destination.base_branch.clone(),
            title: sanitise::title(
                &pull_request::title(self.title()),
                &text_rules,
                &self.run.redactor,
            ),
            body: sanitise::markdown(
                &pull_request::body(&facts, outcome),
                &text_rules,
                &self.run.redactor,
            ),
            draft,
        };
        let Some(receipt) = self.post(posting, published).await else {
            let why = published.notes.last().cloned().unwrap_or_default();
            return Err(format!(
                "the branch `{branch}` is there, but there is no pull request: {why}"
            ));
        };
        if !rules.labels.is_empty() {
            self.post(
                Posting::Labels { number: receipt.id, labels: rules.labels.clone() },
                published,
            )
            .await;
        }
        Ok(PublishResult::PullRequest { number: receipt.id, url: receipt.url, branch, draft })
    }

    /// Pushes a branch of our own. Where that name holds something else, another name is chosen and
    /// the branch stays as it is.
    async fn push_own_branch(&self, commit: &CommitId) -> Result<(String, CommitId), String> {
        let plan = &self.run.plan;
        let rules = &self.run.policy.settings().publish;
        let template = self.branch_template.unwrap_or(&rules.branch);
        let name = branch::name(template, &plan.subject.branch_words(), self.title());
        let prefix = template.split(['{', '/']).next().unwrap_or_default();
        let session = plan.session.as_str();
        let tail = session.get(session.len().saturating_sub(8)..).unwrap_or(session);
        let mut refused = String::new();
        for name in [name.clone(), format!("{name}-{tail}")] {
            let name = sanitise::branch_name(
                &name,
                prefix,
                &self.destination.base_branch,
                &self.run.redactor,
            )
            .map_err(|why| why.to_string())?;
            let commit = self.same_change(&name, commit).unwrap_or_else(|| commit.clone());
            match self.place(&name, &commit).await {
                Ok(made) => return Ok((name, made)),
                Err(PlacementError::Taken(why)) => refused = why,
                Err(PlacementError::Refused(why)) => return Err(why),
            }
        }
        Err(refused)
    }

    /// Returns the tip of a branch here that is this very change: what an earlier try of the same
    /// session left.
    fn same_change(&self, name: &str, commit: &CommitId) -> Option<CommitId> {
        let tip = self.workspace.repo.commit_of(&format!("refs/heads/{name}")).ok()?;
        self.workspace.repo.is_same_change(&tip, commit).is_ok_and(|same| same).then_some(tip)
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
            Some(remote) => self.push(remote, &permit).await,
            None => Ok(commit.clone()),
        }
    }

    /// Pushes what was permitted, and nothing else.
    async fn push(
        &self,
        remote: &Remote,
        permit: &Permit<PushBranch>,
    ) -> Result<CommitId, PlacementError> {
        let PushBranch { branch, commit } = permit.act();
        match self.git.push(permit, remote, commit, branch).await {
            Ok(()) => Ok(commit.clone()),
            Err(error @ RepoError::PushRefused { .. }) => {
                Err(PlacementError::Taken(error.to_string()))
            }
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
        self.run
            .policy
            .admit(act, &self.run.plan.facts)
            .map_err(|refusal| PlacementError::Refused(refusal.to_string()))
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
    /// The policy, the remote or git refused.
    Refused(String),
}

impl std::fmt::Display for PlacementError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Taken(why) | Self::Refused(why) => formatter.write_str(why),
        }
    }
}
