//! `McpTransport`: where messages of a connection go and come from.
//!
//! In: lines. Out: lines. What they say is no matter here.

use std::rc::Rc;

use crate::tools::mcp::http::HttpTransport;
use crate::tools::mcp::mcp_error::McpError;
use crate::tools::mcp::service::ServiceClient;
use crate::tools::mcp::sse::SseTransport;
use locum_sandbox::exec::dialogue::Dialogue;

/// See the module.
pub(super) enum McpTransport {
    /// Standard streams of a program.
    Program(Box<Dialogue>),
    /// HTTP requests to a service.
    Http(Box<HttpTransport>),
    /// The same, and older servers if it turns out to be one.
    HttpOrSse(Box<HttpTransport>),
    /// HTTP requests to an older service, and the stream of its events.
    Sse(Box<SseTransport>),
}

impl McpTransport {
    /// Sends a request.
    pub(super) async fn ask(&mut self, line: String) -> Result<(), McpError> {
        match self {
            Self::Program(dialogue) => Ok(dialogue.send(&line).await?),
            Self::Http(service) | Self::HttpOrSse(service) => service.ask(line).await,
            Self::Sse(service) => service.ask(line).await,
        }
    }

    /// Waits for the next message.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, McpError> {
        match self {
            Self::Program(dialogue) => Ok(dialogue.next().await?),
            Self::Http(service) | Self::HttpOrSse(service) => service.next().await,
            Self::Sse(service) => service.next().await,
        }
    }

    /// Sends what wants no answer.
    pub(super) async fn tell(&mut self, line: String) -> Result<(), McpError> {
        match self {
            Self::Program(dialogue) => Ok(dialogue.send(&line).await?),
            Self::Http(service) | Self::HttpOrSse(service) => service.tell(line).await,
            Self::Sse(service) => service.tell(line).await,
        }
    }

    /// Leaves what else comes after an answer.
    pub(super) fn answered(&mut self) {
        match self {
            Self::Http(service) | Self::HttpOrSse(service) => service.answered(),
            Self::Program(_) | Self::Sse(_) => {}
        }
    }

    /// Takes down which version of the protocol is spoken.
    pub(super) fn agree(&mut self, version: &str) {
        match self {
            Self::Http(service) | Self::HttpOrSse(service) => {
                service.version = Some(version.to_owned());
            }
            Self::Program(_) | Self::Sse(_) => {}
        }
    }

    /// Returns the older transport to the same service where that may be tried after an error.
    pub(super) fn older(&self, error: &McpError) -> Option<Self> {
        match (self, error) {
            (Self::HttpOrSse(service), McpError::Status { status: 400 | 404 | 405, .. }) => {
                Some(Self::sse(Rc::clone(&service.client)))
            }
            _ => None,
        }
    }

    /// Returns the older transport.
    pub(super) fn sse(client: Rc<ServiceClient>) -> Self {
        Self::Sse(Box::new(SseTransport::new(client)))
    }

    /// Returns false once a program has taken a part of a line and no more: it would take the next
    /// one for its end.
    pub(super) fn can_be_told(&self) -> bool {
        match self {
            Self::Program(dialogue) => dialogue.can_be_told(),
            Self::Http(_) | Self::HttpOrSse(_) | Self::Sse(_) => true,
        }
    }

    /// Shows a program what was changed below its layer, or taken out of it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn renew_layer(&self) -> std::io::Result<()> {
        match self {
            Self::Program(dialogue) => dialogue.renew_layer(),
            Self::Http(_) | Self::HttpOrSse(_) | Self::Sse(_) => Ok(()),
        }
    }
}
