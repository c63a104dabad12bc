//! Child processes of the model: own session, clean environment, a sandbox around them, time and
//! output bounded, all of them gone at the end.
//!
//! In: a script the permit covers, where and with what environment it runs, how long and how much
//! output is kept. Out: how it ended and both ends of what it printed. The policy judges the
//! script; `env` builds the environment.

pub mod background;
pub mod confined;
pub mod dialogue;
pub mod output;
pub mod own;
pub(crate) mod spawn;
pub mod steps;
pub mod tail;
pub mod version;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::net::unix::pipe;

use crate::exec::output::BoundedOutput;
use crate::exec::spawn::{ChildProgram, ChildStreams, StartedCommand};
use crate::exec::steps::{FailedStep, JudgedBy, ShellScript, StepReports};
use crate::exec::tail::OutputTail;
use crate::layer::LayerFolders;
use crate::machine::sandbox::Sandbox;
use crate::network::offline;
use crate::network::proxy::{NetworkProxy, Traffic};
use crate::reach::CommandReach;
use crate::sandbox_error::SandboxError;
use locum_base::secret::Redactor;
use locum_base::text::ClippedText;
use locum_policy::Permit;
use locum_policy::command::{Script, ScriptExecution};
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::Verdict;

/// Time a command has to end by itself once it was asked to, before it is killed.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// Time that output is still waited for once every process of the command is gone, in case one
/// could not be killed.
const DRAIN_GRACE: Duration = Duration::from_millis(200);

/// Time between two counts of processes, where the kernel does not count them.
const COUNT_PAUSE: Duration = Duration::from_millis(50);

/// Bytes read from a command at once.
const CHUNK_BYTES: usize = 32 * 1024;

/// A command about to run.
#[derive(Clone)]
pub struct CommandRun<'a> {
    /// What to run; the permit covers it as a command.
    pub script: &'a Script,
    /// Where; an absolute path inside the checkout.
    pub folder: PathBuf,
    /// The environment it gets; the sandbox leads `HOME` and temporary files elsewhere.
    pub env: &'a BTreeMap<String, String>,
    /// Wall time, after which the whole group is killed.
    pub timeout: Duration,
    /// Bytes of output kept, both streams together, half from each end.
    pub output_bytes: usize,
    /// Takes secrets out of the output, before it is cut.
    pub redactor: &'a Redactor,
    /// What is around it.
    pub sandbox: &'a Sandbox,
    /// How far it reaches there.
    pub reach: CommandReach<'a>,
    /// Its way to the network, where the policy lists hosts.
    pub proxy: Option<NetworkProxy>,
    /// Who follows its output.
    pub tail: Option<&'a OutputTail>,
}

impl CommandRun<'_> {
    /// Returns the environment that it gets.
    fn env_of(&self, contained: bool) -> BTreeMap<String, String> {
        let mut env = self.env.clone();
        env.extend(self.script.environment(contained));
        // Nobody sees colours, and a model pays for them.
        env.entry("NO_COLOR".to_owned()).or_insert_with(|| "1".to_owned());
        if self.sandbox.is_offline() {
            offline::tell(&mut env, self.script);
        }
        env
    }

    /// Returns what is put around it.
    fn around(&self) -> ProgramAround<'_> {
        ProgramAround { sandbox: self.sandbox, reach: &self.reach, proxy: self.proxy.as_ref() }
    }

    /// Returns what starts it where nothing is reported of its parts.
    fn without_reports(&self, contained: bool) -> Result<Vec<String>, ExecError> {
        if contained {
            let text = self.script.contained_text();
            return Ok(ShellScript::without_reports(&text, JudgedBy::Effects).words);
        }
        Ok(match self.script.execution().ok_or(ExecError::NotUnderstood)? {
            ScriptExecution::Words(words) => words,
            ScriptExecution::Shell(text) => {
                ShellScript::without_reports(&text, JudgedBy::Words).words
            }
        })
    }
}

/// How a command ended and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// Exit code, signal, or why it was killed.
    pub exit: Exit,
    /// For a script of several commands: those that did not end with 0.
    pub failed_steps: Vec<FailedStep>,
    /// Both streams as they came, bounded; bytes that are no UTF-8 are replaced.
    pub output: ClippedText,
    /// What it asked the proxy for, where there is one.
    pub traffic: Option<Traffic>,
    /// Wall time from start to end.
    pub elapsed: Duration,
}

/// How a command ended that was given something to read, and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FedOutput {
    /// Exit code, signal, or why it was killed.
    pub exit: Exit,
    /// What it printed, bounded.
    pub output: ClippedText,
    /// Its errors, bounded.
    pub errors: ClippedText,
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
    /// It had more processes than it may and was killed.
    TooManyProcesses,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The permit was given for something else.
    #[error("the command is not covered by the permit")]
    NotPermitted,
    /// The sandbox that the policy requires is missing or cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The script has no understood form that could be run.
    #[error("the command has no form that can be run")]
    NotUnderstood,
    /// It was allowed because it would be contained, and nothing contains it.
    #[error("the command was allowed only because it would run contained, and it would not")]
    NotContained,
    /// It would keep running, and nothing holds how many processes it has.
    #[error("this machine cannot hold the processes of a command in the background")]
    NotHeld,
    /// The folder to run in is not there.
    #[error("the working directory `{0}` does not exist")]
    NoFolder(PathBuf),
    /// The program does not exist or cannot be run.
    #[error("`{program}`: {source}")]
    Start {
        /// Program that could not be started.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Runs a command to its end. Dropping the future kills every process of it.
///
/// When the command itself has ended, what it left running is killed too, in whatever session or
/// group it hides; the program becomes the parent of orphaned descendants for this.
///
/// # Errors
/// When it does not start.
pub async fn run(
    permit: &Permit<impl Act>,
    command: CommandRun<'_>,
) -> Result<CommandOutput, ExecError> {
    let contained = is_contained(permit, &command)?;
    let script = if contained {
        let text = command.script.contained_text();
        ShellScript::reporting(&text, &text, JudgedBy::Effects)
    } else {
        match command.script.execution().ok_or(ExecError::NotUnderstood)? {
            ScriptExecution::Words(words) => ShellScript { words, steps: Vec::new() },
            ScriptExecution::Shell(text) => {
                ShellScript::reporting(&text, command.script.text(), JudgedBy::Words)
            }
        }
    };
    Ok(run_program(script, &command, (contained, None)).await?.0)
}

/// Runs a command as [`run`] does, with something to read. Which of its parts failed is not known.
///
/// # Errors
/// When it does not start.
pub async fn run_fed(
    permit: &Permit<impl Act>,
    command: CommandRun<'_>,
    input: &[u8],
) -> Result<FedOutput, ExecError> {
    let contained = is_contained(permit, &command)?;
    let words = command.without_reports(contained)?;
    let script = ShellScript { words, steps: Vec::new() };
    let (CommandOutput { exit, output, .. }, errors) =
        run_program(script, &command, (contained, Some(input))).await?;
    Ok(FedOutput { exit, output, errors })
}

/// Whether a permitted command runs contained.
fn is_contained(permit: &Permit<impl Act>, command: &CommandRun<'_>) -> Result<bool, ExecError> {
    if !permit.covers(&Intent::Command(command.script.clone())) {
        return Err(ExecError::NotPermitted);
    }
    let contained = permit.verdicts().iter().any(Verdict::is_contained);
    if contained {
        command.reach.layer.ok_or(ExecError::NotContained)?;
    }
    Ok(contained)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the wall time of a child process is measured where it runs"
)]
async fn run_program(
    ShellScript { words, steps }: ShellScript,
    command: &CommandRun<'_>,
    (contained, fed): (bool, Option<&[u8]>),
) -> Result<(CommandOutput, ClippedText), ExecError> {
    let begin = std::time::Instant::now();
    let env = command.env_of(contained);
    let program = words.first().cloned().unwrap_or_default();
    let channel = (!steps.is_empty()).then(|| StepReports::of(steps)).transpose();
    let (reports, channel) =
        channel.map_err(|source| ExecError::Start { program, source })?.unzip();
    let streams = if fed.is_some() { ChildStreams::Fed } else { ChildStreams::Output(channel) };
    let folder = &command.folder;
    let program = ChildProgram { words: &words, folder, env, streams };
    let mut started = command.around().start(program)?;
    command.tail.iter().for_each(|tail| tail.clear());
    let mut output = CollectedOutput {
        kept: BoundedOutput::with_margin(command.output_bytes),
        errors: BoundedOutput::with_margin(command.output_bytes),
        tail: command.tail,
    };
    let input = fed.and(started.input.take());
    let running = while_fed(input, fed.unwrap_or_default(), until_exit(&mut started, &mut output));
    let exit = match tokio::time::timeout(command.timeout, running).await {
        Ok(exit) => {
            exit.map_err(|source| ExecError::Start { program: started.program.clone(), source })?
        }
        Err(_) => {
            started.tree.ask_to_end();
            // Either way it is over: what is left is killed below.
            let _ = tokio::time::timeout(TERM_GRACE, until_exit(&mut started, &mut output)).await;
            Exit::TimedOut
        }
    };
    started.tree.kill();
    let _ = tokio::time::timeout(DRAIN_GRACE, until_closed(&mut started, &mut output)).await;
    // What ended by itself ended after all its processes.
    if matches!(exit, Exit::Code(_)) {
        started.around.keep_network();
    }
    let errors = output.errors.finish_redacted(command.redactor);
    let output = CommandOutput {
        exit,
        failed_steps: reports.map(|reports| reports.finish(command.redactor)).unwrap_or_default(),
        output: output.kept.finish_redacted(command.redactor),
        traffic: started.around.traffic(),
        elapsed: begin.elapsed(),
    };
    Ok((output, errors))
}

/// Writes to a command what it is to read, while it runs.
async fn while_fed<T>(
    input: Option<pipe::Sender>,
    bytes: &[u8],
    running: impl Future<Output = T>,
) -> T {
    use tokio::io::AsyncWriteExt as _;
    let mut feeds = input.is_some();
    let feeding = async move {
        if let Some(mut input) = input {
            // What reads less of it than there is has read enough.
            let _ = input.write_all(bytes).await;
        }
    };
    tokio::pin!(running);
    tokio::pin!(feeding);
    loop {
        tokio::select! {
            done = &mut running => return done,
            () = &mut feeding, if feeds => feeds = false,
        }
    }
}

/// What is put around a program.
struct ProgramAround<'a> {
    sandbox: &'a Sandbox,
    reach: &'a CommandReach<'a>,
    proxy: Option<&'a NetworkProxy>,
}

impl ProgramAround<'_> {
    /// Starts a program with its way to the network, and what answers its calls.
    fn start(&self, program: ChildProgram<'_>) -> Result<StartedCommand, ExecError> {
        let restrictions = self.sandbox.restrictions(self.reach)?;
        let below = program.folder.strip_prefix(self.reach.root).unwrap_or(program.folder);
        let in_layer = |layer: LayerFolders<'_>| layer.upper.join(below).is_dir();
        let is_shared = self.reach.shared().iter().any(|shared| shared.has_folder(below));
        if !program.folder.is_dir() && !self.reach.layer.is_some_and(in_layer) && !is_shared {
            return Err(ExecError::NoFolder(program.folder.to_owned()));
        }
        let seen = self.reach.seen(program.folder);
        let mut program = ChildProgram { folder: &seen, ..program };
        if let Some(restrictions) = &restrictions {
            restrictions.env.adapt(&mut program.env);
        }
        let name = program.words.first().ok_or(ExecError::NotUnderstood)?.clone();
        let mut started = spawn::spawn(program, restrictions)
            .map_err(|source| ExecError::Start { program: name, source })?;
        let served = started.around.serve(self.proxy);
        served.map_err(|error| SandboxError::Rules(error.to_string()))?;
        Ok(started)
    }
}

/// Which part of an output is collected, and who follows it.
struct CollectedOutput<'a> {
    kept: BoundedOutput,
    /// The errors, where they are apart.
    errors: BoundedOutput,
    tail: Option<&'a OutputTail>,
}

impl CollectedOutput<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.kept.push(bytes);
        self.tail.iter().for_each(|tail| tail.push(bytes));
    }
}

/// Reads output until the command itself ends.
async fn until_exit(
    started: &mut StartedCommand,
    output: &mut CollectedOutput<'_>,
) -> io::Result<Exit> {
    let (mut chunk, mut errors_chunk) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut counts = tokio::time::interval(COUNT_PAUSE);
    loop {
        tokio::select! {
            read = read_some(started.output.as_mut(), &mut chunk) => match read {
                Some(bytes) => output.push(bytes),
                None => started.output = None,
            },
            read = read_some(started.errors.as_mut(), &mut errors_chunk) => match read {
                Some(bytes) => output.errors.push(bytes),
                None => started.errors = None,
            },
            status = started.child.wait() => {
                return status.map(|status| exit_of(started.around.status(status)));
            }
            _ = counts.tick(), if started.around.counts() => {
                if started.around.has_too_many() {
                    return Ok(Exit::TooManyProcesses);
                }
            }
        }
    }
}

/// Reads what is left in the pipe, and reaps a child that was killed.
async fn until_closed(started: &mut StartedCommand, output: &mut CollectedOutput<'_>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Some(bytes) = read_some_or_end(started.output.as_mut(), &mut chunk).await {
        output.push(bytes);
    }
    while let Some(bytes) = read_some_or_end(started.errors.as_mut(), &mut chunk).await {
        output.errors.push(bytes);
    }
    // Its status is known or of no interest any more.
    let _ = started.child.wait().await;
}

/// Reads the next bytes; `None` at the end. Never resolves once the pipe is closed on our side.
async fn read_some<'a>(pipe: Option<&mut pipe::Receiver>, chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    match pipe {
        Some(pipe) => read_some_or_end(Some(pipe), chunk).await,
        None => std::future::pending().await,
    }
}

async fn read_some_or_end<'a>(
    pipe: Option<&mut pipe::Receiver>,
    chunk: &'a mut [u8],
) -> Option<&'a [u8]> {
    use tokio::io::AsyncReadExt as _;
    let count = pipe?.read(chunk).await.ok().filter(|count| *count > 0)?;
    chunk.get(..count)
}

fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        // Neither exited nor killed is not an end the kernel reports.
        (None, None) => Exit::Code(-1),
    }
}

#[cfg(test)]
mod tests;
