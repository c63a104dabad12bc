//! The loop. Context to the model, its calls through the policy, everything into the journal, until
//! there is an outcome.
//!
//! In: [`SessionParts`] and a journal. Out: an [`Outcome`]; the journal holds every event that led
//! to it. The live run computes its state from its own events (`emit`: into the journal, into the
//! state, to the watcher). So a resumed run is the same fold over the lines read back, and then
//! continues. What is next is read off the state (`step`).
//!
//! Killed at any line, a session resumes like this. A request without a recorded reply is sent
//! again. A call without an answer is judged again and performed: reading twice is harmless; a
//! file's content before an edit is kept, put back and the edit done again, so that it happens
//! once. A command that may have written is never run a second time. Its answer says that it was
//! interrupted and may or may not have run, what it changed is read off its layer (`layered`), or
//! found by comparing the checkout, and the model decides. So the outcome's word, tree, refusals
//! and checkpoint are those of a run that was not killed; only the path there may differ. An ended
//! session stays ended, unless it had stopped for a decision that has been made since (`hold`), a
//! person lets it go on (`go_on`), or git or a disk was at fault.

mod after_edit;
mod aside;
#[cfg(test)]
mod attacks;
mod background;
mod background_runs;
mod brought_outputs;
mod budget_shares;
mod calls;
pub mod checked;
mod checkout_changes;
mod checks;
pub mod command_report;
mod compaction;
mod condense;
pub mod earlier;
pub mod ending;
mod enter;
mod estimate;
pub mod event;
mod event_charge;
mod event_images;
pub mod event_schema;
mod event_task;
mod expert;
mod finish;
pub mod go_on;
mod held_changes;
pub mod hindrance;
pub mod hold;
pub mod hook_history;
mod hook_runs;
mod hooked;
pub mod id;
mod ignored_files;
mod images;
pub mod import;
mod in_flight;
mod instead;
pub mod journal;
mod judged;
pub mod layered;
pub mod layers;
mod live;
mod meanwhile;
mod memory;
pub mod messages;
mod met_text;
pub mod mode_reach;
pub mod model;
mod named_command;
pub mod no_tests;
pub mod other_repositories;
pub mod outcome;
pub mod outputs;
mod parallel;
pub mod parts;
mod pause;
mod perform;
mod promote;
pub mod promotion;
pub mod recorded;
pub mod repetition;
mod request_terms;
pub mod rewind;
mod rights;
mod servers;
mod spans;
mod spending;
mod start_hooks;
pub mod state;
mod steering;
pub mod step;
pub mod stop;
mod switch;
pub mod system_prompt;
mod taken_back;
pub mod task;
mod task_env;
pub mod tool_counts;
mod turn;
mod uncommitted;
mod under_review;
mod unjudged;
mod unmerged;
pub mod word;
mod worktrees;

use std::time::Duration;

use futures::StreamExt;

use crate::session::event::{Event, SessionStart};
use crate::session::journal::Journal;
use crate::session::live::Session;
use crate::session::outcome::{Outcome, OutcomeWord};
use crate::session::parts::SessionParts;
use crate::session::state::SessionState;
use crate::session::step::{MISTAKE_LIMIT, Step};
use crate::session::stop::{Stop, StopScope};
use crate::session::task::TaskState;
use locum_base::id::TaskId;
use locum_base::text::counted;
use locum_policy::budget::{Budget, Exhausted};

/// Runs a session to its end. `journal` is new, or one read back by [`Journal::resume`]: then the
/// session continues where it stopped, from its own first line and not from `parts.start`.
pub async fn run(mut parts: SessionParts<'_>, mut journal: Journal) -> Outcome {
    journal.hide(parts.run.redactor.plain_values());
    let mut state = SessionState::of(journal.past());
    if let Some(outcome) = state.outcome.take_if(|outcome| !outcome.fault) {
        return *outcome;
    }
    let cancelled = std::mem::replace(&mut parts.cancelled, Box::pin(std::future::pending()));
    let mut session = Session::new(parts, journal, state);
    let minutes = session.start().budget.minutes;
    let taken = session.state.root().map_or(Duration::ZERO, |root| root.budgeting.wall);
    let rest = Duration::from_secs(u64::from(minutes).saturating_mul(60)).saturating_sub(taken);
    let deadline = session.parts.clock.sleep(rest);
    if let Err(stop) = session.begin() {
        return session.finish(stop).await;
    }
    let stop = tokio::select! {
        biased;
        () = cancelled => {
            let reason = session.at_work("it was stopped from outside");
            Stop::session(OutcomeWord::Cancelled, reason)
        }
        () = deadline => {
            let limit = counted(usize::try_from(minutes).unwrap_or(usize::MAX), "minute");
            let reason = session.at_work(&format!("the wall time of {limit} is over"));
            let (unit, limit) = ("minutes".to_owned(), minutes.to_string());
            let exhausted = Exhausted { unit, spent: limit.clone(), limit };
            let stop = Stop::session(OutcomeWord::TimedOut, reason);
            Stop { exhausted: Some(Box::new(exhausted)), ..stop }
        }
        stop = session.work() => stop,
    };
    session.finish(stop).await
}

impl Session<'_> {
    /// Writes down what is to be done, or that it is resumed after a kill.
    fn begin(&mut self) -> Result<(), Stop> {
        self.find_containment()?;
        match self.state.start {
            Some(_) => {
                let outside_text = self.parts.start.facts.outside_text;
                self.emit(Event::Resumed { outside_text })?;
                self.note_changed_checkout()?;
            }
            None => self.emit(Event::Started(Box::new(SessionStart {
                task: self.parts.run.redactor.redact(&self.parts.start.task),
                message: self.parts.run.redactor.redact(&self.parts.start.message),
                ..self.parts.start.clone()
            })))?,
        }
        self.list_servers()
    }

    /// Takes step after step until there is nothing more to do or something stops it. Tasks wait in
    /// parallel; one that waits for a maintainer does not block the others.
    async fn work(&mut self) -> Stop {
        let mut held: Vec<(TaskId, Stop)> = Vec::new();
        loop {
            // Lets signals and timers in, also when neither the model nor a tool ever waits.
            tokio::task::yield_now().await;
            let next = step::next(&self.state, |id| {
                !self.only_hooks
                    && !self.busy.contains(&id)
                    && held.iter().all(|(other, _)| *other != id)
            });
            let (id, done) = match next {
                Some(Step::Finish) => return self.result(),
                Some(step) => (step.task(), self.take(step)),
                None => match self.under_way.next().await {
                    Some((id, continuation)) => {
                        self.busy.remove(&id);
                        (id, continuation(self))
                    }
                    None => {
                        return all_held(held).unwrap_or_else(|| self.result());
                    }
                },
            };
            match done {
                Ok(()) => {}
                Err(stop) if stop.waiting.is_some() => match self.also_held(id, &stop) {
                    Ok(others) => {
                        held.push((id, stop));
                        held.extend(others.into_iter().map(|other| (id, other)));
                    }
                    Err(stop) => return stop,
                },
                Err(stop) => {
                    if let Err(stop) = self.contain(id, stop) {
                        return stop;
                    }
                }
            }
        }
    }

    fn take(&mut self, step: Step) -> Result<(), Stop> {
        match step {
            Step::BeginRoot => self.begin_root(),
            Step::StartParallel(task) => self.start_parallel(task),
            Step::Answer(task) => self.answer_calls(task),
            Step::Save(task) => self.save(self.state.tree_owner(task)),
            Step::Settle(task, control) => self.settle(task, control),
            Step::Nudge(task) => self.nudge(task),
            Step::ChangesExhausted(_, exhausted) => Err(exhausted.into()),
            Step::GiveUp(task) => Err(self.too_many_mistakes(task)),
            Step::Ask(task) => self.ask(task),
            Step::Finish => Ok(()),
        }
    }

    /// Ends a sub-task that cannot go on and lets its parent go on.
    ///
    /// # Errors
    /// When the stop reaches further: the session ends.
    fn contain(&mut self, id: TaskId, stop: Stop) -> Result<(), Stop> {
        match self.state.task(id) {
            Some(task) if stop.reach == StopScope::Task && task.parent.is_some() => {
                let words = task.last_words();
                let said =
                    if words.is_empty() { words } else { format!("\n\nIt had said:\n{words}") };
                let result = self.parts.run.redactor.redact(&format!("{}{said}", stop.reason));
                let task = task.id;
                let (completed, status, reason, verdict) = (false, None, None, None);
                self.emit(Event::TaskEnded { task, result, completed, status, reason, verdict })
            }
            Some(_) | None => Err(stop),
        }
    }

    fn begin_root(&mut self) -> Result<(), Stop> {
        let start = self.start().clone();
        let mode = self.mode(&start.mode)?;
        if let Some(refused) = self.enter_first(&start)? {
            return Err(Stop::session(OutcomeWord::Refused, refused));
        }
        let budget = Budget {
            turns: start.budget.turns.min(mode.turns.unwrap_or(u32::MAX)),
            ..start.budget
        };
        let change = self.of_pull_request(&start.mode);
        let message = format!("{}{}", start.message, self.parts.run.redactor.redact(&change));
        self.emit(Event::TaskStarted {
            task: TaskId::default(),
            parent: None,
            parent_call: None,
            mode: start.mode,
            message,
            title: None,
            todos: Vec::new(),
            budget,
            tree: None,
        })
    }

    fn too_many_mistakes(&self, id: TaskId) -> Stop {
        let last = self
            .state
            .task(id)
            .and_then(|task| task.nudges.last_mistake.clone())
            .unwrap_or_default();
        let last = locum_base::text::head(&last, 300);
        Stop::task(
            OutcomeWord::Failed,
            format!("the model made {MISTAKE_LIMIT} mistakes in a row, the last one: {last}"),
        )
    }

    /// Returns a reason for stopping that names the command that was running, if one was.
    fn at_work(&self, reason: &str) -> String {
        if self.state.checked.under_way.is_some() {
            return format!("{reason} while the checks ran");
        }
        let waiting = self.state.at_work().filter_map(TaskState::first_unanswered);
        match waiting.filter_map(|waiting| waiting.headline.as_ref()).next() {
            Some(headline) => format!("{reason} during `{headline}`"),
            None => reason.to_owned(),
        }
    }
}

/// Returns the stop of a session whose tasks wait for a maintainer: the first one's, with what the
/// others wait for.
fn all_held(held: Vec<(TaskId, Stop)>) -> Option<Stop> {
    let mut held = held.into_iter().map(|(_, stop)| stop);
    let first = held.next()?;
    let also_waiting = held.filter_map(|stop| stop.waiting).map(|waiting| *waiting).collect();
    Some(Stop { also_waiting, ..first })
}
