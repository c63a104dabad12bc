//! What is known of a command beside how it ended: which of its parts failed, and which programs
//! did not start.
//!
//! In: the end of a command and its output. Out: facts for the model and for reports, in one place.
//! They explain an exit code and never change one.

use serde::{Deserialize, Serialize};

use locum_base::secret::view::without_escapes;
use locum_policy::command::Script;
use locum_sandbox::exec::steps::{FailedStep, StageExit};
use locum_sandbox::exec::{CommandOutput, Exit};

/// Most programs and steps that are named.
const NAMED_LIMIT: usize = 10;
/// Longest name of a program, in bytes.
const NAME_LIMIT_BYTES: usize = 80;

/// Programs that answer with their code: 1 is "no", or "there are differences".
const ANSWERING: &[&str] = &[
    "[", "[[", "cmp", "command", "diff", "egrep", "fgrep", "grep", "rg", "test", "which", "pgrep",
];

/// Shells and programs that start others, as they begin their complaints.
const STARTERS: &[&str] =
    &["sh: ", "/bin/sh: ", "bash: ", "/bin/bash: ", "env: ", "timeout: ", "xargs: ", "nice: "];

/// What is known of a command beside how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandDetails {
    /// Its parts that did not end with 0, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_steps: Vec<FailedStep>,
    /// Programs that were not found or could not be run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_started: Vec<String>,
}

impl CommandDetails {
    /// Finds them in what a command left.
    pub(crate) fn of(script: &Script, output: &CommandOutput) -> Self {
        let failed_steps: Vec<FailedStep> =
            output.failed_steps.iter().take(NAMED_LIMIT).cloned().collect();
        let not_started = not_started(script, output, &failed_steps);
        Self { failed_steps, not_started }
    }

    /// Returns those of a program that does not exist or cannot be run.
    pub(crate) fn without_program(program: &str) -> Self {
        Self { failed_steps: Vec::new(), not_started: vec![name(program)] }
    }

    /// Returns true when nothing is known.
    pub fn is_empty(&self) -> bool {
        self.failed_steps.is_empty() && self.not_started.is_empty()
    }

    /// Returns how the parts ended that did not end with 0: "`npm test`: 1 | `tail -5`: 0". `code`
    /// renders a command.
    pub(crate) fn steps(&self, code: impl Fn(&str) -> String) -> String {
        let stage = |step: &FailedStep, at: usize, stage: &StageExit| {
            let end = if step.is_cut_off(at) {
                "cut off by its reader".to_owned()
            } else {
                stage.code.to_string()
            };
            format!("{}: {end}", code(&stage.command))
        };
        let step = |step: &FailedStep| {
            let stages = step.stages.iter().enumerate();
            stages.map(|(at, found)| stage(step, at, found)).collect::<Vec<_>>().join(" | ")
        };
        self.failed_steps.iter().map(step).collect::<Vec<_>>().join("; ")
    }

    /// Returns the parts that failed: not those whose reader was gone, nor a search or a comparison
    /// whose code is its answer.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &StageExit> {
        let failed = |step: &FailedStep, at: usize, stage: &StageExit| {
            let program = stage.command.split_whitespace().next().unwrap_or_default();
            let answers = ANSWERING.contains(&program) || stage.command.starts_with("git diff");
            stage.code != 0 && !step.is_cut_off(at) && !(answers && stage.code == 1)
        };
        self.failed_steps.iter().flat_map(move |step| {
            let stages = step.stages.iter().enumerate();
            stages.filter(move |(at, stage)| failed(step, *at, stage)).map(|(_, stage)| stage)
        })
    }

    /// Returns the programs that did not start, in a list.
    pub(crate) fn programs(&self, code: impl Fn(&str) -> String) -> String {
        self.not_started.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the programs that a command wanted and did not get: by what shells say of them, or by
/// the command that ended so. What a script asks for itself is not looked at.
fn not_started(script: &Script, output: &CommandOutput, steps: &[FailedStep]) -> Vec<String> {
    let is_missing = |code: i32| matches!(code, 126 | 127);
    let stages = steps.iter().flat_map(|step| &step.stages);
    let missing: Vec<&str> = stages
        .filter(|stage| is_missing(stage.code) && !asks_for_program(&stage.command))
        .filter_map(|stage| stage.command.split_whitespace().next())
        .collect();
    let whole = matches!(output.exit, Exit::Code(code) if is_missing(code));
    if missing.is_empty() && (!whole || asks_for_program(script.text())) {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    let mut add = |found: &str| {
        let found = name(found);
        if !found.is_empty() && !names.contains(&found) && names.len() < NAMED_LIMIT {
            names.push(found);
        }
    };
    let said = without_escapes(&output.output.text);
    said.lines().filter_map(complained_of).for_each(&mut add);
    if names.is_empty() {
        missing.into_iter().for_each(|found| names.push(name(found)));
    }
    if names.is_empty() {
        names.extend(script.text().split_whitespace().next().map(name));
    }
    names
}

/// Whether a command only looks whether a program is there: its answer is no failure to start.
fn asks_for_program(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("command") && matches!(words.next(), Some("-v" | "-V"))
}

/// Returns the program that a line says could not be started.
fn complained_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let found = |line: &str| line.rfind(": ").map_or(0, |at| at + 2);
    for ending in [": command not found", ": not found"] {
        if let Some(before) = line.strip_suffix(ending) {
            return before.get(found(before)..);
        }
    }
    STARTERS.iter().find(|starter| line.starts_with(**starter))?;
    for ending in [": No such file or directory", ": Permission denied"] {
        if let Some(before) = line.strip_suffix(ending) {
            let before = before.get(found(before)..)?;
            return before.rsplit(' ').next();
        }
    }
    None
}

/// Returns the name of a program without quotes, on one line.
fn name(found: &str) -> String {
    let bare = found.trim_matches(['\'', '"', '`', '‘', '’']);
    let line: String = bare.chars().filter(|letter| !letter.is_control()).collect();
    locum_base::text::head(&line, NAME_LIMIT_BYTES).to_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{CommandDetails, Exit, complained_of};
    use locum_base::text::ClippedText;
    use locum_policy::command::Script;
    use locum_sandbox::exec::CommandOutput;
    use locum_sandbox::exec::steps::{FailedStep, StageExit};

    fn step(stages: &[(&str, i32)]) -> FailedStep {
        let stages = stages.iter();
        let stages =
            stages.map(|(command, code)| StageExit { command: (*command).into(), code: *code });
        FailedStep { stages: stages.collect() }
    }

    fn details(text: &str, code: i32, steps: &[FailedStep], said: &str) -> CommandDetails {
        let output = CommandOutput {
            exit: Exit::Code(code),
            failed_steps: steps.to_vec(),
            output: ClippedText { text: said.to_owned(), omitted_bytes: 0 },
            traffic: None,
            elapsed: std::time::Duration::ZERO,
        };
        CommandDetails::of(&Script::parse(text), &output)
    }

    #[test]
    fn finds_the_program_that_a_shell_complains_of() {
        for (line, expected) in [
            ("sh: 1: nyc: not found", Some("nyc")),
            ("bash: line 3: flake8: command not found", Some("flake8")),
            ("sh: tox: not found", Some("tox")),
            ("/bin/bash: line 1: ./run.sh: Permission denied", Some("./run.sh")),
            ("bash: line 1: ./x: No such file or directory", Some("./x")),
            ("env: ‘foo’: No such file or directory", Some("‘foo’")),
            ("timeout: failed to run command ‘foo’: No such file or directory", Some("‘foo’")),
            ("cat: x: No such file or directory", None),
            ("ls: cannot open directory '.': Permission denied", None),
            ("all is well", None),
        ] {
            assert_eq!(complained_of(line), expected, "{line}");
        }
    }

    #[test]
    fn names_programs_that_did_not_start_and_no_others() {
        let flake = step(&[("flake8 src", 127), ("tail -3", 0)]);
        for (text, code, steps, said, expected) in [
            ("flake8 | tail", 127, vec![flake.clone()], "sh: 1: flake8: not found\n", "flake8"),
            ("flake8 2>&- | tail", 127, vec![flake], "", "flake8"),
            ("npm test", 127, Vec::new(), "> nyc\nsh: 1: nyc: not found\n", "nyc"),
            ("npm test", 127, Vec::new(), "sh: \u{1b}[31mnyc\u{1b}[m: not found\u{1b}[m\n", "nyc"),
            ("./run --all", 126, Vec::new(), "", "./run"),
            ("a; b", 0, vec![step(&[("a", 127)])], "bash: line 1: a: command not found", "a"),
            ("a || b", 0, Vec::new(), "sh: 1: a: not found", ""),
            ("npm test", 1, Vec::new(), "sh: 1: nyc: not found", ""),
            ("command -v pnpm", 127, Vec::new(), "", ""),
            ("command -v a; b", 0, vec![step(&[("command -v a", 127)])], "", ""),
        ] {
            let found = details(text, code, &steps, said);
            assert_eq!(found.programs(str::to_owned), expected, "{text}");
        }
    }

    #[test]
    fn says_how_each_part_ended() {
        let steps = [step(&[("npm test", 1), ("tail -5", 0)]), step(&[("yes", 141), ("head", 0)])];
        let found = details("x", 1, &steps, "");
        assert_eq!(
            found.steps(|command| format!("`{command}`")),
            "`npm test`: 1 | `tail -5`: 0; `yes`: cut off by its reader | `head`: 0"
        );
        assert!(details("x", 1, &[], "").is_empty());
    }
}
