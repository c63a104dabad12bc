//! Files of jobs: what is read from them, and when they are due.

use super::{Job, JobWork, OnOpen, Schedule};
use jiff::Timestamp;
use pretty_assertions::assert_eq;

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn mistakes(text: &str) -> Vec<String> {
    Job::parse("x", text)
        .unwrap_err()
        .iter()
        .map(|mistake| {
            format!("{}:{} {}", mistake.place.line, mistake.place.column, mistake.message)
        })
        .collect()
}

#[test]
fn reads_steps_and_what_to_do_when_they_fail() {
    let job = Job::parse(
        "update",
        "version: 1\nschedule: 0 3 * * 1\nmode: code\nsteps:\n  - run: cargo update\n  - \
         tool: read_file\n    args: { path: Cargo.lock }\ntask: mend it\n",
    )
    .unwrap();
    assert_eq!(
        (job.name.as_str(), job.mode.as_deref(), job.schedule.as_ref().map(Schedule::text)),
        ("update", Some("code"), Some("0 3 * * 1"))
    );
    let JobWork::StepsThenTask(steps, task) = job.work else { panic!("{:?}", job.work) };
    assert_eq!((steps.len(), task.as_str()), (2, "mend it"));
    assert_eq!(job.on_open, OnOpen::Update);
    assert_eq!(steps[0].arguments, serde_json::json!({ "command": "cargo update" }));
}

#[test]
fn says_what_becomes_of_an_open_pull_request() {
    let read = |word: &str| Job::parse("x", &format!("version: 1\ntask: x\non_open: {word}\n"));
    assert_eq!(read("skip").unwrap().on_open, OnOpen::Skip);
    assert_eq!(read("update").unwrap().on_open, OnOpen::Update);
    assert!(read("again").is_err());
}

#[test]
fn a_number_that_a_field_cannot_hold_is_named_with_its_bounds() {
    for (text, expected) in [
        ("61 * * * *", "61 is outside 0 to 59 in the field for the minute"),
        ("0 24 * * *", "24 is outside 0 to 23 in the field for the hour"),
        ("0 3 0 * *", "0 is outside 1 to 31 in the field for the day of the month"),
        ("0 3 * 1-13 *", "13 is outside 1 to 12 in the field for the month"),
    ] {
        let error = Schedule::parse(text).unwrap_err();
        assert!(error.ends_with(expected), "{error}");
    }
    assert!(Schedule::parse("59 23 31 12 7").is_ok());
}

#[test]
fn a_schedule_that_never_comes_is_refused() {
    for text in ["0 0 30 2 *", "0 0 31 4,6 *"] {
        let error = Schedule::parse(text).unwrap_err();
        assert!(error.contains("never comes"), "{error}");
    }
    for text in ["0 0 29 2 *", "0 0 31 4,5 *", "0 0 30 2 1", "0 0 L 2 *"] {
        assert!(Schedule::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn names_every_mistake_with_its_place() {
    assert_eq!(mistakes("version: 1\nschedule: every day\nstep: []\n").len(), 2);
    assert_eq!(mistakes("version: 2\ntask: x\n"), ["1:10 `version` must be 1"]);
    assert_eq!(mistakes("version: 1\nsteps: []\n").len(), 1);
    assert_eq!(mistakes("version: 1\nsteps: [{ tool: new_task, args: {} }]\n").len(), 1);
    assert_eq!(mistakes(""), ["0:0 the file is empty"]);
}

#[test]
fn every_moment_falls_into_exactly_one_span_of_the_workflow() {
    let hourly = Schedule::parse("0 * * * *").unwrap();
    let nightly = Schedule::parse("30 3 * * *").unwrap();
    let fires: Vec<u32> = (0..24)
        .filter(|hour| {
            let (from, to) =
                hourly.last_span(moment(&format!("2026-03-04T{hour:02}:07:00Z"))).unwrap();
            nightly.has_moment(from, to)
        })
        .collect();
    assert_eq!(fires, [4]);
}

#[test]
fn a_moment_on_the_edge_belongs_to_the_span_that_ends_there() {
    let schedule = Schedule::parse("0 3 * * *").unwrap();
    assert!(schedule.has_moment(moment("2026-03-04T02:00:00Z"), moment("2026-03-04T03:00:00Z")));
    assert!(!schedule.has_moment(moment("2026-03-04T03:00:00Z"), moment("2026-03-04T04:00:00Z")));
    assert_eq!(
        schedule.next_after(moment("2026-03-04T03:00:00Z")),
        Some(moment("2026-03-05T03:00:00Z"))
    );
}
