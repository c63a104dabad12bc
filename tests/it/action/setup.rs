//! Mistakes in the set-up: told on the thread, to people who may ask, before any model is asked.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep, payload};
use crate::support::github::Fault;

const ASK: &str = "/locum code say hello";
const PUBLISH: &str = "publish: { allow: [comment, commit, pull-request] }";

/// Changes a file of the default branch.
fn change(fixture: &ActionFixture, path: &str, text: &str) {
    fixture.stage.write(&format!("checkout/{path}"), text);
    fixture.stage.commit("change the set-up");
}

fn with_config(config: &str) -> ActionFixture {
    let fixture = ActionFixture::publishing(PUBLISH);
    change(&fixture, ".locum/config.yml", config);
    fixture
}

/// What the reactions are, and on what.
fn reactions(fixture: &ActionFixture) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().rsplit('/').nth(1).unwrap().to_owned();
    fixture
        .server
        .reactions()
        .iter()
        .map(|one| (one["content"].as_str().unwrap().to_owned(), text(&one["path"])))
        .collect()
}

/// Checks that a step failed before a model was asked, and returns the only comment.
fn told(fixture: &ActionFixture, step: &WorkflowStep) -> String {
    assert!(step.code.is_some_and(|code| code > 0), "{step:?}");
    assert_eq!((step.output("outcome"), step.output("conclusion")), ("failed", "failure"));
    assert_eq!(step.output("session-id"), "");
    let comments = fixture.server.comments(7);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert!(comments[0].starts_with("<!-- locum:v1 kind=setup -->\n**locum: not started**"));
    comments.into_iter().next().unwrap()
}

#[test]
fn a_broken_policy_is_told_once_with_file_and_line() {
    let fixture = ActionFixture::publishing("publishh: { allow: [comment] }");
    let step = fixture.step(&Ask::comment(ASK));
    let comment = told(&fixture, &step);
    for part in [".locum/policy.yml:15:1", "unknown key `publishh`", "did you mean `publish`?"] {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    assert!(comment.contains("alice") && !comment.contains("@alice"), "{comment}");
    // The forge of the tests has no address that a comment may link to.
    let log = "[log](https://github.com/acme/slug/actions/runs/4242)";
    insta::assert_snapshot!("posting_setup", comment.replace("[log] (link removed)", log));
    assert_eq!(
        reactions(&fixture),
        ["eyes", "confused"].map(|one| (one.to_owned(), "55".to_owned()))
    );
    let summary = fixture.stage.read("summary");
    assert!(summary.contains(".locum/policy.yml:15:1"), "{summary}");

    // Asked again, the same comment says it, and once it is corrected the run has its own.
    let again = fixture.step(&Ask { ids: (56, 4243), ..Ask::comment(ASK) });
    told(&fixture, &again);
    let edits = fixture.server.writes();
    assert!(edits.iter().any(|write| write.starts_with("PATCH ")), "{edits:?}");
    let policy = fixture.stage.read("checkout/.locum/policy.yml").replace("publishh", "publish");
    change(&fixture, ".locum/policy.yml", &policy);
    let step = fixture.step(&Ask { ids: (57, 4244), ..Ask::comment(ASK) });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let comments = fixture.server.comments(7);
    assert_eq!(comments.len(), 2, "{comments:#?}");
    assert!(
        comments[0].starts_with(
            "<!-- locum:v1 kind=setup -->\n**locum: the set-up is right now**\n\nWhat was wrong"
        ),
        "{comments:#?}"
    );
    let writes = fixture.server.writes().len();
    fixture.step(&Ask { ids: (58, 4245), ..Ask::comment("/locum ask look at it") });
    let settled = fixture.server.writes();
    let edits = settled.iter().skip(writes).filter(|write| write.starts_with("PATCH "));
    assert_eq!(edits.count(), 1, "only the run's own comment is edited then: {settled:#?}");
}

#[test]
fn what_makes_the_policy_unreadable_is_told_to_nobody_who_may_not_write_or_does_not_ask() {
    for ask in [
        Ask { login: "eve", ..Ask::comment(ASK) },
        Ask { login: "nobody", ..Ask::comment(ASK) },
        Ask { login: "other-app[bot]", kind: "Bot", ..Ask::comment(ASK) },
        Ask::comment("hello"),
        Ask::comment("> /locum code say hello"),
        Ask::comment("/agent code say hello"),
        Ask { inputs: &[("INPUT_ALLOW_USERS", "bob")], ..Ask::comment(ASK) },
        Ask { inputs: &[("GITHUB_TRIGGERING_ACTOR", "eve")], ..Ask::comment(ASK) },
        Ask { inputs: &[("INPUT_DRY_RUN", "true")], ..Ask::comment(ASK) },
        Ask { label: Some("locum"), ..Ask::comment("") },
    ] {
        let fixture = ActionFixture::publishing("publishh: { allow: [comment] }");
        fixture.server.permit("other-app[bot]", json!({ "permission": "write" }));
        let step = fixture.step(&ask);
        assert_eq!(fixture.server.writes(), Vec::<String>::new(), "{step:?}");
    }
    let fixture = ActionFixture::publishing("publishh: { allow: [comment] }");
    let inputs: &[(&str, &str)] = &[("INPUT_TRIGGER_PHRASE", "/agent")];
    let step = fixture.step(&Ask { inputs, ..Ask::comment("/agent code say hello") });
    told(&fixture, &step);
}

#[test]
fn a_missing_policy_is_told_to_whoever_asks_and_may_write() {
    let fixture = ActionFixture::new();
    std::fs::remove_file(fixture.stage.path("checkout/.locum/policy.yml")).unwrap();
    fixture.stage.commit("no policy");
    for body in ["hello", "> /locum help"] {
        assert_eq!(fixture.step(&Ask::comment(body)).output("outcome"), "skipped");
    }
    let eve = fixture.step(&Ask { login: "eve", ..Ask::comment(ASK) });
    assert_eq!((eve.code, eve.output("outcome")), (Some(0), "skipped"));
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    let step = fixture.step(&Ask::comment(ASK));
    let comment = told(&fixture, &step);
    assert!(comment.contains(".locum/policy.yml") && comment.contains("locum init"), "{comment}");
}

#[test]
fn a_missing_key_or_model_is_told_before_any_model_is_asked() {
    let openai = "models:\n  profiles:\n    big: { provider: openai, model: m }\n  pointers: { \
                  main: big }\n";
    for (config, parts) in [
        (openai, ["OPENAI_API_KEY", "secrets.OPENAI_API_KEY"]),
        ("models: {}\n", ["no model is configured", "`api-key`"]),
        ("models:\n  pointers: { main: gone }\n", ["gone", "models.profiles"]),
        ("modles: {}\n", [".locum/config.yml:1:1", "unknown key `modles`"]),
    ] {
        let fixture = with_config(config);
        let step = fixture.step(&Ask::comment(ASK));
        let comment = told(&fixture, &step);
        for part in parts {
            assert!(comment.contains(part), "{part}: {comment}");
        }
        assert_eq!(
            reactions(&fixture),
            ["eyes", "confused"].map(|one| (one.to_owned(), "55".to_owned()))
        );
    }
    for (config, missing) in [
        (openai, "no run can start yet: "),
        ("models: {}\n", "no run can start yet: no model is configured"),
    ] {
        for (body, says) in [
            ("/locum explain", "**locum: what a run here may do**"),
            ("/locum --dry-run code say hello", "**locum: dry run**"),
        ] {
            let fixture = with_config(config);
            let step = fixture.step(&Ask::comment(body));
            assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
            let comment = fixture.server.comments(7).pop().unwrap();
            assert!(comment.contains(says) && comment.contains(missing), "{body}: {comment}");
        }
    }
    // Whoever the triggers let start a run is told, whatever started it.
    let fixture = with_config(openai);
    let step = fixture.step(&Ask { label: Some("locum"), ..Ask::comment("") });
    told(&fixture, &step);
    let stranger = with_config(openai);
    stranger.step(&Ask { login: "eve", ..Ask::comment(ASK) });
    assert_eq!(stranger.server.writes(), Vec::<String>::new());
}

#[test]
fn a_wrong_input_is_told_by_its_name() {
    for (variable, input) in [("INPUT_ALLOW_FORK", "allow-fork"), ("INPUT_FAIL_ON", "fail-on")] {
        let fixture = ActionFixture::new();
        let step = fixture.step(&Ask { inputs: &[(variable, "sometimes")], ..Ask::comment(ASK) });
        let comment = told(&fixture, &step);
        assert!(comment.contains(&format!("input `{input}`")), "{comment}");
    }
}

#[test]
fn a_token_that_may_not_comment_stops_the_run_before_it_begins() {
    let fixture = ActionFixture::new();
    fixture.server.fail(
        Fault::status("POST /repos/acme/app/issues", 403, "Resource not accessible by integration")
            .lasting(),
    );
    let step = fixture.step(&Ask::comment(ASK));
    assert_eq!((step.code, step.output("outcome")), (Some(2), "failed"), "{step:?}");
    assert_eq!(step.output("session-id"), "");
    for place in [&step.out, &fixture.stage.read("summary")] {
        assert!(place.contains("issues: write"), "{place}");
    }
    assert_eq!(fixture.remote(&["branch", "--list", "locum/*"]), "");

    // A server without reactions is no reason to stop, nor is one that lets comments only.
    for status in [403, 404] {
        let fixture = ActionFixture::new();
        let to = "POST /repos/acme/app/issues/comments/55/reactions";
        fixture.server.fail(Fault::status(to, status, "no reactions").lasting());
        let step = fixture.step(&Ask::comment(ASK));
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        assert_eq!(fixture.server.comments(7).len(), 1);
    }
}

/// The answer of git's own server to whoever reads which refs there are.
fn listed_refs(main: &str) -> Fault {
    let line = |text: String| format!("{:04x}{text}", text.len() + 4);
    let refs = [format!("{main} HEAD\0agent=git\n"), format!("{main} refs/heads/main\n")];
    let service = line("# service=git-upload-pack\n".to_owned());
    let body = format!("{service}0000{}0000", refs.map(line).concat());
    let asked = "GET /acme/app.git/info/refs?service=git-upload-pack";
    let kind = "application/x-git-upload-pack-advertisement";
    let answer = Fault::status(asked, 200, "").with_header("content-type", kind).lasting();
    Fault { body, ..answer }
}

#[test]
fn a_token_that_may_not_push_stops_a_run_whose_changes_become_commits() {
    let refused = "GET /acme/app.git/info/refs?service=git-receive-pack";
    let step = |publish: &str, body: &str| {
        let fixture = ActionFixture::publishing(publish);
        fixture.server.fail(Fault::status(refused, 403, "Write access not granted").lasting());
        fixture.server.fail(listed_refs(fixture.remote(&["rev-parse", "main"]).trim()));
        let url = fixture.server.url.clone();
        let step = fixture
            .step(&Ask { inputs: &[("GITHUB_SERVER_URL", url.as_str())], ..Ask::comment(body) });
        (fixture, step)
    };
    let (fixture, failed) = step(PUBLISH, ASK);
    let comment = told(&fixture, &failed);
    assert!(comment.contains("contents: write") && comment.contains("as: comment"), "{comment}");

    // Nothing is to be pushed by a mode that cannot edit, or where changes are only shown.
    for (publish, body, outcome) in [
        (PUBLISH, "/locum ask look at it", "done"),
        ("publish: { allow: [comment], as: comment }", ASK, "done"),
        ("publish: { allow: [comment, commit, pull-request], as: comment }", ASK, "done"),
    ] {
        let (_fixture, ran) = step(publish, body);
        assert_eq!(ran.output("outcome"), outcome, "{publish} {body}: {ran:?}");
    }
}

#[test]
fn a_review_comment_on_a_forks_pull_request_says_what_github_withholds() {
    let fixture = with_config(
        "models:\n  profiles:\n    big: { provider: openai, model: m }\n  pointers: { main: big }\n",
    );
    let head = fixture.pull_request(true);
    let (_, mut event) = payload(&Ask { number: 8, ..Ask::comment(ASK) });
    let mut pull = event["issue"].take();
    pull["head"] = json!({ "sha": head });
    event["pull_request"] = pull;
    event["comment"]["path"] = json!("src/lib.txt");
    event["comment"]["line"] = json!(1);
    let refused = "Resource not accessible by integration";
    fixture.server.fail(Fault::status("POST /repos/acme/app", 403, refused).lasting());
    let step = fixture.step_with("pull_request_review_comment", &event.to_string(), &[]);
    assert_eq!((step.code, step.output("outcome")), (Some(2), "failed"), "{step:?}");
    for place in [&step.out, &fixture.stage.read("summary")] {
        assert!(place.contains("no secrets") && place.contains("Conversation"), "{place}");
    }
}

#[test]
fn a_broken_mode_file_is_told_to_whom_the_policy_admits() {
    let fixture = ActionFixture::publishing(PUBLISH);
    change(&fixture, ".roomodes", "customModes:\n  - slug: docs\n    rolle: x\n");
    let eve = fixture.step(&Ask { login: "eve", ..Ask::comment(ASK) });
    assert_eq!(eve.output("outcome"), "skipped", "{eve:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    let step = fixture.step(&Ask::comment(ASK));
    assert!(told(&fixture, &step).contains(".roomodes:"), "{step:?}");
}
