//! `McpServers`: the MCP servers of a run. Those that the policy names are started when it begins,
//! asked once what they have, and kept until it ends.
//!
//! In: definitions of the trusted ref, the policy, the sandbox around commands. Out: a catalogue
//! that stays as it was, and answers to requests that a permit covers. A server that ends is
//! started again once, at the next request; the request during which it ended is not repeated.
//! Tools that it has only then are not called: the catalogue is what the policy and the model were
//! shown.

pub(super) mod slot;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use serde_json::Value;

use crate::env::RunEnv;
use crate::tools::mcp::definition::{ServerDefinition, ServerEndpoint};
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::servers::slot::{ServerSlot, end};
use locum_modes::prompts::servers::{OfferedServer, OfferedTool};
use locum_policy::Permit;
use locum_policy::intent::{Act, Facts, Intent};
use locum_workspace::Workspace;

/// What is true of a request that was sent and not answered.
const MAYBE: &str = "What was asked may have been done or not; it is not asked again by itself.";

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
        Self { around: Some(around), slots, ..Self::default() }
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
        let answer = open.ask(method, params, slot.planned.definition.timeout).await;
        if std::mem::take(&mut open.tools_changed) {
            self.note(
                server,
                "said that its tools changed; those it listed when the run began stay".to_owned(),
            );
        }
        match answer {
            Ok(value) => Ok(value),
            Err(McpError::Told(said)) => Err(ServerFailure {
                sentence: format!("The MCP server `{server}` answered with an error."),
                said,
            }),
            Err(error @ McpError::TooLate(_)) => {
                Err(format!("The MCP server `{server}` did not do it: {error}. {MAYBE}").into())
            }
            Err(error @ McpError::Over(_)) => {
                let said = match connection.take() {
                    Some(open) => end(open.transport, around.run.redactor).await,
                    None => String::new(),
                };
                Err(ServerFailure {
                    sentence: format!(
                        "The connection to the MCP server `{server}` is over: {error}. {MAYBE}"
                    ),
                    said,
                })
            }
        }
    }

    /// Ends every server.
    pub async fn close(&self) {
        let Some(around) = &self.around else { return };
        let close = |slot: &'_ ServerSlot| {
            let connection =
                slot.connection.try_lock().ok().and_then(|mut connection| connection.take());
            async move {
                if let Some(open) = connection {
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
