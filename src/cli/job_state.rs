//! What runs on other machines left of jobs at a remote: which are paused, and `locum job resume`.
//!
//! In: the checkout's remote. Out: the record of its jobs, or a job that the schedule starts again.

use crate::cli::CommandContext;
use crate::cli::policy_file::{parse, repository_file};
use crate::cli::stop_signal;
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::jobs::state_ref::{self, JobStateRef};
use crate::run::jobs::states::JobStates;
use crate::run::kept_file::KeptAt;
use crate::run::user::own_settings;
use locum_base::secret::Secret;
use locum_policy::intent::Facts;
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;

/// Reads what is known of jobs at a remote; `None` where the checkout has no such remote.
///
/// # Errors
/// When the remote cannot be read.
pub(super) fn load(
    context: &CommandContext,
    workspace: &Workspace,
    remote: &str,
) -> Result<Option<JobStates>, RunError> {
    let Some(remote) = remote_of(context, workspace, remote)? else { return Ok(None) };
    let git = GitBinary::new(&workspace.repo, context.environment.variables());
    let at = KeptAt { git: &git, remote: &remote, repo: &workspace.repo };
    stop_signal::runtime()?.block_on(JobStateRef::new(at).load()).map(Some)
}

/// Lets a paused job run again; returns false where it was not paused.
///
/// # Errors
/// When the remote cannot be read or written.
pub(super) fn resume(
    context: &CommandContext,
    workspace: &Workspace,
    (job, remote): (&str, &str),
) -> Result<bool, RunError> {
    let known = remote_of(context, workspace, remote)?;
    let remote = known.ok_or_else(|| {
        RunError::usage("--remote", format!("there is no remote `{remote}`"))
            .hint("what is known of jobs is kept at the repository that their workflow runs in")
    })?;
    let policy = parse(repository_file(context, Some("HEAD"))?.as_ref())?;
    let permit = state_ref::permit(&policy, &Facts::default()).ok_or_else(|| {
        RunError::usage("publish.allow", "lets runs publish nothing, so nothing is kept of jobs")
    })?;
    let git = GitBinary::new(&workspace.repo, context.environment.variables());
    let at = KeptAt { git: &git, remote: &remote, repo: &workspace.repo };
    let was_paused = std::cell::Cell::new(false);
    let store = JobStateRef::new(at);
    let clock = SystemClock::start();
    let changed = store.change(&permit, &clock, |states| was_paused.set(states.resume(job)));
    stop_signal::runtime()?.block_on(changed)?;
    Ok(was_paused.get())
}

/// Returns a remote of the checkout by its name. Addresses for SSH are asked by HTTPS: what is
/// configured here is a token.
fn remote_of(
    context: &CommandContext,
    workspace: &Workspace,
    name: &str,
) -> Result<Option<Remote>, RunError> {
    let Some(url) = workspace.repo.remote_url(name) else { return Ok(None) };
    let settings = own_settings(&context.environment, &[])?;
    let token = context.environment.get(&settings.values.forge.token_env).map(Secret::new);
    let remote = Remote::parse(&by_https(&url).unwrap_or(url), token);
    remote.map(Some).map_err(|error| RunError::usage("--remote", error.to_string()))
}

fn by_https(url: &str) -> Option<String> {
    let rest = url.strip_prefix("ssh://").unwrap_or(url).strip_prefix("git@")?;
    let (host, path) = rest.split_once([':', '/'])?;
    Some(format!("https://{host}/{}", path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::by_https;
    use pretty_assertions::assert_eq;

    #[test]
    fn addresses_for_ssh_are_asked_by_https() {
        for (url, expected) in [
            ("git@github.com:acme/app.git", Some("https://github.com/acme/app.git")),
            ("ssh://git@github.com/acme/app.git", Some("https://github.com/acme/app.git")),
            ("https://github.com/acme/app.git", None),
            ("/srv/app.git", None),
        ] {
            assert_eq!(by_https(url).as_deref(), expected, "{url}");
        }
    }
}
