//! What is given out of an answer that breaks, and how long the next part of one is waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use futures::stream::StreamExt as _;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::HttpModel;
use crate::profile::{ModelSettings, Profile};
use crate::resolve::{ModelFacts, resolve};
use crate::transport::protocol::{Endpoint, KeyHeader, Protocol, ServerDialect};
use crate::transport::response::{
    DeltaWriter, PieceKind, ReplyParser, ResponseError, ResponseForm,
};
use crate::{Delta, Model as _, ModelError, ModelRequest};
use locum_base::chat::{OpaquePart, StopReason, Usage};

/// A protocol of words, counts, ends and faults.
struct Words;

#[derive(Default)]
struct WordsReply;

impl Protocol for Words {
    type Parser = WordsReply;

    fn body(
        &self,
        _request: &ModelRequest<'_>,
        _dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error> {
        Ok(b"{}".to_vec())
    }

    fn corrected(
        &self,
        _dialect: ServerDialect,
        _status: u16,
        _words: &str,
    ) -> Option<ServerDialect> {
        None
    }
}

impl ReplyParser for WordsReply {
    type Piece = Value;

    fn take(
        &mut self,
        piece: Value,
        _raw: &[u8],
        _form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError> {
        if piece.get("ping").is_some() {
            return Ok(PieceKind::Other);
        }
        let input = piece.get("read").and_then(Value::as_u64);
        out.count(input.map(|input| Usage { input, ..Usage::default() }));
        out.text(piece.get("say").and_then(Value::as_str).unwrap_or_default());
        if let Some(fault) = piece.get("fault") {
            return Err(ResponseError::Reported(fault.clone()));
        }
        out.finish(piece.get("end").map(|_| StopReason::End));
        Ok(PieceKind::Reply)
    }

    fn parts(&mut self) -> Vec<OpaquePart> {
        Vec::new()
    }
}

/// What comes after the first bytes of an answer.
enum Rest {
    /// The connection is closed.
    Closed,
    /// Nothing comes, and the connection stays open.
    Silent,
    /// This comes again and again.
    Repeated(&'static str),
}

/// Gives one answer: its head where it has one, these events, and the rest.
fn serve(head: &'static str, events: &'static [&'static str], rest: Rest) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let (mut asked, mut length) = (String::new(), 0);
        while !asked.ends_with("\r\n\r\n") {
            let start = asked.len();
            reader.read_line(&mut asked).unwrap();
            if let Some(value) = asked[start..].strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        reader.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
        match rest {
            Rest::Closed => {}
            Rest::Silent => {
                let _ = reader.read(&mut [0]);
            }
            Rest::Repeated(text) => while reader.get_mut().write_all(text.as_bytes()).is_ok() {},
        }
    });
    address
}

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// Returns all deltas of an answer, and its error.
fn deltas(address: SocketAddr) -> (Vec<Delta>, Option<ModelError>) {
    let base_url = format!("http://{address}/");
    let profile =
        Profile { base_url: Some(base_url.clone()), idle_timeout_s: Some(1), ..Profile::new("m") };
    let settings = ModelSettings {
        profiles: BTreeMap::from([("one".to_owned(), profile)]),
        ..ModelSettings::default()
    };
    let nothing = BTreeSet::new();
    let facts = ModelFacts { env: &BTreeMap::new(), asked: None, from_repository: &nothing };
    let chosen = resolve(&settings, &facts).unwrap().main;
    let url = base_url.parse().unwrap();
    let endpoint = Endpoint { url, key_header: KeyHeader::Bearer, headers: &[], dialect: 0 };
    let mut model = HttpModel::new(&chosen, endpoint, Words).unwrap();
    model.kept_alive_limit = Duration::from_millis(200);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let items: Vec<Result<Delta, ModelError>> =
        runtime.block_on(model.stream(ModelRequest::with(&[])).collect());
    let mut deltas = Vec::new();
    for item in items {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(err) => return (deltas, Some(err)),
        }
    }
    (deltas, None)
}

fn text(words: &str) -> Delta {
    Delta::Text(words.to_owned())
}

fn counted(input: u64) -> Delta {
    Delta::Usage(Usage { input, ..Usage::default() })
}

/// A head, events and the rest of an answer, and what is given out of it.
type BrokenAnswer = (&'static str, &'static [&'static str], Rest, Vec<Delta>);

#[test]
fn all_that_came_of_an_answer_is_given_out_before_its_error() {
    let said = || vec![Delta::Accepted, counted(900), text("a")];
    let accepted = || vec![Delta::Accepted];
    let answers: [BrokenAnswer; 5] = [
        (STREAM, &[r#"{"read":900}"#, r#"{"say":"a"}"#], Rest::Closed, said()),
        (STREAM, &[r#"{"read":900,"say":"a","fault":"overloaded"}"#], Rest::Closed, said()),
        (STREAM, &[], Rest::Closed, accepted()),
        (STREAM, &[], Rest::Silent, accepted()),
        ("", &[], Rest::Silent, accepted()),
    ];
    for (head, events, rest, expected) in answers {
        let (found, err) = deltas(serve(head, events, rest));
        assert_eq!(found, expected, "{head} {events:?}");
        assert!(matches!(err, Some(ModelError::Unavailable { .. })), "{events:?}: {err:?}");
    }
}

#[test]
fn a_refusal_inside_an_accepted_answer_counts_nothing() {
    let refused = || vec![Delta::Accepted, Delta::Usage(Usage::default())];
    let answers: [BrokenAnswer; 4] = [
        (STREAM, &[r#"{"fault":"overloaded"}"#], Rest::Closed, refused()),
        (STREAM, &[r#"{"begun":1}"#, r#"{"fault":"rate limit"}"#], Rest::Closed, refused()),
        (
            STREAM,
            &[r#"{"begun":1}"#, r#"{"fault":"overloaded"}"#],
            Rest::Closed,
            vec![Delta::Accepted],
        ),
        (
            STREAM,
            &[r#"{"read":9}"#, r#"{"fault":"rate limit"}"#],
            Rest::Closed,
            vec![Delta::Accepted, counted(9)],
        ),
    ];
    for (head, events, rest, expected) in answers {
        let (found, err) = deltas(serve(head, events, rest));
        assert_eq!((found, err.is_some()), (expected, true), "{events:?}");
    }
    let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(deltas(serve(busy, &[], Rest::Closed)).0, [], "it was not accepted");
}

#[test]
fn what_only_keeps_a_connection_open_is_waited_for_up_to_a_limit() {
    for kept_alive in [": keep-alive\n\n", "data: {\"ping\":1}\n\n", " \n"] {
        let (found, err) = deltas(serve(STREAM, &[], Rest::Repeated(kept_alive)));
        assert_eq!(found, [Delta::Accepted], "{kept_alive}");
        let said = err.unwrap().to_string();
        assert!(said.contains("no part of the reply came for 0.2 s"), "{said}");
    }
    let events = &[r#"{"ping":1}"#, r#"{"say":"a"}"#, r#"{"ping":1}"#, r#"{"end":1}"#];
    let (found, err) = deltas(serve(STREAM, events, Rest::Repeated(": keep-alive\n\n")));
    assert_eq!(found, [Delta::Accepted, text("a"), Delta::Stop(StopReason::End)]);
    assert_eq!(err, None);
}
