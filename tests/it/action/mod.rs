//! The Action's entry, through the binary: payloads to what a GitHub-compatible server was asked
//! and what a remote received.

mod again;
mod alerts;
mod answers;
mod bases;
mod bundle;
mod by_hand;
mod ceilings;
mod chaos;
mod check_runs;
mod checks;
pub(crate) mod claims;
mod conversation;
mod dashboard;
mod decided;
mod details;
mod discussions;
pub(crate) mod events;
pub(crate) mod fixture;
mod git_data;
mod holds;
mod kept_work;
mod live_log;
mod memory;
pub(crate) mod moved;
mod namespaces;
mod onboarding;
mod outages;
mod pictures;
mod publish;
mod rebase;
mod refusals;
mod repair;
mod resumed;
mod sarif;
mod setup;
mod shell;
mod summaries;
mod sweep;
mod threads;
pub(crate) mod trigger_phrase;
mod trusted;
mod undo;
mod unpublished;
mod verbs;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, payload};

#[test]
fn a_comment_on_an_issue_becomes_a_pull_request() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(step.code, Some(0), "{step:?}");
    assert_eq!(
        (step.output("outcome"), step.output("conclusion")),
        ("done", "success"),
        "{step:?}"
    );
    let number = fixture.server.pulls()[0]["number"].to_string();
    assert_eq!(
        (step.output("branch-name"), step.output("pull-request-number")),
        ("locum/issue-7-greeting-is-missing", number.as_str())
    );

    // What the remote holds: one commit on the base, with exactly the written file; the checkout is
    // left as it was.
    let log =
        fixture.remote(&["log", "--format=%s|%an", "main..locum/issue-7-greeting-is-missing"]);
    assert_eq!(log.trim(), "Said hello to ＠carol|Locum");
    assert_eq!(
        fixture
            .remote(&["diff", "--name-only", "main", "locum/issue-7-greeting-is-missing"])
            .trim(),
        "src/hello.txt"
    );
    assert_eq!(fixture.stage.git(&["status", "--porcelain"]), "");

    // The very requests: the permission is asked before anything is written, the eyes come first,
    // the last word is a reaction.
    let requests = fixture.server.requests();
    let place = |wanted: &str| {
        requests
            .iter()
            .position(|request| format!("{} {}", request.method, request.path).starts_with(wanted))
            .unwrap_or_else(|| panic!("{wanted}"))
    };
    assert!(place("GET /repos/acme/app/collaborators/alice/permission") < place("POST "));
    assert_eq!(requests[place("POST ")].path, "/repos/acme/app/issues/comments/55/reactions");
    // The comment is there before anything lands, however short the run was, and what came of it is
    // written into the same one.
    let comment = place("POST /repos/acme/app/issues/7/comments");
    assert!(
        comment < place("POST /repos/acme/app/pulls")
            && comment < place("PATCH /repos/acme/app/issues/comments/")
    );
    assert!(
        requests
            .iter()
            .all(|request| request.header("authorization")
                == Some("Bearer fixture-token-1234567890"))
    );
    let contents: Vec<_> = fixture
        .server
        .reactions()
        .iter()
        .map(|reaction| reaction["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(contents, ["rocket"], "the eyes are gone when it is over");
    assert!(
        fixture
            .server
            .writes()
            .iter()
            .any(|write| write.starts_with("DELETE /repos/acme/app/issues/comments/55/reactions/"))
    );
    let pulls = fixture.server.pulls();
    assert_eq!(
        (pulls[0]["draft"].as_bool(), pulls[0]["base"]["ref"].as_str()),
        (Some(true), Some("main")),
        "{pulls:#?}"
    );
    assert!(pulls[0]["body"].as_str().unwrap().contains("For #7"));

    assert!(step.output("comment-id").parse::<u64>().is_ok(), "{step:?}");

    // One comment, edited in place, and nothing in it pings or closes anything.
    let comments = fixture.server.comments(7);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    let mut lines = comments[0].lines();
    assert_eq!(lines.next(), Some("<!-- locum:v1 kind=progress comment=55 run=4242 -->"));
    let kept = lines.next().unwrap_or_default();
    assert!(kept.starts_with("<!-- locum:v1 kind=conversation id="), "{}", comments[0]);
    assert_eq!(fixture.ended_sessions().len(), 1);
    let state = lines.next().unwrap_or_default();
    assert!(state.starts_with("**locum: done**"), "{}", comments[0]);
    assert!(
        !comments[0].contains("@carol") && !comments[0].contains("fixture-token"),
        "{}",
        comments[0]
    );
}

#[test]
fn the_same_event_again_updates_and_repeats_nothing() {
    let fixture = ActionFixture::new();
    let first = fixture.step(&Ask::comment("/locum code say hello"));
    let second = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!((first.code, second.code), (Some(0), Some(0)), "{second:?}");
    assert_eq!(fixture.server.comments(7).len(), 1);
    assert_eq!(fixture.server.pulls().len(), 1);
    assert_eq!(first.output("pull-request-number"), second.output("pull-request-number"));
}

#[test]
fn a_stranger_starts_nothing_and_is_told_nothing() {
    let fixture = ActionFixture::new();
    for ask in [
        Ask { login: "eve", ..Ask::comment("/locum code say hello") },
        Ask::comment("> /locum code say hello"),
        Ask::comment("hello"),
    ] {
        let step = fixture.step(&ask);
        assert_eq!(
            (step.code, step.output("outcome"), step.output("conclusion")),
            (Some(0), "skipped", "neutral"),
            "{step:?}"
        );
    }
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn a_mistake_of_someone_who_may_ask_is_answered() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code --nonsense say hello"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(
        fixture.server.comments(7)[0].contains("there is no flag `--nonsense`"),
        "{:?}",
        fixture.server.comments(7)
    );
    let help = fixture.step(&Ask::comment("/locum help"));
    assert_eq!(help.code, Some(0), "{help:?}");
    assert!(fixture.server.comments(7)[0].contains("`code`"), "{:?}", fixture.server.comments(7));
}

#[test]
fn a_slash_command_of_the_repository_is_run_and_issues_it_mentions_are_shown_as_data() {
    let fixture = ActionFixture::new();
    fixture.server.add_issue(
        json!({ "number": 9, "title": "How to greet", "body": "Bow. <!-- an aside -->", "user": { "login": "mallory" }, "state": "open" }),
    );
    let step = fixture.step(&Ask::comment("/locum /greet twice"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let unknown = fixture.step(&Ask { ids: (56, 4243), ..Ask::comment("/locum /gret twice") });
    assert_eq!((unknown.code, unknown.output("outcome")), (Some(0), "skipped"), "{unknown:?}");
    let told = fixture.server.comments(7).join("\n");
    assert!(told.contains("there is no command") && told.contains("/greet"), "{told}");
}

#[test]
fn a_label_starts_a_run_and_another_label_does_not() {
    let fixture = ActionFixture::new();
    assert_eq!(
        fixture.step(&Ask { label: Some("bug"), ..Ask::comment("") }).output("outcome"),
        "skipped"
    );
    let step = fixture.step(&Ask { label: Some("locum"), ..Ask::comment("") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "nothing-to-do"), "{step:?}");
    assert_eq!(
        fixture.server.reactions()[0]["path"]
            .as_str()
            .unwrap_or_default()
            .contains("/issues/7/reactions"),
        true,
        "{:?}",
        fixture.server.reactions()
    );
}

#[test]
fn an_issue_given_to_locum_starts_a_run_and_one_given_to_another_does_not() {
    let fixture = ActionFixture::new();
    let given = |body, login| fixture.step(&Ask { event: "assigned", login, ..Ask::comment(body) });
    assert_eq!(given("carol", "alice").output("outcome"), "skipped");
    assert_eq!(given("locum-bot", "eve").output("outcome"), "skipped");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    let step = given("locum-bot", "alice");
    assert_eq!((step.code, step.output("outcome")), (Some(0), "nothing-to-do"), "{step:?}");
    assert!(
        fixture.server.comments(7)[0]
            .starts_with("<!-- locum:v1 kind=progress comment=assigned run=4242 -->")
    );
}

#[test]
fn somebody_the_policy_lists_may_ask_whatever_their_tier_is() {
    let fixture = ActionFixture::new();
    fixture.server.permit("frieda", json!({ "permission": "read", "role_name": "read" }));
    let step = fixture.step(&Ask { login: "frieda", ..Ask::comment("/locum code say hello") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
}

#[test]
fn a_command_on_a_pull_request_commits_to_its_branch() {
    let fixture = ActionFixture::new();
    let head = fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(
        (step.code, step.output("outcome"), step.output("branch-name")),
        (Some(0), "done", "feature"),
        "{step:?}"
    );
    assert_eq!(fixture.remote(&["rev-parse", "feature~1"]).trim(), head);
    let journal = std::fs::read_to_string(step.output("transcript-path")).unwrap();
    assert!(journal.contains("[material: what this pull request changes; origin: compared with"));
    assert!(journal.contains("+taken: over"), "{journal}");
    assert_eq!(
        fixture.remote(&["diff", "--name-only", "feature~1", "feature"]).trim(),
        "src/hello.txt"
    );
    assert_eq!(fixture.server.pulls().len(), 1, "no pull request beside the one that was there");
}

#[test]
fn a_checkout_without_history_is_enough() {
    let fixture = ActionFixture::new();
    fixture.stage.write("checkout/src/second.txt", "second\n");
    fixture.stage.commit("second");
    fixture.stage.git(&[
        "push",
        "-q",
        fixture.stage.path("remotes/acme/app.git").to_str().unwrap(),
        "main",
    ]);
    fixture.pull_request(false);
    fixture.make_shallow();
    let issue = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(
        (issue.output("outcome"), issue.output("branch-name")),
        ("done", "locum/issue-7-greeting-is-missing"),
        "{issue:?}"
    );
    assert_eq!(
        fixture.remote(&["rev-list", "--count", "locum/issue-7-greeting-is-missing"]).trim(),
        "3"
    );
    let pull_request = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(
        (pull_request.output("outcome"), pull_request.output("branch-name")),
        ("done", "feature"),
        "{pull_request:?}"
    );
    assert_eq!(fixture.remote(&["rev-list", "--count", "feature"]).trim(), "4");
    let journal = std::fs::read_to_string(pull_request.output("transcript-path")).unwrap();
    assert!(journal.contains("[material: what this pull request changes; origin: compared with"));
    assert!(journal.contains("+taken: over"), "{journal}");
}

#[test]
fn a_checkout_with_history_keeps_it() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(fixture.stage.git(&["rev-parse", "--is-shallow-repository"]).trim(), "false");
}

#[test]
fn a_pull_request_from_a_fork_is_only_read() {
    let fixture = ActionFixture::new();
    let head = fixture.pull_request(true);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!((step.code, step.output("outcome")), (Some(4), "refused"), "{step:?}");
    assert_eq!(fixture.remote(&["rev-parse", "refs/pull/8/head"]).trim(), head);
    assert_eq!(step.output("denied-count"), "1", "{step:?}");
    let comment = fixture.server.comments(8)[0].clone();
    for said in ["this run may only read: the pull request comes from a fork", "forks: allow"] {
        assert!(comment.contains(said), "{comment}");
    }
    // A run that only reads there, as it was asked to, says nothing of that.
    fixture.step(&Ask { number: 8, ids: (56, 4343), ..Ask::comment("/locum ask look at it") });
    let comment = fixture.server.comments(8).pop().unwrap();
    assert!(comment.contains("**locum: done**") && !comment.contains("fork"), "{comment}");
    assert_eq!(fixture.remote(&["branch", "--list", "locum/*"]), "");
}

#[test]
fn a_fork_that_was_pushed_to_after_the_comment_starts_nothing() {
    let fixture = ActionFixture::new();
    fixture.pull_request(true);
    let repository =
        |pushed_at: &str| json!({ "id": 2, "full_name": "m/a", "pushed_at": pushed_at });
    let ask = Ask { number: 8, ..Ask::comment("/locum code say hello") };
    fixture.server.change_pull(8, "/head/repo", repository("2999-01-01T00:00:00Z"));
    let step = fixture.step(&ask);
    assert!(fixture.server.comments(8)[0].contains("was pushed to since"), "{step:?}");
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
}

#[test]
fn the_policy_of_a_pull_request_does_not_judge_it() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    // The head allows everything everywhere and names another script; the base's policy and script
    // count.
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code try the workflow") });
    assert_eq!((step.code, step.output("outcome")), (Some(4), "refused"), "{step:?}");
    assert_eq!(step.output("denied-count"), "1", "{step:?}");
    assert_eq!(fixture.remote(&["ls-tree", "-r", "--name-only", "feature", ".github"]), "");
}

#[test]
fn a_remote_that_refuses_the_push_is_told_and_the_diff_is_kept() {
    let fixture = ActionFixture::new();
    fixture.refuse_pushes();
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(
        (step.code, step.output("outcome"), step.output("branch-name")),
        (Some(8), "not-published", ""),
        "{step:?}"
    );
    let comment = &fixture.server.comments(7)[0];
    assert!(comment.contains("refused the push") && comment.contains("+hello"), "{comment}");
    assert!(std::fs::metadata(step.output("patch-path")).is_ok_and(|file| file.len() > 0));
}

#[test]
fn a_dispatch_with_a_prompt_and_a_schedule_with_a_due_job_run() {
    let fixture = ActionFixture::new();
    let dispatch = fixture.step(&Ask {
        event: "workflow_dispatch",
        inputs: &[
            ("INPUT_PROMPT", "say hello"),
            ("INPUT_MODE", "code"),
            ("INPUT_MAX_TURNS", "400"),
        ],
        ..Ask::comment("")
    });
    assert_eq!((dispatch.code, dispatch.output("outcome")), (Some(0), "done"), "{dispatch:?}");
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("400 is above the policy's"), "{summary}");
    assert_eq!(dispatch.output("branch-name"), "locum/task-say-hello");
    let schedule = fixture.step(&Ask { event: "schedule", ..Ask::comment("") });
    assert_eq!((schedule.code, schedule.output("outcome")), (Some(0), "done"), "{schedule:?}");
    assert_eq!(schedule.output("branch-name"), "locum/job-touch");
    assert_eq!(fixture.server.pulls().len(), 2);
}

#[test]
fn a_dry_run_writes_nothing() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask {
        inputs: &[("INPUT_DRY_RUN", "true")],
        ..Ask::comment("/locum code say hello")
    });
    assert_eq!((step.code, step.output("conclusion")), (Some(0), "neutral"), "{step:?}");
    assert!(step.output("final-message").contains(".locum/policy.yml"));
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn a_payload_that_is_none_is_an_error_that_names_its_file() {
    let fixture = ActionFixture::new();
    let step = fixture.step_with("issue_comment", "{", &[]);
    assert_eq!((step.code, step.output("conclusion")), (Some(2), "failure"), "{step:?}");
    assert!(step.err.contains("event.json") && step.out.contains("::error"), "{step:?}");
    let other = fixture.step_with("gollum", &json!({}).to_string(), &[]);
    assert_eq!((other.code, other.output("outcome")), (Some(0), "skipped"), "{other:?}");
}

#[test]
fn no_secret_and_no_foreign_command_reaches_the_log() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code print a workflow command"));
    let foreign = step
        .out
        .lines()
        .filter(|line| line.contains("set-output") && line.trim_start().starts_with("::"));
    assert_eq!(foreign.count(), 0, "{}", step.out);
    let unmasked = step.out.lines().filter(|line| {
        line.contains("fixture-token-1234567890") && !line.starts_with("::add-mask::")
    });
    assert_eq!(unmasked.count(), 0, "{}", step.out);
}

#[test]
fn in_a_private_repository_the_source_counts_as_worth_taking() {
    let open = "publish: { allow: [comment] }\ncommands: { network: open }";
    let ask = Ask::comment("/locum ask look at it");
    let (event, mut private) = payload(&ask);
    private["repository"]["private"] = json!(true);
    for (policy, outcome) in
        [(open.to_owned(), "skipped"), (format!("{open}\nsource: public"), "done")]
    {
        let fixture = ActionFixture::publishing(&policy);
        let step = fixture.step_with(event, &private.to_string(), &[]);
        assert_eq!(step.output("outcome"), outcome, "{step:?}");
        assert_eq!(fixture.step(&ask).output("outcome"), "done", "a public one");
    }
    let fixture = ActionFixture::publishing(&format!("{open}\nsource: private"));
    let step = fixture.step(&ask);
    assert!(step.code == Some(2) && step.err.contains("`source: private`"), "{step:?}");
}

#[test]
fn every_verdict_is_in_the_journal_and_every_refusal_and_hold_in_the_summary() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code try the workflow"));
    let held = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment("/locum code hold it") });
    let journal = std::fs::read_to_string(held.output("transcript-path")).unwrap();
    let lines: Vec<serde_json::Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["policy_hash"].as_str().map(str::len), Some(64), "{}", lines[0]);
    let judged: Vec<_> = lines.iter().filter(|line| line["event"] == "judged").collect();
    assert!(judged.len() >= 2, "{journal}");
    for line in judged {
        let verdicts = line["verdicts"].as_array().unwrap();
        assert!(!verdicts.is_empty(), "{line}");
        for verdict in verdicts {
            let rule = &verdict["rule"];
            assert!(
                rule["line"].is_u64() && rule["origin"].is_string() && rule["pattern"].is_string(),
                "{verdict}"
            );
            assert!(verdict["decision"].is_string() && verdict["reason"].is_string(), "{verdict}");
        }
    }
    let summary = fixture.stage.read("summary");
    for shown in [
        "Refused by the policy: 1",
        "edit(.github/workflows/x.yml)",
        "edit(src/held/**)",
        ".locum/policy.yml:13",
    ] {
        assert!(summary.contains(shown), "{shown} in {summary}");
    }
}
