//! The page of jobs: what it shows, which edits tick a box, how long it gets.

use jiff::Timestamp;
use pretty_assertions::assert_eq;

use super::{DashboardFacts, dashboard_marker, job_of_box, render, ticked};
use crate::run::job::Job;
use crate::run::jobs::states::{JobGrade, JobLeftOut, JobResult, JobStates};

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn result(grade: JobGrade, outcome: &str) -> JobResult {
    JobResult {
        outcome: outcome.to_owned(),
        grade,
        at: moment("2026-01-02T03:04:05Z"),
        url: "https://github.com/acme/app/actions/runs/1".to_owned(),
        reason: "step 1 (`cargo test`) failed".to_owned(),
        tail: "1 failed ``` </details>".to_owned(),
    }
}

fn job(name: &str, text: &str) -> Job {
    Job::parse(name, &format!("version: 1\ntask: x\n{text}")).unwrap()
}

fn jobs() -> Vec<Job> {
    vec![
        job("docs", "schedule: 0 4 * * 1\ndescription: Keeps the docs | true\n"),
        job("lint", "schedule: 30 * * * *\n"),
        job("release", "description: By hand\n"),
    ]
}

fn shown(states: &JobStates, has_boxes: bool) -> String {
    render(&DashboardFacts {
        jobs: &jobs(),
        broken: &[],
        scheduled: &["docs".to_owned(), "lint".to_owned()],
        states,
        pull_requests: &[("docs".to_owned(), 12, "https://github.com/acme/app/pull/12".to_owned())],
        starting: Some("release"),
        has_boxes,
        now: moment("2026-01-03T00:00:00Z"),
    })
}

#[test]
fn the_page_shows_each_job_what_failed_and_a_box_for_each() {
    let mut states = JobStates::default();
    states.end("docs", JobResult { reason: String::new(), ..result(JobGrade::Good, "done") });
    for _ in 0..2 {
        states.end("lint", result(JobGrade::AtLimit, "timed-out"));
    }
    insta::assert_snapshot!(shown(&states, true));
    assert!(!shown(&states, false).contains("- [ ]"));
}

#[test]
fn the_page_says_why_a_job_did_not_run_or_nothing_came_of_its_run() {
    let mut states = JobStates::default();
    let closed = "pull request #7 with the same change was closed";
    states.end("docs", JobResult { reason: closed.to_owned(), ..result(JobGrade::Good, "done") });
    let since = moment("2026-01-02T04:04:05Z");
    let why = "somebody pushed to its open pull request #12".to_owned();
    states.leave_out("lint", JobLeftOut { since, why: why.clone() });
    let page = shown(&states, true);
    assert!(page.contains(&format!("⏭️ not run since 2026-01-02 04:04: {why} |")), "{page}");
    assert!(page.contains(&format!(" · {closed} |")), "{page}");
    states.end("lint", JobResult { reason: String::new(), ..result(JobGrade::Good, "done") });
    assert!(!shown(&states, true).contains("not run"), "{page}");
}

#[test]
fn an_edit_counts_only_when_it_ticks_one_box_and_changes_nothing_else() {
    let before = shown(&JobStates::default(), true);
    let tick = |body: &str, name: &str| {
        body.replace(&format!("- [ ] `{name}`"), &format!("- [x] `{name}`"))
    };
    let one = tick(&before, "docs");
    let found = |after: &str| ticked(&before, after);
    let text = found(&one).unwrap().unwrap();
    assert_eq!(job_of_box(&jobs(), &text).map(|job| job.name.as_str()), Some("docs"));
    assert_eq!(found(&one.replace('\n', "\r\n")), Ok(Some(text.clone())));
    assert_eq!(found(&one.replace("[x]", "[X]")), Ok(Some(text)));
    // Another box was ticked before, and is still to be taken back.
    assert_eq!(ticked(&one, &tick(&one, "lint")), Ok(Some("`lint`".to_owned())));
    assert!(found(&tick(&one, "lint")).unwrap_err().contains("2 boxes"));
    for other in [
        before.clone(),
        one.replace("Keeps", "Breaks"),
        format!("{one}\nmore"),
        one.replace(&dashboard_marker(), "<!-- locum:v1 kind=other -->"),
        before.replace("- [ ] `docs`", "- [x] `evil`"),
    ] {
        assert_eq!(found(&other), Ok(None), "{other}");
    }
    assert_eq!(ticked(&one, &before), Ok(None), "a box that is unticked");
    assert_eq!(job_of_box(&jobs(), "`evil` — By hand"), None);
    assert_eq!(
        job_of_box(&jobs(), "`docs` — as it was called").map(|job| &*job.name),
        Some("docs")
    );
}

#[test]
fn the_page_stays_within_what_an_issue_holds() {
    let many: Vec<Job> = (0..300)
        .map(|at| {
            job(
                &format!("{}-{at}", "n".repeat(150)),
                &format!("description: {}\n", "d".repeat(400)),
            )
        })
        .collect();
    let mut states = JobStates::default();
    for job in &many {
        let tail = "x".repeat(2000);
        states.end(&job.name, JobResult { tail, ..result(JobGrade::Failed, "failed") });
    }
    let body = render(&DashboardFacts {
        jobs: &many,
        broken: &[],
        scheduled: &[],
        states: &states,
        pull_requests: &[],
        starting: None,
        has_boxes: true,
        now: moment("2026-01-03T00:00:00Z"),
    });
    assert!(body.chars().count() <= 65_000, "{}", body.chars().count());
    assert!(body.contains("200 more jobs are not shown."));
}
