//! What `locum trigger explain` and `locum doctor` say, with nobody asked: what an event would
//! start and why, what commands may do here.

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLICY: &str = "version: 1\ntriggers:\n  comment: { prefix: /locum, tiers: [maintainer, \
                      collaborator] }\nmodes: { default: code, allow: [code, ask] }\nrules:\n  - \
                      allow: ['read(**)', 'edit(src/**)']\n";

fn comment(body: &str) -> Value {
    json!({
        "action": "created",
        "issue": { "number": 7, "title": "A test fails", "body": null, "state": "open", "locked": false, "user": { "login": "carol" } },
        "comment": { "id": 11, "body": body, "html_url": "x", "created_at": "2026-01-02T03:04:05Z", "author_association": "MEMBER" },
        "repository": { "full_name": "acme/app", "default_branch": "main", "private": false },
        "sender": { "login": "alice", "type": "User" },
    })
}

/// An example of GitHub's.
fn vector(name: &str) -> Value {
    let file = format!("{}/tests/vectors/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn explain(stage: &Stage, event: &Value, flags: &[&str]) -> Ran {
    stage.write("event.json", &event.to_string());
    let file = stage.path("event.json");
    let given = [
        "trigger",
        "explain",
        "--event-name",
        "issue_comment",
        "--event",
        file.to_str().unwrap(),
        "--now",
        "2026-01-02T04:00:00Z",
    ];
    stage.run(&[given.as_slice(), flags].concat())
}

#[test]
fn says_what_would_run_for_whom_and_by_which_check() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let ran = explain(&stage, &comment("/locum ask --paths=src/** what is this?"), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for shown in [
        "pass   the event is about this repository",
        "later  the forge knows who it is (not checked here: the forge is asked)",
        "tiers  maintainer: runs · collaborator: runs · contributor: no (triggers.comment.tiers) \
         · stranger: no (triggers.comment.tiers)",
        "mode   ask",
        "task   what is this?",
        "paths  src/**",
        "policy .locum/policy.yml",
    ] {
        assert!(ran.out.contains(shown), "{shown} in {}", ran.out);
    }
    let stranger = explain(&stage, &comment("/locum fix it"), &["--tier", "stranger", "--json"]);
    assert_eq!(
        (stranger.code, stranger.json()["refused"]["rule"].as_str()),
        (Some(4), Some("triggers.comment.tiers")),
        "{stranger:?}"
    );
    assert_eq!(stranger.json()["refused"]["posted"], json!(false), "{stranger:?}");
    let checks = stranger.json()["checks"].clone();
    let passed = |asked: &str| -> Vec<Value> {
        let rows = checks.as_array().unwrap().iter();
        rows.filter(|row| row["asked"] == asked).map(|row| row["pass"].clone()).collect()
    };
    assert!(passed("event").contains(&json!(true)), "{checks}");
    assert!(passed("policy").contains(&json!(false)), "{checks}");
    // The forge was not asked.
    assert!(passed("forge").contains(&Value::Null), "{checks}");
    assert!(!passed("forge").contains(&json!(true)), "{checks}");
    let writer = explain(&stage, &comment("/locum fix it"), &["--permission", "write", "--json"]);
    assert_eq!(
        (writer.code, writer.json()["verdict"].as_str()),
        (Some(0), Some("run")),
        "{writer:?}"
    );
}

#[test]
fn names_every_check_that_fails_and_says_when_nothing_was_asked() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    for (pointer, value, flags, rule) in [
        ("/issue/locked", json!(true), vec![], "thread-unlocked"),
        ("/issue/state", json!("closed"), vec![], "thread-open"),
        ("/comment/created_at", json!("2025-12-31T00:00:00Z"), vec![], "event-age"),
        ("/sender/type", json!("Bot"), vec![], "triggers.bots.allow"),
        ("/sender/login", json!("locum[bot]"), vec!["--own-login", "locum[bot]"], "own-output"),
        ("/comment/body", json!("/locum --policy mine fix"), vec![], "command"),
    ] {
        let mut event = comment("/locum fix it");
        *event.pointer_mut(pointer).unwrap() = value;
        let ran = explain(
            &stage,
            &event,
            &[&["--json", "--tier", "maintainer"], flags.as_slice()].concat(),
        );
        assert_eq!(
            (ran.code, ran.json()["refused"]["rule"].as_str()),
            (Some(4), Some(rule)),
            "{ran:?}"
        );
    }
    for body in ["hello", "> /locum fix it", "```\n/locum fix\n```"] {
        let ran = explain(&stage, &comment(body), &[]);
        assert!(ran.code == Some(0) && ran.out.starts_with("nothing to do: "), "{ran:?}");
    }
    let mut edited = comment("/locum fix it");
    edited["action"] = json!("edited");
    assert!(
        explain(&stage, &edited, &[])
            .out
            .starts_with("nothing to do: event `issue_comment` (edited) starts nothing")
    );
    let none = Stage::with(&[("a", "a")]);
    let ran = explain(&none, &comment("/locum fix it"), &["--json"]);
    assert_eq!(
        (ran.code, ran.json()["refused"]["rule"].as_str()),
        (Some(4), Some("policy")),
        "{ran:?}"
    );
}

#[test]
fn a_fork_is_shown_as_the_policy_treats_it() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let mut event = comment("/locum fix it");
    event["issue"]["pull_request"] = json!({ "url": "x" });
    for (flags, read_only) in [(vec!["--json"], false), (vec!["--json", "--fork"], true)] {
        let ran = explain(&stage, &event, &flags);
        assert_eq!(
            (ran.code, ran.json()["read_only"].as_bool()),
            (Some(0), Some(read_only)),
            "{ran:?}"
        );
    }
}

#[test]
fn checks_that_passed_are_said_to_end_in_a_word_and_not_in_a_run() {
    let policy = POLICY.replace("triggers:", "triggers:\n  ci_failure: { mode: code }");
    let stage = Stage::with(&[(".locum/policy.yml", &policy)]);
    let mut event = vector("workflow_run.completed");
    let explain = |event: &Value| {
        stage.write("event.json", &event.to_string());
        let file = stage.path("event.json");
        let given = ["trigger", "explain", "--event-name", "workflow_run", "--event"];
        stage.run(&[&given[..], &[file.to_str().unwrap(), "--own-pull-request"]].concat())
    };
    event["workflow_run"]["pull_requests"] = json!([{ "number": 8 }]);
    for (conclusion, code, said) in [
        ("success", 0, "so     would say in the comment of the repair that made this commit"),
        ("failure", 0, "so     would run"),
        ("skipped", 0, "the checks did not fail: `skipped` (rule: triggers.ci_failure)"),
    ] {
        event["workflow_run"]["conclusion"] = json!(conclusion);
        let ran = explain(&event);
        assert_eq!(ran.code, Some(code), "{conclusion}: {ran:?}");
        assert!(ran.out.contains(said), "{conclusion}: {ran:?}");
    }
}

#[test]
fn a_command_in_a_discussion_is_explained_as_the_action_decides_it() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let mut event = vector("discussion_comment.created");
    let explain = |event: &Value| {
        stage.write("event.json", &event.to_string());
        let file = stage.path("event.json");
        let given = ["trigger", "explain", "--event-name", "discussion_comment", "--event"];
        let now = ["--now", "2021-03-30T20:30:00Z"];
        stage.run(&[&given[..], &[file.to_str().unwrap()], &now].concat())
    };
    let nothing = explain(&event);
    assert_eq!(nothing.code, Some(0), "{nothing:?}");
    assert!(nothing.out.contains("the comment holds no command"), "{nothing:?}");
    event["comment"]["body"] = json!("/locum ask what is this?");
    let ran = explain(&event);
    for shown in ["event  DiscussionComment by Codertocat on discussion #4", "mode   ask"] {
        assert!(ran.out.contains(shown), "{shown}: {ran:?}");
    }
    assert!(ran.out.contains("maintainer: runs"), "{ran:?}");
    event["discussion"]["locked"] = json!(true);
    let locked = explain(&event);
    assert_eq!(locked.code, Some(4), "{locked:?}");
    assert!(locked.out.contains("the thread is locked (rule: thread-unlocked)"), "{locked:?}");
}

#[test]
fn doctor_says_what_the_policy_at_hand_makes_of_commands() {
    let stage = Stage::with(&[
        ("src/a.txt", "a\n"),
        (".locum/policy.yml", "version: 1\ncommands: { sandbox: off }\n"),
    ]);
    let open = stage.run(&["doctor", "--json"]).json();
    assert_eq!(
        (open["policy"].as_str(), open["commands_run"].as_bool()),
        (Some(".locum/policy.yml"), Some(true)),
        "{open}"
    );
    assert!(open["commands"].as_str().unwrap().contains("sandbox: off"), "{open}");
    stage.write("checkout/.locum/policy.yml", "version: 1\ncomands: {}\n");
    stage.git(&["commit", "-q", "-am", "a mistake"]);
    let broken = stage.run(&["doctor"]);
    assert!(
        broken.out.contains("has mistakes") && broken.out.contains("locum policy check"),
        "{broken:?}"
    );
}

#[test]
fn a_bot_is_one_that_the_policy_lists_and_a_schedule_is_no_sender() {
    let policy = POLICY.replace("modes:", "  bots: { allow: ['helper[bot]'] }\nmodes:");
    let stage = Stage::with(&[(".locum/policy.yml", &policy)]);
    let bot = explain(&stage, &comment("/locum fix it"), &["--tier", "bot"]);
    assert_eq!(bot.code, Some(0), "{bot:?}");
    assert!(bot.out.contains(" by helper[bot] ") && bot.out.contains("tier   bot"), "{bot:?}");
    // Where none is listed, none starts anything.
    let none = Stage::with(&[(".locum/policy.yml", POLICY)]);
    let refused = explain(&none, &comment("/locum fix it"), &["--tier", "bot", "--json"]);
    let by_tier = &refused.json()["refused_by_tier"]["bot"]["rule"];
    assert_eq!((refused.code, by_tier), (Some(4), &json!("triggers.bots.allow")), "{refused:?}");
    let schedule = explain(&stage, &comment("/locum fix it"), &["--tier", "schedule"]);
    assert!(schedule.code == Some(2) && schedule.err.contains("only the event `schedule`"));
    let policy = POLICY.replace("modes:", "  schedule: { jobs: [tidy] }\nmodes:");
    let stage = Stage::with(&[(".locum/policy.yml", &policy)]);
    let due = |flags: &[&str]| {
        stage.write("event.json", r#"{"schedule": "*/5 * * * *"}"#);
        let file = stage.path("event.json");
        let given = ["trigger", "explain", "--event-name", "schedule", "--event"];
        stage.run(&[given.as_slice(), &[file.to_str().unwrap()], flags].concat())
    };
    let ran = due(&[]);
    assert!(ran.code == Some(0) && ran.out.contains("tier   schedule"), "{ran:?}");
    assert!(!ran.out.contains("stranger"), "nobody causes it: {ran:?}");
    let bot = due(&["--tier", "bot"]);
    let said = "nobody causes the event `schedule`: it is of tier `schedule`, not of `bot`";
    assert!(bot.code == Some(2) && bot.err.contains(said), "{bot:?}");
}

#[test]
fn a_private_repository_is_refused_as_the_action_refuses_it() {
    let policy = POLICY.replace("'read(**)',", "'read(**)', 'fetch(*)',");
    let stage = Stage::with(&[(".locum/policy.yml", &policy)]);
    let mut event = comment("/locum fix it");
    let open = explain(&stage, &event, &["--tier", "maintainer"]);
    assert_eq!(open.code, Some(0), "{open:?}");
    assert!(open.out.contains("pass   a private repository adds no risk"), "{open:?}");
    event["repository"]["private"] = json!(true);
    let private = explain(&stage, &event, &["--tier", "maintainer"]);
    assert_eq!(private.code, Some(4), "{private:?}");
    for shown in ["FAIL   a private repository adds", "the repository is private, so in mode"] {
        assert!(private.out.contains(shown), "{private:?}");
    }
    let accepted = format!("source: public\n{policy}");
    let stage = Stage::with(&[(".locum/policy.yml", &accepted)]);
    let ran = explain(&stage, &event, &["--tier", "maintainer"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn the_payload_names_the_paths_of_a_push_and_the_jobs_of_a_schedule() {
    let policy = POLICY.replace(
        "modes:",
        "  push: { task: look, paths: ['src/**'], tiers: [maintainer] }\n  schedule: { jobs: [tidy, late] }\nmodes:",
    );
    let job = |schedule: &str| format!("version: 1\nschedule: '{schedule}'\ntask: do it\n");
    let stage = Stage::with(&[
        (".locum/policy.yml", &policy),
        (".locum/jobs/tidy.yml", &job("5 6 * * *")),
        (".locum/jobs/late.yml", &job("30 23 * * *")),
        (".locum/jobs/other.yml", &job("5 6 * * *")),
    ]);
    let explained = |name: &str, event: &Value, flags: &[&str]| {
        stage.write("event.json", &event.to_string());
        let file = stage.path("event.json");
        let given = ["trigger", "explain", "--event-name", name, "--event", file.to_str().unwrap()];
        stage.run(&[given.as_slice(), flags].concat())
    };
    let push = |path: &str| {
        json!({
            "ref": "refs/heads/main", "before": "1".repeat(40), "after": "2".repeat(40),
            "forced": false, "created": false,
            "commits": [{ "added": [], "removed": [], "modified": [path] }],
            "repository": { "full_name": "acme/app", "default_branch": "main" },
            "sender": { "login": "alice", "type": "User" },
        })
    };
    for (path, flags, expected) in [
        ("src/a.rs", &[][..], "so     would run"),
        ("README.md", &[], "nothing was changed that `paths` names"),
        ("README.md", &["--changed", "src/a.rs"], "so     would run"),
    ] {
        let ran = explained("push", &push(path), flags);
        assert!(ran.out.contains(expected), "{path}: {ran:?}");
    }
    // What a payload does not list may fit.
    let mut forced = push("README.md");
    forced["forced"] = json!(true);
    assert!(explained("push", &forced, &[]).out.contains("so     would run"));
    let schedule = json!({ "schedule": "0 * * * *" });
    let ran = explained("schedule", &schedule, &["--now", "2026-01-02T07:10:00Z"]);
    assert!(ran.out.contains("due    tidy\n"), "{ran:?}");
    let none = explained("schedule", &schedule, &["--now", "2026-01-02T12:10:00Z"]);
    assert!(none.out.contains("due    none: no job of `triggers.schedule.jobs`"), "{none:?}");
}
