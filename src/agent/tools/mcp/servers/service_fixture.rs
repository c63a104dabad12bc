//! Services for tests of the client: a router on 127.0.0.1 that answers as a test says, and the
//! servers of a run that reach it whatever address they were told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::env::RunEnv;
use crate::tools::mcp::definition::ServerFile;
use crate::tools::mcp::servers::{
    McpServers, PlannedServer, ServerEnvironment, ServerFailure, ServerStatus,
};
use crate::tools::mcp::signing_key::test_keys::ec_key;
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema::CommandLimits;
use locum_sandbox::Sandbox;
use locum_sandbox::exec::tail::OutputTail;
use locum_sandbox::network::Connector;
use locum_testing::network::RecordingTransport;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

/// A request as the service got it.
#[derive(Clone, Debug)]
pub(super) struct ServiceRequest {
    /// `POST`, `GET` or `DELETE`.
    pub(super) verb: String,
    /// Path and query.
    pub(super) path: String,
    /// Headers, by names in small letters.
    pub(super) headers: BTreeMap<String, String>,
    /// The body as text.
    pub(super) text: String,
    /// The body as JSON, or null.
    pub(super) body: Value,
}

impl ServiceRequest {
    /// Returns the method of the message.
    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// Returns a header, or an empty text.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns an answer to the message as a line.
    pub(super) fn answer(&self, result: Value) -> String {
        json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result }).to_string()
    }

    /// Returns what a plain service answers: it has these tools, and says `said`.
    pub(super) fn plain(&self, tools: &[&str]) -> Response {
        match self.method() {
            "initialize" => reply(200, "application/json", self.answer(greeting("2025-11-25"))),
            "tools/list" => reply(200, "application/json", self.answer(listed(tools))),
            "tools/call" => reply(200, "application/json", self.answer(said("said"))),
            _ => reply(202, "", String::new()),
        }
    }
}

/// Returns what a service says of itself.
pub(super) fn greeting(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": { "tools": {} } })
}

/// Returns a list of tools.
pub(super) fn listed(tools: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    json!({ "tools": tools.iter().map(tool).collect::<Vec<_>>() })
}

/// Returns the result of a call.
pub(super) fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Returns a response with a body.
pub(super) fn reply(status: u16, content_type: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status).header("content-type", content_type);
    response.body(body.into()).unwrap()
}

/// A call, as it is judged.
struct TestIntent(Intent);

impl Act for TestIntent {
    fn intents(&self) -> Vec<Intent> {
        vec![self.0.clone()]
    }
}

/// What servers of a test run in, and the service that all of them reach.
pub(super) struct ServiceFixture {
    runtime: Runtime,
    _folder: TempDir,
    workspace: Workspace,
    env: BTreeMap<String, String>,
    policy: Policy,
    sandbox: Sandbox,
    redactor: Redactor,
    connector: Connector,
    pub(super) tail: OutputTail,
    connected: mpsc::Receiver<SocketAddr>,
    requests: mpsc::Receiver<ServiceRequest>,
}

impl ServiceFixture {
    /// Serves requests so.
    pub(super) fn new(
        policy: &str,
        answer: impl Fn(&ServiceRequest) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let (sender, requests) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let route = move |request: Request| {
            let (answer, sender) = (answer.clone(), sender.clone());
            async move {
                let request = read(request).await;
                let response = answer(&request);
                let _heard = sender.send(request);
                response
            }
        };
        runtime
            .spawn(async move { axum::serve(listener, axum::Router::new().fallback(route)).await });
        let names: &[(&str, &[&[&str]])] = &[("nearby.example", &[&["127.0.0.1"]])];
        let (transport, connected) = RecordingTransport::new(address, names);
        let folder = tempfile::tempdir().unwrap();
        seed::repository(folder.path(), &[("a", "a")], "first").unwrap();
        let workspace = Workspace {
            checkout: Checkout::open(folder.path()).unwrap(),
            repo: Repo::open(folder.path()).unwrap(),
        };
        let env = BTreeMap::new();
        Self {
            runtime,
            _folder: folder,
            workspace,
            sandbox: Sandbox::prepare(&CommandLimits::default(), &env).unwrap(),
            env,
            policy: Policy::parse(policy, "policy.yml").unwrap(),
            redactor: Redactor::default(),
            connector: Connector::new(Arc::new(transport)).within(Duration::from_secs(20)),
            tail: OutputTail::default(),
            connected,
            requests,
        }
    }

    /// Starts the servers of a file.
    pub(super) fn open(&self, definitions: &str) -> McpServers<'_> {
        let file = ServerFile::parse(".mcp.json", definitions);
        assert!(file.mistakes.is_empty(), "{:?}", file.mistakes);
        let value = |name: &str| match name {
            "KEY" => Some("the-key-of-the-service".to_owned()),
            "SIGNING_KEY" => Some(ec_key()),
            _ => None,
        };
        let planned: Vec<PlannedServer> = file
            .servers
            .into_iter()
            .map(|definition| {
                let endpoint = definition.filled(&value);
                PlannedServer { definition, endpoint }
            })
            .collect();
        let around = ServerEnvironment {
            workspace: &self.workspace,
            session_folder: None,
            run: RunEnv {
                tail: Some(&self.tail),
                ..RunEnv::bare(
                    &self.policy,
                    &self.env,
                    &self.sandbox,
                    &self.redactor,
                    &self.connector,
                )
            },
            facts: vec![Facts::default()],
        };
        self.runtime.block_on(McpServers::open(&planned, around))
    }

    /// Calls a tool.
    pub(super) fn call(
        &self,
        servers: &McpServers<'_>,
        server: &str,
        tool: &str,
    ) -> Result<Value, ServerFailure> {
        let asked = Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() };
        let permit = self.policy.admit(TestIntent(asked.clone()), &Facts::default()).unwrap();
        let params = json!({ "name": tool });
        self.runtime.block_on(servers.ask(&permit, &asked, "tools/call", &params))
    }

    /// Calls a tool and is cut off by what else happens; then the servers are ended.
    pub(super) fn cut_off(
        &self,
        servers: &McpServers<'_>,
        (server, tool): (&str, &str),
        meanwhile: impl Future<Output = ()>,
    ) {
        let asked = Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() };
        let permit = self.policy.admit(TestIntent(asked.clone()), &Facts::default()).unwrap();
        let params = json!({ "name": tool });
        self.runtime.block_on(async {
            tokio::select! {
                answer = servers.ask(&permit, &asked, "tools/call", &params) => {
                    panic!("answered: {answer:?}")
                }
                () = meanwhile => {}
            }
            servers.close().await;
        });
    }

    /// Ends the servers.
    pub(super) fn close(&self, servers: &McpServers<'_>) {
        self.runtime.block_on(servers.close());
    }

    /// Returns the addresses that were connected to.
    pub(super) fn connected(&self) -> Vec<String> {
        self.connected.try_iter().map(|address| address.to_string()).collect()
    }

    /// Returns the requests that the service got.
    pub(super) fn requests(&self) -> Vec<ServiceRequest> {
        self.requests.try_iter().collect()
    }
}

async fn read(request: Request) -> ServiceRequest {
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
    };
    ServiceRequest {
        verb: head.method.to_string(),
        path: head.uri.to_string(),
        headers: head.headers.iter().map(header).collect(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    }
}

/// Returns how each server stands, by name: why it is not there, or `ready`.
pub(super) fn standings(servers: &McpServers<'_>) -> Vec<String> {
    let standing = |status: &ServerStatus| match status {
        ServerStatus::Refused(why) | ServerStatus::Failed(why) => why.clone(),
        ServerStatus::Ready => "ready".to_owned(),
        ServerStatus::Disabled => "disabled".to_owned(),
    };
    let all = servers.all();
    all.map(|(one, status, _)| format!("{}: {}", one.name, standing(status))).collect()
}
