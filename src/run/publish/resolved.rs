//! Threads of earlier findings that a run calls fixed: resolved, where the file was really changed
//! since, so that a word of the model alone closes nothing.
//!
//! In: the result, and the head of the pull request as the run leaves it. Out: resolved threads;
//! what became of each is said in the comment.

use crate::run::plan::RunSubject;
use crate::run::publish::unpublished::NotPosted;
use crate::run::publish::{Publication, PublishResult, Publisher};
use locum_agent::report::findings::{self, KnownFinding};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_forge::posts::Posting;
use locum_forge::threads::ReviewThread;
use locum_forge::{ForgeError, ThreadComment};
use locum_workspace::repo::CommitId;

/// What became of the findings that a result calls fixed, each by its number.
#[derive(Default)]
struct FixedFindings {
    resolved: Vec<u64>,
    /// Those whose file is as it was.
    unchanged: Vec<u64>,
    /// Why the others stay open.
    refusal: Option<String>,
}

impl Publisher<'_> {
    /// Resolves the threads of the findings that the result calls fixed.
    pub(super) async fn resolve_fixed(&self, outcome: &Outcome, published: &mut Publication) {
        let RunSubject::PullRequest { number, head_sha, .. } = &self.run.plan.subject else {
            return;
        };
        let named = findings::fixed(&outcome.summary);
        if named.is_empty() || !matches!(outcome.word, OutcomeWord::Done | OutcomeWord::NothingToDo)
        {
            return;
        }
        // A pull request of the run's own changes nothing of this one.
        let head = match &published.result {
            PublishResult::Commit { id, .. } => id,
            _ => head_sha,
        };
        let head = CommitId(head.clone());
        let fixed = match self.known_threads(*number).await {
            Ok(known) => {
                let named = known.into_iter().filter(|(thread, _)| named.contains(&thread.first));
                self.resolve(*number, named.collect(), &head).await
            }
            Err(error) => {
                FixedFindings { refusal: Some(error.to_string()), ..FixedFindings::default() }
            }
        };
        published.about_findings.extend(fixed.remark());
    }

    /// Returns our open threads, each with the comment that opened it.
    async fn known_threads(
        &self,
        number: u64,
    ) -> Result<Vec<(ReviewThread, ThreadComment)>, ForgeError> {
        let threads = self.forge.review_threads(number).await?;
        let comments = self.own_on_lines(number).await?;
        let opened_by = |thread: ReviewThread| {
            let first = comments.iter().find(|comment| comment.id == thread.first)?;
            Some((thread, first.clone()))
        };
        let open = threads.into_iter().filter(|thread| thread.is_own && !thread.is_resolved);
        Ok(open.filter_map(opened_by).collect())
    }

    async fn resolve(
        &self,
        number: u64,
        named: Vec<(ReviewThread, ThreadComment)>,
        head: &CommitId,
    ) -> FixedFindings {
        let mut fixed = FixedFindings::default();
        for (ReviewThread { id, first, .. }, comment) in named {
            let Some(finding) = KnownFinding::of_comment(&comment) else { continue };
            if !self.is_changed(&finding, head) {
                fixed.unchanged.push(first);
                continue;
            }
            let posting = Posting::Resolution { number, thread: id };
            match self.ask_and_post(posting).await {
                Ok(_) => fixed.resolved.push(first),
                Err(not) => {
                    fixed.refusal.get_or_insert(not.to_string());
                    // What the policy or the token may not do now, it may not do for the next.
                    if !matches!(not, NotPosted::Forge(ForgeError::NotFound { .. })) {
                        break;
                    }
                }
            }
        }
        fixed
    }

    /// Returns whether the file of a finding is another one at a commit than when it was reported.
    fn is_changed(&self, finding: &KnownFinding, head: &CommitId) -> bool {
        match self.text_at(head, &finding.path) {
            Ok(Some(text)) => !finding.is_of(&text),
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

impl FixedFindings {
    /// Returns what the comment says of it; `None` where there is nothing to say.
    fn remark(&self) -> Option<String> {
        let listed = |numbers: &[u64]| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let mut said = Vec::new();
        if !self.resolved.is_empty() {
            said.push(format!("Fixed and resolved: finding {}.", listed(&self.resolved)));
        }
        if !self.unchanged.is_empty() {
            said.push(format!(
                "Called fixed, but open because its file has not changed since: finding {}.",
                listed(&self.unchanged)
            ));
        }
        if let Some(why) = &self.refusal {
            said.push(format!("What was fixed could not be resolved: {why}."));
        }
        (!said.is_empty()).then(|| said.join(" "))
    }
}
