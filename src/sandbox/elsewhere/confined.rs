//! A process that only computes cannot be had: nothing of this system would hold it.
#![expect(clippy::disallowed_types, reason = "a part of how `exec::confined` starts its own")]

use std::io;
use std::process::Command;
use std::time::Duration;

/// Refuses to start it.
///
/// # Errors
/// Always.
pub(crate) fn prepare(_command: &mut Command) -> io::Result<()> {
    give_up(0, Duration::ZERO)
}

/// Refuses to look at anything hostile.
///
/// # Errors
/// Always.
pub(crate) fn give_up(_memory_bytes: u64, _time: Duration) -> io::Result<()> {
    let words =
        "documents are read in a confined process, which this system does not have; Linux has";
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}
