//! Starts a command with one pipe for both streams, or with three where it is talked to or fed.
//! What is around it is the business of the system (`crate::machine`).

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe;

use crate::machine::process_tree::ProcessTree;
use crate::machine::restrictions::Restrictions;
use crate::machine::start::{Around, CommandProcess, StartedProcess, start};
use crate::program::ProgramStart;

/// What a program reads and writes.
#[derive(Debug)]
pub(super) enum ChildStreams {
    /// It reads nothing, and both its outputs are one. In the place of its input it may be given
    /// what it reports to.
    Output(Option<OwnedFd>),
    /// The same, and it keeps running beside other commands.
    Background,
    /// It is given an input once, and its errors are apart from its output.
    Fed,
    /// A dialogue: input, output and errors are pipes of their own.
    Talk,
}

/// A command that runs.
pub(super) struct StartedCommand {
    /// Its program, for messages.
    pub(super) program: String,
    /// Both streams, or the output of a dialogue; `None` once they ended.
    pub(super) output: Option<pipe::Receiver>,
    /// The input of a dialogue, or of what is fed.
    pub(super) input: Option<pipe::Sender>,
    /// The errors, where they are apart.
    pub(super) errors: Option<pipe::Receiver>,
    /// Every process of it; killed when dropped.
    pub(super) tree: ProcessTree,
    /// The process that is waited for.
    pub(super) child: CommandProcess,
    /// What the system keeps for it while it runs.
    pub(super) around: Around,
}

/// What is started: a program with its arguments, where, and with what environment.
pub(super) struct ChildProgram<'a> {
    /// The program and its arguments.
    pub(super) words: &'a [String],
    /// Working folder, as an absolute path.
    pub(super) folder: &'a Path,
    /// The whole environment; nothing is inherited.
    pub(super) env: BTreeMap<String, String>,
    /// What it reads and writes.
    pub(super) streams: ChildStreams,
}

/// Starts a program.
///
/// # Errors
/// When the program does not exist or may not be run, or the restrictions cannot be put on it.
pub(super) fn spawn(
    ChildProgram { words, folder, env, streams }: ChildProgram<'_>,
    restrictions: Option<Restrictions>,
) -> io::Result<StartedCommand> {
    let program = words.first().ok_or(io::ErrorKind::InvalidInput)?;
    let (reader, writer) = io::pipe()?;
    let goes_on = matches!(streams, ChildStreams::Talk | ChildStreams::Background);
    let nothing = || {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        rustix::fs::open(c"/dev/null", flags, Mode::empty())
    };
    let (streams, apart) = match streams {
        ChildStreams::Output(Some(reports)) => {
            ([reports, writer.try_clone()?.into(), writer.into()], None)
        }
        ChildStreams::Output(None) | ChildStreams::Background => {
            ([nothing()?, writer.try_clone()?.into(), writer.into()], None)
        }
        ChildStreams::Fed | ChildStreams::Talk => {
            let ((input_reader, input), (errors, errors_writer)) = (io::pipe()?, io::pipe()?);
            let streams = [input_reader.into(), writer.into(), errors_writer.into()];
            (streams, Some((input, errors)))
        }
    };
    let started = start(ProgramStart { words, folder, env, streams, goes_on }, restrictions)?;
    let StartedProcess { tree, process: child, around } = started;
    let output = Some(pipe::Receiver::from_owned_fd(reader.into())?);
    let (input, errors) = apart.unzip();
    let input = input.map(|input| pipe::Sender::from_owned_fd(input.into())).transpose()?;
    let errors = errors.map(|errors| pipe::Receiver::from_owned_fd(errors.into())).transpose()?;
    Ok(StartedCommand { program: program.to_owned(), output, input, errors, tree, child, around })
}
