//! `HttpTransport`: a server that is reached over HTTP ("streamable HTTP"): every message is a
//! request, the answer JSON or a stream of events.
//!
//! In: lines. Out: lines. Each request is sent to the one address of the definition, over a
//! connection of its own that the connector opens. Redirects are not followed and cookies not kept,
//! so a key in a header reaches no other server. The older transport of events alone (SSE) is not
//! supported.

use std::collections::VecDeque;

use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::server_start::ServerStart;
use locum_base::secret::Secret;
use locum_base::text::head;
use locum_policy::Permit;
use locum_policy::urls::WebUrl;
use locum_sandbox::exec::dialogue::LINE_LIMIT_BYTES;
use locum_sandbox::network::Connector;
use locum_sandbox::network::exchange::{HttpMethod, StreamedResponse};

/// Bytes shown of an answer that is an error.
const ERROR_SHOWN_BYTES: usize = 300;

/// Longest name a server may give its session, in bytes.
const SESSION_LIMIT_BYTES: usize = 512;

/// See the module.
pub(super) struct HttpTransport {
    permit: Permit<ServerStart>,
    connector: Connector,
    url: WebUrl,
    headers: Vec<(String, Secret)>,
    /// What the server calls this conversation.
    session: Option<String>,
    /// The version of the protocol, once it is agreed.
    pub(super) version: Option<String>,
    /// The stream on which the answer comes.
    events: Option<SseMessages>,
    ready: VecDeque<Vec<u8>>,
}

impl HttpTransport {
    pub(super) fn new(
        permit: Permit<ServerStart>,
        connector: Connector,
        url: WebUrl,
        headers: Vec<(String, Secret)>,
    ) -> Self {
        Self {
            permit,
            connector,
            url,
            headers,
            session: None,
            version: None,
            events: None,
            ready: VecDeque::new(),
        }
    }

    /// Sends a request; its answer, and what comes before it, is read with [`HttpTransport::next`].
    pub(super) async fn ask(&mut self, line: String) -> Result<(), McpError> {
        self.answered();
        let mut exchange = self.send(HttpMethod::Post(line)).await?;
        if let Some(session) = exchange.header("mcp-session-id").filter(|_| self.session.is_none())
        {
            let plain = session.bytes().all(|byte| byte.is_ascii_graphic())
                && session.len() <= SESSION_LIMIT_BYTES;
            self.session = plain.then(|| session.to_owned());
        }
        match exchange.content_type.as_str() {
            "text/event-stream" => {
                self.events = Some(SseMessages {
                    exchange,
                    unread: Vec::new(),
                    data: Vec::new(),
                    read_bytes: 0,
                })
            }
            _ => self.ready.push_back(whole(&mut exchange, LINE_LIMIT_BYTES).await?),
        }
        Ok(())
    }

    /// Waits for the next message.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, McpError> {
        if let Some(ready) = self.ready.pop_front() {
            return Ok(ready);
        }
        match &mut self.events {
            Some(events) => events.next().await,
            None => Err(McpError::Over("it took the request and gave no answer".to_owned())),
        }
    }

    /// Leaves what else comes after an answer.
    pub(super) fn answered(&mut self) {
        self.events = None;
        self.ready.clear();
    }

    /// Sends what wants no answer.
    pub(super) async fn tell(&mut self, line: String) -> Result<(), McpError> {
        self.send(HttpMethod::Post(line)).await.map(drop)
    }

    /// Informs the server that the session is over.
    pub(super) async fn close(&mut self) {
        if self.session.is_some() {
            // A server may not care.
            let _told = self.send(HttpMethod::Delete).await;
        }
    }

    async fn send(&self, verb: HttpMethod) -> Result<StreamedResponse, McpError> {
        let mut headers =
            vec![("accept".to_owned(), Secret::new("application/json, text/event-stream"))];
        headers.extend(self.headers.iter().cloned());
        headers.extend(
            self.session
                .iter()
                .map(|session| ("mcp-session-id".to_owned(), Secret::new(session.as_str()))),
        );
        headers.extend(
            self.version
                .iter()
                .map(|version| ("mcp-protocol-version".to_owned(), Secret::new(version.as_str()))),
        );
        let exchange = self.connector.exchange(&self.permit, &self.url, verb, &headers).await;
        let mut exchange = exchange.map_err(|error| McpError::Over(error.to_string()))?;
        match exchange.status {
            200..=299 => Ok(exchange),
            300..=399 => Err(McpError::Told(format!(
                "it answered with status {}: redirects are not followed",
                exchange.status
            ))),
            404 if self.session.is_some() => {
                Err(McpError::Over("it does not know this conversation any more".to_owned()))
            }
            status => {
                let body = whole(&mut exchange, ERROR_SHOWN_BYTES * 4).await.unwrap_or_default();
                let text =
                    String::from_utf8_lossy(&body).split_whitespace().collect::<Vec<_>>().join(" ");
                Err(McpError::Told(format!(
                    "it answered with status {status}: {}",
                    head(&text, ERROR_SHOWN_BYTES)
                )))
            }
        }
    }
}

/// Reads a body to its end.
async fn whole(exchange: &mut StreamedResponse, limit_bytes: usize) -> Result<Vec<u8>, McpError> {
    let mut bytes = Vec::new();
    while let Some(piece) =
        exchange.piece().await.map_err(|error| McpError::Over(error.to_string()))?
    {
        bytes.extend_from_slice(&piece);
        if bytes.len() > limit_bytes {
            return Err(too_long());
        }
    }
    Ok(bytes)
}

fn too_long() -> McpError {
    McpError::Over(format!("it sent more than {} MiB", LINE_LIMIT_BYTES >> 20))
}

/// A stream of events; of each only its data counts.
struct SseMessages {
    exchange: StreamedResponse,
    unread: Vec<u8>,
    data: Vec<u8>,
    read_bytes: usize,
}

impl SseMessages {
    async fn next(&mut self) -> Result<Vec<u8>, McpError> {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(end + 1);
                let line = std::mem::replace(&mut self.unread, rest);
                if let Some(data) = self.line(line.trim_ascii_end()) {
                    return Ok(data);
                }
            }
            let piece =
                self.exchange.piece().await.map_err(|error| McpError::Over(error.to_string()))?;
            let piece = piece.ok_or_else(|| McpError::Over("its answer breaks off".to_owned()))?;
            self.read_bytes = self.read_bytes.saturating_add(piece.len());
            if self.read_bytes > LINE_LIMIT_BYTES {
                return Err(too_long());
            }
            self.unread.extend_from_slice(&piece);
        }
    }

    /// Takes a line of the stream; an empty one ends an event.
    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        (line.is_empty() && !self.data.is_empty()).then(|| std::mem::take(&mut self.data))
    }
}
