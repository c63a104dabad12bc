//! `TrafficMeter`: how much one command requested and moved through the proxy, against what it may.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests of one command.
pub(super) const REQUESTS_LIMIT: u64 = 5_000;

/// Bytes that one command may send, and receive.
const SENT_LIMIT_BYTES: u64 = 256 << 20;
const RECEIVED_LIMIT_BYTES: u64 = 8 << 30;

/// Counts what passes.
#[derive(Debug, Default)]
pub(super) struct TrafficMeter {
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

impl TrafficMeter {
    /// Counts a request; false when there were too many.
    pub(super) fn request(&self) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed) < REQUESTS_LIMIT
    }

    /// Counts bytes to a host.
    ///
    /// # Errors
    /// When they are more than a command may send.
    pub(super) fn sent(&self, bytes: usize) -> io::Result<()> {
        within(&self.sent, bytes, SENT_LIMIT_BYTES)
    }

    /// Counts bytes from a host.
    ///
    /// # Errors
    /// When they are more than a command may receive.
    pub(super) fn received(&self, bytes: usize) -> io::Result<()> {
        within(&self.received, bytes, RECEIVED_LIMIT_BYTES)
    }

    /// Returns the bytes sent and received so far.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

fn within(count: &AtomicU64, bytes: usize, limit: u64) -> io::Result<()> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let before = count.fetch_add(bytes, Ordering::Relaxed);
    if before.saturating_add(bytes) > limit {
        Err(io::Error::other("the command moved more bytes than it may"))
    } else {
        Ok(())
    }
}
