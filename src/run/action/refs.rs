//! The commits of an event: which one is trusted, and which one a run starts from. Fetches what the
//! checkout does not have.

use crate::run::action::{ActionEnv, ForgeEvent};
use crate::run::error::RunError;
use crate::run::publish::own_branch::{BranchUpdate, OwnBranch};
use locum_forge::PullRequest;
use locum_forge::event::EventKind;
use locum_workspace::git_binary::FetchDepth;
use locum_workspace::repo::CommitId;

/// The input that names the base of pull requests.
const BASE_BRANCH: &str = "INPUT_BASE_BRANCH";
/// Commits of two branches that are fetched to find where they parted.
pub(super) const HISTORY_COMMITS: u32 = 200;

/// Returns the tip of the default branch.
///
/// # Errors
/// When it is neither the job's own commit nor to be fetched.
pub(super) async fn default_tip(env: &ActionEnv<'_>, branch: &str) -> Result<CommitId, RunError> {
    if env.job.git_ref == format!("refs/heads/{branch}")
        && let Ok(commit) = env.workspace.repo.commit_of(&env.job.sha)
    {
        return Ok(commit);
    }
    fetch_branch(env, branch).await
}

/// Returns the commit that judges a pull request: the tip of its base as that is now. The commit
/// that GitHub names as its base is the tip from when the pull request was last pushed to, with the
/// policy of that time.
///
/// # Errors
/// When it cannot be fetched.
pub(super) async fn base_of(
    env: &ActionEnv<'_>,
    pull_request: &PullRequest,
    (default_branch, default_tip): (&str, &CommitId),
) -> Result<CommitId, RunError> {
    let branch = trusted_branch(pull_request);
    // Nothing starts on one that is closed, and its base may be gone.
    if branch == default_branch || !pull_request.is_open {
        return Ok(default_tip.clone());
    }
    fetch_branch(env, branch).await
}

/// What judges a pull request is what it would be merged into, never what it brings.
fn trusted_branch(pull_request: &PullRequest) -> &str {
    &pull_request.base_branch
}

/// Brings the checkout to the commit the run starts from: the tip of the branch that it goes on
/// with, a pull request's head, else the tip of the branch that its own one is made against.
///
/// # Errors
/// When the head cannot be fetched or is another one by now, the workflow names a base that does
/// not exist, or uncommitted files are in the way.
pub(super) async fn start(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    earlier: Option<&OwnBranch>,
) -> Result<CommitId, RunError> {
    let repo = &env.workspace.repo;
    if let Some(OwnBranch { tip, update: BranchUpdate::OnTop, .. }) = earlier {
        repo.switch_to(tip).map_err(RunError::internal)?;
        return Ok(tip.clone());
    }
    let Some(pull_request) = &event.pull_request else {
        let start = start_of_event(env, event).await?;
        repo.switch_to(&start).map_err(RunError::internal)?;
        return Ok(start);
    };
    let head = fetch_head(env, pull_request, 1).await?;
    fetch_history(env, pull_request, (&event.trusted, &head)).await;
    repo.switch_to(&head).map_err(RunError::internal)?;
    Ok(head)
}

/// Returns where a run starts that is about no pull request: the commit that a merge queue asks
/// about, else the tip of its start branch.
async fn start_of_event(env: &ActionEnv<'_>, event: &ForgeEvent) -> Result<CommitId, RunError> {
    if let (EventKind::MergeGroup, Some(head)) = (event.trigger.kind, &event.trigger.head) {
        return env.workspace.repo.commit_of(&head.sha).map_err(|error| {
            RunError::internal(error).hint("check out the commit that the event is about")
        });
    }
    let branch = start_branch(env, event);
    if branch == event.default_branch {
        return Ok(event.trusted.clone());
    }
    match fetch_branch(env, branch).await {
        Err(error) => Err(not_fetched(env, branch, error).await),
        fetched => fetched,
    }
}

/// Returns the branch that a run about no pull request starts from, and that its own pull request
/// is made against, so that this one holds the run's change and nothing else: the one that the
/// workflow names, else the one that was pushed to, else the default branch.
pub(super) fn start_branch<'e>(env: &'e ActionEnv<'_>, event: &'e ForgeEvent) -> &'e str {
    let named = env.inputs.base_branch.as_deref();
    named.or_else(|| pushed_branch(event)).unwrap_or(&event.default_branch)
}

/// Returns what the work of a run is compared with that has a base of the workflow's choice; `None`
/// compares it with the trusted commit. `base` is where the run starts.
pub(super) async fn named_base(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    (earlier, base): (Option<&OwnBranch>, &CommitId),
) -> Option<CommitId> {
    let named = env.inputs.base_branch.as_deref();
    let named = named.filter(|branch| *branch != event.default_branch)?;
    if event.pull_request.is_some() || event.trigger.kind == EventKind::MergeGroup {
        return None;
    }
    match earlier {
        Some(OwnBranch { update: BranchUpdate::OnTop, .. }) => {
            let fetched = fetch_branch(env, named).await;
            let failed = |error: &RunError| {
                tracing::warn!(
                    error = error.report(),
                    "the work is compared with the trusted commit, not with `base-branch`"
                );
            };
            fetched.inspect_err(failed).ok()
        }
        Some(_) | None => Some(base.clone()),
    }
}

/// Returns why a branch was not fetched: where the workflow names it, it may not exist.
async fn not_fetched(env: &ActionEnv<'_>, branch: &str, error: RunError) -> RunError {
    let is_named = env.inputs.base_branch.as_deref() == Some(branch);
    match env.git.branch_tip(env.remote, branch).await {
        Ok(None) if is_named => {
            let what = format!("the repository has no branch `{branch}`");
            RunError::usage(BASE_BRANCH, what).hint(
                "name a branch that exists; without this input, pull requests go to the default \
                 branch",
            )
        }
        Ok(_) | Err(_) => error,
    }
}

/// Returns the branch that was pushed to, where a push is what happened.
fn pushed_branch(event: &ForgeEvent) -> Option<&str> {
    let head = event.trigger.head.as_ref();
    head.filter(|_| event.trigger.kind == EventKind::Push).map(|head| head.branch.as_str())
}

/// Fetches more of a pull request and its base where a shallow checkout does not show where they
/// parted, so that the change can be shown. Without it the run goes on, and shows what it changes
/// itself.
pub(super) async fn fetch_history(
    env: &ActionEnv<'_>,
    pull_request: &PullRequest,
    (base, head): (&CommitId, &CommitId),
) {
    let repo = &env.workspace.repo;
    if repo.merge_base(base, head).is_ok() {
        return;
    }
    let PullRequest { number, base_branch, .. } = pull_request;
    let depth = depth_of(env, HISTORY_COMMITS);
    for refspec in [
        format!("+refs/pull/{number}/head:refs/locum/pull/{number}"),
        format!("+refs/heads/{base_branch}:refs/locum/trusted/{base_branch}"),
    ] {
        if let Err(error) = env.git.fetch(env.remote, &refspec, depth).await {
            tracing::warn!(%error, "the history of the pull request cannot be fetched");
            return;
        }
    }
    if let Err(error) = repo.merge_base(base, head) {
        tracing::warn!(%error, "no common commit of the pull request and its base was found");
    }
}

/// Fetches the head of a pull request, with so many commits where the checkout is shallow.
///
/// # Errors
/// When it cannot be fetched, or is another one by now.
pub(super) async fn fetch_head(
    env: &ActionEnv<'_>,
    pull_request: &PullRequest,
    commits: u32,
) -> Result<CommitId, RunError> {
    let number = pull_request.number;
    let local = format!("refs/locum/pull/{number}");
    let refspec = format!("+refs/pull/{number}/head:{local}");
    let fetched = env.git.fetch(env.remote, &refspec, depth_of(env, commits)).await;
    fetched.map_err(RunError::internal)?;
    let head = env.workspace.repo.commit_of(&local).map_err(RunError::internal)?;
    if head.0 != pull_request.head_sha {
        return Err(RunError::internal(format!(
            "pull request #{number} has new commits since it was asked: {}",
            head.0
        )));
    }
    Ok(head)
}

/// Fetches the tip of a branch.
///
/// # Errors
/// When it cannot be fetched.
pub(super) async fn fetch_branch(env: &ActionEnv<'_>, branch: &str) -> Result<CommitId, RunError> {
    let local = format!("refs/locum/trusted/{branch}");
    let refspec = format!("+refs/heads/{branch}:{local}");
    env.git.fetch(env.remote, &refspec, depth(env)).await.map_err(RunError::internal)?;
    env.workspace.repo.commit_of(&local).map_err(RunError::internal)
}

fn depth(env: &ActionEnv<'_>) -> FetchDepth {
    depth_of(env, 1)
}

/// Returns how much of a history is fetched where `commits` of it are needed. A checkout with its
/// whole history keeps it: fetching less would cut it short.
pub(super) fn depth_of(env: &ActionEnv<'_>, commits: u32) -> FetchDepth {
    if env.workspace.repo.is_shallow() { FetchDepth::Commits(commits) } else { FetchDepth::Full }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test makes the commits of a pull request"
)]
mod tests {
    use std::process::Command;

    use super::trusted_branch;
    use crate::run::source::FileSource;
    use crate::run::trusted::POLICY_FILE;
    use locum_forge::PullRequest;
    use locum_policy::Policy;
    use locum_policy::command::Script;
    use locum_policy::intent::{Facts, Intent};
    use locum_policy::verdict::Decision;
    use locum_workspace::repo::Repo;
    use locum_workspace::seed;

    #[test]
    fn a_pull_request_is_not_judged_by_the_policy_it_brings() {
        let folder = tempfile::tempdir().unwrap();
        let wide = "version: 1\nrules:\n  - allow: \"command(echo x)\"\n";
        let narrow = "version: 1\nrules:\n  - allow: read(**)\n";
        let opened = seed::repository(folder.path(), &[(POLICY_FILE, wide)], "base").unwrap();
        let git = |words: &[&str]| {
            let output =
                Command::new("git").arg("-C").arg(folder.path()).args(words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let commit = |policy: &str| {
            std::fs::write(folder.path().join(POLICY_FILE), policy).unwrap();
            let who = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
            git(&[who.as_slice(), &["commit", "-qam", "policy"]].concat());
        };
        let base_branch = git(&["rev-parse", "--abbrev-ref", "HEAD"]);
        // The base is tightened after the pull request was opened.
        commit(narrow);
        git(&["switch", "-qc", "topic"]);
        commit(wide);
        let pull_request = PullRequest {
            number: 7,
            title: String::new(),
            body: String::new(),
            is_open: true,
            head_branch: "topic".to_owned(),
            head_sha: git(&["rev-parse", "HEAD"]),
            base_branch,
            is_fork: false,
            author: String::new(),
            is_own: false,
            labels: Vec::new(),
            head_pushed_at: None,
        };
        let repo = Repo::open(folder.path()).unwrap();
        let decided = |revision: &str| {
            let commit = repo.commit_of(revision).unwrap();
            let text = FileSource::Commit(&repo, commit).file(POLICY_FILE).unwrap().unwrap().text;
            let policy = Policy::parse(&text, POLICY_FILE).unwrap();
            policy.decide(&Intent::Command(Script::parse("echo x")), &Facts::default()).decision
        };
        assert_eq!(
            [&opened.0, &pull_request.head_sha].map(|commit| decided(commit)),
            [Decision::Allow, Decision::Allow],
            "what it brings, and what was there when it was opened, would allow it"
        );
        assert_eq!(decided(trusted_branch(&pull_request)), Decision::Deny);
    }
}
