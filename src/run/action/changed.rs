//! Which paths the pull request or push of an event changes. It is looked up only for policies
//! whose entries filter by paths.

use crate::run::action::{ActionEnv, ForgeEvent, refs};
use crate::run::error::RunError;
use locum_forge::event::EventHead;
use locum_workspace::repo::CommitId;

/// Where the commit before a push is fetched to.
const BEFORE_REF: &str = "refs/locum/event/before";

/// So many changed paths are looked at.
const PATHS_LIMIT: usize = 20_000;

/// Returns the changed paths; `None` for events that change none.
///
/// # Errors
/// When the commits cannot be fetched: what is not known could fit any filter.
pub(super) async fn paths(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
) -> Result<Option<Vec<String>>, RunError> {
    let repo = &env.workspace.repo;
    let (base, head) = match (&event.pull_request, &event.trigger.head) {
        (Some(pull_request), _) => {
            let head = refs::fetch_head(env, pull_request, 1).await?;
            refs::fetch_history(env, pull_request, (&event.trusted, &head)).await;
            let base = repo.merge_base(&event.trusted, &head);
            (base.unwrap_or_else(|_| event.trusted.clone()), head)
        }
        (None, Some(EventHead { before: Some(before), branch, .. })) => {
            let head = refs::fetch_branch(env, branch).await?;
            (before_push(env, before, &event.trusted).await?, head)
        }
        (None, _) => return Ok(None),
    };
    let changed = repo.changed_paths(&base, &head, PATHS_LIMIT).map_err(RunError::internal)?;
    Ok(Some(changed.into_iter().map(|path| path.to_string()).collect()))
}

/// Returns the commit before a push; for a new branch the tip of the default one.
async fn before_push(
    env: &ActionEnv<'_>,
    before: &str,
    default_tip: &CommitId,
) -> Result<CommitId, RunError> {
    let repo = &env.workspace.repo;
    if before.chars().all(|digit| digit == '0') {
        return Ok(default_tip.clone());
    }
    if let Ok(commit) = repo.commit_of(before) {
        return Ok(commit);
    }
    let refspec = format!("+{before}:{BEFORE_REF}");
    env.git
        .fetch(env.remote, &refspec, refs::depth_of(env, 1))
        .await
        .map_err(RunError::internal)?;
    repo.commit_of(BEFORE_REF).map_err(RunError::internal)
}
