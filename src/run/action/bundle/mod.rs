//! A run in two jobs: one that works and may write nothing, one that publishes and has no key of a
//! model. Between them is one file, the bundle.
//!
//! In: an admitted event. Out: what this job leaves to the other one. The bundle is a commit as
//! sessions are carried by (`carry`), in a file of git's: the journal, the changes as a commit on
//! the base, and the manifest. Whoever publishes takes all of it for hostile.

pub(super) mod manifest;
mod publish;
mod reachable;
mod work;

use crate::config::action_inputs::{BundleInput, BundleStep};
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::work_items::WorkItem;
use crate::run::action::{ActionEnd, ActionEnv, answer};
use crate::run::error::RunError;
use crate::run::request::RequestedAction;

pub(super) use manifest::ReceivedBundle;
pub(super) use publish::publish;
pub(super) use work::write;

/// What the place of mistakes about a bundle is called.
pub(super) const PLACE: &str = "INPUT_BUNDLE_FILE";

/// Returns what ends an event in one of two jobs: where nothing is to be worked on, the job that
/// publishes answers alone.
pub(super) async fn screen(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Option<ActionEnd> {
    let BundleInput { step, .. } = env.inputs.bundle.as_ref()?;
    let word = match &admitted.request.action {
        RequestedAction::Run => return None,
        RequestedAction::Rebase => "rebase",
        RequestedAction::Decide(_) => "a decision",
        RequestedAction::Help
        | RequestedAction::Status
        | RequestedAction::Explain
        | RequestedAction::Stop
        | RequestedAction::Retry
        | RequestedAction::Undo
        | RequestedAction::ChecksPassed => "",
    };
    match (step, word) {
        (BundleStep::Write, _) => {
            Some(ActionEnd::Skipped("the job that publishes answers this, without work".to_owned()))
        }
        (BundleStep::Publish, "") => None,
        (BundleStep::Publish, word) => {
            let why = format!("{word} needs a workflow in one job; here a run works in two");
            Some(answer::refuse(env, admitted, &why).await)
        }
    }
}

/// Refuses more than one run: a bundle holds the work of one.
///
/// # Errors
/// When there are several.
pub(super) fn check_single(env: &ActionEnv<'_>, items: &[WorkItem]) -> Result<(), RunError> {
    if env.inputs.bundle.is_none() || items.len() < 2 {
        return Ok(());
    }
    let names: Vec<&str> = items.iter().filter_map(WorkItem::job).collect();
    let what = format!("{} jobs are due, and a bundle holds the work of one", items.len());
    Err(RunError::usage("INPUT_BUNDLE", what).hint(format!(
        "name one of them in the input `job` ({}), each in a workflow job of its own",
        names.join(", ")
    )))
}
