//! Events of a repository, with payloads as the forge sends them: started, refused or ignored as
//! the policy says, and `locum trigger explain` says the same.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

/// An example of a payload as the forge documents it, about our repository and caused by `login`.
fn example(name: &str, login: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/events");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    let mut payload: Value = serde_json::from_str(&text).unwrap();
    payload["repository"] = json!({ "id": 1, "full_name": "acme/app", "default_branch": "main", "private": false, "owner": { "login": "acme" }, "name": "app" });
    payload["sender"] = json!({ "login": login, "type": "User", "id": 1 });
    payload
}

/// The same, about pull request 8 as it is.
pub(crate) fn of_pull_request(name: &str, login: &str, head: &str) -> Value {
    let mut payload = example(name, login);
    payload["pull_request"]["number"] = json!(8);
    payload["pull_request"]["title"] = json!("A feature");
    payload["pull_request"]["head"]["sha"] = json!(head);
    payload["pull_request"]["base"]["ref"] = json!("main");
    payload["pull_request"]["updated_at"] = json!(jiff::Timestamp::now().to_string());
    payload
}

/// Runs the step, and asks `trigger explain` about the same event as its actor's tier.
fn step(fixture: &ActionFixture, event: &str, payload: &Value, tier: &[&str]) -> WorkflowStep {
    let step = fixture.step_with(event, &payload.to_string(), &[]);
    let file = fixture.stage.path("event.json");
    let question =
        ["trigger", "explain", "--event-name", event, "--json", "--at", "main", "--event"];
    let question = [question.as_slice(), &[file.to_str().unwrap()], tier].concat();
    let explained = fixture.stage.run(&question).json();
    match explained["why"].as_str().or(explained["refused"]["why"].as_str()) {
        Some(why) => assert!(step.output("final-message").contains(why), "{explained}\n{step:?}"),
        None => assert_ne!(step.output("outcome"), "skipped", "{explained}\n{step:?}"),
    }
    step
}

const MAINTAINER: &[&str] = &["--tier", "maintainer"];
const STRANGER: &[&str] = &["--tier", "stranger"];

#[test]
fn a_pull_request_is_looked_at_when_it_is_opened() {
    let entry = "pull_request: { mode: ask, tiers: [maintainer] }";
    let fixture = ActionFixture::started_by(entry);
    let head = fixture.pull_request(false);
    let opened = of_pull_request("pull_request.opened", "alice", &head);
    let ran = step(&fixture, "pull_request", &opened, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let comments = fixture.server.comments(8);
    assert!(comments.iter().any(|text| text.contains("Looked at it.")), "{comments:#?}");
    let dry = [("INPUT_DRY_RUN", "true")];
    let planned = fixture.step_with("pull_request", &opened.to_string(), &dry);
    let plan = planned.output("final-message");
    assert!(plan.contains("asked by  maintainer by pull_request"), "{plan}");
    for (event, login, tier, why) in [
        ("pull_request", "eve", STRANGER, "tier `stranger` may not start runs this way"),
        ("pull_request_target", "eve", STRANGER, "tier `stranger` may not start runs this way"),
    ] {
        let opened = of_pull_request("pull_request.opened", login, &head);
        let ran = step(&fixture, event, &opened, tier);
        assert_eq!(ran.output("outcome"), "skipped", "{ran:?}");
        assert!(ran.output("final-message").contains(why), "{ran:?}");
    }
    let pushed = of_pull_request("pull_request.synchronize", "alice", &head);
    let ran = step(&fixture, "pull_request", &pushed, MAINTAINER);
    assert!(ran.output("final-message").contains("`on` does not name `synchronize`"), "{ran:?}");
    assert_eq!(fixture.server.comments(8).len(), comments.len(), "nothing more was said");
}

#[test]
fn the_next_push_is_looked_at_from_where_the_last_look_ended() {
    let entry = "pull_request: { on: [opened, synchronize], mode: review, tiers: [maintainer] }";
    let fixture = ActionFixture::started_by(entry);
    fixture.set_modes("[code, ask, architect, review]");
    let head = fixture.pull_request(false);
    let opened = of_pull_request("pull_request.opened", "alice", &head);
    let ran = fixture.step_with("pull_request", &opened.to_string(), &[("GITHUB_RUN_ID", "1")]);
    assert_eq!(ran.output("final-message"), "Looked at it.", "{ran:?}");
    let next = fixture.push_on(8, "feature", "src/new.txt", "new\n");
    fixture.move_on(true);
    let pushed = of_pull_request("pull_request.synchronize", "alice", &next);
    let ran = fixture.step_with("pull_request", &pushed.to_string(), &[("GITHUB_RUN_ID", "2")]);
    assert_eq!(ran.output("final-message"), "Looked at what is new.", "{ran:?}");
    let said = format!("Looked at what came after commit `{}`.", &head[..12]);
    let comment = || match fixture.server.comments(8).as_slice() {
        [only] => only.clone(),
        all => panic!("not one summary: {all:#?}"),
    };
    assert!(comment().contains(&said) && !comment().contains("Looked at it."), "{}", comment());
    // One that was stopped leaves the next one to look from the same commit.
    let stopped = comment().replace("**locum: done**", "**locum: cancelled**");
    fixture.server.change_comment(8, &stopped);
    let newer = fixture.push_on(8, "feature", "src/newer.txt", "newer\n");
    fixture.move_on(true);
    let pushed = of_pull_request("pull_request.synchronize", "alice", &newer);
    let ran = fixture.step_with("pull_request", &pushed.to_string(), &[("GITHUB_RUN_ID", "4")]);
    assert_eq!(ran.output("final-message"), "Looked at what is new.", "{ran:?}");
    assert!(comment().contains(&said), "{}", comment());
    // A head that was rewritten is looked at as a whole.
    let rewritten = fixture.remote(&["rev-parse", &format!("{head}~1")]).trim().to_owned();
    fixture.remote(&["update-ref", "refs/pull/8/head", &rewritten]);
    fixture.server.change_pull(8, "/head/sha", json!(rewritten));
    fixture.move_on(true);
    let pushed = of_pull_request("pull_request.synchronize", "alice", &rewritten);
    let ran = fixture.step_with("pull_request", &pushed.to_string(), &[("GITHUB_RUN_ID", "3")]);
    assert_eq!(ran.output("final-message"), "Looked at it.", "{ran:?}");
    assert!(comment().contains("Looked at it."), "{}", comment());
}

#[test]
fn paths_of_a_filter_are_compared_with_what_the_pull_request_changes() {
    for (paths, outcome) in [("[\".locum/*\"]", "done"), ("[\"docs/**\"]", "skipped")] {
        let entry = format!("pull_request: {{ mode: ask, tiers: maintainer, paths: {paths} }}");
        let fixture = ActionFixture::started_by(&entry);
        let head = fixture.pull_request(false);
        fixture.make_shallow();
        let opened = of_pull_request("pull_request.opened", "alice", &head).to_string();
        let ran = fixture.step_with("pull_request", &opened, &[]);
        assert_eq!(ran.output("outcome"), outcome, "{ran:?}");
        assert_eq!(
            ran.output("final-message").contains("nothing was changed that `paths` names"),
            outcome != "done"
        );
    }
}

#[test]
fn a_push_starts_a_job_whose_change_becomes_a_pull_request() {
    let fixture =
        ActionFixture::started_by("push: { job: touch, tiers: maintainer, paths: [\"src/**\"] }");
    let before = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
    fixture.stage.write("checkout/src/lib.txt", "more text\n");
    fixture.stage.commit("more");
    let remote = fixture.stage.path("remotes/acme/app.git");
    fixture.stage.git(&["push", "-q", remote.to_str().unwrap(), "main:main"]);
    let after = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
    fixture.make_shallow();
    let mut payload = example("push.new-branch", "alice");
    payload["ref"] = json!("refs/heads/main");
    (payload["before"], payload["after"]) = (json!(before), json!(after));
    let ran = step(&fixture, "push", &payload, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    assert_eq!(fixture.server.pulls().len(), 1);
    // Nothing below `src` was changed between a commit and itself.
    payload["before"] = json!(after);
    fixture.move_on(true);
    let ran = fixture.step_with("push", &payload.to_string(), &[]);
    assert!(
        ran.output("final-message").contains("nothing was changed that `paths` names"),
        "{ran:?}"
    );
    payload["ref"] = json!("refs/heads/topic");
    let ran = step(&fixture, "push", &payload, MAINTAINER);
    assert!(ran.output("final-message").contains("only the default branch counts"), "{ran:?}");
}

#[test]
fn a_push_to_another_branch_is_worked_on_there() {
    let fixture = ActionFixture::started_by(
        "push: { task: \"say hello\", tiers: maintainer, branches: [\"release/*\"] }",
    );
    fixture.remote(&["branch", "release/1", "main"]);
    let tip = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
    let mut payload = example("push.new-branch", "alice");
    payload["ref"] = json!("refs/heads/release/1");
    payload["after"] = json!(tip);
    let ran = step(&fixture, "push", &payload, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let pulls = fixture.server.pulls();
    assert_eq!(pulls[0]["base"]["ref"], "release/1", "{pulls:#?}");
}

#[test]
fn a_release_starts_a_task_that_has_its_notes_as_material() {
    let entry = "release: { task: Write it up., tiers: maintainer }";
    let fixture = ActionFixture::started_by(entry);
    let published = example("release.published", "alice");
    let ran = step(&fixture, "release", &published, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    assert_eq!(fixture.server.pulls().len(), 1);
    let ran = step(&fixture, "release", &example("release.published", "eve"), STRANGER);
    assert!(ran.output("final-message").contains("(rule: triggers.release.tiers)"), "{ran:?}");
}

#[test]
fn what_a_merge_queue_checks_is_only_read() {
    for (task, mode, outcome) in [("look at it", "ask", "done"), ("say hello", "code", "refused")] {
        let entry = format!("merge_group: {{ task: {task}, mode: {mode}, tiers: maintainer }}");
        let fixture = ActionFixture::started_by(&entry);
        let tip = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
        let mut payload = example("merge_group.checks_requested", "alice");
        payload["merge_group"]["head_sha"] = json!(tip);
        let ran = step(&fixture, "merge_group", &payload, MAINTAINER);
        assert_eq!(ran.output("outcome"), outcome, "{ran:?}");
        assert!(fixture.server.pulls().is_empty());
        assert!(fixture.branches().is_empty());
    }
}

#[test]
fn another_program_says_what_is_to_be_done_where_the_entry_does_not() {
    let entry = "repository_dispatch: { types: [tidy], tiers: maintainer }";
    let fixture = ActionFixture::started_by(entry);
    let mut payload = example("repository_dispatch", "alice");
    payload["action"] = json!("tidy");
    payload["client_payload"] = json!({ "task": "say hello", "mode": "code", "depth": 3 });
    let ran = step(&fixture, "repository_dispatch", &payload, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    payload["action"] = json!("other");
    let ran = step(&fixture, "repository_dispatch", &payload, MAINTAINER);
    assert!(ran.output("final-message").contains("`types` does not name `other`"), "{ran:?}");
}

#[test]
fn commands_stand_in_issues_and_in_summaries_of_reviews() {
    let fixture = ActionFixture::new();
    let mut opened = example("issues.opened", "alice");
    opened["issue"]["number"] = json!(7);
    opened["issue"]["body"] = json!("It does not greet.\n\n/locum code say hello");
    opened["issue"]["updated_at"] = json!(jiff::Timestamp::now().to_string());
    let ran = step(&fixture, "issues", &opened, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let reactions = fixture.server.reactions();
    assert!(reactions.iter().any(|reaction| reaction["content"] == "rocket"), "{reactions:?}");

    let fixture = ActionFixture::new();
    let head = fixture.pull_request(false);
    let mut review = of_pull_request("pull_request_review.submitted", "alice", &head);
    review["review"]["body"] = json!("Nearly there.\n/locum code say hello");
    review["review"]["submitted_at"] = json!(jiff::Timestamp::now().to_string());
    let ran = step(&fixture, "pull_request_review", &review, MAINTAINER);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    review["review"]["body"] = json!("Nearly there.");
    let ran = step(&fixture, "pull_request_review", &review, MAINTAINER);
    assert_eq!(ran.output("outcome"), "skipped", "{ran:?}");
}

#[test]
fn the_task_of_the_workflow_is_run_by_any_event_for_whoever_may_start_runs_by_hand() {
    let fixture = ActionFixture::new();
    let payload = |login: &str| {
        let mut payload = example("release.published", login);
        payload["action"] = json!("started");
        payload.to_string()
    };
    let task = [("INPUT_PROMPT", "say hello")];
    let ran = fixture.step_with("watch", &payload("alice"), &task);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let ran = fixture.step_with("watch", &payload("eve"), &task);
    assert!(ran.output("final-message").contains("(rule: triggers.dispatch.tiers)"), "{ran:?}");
    let ran = fixture.step_with("watch", &payload("alice"), &[]);
    assert!(
        ran.output("final-message").contains("event `watch` (started) starts nothing"),
        "{ran:?}"
    );
}

#[test]
fn an_app_that_the_policy_lists_starts_a_run_although_github_knows_no_right_of_it() {
    let listed = "bots: { allow: ['renovate[bot]', helper] }";
    for (login, kind, permission, outcome) in [
        ("renovate[bot]", "Bot", None, "done"),
        ("renovate[bot]", "Bot", Some("write"), "done"),
        ("renovate[bot]", "Bot", Some("read"), "skipped"),
        ("renovate[bot]", "User", None, "skipped"),
        ("other[bot]", "Bot", None, "skipped"),
        ("helper", "Bot", None, "skipped"),
    ] {
        let fixture = ActionFixture::started_by(listed);
        if let Some(permission) = permission {
            fixture.server.permit(login, json!({ "permission": permission }));
        }
        let step = fixture.step(&Ask { login, kind, ..Ask::comment("/locum code say hello") });
        let case = format!("{login} {kind} {permission:?}");
        assert_eq!((step.code, step.output("outcome")), (Some(0), outcome), "{case}: {step:?}");
        assert_eq!(fixture.server.writes().is_empty(), outcome == "skipped", "{case}");
    }
}
