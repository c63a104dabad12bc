//! Answers that need no run: what can be asked, what ran here, and why something was refused.

use jiff::SignedDuration;

use crate::run::action::gate::{self, Admitted};
use crate::run::action::{ActionEnd, Arrival, Found, reply_to};
use crate::run::fault::Fault;
use crate::run::request::{Refused, Wish};
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
pub(super) async fn wish(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
) -> Result<ActionEnd, Fault> {
    let (what, body) = match &admitted.request.wish {
        Wish::Help | Wish::Run | Wish::Decide(_) => ("help", help(admitted)),
        Wish::Status => {
            let runs =
                gate::recent_runs(arrival, &found.trigger, SignedDuration::from_hours(24)).await?;
            (
                "status",
                format!(
                    "{runs} runs were started here within the last 24 hours. The comment of each \
                     says how it ended."
                ),
            )
        }
    };
    say(arrival, found, &admitted.policy, &admitted.request.facts, &body).await;
    Ok(ActionEnd::Answered { what: what.to_owned(), refused: false })
}

/// Tells why something was refused, naming the rule.
pub(super) async fn refusal(
    arrival: &Arrival<'_>,
    found: &Found,
    policy: &Policy,
    refused: &Refused,
) {
    let body = format!("Not started: {} (rule {}).", inline(&refused.why), code(refused.rule));
    say(arrival, found, policy, &Facts::default(), &body).await;
}

fn help(admitted: &Admitted) -> String {
    let triggers = &admitted.policy.settings().triggers;
    let prefix = triggers.comment.as_ref().map_or("/locum", |comment| comment.prefix.as_str());
    let allowed = &admitted.policy.settings().modes.allow;
    let modes: Vec<String> = admitted
        .modes
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
    format!(
        "Write {} at the start of a line.\n\n**Modes**\n\n{}\n\n**Also**: `fix`, `plan`, \
         `status`, `help`; and `approve`, `deny`, `answer` for what a run waits \
         for.\n\n**Flags**: `--mode`, `--model`, `--budget`, `--paths`, `--dry-run`, `--new-pr`. \
         They can only tighten the policy.",
        code(&format!("{prefix} [mode] [--flag=value] what to do")),
        modes.join("\n")
    )
}

/// Posts an answer where it was asked, when the policy lets it.
async fn say(arrival: &Arrival<'_>, found: &Found, policy: &Policy, facts: &Facts, body: &str) {
    let Some(subject) = &found.trigger.subject else { return };
    let asked = found
        .trigger
        .comment
        .as_ref()
        .map_or_else(|| "label".to_owned(), |comment| comment.id.to_string());
    let marker = marker("answer", &[("comment", &asked), ("run", &arrival.job.run_id)]);
    let prefix = policy
        .settings()
        .triggers
        .comment
        .as_ref()
        .map_or_else(String::new, |comment| comment.prefix.clone());
    let rules = TextRules { markers: vec![marker.clone()], prefix, ..TextRules::default() };
    let body = sanitise::markdown(&format!("{marker}\n{body}"), &rules, &Redactor::new([]));
    let posting = match reply_to(&found.trigger) {
        Some(comment) => Posting::Reply { number: subject.number, comment, marker, body },
        None => Posting::Comment { number: subject.number, marker, body },
    };
    match policy.admit(posting, facts) {
        Ok(permit) => {
            if let Err(error) = arrival.forge.post(permit).await {
                tracing::warn!(%error, "the answer was not posted");
            }
        }
        Err(refusal) => tracing::warn!(%refusal, "the answer was not posted"),
    }
}
