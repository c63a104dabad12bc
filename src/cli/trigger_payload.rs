//! What the payload of an event says beside the event itself: the paths of a push, the jobs of a
//! schedule.
//!
//! In: the payload, the policy and the jobs. Out: facts for `locum trigger explain`, without the
//! forge and without the record of earlier runs.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::run::job::{Job, Schedule};
use locum_forge::event::{EventKind, Trigger};
use locum_policy::schema::Triggers;

/// GitHub lists at most so many commits of a push.
const COMMITS_LIMIT: usize = 2048;

/// Returns the paths that a push changes; `None` where its payload does not list them all: those of
/// workflows name no paths, and a push that is forced or makes a branch has commits of others.
pub(super) fn pushed_paths(payload: &str) -> Option<Vec<String>> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    let is = |key: &str| payload.get(key).and_then(Value::as_bool).unwrap_or_default();
    let commits = payload.get("commits")?.as_array()?;
    if commits.is_empty() || commits.len() >= COMMITS_LIMIT || is("forced") || is("created") {
        return None;
    }
    let mut paths = BTreeSet::new();
    for commit in commits {
        for key in ["added", "removed", "modified"] {
            let listed = commit.get(key)?.as_array()?;
            paths.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
    }
    Some(paths.into_iter().collect())
}

/// Names the listed jobs with a time between the last two of the workflow's schedule; `None` for
/// other events.
pub(super) fn due_jobs(
    trigger: &Trigger,
    triggers: &Triggers,
    jobs: &[Job],
    now: Timestamp,
) -> Option<String> {
    if trigger.kind != EventKind::Schedule {
        return None;
    }
    let (from, to) = Schedule::parse(trigger.schedule.as_deref()?).ok()?.last_span(now)?;
    let is_due = |job: &&Job| {
        let schedule = job.schedule.as_ref();
        triggers.schedule_jobs.contains(&job.name)
            && schedule.is_some_and(|schedule| schedule.has_moment(from, to))
    };
    let due: Vec<&str> = jobs.iter().filter(is_due).map(|job| job.name.as_str()).collect();
    if due.is_empty() {
        let none = "none: no job of `triggers.schedule.jobs` has a time between the last two of \
                    this schedule";
        return Some(none.to_owned());
    }
    Some(due.join(", "))
}
