//! From an outcome to receipts: the final tree judged once more, checks run, then a branch and pull
//! request, a commit or a diff, the comment, the reaction. Each passes policy and sanitiser.
//!
//! What may not be published is said, never dropped in silence. Publishing the same session again
//! updates what is there. `branch` puts commits onto branches, `review` onto nothing: it suggests.

mod branch;
pub(crate) mod check_run;
mod commit;
mod cure;
pub mod destination;
pub mod follow_up;
pub mod lease;
mod moved;
pub mod own_branch;
pub(crate) mod poster;
mod pull_request;
mod reactions;
mod report;
mod resolved;
mod review;
mod seen;
pub mod summary_words;
pub(crate) mod unpublished;

use std::path::Path;

use crate::run::patch;
use crate::run::plan::RunSubject;
use crate::run::prepare::PreparedRun;
use crate::run::publish::destination::PublishDestination;
use crate::run::publish::follow_up::{FollowUp, RunEnd};
use crate::run::publish::lease::Lease;
use crate::run::publish::moved::JudgedCommit;
use crate::run::publish::poster::Poster;
use crate::run::publish::unpublished::{NotPosted, Unpublished};
use locum_agent::report::comment::{ChangeDestination, PullRequestEffect};
use locum_agent::report::waiting::DecisionChannel;
use locum_agent::report::{comment, markdown};
use locum_agent::session::earlier::EarlierConversation;
use locum_agent::session::ending::{self, Settlement};
use locum_agent::session::hindrance::Hindrance;
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_agent::session::word::Severity;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_forge::Forge;
use locum_forge::posts::{Posting, ReactionTarget, Receipt};
use locum_forge::sanitise::{self, TextRules};
use locum_policy::schema::{PublishForm, PublishForms};
use locum_workspace::Workspace;
use locum_workspace::diff::FileChange;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;

/// The reaction that shows that something was seen, and is worked on or waits.
pub(crate) const SEEN: &str = "eyes";
/// Why a run that was cancelled after its session is not published, or not all of it.
const CANCELLED: &str = "it was stopped from outside while its result was being published";

/// What was published, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Publication {
    /// Where the changes went.
    pub result: PublishResult,
    /// The run's own comment, where it has one.
    pub comment: Option<Receipt>,
    /// Every comment, commit and pull request, in order.
    pub receipts: Vec<Receipt>,
    /// What was not, and why: the policy's refusals and the forge's.
    pub notes: Vec<String>,
    /// The issue or pull request where people decide on what the run waits for.
    pub decide_on: Option<u64>,
    /// What else readers should know of it.
    pub remarks: Vec<String>,
    /// What became of findings, new and earlier, in sentences that the comment has, too.
    pub about_findings: Vec<String>,
}

/// Where the changes of a run are, before anyone is told.
pub struct Landed {
    /// What was published.
    pub published: Publication,
    hindrance: Option<Hindrance>,
    is_cancelled: bool,
}

/// Where the changes of a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishResult {
    /// Nowhere; says why where there are changes.
    Nowhere(String),
    /// Into a pull request.
    PullRequest {
        /// Number on the forge.
        number: u64,
        /// URL of its page.
        url: String,
        /// Branch it was opened from.
        branch: String,
        /// True when it is a draft.
        draft: bool,
        /// What the run did to it.
        effect: PullRequestEffect,
        /// Hash of the commit its branch is at.
        head: String,
    },
    /// As a commit onto a branch that was there.
    Commit {
        /// Commit hash.
        id: String,
        /// Branch the commit is on.
        branch: String,
    },
    /// Into a review of the pull request.
    Review {
        /// URL of the review.
        url: String,
        /// How many comments on lines it has.
        comments: usize,
    },
    /// Into the comment, as a diff; says why.
    Diff(String),
}

impl Default for PublishResult {
    fn default() -> Self {
        Self::Nowhere(String::new())
    }
}

impl PublishResult {
    /// Returns it in the report's terms.
    pub fn landing(&self) -> ChangeDestination<'_> {
        match self {
            Self::Nowhere(why) => ChangeDestination::Nowhere(why),
            Self::PullRequest { number, url, branch, draft, effect, .. } => {
                let (number, draft, effect) = (*number, *draft, *effect);
                ChangeDestination::PullRequest { number, url, branch, draft, effect }
            }
            Self::Commit { id, branch } => ChangeDestination::Commit { id, branch },
            Self::Review { url, comments } => {
                ChangeDestination::Review { url, comments: *comments }
            }
            Self::Diff(why) => ChangeDestination::Diff(why),
        }
    }
}

impl PublishResult {
    /// Returns the commit that the branch with the changes is at; `None` where no branch has them.
    pub fn head(&self) -> Option<&str> {
        match self {
            Self::PullRequest { head, .. } | Self::Commit { id: head, .. } => Some(head),
            Self::Nowhere(_) | Self::Review { .. } | Self::Diff(_) => None,
        }
    }
}

/// Publishes one outcome.
pub struct Publisher<'a> {
    /// The run whose results are published.
    pub run: &'a PreparedRun,
    /// The checkout that holds the changes.
    pub workspace: &'a Workspace,
    /// Folder of the session.
    pub session_folder: &'a Path,
    /// API of the forge.
    pub forge: &'a dyn Forge,
    /// Where branches are pushed; `None` keeps them in the checkout's own repository.
    pub remote: Option<&'a Remote>,
    /// The `git` binary.
    pub git: &'a GitBinary,
    /// Where results go.
    pub destination: &'a PublishDestination,
    /// What reactions are put on: what started this workflow run.
    pub reaction: Option<ReactionTarget>,
    /// Name of the branch for changes, instead of the policy's.
    pub branch_template: Option<&'a str>,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// Page of the repository; `None` where it has none.
    pub repository_url: Option<&'a str>,
    /// Until when it may post; `None` where no other run can be at the same work.
    pub lease: Option<&'a Lease<'a>>,
    /// What its comment says of the decision that it goes on by.
    pub resumed: Option<destination::ResumedLines<'a>>,
    /// The hidden line that says where a session before it is kept, until it has left something.
    pub kept_before: Option<&'a str>,
    /// The conversation that it goes on with.
    pub earlier: Option<&'a EarlierConversation>,
}

impl Publisher<'_> {
    /// Publishes everything the policy allows, and takes what became of it into the outcome; what
    /// fails becomes a note, and the comment says so.
    pub async fn publish(
        &self,
        outcome: &mut Outcome,
        ending: &RunEnd<'_>,
        next: FollowUp<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Publication {
        let landed = self.publish_changes(outcome, ending, cancelled).await;
        self.publish_report(outcome, ending, next, landed).await
    }

    /// Puts the changes where they belong, and takes what became of them into the outcome.
    /// Cancelled, it gives up what is not there yet.
    pub async fn publish_changes(
        &self,
        outcome: &mut Outcome,
        ending: &RunEnd<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Landed {
        ending::settle(outcome, Settlement::Pending);
        let remarks = self.destination.remarks.clone();
        let mut published = Publication { remarks, ..Publication::default() };
        // A session that was cancelled is reported as such.
        let listens = outcome.word != OutcomeWord::Cancelled;
        let landed = tokio::select! {
            biased;
            () = cancelled, if listens => Err(Unpublished::Cancelled),
            landed = self.land(outcome, &mut published) => landed,
        };
        let is_cancelled = matches!(landed, Err(Unpublished::Cancelled));
        let mut hindrance = self.take_in(outcome, landed, &mut published);
        if !is_cancelled {
            self.resolve_fixed(outcome, &mut published).await;
        }
        if outcome.word.severity() == Severity::Waits
            && let DecisionChannel::Nowhere(why) = ending.decide
        {
            hindrance = Some(unpublished::hindrance(format!("the run cannot go on: {why}")));
        }
        self.settle(outcome, &hindrance, is_cancelled);
        Landed { published, hindrance, is_cancelled }
    }

    /// Says why nothing of an outcome may be published where it belongs.
    pub async fn publish_refused(
        &self,
        outcome: &mut Outcome,
        ending: &RunEnd<'_>,
        next: FollowUp<'_>,
        why: String,
    ) -> Publication {
        ending::settle(outcome, Settlement::Pending);
        let remarks = self.destination.remarks.clone();
        let result = PublishResult::Nowhere(why.clone());
        let published = Publication { result, remarks, ..Publication::default() };
        let hindrance = Some(unpublished::hindrance(why));
        self.settle(outcome, &hindrance, false);
        let landed = Landed { published, hindrance, is_cancelled: false };
        self.publish_report(outcome, ending, next, landed).await
    }

    /// Takes in where the changes went; returns what stood in the way.
    fn take_in(
        &self,
        outcome: &Outcome,
        landed: Result<PublishResult, Unpublished>,
        published: &mut Publication,
    ) -> Option<Hindrance> {
        let not = match landed {
            Ok(result) => {
                published.result = result;
                return None;
            }
            Err(not) => not,
        };
        let (why, hindrance) = match not {
            Unpublished::Hindered(hindrance) => (String::new(), Some(*hindrance)),
            Unpublished::Flawed(why) if outcome.word == OutcomeWord::Done => {
                (String::new(), Some(unpublished::hindrance(why)))
            }
            Unpublished::Intended(why) | Unpublished::Flawed(why) => (why, None),
            // What is there by then stays in the result.
            Unpublished::Cancelled if published.result != PublishResult::default() => return None,
            Unpublished::Cancelled => (String::new(), None),
        };
        let secret = self.secret(outcome);
        published.result = match &secret {
            Some(secret) => PublishResult::Nowhere(joined(&[&why, secret])),
            None => PublishResult::Diff(why),
        };
        hindrance.or_else(|| secret.filter(|_| may_land(outcome)).map(unpublished::hindrance))
    }

    /// Takes into the outcome what became of its result.
    fn settle(&self, outcome: &mut Outcome, hindrance: &Option<Hindrance>, is_cancelled: bool) {
        if is_cancelled {
            return ending::settle(outcome, Settlement::Abandoned(CANCELLED));
        }
        // The merge itself is what was to be done.
        if self.destination.merges.is_some() && outcome.word == OutcomeWord::NothingToDo {
            outcome.word = OutcomeWord::Done;
        }
        let Some(hindrance) = hindrance else {
            return ending::settle(outcome, Settlement::Published);
        };
        let patch = patch::write(self.session_folder, outcome, &self.run.redactor);
        let patch = patch.unwrap_or_else(|error| {
            tracing::warn!(error, "the changes are not kept as a patch");
            None
        });
        let patch = patch.map(|path| path.display().to_string());
        let hindrance = Hindrance { patch, ..hindrance.clone() };
        ending::settle(outcome, Settlement::Hindered(&hindrance));
    }

    /// Opens the issue where maintainers decide on a run that has no other place; the error says
    /// why there is none.
    pub async fn open_issue(&self) -> Result<u64, String> {
        let plan = &self.run.plan;
        let key = if let RunSubject::Job { name, .. } = &plan.subject {
            ("job", name.as_str())
        } else {
            ("session", plan.session.as_str())
        };
        let marker = markdown::marker("decision", &[key]);
        let rules = self.text_rules(&marker);
        let (title, body) = comment::decision_issue(&marker, self.title(), self.run_url);
        let title = sanitise::title(&title, &rules, &self.run.redactor);
        let body = sanitise::markdown(&body, &rules, &self.run.redactor);
        let mut published = Publication::default();
        match self.post(Posting::Issue { number: None, marker, title, body }, &mut published).await
        {
            Some(receipt) => Ok(receipt.id),
            None => Err(published.notes.join("; ")),
        }
    }

    /// Asks the policy, then publishes; a refusal or an error becomes a note.
    pub async fn post(&self, posting: Posting, published: &mut Publication) -> Option<Receipt> {
        let posted = self.attempt(posting, published).await;
        posted.map_err(|not| published.notes.push(not.to_string())).ok()
    }

    /// Asks the policy, then publishes, and keeps the receipt. An error is logged; whether it
    /// becomes a note is up to the caller.
    async fn attempt(
        &self,
        posting: Posting,
        published: &mut Publication,
    ) -> Result<Receipt, NotPosted> {
        let posted = self.ask_and_post(posting).await;
        match &posted {
            Ok(receipt) => published.receipts.push(receipt.clone()),
            Err(not) => tracing::warn!("not published: {not}"),
        }
        posted
    }

    /// Asks the policy, then publishes.
    pub(crate) async fn ask_and_post(&self, posting: Posting) -> Result<Receipt, NotPosted> {
        if self.is_late() {
            return Err(NotPosted::LeaseOver);
        }
        self.poster().post(posting).await
    }

    fn poster(&self) -> Poster<'_> {
        let (policy, facts) = (&*self.run.policy, &self.run.plan.facts);
        Poster { forge: self.forge, policy, facts }
    }

    /// Returns whether the time is over in which the run may post.
    pub fn is_late(&self) -> bool {
        self.lease.is_some_and(Lease::is_over)
    }

    /// Says why the changes may not even be shown: one of them holds a secret.
    pub fn secret(&self, outcome: &Outcome) -> Option<String> {
        let path = with_secret(outcome, &self.run.redactor)?;
        Some(format!("the diff is not shown, because the change to `{path}` holds a secret"))
    }

    /// Publishes the changes as the policy says; the error says why they become no branch.
    async fn land(
        &self,
        outcome: &Outcome,
        published: &mut Publication,
    ) -> Result<PublishResult, Unpublished> {
        // A check only judges.
        if self.destination.check.is_some() {
            return Ok(PublishResult::default());
        }
        let form = self.form();
        let whole = self.with_earlier_result(outcome, form);
        let outcome = whole.as_ref().unwrap_or(outcome);
        if self.only_merges(outcome) {
            // Every conflict is resolved to the branch's side: there is nothing but the merge.
            let author = self.forge.commit_author().await;
            let (base, flaw) = (self.run.plan.base.clone(), self.flaw(outcome));
            let judged = JudgedCommit { id: base.clone(), base, flaw };
            return self.land_judged(outcome, judged, (form, &author), published).await;
        }
        if outcome.changes.is_empty() {
            return match form {
                PublishForm::Review => self.land_findings(outcome, published).await,
                PublishForm::PullRequest => Ok(self.without_changes()),
                PublishForm::Commit | PublishForm::Comment => Ok(PublishResult::default()),
            };
        }
        if !may_land(outcome) {
            return Err(Unpublished::Intended(only_shown(outcome)));
        }
        // What is judged is what is pushed: whatever the checks below do to the checkout, this
        // commit stays as it is.
        let author = self.forge.commit_author().await;
        let commit = self.commit(outcome, &author)?;
        let executables = self.judge(outcome, &self.run.plan.base, &commit)?;
        published
            .notes
            .extend(executables.iter().map(|path| format!("`{path}` becomes executable")));
        match form {
            PublishForm::Comment => Err(Unpublished::Intended(self.why_shown().to_owned())),
            PublishForm::Review => self.land_review(outcome, published).await,
            PublishForm::Commit | PublishForm::PullRequest => {
                let base = self.run.plan.base.clone();
                let judged = JudgedCommit { base, id: commit, flaw: self.flaw(outcome) };
                let (judged, remark) = self.follow(outcome, judged, form).await?;
                published.remarks.extend(remark);
                self.land_judged(outcome, judged, (form, &author), published).await
            }
        }
    }

    /// Returns what a change of this run becomes.
    fn form(&self) -> PublishForm {
        self.run.plan.subject.publish_form(self.forms())
    }

    fn forms(&self) -> PublishForms {
        self.run.policy.settings().publish.publish_as.in_mode(&self.run.plan.mode)
    }

    /// Says why a change is only shown, where the policy does not say so itself.
    fn why_shown(&self) -> &'static str {
        match self.run.plan.subject {
            RunSubject::PullRequest { is_fork: true, .. }
                if self.forms().pull_requests != PublishForm::Comment =>
            {
                "the pull request comes from a fork, whose branch is not ours to change"
            }
            RunSubject::PullRequest { .. }
            | RunSubject::Prompt
            | RunSubject::Issue { .. }
            | RunSubject::Discussion { .. }
            | RunSubject::Job { .. } => "",
        }
    }

    fn title(&self) -> &str {
        self.run.plan.subject.title().unwrap_or(&self.run.plan.task)
    }

    fn text_rules(&self, marker: &str) -> TextRules {
        let prefix = self.run.policy.settings().triggers.prefix().to_owned();
        TextRules { markers: vec![marker.to_owned()], prefix, ..TextRules::default() }
    }
}

/// Returns a changed file whose change holds a secret.
pub(super) fn with_secret<'o>(outcome: &'o Outcome, redactor: &Redactor) -> Option<&'o RepoPath> {
    let holds =
        |change: &&FileChange| change.withheld || sanitise::patch(&change.patch, redactor).is_err();
    outcome.changes.iter().find(holds).map(|change| &change.path)
}

/// Returns whether changes of a run that ended so are published, and not only shown.
fn may_land(outcome: &Outcome) -> bool {
    matches!(outcome.word, OutcomeWord::Done | OutcomeWord::Partial | OutcomeWord::ChecksFailed)
}

/// Says why the changes of a run that did not end well are only shown.
fn only_shown(outcome: &Outcome) -> String {
    if outcome.word.severity() == Severity::Waits {
        return "it is published when the run goes on".to_owned();
    }
    format!("the run ended as `{}`, so its changes are only shown", outcome.word.as_str())
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("; ")
}
