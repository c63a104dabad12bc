//! A process that computes and does nothing else: what parses a hostile file runs in it.
//!
//! In: this program with a word that says what it is to do, and bytes. Out: bytes, or why there are
//! none. Before it takes the first byte the process gives everything up ([`give_up`]): it has
//! memory, the time of a processor and two pipes, and opens no file, no socket and no process. That
//! needs seccomp alone, so it holds where there are no namespaces. It starts with an empty
//! environment and nothing of this program's memory.
#![expect(clippy::disallowed_types, reason = "the owner of child processes")]

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::machine::confined;

/// This program, whatever became of its file.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// Wall time of one process.
pub const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Memory of one process, in bytes, its program included.
pub const MEMORY_LIMIT_BYTES: u64 = 768 * 1024 * 1024;

/// Most of these processes at a time; others wait for their turn, which is not part of their time.
const PROCESSES_LIMIT: usize = 2;

/// The turns of this program's processes, whoever asks for them.
static TURNS: Semaphore = Semaphore::const_new(PROCESSES_LIMIT);

/// Why a confined process gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ConfinedError {
    /// This system cannot confine it.
    #[error("{0}")]
    NotConfined(io::Error),
    /// It could not be started, or not be talked to.
    #[error("its reader cannot be started: {0}")]
    Start(#[from] io::Error),
    /// It took too long.
    #[error("reading it takes longer than {} seconds", TIME_LIMIT.as_secs())]
    TooSlow,
    /// It gave more than is taken.
    #[error("reading it gives more than {0} bytes")]
    TooLong(usize),
    /// It ended before it gave anything.
    #[error("its reader broke off: the content is broken, or needs more than {} MiB of memory", MEMORY_LIMIT_BYTES >> 20)]
    BrokeOff,
}

/// Starts a program that gives everything up when it is called with this word; returns what it
/// makes of the input.
///
/// # Errors
/// See [`ConfinedError`].
pub async fn ask(
    program: &Path,
    word: &str,
    input: &[u8],
    limit_bytes: usize,
) -> Result<Vec<u8>, ConfinedError> {
    let _turn = TURNS.acquire().await.map_err(io::Error::other)?;
    let mut command = std::process::Command::new(program);
    command.arg(word).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    confined::prepare(&mut command).map_err(ConfinedError::NotConfined)?;
    let mut command = Command::from(command);
    let mut child = command.kill_on_drop(true).spawn()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ConfinedError::BrokeOff);
    };
    let asked = async {
        let write = async {
            // It may end before it has taken all.
            let _ = stdin.write_all(input).await;
            drop(stdin);
        };
        let mut answer = Vec::new();
        let mut stdout = stdout.take(limit_bytes as u64 + 1);
        let ((), read) = tokio::join!(write, stdout.read_to_end(&mut answer));
        read?;
        if answer.len() > limit_bytes {
            return Err(ConfinedError::TooLong(limit_bytes));
        }
        let status = child.wait().await?;
        if status.success() { Ok(answer) } else { Err(ConfinedError::BrokeOff) }
    };
    // Whatever is left of it is killed when `child` is dropped.
    tokio::time::timeout(TIME_LIMIT, asked).await.unwrap_or(Err(ConfinedError::TooSlow))
}

/// Gives up, for the rest of this process, everything but its memory and its pipes. For a process
/// with one thread.
///
/// # Errors
/// When the kernel refuses, or cannot do it: then nothing hostile may be looked at.
pub fn give_up() -> io::Result<()> {
    confined::give_up(MEMORY_LIMIT_BYTES, TIME_LIMIT)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::future::Future as _;
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::{ConfinedError, PROCESSES_LIMIT, TURNS, ask};

    fn asked(program: &str, word: &str, input: &[u8]) -> Result<Vec<u8>, ConfinedError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(ask(Path::new(program), word, input, 1 << 20))
    }

    #[test]
    fn what_it_says_is_taken_up_to_a_limit_and_how_it_ends_counts() {
        let input = vec![b'x'; 1 << 20];
        assert_eq!(asked("/bin/cat", "-", &input).unwrap(), input);
        let more = [input.as_slice(), b"y"].concat();
        assert!(matches!(asked("/bin/cat", "-", &more), Err(ConfinedError::TooLong(_))));
        assert!(matches!(asked("/bin/cat", "/none", &input), Err(ConfinedError::BrokeOff)));
        assert!(matches!(asked("/none", "-", b""), Err(ConfinedError::Start(_))));
        // Nothing of this program's environment.
        assert_eq!(asked("/usr/bin/env", "--null", b"").unwrap(), b"");
    }

    #[test]
    fn no_more_are_started_than_may_run_at_a_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let others = TURNS.acquire_many(PROCESSES_LIMIT as u32).await.unwrap();
            // What does not exist would fail at once.
            let mut asked = pin!(ask(Path::new("/none"), "-", b"", 1));
            assert!(asked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(others);
            assert!(matches!(asked.await, Err(ConfinedError::Start(_))));
        });
    }
}
