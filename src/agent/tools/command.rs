//! `execute_command`: runs a command in the checkout.
//!
//! A command that ran is an answer, whatever its exit code: only one that did not start is an
//! error. What a command writes goes to a layer over the checkout and is judged there; without a
//! layer, what it touched is found by comparing the checkout before and after.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::reach;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::command::examine::PathUse;
use locum_policy::command::{Script, change_of_folder};
use locum_policy::intent::Intent;
use locum_policy::schema::Expansions;
use locum_policy::verdict::Decision;
use locum_sandbox::exec::{self, CommandOutput, CommandRun, Exit};
use locum_workspace::checkout::{EntryKind, FileError};
use locum_workspace::git_binary::GitBinary;
use locum_workspace::repo::RepoError;

/// Changed files named to the model.
const TOUCHED_SHOWN: usize = 20;

/// A command about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteCommand {
    script: Script,
    folder: ResolvedPath,
    timeout: Duration,
    /// What it reads or edits behind links, by real paths; what it names is the script's own.
    behind_links: Vec<Intent>,
}

impl Tool for ExecuteCommand {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Run a command in the repository and wait for it; returns \
        exit code and output. There is no terminal and no input.";
    const REQUIRED: &'static [&'static str] = &["command"];

    fn properties() -> Value {
        json!({
            "command": { "type": "string" },
            "cwd": { "type": ["string", "null"], "description": "Folder to run in, relative to the repository root; default the root" },
            "timeout": { "type": ["integer", "null"], "minimum": 1, "description": "Seconds after which it is killed" }
        })
    }

    /// Checks the arguments; the timeout is at most the policy's.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let command = arguments.words("command", "the command to run")?;
        let mut folder = arguments.optional_place(
            "cwd",
            "the folder to run in, relative to the repository root",
            context,
        )?;
        let timeout_s = arguments.optional_number("timeout", 1, "seconds")?;
        arguments.finish()?;
        let mut command = command.as_str();
        if let Some((inner, rest)) = change_of_folder(command) {
            folder = if inner.starts_with('/') {
                ResolvedPath::find(inner, context)?
            } else {
                ResolvedPath::find(&format!("{}/{inner}", folder.asked), context)?
            };
            command = rest;
        }
        match context.checkout.entry(&folder.real) {
            Ok(Some(entry)) if entry.kind == EntryKind::Folder => {}
            Ok(None) if context.layer.is_some_and(|layer| layer.has_folder(&folder.real)) => {}
            Ok(_) | Err(_) => {
                return Err(CallError(format!(
                    "The command cannot run in `{}`: it is not a folder.",
                    folder.asked
                )));
            }
        }
        let longest = context.run.policy.settings().commands.timeout;
        let asked = timeout_s
            .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX)));
        // A root that is not UTF-8 cannot be passed to git; it then finds the repository by itself.
        let root = context.seen_root().to_str().unwrap_or_default();
        let script = Script::parse_in(command, &folder.real)
            .below(root)
            .leaving_out(context.run.policy.settings().commands.unseen.clone());
        let behind_links = behind_links(&script, context)?;
        Ok(Self {
            script,
            folder,
            timeout: asked.map_or(longest, |asked| asked.min(longest)),
            behind_links,
        })
    }

    fn intents(&self) -> Vec<Intent> {
        let mut intents =
            vec![Intent::Command(self.script.clone()), Intent::Read(self.folder.real.clone())];
        intents.extend(self.behind_links.iter().cloned());
        intents
    }

    fn headline(&self) -> String {
        format!("run {}", self.script.text())
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        if self.only_reads() {
            return self.run(permit, context).await;
        }
        if let Some(layer) = context.layer {
            let observation = self.run(permit, context).await?;
            return Ok(match context.repo.layer_changes(layer) {
                Ok(changes) => Observation { layered: Some(changes), ..observation },
                Err(error) => with_unknown_changes(observation, &error),
            });
        }
        let git = GitBinary::new(context.repo, context.run.env);
        let before = match context.given.before {
            Some(before) => before.clone(),
            None => context.repo.snapshot(&git).await.map_err(|error| {
                CallError(format!(
                    "The command was not run, because its changes could not be found: {error}."
                ))
            })?,
        };
        let observation = self.run(permit, context).await?;
        let after = context.repo.snapshot(&git).await;
        Ok(match after.and_then(|after| context.repo.touched(&before, &after)) {
            Ok(touched) => {
                let text = format!("{}{}", observation.text, render_touched(&touched));
                Observation { text, touched: touched.into_iter().collect(), ..observation }
            }
            Err(error) => with_unknown_changes(observation, &error),
        })
    }

    fn only_reads(&self) -> bool {
        self.script.only_reads()
    }
}

impl ExecuteCommand {
    async fn run(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let git = context.repo.git_folders();
        let reach = reach::of(&self.script, context, &git);
        let run = CommandRun {
            script: &self.script,
            folder: context.checkout.absolute(&self.folder.real),
            env: context.run.env,
            timeout: self.timeout,
            output_bytes: context.run.policy.settings().commands.output_bytes,
            redactor: context.run.redactor,
            sandbox: context.run.sandbox,
            proxy: context.run.sandbox.proxy(&context.mode.slug),
            reach,
        };
        let output = exec::run(permit, run).await;
        let output =
            output.map_err(|error| CallError(format!("The command did not start: {error}.")))?;
        Ok(Observation { exit: Some(output.exit), ..Observation::said(self.render(&output)) })
    }

    fn render(&self, output: &CommandOutput) -> String {
        let end = match output.exit {
            Exit::Code(0) => "Exit code: 0".to_owned(),
            Exit::Code(code) => format!(
                "Exit code: {code} (the command was not successful; its output should say why)"
            ),
            Exit::Signal(signal) => format!("Ended by {}", signal_name(signal)),
            Exit::TooManyProcesses => "Killed, because it started too many processes; do not run \
                                       it again as it is"
                .to_owned(),
            Exit::TimedOut => format!(
                "Killed after {} s, the longest it may run; do not run it again as it is",
                self.timeout.as_secs()
            ),
        };
        let text = &output.output.text;
        let body = if text.trim().is_empty() { "(no output)" } else { text.trim_end_matches('\n') };
        format!(
            "{end}\nWorking directory: {}{}\nOutput:\n{body}",
            self.folder.asked,
            refused_hosts(output)
        )
    }
}

/// Returns how a command ended, in a few words.
pub(crate) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::TimedOut => "timed out".to_owned(),
        Exit::TooManyProcesses => "killed for its many processes".to_owned(),
    }
}

fn with_unknown_changes(observation: Observation, error: &RepoError) -> Observation {
    let text =
        format!("{}\n\nWhat the command changed could not be found: {error}.", observation.text);
    Observation { text, is_error: true, ..observation }
}

/// Follows the links in the paths a script names.
fn behind_links(script: &Script, context: ToolContext<'_>) -> Result<Vec<Intent>, CallError> {
    let loose = if context.run.policy.settings().commands.expansions == Expansions::Allow {
        script.loose_examinations().unwrap_or_default()
    } else {
        Vec::new()
    };
    let (mut reads, mut edits) = script.redirected();
    for (_, examined) in script.examinations().into_iter().chain(loose) {
        reads.extend(examined.reads);
        edits.extend(examined.edits);
    }
    let mut intents = Vec::new();
    for (uses, intent) in [(reads, Intent::Read as fn(RepoPath) -> Intent), (edits, Intent::Edit)] {
        for used in uses {
            let (PathUse::Inside(path) | PathUse::Perhaps(path)) = used else { continue };
            match context.checkout.resolve(&path) {
                Ok(real) if real == path => {}
                Ok(real) => intents.push(intent(real)),
                Err(FileError::Outside(_)) => {
                    return Err(CallError(format!(
                        "The command names `{path}`, a link that leads out of the repository."
                    )));
                }
                // Nothing is there that could be read or written: the command will say so itself.
                Err(_) => {}
            }
        }
    }
    Ok(intents)
}

/// Lists the files of the checkout that a command changed.
pub(crate) fn render_touched(touched: &BTreeSet<RepoPath>) -> String {
    let shown: Vec<&str> = touched.iter().take(TOUCHED_SHOWN).map(RepoPath::as_str).collect();
    match touched.len() - shown.len() {
        _ if shown.is_empty() => String::new(),
        0 => format!("\n\nFiles changed: {}", shown.join(", ")),
        more => format!("\n\nFiles changed: {} and {more} more", shown.join(", ")),
    }
}

/// Lists the destinations that the proxy refused.
fn refused_hosts(output: &CommandOutput) -> String {
    let verdicts = output.traffic.iter().flat_map(|traffic| &traffic.verdicts);
    let refused =
        verdicts.filter(|(verdict, _)| verdict.decision != Decision::Allow).take(TOUCHED_SHOWN);
    refused.fold(String::new(), |text, (verdict, count)| {
        format!(
            "{text}\nRefused by the policy, {count} times: {} ({})",
            verdict.intent,
            verdict.reason()
        )
    })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    format!("signal {signal} ({name})")
}

#[cfg(test)]
mod tests;
