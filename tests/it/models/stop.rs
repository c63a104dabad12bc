//! What becomes of a run, through the binary, when a request does not go to its end: stopped from
//! outside at every point on its way, or broken off by the server when a call had come already.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use locum_agent::session::event::Event;
use locum_agent::session::outcome::OutcomeWord;
use locum_models::profile::Provider;
use pretty_assertions::assert_eq;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::models::protocol::{ALL, one_call, stream, words};
use crate::models::tunnel::{Gate, Proxy};
use crate::support::model_server::{Answer, ModelServer, Piece};
use crate::support::stage::{Ran, Stage};

const POLICY: &str =
    "version: 1\nmodes: { default: code, allow: [code] }\nrules: [{ allow: \"read(**)\" }]\n";

/// A checkout, and a model of the user's own that speaks a protocol with a server.
fn stage_for(provider: Provider, base_url: &str) -> Stage {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("a", "x\n")]);
    let profile = format!(
        "{{ provider: {}, model: m, base_url: \"{base_url}\", api_key_env: TEST_KEY, \
         context_window: 9000 }}",
        provider.as_str()
    );
    stage
        .write("config/locum/config.yml", &format!("models: {{ profiles: {{ m: {profile} }} }}\n"));
    stage
}

fn start(stage: &Stage, variables: &[(&str, &str)]) -> Child {
    let mut command = stage.locum(&["run", "do it"]);
    command.env("TEST_KEY", "sk-of-the-test-0123456789").envs(variables.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn body(events: &[String]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

/// Stops a run; it has to say that it was, and to have written it down.
fn stop(stage: &Stage, child: Child, signal: Signal, place: &str) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{place}: {}", ran.err);
    assert!(ran.out.starts_with("outcome: cancelled\n"), "{place}: {}", ran.out);
    let last = stage.journal().pop().unwrap().event;
    assert!(
        matches!(&last, Event::Ended(outcome) if outcome.word == OutcomeWord::Cancelled),
        "{place}: {last:?}"
    );
}

#[test]
fn a_signal_ends_a_run_wherever_its_request_is() {
    for signal in [Signal::TERM, Signal::INT] {
        let nobody = Proxy::start(Gate::Silent);
        let stage = stage_for(Provider::Openai, "https://models.example/v1");
        let child = start(&stage, &[("HTTPS_PROXY", &format!("127.0.0.1:{}", nobody.port))]);
        assert!(nobody.next_head().starts_with("CONNECT "));
        stop(&stage, child, signal, "connecting");

        let stage = stage_for(Provider::Openai, &format!("http://127.0.0.1:{}/v1", nobody.port));
        let child = start(&stage, &[]);
        assert!(nobody.next_head().starts_with("POST "));
        stop(&stage, child, signal, "before the first byte");

        for provider in ALL {
            let events = words(provider);
            let half = Answer {
                pieces: vec![Piece::Bytes(body(events.split_last().unwrap().1)), Piece::Hang],
                ..stream(&[])
            };
            let server = ModelServer::start(vec![half]);
            let stage = stage_for(provider, &server.base_url);
            let mut child = start(&stage, &[("LOCUM_LOG", "locum=trace")]);
            let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
            assert!(said.any(|line| line.unwrap().contains("a piece of the answer came")));
            stop(&stage, child, signal, "in the middle of the reply");
            let charged = stage.journal().into_iter().filter(
                |line| matches!(&line.event, Event::ReplyLost { charge, .. } if charge.usage.output > 0),
            );
            assert_eq!(charged.count(), 1, "{provider:?}: what had come is charged");
        }

        let busy = Answer::plain(429, "text/plain", "busy").with_header("retry-after", "50");
        let server = ModelServer::start(vec![busy]);
        let stage = stage_for(Provider::Openai, &server.base_url);
        let mut child = start(&stage, &[]);
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("retrying the model request")));
        stop(&stage, child, signal, "in the pause before another try");
    }
}

#[test]
fn a_call_of_a_reply_that_broke_off_is_not_performed_and_the_next_one_is_once() {
    for provider in ALL {
        let call = one_call(provider, "read_file", &json!({ "path": "a" }), Some("c"));
        // Everything of the call came, and not the end of the reply.
        let mut broken = call.clone();
        if broken.pieces.len() > 1 {
            broken.pieces.pop();
        } else {
            let whole = json!({ "candidates": [{ "content": { "parts": [{ "functionCall": { "name": "read_file", "args": { "path": "a" } } }] } }] });
            broken = stream(&[whole.to_string()]);
        }
        let end = one_call(provider, "attempt_completion", &json!({ "result": "r" }), Some("d"));
        let mut server = ModelServer::start(vec![broken.then(Piece::Cut), call, end]);
        let stage = stage_for(provider, &server.base_url);
        let ran = Ran::from(start(&stage, &[]).wait_with_output().unwrap());
        let answered: Vec<String> = stage.answers().into_iter().map(|(tool, _)| tool).collect();
        assert_eq!(
            (ran.code, answered),
            (Some(0), vec!["read_file".into(), "attempt_completion".to_owned()]),
            "{provider:?}: {}",
            ran.err
        );
        let asked = server.asked();
        assert_eq!(
            (asked.len(), &asked[0].body),
            (3, &asked[1].body),
            "{provider:?}: the same is asked again"
        );
        let lost = stage
            .journal()
            .into_iter()
            .filter(|line| matches!(line.event, Event::ReplyLost { .. }))
            .count();
        assert_eq!(lost, 1, "{provider:?}: what the broken reply used up is charged");
    }
}

#[test]
fn a_reply_that_broke_before_its_first_word_is_charged() {
    let usage = json!({ "input_tokens": 7000 });
    let counted = json!({ "type": "message_start", "message": { "usage": usage } });
    let begun = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant" } }] });
    for (provider, first, input) in
        [(Provider::Anthropic, counted, Some(7000)), (Provider::Openai, begun, None)]
    {
        let broken = stream(&[first.to_string()]).then(Piece::Cut);
        let end = one_call(provider, "attempt_completion", &json!({ "result": "r" }), Some("d"));
        let server = ModelServer::start(vec![broken, end]);
        let stage = stage_for(provider, &server.base_url);
        let ran = Ran::from(start(&stage, &[]).wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{provider:?}: {}", ran.err);
        let lost: Vec<_> = stage
            .journal()
            .into_iter()
            .filter_map(|line| match line.event {
                Event::ReplyLost { charge, .. } => Some(charge),
                _other => None,
            })
            .collect();
        let [charge] = lost.as_slice() else { panic!("{provider:?}: {lost:?}") };
        assert!(charge.estimated && charge.usage.output == 0, "{provider:?}: {charge:?}");
        match input {
            Some(input) => assert_eq!(charge.usage.input, input, "what the provider counted"),
            None => assert!(charge.usage.input > 100, "an estimate: {charge:?}"),
        }
    }
}
