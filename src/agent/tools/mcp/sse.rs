//! `SseTransport`: a server of the first version of the protocol, reached over HTTP with events:
//! one stream brings every message of the server, and its first event says where messages go.
//!
//! In: lines. Out: lines. Messages go to the origin of the stream and nowhere else, whatever the
//! server says. A stream that ends ends the conversation.

use std::rc::Rc;

use crate::tools::mcp::events::EventStream;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::service::ServiceClient;
use locum_base::secret::Secret;
use locum_base::text::head;
use locum_policy::urls::WebUrl;
use locum_sandbox::network::exchange::HttpMethod;

/// Events read before the one that says where messages go.
const EVENTS_LIMIT: usize = 100;

/// See the module.
pub(super) struct SseTransport {
    client: Rc<ServiceClient>,
    /// The stream, and where messages go; `None` until the first one is sent.
    open: Option<(EventStream, WebUrl)>,
}

impl SseTransport {
    pub(super) fn new(client: Rc<ServiceClient>) -> Self {
        Self { client, open: None }
    }

    /// Sends a request; messages are read with [`SseTransport::next`].
    pub(super) async fn ask(&mut self, line: String) -> Result<(), McpError> {
        if self.open.is_none() {
            self.open = Some(self.connect().await?);
        }
        if let Some((events, _)) = &mut self.open {
            events.begin_answer();
        }
        self.tell(line).await
    }

    /// Sends what wants no answer.
    pub(super) async fn tell(&mut self, line: String) -> Result<(), McpError> {
        let Some((_, endpoint)) = &self.open else {
            return Err(McpError::Over("its stream is not open".to_owned()));
        };
        let accept = ("accept".to_owned(), Secret::new("application/json, text/event-stream"));
        self.client.send(endpoint, HttpMethod::Post(line), &[accept]).await.map(drop)
    }

    /// Waits for the next message.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, McpError> {
        let ended = || McpError::Over("its stream ended".to_owned());
        let Some((events, _)) = &mut self.open else { return Err(ended()) };
        loop {
            let event = events.next().await?.ok_or_else(ended)?;
            if matches!(event.name.as_str(), "" | "message") {
                return Ok(self.client.without_tokens(event.data));
            }
        }
    }

    /// Opens the stream.
    async fn connect(&self) -> Result<(EventStream, WebUrl), McpError> {
        let accept = ("accept".to_owned(), Secret::new("text/event-stream"));
        let url = &self.client.url;
        let response = self.client.send(url, HttpMethod::Get, &[accept]).await?;
        if response.content_type != "text/event-stream" {
            return Err(McpError::Over("it answers with no stream of events".to_owned()));
        }
        let mut events = EventStream::new(response);
        for _ in 0..EVENTS_LIMIT {
            let event = events.next().await?;
            let event = event.ok_or_else(|| McpError::Over("its stream ended".to_owned()))?;
            if event.name == "endpoint" {
                let written = self.client.without_tokens(event.data);
                let written = String::from_utf8_lossy(&written).trim().to_owned();
                let endpoint = url.join(&written);
                if endpoint.destination().is_none() || endpoint.destination() != url.destination() {
                    return Err(McpError::Over(format!(
                        "it wants messages sent to `{}`, which is not where its stream comes from",
                        head(&written, 200)
                    )));
                }
                return Ok((events, endpoint));
            }
        }
        Err(McpError::Over("its stream does not say where messages go".to_owned()))
    }
}
