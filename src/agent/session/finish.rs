//! The end of a session: its outcome, computed from its state and the checkout, written down as the
//! last event.

use std::collections::BTreeSet;

use futures::StreamExt;

use crate::session::checkout_changes::CheckoutChanges;
use crate::session::ending::{self, EndFacts, Settlement};
use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::outcome::{CheckReport, Outcome, OutcomeWord, PendingDecision, TaskReport};
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::session::task::{TaskEnd, TaskState};
use crate::tools::flow::complete::CompletionStatus;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::access::TaskPurpose;
use locum_modes::{Mode, ToolGroup};
use locum_policy::budget::Spent;
use locum_policy::intent::Intent;
use locum_policy::schema::Switching;
use locum_policy::verdict::Decision;
use locum_workspace::diff::FileChange;

impl Session<'_> {
    /// Returns how a session whose root task ended stops.
    pub(crate) fn result(&self) -> Stop {
        match self.state.root().and_then(|root| root.ended.as_ref()) {
            Some(end) => {
                let word = match end.status {
                    Some(CompletionStatus::Done) => OutcomeWord::Done,
                    Some(CompletionStatus::Partial) => OutcomeWord::Partial,
                    Some(CompletionStatus::Failed) | None => OutcomeWord::Failed,
                };
                Stop::session(word, end.why())
            }
            None => Stop::failed("the root task did not end"),
        }
    }

    /// Makes what was written safe, computes the outcome and writes it down.
    pub(crate) async fn finish(&mut self, stop: Stop) -> Outcome {
        self.ending = true;
        // What is still under way is dropped, and notes what it used up.
        self.under_way.clear();
        self.background.values().for_each(|commands| commands.end());
        let charged = if self.journal_broken { Ok(()) } else { self.charge_abandoned() };
        let closed = if self.journal_broken { Ok(()) } else { self.close_cut_off().await };
        let saved = if self.journal_broken { Ok(()) } else { self.save_all() };
        // A session that goes on still needs them in its layer.
        let goes_on = stop.waiting.is_some() || stop.fault;
        let has_ended = self.state.root().is_some_and(|root| root.ended.is_some());
        let unjudged = if goes_on || self.journal_broken || !has_ended {
            Ok(())
        } else {
            self.leave_unjudged(TaskId::default())
        };
        let outputs = if goes_on { Ok(()) } else { self.bring_outputs() };
        let noted = if goes_on || self.journal_broken { Ok(()) } else { self.note_of_others() };
        let stash =
            if goes_on || self.journal_broken { Ok(()) } else { self.note_stash(stop.word) };
        // What is in no checkpoint is only there.
        let left = if saved.is_ok() { self.leave_worktrees() } else { Ok(()) };
        let (changes, replaced) = (self.changes(), self.replaced());
        let failures = [charged, closed, saved, unjudged, outputs, noted, stash, left]
            .into_iter()
            .filter_map(Result::err);
        let stop = failures.chain(changes.as_ref().err().cloned()).fold(stop, worse);
        let mut outcome = self.outcome(stop, changes.unwrap_or_default(), !replaced.is_empty());
        outcome.notes.extend(self.replaced_notes(&replaced));
        if self.journal_broken {
            // A session without a line is none.
            self.journal.discard();
        }
        if !self.journal_broken
            && let Err(failed) = self.emit(Event::Ended(Box::new(outcome.clone())))
        {
            return Outcome { word: OutcomeWord::Failed, reason: Some(failed.reason), ..outcome };
        }
        outcome
    }

    /// Answers the calls that were under way when the session was stopped, so that what they
    /// changed is known.
    async fn close_cut_off(&mut self) -> Result<(), Stop> {
        let cut_off = |task: &TaskState| {
            let stopped = |waiting: &&WaitingCall| {
                waiting.performing.is_some() && waiting.held_changes().is_none()
            };
            let open = task.turn.open().filter(stopped);
            open.map(|waiting| (task.id, waiting.clone())).collect::<Vec<_>>()
        };
        let cut_off: Vec<(TaskId, WaitingCall)> = self.state.at_work().flat_map(cut_off).collect();
        for (id, waiting) in cut_off {
            self.answer_interrupted(id, &waiting)?;
            while let Some((_, continuation)) = self.under_way.next().await {
                continuation(self)?;
            }
        }
        self.take_back_checks()?;
        while let Some((_, continuation)) = self.under_way.next().await {
            continuation(self)?;
        }
        Ok(())
    }

    /// Makes everything safe that was written, wherever it lies.
    fn save_all(&mut self) -> Result<(), Stop> {
        let unsaved = |(owner, tree): (&TaskId, &CheckoutChanges)| {
            (!tree.unsaved.is_empty()).then_some(Some(*owner))
        };
        let mut owners: Vec<Option<TaskId>> =
            self.state.isolated.iter().filter_map(unsaved).collect();
        owners.extend((!self.state.tree.unsaved.is_empty()).then_some(None));
        // What cannot be made safe in one of them takes nothing from the others.
        owners.into_iter().map(|owner| self.save(owner)).fold(Ok(()), Result::and)
    }

    fn changes(&self) -> Result<Vec<FileChange>, Stop> {
        let mut touched: BTreeSet<RepoPath> = self.state.tree.touched.keys().cloned().collect();
        // What somebody had there before the run is no change of the run's.
        touched.retain(|path| !self.is_as_found(path));
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let repo = &self.parts.workspace.repo;
        let changes = repo.changes(&self.start().base, &touched)?.into_iter();
        let shown = |change: FileChange| {
            if self.parts.run.redactor.finds_secret(&change.patch) {
                change.without_patch()
            } else {
                change
            }
        };
        Ok(changes.map(shown).collect())
    }

    /// Returns the files that were written and did not change.
    fn rewritten(&self, changes: &[FileChange]) -> Vec<RepoPath> {
        let changed = |path: &RepoPath| changes.iter().any(|change| change.path == *path);
        self.state.tree.touched.keys().filter(|path| !changed(path)).cloned().collect()
    }

    fn outcome(&self, stop: Stop, changes: Vec<FileChange>, has_replaced: bool) -> Outcome {
        let start = self.start();
        let root = self.state.root();
        let also_waiting = stop.also_waiting;
        let (question, held) = match stop.waiting.map(|waiting| *waiting) {
            Some(PendingDecision::Question(question)) => (Some(question), None),
            Some(PendingDecision::Hold(held)) => (None, Some(held)),
            None => (None, None),
        };
        let mut tasks: Vec<TaskReport> =
            self.state.tasks.iter().map(|task| TaskReport::of(task, &start.task)).collect();
        self.add_unmerged(&mut tasks);
        let checks = self.state.checked.reports.clone();
        let failed_check = checks.iter().find_map(CheckReport::failure);
        let unchecked = !changes.is_empty() && checks.is_empty() && !self.state.checked.check_ran;
        let (word, why) = ending::word(&EndFacts {
            stop: stop.word,
            changed: !changes.is_empty() || has_replaced,
            could_change: self.could_have_changed(),
            attempts: &self.state.edits,
            failed_check: failed_check.as_deref(),
            kept_ref: tasks.iter().find_map(|task| task.kept_ref.as_deref()),
            settlement: Settlement::Pending,
        });
        Outcome {
            session: start.id.clone(),
            word,
            summary: root.map(summary_of).unwrap_or_default(),
            reason: Some(self.parts.run.redactor.redact(&why.unwrap_or(stop.reason)))
                .filter(|reason| !reason.is_empty()),
            fault: stop.fault,
            outage: stop.outage,
            exhausted: stop.exhausted,
            ended_as: None,
            hindrance: None,
            question,
            held,
            also_waiting,
            notes: self.state.notes.clone(),
            approved: self.state.approved.clone(),
            policy_hash: start.policy_hash.clone(),
            tasks,
            refusals: self.state.refusals.clone(),
            commands: self.state.commands.clone(),
            tools: self.state.tools.clone(),
            checks,
            edit_checks: self.state.checked.edit_reports(),
            unchecked,
            verdict: root.and_then(|root| root.ended.as_ref()?.verdict),
            todos: root.map(|root| root.todos.clone()).unwrap_or_default(),
            spent: Spent {
                seconds: self.state.wall_until(self.parts.clock.now()).as_secs(),
                ..root.map(|root| root.budgeting.spent).unwrap_or_default()
            },
            spent_is_estimate: self.state.spent_is_estimate(),
            rewritten: self.rewritten(&changes),
            changes,
            base: start.base.clone(),
            checkpoint: self.state.tree.checkpoint.clone(),
            needed_commits: self.needed_commits(),
        }
    }

    /// Returns true when some task was in a mode that edits files, or the root task could have
    /// handed an edit to a sub-task and started none, or gone on in such a mode and did not.
    fn could_have_changed(&self) -> bool {
        let edits = |mode: &Mode| mode.groups.iter().any(|entry| entry.group == ToolGroup::Edit);
        let modes = self.parts.modes;
        if self.state.tasks.iter().filter_map(|task| modes.find(&task.mode)).any(edits) {
            return true;
        }
        let delegated = self.state.tasks.iter().skip(1).any(|t| t.purpose == TaskPurpose::Work);
        let may_delegate = self.state.root().is_some_and(|root| self.may_delegate(root));
        let policy = self.parts.run.policy;
        let allowed = |mode: &&Mode| {
            let intent = Intent::Mode(mode.slug.clone());
            policy.decide(&intent, &self.facts(&mode.slug)).decision == Decision::Allow
        };
        let may_switch = policy.settings().modes.switching != Switching::Off
            && self
                .state
                .root()
                .and_then(|root| modes.find(&root.mode))
                .is_some_and(Mode::coordinates);
        (may_delegate || may_switch) && !delegated && modes.iter().filter(allowed).any(edits)
    }
}

/// Returns the result of the root task: its own, or what it said before it was ended for saying
/// nothing else.
fn summary_of(root: &TaskState) -> String {
    root.ended.as_ref().map_or_else(|| root.last_words(), |end| end.result.clone())
}

impl TaskReport {
    /// Views a task for a report; `target` is the session's own task, the words of who asked.
    pub fn of(task: &TaskState, target: &str) -> Self {
        let message = if task.parent.is_none() { target } else { &task.message };
        Self {
            task: task.id,
            parent: task.parent,
            mode: task.mode.clone(),
            title: task.title.clone().unwrap_or_else(|| first_line(message).to_owned()),
            completed: task.ended.as_ref().map(TaskEnd::is_completed),
            status: task.ended.as_ref().and_then(|end| end.status),
            turns: task.turn.number,
            own: task.budgeting.own,
            with_sub_tasks: task.budgeting.charged(),
            seconds: task.budgeting.wall.as_secs(),
            changes: task.isolation.changes.clone().unwrap_or_default(),
            commands: task.commands.clone(),
            kept_ref: task.isolation.merge.as_ref().and_then(|merge| merge.kept_ref.clone()),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Returns a failure at the end together with why the session had stopped before it.
fn worse(stop: Stop, failed: Stop) -> Stop {
    let reason = if stop.reason.is_empty() {
        failed.reason
    } else if stop.reason == failed.reason {
        stop.reason
    } else {
        format!("{}; {}", stop.reason, failed.reason)
    };
    Stop { word: OutcomeWord::Failed, reason, fault: stop.fault || failed.fault, ..stop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_run_failed_is_said_once() {
        let failed = |reason: &str| Stop::failed(reason.to_owned());
        assert_eq!(worse(failed("disk full"), failed("disk full")).reason, "disk full");
        assert_eq!(worse(failed("disk full"), failed("no ref")).reason, "disk full; no ref");
    }
}
