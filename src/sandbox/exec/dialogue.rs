//! `Dialogue`: a program that exchanges messages with a run for as long as it lasts: an MCP server,
//! a browser. It is in a sandbox like any command, with input, output and errors on streams of
//! their own.
//!
//! In: a permit to start the program, its words, its environment and sandbox. Out: messages both
//! ways, each bounded, and at the end what it wrote to its error stream. The meaning of messages is
//! handled elsewhere. Dropping it kills every process of it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use crate::exec::output::BoundedOutput;
use crate::exec::spawn::{ChildProgram, ChildStreams, StartedCommand};
use crate::exec::{CHUNK_BYTES, COUNT_PAUSE, ExecError, ProgramAround, read_some_or_end};
use crate::machine::sandbox::Sandbox;
use crate::network::proxy::NetworkProxy;
use crate::reach::CommandReach;
use crate::shared_network::SharedNetwork;
use locum_base::secret::Redactor;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};

/// How messages are framed, and how long one may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFraming {
    /// The byte that ends each.
    pub end: u8,
    /// Longest message that is read, in bytes.
    pub limit_bytes: usize,
}

/// A message is a line.
pub const LINES: MessageFraming = MessageFraming { end: b'\n', limit_bytes: 8 << 20 };

/// Bytes kept of the error stream, half from each end.
const ERRORS_KEPT_BYTES: usize = 4 * 1024;

/// Time a program has to end once its input is closed, before it is killed.
const END_GRACE: Duration = Duration::from_millis(500);

/// A program about to be started for a dialogue.
pub struct TalkingProgram<'a> {
    /// What starting it means; the permit covers it.
    pub intent: Intent,
    /// How its messages are framed.
    pub framing: MessageFraming,
    /// The program and its arguments.
    pub words: &'a [String],
    /// Where; an absolute path.
    pub folder: PathBuf,
    /// Its whole environment; the sandbox leads `HOME` and temporary files elsewhere.
    pub env: BTreeMap<String, String>,
    /// What is around it.
    pub sandbox: &'a Sandbox,
    /// How far it reaches there.
    pub reach: CommandReach<'a>,
    /// Its way to the network, where the policy lists hosts.
    pub proxy: Option<NetworkProxy>,
}

/// A running program that exchanges messages with this one.
pub struct Dialogue {
    started: StartedCommand,
    framing: MessageFraming,
    /// Bytes of its output that no message was made of yet; bounded.
    unread: Vec<u8>,
    /// How much of them is known to hold no end of a message.
    searched: usize,
    errors: Option<BoundedOutput>,
}

/// Why no next message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialogueEnd {
    /// It closed its output, or ended.
    #[error("it ended")]
    Ended,
    /// Its message is longer than this many bytes.
    #[error("it sent a message of more than {} MiB", .0 >> 20)]
    TooLong(usize),
    /// It has more processes than it may.
    #[error("it started too many processes")]
    TooManyProcesses,
}

impl Dialogue {
    /// Starts the program.
    ///
    /// # Errors
    /// When the permit is for something else, the program cannot be started, or nothing can be put
    /// around it.
    pub fn start(
        permit: &Permit<impl Act>,
        talking: TalkingProgram<'_>,
    ) -> Result<Self, ExecError> {
        let TalkingProgram { intent, framing, words, folder, env, sandbox, reach, proxy } = talking;
        if !permit.covers(&intent) {
            return Err(ExecError::NotPermitted);
        }
        let program = ChildProgram { words, folder: &folder, env, streams: ChildStreams::Talk };
        let around = ProgramAround { sandbox, reach: &reach, proxy: proxy.as_ref() };
        let started = around.start(program)?;
        let errors = Some(BoundedOutput::with_margin(ERRORS_KEPT_BYTES));
        Ok(Self { started, framing, unread: Vec::new(), searched: 0, errors })
    }

    /// Returns its network, for commands that are to reach it or be reached by it; `None` where all
    /// have that of this machine.
    pub fn network(&self) -> Option<SharedNetwork> {
        self.started.around.network().map(SharedNetwork::of)
    }

    /// Shows the program what was changed below its layer, or taken out of it, since it looked. A
    /// file that it keeps open stays what it was.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn renew_layer(&self) -> io::Result<()> {
        self.started.around.renew_layers()
    }

    /// Sends one message. Its output is read meanwhile, so that neither waits for the other.
    ///
    /// # Errors
    /// When it has ended, or writes more than a message may hold without being asked.
    pub async fn send(&mut self, message: &str) -> Result<(), DialogueEnd> {
        let framed = [message.as_bytes(), &[self.framing.end]].concat();
        let mut left = framed.as_slice();
        let mut input = self.started.input.take().ok_or(DialogueEnd::Ended)?;
        while !left.is_empty() {
            tokio::select! {
                written = input.write(left) => match written {
                    Ok(count) if count > 0 => left = left.get(count..).unwrap_or_default(),
                    Ok(_) | Err(_) => return Err(DialogueEnd::Ended),
                },
                more = self.more() => more?,
            }
        }
        self.started.input = Some(input);
        Ok(())
    }

    /// Returns false once it has taken a part of a message and no more.
    pub fn can_be_told(&self) -> bool {
        self.started.input.is_some()
    }

    /// Waits for the next message. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// When there will be none.
    pub async fn next(&mut self) -> Result<Vec<u8>, DialogueEnd> {
        loop {
            let end =
                self.unread.iter().skip(self.searched).position(|byte| *byte == self.framing.end);
            if let Some(end) = end {
                let rest = self.unread.split_off(self.searched + end + 1);
                let mut message = std::mem::replace(&mut self.unread, rest);
                self.searched = 0;
                message.pop();
                return Ok(message);
            }
            self.searched = self.unread.len();
            self.more().await?;
        }
    }

    /// Reads what comes next, from either stream.
    async fn more(&mut self) -> Result<(), DialogueEnd> {
        if self.unread.len() > self.framing.limit_bytes {
            return Err(DialogueEnd::TooLong(self.framing.limit_bytes));
        }
        let (mut output, mut errors) = ([0; CHUNK_BYTES / 4], [0; 1024]);
        tokio::select! {
            read = read_some_or_end(self.started.output.as_mut(), &mut output) => match read {
                Some(bytes) => self.unread.extend_from_slice(bytes),
                None => return Err(DialogueEnd::Ended),
            },
            read = read_some_or_end(self.started.errors.as_mut(), &mut errors),
                if self.started.errors.is_some() => match read
            {
                Some(bytes) => self.errors.iter_mut().for_each(|kept| kept.push(bytes)),
                None => self.started.errors = None,
            },
            () = tokio::time::sleep(COUNT_PAUSE), if self.started.around.counts() => {
                if self.started.around.has_too_many() {
                    return Err(DialogueEnd::TooManyProcesses);
                }
            }
        }
        Ok(())
    }

    /// Ends the program: asks it by closing its input, then kills whatever is left. Returns what it
    /// said on its error stream, without secrets.
    pub async fn end(mut self, redactor: &Redactor) -> String {
        self.started.input = None;
        let ended = async {
            let mut chunk = [0; 1024];
            while let Some(bytes) = read_some_or_end(self.started.errors.as_mut(), &mut chunk).await
            {
                self.errors.iter_mut().for_each(|kept| kept.push(bytes));
            }
            let _status = self.started.child.wait().await;
        };
        // Either way it is over.
        let _ = tokio::time::timeout(END_GRACE, ended).await;
        self.started.tree.kill();
        let _reaped = tokio::time::timeout(END_GRACE, self.started.child.wait()).await;
        self.errors
            .take()
            .map(|errors| errors.finish_redacted(redactor).text.trim().to_owned())
            .unwrap_or_default()
    }
}
