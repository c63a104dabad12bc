//! Floor 9: the command line. Results on stdout, talk on stderr.

use std::process::ExitCode;

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
