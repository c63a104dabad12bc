//! Servers that answer on a stream of events: where they are asked, what their first event may say,
//! and when a definition leads to them.

use axum::body::Body;
use axum::response::Response;
use futures::stream::{self, StreamExt};
use pretty_assertions::assert_eq;
use tokio::sync::broadcast::{self, Sender};

use super::service_fixture::{
    ServiceFixture, ServiceRequest, greeting, listed, reply, said, standings,
};

const POLICY: &str = "
version: 1
network: { allow: ['http://old.example', 'http://evil.example', 'http://old.example:81'] }
rules: [{ allow: 'mcp(old/*)' }]
";

const OLD: &str =
    r#"{ "mcpServers": { "old": { "type": "sse", "url": "http://old.example/sse" } } }"#;
const PLAIN: &str = r#"{ "mcpServers": { "old": { "url": "http://old.example/sse" } } }"#;
const NEW: &str =
    r#"{ "mcpServers": { "old": { "type": "http", "url": "http://old.example/sse" } } }"#;

/// Returns a stream that says where messages go, and then whatever is sent.
fn stream_of(lines: &Sender<String>, first: &str) -> Response {
    let receiver = lines.subscribe();
    let first = stream::iter([first.to_owned()]);
    let more = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.ok().map(|line| (line, receiver))
    });
    let all = first.chain(more).map(Ok::<_, std::io::Error>);
    reply(200, "text/event-stream", Body::from_stream(all))
}

/// An older server: the stream at `/sse`, messages at `/messages`.
fn older(request: &ServiceRequest, lines: &Sender<String>) -> Response {
    let path = request.path.as_str();
    match (request.verb.as_str(), path) {
        ("GET", "/sse") => {
            stream_of(lines, ": hello\n\nevent: endpoint\ndata: /messages?session=1\n\n")
        }
        ("POST", "/messages?session=1") => {
            let result = match request.method() {
                "initialize" => greeting("2024-11-05"),
                "tools/list" => listed(&["say"]),
                "tools/call" => said("said"),
                _ => return reply(202, "text/plain", "Accepted"),
            };
            let other = r#"{"jsonrpc":"2.0","id":77,"result":{}}"#;
            let line = request.answer(result);
            let sent = format!(
                "event: other\ndata: {line}x\n\nevent: message\ndata: {other}\n\n\
                                event: message\ndata: {line}\n\n"
            );
            lines.send(sent).unwrap();
            reply(202, "text/plain", "Accepted")
        }
        _ => reply(405, "text/plain", "no"),
    }
}

fn old_service() -> ServiceFixture {
    let (lines, _) = broadcast::channel(16);
    ServiceFixture::new(POLICY, move |request| older(request, &lines))
}

#[test]
fn an_older_server_is_asked_where_its_stream_says_and_answers_there() {
    for definition in [OLD, PLAIN] {
        let service = old_service();
        let servers = service.open(definition);
        assert_eq!(standings(&servers), ["old: ready"]);
        assert_eq!(service.call(&servers, "old", "say").unwrap(), said("said"));
        assert_eq!(service.call(&servers, "old", "say").unwrap(), said("said"));
        service.close(&servers);
        let requests = service.requests();
        let streams = requests.iter().filter(|one| one.verb == "GET").count();
        assert_eq!(streams, 1, "one stream for the whole conversation");
    }
}

#[test]
fn only_a_definition_without_type_leads_from_the_new_transport_to_the_old() {
    let service = old_service();
    let why = &standings(&service.open(NEW))[0];
    assert!(why.contains("it answered with status 405"), "{why}");
    assert!(service.requests().iter().all(|one| one.verb == "POST"));
    for status in [401, 500] {
        let service = ServiceFixture::new(POLICY, move |_| reply(status, "text/plain", "no"));
        let why = &standings(&service.open(PLAIN))[0];
        assert!(why.contains(&format!("it answered with status {status}: no")), "{why}");
        assert_eq!(service.requests().len(), 1, "{status} says nothing about the transport");
    }
    for status in [400, 404] {
        let (lines, _) = broadcast::channel(16);
        let service = ServiceFixture::new(POLICY, move |request| {
            if request.verb == "POST" && request.path == "/sse" {
                return reply(status, "text/plain", "no");
            }
            older(request, &lines)
        });
        assert_eq!(standings(&service.open(PLAIN)), ["old: ready"]);
    }
}

#[test]
fn messages_go_to_the_origin_of_the_stream_alone() {
    for (endpoint, reached) in [
        ("http://old.example/messages?session=1", true),
        ("messages?session=1", true),
        ("http://evil.example/messages?session=1", false),
        ("//evil.example/messages?session=1", false),
        ("http://old.example:81/messages?session=1", false),
        ("https://old.example/messages?session=1", false),
        ("http://a@old.example/messages?session=1", false),
        ("http://127.0.0.1/messages?session=1", false),
        ("javascript:alert(1)", false),
    ] {
        let (lines, _) = broadcast::channel(16);
        let service = ServiceFixture::new(POLICY, move |request| match request.verb.as_str() {
            "GET" => stream_of(&lines, &format!("event: endpoint\ndata: {endpoint}\n\n")),
            _ => older(request, &lines),
        });
        let servers = service.open(OLD);
        let standing = &standings(&servers)[0];
        if reached {
            assert_eq!(standing, "old: ready", "{endpoint}");
        } else {
            assert!(standing.contains("is not where its stream comes from"), "{standing}");
            assert_eq!(service.requests().len(), 1, "{endpoint}");
        }
        service.close(&servers);
    }
}

#[test]
fn a_stream_that_does_not_say_where_messages_go_is_given_up() {
    let endless = |piece: &str| {
        let piece = piece.repeat(1000);
        Body::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
    };
    for (piece, why) in [
        (": keep alive, keep alive, keep alive\n", "it sent more than 8 MiB"),
        ("event: endpoint", "it sent more than 8 MiB"),
        ("data: {}\n\n", "its stream does not say where messages go"),
    ] {
        let service =
            ServiceFixture::new(POLICY, move |_| reply(200, "text/event-stream", endless(piece)));
        let standing = &standings(&service.open(OLD))[0];
        assert!(standing.contains(why), "{piece}: {standing}");
    }
    for (response, why) in [
        ((200, "text/html", "<html>"), "it answers with no stream of events"),
        ((200, "text/event-stream", ": over\n"), "its stream ended"),
        ((302, "text/event-stream", ""), "redirects are not followed"),
    ] {
        let (status, kind, body) = response;
        let service = ServiceFixture::new(POLICY, move |_| reply(status, kind, body));
        let standing = &standings(&service.open(OLD))[0];
        assert!(standing.contains(why), "{why}: {standing}");
    }
}

#[test]
fn a_stream_that_ends_ends_the_conversation_and_the_call_is_not_repeated() {
    let (lines, _) = broadcast::channel(16);
    let service = ServiceFixture::new(POLICY, move |request| {
        if request.verb == "GET" {
            let first = "event: endpoint\ndata: /messages?session=1\n\n";
            let until = "STOP".to_owned();
            let receiver = lines.subscribe();
            let more = stream::unfold(receiver, |mut receiver| async move {
                receiver.recv().await.ok().map(|line| (line, receiver))
            });
            let more = more.take_while(move |line| {
                let goes_on = *line != until;
                async move { goes_on }
            });
            let all = stream::iter([first.to_owned()]).chain(more).map(Ok::<_, std::io::Error>);
            return reply(200, "text/event-stream", Body::from_stream(all));
        }
        if request.method() == "tools/call" {
            lines.send("STOP".to_owned()).unwrap();
            return reply(202, "text/plain", "Accepted");
        }
        older(request, &lines)
    });
    let servers = service.open(OLD);
    let failure = service.call(&servers, "old", "say").unwrap_err();
    assert!(failure.sentence.contains("its stream ended"), "{failure:?}");
    assert!(failure.sentence.contains("may have been done or not"), "{failure:?}");
    let calls = service.requests().into_iter().filter(|one| one.method() == "tools/call");
    assert_eq!(calls.count(), 1);
}
