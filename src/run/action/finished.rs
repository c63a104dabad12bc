//! What follows once every run of an event has ended: sessions and claims that were kept for too
//! long are removed, and jobs that could not run are reported.
//!
//! In: how each run ended. Out: the same, with what did not run before it.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::jobs::JobBook;
use crate::run::action::{ActionEnd, ActionEnv, carry};
use crate::run::error::RunError;
use locum_policy::intent::TriggerKind;

/// Does what is left to do, and returns how everything that the event asked for ended.
pub(super) async fn close_event<'e>(
    env: &'e ActionEnv<'e>,
    admitted: &'e AdmittedEvent<'e>,
    book: Option<JobBook<'e>>,
    mut ends: Vec<ActionEnd>,
) -> Vec<ActionEnd> {
    if !env.inputs.writes_bundle() {
        carry::sweep(env, &admitted.config.policy, &admitted.request.facts).await;
    }
    let broken = broken_jobs(env, admitted, book).await;
    // What ran is reported last.
    ends.splice(0..0, broken.unwrap_or_else(|error| vec![ActionEnd::Unusable(error)]));
    if ends.is_empty() {
        ends.push(ActionEnd::Skipped("no job is due".to_owned()));
    }
    ends
}

/// Reports the jobs that a schedule could not look at, because their files have mistakes.
async fn broken_jobs<'e>(
    env: &'e ActionEnv<'e>,
    admitted: &'e AdmittedEvent<'e>,
    book: Option<JobBook<'e>>,
) -> Result<Vec<ActionEnd>, RunError> {
    let (request, config) = (&admitted.request, &admitted.config);
    let is_schedule = request.facts.trigger == TriggerKind::Schedule && request.job.is_none();
    if !is_schedule || env.inputs.has_task() || env.inputs.writes_bundle() {
        return Ok(Vec::new());
    }
    let broken = config.broken_jobs()?;
    if !broken.is_empty() && !env.inputs.dry_run {
        let mut book = match book {
            Some(book) => book,
            None => JobBook::open(env, admitted).await,
        };
        book.leave_broken_out(broken).await;
    }
    Ok(broken.iter().map(|(_, mistakes)| ActionEnd::Unusable(mistakes.clone())).collect())
}
