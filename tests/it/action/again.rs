//! The same again, on machines that know nothing of each other: a workflow that is run again, an
//! event that is delivered twice, a second command, a job's next time. One branch, one pull
//! request.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::action::git_data;
use crate::support::github::Fault;

const BRANCH: &str = "locum/issue-7-greeting-is-missing";
const HELLO: &str = "/locum code say hello";

/// A second comment on the issue.
fn second(body: &str) -> Ask<'_> {
    Ask { ids: (56, 4343), ..Ask::comment(body) }
}

fn body_of(fixture: &ActionFixture, index: usize) -> String {
    fixture.server.pulls()[index]["body"].as_str().unwrap().to_owned()
}

#[test]
fn a_workflow_that_is_run_again_finds_its_branch_and_pull_request() {
    for sign in ["git", "api"] {
        let fixture = ActionFixture::publishing(&format!(
            "publish: {{ allow: [comment, commit, pull-request, label], sign: {sign} }}"
        ));
        git_data::serve(&fixture, true);
        let first = fixture.fresh(&Ask::comment(HELLO));
        let tip = fixture.remote(&["rev-parse", BRANCH]);
        let again = fixture.fresh(&Ask::comment(HELLO));
        assert_eq!((again.code, again.output("outcome")), (Some(0), "done"), "{again:?}");
        for output in ["branch-name", "pull-request-number"] {
            assert_eq!(again.output(output), first.output(output), "{again:?}");
        }
        assert_eq!(fixture.branches(), [format!("{BRANCH} 1")]);
        assert_eq!(fixture.remote(&["rev-parse", BRANCH]), tip, "the same change stays as it is");
        let comments = fixture.server.comments(7);
        assert_eq!((fixture.server.pulls().len(), comments.len()), (1, 1));
        assert!(comments[0].contains("holds this change already"), "{}", comments[0]);
    }
}

#[test]
fn a_run_again_with_another_result_updates_what_is_there() {
    for sign in ["git", "api"] {
        let fixture = ActionFixture::publishing(&format!(
            "publish: {{ allow: [comment, commit, pull-request, label], sign: {sign} }}"
        ));
        git_data::serve(&fixture, true);
        let first = fixture.fresh(&Ask::comment(HELLO));
        // The same comment; a model rarely does the same twice.
        let again = fixture.fresh(&Ask::comment("/locum code say another"));
        assert_eq!(again.output("outcome"), "done", "{again:?}");
        assert_eq!(again.output("pull-request-number"), first.output("pull-request-number"));
        assert_eq!(fixture.branches(), [format!("{BRANCH} 1")]);
        assert_eq!(fixture.remote(&["diff", "--name-only", "main", BRANCH]), "src/other.txt\n");
        assert_eq!(fixture.server.pulls().len(), 1);
        let body = body_of(&fixture, 0);
        assert!(body.contains("Said another.") && !body.contains("Said hello"), "{body}");
        assert!(fixture.server.comments(7)[0].contains("updated on"));
    }
}

#[test]
fn a_branch_whose_pull_request_was_never_opened_is_taken_up() {
    let fixture = ActionFixture::new();
    for body in [HELLO, "/locum code say another"] {
        fixture.server.fail(Fault::status("POST /repos/acme/app/pulls", 422, "not now"));
        let first = fixture.fresh(&Ask::comment(body));
        assert_eq!(first.output("pull-request-number"), "", "{first:?}");
        assert_eq!(fixture.branches(), [format!("{BRANCH} 1")]);
    }
    let again = fixture.fresh(&Ask::comment(HELLO));
    assert_eq!(again.output("branch-name"), BRANCH, "{again:?}");
    assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (1, 1));
    // What the attempts before did and could not publish goes along.
    let changed = fixture.remote(&["diff", "--name-only", "main", BRANCH]);
    assert_eq!(changed, "src/hello.txt\nsrc/other.txt\n");
}

#[test]
fn a_run_by_hand_that_is_run_again_repeats_nothing_and_another_one_is_its_own() {
    let fixture = ActionFixture::new();
    let inputs = [("INPUT_PROMPT", "say hello"), ("INPUT_MODE", "code")];
    let ask = || Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") };
    let (first, again) = (fixture.fresh(&ask()), fixture.fresh(&ask()));
    assert_eq!(again.output("outcome"), "done", "{again:?}");
    assert_eq!(again.output("pull-request-number"), first.output("pull-request-number"));
    assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (1, 1));
    let inputs = [("INPUT_PROMPT", "say another"), ("INPUT_MODE", "code")];
    fixture.fresh(&Ask { inputs: &inputs, ids: (0, 4343), ..ask() });
    assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (2, 2));
}

#[test]
fn a_pull_request_of_its_own_is_opened_once_for_each_request() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    let ask = |id| Ask {
        number: 8,
        ids: (id, 4242 + id),
        ..Ask::comment("/locum code --new-pr say hello")
    };
    let (first, again) = (fixture.fresh(&ask(1)), fixture.fresh(&ask(1)));
    assert_eq!(again.output("outcome"), "done", "{again:?}");
    assert_eq!(again.output("pull-request-number"), first.output("pull-request-number"));
    assert_eq!(fixture.server.pulls().len(), 2);
}

#[test]
fn a_second_command_goes_on_in_the_open_pull_request_of_the_issue() {
    for sign in ["git", "api"] {
        let fixture = ActionFixture::publishing(&format!(
            "publish: {{ allow: [comment, commit, pull-request, label], sign: {sign} }}"
        ));
        git_data::serve(&fixture, true);
        let first = fixture.fresh(&Ask::comment(HELLO));
        let number: u64 = first.output("pull-request-number").parse().unwrap();
        let kept = body_of(&fixture, 0) + "\n\nA maintainer wrote this. Closes #1.";
        fixture.server.change_pull(number, "/body", json!(kept));
        fixture.server.change_pull(number, "/title", json!("A better title"));
        let step = fixture.fresh(&second("/locum code say more"));
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        assert_eq!(step.output("pull-request-number"), number.to_string());
        assert_eq!(fixture.branches(), [format!("{BRANCH} 2")]);
        let changed = fixture.remote(&["diff", "--name-only", "main", BRANCH]);
        assert_eq!(changed, "src/hello.txt\nsrc/more.txt\n");
        let pulls = fixture.server.pulls();
        assert_eq!((pulls.len(), pulls[0]["title"].as_str()), (1, Some("A better title")));
        let body = body_of(&fixture, 0);
        for told in ["Said hello", "A maintainer wrote this. Closes #1.", "Said more."] {
            assert!(body.contains(told), "{told} in {body}");
        }
        let comment = fixture.server.comments(7)[1].clone();
        assert!(comment.contains(&format!("[#{number}]")) && comment.contains("updated on"));

        // The first one again: all it would do is there.
        let again = fixture.fresh(&Ask::comment(HELLO));
        assert_eq!(again.output("pull-request-number"), number.to_string(), "{again:?}");
        assert_eq!(fixture.branches(), [format!("{BRANCH} 2")]);
        assert_eq!(body_of(&fixture, 0), body);
        let comment = fixture.server.comments(7)[0].clone();
        assert!(comment.contains("No file was changed.") && comment.contains("stays as it is"));
    }
}

#[test]
fn another_pull_request_is_opened_where_the_command_says_so_or_the_first_one_is_over() {
    let fixture = ActionFixture::new();
    fixture.fresh(&Ask::comment(HELLO));
    let step = fixture.fresh(&second("/locum code --new-pr say another"));
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (2, 2));

    for merged_at in [None, Some("2026-01-02T03:00:00Z")] {
        let fixture = ActionFixture::new();
        let first = fixture.fresh(&Ask::comment(HELLO));
        let number = first.output("pull-request-number").parse().unwrap();
        fixture.server.close_pull(number, merged_at);
        let step = fixture.fresh(&second("/locum code say another"));
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (2, 2));
    }
}

#[test]
fn what_somebody_pushed_to_the_branch_stays() {
    let fixture = ActionFixture::new();
    fixture.fresh(&Ask::comment(HELLO));
    push_by_somebody(&fixture, BRANCH);
    // The very same comment again: it would replace its own commit only.
    let again = fixture.fresh(&Ask::comment("/locum code say another"));
    assert_eq!(again.output("outcome"), "done", "{again:?}");
    assert_eq!(fixture.branches(), [format!("{BRANCH} 3")]);
    assert_eq!(fixture.server.pulls().len(), 1);
}

#[test]
fn a_pull_request_that_is_closed_meanwhile_gets_nothing() {
    let fixture = ActionFixture::new();
    let first = fixture.fresh(&Ask::comment(HELLO));
    let number = first.output("pull-request-number").to_owned();
    let closed = json!({ "number": 1, "state": "closed", "head": { "ref": BRANCH, "sha": "0" },
        "base": { "ref": "main", "sha": "0" } });
    let fault = Fault::status(&format!("GET /repos/acme/app/pulls/{number}"), 200, "");
    fixture.server.fail(Fault { body: closed.to_string(), ..fault });
    let step = fixture.fresh(&second("/locum code say more"));
    assert_eq!(step.output("pull-request-number"), "", "{step:?}");
    assert_eq!(fixture.branches(), [format!("{BRANCH} 1")]);
    let comment = fixture.server.comments(7)[1].clone();
    assert!(comment.contains("was closed while the run worked") && comment.contains("+more"));
}

/// Somebody else's commit on one of our branches.
pub(super) fn push_by_somebody(fixture: &ActionFixture, branch: &str) {
    let tree = fixture.remote(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let theirs = fixture.remote(&["commit-tree", tree.trim(), "-p", branch, "-m", "By somebody"]);
    fixture.remote(&["update-ref", &format!("refs/heads/{branch}"), theirs.trim()]);
}

/// Takes back which times of jobs were answered, so that their last ones count again.
pub(super) fn forget_times(fixture: &ActionFixture) {
    let name = "refs/locum/jobs";
    if fixture.remote(&["for-each-ref", name]).is_empty() {
        return;
    }
    let kept = fixture.remote(&["show", &format!("{name}:jobs.json")]);
    let mut kept: Value = serde_json::from_str(&kept).unwrap();
    kept.as_object_mut().unwrap().remove("times");
    remember_jobs(fixture, &kept);
}

/// Puts a record of jobs in place of what is remembered.
pub(super) fn remember_jobs(fixture: &ActionFixture, record: &Value) {
    fixture.stage.write("jobs.json", &record.to_string());
    let file = fixture.stage.path("jobs.json");
    let blob = fixture.remote(&["hash-object", "-w", file.to_str().unwrap()]);
    let entry = format!("100644,{},jobs.json", blob.trim());
    fixture.remote(&["update-index", "--add", "--cacheinfo", &entry]);
    let tree = fixture.remote(&["write-tree"]);
    let commit = fixture.remote(&["commit-tree", tree.trim(), "-m", "jobs"]);
    fixture.remote(&["update-ref", "refs/locum/jobs", commit.trim()]);
}

/// A job's next time, in the next workflow run.
pub(super) fn tick(fixture: &ActionFixture, run: u64) -> WorkflowStep {
    forget_times(fixture);
    fixture.fresh(&Ask { event: "schedule", ids: (0, run), ..Ask::comment("") })
}

/// Changes what the default branch has in a file, by somebody else.
pub(super) fn commit_to_main(fixture: &ActionFixture, path: &str, text: &str) {
    fixture.move_on(true);
    fixture.stage.write(&format!("checkout/{path}"), text);
    fixture.stage.commit("change");
    let remote = fixture.stage.path("remotes/acme/app.git");
    fixture.stage.git(&["push", "-q", remote.to_str().unwrap(), "main"]);
}

const JOB_BRANCH: &str = "locum/job-touch";

#[test]
fn a_job_keeps_one_pull_request_and_updates_it() {
    for sign in ["git", "api"] {
        let fixture = ActionFixture::publishing(&format!(
            "publish: {{ allow: [comment, commit, pull-request, label], sign: {sign} }}"
        ));
        git_data::serve(&fixture, true);
        let first = tick(&fixture, 1);
        let tip = fixture.remote(&["rev-parse", JOB_BRANCH]);
        let number = first.output("pull-request-number").to_owned();
        // The default branch moves on, elsewhere: the same change is not made anew.
        commit_to_main(&fixture, "src/elsewhere", "x\n");
        let second = tick(&fixture, 2);
        assert_eq!(second.output("pull-request-number"), number, "{second:?}");
        assert_eq!(fixture.remote(&["rev-parse", JOB_BRANCH]), tip);
        // Another change takes its place, on the new base.
        commit_to_main(&fixture, "src/lib.txt", "newer\n");
        let third = tick(&fixture, 3);
        assert_eq!(third.output("pull-request-number"), number, "{third:?}");
        assert_eq!(fixture.branches(), [format!("{JOB_BRANCH} 1")]);
        assert_eq!(fixture.remote(&["show", &format!("{JOB_BRANCH}:src/stamp")]), "newer\n");
        assert_eq!(fixture.server.pulls().len(), 1);
    }
}

#[test]
fn a_job_that_skips_does_nothing_while_its_pull_request_is_open() {
    let fixture = ActionFixture::new();
    let job = fixture.stage.read("checkout/.locum/jobs/touch.yml");
    commit_to_main(&fixture, ".locum/jobs/touch.yml", &format!("{job}on_open: skip\n"));
    let first = tick(&fixture, 1);
    assert_eq!(first.output("outcome"), "done", "{first:?}");
    commit_to_main(&fixture, "src/lib.txt", "newer\n");
    let second = tick(&fixture, 2);
    assert_eq!((second.code, second.output("outcome")), (Some(0), "skipped"), "{second:?}");
    let said = second.output("final-message");
    assert!(said.contains("job `touch`") && said.contains("`on_open: skip`"), "{said}");
    let number = first.output("pull-request-number").parse().unwrap();
    fixture.server.close_pull(number, Some("2026-01-02T03:00:00Z"));
    assert_eq!(tick(&fixture, 3).output("outcome"), "done");
    assert_eq!(fixture.server.pulls().len(), 2);
}

#[test]
fn a_jobs_pull_request_that_was_closed_is_opened_again_for_another_change_only() {
    let fixture = ActionFixture::new();
    let number = tick(&fixture, 1).output("pull-request-number").parse().unwrap();
    fixture.server.close_pull(number, None);
    for keeps_branch in [true, false] {
        if !keeps_branch {
            fixture.remote(&["branch", "-q", "-D", JOB_BRANCH]);
        }
        let again = tick(&fixture, 2);
        assert_eq!(again.output("pull-request-number"), "", "{again:?}");
        let summary = fixture.stage.read("summary");
        assert!(summary.contains(&format!("pull request #{number} with the same change")));
        assert!(summary.contains("was closed without a merge"), "{summary}");
        assert_eq!(fixture.branches().len(), usize::from(keeps_branch));
        assert_eq!(fixture.server.pulls().len(), 1);
    }
    commit_to_main(&fixture, "src/lib.txt", "newer\n");
    let other = tick(&fixture, 3);
    assert!(other.output("pull-request-number").parse::<u64>().is_ok(), "{other:?}");
    assert_eq!(fixture.server.pulls().len(), 2);
}

#[test]
fn a_job_leaves_a_pull_request_alone_that_somebody_pushed_to() {
    let fixture = ActionFixture::new();
    tick(&fixture, 1);
    push_by_somebody(&fixture, JOB_BRANCH);
    commit_to_main(&fixture, "src/lib.txt", "newer\n");
    let tip = fixture.remote(&["rev-parse", JOB_BRANCH]);
    let step = tick(&fixture, 2);
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert!(step.output("final-message").contains("somebody pushed"), "{step:?}");
    assert_eq!(fixture.remote(&["rev-parse", JOB_BRANCH]), tip);
}

/// Runs the workflow on a schedule that comes once a year, as its job does.
fn yearly(fixture: &ActionFixture, run: &str, attempt: &str) -> WorkflowStep {
    fixture.move_on(true);
    let variables = [("GITHUB_RUN_ID", run), ("GITHUB_RUN_ATTEMPT", attempt)];
    fixture.step_with("schedule", r#"{ "schedule": "1 0 1 1 *" }"#, &variables)
}

#[test]
fn a_time_of_a_job_belongs_to_one_run_of_the_workflow() {
    let job = "version: 1\nschedule: 1 0 1 1 *\nsteps:\n  - run: cp src/lib.txt src/stamp\n";
    let fixture = ActionFixture::new();
    commit_to_main(&fixture, ".locum/jobs/touch.yml", job);
    assert_eq!(yearly(&fixture, "1", "1").output("outcome"), "done");
    // Another one that came late, and the first once more.
    for (run, attempt) in [("2", "1"), ("1", "2"), ("2", "2")] {
        let step = yearly(&fixture, run, attempt);
        assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{run}: {step:?}");
        assert!(step.output("final-message").contains("no job is due"), "{run}: {step:?}");
    }
    // Without the record, the workflow's own schedule says what is due.
    fixture.remote(&["update-ref", "-d", "refs/locum/jobs"]);
    assert_eq!(yearly(&fixture, "3", "1").output("outcome"), "done");
}

#[test]
fn a_run_of_the_workflow_that_is_started_again_repeats_the_jobs_that_failed_in_it() {
    let failing = "version: 1\nschedule: 1 0 1 1 *\nsteps:\n  - run: cp src/absent src/stamp\n";
    let fixture = ActionFixture::new();
    commit_to_main(&fixture, ".locum/jobs/touch.yml", failing);
    assert_eq!(yearly(&fixture, "1", "1").output("outcome"), "failed");
    assert_eq!(yearly(&fixture, "2", "1").output("outcome"), "skipped");
    commit_to_main(&fixture, ".locum/jobs/touch.yml", &failing.replace("absent", "lib.txt"));
    assert_eq!(yearly(&fixture, "1", "2").output("outcome"), "done");
    assert_eq!(yearly(&fixture, "1", "3").output("outcome"), "skipped");
}
