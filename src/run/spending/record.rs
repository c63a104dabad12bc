//! `SpendingRecord`: what the runs of a repository spent, as far as ceilings have to know: each run
//! of today by itself, older ones summed up by thread.
//!
//! In: the record's text, and what a run takes or took. Out: sums, and the record's text again. A
//! run that is under way counts with all it may spend, so that several at once stay below a ceiling
//! together; one that ended counts with what it spent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use locum_policy::spending_limit::LimitUsage;

/// The version this program reads and writes.
const VERSION: u32 = 1;
/// Days without a run after which the sums of a thread are dropped.
const THREAD_DAYS: i32 = 365;
/// Most runs of one or two days that are recorded one by one; more are refused.
const RESERVATIONS_LIMIT: usize = 10_000;

/// What the runs of a repository spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpendingRecord {
    version: u32,
    /// Runs of today, and those that are under way.
    #[serde(rename = "legs")]
    reservations: Vec<Reservation>,
    /// What was spent before on each issue and pull request.
    threads: BTreeMap<u64, ThreadSpending>,
}

/// A run from where it began or resumed to where it ended or stopped for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reservation {
    /// Name of the session.
    pub(super) session: String,
    /// The day it began, by UTC.
    pub(super) day: jiff::civil::Date,
    /// The issue or pull request it is about.
    pub(super) thread: Option<u64>,
    /// False where the session only resumes.
    pub(super) is_new: bool,
    /// What the session had spent before.
    pub(super) before: SpentAmount,
    /// What it took, or may take while it is under way.
    pub(super) amount: SpentAmount,
    /// True until it ended.
    pub(super) under_way: bool,
    /// Its folder on this machine, where the record is kept on the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<PathBuf>,
}

/// Tokens and dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpentAmount {
    pub(super) tokens: u64,
    pub(super) cost_usd: f64,
}

/// The sums of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadSpending {
    runs: u64,
    tokens: u64,
    cost_usd: f64,
    /// When it was added to last.
    day: jiff::civil::Date,
}

impl SpentAmount {
    /// Returns what came after `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(before.tokens),
            cost_usd: (self.cost_usd - before.cost_usd).max(0.0),
        }
    }

    /// Returns it as taken from a ceiling by no run of its own.
    pub(super) fn taken(self) -> LimitUsage {
        LimitUsage { runs: 0, tokens: self.tokens, cost_usd: self.cost_usd }
    }

    fn is_sound(self) -> bool {
        self.cost_usd.is_finite() && self.cost_usd >= 0.0
    }
}

impl SpendingRecord {
    /// Returns the record of a repository in which nothing ran.
    pub(super) fn empty() -> Self {
        Self { version: VERSION, reservations: Vec::new(), threads: BTreeMap::new() }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Why it cannot be counted on.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let record: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if record.version != VERSION {
            return Err(format!(
                "it is of version {}, and only version {VERSION} is known",
                record.version
            ));
        }
        let sound = record
            .reservations
            .iter()
            .all(|reservation| reservation.before.is_sound() && reservation.amount.is_sound());
        let sound = sound
            && record.threads.values().all(|sum| sum.cost_usd.is_finite() && sum.cost_usd >= 0.0);
        if sound { Ok(record) } else { Err("it holds a sum of money that is none".to_owned()) }
    }

    /// Returns its text.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub(super) fn render(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }

    /// Sums up what is of earlier days. What has been under way since the day before yesterday was
    /// killed, and counts with all it might have spent.
    pub(super) fn start_day(&mut self, today: jiff::civil::Date) {
        let yesterday = today.yesterday().unwrap_or(today);
        let (kept, over): (Vec<Reservation>, Vec<Reservation>) =
            std::mem::take(&mut self.reservations).into_iter().partition(|reservation| {
                reservation.day >= today || (reservation.under_way && reservation.day >= yesterday)
            });
        self.reservations = kept;
        for reservation in over {
            let Some(thread) = reservation.thread else { continue };
            let sum = self.threads.entry(thread).or_insert(ThreadSpending {
                runs: 0,
                tokens: 0,
                cost_usd: 0.0,
                day: reservation.day,
            });
            sum.runs = sum.runs.saturating_add(reservation.is_new.into());
            sum.tokens = sum.tokens.saturating_add(reservation.amount.tokens);
            sum.cost_usd += reservation.amount.cost_usd;
            sum.day = sum.day.max(reservation.day);
        }
        self.threads
            .retain(|_, sum| today.since(sum.day).is_ok_and(|age| age.get_days() <= THREAD_DAYS));
    }

    /// Returns what the runs of a day took, or may take.
    pub(super) fn of_day(&self, day: jiff::civil::Date) -> LimitUsage {
        total(
            self.reservations.iter().filter(|reservation| reservation.day == day),
            LimitUsage::default(),
        )
    }

    /// Returns what the runs on a thread took, or may take.
    pub(super) fn of_thread(&self, thread: u64) -> LimitUsage {
        let before = self.threads.get(&thread).map(|sum| LimitUsage {
            runs: sum.runs,
            tokens: sum.tokens,
            cost_usd: sum.cost_usd,
        });
        total(
            self.reservations.iter().filter(|reservation| reservation.thread == Some(thread)),
            before.unwrap_or_default(),
        )
    }

    /// Returns the runs that are under way.
    pub(super) fn under_way(&self) -> impl Iterator<Item = &Reservation> {
        self.reservations.iter().filter(|reservation| reservation.under_way)
    }

    /// Writes down that a run is under way.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn begin(&mut self, reservation: Reservation) -> Result<(), String> {
        if self.reservations.len() >= RESERVATIONS_LIMIT {
            return Err(format!(
                "{RESERVATIONS_LIMIT} runs started today, the most that are recorded"
            ));
        }
        self.reservations.push(reservation);
        Ok(())
    }

    /// Writes down what a session has spent in all; what it did not take is free again.
    pub(super) fn end(&mut self, session: &str, spent: SpentAmount) {
        for reservation in self
            .reservations
            .iter_mut()
            .filter(|reservation| reservation.under_way && reservation.session == session)
        {
            reservation.amount = spent.since(reservation.before);
            reservation.under_way = false;
        }
    }
}

fn total<'a>(
    reservations: impl Iterator<Item = &'a Reservation>,
    before: LimitUsage,
) -> LimitUsage {
    reservations.fold(before, |sum, reservation| LimitUsage {
        runs: sum.runs.saturating_add(reservation.is_new.into()),
        tokens: sum.tokens.saturating_add(reservation.amount.tokens),
        cost_usd: sum.cost_usd + reservation.amount.cost_usd,
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Date, date};
    use pretty_assertions::assert_eq;

    use super::{Reservation, SpendingRecord, SpentAmount};

    const TODAY: Date = date(2026, 3, 2);

    fn reservation(session: &str, day: Date, tokens: u64) -> Reservation {
        Reservation {
            session: session.to_owned(),
            day,
            thread: Some(7),
            is_new: true,
            before: SpentAmount::default(),
            amount: SpentAmount { tokens, cost_usd: 0.5 },
            under_way: true,
            folder: None,
        }
    }

    #[test]
    fn a_run_counts_with_what_it_may_take_until_it_ended() {
        let mut record = SpendingRecord::empty();
        record.begin(reservation("a", TODAY, 100)).unwrap();
        record.begin(reservation("b", TODAY, 100)).unwrap();
        record.end("a", SpentAmount { tokens: 30, cost_usd: 0.1 });
        record.end("a", SpentAmount { tokens: 99, cost_usd: 0.1 });
        let day = record.of_day(TODAY);
        assert_eq!((day.runs, day.tokens), (2, 130));
        assert_eq!(record.of_thread(7), day);
        assert_eq!(record.of_thread(8).runs, 0);
        assert_eq!(SpendingRecord::parse(record.render().unwrap().as_bytes()), Ok(record));
    }

    #[test]
    fn a_new_day_begins_with_nothing_and_a_thread_goes_on() {
        let mut record = SpendingRecord::empty();
        record.begin(reservation("a", TODAY, 100)).unwrap();
        record.end("a", SpentAmount { tokens: 30, cost_usd: 0.1 });
        record.begin(reservation("b", TODAY, 50)).unwrap();
        let tomorrow = TODAY.tomorrow().unwrap();
        record.start_day(tomorrow);
        assert_eq!(record.of_day(tomorrow).tokens, 0);
        assert_eq!((record.of_thread(7).runs, record.of_thread(7).tokens), (2, 80));
        // What is still under way is distinct from what ended.
        record.end("b", SpentAmount { tokens: 10, cost_usd: 0.1 });
        assert_eq!(record.of_thread(7).tokens, 40);
        record.start_day(tomorrow);
        assert_eq!((record.reservations.len(), record.of_thread(7).tokens), (0, 40));
    }

    #[test]
    fn a_run_that_never_ended_counts_in_full() {
        let mut record = SpendingRecord::empty();
        record.begin(reservation("a", date(2026, 2, 27), 100)).unwrap();
        record.start_day(TODAY);
        assert_eq!((record.under_way().count(), record.of_thread(7).tokens), (0, 100));
        record.start_day(date(2028, 3, 2));
        assert_eq!(record.of_thread(7).tokens, 0);
    }

    #[test]
    fn a_session_that_goes_on_is_charged_for_the_rest_alone() {
        let mut record = SpendingRecord::empty();
        let before = SpentAmount { tokens: 40, cost_usd: 0.2 };
        record
            .begin(Reservation { is_new: false, before, ..reservation("a", TODAY, 100) })
            .unwrap();
        record.end("a", SpentAmount { tokens: 70, cost_usd: 0.2 });
        assert_eq!((record.of_day(TODAY).runs, record.of_day(TODAY).tokens), (0, 30));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let good = r#"{"version":1,"legs":[],"threads":{}}"#;
        assert_eq!(SpendingRecord::parse(good.as_bytes()), Ok(SpendingRecord::empty()));
        for bad in [
            "",
            "{}",
            "null",
            r#"{"version":2,"legs":[],"threads":{}}"#,
            r#"{"version":1,"legs":[],"threads":{},"more":1}"#,
            r#"{"version":1,"legs":[],"threads":{"7":{"runs":1,"tokens":-1,"cost_usd":0,"day":"2026-03-02"}}}"#,
            r#"{"version":1,"legs":[],"threads":{"7":{"runs":1,"tokens":1,"cost_usd":-5,"day":"2026-03-02"}}}"#,
            &good[..20],
        ] {
            assert!(SpendingRecord::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
