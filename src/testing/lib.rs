//! What the tests of several crates share. No crate depends on it but for its tests.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what goes wrong ends the test")]

pub mod clock;
pub mod images;
pub mod network;
pub mod permits;
#[cfg(feature = "repository")]
pub mod repository;
