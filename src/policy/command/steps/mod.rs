//! Scripts that report how each of their commands ended, and whose pipes fail when one of their
//! members does.
//!
//! In: the text that a shell is about to be given. Out: the same with its commands wrapped, so that
//! each writes a code other than 0 to a descriptor, by number; and what the numbers mean. A member
//! of a pipe that fails makes the pipe fail (`pipefail`), unless only its reader was gone
//! (SIGPIPE). What the script asks about itself (`if`, `!`, the left of `||`) is not reported. The
//! text is never made better than it was: the code of the script stays that of its shell.

mod dialect;
mod finder;
mod set_options;

use brush_parser::ast;

use crate::command::parse::program;
use crate::command::steps::finder::StepFinder;

pub use dialect::ShellDialect;

/// Longest text that is wrapped, in bytes.
pub const REPORTING_LIMIT_BYTES: usize = 16 * 1024;
/// Most steps of a script that reports.
pub const STEPS_LIMIT: usize = 200;

/// Words that show that a script looks at its own commands, which wrapping would change.
const LOOKS_AT_ITSELF: &[&str] =
    &["__locum", "xtrace", "lastpipe", "BASH_COMMAND", "DEBUG", "RETURN", "extdebug"];

/// A script that reports how its commands ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportingScript {
    /// What a shell is given. It reads from the descriptor that it reports to as its input, and
    /// turns it round itself.
    pub text: String,
    /// What a report's first number means, from 1: the members of one pipe.
    pub steps: Vec<ScriptStep>,
}

/// A pipe of a script, or a command alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptStep {
    /// Its members as written, in the order of the pipe.
    pub stages: Vec<String>,
}

impl ReportingScript {
    /// Wraps the commands of a script; `None` where one command is all there is, and where the
    /// script cannot be read surely enough. `written` is the script as its author knows it.
    pub fn of(text: &str, written: &str, dialect: ShellDialect) -> Option<Self> {
        if LOOKS_AT_ITSELF.iter().any(|word| text.contains(word)) || traces(text) {
            return None;
        }
        let program = read(text)?;
        if is_one_command(&program) {
            return None;
        }
        let checked = StepFinder::wrap(text, &program, ShellDialect::Bash)?;
        let wrapped = read_wrapped(&checked.text)?;
        if finder::commands_of(&wrapped) != finder::commands_of(&program) {
            return None;
        }
        let found = match dialect {
            ShellDialect::Bash => checked,
            ShellDialect::Posix => StepFinder::wrap(text, &program, dialect)?,
        };
        let steps = match read(written).filter(|_| written != text) {
            Some(program) => StepFinder::wrap(written, &program, dialect)
                .map(|known| known.steps)
                .filter(|known| are_alike(known, &found.steps))
                .unwrap_or(found.steps),
            None => found.steps,
        };
        Some(Self { text: format!("{}{}", dialect.prelude(), found.text), steps })
    }
}

fn are_alike(some: &[ScriptStep], others: &[ScriptStep]) -> bool {
    let count = |steps: &[ScriptStep]| -> Vec<usize> {
        steps.iter().map(|step| step.stages.len()).collect()
    };
    count(some) == count(others)
}

/// Reads a script whose nesting the grammar can bear.
fn read(text: &str) -> Option<ast::Program> {
    if text.len() > REPORTING_LIMIT_BYTES || !finder::is_shallow(text) {
        return None;
    }
    program(text).ok()
}

fn read_wrapped(text: &str) -> Option<ast::Program> {
    program(text).ok()
}

/// `set -x` shows what was wrapped around a command.
fn traces(text: &str) -> bool {
    set_options::letters(text).contains('x')
}

/// Whether a script ends at the first command that fails.
fn stops_at_failure(text: &str) -> bool {
    text.contains("errexit") || set_options::letters(text).contains('e')
}

/// One simple command and nothing else: the code of the script is its own.
fn is_one_command(program: &ast::Program) -> bool {
    let [complete] = program.complete_commands.as_slice() else { return false };
    let [ast::CompoundListItem(and_or, _)] = complete.0.as_slice() else { return false };
    and_or.additional.is_empty() && matches!(and_or.first.seq.as_slice(), [ast::Command::Simple(_)])
}

#[cfg(test)]
mod tests;
