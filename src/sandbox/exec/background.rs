//! `BackgroundCommand`: a command that goes on running beside others, such as a server under test.
//! It is in a sandbox like any command.
//!
//! In: a script the permit covers, where and with what environment it runs. Out: what it printed
//! since it was last asked, and how it ended. Dropping it kills every process of it.

use std::io;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::exec::output::BoundedOutput;
use crate::exec::spawn::{ChildProgram, ChildStreams, StartedCommand};
use crate::exec::{
    CHUNK_BYTES, COUNT_PAUSE, CommandRun, DRAIN_GRACE, ExecError, Exit, TERM_GRACE, exit_of,
    is_contained, read_some_or_end,
};
use crate::network::proxy::Traffic;
use crate::shared_network::SharedNetwork;
use locum_base::secret::Redactor;
use locum_base::text::ClippedText;
use locum_policy::Permit;
use locum_policy::intent::Act;

/// Longest line that is waited for before it is shown: a secret in it could be cut in two.
const LINE_LIMIT_BYTES: usize = 64 * 1024;

/// A command in the background.
pub struct BackgroundCommand {
    started: StartedCommand,
    printed: watch::Sender<PrintedOutput>,
    output_bytes: usize,
    exit: Option<Exit>,
}

/// What a command printed since it was last asked.
struct PrintedOutput {
    /// Whole lines.
    lines: BoundedOutput,
    /// The beginning of a line.
    begun: Vec<u8>,
    /// Whether there will be no more.
    is_over: bool,
}

/// What is waited for.
#[derive(Clone, Copy, Debug)]
pub struct OutputWait<'w> {
    /// The longest wait.
    pub patience: Duration,
    /// A text that ends it as soon as a whole line has it.
    pub until: Option<&'w str>,
}

impl BackgroundCommand {
    /// Starts a command. Its time is not limited.
    ///
    /// # Errors
    /// When it does not start, or this machine cannot hold how many processes it has.
    pub fn start(permit: &Permit<impl Act>, command: CommandRun<'_>) -> Result<Self, ExecError> {
        let contained = is_contained(permit, &command)?;
        let words = command.without_reports(contained)?;
        let (env, folder) = (command.env_of(contained), command.folder.as_path());
        let streams = ChildStreams::Background;
        let program = ChildProgram { words: &words, folder, env, streams };
        let mut started = command.around().start(program)?;
        if started.around.counts() {
            // Nobody would look at their number between two questions.
            return Err(ExecError::NotHeld);
        }
        let output_bytes = command.output_bytes;
        let printed = watch::Sender::new(PrintedOutput::none(output_bytes));
        if let Some(pipe) = started.output.take() {
            tokio::spawn(collect(pipe, printed.clone()));
        }
        Ok(Self { started, printed, output_bytes, exit: None })
    }

    /// Returns its network, for commands that are to reach it; `None` where all have that of this
    /// machine.
    pub fn network(&self) -> Option<SharedNetwork> {
        self.started.around.network().map(SharedNetwork::of)
    }

    /// Shows it what was changed below its layer since it looked. A file that it keeps open stays
    /// what it was.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn renew_layer(&self) -> io::Result<()> {
        if self.exit.is_some() { Ok(()) } else { self.started.around.renew_layers() }
    }

    /// Waits until it has ended, printed what is waited for, or the time is over; returns how it
    /// ended, if it has. Nothing is lost when the wait is given up.
    pub async fn wait(&mut self, wait: OutputWait<'_>) -> Option<Exit> {
        let over = tokio::time::sleep(wait.patience);
        tokio::pin!(over);
        let mut news = self.printed.subscribe();
        loop {
            if self.exit.is_some() || wait.is_over(&news.borrow_and_update()) {
                return self.exit;
            }
            tokio::select! {
                biased;
                status = self.started.child.wait() => self.ended(status).await,
                changed = next(&mut news), if wait.until.is_some() => {
                    if changed.is_err() {
                        return self.exit;
                    }
                }
                () = &mut over => return self.exit,
            }
        }
    }

    /// Whether it has ended by now.
    pub fn has_ended(&mut self) -> bool {
        self.exit.is_some() || self.started.child.wait().now_or_never().is_some()
    }

    /// Returns the lines that it printed since this was asked before, without secrets.
    pub fn take_output(&mut self, redactor: &Redactor) -> ClippedText {
        let fresh = BoundedOutput::with_margin(self.output_bytes);
        let mut taken = None;
        self.printed.send_modify(|printed| {
            taken = Some(std::mem::replace(&mut printed.lines, fresh));
        });
        let nothing = ClippedText { text: String::new(), omitted_bytes: 0 };
        taken.map_or(nothing, |lines| lines.finish_redacted(redactor))
    }

    /// Asks it to end, and kills what is left of it after two seconds. Returns how it ended.
    pub async fn stop(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        self.started.tree.ask_to_end();
        let status = tokio::time::timeout(TERM_GRACE, self.started.child.wait()).await;
        match status {
            Ok(status) => self.ended(status).await,
            Err(_) => {
                self.started.tree.kill();
                let status = self.started.child.wait().await;
                self.ended(status).await;
            }
        }
        self.exit.unwrap_or(Exit::TimedOut)
    }

    /// Returns what it asked the proxy for, once it has ended.
    pub fn traffic(&mut self) -> Option<Traffic> {
        self.exit?;
        self.started.around.traffic()
    }

    /// Notes how it ended, kills what it left running, and takes what it printed last.
    async fn ended(&mut self, status: io::Result<std::process::ExitStatus>) {
        // What cannot be waited for was killed from outside.
        let status = status.map(|status| exit_of(self.started.around.status(status)));
        self.exit = Some(status.unwrap_or(Exit::Signal(9)));
        self.started.tree.kill();
        let mut news = self.printed.subscribe();
        let _ = tokio::time::timeout(DRAIN_GRACE, news.wait_for(|printed| printed.is_over)).await;
    }
}

/// Waits for news, but not for every single one.
async fn next(news: &mut watch::Receiver<PrintedOutput>) -> Result<(), watch::error::RecvError> {
    news.changed().await?;
    tokio::time::sleep(COUNT_PAUSE).await;
    Ok(())
}

/// Collects what comes out of a pipe until it is closed.
async fn collect(mut pipe: pipe::Receiver, printed: watch::Sender<PrintedOutput>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Some(bytes) = read_some_or_end(Some(&mut pipe), &mut chunk).await {
        printed.send_modify(|printed| printed.push(bytes));
    }
    printed.send_modify(PrintedOutput::close);
}

impl OutputWait<'_> {
    fn is_over(&self, printed: &PrintedOutput) -> bool {
        self.until.is_some_and(|text| printed.lines.latest().contains(text))
    }
}

impl PrintedOutput {
    fn none(output_bytes: usize) -> Self {
        let lines = BoundedOutput::with_margin(output_bytes);
        Self { lines, begun: Vec::new(), is_over: false }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        let end = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let end = if self.begun.len() - end > LINE_LIMIT_BYTES { self.begun.len() } else { end };
        self.lines.push(self.begun.get(..end).unwrap_or_default());
        self.begun.drain(..end);
    }

    fn close(&mut self) {
        self.lines.push(&std::mem::take(&mut self.begun));
        self.is_over = true;
    }
}

#[cfg(test)]
mod tests;
