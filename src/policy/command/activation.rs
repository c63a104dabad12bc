//! `source .venv/bin/activate` in front of other commands: tools of Python behind it are those of
//! that environment.
//!
//! In: the tree of a script. Out: what runs in the place of its commands: such tools by their
//! paths, which are judged by their names. The file itself never runs: it may be any script, and it
//! leads the names of all programs to another folder. Where a command behind it is neither such a
//! tool nor one that is the same everywhere, no rule allows the line.

use crate::command::inert::is_silent;
use crate::command::tables::launcher::WrapperKind;
use crate::command::tables::spelling;
use crate::command::tables::wrappers;
use crate::command::tree::{
    AndOr, CommandList, ListOperator, Pipeline, ShellCommand, SimpleCommand,
};
use crate::words;

/// Folders of environments, as tools of Python make them.
const FOLDERS: &[&str] = &[".venv/bin/", "venv/bin/"];

/// Tools that an environment brings along; each runs code of the repository.
const TOOLS: &str = "coverage mypy nox pylint py.test pytest python python3 sphinx-build tox";

/// Programs and words of a shell that are the same in every environment.
const OTHERS: &str = "\
    : [ basename cat cd cut date diff dirname echo egrep export false fgrep find git grep head ls \
    mkdir nl printf pwd rg rm sed set sort stat tail tee test touch tr true uniq unset wait wc";

/// Returns true for a command that enters an environment, where all behind it can be led there.
pub(super) fn enters(tree: &CommandList, simple: &SimpleCommand) -> bool {
    of(tree).is_some_and(|(source, _)| std::ptr::eq(source, simple))
}

/// Returns true for a script that begins with such a command.
pub(super) fn is_entered(tree: &CommandList) -> bool {
    of(tree).is_some()
}

/// Returns what runs in the place of a command behind it, if that is something else. In its own
/// place, what runs fails where there is no such environment.
pub(super) fn instead(tree: &CommandList, simple: &SimpleCommand) -> Option<Vec<String>> {
    let (source, folder) = of(tree)?;
    if std::ptr::eq(source, simple) {
        let file = simple.words.get(1)?;
        return Some(["head", "-n", "0", file].map(str::to_owned).to_vec());
    }
    let at = program_at(&simple.words);
    let mut words = simple.words.clone();
    let program = words.get_mut(at).filter(|_| is_tool(&simple.words, at, folder))?;
    program.insert_str(0, folder);
    Some(words)
}

fn of(tree: &CommandList) -> Option<(&SimpleCommand, &'static str)> {
    let AndOr { first, rest } = tree.0.first()?;
    let Pipeline { negated: false, commands } = first else { return None };
    let [ShellCommand::Simple(source)] = commands.as_slice() else { return None };
    let [program, file] = source.words.as_slice() else { return None };
    let file = file.strip_prefix("./").unwrap_or(file);
    let is_its = |folder: &&str| file.strip_prefix(*folder) == Some("activate");
    let folder = FOLDERS.iter().copied().find(is_its)?;
    let is_plain = matches!(program.as_str(), "source" | ".")
        && source.variables.is_empty()
        && source.redirects.iter().all(is_silent)
        && rest.iter().all(|(operator, _)| *operator == ListOperator::And);
    let mut behind = tree.simple_commands().into_iter().skip(1);
    (is_plain && behind.all(|simple| is_led(&simple.words, folder))).then_some((source, folder))
}

/// Whether a command is the same in the environment, or a tool of it.
fn is_led(words: &[String], folder: &str) -> bool {
    let at = program_at(words);
    let program = words.get(at).map_or("", String::as_str);
    words::holds(OTHERS, program) || program.starts_with(folder) || is_tool(words, at, folder)
}

/// Returns the index of the program that others only start, such as `timeout`.
fn program_at(words: &[String]) -> usize {
    let mut at = 0;
    while let Some((further, WrapperKind::Plain)) = words.get(at..).and_then(wrappers::inner) {
        at += further;
    }
    at
}

/// Whether a program is a tool of the environment that is judged by its name there too.
fn is_tool(words: &[String], at: usize, folder: &str) -> bool {
    let Some([program, rest @ ..]) = words.get(at..) else { return false };
    let led: Vec<String> =
        std::iter::once(format!("{folder}{program}")).chain(rest.iter().cloned()).collect();
    words::holds(TOOLS, program) && spelling::usual(&led).is_some()
}

#[cfg(test)]
mod tests {
    use crate::command::{Script, ScriptExecution};
    use pretty_assertions::assert_eq;

    #[test]
    fn tools_behind_it_are_those_of_the_environment_and_the_file_never_runs() {
        for (text, shown) in [
            (
                "source .venv/bin/activate && pytest -q | tail -5",
                "'head' '-n' '0' '.venv/bin/activate' && '.venv/bin/pytest' '-q' | 'tail' '-5'",
            ),
            (
                ". ./venv/bin/activate 2>/dev/null; python -m pytest",
                "'head' '-n' '0' './venv/bin/activate' 2>'/dev/null'\n\
                 'venv/bin/python' '-m' 'pytest'",
            ),
            (
                "source .venv/bin/activate && timeout 60 pytest; (python a.py) && ls",
                "'head' '-n' '0' '.venv/bin/activate' && 'timeout' '60' '.venv/bin/pytest'\n\
                 ( '.venv/bin/python' 'a.py'\n) && 'ls'",
            ),
            (
                "source .venv/bin/activate && if ls; then pytest; else python a.py; fi",
                "'head' '-n' '0' '.venv/bin/activate' && if 'ls'\nthen '.venv/bin/pytest'\n\
                 else '.venv/bin/python' 'a.py'\nfi",
            ),
            ("source .venv/bin/activate", "'head' '-n' '0' '.venv/bin/activate'"),
        ] {
            let script = Script::parse(text);
            assert_eq!(script.execution(), Some(ScriptExecution::Shell(shown.to_owned())));
            assert!(script.enters_environment(), "{text}");
        }
        for text in [
            "source .venv/bin/activate && make test",
            "source .venv/bin/activate && python --version",
            "source .venv/bin/activate && which python",
            "source .venv/bin/activate && timeout 60 make test",
            "source .venv/bin/activate && env PATH=x pytest",
            "source .venv/bin/activate || pytest",
            "source .venv/bin/activate > src/a && pytest",
            "source .venv/bin/activate x && pytest",
            "source .venv/bin/evil && pytest",
            "source x/.venv/bin/activate && pytest",
            "source /tmp/.venv/bin/activate && pytest",
            "! source .venv/bin/activate && pytest",
            "ls && source .venv/bin/activate && pytest",
            "(source .venv/bin/activate && pytest)",
            "pytest && ls .venv/bin/activate",
        ] {
            let script = Script::parse(text);
            assert!(!script.enters_environment(), "{text}");
            let Some(ScriptExecution::Shell(shown)) = script.execution() else { continue };
            assert!(!shown.contains("bin/pytest"), "{text}: {shown}");
        }
    }
}
