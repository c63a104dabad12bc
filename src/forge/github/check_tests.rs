//! Failed checks: what is asked for them, and of whom.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::checks::FailedCheck;
use crate::event::EventChecks;
use crate::github::tests::on_server;
use crate::github::tests::server::Fault;
use crate::posts::{CheckAnnotation, CheckConclusion, CheckLevel, CheckRun, Posting};
use crate::{Forge as _, ForgeError};

#[test]
fn failed_checks_come_with_the_end_of_their_output() {
    on_server("", async |server, github, _| {
        let job = |id: u64, conclusion: &str| {
            json!({ "id": id, "name": format!("job {id}"), "conclusion": conclusion, "html_url": "https://x/1", "steps": [
                { "name": "Set up", "conclusion": "success" }, { "name": "Test", "conclusion": conclusion },
            ] })
        };
        server.add_job((9, 2), job(1, "failure"), "2026-01-02T03:04:05.1234567Z ##[error]no\n");
        server.add_job((9, 2), job(2, "success"), "well\n");
        server.add_job((9, 1), job(3, "failure"), "an attempt before\n");
        let mut checks =
            EventChecks { id: 9, is_workflow: true, attempt: 2, ..EventChecks::default() };
        let failed = github.failed_checks(&checks).await.unwrap();
        let expected = FailedCheck {
            name: "job 1".to_owned(),
            url: "https://x/1".to_owned(),
            steps: vec!["Test".to_owned()],
            output: Ok("##[error]no\n".to_owned()),
        };
        assert_eq!(failed, [expected]);
        // Where logs are stored, the token has no business.
        let asked = server.requests();
        let token = |path: &str| {
            let request = asked.iter().find(|request| request.path.starts_with(path)).unwrap();
            request.header("authorization").map(str::to_owned)
        };
        assert!(token("/repos/acme/app/actions/runs/9").is_some());
        server.fail(Fault::status("GET /repos/acme/app/actions/runs", 403, "no"));
        assert!(matches!(github.failed_checks(&checks).await, Err(ForgeError::Forbidden { .. })));

        checks.is_workflow = false;
        let output = json!({ "title": "2 problems", "summary": "a.rs", "text": null });
        server
            .add_check_run(9, json!({ "name": "lint", "conclusion": "failure", "output": output }));
        server
            .add_check_run(9, json!({ "name": "silent", "conclusion": "timed_out", "output": {} }));
        server.add_check_run(9, json!({ "name": "fine", "conclusion": "neutral", "output": {} }));
        let failed = github.failed_checks(&checks).await.unwrap();
        let outputs: Vec<_> = failed.into_iter().map(|check| (check.name, check.output)).collect();
        let expected = [
            ("lint".to_owned(), Ok("2 problems\n\na.rs\n".to_owned())),
            ("silent".to_owned(), Err("the check says nothing".to_owned())),
        ];
        assert_eq!(outputs, expected);
    });
}

#[test]
fn failed_jobs_are_run_again_by_one_request() {
    on_server("", async |server, github, _| {
        server.add_job((9, 1), json!({ "id": 1, "name": "a", "conclusion": "failure" }), "");
        github.publish(&Posting::Rerun { run: 9 }).await.unwrap();
        assert_eq!(server.writes(), ["POST /repos/acme/app/actions/runs/9/rerun-failed-jobs"]);
        let unknown = github.publish(&Posting::Rerun { run: 8 }).await;
        assert!(matches!(unknown, Err(ForgeError::NotFound { .. })));
    });
}

#[test]
fn all_ends_of_a_workflow_or_an_app_on_a_commit_are_read() {
    on_server("", async |server, github, _| {
        let commit = "a".repeat(40);
        let app = json!({ "slug": "linter" });
        for end in [
            json!({ "name": "CI", "conclusion": "success" }),
            json!({ "name": "CI", "conclusion": null }),
            json!({ "name": "Lint", "conclusion": "failure" }),
            json!({ "app": app, "conclusion": "failure", "latest_check_runs_count": 2 }),
            json!({ "app": app, "conclusion": null, "latest_check_runs_count": 0 }),
            json!({ "app": { "slug": "other" }, "conclusion": null, "latest_check_runs_count": 1 }),
        ] {
            server.end_checks(&commit, end);
        }
        server.end_checks("b", json!({ "name": "CI", "conclusion": "failure" }));
        let named = |name: &str, is_workflow: bool| EventChecks {
            name: name.to_owned(),
            is_workflow,
            ..EventChecks::default()
        };
        let ends = github.check_ends(&commit, &named("CI", true)).await;
        assert_eq!(ends, Ok(vec![Some("success".to_owned()), None]));
        let ends = github.check_ends(&commit, &named("linter", false)).await;
        assert_eq!(ends, Ok(vec![Some("failure".to_owned())]));
        // What was not read could be red.
        let more = json!({ "total_count": 101, "workflow_runs": [] }).to_string();
        let fault =
            Fault { body: more, ..Fault::status("GET /repos/acme/app/actions/runs", 200, "") };
        server.fail(fault);
        let ends = github.check_ends(&commit, &named("CI", true)).await;
        assert!(matches!(ends, Err(ForgeError::Failed { .. })), "{ends:?}");
    });
}

/// A check run with so many annotations.
fn check_run(annotations: u32) -> CheckRun {
    let annotation = |line: u32| CheckAnnotation {
        path: "src/a.rs".to_owned(),
        first: line,
        last: line + 1,
        level: CheckLevel::Warning,
        title: Some("should fix".to_owned()),
        message: Some(format!("line {line}")),
    };
    CheckRun {
        commit: "c0ffee".to_owned(),
        name: "locum: review".to_owned(),
        conclusion: CheckConclusion::Neutral,
        title: "done".to_owned(),
        summary: "All of it.".to_owned(),
        annotations: (1..=annotations).map(annotation).collect(),
        details_url: None,
    }
}

#[test]
fn a_check_run_is_made_once_and_no_annotation_is_there_twice() {
    on_server("", async |server, github, _| {
        // Of another program, with the same name on the same commit.
        server.add_check_run(1, json!({ "id": 1, "name": "locum: review", "head_sha": "c0ffee" }));
        let receipt = github.publish(&Posting::CheckRun(check_run(120))).await.unwrap();
        let made = &server.check_runs()[1];
        assert_eq!((made["id"].as_u64(), receipt.updated), (Some(receipt.id), false));
        assert_eq!(made["output"]["annotations"].as_array().unwrap().len(), 120);
        let of = |line: u32| json!({ "path": "src/a.rs", "start_line": line, "end_line": line + 1, "annotation_level": "warning", "title": "should fix", "message": format!("line {line}") });
        assert_eq!(made["output"]["annotations"][119], of(120));
        let path = format!("/repos/acme/app/check-runs/{}", receipt.id);
        let patch = format!("PATCH {path}");
        assert_eq!(server.writes(), ["POST /repos/acme/app/check-runs", &patch, &patch]);

        let changed = CheckRun { conclusion: CheckConclusion::Failure, ..check_run(121) };
        let again = github.publish(&Posting::CheckRun(changed)).await.unwrap();
        assert_eq!((again.id, again.updated), (receipt.id, true));
        let known = server.check_runs();
        assert_eq!((known.len(), &known[1]["conclusion"]), (2, &json!("failure")));
        assert_eq!(known[1]["output"]["annotations"].as_array().unwrap().len(), 121);
    });
}

#[test]
fn annotations_whose_answer_was_lost_are_looked_for_first() {
    on_server("", async |server, github, _| {
        for to in ["POST /repos/acme/app/check-runs", "PATCH /repos/acme/app/check-runs"] {
            server.fail(Fault::status(to, 502, "lost").performed());
        }
        github.publish(&Posting::CheckRun(check_run(130))).await.unwrap();
        let known = server.check_runs();
        assert_eq!(known.len(), 1, "{known:#?}");
        assert_eq!(known[0]["output"]["annotations"].as_array().unwrap().len(), 130);
    });
}

#[test]
fn a_check_run_of_another_app_is_left_and_one_of_our_own_is_made() {
    on_server("", async |server, github, _| {
        github.publish(&Posting::CheckRun(check_run(0))).await.unwrap();
        server.fail(Fault::status("PATCH /repos/acme/app/check-runs", 403, "no"));
        let made = github.publish(&Posting::CheckRun(check_run(0))).await.unwrap();
        assert!(!made.updated && server.check_runs().len() == 2, "{made:?}");
    });
}
