//! Servers over HTTP: what is asked where, and what comes of answers that break off.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::env::RunEnv;
use crate::tools::mcp::definition::ServerDefinition;
use crate::tools::mcp::definition::endpoint::{HttpProtocol, ServerEndpoint};
use crate::tools::mcp::servers::{McpServers, PlannedServer, ServerEnvironment, ServerStatus};
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema::CommandLimits;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_testing::network::RecordingTransport;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

const POLICY: &str = "
version: 1
network: { allow: ['http://plain.example', 'http://inside.example'] \
                      }
rules:
  - allow: ['mcp(service/*)', 'mcp(inside/*)', 'mcp(elsewhere/*)', 'mcp(keyed/*)']
";

/// A call, as it is judged.
struct TestIntent(Intent);

impl Act for TestIntent {
    fn intents(&self) -> Vec<Intent> {
        vec![self.0.clone()]
    }
}

/// A service that answers as JSON, as events with other things between, and with an answer that
/// breaks off.
async fn serve(request: Request, requests: mpsc::Sender<String>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let header =
        |name: &str| head.headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned();
    let method = asked["method"].as_str().or(asked.get("error").map(|_| "refused")).unwrap_or("-");
    let name = asked["params"]["name"].as_str().unwrap_or_default();
    requests
        .send(format!(
            "{} {method} {} {}",
            head.method,
            header("mcp-session-id"),
            header("mcp-protocol-version")
        ))
        .unwrap();
    let answer = |result: Value| {
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string()
    };
    let response = Response::builder().header("content-type", "application/json; charset=utf-8");
    let events = Response::builder().header("content-type", "text/event-stream");
    let reply = match (method, name) {
        ("initialize", _) => {
            let result =
                json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} } });
            response.header("mcp-session-id", "conversation-1").body(answer(result))
        }
        ("tools/list", _) => {
            let tools = ["say", "cut", "wrong", "gone"]
                .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
            let question =
                json!({ "jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage" });
            let list = answer(json!({ "tools": tools }));
            events.body(format!(
                ": hello\r\n\r\nid: 1\r\nevent: message\r\ndata: {question}\r\n\r\ndata: \
                 {list}\n\n"
            ))
        }
        ("tools/call", "say") => {
            response.body(answer(json!({ "content": [{ "type": "text", "text": "said" }] })))
        }
        ("tools/call", "cut") => events.body("data: {\"jsonrpc\"".to_owned()),
        ("tools/call", "wrong") => response.status(500).body("it   hurts".to_owned()),
        ("tools/call", _) => {
            response.status(302).header("location", "http://evil.example/").body(String::new())
        }
        _ => response.status(202).body(String::new()),
    };
    reply.unwrap().map(Into::into)
}

#[test]
fn a_service_is_asked_over_http_at_the_address_that_was_judged() {
    let (sender, requests) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).unwrap();
    let server = listener.local_addr().unwrap();
    runtime.spawn(async move {
        axum::serve(
            listener,
            axum::Router::new().fallback(move |request| serve(request, sender.clone())),
        )
        .await
    });
    let (wire, connected) =
        RecordingTransport::new(server, &[("inside.example", &[&["10.0.0.1"]])]);

    let folder = tempfile::tempdir().unwrap();
    seed::repository(folder.path(), &[("a", "a")], "first").unwrap();
    let workspace = Workspace {
        checkout: Checkout::open(folder.path()).unwrap(),
        repo: Repo::open(folder.path()).unwrap(),
    };
    let env = BTreeMap::new();
    let policy = Policy::parse(POLICY, "policy.yml").unwrap();
    let sandbox = Sandbox::prepare(&CommandLimits::default(), &env).unwrap();
    let redactor = Redactor::default();
    let connector = Connector::new(Arc::new(wire)).within(Duration::from_secs(20));
    let around = ServerEnvironment {
        workspace: &workspace,
        session_folder: None,
        run: RunEnv::bare(&policy, &env, &sandbox, &redactor, &connector),
        facts: vec![Facts::default()],
    };
    let planned = |name: &str, url: &str, headers: &[(&str, &str)]| {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let endpoint = ServerEndpoint::Http {
            url: url.to_owned(),
            headers,
            protocol: HttpProtocol::Either,
            oauth: None,
        };
        let definition = ServerDefinition {
            name: name.to_owned(),
            origin: ".mcp.json:1".to_owned(),
            endpoint: endpoint.clone(),
            disabled: false,
            timeout: Duration::from_secs(20),
            start_timeout: Duration::from_secs(20),
            disabled_tools: Vec::new(),
        };
        PlannedServer { definition, endpoint: Ok(endpoint) }
    };
    let planned = [
        planned("service", "http://plain.example/mcp", &[]),
        planned("inside", "http://inside.example/mcp", &[]),
        planned("elsewhere", "http://evil.example/mcp", &[]),
        planned("keyed", "http://plain.example/mcp", &[("Authorization", "Bearer x")]),
        planned("unnamed", "http://plain.example/mcp", &[]),
    ];
    runtime.block_on(async {
        let servers = McpServers::open(&planned, around.clone()).await;
        let why = |status: &ServerStatus| match status {
            ServerStatus::Refused(why) | ServerStatus::Failed(why) => why.clone(),
            ServerStatus::Ready => "ready".to_owned(),
            ServerStatus::Disabled => "disabled".to_owned(),
        };
        let standings: Vec<String> = servers.all().map(|(_, status, _)| why(status)).collect();
        assert_eq!(standings[0], "ready");
        for (status, wanted) in standings[1..].iter().zip([
            "private",
            "is not in `network.allow`",
            "unencrypted",
            "no rule is about",
        ]) {
            assert!(status.contains(wanted), "{wanted}: {status}");
        }
        let tools: Vec<String> =
            servers.offered()[0].tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(tools, ["say", "cut", "wrong", "gone"]);
        let ask = async |tool: &str| {
            let asked = Intent::Mcp { server: "service".to_owned(), tool: tool.to_owned() };
            let permit =
                around.run.policy.admit(TestIntent(asked.clone()), &Facts::default()).unwrap();
            servers.ask(&permit, &asked, "tools/call", &json!({ "name": tool })).await
        };
        assert_eq!(ask("say").await.unwrap()["content"][0]["text"], "said");
        assert_eq!(ask("wrong").await.unwrap_err().said, "it answered with status 500: it hurts");
        assert!(ask("gone").await.unwrap_err().said.contains("redirects are not followed"));
        let cut = ask("cut").await.unwrap_err().sentence;
        assert!(
            cut.contains("its answer breaks off") && cut.contains("may have been done or not"),
            "{cut}"
        );
        assert_eq!(
            ask("say").await.unwrap()["content"][0]["text"],
            "said",
            "it is reached once more"
        );
        servers.close().await;
    });
    let begun = [
        "POST initialize - -",
        "POST notifications/initialized conversation-1 2025-06-18",
        "POST tools/list conversation-1 2025-06-18",
        "POST refused conversation-1 2025-06-18",
    ];
    let (call, over) =
        ("POST tools/call conversation-1 2025-06-18", "DELETE - conversation-1 2025-06-18");
    let expected = [&begun[..], &[call; 4], &[over], &begun, &[call, over]].concat();
    assert_eq!(requests.try_iter().collect::<Vec<_>>(), expected);
    assert!(connected.try_iter().all(|address| address.to_string() == "93.184.216.34:80"));
}
