//! Services over streamable HTTP: streams that go on elsewhere or nowhere, lists in pages, what is
//! said of progress, and what is asked of us.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{self, repeat_with};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::service_fixture::{
    ServiceFixture, ServiceRequest, greeting, listed, reply, said, standings,
};
use locum_base::secret::Redactor;

const POLICY: &str = "
version: 1
network: { allow: ['http://docs.example'] }
rules: [{ allow: 'mcp(docs/*)' }]
";

const DOCS: &str = r#"{ "mcpServers": { "docs": { "url": "http://docs.example/mcp" } } }"#;

fn events(text: impl Into<Body>) -> Response {
    reply(200, "text/event-stream", text)
}

/// Returns a body that goes on for ever.
fn endless(piece: &str) -> Body {
    let piece = piece.repeat(1000);
    Body::from_stream(repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
}

/// Returns a body that begins so, and then nothing comes.
fn stuck(text: String) -> Body {
    let first = stream::iter([Ok::<_, std::io::Error>(text)]);
    Body::from_stream(first.chain(stream::pending()))
}

/// Returns what a call came to: the text, or what is said in its place.
fn outcome(service: &ServiceFixture, tool: &str) -> String {
    let servers = service.open(DOCS);
    assert_eq!(standings(&servers), ["docs: ready"]);
    let answer = service.call(&servers, "docs", tool);
    service.close(&servers);
    match answer {
        Ok(result) => result["content"][0]["text"].as_str().unwrap().to_owned(),
        Err(failure) => format!("{} {}", failure.sentence, failure.said),
    }
}

/// A service that answers calls by their tool's name.
fn serving(
    call: impl Fn(&ServiceRequest, &str) -> Response + Clone + Send + Sync + 'static,
) -> ServiceFixture {
    ServiceFixture::new(POLICY, move |request| {
        let tool = request.body["params"]["name"].as_str().unwrap_or_default();
        match (request.verb.as_str(), request.method()) {
            ("GET", _) | (_, "tools/call") => call(request, tool),
            _ => request.plain(&["say", "slow"]),
        }
    })
}

#[test]
fn a_stream_that_breaks_off_is_asked_for_again_behind_its_last_event() {
    let service = serving(|request, _| match request.verb.as_str() {
        "GET" if request.header("last-event-id") == "e-1" => {
            let answer = json!({ "jsonrpc": "2.0", "id": 3, "result": said("late") });
            events(format!("id: e-2\ndata: {answer}\n\n"))
        }
        "GET" => reply(404, "", ""),
        // The second event is not whole, so the stream goes on behind the first.
        _ => events("retry: 0\nid: e-1\ndata:\n\nid: e-2\ndata: {\"jsonr"),
    });
    assert_eq!(outcome(&service, "say"), "late");
    let calls = service.requests().into_iter().filter(|one| one.method() == "tools/call");
    assert_eq!(calls.count(), 1, "the call itself is not repeated");
}

#[test]
fn a_service_that_forgot_the_conversation_gets_a_new_one_and_no_call_twice() {
    let calls = Arc::new(AtomicUsize::new(0));
    let service = ServiceFixture::new(POLICY, move |request| match request.method() {
        "initialize" => {
            let mut response = request.plain(&["say"]);
            response.headers_mut().insert("mcp-session-id", "s-1".parse().unwrap());
            response
        }
        // Each conversation is good for one call.
        "tools/call" if calls.fetch_add(1, Ordering::SeqCst) % 2 == 1 => reply(404, "", ""),
        "tools/call" => reply(200, "application/json", request.answer(said("done"))),
        _ => request.plain(&["say"]),
    });
    let servers = service.open(DOCS);
    for call in 0..6 {
        let answer = service.call(&servers, "docs", "say");
        if call % 2 == 0 {
            assert_eq!(answer.unwrap(), said("done"));
        } else {
            let sentence = answer.unwrap_err().sentence;
            assert!(
                sentence.contains("another one has begun. What was asked may have been done"),
                "{sentence}"
            );
        }
    }
    let requests = service.requests();
    let asked = |method: &str| requests.iter().filter(|request| request.method() == method).count();
    // No call is made twice.
    assert_eq!([asked("tools/call"), asked("initialize")], [6, 4]);
}

#[test]
fn a_stream_that_goes_nowhere_is_given_up() {
    for (first, then, why) in [
        ("id: a\nretry: 0\ndata:\n\n", Some("id: a\nretry: 0\n\n"), "its answer breaks off."),
        ("id: a\nretry: 0\ndata:\n\n", None, "its answer breaks off, and then it answered with"),
        ("data: {\n\n", Some("data: {}\n\n"), "its answer breaks off."),
    ] {
        let service = serving(move |request, _| match (request.verb.as_str(), then) {
            ("GET", Some(then)) => events(then),
            ("GET", None) => reply(405, "", ""),
            _ => events(first),
        });
        let outcome = outcome(&service, "say");
        assert!(outcome.contains(why) && outcome.contains("may have been done"), "{outcome}");
        let again = service.requests().into_iter().filter(|one| one.verb == "GET").count();
        assert!(again <= 5, "{again}");
    }
}

#[test]
fn an_endless_answer_is_cut() {
    for (piece, why) in [
        (": nothing\n", "it sent more than 8 MiB"),
        ("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "it sent more than 8 MiB"),
        ("data: {}\n\n", "it sent 10000 messages and no answer"),
    ] {
        let service = serving(move |_, _| events(endless(piece)));
        let outcome = outcome(&service, "say");
        assert!(outcome.contains(why), "{piece}: {outcome}");
    }
    let service = serving(|_, _| reply(200, "application/json", endless("[1, ")));
    let outcome = outcome(&service, "say");
    assert!(outcome.contains("it is longer than 8388608 bytes"), "{outcome}");
}

#[test]
fn progress_is_shown_and_noted_once() {
    let service = serving(|request, _| {
        let token = &request.body["params"]["_meta"]["progressToken"];
        let notice = |progress: u32, token: &Value| {
            let params = json!({ "progressToken": token, "progress": progress, "total": 3,
                "message": "still\nreading" });
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
        };
        let (one, other, two) = (notice(1, token), notice(9, &json!("other")), notice(2, token));
        let answer = request.answer(said("done"));
        events(format!("data: {one}\n\ndata: {other}\n\ndata: {two}\n\ndata: {answer}\n\n"))
    });
    let servers = service.open(DOCS);
    assert_eq!(service.call(&servers, "docs", "say").unwrap(), said("done"));
    let lines = service.tail.lines(9, &Redactor::default());
    assert_eq!(lines, ["1 of 3: still reading", "2 of 3: still reading"]);
    let notes: Vec<String> = servers.take_notes().into_iter().map(|note| note.what).collect();
    assert_eq!(notes, ["reported progress, 2 times; at last 2 of 3: still reading"]);
}

#[test]
fn progress_gives_no_more_time_and_the_server_learns_that_nobody_waits() {
    let service = serving(|request, _| {
        let token = &request.body["params"]["_meta"]["progressToken"];
        let params = json!({ "progressToken": token, "progress": 1 });
        let notice =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        events(stuck(format!("data: {notice}\n\n")))
    });
    let servers = service.open(
        r#"{ "mcpServers": { "docs": { "url": "http://docs.example/mcp", "timeout": 1 } } }"#,
    );
    let sentence = service.call(&servers, "docs", "slow").unwrap_err().sentence;
    assert!(sentence.contains("did not answer within 1 s"), "{sentence}");
    let requests = service.requests();
    let call = requests.iter().find(|one| one.method() == "tools/call").unwrap();
    let cancelled = requests.iter().find(|one| one.method() == "notifications/cancelled").unwrap();
    assert_eq!(
        cancelled.body["params"],
        json!({ "requestId": call.body["id"], "reason": "no answer in time" })
    );
}

#[test]
fn a_server_learns_that_the_run_ends_while_it_works() {
    let (begun, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let service = serving(move |_, _| {
        begun.send(()).unwrap();
        events(stuck(String::new()))
    });
    let servers = service.open(DOCS);
    service.cut_off(&servers, ("docs", "slow"), async { seen.recv().await.unwrap() });
    let requests = service.requests();
    let cancelled = requests.iter().find(|one| one.method() == "notifications/cancelled").unwrap();
    assert_eq!(cancelled.body["params"]["reason"], "the run ends");
    // Where nothing is under way, nothing is cancelled.
    let servers = service.open(DOCS);
    service.close(&servers);
    assert!(service.requests().iter().all(|one| one.method() != "notifications/cancelled"));
}

#[test]
fn lists_are_read_page_by_page_and_not_in_circles() {
    let big = "x".repeat(5000);
    for (next, asked) in [
        (vec!["b", "c"], 3),
        (vec!["b", "c", "b", "c", "b"], 3),
        (vec!["b", "b"], 2),
        (vec![""], 1),
        (vec![big.as_str()], 1),
    ] {
        let next: Vec<String> = next.into_iter().map(str::to_owned).collect();
        let service = ServiceFixture::new(POLICY, move |request| match request.method() {
            "initialize" => {
                let mut result = greeting("2025-11-25");
                result["capabilities"]["resources"] = json!({});
                reply(200, "application/json", request.answer(result))
            }
            method @ ("tools/list" | "resources/list" | "resources/templates/list") => {
                let at = request.body["params"]["cursor"].as_str();
                let at = at.map_or(0, |at| 1 + next.iter().position(|one| one == at).unwrap());
                let mut page = listed(&[&format!("t{at}")]);
                page["resources"] = json!([{ "uri": format!("file:///{at}") }]);
                page["resourceTemplates"] = json!([{ "uriTemplate": format!("x:///{{{at}}}") }]);
                if let Some(next) = next.get(at) {
                    page["nextCursor"] = json!(next);
                }
                assert!(method.ends_with("list"));
                reply(200, "application/json", request.answer(page))
            }
            _ => reply(202, "", ""),
        });
        let servers = service.open(DOCS);
        let offered = &servers.offered()[0];
        let counts = (offered.tools.len(), offered.resources.len(), offered.templates.len());
        assert_eq!(counts, (asked, asked, asked));
        let requests = service.requests();
        let pages = requests.iter().filter(|one| one.method() == "tools/list").count();
        assert_eq!(pages, asked);
    }
}

#[test]
fn a_list_without_end_is_read_for_some_pages() {
    let service = ServiceFixture::new(POLICY, |request| match request.method() {
        "tools/list" => {
            let at = request.body["params"]["cursor"].as_str().unwrap_or("0");
            let next = at.parse::<u32>().unwrap() + 1;
            let page = json!({ "tools": [], "nextCursor": next.to_string() });
            reply(200, "application/json", request.answer(page))
        }
        _ => request.plain(&[]),
    });
    assert_eq!(standings(&service.open(DOCS)), ["docs: ready"]);
    let requests = service.requests();
    assert_eq!(requests.iter().filter(|one| one.method() == "tools/list").count(), 20);
}

#[test]
fn a_server_that_is_not_ready_in_time_is_given_up_whatever_it_is_asked() {
    for silent_at in ["initialize", "tools/list"] {
        let service = ServiceFixture::new(POLICY, move |request| match request.method() {
            method if method == silent_at => events(stuck(String::new())),
            _ => request.plain(&["say"]),
        });
        let servers = service.open(DOCS);
        assert_eq!(standings(&servers), ["docs: it was not ready within 3 s"], "{silent_at}");
    }
}

#[test]
fn a_ping_is_answered_and_whatever_needs_a_person_is_refused() {
    let service = serving(|request, _| {
        let question = |id: &str, method: &str| {
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string()
        };
        let lines = [
            question("p", "ping"),
            question("e", "elicitation/create"),
            question("s", "sampling/createMessage"),
            question("r", "roots/list"),
            request.answer(said("done")),
        ];
        events(lines.map(|line| format!("data: {line}\n\n")).concat())
    });
    assert_eq!(outcome(&service, "say"), "done");
    let requests = service.requests();
    assert_eq!(requests[0].body["params"]["capabilities"], json!({}), "none is declared");
    let answers: Vec<(String, String)> = requests
        .iter()
        .filter(|one| one.verb == "POST" && one.body.get("method").is_none())
        .map(|one| {
            let said = &one.body["result"];
            let code = one.body["error"]["code"].to_string();
            let said = if said.is_null() { code } else { said.to_string() };
            (one.body["id"].as_str().unwrap().to_owned(), said)
        })
        .collect();
    let refused = |id: &str| (id.to_owned(), "-32601".to_owned());
    assert_eq!(
        answers,
        [("p".to_owned(), "{}".to_owned()), refused("e"), refused("s"), refused("r")]
    );
}

#[test]
fn what_is_no_answer_is_shown_as_data_and_nothing_is_called_nothing() {
    let answers: [(&str, &str, Option<&str>); 6] = [
        ("text/html", "<html>Please sign in</html>", Some("<html>Please sign in</html>")),
        ("application/json", "{\"jsonrpc\":\"2.0\",\"id\":3,\"res", Some("{\"jsonrpc\":\"2.0\",")),
        ("application/json", "null", Some("null")),
        ("application/json", "{\"id\":99,\"result\":{}}", Some("{\"id\":99,")),
        ("application/json", "a\u{fffd}b", Some("a\u{fffd}b")),
        ("application/json", "", None),
    ];
    for (kind, body, shown) in answers {
        let service = serving(move |_, _| reply(200, kind, body));
        let outcome = outcome(&service, "say");
        let (why, data) = match shown {
            Some(shown) => (format!("of type `{kind}` that are no answer to the request."), shown),
            None => ("it took the request and gave no answer.".to_owned(), ""),
        };
        assert!(outcome.contains(&why) && outcome.contains(data), "{outcome}");
        // What the service wrote is no part of our sentence.
        let (sentence, _) = outcome.split_once("What was asked may have been done").unwrap();
        assert!(data.is_empty() || !sentence.contains(data), "{outcome}");
    }
    let long = "x".repeat(10_000);
    let service = serving(move |_, _| reply(200, "text/plain", long.clone()));
    let outcome = outcome(&service, "say");
    assert!(outcome.contains("status 200 and 10000 bytes of type `text/plain`"), "{outcome}");
    assert!(outcome.len() < 3000, "{}", outcome.len());
}

#[test]
fn a_server_that_is_not_there_is_known_by_its_name_with_the_reason() {
    let service = ServiceFixture::new(POLICY, |request| match request.method() {
        "initialize" => reply(200, "text/html", "<p>Please sign in"),
        _ => request.plain(&["say"]),
    });
    let servers = service.open(DOCS);
    let absent = servers.why_absent("docs").unwrap();
    assert_eq!(
        absent.sentence,
        "The MCP server `docs` could not be started in this run; go on without it."
    );
    assert!(absent.said.contains("status 200") && absent.said.contains("<p>Please"), "{absent:?}");
    assert_eq!(servers.why_absent("other"), None);
    let ready = serving(|request, _| request.plain(&["say"]));
    assert_eq!(ready.open(DOCS).why_absent("docs"), None);
}

#[test]
fn a_list_of_tools_that_is_cut_is_noted_and_a_whole_one_is_not() {
    let listing = |tools: usize, pages: usize| {
        ServiceFixture::new(POLICY, move |request| {
            if request.method() != "tools/list" {
                return request.plain(&[]);
            }
            let page =
                request.body["params"]["cursor"].as_str().map_or(0, |it| it.parse().unwrap());
            let names: Vec<String> = (0..tools).map(|tool| format!("t{page}-{tool}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut list = listed(&names);
            if page + 1 < pages {
                list["nextCursor"] = json!((page + 1).to_string());
            }
            reply(200, "application/json", request.answer(list))
        })
    };
    for (tools, pages, expected) in [
        (100, 1, None),
        (101, 1, Some("lists 1 tool with a name that is invalid or stands twice, or beyond")),
        (2, 20, None),
        (2, 21, Some("lists more tools than are looked at, which are those of 20 pages")),
        (60, 3, Some("lists more tools than are looked at")),
    ] {
        let service = listing(tools, pages);
        let servers = service.open(DOCS);
        assert_eq!(standings(&servers), ["docs: ready"]);
        let notes: Vec<String> = servers.take_notes().into_iter().map(|note| note.what).collect();
        match expected {
            Some(expected) => {
                assert!(matches!(notes.as_slice(), [note] if note.contains(expected)), "{notes:?}");
            }
            None => assert!(notes.is_empty(), "{notes:?}"),
        }
    }
}
