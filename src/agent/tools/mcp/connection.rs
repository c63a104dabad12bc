//! `McpConnection`: a connection to one server, on which one request at a time is asked and
//! answered.
//!
//! In: a method and its parameters. Out: the result, or a [`McpError`] that says whether the
//! connection can still be used. What the server requests meanwhile is refused, since no user is
//! present. Of its notices two count: that its tools changed, and how far it is with a request.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::message::{self, McpMessage, VERSION, VERSIONS, code};
use crate::tools::mcp::progress::ServerProgress;
use crate::tools::mcp::transport::McpTransport;
use locum_base::text::head;
use locum_sandbox::exec::tail::OutputTail;

/// Messages read while one answer is waited for; a server that says more without answering is
/// broken.
const MESSAGES_LIMIT: usize = 10_000;

/// Longest wait for a server to accept the notice that a request is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_millis(if cfg!(test) { 2_000 } else { 200 });

/// Longest text of a server's error that is passed on, in bytes.
const ERROR_LIMIT_BYTES: usize = 4 * 1024;

/// See the module.
pub(super) struct McpConnection {
    pub(super) transport: McpTransport,
    asked: u64,
    /// The request that has no answer yet.
    pending: Option<Value>,
    /// Whether the server said that its tools are others now.
    pub(super) tools_changed: bool,
    /// What it said of how far it is.
    pub(super) progress: ServerProgress,
}

/// Something to ask a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct McpRequest<'r> {
    /// The name of what is asked.
    pub(super) method: &'r str,
    /// Its arguments.
    pub(super) params: &'r Value,
    /// The longest wait for the answer, whatever the server says meanwhile.
    pub(super) patience: Duration,
}

/// What a server said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerGreeting {
    /// Whether it has tools.
    pub(super) has_tools: bool,
    /// Whether it has resources.
    pub(super) has_resources: bool,
    /// Whether it has prompts.
    pub(super) has_prompts: bool,
}

impl McpConnection {
    /// Makes one, on which nothing was said yet.
    pub(super) fn over(transport: McpTransport) -> Self {
        Self {
            transport,
            asked: 0,
            pending: None,
            tools_changed: false,
            progress: ServerProgress::default(),
        }
    }

    /// Begins the conversation.
    pub(super) async fn greet(&mut self, patience: Duration) -> Result<ServerGreeting, McpError> {
        let client = json!({ "name": "locum", "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        let mut answer = self.ask("initialize", &params, patience).await;
        if let Some(older) = answer.as_ref().err().and_then(|error| self.transport.older(error)) {
            self.transport = older;
            answer = self.ask("initialize", &params, patience).await;
        }
        let answer = answer?;
        let version = answer.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !VERSIONS.contains(&version) {
            return Err(McpError::Over(format!(
                "it speaks version `{}` of the protocol",
                head(version, 40)
            )));
        }
        self.transport.agree(version);
        let notice = message::notice("notifications/initialized", &json!({}));
        let sent = timeout(patience, self.transport.tell(notice)).await;
        sent.unwrap_or(Err(McpError::TooLate(patience)))?;
        let has = |name: &str| {
            answer.get("capabilities").and_then(|all| all.get(name)).is_some_and(Value::is_object)
        };
        self.tools_changed = false;
        Ok(ServerGreeting {
            has_tools: has("tools"),
            has_resources: has("resources"),
            has_prompts: has("prompts"),
        })
    }

    /// Shows a program what was changed below its layer, or taken out of it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn renew_layer(&self) -> std::io::Result<()> {
        self.transport.renew_layer()
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, McpError> {
        self.sent(&McpRequest { method, params, patience }, None).await
    }

    /// Does the same, and lets the server say how far it is.
    pub(super) async fn call(
        &mut self,
        request: &McpRequest<'_>,
        tail: Option<&OutputTail>,
    ) -> Result<Value, McpError> {
        self.progress = ServerProgress::default();
        tail.iter().for_each(|tail| tail.clear());
        let mut params = request.params.clone();
        if let Value::Object(fields) = &mut params {
            fields.insert("_meta".to_owned(), json!({ "progressToken": self.asked + 1 }));
        }
        self.sent(&McpRequest { params: &params, ..*request }, tail).await
    }

    async fn sent(
        &mut self,
        request: &McpRequest<'_>,
        tail: Option<&OutputTail>,
    ) -> Result<Value, McpError> {
        self.asked += 1;
        let id = json!(self.asked);
        self.pending = Some(id.clone());
        let patience = request.patience;
        let line = message::request(&id, request.method, request.params);
        let answer = match timeout(patience, self.exchange(&id, line, tail)).await {
            Ok(answer) => answer,
            Err(_) => {
                // It may go on with it, or not: its answer, should one come, belongs to nothing any
                // more.
                self.cancel("no answer in time").await;
                Err(if self.transport.can_be_told() {
                    McpError::TooLate(patience)
                } else {
                    McpError::Over(McpError::TooLate(patience).to_string())
                })
            }
        };
        self.pending = None;
        answer
    }

    /// Informs the server that nobody waits for an answer any more, where one is due.
    pub(super) async fn cancel(&mut self, reason: &str) {
        let Some(id) = self.pending.take() else { return };
        let params = json!({ "requestId": id, "reason": reason });
        let notice = message::notice("notifications/cancelled", &params);
        let _heard = timeout(CANCEL_LIMIT, self.transport.tell(notice)).await;
    }

    async fn exchange(
        &mut self,
        id: &Value,
        line: String,
        tail: Option<&OutputTail>,
    ) -> Result<Value, McpError> {
        self.transport.ask(line).await?;
        for _ in 0..MESSAGES_LIMIT {
            let bytes = self.transport.next().await?;
            for message in McpMessage::parse_all(&bytes) {
                match message {
                    McpMessage::Answer { id: answered, result } if answered == *id => {
                        self.transport.answered();
                        return result.map_err(|(code, text)| {
                            let text = head(&text, ERROR_LIMIT_BYTES);
                            McpError::Told(match code {
                                0 => text.to_owned(),
                                code => format!("{text} (error {code})"),
                            })
                        });
                    }
                    // An answer to a request that was given up.
                    McpMessage::Answer { .. } => {}
                    McpMessage::Notice { method, params } => match method.as_str() {
                        "notifications/tools/list_changed" => self.tools_changed = true,
                        "notifications/progress" => self.progress.take_in(id, &params, tail),
                        _ => {}
                    },
                    McpMessage::Request { id, method, .. } => {
                        self.transport.tell(reply(&id, &method)).await?;
                    }
                }
            }
        }
        Err(McpError::Over(format!("it sent {MESSAGES_LIMIT} messages and no answer")))
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
