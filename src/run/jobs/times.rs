//! `JobTimes`: up to which time of its schedule each job was answered for.
//!
//! In: a job's schedule, and the run of the workflow that looks at it. Out: whether the job is due;
//! its time is taken then, so that no other run answers the same one. A run that comes late answers
//! for what was missed, once for each job. It reads no clock and no ref.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::run::job::Schedule;

/// Most jobs whose times are remembered.
const JOBS_LIMIT: usize = 500;

/// Up to which time each job was answered for, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobTimes(BTreeMap<String, AnsweredTime>);

/// The last time of a job that a run answered for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredTime {
    at: Timestamp,
    /// The schedule that it is a time of: times of another one are counted from its first.
    schedule: String,
    /// Page of the workflow run that started the job; empty where none did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    run: String,
}

/// A run of the workflow on its own schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledRun<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The span that it answers for where nothing is known of a job ([`Schedule::last_span`]).
    pub span: (Timestamp, Timestamp),
    /// Its page; empty where it has none.
    pub page: &'a str,
    /// Whether somebody started it again.
    pub is_again: bool,
}

impl JobTimes {
    /// Returns whether no job is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a job is due, and takes its time. What a run started that is started again
    /// is due again, unless it ended well.
    pub fn take(
        &mut self,
        (job, schedule): (&str, &Schedule),
        run: &ScheduledRun<'_>,
        ended_well: bool,
    ) -> bool {
        let known = self.known(job, schedule);
        let (from, until) = known.map_or(run.span, |known| (known.at, run.now));
        let Some(last) = schedule.last_at_or_before(until) else { return false };
        let was_started_by_it =
            known.is_some_and(|known| !run.page.is_empty() && known.run == run.page);
        let is_due = last > from || (run.is_again && was_started_by_it && !ended_well);
        let has_room = self.0.contains_key(job) || self.0.len() < JOBS_LIMIT;
        // What was never looked at is remembered from its first look on.
        if has_room && (is_due || known.is_none()) {
            let started_by = if is_due { run.page } else { "" };
            let answered = AnsweredTime {
                at: last.max(from),
                schedule: schedule.text().to_owned(),
                run: started_by.to_owned(),
            };
            self.0.insert(job.to_owned(), answered);
        }
        is_due
    }

    /// Returns whether a job is due in a run that can take no time: by the span of the run, unless
    /// another one answered for it.
    pub fn is_due(&self, job: &str, schedule: &Schedule, run: &ScheduledRun<'_>) -> bool {
        let (from, to) = run.span;
        let from = self.known(job, schedule).map_or(from, |known| known.at.max(from));
        schedule.has_moment(from, to)
    }

    /// Forgets jobs that do not exist any more.
    pub fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| exists(name));
    }

    fn known(&self, job: &str, schedule: &Schedule) -> Option<&AnsweredTime> {
        self.0.get(job).filter(|known| known.schedule == schedule.text())
    }
}

#[cfg(test)]
mod tests {
    use super::{JobTimes, ScheduledRun};
    use crate::run::job::Schedule;
    use pretty_assertions::assert_eq;

    /// A run of an hourly workflow that begins at a time.
    fn hourly<'a>(now: &str, page: &'a str) -> ScheduledRun<'a> {
        let now = now.parse().unwrap();
        let span = Schedule::parse("0 * * * *").unwrap().last_span(now).unwrap();
        ScheduledRun { now, span, page, is_again: false }
    }

    /// Which of these runs start a job, one after another.
    fn started(cron: &str, runs: &[&str]) -> Vec<bool> {
        let schedule = Schedule::parse(cron).unwrap();
        let mut times = JobTimes::default();
        let due = runs.iter().map(|now| times.take(("job", &schedule), &hourly(now, "1"), true));
        due.collect()
    }

    #[test]
    fn each_time_belongs_to_one_run_however_late_the_runs_come() {
        for (cron, runs, expected) in [
            // The run of three o'clock came so late that the next one came with it.
            ("30 3 * * *", ["2026-03-04T04:05:00Z", "2026-03-04T04:06:00Z"], [true, false]),
            ("30 2 * * *", ["2026-03-04T02:05:00Z", "2026-03-04T04:05:00Z"], [false, true]),
            // None came for days: once is enough.
            ("30 2 * * *", ["2026-03-04T03:05:00Z", "2026-03-09T17:05:00Z"], [true, true]),
            ("30 2 * * *", ["2026-03-09T17:05:00Z", "2026-03-09T18:05:00Z"], [false, false]),
            // On time, what is due at the moment itself belongs to the run that begins then.
            ("0 3 * * *", ["2026-03-04T03:00:00Z", "2026-03-04T04:00:00Z"], [true, false]),
            ("0 3 * * *", ["2026-03-04T02:59:59Z", "2026-03-04T03:00:09Z"], [false, true]),
            // A clock that is behind answers for nothing twice.
            ("0 3 * * *", ["2026-03-04T03:00:01Z", "2026-03-04T02:59:59Z"], [true, false]),
        ] {
            assert_eq!(started(cron, &runs), expected, "{cron} {runs:?}");
        }
        let day: Vec<String> = (0..24).map(|hour| format!("2026-03-04T{hour:02}:59:59Z")).collect();
        let day: Vec<&str> = day.iter().map(String::as_str).collect();
        let all = started("30 3 * * *", &day);
        assert_eq!(all.iter().filter(|due| **due).count(), 1, "{all:?}");
    }

    #[test]
    fn a_run_that_is_started_again_repeats_what_it_started_and_did_not_end_well() {
        let schedule = Schedule::parse("30 3 * * *").unwrap();
        let mut times = JobTimes::default();
        let job = ("job", &schedule);
        assert!(times.take(job, &hourly("2026-03-04T04:05:00Z", "one"), false));
        let before = times.clone();
        let again = |page| ScheduledRun { is_again: true, ..hourly("2026-03-04T06:30:00Z", page) };
        for (page, ended_well, expected) in
            [("one", false, true), ("one", true, false), ("two", false, false), ("", false, false)]
        {
            assert_eq!(times.take(job, &again(page), ended_well), expected, "{page} {ended_well}");
        }
        assert_eq!(times, before);
        // What came due meanwhile is due in it, too.
        let later = ScheduledRun { is_again: true, ..hourly("2026-03-05T06:30:00Z", "one") };
        assert!(times.take(job, &later, true) && times != before);
    }

    #[test]
    fn another_schedule_is_counted_from_its_first_look() {
        let old = Schedule::parse("30 3 * * *").unwrap();
        let mut times = JobTimes::default();
        assert!(times.take(("job", &old), &hourly("2026-03-04T04:05:00Z", "1"), true));
        let new = Schedule::parse("45 4 * * *").unwrap();
        assert!(!times.take(("job", &new), &hourly("2026-03-05T10:05:00Z", "2"), true));
        assert!(times.take(("job", &new), &hourly("2026-03-06T05:05:00Z", "3"), true));
        times.retain(|name| name != "job");
        assert!(times.is_empty());
    }

    #[test]
    fn where_no_time_can_be_taken_the_span_of_the_run_counts_and_what_others_answered() {
        let schedule = Schedule::parse("30 3 * * *").unwrap();
        let run = hourly("2026-03-04T04:05:00Z", "1");
        let mut times = JobTimes::default();
        assert!(times.is_due("job", &schedule, &run));
        assert!(!times.is_due("job", &schedule, &hourly("2026-03-04T05:05:00Z", "2")));
        assert!(times.take(("job", &schedule), &run, true));
        assert!(!times.is_due("job", &schedule, &run));
        assert!(times.is_due("other", &schedule, &run));
        assert!(times.is_due("job", &schedule, &hourly("2026-03-05T04:05:00Z", "3")));
    }
}
