//! `execute_command`: runs a command in the checkout.
//!
//! A command that ran is an answer, whatever its exit code: only one that did not start is an
//! error. What a command writes goes to a layer over the checkout and is judged there; without a
//! layer, what it touched is found by comparing the checkout before and after.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tools::aliases::command;
use crate::tools::aliases::decisive::TRIED_OUT;
use crate::tools::arguments::CallFields;
use crate::tools::background::{self, BackgroundCommands};
use crate::tools::command_details::CommandDetails;
use crate::tools::command_end::{end_of, ended, refused_hosts, signal_of};
use crate::tools::command_remarks::{CommandPlace, NetworkReach};
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::reach;
use crate::tools::removed_folders;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::shown_text::shown_output;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, CommandStreams, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::command::examine::PathUse;
use locum_policy::command::{Script, change_of_folder};
use locum_policy::intent::Intent;
use locum_policy::schema::Expansions;
use locum_sandbox::CommandReach;
use locum_sandbox::exec::background::BackgroundCommand;
use locum_sandbox::exec::{self, CommandOutput, CommandRun, ExecError, Exit, FedOutput};
use locum_workspace::checkout::{EntryKind, FileError};
use locum_workspace::git_binary::GitBinary;

/// Changed files named to the model.
const TOUCHED_SHOWN: usize = 20;

/// A command about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteCommand {
    script: Script,
    folder: ResolvedPath,
    timeout: Duration,
    /// Whether the model asked for less time than the policy gives.
    is_shortened: bool,
    /// Whether it keeps running while the model does other things.
    in_background: bool,
    /// What it reads or edits behind links, by real paths; what it names is the script's own.
    behind_links: Vec<Intent>,
}

impl Tool for ExecuteCommand {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Run a command in the repository and wait for it; returns \
        exit code and output. There is no terminal and no input.";
    const REQUIRED: &'static [&'static str] = &["command"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[
            ("cmd", "command"),
            ("workdir", "cwd"),
            ("working_directory", "cwd"),
            ("directory", "cwd"),
            ("working_dir", "cwd"),
            ("dir_path", "cwd"),
            ("timeout_seconds", "timeout"),
            ("timeout_secs", "timeout"),
            ("run_in_background", "background"),
            ("is_background", "background"),
            ("detach", "background"),
            ("detached", "background"),
            ("async", "background"),
        ]],
        decisive: &[TRIED_OUT, command::DECISIVE],
        hook_names: &["Bash"],
        ..PeerWords::NONE
    };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "command": { "type": "string" },
            "cwd": { "type": ["string", "null"], "description": "Default the root" },
            "timeout": { "type": ["integer", "null"], "minimum": 1, "description": "Seconds after which it is killed" },
            "background": { "type": ["boolean", "null"], "description": "Do not wait for it: a server under test, at 127.0.0.1 for your commands" }
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
        let in_background = arguments.flag("background", false, "whether it is only started")?;
        arguments.finish()?;
        let mut command = command.as_str();
        let mut entered = None;
        if let Some((inner, rest)) = change_of_folder(command) {
            folder = if inner.starts_with('/') {
                ResolvedPath::find(inner, context)?
            } else {
                ResolvedPath::find(&format!("{}/{inner}", folder.asked), context)?
            };
            (command, entered) = (rest, Some((inner, command)));
        }
        match context.checkout.entry(&folder.real) {
            Ok(Some(entry)) if entry.kind == EntryKind::Folder => {}
            Ok(None) if context.layer.is_some_and(|layer| layer.has_folder(&folder.real)) => {}
            Ok(_) | Err(_) => {
                let near = did_you_mean(&folder.asked, WantedEntry::Folder, context);
                return Err(CallError(format!(
                    "The command cannot run in `{}`: it is not a folder.{near}",
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
        let script = match entered {
            Some((folder, written)) => script.entered_by(folder, written),
            None => script,
        };
        let mut behind_links = behind_links(&script, context)?;
        let script = match script.behind_folder() {
            Some(inner) if is_real(inner.folder(), context) => {
                behind_links.extend(self::behind_links(&inner, context)?);
                script
            }
            Some(_) => script.led_elsewhere(),
            None => script,
        };
        Ok(Self {
            script,
            folder,
            timeout: asked.map_or(longest, |asked| asked.min(longest)),
            is_shortened: asked.is_some_and(|asked| asked < longest),
            in_background,
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
        if self.in_background {
            format!("run {} in the background", self.script.text())
        } else {
            format!("run {}", self.script.text())
        }
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        if self.in_background {
            return self.start(permit, context).await;
        }
        if self.only_reads() || context.given.input.is_some() {
            return self.run(permit, context).await;
        }
        if let Some(layer) = context.layer {
            let observation = self.run(permit, context).await?;
            return Ok(match context.repo.layer_changes(layer) {
                Ok(changes) => Observation { layered: Some(Box::new(changes)), ..observation },
                Err(error) => Observation { unjudged: Some(error.to_string()), ..observation },
            });
        }
        removed_folders::check(&self.script, context)?;
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
        let after = context.repo.snapshot_after(&git, &before).await;
        Ok(match after.and_then(|after| context.repo.touched(&before, &after)) {
            Ok(touched) => {
                let text = format!("{}{}", observation.text, render_touched(&touched));
                Observation { text, touched: touched.into_iter().collect(), ..observation }
            }
            Err(error) => Observation { unjudged: Some(error.to_string()), ..observation },
        })
    }

    fn only_reads(&self) -> bool {
        self.script.only_reads() && !self.in_background
    }
}

impl ExecuteCommand {
    /// Whether it keeps running while the model does other things.
    pub(crate) fn in_background(&self) -> bool {
        self.in_background
    }

    /// Returns the command as a child process is started, and how far it reaches.
    fn command_run<'r>(
        &'r self,
        context: ToolContext<'r>,
        reach: CommandReach<'r>,
    ) -> CommandRun<'r> {
        CommandRun {
            script: &self.script,
            folder: context.checkout.absolute(&self.folder.real),
            env: context.run.env,
            timeout: self.timeout,
            output_bytes: context.run.policy.settings().commands.output_bytes,
            redactor: context.run.redactor,
            sandbox: context.run.sandbox,
            proxy: context.run.sandbox.proxy(&context.mode.slug),
            tail: context.run.tail,
            reach,
        }
    }

    /// Starts it in the background.
    async fn start(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let commands = background::of(context)?;
        let place = commands.place(context)?;
        let (git, network) = (context.repo.git_folders(), commands.network());
        let reach = place.reach(reach::of(&self.script, context, &git), network.as_deref());
        let run = self.command_run(context, reach);
        match BackgroundCommand::start(permit, run) {
            Ok(started) => {
                Ok(commands.take_up((self.script.text(), started, place), context.run).await)
            }
            Err(error) => without_program(&error),
        }
    }

    async fn run(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let git = context.repo.git_folders();
        let beside = context.given.background;
        let network = beside.and_then(BackgroundCommands::reachable);
        let reach =
            CommandReach { network: network.as_deref(), ..reach::of(&self.script, context, &git) };
        let (git_hidden, layered) = (reach.git_hidden, reach.layer.is_some());
        let run = self.command_run(context, reach);
        if let Some(input) = context.given.input {
            return match exec::run_fed(permit, run, input.as_bytes()).await {
                Ok(FedOutput { exit, output, errors }) => {
                    let (output, omitted_bytes) = (output.text, output.omitted_bytes);
                    let streams = CommandStreams { output, omitted_bytes, errors: errors.text };
                    let said = Observation::said(ended(exit));
                    Ok(Observation { exit: Some(exit), streams: Some(streams), ..said })
                }
                Err(error) => without_program(&error),
            };
        }
        let output = match exec::run(permit, run).await {
            Ok(output) => output,
            Err(error) => return without_program(&error),
        };
        let command = CommandDetails::of(&self.script, &output);
        let mut text = self.render(&output, &command, NetworkReach::of(context));
        let place = CommandPlace {
            git_hidden,
            layered,
            contained: context.run.sandbox.holds(),
            root: context.repo.root(),
        };
        text.push_str(&place.remarks(&text.to_ascii_lowercase()));
        let lost_bytes = output.output.omitted_bytes;
        Ok(Observation { exit: Some(output.exit), command, lost_bytes, ..Observation::said(text) })
    }

    fn render(
        &self,
        output: &CommandOutput,
        details: &CommandDetails,
        network: NetworkReach,
    ) -> String {
        let end = match output.exit {
            Exit::Code(code) if code != 0 && details.is_empty() => format!(
                "Exit code: {code} (the command was not successful; its output should say why{})",
                signal_of(code)
            ),
            Exit::Code(_) | Exit::Signal(_) | Exit::TooManyProcesses => end_of(output.exit),
            Exit::TimedOut if self.is_shortened => {
                format!("Killed after {} s, the timeout that was asked for", self.timeout.as_secs())
            }
            Exit::TimedOut => format!(
                "Killed after {} s, the longest it may run; do not run it again as it is",
                self.timeout.as_secs()
            ),
        };
        let end = format!("{end}{}", explained(details));
        let text = &output.output.text;
        let failed = output.exit != Exit::Code(0) || !details.failed_steps.is_empty();
        let network = network.remark((failed, output.exit), text);
        let shown = shown_output(text);
        let body =
            if shown.trim().is_empty() { "(no output)" } else { shown.trim_end_matches('\n') };
        format!(
            "{end}\nWorking directory: {}{}\nOutput:\n{body}{network}",
            self.folder.asked,
            refused_hosts(output.traffic.as_ref())
        )
    }
}

/// Answers a command that did not start. Where its program is missing it ends as a shell would say.
fn without_program(error: &ExecError) -> Result<Observation, CallError> {
    let text = format!("The command did not start: {error}.");
    let ExecError::Start { program, source } = error else { return Err(CallError(text)) };
    // What the sandbox could not make has no number of the system's.
    let code = match (source.raw_os_error(), source.kind()) {
        (Some(_), ErrorKind::NotFound) => 127,
        (Some(_), ErrorKind::PermissionDenied) => 126,
        _ => return Err(CallError(text)),
    };
    let command = CommandDetails::without_program(program);
    Ok(Observation { exit: Some(Exit::Code(code)), command, ..Observation::failed(text) })
}

/// Says which parts of a command failed, and which programs did not start.
fn explained(details: &CommandDetails) -> String {
    let code = |command: &str| format!("`{command}`");
    let mut lines = String::new();
    if !details.failed_steps.is_empty() {
        lines.push_str(&format!("\nExit codes: {}", details.steps(code)));
    }
    if !details.not_started.is_empty() {
        lines.push_str(&format!("\nDid not start: {}", details.programs(code)));
    }
    lines
}

/// Whether a folder lies where its name says: no link is on the way.
fn is_real(folder: &RepoPath, context: ToolContext<'_>) -> bool {
    context.resolve(folder).is_ok_and(|real| real == *folder)
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
            match context.resolve(&path) {
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

#[cfg(test)]
mod tests;
