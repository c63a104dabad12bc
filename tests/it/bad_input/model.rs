//! Models that fail, and models that lead nowhere. Asked through three variables only, as a
//! newcomer does.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::model_server::{Answer, ModelServer, Piece};
use crate::support::stage::{Ran, Stage};

const FILES: &[(&str, &str)] = &[("README.md", "# It\n"), ("a.txt", "one\n")];
const KEY: &str = "sk-of-the-test-0123456789";

fn asking(stage: &Stage, server: &ModelServer, arguments: &[&str]) -> Command {
    let mut command = stage.locum(&[&["run", "Do the task."], arguments].concat());
    command
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", &server.base_url)
        .env("LOCUM_MODEL", "test-model");
    command
}

/// Runs against these answers and expects outcome, exit code and reason.
fn check(answers: Vec<Answer>, requests: usize, reason: &str) {
    let stage = Stage::with(FILES);
    let before = stage.checkout_state();
    let mut server = ModelServer::start(answers);
    let ran: Ran = asking(&stage, &server, &["--mode", "code"]).output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{reason}: {ran:?}");
    assert!(ran.out.starts_with("outcome: failed\n"), "{}", ran.out);
    let why = ran.out.lines().find_map(|line| line.strip_prefix("Why: ")).unwrap();
    assert!(why.starts_with(reason), "{why}");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "the key is never shown: {ran:?}");
    assert_eq!(server.asked().len(), requests, "{reason}");
    assert_eq!(stage.checkout_state(), before, "{reason}");
    let journal = stage.journal();
    assert!(
        matches!(journal.last().unwrap().event, locum_agent::session::event::Event::Ended(_)),
        "{reason}"
    );
}

fn at_once(answer: Answer) -> Answer {
    answer.with_header("retry-after", "0")
}

#[test]
fn a_refused_key_is_not_tried_again() {
    let body = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } });
    check(
        vec![Answer::json(401, &body)],
        1,
        "model `test-model` refused the key: Incorrect API key provided: *** (`http://127.0.0.1:",
    );
}

#[test]
fn an_empty_account_is_not_tried_again() {
    let error = json!({ "code": "insufficient_quota", "message": "no credit left" });
    let answer = Answer::json(429, &json!({ "error": error }));
    check(vec![answer], 1, "model `test-model` refused the request (429): no credit left");
}

#[test]
fn a_busy_server_that_recovers_is_no_failure() {
    let stage = Stage::with(FILES);
    let busy = at_once(Answer::json(429, &json!({ "error": { "message": "slow down" } })));
    let broken = at_once(Answer::plain(500, "text/html", "<h1>Internal error</h1>"));
    let done = Answer::calls(&[("attempt_completion", json!({ "result": "nothing needed" }))]);
    let server = ModelServer::start(vec![busy, broken, done]);
    let ran: Ran = asking(&stage, &server, &["--mode", "code"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("outcome: nothing-to-do\n"), "{}", ran.out);
}

#[test]
fn garbage_is_no_reply() {
    check(
        vec![Answer::plain(200, "text/event-stream", "data: {\"choices\": [{\"delta\": \n\n")],
        3,
        "model `test-model` returned a malformed response: ",
    );
}

#[test]
fn of_half_a_stream_nothing_is_performed() {
    let stage = Stage::with(FILES);
    let write = |content: &str| json!({ "path": "new.txt", "content": content });
    let half = {
        let mut half = Answer::calls(&[("write_to_file", write("half\n"))]);
        half.pieces.truncate(1);
        half.then(Piece::Cut)
    };
    let done = Answer::calls(&[("attempt_completion", json!({ "result": "written" }))]);
    let mut server =
        ModelServer::start(vec![half, Answer::calls(&[("write_to_file", write("whole\n"))]), done]);
    let ran: Ran = asking(&stage, &server, &["--mode", "code"]).output().unwrap().into();
    assert_eq!((ran.code, server.asked().len()), (Some(0), 3), "{ran:?}");
    assert_eq!(stage.read("checkout/new.txt"), "whole\n");
    assert_eq!(stage.answers().iter().filter(|(tool, _)| tool == "write_to_file").count(), 1);
}

#[test]
fn a_model_that_never_calls_a_tool_is_given_up() {
    check(
        vec![Answer::words("I think I should look around.")],
        6,
        "the model made 5 mistakes in a row, the last one: ",
    );
}

#[test]
fn a_model_that_does_the_same_again_and_again_is_given_up() {
    check(
        vec![Answer::calls(&[("read_file", json!({ "path": "a.txt" }))])],
        8,
        "the model made 5 mistakes in a row, the last one: ",
    );
}

#[test]
fn a_model_that_asks_for_nothing_known_is_given_up() {
    check(
        vec![Answer::calls(&[("no_such_tool", json!({}))])],
        5,
        "the model made 5 mistakes in a row, the last one: ",
    );
}

#[test]
fn a_signal_while_the_model_thinks_cancels_the_run() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let stage = Stage::with(FILES);
        let before = stage.checkout_state();
        let (tell, told) = std::sync::mpsc::channel();
        let hanging =
            Answer::events(&["{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hm\"}}]}"])
                .then(Piece::Hang);
        let server = ModelServer::start_with(move |_| {
            tell.send(()).unwrap();
            hanging.clone()
        });
        let child = asking(&stage, &server, &["--mode", "code"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        told.recv().unwrap();
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), None);
        let ran = Ran::from(output);
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert!(
            ran.out.starts_with("outcome: cancelled\n\nWhy: it was stopped from outside\n"),
            "{}",
            ran.out
        );
        assert_eq!(stage.checkout_state(), before);
        stage.journal();
    }
}
