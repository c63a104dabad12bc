//! The checks of a pull request that a model makes: which ones are due, how each ended, and one
//! comment for those that are not shown on the commit.
//!
//! In: an admitted event that names checks, and the paths that are changed. Out: things to run;
//! verdicts.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::work_items::WorkItem;
use crate::run::action::{ActionEnd, ActionEnv, CheckMaker, FinishedCheck, FinishedRun, answer};
use crate::run::checks::{self, CHECKS_LIMIT};
use crate::run::error::RunError;
use locum_agent::report::markdown::{inline, marker};
use locum_agent::report::verdict;
use locum_forge::posts::CheckConclusion;
use locum_modes::prompts::checks::Check;
use locum_policy::intent::PublicationKind;
use locum_policy::schema::events::{ALL_CHECKS, POLICY_CHECK};

/// Returns the checks to be made: those that are requested and are about what is changed.
///
/// # Errors
/// When one does not exist, a file of one has mistakes, or there are too many.
pub(super) fn items(
    admitted: &AdmittedEvent<'_>,
    changed: &[String],
) -> Result<Vec<WorkItem>, RunError> {
    let names = &admitted.request.checks.names;
    if names.iter().all(|name| name == POLICY_CHECK) {
        return Ok(Vec::new());
    }
    let (known, modes) = (admitted.config.checks()?, admitted.config.runnable()?);
    let mut wanted: Vec<&Check> = Vec::new();
    for name in names.iter().filter(|name| *name != POLICY_CHECK) {
        let named = if name == ALL_CHECKS {
            known.iter().collect()
        } else {
            vec![checks::find(known, name)?]
        };
        for check in named.into_iter().filter(|check| check.is_about(changed)) {
            if !wanted.contains(&check) {
                wanted.push(check);
            }
        }
    }
    if wanted.len() > CHECKS_LIMIT {
        let message =
            format!("{} checks are due, and one event makes {CHECKS_LIMIT}", wanted.len());
        return Err(RunError::usage("checks", message).hint("name fewer, or give them `paths`"));
    }
    Ok(wanted.into_iter().map(|check| WorkItem::of_check(check, &modes)).collect())
}

/// Returns how a check ended; what is no run stays as it is.
pub(super) fn finished(admitted: &AdmittedEvent<'_>, name: &str, end: ActionEnd) -> ActionEnd {
    let ActionEnd::Ran(ran) = end else { return end };
    let FinishedRun { outcome, publication, .. } = *ran;
    let is_shown =
        publication.receipts.iter().any(|receipt| receipt.publication == PublicationKind::Check);
    let is_allowed =
        admitted.config.policy.settings().publish.allow.contains(&PublicationKind::Check);
    let why = || {
        let note = publication.notes.last().cloned();
        let unknown = || "it was not posted".to_owned();
        if is_allowed { note.unwrap_or_else(unknown) } else { NOT_ALLOWED.to_owned() }
    };
    ActionEnd::Checked(FinishedCheck {
        name: name.to_owned(),
        by: CheckMaker::Model,
        conclusion: verdict::conclusion(&outcome),
        title: verdict::title(&outcome),
        details: verdict::body(&outcome),
        unpublished: (!is_shown).then(why),
    })
}

/// Why a check is not shown on the commit where the policy does not let it.
const NOT_ALLOWED: &str = "the policy's `publish.allow` has no `check`";

/// Shows in one comment how those checks ended that no check run shows.
pub(super) async fn comment(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>, ends: &[ActionEnd]) {
    let mut parts = Vec::new();
    for end in ends {
        let ActionEnd::Checked(check) = end else { continue };
        if check.by == CheckMaker::Model && check.unpublished.is_some() {
            parts.push(part_of(check));
        }
    }
    if parts.is_empty() {
        return;
    }
    let body = format!("**locum: checks**\n\n{}", parts.join("\n\n"));
    let (policy, facts) = (&admitted.config.policy, &admitted.request.facts);
    let marker = marker("checks", &[]);
    let Some(posting) = answer::posting(env, &admitted.event.trigger, policy, (&marker, &body))
    else {
        return;
    };
    if let Err(why) = env.poster(policy, facts).post(posting).await {
        tracing::warn!(%why, "the verdicts of checks are only in the log");
    }
}

fn part_of(check: &FinishedCheck) -> String {
    let icon = match check.conclusion {
        CheckConclusion::Success => "✅",
        CheckConclusion::Failure => "❌",
        CheckConclusion::Neutral => "⚪",
    };
    let FinishedCheck { name, title, details, .. } = check;
    format!("### {icon} {}: {}\n\n{details}", inline(name), inline(title))
}
