//! From an outcome to receipts: the final tree judged once more, checks run, then a branch and pull request, a commit or a diff,
//! the comment, the reaction. Every posting passes the policy; every text passes the sanitiser.
//!
//! What may not be published is said, never dropped in silence. Publishing the same session again updates what is there.

use crate::base::path::RepoPath;
use crate::forge::Forge;
use crate::forge::posts::{Posting, ReactionTarget, Receipt};
use crate::forge::sanitise::{self, TextRules};
use crate::policy::Permit;
use crate::policy::intent::{Act, Intent, Publication};
use crate::policy::schema::PublishAs;
use crate::report::comment::{self, CommentFacts, Decide, Landing};
use crate::report::{branch, commit, pull_request};
use crate::run::checks::Checks;
use crate::run::plan::Subject;
use crate::run::prepare::Prepared;
use crate::run::tree::Judge;
use crate::session::outcome::{Outcome, OutcomeWord};
use crate::workspace::Workspace;
use crate::workspace::diff::FileChange;
use crate::workspace::git_binary::GitBinary;
use crate::workspace::remote::Remote;
use crate::workspace::repo::{CommitId, NewCommit, RepoError};

/// Name and e-mail of the commits' author.
const AUTHOR: (&str, &str) = ("Locum", "locum@users.noreply.github.com");

/// Where results go and what is known about the place.
pub struct Destination<'a> {
    /// The forge.
    pub forge: &'a dyn Forge,
    /// Where branches are pushed; `None` keeps them in the checkout's own repository.
    pub remote: Option<&'a Remote>,
    /// The whole environment, for the `git` binary.
    pub git: &'a GitBinary,
    /// The branch pull requests are made against.
    pub base_branch: &'a str,
    /// The hidden line the run's comment is found by.
    pub marker: &'a str,
    /// What the final reaction is put on.
    pub reaction: Option<ReactionTarget>,
    /// The review comment that is answered in its thread; `None` comments on the issue or pull request itself.
    pub reply_to: Option<u64>,
    /// Name of the branch for changes, instead of the policy's.
    pub branch_template: Option<&'a str>,
    /// Login of who asked.
    pub requested_by: Option<&'a str>,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// How people decide on what the run stops for.
    pub decide: Decide<'a>,
}

/// What was published.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Where the changes went.
    pub landed: Landed,
    /// The run's comment.
    pub comment: Option<Receipt>,
    /// What was published.
    pub receipts: Vec<Receipt>,
    /// What was not, and why: the policy's refusals and the forge's.
    pub notes: Vec<String>,
}

/// Where the changes of a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landed {
    /// Nowhere; says why where there are changes.
    Nowhere(String),
    /// Into a pull request.
    PullRequest {
        /// Its number.
        number: u64,
        /// Its page.
        url: String,
        /// Its branch.
        branch: String,
        /// True when it is a draft.
        draft: bool,
    },
    /// As a commit onto a branch that was there.
    Commit {
        /// The commit.
        id: String,
        /// The branch.
        branch: String,
    },
    /// Into the comment, as a diff; says why.
    Diff(String),
}

impl Default for Landed {
    fn default() -> Self {
        Self::Nowhere(String::new())
    }
}

impl Landed {
    /// Returns it in the report's terms.
    #[must_use]
    pub fn landing(&self) -> Landing<'_> {
        match self {
            Self::Nowhere(why) => Landing::Nowhere(why),
            Self::PullRequest { number, url, branch, draft } => Landing::PullRequest { number: *number, url, branch, draft: *draft },
            Self::Commit { id, branch } => Landing::Commit { id, branch },
            Self::Diff(why) => Landing::Diff(why),
        }
    }
}

/// Publishes one outcome.
pub struct Publisher<'a> {
    /// What the run was prepared with.
    pub prepared: &'a Prepared,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// Where results go.
    pub destination: &'a Destination<'a>,
}

impl Publisher<'_> {
    /// Publishes everything the policy allows; what fails becomes a note, and the comment says so.
    pub async fn publish(&self, outcome: &Outcome) -> Published {
        let mut published = Published::default();
        published.landed = match self.land(outcome, &mut published).await {
            Ok(landed) => landed,
            Err(why) => self.only_shown(outcome, why),
        };
        if let Some(number) = self.prepared.plan.subject.thread() {
            let body = comment::ended(&self.comment_facts(), outcome, published.landed.landing());
            published.comment = self.post(self.comment(number, &body), &mut published).await;
        }
        if let Some(target) = self.destination.reaction {
            self.post(Posting::Reaction { target, content: reaction(outcome.word).to_owned() }, &mut published).await;
        }
        published
    }

    /// Returns the posting of a comment whose body is sanitised.
    #[must_use]
    pub fn comment(&self, number: u64, body: &str) -> Posting {
        let mut rules = self.text_rules(self.destination.marker);
        if let Decide::Comment { marker, .. } = self.destination.decide {
            rules.markers.push(marker.to_owned());
        }
        let body = sanitise::markdown(body, &rules, &self.prepared.redactor);
        let marker = self.destination.marker.to_owned();
        match self.destination.reply_to {
            Some(comment) => Posting::Reply { number, comment, marker, body },
            None => Posting::Comment { number, marker, body },
        }
    }

    /// Returns what the comment needs to know.
    #[must_use]
    pub fn comment_facts(&self) -> CommentFacts<'_> {
        let plan = &self.prepared.plan;
        CommentFacts {
            marker: self.destination.marker,
            mode: &plan.mode,
            requested_by: self.destination.requested_by,
            run_url: self.destination.run_url,
            budget: &plan.budget,
            decide: self.destination.decide,
        }
    }

    /// Asks the policy, then publishes; a refusal or a fault becomes a note.
    pub async fn post(&self, posting: Posting, published: &mut Published) -> Option<Receipt> {
        let permit = match self.prepared.policy.admit(posting, &self.prepared.plan.facts) {
            Ok(permit) => permit,
            Err(refusal) => {
                published.notes.push(refusal.to_string());
                return None;
            }
        };
        match self.destination.forge.post(permit).await {
            Ok(receipt) => {
                published.receipts.push(receipt.clone());
                Some(receipt)
            }
            Err(error) => {
                tracing::warn!(%error, "not published");
                published.notes.push(error.to_string());
                None
            }
        }
    }

    /// Says where the changes of a run went that became no branch: into the comment, unless they hold a secret.
    fn only_shown(&self, outcome: &Outcome, why: String) -> Landed {
        let held_back = |change: &&FileChange| change.withheld || sanitise::patch(&change.patch, &self.prepared.redactor).is_err();
        match outcome.changes.iter().find(held_back) {
            None => Landed::Diff(why),
            Some(change) => {
                let secret = format!("the diff is not shown, because the change to `{}` holds a secret", change.path);
                Landed::Nowhere(if why.is_empty() { secret } else { format!("{why}; {secret}") })
            }
        }
    }

    /// Publishes the changes as the policy says; the error says why they become no branch.
    async fn land(&self, outcome: &Outcome, published: &mut Published) -> Result<Landed, String> {
        if outcome.changes.is_empty() {
            return Ok(Landed::default());
        }
        // What is judged is what is pushed: whatever the checks below do to the checkout, this commit stays as it is.
        let commit = self.commit(outcome)?;
        let executables = self.judge(outcome, &commit)?;
        published.notes.extend(executables.iter().map(|path| format!("`{path}` becomes executable")));
        let rules = &self.prepared.policy.settings().publish;
        if outcome.word != OutcomeWord::Done {
            return Err(format!("the run ended as `{}`, so its changes are only shown", outcome.word.as_str()));
        }
        if rules.publish_as == PublishAs::Comment {
            return Err(String::new());
        }
        if let Subject::PullRequest { is_fork: true, .. } = self.prepared.plan.subject {
            return Err("the pull request comes from a fork, whose branch is not ours to change".to_owned());
        }
        let checks = self.checks(outcome).await;
        match &self.prepared.plan.subject {
            Subject::PullRequest { head_branch, own_pull_request: false, .. } => self.land_commit(&commit, head_branch, &checks).await,
            Subject::PullRequest { .. } | Subject::Prompt | Subject::Issue { .. } | Subject::Job { .. } => {
                self.land_pull_request(outcome, &commit, &checks, published).await
            }
        }
    }

    /// Judges the commit that would be pushed, and returns the files that become executable in it.
    fn judge(&self, outcome: &Outcome, commit: &CommitId) -> Result<Vec<RepoPath>, String> {
        let mut slugs: Vec<&str> = outcome.tasks.iter().map(|task| task.mode.as_str()).collect();
        slugs.push(&self.prepared.plan.mode);
        let modes: Vec<_> = slugs.iter().filter_map(|slug| self.prepared.modes.find(slug)).collect();
        let plan = &self.prepared.plan;
        let judge = Judge {
            policy: &self.prepared.policy,
            facts: &plan.facts,
            modes: &modes,
            budget: &plan.budget,
            redactor: &self.prepared.redactor,
            base: &plan.base,
            approved: &outcome.approved,
        };
        let committed = self.workspace.repo.committed(&plan.base, commit).map_err(|error| format!("the commit cannot be read: {error}"))?;
        let objections = judge.objections(&committed);
        if objections.is_empty() {
            Ok(Judge::new_executables(&committed).into_iter().cloned().collect())
        } else {
            Err(objections.join("; "))
        }
    }

    async fn checks(&self, outcome: &Outcome) -> Checks {
        let mut slugs: Vec<&str> = outcome.tasks.iter().map(|task| task.mode.as_str()).collect();
        slugs.push(&self.prepared.plan.mode);
        Checks::run(self.prepared, self.workspace, &slugs).await
    }

    /// Puts the changes onto the branch of a pull request of this repository.
    async fn land_commit(&self, commit: &CommitId, head_branch: &str, checks: &Checks) -> Result<Landed, String> {
        if let Some(why) = checks.failure() {
            return Err(format!("{why}, so the branch is left as it was"));
        }
        let Some(remote) = self.destination.remote else {
            return Err("there is no remote to push the pull request's branch to".to_owned());
        };
        let permit = self.admit_push(head_branch, commit).map_err(|why| why.to_string())?;
        self.push(remote, &permit).await.map_err(|why| why.to_string())?;
        Ok(Landed::Commit { id: commit.0.clone(), branch: head_branch.to_owned() })
    }

    /// Puts the changes onto a branch of their own and makes a pull request of it.
    async fn land_pull_request(
        &self,
        outcome: &Outcome,
        commit: &CommitId,
        checks: &Checks,
        published: &mut Published,
    ) -> Result<Landed, String> {
        let branch = self.push_own_branch(commit).await?;
        let plan = &self.prepared.plan;
        let rules = &self.prepared.policy.settings().publish;
        let draft = rules.draft || checks.failure().is_some();
        let marker = crate::report::markdown::marker("pull-request", &[("session", plan.session.as_str())]);
        let notes: Vec<String> = checks.failure().into_iter().chain(published.notes.iter().cloned()).collect();
        let issue = if let Subject::Issue { number, .. } = plan.subject { Some(number) } else { None };
        let facts = pull_request::PullRequestFacts {
            marker: &marker,
            issue,
            closes: rules.close_issues,
            requested_by: self.destination.requested_by,
            run_url: self.destination.run_url,
            checks: checks.reports(),
            notes: &notes,
        };
        let text_rules = TextRules { closing: rules.close_issues, ..self.text_rules(&marker) };
        let posting = Posting::PullRequest {
            head: branch.clone(),
            base: self.destination.base_branch.to_owned(),
            title: sanitise::title(&pull_request::title(self.title()), &text_rules, &self.prepared.redactor),
            body: sanitise::markdown(&pull_request::body(&facts, outcome), &text_rules, &self.prepared.redactor),
            draft,
        };
        let Some(receipt) = self.post(posting, published).await else {
            let why = published.notes.last().cloned().unwrap_or_default();
            return Err(format!("the branch `{branch}` is there, but there is no pull request: {why}"));
        };
        if !rules.labels.is_empty() {
            self.post(Posting::Labels { number: receipt.id, labels: rules.labels.clone() }, published).await;
        }
        Ok(Landed::PullRequest { number: receipt.id, url: receipt.url, branch, draft })
    }

    /// Makes the commit of this run. The branch of the run before it is taken up again where it holds the very same change.
    fn commit(&self, outcome: &Outcome) -> Result<CommitId, String> {
        let plan = &self.prepared.plan;
        let facts =
            commit::CommitFacts { title: self.title(), summary: &outcome.summary, session: plan.session.as_str(), requested_by: None };
        let message = sanitise::commit_message(&commit::message(&facts), &self.text_rules(""), &self.prepared.redactor);
        let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
        let new = NewCommit { parent: &plan.base, touched: &touched, message: &message, author: AUTHOR };
        self.workspace.repo.commit(&new).map_err(|error| error.to_string())
    }

    /// Pushes a branch of our own. A branch of that name that holds something else gets company, never a new content.
    async fn push_own_branch(&self, commit: &CommitId) -> Result<String, String> {
        let plan = &self.prepared.plan;
        let rules = &self.prepared.policy.settings().publish;
        let template = self.destination.branch_template.unwrap_or(&rules.branch);
        let name = branch::name(template, &plan.subject.branch_words(), self.title());
        let prefix = template.split(['{', '/']).next().unwrap_or_default();
        let session = plan.session.as_str();
        let tail = session.get(session.len().saturating_sub(8)..).unwrap_or(session);
        let mut refused = String::new();
        for name in [name.clone(), format!("{name}-{tail}")] {
            let name = sanitise::branch_name(&name, prefix, self.destination.base_branch, &self.prepared.redactor)
                .map_err(|why| why.to_string())?;
            let commit = self.same_change(&name, commit).unwrap_or_else(|| commit.clone());
            match self.place(&name, &commit).await {
                Ok(()) => return Ok(name),
                Err(NotPlaced::Taken(why)) => refused = why,
                Err(NotPlaced::Refused(why)) => return Err(why),
            }
        }
        Err(refused)
    }

    /// Returns the tip of a branch here that is this very change: what an earlier try of the same session left.
    fn same_change(&self, name: &str, commit: &CommitId) -> Option<CommitId> {
        let tip = self.workspace.repo.commit_of(&format!("refs/heads/{name}")).ok()?;
        self.workspace.repo.is_same_change(&tip, commit).is_ok_and(|same| same).then_some(tip)
    }

    /// Puts a commit onto a branch of our own: here, and at the remote where there is one.
    async fn place(&self, name: &str, commit: &CommitId) -> Result<(), NotPlaced> {
        let permit = self.admit_push(name, commit)?;
        let Push { branch, commit } = permit.act();
        self.workspace.repo.set_branch(branch, commit).map_err(|error| NotPlaced::Taken(error.to_string()))?;
        match self.destination.remote {
            Some(remote) => self.push(remote, &permit).await,
            None => Ok(()),
        }
    }

    /// Pushes what was permitted, and nothing else.
    async fn push(&self, remote: &Remote, permit: &Permit<Push>) -> Result<(), NotPlaced> {
        let Push { branch, commit } = permit.act();
        match self.destination.git.push(permit, remote, commit, branch).await {
            Ok(()) => Ok(()),
            Err(error @ RepoError::PushRefused { .. }) => Err(NotPlaced::Taken(error.to_string())),
            Err(error) => Err(NotPlaced::Refused(error.to_string())),
        }
    }

    fn admit_push(&self, branch: &str, commit: &CommitId) -> Result<Permit<Push>, NotPlaced> {
        let push = Push { branch: branch.to_owned(), commit: commit.clone() };
        self.prepared.policy.admit(push, &self.prepared.plan.facts).map_err(|refusal| NotPlaced::Refused(refusal.to_string()))
    }

    fn title(&self) -> &str {
        self.prepared.plan.subject.title().unwrap_or(&self.prepared.plan.task)
    }

    fn text_rules(&self, marker: &str) -> TextRules {
        let prefix = self.prepared.policy.settings().triggers.comment.as_ref().map_or_else(String::new, |comment| comment.prefix.clone());
        TextRules { markers: vec![marker.to_owned()], prefix, ..TextRules::default() }
    }
}

/// The act of putting a commit onto a branch where others see it.
#[derive(Clone, Debug)]
struct Push {
    branch: String,
    commit: CommitId,
}

impl Act for Push {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(Publication::Commit)]
    }
}

/// Why a branch could not be placed.
enum NotPlaced {
    /// A branch of this name holds something else.
    Taken(String),
    /// The policy, the remote or git said no.
    Refused(String),
}

impl std::fmt::Display for NotPlaced {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Taken(why) | Self::Refused(why) => formatter.write_str(why),
        }
    }
}

/// Returns the reaction that ends a run.
fn reaction(word: OutcomeWord) -> &'static str {
    match word {
        OutcomeWord::Done | OutcomeWord::NothingToDo => "rocket",
        OutcomeWord::NeedsInput | OutcomeWord::OnHold => "eyes",
        OutcomeWord::Refused | OutcomeWord::BudgetExhausted | OutcomeWord::TimedOut | OutcomeWord::Failed | OutcomeWord::Cancelled => {
            "confused"
        }
    }
}
