//! `HttpTransport`: a server that is reached over HTTP ("streamable HTTP"): every message is a
//! request, the answer JSON or a stream of events.
//!
//! In: lines. Out: lines. A stream that breaks off before the answer is asked for again where its
//! server named the events; the request itself is never repeated.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::tools::mcp::events::EventStream;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::schema::one_line;
use crate::tools::mcp::service::ServiceClient;
use locum_base::secret::Secret;
use locum_base::text::{counted, single_blanks};
use locum_sandbox::exec::dialogue::LINES;
use locum_sandbox::network::exchange::{HttpMethod, StreamedResponse};

/// Longest name a server may give its session, in bytes.
const SESSION_LIMIT_BYTES: usize = 512;

/// Times the stream of one answer is asked for again.
const RESUMES_LIMIT: usize = 5;

/// Longest content type that is named, in bytes.
const KIND_LIMIT_BYTES: usize = 100;

/// Most bytes shown of an answer that is none.
const SHOWN_LIMIT_BYTES: usize = 2 * 1024;

/// See the module.
pub(super) struct HttpTransport {
    pub(super) client: Rc<ServiceClient>,
    /// What the server calls this conversation.
    session: Option<String>,
    /// The version of the protocol, once it is agreed.
    pub(super) version: Option<String>,
    /// The stream on which the answer comes.
    events: Option<EventStream>,
    resumed: usize,
    ready: VecDeque<Vec<u8>>,
    /// What is said where the body that was ready turns out to be no answer.
    no_answer: Option<McpError>,
}

impl HttpTransport {
    pub(super) fn new(client: Rc<ServiceClient>) -> Self {
        Self {
            client,
            session: None,
            version: None,
            events: None,
            resumed: 0,
            ready: VecDeque::new(),
            no_answer: None,
        }
    }

    /// Sends a request; its answer, and what comes before it, is read with [`HttpTransport::next`].
    pub(super) async fn ask(&mut self, line: String) -> Result<(), McpError> {
        self.answered();
        let mut response = self.send(HttpMethod::Post(line), &[]).await?;
        if let Some(session) = response.header("mcp-session-id").filter(|_| self.session.is_none())
        {
            let plain = session.bytes().all(|byte| byte.is_ascii_graphic())
                && session.len() <= SESSION_LIMIT_BYTES;
            self.session = plain.then(|| session.to_owned());
        }
        match response.content_type.as_str() {
            "text/event-stream" => self.events = Some(EventStream::new(response)),
            _ => {
                let body = response.body_within(LINES.limit_bytes).await;
                let body = body.map_err(|error| McpError::Over(error.to_string()))?;
                let body = self.client.without_tokens(body);
                self.no_answer = no_answer(response.status, &response.content_type, &body);
                self.ready.push_back(body);
            }
        }
        Ok(())
    }

    /// Waits for the next message.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, McpError> {
        if let Some(ready) = self.ready.pop_front() {
            return Ok(ready);
        }
        loop {
            let Some(events) = &mut self.events else {
                let nothing = "it took the request and gave no answer".to_owned();
                return Err(self.no_answer.take().unwrap_or(McpError::Over(nothing)));
            };
            match events.next().await? {
                Some(event) if matches!(event.name.as_str(), "" | "message") => {
                    return Ok(self.client.without_tokens(event.data));
                }
                Some(_) => {}
                None => self.resume().await?,
            }
        }
    }

    /// Asks for what comes behind the last event.
    async fn resume(&mut self) -> Result<(), McpError> {
        let point = self.events.as_ref().and_then(EventStream::resume_point);
        let Some(point) = point.filter(|_| self.resumed < RESUMES_LIMIT) else {
            return Err(McpError::Over("its answer breaks off".to_owned()));
        };
        self.resumed += 1;
        tokio::time::sleep(point.wait).await;
        let header = ("last-event-id".to_owned(), Secret::new(point.last_id.as_str()));
        let response = match self.send(HttpMethod::Get, &[header]).await {
            Ok(response) => response,
            Err(error) => {
                return Err(McpError::Over(format!("its answer breaks off, and then {error}")));
            }
        };
        if response.content_type != "text/event-stream" {
            return Err(McpError::Over("its answer breaks off and is not resumed".to_owned()));
        }
        self.events = Some(EventStream::behind(response, point));
        Ok(())
    }

    /// Leaves what else comes after an answer.
    pub(super) fn answered(&mut self) {
        self.events = None;
        self.resumed = 0;
        self.ready.clear();
        self.no_answer = None;
    }

    /// Sends what wants no answer.
    pub(super) async fn tell(&mut self, line: String) -> Result<(), McpError> {
        self.send(HttpMethod::Post(line), &[]).await.map(drop)
    }

    /// Informs the server that the session is over.
    pub(super) async fn close(&mut self) {
        if self.session.is_some() {
            // A server may not care.
            let _told = self.send(HttpMethod::Delete, &[]).await;
        }
    }

    async fn send(
        &self,
        verb: HttpMethod,
        more: &[(String, Secret)],
    ) -> Result<StreamedResponse, McpError> {
        let text = |name: &str, text: &str| (name.to_owned(), Secret::new(text));
        let accepted = match verb {
            HttpMethod::Get => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let mut headers = vec![text("accept", accepted)];
        headers.extend(self.session.iter().map(|session| text("mcp-session-id", session)));
        headers.extend(self.version.iter().map(|version| text("mcp-protocol-version", version)));
        headers.extend(more.iter().cloned());
        let sent = self.client.send(&self.client.url, verb, &headers).await;
        sent.map_err(|error| match error {
            McpError::Status { status: 404, .. } if self.session.is_some() => McpError::Forgotten,
            other => other,
        })
    }
}

/// Returns what is said of a body that is no answer; `None` where it is empty.
fn no_answer(status: u16, content_type: &str, body: &[u8]) -> Option<McpError> {
    let shown = body.get(..SHOWN_LIMIT_BYTES).unwrap_or(body);
    let beginning = single_blanks(&String::from_utf8_lossy(shown)).trim().to_owned();
    if beginning.is_empty() {
        return None;
    }
    let kind = if content_type.is_empty() {
        "without a content type".to_owned()
    } else {
        format!("of type `{}`", one_line(content_type, KIND_LIMIT_BYTES))
    };
    let what = format!(
        "it answered with status {status} and {} {kind} that are no answer to the request",
        counted(body.len(), "byte")
    );
    Some(McpError::NoAnswer { what, beginning })
}
