//! A run that goes on by a decision and whose model does not answer then: it is put back where it
//! waited, and the decision counts.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::model_server::{Answer, ModelServer};

fn write(path: &str) -> Answer {
    Answer::calls(&[("write_to_file", json!({ "path": path, "content": "held\n" }))])
}

/// The model's provider refuses the key.
fn refused() -> Answer {
    Answer::json(401, &json!({ "error": { "message": "Incorrect API key" } }))
}

/// A run that waits for a decision, and its model, which answers so then, before it is done.
fn held(then: Vec<Answer>) -> (ActionFixture, ModelServer) {
    let fixture = ActionFixture::new();
    fixture.add_to_main(&[(".locum/config.yml", "models: {}\n")]);
    let done = Answer::calls(&[("attempt_completion", json!({ "result": "Went on." }))]);
    let begin = [write("src/hello.txt"), write("src/held/a.txt")];
    let server = ModelServer::start(begin.into_iter().chain(then).chain([done]).collect());
    let step = asks(&fixture, &server, ("/locum code hold it", "1")).step;
    assert_eq!(step.output("outcome"), "on-hold", "{step:?}");
    (fixture, server)
}

/// The command that decides on what waits.
fn decides(fixture: &ActionFixture, verb: &str) -> String {
    format!("/locum {verb} {}", fixture.waiting(7))
}

/// What a comment asks for, of a model on a server.
fn asks(fixture: &ActionFixture, server: &ModelServer, (body, attempt): (&str, &str)) -> Asked {
    let id = fixture.server.add_comment(7, "alice", "User", body);
    asks_again(fixture, server, (id, body, attempt))
}

struct Asked {
    id: u64,
    step: WorkflowStep,
}

fn asks_again(
    fixture: &ActionFixture,
    server: &ModelServer,
    (id, body, attempt): (u64, &str, &str),
) -> Asked {
    let inputs = [
        ("INPUT_MODEL", "m"),
        ("INPUT_BASE_URL", server.base_url.as_str()),
        ("INPUT_API_KEY", "sk-0123456789abcdef"),
        ("GITHUB_RUN_ATTEMPT", attempt),
    ];
    let ask = Ask { inputs: &inputs, ids: (id, 4000 + id), ..Ask::comment(body) };
    Asked { id, step: fixture.fresh(&ask) }
}

fn comment(fixture: &ActionFixture) -> String {
    let own = |body: &String| body.contains("kind=progress");
    fixture.server.comments(7).into_iter().rfind(own).unwrap()
}

#[test]
fn a_decision_counts_although_the_model_does_not_answer_then() {
    for then in ["/locum go on", "again", "/locum approve"] {
        let failures = if then == "/locum go on" { 2 } else { 1 };
        let (fixture, server) = held((0..failures).map(|_| refused()).collect());
        let approve = decides(&fixture, "approve");
        let failed = asks(&fixture, &server, (&approve, "1"));
        assert_eq!(failed.step.output("outcome"), "failed", "{:?}", failed.step);
        let said = comment(&fixture);
        assert!(said.lines().nth(1).unwrap().contains("kind=session"), "{said}");
        assert!(said.contains("The decision counts") && said.contains("/locum go on\n"), "{said}");
        assert!(!said.contains("/locum retry"), "{said}");
        assert_eq!(fixture.kept_sessions().len(), 1);
        let step = match then {
            // It fails once more before it goes on. What somebody else wrote decides nothing.
            "/locum go on" => {
                fixture.server.add_comment(7, "eve", "User", &approve.replace("approve", "deny"));
                let failed = asks(&fixture, &server, (then, "1")).step;
                assert_eq!(failed.output("outcome"), "failed", "{failed:?}");
                asks(&fixture, &server, (then, "1")).step
            }
            "again" => asks_again(&fixture, &server, (failed.id, &approve, "2")).step,
            _ => asks(&fixture, &server, (&approve, "1")).step,
        };
        assert_eq!(step.output("outcome"), "done", "{then}: {step:?}");
        assert!(comment(&fixture).contains("Approved by people: 1 call"), "{then}");
        assert_eq!((fixture.server.pulls().len(), fixture.kept_sessions().len()), (1, 0));
        let changed = fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]);
        assert_eq!(changed, "src/held/a.txt\nsrc/hello.txt\n", "{then}");
    }
}

#[test]
fn who_may_not_decide_does_not_by_going_on() {
    let (fixture, server) = held(vec![refused()]);
    asks(&fixture, &server, (&decides(&fixture, "approve"), "1"));
    let body = "/locum go on";
    let id = fixture.server.add_comment(7, "eve", "User", body);
    let ask = Ask { login: "eve", ids: (id, 4000 + id), ..Ask::comment(body) };
    let step = fixture.fresh(&ask);
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert_eq!((fixture.server.pulls(), fixture.kept_sessions().len()), (Vec::<Value>::new(), 1));
}

#[test]
fn what_waits_anew_is_decided_by_nobodys_earlier_words() {
    let (fixture, server) = held(vec![write("src/held/b.txt")]);
    let second = asks(&fixture, &server, ("/locum approve all", "1"));
    assert_eq!(second.step.output("outcome"), "on-hold", "{:?}", second.step);
    asks(&fixture, &server, ("/locum go on", "1"));
    assert!(!comment(&fixture).contains("Approved by people: 2"), "{}", comment(&fixture));
    assert_eq!(fixture.server.pulls(), Vec::<Value>::new());
}

#[test]
fn a_dry_run_or_a_flag_decides_nothing() {
    for body in ["/locum --dry-run go on", "/locum --budget=1 go on"] {
        // A decision would be performed, published and over.
        let (fixture, server) = held(vec![refused()]);
        asks(&fixture, &server, (&decides(&fixture, "approve"), "1"));
        let waiting = fixture.kept_sessions();
        asks(&fixture, &server, (body, "1"));
        assert_eq!(fixture.server.pulls(), Vec::<Value>::new(), "{body}");
        assert!(fixture.kept_sessions().starts_with(&waiting), "{body}");
    }
}

#[test]
fn after_a_denial_an_outage_keeps_the_work_since_then() {
    let (fixture, server) = held(vec![write("src/later.txt"), refused()]);
    let deny = format!("{} not this one", decides(&fixture, "deny"));
    let failed = asks(&fixture, &server, (&deny, "1"));
    assert_eq!(failed.step.output("outcome"), "failed", "{:?}", failed.step);
    assert!(comment(&fixture).contains("/locum go on\n"), "{}", comment(&fixture));
    let step = asks(&fixture, &server, ("/locum go on", "1")).step;
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let changed = fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]);
    assert_eq!(changed, "src/hello.txt\nsrc/later.txt\n");
}

#[test]
fn what_waits_anew_and_cannot_be_kept_leaves_the_decision_where_it_was() {
    let (fixture, server) = held(vec![write("src/held/b.txt"), write("src/held/b.txt")]);
    let approve = decides(&fixture, "approve");
    // What waits for another decision is not taken.
    fixture.decline(
        "while read -r old new name; do case \"$name\" in refs/locum/sessions/*) git log -1 \
         --format=%s \"$new\" 2>/dev/null | grep -q '^waits' && exit 1;; esac; done; exit 0",
    );
    let second = asks(&fixture, &server, (&approve, "1")).step;
    assert_eq!(second.output("outcome"), "not-published", "{second:?}");
    assert_eq!(fixture.kept_sessions().len(), 1, "{}", comment(&fixture));
    let said = comment(&fixture);
    assert!(said.lines().nth(1).unwrap().contains("kind=session"), "{said}");
    assert!(said.contains("The decision counts") && said.contains("/locum go on\n"), "{said}");
    fixture.decline("exit 0");
    let step = asks(&fixture, &server, ("/locum go on", "1")).step;
    assert_eq!(step.output("outcome"), "on-hold", "{step:?}");
    let approve = decides(&fixture, "approve");
    let step = asks(&fixture, &server, (&approve, "1")).step;
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let changed = fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]);
    assert_eq!(changed, "src/held/a.txt\nsrc/held/b.txt\nsrc/hello.txt\n");
}
