//! Answers that need no run: what can be asked, what ran here, and why something was refused.

use jiff::SignedDuration;

use crate::run::action::admission::{self, AdmittedEvent};
use crate::run::action::{ActionEnd, ActionEnv, ForgeEvent, reply_to};
use crate::run::error::RunError;
use crate::run::request::{RequestRefusal, RequestedAction};
use locum_agent::report::markdown::{code, inline, marker};
use locum_base::secret::Redactor;
use locum_forge::posts::Posting;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::Policy;
use locum_policy::intent::Facts;

/// Answers a question about locum itself.
///
/// # Errors
/// When the forge cannot be asked.
pub(super) async fn question(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<ActionEnd, RunError> {
    let event = &admitted.event;
    let (what, body) = match &admitted.request.action {
        RequestedAction::Help
        | RequestedAction::Run
        | RequestedAction::Rebase
        | RequestedAction::Decide(_) => ("help", help(admitted)?),
        RequestedAction::Status => {
            let runs =
                admission::recent_runs(env, &event.trigger, SignedDuration::from_hours(24)).await?;
            (
                "status",
                format!(
                    "{runs} runs were started here within the last 24 hours. The comment of each \
                     says how it ended."
                ),
            )
        }
    };
    post(env, event, &admitted.config.policy, &admitted.request.facts, &body).await;
    Ok(ActionEnd::Answered { what: what.to_owned(), refused: false })
}

/// Posts why something was refused, naming the rule; reports it as an answer.
pub(super) async fn refusal(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    policy: &Policy,
    refused: &RequestRefusal,
) -> ActionEnd {
    let body = format!("Not started: {} (rule {}).", inline(&refused.why), code(refused.rule));
    post(env, event, policy, &Facts::default(), &body).await;
    ActionEnd::Answered { what: refused.to_string(), refused: true }
}

fn help(admitted: &AdmittedEvent<'_>) -> Result<String, RunError> {
    let triggers = &admitted.config.policy.settings().triggers;
    let prefix = triggers.comment.as_ref().map_or("/locum", |comment| comment.prefix.as_str());
    let allowed = &admitted.config.policy.settings().modes.allow;
    let modes: Vec<String> = admitted
        .config
        .modes()?
        .iter()
        .filter(|mode| allowed.contains(&mode.slug))
        .map(|mode| {
            format!(
                "- {} — {}",
                code(&mode.slug),
                inline(mode.description.as_deref().unwrap_or(&mode.name))
            )
        })
        .collect();
    Ok(format!(
        "Write {} at the start of a line.\n\n**Modes**\n\n{}\n\n**Also**: `fix`, `plan`, \
         `rebase`, `status`, `help`; and `approve`, `deny`, `answer` for what a run waits \
         for.\n\n**Flags**: `--mode`, `--model`, `--budget`, `--paths`, `--dry-run`, `--new-pr`. \
         They can only tighten the policy.",
        code(&format!("{prefix} [mode] [--flag=value] what to do")),
        modes.join("\n")
    ))
}

/// Posts an answer where it was asked, when the policy lets it.
pub(super) async fn post(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    policy: &Policy,
    facts: &Facts,
    body: &str,
) {
    let Some(subject) = &event.trigger.subject else { return };
    let asked = event
        .trigger
        .comment
        .as_ref()
        .map_or_else(|| "label".to_owned(), |comment| comment.id.to_string());
    let marker = marker("answer", &[("comment", &asked), ("run", &env.job.run_id)]);
    let prefix = policy
        .settings()
        .triggers
        .comment
        .as_ref()
        .map_or_else(String::new, |comment| comment.prefix.clone());
    let rules = TextRules { markers: vec![marker.clone()], prefix, ..TextRules::default() };
    let body = sanitise::markdown(&format!("{marker}\n{body}"), &rules, &Redactor::new([]));
    let posting = match reply_to(&event.trigger) {
        Some(comment) => Posting::Reply { number: subject.number, comment, marker, body },
        None => Posting::Comment { number: subject.number, marker, body },
    };
    match policy.admit(posting, facts) {
        Ok(permit) => {
            if let Err(error) = env.forge.post(permit).await {
                tracing::warn!(%error, "the answer was not posted");
            }
        }
        Err(refusal) => tracing::warn!(%refusal, "the answer was not posted"),
    }
}
