//! The `locum` binary: hands the command line to `cli` and turns its answer into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    locum::cli::main()
}
