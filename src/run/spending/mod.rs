//! What the runs of a day or of a thread may spend together: reserved before a run, given back
//! after it.
//!
//! In: the policy's ceilings, the run's own budget, the record of what other runs took. Out: an
//! [`Remaining`] the session asks before each request. A run is recorded with all it may spend
//! before it begins, and with what it spent when it ended. So several at once stay below a ceiling
//! together, and one that was killed is counted. The record lies in the state directory, or on a
//! ref of the repository.

mod ledger;
mod record;
pub mod store;
pub(crate) mod two_jobs;

use std::path::{Path, PathBuf};

use crate::run::error::RunError;
use crate::run::execution::RunExecution;
use crate::run::spending::ledger::{SpendingLedger, ledger_of};
use crate::run::spending::record::{Reservation, SpendingRecord, SpentAmount};
use locum_agent::session::event::JournalLine;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_policy::spending_limit::{
    LimitScope, LimitUsage, Remaining, ReservationRequest, SpendingLimits,
};

/// A run that is to be counted.
pub(super) struct RecordedRun<'a> {
    ledger: SpendingLedger<'a>,
    session: SessionId,
    clock: &'a dyn Clock,
}

/// Writes down that a run is under way, whose journal holds `past` already, unless the ceilings
/// leave nothing to it. Returns what they leave, and the run for [`RecordedRun::end`].
///
/// # Errors
/// When the record cannot be read, believed or written: nothing runs uncounted.
pub(super) async fn begin<'a>(
    execution: &RunExecution<'a>,
    past: &[JournalLine],
) -> Result<(Remaining, Option<RecordedRun<'a>>), RunError> {
    let run = execution.run;
    let plan = &run.plan;
    let (spending_limits, thread) = (run.policy.settings().spending_limits, plan.subject.thread());
    if spending_limits.is_none(thread) {
        return Ok((Remaining::default(), None));
    }
    let state = SessionState::of(past);
    let budget = state.start.as_ref().map_or(plan.budget, |start| start.budget);
    let before = spent_in(&state);
    let is_priced = run.models.has_price();
    let rest = SpentAmount {
        tokens: budget.tokens.saturating_sub(before.tokens),
        cost_usd: if is_priced { (budget.cost_usd - before.cost_usd).max(0.0) } else { 0.0 },
    };
    let request = ReservationRequest {
        is_new: state.start.is_none(),
        before: before.taken(),
        most: rest.taken(),
        is_priced,
    };
    let ledger = ledger_of(execution)?;
    let reservation = Reservation {
        session: plan.session.to_string(),
        day: day_of(execution.clock),
        thread,
        is_new: request.is_new,
        before,
        amount: rest,
        under_way: true,
        folder: ledger.is_local().then(|| execution.folder.to_owned()),
    };
    let remaining = ledger
        .change(execution.clock, |record| admit(record, &spending_limits, &request, &reservation))
        .await?;
    let counted = RecordedRun { ledger, session: plan.session.clone(), clock: execution.clock };
    Ok((remaining, Some(counted)))
}

impl RecordedRun<'_> {
    /// Writes down what the run spent. Where that fails, it stays counted with all it might have
    /// spent.
    pub(super) async fn end(self, outcome: &Outcome) {
        let spent =
            SpentAmount { tokens: outcome.spent.usage.total(), cost_usd: outcome.spent.cost_usd };
        let session = self.session.to_string();
        let changed = self.ledger.change(self.clock, |record| {
            record.end(&session, spent);
            Ok(())
        });
        if let Err(error) = changed.await {
            tracing::warn!(
                %error,
                "could not release the reserved budget; the full reservation counts"
            );
        }
    }
}

/// Sums up what others took, and writes the run down where something is left.
fn admit(
    record: &mut SpendingRecord,
    spending_limits: &SpendingLimits,
    request: &ReservationRequest,
    reservation: &Reservation,
) -> Result<Remaining, String> {
    record.start_day(reservation.day);
    // A session that resumes after a kill was never ended in the record.
    record.end(&reservation.session, reservation.before);
    let killed: Vec<(String, SpentAmount)> = record
        .under_way()
        .filter_map(|other| Some((other.session.clone(), killed(other)?)))
        .collect();
    for (session, spent) in killed {
        record.end(&session, spent);
    }
    let mut remaining = Remaining::default();
    let mut left = remaining.bind(
        LimitScope::Daily,
        &spending_limits.daily,
        &record.of_day(reservation.day),
        request,
    );
    if let Some(thread) = reservation.thread {
        left = lower(
            left,
            remaining.bind(
                LimitScope::Thread,
                &spending_limits.per_thread,
                &record.of_thread(thread),
                request,
            ),
        );
    }
    // What has no room for a first request takes none.
    if remaining.ask(&locum_policy::budget::Spent::default(), 0, 0.0).is_ok() || !request.is_new {
        record.begin(Reservation {
            amount: SpentAmount { tokens: left.tokens, cost_usd: left.cost_usd },
            ..reservation.clone()
        })?;
    }
    Ok(remaining)
}

/// Returns what a session of this machine spent that is under way by the record and by nothing
/// else.
fn killed(reservation: &Reservation) -> Option<SpentAmount> {
    let folder = reservation.folder.as_ref()?;
    if Journal::is_held(folder) {
        return None;
    }
    let lines = Journal::read(folder).inspect_err(|error| {
        tracing::warn!(
            %error,
            "a killed run has no readable journal; its full reservation counts"
        );
    });
    lines.ok().map(|lines| spent_in(&SessionState::of(&lines)))
}

fn spent_in(state: &SessionState) -> SpentAmount {
    state.root().map_or_else(SpentAmount::default, |root| SpentAmount {
        tokens: root.budgeting.spent.usage.total(),
        cost_usd: root.budgeting.spent.cost_usd,
    })
}

fn lower(one: LimitUsage, other: LimitUsage) -> LimitUsage {
    LimitUsage {
        runs: 0,
        tokens: one.tokens.min(other.tokens),
        cost_usd: one.cost_usd.min(other.cost_usd),
    }
}

fn day_of(clock: &dyn Clock) -> jiff::civil::Date {
    clock.now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Returns the file that counts the runs of a repository on this machine: named by where its
/// objects lie.
fn file_name(git_folder: &Path) -> PathBuf {
    use sha2::Digest as _;
    use std::os::unix::ffi::OsStrExt as _;
    let hash = sha2::Sha256::digest(git_folder.as_os_str().as_bytes());
    let name: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    PathBuf::from("ceilings").join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Date, date};
    use pretty_assertions::assert_eq;

    use super::admit;
    use crate::run::spending::record::{Reservation, SpendingRecord, SpentAmount};
    use locum_policy::budget::Spent;
    use locum_policy::spending_limit::{
        LimitUsage, ReservationRequest, SpendingLimit, SpendingLimits,
    };

    const TODAY: Date = date(2026, 3, 2);

    /// Lets a session ask with a budget of a thousand tokens; returns why it may not begin.
    fn ask(
        record: &mut SpendingRecord,
        spending_limits: SpendingLimits,
        session: &str,
        day: Date,
    ) -> Option<String> {
        let most = SpentAmount { tokens: 1000, cost_usd: 1.0 };
        let request = ReservationRequest {
            is_new: true,
            before: LimitUsage::default(),
            most: most.taken(),
            is_priced: true,
        };
        let reservation = Reservation {
            session: session.to_owned(),
            day,
            thread: Some(7),
            is_new: true,
            before: SpentAmount::default(),
            amount: most,
            under_way: true,
            folder: None,
        };
        let remaining = admit(record, &spending_limits, &request, &reservation).unwrap();
        remaining.ask(&Spent::default(), 0, 0.0).err().map(|reached| reached.to_string())
    }

    #[test]
    fn two_runs_at_once_stay_below_a_ceiling_together() {
        let spending_limits = SpendingLimits {
            daily: SpendingLimit { tokens: Some(1500), ..SpendingLimit::default() },
            ..SpendingLimits::default()
        };
        let mut record = SpendingRecord::empty();
        assert_eq!(ask(&mut record, spending_limits, "a", TODAY), None);
        assert_eq!(ask(&mut record, spending_limits, "b", TODAY), None);
        assert_eq!(
            record.of_day(TODAY).tokens,
            1500,
            "the second one gets what the first one leaves"
        );
        let refusal = ask(&mut record, spending_limits, "c", TODAY).unwrap();
        assert!(
            refusal.starts_with(
                "the daily ceiling of 1500 tokens is reached: other runs have 1500 of it"
            ),
            "{refusal}"
        );
        assert_eq!(record.of_day(TODAY).runs, 2, "what may not begin takes nothing");
        record.end("a", SpentAmount { tokens: 100, cost_usd: 0.0 });
        assert_eq!(ask(&mut record, spending_limits, "c", TODAY), None);
    }

    #[test]
    fn a_new_day_has_a_new_ceiling_and_a_thread_keeps_its_own() {
        let one = SpendingLimit { runs: Some(1), ..SpendingLimit::default() };
        let tomorrow = TODAY.tomorrow().unwrap();
        for (spending_limits, refused_tomorrow) in [
            (SpendingLimits { daily: one, ..SpendingLimits::default() }, false),
            (SpendingLimits { per_thread: one, ..SpendingLimits::default() }, true),
        ] {
            let mut record = SpendingRecord::empty();
            assert_eq!(ask(&mut record, spending_limits, "a", TODAY), None);
            record.end("a", SpentAmount::default());
            assert!(ask(&mut record, spending_limits, "b", TODAY).is_some());
            assert_eq!(
                ask(&mut record, spending_limits, "b", tomorrow).is_some(),
                refused_tomorrow
            );
        }
    }
}
