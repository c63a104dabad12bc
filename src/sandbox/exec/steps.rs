//! What the commands of a script report about how they ended, and the pipe they do it through.
//!
//! In: a script whose commands report (`locum_policy::command::steps`). Out: the steps that did not
//! all end with 0. What a program writes to the pipe itself can only add such a step: the code of
//! the script is its shell's.

use std::io::{self, PipeReader, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use locum_base::secret::Redactor;
use locum_policy::command::steps::{ReportingScript, ScriptStep, ShellDialect};

/// The shell that models write for.
const BASH: &str = "/bin/bash";

/// What runs scripts where that is missing.
const SHELL: &str = "/bin/sh";

/// Turns off what of `bash` evaluates its words: `test -v 'a[$(...)]'` runs code, `printf %n PATH`
/// sets a variable. The programs of these names do neither.
const PROGRAMS_ONLY: &str = "enable -n test [ printf; ";

/// Most bytes of reports that are read: what a pipe holds.
const REPORTS_LIMIT_BYTES: u64 = 64 * 1024;

/// The code of a member of a pipe that was ended because its reader was gone.
const BROKEN_PIPE: i32 = 141;

/// A pipe of a script, or a command alone, that did not end with 0 throughout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FailedStep {
    /// The members of the pipe.
    pub stages: Vec<StageExit>,
}

/// How a member of a pipe ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StageExit {
    /// The command as written, shortened.
    pub command: String,
    /// Its exit code; 128 and more for a signal.
    pub code: i32,
}

impl FailedStep {
    /// Returns true for a member that was ended because what read its output was gone.
    pub fn is_cut_off(&self, at: usize) -> bool {
        self.code(at) == BROKEN_PIPE && at + 1 < self.stages.len()
    }

    fn code(&self, at: usize) -> i32 {
        self.stages.get(at).map_or(0, |stage| stage.code)
    }
}

/// A program to start with, and what its reports mean.
pub(super) struct ShellScript {
    pub(super) words: Vec<String>,
    pub(super) steps: Vec<ScriptStep>,
}

impl ShellScript {
    /// Returns how a script runs; `written` is the script as its author knows it.
    pub(super) fn reporting(text: &str, written: &str, judged: JudgedBy) -> Self {
        let dialect = if has_bash() { ShellDialect::Bash } else { ShellDialect::Posix };
        match ReportingScript::of(text, written, dialect) {
            Some(script) => Self { steps: script.steps, ..Self::run(&script.text, judged, true) },
            None => Self::run(text, judged, true),
        }
    }

    /// Returns how a script runs that has nowhere to report to. What lost its reader is a failure
    /// of a pipe only where reports can tell it from others.
    pub(super) fn without_reports(text: &str, judged: JudgedBy) -> Self {
        Self::run(text, judged, false)
    }

    fn run(text: &str, judged: JudgedBy, pipefail: bool) -> Self {
        let text = match judged {
            JudgedBy::Words if has_bash() => format!("{PROGRAMS_ONLY}{text}"),
            JudgedBy::Words | JudgedBy::Effects => text.to_owned(),
        };
        let shell: &[&str] = match (has_bash(), pipefail) {
            (true, true) => &[BASH, "-o", "pipefail", "-c"],
            (true, false) => &[BASH, "-c"],
            (false, _) => &[SHELL, "-c"],
        };
        let words = shell.iter().copied().chain([text.as_str()]).map(str::to_owned).collect();
        Self { words, steps: Vec::new() }
    }
}

/// What the verdict on a script rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgedBy {
    /// Its words, which have to be the words that run.
    Words,
    /// What it does: it is contained.
    Effects,
}

fn has_bash() -> bool {
    Path::new(BASH).exists()
}

/// Where reports come in.
pub(super) struct StepReports {
    reader: PipeReader,
    steps: Vec<ScriptStep>,
}

impl StepReports {
    /// Makes the pipe; returns it with the end that the script is given. Neither end waits: what
    /// does not fit is lost.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn of(steps: Vec<ScriptStep>) -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok((Self { reader, steps }, writer.into()))
    }

    /// Reads what has come in, once the script has ended.
    pub(super) fn finish(self, redactor: &Redactor) -> Vec<FailedStep> {
        let mut bytes = Vec::new();
        // What was read before there is nothing more is all there is.
        let _ = self.reader.take(REPORTS_LIMIT_BYTES).read_to_end(&mut bytes);
        let mut steps = failed(&self.steps, &String::from_utf8_lossy(&bytes));
        for stage in steps.iter_mut().flat_map(|step| &mut step.stages) {
            stage.command = redactor.redact(&stage.command);
        }
        steps
    }
}

/// Reads reports: number of the step, place in it, code. Of one command the last one counts.
fn failed(steps: &[ScriptStep], reports: &str) -> Vec<FailedStep> {
    let mut codes: Vec<Vec<i32>> = steps.iter().map(|step| vec![0; step.stages.len()]).collect();
    for line in reports.lines() {
        let mut numbers = line.split(' ').map(|number| number.parse::<u8>().ok());
        let (Some(Some(step)), Some(Some(stage)), Some(Some(code)), None) =
            (numbers.next(), numbers.next(), numbers.next(), numbers.next())
        else {
            continue;
        };
        let place = |number: u8| usize::from(number).checked_sub(1);
        let known = place(step)
            .and_then(|step| codes.get_mut(step))
            .zip(place(stage))
            .and_then(|(step, stage)| step.get_mut(stage));
        if let Some(known) = known.filter(|_| code != 0) {
            *known = i32::from(code);
        }
    }
    let all = steps.iter().zip(codes).filter(|(_, codes)| codes.iter().any(|code| *code != 0));
    all.map(|(step, codes)| {
        let stages = step.stages.iter().zip(codes);
        let stages =
            stages.map(|(command, code)| StageExit { command: command.clone(), code }).collect();
        FailedStep { stages }
    })
    .collect()
}

#[cfg(test)]
mod tests;
