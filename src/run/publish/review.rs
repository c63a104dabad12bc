//! A review in place of a push: what a run changed as suggestions on the lines of a pull request,
//! what it found as comments there.

use sha2::{Digest, Sha256};

use crate::run::plan::RunSubject;
use crate::run::publish::unpublished::Unpublished;
use crate::run::publish::{Publication, PublishResult, Publisher};
use locum_agent::report::markdown;
use locum_agent::report::review::{self, ReviewFacts, SuggestedChanges};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_forge::CommentableLines;
use locum_forge::posts::{LineComment, Posting};
use locum_forge::sanitise;

/// What a review says.
struct ReviewParts<'a> {
    /// The changes, where they can be committed with a click.
    suggested: SuggestedChanges,
    /// What was found, on the lines it names.
    found: Vec<LineComment>,
    /// The outcome that is reviewed with.
    outcome: &'a Outcome,
}

impl Publisher<'_> {
    /// Reviews the pull request: the changes and what was found.
    pub(super) async fn land_review(
        &self,
        outcome: &Outcome,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        if let Some(change) = outcome.changes.iter().find(|change| change.withheld) {
            return Err(format!("the change to `{}` holds a secret", change.path).into());
        }
        let lines = self.lines().await?;
        let mut suggested = review::suggestions(&outcome.changes, &lines);
        self.take_back_altered(outcome, &mut suggested);
        let found = review::findings(&outcome.summary, &lines);
        self.submit(ReviewParts { suggested, found, outcome }, published).await
    }

    /// Reviews the pull request where a run changed nothing: what it found, where it named lines.
    pub(super) async fn land_findings(
        &self,
        outcome: &Outcome,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        if !matches!(outcome.word, OutcomeWord::Done | OutcomeWord::NothingToDo) {
            return Ok(PublishResult::default());
        }
        let lines = self.lines().await?;
        let found = review::findings(&outcome.summary, &lines);
        if found.is_empty() {
            return Ok(PublishResult::default());
        }
        let suggested = SuggestedChanges::default();
        self.submit(ReviewParts { suggested, found, outcome }, published).await
    }

    async fn lines(&self) -> Result<CommentableLines, String> {
        let number = self.run.plan.subject.thread().unwrap_or_default();
        self.forge
            .commentable_lines(number)
            .await
            .map_err(|error| format!("the pull request cannot be reviewed: {error}"))
    }

    /// A suggestion is committed as it stands there, so what cleaning would alter is only shown,
    /// with all of its file.
    fn take_back_altered(&self, outcome: &Outcome, suggested: &mut SuggestedChanges) {
        let altered: Vec<String> = suggested
            .comments
            .iter()
            .filter(|comment| self.clean(&comment.body, "") != comment.body)
            .map(|comment| comment.path.clone())
            .collect();
        suggested.comments.retain(|comment| !altered.contains(&comment.path));
        suggested.rest.extend(
            outcome
                .changes
                .iter()
                .filter(|change| altered.iter().any(|path| path == change.path.as_str()))
                .cloned(),
        );
    }

    async fn submit(
        &self,
        parts: ReviewParts<'_>,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        let ReviewParts { suggested, found, outcome } = parts;
        let Outcome { summary, checks, .. } = outcome;
        let RunSubject::PullRequest { number, head_sha, .. } = &self.run.plan.subject else {
            return Err(Unpublished::Intended("there is no pull request to review".to_owned()));
        };
        let found: Vec<LineComment> = found
            .into_iter()
            .map(|comment| LineComment { body: self.clean(&comment.body, ""), ..comment })
            .collect();
        let counts = (suggested.comments.len(), found.len());
        let comments = [suggested.comments, found].concat();
        let marker =
            markdown::marker("review", &[("of", &digest(&self.destination.marker, &comments))]);
        let facts = ReviewFacts {
            marker: &marker,
            requested_by: self.destination.requested_by.as_deref(),
            run_url: self.run_url,
            summary,
            checks,
            suggested: counts.0,
            found: counts.1,
        };
        let body = self.clean(&review::body(&facts, &suggested.rest), &marker);
        let posting = Posting::Review {
            number: *number,
            commit: head_sha.clone(),
            marker: marker.clone(),
            body,
            comments,
        };
        let receipt = self.attempt(posting, published).await.inspect_err(|_| {
            // It is said where the changes are.
            published.notes.pop();
        })?;
        Ok(PublishResult::Review { url: receipt.url, comments: counts.0 + counts.1 })
    }

    fn clean(&self, text: &str, marker: &str) -> String {
        sanitise::markdown(text, &self.text_rules(marker), &self.run.redactor)
    }
}

/// Names a review by the run it is of, whichever attempt that is, and by what its comments say:
/// saying something else is another one.
fn digest(run: &str, comments: &[LineComment]) -> String {
    let text = comments.iter().map(|comment| {
        format!("{}:{}-{}\n{}\0", comment.path, comment.first, comment.last, comment.body)
    });
    let hash = Sha256::digest(std::iter::once(format!("{run}\n")).chain(text).collect::<String>());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
