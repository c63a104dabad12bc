//! The dashboard of jobs: one issue, updated in place on fresh checkouts, whose boxes start jobs
//! for those who may; jobs that fail say so, and one that ends at a limit twice pauses itself.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::action::again::{commit_to_main, tick};
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep, payload};
use crate::support::stage::Ran;

const GREET: &str = "version: 1\nschedule: '*/5 * * * *'\ndescription: Greets everyone\ntask: say \
                     hello\n";

/// A repository whose dashboard is on, with jobs `touch` and `greet`.
fn fixture() -> ActionFixture {
    let publish = "publish: { allow: [comment, commit, pull-request, label, issue] }";
    let fixture = ActionFixture::publishing(publish);
    let policy = fixture.stage.read("checkout/.locum/policy.yml");
    let listed = "schedule: { jobs: [touch, greet], dashboard: true }";
    let policy = policy.replace("schedule: { jobs: [touch] }", listed);
    fixture.stage.write("checkout/.locum/policy.yml", &policy);
    fixture.stage.write("checkout/.locum/jobs/greet.yml", GREET);
    fixture.stage.commit("a dashboard");
    let remote = fixture.stage.path("remotes/acme/app.git");
    fixture.stage.git(&["push", "-q", remote.to_str().unwrap(), "main"]);
    fixture
}

fn dashboards(fixture: &ActionFixture) -> Vec<Value> {
    let issues = fixture.server.issues().into_iter();
    issues.filter(|issue| text(&issue["body"]).contains("kind=dashboard")).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The only dashboard: its number and body.
fn dashboard(fixture: &ActionFixture) -> (u64, String) {
    let all = dashboards(fixture);
    assert_eq!(all.len(), 1, "{all:?}");
    (all[0]["number"].as_u64().unwrap(), text(&all[0]["body"]).to_owned())
}

/// The cells of a job's row.
fn row(body: &str, job: &str) -> Vec<String> {
    let row = body.lines().find(|line| line.starts_with(&format!("| `{job}`"))).unwrap_or_default();
    row.split('|').map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
}

/// The page of the workflow run in which a job ran last. Links to the server's folder are taken out
/// of what is posted.
fn last_run(fixture: &ActionFixture, job: &str) -> String {
    let kept = fixture.remote(&["show", "refs/locum/jobs:jobs.json"]);
    let kept: Value = serde_json::from_str(&kept).unwrap();
    text(&kept["jobs"][job]["last"]["url"]).rsplit('/').next().unwrap_or_default().to_owned()
}

/// What an edit of the dashboard sends, once the forge has it.
fn edited(fixture: &ActionFixture, after: &str, sender: (&str, &str)) -> Value {
    let (number, before) = dashboard(fixture);
    fixture.server.change_issue(number, "body", json!(after));
    let ask = Ask { number, login: sender.0, kind: sender.1, ..Ask::comment("") };
    let (_, mut payload) = payload(&Ask { label: Some("x"), ..ask });
    payload["action"] = json!("edited");
    payload["changes"] = json!({ "body": { "from": before } });
    payload["issue"]["body"] = json!(after);
    payload["issue"]["user"] = json!({ "login": "locum-bot", "type": "Bot" });
    payload
}

fn edit(fixture: &ActionFixture, after: &str, sender: (&str, &str), run: &str) -> WorkflowStep {
    let payload = edited(fixture, after, sender);
    fixture.move_on(true);
    fixture.step_with("issues", &payload.to_string(), &[("GITHUB_RUN_ID", run)])
}

fn ticked(body: &str, job: &str) -> String {
    let after = body.replace(&format!("- [ ] `{job}`"), &format!("- [x] `{job}`"));
    assert_ne!(after, body);
    after
}

/// The next time of both jobs, with so few turns that `greet` ends at that limit.
fn tick_with_one_turn(fixture: &ActionFixture, run: u64) -> WorkflowStep {
    let inputs = [("INPUT_MAX_TURNS", "1"), ("INPUT_JOB", "greet")];
    let ask = Ask { event: "schedule", ids: (0, run), inputs: &inputs, ..Ask::comment("") };
    fixture.fresh(&ask)
}

#[test]
fn one_issue_shows_the_jobs_and_is_updated_in_place() {
    let fixture = fixture();
    let first = tick(&fixture, 1);
    assert_eq!(first.code, Some(0), "{first:?}");
    let (number, body) = dashboard(&fixture);
    let shown = row(&body, "touch");
    assert_eq!(shown[1], "`*/5 * * * *`");
    assert!(shown[2].contains("✅ done") && last_run(&fixture, "touch") == "1", "{shown:?}");
    assert!(shown[3].starts_with("[#") && shown[4].starts_with("20"), "{shown:?}");
    assert!(body.contains("- [ ] `greet` — Greets everyone"), "{body}");
    // Another machine, the next time; a person renamed the issue meanwhile.
    fixture.server.change_issue(number, "title", json!("Nightly things"));
    tick(&fixture, 2);
    assert_eq!((dashboard(&fixture).0, last_run(&fixture, "touch")), (number, "2".to_owned()));
    let issues = fixture.server.issues();
    assert!(issues.iter().any(|issue| issue["title"] == "Nightly things"), "{issues:?}");
    // What is remembered was lost: the issue is found by its hidden line.
    fixture.remote(&["update-ref", "-d", "refs/locum/jobs"]);
    tick(&fixture, 3);
    assert_eq!(dashboard(&fixture).0, number);
}

#[test]
fn a_broken_job_is_shown_and_the_sound_ones_run() {
    let fixture = fixture();
    commit_to_main(
        &fixture,
        ".locum/jobs/greet.yml",
        "version: 1\nshedule: '* * * * *'\ntask: x\n",
    );
    let place = ".locum/jobs/greet.yml:2:1: unknown key `shedule`";
    for run in [1, 2] {
        fixture.stage.write("summary", "");
        let step = tick(&fixture, run);
        // What the sound one came to is not lost.
        assert_eq!((step.code, step.output("outcome")), (Some(2), "done"), "{step:?}");
        assert!(fixture.stage.read("summary").contains(place), "{step:?}");
        let (_, body) = dashboard(&fixture);
        assert!(row(&body, "touch")[2].contains("✅ done"), "{body}");
        assert!(row(&body, "greet")[2].contains(&format!("cannot be read: {place}")), "{body}");
        assert!(!body.contains("- [ ] `greet`"), "{body}");
    }
    // One that is named runs or does not by its own file.
    for (job, code) in [("touch", 0), ("greet", 2)] {
        let inputs = [("INPUT_JOB", job)];
        let ask = Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") };
        let step = fixture.fresh(&ask);
        assert_eq!(step.code, Some(code), "{step:?}");
    }
    commit_to_main(&fixture, ".locum/jobs/greet.yml", GREET);
    let step = tick(&fixture, 3);
    assert_eq!(step.code, Some(0), "{step:?}");
    assert!(row(&dashboard(&fixture).1, "greet")[2].contains("✅"), "{step:?}");
}

#[test]
fn the_dashboard_says_that_a_person_pushed_or_closed_before() {
    let fixture = fixture();
    tick(&fixture, 1);
    let greet = |fixture: &ActionFixture| {
        let pulls = fixture.server.pulls();
        pulls.into_iter().find(|pull| text(&pull["head"]["ref"]).contains("greet")).unwrap()
    };
    let number = greet(&fixture)["number"].as_u64().unwrap();
    fixture.push_on(number, "locum/job-greet-greets-everyone", "src/more.txt", "more\n");
    for run in [2, 3] {
        tick(&fixture, run);
        let shown = row(&dashboard(&fixture).1, "greet");
        assert!(shown[2].contains("✅ done") && shown[2].contains("not run since 20"), "{shown:?}");
        let why = format!("somebody pushed to its open pull request #{number}");
        assert!(shown[2].contains(&why), "{shown:?}");
    }
    let touch = row(&dashboard(&fixture).1, "touch");
    assert!(!touch[2].contains("not run"), "{touch:?}");

    let fixture = self::fixture();
    tick(&fixture, 1);
    let number = greet(&fixture)["number"].as_u64().unwrap();
    fixture.server.close_pull(number, None);
    tick(&fixture, 2);
    let shown = row(&dashboard(&fixture).1, "greet");
    assert!(shown[2].contains("was closed without a merge"), "{shown:?}");
}

#[test]
fn a_jobs_title_and_branch_come_from_its_name_and_description() {
    let fixture = fixture();
    tick(&fixture, 1);
    let pulls = fixture.server.pulls();
    let greet = pulls.iter().find(|pull| text(&pull["head"]["ref"]).contains("greet")).unwrap();
    assert_eq!(greet["title"], "Greets everyone");
    assert_eq!(greet["head"]["ref"], "locum/job-greet-greets-everyone");
}

#[test]
fn a_dashboard_that_a_person_closed_stays_closed_and_is_not_replaced() {
    let fixture = fixture();
    tick(&fixture, 1);
    let (number, body) = dashboard(&fixture);
    fixture.server.change_issue(number, "state", json!("closed"));
    for remembered in [true, false] {
        if !remembered {
            fixture.remote(&["update-ref", "-d", "refs/locum/jobs"]);
        }
        assert_eq!(tick(&fixture, 2).code, Some(0));
        assert_eq!(dashboard(&fixture), (number, body.clone()));
        assert_eq!(dashboards(&fixture)[0]["state"], "closed");
    }
}

#[test]
fn two_jobs_that_end_at_once_share_one_dashboard() {
    let fixture = fixture();
    let start = |place: &str, job: &'static str, run: u64| {
        let inputs = [("INPUT_JOB", job)];
        let ask =
            Ask { event: "workflow_dispatch", ids: (0, run), inputs: &inputs, ..Ask::comment("") };
        let mut command = fixture.elsewhere(place, &ask);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = [start("a-", "touch", 1), start("b-", "greet", 2)];
    for (child, place) in started.into_iter().zip(["a-", "b-"]) {
        let ran: Ran = child.wait_with_output().unwrap().into();
        let step = fixture.ended(place, ran);
        assert_eq!(step.output("outcome"), "done", "{step:?}");
    }
    let (_, body) = dashboard(&fixture);
    for job in ["touch", "greet"] {
        assert!(row(&body, job)[2].contains("✅ done"), "{body}");
    }
    assert!(!fixture.kept_sessions().iter().any(|kept| kept.contains("claims")));
}

#[test]
fn a_ticked_box_starts_its_job_and_is_unticked_before_it_works() {
    let fixture = fixture();
    tick_with_one_turn(&fixture, 1);
    let (_, body) = dashboard(&fixture);
    let step = edit(&fixture, &ticked(&body, "touch"), ("alice", "User"), "2");
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!(step.output("branch-name"), "locum/job-touch");
    let (number, body) = dashboard(&fixture);
    assert!(body.contains("- [ ] `touch`") && !body.contains("[x]"), "{body}");
    assert_eq!(last_run(&fixture, "touch"), "2");
    let requests = fixture.server.requests();
    let unticked = requests.iter().position(|request| {
        request.path.ends_with(&format!("/issues/{number}"))
            && text(&request.body["body"]).contains("| starts now |")
    });
    let opened = requests
        .iter()
        .position(|request| request.method == "POST" && request.path.ends_with("/pulls"));
    assert!(unticked.is_some() && unticked < opened, "{unticked:?} {opened:?}");
    let rest = &requests[unticked.unwrap()..];
    assert_eq!(rest.iter().filter(|request| request.path.ends_with("/pulls")).count(), 1);
}

#[test]
fn boxes_start_nothing_for_strangers_bots_other_edits_and_other_issues() {
    let fixture = fixture();
    tick(&fixture, 1);
    let (number, body) = dashboard(&fixture);
    fixture.server.permit("helper[bot]", json!({ "permission": "write", "role_name": "write" }));
    let touch = ticked(&body, "touch");
    let writes = || fixture.server.writes().len();
    for (after, sender, said) in [
        (touch.clone(), ("eve", "User"), "may not start runs this way"),
        (touch.clone(), ("helper[bot]", "Bot"), "is not a person"),
        (touch.clone(), ("locum-bot", "User"), "own output"),
        (touch.replace("Greets", "Hurts"), ("alice", "User"), "does not tick a box"),
        (ticked(&touch, "greet"), ("alice", "User"), "2 boxes"),
        (format!("x\n{touch}"), ("alice", "User"), "does not tick a box"),
    ] {
        let before = writes();
        let step = edit(&fixture, &after, sender, "2");
        assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
        assert!(step.output("final-message").contains(said), "{said}: {step:?}");
        assert_eq!(writes(), before, "{said}");
        fixture.server.change_issue(number, "body", json!(body));
    }
    // Somebody's own issue with the hidden line.
    let payload = edited(&fixture, &touch, ("alice", "User"));
    fixture.server.change_issue(number, "user", json!({ "login": "mallory", "type": "User" }));
    fixture.move_on(true);
    let step = fixture.step_with("issues", &payload.to_string(), &[]);
    assert!(step.output("final-message").contains("is not the dashboard"), "{step:?}");
    fixture.server.change_issue(number, "user", json!({ "login": "locum-bot", "type": "Bot" }));
    // A box of a job that is gone.
    let stale = body.replace("`touch`", "`gone`");
    fixture.server.change_issue(number, "body", json!(stale));
    let step = edit(&fixture, &ticked(&stale, "gone"), ("alice", "User"), "3");
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    let comments = fixture.server.comments(number).join("\n");
    assert!(comments.contains("there is no job for the box"), "{comments}");
    assert_eq!(fixture.server.pulls().len(), 2);
}

#[test]
fn where_the_policy_has_no_dashboard_there_is_none_and_edits_start_nothing() {
    let fixture = fixture();
    tick(&fixture, 1);
    let (_, body) = dashboard(&fixture);
    let policy = fixture.stage.read("checkout/.locum/policy.yml");
    commit_to_main(&fixture, ".locum/policy.yml", &policy.replace(", dashboard: true", ""));
    let step = edit(&fixture, &ticked(&body, "touch"), ("alice", "User"), "2");
    assert!(step.output("final-message").contains("edits of issues start nothing"), "{step:?}");
    let before = dashboard(&fixture);
    tick(&fixture, 3);
    assert_eq!(dashboard(&fixture), before);
}

#[test]
fn a_job_that_ends_at_a_limit_twice_pauses_and_says_so_once() {
    let fixture = fixture();
    let first = tick_with_one_turn(&fixture, 1);
    assert_eq!(first.output("outcome"), "budget-exhausted", "{first:?}");
    let (number, body) = dashboard(&fixture);
    assert!(row(&body, "greet")[2].contains("❌ stopped, the budget is used up"), "{body}");
    let second = tick_with_one_turn(&fixture, 2);
    assert_eq!(second.output("outcome"), "budget-exhausted", "{second:?}");
    assert!(fixture.stage.read("summary").contains("locum job resume greet"));
    assert_eq!(row(&dashboard(&fixture).1, "greet")[4], "**paused**");
    for run in 3..5 {
        let later = tick_with_one_turn(&fixture, run);
        assert_eq!((later.code, later.output("outcome")), (Some(0), "skipped"), "{later:?}");
        assert!(later.output("final-message").contains("it is paused since"), "{later:?}");
    }
    let comments = fixture.server.comments(number);
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(comments[0].contains("**Job `greet` is paused.**"), "{comments:?}");
    // Ticking the box lets it run again, also by the schedule.
    let step = edit(&fixture, &ticked(&dashboard(&fixture).1, "greet"), ("alice", "User"), "5");
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let (_, body) = dashboard(&fixture);
    assert!(row(&body, "greet")[4].starts_with("20"), "{body}");
    let more = tick(&fixture, 6);
    assert_eq!((more.code, last_run(&fixture, "greet")), (Some(0), "6".to_owned()), "{more:?}");
}

#[test]
fn a_job_that_fails_says_so_on_its_pull_request_with_the_end_of_the_output() {
    let fixture = fixture();
    let number = tick(&fixture, 1).output("pull-request-number").parse::<u64>().unwrap();
    let failing = "version: 1\nschedule: '*/5 * * * *'\nsteps:\n  - run: cp src/absent src/stamp\n";
    let good = fixture.stage.read("checkout/.locum/jobs/touch.yml");
    commit_to_main(&fixture, ".locum/jobs/touch.yml", failing);
    tick(&fixture, 2);
    let comments = fixture.server.comments(number);
    assert_eq!(comments.len(), 1, "{comments:?}");
    for said in ["**Job `touch`: failed**", "cp src/absent", "No such file"] {
        assert!(comments[0].contains(said), "{said} in {comments:?}");
    }
    let (_, body) = dashboard(&fixture);
    assert!(
        row(&body, "touch")[2].contains("❌ failed") && body.contains("No such file"),
        "{body}"
    );
    tick(&fixture, 3);
    assert_eq!(fixture.server.comments(number).len(), 1, "the same comment");
    commit_to_main(&fixture, ".locum/jobs/touch.yml", &good);
    tick(&fixture, 4);
    let comments = fixture.server.comments(number);
    assert!(comments.len() == 1 && comments[0].contains("this one did not"), "{comments:?}");
    let writes = fixture.server.writes().len();
    tick(&fixture, 5);
    let again: Vec<String> = fixture.server.writes().split_off(writes);
    assert!(!again.iter().any(|write| write.contains("/comments")), "{again:?}");
}

#[test]
fn a_job_runs_also_where_nothing_can_be_remembered() {
    let fixture = fixture();
    fixture.decline("grep -q refs/locum/jobs && exit 1; exit 0");
    let step = tick(&fixture, 1);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("how jobs end is not remembered"), "{summary}");
    let (number, body) = dashboard(&fixture);
    assert!(row(&body, "touch")[2].contains("✅ done"), "{body}");
    tick(&fixture, 2);
    assert_eq!(dashboard(&fixture).0, number);
}
