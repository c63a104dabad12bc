//! `ActionContext`: what GitHub Actions says of the job it runs, as plain facts.
//!
//! In: the `GITHUB_*` and `RUNNER_*` variables. Out: one struct, or which variable is missing. It
//! reads no file: the event's payload is read by the caller.

use std::path::PathBuf;

use crate::config::environment::Environment;

/// The job Actions runs us in. GitHub documents the variables under "Default environment variables"
/// (<https://docs.github.com/actions/reference/workflows-and-actions/variables>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionContext {
    /// Name of the event: `issue_comment`.
    pub event_name: String,
    /// File with the event's payload.
    pub event_path: PathBuf,
    /// `owner/name`.
    pub repository: String,
    /// Commit the workflow was started for.
    pub sha: String,
    /// Ref the workflow was started for: `refs/heads/main`.
    pub git_ref: String,
    /// Path of the checkout.
    pub workspace: PathBuf,
    /// Start of the forge's pages and clone addresses: `https://github.com`.
    pub server_url: String,
    /// Number of the workflow run.
    pub run_id: String,
    /// Attempt of the workflow run, from 1.
    pub run_attempt: u32,
    /// Login of who started the run.
    pub actor: String,
    /// Login of who started this attempt: someone else than `actor` when the run was started again.
    pub triggering_actor: String,
    /// File that takes outputs; `None` when the step has none.
    pub output_file: Option<PathBuf>,
    /// File that takes the job summary; `None` when the step has none.
    pub summary_file: Option<PathBuf>,
}

/// A variable that Actions always sets is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment variable `{variable}` is not set")]
pub struct NotInAction {
    /// Name of the variable.
    pub variable: &'static str,
}

impl ActionContext {
    /// Reads the context out of the environment.
    ///
    /// # Errors
    /// Names the first variable that is missing.
    pub fn from_environment(environment: &Environment) -> Result<Self, NotInAction> {
        let need = |variable: &'static str| {
            environment.get(variable).map(str::to_owned).ok_or(NotInAction { variable })
        };
        let text = |variable: &str, otherwise: &str| {
            environment.get(variable).unwrap_or(otherwise).to_owned()
        };
        Ok(Self {
            event_name: need("GITHUB_EVENT_NAME")?,
            event_path: PathBuf::from(need("GITHUB_EVENT_PATH")?),
            repository: need("GITHUB_REPOSITORY")?,
            sha: need("GITHUB_SHA")?,
            git_ref: text("GITHUB_REF", ""),
            workspace: PathBuf::from(need("GITHUB_WORKSPACE")?),
            server_url: text("GITHUB_SERVER_URL", "https://github.com"),
            run_id: text("GITHUB_RUN_ID", ""),
            run_attempt: text("GITHUB_RUN_ATTEMPT", "1").parse().unwrap_or(1),
            actor: text("GITHUB_ACTOR", ""),
            triggering_actor: text(
                "GITHUB_TRIGGERING_ACTOR",
                environment.get("GITHUB_ACTOR").unwrap_or_default(),
            ),
            output_file: environment.get("GITHUB_OUTPUT").map(PathBuf::from),
            summary_file: environment.get("GITHUB_STEP_SUMMARY").map(PathBuf::from),
        })
    }

    /// Returns the page of this workflow run; `None` when its number is not known.
    pub fn run_url(&self) -> Option<String> {
        (!self.run_id.is_empty()).then(|| self.url_of_run(&self.run_id))
    }

    /// Returns the page of a workflow run of this repository.
    pub fn url_of_run(&self, run: &str) -> String {
        format!("{}/actions/runs/{run}", self.repository_url())
    }

    /// Returns the page of this repository.
    pub fn repository_url(&self) -> String {
        format!("{}/{}", self.server_url.trim_end_matches('/'), self.repository)
    }
}

#[cfg(test)]
mod tests {
    use super::{ActionContext, NotInAction};
    use crate::config::environment::Environment;
    use pretty_assertions::assert_eq;

    const NEEDED: [(&str, &str); 5] = [
        ("GITHUB_EVENT_NAME", "issue_comment"),
        ("GITHUB_EVENT_PATH", "/github/event.json"),
        ("GITHUB_REPOSITORY", "octo/repo"),
        ("GITHUB_SHA", "0123456789012345678901234567890123456789"),
        ("GITHUB_WORKSPACE", "/github/workspace"),
    ];

    #[test]
    fn needs_only_what_every_job_has() {
        let context = ActionContext::from_environment(&Environment::from_pairs(NEEDED)).unwrap();
        assert_eq!((context.run_url(), context.output_file), (None, None));
        for (variable, _) in NEEDED {
            let rest = NEEDED.into_iter().filter(|(name, _)| *name != variable);
            assert_eq!(
                ActionContext::from_environment(&Environment::from_pairs(rest)),
                Err(NotInAction { variable })
            );
        }
    }

    #[test]
    fn follows_an_enterprise_server() {
        let own = [("GITHUB_SERVER_URL", "https://ghes.example"), ("GITHUB_RUN_ID", "7")];
        let context = ActionContext::from_environment(&Environment::from_pairs(
            NEEDED.into_iter().chain(own),
        ))
        .unwrap();
        assert_eq!(
            context.run_url().as_deref(),
            Some("https://ghes.example/octo/repo/actions/runs/7")
        );
    }
}
