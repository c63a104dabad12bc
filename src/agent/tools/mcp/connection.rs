//! `McpConnection`: a connection to one server, on which one request at a time is asked and
//! answered.
//!
//! In: a method and its parameters. Out: the result, or a [`McpError`] that says whether the
//! connection can still be used. What the server requests meanwhile is refused, since no user is
//! present. Its notices are ignored, except the one that its tools changed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::tools::mcp::http::HttpTransport;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::message::{self, McpMessage, VERSION, VERSIONS, code};
use locum_base::text::head;
use locum_sandbox::exec::dialogue::Dialogue;

/// Messages read while one answer is waited for; a server that says more without answering is
/// broken.
const MESSAGES_LIMIT: usize = 10_000;

/// Longest wait for a server to accept the notice that a request is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_millis(200);

/// Longest text of a server's error that is passed on, in bytes.
const ERROR_LIMIT_BYTES: usize = 4 * 1024;

/// Where messages go and come from.
pub(super) enum McpTransport {
    /// Standard streams of a program.
    Program(Box<Dialogue>),
    /// HTTP requests to a service.
    Service(Box<HttpTransport>),
}

/// See the module.
pub(super) struct McpConnection {
    pub(super) transport: McpTransport,
    asked: u64,
    /// Whether the server said that its tools are others now.
    pub(super) tools_changed: bool,
}

/// What a server said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerGreeting {
    /// Whether it has tools.
    pub(super) has_tools: bool,
    /// Whether it has resources.
    pub(super) has_resources: bool,
}

impl McpConnection {
    /// Begins a conversation over a transport.
    pub(super) async fn greet(
        transport: McpTransport,
        patience: Duration,
    ) -> Result<(Self, ServerGreeting), (McpError, McpTransport)> {
        let mut connection = Self { transport, asked: 0, tools_changed: false };
        match connection.begin(patience).await {
            Ok(greeting) => Ok((connection, greeting)),
            Err(error) => Err((error, connection.transport)),
        }
    }

    async fn begin(&mut self, patience: Duration) -> Result<ServerGreeting, McpError> {
        let client = json!({ "name": "locum", "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", &params, patience).await?;
        let version = answer.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !VERSIONS.contains(&version) {
            return Err(McpError::Over(format!(
                "it speaks version `{}` of the protocol",
                head(version, 40)
            )));
        }
        if let McpTransport::Service(service) = &mut self.transport {
            service.version = Some(version.to_owned());
        }
        let notice = message::notice("notifications/initialized", &json!({}));
        let sent = timeout(patience, self.tell(&notice)).await;
        sent.unwrap_or(Err(McpError::TooLate(patience)))?;
        let has = |name: &str| {
            answer.get("capabilities").and_then(|all| all.get(name)).is_some_and(Value::is_object)
        };
        self.tools_changed = false;
        Ok(ServerGreeting { has_tools: has("tools"), has_resources: has("resources") })
    }

    /// Shows a program what was changed below its layer, or taken out of it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn renew_layer(&self) -> std::io::Result<()> {
        match &self.transport {
            McpTransport::Program(dialogue) => dialogue.renew_layer(),
            McpTransport::Service(_) => Ok(()),
        }
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, McpError> {
        self.asked += 1;
        let id = json!(self.asked);
        match timeout(patience, self.exchange(&id, method, params)).await {
            Ok(answer) => answer,
            Err(_) => {
                // It may go on with it, or not: its answer, should one come, belongs to nothing any
                // more.
                let params = json!({ "requestId": id, "reason": "no answer in time" });
                let notice = message::notice("notifications/cancelled", &params);
                let _heard = timeout(CANCEL_LIMIT, self.tell(&notice)).await;
                // A program that did not take the whole line would take the next one for its end.
                let is_cut = matches!(&self.transport, McpTransport::Program(dialogue) if !dialogue.can_be_told());
                Err(if is_cut {
                    McpError::Over(McpError::TooLate(patience).to_string())
                } else {
                    McpError::TooLate(patience)
                })
            }
        }
    }

    async fn exchange(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
    ) -> Result<Value, McpError> {
        let line = message::request(id, method, params);
        match &mut self.transport {
            McpTransport::Program(dialogue) => dialogue.send(&line).await?,
            McpTransport::Service(service) => service.ask(line).await?,
        }
        for _ in 0..MESSAGES_LIMIT {
            let bytes = match &mut self.transport {
                McpTransport::Program(dialogue) => dialogue.line().await?,
                McpTransport::Service(service) => service.next().await?,
            };
            for message in McpMessage::parse_all(&bytes) {
                match message {
                    McpMessage::Answer { id: answered, result } if answered == *id => {
                        if let McpTransport::Service(service) = &mut self.transport {
                            service.answered();
                        }
                        return result.map_err(|(code, text)| {
                            McpError::Told(format!(
                                "{} (error {code})",
                                head(&text, ERROR_LIMIT_BYTES)
                            ))
                        });
                    }
                    // An answer to a request that was given up.
                    McpMessage::Answer { .. } => {}
                    McpMessage::Notice { method } => {
                        self.tools_changed |= method == "notifications/tools/list_changed"
                    }
                    McpMessage::Request { id, method, .. } => {
                        self.tell(&reply(&id, &method)).await?
                    }
                }
            }
        }
        Err(McpError::Over(format!("it sent {MESSAGES_LIMIT} messages and no answer")))
    }

    async fn tell(&mut self, line: &str) -> Result<(), McpError> {
        match &mut self.transport {
            McpTransport::Program(dialogue) => Ok(dialogue.send(line).await?),
            McpTransport::Service(service) => service.tell(line.to_owned()).await,
        }
    }
}

/// Returns what a server is answered that asks for something.
fn reply(id: &Value, method: &str) -> String {
    match method {
        "ping" => message::answer(id, &json!({})),
        _ => message::error(
            id,
            code::NO_METHOD,
            "locum answers no such request: it runs without a person, and samples, asks and shows \
             nothing",
        ),
    }
}
