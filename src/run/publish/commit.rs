//! The commit of a run: made with a message of what was done, and judged once more as it would be
//! pushed.
//!
//! In: an outcome. Out: a commit that no branch holds yet, what is wrong with it, what becomes
//! executable in it.

use crate::run::plan::RunSubject;
use crate::run::publish::Publisher;
use crate::run::tree::TreeJudge;
use locum_agent::report::{commit, title};
use locum_agent::session::outcome::{CheckReport, Outcome, OutcomeWord};
use locum_base::path::RepoPath;
use locum_forge::commits::CommitAuthor;
use locum_forge::sanitise;
use locum_policy::schema::PublishForm;
use locum_workspace::repo::{CommitId, NewCommit};

impl Publisher<'_> {
    /// Judges the commit that would be pushed, and returns the files that become executable in it.
    pub(crate) fn judge(
        &self,
        outcome: &Outcome,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<Vec<RepoPath>, String> {
        let slugs = self.slugs(outcome);
        let modes: Vec<_> = slugs.iter().filter_map(|slug| self.run.modes.find(slug)).collect();
        let plan = &self.run.plan;
        let judge = TreeJudge {
            policy: &self.run.policy,
            facts: &plan.facts,
            modes: &modes,
            budget: &plan.budget,
            redactor: &self.run.redactor,
            base,
            approved: &outcome.approved,
        };
        let committed = self
            .workspace
            .repo
            .committed(base, commit)
            .map_err(|error| format!("the commit cannot be read: {error}"))?;
        let objections = judge.objections(&committed);
        if objections.is_empty() {
            Ok(TreeJudge::new_executables(&committed).into_iter().cloned().collect())
        } else {
            Err(objections.join("; "))
        }
    }

    /// Returns why the change is not fit to be merged as it is; `None` where nothing is known
    /// against it.
    pub(super) fn flaw(&self, outcome: &Outcome) -> Option<String> {
        if outcome.word == OutcomeWord::Partial {
            let reason = outcome.reason.as_deref().unwrap_or("the model reports it");
            return Some(format!("the task is done in part only: {reason}"));
        }
        let has_checks = !self.run.policy.settings().publish.success.is_empty();
        match outcome.failed_check().and_then(CheckReport::failure) {
            None if has_checks && outcome.checks.is_empty() => {
                Some("the checks did not run".to_owned())
            }
            failure => failure,
        }
    }

    /// Returns an outcome that also says what a run said of the work that this one went on with and
    /// publishes; `None` where that is nothing.
    pub(super) fn with_earlier_result(
        &self,
        outcome: &Outcome,
        form: PublishForm,
    ) -> Option<Outcome> {
        let is_commit = matches!(form, PublishForm::Commit | PublishForm::PullRequest);
        let earlier = self.earlier.filter(|earlier| earlier.work.is_some())?;
        if !is_commit || outcome.changes.is_empty() || earlier.result.is_empty() {
            return None;
        }
        let summary = format!("{}\n\n{}", earlier.result, outcome.summary);
        Some(Outcome { summary: summary.trim().to_owned(), ..outcome.clone() })
    }

    /// Returns the modes that worked.
    pub(super) fn slugs<'o>(&'o self, outcome: &'o Outcome) -> Vec<&'o str> {
        let of_tasks = outcome.tasks.iter().map(|task| task.mode.as_str());
        of_tasks.chain([self.run.plan.mode.as_str()]).collect()
    }

    /// Makes the commit of this run. The branch of the run before it is taken up again where it
    /// holds the very same change.
    pub(super) fn commit(
        &self,
        outcome: &Outcome,
        author: &CommitAuthor,
    ) -> Result<CommitId, String> {
        let plan = &self.run.plan;
        let facts = commit::CommitFacts {
            title: &self.done(outcome),
            summary: &outcome.summary,
            session: plan.session.as_str(),
            subject: &plan.subject.branch_words(),
            requested_by: None,
        };
        let message = sanitise::commit_message(
            &commit::message(&facts),
            &self.text_rules(""),
            &self.run.redactor,
        );
        let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
        let new = NewCommit {
            parent: &plan.base,
            touched: &touched,
            message: &message,
            author: author.pair(),
        };
        self.workspace.repo.commit(&new).map_err(|error| error.to_string())
    }

    /// Returns what was done in one line: the first sentence of the result. A job has a title of
    /// its own.
    pub(super) fn done(&self, outcome: &Outcome) -> String {
        match &self.run.plan.subject {
            RunSubject::Job { .. } => None,
            RunSubject::Prompt
            | RunSubject::Issue { .. }
            | RunSubject::Discussion { .. }
            | RunSubject::PullRequest { .. } => title::of_result(&outcome.summary),
        }
        .unwrap_or_else(|| self.title().to_owned())
    }
}
