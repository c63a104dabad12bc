//! `EventStream`: a stream of server-sent events, read one by one.
//!
//! In: an answer that is such a stream. Out: events with their names, bounded, and where to go on
//! if the stream breaks off. What an event means is decided where it is read.

use std::time::Duration;

use crate::tools::mcp::mcp_error::McpError;
use locum_sandbox::exec::dialogue::LINES;
use locum_sandbox::network::exchange::StreamedResponse;

/// Longest name of an event that is kept to go on behind it, in bytes.
const ID_LIMIT_BYTES: usize = 1024;

/// Wait before a stream is asked for again where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// Longest wait that a server may ask for.
const RETRY_LIMIT: Duration = Duration::from_secs(60);

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerEvent {
    /// What kind it is; empty means `message`.
    pub(super) name: String,
    /// What it carries.
    pub(super) data: Vec<u8>,
}

/// Where a stream that broke off goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResumePoint {
    /// The last event that was read.
    pub(super) last_id: String,
    /// How long to wait before it is asked for.
    pub(super) wait: Duration,
}

/// See the module.
pub(super) struct EventStream {
    response: StreamedResponse,
    unread: Vec<u8>,
    /// How much of it was made lines of, and how much is known to hold no other end of one.
    taken: usize,
    searched: usize,
    event: ServerEvent,
    last_id: Option<String>,
    /// What it is called once the event at hand is whole, empty for nothing; `None` while that does
    /// not say.
    next_id: Option<String>,
    wait: Duration,
    /// Bytes that may still be read before an answer.
    left_bytes: usize,
}

impl EventStream {
    pub(super) fn new(response: StreamedResponse) -> Self {
        Self {
            response,
            unread: Vec::new(),
            taken: 0,
            searched: 0,
            event: ServerEvent::default(),
            last_id: None,
            next_id: None,
            wait: RETRY,
            left_bytes: LINES.limit_bytes,
        }
    }

    /// Returns the stream that goes on behind an event.
    pub(super) fn behind(response: StreamedResponse, point: ResumePoint) -> Self {
        Self { last_id: Some(point.last_id), wait: point.wait, ..Self::new(response) }
    }

    /// Lets as much be read again as one answer may take.
    pub(super) fn begin_answer(&mut self) {
        let held_bytes = self.event.data.len().saturating_add(self.unread.len());
        self.left_bytes = LINES.limit_bytes.saturating_sub(held_bytes);
    }

    /// Returns where it goes on; `None` where the server named no event.
    pub(super) fn resume_point(&self) -> Option<ResumePoint> {
        let last_id = self.last_id.clone()?;
        Some(ResumePoint { last_id, wait: self.wait })
    }

    /// Waits for the next event that carries something; `None` at the end of the stream, also where
    /// it breaks off. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// When too much comes.
    pub(super) async fn next(&mut self) -> Result<Option<ServerEvent>, McpError> {
        loop {
            while let Some(line) = self.next_line() {
                if let Some(event) = self.line(line.trim_ascii_end()) {
                    return Ok(Some(event));
                }
            }
            let Ok(Some(piece)) = self.response.piece().await else { return Ok(None) };
            self.left_bytes = self.left_bytes.checked_sub(piece.len()).ok_or_else(too_long)?;
            self.unread.extend_from_slice(&piece);
        }
    }

    /// Takes the next line that is whole; no byte is looked at twice.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        let found = self.unread.iter().skip(self.searched).position(|byte| *byte == b'\n');
        let Some(after) = found else {
            self.unread.drain(..self.taken);
            (self.taken, self.searched) = (0, self.unread.len());
            return None;
        };
        let end = self.searched + after;
        let line = self.unread.get(self.taken..end).unwrap_or_default().to_vec();
        (self.taken, self.searched) = (end + 1, end + 1);
        Some(line)
    }

    /// Takes a line of the stream; an empty one ends an event.
    fn line(&mut self, line: &[u8]) -> Option<ServerEvent> {
        if line.is_empty() {
            if let Some(id) = self.next_id.take() {
                self.last_id = Some(id).filter(|id| !id.is_empty());
            }
            let event = std::mem::take(&mut self.event);
            return (!event.data.is_empty()).then_some(event);
        }
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(at).unwrap_or((line, b""));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            // It goes back to the server in a header.
            b"id" if value.len() <= ID_LIMIT_BYTES => {
                let plain = value.iter().all(|byte| matches!(byte, b' '..=b'~'));
                let text = std::str::from_utf8(value).ok().filter(|_| plain);
                self.next_id = Some(text.unwrap_or_default().to_owned());
            }
            b"retry" => {
                let millis = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let wait = millis.map(Duration::from_millis);
                self.wait = wait.unwrap_or(self.wait).min(RETRY_LIMIT);
            }
            _ => {}
        }
        None
    }
}

/// Returns why no more is read.
fn too_long() -> McpError {
    McpError::Over(format!("it sent more than {} MiB", LINES.limit_bytes >> 20))
}
