//! `Clock`: where time comes from, so that every floor that needs it can be tested without waiting.

use std::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;

/// A source of time. The real one lives in `run`; tests bring their own.
pub trait Clock: Send + Sync {
    /// Returns the current moment.
    fn now(&self) -> Timestamp;

    /// Returns the time since an arbitrary start, never going backwards.
    fn elapsed(&self) -> Duration;

    /// Resolves after `duration`.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}
