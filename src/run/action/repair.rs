//! Failed checks: jobs that may only be flaky are run again, then a run tries to mend what failed,
//! so many times on one pull request. Whether it did is up to the checks of the new commit: when
//! they pass, the comment of the repair says so.
//!
//! In: an admitted event of checks that ended. Out: the event with the output of what failed, as
//! words of others; or what was done in place of a run.

use crate::run::action::admission::{AdmittedEvent, thread_of};
use crate::run::action::{ActionEnd, ActionEnv, answer, status};
use crate::run::error::RunError;
use crate::run::request::RequestedAction;
use locum_agent::report::comment;
use locum_agent::report::markdown::{address, code, marker};
use locum_base::secret::Redactor;
use locum_base::text::{self, counted};
use locum_forge::ForgeError;
use locum_forge::checks::{FailedCheck, is_success};
use locum_forge::event::{EventChecks, EventText};
use locum_forge::posts::Posting;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::intent::TriggerKind;

/// Digits of a commit that are shown.
const SHOWN_DIGITS: usize = 12;

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
    if admitted.request.action == RequestedAction::ChecksPassed {
        return Ok(None);
    }
    let trigger = &admitted.event.trigger;
    let (Some(checks), Some(subject)) = (trigger.checks.clone(), &trigger.subject) else {
        return Ok(None);
    };
    let rules = admitted.config.policy.settings().triggers.repairs;
    let comments = env
        .forge
        .own_comments(thread_of(subject), REPAIRS, None)
        .await
        .map_err(RunError::internal)?;
    let own = Some(env.job.run_id.as_str());
    let before = comments.iter().filter(|comment| status::value_of(comment, "run") != own);
    let before = u32::try_from(before.count()).unwrap_or(u32::MAX);
    let reruns = checks.is_workflow && checks.attempt <= u64::from(rules.reruns);
    if env.inputs.writes_bundle() && (before >= rules.attempts || reruns) {
        let what = "the job that publishes runs the failed jobs again, or hands over";
        return Ok(Some(ActionEnd::Skipped(what.to_owned())));
    }
    if before >= rules.attempts {
        return Ok(Some(hand_over(env, admitted, &checks, before).await));
    }
    if reruns {
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

/// Says in the comment of a repair that the checks of the commit it made pass. Where there is
/// nothing to say, only the log says why.
pub(super) async fn passed(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> ActionEnd {
    match say_passed(env, admitted).await {
        Ok(what) => ActionEnd::Answered { what, refused: false },
        Err(why) => ActionEnd::Skipped(why),
    }
}

/// Edits the comment of the repair; the error says why not.
async fn say_passed(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<String, String> {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let trigger = &event.trigger;
    let (Some(checks), Some(subject), Some(head)) =
        (&trigger.checks, &trigger.subject, &trigger.head)
    else {
        return Err("the event names no checks of a pull request".to_owned());
    };
    let (name, commit) = (&checks.name, text::head(&head.sha, SHOWN_DIGITS));
    let failed = |error: ForgeError| format!("it is not known whether `{name}` passes: {error}");
    let comments = env.forge.own_comments(thread_of(subject), REPAIRS, None).await;
    let comments = comments.map_err(failed)?;
    let key = key_of(checks);
    let page = page_of(checks);
    let news = format!("**The checks pass:** {} succeeded on commit `{commit}`{page}.", code(name));
    let repaired = comments
        .iter()
        .rev()
        .find_map(|old| comment::repaired(&old.body, (&head.sha, &key), &news));
    let Some(body) = repaired else {
        let line = comment::passed_line(&head.sha, &key);
        let is_said = comments.iter().any(|old| old.body.lines().any(|said| said == line));
        return Err(if is_said {
            format!("the comment of the repair says already that `{name}` passes on {commit}")
        } else {
            format!("no repair of `{name}` made commit {commit}")
        });
    };
    let ends = env.forge.check_ends(&head.sha, checks).await.map_err(failed)?;
    let is_green = |end: &Option<String>| end.as_deref().is_some_and(is_success);
    if ends.is_empty() || !ends.iter().all(is_green) {
        return Err(format!("not every run of `{name}` on commit {commit} has succeeded"));
    }
    if env.inputs.dry_run {
        return Err(format!("a dry run does not say that `{name}` passes on {commit}"));
    }
    let markers: Vec<String> = comment::hidden_lines_of(&body).map(str::to_owned).collect();
    let marker = markers.first().cloned().unwrap_or_default();
    let prefix = config.policy.settings().triggers.prefix().to_owned();
    let rules = TextRules { markers, prefix, ..TextRules::default() };
    let body = sanitise::markdown(&body, &rules, &Redactor::new(env.environment.secrets()));
    let posting = Posting::Comment { number: subject.number, marker, body, replaces: None };
    let poster = env.poster(&config.policy, &request.facts);
    poster.post(posting).await.map_err(|why| why.to_string())?;
    Ok(format!("`{name}` passes on commit {commit}, which a repair made; its comment says so"))
}

/// Returns the checks that a run tries to mend, as its comment names them.
pub(super) fn repaired_checks(admitted: &AdmittedEvent<'_>) -> Option<String> {
    let is_repair = admitted.request.facts.trigger == TriggerKind::CiFailure;
    admitted.event.trigger.checks.as_ref().filter(|_| is_repair).map(key_of)
}

/// Names a workflow or an app.
fn key_of(checks: &EventChecks) -> String {
    let kind = if checks.is_workflow { "workflow" } else { "app" };
    format!("{kind}:{}", checks.name)
}

/// Returns a link to the page of checks, where there is one.
fn page_of(checks: &EventChecks) -> String {
    if checks.url.is_empty() {
        String::new()
    } else {
        format!(" ([log]({}))", address(&checks.url))
    }
}

/// Has the failed jobs run again; the error says why they are not.
async fn run_again(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    checks: &EventChecks,
) -> Result<ActionEnd, String> {
    let AdmittedEvent { request, config, .. } = admitted;
    if request.facts.restriction.read_only {
        return Err("this run may only read".to_owned());
    }
    let poster = env.poster(&config.policy, &request.facts);
    poster.post(Posting::Rerun { run: checks.id }).await.map_err(|why| why.to_string())?;
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
    let page = page_of(checks);
    let policy = &config.policy;
    let by_hand = match policy.settings().triggers.prefix() {
        "" => String::new(),
        prefix => format!(" {} starts a run by hand.", code(&format!("{prefix} fix"))),
    };
    let body = format!(
        "**locum: handed over**\n\n{} still fails{page}, after {tried}. No more is tried here: a \
         person has to look.{by_hand}",
        code(&checks.name)
    );
    let posting =
        answer::posting(env, &event.trigger, policy, (&marker("handed-over", &[]), &body));
    if let Some(posting) = posting {
        let lost = "it was not said that the repair is handed over";
        env.poster(policy, &request.facts).try_to_post(posting, lost).await;
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
