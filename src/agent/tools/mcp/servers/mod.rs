//! `McpServers`: the MCP servers of a run. Those that the policy names are started when it begins,
//! asked once what they have, and kept until it ends.
//!
//! In: definitions of the trusted ref, the policy, the sandbox around commands. Out: a catalogue
//! that stays as it was, and answers to requests that a permit covers. A server that ends is
//! started again once, at the next request; the request during which it ended is not repeated.
//! Tools that it has only then are not called: the catalogue is what the policy and the model were
//! shown.

mod layers;
mod listing;
#[cfg(test)]
mod loopback_tests;
#[cfg(test)]
mod service_fixture;
#[cfg(test)]
mod service_tests;
pub(super) mod slot;
#[cfg(test)]
mod sse_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod token_tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::rc::Rc;

use futures::future::join_all;
use serde_json::Value;

use crate::env::RunEnv;
use crate::tools::mcp::connection::McpRequest;
use crate::tools::mcp::definition::ServerDefinition;
use crate::tools::mcp::definition::endpoint::ServerEndpoint;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::servers::layers::ServerLayers;
use crate::tools::mcp::servers::slot::{ServerSlot, end};
use locum_base::path::RepoPath;
use locum_modes::prompts::servers::{OfferedServer, OfferedTool};
use locum_policy::Permit;
use locum_policy::intent::{Act, Facts, Intent};
use locum_workspace::Workspace;
use locum_workspace::layer::{Layer, LayerChanges};
use locum_workspace::repo::RepoError;

/// What is true of a request that was sent and not answered.
const MAYBE: &str = "What was asked may have been done or not; it is not asked again by itself.";

/// The method that calls a tool, which is never asked twice.
const CALL_METHOD: &str = "tools/call";

/// A server that may be started.
#[derive(Clone, Debug)]
pub struct PlannedServer {
    /// What the configuration says about it.
    pub definition: ServerDefinition,
    /// How it is reached, with its variables filled in, or which of them it may not have.
    pub endpoint: Result<ServerEndpoint, String>,
}

/// What servers run in.
#[derive(Clone)]
pub struct ServerEnvironment<'a> {
    /// The checkout that servers run in.
    pub workspace: &'a Workspace,
    /// Folder of the session, for what servers write; `None` where they only say what they have.
    pub session_folder: Option<&'a Path>,
    /// What decides which servers start, what is around them and what opens connections to them.
    pub run: RunEnv<'a>,
    /// The circumstances of the run, once for each mode that may call tools of servers.
    pub facts: Vec<Facts>,
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    /// Its definition says that it is left alone.
    Disabled,
    /// It may not be started: why.
    Refused(String),
    /// It could not be started, or does not answer: why.
    Failed(String),
    /// It is started and answers requests.
    Ready,
}

/// Why a server did not do what it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFailure {
    /// A sentence of ours for the model.
    pub sentence: String,
    /// What the server said itself; empty when it said nothing.
    pub said: String,
}

impl From<String> for ServerFailure {
    fn from(sentence: String) -> Self {
        Self { sentence, said: String::new() }
    }
}

/// The servers of a run; see the module.
#[derive(Default)]
pub struct McpServers<'a> {
    around: Option<ServerEnvironment<'a>>,
    slots: Vec<ServerSlot>,
    notes: RefCell<Vec<ServerNote>>,
    /// Tools that are not offered, by server and tool.
    held_back: RefCell<BTreeSet<(String, String)>>,
}

/// Something a server did without a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNote {
    /// Name of the server in the definitions.
    pub server: String,
    /// What it did, as text.
    pub what: String,
}

impl<'a> McpServers<'a> {
    /// Starts those that may be started, side by side, and asks them what they have.
    pub async fn open(planned: &[PlannedServer], around: ServerEnvironment<'a>) -> Self {
        let opened = planned.iter().map(|planned| ServerSlot::open(planned.clone(), &around));
        let slots = join_all(opened).await;
        let servers = Self { around: Some(around), slots, ..Self::default() };
        for slot in &servers.slots {
            slot.left_out.iter().for_each(|what| servers.note(&slot.offered.name, what.clone()));
        }
        servers
    }

    /// Returns every server and how it stands, in the order of their definitions.
    pub fn all(&self) -> impl Iterator<Item = (&ServerDefinition, &ServerStatus, &OfferedServer)> {
        self.slots.iter().map(|slot| (&slot.planned.definition, &slot.status, &slot.offered))
    }

    /// Returns the servers that answer, with what they have.
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
            .filter(|slot| slot.status == ServerStatus::Ready)
            .map(|slot| kept(&slot.offered))
            .collect()
    }

    /// Returns why a server that is defined is not there; `None` for one that answers, one that no
    /// rule lets start, and where no definition has the name.
    pub fn why_absent(&self, server: &str) -> Option<ServerFailure> {
        let slot = self.slots.iter().find(|slot| slot.offered.name == server)?;
        let (sentence, said) = match &slot.status {
            ServerStatus::Ready | ServerStatus::Refused(_) => return None,
            ServerStatus::Disabled => ("is disabled in this run", ""),
            ServerStatus::Failed(why) => ("could not be started in this run", why.as_str()),
        };
        let sentence = format!("The MCP server `{server}` {sentence}; go on without it.");
        Some(ServerFailure { sentence, said: said.to_owned() })
    }

    /// Whether any answers.
    pub fn is_any(&self) -> bool {
        self.slots.iter().any(|slot| slot.status == ServerStatus::Ready)
    }

    /// Keeps back every tool that changed or was not there before: the run continues with the tools
    /// it began with.
    pub fn hold_to(&self, before: &BTreeMap<String, BTreeMap<String, String>>) {
        for slot in self.slots.iter().filter(|slot| slot.status == ServerStatus::Ready) {
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
    ) -> Result<Value, ServerFailure> {
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
        let mut connection = slot.connection.lock().await;
        if connection.is_none() {
            *connection = Some(slot.again(tool, around).await?);
            self.note(server, "ended and was started again".to_owned());
        }
        let Some(open) = connection.as_mut() else {
            return Err(format!("The MCP server `{server}` cannot be reached.").into());
        };
        let layers = slot.layers();
        slot.asking.set(true);
        if let Some(layers) = layers {
            let stale =
                layers.ready(&around.workspace.repo).map_err(|error| lost(server, error))?;
            if !stale.is_empty() {
                let files = stale.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(", ");
                self.note(
                    server,
                    format!("wrote what somebody else changed since, which is kept out: {files}"),
                );
            }
            open.renew_layer().map_err(|error| lost(server, error))?;
        }
        let patience = slot.planned.definition.timeout;
        let request = McpRequest { method, params, patience };
        let mut answer = open.call(&request, around.run.tail).await;
        if matches!(answer, Err(McpError::Forgotten)) {
            *open = slot.again(tool, around).await?;
            self.note(server, "began a new conversation".to_owned());
            // What is between may say so of a call that was made.
            answer = if method == CALL_METHOD {
                Err(McpError::Restarted)
            } else {
                open.call(&request, around.run.tail).await
            };
        }
        if let Some(layers) = layers {
            layers.take(&around.workspace.repo).map_err(|error| lost(server, error))?;
            // One that ended sees nothing any more.
            if !matches!(
                answer,
                Err(McpError::Over(_) | McpError::NoAnswer { .. } | McpError::Forgotten)
            ) {
                open.renew_layer().map_err(|error| lost(server, error))?;
            }
        }
        slot.asking.set(false);
        if std::mem::take(&mut open.tools_changed) {
            self.note(
                server,
                "said that its tools changed; those it listed when the run began stay".to_owned(),
            );
        }
        if let Some(progress) = open.progress.take_summary() {
            self.note(server, progress);
        }
        match answer {
            Ok(value) => Ok(value),
            Err(error @ (McpError::Told(_) | McpError::Status { .. })) => Err(ServerFailure {
                sentence: format!("The MCP server `{server}` answered with an error."),
                said: error.to_string(),
            }),
            Err(error @ (McpError::TooLate(_) | McpError::Restarted)) => {
                Err(format!("The MCP server `{server}` did not do it: {error}. {MAYBE}").into())
            }
            Err(error @ (McpError::Over(_) | McpError::NoAnswer { .. } | McpError::Forgotten)) => {
                let last = match connection.take() {
                    Some(open) => end(open.transport, around.run.redactor).await,
                    None => String::new(),
                };
                let (why, said) = match error {
                    McpError::NoAnswer { what, beginning } => (what, beginning),
                    other => (other.to_string(), last),
                };
                Err(ServerFailure {
                    sentence: format!(
                        "The connection to the MCP server `{server}` is over: {why}. {MAYBE}"
                    ),
                    said,
                })
            }
        }
    }

    /// Returns what the last request to a server wrote and is not judged yet; `None` where that is
    /// nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn changes(&self, server: &str) -> Result<Option<LayerChanges>, RepoError> {
        let Some((layers, around)) = self.layers(server).zip(self.around.as_ref()) else {
            return Ok(None);
        };
        let changes = layers.changes(&around.workspace.repo)?;
        Ok((changes != LayerChanges::default()).then_some(changes))
    }

    /// Returns the layer with what the last request to a server wrote; `None` where it writes
    /// nothing.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn taken(&self, server: &str) -> io::Result<Option<Rc<Layer>>> {
        if let Some(layers) = self.layers(server) {
            return Ok(Some(Rc::clone(&layers.taken)));
        }
        let folder = self.around.as_ref().and_then(|around| around.session_folder);
        let left = folder.map(|folder| layers::taken_in(folder, server));
        left.filter(|left| left.exists()).map(|left| Layer::open(&left).map(Rc::new)).transpose()
    }

    /// Takes out what a server wrote for a request that was cut off.
    ///
    /// # Errors
    /// A sentence that says why it cannot be found.
    pub fn take_left(&self, server: &str) -> Result<(), String> {
        let Some((layers, around)) = self.layers(server).zip(self.around.as_ref()) else {
            return Ok(());
        };
        layers.take(&around.workspace.repo).map_err(|error| error.to_string())
    }

    fn layers(&self, server: &str) -> Option<&ServerLayers> {
        self.slots.iter().find(|slot| slot.offered.name == server)?.layers()
    }

    /// Ends every server.
    pub async fn close(&self) {
        let Some(around) = &self.around else { return };
        self.end_all(around).await;
        for slot in self.slots.iter().filter(|slot| !slot.asking.get()) {
            let Some(layers) = slot.layers() else { continue };
            let server = slot.offered.name.as_str();
            match layers.close(&around.workspace.repo) {
                Ok(0) => {}
                Ok(files) => tracing::warn!(
                    server,
                    files,
                    "MCP server wrote files after its last call; they are kept with the session"
                ),
                Err(error) => {
                    tracing::warn!(server, %error, "cannot find what an MCP server wrote last")
                }
            }
        }
    }

    async fn end_all(&self, around: &ServerEnvironment<'_>) {
        let close = |slot: &'_ ServerSlot| {
            let connection =
                slot.connection.try_lock().ok().and_then(|mut connection| connection.take());
            async move {
                if let Some(mut open) = connection {
                    open.cancel("the run ends").await;
                    end(open.transport, around.run.redactor).await;
                }
            }
        };
        join_all(self.slots.iter().map(close)).await;
    }

    fn note(&self, server: &str, what: String) {
        self.notes.borrow_mut().push(ServerNote { server: server.to_owned(), what });
    }
}

/// Returns why a server was not asked, or what it wrote is unknown.
fn lost(server: &str, error: impl std::fmt::Display) -> ServerFailure {
    format!("What the MCP server `{server}` writes cannot be found: {error}. {MAYBE}").into()
}
