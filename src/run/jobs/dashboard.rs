//! The dashboard: one issue that shows the jobs of a repository, with a box for each that starts
//! it.
//!
//! In: jobs, what is known of them, the time. Out: the body. In: its body before and after
//! an edit. Out: the box that was ticked. It asks nobody; whose edit counts is decided elsewhere.

use jiff::Timestamp;

use crate::run::error::RunError;
use crate::run::job::Job;
use crate::run::jobs::states::{JobGrade, JobLeftOut, JobResult, JobState, JobStates};
use locum_agent::report::markdown::{code, fenced, fold, inline, marker};
use locum_base::text::head;

/// Title of the issue.
pub const TITLE: &str = "Locum: jobs";
/// Jobs that are shown.
const JOBS_LIMIT: usize = 100;
/// Jobs whose output is shown.
const TAILS_LIMIT: usize = 10;
/// Longest description in the list of boxes, in bytes.
const DESCRIPTION_LIMIT_BYTES: usize = 120;
/// Longest reason in the table, in bytes.
const REASON_LIMIT_BYTES: usize = 160;
/// Body that leaves room for what the sanitiser adds, in characters.
const BODY_LIMIT_CHARS: usize = 60_000;

const OPEN_BOX: &str = "- [ ] ";

/// What the dashboard shows.
pub struct DashboardFacts<'a> {
    /// Jobs of the trusted commit.
    pub jobs: &'a [Job],
    /// Names of those whose files have mistakes, with these.
    pub broken: &'a [(String, RunError)],
    /// Names of the jobs that a schedule may start.
    pub scheduled: &'a [String],
    /// What is known of them.
    pub states: &'a JobStates,
    /// Open pull requests: name of the job, number and page.
    pub pull_requests: &'a [(String, u64, String)],
    /// The job that starts now.
    pub starting: Option<&'a str>,
    /// Whether there are boxes.
    pub has_boxes: bool,
    /// The current time.
    pub now: Timestamp,
}

/// Returns the hidden first line by which the issue is found.
pub fn dashboard_marker() -> String {
    marker("dashboard", &[])
}

/// Returns the body, its hidden line included. Where it would be too long, it shows no
/// output, then fewer jobs.
pub fn render(facts: &DashboardFacts<'_>) -> String {
    let fewer = [(JOBS_LIMIT, TAILS_LIMIT), (JOBS_LIMIT, 0), (JOBS_LIMIT / 2, 0)];
    let fits = |body: &String| body.chars().count() <= BODY_LIMIT_CHARS;
    let found = fewer.iter().map(|limits| page(facts, *limits)).find(fits);
    found.unwrap_or_else(|| page(facts, (JOBS_LIMIT / 4, 0)))
}

fn page(facts: &DashboardFacts<'_>, (jobs, tails): (usize, usize)) -> String {
    let shown: Vec<&Job> = facts.jobs.iter().take(jobs).collect();
    let mut parts = vec![
        format!(
            "{}\nThe jobs of this repository, as of {} UTC. Locum updates this page after each of \
             their runs. Close the issue if you do not want it.",
            dashboard_marker(),
            minute(facts.now)
        ),
        table(&shown, facts),
    ];
    if facts.jobs.is_empty() && facts.broken.is_empty() {
        parts.push("There is no job in `.locum/jobs/`.".to_owned());
    }
    let hidden = facts.jobs.len() - shown.len();
    if hidden > 0 {
        parts.push(format!("{hidden} more jobs are not shown."));
    }
    if facts.has_boxes && !shown.is_empty() {
        let boxes: Vec<String> =
            shown.iter().map(|job| format!("{OPEN_BOX}{}", box_text(job))).collect();
        parts.push("**Run now**: tick a box to start a job. It also resumes a paused one.".into());
        parts.push(boxes.join("\n"));
    }
    parts.extend(failures(&shown, facts.states).take(tails));
    parts.join("\n\n")
}

/// Finds the box that an edit of the dashboard ticked, as its text; `None` for any other edit.
///
/// # Errors
/// When the edit ticks several boxes.
pub fn ticked(before: &str, after: &str) -> Result<Option<String>, String> {
    if !is_dashboard(before) || !is_dashboard(after) {
        return Ok(None);
    }
    let lines = |body: &str| -> Vec<String> {
        body.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    };
    let (before, after) = (lines(before), lines(after));
    if before.len() != after.len() {
        return Ok(None);
    }
    let mut ticked = Vec::new();
    for (old, new) in before.iter().zip(&after).filter(|(old, new)| old != new) {
        let was_open = old.strip_prefix(OPEN_BOX);
        let is_ticked = new.strip_prefix("- [x] ").or_else(|| new.strip_prefix("- [X] "));
        match (was_open, is_ticked) {
            (Some(old), Some(new)) if old == new => ticked.push(new.to_owned()),
            _ => return Ok(None),
        }
    }
    match ticked.len() {
        0 | 1 => Ok(ticked.pop()),
        many => Err(format!("{many} boxes were ticked at once; tick one at a time")),
    }
}

/// Returns whether a body is, by its first line, that of a dashboard.
pub fn is_dashboard(body: &str) -> bool {
    body.lines().next().map(str::trim_end) == Some(dashboard_marker().as_str())
}

/// Returns the job whose box has this text.
pub fn job_of_box<'j>(jobs: &'j [Job], text: &str) -> Option<&'j Job> {
    // The description may have changed since: the name is what counts.
    let name = |text: &str| text.split(" — ").next().map(str::to_owned);
    jobs.iter().find(|job| name(&box_text(job)) == name(text))
}

fn box_text(job: &Job) -> String {
    let description = job.description.as_deref().and_then(|text| text.trim().lines().next());
    match description {
        Some(text) => {
            format!("{} — {}", code(&job.name), inline(head(text, DESCRIPTION_LIMIT_BYTES)))
        }
        None => code(&job.name),
    }
}

fn table(shown: &[&Job], facts: &DashboardFacts<'_>) -> String {
    let mut lines = vec![
        "| job | schedule (UTC) | last run | pull request | next run |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(shown.iter().map(|job| {
        let state = facts.states.of(&job.name);
        let pull_request = facts
            .pull_requests
            .iter()
            .find(|(name, ..)| *name == job.name)
            .map_or_else(dash, |(_, number, url)| format!("[#{number}]({url})"));
        let schedule = job.schedule.as_ref().map_or_else(dash, |cron| code(cron.text()));
        let cells = [code(&job.name), schedule, last(job, state, facts), pull_request];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} | {} |", cells.join(" | "), next(job, state, facts))
    }));
    lines.extend(facts.broken.iter().take(JOBS_LIMIT).map(|(name, mistakes)| {
        let why = inline(head(&mistakes.to_string(), REASON_LIMIT_BYTES));
        let cells = [code(name), dash(), format!("❌ cannot be read: {why}"), dash()];
        let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        format!("| {} | {} |", cells.join(" | "), dash())
    }));
    lines.join("\n")
}

fn last(job: &Job, state: Option<&JobState>, facts: &DashboardFacts<'_>) -> String {
    if facts.starting == Some(job.name.as_str()) {
        return "starts now".to_owned();
    }
    let Some(state) = state else { return dash() };
    let last = state.last.as_ref().map(last_words);
    let left_out = state.left_out.as_ref().map(left_out_words);
    let parts: Vec<String> = last.into_iter().chain(left_out).collect();
    if parts.is_empty() { dash() } else { parts.join("<br>") }
}

/// Says since when a job did not run, and why.
fn left_out_words(left_out: &JobLeftOut) -> String {
    let why = inline(head(&left_out.why, REASON_LIMIT_BYTES));
    format!("⏭️ not run since {}: {why}", minute(left_out.since))
}

/// Says how a run of a job ended, when, and where its log is.
fn last_words(result: &JobResult) -> String {
    let JobResult { grade, at, url, reason, .. } = result;
    let sign = match grade {
        JobGrade::Good => "✅",
        JobGrade::Waiting => "⏸️",
        JobGrade::Failed | JobGrade::AtLimit => "❌",
    };
    let when = minute(*at);
    let when = if url.is_empty() { when } else { format!("[{when}]({url})") };
    // A run that did its work may say why nothing came of it.
    let why = match grade {
        JobGrade::Good if !reason.is_empty() => {
            format!(" · {}", inline(head(reason, REASON_LIMIT_BYTES)))
        }
        JobGrade::Good | JobGrade::Waiting | JobGrade::Failed | JobGrade::AtLimit => String::new(),
    };
    format!("{sign} {} · {when}{why}", inline(result.heading()))
}

fn next(job: &Job, state: Option<&JobState>, facts: &DashboardFacts<'_>) -> String {
    if state.is_some_and(|state| state.paused_since.is_some()) {
        return "**paused**".to_owned();
    }
    let schedule = job.schedule.as_ref().filter(|_| facts.scheduled.contains(&job.name));
    schedule.and_then(|cron| cron.next_after(facts.now)).map_or_else(dash, minute)
}

/// What failed, job by job: why, and the end of the output.
fn failures<'s>(shown: &'s [&Job], states: &'s JobStates) -> impl Iterator<Item = String> + 's {
    shown.iter().filter_map(|job| {
        let result = states.of(&job.name)?.last.as_ref()?;
        let text = failure(result)?;
        Some(fold(&format!("{}: {}", job.name, result.heading()), &text))
    })
}

/// Returns why a run of a job failed, with the end of the output; `None` where it did not.
pub fn failure(result: &JobResult) -> Option<String> {
    let JobResult { grade, reason, tail, .. } = result;
    if !matches!(grade, JobGrade::Failed | JobGrade::AtLimit) {
        return None;
    }
    let reason = if reason.is_empty() { String::new() } else { inline(reason) };
    let tail = if tail.is_empty() { String::new() } else { fenced(tail, "text") };
    let parts = [reason, tail].into_iter().filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.is_empty())
}

fn minute(at: Timestamp) -> String {
    at.strftime("%F %H:%M").to_string()
}

fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests;
