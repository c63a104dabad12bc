//! Child processes of the model: own session, clean environment, a sandbox around them, time and
//! output bounded, all of them gone at the end.
//!
//! In: a script the permit covers, where and with what environment it runs, how long and how much
//! output is kept. Out: how it ended and both ends of what it printed. It decides nothing about the
//! script and builds no environment (`env` does).

pub mod dialogue;
pub mod output;
mod pid1;
pub(super) mod spawn;
pub mod tree;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::net::unix::pipe;

use crate::exec::output::BothEnds;
use crate::exec::spawn::Started;
use crate::exec::tree::Crowd;
use crate::network::proxy::{NetworkProxy, Serving, Traffic};
use crate::root_cleanup::Swept;
use crate::seccomp_notify::{Desk, Switchboard};
use crate::{Reach, Sandbox, SandboxError};
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::text::Clipped;
use locum_policy::Permit;
use locum_policy::command::{Execution, Script};
use locum_policy::intent::{Act, Intent};

/// Time a command has to end by itself once it was told to, before it is killed.
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
    pub reach: Reach<'a>,
    /// What it talks to the network through, where the policy lists hosts.
    pub proxy: Option<NetworkProxy>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// How it ended.
    pub exit: Exit,
    /// Both streams as they came, bounded; bytes that are no UTF-8 are replaced.
    pub output: Clipped,
    /// Protected names it made in the root of the checkout; they were removed.
    pub removed: Vec<RepoPath>,
    /// What it asked the proxy for, where there is one.
    pub traffic: Option<Traffic>,
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
    /// It had more processes than it may and was killed.
    TooManyProcesses,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The permit was given for something else.
    #[error("the command is not covered by the permit")]
    NotPermitted,
    /// There is no sandbox where the policy requires one, or it cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The script has no understood form that could be run.
    #[error("the command is not understood and cannot be run")]
    NotUnderstood,
    /// The folder to run in is not there.
    #[error("the folder `{0}` to run the command in does not exist")]
    NoFolder(PathBuf),
    /// The program does not exist or cannot be run.
    #[error("`{program}`: {source}")]
    Start {
        /// The program.
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
    if !permit.covers(&Intent::Command(command.script.clone())) {
        return Err(ExecError::NotPermitted);
    }
    let execution = command.script.execution().ok_or(ExecError::NotUnderstood)?;
    run_execution(&execution, &command).await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the wall time of a child process is measured where it runs"
)]
async fn run_execution(
    execution: &Execution,
    command: &CommandRun<'_>,
) -> Result<CommandOutput, ExecError> {
    let begin = std::time::Instant::now();
    let fence = command.sandbox.fence(&command.reach)?;
    let mut env = command.env.clone();
    env.extend(command.script.environment());
    if let Some(fence) = &fence {
        fence.adapt(&mut env);
    }
    let mut started = spawn::start(execution, &command.folder, &env, fence)?;
    let (serving, _switchboard) = serve(&mut started, command.proxy.as_ref())
        .map_err(|error| SandboxError::Rules(error.to_string()))?;
    let mut output = BothEnds::with_margin(command.output_bytes);
    let exit =
        match tokio::time::timeout(command.timeout, until_exit(&mut started, &mut output)).await {
            Ok(exit) => exit
                .map_err(|source| ExecError::Start { program: started.program.clone(), source })?,
            Err(_) => {
                started.tree.ask_to_end();
                // Either way it is over: what is left is killed below.
                let _ =
                    tokio::time::timeout(TERM_GRACE, until_exit(&mut started, &mut output)).await;
                Exit::TimedOut
            }
        };
    started.tree.kill();
    let _ = tokio::time::timeout(DRAIN_GRACE, until_closed(&mut started, &mut output)).await;
    let removed = started.swept.as_ref().map(Swept::sweep).unwrap_or_default();
    Ok(CommandOutput {
        exit,
        output: output.finish_redacted(command.redactor),
        removed,
        traffic: serving.map(Serving::finish),
        elapsed: begin.elapsed(),
    })
}

/// Serves what leads a command to a proxy, and answers its calls. Without a proxy nothing answers
/// there.
fn serve(
    started: &mut Started,
    proxy: Option<&NetworkProxy>,
) -> io::Result<(Option<Serving>, Option<Switchboard>)> {
    let serving = match (started.listener.take(), started.line.is_some(), proxy) {
        (Some(listener), _, Some(proxy)) => Some(proxy.on(listener.into())?),
        (None, true, Some(proxy)) => Some(proxy.on_loopback()?),
        (_, _, None) | (None, false, Some(_)) => None,
    };
    // Where calls are answered, nothing has to be looked at from time to time.
    let desk = |crowd| Desk { proxy: serving.as_ref().map(Serving::address), crowd };
    let switchboard = started
        .line
        .take()
        .map(|line| Switchboard::on(line, desk(started.crowd.take())))
        .transpose()?;
    Ok((serving, switchboard))
}

/// Reads output until the command itself ends.
async fn until_exit(started: &mut Started, output: &mut BothEnds) -> io::Result<Exit> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut counts = tokio::time::interval(COUNT_PAUSE);
    loop {
        tokio::select! {
            read = read_some(started.output.as_mut(), &mut chunk) => match read {
                Some(bytes) => output.push(bytes),
                None => started.output = None,
            },
            status = started.child.wait() => return status.map(|status| started.told(status)),
            _ = counts.tick(), if started.crowd.is_some() => {
                if started.crowd.as_ref().is_some_and(Crowd::is_over) {
                    return Ok(Exit::TooManyProcesses);
                }
            }
        }
    }
}

/// Reads what is left in the pipe, and reaps a child that was killed.
async fn until_closed(started: &mut Started, output: &mut BothEnds) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Some(bytes) = read_some_or_end(started.output.as_mut(), &mut chunk).await {
        output.push(bytes);
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
#[expect(clippy::disallowed_methods, reason = "tests make and read files, and take the time")]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use pretty_assertions::assert_eq;
    use rustix::process::{Pid, test_kill_process};

    use super::{CommandOutput, CommandRun, ExecError, Exit, run_execution};
    use crate::{Reach, Sandbox, Writes};
    use locum_base::secret::Redactor;
    use locum_policy::command::{Execution, Script};
    use locum_policy::intent::Intent;
    use locum_testing::permits::permit;

    const LONG: Duration = Duration::from_secs(20);

    async fn run(
        execution: Execution,
        folder: &Path,
        env: &[(&str, &str)],
        timeout: Duration,
    ) -> Result<CommandOutput, ExecError> {
        let script = Script::parse("");
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (sandbox, reach) = (Sandbox::around_nothing(), reach(folder));
        let command = CommandRun {
            script: &script,
            folder: folder.to_owned(),
            env: &env,
            timeout,
            output_bytes: 1000,
            redactor: &Redactor::default(),
            sandbox: &sandbox,
            reach,
            proxy: None,
        };
        run_execution(&execution, &command).await
    }

    fn reach(root: &Path) -> Reach<'_> {
        Reach {
            root,
            git: &[],
            writes: Writes::Entries,
            git_settings: false,
            visible: &|_| true,
            policy: None,
        }
    }

    async fn sh(text: &str, timeout: Duration) -> CommandOutput {
        let folder = tempfile::tempdir().unwrap();
        let path = [("PATH", "/usr/bin:/bin")];
        run(Execution::Shell(text.to_owned()), folder.path(), &path, timeout).await.unwrap()
    }

    fn words(words: &[&str]) -> Execution {
        Execution::Words(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn process_in(file: &Path) -> Pid {
        Pid::from_raw(std::fs::read_to_string(file).unwrap().trim().parse().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn runs_what_the_permit_covers_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let redactor = Redactor::default();
        let permitted = Script::parse("echo a | echo b");
        let permit = permit(&[Intent::Command(permitted.clone())]);
        let sandbox = Sandbox::around_nothing();
        let command = |script| CommandRun {
            script,
            folder: folder.path().to_owned(),
            env: &env,
            timeout: LONG,
            output_bytes: 100,
            redactor: &redactor,
            sandbox: &sandbox,
            reach: reach(folder.path()),
            proxy: None,
        };
        assert_eq!(super::run(&permit, command(&permitted)).await.unwrap().output.text, "b\n");
        for script in ["echo a", "echo a | echo b; true"].map(Script::parse) {
            let command = CommandRun { script: &script, ..command(&permitted) };
            assert!(
                matches!(super::run(&permit, command).await, Err(ExecError::NotPermitted)),
                "{}",
                script.text()
            );
        }
    }

    #[tokio::test]
    async fn says_how_a_command_ended() {
        for (text, exit) in
            [("true", Exit::Code(0)), ("exit 7", Exit::Code(7)), ("kill -9 $$", Exit::Signal(9))]
        {
            assert_eq!(sh(text, LONG).await.exit, exit, "{text}");
        }
    }

    #[tokio::test]
    async fn gives_both_streams_in_order_and_no_input() {
        assert_eq!(sh("echo a; echo b >&2; cat; echo c", LONG).await.output.text, "a\nb\nc\n");
    }

    #[tokio::test]
    async fn runs_words_without_a_shell_in_the_folder_and_environment_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let env = [("PATH", "/usr/bin:/bin"), ("A", "1")];
        let text = |output: Result<CommandOutput, ExecError>| output.unwrap().output.text;
        assert_eq!(
            text(run(words(&["echo", "$A", "*", ";x"]), &path, &env, LONG).await),
            "$A * ;x\n"
        );
        assert_eq!(
            text(run(words(&["env"]), &path, &env, LONG).await),
            "A=1\nPATH=/usr/bin:/bin\n"
        );
        assert_eq!(
            text(run(words(&["pwd", "-P"]), &path, &env, LONG).await),
            format!("{}\n", path.display())
        );
    }

    #[tokio::test]
    async fn says_why_a_command_does_not_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plain"), "x").unwrap();
        for program in ["no-such-program", "./plain", "./none", "."] {
            let error = run(words(&[program]), folder.path(), &[], LONG).await.unwrap_err();
            assert!(
                matches!(&error, ExecError::Start { program: named, .. } if named == program),
                "{error}"
            );
        }
        let error =
            run(words(&["true"]), &folder.path().join("none"), &[], LONG).await.unwrap_err();
        assert!(matches!(error, ExecError::NoFolder(_)), "{error}");
        assert!(matches!(
            run(words(&[]), folder.path(), &[], LONG).await,
            Err(ExecError::NotUnderstood)
        ));
    }

    #[tokio::test]
    async fn kills_what_takes_too_long() {
        for text in [
            "echo begun; sleep 1000",
            "echo begun; sleep 1000 & wait",
            "echo begun; exec sleep 1000",
        ] {
            let output = sh(text, Duration::from_millis(200)).await;
            assert_eq!(
                (output.exit, output.output.text.as_str()),
                (Exit::TimedOut, "begun\n"),
                "{text}"
            );
            assert!(output.elapsed < Duration::from_secs(2), "{:?}", output.elapsed);
        }
    }

    #[tokio::test]
    async fn kills_what_does_not_want_to_end() {
        let output = sh(
            "trap '' TERM; echo begun; while :; do sleep 0.05; done",
            Duration::from_millis(200),
        )
        .await;
        assert_eq!((output.exit, output.output.text.as_str()), (Exit::TimedOut, "begun\n"));
    }

    #[tokio::test]
    async fn bounds_output_that_never_ends() {
        let output = sh("exec yes", Duration::from_millis(300)).await;
        assert_eq!(output.exit, Exit::TimedOut);
        assert!(
            output.output.omitted_bytes > 100_000 && output.output.text.len() < 1100,
            "{}",
            output.output.omitted_bytes
        );
        let output = sh("echo first; seq 100000; echo last", LONG).await;
        assert!(
            output.output.text.starts_with("first\n1\n")
                && output.output.text.ends_with("100000\nlast\n")
        );
    }

    #[tokio::test]
    async fn leaves_no_process_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = [("PATH", "/usr/bin:/bin")];
        for text in [
            "sleep 1000 & echo $! > pid",
            "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; \
             done",
            "(setsid env -i sh -c 'echo $$ > pid; sleep 1000; true' >/dev/null 2>&1 &) ; while ! \
             [ -s pid ]; do sleep 0.01; done",
        ] {
            let begin = Instant::now();
            let output =
                run(Execution::Shell(text.to_owned()), folder.path(), &path, LONG).await.unwrap();
            assert_eq!(output.exit, Exit::Code(0), "{text}");
            assert!(begin.elapsed() < Duration::from_secs(5), "{text}");
            assert!(test_kill_process(process_in(&folder.path().join("pid"))).is_err(), "{text}");
            std::fs::remove_file(folder.path().join("pid")).unwrap();
        }
    }

    #[tokio::test]
    async fn a_command_that_ends_spares_the_one_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = [("PATH", "/usr/bin:/bin")];
        let long = "(setsid sh -c 'sleep 0.3; echo done > late' &); while ! [ -s late ]; do sleep \
                    0.01; done";
        let long = run(Execution::Shell(long.to_owned()), folder.path(), &path, LONG);
        let short = async {
            for _ in 0..5 {
                run(Execution::Shell("sleep 0.01".to_owned()), folder.path(), &path, LONG)
                    .await
                    .unwrap();
            }
        };
        let (long, ()) = tokio::join!(long, short);
        assert_eq!(long.unwrap().exit, Exit::Code(0));
    }

    #[tokio::test]
    async fn dropping_the_run_kills_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = "setsid sleep 1000 & echo $! > other; echo $$ > pid; sleep 1000";
        let running = run(
            Execution::Shell(text.to_owned()),
            folder.path(),
            &[("PATH", "/usr/bin:/bin")],
            LONG,
        );
        let pid = folder.path().join("pid");
        let begun = async {
            while std::fs::read_to_string(&pid).unwrap_or_default().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = running => panic!("it sleeps"),
            () = begun => {}
        }
        assert!(test_kill_process(process_in(&folder.path().join("other"))).is_err());
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", process_in(&pid).as_raw_nonzero()))
                .unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}
