//! A change as a pull request: opened once, then kept up to date. What is at the forge decides:
//! one that is open for the same subject is updated, one that was closed with the same change is
//! not opened again.

use crate::run::plan::RunSubject;
use crate::run::publish::moved::JudgedCommit;
use crate::run::publish::own_branch::{BranchUpdate, OwnBranch, OwnPullRequest, PullRequestMarker};
use crate::run::publish::unpublished::{NotPosted, Unpublished, hindrance};
use crate::run::publish::{Publication, PublishResult, Publisher};
use locum_agent::report::comment::PullRequestEffect;
use locum_agent::report::pull_request::{self, PullRequestFacts};
use locum_agent::session::hindrance::{Hindrance, PushedBranch};
use locum_agent::session::outcome::Outcome;
use locum_forge::PullRequest;
use locum_forge::posts::{Posting, Receipt};
use locum_forge::pull_requests::PullRequestFilter;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::pull_request::PullRequestDetails;
use locum_workspace::repo::CommitId;

/// Longest body, in characters, that earlier results are kept in.
const BODY_LIMIT_CHARS: usize = 60_000;

/// What becomes a pull request.
struct Proposal<'a> {
    outcome: &'a Outcome,
    /// Branch it is on.
    branch: &'a str,
    /// Commit that branch is at.
    head: &'a CommitId,
    /// Name of the change, where the branch holds nothing else.
    change: Option<&'a str>,
    /// What is known against it.
    flaw: Option<&'a str>,
}

impl Publisher<'_> {
    /// Puts the changes onto a branch of their own and makes a pull request of it: a draft where
    /// something is known against it. Goes on in the open one of an earlier run.
    pub(super) async fn land_pull_request(
        &self,
        outcome: &Outcome,
        judged: JudgedCommit,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        let JudgedCommit { base, id: commit, flaw } = &judged;
        let change = self.workspace.repo.patch_id(base, commit);
        let change = change.map_err(|error| error.to_string())?;
        if let Some(earlier) = &self.destination.continues
            && let Some(pull) = &earlier.pull_request
        {
            let now = self.still_open(pull).await?;
            if earlier.update == BranchUpdate::Replaced && pull.change.as_ref() == Some(&change) {
                return Ok(unchanged(earlier, pull));
            }
            if let Some(why) = flaw.as_deref().filter(|_| !pull.is_draft) {
                let why = format!("{why}, so pull request #{} is left as it was", pull.number);
                return Err(Unpublished::Flawed(why));
            }
            let head = self.move_own_branch(earlier, &judged).await?;
            let (id, branch) = (head.0.clone(), earlier.name.clone());
            published.result = PublishResult::Commit { id, branch };
            let change = (earlier.update == BranchUpdate::Replaced).then_some(change.as_str());
            let flaw = flaw.as_deref();
            let proposal = Proposal { outcome, branch: &earlier.name, head: &head, change, flaw };
            let posting = self.update(&proposal, (earlier.update, &now), published);
            let receipt = self.propose(posting, &earlier.name, published).await?;
            return Ok(PublishResult::PullRequest {
                number: receipt.id,
                url: receipt.url,
                branch: earlier.name.clone(),
                draft: pull.is_draft,
                effect: PullRequestEffect::Updated,
                head: head.0,
            });
        }
        self.refuse_closed(&change).await?;
        let (branch, head) = self.place_own(&judged).await?;
        published.result = PublishResult::Commit { id: head.0.clone(), branch: branch.clone() };
        let change = Some(change.as_str());
        let flaw = flaw.as_deref();
        let proposal = Proposal { outcome, branch: &branch, head: &head, change, flaw };
        let draft = self.run.policy.settings().publish.draft || flaw.is_some();
        let posting = self.opening(&proposal, draft, published);
        let receipt = self.propose(posting, &branch, published).await?;
        if receipt.updated {
            let (number, url, effect) = (receipt.id, receipt.url, PullRequestEffect::Updated);
            let head = head.0;
            return Ok(PublishResult::PullRequest { number, url, branch, draft, effect, head });
        }
        let (number, url, effect) = (receipt.id, receipt.url, PullRequestEffect::Opened);
        let head = head.0;
        let opened = PublishResult::PullRequest { number, url, branch, draft, effect, head };
        published.result = opened.clone();
        self.give_details(number, published).await;
        Ok(opened)
    }

    /// Gives a pull request that was just opened its labels, reviewers, assignees and milestone.
    /// What the forge does not take is a remark: the change is published all the same.
    async fn give_details(&self, number: u64, published: &mut Publication) {
        let details = self.details();
        let labels = Posting::Labels { number, labels: details.labels.clone() };
        if !details.labels.is_empty() {
            self.post(labels, published).await;
        }
        let reviews = details.reviewers.iter().map(|reviewer| {
            let posting = Posting::ReviewRequest { number, reviewer: reviewer.clone() };
            (posting, format!("no review was requested of `{reviewer}`"))
        });
        let assignees = Posting::Assignees { number, logins: details.assignees.clone() };
        let assignees = (!details.assignees.is_empty())
            .then(|| (assignees, "the pull request is not assigned as it should be".to_owned()));
        let milestone = details.milestone.iter().map(|title| {
            let posting = Posting::Milestone { number, title: title.clone() };
            (posting, format!("the pull request is not in milestone `{title}`"))
        });
        for (posting, what) in reviews.chain(assignees).chain(milestone) {
            let mut asked = Publication::default();
            self.post(posting, &mut asked).await;
            published.receipts.append(&mut asked.receipts);
            published.remarks.extend(asked.notes.iter().map(|why| format!("{what}: {why}")));
        }
    }

    fn details(&self) -> PullRequestDetails {
        let of_policy = &self.run.policy.settings().publish.details;
        match &self.run.plan.subject {
            RunSubject::Job { pull_request, .. } => of_policy.overridden(pull_request),
            RunSubject::Prompt
            | RunSubject::Issue { .. }
            | RunSubject::Discussion { .. }
            | RunSubject::PullRequest { .. } => of_policy.clone(),
        }
    }

    /// Returns where a run without changes leaves its work: in the pull request of an earlier one.
    pub(super) fn without_changes(&self) -> PublishResult {
        match &self.destination.continues {
            Some(earlier) => earlier
                .pull_request
                .as_ref()
                .map_or_else(PublishResult::default, |pull| unchanged(earlier, pull)),
            None => PublishResult::default(),
        }
    }

    /// Looks at the pull request again: much may happen to it while a run works.
    async fn still_open(&self, pull: &OwnPullRequest) -> Result<PullRequest, String> {
        let number = pull.number;
        let now = self.forge.pull_request(number).await;
        let now = now.map_err(|error| format!("pull request #{number} cannot be read: {error}"))?;
        if !now.is_open {
            return Err(format!(
                "pull request #{number} was closed while the run worked, so nothing is pushed to it"
            ));
        }
        Ok(now)
    }

    /// Looks at the pull request again that the run is about: on the branch of one that is over, a
    /// commit lands nowhere.
    pub(super) async fn check_open(&self) -> Result<(), String> {
        let RunSubject::PullRequest { number, .. } = &self.run.plan.subject else { return Ok(()) };
        let now = self.forge.pull_request(*number).await;
        let now = now.map_err(|error| format!("pull request #{number} cannot be read: {error}"))?;
        if now.is_open {
            return Ok(());
        }
        Err(format!(
            "pull request #{number} was merged or closed while the run worked, so nothing is pushed"
        ))
    }

    /// What somebody closed without a merge is not opened again for the same change: of a job, or
    /// where the same event starts a run again.
    async fn refuse_closed(&self, change: &str) -> Result<(), Unpublished> {
        let subject = &self.run.plan.subject;
        let is_job = matches!(subject, RunSubject::Job { .. });
        let closed = self.forge.pull_requests(PullRequestFilter::Closed).await;
        let closed =
            closed.map_err(|error| format!("closed pull requests cannot be read: {error}"))?;
        let same = closed.iter().filter(|pull| pull.is_own && !pull.is_merged).find(|pull| {
            PullRequestMarker::parse(&pull.body).is_some_and(|marker| {
                marker.is_about(&subject.branch_words())
                    && (is_job || marker.is_asked_by(&self.destination.asked))
                    && marker.change() == Some(change)
            })
        });
        match same {
            Some(pull) => Err(Unpublished::Intended(format!(
                "pull request #{} with the same change was closed without a merge, so it is not \
                 opened again",
                pull.number
            ))),
            None => Ok(()),
        }
    }

    async fn propose(
        &self,
        posting: Posting,
        branch: &str,
        published: &mut Publication,
    ) -> Result<Receipt, Unpublished> {
        let not = match self.attempt(posting, published).await {
            Ok(receipt) => return Ok(receipt),
            Err(not) => not,
        };
        let why = format!("the branch `{branch}` is there, but there is no pull request: {not}");
        if matches!(not, NotPosted::Policy(_)) {
            published.notes.push(not.to_string());
            return Err(Unpublished::Intended(why));
        }
        let base = &self.destination.base_branch;
        let compare_url = self.repository_url.map(|page| compare_url(page, base, branch));
        let pushed = Some(PushedBranch { name: branch.to_owned(), compare_url });
        Err(Unpublished::Hindered(Box::new(Hindrance { pushed, ..hindrance(why) })))
    }

    fn opening(
        &self,
        proposal: &Proposal<'_>,
        draft: bool,
        published: &mut Publication,
    ) -> Posting {
        let (rules, redactor) = (self.text_rules(""), &self.run.redactor);
        Posting::PullRequest {
            head: proposal.branch.to_owned(),
            base: self.destination.base_branch.clone(),
            title: sanitise::title(
                &pull_request::title(&self.done(proposal.outcome)),
                &rules,
                redactor,
            ),
            body: self.body(proposal, published),
            draft,
        }
    }

    /// Keeps the title and the base, which maintainers may have changed. Where the branch goes on,
    /// what stands in the body stays, and the new result follows.
    fn update(
        &self,
        proposal: &Proposal<'_>,
        (update, now): (BranchUpdate, &PullRequest),
        published: &mut Publication,
    ) -> Posting {
        let new = self.body(proposal, published);
        let body = match update {
            BranchUpdate::Replaced => new,
            BranchUpdate::OnTop => followed_by(&now.body, new),
        };
        Posting::PullRequest {
            head: proposal.branch.to_owned(),
            base: now.base_branch.clone(),
            title: now.title.clone(),
            body,
            draft: false,
        }
    }

    fn body(&self, proposal: &Proposal<'_>, published: &Publication) -> String {
        let Proposal { outcome, head, change, flaw, .. } = proposal;
        let plan = &self.run.plan;
        let rules = &self.run.policy.settings().publish;
        let marker = PullRequestMarker::new(
            plan.session.as_str(),
            (&plan.subject.branch_words(), &self.destination.asked),
            head,
            *change,
        )
        .line();
        let flaw = flaw.map(str::to_owned);
        // What is known against it may be a remark, too.
        let is_new = |remark: &&String| flaw.as_ref().is_none_or(|flaw| !remark.starts_with(flaw));
        let remarks: Vec<String> = published.remarks.iter().filter(is_new).cloned().collect();
        let notes: Vec<String> =
            flaw.into_iter().chain(remarks).chain(published.notes.iter().cloned()).collect();
        let issue =
            if let RunSubject::Issue { number, .. } = plan.subject { Some(number) } else { None };
        let facts = PullRequestFacts {
            marker: &marker,
            issue,
            closes: rules.close_issues,
            requested_by: self.destination.requested_by.as_deref(),
            run_url: self.run_url,
            runs: self.runs_of_step(),
            notes: &notes,
        };
        let text_rules = TextRules { closing: rules.close_issues, ..self.text_rules(&marker) };
        sanitise::markdown(&pull_request::body(&facts, outcome), &text_rules, &self.run.redactor)
    }
}

/// Returns the page that opens a pull request from a branch.
fn compare_url(page: &str, base: &str, branch: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let part = |name: &str| -> String {
        let letter = |byte: u8| {
            if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
        };
        name.bytes().map(letter).collect()
    };
    format!("{page}/compare/{}...{}?expand=1", part(base), part(branch))
}

fn unchanged(earlier: &OwnBranch, pull: &OwnPullRequest) -> PublishResult {
    PublishResult::PullRequest {
        number: pull.number,
        url: pull.url.clone(),
        branch: earlier.name.clone(),
        draft: pull.is_draft,
        effect: PullRequestEffect::Unchanged,
        head: earlier.tip.0.clone(),
    }
}

/// Puts a new result below what a pull request says already, under the new result's hidden line.
fn followed_by(before: &str, new: String) -> String {
    let (Some((marker, result)), Some((_, kept))) = (new.split_once('\n'), before.split_once('\n'))
    else {
        return new;
    };
    let whole = format!("{marker}\n{}\n\n---\n\n{result}", kept.trim_end());
    if whole.chars().count() <= BODY_LIMIT_CHARS { whole } else { new }
}

#[cfg(test)]
mod tests {
    use super::{compare_url, followed_by};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_new_result_follows_what_stands_there_as_long_as_there_is_room() {
        let new = "<!-- 2 -->\nMore.".to_owned();
        let followed = followed_by("<!-- 1 -->\r\nFirst, by @bob.\n", new.clone());
        assert_eq!(followed, "<!-- 2 -->\nFirst, by @bob.\n\n---\n\nMore.");
        assert_eq!(followed_by("", new.clone()), new);
        assert_eq!(followed_by(&format!("x\n{}", "y".repeat(60_000)), new.clone()), new);
    }
    #[test]
    fn the_page_that_opens_a_pull_request_takes_any_branch() {
        assert_eq!(
            compare_url("https://github.com/a/b", "main", "locum/issue-7-50%-#x"),
            "https://github.com/a/b/compare/main...locum/issue-7-50%25-%23x?expand=1"
        );
    }
}
