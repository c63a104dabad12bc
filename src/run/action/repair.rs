//! Failed checks: jobs that may only be flaky are run again, then a run tries to mend what failed, so
//! many times on one pull request. Whether it did is up to the checks of the new commit.
//!
//! In: an admitted event of checks that failed. Out: the event with the output of what failed, as
//! words of others; or what was done in place of a run.

use crate::run::action::admission::{AdmittedEvent, thread_of};
use crate::run::action::{ActionEnd, ActionEnv, answer};
use crate::run::error::RunError;
use locum_agent::report::markdown::{code, marker};
use locum_base::secret::Redactor;
use locum_base::text::counted;
use locum_forge::checks::FailedCheck;
use locum_forge::event::{EventChecks, EventText};
use locum_forge::posts::Posting;

/// How the progress comments of repairs begin.
const REPAIRS: &str = "<!-- locum:v1 kind=progress comment=checks ";

/// Prepares a repair. Returns what ended it, where no model is to be asked.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn begin(
    env: &ActionEnv<'_>,
    admitted: &mut AdmittedEvent<'_>,
) -> Result<Option<ActionEnd>, RunError> {
    let trigger = &admitted.event.trigger;
    let (Some(checks), Some(subject)) = (trigger.checks.clone(), &trigger.subject) else {
        return Ok(None);
    };
    let rules = admitted.config.policy.settings().triggers.repairs;
    let own = format!(" run={} ", env.job.run_id);
    let comments = env
        .forge
        .own_comments(thread_of(subject), REPAIRS, None)
        .await
        .map_err(RunError::internal)?;
    let before = comments
        .iter()
        .filter(|comment| !comment.body.lines().next().is_some_and(|line| line.contains(&own)));
    let before = u32::try_from(before.count()).unwrap_or(u32::MAX);
    if before >= rules.attempts {
        return Ok(Some(hand_over(env, admitted, &checks, before).await));
    }
    if checks.is_workflow && checks.attempt <= u64::from(rules.reruns) {
        match run_again(env, admitted, &checks).await {
            Ok(end) => return Ok(Some(end)),
            Err(why) => admitted.remarks.push(format!("The failed jobs were not run again: {why}")),
        }
    }
    let failed = env.forge.failed_checks(&checks).await.map_err(|error| {
        RunError::internal(error).hint(
            "the job needs `permissions: { actions: read }` for workflows, and `checks: read` for \
             the checks of apps",
        )
    })?;
    let redactor = Redactor::new(env.environment.secrets());
    admitted.event.trigger.text = Some(EventText {
        what: "the output of the checks that failed".to_owned(),
        author: "the checks".to_owned(),
        text: redactor.redact(&failed_output(&checks, &failed)),
    });
    admitted.remarks.push(format!(
        "This is repair {} of {} here. The checks of the commit decide whether it helps, not the \
         model.",
        before + 1,
        rules.attempts
    ));
    if env.inputs.is_workflow_token {
        admitted.remarks.push(
            "What the workflow's own token pushes starts no checks. Give the action the token of \
             a GitHub App: Locum's docs/action-reference.md shows how, under \"Permissions and \
             tokens\"."
                .to_owned(),
        );
    }
    Ok(None)
}

/// Has the failed jobs run again; the error says why they are not.
async fn run_again(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    checks: &EventChecks,
) -> Result<ActionEnd, String> {
    let AdmittedEvent { request, config, .. } = admitted;
    let permit = config
        .policy
        .admit(Posting::Rerun { run: checks.id }, &request.facts)
        .map_err(|refusal| refusal.to_string())?;
    env.forge.post(permit).await.map_err(|error| error.to_string())?;
    let what =
        format!("the failed jobs of `{}` are run again, before a model is asked", checks.name);
    Ok(ActionEnd::Answered { what, refused: false })
}

/// Says once that no more is tried.
async fn hand_over(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    checks: &EventChecks,
    attempts: u32,
) -> ActionEnd {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let tried = counted(usize::try_from(attempts).unwrap_or(usize::MAX), "repair");
    let page =
        if checks.url.is_empty() { String::new() } else { format!(" ([log]({}))", checks.url) };
    let prefix = answer::prefix_of(env, &config.policy.settings().triggers);
    let prefix = if prefix.is_empty() { "/locum".to_owned() } else { prefix };
    let body = format!(
        "**locum: handed over**\n\n{} still fails{page}, after {tried}. No more is tried here: a \
         person has to look. {} starts a run by hand.",
        code(&checks.name),
        code(&format!("{prefix} fix"))
    );
    let policy = &config.policy;
    let posting =
        answer::posting(env, &event.trigger, policy, (&marker("handed-over", &[]), &body));
    if let Some(Ok(permit)) = posting.map(|posting| policy.admit(posting, &request.facts))
        && let Err(error) = env.forge.post(permit).await
    {
        tracing::warn!(%error, "it was not said that the repair is handed over");
    }
    let what = format!("`{}` still fails after {tried}; it is handed over", checks.name);
    ActionEnd::Answered { what, refused: true }
}

/// Returns what the checks print, check by check.
fn failed_output(checks: &EventChecks, failed: &[FailedCheck]) -> String {
    let mut text = format!("{}: {} {}\n", checks.name, checks.conclusion, checks.url);
    if failed.is_empty() {
        text.push_str("No job or check of it is listed as failed.\n");
    }
    for check in failed {
        let steps = if check.steps.is_empty() {
            String::new()
        } else {
            format!(", step {}", check.steps.join(", "))
        };
        text.push_str(&format!("\n--- {}{steps} {}\n", check.name, check.url));
        match &check.output {
            Ok(output) => text.push_str(output),
            Err(why) => text.push_str(&format!("[its output could not be read: {why}]\n")),
        }
    }
    text
}
