//! A branch that moved on while a run worked: the base of its pull request, or the branch that its
//! commit is for. The commit is made again on the new tip, or it conflicts with it.

use std::collections::BTreeSet;

use crate::run::plan::RunSubject;
use crate::run::publish::own_branch::{BaseMerge, BranchUpdate, OwnBranch};
use crate::run::publish::unpublished::Unpublished;
use crate::run::publish::{Publication, PublishResult, Publisher, may_land};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_base::path::RepoPath;
use locum_forge::commits::CommitAuthor;
use locum_policy::schema::{CommitSigner, PublishForm};
use locum_workspace::git_binary::FetchDepth;
use locum_workspace::merge::{Conflict, MergeSides};
use locum_workspace::rebase::RebaseOutcome;
use locum_workspace::repo::CommitId;

/// Commits of a branch that are looked through for the one that a run started from.
const MOVE_LIMIT_COMMITS: u32 = 50;
/// Most files in conflict that are named.
const CONFLICTS_LIMIT: usize = 3;

/// A commit that was judged, and what it builds on.
pub(super) struct JudgedCommit {
    /// The commit it builds on.
    pub(super) base: CommitId,
    /// The commit itself.
    pub(super) id: CommitId,
    /// What is known against it.
    pub(super) flaw: Option<String>,
}

/// The branch whose tip counts.
#[derive(Clone, Copy)]
enum Followed<'a> {
    /// The change is merged into it by a person.
    Base(&'a str),
    /// The change is pushed to it.
    Target(&'a str),
}

impl Publisher<'_> {
    /// Names the command that brings a branch up to its base, where one can.
    fn way_to_merge(&self) -> String {
        let policy = self.run.policy.settings();
        match &policy.triggers.comment {
            Some(comment) if policy.publish.sign == CommitSigner::Git => {
                format!("; `{} rebase` there resolves that", comment.prefix)
            }
            Some(_) | None => String::new(),
        }
    }

    /// Brings a judged commit onto the tip of the branch it is for, if that moved on. What is not
    /// known to build on the commit the run started from is left to the push.
    pub(super) async fn follow(
        &self,
        outcome: &Outcome,
        judged: JudgedCommit,
        form: PublishForm,
    ) -> Result<(JudgedCommit, Option<String>), Unpublished> {
        let Some(followed) = self.followed(form) else { return Ok((judged, None)) };
        let (Followed::Base(branch) | Followed::Target(branch)) = followed;
        let Some(tip) = self.moved_tip(branch).await else { return Ok((judged, None)) };
        let touched: BTreeSet<RepoPath> =
            outcome.changes.iter().map(|change| change.path.clone()).collect();
        let sides = MergeSides {
            base: &self.run.plan.base,
            ours: &tip,
            theirs: &judged.id,
            their_name: "change",
            touched: &touched,
        };
        let rebased = self.workspace.repo.rebase(&sides).map_err(|error| error.to_string())?;
        match (rebased, followed) {
            (RebaseOutcome::Commit(id), _) => {
                self.judge(outcome, &tip, &id)?;
                let checks =
                    if outcome.checks.is_empty() { "" } else { "; checks ran before that" };
                let note = format!(
                    "`{branch}` moved on while the run worked, so the change was rebased onto \
                     {}{checks}",
                    locum_base::text::head(&tip.0, 12)
                );
                Ok((JudgedCommit { base: tip, id, ..judged }, Some(note)))
            }
            (RebaseOutcome::Contained, _) => Err(Unpublished::Intended(format!(
                "`{branch}` moved on while the run worked, and holds this change by now"
            ))),
            (RebaseOutcome::Conflicts(conflicts), Followed::Target(_)) => {
                Err(conflict_words(branch, &conflicts).into())
            }
            (RebaseOutcome::Conflicts(conflicts), Followed::Base(_)) => {
                let words = conflict_words(branch, &conflicts);
                let flaw = judged.flaw.or_else(|| Some(words.clone()));
                let remark = format!("{words}{}", self.way_to_merge());
                Ok((JudgedCommit { flaw, ..judged }, Some(remark)))
            }
        }
    }

    /// Puts a judged commit where it belongs, with the base that it was to be merged with.
    pub(super) async fn land_judged(
        &self,
        outcome: &Outcome,
        judged: JudgedCommit,
        (form, author): (PublishForm, &CommitAuthor),
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        self.check_open().await?;
        let judged = self.with_base(outcome, judged, author)?;
        published.remarks.extend(self.merge_remark(outcome));
        match (&self.run.plan.subject, form) {
            (RunSubject::PullRequest { head_branch, .. }, PublishForm::Commit) => {
                self.land_commit(&judged, head_branch).await
            }
            (_, PublishForm::Commit) => self.land_branch(&judged).await,
            (_, PublishForm::PullRequest | PublishForm::Review | PublishForm::Comment) => {
                self.land_pull_request(outcome, judged, published).await
            }
        }
    }

    /// Merges the base whose conflicts the run was to resolve. What the base brings was judged
    /// there; the run's own part is judged before.
    fn with_base(
        &self,
        outcome: &Outcome,
        judged: JudgedCommit,
        author: &CommitAuthor,
    ) -> Result<JudgedCommit, String> {
        let Some(merge) = &self.destination.merges else { return Ok(judged) };
        let is_open = |path: &&RepoPath| {
            let change = outcome.changes.iter().find(|change| change.path == **path);
            change.map_or(!outcome.rewritten.contains(path), |change| {
                change.patch.lines().any(is_conflict_marker)
            })
        };
        let open: Vec<String> =
            merge.conflicts.iter().filter(is_open).map(|path| format!("`{path}`")).collect();
        if !open.is_empty() {
            return Err(format!("conflicts are not resolved in {}", open.join(", ")));
        }
        let plan = &self.run.plan;
        let into = match (&plan.subject, &self.destination.continues) {
            (_, Some(earlier)) => &earlier.name,
            (RunSubject::PullRequest { head_branch, .. }, None) => head_branch,
            (
                RunSubject::Prompt
                | RunSubject::Issue { .. }
                | RunSubject::Discussion { .. }
                | RunSubject::Job { .. },
                None,
            ) => {
                return Err("there is no branch to merge the base into".to_owned());
            }
        };
        let message = BaseMerge::message(&merge.branch, into, Some(plan.session.as_str()));
        let sides = (&judged.id, &merge.tip);
        let merged = self.workspace.repo.merge_keeping_ours(sides, &message, author.pair());
        let id = merged.map_err(|error| error.to_string())?;
        Ok(JudgedCommit { id, ..judged })
    }

    /// Returns whether a run that was to resolve conflicts came to its end and changed nothing.
    pub(super) fn only_merges(&self, outcome: &Outcome) -> bool {
        let has_ended = may_land(outcome) || outcome.word == OutcomeWord::NothingToDo;
        self.destination.merges.is_some() && outcome.changes.is_empty() && has_ended
    }

    /// Says that a base was merged.
    fn merge_remark(&self, outcome: &Outcome) -> Option<String> {
        let merge = self.destination.merges.as_ref()?;
        let checks = if outcome.checks.is_empty() { "" } else { "; checks ran before that" };
        Some(format!("`{}` is merged into the branch{checks}", merge.branch))
    }

    fn followed(&self, form: PublishForm) -> Option<Followed<'_>> {
        match (&self.run.plan.subject, form, &self.destination.continues) {
            (RunSubject::PullRequest { head_branch, .. }, PublishForm::Commit, _) => {
                Some(Followed::Target(head_branch))
            }
            (_, _, Some(OwnBranch { name, update: BranchUpdate::OnTop, .. })) => {
                Some(Followed::Target(name))
            }
            (_, PublishForm::PullRequest, _) if self.destination.is_from_base => {
                Some(Followed::Base(&self.destination.base_branch))
            }
            _ => None,
        }
    }

    /// Returns the tip of a branch that moved on from where the run started.
    async fn moved_tip(&self, branch: &str) -> Option<CommitId> {
        let (remote, repo, base) = (self.remote?, &self.workspace.repo, &self.run.plan.base);
        let tip = self.git.branch_tip(remote, branch).await.ok()??;
        if tip == *base {
            return None;
        }
        let shallow = repo.is_shallow();
        let depth =
            if shallow { FetchDepth::Commits(MOVE_LIMIT_COMMITS) } else { FetchDepth::Full };
        let local = format!("refs/locum/moved/{branch}");
        let refspec = format!("+refs/heads/{branch}:{local}");
        self.git.fetch(remote, &refspec, depth).await.ok()?;
        let tip = repo.commit_of(&local).ok()?;
        repo.builds_on(&tip, base).then_some(tip)
    }
}

fn is_conflict_marker(line: &str) -> bool {
    line.starts_with("+<<<<<<< ") || line.starts_with("+>>>>>>> ")
}

fn conflict_words(branch: &str, conflicts: &[Conflict]) -> String {
    let named = conflicts.iter().take(CONFLICTS_LIMIT);
    let mut files: Vec<String> = named.map(|conflict| format!("`{}`", conflict.path)).collect();
    let more = conflicts.len().saturating_sub(files.len());
    if more > 0 {
        files.push(format!("{more} more"));
    }
    format!(
        "`{branch}` moved on while the run worked, and the change conflicts with it in {}",
        files.join(", ")
    )
}
