//! `JobStates`: how the last run of each job ended, which jobs are paused, and which of their times
//! were answered.
//!
//! In: the record's text; how a run ended. Out: the record, and whether a job paused itself just
//! now. It reads no clock and no ref.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::run::job::Schedule;
use crate::run::jobs::times::{JobTimes, ScheduledRun};
use locum_agent::session::outcome::OutcomeWord;

/// The version this program reads and writes.
const VERSION: u32 = 1;
/// So many runs in a row that end at a limit of the budget pause a job.
pub const LIMITS_IN_A_ROW: u32 = 2;
/// Most jobs that are remembered.
const JOBS_LIMIT: usize = 500;

/// What is known of the jobs of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobStates {
    version: u32,
    /// Number of the dashboard issue, once there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dashboard: Option<u64>,
    jobs: BTreeMap<String, JobState>,
    /// Which times of their schedules were answered.
    #[serde(default, skip_serializing_if = "JobTimes::is_empty")]
    times: JobTimes,
}

/// What is known of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobState {
    /// How its last run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<JobResult>,
    /// Why it was last left out, where that was after its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<JobLeftOut>,
    /// Runs in a row that ended at a limit of the budget.
    #[serde(default)]
    pub limits_in_a_row: u32,
    /// Since when it is paused; `None` where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_since: Option<Timestamp>,
    /// Number of the pull request that has a comment saying that the job failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reported_on: Option<u64>,
}

/// Why a job that was due did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobLeftOut {
    /// Since when, for this reason.
    pub since: Timestamp,
    /// In a line, without a full stop.
    pub why: String,
}

/// How a run of a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// The outcome in one word.
    pub outcome: String,
    /// What that means for the job.
    pub grade: JobGrade,
    /// When it ended.
    pub at: Timestamp,
    /// Page of the workflow run; empty where it has none.
    pub url: String,
    /// Why it ended so, in a line; empty where nothing is to be said.
    pub reason: String,
    /// The last lines of the check or command that failed; empty without one.
    pub tail: String,
}

/// What an outcome means for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobGrade {
    /// It did what it is for.
    Good,
    /// A person decides, or stopped it.
    Waiting,
    /// It failed.
    Failed,
    /// A limit of the budget ended it.
    AtLimit,
}

impl JobResult {
    /// Returns how it ended, for readers.
    pub fn heading(&self) -> &str {
        let known = OutcomeWord::ALL.into_iter().find(|word| word.as_str() == self.outcome);
        known.map_or(self.outcome.as_str(), |word| word.heading())
    }
}

impl JobState {
    /// Says in a few words how the job is.
    pub fn words(&self) -> String {
        let minute = |at: Timestamp| at.strftime("%F %H:%M").to_string();
        match (self.paused_since, &self.last) {
            (Some(since), _) => format!("paused since {}", minute(since)),
            (None, Some(last)) => format!("{} at {}", last.heading(), minute(last.at)),
            (None, None) => "-".to_owned(),
        }
    }
}

impl Default for JobStates {
    fn default() -> Self {
        let (jobs, times) = (BTreeMap::new(), JobTimes::default());
        Self { version: VERSION, dashboard: None, jobs, times }
    }
}

impl JobStates {
    /// Reads the record.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn parse(text: &str) -> Result<Self, String> {
        let states: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match states.version {
            VERSION => Ok(states),
            other => Err(format!("its version is {other}, not {VERSION}")),
        }
    }

    /// Returns the record's text.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn render(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map_err(|error| error.to_string())
    }

    /// Returns what is known of a job.
    pub fn of(&self, job: &str) -> Option<&JobState> {
        self.jobs.get(job)
    }

    /// Returns since when a job is paused; `None` where it is not.
    pub fn paused_since(&self, job: &str) -> Option<Timestamp> {
        self.of(job).and_then(|state| state.paused_since)
    }

    /// Returns whether a job is due in a run of the workflow, and takes its time, so that no other
    /// run answers for it.
    pub fn take_time(&mut self, job: &str, schedule: &Schedule, run: &ScheduledRun<'_>) -> bool {
        let last = self.of(job).and_then(|state| state.last.as_ref());
        // What a person or the runner stopped waits for nobody.
        let ended_well = last.is_some_and(|last| {
            last.url == run.page
                && matches!(last.grade, JobGrade::Good | JobGrade::Waiting)
                && last.outcome != OutcomeWord::Cancelled.as_str()
        });
        self.times.take((job, schedule), run, ended_well)
    }

    /// Forgets the times of jobs that no schedule starts any more: one that is listed again is
    /// counted from its first look, and has missed nothing.
    pub fn retain_times(&mut self, is_listed: impl Fn(&str) -> bool) {
        self.times.retain(is_listed);
    }

    /// Returns whether a job is due in a run of the workflow that can take no time.
    pub fn has_time(&self, job: &str, schedule: &Schedule, run: &ScheduledRun<'_>) -> bool {
        self.times.is_due(job, schedule, run)
    }

    /// Writes down how a run of a job ended. Returns true when the job pauses itself for that.
    pub fn end(&mut self, job: &str, result: JobResult) -> bool {
        if !self.jobs.contains_key(job) && self.jobs.len() >= JOBS_LIMIT {
            return false;
        }
        let state = self.jobs.entry(job.to_owned()).or_default();
        let (grade, at) = (result.grade, result.at);
        state.last = Some(result);
        state.left_out = None;
        match grade {
            JobGrade::AtLimit => state.limits_in_a_row = state.limits_in_a_row.saturating_add(1),
            JobGrade::Good | JobGrade::Failed => state.limits_in_a_row = 0,
            // What a person stopped or has to answer says nothing about the limit.
            JobGrade::Waiting => {}
        }
        let pauses = state.limits_in_a_row >= LIMITS_IN_A_ROW && state.paused_since.is_none();
        if pauses {
            state.paused_since = Some(at);
        }
        pauses
    }

    /// Writes down why a job did not run. Returns false where that is known.
    pub fn leave_out(&mut self, job: &str, left_out: JobLeftOut) -> bool {
        if !self.jobs.contains_key(job) && self.jobs.len() >= JOBS_LIMIT {
            return false;
        }
        let state = self.jobs.entry(job.to_owned()).or_default();
        if state.left_out.as_ref().is_some_and(|known| known.why == left_out.why) {
            return false;
        }
        state.left_out = Some(left_out);
        true
    }

    /// Writes down which pull request says that a job failed.
    pub fn report_failure_on(&mut self, job: &str, pull_request: Option<u64>) {
        if let Some(state) = self.jobs.get_mut(job) {
            state.failure_reported_on = pull_request;
        }
    }

    /// Lets a job run again; returns false where it was not paused.
    pub fn resume(&mut self, job: &str) -> bool {
        let Some(state) = self.jobs.get_mut(job) else { return false };
        state.limits_in_a_row = 0;
        state.paused_since.take().is_some()
    }

    /// Forgets jobs that do not exist any more.
    pub fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.jobs.retain(|name, _| exists(name));
        self.times.retain(exists);
    }
}

#[cfg(test)]
mod tests {
    use super::{JobGrade, JobLeftOut, JobResult, JobStates};
    use crate::run::job::Schedule;
    use crate::run::jobs::times::ScheduledRun;
    use pretty_assertions::assert_eq;

    pub(super) fn result(grade: JobGrade) -> JobResult {
        JobResult {
            outcome: "x".to_owned(),
            grade,
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            url: String::new(),
            reason: String::new(),
            tail: String::new(),
        }
    }

    #[test]
    fn a_job_pauses_when_two_runs_in_a_row_end_at_a_limit() {
        use JobGrade::{AtLimit, Failed, Good, Waiting};
        for (grades, paused) in [
            (&[AtLimit][..], false),
            (&[AtLimit, AtLimit], true),
            (&[AtLimit, Good, AtLimit], false),
            (&[AtLimit, Failed, AtLimit], false),
            (&[AtLimit, Waiting, AtLimit], true),
            (&[Failed, Failed, Failed], false),
            (&[Good, AtLimit, AtLimit], true),
        ] {
            let mut states = JobStates::default();
            let last = grades.iter().map(|grade| states.end("a", result(*grade))).last();
            assert_eq!(last, Some(paused), "{grades:?}");
            assert_eq!(states.paused_since("a").is_some(), paused, "{grades:?}");
            assert_eq!(states.paused_since("b"), None);
            assert_eq!(JobStates::parse(&states.render().unwrap()), Ok(states));
        }
    }

    #[test]
    fn a_job_says_once_that_it_pauses_and_counts_anew_when_it_is_resumed() {
        let mut states = JobStates::default();
        let end = |states: &mut JobStates| states.end("a", result(JobGrade::AtLimit));
        assert_eq!([end(&mut states), end(&mut states), end(&mut states)], [false, true, false]);
        assert!(states.resume("a") && !states.resume("a") && !states.resume("b"));
        assert_eq!([end(&mut states), end(&mut states)], [false, true]);
        states.retain(|name| name != "a");
        assert_eq!(states, JobStates::default());
    }

    #[test]
    fn why_a_job_did_not_run_is_known_until_it_runs() {
        let mut states = JobStates::default();
        let why = |why: &str, since: &str| JobLeftOut {
            since: since.parse().unwrap(),
            why: why.to_owned(),
        };
        assert!(states.leave_out("a", why("pushed", "2026-01-02T03:04:05Z")));
        assert!(!states.leave_out("a", why("pushed", "2026-01-02T03:09:05Z")));
        assert!(states.leave_out("a", why("another", "2026-01-02T03:14:05Z")));
        assert_eq!(JobStates::parse(&states.render().unwrap()).as_ref(), Ok(&states));
        states.end("a", result(JobGrade::Good));
        assert_eq!(states.of("a").and_then(|state| state.left_out.clone()), None);
    }

    #[test]
    fn what_a_run_did_well_is_not_due_in_it_again_and_other_runs_never_repeat_it() {
        let schedule = Schedule::parse("30 3 * * *").unwrap();
        let (now, page) = ("2026-03-04T04:05:00Z".parse().unwrap(), "https://x.example/1");
        let span = Schedule::parse("0 * * * *").unwrap().last_span(now).unwrap();
        let first = ScheduledRun { now, span, page, is_again: false };
        let again = ScheduledRun { is_again: true, ..first };
        for (grade, url, expected) in [
            (JobGrade::Good, page, false),
            (JobGrade::Waiting, page, false),
            (JobGrade::Failed, page, true),
            (JobGrade::AtLimit, page, true),
            (JobGrade::Good, "https://x.example/0", true),
        ] {
            let mut states = JobStates::default();
            assert!(states.has_time("a", &schedule, &first));
            assert!(states.take_time("a", &schedule, &first));
            assert!(!states.has_time("a", &schedule, &first));
            states.end("a", JobResult { url: url.to_owned(), ..result(grade) });
            let mut states = JobStates::parse(&states.render().unwrap()).unwrap();
            assert!(!states.take_time("a", &schedule, &first), "{grade:?} {url}");
            assert_eq!(states.take_time("a", &schedule, &again), expected, "{grade:?} {url}");
            states.retain(|_| false);
            assert_eq!(states, JobStates::default());
        }
    }

    #[test]
    fn what_was_cancelled_is_due_again_where_its_run_is_started_again_and_nowhere_else() {
        let schedule = Schedule::parse("30 3 * * *").unwrap();
        let (now, page) = ("2026-03-04T04:05:00Z".parse().unwrap(), "https://x.example/1");
        let span = Schedule::parse("0 * * * *").unwrap().last_span(now).unwrap();
        let first = ScheduledRun { now, span, page, is_again: false };
        for (outcome, expected) in [("cancelled", true), ("on-hold", false)] {
            let mut states = JobStates::default();
            assert!(states.take_time("a", &schedule, &first));
            let (outcome, url) = (outcome.to_owned(), page.to_owned());
            states.end("a", JobResult { outcome, url, ..result(JobGrade::Waiting) });
            let again = ScheduledRun { is_again: true, ..first };
            assert_eq!(states.take_time("a", &schedule, &again), expected);
            let other = ScheduledRun { page: "https://x.example/2", ..again };
            assert!(!states.take_time("a", &schedule, &other));
        }
    }

    #[test]
    fn a_job_that_is_listed_again_has_missed_nothing() {
        let schedule = Schedule::parse("30 3 * * *").unwrap();
        let run = |now: &str| {
            let now = now.parse().unwrap();
            let span = Schedule::parse("0 * * * *").unwrap().last_span(now).unwrap();
            ScheduledRun { now, span, page: "https://x.example/1", is_again: false }
        };
        for (is_listed, expected) in [(true, true), (false, false)] {
            let mut states = JobStates::default();
            assert!(states.take_time("a", &schedule, &run("2026-03-04T04:05:00Z")));
            states.retain_times(|_| is_listed);
            assert_eq!(states.take_time("a", &schedule, &run("2026-05-04T17:05:00Z")), expected);
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for bad in ["", "{}", r#"{"version":2,"jobs":{}}"#, r#"{"version":1,"jobs":{},"more":1}"#] {
            assert!(JobStates::parse(bad).is_err(), "{bad}");
        }
        assert!(JobStates::parse(r#"{"version":1,"jobs":{"a":{}}}"#).is_ok());
    }
}
