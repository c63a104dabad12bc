//! `BackgroundCommands`: the commands that a task has in the background, such as a server under
//! test. They are judged and contained like any command, and end with the task, or when it comes
//! into another mode.
//!
//! In: a command that the policy permitted. Out: its output in parts, and how it ended. Commands of
//! the task that are waited for reach it at `127.0.0.1`. It sees what they and edits wrote; what it
//! writes in the checkout itself is thrown away when it ends.

pub mod output;
pub mod stop;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::env::RunEnv;
use crate::tools::arguments::CallFields;
use crate::tools::browser::TaskBrowser;
use crate::tools::command_end::{end_of, refused_hosts};
use crate::tools::shown_text::shown_output;
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::secret::Redactor;
use locum_base::text::{ClippedText, head};
use locum_sandbox::exec::Exit;
use locum_sandbox::exec::background::{BackgroundCommand, OutputWait};
use locum_sandbox::{CommandReach, SharedNetwork, WriteAccess};
use locum_workspace::layer::Layer;

/// Most commands that a task has in the background at the same time.
pub const RUNNING_LIMIT: usize = 4;

/// Most commands that are kept: those that run, and those that have ended and were not asked since.
const KEPT_LIMIT: usize = 16;

/// Most bytes of a command by which an answer names it.
const NAMED_LIMIT_BYTES: usize = 200;

/// What becomes of the files that it writes.
const THROWN_AWAY: &str = "What it writes in the checkout is thrown away.";

/// How long a command is watched after its start: most that fail do so at once.
const START_PATIENCE: Duration = Duration::from_millis(500);

/// What an answer says of a command in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundNote {
    /// Its number in its task.
    pub number: u32,
    /// How it ended; `None` where it goes on running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// Whether `stop_command` ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// The commands that a task has in the background.
#[derive(Default)]
pub struct BackgroundCommands {
    running: RefCell<BTreeMap<u32, RunningCommand>>,
    /// What is said of those that are kept no longer: how they ended.
    ended: RefCell<BTreeMap<u32, String>>,
    started: Cell<u32>,
    /// How many are asked at the moment.
    asked: Cell<usize>,
    /// The layer for the next one.
    layer: RefCell<Option<Layer>>,
    network: RefCell<Option<Rc<SharedNetwork>>>,
    /// The browser of the task, which finds them at `127.0.0.1`.
    pub(crate) browser: TaskBrowser,
}

/// A command that runs, or has ended and was not asked since.
struct RunningCommand {
    text: String,
    process: BackgroundCommand,
    place: BackgroundPlace,
    /// Which part of its output the last answer showed.
    shown: String,
}

/// Where a command in the background runs.
pub(crate) struct BackgroundPlace {
    /// Where it writes; `None` where it cannot write to the checkout at all.
    layer: Option<Layer>,
    /// What commands that are waited for wrote to their layer.
    seen_below: Option<PathBuf>,
}

impl BackgroundCommands {
    /// Makes a layer ready for the next one.
    pub fn prepare(&self, layer: Option<Layer>) {
        self.layer.replace(layer);
    }

    /// Returns how many were started.
    pub fn started(&self) -> u32 {
        self.started.get()
    }

    /// Says, where there are some, that they end when the task comes into another mode.
    pub fn end_with_mode(&self) -> &'static str {
        match (self.running.borrow().is_empty(), self.browser.is_open()) {
            (true, false) => "",
            (true, true) => " The browser ends with this mode.",
            (false, false) => " The commands in the background end with this mode.",
            (false, true) => " The commands in the background and the browser end with this mode.",
        }
    }

    /// Ends all of them.
    pub fn end(&self) {
        self.browser.end();
        self.running.take().into_values().for_each(RunningCommand::end);
        self.ended.take();
        self.prepare(None);
    }

    /// Returns where the next one runs.
    ///
    /// # Errors
    /// Where there are enough of them, or nothing would hold it.
    pub(crate) fn place(&self, context: ToolContext<'_>) -> Result<BackgroundPlace, CallError> {
        if self.count_running() + self.asked.get() >= RUNNING_LIMIT {
            return Err(CallError(format!(
                "{RUNNING_LIMIT} commands run in the background already: end one with \
                 `stop_command`. {}",
                self.listed()
            )));
        }
        if !context.run.sandbox.holds() {
            return Err(CallError(
                "No command can go on in the background here: it takes the sandbox, and there is \
                 none around commands. Run it without `background`."
                    .to_owned(),
            ));
        }
        let layer = self.layer.take();
        let seen_below = context.layer.map(|layer| layer.folders().upper.to_owned());
        Ok(BackgroundPlace { layer, seen_below })
    }

    /// Counts those that run, and leaves out the oldest that have ended where there are too many.
    fn count_running(&self) -> usize {
        let mut all = self.running.borrow_mut();
        let has_ended = |command: &mut RunningCommand| command.process.has_ended();
        while all.len() >= KEPT_LIMIT {
            let oldest = all.iter_mut().find_map(|(number, it)| has_ended(it).then_some(*number));
            let Some(number) = oldest else { break };
            let Some(command) = all.remove(&number) else { break };
            let name = command.name(number);
            command.end();
            let end =
                format!("{name} has ended, and its output was dropped: it was not asked for.");
            self.ended.borrow_mut().insert(number, end);
        }
        all.values_mut().map(|command| usize::from(!has_ended(command))).sum()
    }

    /// Takes the network that commands in the background are to share from now on.
    pub(crate) fn share(&self, network: SharedNetwork) {
        self.network.replace(Some(Rc::new(network)));
    }

    /// Returns the network that commands in the background share.
    pub(crate) fn network(&self) -> Option<Rc<SharedNetwork>> {
        self.network.borrow().clone()
    }

    /// Makes ready what runs for a command that is waited for: it is shown what was changed in the
    /// checkout. Returns the network to reach it in.
    pub(crate) fn reachable(&self) -> Option<Rc<SharedNetwork>> {
        self.renew();
        if self.running.borrow().is_empty() { None } else { self.network() }
    }

    /// Shows what runs what was changed in the checkout.
    pub(crate) fn renew(&self) {
        for (number, command) in self.running.borrow().iter() {
            if let Err(error) = command.process.renew_layer() {
                tracing::warn!(number, %error, "a command in the background sees old files");
            }
        }
    }

    /// Takes up a command that was started; answers the call.
    pub(crate) async fn take_up(
        &self,
        (text, mut process, place): (&str, BackgroundCommand, BackgroundPlace),
        run: RunEnv<'_>,
    ) -> Observation {
        let wait = OutputWait { patience: START_PATIENCE, until: None };
        let exit = self.counted(process.wait(wait)).await;
        let output = process.take_output(run.redactor);
        let lost_bytes = output.omitted_bytes;
        let number = self.started.get() + 1;
        if let Some(exit) = exit {
            self.started.set(number);
            let traffic = process.traffic();
            let end = end_of(exit);
            let command =
                RunningCommand { text: text.to_owned(), process, place, shown: String::new() };
            self.note_end(number, &format!("{} has ended. {end}", command.name(number)));
            command.end();
            let text = format!(
                "It has ended already. {end}\n{THROWN_AWAY} To keep that, run it without \
                 `background`.\nOutput:\n{}{}",
                body(&output),
                refused_hosts(traffic.as_ref())
            );
            let background = Some(BackgroundNote { number, exit: Some(exit), stopped: false });
            let exit = Some(exit);
            return Observation { lost_bytes, background, exit, ..Observation::said(text) };
        }
        if let (None, Some(network)) = (self.network(), process.network()) {
            self.share(network);
        }
        self.started.set(number);
        let (text, shown) = (text.to_owned(), output.text.clone());
        let command = RunningCommand { text, process, place, shown };
        self.running.borrow_mut().insert(number, command);
        let text = format!(
            "Runs in the background as {number}, without a time limit: `command_output` reads what \
             it prints, `stop_command` ends it, and it ends with this task. {THROWN_AWAY}\nOutput \
             so far:\n{}",
            body(&output)
        );
        let background = Some(BackgroundNote { number, exit: None, stopped: false });
        Observation { lost_bytes, background, ..Observation::said(text) }
    }

    /// Waits for what a command prints, or until it has ended.
    pub(crate) async fn ask(
        &self,
        number: u32,
        wait: OutputWait<'_>,
        redactor: &Redactor,
    ) -> Result<Observation, CallError> {
        self.renew();
        let mut command = self.take(number)?;
        let is_shown = wait.until.is_some_and(|until| command.shown.contains(until));
        let patience = if is_shown { Duration::ZERO } else { wait.patience };
        let exit = self.counted(command.process.wait(OutputWait { patience, ..wait })).await;
        let output = command.process.take_output(redactor);
        let name = command.name(number);
        let state = match (exit, wait.until) {
            (Some(exit), _) => {
                let traffic = command.process.traffic();
                command.end();
                let state = format!("{name} has ended. {}", end_of(exit));
                self.note_end(number, &state);
                let background = Some(BackgroundNote { number, exit: Some(exit), stopped: false });
                let observed = observed(&state, &output, &refused_hosts(traffic.as_ref()));
                return Ok(Observation { background, ..observed });
            }
            (None, Some(_)) if is_shown => {
                format!("{name} runs; `until` is in the output that was shown before.")
            }
            (None, Some(until)) if !output.text.contains(until) => {
                format!("{name} runs; `until` did not come in {} s.", wait.patience.as_secs())
            }
            (None, _) => format!("{name} runs."),
        };
        command.shown.clone_from(&output.text);
        self.running.borrow_mut().insert(number, command);
        Ok(observed(&state, &output, ""))
    }

    /// Ends a command.
    pub(crate) async fn stop(
        &self,
        number: u32,
        redactor: &Redactor,
    ) -> Result<Observation, CallError> {
        let mut command = self.take(number)?;
        let exit = self.counted(command.process.stop()).await;
        let output = command.process.take_output(redactor);
        let traffic = command.process.traffic();
        let text = format!("{} is over. {}", command.name(number), end_of(exit));
        command.end();
        self.note_end(number, &text);
        let background = Some(BackgroundNote { number, exit: Some(exit), stopped: true });
        let observed = observed(&text, &output, &refused_hosts(traffic.as_ref()));
        Ok(Observation { background, ..observed })
    }

    /// Notes how a command ended whose whole output the model has read.
    fn note_end(&self, number: u32, end: &str) {
        self.ended.borrow_mut().insert(number, format!("{end}. Its output was shown."));
    }

    /// Counts a command as one there is while it is asked something.
    async fn counted<T>(&self, question: impl Future<Output = T>) -> T {
        self.asked.set(self.asked.get() + 1);
        let answer = question.await;
        self.asked.set(self.asked.get() - 1);
        answer
    }

    fn take(&self, number: u32) -> Result<RunningCommand, CallError> {
        let taken = self.running.borrow_mut().remove(&number);
        taken.ok_or_else(|| match self.ended.borrow().get(&number) {
            Some(end) => CallError(format!("{end} {}", self.listed())),
            None => {
                let there = self.listed();
                CallError(format!("There is no command {number} in the background. {there}"))
            }
        })
    }

    fn listed(&self) -> String {
        let mut running = self.running.borrow_mut();
        let listed = running.iter_mut().map(|(number, command)| {
            let name = command.name(*number);
            if command.process.has_ended() { format!("{name} [has ended]") } else { name }
        });
        let listed: Vec<String> = listed.collect();
        if listed.is_empty() {
            "None runs: they end with their task, with its mode, and with a run that is cut off."
                .to_owned()
        } else {
            format!("There are: {}.", listed.join(", "))
        }
    }
}

impl RunningCommand {
    /// Returns how answers name it.
    fn name(&self, number: u32) -> String {
        let shown = head(&self.text, NAMED_LIMIT_BYTES);
        let cut = if shown.len() < self.text.len() { "..." } else { "" };
        format!("{number} (`{shown}{cut}`)")
    }

    /// Kills it, and throws away what it wrote in the checkout.
    fn end(self) {
        self.place.end(self.process);
    }
}

impl BackgroundPlace {
    /// Kills what runs here, and throws away what it wrote in the checkout.
    fn end(&self, process: BackgroundCommand) {
        drop(process);
        if let Some(Err(error)) = self.layer.as_ref().map(Layer::discard) {
            tracing::warn!(%error, "the layer of a command in the background");
        }
    }

    /// Returns how far a command reaches here that would reach as far as `reach` otherwise.
    pub(crate) fn reach<'r>(
        &'r self,
        reach: CommandReach<'r>,
        network: Option<&'r SharedNetwork>,
    ) -> CommandReach<'r> {
        CommandReach {
            writes: if self.layer.is_some() { reach.writes } else { WriteAccess::Nothing },
            layer: self.layer.as_ref().map(Layer::folders),
            seen_below: self.layer.as_ref().and(self.seen_below.as_deref()),
            stands_for: self.layer.as_ref().and_then(Layer::stands_for),
            network,
            ..reach
        }
    }
}

/// Returns the commands that a task has in the background.
pub(crate) fn of(context: ToolContext<'_>) -> Result<&BackgroundCommands, CallError> {
    context
        .given
        .background
        .ok_or_else(|| CallError("No command can go on in the background here.".to_owned()))
}

/// Takes the number of a command.
fn numbered(arguments: &mut CallFields, tool: &str) -> Result<u32, CallError> {
    let meaning = "the number of a background command";
    let number = arguments.optional_number("id", 1, meaning)?;
    let number = number.ok_or_else(|| CallError(format!("`{tool}` needs `id`: {meaning}.")))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn observed(state: &str, output: &ClippedText, hosts: &str) -> Observation {
    let text = format!("{state}\nOutput since it was last asked:\n{}{hosts}", body(output));
    Observation { lost_bytes: output.omitted_bytes, ..Observation::said(text) }
}

fn body(output: &ClippedText) -> String {
    let shown = shown_output(&output.text);
    let shown = if shown.trim().is_empty() { "(none)" } else { shown.trim_end_matches('\n') };
    shown.to_owned()
}
