//! Tasks and the calls they wait for: sub-tasks begin and end here, questions are asked, results
//! given (modes are switched in `switch`).
//!
//! A sub-task never has more than its parent. It runs under the same facts (who asked, how, which
//! job), in a mode the policy allows and with what its own mode gives. Its budget is what its
//! parent's leaves besides a reserve for the parent's end, and what it spends its parent has spent.

use crate::session::command_report::CommandReport;
use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::parallel;
use crate::session::stop::Stop;
use crate::session::task::budgeting::SUB_TASK_TURNS;
use crate::session::task::isolation::SubTaskShare;
use crate::session::task::turn::WaitingCall;
use crate::session::task::{TaskEnd, TaskState};
use crate::tools::flow::new_task::NewTask;
use crate::tools::{Control, Observation, Todo};
use locum_base::id::TaskId;
use locum_base::text::{counted, head};
use locum_modes::access::TaskPurpose;
use locum_modes::prompts::task::SubTaskText;
use locum_modes::prompts::{reminders, task};
use locum_policy::budget::Budget;
use locum_policy::schema::OnQuestion;

/// Most commands of a sub-task that its parent reads.
const COMMANDS_TOLD: usize = 20;

/// Bytes of one of them.
const COMMAND_LIMIT_BYTES: usize = 200;

/// Bytes of an earlier sub-task's result that one that waited for it reads.
const EARLIER_LIMIT_BYTES: usize = 8 * 1024;

/// Returns the results of the sub-tasks before a call of the same reply.
fn earlier_results(parent: &TaskState, waiting: &WaitingCall) -> Vec<String> {
    let before = parent.turn.waiting.iter().take_while(|other| other.call.id != waiting.call.id);
    let result = |other: &WaitingCall| {
        let answer = other.answer.as_ref().filter(|_| other.child.is_some())?;
        let result = head(&answer.text, EARLIER_LIMIT_BYTES);
        Some(format!("Result of a sub-task before it:\n{result}"))
    };
    before.filter_map(result).collect()
}

impl Session<'_> {
    /// Does at once, or writes down for the end of the turn, what a steering call asks for.
    pub(crate) fn steer(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<(), Stop> {
        match observation.control.clone() {
            // Started together with its neighbours (`parallel`).
            Some(Control::SwitchMode { slug, reason }) => {
                self.switch_by_itself(id, waiting, &slug, &reason)
            }
            Some(Control::RequestSwitch { slug, reason }) => {
                self.request_switch(id, waiting, slug, &reason)
            }
            Some(Control::Ask { question, suggestions }) => {
                self.question(id, waiting, question, suggestions)
            }
            Some(Control::Complete { .. }) => self.complete(id, waiting, observation),
            Some(Control::Todos { .. } | Control::CoordinateMode { .. }) | None => {
                self.answer(id, waiting, observation)
            }
        }
    }

    /// Performs the control that an answered call requested, at the end of its turn.
    pub(crate) fn settle(&mut self, id: TaskId, control: Control) -> Result<(), Stop> {
        match control {
            Control::Todos { todos } => self.emit(Event::TodosChanged { task: id, todos }),
            Control::SwitchMode { slug, reason } => self.switch(id, slug, reason),
            // What a person wrote meanwhile comes first, while there is a turn left for it.
            Control::Complete { .. }
                if self.task(id)?.budgeting.rest().turns > 0 && self.read_messages(id)? =>
            {
                Ok(())
            }
            Control::Complete { result, status, reason, verdict } => {
                let completed = status.is_done();
                let status = Some(status).filter(|_| !completed);
                let task = id;
                self.emit(Event::TaskEnded { task, result, completed, status, reason, verdict })
            }
            Control::CoordinateMode { slug, reason } => {
                let result = slug.map_or_else(
                    || format!("refused: {reason}"),
                    |slug| format!("{slug}: {reason}"),
                );
                let (completed, status, reason, verdict) = (true, None, None, None);
                let task = id;
                self.emit(Event::TaskEnded { task, result, completed, status, reason, verdict })
            }
            // None is ever pending: a sub-task begins before its call is answered, a question is
            // answered or ends the session, a request is answered with a switch, an expert's answer
            // is the call's.
            Control::Ask { .. } | Control::RequestSwitch { .. } => Ok(()),
        }
    }

    /// Gives a sub-task's result to the call that requested it.
    pub(crate) fn answer_from_child(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        child: TaskId,
    ) -> Result<(), Stop> {
        let ended = self.task(child)?;
        if ended.purpose == TaskPurpose::Decide {
            return self.answer_from_choice(id, waiting, child);
        }
        if ended.isolation.isolated && ended.isolation.merge.is_none() {
            self.merge_child(child)?;
        }
        self.measure(child)?;
        let observation = child_result(self.task(child)?);
        self.answer(id, waiting, observation)?;
        self.leave_worktree(child)
    }

    /// Starts the sub-task that a permitted call asks for.
    pub(crate) fn start_task(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &NewTask,
        share: SubTaskShare,
    ) -> Result<(), Stop> {
        let SubTaskShare { budget, tree } = share;
        let copied = if tree.is_some() { self.copied_folders(id)? } else { None };
        let parent = self.task(id)?;
        // The rest is in whole minutes; what is left of the last one is watched over by the
        // session's own clock.
        let turns = budget.turns.min(self.mode(&call.mode)?.turns.unwrap_or(u32::MAX));
        let budget = Budget { turns, minutes: budget.minutes.max(1), ..budget };
        let earlier = if call.after { earlier_results(parent, waiting) } else { Vec::new() };
        let known: Vec<String> = call.context.iter().cloned().chain(earlier).collect();
        let lines: Vec<String> = call.todos.iter().map(Todo::line).collect();
        let task = self.next_task();
        let mut message = task::subtask_message(&SubTaskText {
            parent_mode: &parent.mode,
            name: &call.named(task),
            message: &call.message,
            context: (!known.is_empty()).then(|| known.join("\n\n")).as_deref(),
            todos: &lines,
            may_spend: &reminders::may_spend(&budget),
        });
        message.extend(copied);
        let (owner, place) = (self.state.tree_owner(id), self.place(id)?);
        message.push_str(&self.under_review(&call.mode, &place, owner));
        self.emit(Event::TaskStarted {
            task,
            parent: Some(id),
            parent_call: Some(waiting.call.id.clone()),
            mode: call.mode.clone(),
            title: call.title.as_deref().map(|title| self.parts.run.redactor.redact(title)),
            message: self.parts.run.redactor.redact(&message),
            todos: call.todos.clone(),
            budget,
            tree,
        })
    }

    /// Returns why no further sub-task may be started, as a sentence for the model; `ahead` are
    /// about to be.
    pub(crate) fn delegation_refused(
        &self,
        id: TaskId,
        call: &NewTask,
        ahead: usize,
    ) -> Result<Option<String>, Stop> {
        let task = self.task(id)?;
        let rules = &self.parts.run.policy.settings().modes;
        let started = self
            .state
            .tasks
            .iter()
            .filter(|task| task.parent.is_some() && task.purpose == TaskPurpose::Work)
            .count()
            + ahead;
        let mode = call.mode.as_str();
        let facts = self.facts(&task.mode);
        let kept_from = self.mode_reach(&facts).delegation_refused(mode);
        Ok(if kept_from.is_some() {
            kept_from
        } else if let Some(text) = self.goes_round(task, call) {
            Some(text)
        } else if task.depth >= rules.delegation.depth {
            Some(format!(
                "Sub-tasks may nest {} deep and this task is at that depth. Do the work here.",
                rules.delegation.depth
            ))
        } else if started >= usize::try_from(rules.delegation.tasks).unwrap_or(usize::MAX) {
            Some(format!(
                "All {} sub-tasks of this run are used up. Do the rest without one.",
                rules.delegation.tasks
            ))
        } else {
            let rest = task.rest_for_sub_task();
            (rest.turns < SUB_TASK_TURNS || rest.tool_calls == 0 || rest.tokens == 0).then(|| {
                format!(
                    "Too little of the budget is left for a sub-task: {}, and two turns are kept \
                     for your result. Do what is left here, or end with attempt_completion and \
                     say what is not done.",
                    reminders::may_spend(&task.budgeting.rest())
                )
            })
        })
    }

    /// Returns why a sub-task would only go round in a circle, as a sentence for the model: the
    /// same work again, or back to a mode that handed this work down.
    fn goes_round(&self, task: &TaskState, call: &NewTask) -> Option<String> {
        let above = || std::iter::successors(Some(task), |task| self.state.task(task.parent?));
        // A switch does not make it another task.
        let was_in = |task: &TaskState| task.modes.contains(&call.mode);
        let same =
            |task: &TaskState| was_in(task) && task::words_of(&task.message) == call.message.trim();
        if above().any(same) {
            return Some(format!(
                "A task in mode `{}` is at work on exactly this already, above this one. Do the \
                 work here, or hand on a part of it.",
                call.mode
            ));
        }
        let handed_down = task.mode != call.mode && above().skip(1).any(was_in);
        handed_down.then(|| {
            format!(
                "Mode `{}` handed this work down, and it does not go back up as a sub-task. Do it \
                 here, or say in your result what is left.",
                call.mode
            )
        })
    }

    fn question(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        question: String,
        suggestions: Vec<String>,
    ) -> Result<(), Stop> {
        if let Some((by, text)) = self.answer_to(id, waiting) {
            let text = self.parts.run.redactor.redact(&reminders::answered_by_person(by, text));
            return self.answer(id, waiting, Observation::said(text));
        }
        match self.parts.run.policy.settings().questions {
            OnQuestion::Comment => Err(self.ask_people(id, waiting, question, suggestions)),
            OnQuestion::Fail => Err(Stop::failed(format!(
                "the model asked a question, which the policy does not allow: {question}"
            ))),
            OnQuestion::First => {
                let text = suggestions.into_iter().next().unwrap_or_else(|| {
                    "Nobody can answer. Decide yourself, and name what you assumed in your result."
                        .to_owned()
                });
                self.answer(id, waiting, Observation::said(text))
            }
        }
    }
}

fn child_result(child: &TaskState) -> Observation {
    let took = format!(
        "{} and {} s",
        counted(usize::try_from(child.turn.number).unwrap_or(usize::MAX), "turn"),
        child.budgeting.wall.as_secs()
    );
    let (id, mode) = (child.id, child.mode.as_str());
    let completed = child.ended.as_ref().is_some_and(TaskEnd::is_completed);
    let failed = format!("Sub-task {id} did not succeed: in mode {mode}, after {took},");
    let begins = match &child.ended {
        Some(end) if completed => {
            format!(
                "Sub-task {id} completed in mode {mode}, after {took}.\n\nResult:\n{}",
                end.result
            )
        }
        Some(end) if end.status.is_some() => {
            format!("{failed} {}.\n\nResult:\n{}", end.why(), end.result)
        }
        Some(end) => format!("{failed} {}", end.why()),
        None => format!("{failed} it was cut off"),
    };
    let merge = child.isolation.merge.clone().unwrap_or_default();
    let files = parallel::report(&merge, child.isolation.changes.as_deref().unwrap_or_default());
    Observation {
        text: format!("{begins}\n\n{files}{}", ran(&child.commands)),
        is_error: !completed || merge.kept_ref.is_some(),
        ..Observation::default()
    }
}

/// Lists the commands that a sub-task ran, each with how it ended the last time.
fn ran(commands: &[CommandReport]) -> String {
    let mut last: Vec<&CommandReport> = Vec::new();
    for command in commands {
        last.retain(|known| known.command != command.command);
        last.push(command);
    }
    let left_out = last.len().saturating_sub(COMMANDS_TOLD);
    let line = |ran: &&CommandReport| {
        let ended = ran.ended(|command| format!("`{command}`"));
        format!("\n- `{}`: {ended}", head(&ran.command, COMMAND_LIMIT_BYTES))
    };
    let lines: String = last.iter().skip(left_out).map(line).collect();
    match (lines.is_empty(), left_out) {
        (true, _) => String::new(),
        (false, 0) => format!("\n\nCommands it ran, as they ended last:{lines}"),
        (false, left_out) => {
            format!("\n\nCommands it ran, as they ended last, without the first {left_out}:{lines}")
        }
    }
}
