//! The fault matrix: every fault with every protocol, what comes of it, how many requests were
//! sent, how many tokens were counted.

use locum_base::chat::{Message, StopReason};
use locum_models::ModelError;
use locum_models::profile::{Profile, Provider};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::protocol::{
    ALL, calls, empty, fault, key, one_call, profile, stream, too_long, words,
};
use crate::models::{ask_model, model_of};
use crate::support::model_server::{Answer, ModelServer, Piece};

/// A fault and what has to come of it: requests in all, and the reply's words or a part of the
/// error.
struct Case {
    name: &'static str,
    answer: fn(Provider) -> Answer,
    requests: usize,
    outcome: &'static str,
}

const CASES: &[Case] = &[
    Case { name: "none", answer: |provider| stream(&words(provider)), requests: 1, outcome: "hi" },
    Case {
        name: "keep-alive comments",
        answer: |provider| commented(&words(provider)),
        requests: 1,
        outcome: "hi",
    },
    Case {
        name: "one byte at a time",
        answer: |provider| torn(&words(provider)),
        requests: 1,
        outcome: "hi",
    },
    Case {
        name: "a byte that is no text",
        answer: |provider| spoiled(&words(provider)),
        requests: 1,
        outcome: "hi\u{fffd}",
    },
    Case {
        name: "no usage",
        answer: |provider| stream(&without_usage(&words(provider))),
        requests: 1,
        outcome: "hi",
    },
    Case {
        name: "half a stream",
        answer: |provider| stream(&half(provider)),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "cut",
        answer: |provider| stream(&half(provider)).then(Piece::Cut),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "silence",
        answer: |provider| stream(&half(provider)).then(Piece::Hang),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "silence at once",
        answer: |_| Answer { pieces: vec![Piece::Hang], ..stream(&[]) },
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "half an event",
        answer: |provider| halved(&words(provider)),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "error inside",
        answer: |provider| stream(&[half(provider), vec![fault(provider)]].concat()),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "empty reply",
        answer: |provider| stream(&empty(provider)),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "empty body",
        answer: |_| Answer { pieces: vec![], ..stream(&[]) },
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "a page",
        answer: |_| Answer::plain(200, "text/html", "<html>sign in</html>"),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "no JSON",
        answer: |_| stream(&["{ oops }".to_owned()]),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "408",
        answer: |_| Answer::plain(408, "text/plain", ""),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "409",
        answer: |_| Answer::plain(409, "text/plain", ""),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "429",
        answer: |_| Answer::json(429, &json!({ "error": { "message": "slow down" } })),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "500",
        answer: |_| Answer::plain(500, "text/html", "<h1>oops</h1>"),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "502",
        answer: |_| Answer::plain(502, "text/html", "<h1>Bad gateway</h1>"),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "503",
        answer: |_| Answer::json(503, &json!({ "error": { "status": "UNAVAILABLE" } })),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "529",
        answer: |_| Answer::json(529, &json!({ "error": { "type": "overloaded_error" } })),
        requests: 2,
        outcome: "hi",
    },
    Case {
        name: "400",
        answer: |_| Answer::json(400, &json!({ "error": { "message": "bad tool" } })),
        requests: 1,
        outcome: "refused the request",
    },
    Case {
        name: "401",
        answer: |_| Answer::json(401, &json!({ "error": { "message": "who? sk-very-secret" } })),
        requests: 1,
        outcome: "who? ***",
    },
    Case {
        name: "404",
        answer: |_| Answer::json(404, &json!({ "error": { "message": "no model" } })),
        requests: 1,
        outcome: "`base_url`",
    },
    Case {
        name: "too long",
        answer: |provider| Answer::json(400, &too_long(provider)),
        requests: 1,
        outcome: "too long",
    },
    Case {
        name: "redirect",
        answer: |_| Answer::plain(307, "text/plain", "").with_header("location", "/x"),
        requests: 1,
        outcome: "redirect",
    },
];

#[test]
fn every_fault_with_every_protocol() {
    let mut matrix = vec![format!(
        "{:<24}{:<18}{:<9}{:<8}{}",
        "FAULT", "PROTOCOL", "REQUESTS", "TOKENS", "OUTCOME"
    )];
    for case in CASES {
        for provider in ALL {
            let mut server =
                ModelServer::start(vec![(case.answer)(provider), stream(&words(provider))]);
            let idle_timeout_s = Some(if case.name.starts_with("silence") { 1 } else { 60 });
            let model =
                model_of(&Profile { idle_timeout_s, ..profile(provider, &server.base_url) });
            let (reply, _, _) = ask_model(&*model, &[Message::User { text: "go".into() }]);
            let (outcome, tokens) = match &reply {
                Ok(reply) => (reply.text.clone(), reply.usage.map(|usage| usage.total())),
                Err(err) => (err.to_string(), None),
            };
            let requests = server.asked().len();
            let name = case.name;
            matrix.push(format!(
                "{name:<24}{:<18}{requests:<9}{:<8}{outcome}",
                provider.as_str(),
                tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string())
            ));
            assert_eq!(requests, case.requests, "{name} {provider:?}: {outcome}");
            assert!(outcome.contains(case.outcome), "{name} {provider:?}: {outcome}");
            assert!(!outcome.contains("sk-very-secret"), "{outcome}");
            if reply.is_ok() && name != "no usage" {
                assert_eq!(tokens, Some(110), "{name} {provider:?}");
            }
        }
    }
    println!("{}", matrix.join("\n"));
}

#[test]
fn every_protocol_waits_as_long_as_it_is_asked_to_in_whatever_words() {
    let date = ("date", "Sat, 21 Nov 2026 10:00:00 GMT");
    for (status, headers, body, seconds) in [
        (429, vec![("retry-after", "7")], "", 7),
        (429, vec![date, ("retry-after", "Sat, 21 Nov 2026 10:00:09 GMT")], "", 9),
        (503, vec![("retry-after-ms", "4000"), ("retry-after", "30")], "", 4),
        (
            429,
            vec![
                ("x-ratelimit-reset-requests", "20s"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-tokens", "2s"),
            ],
            "",
            20,
        ),
        (
            429,
            vec![("x-ratelimit-reset-tokens", "1m1s"), ("x-ratelimit-remaining-tokens", "0")],
            "",
            61,
        ),
        (
            529,
            vec![
                date,
                ("anthropic-ratelimit-tokens-remaining", "0"),
                ("anthropic-ratelimit-tokens-reset", "2026-11-21T10:00:11Z"),
            ],
            "",
            11,
        ),
        (
            429,
            vec![],
            r#"{"error":{"code":429,"details":[{"@type":"RetryInfo","retryDelay":"17s"}]}}"#,
            17,
        ),
        (409, vec![("retry-after", "3")], "", 3),
    ] {
        for provider in ALL {
            let told = headers
                .iter()
                .fold(Answer::plain(status, "application/json", body), |answer, (name, value)| {
                    answer.with_header(name, value)
                });
            let server = ModelServer::start(vec![told, stream(&words(provider))]);
            let (reply, waited, _) = ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }],
            );
            // A tenth more, so that runs that failed together do not come back together; a minute
            // at most.
            let least = u64::min(seconds, 60);
            assert!(
                reply.is_ok() && (least..=(least * 11).div_ceil(10)).contains(&waited.as_secs()),
                "{provider:?} {headers:?}: {waited:?}"
            );
        }
    }
}

#[test]
fn a_connection_that_is_cut_before_the_answer_begins_is_made_again() {
    for provider in ALL {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let cutting = std::thread::spawn(move || listener.incoming().take(3).map(drop).count());
        let err = ask_model(
            &*model_of(&profile(provider, &base_url)),
            &[Message::User { text: "go".into() }],
        )
        .0
        .unwrap_err();
        assert!(
            matches!(&err, ModelError::Unavailable { message, .. } if message.contains("3 attempts")),
            "{err}"
        );
        assert_eq!(cutting.join().unwrap(), 3, "{provider:?}");
    }
}

#[test]
fn a_character_cut_in_two_between_events_is_whole_again() {
    for provider in ALL {
        let split = |first: &[u8], second: &[u8]| {
            let bodies =
                words(provider).into_iter().flat_map(|event| match event.split_once("\"hi\"") {
                    Some((before, after)) => {
                        let with = |half: &[u8]| {
                            [
                                b"data: ",
                                before.as_bytes(),
                                b"\"",
                                half,
                                b"\"",
                                after.as_bytes(),
                                b"\n\n",
                            ]
                            .concat()
                        };
                        vec![with(first), with(second)]
                    }
                    None => vec![bytes(&[event])],
                });
            with_body(bodies.map(Piece::Bytes).collect())
        };
        for answer in [split(br"h\ud83d", br"\ude00i"), split(b"h\xf0\x9f", b"\x98\x80i")] {
            let mut server = ModelServer::start(vec![answer]);
            let reply = ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }],
            )
            .0
            .unwrap();
            assert_eq!((reply.text.as_str(), server.asked().len()), ("h😀i", 1), "{provider:?}");
        }
    }
}

#[test]
fn two_calls_come_as_two_calls() {
    for provider in ALL {
        let whole = calls(provider);
        for answer in [stream(&whole), torn(&whole), commented(&whole)] {
            let server = ModelServer::start(vec![answer]);
            let reply = ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }],
            )
            .0
            .unwrap();
            let made: Vec<_> = reply
                .calls
                .iter()
                .map(|call| (call.name.as_str(), call.arguments.as_str()))
                .collect();
            assert_eq!(
                made,
                [("read_file", r#"{"path":"a"}"#), ("read_file", r#"{"path":"b"}"#)],
                "{provider:?}"
            );
            assert_eq!(reply.stop, StopReason::ToolUse);
            assert_ne!(reply.calls[0].id, reply.calls[1].id);
        }
    }
}

#[test]
fn arguments_are_read_however_they_are_written() {
    let object = json!({ "path": "a" });
    let whole = object.to_string();
    for (written, read) in [
        (object.clone(), whole.as_str()),
        (json!(whole), &whole),
        (json!(json!(whole).to_string()), &whole),
        (json!("{\"path\": \"cut of"), "{\"path\": \"cut of"),
        (Value::Null, "{}"),
        (json!(""), "{}"),
    ] {
        for provider in ALL {
            let server =
                ModelServer::start(vec![one_call(provider, "read_file", &written, Some("c"))]);
            let reply = ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }],
            )
            .0
            .unwrap();
            let made: Vec<_> = reply
                .calls
                .iter()
                .map(|call| (call.name.as_str(), call.arguments.as_str()))
                .collect();
            assert_eq!(
                (made, reply.stop),
                (vec![("read_file", read)], StopReason::ToolUse),
                "{provider:?}: {written}"
            );
        }
    }
}

#[test]
fn a_call_without_a_name_of_its_own_is_given_one() {
    for provider in ALL {
        let server = ModelServer::start(vec![one_call(provider, "read_file", &json!({}), None)]);
        let reply = ask_model(
            &*model_of(&profile(provider, &server.base_url)),
            &[Message::User { text: "go".into() }],
        )
        .0
        .unwrap();
        assert_eq!(
            reply.calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
            ["call-0-1-1"],
            "{provider:?}"
        );
    }
}

#[test]
fn nothing_of_a_broken_reply_is_left() {
    for provider in ALL {
        let pieces = calls(provider);
        let begun = pieces.get(..pieces.len() - 1).unwrap();
        let mut server = ModelServer::start(vec![stream(begun), stream(&words(provider))]);
        let reply = ask_model(
            &*model_of(&profile(provider, &server.base_url)),
            &[Message::User { text: "go".into() }],
        )
        .0
        .unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.calls.len(), server.asked().len()),
            ("hi", 0, 2),
            "{provider:?}"
        );
    }
}

#[test]
fn a_key_travels_in_its_header_and_nowhere_else() {
    for provider in ALL {
        let mut server = ModelServer::start(vec![stream(&words(provider))]);
        assert!(
            ask_model(
                &*model_of(&profile(provider, &server.base_url)),
                &[Message::User { text: "go".into() }]
            )
            .0
            .is_ok()
        );
        let asked = &server.asked()[0];
        assert!(
            key(provider, asked).is_some_and(|value| value.ends_with("sk-very-secret")),
            "{asked:?}"
        );
        let carriers =
            asked.headers.iter().filter(|(_, value)| value.contains("sk-very-secret")).count();
        assert!(
            carriers == 1 && !asked.path.contains("secret") && !asked.body.contains("secret"),
            "{asked:?}"
        );
    }
}

#[test]
fn nobody_is_waited_for_when_no_one_listens() {
    for provider in ALL {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let err = ask_model(
            &*model_of(&profile(provider, &format!("http://{address}/v1"))),
            &[Message::User { text: "go".into() }],
        )
        .0
        .unwrap_err();
        assert!(
            matches!(&err, ModelError::NotConnected { message, .. } if message.contains("cannot connect")),
            "{err}"
        );
    }
}

fn half(provider: Provider) -> Vec<String> {
    let mut events = words(provider);
    events.pop();
    events
}

fn bytes(events: &[String]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

fn with_body(pieces: Vec<Piece>) -> Answer {
    Answer { pieces, ..stream(&[]) }
}

fn torn(events: &[String]) -> Answer {
    with_body(bytes(events).chunks(1).map(|byte| Piece::Bytes(byte.to_vec())).collect())
}

fn commented(events: &[String]) -> Answer {
    let lines = events.iter().map(|event| {
        format!(": PROCESSING\n\nevent: some\nid: 3\ndata: {event}\r\n\r\n: ping\n\n")
    });
    with_body(lines.map(|line| Piece::Bytes(line.into_bytes())).collect())
}

fn spoiled(events: &[String]) -> Answer {
    let body = bytes(events);
    let at = body.windows(4).position(|window| window == b"\"hi\"").unwrap() + 3;
    let (head, tail) = body.split_at(at);
    with_body(vec![Piece::Bytes([head, b"\xff", tail].concat())])
}

fn halved(events: &[String]) -> Answer {
    let last = events.last().unwrap();
    let mut body = bytes(events.get(..events.len() - 1).unwrap());
    body.extend_from_slice(format!("data: {}", last.get(..last.len() / 3).unwrap()).as_bytes());
    with_body(vec![Piece::Bytes(body), Piece::Cut])
}

fn without_usage(events: &[String]) -> Vec<String> {
    let strip = |event: &String| {
        let mut value: serde_json::Value = serde_json::from_str(event).unwrap();
        for key in ["usage", "usageMetadata"] {
            value.as_object_mut().unwrap().remove(key);
            for inner in ["message", "response"] {
                value
                    .get_mut(inner)
                    .and_then(serde_json::Value::as_object_mut)
                    .map(|inner| inner.remove(key));
            }
        }
        value.to_string()
    };
    events.iter().map(strip).collect()
}
