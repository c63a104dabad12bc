//! The commits of an event: which one is trusted, and which one a run starts from. Fetches what the
//! checkout does not have.

use crate::run::action::{ActionEnv, ForgeEvent};
use crate::run::error::RunError;
use crate::run::publish::own_branch::{BranchUpdate, OwnBranch};
use locum_forge::PullRequest;
use locum_forge::event::EventKind;
use locum_workspace::git_binary::FetchDepth;
use locum_workspace::repo::CommitId;

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

/// Returns the base of a pull request.
///
/// # Errors
/// When it is neither here nor to be fetched.
pub(super) async fn base_of(
    env: &ActionEnv<'_>,
    pull_request: &PullRequest,
) -> Result<CommitId, RunError> {
    match env.workspace.repo.commit_of(trusted_sha(pull_request)) {
        Ok(commit) => Ok(commit),
        Err(_) => fetch_branch(env, &pull_request.base_branch).await,
    }
}

/// What judges a pull request is what it would be merged into, never what it brings.
fn trusted_sha(pull_request: &PullRequest) -> &str {
    &pull_request.base_sha
}

/// Brings the checkout to the commit the run starts from: the tip of the branch that it goes on
/// with, a pull request's head, else the trusted commit.
///
/// # Errors
/// When the head cannot be fetched, is another one by now, or uncommitted files are in the way.
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

/// Returns where a run starts that is about no pull request: the branch that was pushed to, the
/// commit that a merge queue asks about, else the trusted commit.
async fn start_of_event(env: &ActionEnv<'_>, event: &ForgeEvent) -> Result<CommitId, RunError> {
    if let Some(branch) = pushed_branch(event)
        && branch != event.default_branch
    {
        return fetch_branch(env, branch).await;
    }
    let Some(head) = &event.trigger.head else { return Ok(event.trusted.clone()) };
    match event.trigger.kind {
        EventKind::MergeGroup => env.workspace.repo.commit_of(&head.sha).map_err(|error| {
            RunError::internal(error).hint("check out the commit that the event is about")
        }),
        _ => Ok(event.trusted.clone()),
    }
}

/// Returns the branch that was pushed to, where a push is what happened: a run starts there.
pub(super) fn pushed_branch(event: &ForgeEvent) -> Option<&str> {
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

    use super::trusted_sha;
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
        let narrow = "version: 1\nrules:\n  - allow: read(**)\n";
        let base = seed::repository(folder.path(), &[(POLICY_FILE, narrow)], "base").unwrap();
        std::fs::write(
            folder.path().join(POLICY_FILE),
            "version: 1\nrules:\n  - allow: \"command(echo x)\"\n",
        )
        .unwrap();
        let git = |words: &[&str]| {
            let output =
                Command::new("git").arg("-C").arg(folder.path()).args(words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qam", "head"]);
        let pull_request = PullRequest {
            number: 7,
            title: String::new(),
            body: String::new(),
            is_open: true,
            head_branch: "topic".to_owned(),
            head_sha: git(&["rev-parse", "HEAD"]),
            base_branch: "main".to_owned(),
            base_sha: base.0,
            is_fork: false,
            author: String::new(),
            is_own: false,
            labels: Vec::new(),
            head_pushed_at: None,
        };
        let repo = Repo::open(folder.path()).unwrap();
        let decided = |sha: &str| {
            let commit = repo.commit_of(sha).unwrap();
            let text = FileSource::Commit(&repo, commit).file(POLICY_FILE).unwrap().unwrap().text;
            let policy = Policy::parse(&text, POLICY_FILE).unwrap();
            policy.decide(&Intent::Command(Script::parse("echo x")), &Facts::default()).decision
        };
        assert_eq!(
            decided(&pull_request.head_sha),
            Decision::Allow,
            "what it brings would allow it"
        );
        assert_eq!(decided(trusted_sha(&pull_request)), Decision::Deny);
    }
}
