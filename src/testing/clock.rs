//! Time for tests: it advances when a test says so, or when code sleeps, without any real wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;

use locum_base::clock::Clock;

/// A clock that a test sets. Sleeping moves it by as long, at once.
#[derive(Debug)]
pub struct TestClock {
    start: Timestamp,
    elapsed_ns: AtomicU64,
    tick: Duration,
    longest_sleep: Duration,
}

impl Default for TestClock {
    fn default() -> Self {
        Self::at(Timestamp::UNIX_EPOCH)
    }
}

impl TestClock {
    /// Returns a clock that stands at a moment.
    pub fn at(start: Timestamp) -> Self {
        let elapsed_ns = AtomicU64::default();
        Self { start, elapsed_ns, tick: Duration::ZERO, longest_sleep: Duration::MAX }
    }

    /// Advances the clock with every look at it.
    pub fn ticking(self, tick: Duration) -> Self {
        Self { tick, ..self }
    }

    /// Makes sleeps that are longer than this never end.
    pub fn sleeping_at_most(self, longest_sleep: Duration) -> Self {
        Self { longest_sleep, ..self }
    }

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.elapsed_ns.fetch_add(u64::try_from(by.as_nanos()).unwrap(), Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let now = self.start + self.elapsed();
        self.advance(self.tick);
        now
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.elapsed_ns.load(Ordering::Relaxed))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if duration > self.longest_sleep {
            return std::future::pending().boxed();
        }
        self.advance(duration);
        std::future::ready(()).boxed()
    }
}
