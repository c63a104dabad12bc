//! Failed checks: what is asked for them, and of whom.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::checks::FailedCheck;
use crate::event::EventChecks;
use crate::github::tests::on_server;
use crate::github::tests::server::Fault;
use crate::posts::Posting;
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
