//! How a run on a pull request ended, as a check run on its commit: the result, and what was found
//! on lines.
//!
//! In: an outcome, and what its comment says. Out: one posting; what fails becomes a note.

use crate::run::plan::RunSubject;
use crate::run::publish::unpublished::NotPosted;
use crate::run::publish::{Publication, PublishResult, Publisher};
use crate::run::sarif;
use locum_agent::report::actions;
use locum_agent::report::annotations::annotations;
use locum_agent::report::figures;
use locum_agent::report::findings::{self, Finding};
use locum_agent::report::verdict;
use locum_agent::session::outcome::Outcome;
use locum_forge::ForgeError;
use locum_forge::posts::{CheckAnnotation, CheckRun, Posting};
use locum_forge::sanitise;
use locum_policy::intent::PublicationKind;
use locum_workspace::repo::CommitId;

impl Publisher<'_> {
    /// Shows on the pull request's commit how the run ended, where the policy publishes checks.
    /// `report` is the comment's text.
    pub(super) async fn publish_check(
        &self,
        outcome: &Outcome,
        report: &str,
        published: &mut Publication,
    ) {
        let Some(head_sha) = self.checked_commit() else { return };
        // What was pushed is what people look at now; the lines are those of before.
        let (commit, found) = match &published.result {
            PublishResult::Commit { id, .. } => (id.clone(), Vec::new()),
            PublishResult::Nowhere(_)
            | PublishResult::PullRequest { .. }
            | PublishResult::Review { .. }
            | PublishResult::Diff(_) => (head_sha.to_owned(), self.remarks(outcome, head_sha)),
        };
        let fails = self.run.settings.fails_on(outcome.word);
        let mut title = figures::headline(outcome);
        if !found.is_empty() {
            title = format!("{title}; {}", findings::counted(&found));
        }
        let check = CheckRun {
            commit,
            name: format!("locum: {}", self.run.plan.mode),
            conclusion: actions::conclusion(outcome.word, fails),
            title,
            summary: report.to_owned(),
            annotations: annotations(&found),
            details_url: self.run_url.map(str::to_owned),
        };
        self.post_check(check, published).await;
    }

    /// Shows on the pull request's commit what a check comes to, where the policy publishes checks.
    pub(super) async fn publish_verdict(
        &self,
        (name, outcome): (&str, &Outcome),
        published: &mut Publication,
    ) {
        let Some(head_sha) = self.checked_commit() else { return };
        let head = CommitId(head_sha.to_owned());
        let found = sarif::found_at(&self.workspace.repo, &head, outcome);
        let found: Vec<Finding> = found.into_iter().map(|one| one.finding).collect();
        let check = CheckRun {
            commit: head_sha.to_owned(),
            name: name.to_owned(),
            conclusion: verdict::conclusion(outcome),
            title: verdict::title(outcome),
            summary: verdict::body(outcome),
            annotations: annotations(&found),
            details_url: self.run_url.map(str::to_owned),
        };
        self.post_check(check, published).await;
    }

    /// Returns the commit of the pull request, where the policy publishes checks.
    fn checked_commit(&self) -> Option<&str> {
        let allow = &self.run.policy.settings().publish.allow;
        let RunSubject::PullRequest { head_sha, .. } = &self.run.plan.subject else { return None };
        allow.contains(&PublicationKind::Check).then_some(head_sha)
    }

    /// Posts a check run whose texts are cleaned here.
    async fn post_check(&self, check: CheckRun, published: &mut Publication) {
        let rules = self.text_rules("");
        let clean = |text: &str| sanitise::markdown(text, &rules, &self.run.redactor);
        let annotations = check.annotations.into_iter().map(|annotation| CheckAnnotation {
            message: annotation.message.as_deref().map(clean),
            ..annotation
        });
        let posting = Posting::CheckRun(CheckRun {
            annotations: annotations.collect(),
            title: sanitise::title(&check.title, &rules, &self.run.redactor),
            summary: clean(&check.summary),
            ..check
        });
        if let Err(not) = self.attempt(posting, published).await {
            published.notes.push(why_not_shown(&not));
        }
    }

    /// Returns what the result reports about lines of a commit, above the policy's floor.
    fn remarks(&self, outcome: &Outcome, head_sha: &str) -> Vec<Finding> {
        let head = CommitId(head_sha.to_owned());
        let found = sarif::found_at(&self.workspace.repo, &head, outcome);
        let mut found: Vec<Finding> = found.into_iter().map(|one| one.finding).collect();
        let rules = self.run.policy.settings().review;
        found.retain(|one| one.severity >= rules.floor && one.confidence >= rules.confidence);
        found
    }
}

/// Says why a check run is not posted, and what the token needs for one where that is missing.
pub(crate) fn why_not_shown(not: &NotPosted) -> String {
    match not {
        NotPosted::Forge(ForgeError::Forbidden { .. }) => {
            format!("{not}; the job needs `permissions: {{ checks: write }}`")
        }
        NotPosted::Policy(_) | NotPosted::Forge(_) | NotPosted::LeaseOver => not.to_string(),
    }
}
