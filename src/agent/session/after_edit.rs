//! Fast checks that the policy names (`commands.after_edit`): their first lines come back with the
//! answer to an edit.
//!
//! In: an edit that was made, and its answer. Out: the answer with what failed, and how every check
//! ended. A check is judged like any command, runs in the sandbox and writes to the layer of the
//! task's commands; what it writes is thrown away. Without a layer nothing runs, because what it
//! writes would stay.

use std::time::Duration;

use crate::session::live::Session;
use crate::session::named_command::{self, NamedCommand, NamedRun};
use crate::session::stop::Stop;
use crate::session::task_env::TaskEnv;
use crate::tools::Observation;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::edit_check::EditCheck;
use crate::tools::tool::ToolEffect;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::text::{head, tail_lines};
use locum_sandbox::exec::Exit;

/// Wall time of one check, where the policy's limit for commands is not lower.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Most checks after one edit; the others are counted.
const RUN_LIMIT: usize = 8;
/// Most lines of a failed check in the answer, the first ones.
const OUTPUT_LIMIT_LINES: usize = 20;
/// Most bytes of them.
const OUTPUT_LIMIT_BYTES: usize = 2 * 1024;

impl Session<'_> {
    /// Makes the layer ready for checks after a call; false where none will run.
    pub(crate) fn prepare_after_edit(
        &mut self,
        id: TaskId,
        call: &CheckedCall,
    ) -> Result<bool, Stop> {
        let none = self.parts.run.policy.settings().commands.after_edit.is_empty();
        if none || dispatch::effect(call.tool()) != ToolEffect::Edits || !self.begin_layer(id)? {
            return Ok(false);
        }
        self.leave_unjudged(id)?;
        Ok(true)
    }
}

/// Runs the checks for the files an edit touched and adds what failed to its answer.
pub(crate) async fn check(env: &TaskEnv<'_>, edited: Observation) -> Observation {
    if edited.is_error || edited.touched.is_empty() {
        return edited;
    }
    let commands = commands_for(env, &edited.touched);
    let mut text = edited.text.clone();
    let mut edit_checks = Vec::new();
    for (command, paths) in commands.iter().take(RUN_LIMIT) {
        let (check, said) = run(env, command, paths).await;
        text.push_str(&said);
        edit_checks.push(check);
        // What it wrote must not be there for the next command.
        if let Some(layer) = &env.layer
            && let Err(error) = env.place.repo.settle(layer)
        {
            tracing::warn!(%error, "the layer of a check after an edit");
        }
    }
    if commands.len() > RUN_LIMIT {
        let left = commands.len() - RUN_LIMIT;
        text.push_str(&format!("\n\n{left} more checks after this edit did not run."));
    }
    Observation { text, edit_checks, ..edited }
}

/// Returns the checks for edited files, each once with its files. A file that was removed has none.
fn commands_for(env: &TaskEnv<'_>, touched: &[RepoPath]) -> Vec<(String, Vec<RepoPath>)> {
    let there = |path: &&RepoPath| matches!(env.place.checkout.entry(path), Ok(Some(_)));
    let mut commands: Vec<(String, Vec<RepoPath>)> = Vec::new();
    for path in touched.iter().filter(there) {
        for check in &env.run.policy.settings().commands.after_edit {
            let Some(command) = check.of(path) else { continue };
            match commands.iter_mut().find(|(known, _)| *known == command) {
                Some((_, paths)) => paths.push(path.clone()),
                None => commands.push((command, vec![path.clone()])),
            }
        }
    }
    commands
}

/// Runs a check; returns how it ended, and what is said of one that did not succeed.
async fn run(env: &TaskEnv<'_>, command: &str, paths: &[RepoPath]) -> (EditCheck, String) {
    let check = |end, output: &str| EditCheck {
        command: command.to_owned(),
        paths: paths.to_vec(),
        end,
        output: output.to_owned(),
    };
    let named = NamedCommand { command, timeout: Some(TIMEOUT), before: None };
    match named_command::run(env, named).await {
        Ok(NamedRun { exit: Exit::Code(0), .. }) => (check(Ok(Exit::Code(0)), ""), String::new()),
        Ok(ran) => {
            let output = ran.output();
            let lines: Vec<&str> = output.lines().take(OUTPUT_LIMIT_LINES).collect();
            let lines = lines.join("\n");
            let shown = head(&lines, OUTPUT_LIMIT_BYTES);
            let cut = if shown.len() < output.trim_end().len() { "\n[...]" } else { "" };
            let said = format!(
                "\n\nThe file is changed, and the check `{command}` fails on it:\n{shown}{cut}"
            );
            let last = tail_lines(&output, OUTPUT_LIMIT_LINES, OUTPUT_LIMIT_BYTES);
            (check(Ok(ran.exit), last), said)
        }
        Err(why) => {
            let why = head(why.lines().next().unwrap_or_default(), OUTPUT_LIMIT_BYTES);
            let said = format!("\n\nThe check `{command}` could not run: {why}");
            (check(Err(why.to_owned()), ""), said)
        }
    }
}
