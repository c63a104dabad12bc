//! What is said of runs beside their comments: all that several of them say in the job summary has
//! room in what GitHub shows, and lists of sessions name them.

use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask};

/// GitHub drops the summary of a step that has more bytes.
const LIMIT_BYTES: usize = 1024 * 1024;

#[test]
fn the_summary_of_several_jobs_has_room_in_what_is_shown_of_a_step() {
    let fixture = ActionFixture::new();
    let policy = fixture.stage.read("checkout/.locum/policy.yml");
    let policy = policy.replace("jobs: [touch]", "jobs: [j0, j1, j2, j3]");
    let long: String = (0..900)
        .map(|line| format!("{line}: {}\n", "eine größere lock file, ".repeat(14)))
        .collect();
    let jobs: Vec<(String, String)> = (0..4)
        .map(|number| {
            let copy = format!("cp src/long.txt src/out{number}.txt");
            let job = format!("version: 1\nschedule: '*/5 * * * *'\nsteps:\n  - run: {copy}\n");
            (format!(".locum/jobs/j{number}.yml"), job)
        })
        .collect();
    let mut files = vec![(".locum/policy.yml", policy.as_str()), ("src/long.txt", long.as_str())];
    files.extend(jobs.iter().map(|(path, job)| (path.as_str(), job.as_str())));
    fixture.add_to_main(&files);
    let step = fixture.step(&Ask { event: "schedule", ..Ask::comment("") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let summary = fixture.stage.read("summary");
    assert!((LIMIT_BYTES / 8 * 7..=LIMIT_BYTES).contains(&summary.len()), "{}", summary.len());
    for said in ["**locum: done**", "Pull request [#", "Shortened: the first "] {
        assert_eq!(summary.matches(said).count(), 4, "{said}");
    }
    assert_eq!(fixture.server.pulls().len(), 4);
}

#[test]
fn lists_of_sessions_and_sums_of_costs_name_the_repository_of_a_run() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    let journal = Path::new(step.output("transcript-path"));
    let sessions = journal.ancestors().nth(2).unwrap().to_str().unwrap();
    let asked = |arguments: &[&str]| {
        fixture.stage.run(&[arguments, &["--json", "--session-dir", sessions]].concat()).json()
    };
    let listed = asked(&["session", "list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["repository"], "acme/app");
    assert_eq!(listed[0]["actor"], "alice");
    assert_eq!(asked(&["session", "list", "--repository", "ACME"]), listed);
    assert_eq!(asked(&["session", "list", "--repository", "other"]), json!([]));
    assert_eq!(asked(&["cost", "--by", "repository"])["rows"][0]["name"], "acme/app");
}
