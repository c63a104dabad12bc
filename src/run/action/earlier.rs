//! What an earlier run left at the forge for the same subject: its open pull request, or a branch
//! whose pull request was never opened. A run goes on there and repeats nothing.
//!
//! In: an admitted event and what it is to run. Out: the branch to go on with, or why nothing is
//! run. A fresh checkout knows nothing of earlier runs, so only the forge is asked: for pull
//! requests that we opened, by their hidden line, and for the branch by its name and its trailer.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::jobs::left_out_words;
use crate::run::action::work_items::{self, WorkItem};
use crate::run::action::{ActionEnv, refs};
use crate::run::error::RunError;
use crate::run::job::OnOpen;
use crate::run::plan::RunSubject;
use crate::run::publish::own_branch::{
    BranchUpdate, OwnBranch, OwnBranchName, OwnPullRequest, PullRequestMarker, subject_of,
};
use crate::run::task_material::TaskMaterial;
use locum_forge::commits::CommitAuthor;
use locum_forge::event::Trigger;
use locum_forge::pull_requests::{ListedPullRequest, PullRequestFilter};
use locum_forge::{Forge, ForgeError};
use locum_policy::schema::PublishForm;
use locum_workspace::repo::CommitId;

/// What a run does about earlier ones of its subject.
pub(super) enum Beginning {
    /// It begins anew.
    Anew,
    /// It goes on with what is there.
    With(EarlierWork),
    /// It is left out, for this reason.
    LeftOut(String),
}

/// The branch of an earlier run.
pub(super) struct EarlierWork {
    /// The branch and its pull request.
    pub(super) branch: OwnBranch,
    /// Title of the pull request; empty without one.
    pub(super) title: String,
}

impl EarlierWork {
    /// Returns what the first message of a run says of it; `None` where it starts from the base.
    pub(super) fn material(&self) -> Option<TaskMaterial> {
        let OwnBranch { name, update, pull_request, .. } = &self.branch;
        if *update == BranchUpdate::Replaced {
            return None;
        }
        let what = pull_request.as_ref().map_or_else(
            || "a branch".to_owned(),
            |pull| format!("pull request #{} ({})", pull.number, self.title),
        );
        Some(TaskMaterial {
            what: "the work that this run goes on with".to_owned(),
            origin: "the forge".to_owned(),
            text: format!(
                "An earlier run made {what} from `{name}`. The checkout is at its tip; what you \
                 change becomes another commit there."
            ),
        })
    }
}

/// Names what asked: the same in each attempt of the workflow, and for each delivery of a comment.
pub(super) fn asked(env: &ActionEnv<'_>, trigger: &Trigger) -> String {
    match &trigger.comment {
        Some(comment) => format!("comment-{}", comment.id),
        None => format!("run-{}", env.job.run_id),
    }
}

/// Finds what a run begins with.
///
/// # Errors
/// When the forge or git fails: what is not known could be repeated.
pub(super) async fn find(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    item: &WorkItem,
) -> Result<Beginning, RunError> {
    if item.check().is_some() {
        return Ok(Beginning::Anew);
    }
    let subject = item.subject(admitted);
    let wanted = Wanted {
        words: subject.branch_words(),
        asked: asked(env, &admitted.event.trigger),
        another: admitted.request.flags.new_pull_request,
        subject: &subject,
    };
    let form = subject.publish_form(work_items::forms(admitted, item.mode()));
    let pull = match form {
        PublishForm::PullRequest => {
            let Some(open) = listed(env.forge, PullRequestFilter::Open).await? else {
                return Ok(Beginning::Anew);
            };
            open.into_iter().find_map(|pull| wanted.pull_request(pull))
        }
        PublishForm::Commit if !matches!(subject, RunSubject::PullRequest { .. }) => None,
        PublishForm::Commit | PublishForm::Review | PublishForm::Comment => {
            return Ok(Beginning::Anew);
        }
    };
    let number = pull.as_ref().map_or(0, |(pull, _)| pull.number);
    let found = match pull {
        Some(_) if item.on_open() == OnOpen::Skip => {
            let why = format!("its pull request #{number} is open, and it says `on_open: skip`");
            return Ok(left_out(&subject, &why));
        }
        Some((pull, marker)) => of_pull_request(env, &wanted, pull, &marker).await?,
        None => without_pull_request(env, admitted, &wanted, (item, form)).await?,
    };
    Ok(match found {
        Some(EarlierWork { branch: OwnBranch { update: BranchUpdate::OnTop, .. }, .. })
            if matches!(subject, RunSubject::Job { .. }) =>
        {
            let why = format!("somebody pushed to its open pull request #{number}");
            left_out(&subject, &why)
        }
        Some(earlier) => Beginning::With(earlier),
        None => Beginning::Anew,
    })
}

fn left_out(subject: &RunSubject, why: &str) -> Beginning {
    let name = if let RunSubject::Job { name, .. } = subject { name } else { "" };
    Beginning::LeftOut(format!("{}{why}", left_out_words(name)))
}

/// What is looked for.
struct Wanted<'a> {
    subject: &'a RunSubject,
    /// The subject in markers, trailers and names of branches.
    words: String,
    asked: String,
    /// Whether another pull request was asked for.
    another: bool,
}

impl Wanted<'_> {
    /// Returns an open pull request that the run is to go on in: of the same subject or, where each
    /// request has its own, of the same request.
    fn pull_request(
        &self,
        pull: ListedPullRequest,
    ) -> Option<(ListedPullRequest, PullRequestMarker)> {
        let marker = PullRequestMarker::parse(&pull.body).filter(|_| pull.is_own)?;
        let is_shared = match self.subject {
            RunSubject::Issue { .. } | RunSubject::Discussion { .. } => !self.another,
            RunSubject::Job { .. } => true,
            RunSubject::Prompt | RunSubject::PullRequest { .. } => false,
        };
        let is_same =
            marker.is_about(&self.words) && (is_shared || marker.is_asked_by(&self.asked));
        is_same.then_some((pull, marker))
    }
}

async fn of_pull_request(
    env: &ActionEnv<'_>,
    wanted: &Wanted<'_>,
    pull: ListedPullRequest,
    marker: &PullRequestMarker,
) -> Result<Option<EarlierWork>, RunError> {
    let name = pull.head_branch;
    let Some(tip) = fetch(env, &name).await? else { return Ok(None) };
    let is_untouched = marker.is_at(&tip) || is_ours(env, &tip, &wanted.words).await?;
    let is_alone = marker.change().is_some() && is_untouched;
    let is_again = match wanted.subject {
        RunSubject::Job { .. } => true,
        RunSubject::Prompt
        | RunSubject::Issue { .. }
        | RunSubject::Discussion { .. }
        | RunSubject::PullRequest { .. } => marker.is_asked_by(&wanted.asked),
    };
    let update = if is_alone && is_again { BranchUpdate::Replaced } else { BranchUpdate::OnTop };
    let pull_request = OwnPullRequest {
        number: pull.number,
        url: pull.url,
        is_draft: pull.is_draft,
        change: marker.change().filter(|_| is_alone).map(str::to_owned),
    };
    let branch = OwnBranch { name, tip, update, pull_request: Some(pull_request) };
    Ok(Some(EarlierWork { branch, title: pull.title }))
}

/// Finds the branch of a run whose pull request was not opened, or that opens none.
async fn without_pull_request(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    wanted: &Wanted<'_>,
    (item, form): (&WorkItem, PublishForm),
) -> Result<Option<EarlierWork>, RunError> {
    let is_shared = matches!(
        wanted.subject,
        RunSubject::Issue { .. } | RunSubject::Discussion { .. } | RunSubject::Job { .. }
    );
    if !is_shared || wanted.another {
        return Ok(None);
    }
    let rules = &admitted.config.policy.settings().publish;
    let template = env.inputs.branch_template.as_deref().unwrap_or(&rules.branch);
    let own = OwnBranchName::of(template, wanted.subject, item.task());
    let name = own.as_str().to_owned();
    let tip = env.git.branch_tip(env.remote, &name).await.map_err(RunError::internal)?;
    if tip.is_none() {
        return Ok(None);
    }
    let Some(from) = listed(env.forge, PullRequestFilter::From(&name)).await? else {
        return Ok(None);
    };
    // What was merged or closed is over; what somebody opened from it is theirs.
    let is_free = match form {
        PublishForm::Commit => from.iter().all(|pull| pull.is_open),
        PublishForm::PullRequest | PublishForm::Review | PublishForm::Comment => from.is_empty(),
    };
    let Some(tip) = fetch(env, &name).await?.filter(|_| is_free) else { return Ok(None) };
    if !is_ours(env, &tip, &wanted.words).await? {
        return Ok(None);
    }
    let update = match (form, wanted.subject) {
        (PublishForm::Commit, RunSubject::Issue { .. } | RunSubject::Discussion { .. }) => {
            BranchUpdate::OnTop
        }
        _ => BranchUpdate::Replaced,
    };
    let branch = OwnBranch { name, tip, update, pull_request: None };
    Ok(Some(EarlierWork { branch, title: String::new() }))
}

/// Reads pull requests; `None` where the token may not read them, and so opens none either.
async fn listed(
    forge: &dyn Forge,
    filter: PullRequestFilter<'_>,
) -> Result<Option<Vec<ListedPullRequest>>, RunError> {
    match forge.pull_requests(filter).await {
        Ok(listed) => Ok(Some(listed)),
        Err(error @ (ForgeError::Forbidden { .. } | ForgeError::NotFound { .. })) => {
            tracing::warn!(%error, "earlier pull requests are not looked for");
            Ok(None)
        }
        Err(error) => Err(RunError::internal(error)),
    }
}

/// Fetches a branch of ours; `None` where it is gone.
async fn fetch(env: &ActionEnv<'_>, name: &str) -> Result<Option<CommitId>, RunError> {
    let tip = env.git.branch_tip(env.remote, name).await.map_err(RunError::internal)?;
    if tip.is_none() {
        return Ok(None);
    }
    let local = format!("refs/locum/own/{name}");
    let refspec = format!("+refs/heads/{name}:{local}");
    // The commit and the one it builds on: what it changes is compared.
    let depth = refs::depth_of(env, 2);
    env.git.fetch(env.remote, &refspec, depth).await.map_err(RunError::internal)?;
    env.workspace.repo.commit_of(&local).map(Some).map_err(RunError::internal)
}

/// Returns whether a commit is one that we made for a subject, and that nobody changed since.
async fn is_ours(env: &ActionEnv<'_>, commit: &CommitId, subject: &str) -> Result<bool, RunError> {
    let repo = &env.workspace.repo;
    let (message, _) = repo.message_of(commit).map_err(RunError::internal)?;
    let committer = repo.committer_of(commit).map_err(RunError::internal)?;
    let made_by_us = || async {
        let known = env.forge.commit_author().await;
        committer == known.email || committer == CommitAuthor::default().email
    };
    Ok(subject_of(&message) == Some(subject) && made_by_us().await)
}
