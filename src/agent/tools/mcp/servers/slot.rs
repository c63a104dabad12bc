//! `ServerSlot`: one server of a run: how it is started, how it stands, and the connection to it.
//!
//! In: a definition, and what is around the server. Out: a connection over which it is asked, or
//! why there is none. It is started under a permit of its own.

#![expect(
    clippy::disallowed_types,
    reason = "parallel tasks ask one server, which is asked one thing at a time"
)]

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::Mutex;

use crate::tools::mcp::connection::McpConnection;
use crate::tools::mcp::definition::ServerDefinition;
use crate::tools::mcp::definition::endpoint::{HttpProtocol, ServerEndpoint};
use crate::tools::mcp::definition::oauth::OauthClient;
use crate::tools::mcp::http::HttpTransport;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::oauth::TokenSource;
use crate::tools::mcp::server_start::ServerStart;
use crate::tools::mcp::servers::layers::ServerLayers;
use crate::tools::mcp::servers::listing::{ServerListing, list};
use crate::tools::mcp::servers::{PlannedServer, ServerEnvironment, ServerFailure, ServerStatus};
use crate::tools::mcp::service::ServiceClient;
use crate::tools::mcp::transport::McpTransport;
use locum_base::path::RepoPath;
use locum_base::secret::{Redactor, Secret};
use locum_modes::prompts::servers::OfferedServer;
use locum_policy::Permit;
use locum_policy::intent::{Facts, Intent};
use locum_policy::schema;
use locum_policy::urls::{Destination, WebUrl};
use locum_policy::verdict::Decision;
use locum_sandbox::exec::dialogue::{Dialogue, LINES, TalkingProgram};
use locum_sandbox::{CommandReach, WriteAccess};
use locum_workspace::checkout::Checkout;

/// Longest a server takes to begin, whatever its definition says: to be reached, to greet and to
/// list what it has.
const BEGIN_LIMIT: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 60 });

/// Times a server is started in one run.
const STARTS_LIMIT: u8 = 2;

/// Last lines that are shown of what a program said on its error stream.
const ERRORS_SHOWN_LINES: usize = 10;

/// A server of a run.
pub(super) struct ServerSlot {
    pub(super) planned: PlannedServer,
    pub(super) status: ServerStatus,
    /// What it had when the run began.
    pub(super) offered: OfferedServer,
    /// What of its tools was not taken then; `None` where all of them were.
    pub(super) left_out: Option<String>,
    /// The connection, unless it is over.
    pub(super) connection: Mutex<Option<McpConnection>>,
    starts: Cell<u8>,
    /// Whether a request is under way, or was given up midway.
    pub(super) asking: Cell<bool>,
    /// What it writes to, once it was started; `None` where it writes nothing.
    layers: OnceCell<Option<ServerLayers>>,
}

/// What a server's program is started with.
struct ServerProgram<'p> {
    words: &'p [String],
    env: BTreeMap<String, String>,
    cwd: Option<&'p str>,
}

impl ServerSlot {
    /// Starts a server, unless its definition or the policy is against it.
    pub(super) async fn open(planned: PlannedServer, around: &ServerEnvironment<'_>) -> Self {
        let name = planned.definition.name.clone();
        let mut slot = Self {
            planned,
            status: ServerStatus::Disabled,
            offered: OfferedServer { name, ..OfferedServer::default() },
            left_out: None,
            connection: Mutex::new(None),
            starts: Cell::new(0),
            asking: Cell::new(false),
            layers: OnceCell::new(),
        };
        if slot.planned.definition.disabled {
            return slot;
        }
        match slot.begin(around).await {
            Ok((connection, listing)) => {
                slot.offered = listing.offered;
                slot.left_out = listing.left_out;
                slot.connection = Mutex::new(Some(connection));
                slot.status = ServerStatus::Ready;
            }
            Err(status) => slot.status = status,
        }
        slot
    }

    /// Returns what it writes to; `None` where it writes nothing.
    pub(super) fn layers(&self) -> Option<&ServerLayers> {
        self.layers.get()?.as_ref()
    }

    /// Makes ready what a program writes to.
    fn begin_layers(
        &self,
        around: &ServerEnvironment<'_>,
    ) -> Result<Option<&ServerLayers>, ServerStatus> {
        let failed = |error: std::io::Error| {
            ServerStatus::Failed(format!("the layer that it writes to: {error}"))
        };
        if self.layers.get().is_none()
            && let Some(folder) = around.session_folder
        {
            let (name, sandbox) = (&self.planned.definition.name, around.run.sandbox);
            let layers = ServerLayers::open(folder, name, around.workspace, sandbox);
            // It is set nowhere else.
            let _ = self.layers.set(layers.map_err(failed)?);
        }
        if let Some(layers) = self.layers() {
            layers.live.begin().map_err(failed)?;
        }
        Ok(self.layers())
    }

    /// Starts the server once more, unless that was done already.
    pub(super) async fn again(
        &self,
        tool: &str,
        around: &ServerEnvironment<'_>,
    ) -> Result<McpConnection, ServerFailure> {
        let name = &self.offered.name;
        if self.status != ServerStatus::Ready {
            return Err(format!("The MCP server `{name}` is not there in this run.").into());
        }
        // A service runs outside of the session: connecting again starts nothing.
        let is_program = matches!(self.planned.endpoint, Ok(ServerEndpoint::Program { .. }));
        if is_program && self.starts.get() >= STARTS_LIMIT {
            return Err(format!(
                "The MCP server `{name}` ended again; it is not started another time. Go on \
                 without it."
            )
            .into());
        }
        let (connection, listing) = self.begin(around).await.map_err(|status| match status {
            ServerStatus::Refused(why) | ServerStatus::Failed(why) => ServerFailure {
                sentence: format!("The MCP server `{name}` ended and could not be started again."),
                said: why,
            },
            ServerStatus::Disabled | ServerStatus::Ready => {
                format!("The MCP server `{name}` ended.").into()
            }
        })?;
        let hash = |offered: &OfferedServer| {
            offered.tools.iter().find(|other| other.name == tool).map(|tool| tool.hash.clone())
        };
        if hash(&listing.offered) != hash(&self.offered) {
            end(connection.transport, around.run.redactor).await;
            return Err(format!(
                "The MCP server `{name}` was started again and has another tool `{tool}` now; it \
                 was not called."
            )
            .into());
        }
        Ok(connection)
    }

    async fn begin(
        &self,
        around: &ServerEnvironment<'_>,
    ) -> Result<(McpConnection, ServerListing), ServerStatus> {
        let definition = &self.planned.definition;
        let transport = self.transport(around)?;
        let patience = definition.start_timeout.min(BEGIN_LIMIT);
        let failed = |error: &McpError, said: &str| {
            let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
            ServerStatus::Failed(format!(
                "{}{said}",
                around.run.redactor.redact(&error.to_string())
            ))
        };
        let mut connection = McpConnection::over(transport);
        let begun = async {
            let greeting = connection.greet(patience).await?;
            list(&mut connection, definition, greeting, patience).await
        };
        let begun = tokio::time::timeout(BEGIN_LIMIT, begun).await;
        let not_ready = || format!("it was not ready within {} s", BEGIN_LIMIT.as_secs());
        match begun.unwrap_or_else(|_| Err(McpError::Told(not_ready()))) {
            Ok(listing) => Ok((connection, listing)),
            Err(error) => {
                let said = end(connection.transport, around.run.redactor).await;
                Err(failed(&error, &said))
            }
        }
    }

    /// Starts the program, or makes ready to ask the service, that the definition names.
    fn transport(&self, around: &ServerEnvironment<'_>) -> Result<McpTransport, ServerStatus> {
        let endpoint =
            self.planned.endpoint.as_ref().map_err(|why| ServerStatus::Refused(why.clone()))?;
        if let Some(why) = endpoint.problem() {
            return Err(ServerStatus::Refused(why));
        }
        match endpoint {
            ServerEndpoint::Program { words, env, cwd } => {
                let (permit, facts) = self.admitted(None, around)?;
                let mut whole_env = around.run.env.clone();
                whole_env.extend(env.iter().map(|(name, value)| (name.clone(), value.clone())));
                let program = ServerProgram { words, env: whole_env, cwd: cwd.as_deref() };
                let dialogue = self.start(&permit, program, &facts, around)?;
                Ok(McpTransport::Program(Box::new(dialogue)))
            }
            ServerEndpoint::Http { url, headers, protocol, oauth } => {
                let url = WebUrl::parse(url);
                let (permit, facts) = self.admitted(url.destination().cloned(), around)?;
                let headers = headers
                    .iter()
                    .map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value.as_str())))
                    .collect();
                let tokens = oauth.as_ref().map(|client| self.tokens(client, facts, around));
                let tokens = tokens.transpose()?;
                let connector = around.run.connector.clone();
                let client = Rc::new(ServiceClient { permit, connector, url, headers, tokens });
                Ok(match protocol {
                    HttpProtocol::Streamable => {
                        McpTransport::Http(Box::new(HttpTransport::new(client)))
                    }
                    HttpProtocol::Either => {
                        McpTransport::HttpOrSse(Box::new(HttpTransport::new(client)))
                    }
                    HttpProtocol::Sse => McpTransport::sse(client),
                })
            }
        }
    }

    /// Makes ready what gets tokens for the service.
    fn tokens(
        &self,
        client: &OauthClient,
        facts: Facts,
        around: &ServerEnvironment<'_>,
    ) -> Result<TokenSource, ServerStatus> {
        let ServerDefinition { name, origin, .. } = &self.planned.definition;
        let key = client.signing_key();
        Ok(TokenSource {
            server: name.clone(),
            client: client.clone(),
            key: key.map_err(|why| ServerStatus::Failed(format!("{origin}: {why}")))?,
            policy: around.run.policy.clone(),
            facts,
            tokens: RefCell::default(),
        })
    }

    /// Asks the policy in every mode that could call tools of the server; one that lets it start is
    /// enough. What is permitted counts as a start.
    fn admitted(
        &self,
        destination: Option<Destination>,
        around: &ServerEnvironment<'_>,
    ) -> Result<(Permit<ServerStart>, Facts), ServerStatus> {
        let opening = ServerStart { server: self.planned.definition.name.clone(), destination };
        let mut why = "no mode of this run may call tools of servers".to_owned();
        for facts in &around.facts {
            match around.run.policy.admit(opening.clone(), facts) {
                Ok(permit) => {
                    self.starts.set(self.starts.get() + 1);
                    return Ok((permit, facts.clone()));
                }
                Err(refusal) => {
                    let verdict = refusal.verdicts.first();
                    why = verdict.map(|verdict| verdict.reason()).unwrap_or_default();
                }
            }
        }
        Err(ServerStatus::Refused(why))
    }

    fn start(
        &self,
        permit: &Permit<ServerStart>,
        program: ServerProgram<'_>,
        facts: &Facts,
        around: &ServerEnvironment<'_>,
    ) -> Result<Dialogue, ServerStatus> {
        let unfenced = around.run.policy.settings().commands.sandbox == schema::SandboxSetting::Off;
        if !around.run.sandbox.holds() && !unfenced {
            return Err(ServerStatus::Refused(
                "a server is a program of somebody else and runs in the whole sandbox, which is \
                 not there"
                    .to_owned(),
            ));
        }
        let checkout = &around.workspace.checkout;
        let folder = folder_in(checkout, program.cwd)
            .map_err(|why| ServerStatus::Refused(format!("its `cwd`: {why}")))?;
        let git = around.workspace.repo.git_folders();
        let layers = self.begin_layers(around)?;
        let visible = |path: &RepoPath| {
            around.run.policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
        };
        let server = TalkingProgram {
            intent: Intent::Server(self.planned.definition.name.clone()),
            framing: LINES,
            words: program.words,
            folder: checkout.absolute(&folder),
            env: program.env,
            sandbox: around.run.sandbox,
            reach: CommandReach {
                git: &git,
                writes: layers.map_or(WriteAccess::Nothing, |_| WriteAccess::Entries),
                reads_files: true,
                visible: &visible,
                policy: Some(around.run.policy),
                layer: layers.map(|layers| layers.live.folders()),
                ..CommandReach::nothing(checkout.root())
            },
            proxy: around.run.sandbox.proxy(&facts.mode),
        };
        Dialogue::start(permit, server).map_err(|error| ServerStatus::Failed(error.to_string()))
    }
}

/// Returns the folder of the checkout that a definition names, also by its absolute path.
fn folder_in(checkout: &Checkout, cwd: Option<&str>) -> Result<RepoPath, String> {
    let inside = cwd.unwrap_or(".");
    let inside = checkout
        .root()
        .to_str()
        .and_then(|root| inside.strip_prefix(root))
        .map_or(inside, |rest| rest.trim_start_matches('/'));
    let path = if inside.is_empty() || inside == "." {
        RepoPath::root()
    } else {
        RepoPath::parse(inside).map_err(|error| error.to_string())?
    };
    checkout.resolve(&path).map_err(|error| error.to_string())
}

/// Ends a connection; returns the last of what a program said on its error stream.
pub(super) async fn end(transport: McpTransport, redactor: &Redactor) -> String {
    let said = match transport {
        McpTransport::Program(dialogue) => dialogue.end(redactor).boxed_local().await,
        McpTransport::Http(mut service) | McpTransport::HttpOrSse(mut service) => {
            // Whether it received that does not matter.
            let _closed = tokio::time::timeout(Duration::from_secs(2), service.close()).await;
            String::new()
        }
        McpTransport::Sse(_) => String::new(),
    };
    let lines: Vec<&str> = said.lines().collect();
    lines.get(lines.len().saturating_sub(ERRORS_SHOWN_LINES)..).unwrap_or_default().join("\n")
}
