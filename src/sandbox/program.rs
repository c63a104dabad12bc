//! `ProgramStart`: a program about to be started, whatever is around it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A program with its arguments, where it runs, and what it reads and writes.
pub(crate) struct ProgramStart<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [String],
    /// Working folder, as an absolute path.
    pub(crate) folder: &'a Path,
    /// The whole environment; nothing is inherited.
    pub(crate) env: BTreeMap<String, String>,
    /// Input, output and errors.
    pub(crate) streams: [OwnedFd; 3],
    /// Whether it keeps running beside others: a server, or a command in the background.
    pub(crate) goes_on: bool,
}
