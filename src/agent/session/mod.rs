//! The loop. Context to the model, its calls through the door, everything into the journal, until
//! there is an outcome.
//!
//! In: [`SessionParts`] and a journal. Out: an [`Outcome`]; the journal holds every event that led
//! to it. The live run computes its state from its own events (`emit`: into the journal, into the
//! state, to the watcher), so a resumed run is the same fold over the lines read back, and then
//! goes on. What is next is read off the state (`step`).
//!
//! Killed at any line, a session resumes like this. A request without a recorded reply is sent
//! again. A call without an answer is judged again and performed: reading twice is harmless; a
//! file's content before an edit is kept, put back and the edit done again, so that it happens
//! once. A command that may have written is never run a second time: its answer says that it was
//! interrupted and may or may not have run, what it changed is found by comparing the checkout, and
//! the model decides. So the outcome's word, tree, refusals and checkpoint are those of a run that
//! was not killed; for a model that reacts to the interruption, the path there may differ. An ended
//! session stays ended, unless it had stopped for a person who has decided since (`hold`).

mod aside;
mod asking;
#[cfg(test)]
mod attacks;
pub mod brief;
mod calls;
mod condense;
mod estimate;
mod expert;
mod finish;
mod fork;
pub mod painter;
mod perform;
mod servers;
mod spans;
mod stack;
mod switch;
mod turn;
mod work;

pub mod event;
pub mod history;
pub mod hold;
pub mod id;
pub mod journal;
pub mod outcome;
pub mod repetition;
pub mod state;
pub mod step;
pub mod stop;
pub mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::session::asking::Unheard;
use crate::session::brief::Brief;
use crate::session::condense::Crowded;
use crate::session::estimate::Counted;
use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::journal::Journal;
use crate::session::outcome::{Outcome, OutcomeWord};
use crate::session::painter::Painter;
use crate::session::state::State;
use crate::session::step::{MISTAKE_LIMIT, Step};
use crate::session::stop::{Reach, Stop};
use crate::session::task::TaskState;
use crate::session::work::Work;
use crate::tools::mcp::servers::Servers;
use locum_base::chat::Reply;
use locum_base::clock::Clock;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_models::Model;
use locum_models::profile::{Price, ToolProtocol};
use locum_models::retry::RetryLimits;
use locum_models::tokens::Tokenizer;
use locum_modes::ModeSet;
use locum_modes::access::Purpose;
use locum_modes::prompts::Standing;
use locum_policy::Policy;
use locum_policy::budget::Budget;
use locum_policy::ceiling::Allowance;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::repo::CommitId;

/// Sees every line after it is in the journal, and the state it led to.
pub type Watch<'a> = Box<dyn FnMut(&JournalLine, &State) + 'a>;

/// A model as a task uses it.
#[derive(Clone, Copy)]
pub struct TaskModel<'a> {
    /// The model.
    pub model: &'a dyn Model,
    /// What it costs; `None` counts as nothing.
    pub price: Option<Price>,
    /// Opt-in tools its profile includes.
    pub included_tools: &'a [ToolName],
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// How it calls tools.
    pub tool_protocol: ToolProtocol,
    /// True when it sees images.
    pub sees_images: bool,
    /// How its tokens are estimated.
    pub tokenizer: Tokenizer,
    /// The models that may stand in for it.
    pub spares: &'a [Spare],
}

/// A model that may stand in for another one.
#[derive(Clone, Debug)]
pub struct Spare {
    /// Its label: replies name it by that.
    pub label: String,
    /// What it costs; `None` counts as nothing.
    pub price: Option<Price>,
    /// How its tokens are estimated.
    pub tokenizer: Tokenizer,
}

impl<'a> TaskModel<'a> {
    /// Returns a model that costs nothing, stands alone, sees images and has room for everything.
    #[must_use]
    pub fn alone(model: &'a dyn Model) -> Self {
        Self {
            model,
            price: None,
            included_tools: &[],
            context_window: u32::MAX,
            tool_protocol: ToolProtocol::Native,
            sees_images: true,
            tokenizer: Tokenizer::Bytes,
            spares: &[],
        }
    }

    /// Returns what a reply costs, told by who gave it.
    #[must_use]
    pub fn price_of(&self, reply: &Reply) -> Option<Price> {
        self.price_by(reply.by.as_deref())
    }

    /// Returns what the model of this label costs that stood in for it, or what it costs itself.
    #[must_use]
    pub fn price_by(&self, by: Option<&str>) -> Option<Price> {
        match by {
            Some(by) => self.spare(by).and_then(|spare| spare.price),
            None => self.price,
        }
    }

    /// Returns how the tokens of the model of this label are estimated that stood in for it, or its
    /// own.
    #[must_use]
    pub fn tokenizer_by(&self, by: Option<&str>) -> Tokenizer {
        by.and_then(|by| self.spare(by)).map_or(self.tokenizer, |spare| spare.tokenizer)
    }

    fn spare(&self, label: &str) -> Option<&'a Spare> {
        self.spares.iter().find(|spare| spare.label == label)
    }
}

/// Everything a session works with. Nothing in it is looked up again later.
pub struct SessionParts<'a> {
    /// What is to be done; the journal's first line.
    pub start: SessionStart,
    /// Decides.
    pub policy: &'a Policy,
    /// What the policy's ceilings leave to this run.
    pub allowance: Allowance,
    /// Every mode.
    pub modes: &'a ModeSet,
    /// What the trusted ref adds to prompts, all modes together.
    pub standing: &'a Standing,
    /// The commit that is trusted: rules files of folders are read there.
    pub trusted: &'a CommitId,
    /// The root task's model.
    pub main: TaskModel<'a>,
    /// The sub-tasks' model.
    pub task: TaskModel<'a>,
    /// The model that sums conversations up; each task's own when absent.
    pub condense: Option<TaskModel<'a>>,
    /// The models of modes that have one of their own, by slug.
    pub own: BTreeMap<String, TaskModel<'a>>,
    /// The models that may be asked a question, by the names of their profiles.
    pub experts: BTreeMap<String, TaskModel<'a>>,
    /// Who draws pictures; nobody when absent.
    pub painter: Option<Painter<'a>>,
    /// How requests are tried again.
    pub retry: RetryLimits,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// The environment commands get.
    pub env: &'a BTreeMap<String, String>,
    /// What is around commands.
    pub sandbox: &'a Sandbox,
    /// Opens connections.
    pub connector: &'a Connector,
    /// The MCP servers, started already.
    pub servers: &'a Servers<'a>,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Resolves when the run is to stop (Ctrl-C, SIGTERM).
    pub cancelled: futures::future::BoxFuture<'a, ()>,
    /// Sees every line after it is in the journal, with the state it led to.
    pub watch: Watch<'a>,
}

/// Runs a session to its end. `journal` is new, or one read back by [`Journal::resume`]: then the
/// session continues where it stopped, from its own first line and not from `parts.start`.
pub async fn run(mut parts: SessionParts<'_>, mut journal: Journal) -> Outcome {
    journal.hide(parts.redactor.plain_values());
    let state = State::of(journal.past());
    if let Some(outcome) = state.outcome {
        return *outcome;
    }
    let cancelled = std::mem::replace(&mut parts.cancelled, Box::pin(std::future::pending()));
    let minutes =
        state.start.as_ref().map_or(parts.start.budget.minutes, |start| start.budget.minutes);
    let taken = state.root().map_or(Duration::ZERO, |root| root.wall);
    let rest = Duration::from_secs(u64::from(minutes).saturating_mul(60)).saturating_sub(taken);
    let deadline = parts.clock.sleep(rest);
    let mut session = Session {
        parts,
        journal,
        state,
        briefs: BTreeMap::new(),
        apart: BTreeMap::new(),
        in_play: Vec::new(),
        crowded: BTreeMap::new(),
        counted: BTreeMap::new(),
        unheard: Unheard::default(),
        journal_broken: false,
    };
    if let Err(stop) = session.begin() {
        return session.finish(stop).await;
    }
    let stop = tokio::select! {
        biased;
        () = cancelled => Stop::session(OutcomeWord::Cancelled, session.at_work("it was stopped from outside")),
        () = deadline => Stop::session(OutcomeWord::TimedOut, session.at_work(&format!("the wall time of {minutes} minutes is over"))),
        stop = session.work() => stop,
    };
    session.finish(stop).await
}

/// A session at work.
struct Session<'a> {
    parts: SessionParts<'a>,
    journal: Journal,
    state: State,
    briefs: BTreeMap<(String, bool, bool, Purpose), Rc<Brief>>,
    /// Worktrees of sub-tasks that are open.
    apart: BTreeMap<TaskId, Rc<Workspace>>,
    /// Paths that permitted calls since the last turns were about.
    in_play: Vec<(TaskId, RepoPath)>,
    /// Tasks whose model said that the conversation is too long.
    crowded: BTreeMap<TaskId, Crowded>,
    /// What of conversations has been counted for estimates.
    counted: BTreeMap<TaskId, Counted>,
    /// Requests that nobody waited for to their end.
    unheard: Unheard<'a>,
    journal_broken: bool,
}

impl<'a> Session<'a> {
    /// Writes down what is to be done, or that it goes on after a kill.
    fn begin(&mut self) -> Result<(), Stop> {
        match self.state.start {
            Some(_) => self.emit(Event::Resumed)?,
            None => self.emit(Event::Started(Box::new(SessionStart {
                task: self.parts.redactor.redact(&self.parts.start.task),
                message: self.parts.redactor.redact(&self.parts.start.message),
                ..self.parts.start.clone()
            })))?,
        }
        self.list_servers()
    }

    /// Takes step after step until there is nothing more to do or something stops it. Tasks that
    /// wait for something wait beside each other; one that waits for a person holds up no other.
    async fn work(&mut self) -> Stop {
        let mut under_way: FuturesUnordered<Work<'a>> = FuturesUnordered::new();
        let mut busy: BTreeSet<TaskId> = BTreeSet::new();
        let mut held: Vec<(TaskId, Stop)> = Vec::new();
        loop {
            // Lets signals and timers in, also when neither the model nor a tool ever waits.
            tokio::task::yield_now().await;
            let next = step::next(&self.state, |id| {
                !busy.contains(&id) && held.iter().all(|(other, _)| *other != id)
            });
            let (id, taken) = match next {
                Some(Step::Finish) => return self.result(),
                Some(step) => (step.task(), self.take(step)),
                None => match under_way.next().await {
                    Some((id, done)) => {
                        busy.remove(&id);
                        (id, self.complete(id, done))
                    }
                    None => {
                        return held
                            .into_iter()
                            .next()
                            .map_or_else(|| self.result(), |(_, stop)| stop);
                    }
                },
            };
            match taken {
                Ok(Some(work)) => {
                    busy.insert(id);
                    under_way.push(work);
                }
                Ok(None) => {}
                Err(stop) if stop.waiting.is_some() => held.push((id, stop)),
                Err(stop) => {
                    if let Err(stop) = self.contain(id, stop) {
                        return stop;
                    }
                }
            }
        }
    }

    fn take(&mut self, step: Step) -> Result<Option<Work<'a>>, Stop> {
        match step {
            Step::BeginRoot => self.begin_root()?,
            Step::Fork(task) => self.start_forked(task)?,
            Step::Answer(task) => return self.answer_calls(task),
            Step::Save(task) => self.save(self.state.tree_owner(task))?,
            Step::Settle(task, control) => self.settle(task, control)?,
            Step::Remind(task) => self.remind(task)?,
            Step::ChangesExhausted(_, exhausted) => return Err(exhausted.into()),
            Step::GiveUp(task) => return Err(self.too_many_mistakes(task)),
            Step::Ask(task) => return self.ask(task).map(Some),
            Step::Finish => {}
        }
        Ok(None)
    }

    /// Ends a sub-task that cannot go on and lets its parent go on.
    ///
    /// # Errors
    /// When the stop reaches further: the session ends.
    fn contain(&mut self, id: TaskId, stop: Stop) -> Result<(), Stop> {
        match self.state.task(id) {
            Some(task) if stop.reach == Reach::Task && task.parent.is_some() => {
                let (task, result) = (task.id, self.parts.redactor.redact(&stop.reason));
                self.emit(Event::TaskEnded { task, result, completed: false })
            }
            Some(_) | None => Err(stop),
        }
    }

    /// Writes an event down, takes it into the state and shows it: the only way anything changes.
    fn emit(&mut self, event: Event) -> Result<(), Stop> {
        let line = JournalLine { at: self.parts.clock.now(), event };
        if let Err(error) = self.journal.append(&line) {
            self.journal_broken = true;
            return Err(error.into());
        }
        self.state.apply(&line);
        (self.parts.watch)(&line, &self.state);
        Ok(())
    }

    fn begin_root(&mut self) -> Result<(), Stop> {
        let Some(start) = self.state.start.clone() else { return Ok(()) };
        if self.parts.modes.find(&start.mode).is_none() {
            return Err(Stop::session(
                OutcomeWord::Failed,
                format!("there is no mode `{}`", start.mode),
            ));
        }
        let verdict = self.parts.policy.decide(&Intent::Mode(start.mode.clone()), &start.facts);
        if verdict.decision != Decision::Allow {
            return Err(Stop::session(
                OutcomeWord::Refused,
                format!("{}: {}", verdict.intent, verdict.reason()),
            ));
        }
        let budget = Budget {
            turns: start.budget.turns.min(self.mode(&start.mode)?.turns.unwrap_or(u32::MAX)),
            ..start.budget
        };
        self.emit(Event::TaskStarted {
            task: TaskId::default(),
            parent: None,
            parent_call: None,
            mode: start.mode,
            message: start.message,
            todos: Vec::new(),
            budget,
            tree: None,
        })
    }

    fn too_many_mistakes(&self, id: TaskId) -> Stop {
        let last =
            self.state.task(id).and_then(|task| task.last_mistake.clone()).unwrap_or_default();
        let last = locum_base::text::head(&last, 300);
        Stop::task(
            OutcomeWord::Failed,
            format!("the model made {MISTAKE_LIMIT} mistakes in a row, the last one: {last}"),
        )
    }

    fn task(&self, id: TaskId) -> Result<&TaskState, Stop> {
        self.state.task(id).ok_or_else(|| {
            Stop::session(OutcomeWord::Failed, format!("the journal knows no task {id}"))
        })
    }

    /// Returns who asks and how, with the mode a task is in.
    fn facts(&self, mode: &str) -> Facts {
        let facts = self
            .state
            .start
            .as_ref()
            .map_or_else(|| self.parts.start.facts.clone(), |start| start.facts.clone());
        // A resumed run may find itself on another machine.
        Facts { mode: mode.to_owned(), sandboxed: self.parts.sandbox.holds(), ..facts }
    }

    /// Returns a reason for stopping that names the command that was running, if one was.
    fn at_work(&self, reason: &str) -> String {
        let waiting = self
            .state
            .at_work()
            .filter_map(|task| task.first_unanswered().map(|(_, waiting)| waiting));
        match waiting.filter_map(|waiting| waiting.headline.as_ref()).next() {
            Some(headline) => format!("{reason} during `{headline}`"),
            None => reason.to_owned(),
        }
    }
}
