//! The calls of a turn: each parsed, judged and performed, or answered with why not.
//!
//! Calls are taken in their order: read-only ones that follow each other run side by side,
//! sub-tasks as the policy lets them, every other one alone, and `attempt_completion` only after
//! all others. Every call gets an answer, unless the session stops at it (a question, a hold).

use futures::{FutureExt, StreamExt};
use tracing::Instrument;

use crate::session::Session;
use crate::session::brief::Brief;
use crate::session::event::Event;
use crate::session::repetition::REPEAT_LIMIT;
use crate::session::spans::call_span;
use crate::session::stop::Stop;
use crate::session::switch::Barred;
use crate::session::task::{TaskState, WaitingCall};
use crate::session::work::{Done, Work};
use crate::tools::dispatch::{self, Call};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::chat::StopReason;
use locum_base::id::TaskId;
use locum_base::tool::{self, ToolName};
use locum_modes::prompts::reminders;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::schema::OnHold;
use locum_policy::verdict::{Decision, Refusal, Verdict};

/// Most read-only calls that run side by side.
pub(crate) const CONCURRENT_READS: usize = 10;

/// Answers a call that would write a secret, or what looks like one.
const WITHHELD: &str = "This call was not performed: its arguments hold a secret, or what looks \
                        exactly like one. Do it without that text.";

/// A call that was permitted and waits to be performed.
pub(crate) struct Permitted {
    /// The call as the model wrote it, and what is known of it.
    pub(crate) waiting: WaitingCall,
    /// The permit.
    pub(crate) permit: Permit<Call>,
}

/// An answer to a call that was not performed.
pub(crate) struct NotPerformed {
    /// What the model reads.
    pub(crate) text: String,
    /// Set when the policy refused it.
    pub(crate) refusal: Option<Box<Refusal>>,
    /// True when it was the model's mistake.
    pub(crate) mistake: bool,
}

impl<'a> Session<'a> {
    /// Answers the first unanswered calls of a task: a group of read-only calls, or of sub-tasks,
    /// or one other call, or the result of a sub-task. Returns what has to be waited for.
    pub(crate) fn answer_calls(&mut self, id: TaskId) -> Result<Option<Work<'a>>, Stop> {
        let brief = self.brief(id)?;
        let mut group: Vec<Permitted> = Vec::new();
        let mut alone = None;
        loop {
            let seen: Vec<&str> =
                group.iter().map(|permitted| permitted.waiting.call.id.as_str()).collect();
            let Some(waiting) = next_call(self.task(id)?, &seen) else { break };
            if let Some(child) = waiting.child {
                if group.is_empty() {
                    return self.answer_from_child(id, &waiting, child).map(|()| None);
                }
                break;
            }
            let delegates = starts_task(&waiting);
            let other_kind =
                group.first().is_some_and(|first| starts_task(&first.waiting) != delegates);
            if other_kind
                || group.len()
                    >= if delegates { self.beside_each_other() } else { CONCURRENT_READS }
            {
                break;
            }
            match self.judge(id, &brief, waiting, group.len())? {
                None => {}
                Some(permitted) if delegates || permitted.permit.act().only_reads() => {
                    group.push(permitted)
                }
                Some(permitted) => {
                    alone = Some(permitted);
                    break;
                }
            }
        }
        if group.first().is_some_and(|first| starts_task(&first.waiting)) {
            return self.delegate(id, group);
        }
        if !group.is_empty() {
            return self.read(id, group, alone).map(Some);
        }
        alone.map_or(Ok(None), |permitted| self.perform_alone(id, permitted))
    }

    /// Judges one call; `None` when it has been answered instead. `ahead` calls before it are about
    /// to be performed.
    fn judge(
        &mut self,
        id: TaskId,
        brief: &Brief,
        waiting: WaitingCall,
        ahead: usize,
    ) -> Result<Option<Permitted>, Stop> {
        let task = self.task(id)?;
        let mut spent = task.spent;
        spent.tool_calls =
            spent.tool_calls.saturating_add(u32::try_from(ahead).unwrap_or(u32::MAX));
        task.budget.ask_call(&spent)?;
        if let Some(not) = unfit(task, &waiting) {
            return self.answer_not(id, &waiting, not);
        }
        let mode = task.mode.clone();
        let parsed = self.parse(id, brief, &waiting)?;
        let call = match parsed {
            Ok(call) => call,
            Err(error) => {
                let barred = self.restriction(id, &waiting)?;
                let tool = ToolName::find(tool::resolve(waiting.call.name.trim()));
                let wanted = barred.as_ref().map(|(intent, _)| intent);
                let elsewhere =
                    match tool.filter(|tool| wanted.is_some() || !brief.offered.contains(tool)) {
                        Some(tool) => self.other_modes(id, Barred { tool, intent: wanted })?,
                        None => String::new(),
                    };
                let refusal = barred.map(|(_, refusal)| refusal);
                return self.answer_not(
                    id,
                    &waiting,
                    NotPerformed {
                        text: format!("{}{elsewhere}", error.0),
                        refusal,
                        mistake: true,
                    },
                );
            }
        };
        let (headline, command) =
            (self.parts.run.redactor.redact(&call.headline()), script_of(&call));
        let refusal = match self.parts.run.policy.admit(call.clone(), &self.facts(&mode)) {
            Ok(permit) => return self.permitted(id, waiting, headline, command, permit),
            Err(refusal) => refusal,
        };
        let decided = self.decision_on(id, &waiting, &refusal);
        if let Some(Ok(approval)) = decided {
            return match self.parts.run.policy.admit_approved(
                call.clone(),
                &self.facts(&mode),
                approval,
            ) {
                Ok(permit) => self.permitted(id, waiting, headline, command, permit),
                Err(refusal) => self.refuse(id, &waiting, &headline, &call, refusal),
            };
        }
        let (call_id, verdicts) = (waiting.call.id.clone(), refusal.verdicts.clone());
        self.emit(Event::Judged {
            task: id,
            call: call_id,
            headline: headline.clone(),
            command,
            verdicts,
            approval: None,
        })?;
        match decided {
            Some(Err(decided)) => {
                let text = reminders::denied_by_person(&decided.by, decided.reason());
                self.answer_not(
                    id,
                    &waiting,
                    NotPerformed { text, refusal: Some(refusal), mistake: false },
                )
            }
            Some(Ok(_)) | None => self.refuse(id, &waiting, &headline, &call, refusal),
        }
    }

    /// Checks what the model wrote.
    pub(crate) fn parse(
        &mut self,
        id: TaskId,
        brief: &Brief,
        waiting: &WaitingCall,
    ) -> Result<Result<Call, CallError>, Stop> {
        self.with_context(id, |context| dispatch::parse(&waiting.call, &brief.offered, context))
    }

    fn permitted(
        &mut self,
        id: TaskId,
        waiting: WaitingCall,
        headline: String,
        command: Option<String>,
        permit: Permit<Call>,
    ) -> Result<Option<Permitted>, Stop> {
        let (call, verdicts, approval) =
            (waiting.call.id.clone(), permit.verdicts().to_vec(), permit.approval().cloned());
        self.emit(Event::Judged { task: id, call, headline, command, verdicts, approval })?;
        self.note_paths(id, &permit.act().intents());
        Ok(Some(Permitted { waiting, permit }))
    }

    /// Returns the refusal of an edit that the mode's own restriction forbids; `None` where
    /// something else was wrong with the call.
    fn restriction(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
    ) -> Result<Option<(Intent, Box<Refusal>)>, Stop> {
        let Some((intent, reason)) =
            self.with_context(id, |context| dispatch::restricted(&waiting.call, context))?
        else {
            return Ok(None);
        };
        let verdict = Verdict::denied(intent.to_string(), reason);
        Ok(Some((
            intent,
            Box::new(Refusal { decision: Decision::Deny, verdicts: vec![verdict], hint: None }),
        )))
    }

    fn refuse(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        headline: &str,
        call: &Call,
        refusal: Box<Refusal>,
    ) -> Result<Option<Permitted>, Stop> {
        if refusal.decision == Decision::Hold
            && self.parts.run.policy.settings().on_hold == OnHold::Pause
        {
            return Err(self.hold(id, waiting, headline, call, &refusal)?);
        }
        let text = reminders::refused(&reasons(&refusal), refusal.hint.as_deref());
        self.answer_not(id, waiting, NotPerformed { text, refusal: Some(refusal), mistake: false })
    }

    pub(crate) fn answer_not(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        not: NotPerformed,
    ) -> Result<Option<Permitted>, Stop> {
        let observation = Observation {
            text: self.parts.run.redactor.redact(&not.text),
            is_error: true,
            ..Observation::default()
        };
        self.answered(id, waiting, observation, not.refusal, not.mistake)?;
        Ok(None)
    }

    pub(crate) fn answered(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
        refusal: Option<Box<Refusal>>,
        mistake: bool,
    ) -> Result<(), Stop> {
        let (call, tool) = (waiting.call.id.clone(), waiting.call.name.clone());
        let observation = self.task(id)?.with_room_for_images(observation);
        self.emit(Event::Answered { task: id, call, tool, observation, refusal, mistake })
    }

    /// Performs read-only calls side by side.
    fn read(
        &mut self,
        id: TaskId,
        reads: Vec<Permitted>,
        then: Option<Permitted>,
    ) -> Result<Work<'a>, Stop> {
        let (turn, tools) = (self.turn_span(id), self.tools(id)?);
        Ok(async move {
            let visible = tools.readable();
            let context = tools.context(&visible);
            let answers = futures::stream::iter(reads)
                .map(|read| {
                    let span = call_span(&turn, &read.waiting, &read.permit);
                    async move { (read.waiting, dispatch::perform(read.permit, context).await) }
                        .instrument(span)
                })
                .buffered(CONCURRENT_READS)
                .collect()
                .await;
            (id, Done::Read { answers, then: then.map(Box::new) })
        }
        .boxed_local())
    }

    fn with_context<T>(
        &mut self,
        id: TaskId,
        use_it: impl FnOnce(ToolContext<'_>) -> T,
    ) -> Result<T, Stop> {
        let tools = self.tools(id)?;
        let visible = tools.readable();
        Ok(use_it(tools.context(&visible)))
    }
}

/// Returns the next call to take: in order, `attempt_completion` last.
fn next_call(task: &TaskState, seen: &[&str]) -> Option<WaitingCall> {
    let open = || {
        task.waiting
            .iter()
            .filter(|waiting| waiting.answer.is_none() && !seen.contains(&waiting.call.id.as_str()))
    };
    open()
        .find(|waiting| !completes(waiting))
        .or_else(|| open().next().filter(|_| seen.is_empty()))
        .cloned()
}

fn completes(waiting: &WaitingCall) -> bool {
    ToolName::find(&waiting.call.name) == Some(ToolName::AttemptCompletion)
}

fn starts_task(waiting: &WaitingCall) -> bool {
    ToolName::find(tool::resolve(waiting.call.name.trim())) == Some(ToolName::NewTask)
}

/// Returns true for tools that would write, run or send a text with a hole in it where a secret
/// was.
fn writes(waiting: &WaitingCall) -> bool {
    let writers = [
        ToolName::WriteToFile,
        ToolName::ApplyDiff,
        ToolName::ApplyPatch,
        ToolName::GenerateImage,
        ToolName::ExecuteCommand,
        ToolName::WebFetch,
        ToolName::UseMcpTool,
        ToolName::AccessMcpResource,
    ];
    ToolName::find(tool::resolve(waiting.call.name.trim()))
        .is_some_and(|tool| writers.contains(&tool))
}

/// Returns why a call is not even looked at: cut short, with a secret in it, repeated too often, or
/// a completion beside calls that failed.
fn unfit(task: &TaskState, waiting: &WaitingCall) -> Option<NotPerformed> {
    let mistake = |text: String| Some(NotPerformed { text, refusal: None, mistake: true });
    let last = task.waiting.last().is_some_and(|last| last.call.id == waiting.call.id);
    match task.stop {
        StopReason::Length if last => return mistake(reminders::call_cut().to_owned()),
        StopReason::Filtered if last => return mistake(reminders::call_filtered().to_owned()),
        StopReason::End | StopReason::ToolUse | StopReason::Length | StopReason::Filtered => {}
    }
    if waiting.withheld && writes(waiting) {
        return mistake(WITHHELD.to_owned());
    }
    if let Some(cycle) = task.recent.repeats(&waiting.call) {
        return mistake(reminders::repeated(cycle, REPEAT_LIMIT));
    }
    let failed =
        task.waiting.iter().filter_map(|other| other.answer.as_ref()).any(|answer| answer.is_error);
    if completes(waiting) && failed {
        return mistake(reminders::completion_too_early().to_owned());
    }
    None
}

fn script_of(call: &Call) -> Option<String> {
    call.intents().into_iter().find_map(|intent| {
        if let Intent::Command(script) = intent { Some(script.text().to_owned()) } else { None }
    })
}

/// Returns what was refused and why, each with its rule, as part of a sentence.
pub(crate) fn reasons(refusal: &Refusal) -> String {
    let reason = |verdict: &Verdict| {
        let rule = verdict
            .rule()
            .map(|rule| format!(" (rule `{}`, {}:{})", rule.pattern, rule.origin, rule.line))
            .unwrap_or_default();
        format!("`{}`: {}{rule}", verdict.intent, verdict.reason())
    };
    refusal.verdicts.iter().map(reason).collect::<Vec<_>>().join("; ")
}
