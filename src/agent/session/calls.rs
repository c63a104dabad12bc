//! The calls of a turn: each parsed, judged and performed, or answered with why not.
//!
//! Calls are taken in their order: read-only ones that follow each other run side by side,
//! sub-tasks as the policy lets them, every other one alone, and `attempt_completion` only after
//! all others. Every call gets an answer, unless the session stops at it (a question, a hold).

use futures::StreamExt;
use tracing::Instrument;

use crate::session::event::Event;
use crate::session::hook_runs::HooksSaid;
use crate::session::hooked;
use crate::session::instead::{self, InsteadRules};
use crate::session::judged::{
    JudgedCall, PermittedCall, lost, reasons, rest_of, script_of, starts_task, unfit, whole,
};
use crate::session::live::Session;
use crate::session::pause::WeighedAct;
use crate::session::spans::call_span;
use crate::session::stop::Stop;
use crate::session::switch::DeniedByMode;
use crate::session::system_prompt::SystemPrompt;
use crate::session::task::TaskState;
use crate::session::task::nudges::RefusalKind;
use crate::session::task::turn::WaitingCall;
use crate::session::task::unfit::completes;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::flow::new_task::NewTask;
use crate::tools::hooks::HookEvent;
use crate::tools::{CallError, Observation};
use locum_base::id::TaskId;
use locum_base::text::code_list;
use locum_base::tool::ToolName;
use locum_base::unmatched_tool::UnmatchedTool;
use locum_modes::prompts::reminders;
use locum_policy::approval::Approval;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::verdict::{Decision, Refusal, RefusedBy, Verdict};

impl<'a> Session<'a> {
    /// Answers the first unanswered calls of a task: a group of read-only calls, or of sub-tasks,
    /// or one other call, or the result of a sub-task.
    pub(crate) fn answer_calls(&mut self, id: TaskId) -> Result<(), Stop> {
        let system_prompt = self.system_prompt(id)?;
        let mut group: Vec<PermittedCall> = Vec::new();
        let mut alone = None;
        loop {
            let seen: Vec<&str> =
                group.iter().map(|permitted| permitted.waiting.call.id.as_str()).collect();
            let Some(waiting) = next_call(self.task(id)?, &seen) else { break };
            if let Some(child) = waiting.child {
                if group.is_empty() {
                    return self.answer_from_child(id, &waiting, child);
                }
                break;
            }
            let delegates = starts_task(&waiting);
            let other_kind =
                group.first().is_some_and(|first| starts_task(&first.waiting) != delegates);
            let waits = delegates && !group.is_empty() && NewTask::waits(&waiting.call);
            let limit = if delegates { self.parallel_limit() } else { self.parts.concurrent_reads };
            if other_kind || waits || group.len() >= limit {
                break;
            }
            match self.judge(id, &system_prompt, waiting, group.len())? {
                JudgedCall::NotPerformed(waiting, not) => self.answer_not(id, &waiting, *not)?,
                JudgedCall::Permitted(permitted)
                    if delegates || permitted.permit.act().only_reads() =>
                {
                    group.push(*permitted)
                }
                JudgedCall::Permitted(permitted) => {
                    alone = Some(*permitted);
                    break;
                }
            }
        }
        self.guard(id, group, alone)
    }

    /// Performs permitted calls: those that only read, or start sub-tasks, side by side, then the
    /// one after them.
    pub(crate) fn perform_all(
        &mut self,
        id: TaskId,
        group: Vec<PermittedCall>,
        alone: Option<PermittedCall>,
    ) -> Result<(), Stop> {
        if group.first().is_some_and(|first| starts_task(&first.waiting)) {
            return self.delegate(id, group);
        }
        if !group.is_empty() {
            return self.read(id, group, alone);
        }
        alone.map_or(Ok(()), |permitted| self.perform_alone(id, permitted))
    }

    /// Judges one call; `ahead` calls before it are about to be performed.
    ///
    /// # Errors
    /// Also where a maintainer has to decide on it first.
    fn judge(
        &mut self,
        id: TaskId,
        system_prompt: &SystemPrompt,
        waiting: WaitingCall,
        ahead: usize,
    ) -> Result<JudgedCall, Stop> {
        let task = self.task(id)?;
        let mut spent = task.budgeting.spent;
        spent.tool_calls =
            spent.tool_calls.saturating_add(u32::try_from(ahead).unwrap_or(u32::MAX));
        task.budgeting.budget.ask_call(&spent)?;
        if let Some(not) = unfit(task, &waiting) {
            return Ok(JudgedCall::NotPerformed(Box::new(waiting), Box::new(not)));
        }
        let parsed = self
            .task_env(id)?
            .with(|context| dispatch::parse(&waiting.call, &system_prompt.offered, context));
        let call = match parsed {
            Ok(call) => call,
            Err(error) => {
                let not = self.not_a_call(id, system_prompt, &waiting, error)?;
                return Ok(JudgedCall::NotPerformed(Box::new(waiting), Box::new(not)));
            }
        };
        let facts = self.facts(&self.task(id)?.mode);
        let (call, weighed, left_out) = self.weigh_rest(id, &waiting, call, &facts);
        let not = match weighed {
            WeighedAct::Permitted(permit) => {
                return self.permitted(id, PermittedCall { waiting, permit, refused: left_out });
            }
            WeighedAct::DeniedByPerson(decided, refusal) => {
                let mut text = reminders::denied_by_person(&decided.by, decided.reason());
                if let Some(left_out) = &left_out {
                    text =
                        format!("{text}\n\n{}", reminders::left_out(&reasons(&left_out.verdicts)));
                }
                let refusal = whole(*refusal, left_out);
                self.note(id, &waiting, &call, (&refusal.verdicts, None))?;
                let refusal = refusal.by_person(&decided.by, decided.reason());
                Observation::refused(text, Box::new(refusal))
            }
            WeighedAct::Refused(refusal) if self.waits_for(&refusal) => {
                self.note(id, &waiting, &call, (&refusal.verdicts, None))?;
                self.held(id, &waiting, &call, &refusal)?
            }
            WeighedAct::Refused(refusal) => {
                let refusal = whole(*refusal, left_out);
                self.note(id, &waiting, &call, (&refusal.verdicts, None))?;
                self.refused(id, &call, Box::new(refusal))?
            }
        };
        Ok(JudgedCall::NotPerformed(Box::new(waiting), Box::new(not)))
    }

    /// Decides on a call, and where a part of it is refused, on the rest of it alone; returns what
    /// was decided on, and what was refused before.
    fn weigh_rest(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        call: CheckedCall,
        facts: &Facts,
    ) -> (CheckedCall, WeighedAct<CheckedCall>, Option<Box<Refusal>>) {
        let weighed = self.weigh(id, waiting, &call, facts);
        let WeighedAct::Refused(refusal) = &weighed else { return (call, weighed, None) };
        match rest_of(&call, refusal, self.pauses()) {
            Some(rest) if rest.intents() != call.intents() => {
                let left_out = lost(refusal, &rest);
                let weighed = self.weigh(id, waiting, &rest, facts);
                (rest, weighed, left_out)
            }
            Some(_) | None => (call, weighed, None),
        }
    }

    /// Returns the answer to what is not a call of this mode, with the modes that could do it.
    fn not_a_call(
        &mut self,
        id: TaskId,
        system_prompt: &SystemPrompt,
        waiting: &WaitingCall,
        error: CallError,
    ) -> Result<Observation, Stop> {
        let denied =
            self.task_env(id)?.with(|context| dispatch::restricted(&waiting.call, context));
        let intent = denied.as_ref().map(|(intent, _)| intent);
        let tool = dispatch::meant(&waiting.call);
        let elsewhere =
            match tool.filter(|tool| intent.is_some() || !system_prompt.offered.contains(tool)) {
                Some(tool) => self.other_modes(id, DeniedByMode { tool, intent })?,
                None => String::new(),
            };
        let refusal = denied.map(|(intent, reason)| {
            let verdicts = vec![Verdict::denied(intent.to_string(), reason)];
            Box::new(Refusal {
                decision: Decision::Deny,
                verdicts,
                hint: None,
                by: RefusedBy::Policy,
            })
        });
        let here = if tool.is_none_or(|tool| !system_prompt.offered.contains(&tool)) {
            let names: Vec<&str> =
                system_prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
            format!(" Available here: {}.", code_list(&names))
        } else {
            String::new()
        };
        let text = format!("{}{here}{elsewhere}", error.0);
        let answer = match UnmatchedTool::find(&waiting.call.name) {
            // It learned the tool elsewhere, and reads what to do instead.
            Some(_) => Observation::failed(text),
            None => Observation::mistake(text),
        };
        Ok(Observation { refused: refusal, ..answer })
    }

    /// Writes down that a call may be performed.
    fn permitted(&mut self, id: TaskId, permitted: PermittedCall) -> Result<JudgedCall, Stop> {
        let PermittedCall { waiting, permit, .. } = &permitted;
        self.note(id, waiting, permit.act(), (permit.verdicts(), permit.approval()))?;
        self.note_paths(id, &permit.act().intents());
        Ok(JudgedCall::Permitted(Box::new(permitted)))
    }

    fn note(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &CheckedCall,
        (verdicts, approval): (&[Verdict], Option<&Approval>),
    ) -> Result<(), Stop> {
        self.emit(Event::Judged {
            task: id,
            call: waiting.call.id.clone(),
            headline: self.parts.run.redactor.redact(&call.headline()),
            command: script_of(call),
            verdicts: verdicts.to_vec(),
            approval: approval.cloned(),
        })
    }

    /// Whether the run stops until a maintainer has decided on a refusal.
    fn waits_for(&self, refusal: &Refusal) -> bool {
        refusal.decision == Decision::Hold && self.pauses()
    }

    /// Stops at a call that a maintainer has to decide on. Nobody is asked for what cannot be done
    /// anyway: that is answered.
    fn held(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &CheckedCall,
        refusal: &Refusal,
    ) -> Result<Observation, Stop> {
        match self.futile(id, call)? {
            Some(not) => Ok(not),
            None => Err(self.hold(id, waiting, call, refusal)),
        }
    }

    /// Returns the answer to a refused call.
    fn refused(
        &mut self,
        id: TaskId,
        call: &CheckedCall,
        refusal: Box<Refusal>,
    ) -> Result<Observation, Stop> {
        let why = reasons(&refusal.verdicts);
        let kind = RefusalKind::of(&refusal);
        let text = if self.task(id)?.nudges.refused.contains(&kind) {
            reminders::refused_again(&why)
        } else {
            let facts = self.facts(&self.task(id)?.mode);
            let system_prompt = self.system_prompt(id)?;
            let shown = |tool: ToolName| system_prompt.shows(tool);
            let mode = self.mode(&facts.mode)?;
            let rules = InsteadRules { policy: self.parts.run.policy, facts: &facts, mode };
            let tool = instead::of(call, &refusal, rules, &shown);
            let said: Vec<String> = refusal.hint.iter().cloned().chain(tool).collect();
            reminders::refused(&why, &said)
        };
        Ok(Observation::refused(text, refusal))
    }

    /// Returns why a call that steers, or that takes the place of a file, would come to nothing,
    /// were it approved.
    fn futile(&mut self, id: TaskId, call: &CheckedCall) -> Result<Option<Observation>, Stop> {
        if let CheckedCall::WriteToFile(write) = call {
            let held = self.held_file(id, call)?;
            let Some(before) = held.and_then(|held| held.before) else { return Ok(None) };
            return Ok(self.task_env(id)?.with(|context| write.futile(&before, context)));
        }
        if let CheckedCall::NewTask(call) = call {
            return Ok(self.delegation_refused(id, call, 0)?.map(Observation::mistake));
        }
        let CheckedCall::SwitchMode(_) = call else { return Ok(None) };
        let slug = call.intents().into_iter().find_map(|intent| match intent {
            Intent::Mode(slug) => Some(slug),
            _other => None,
        });
        let task = self.task(id)?;
        let refused = slug.and_then(|slug| self.switch_refused(task, &slug));
        Ok(refused.map(|refused| refused.observation()))
    }

    /// Answers a call that was performed, at least in part.
    pub(crate) fn answer(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<(), Stop> {
        let (call, tool) = (waiting.call.id.clone(), waiting.call.name.clone());
        let mut observation = self.shorten(waiting, observation)?;
        let left_out = self.task(id)?.leave_out_images(&mut observation.images);
        observation.text.push_str(&left_out);
        if !observation.is_mistake && observation.refused.is_none() {
            let ignored = dispatch::ignored(&waiting.call);
            observation.text.push_str(&self.parts.run.redactor.redact(&ignored));
        }
        if let Some(model_use) = observation.model_use.take() {
            self.emit(Event::model_used(id, call.clone(), *model_use))?;
        }
        let refusal = observation.refused.take();
        let mistake = std::mem::take(&mut observation.is_mistake);
        self.emit(Event::Answered { task: id, call, tool, observation, refusal, mistake })
    }

    /// Answers a call that was not performed.
    pub(crate) fn answer_not(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        not: Observation,
    ) -> Result<(), Stop> {
        let text = self.parts.run.redactor.redact(&not.text);
        self.answer(id, waiting, Observation { text, ..not })
    }

    /// Answers a call that was a mistake of the model.
    pub(crate) fn answer_mistake(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        text: String,
    ) -> Result<(), Stop> {
        self.answer_not(id, waiting, Observation::mistake(text))
    }

    /// Performs read-only calls side by side, then the one that was permitted after them.
    fn read(
        &mut self,
        id: TaskId,
        reads: Vec<PermittedCall>,
        then: Option<PermittedCall>,
    ) -> Result<(), Stop> {
        let calls: Vec<&WaitingCall> = reads.iter().map(|read| &read.waiting).collect();
        let follower = self.follower(id, &calls)?;
        if follower.is_some() {
            self.prepare_hooks(id)?;
        }
        let (turn, env) = (self.turn_span(id), self.task_env(id)?);
        let answers = async move {
            let visible = env.readable();
            let context = env.context(&visible);
            let read = |read: PermittedCall| {
                let span = call_span(&turn, &read.waiting, &read.permit);
                async move {
                    let seen = dispatch::perform(read.permit, context).await;
                    (read.waiting, Observation { refused: read.refused, ..seen })
                }
                .instrument(span)
            };
            // The group is as large as may run side by side.
            let at_a_time = reads.len();
            let seen: Vec<(WaitingCall, Observation)> =
                futures::stream::iter(reads).map(read).buffered(at_a_time).collect().await;
            let mut answers = Vec::new();
            for (waiting, observation) in seen {
                let (observation, said) = match &follower {
                    Some(asker) => hooked::follow(asker, &env, &waiting, observation).await,
                    None => (observation, HooksSaid::default()),
                };
                answers.push((waiting, observation, said));
            }
            answers
        };
        self.wait(id, answers, move |session, answers| {
            for (waiting, observation, said) in answers {
                let call = &waiting.call.id;
                session.record_hooks(id, call, HookEvent::PostToolUse, (said, false))?;
                session.answer(id, &waiting, observation)?;
            }
            then.map_or(Ok(()), |permitted| session.perform_alone(id, permitted))
        });
        Ok(())
    }
}

/// Returns the next call to take: in order, `attempt_completion` last.
fn next_call(task: &TaskState, seen: &[&str]) -> Option<WaitingCall> {
    let open = || task.turn.open().filter(|waiting| !seen.contains(&waiting.call.id.as_str()));
    open()
        .find(|waiting| !completes(waiting))
        .or_else(|| open().next().filter(|_| seen.is_empty()))
        .cloned()
}
