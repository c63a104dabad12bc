//! A review in place of a push: what a run changed as suggestions on the lines of a pull request,
//! what it found as comments there.

use sha2::{Digest, Sha256};

use crate::run::marker::Marker;
use crate::run::plan::RunSubject;
use crate::run::publish::unpublished::Unpublished;
use crate::run::publish::{Publication, PublishResult, Publisher};
use locum_agent::report::findings::{self, ChosenFindings, Finding, KnownFinding};
use locum_agent::report::review::{self, ReviewFacts, SuggestedChanges};
use locum_agent::report::{figures, markdown};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_base::path::RepoPath;
use locum_forge::posts::{LineComment, Posting};
use locum_forge::sanitise;
use locum_forge::{CommentableLines, ForgeError, Thread, ThreadComment};
use locum_workspace::repo::CommitId;

/// Lines of a larger file are not looked at to know a finding again.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// What a review says.
struct ReviewParts<'a> {
    /// The changes, where they can be committed with a click.
    suggested: SuggestedChanges,
    /// What was found, and is not left out.
    found: Vec<Finding>,
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
        let found = self.chosen(outcome, &lines, published).await?;
        self.submit(ReviewParts { suggested, found, outcome }, published).await
    }

    /// Reviews the pull request where a run changed nothing: what it found, where it named lines.
    pub(super) async fn land_findings(
        &self,
        outcome: &Outcome,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        let ended = [OutcomeWord::Done, OutcomeWord::NothingToDo, OutcomeWord::Partial];
        if !ended.contains(&outcome.word) {
            return Ok(PublishResult::default());
        }
        let lines = self.lines().await?;
        let found = self.chosen(outcome, &lines, published).await?;
        if found.is_empty() {
            return Ok(PublishResult::default());
        }
        let suggested = SuggestedChanges::default();
        self.submit(ReviewParts { suggested, found, outcome }, published).await
    }

    /// Returns the findings that become comments: none that was said in an earlier review, and as
    /// few as the policy wants.
    async fn chosen(
        &self,
        outcome: &Outcome,
        lines: &CommentableLines,
        published: &mut Publication,
    ) -> Result<Vec<Finding>, String> {
        let found = findings::findings(&outcome.summary, &outcome.commands, lines);
        if found.is_empty() {
            return Ok(found);
        }
        let earlier = self.earlier_findings().await?;
        let rules = self.run.policy.settings().review;
        let ChosenFindings { kept, repeated, left_out } =
            findings::chosen(found, rules, &earlier, |one| self.known_by(one));
        if repeated > 0 {
            let what = figures::count(repeated, "finding");
            published.about_findings.push(format!("Not repeated: {what} of earlier reviews."));
        }
        if left_out > 0 {
            let what = figures::count(left_out, "finding");
            published.about_findings.push(format!(
                "Only in the result: {what} below the policy's `review.floor` or beyond \
                 `review.comments`."
            ));
        }
        Ok(kept)
    }

    /// Returns what reviews before this run said on lines of the pull request.
    async fn earlier_findings(&self) -> Result<Vec<KnownFinding>, String> {
        let number = self.run.plan.subject.thread().unwrap_or_default();
        let comments = self
            .own_on_lines(number)
            .await
            .map_err(|error| format!("what earlier reviews said cannot be read: {error}"))?;
        let known = comments.iter().filter_map(KnownFinding::of_comment);
        Ok(known.filter(|known| known.run != self.run_of_marker()).collect())
    }

    /// Returns our own comments on lines of a pull request.
    pub(super) async fn own_on_lines(&self, number: u64) -> Result<Vec<ThreadComment>, ForgeError> {
        let thread = Thread { number, is_pull_request: true, is_discussion: false };
        let mut comments = self.forge.thread_comments(thread, None).await?;
        comments.retain(|comment| comment.is_own && comment.place.is_some());
        Ok(comments)
    }

    /// Returns what a finding is known by: its words, and the texts of its line and file at the
    /// head.
    fn known_by(&self, finding: &Finding) -> KnownFinding {
        let RunSubject::PullRequest { head_sha, .. } = &self.run.plan.subject else {
            return finding.known_by(None);
        };
        let text = self.text_at(&CommitId(head_sha.clone()), &finding.path);
        finding.known_by(text.ok().flatten().as_deref())
    }

    /// Returns the text of a file at a commit; `None` where there is none.
    pub(super) fn text_at(&self, commit: &CommitId, path: &str) -> Result<Option<String>, String> {
        let path = RepoPath::parse(path).map_err(|error| error.to_string())?;
        let file = self.workspace.repo.file_at(commit, &path, FILE_LIMIT_BYTES);
        Ok(file.map_err(|error| error.to_string())?.map(|file| file.text))
    }

    /// Returns the number of the workflow run, as the hidden line of its comment has it.
    fn run_of_marker(&self) -> &str {
        Marker::parse(&self.destination.marker)
            .and_then(|marker| marker.get("run"))
            .unwrap_or_default()
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
        let checks = &outcome.checks;
        let RunSubject::PullRequest { number, head_sha, .. } = &self.run.plan.subject else {
            return Err(Unpublished::Intended("there is no pull request to review".to_owned()));
        };
        let on_lines: Vec<LineComment> = found.iter().map(|one| self.comment_of(one)).collect();
        let counts = (suggested.comments.len(), found.len());
        let comments = [suggested.comments, on_lines].concat();
        let marker =
            markdown::marker("review", &[("of", &digest(&self.destination.marker, &comments))]);
        let facts = ReviewFacts {
            marker: &marker,
            requested_by: self.destination.requested_by.as_deref(),
            run_url: self.run_url,
            checks,
            suggested: counts.0,
            found: &found,
        };
        let body = self.clean(&review::body(&facts, &suggested.rest), &marker);
        let posting = Posting::Review {
            number: *number,
            commit: head_sha.clone(),
            marker: marker.clone(),
            body,
            comments,
        };
        // What is not posted is said where the changes are.
        let receipt = self.attempt(posting, published).await?;
        Ok(PublishResult::Review { url: receipt.url, comments: counts.0 + counts.1 })
    }

    /// Returns the comment that a finding becomes, with the line by which it is known again.
    fn comment_of(&self, finding: &Finding) -> LineComment {
        let marker = self.known_by(finding).marker(self.run_of_marker());
        LineComment {
            path: finding.path.clone(),
            first: finding.first,
            last: finding.last,
            body: self.clean(&format!("{marker}\n{}", finding.body), &marker),
        }
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
