//! Commands that are about Locum itself: they start no run, or one that somebody asked for before.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep, payload};

/// A fixture whose server writes comments now, so that they count as of this day.
fn today() -> ActionFixture {
    let fixture = ActionFixture::new();
    fixture.server.set_time(&jiff::Timestamp::now().to_string());
    fixture
}

/// Gives a command on issue 7; returns the step and the comment that answers it.
fn answer(fixture: &ActionFixture, body: &str, id: u64) -> (WorkflowStep, String) {
    let step = fixture.step(&Ask { ids: (id, id + 4000), ..Ask::comment(body) });
    let marker = format!("<!-- locum:v1 kind=answer comment={id} run={} -->", id + 4000);
    let comments = fixture.server.comments(7);
    let answers: Vec<_> = comments.iter().filter(|text| text.starts_with(&marker)).collect();
    assert_eq!(answers.len(), 1, "{body}: {comments:#?} {step:?}");
    (step, answers[0].clone())
}

/// Checks that a command was answered, that the step is green and that no run was started.
fn answered(fixture: &ActionFixture, body: &str, id: u64) -> String {
    let (step, answer) = answer(fixture, body, id);
    assert_eq!(
        (step.code, step.output("outcome"), step.output("conclusion")),
        (Some(0), "skipped", "neutral"),
        "{body}: {step:?}"
    );
    assert_eq!(step.output("session-id"), "", "{body}");
    answer
}

#[test]
fn a_command_to_stop_ends_the_run_that_reads_it() {
    for (login, outcome) in [("alice", "cancelled"), ("eve", "done")] {
        let fixture = ActionFixture::new();
        fixture.server.set_time("2999-01-02T03:00:00Z");
        fixture.server.add_comment(7, login, "User", "/locum stop");
        let step = fixture.step(&Ask::comment("/locum code say hello"));
        assert_eq!(step.output("outcome"), outcome, "{step:?}");
        let comments = fixture.server.comments(7);
        assert!(comments[1].contains(&format!("**locum: {outcome}**")), "{comments:#?}");
        assert_eq!(comments[1].contains("`alice` asked to stop it"), outcome == "cancelled");
    }
}

#[test]
fn a_job_that_is_started_again_is_not_stopped_by_what_stopped_it_before() {
    let now = jiff::Timestamp::now();
    let ago = |seconds| (now - jiff::SignedDuration::from_secs(seconds)).to_string();
    for (attempt, outcome) in [("1", "cancelled"), ("2", "done")] {
        let fixture = ActionFixture::new();
        fixture.server.set_time(&ago(30));
        fixture.server.add_comment(7, "alice", "User", "/locum stop");
        let (event, mut asked) = payload(&Ask::comment("/locum code say hello"));
        asked["comment"]["created_at"] = json!(ago(60));
        let attempt = [("GITHUB_RUN_ATTEMPT", attempt)];
        let step = fixture.step_with(event, &asked.to_string(), &attempt);
        assert_eq!(step.output("outcome"), outcome, "{step:?}");
    }
}

#[test]
fn stop_and_cancel_say_what_stops_and_start_nothing() {
    let fixture = today();
    assert!(answered(&fixture, "/locum stop", 55).contains("Nothing is at work here."));
    let working = "<!-- locum:v1 kind=progress comment=5 run=99 -->\n**locum: working** · x";
    fixture.server.add_comment(7, "locum-bot", "Bot", working);
    let told = answered(&fixture, "/locum cancel", 56);
    assert!(told.contains("every half minute") && told.contains("· working ·"), "{told}");
    let sentence = answered(&fixture, "/locum stop it, please", 57);
    assert!(sentence.contains("`stop` stands alone"), "{sentence}");
}

#[test]
fn status_lists_how_runs_ended_and_what_waits() {
    let fixture = today();
    assert!(answered(&fixture, "/locum status", 54).contains("No run was started here"));
    let asked = "> @bob wrote\n\n/locum code say hello\nwith care";
    let id = fixture.server.add_comment(7, "alice", "User", asked);
    fixture.step(&Ask { ids: (id, 1), ..Ask::comment(asked) });
    fixture.step(&Ask { ids: (56, 2), ..Ask::comment("/locum code hold it") });
    let told = answered(&fixture, "/locum status", 57);
    for part in [
        "2 runs were started",
        " UTC · done · `/locum code say hello` · [log]",
        " UTC · waits for a person's approval · [log]",
        &fixture.waiting(7),
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn retry_asks_the_last_request_again_for_whoever_retries() {
    let fixture = today();
    let none = answered(&fixture, "/locum retry", 54);
    assert!(none.contains("nothing ran here yet"), "{none}");
    let server = &fixture.server;
    let first = server.add_comment(7, "alice", "User", "/locum ask look at it");
    let step = fixture.step(&Ask { ids: (first, 1), ..Ask::comment("/locum ask look at it") });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    for run in [2, 3] {
        let id = server.add_comment(7, "bob", "User", "/locum retry");
        server.permit("bob", json!({ "permission": "write" }));
        let ask = Ask { ids: (id, run), login: "bob", ..Ask::comment("/locum retry") };
        let again = fixture.step(&ask);
        assert_eq!(again.output("outcome"), "done", "{again:?}");
        assert!(again.output("final-message").contains("Needs changes"), "{again:?}");
        let own = format!("<!-- locum:v1 kind=progress comment={id} run={run} -->");
        let comments = server.comments(7);
        let own = comments.iter().find(|text| text.starts_with(&own)).unwrap();
        assert!(own.contains("Asked by @bob."), "{own}");
    }
    let eve = fixture.step(&Ask { login: "eve", ids: (70, 4), ..Ask::comment("/locum retry") });
    assert_eq!((eve.output("outcome"), eve.output("session-id")), ("skipped", ""));
}

#[test]
fn retry_takes_only_words_of_somebody_who_may_start_runs() {
    let fixture = today();
    let id = fixture.server.add_comment(7, "eve", "User", "/locum code deploy it");
    let run = format!("<!-- locum:v1 kind=progress comment={id} run=1 -->\n**locum: failed** · x");
    fixture.server.add_comment(7, "locum-bot", "Bot", &run);
    let told = answered(&fixture, "/locum retry", 56);
    assert!(told.contains("`eve`, who asked last, may not start runs"), "{told}");
    let gone = "<!-- locum:v1 kind=progress comment=1 run=2 -->\n**locum: failed** · x";
    fixture.server.add_comment(7, "locum-bot", "Bot", gone);
    let told = answered(&fixture, "/locum retry", 57);
    assert!(told.contains("the comment that asked is gone"), "{told}");
    // After a label, the issue itself is the task.
    let label = "<!-- locum:v1 kind=progress comment=label run=3 -->\n**locum: failed** · x";
    fixture.server.add_comment(7, "locum-bot", "Bot", label);
    let step = fixture.step(&Ask { ids: (58, 4), ..Ask::comment("/locum retry") });
    assert_eq!(step.output("outcome"), "nothing-to-do", "{step:?}");
}

#[test]
fn explain_and_a_dry_run_show_what_would_run_and_run_nothing() {
    let fixture = today();
    let told = answered(&fixture, "/locum explain", 55);
    for part in ["`alice`", "tier `maintainer`", "mode `code`", "You may edit: `src/**`", "budget"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(answered(&fixture, "/locum explain ask", 56).contains("mode `ask`"));
    let plan = answered(&fixture, "/locum code --dry-run --budget=0.25 say hello", 57);
    for part in ["**locum: dry run**", "say hello", "$0.25", ".locum/policy.yml"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(fixture.remote(&["branch", "--list", "locum/*"]), "");
}

#[test]
fn a_word_that_is_no_verb_is_answered_with_those_there_are() {
    let fixture = today();
    let told = answered(&fixture, "/locum deploy", 55);
    for part in ["no verb or mode `deploy`", "`retry`", "`status`", "`architect`"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let help = answered(&fixture, "/locum help", 56);
    for part in ["`stop`", "`retry`", "`explain`", "`approve`", "An edited comment starts nothing"]
    {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn an_edited_comment_starts_nothing() {
    let fixture = today();
    let (event, mut edited) = payload(&Ask::comment("/locum code say hello"));
    edited["action"] = json!("edited");
    edited["changes"] = json!({ "body": { "from": "hello" } });
    let step = fixture.step_with(event, &edited.to_string(), &[]);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn the_comment_says_that_a_flag_asks_for_more_than_the_policy_gives() {
    let fixture = ActionFixture::new();
    for (id, flag, is_told) in [(55, "--budget=1000", true), (56, "--budget=0.5", false)] {
        let body = format!("/locum {flag} code say hello");
        fixture.step(&Ask { ids: (id, id + 4000), ..Ask::comment(&body) });
        let comment = fixture.server.comments(7).pop().unwrap();
        let note = "Note: --budget: 1000 is above the policy's `budget.cost_usd` of ";
        assert_eq!(comment.contains(note), is_told, "{comment}");
    }
    // What the workflow sets is for whoever reads its log.
    let inputs = [("INPUT_MAX_TURNS", "400")];
    let ask = Ask { ids: (57, 4057), inputs: &inputs, ..Ask::comment("/locum code say hello") };
    fixture.step(&ask);
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(!comment.contains("above the policy's"), "{comment}");
}

#[test]
fn a_plan_on_the_thread_names_no_path_or_hash_of_the_machine() {
    let fixture = today();
    let folder = fixture.stage.path("checkout").display().to_string();
    let main = fixture.stage.git(&["rev-parse", "main"]);
    for (body, id) in [("/locum explain", 55), ("/locum --dry-run code say hello", 56)] {
        let said = answered(&fixture, body, id);
        assert!(said.contains("policy    .locum/policy.yml\n"), "{said}");
        assert!(!said.contains(&folder) && !said.contains(main.trim()), "{said}");
    }
    // The summary of the job is about the machine, too.
    assert!(fixture.stage.read("summary").contains(&folder));
}
