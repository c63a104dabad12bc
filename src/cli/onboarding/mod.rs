//! `locum init --pull-request`: one pull request with the files that `init` writes, and what a
//! maintainer wants to know before merging it.
//!
//! In: the files, the repository at GitHub and a token. Out: the pull request, opened or brought up
//! to date. The events replayed in its text are judged by the checks of `locum trigger explain`.

mod replayed;
mod text;

use std::sync::Arc;

use locum_base::clock::Clock as _;
use locum_base::secret::Secret;
use locum_forge::ForgeError;
use locum_forge::github::GitHub;
use locum_forge::github::onboarding::Onboarding;
use locum_forge::posts::Receipt;
use locum_policy::Policy;
use locum_policy::starter::ci_commands::CiCommand;
use locum_policy::starter::jobs::StarterJob;
use locum_workspace::repo::Repo;

use crate::cli::CommandContext;
use crate::cli::inspected::InspectedRepository;
use crate::cli::onboarding::replayed::Replay;
use crate::cli::onboarding::text::OnboardingText;
use crate::cli::output::Output;
use crate::cli::stop_signal::runtime;
use crate::cli::trigger::TriggerFacts;
use crate::run::clock::SystemClock;
use crate::run::error::RunError;

/// Events that are replayed.
const EVENTS: usize = 50;

/// What the pull request is made of.
pub(super) struct OnboardingPlan<'a> {
    /// Paths and texts of the files.
    pub(super) files: &'a [(&'a str, &'a str)],
    /// The jobs among them.
    pub(super) jobs: &'a [StarterJob],
    /// The policy among them.
    pub(super) policy: &'a Policy,
    /// The workflow among them.
    pub(super) workflow: &'a str,
    /// The commands of the repository's own workflows.
    pub(super) ci: &'a [CiCommand],
}

/// Opens the pull request, or brings it up to date.
///
/// # Errors
/// Without a token or a repository at GitHub, and when GitHub refuses.
pub(super) fn open(
    plan: &OnboardingPlan<'_>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Receipt, RunError> {
    let place = InspectedRepository::open(context, None)?;
    let settings = place.settings()?;
    let environment = &context.environment;
    let named = &settings.values.forge.token_env;
    let token = [named.as_str(), "GH_TOKEN"]
        .into_iter()
        .find_map(|name| environment.get(name))
        .filter(|token| !token.is_empty())
        .ok_or_else(|| {
            RunError::usage("--pull-request", format!("{named} is not set")).hint(
                "set it to a token that may write contents, pull requests and workflows, such as \
                 that of `gh auth token`",
            )
        })?;
    let repository = repository(context)?;
    let clock = SystemClock::start();
    let forge = GitHub::new(
        &settings.values.forge.api_url,
        &repository,
        Some(Secret::new(token)),
        Arc::new(clock),
    )
    .map_err(|error| RunError::usage("--pull-request", error.to_string()))?;
    let allowed = &plan.policy.settings().modes.allow;
    let modes = place.usable_modes(output)?;
    let facts = TriggerFacts {
        jobs: Vec::new(),
        policy: Some(plan.policy.clone()),
        modes: modes.iter().map(|mode| mode.slug.clone()).filter(|s| allowed.contains(s)).collect(),
        profiles: settings.values.models.profiles.keys().cloned().collect(),
        now: clock.now(),
    };
    let receipt = runtime()?.block_on(async {
        let events = forge.recent_events(EVENTS).await?;
        let replay = Replay::of(&forge, events, &facts).await;
        let body = OnboardingText { plan, replay: &replay }.render();
        let title = "Let Locum work in this repository";
        forge.onboard(&Onboarding { title, body: &body, files: plan.files }).await
    });
    receipt.map_err(|error| refused(&error))
}

fn refused(error: &ForgeError) -> RunError {
    let failed = RunError::usage("--pull-request", error.to_string());
    match error {
        ForgeError::Forbidden { .. } | ForgeError::NotFound { .. } => failed.hint(
            "the token has to be allowed to write contents, pull requests and workflows of this \
             repository; tokens of `gh` need the scope `workflow`: `gh auth refresh --scopes \
             workflow`",
        ),
        ForgeError::RateLimited { .. }
        | ForgeError::Unavailable { .. }
        | ForgeError::Conflict { .. }
        | ForgeError::Failed { .. } => failed,
    }
}

/// Returns `owner/name`: what GITHUB_REPOSITORY says, else what the address of `origin` ends with.
fn repository(context: &CommandContext) -> Result<String, RunError> {
    if let Some(named) = context.environment.get("GITHUB_REPOSITORY") {
        return Ok(named.to_owned());
    }
    let repo = Repo::open(&context.folder)
        .map_err(|error| RunError::usage("--repo", error.to_string()))?;
    let url = repo.remote_url("origin").unwrap_or_default();
    let plain = url.trim_end_matches('/').trim_end_matches(".git");
    let mut parts = plain.rsplit(['/', ':']);
    match (parts.next(), parts.next()) {
        (Some(name), Some(owner)) if !name.is_empty() && !owner.is_empty() => {
            Ok(format!("{owner}/{name}"))
        }
        _ => Err(RunError::usage("--pull-request", "this checkout has no remote `origin`")
            .hint("name the repository in the variable GITHUB_REPOSITORY, as OWNER/NAME")),
    }
}
