//! `Servers`: the MCP servers of a run. Those that the policy names are started when it begins,
//! asked once what they have, and kept until it ends.
//!
//! In: definitions of the trusted ref, the policy, what is around commands. Out: a catalogue that
//! stays as it was, and answers to requests that a permit covers. A server that ends is started
//! again once, when it is asked next; what it was asked when it ended is not asked again. A server
//! that has other tools then is not asked for them: the catalogue is what the policy and the model
//! were shown.

#![expect(
    clippy::disallowed_types,
    reason = "tasks beside each other ask one server, which is asked one thing at a time"
)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::tools::mcp::catalogue;
use crate::tools::mcp::definition::{ServerDefinition, Way};
use crate::tools::mcp::http::Service;
use crate::tools::mcp::link::{Fault, Greeting, Link, Wire};
use locum_base::path::RepoPath;
use locum_base::secret::{Redactor, Secret};
use locum_modes::prompts::servers::{OfferedServer, OfferedTool};
use locum_policy::Permit;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema;
use locum_policy::urls::{Destination, Scheme, WebUrl};
use locum_policy::verdict::Decision;
use locum_sandbox::exec::dialogue::{Dialogue, Server};
use locum_sandbox::network::Connector;
use locum_sandbox::{Reach, Sandbox, Writes};
use locum_workspace::Workspace;

/// Pages of a list that are asked for.
const PAGES_LIMIT: usize = 20;

/// Longest wait for a server to begin, whatever its definition says.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);

/// Times a server is started in one run.
const STARTS_LIMIT: u8 = 2;

/// Last lines that are shown of what a program said on its error stream.
const ERRORS_SHOWN_LINES: usize = 10;

/// What is true of a request that was sent and not answered.
const MAYBE: &str = "What was asked may have been done or not; it is not asked again by itself.";

/// Starting a server, or connecting to it.
#[derive(Clone, Debug)]
pub struct Opening {
    server: String,
    destination: Option<Destination>,
}

impl Act for Opening {
    fn intents(&self) -> Vec<Intent> {
        let connection =
            self.destination.iter().map(|destination| Intent::Connect(destination.clone()));
        std::iter::once(Intent::Server(self.server.clone())).chain(connection).collect()
    }
}

/// A server that may be started.
#[derive(Clone, Debug)]
pub struct PlannedServer {
    /// Its definition.
    pub definition: ServerDefinition,
    /// How it is reached, with its variables filled in, or which of them it may not have.
    pub way: Result<Way, String>,
}

/// What servers run in.
#[derive(Clone)]
pub struct Surroundings<'a> {
    /// The checkout.
    pub workspace: &'a Workspace,
    /// Decides.
    pub policy: &'a Policy,
    /// The circumstances of the run, once for each mode that may call tools of servers.
    pub facts: Vec<Facts>,
    /// The environment commands get.
    pub env: &'a BTreeMap<String, String>,
    /// What is around commands, and around servers.
    pub sandbox: &'a Sandbox,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Opens connections.
    pub connector: &'a Connector,
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its definition says that it is left alone.
    Disabled,
    /// It may not be started: why.
    Refused(String),
    /// It could not be started, or does not answer: why.
    Failed(String),
    /// It answers.
    Ready,
}

/// Why a server did not do what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// A sentence of ours for the model.
    pub sentence: String,
    /// What the server said itself; empty when it said nothing.
    pub said: String,
}

impl From<String> for Unanswered {
    fn from(sentence: String) -> Self {
        Self { sentence, said: String::new() }
    }
}

/// The servers of a run; see the module.
pub struct Servers<'a> {
    around: Option<Surroundings<'a>>,
    slots: Vec<Slot>,
    notes: RefCell<Vec<ServerNote>>,
    /// Tools that are not offered, by server and tool.
    held_back: RefCell<BTreeSet<(String, String)>>,
}

/// Something a server did that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNote {
    /// Its name.
    pub server: String,
    /// What it did.
    pub what: String,
}

struct Slot {
    planned: PlannedServer,
    standing: Standing,
    offered: OfferedServer,
    /// The connection, unless it is over.
    link: Mutex<Option<Link>>,
    starts: Cell<u8>,
}

impl<'a> Servers<'a> {
    /// Returns no servers.
    #[must_use]
    pub fn none() -> Self {
        Self {
            around: None,
            slots: Vec::new(),
            notes: RefCell::default(),
            held_back: RefCell::default(),
        }
    }

    /// Starts those that may be started, side by side, and asks them what they have.
    pub async fn open(planned: &[PlannedServer], around: Surroundings<'a>) -> Self {
        let opened = planned.iter().map(|planned| Slot::open(planned.clone(), &around));
        let slots = join_all(opened).await;
        Self {
            around: Some(around),
            slots,
            notes: RefCell::default(),
            held_back: RefCell::default(),
        }
    }

    /// Returns every server and how it stands, in the order of their definitions.
    pub fn all(&self) -> impl Iterator<Item = (&ServerDefinition, &Standing, &OfferedServer)> {
        self.slots.iter().map(|slot| (&slot.planned.definition, &slot.standing, &slot.offered))
    }

    /// Returns the servers that answer, with what they have.
    #[must_use]
    pub fn offered(&self) -> Vec<OfferedServer> {
        let held_back = self.held_back.borrow();
        let kept = |server: &OfferedServer| {
            let mut server = server.clone();
            server
                .tools
                .retain(|tool| !held_back.contains(&(server.name.clone(), tool.name.clone())));
            server
        };
        self.slots
            .iter()
            .filter(|slot| slot.standing == Standing::Ready)
            .map(|slot| kept(&slot.offered))
            .collect()
    }

    /// Whether any answers.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.slots.iter().any(|slot| slot.standing == Standing::Ready)
    }

    /// Keeps back every tool that is another than it was before, or was not there: the run goes on
    /// with what it began with.
    pub fn hold_to(&self, before: &BTreeMap<String, BTreeMap<String, String>>) {
        for slot in self.slots.iter().filter(|slot| slot.standing == Standing::Ready) {
            let server = &slot.offered.name;
            let hash =
                |tool: &OfferedTool| before.get(server).and_then(|tools| tools.get(&tool.name));
            let others: Vec<&str> = slot
                .offered
                .tools
                .iter()
                .filter(|tool| hash(tool) != Some(&tool.hash))
                .map(|tool| tool.name.as_str())
                .collect();
            if !others.is_empty() {
                self.note(
                    server,
                    format!(
                        "has other tools than when the run began; not offered: {}",
                        others.join(", ")
                    ),
                );
            }
            self.held_back
                .borrow_mut()
                .extend(others.into_iter().map(|tool| (server.clone(), tool.to_owned())));
        }
    }

    /// Takes what was noted since the last time.
    #[must_use]
    pub fn take_notes(&self) -> Vec<ServerNote> {
        self.notes.take()
    }

    /// Asks a server for something that the permit covers.
    ///
    /// # Errors
    /// When it does not answer, or with an error.
    pub async fn ask(
        &self,
        permit: &Permit<impl Act>,
        asked: &Intent,
        method: &str,
        params: &Value,
    ) -> Result<Value, Unanswered> {
        let Intent::Mcp { server, tool } = asked else {
            return Err("This call is about no server.".to_owned().into());
        };
        if !permit.covers(asked) {
            return Err(format!("`{asked}` is not covered by the permit.").into());
        }
        let (Some(around), Some(slot)) =
            (&self.around, self.slots.iter().find(|slot| slot.offered.name == *server))
        else {
            return Err(format!("There is no MCP server `{server}`.").into());
        };
        let mut link = slot.link.lock().await;
        if link.is_none() {
            *link = Some(slot.again(tool, around).await?);
            self.note(server, "ended and was started again".to_owned());
        }
        let Some(open) = link.as_mut() else {
            return Err(format!("The MCP server `{server}` cannot be reached.").into());
        };
        let answer = open.ask(method, params, slot.planned.definition.timeout).await;
        if std::mem::take(&mut open.tools_changed) {
            self.note(
                server,
                "said that its tools changed; those it listed when the run began stay".to_owned(),
            );
        }
        match answer {
            Ok(value) => Ok(value),
            Err(Fault::Told(said)) => Err(Unanswered {
                sentence: format!("The MCP server `{server}` answered with an error."),
                said,
            }),
            Err(fault @ Fault::TooLate(_)) => {
                Err(format!("The MCP server `{server}` did not do it: {fault}. {MAYBE}").into())
            }
            Err(fault @ Fault::Over(_)) => {
                let said = match link.take() {
                    Some(open) => end(open.wire, around.redactor).await,
                    None => String::new(),
                };
                Err(Unanswered {
                    sentence: format!(
                        "The connection to the MCP server `{server}` is over: {fault}. {MAYBE}"
                    ),
                    said,
                })
            }
        }
    }

    /// Ends every server.
    pub async fn close(&self) {
        let Some(around) = &self.around else { return };
        let close = |slot: &'_ Slot| {
            let link = slot.link.try_lock().ok().and_then(|mut link| link.take());
            async move {
                if let Some(open) = link {
                    end(open.wire, around.redactor).await;
                }
            }
        };
        join_all(self.slots.iter().map(close)).await;
    }

    fn note(&self, server: &str, what: String) {
        self.notes.borrow_mut().push(ServerNote { server: server.to_owned(), what });
    }
}

impl Slot {
    async fn open(planned: PlannedServer, around: &Surroundings<'_>) -> Self {
        let name = planned.definition.name.clone();
        let mut slot = Self {
            planned,
            standing: Standing::Disabled,
            offered: OfferedServer { name, ..OfferedServer::default() },
            link: Mutex::new(None),
            starts: Cell::new(0),
        };
        if slot.planned.definition.disabled {
            return slot;
        }
        match slot.begin(around).await {
            Ok((link, offered)) => {
                slot.offered = offered;
                slot.link = Mutex::new(Some(link));
                slot.standing = Standing::Ready;
            }
            Err(standing) => slot.standing = standing,
        }
        slot
    }

    /// Starts the server once more, unless that was done already.
    async fn again(&self, tool: &str, around: &Surroundings<'_>) -> Result<Link, Unanswered> {
        let name = &self.offered.name;
        if self.standing != Standing::Ready {
            return Err(format!("The MCP server `{name}` is not there in this run.").into());
        }
        if self.starts.get() >= STARTS_LIMIT {
            return Err(format!(
                "The MCP server `{name}` ended again; it is not started another time. Go on \
                 without it."
            )
            .into());
        }
        let (link, offered) = self.begin(around).await.map_err(|standing| match standing {
            Standing::Refused(why) | Standing::Failed(why) => Unanswered {
                sentence: format!("The MCP server `{name}` ended and could not be started again."),
                said: why,
            },
            Standing::Disabled | Standing::Ready => {
                format!("The MCP server `{name}` ended.").into()
            }
        })?;
        let hash = |offered: &OfferedServer| {
            offered.tools.iter().find(|other| other.name == tool).map(|tool| tool.hash.clone())
        };
        if hash(&offered) != hash(&self.offered) {
            end(link.wire, around.redactor).await;
            return Err(format!(
                "The MCP server `{name}` was started again and has another tool `{tool}` now; it \
                 was not called."
            )
            .into());
        }
        Ok(link)
    }

    async fn begin(&self, around: &Surroundings<'_>) -> Result<(Link, OfferedServer), Standing> {
        let definition = &self.planned.definition;
        let way = self.planned.way.as_ref().map_err(|why| Standing::Refused(why.clone()))?;
        let url = match way {
            Way::Http { url, .. } => Some(WebUrl::parse(url)),
            Way::Program { .. } => None,
        };
        if let Some(why) = url.as_ref().and_then(WebUrl::problem) {
            return Err(Standing::Refused(format!("its `url`: {why}")));
        }
        let destination = url.as_ref().and_then(WebUrl::destination).cloned();
        let (permit, mode) =
            admitted(Opening { server: definition.name.clone(), destination }, around)?;
        self.starts.set(self.starts.get() + 1);
        let patience = definition.timeout.min(BEGIN_LIMIT);
        let wire = match (way, url) {
            (Way::Program { words, env, cwd }, _) => {
                let dialogue = self.start(&permit, words, env, cwd.as_deref(), &mode, around)?;
                Wire::Program(Box::new(dialogue))
            }
            (Way::Http { headers, .. }, Some(url)) => {
                let in_the_clear =
                    url.destination().is_some_and(|destination| destination.scheme == Scheme::Http);
                if in_the_clear && !headers.is_empty() {
                    return Err(Standing::Refused(
                        "its `headers` would be sent unencrypted: `url` has to begin with `https://`".to_owned(),
                    ));
                }
                let headers = headers
                    .iter()
                    .map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value.as_str())))
                    .collect();
                Wire::Service(Box::new(Service::new(
                    permit,
                    around.connector.clone(),
                    url,
                    headers,
                )))
            }
            (Way::Http { .. }, None) => {
                return Err(Standing::Refused("it has no `url`".to_owned()));
            }
        };
        let failed = |fault: &Fault, said: &str| {
            let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
            Standing::Failed(format!("{}{said}", around.redactor.redact(&fault.to_string())))
        };
        let (mut link, greeting) = match Link::greet(wire, patience).await {
            Ok(greeted) => greeted,
            Err((fault, wire)) => {
                let said = end(wire, around.redactor).await;
                return Err(failed(&fault, &said));
            }
        };
        match list(&mut link, definition, greeting, patience).await {
            Ok(offered) => Ok((link, offered)),
            Err(fault) => {
                let said = end(link.wire, around.redactor).await;
                Err(failed(&fault, &said))
            }
        }
    }

    fn start(
        &self,
        permit: &Permit<Opening>,
        words: &[String],
        own: &BTreeMap<String, String>,
        cwd: Option<&str>,
        mode: &Facts,
        around: &Surroundings<'_>,
    ) -> Result<Dialogue, Standing> {
        let unfenced = around.policy.settings().commands.sandbox == schema::Sandbox::Off;
        if !around.sandbox.holds() && !unfenced {
            return Err(Standing::Refused(
                "a server is a program of somebody else and runs in the whole sandbox, which is \
                 not there"
                    .to_owned(),
            ));
        }
        let checkout = &around.workspace.checkout;
        let inside = cwd.unwrap_or(".");
        let inside = checkout
            .root()
            .to_str()
            .and_then(|root| inside.strip_prefix(root))
            .map_or(inside, |rest| rest.trim_start_matches('/'));
        let path = if inside.is_empty() || inside == "." {
            Ok(RepoPath::root())
        } else {
            RepoPath::parse(inside).map_err(|error| error.to_string())
        };
        let folder =
            path.and_then(|path| checkout.resolve(&path).map_err(|error| error.to_string()));
        let folder = folder.map_err(|error| Standing::Refused(format!("its `cwd`: {error}")))?;
        let git = around.workspace.repo.git_folders();
        let visible = |path: &RepoPath| {
            around.policy.decide(&Intent::Read(path.clone()), mode).decision == Decision::Allow
        };
        let mut env = around.env.clone();
        env.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        let server = Server {
            name: &self.planned.definition.name,
            words,
            folder: checkout.absolute(&folder),
            env,
            sandbox: around.sandbox,
            reach: Reach {
                root: checkout.root(),
                git: &git,
                writes: Writes::Nothing,
                git_settings: false,
                visible: &visible,
                policy: Some(around.policy),
            },
            proxy: around.sandbox.proxy(&mode.mode),
        };
        Dialogue::start(permit, server).map_err(|error| Standing::Failed(error.to_string()))
    }
}

/// Asks the policy in every mode that could call tools of the server; one that lets it start is
/// enough.
fn admitted(
    opening: Opening,
    around: &Surroundings<'_>,
) -> Result<(Permit<Opening>, Facts), Standing> {
    let mut why = "no mode of this run may call tools of servers".to_owned();
    for facts in &around.facts {
        match around.policy.admit(opening.clone(), facts) {
            Ok(permit) => return Ok((permit, facts.clone())),
            Err(refusal) => {
                why = refusal.verdicts.first().map(|verdict| verdict.reason()).unwrap_or_default()
            }
        }
    }
    Err(Standing::Refused(why))
}

/// Asks a server what it has.
async fn list(
    link: &mut Link,
    definition: &ServerDefinition,
    greeting: Greeting,
    patience: Duration,
) -> Result<OfferedServer, Fault> {
    let mut offered = OfferedServer {
        name: definition.name.clone(),
        has_resources: greeting.has_resources,
        ..OfferedServer::default()
    };
    let mut cursor = None;
    for _ in 0..PAGES_LIMIT {
        if !greeting.has_tools {
            break;
        }
        let params = cursor.map_or_else(|| json!({}), |cursor: Value| json!({ "cursor": cursor }));
        let page = link.ask("tools/list", &params, patience).await?;
        let left_out = catalogue::add_tools(&definition.name, &page, &mut offered.tools);
        if left_out > 0 {
            tracing::warn!(
                server = definition.name,
                left_out,
                "tools of an MCP server are left out: their names are none, or there are too many"
            );
        }
        cursor = page.get("nextCursor").filter(|cursor| cursor.is_string()).cloned();
        if cursor.is_none() || offered.tools.len() >= catalogue::TOOLS_LIMIT {
            break;
        }
    }
    offered.tools.retain(|tool| !definition.disabled_tools.contains(&tool.name));
    if greeting.has_resources {
        // Only for the prompt: a server that cannot list them may have them all the same.
        let page = link.ask("resources/list", &json!({}), patience).await;
        match page {
            Ok(page) => offered.resources = catalogue::resources(&page),
            Err(fault) if fault.ends_it() => return Err(fault),
            Err(_) => {}
        }
    }
    Ok(offered)
}

/// Ends a connection; returns the last of what a program said on its error stream.
async fn end(wire: Wire, redactor: &Redactor) -> String {
    let said = match wire {
        Wire::Program(dialogue) => dialogue.end(redactor).boxed_local().await,
        Wire::Service(mut service) => {
            // Whether it heard that does not matter.
            let _closed = tokio::time::timeout(Duration::from_secs(2), service.close()).await;
            String::new()
        }
    };
    let lines: Vec<&str> = said.lines().collect();
    lines.get(lines.len().saturating_sub(ERRORS_SHOWN_LINES)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use axum::extract::Request;
    use axum::response::Response;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{PlannedServer, Servers, Standing, Surroundings};
    use crate::tools::mcp::definition::{ServerDefinition, Way};
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
    struct Asking(Intent);

    impl Act for Asking {
        fn intents(&self) -> Vec<Intent> {
            vec![self.0.clone()]
        }
    }

    /// A service that answers as JSON, as events with other things between, and with an answer that
    /// breaks off.
    async fn serve(request: Request, told: mpsc::Sender<String>) -> Response {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let header = |name: &str| {
            head.headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned()
        };
        let method =
            asked["method"].as_str().or(asked.get("error").map(|_| "refused")).unwrap_or("-");
        let name = asked["params"]["name"].as_str().unwrap_or_default();
        told.send(format!(
            "{} {method} {} {}",
            head.method,
            header("mcp-session-id"),
            header("mcp-protocol-version")
        ))
        .unwrap();
        let answer = |result: Value| {
            json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string()
        };
        let response =
            Response::builder().header("content-type", "application/json; charset=utf-8");
        let events = Response::builder().header("content-type", "text/event-stream");
        let told = match (method, name) {
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
        told.unwrap().map(Into::into)
    }

    #[test]
    fn a_service_is_asked_over_http_at_the_address_that_was_judged() {
        let (sender, told) = mpsc::channel();
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
        let around = Surroundings {
            workspace: &workspace,
            policy: &Policy::parse(POLICY, "policy.yml").unwrap(),
            facts: vec![Facts::default()],
            env: &env,
            sandbox: &Sandbox::prepare(&CommandLimits::default(), &env).unwrap(),
            redactor: &Redactor::default(),
            connector: &Connector::new(Arc::new(wire)).within(Duration::from_secs(20)),
        };
        let planned = |name: &str, url: &str, headers: &[(&str, &str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let way = Way::Http { url: url.to_owned(), headers };
            let definition = ServerDefinition {
                name: name.to_owned(),
                origin: ".mcp.json:1".to_owned(),
                way: way.clone(),
                disabled: false,
                timeout: Duration::from_secs(20),
                disabled_tools: Vec::new(),
            };
            PlannedServer { definition, way: Ok(way) }
        };
        let planned = [
            planned("service", "http://plain.example/mcp", &[]),
            planned("inside", "http://inside.example/mcp", &[]),
            planned("elsewhere", "http://evil.example/mcp", &[]),
            planned("keyed", "http://plain.example/mcp", &[("Authorization", "Bearer x")]),
            planned("unnamed", "http://plain.example/mcp", &[]),
        ];
        runtime.block_on(async {
            let servers = Servers::open(&planned, around.clone()).await;
            let why = |standing: &Standing| match standing {
                Standing::Refused(why) | Standing::Failed(why) => why.clone(),
                Standing::Ready => "ready".to_owned(),
                Standing::Disabled => "disabled".to_owned(),
            };
            let standings: Vec<String> =
                servers.all().map(|(_, standing, _)| why(standing)).collect();
            assert_eq!(standings[0], "ready");
            for (standing, wanted) in standings[1..].iter().zip([
                "private",
                "is not in `network.allow`",
                "unencrypted",
                "no rule is about",
            ]) {
                assert!(standing.contains(wanted), "{wanted}: {standing}");
            }
            let tools: Vec<String> =
                servers.offered()[0].tools.iter().map(|tool| tool.name.clone()).collect();
            assert_eq!(tools, ["say", "cut", "wrong", "gone"]);
            let ask = async |tool: &str| {
                let asked = Intent::Mcp { server: "service".to_owned(), tool: tool.to_owned() };
                let permit = around.policy.admit(Asking(asked.clone()), &Facts::default()).unwrap();
                servers.ask(&permit, &asked, "tools/call", &json!({ "name": tool })).await
            };
            assert_eq!(ask("say").await.unwrap()["content"][0]["text"], "said");
            assert_eq!(
                ask("wrong").await.unwrap_err().said,
                "it answered with status 500: it hurts"
            );
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
        assert_eq!(told.try_iter().collect::<Vec<_>>(), expected);
        assert!(connected.try_iter().all(|address| address.to_string() == "93.184.216.34:80"));
    }
}
