//! `/locum rebase`: a pull request's branch is brought up to its base, by a merge: a branch that
//! others may build on is never overwritten.
//!
//! In: an admitted command, the branch's tip in the checkout. Out: a merge that is pushed, or the
//! reason why there is none; or a task where both sides contradict each other.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::claim::Claim;
use crate::run::action::declined::Declined;
use crate::run::action::earlier::EarlierWork;
use crate::run::action::refs::HISTORY_COMMITS;
use crate::run::action::{ActionEnd, ActionEnv, answer, refs, work_items};
use crate::run::error::RunError;
use crate::run::publish::own_branch::{BaseMerge, BranchUpdate};
use crate::run::request::{RefusalNotice, RequestRefusal};
use crate::run::run_request::RunRequest;
use crate::run::task_material::{TaskAuthor, TaskMaterial};
use locum_agent::report::markdown::code;
use locum_policy::intent::{Act, Intent, PublicationKind};
use locum_policy::schema::{CommitSigner, PublishForm};
use locum_workspace::merge::Conflict;
use locum_workspace::repo::{CommitId, RepoError};

/// What came of bringing a branch up to its base.
pub(super) enum Rebase {
    /// There is nothing left to do.
    Ended(ActionEnd),
    /// A model has to resolve conflicts.
    Conflicts(ConflictTask),
}

/// The task of resolving conflicts.
pub(super) struct ConflictTask {
    merge: BaseMerge,
    branch: String,
    conflicts: Vec<Conflict>,
    /// What else was asked.
    words: String,
}

/// A branch and its base.
struct Branches {
    branch: String,
    base: String,
}

/// The act of pushing a merge.
struct PushMerge;

impl Act for PushMerge {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Commit)]
    }
}

/// Merges the base into the branch whose tip is `head`, or says what has to be resolved first.
///
/// # Errors
/// When the forge or git fails.
pub(super) async fn begin(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    (earlier, head): (Option<&EarlierWork>, &CommitId),
    claim: &mut Claim<'_>,
) -> Result<Rebase, RunError> {
    let Branches { branch, base } = match branches(env, admitted, earlier).await {
        Ok(branches) => branches,
        Err(Declined::Refused(why)) => return Ok(refused(env, admitted, why).await),
        Err(Declined::Failed(error)) => return Err(error),
    };
    let repo = &env.workspace.repo;
    let tip = match fetch(env, &branch, &base).await {
        Ok(tip) => tip,
        Err(error) => return Ok(refused(env, admitted, error.to_string()).await),
    };
    if *head == tip || repo.builds_on(head, &tip) {
        return Ok(done(env, admitted, &format!("{} is up to date", code(&branch))).await);
    }
    let conflicts = match repo.conflicts_between(head, &tip) {
        Ok(conflicts) => conflicts,
        Err(_) => {
            let why = format!(
                "`{branch}` and `{base}` have no commit in common within {HISTORY_COMMITS}; \
                 `fetch-depth: 0` of actions/checkout fetches all"
            );
            return Ok(refused(env, admitted, why).await);
        }
    };
    if !conflicts.is_empty() {
        let paths = conflicts.iter().map(|conflict| conflict.path.clone()).collect();
        let merge = BaseMerge { branch: base, tip, conflicts: paths };
        let words = admitted.request.text.trim().to_owned();
        return Ok(Rebase::Conflicts(ConflictTask { merge, branch, conflicts, words }));
    }
    let message = BaseMerge::message(&base, &branch, None);
    let author = env.forge.commit_author().await;
    let merged = repo.merge_keeping_ours((head, &tip), &message, author.pair());
    let merged = merged.map_err(RunError::internal)?;
    let permit = match admitted.config.policy.admit(PushMerge, &admitted.request.facts) {
        Ok(permit) => permit,
        Err(refusal) => return Ok(refused(env, admitted, refusal.to_string()).await),
    };
    if let Err(why) = claim.confirm().await {
        return Ok(Rebase::Ended(ActionEnd::Answered { what: why, refused: true }));
    }
    match env.git.push(&permit, env.remote, &branch, (Some(head), &merged)).await {
        Ok(()) => {
            let (base, branch) = (code(&base), code(&branch));
            let said = format!("{base} is merged into {branch} without conflicts; no check ran");
            Ok(done(env, admitted, &said).await)
        }
        Err(error) => Ok(refused(env, admitted, error.to_string()).await),
    }
}

impl ConflictTask {
    /// Makes a request one to resolve the conflicts; returns what is merged after that.
    pub(super) fn give_to(self, request: &mut RunRequest) -> BaseMerge {
        let Self { merge, branch, conflicts, words } = self;
        let files: Vec<String> = merge.conflicts.iter().map(|path| format!("- {path}")).collect();
        request.words = TaskAuthor::Program;
        request.task = format!(
            "Resolve the conflicts between the branch `{branch}`, which is checked out, and its \
             base `{}`. Edit each of these files so that it holds what both sides want, without \
             conflict markers; the base is merged after that, and your version of them stays. \
             Where the branch's version is right, write the file once more without a change, or \
             its conflict counts as open:\n{}\n\n{words}",
            merge.branch,
            files.join("\n")
        );
        request.materials.extend(conflicts.into_iter().map(|conflict| TaskMaterial {
            what: format!("conflict in {}: {}", conflict.path, conflict.what),
            origin: "git; `here` is the branch".to_owned(),
            text: conflict.sides,
        }));
        merge
    }
}

/// Returns the branch that may be changed and its base, or why there is none.
async fn branches(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    earlier: Option<&EarlierWork>,
) -> Result<Branches, Declined> {
    let publish = &admitted.config.policy.settings().publish;
    if publish.sign == CommitSigner::Api {
        return Err(Declined::refused("`sign: api` makes no merge commits; `sign: git` can"));
    }
    if let Some(pull_request) = &admitted.event.pull_request {
        if pull_request.is_fork {
            return Err(Declined::refused("the pull request comes from a fork"));
        }
        let forms = work_items::forms(admitted, admitted.request.mode.as_deref());
        if forms.pull_requests != PublishForm::Commit {
            return Err(Declined::refused("`publish.as` lets no commit onto a pull request"));
        }
        let (branch, base) = (&pull_request.head_branch, &pull_request.base_branch);
        return Ok(Branches { branch: branch.clone(), base: base.clone() });
    }
    let own = earlier
        .map(|earlier| &earlier.branch)
        .filter(|branch| branch.update == BranchUpdate::OnTop)
        .and_then(|branch| Some((branch, branch.pull_request.as_ref()?)));
    let Some((branch, pull)) = own else {
        return Err(Declined::refused("there is no open pull request of Locum's here"));
    };
    let now = env.forge.pull_request(pull.number).await.map_err(RunError::internal)?;
    Ok(Branches { branch: branch.name.clone(), base: now.base_branch })
}

/// Fetches enough of both branches to merge them; returns the tip of the base.
async fn fetch(env: &ActionEnv<'_>, branch: &str, base: &str) -> Result<CommitId, RepoError> {
    let depth = refs::depth_of(env, HISTORY_COMMITS);
    for name in [branch, base] {
        let refspec = format!("+refs/heads/{name}:refs/locum/merged/{name}");
        env.git.fetch(env.remote, &refspec, depth).await?;
    }
    env.workspace.repo.commit_of(&format!("refs/locum/merged/{base}"))
}

async fn refused(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>, why: String) -> Rebase {
    let refused = RequestRefusal { why, rule: "rebase", notice: RefusalNotice::Posted };
    let (event, policy) = (&admitted.event, &admitted.config.policy);
    Rebase::Ended(answer::refusal(env, event, policy, &refused).await)
}

async fn done(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>, what: &str) -> Rebase {
    Rebase::Ended(answer::done(env, admitted, format!("{what}.")).await)
}
