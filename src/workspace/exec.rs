//! Child processes of the model: own process group, clean environment, time and output bounded, all of them gone at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::base::text::Clipped;
use crate::policy::Permit;
use crate::policy::command::Script;
use crate::policy::intent::Act;

/// A command about to run.
#[derive(Clone, Debug)]
pub struct CommandRun<'a> {
    /// What to run; the permit covers it as a command.
    pub script: &'a Script,
    /// Where; an absolute path inside the checkout.
    pub folder: PathBuf,
    /// The whole environment it gets.
    pub env: &'a BTreeMap<String, String>,
    /// Wall time, after which the whole group is killed.
    pub timeout: Duration,
    /// Bytes of output kept, both streams together, half from each end.
    pub output_bytes: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// How it ended.
    pub exit: Exit,
    /// Both streams as they came, bounded.
    pub output: Clipped,
    /// Wall time.
    pub elapsed: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took too long and was killed.
    TimedOut,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The permit was given for something else.
    #[error("the command is not covered by the permit")]
    NotPermitted,
    /// The program does not exist or cannot be run.
    #[error("`{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Runs a command to its end. Dropping the future kills the whole group.
///
/// # Errors
/// When it does not start.
pub async fn run(_permit: &Permit<impl Act>, _command: CommandRun<'_>) -> Result<CommandOutput, ExecError> {
    todo!()
}
