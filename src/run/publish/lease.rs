//! `Lease`: until when a run may publish, by its own clock. Whoever takes its claim over waits for
//! that time to pass, so a run that was stopped in its sleep publishes nothing when it wakes up.

use std::cell::Cell;

use jiff::Timestamp;

use locum_base::clock::Clock;

/// What is said where something is not published because its time has passed.
pub const LEASE_OVER: &str = "the run's claim on this work is over";

/// Until when a run may publish.
pub struct Lease<'a> {
    clock: &'a dyn Clock,
    /// `None` where nothing bounds it.
    until: Cell<Option<Timestamp>>,
}

impl<'a> Lease<'a> {
    /// Returns one without an end: of a run that has no claim to lose.
    pub fn unbounded(clock: &'a dyn Clock) -> Self {
        Self { clock, until: Cell::new(None) }
    }

    /// Lets it end at another time.
    pub fn extend(&self, until: Timestamp) {
        self.until.set(Some(until));
    }

    /// Returns whether its time has passed.
    pub fn is_over(&self) -> bool {
        self.until.get().is_some_and(|until| self.clock.now() >= until)
    }
}
