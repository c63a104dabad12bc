//! Why runs cannot be counted where one job of a workflow works and another one publishes.
//!
//! In: the policy's spending limits. Out: the problem, for the Action, `locum doctor` and `locum
//! init` alike.

use locum_files::diagnostic::Diagnostic;
use locum_policy::schema::PolicySpec;
use locum_policy::spending_limit::SpendingLimits;

/// Returns why a run with or without a thread cannot be counted: the count is kept on a ref.
pub(crate) fn uncounted_on(
    place: &str,
    limits: &SpendingLimits,
    thread: Option<u64>,
) -> Option<Diagnostic> {
    let what = "the policy limits what runs spend together, and a job that may write nothing \
                cannot keep count of it";
    let hint = "let a run work and publish in one job, or take `daily` and `per_thread` out of \
                `budget`, which limits each run all the same";
    (!limits.is_none(thread)).then(|| Diagnostic::about(place, what).hint(hint))
}

/// Returns why the runs that a policy starts cannot all be counted.
pub(crate) fn uncounted(place: &str, settings: &PolicySpec) -> Option<Diagnostic> {
    uncounted_on(place, &settings.spending_limits, some_thread(settings))
}

/// Returns a thread where the policy lets a run start on one.
pub(crate) fn some_thread(settings: &PolicySpec) -> Option<u64> {
    settings.triggers.start_on_threads().then_some(0)
}
