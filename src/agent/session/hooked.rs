//! Hooks of the trusted ref around calls and before the end of a task.
//!
//! In: calls that the policy permits, answers, a completion. Out: the same, or what a hook says
//! against it. What hooks said stands in the journal. After a kill, hooks are asked again about a
//! call that had not begun.

use crate::session::event::Event;
use crate::session::hook_runs::{HookAsker, HookQuestion, HooksEnd, HooksSaid};
use crate::session::judged::{PermittedCall, whole};
use crate::session::live::Session;
use crate::session::pause::HoldDecision;
use crate::session::start_hooks::sub_agent;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::session::task_env::TaskEnv;
use crate::tools::Observation;
use crate::tools::dispatch;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::hooks::HookEvent;
use crate::tools::hooks::question::{CallFiles, HookedCall};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::prompts::reminders;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Cause, Decision, Refusal, RefusedBy, Verdict};

/// Times that hooks are asked whether the task may end; the last time their no is only noted.
const END_LIMIT: u32 = 3;

/// A permitted call, and what hooks said of it.
struct GuardedCall {
    permitted: PermittedCall,
    /// Whether it is one of the calls that are performed side by side.
    in_group: bool,
    said: HooksSaid,
}

impl<'a> Session<'a> {
    /// Returns who asks hooks; `None` where there are none.
    pub(crate) fn hook_asker(&self) -> Option<HookAsker<'a>> {
        let hooks = self.parts.hooks;
        (!hooks.is_empty()).then(|| HookAsker {
            hooks,
            session: self.start().id.clone(),
            trusted: self.parts.trusted,
        })
    }

    /// Asks the hooks for these calls, and performs those that none is against.
    pub(crate) fn guard(
        &mut self,
        id: TaskId,
        group: Vec<PermittedCall>,
        alone: Option<PermittedCall>,
    ) -> Result<(), Stop> {
        let Some(asker) = self.hook_asker() else { return self.perform_all(id, group, alone) };
        let env = self.task_env(id)?;
        let is_due = |permitted: &PermittedCall| {
            let waiting = &permitted.waiting;
            let begun = waiting.hooked || waiting.performing.is_some();
            !begun && asker.has(HookEvent::PreToolUse, hooked_call(&env, permitted).as_ref())
        };
        if !group.iter().chain(&alone).any(is_due) {
            return self.perform_all(id, group, alone);
        }
        let due: Vec<bool> = group.iter().chain(&alone).map(is_due).collect();
        let env = self.ready_for_hooks(id)?;
        let calls = group.into_iter().map(|call| (call, true));
        let calls = calls.chain(alone.map(|call| (call, false))).zip(due);
        let calls: Vec<((PermittedCall, bool), bool)> = calls.collect();
        let asked = async move {
            let mut guarded = Vec::new();
            for ((permitted, in_group), is_due) in calls {
                let said = match hooked_call(&env, &permitted).filter(|_| is_due) {
                    Some(call) => asker.ask(&env, &HookQuestion::Before(&call)).await,
                    None => HooksSaid::default(),
                };
                guarded.push(GuardedCall { permitted, in_group, said });
            }
            guarded
        };
        self.wait(id, asked, move |session, guarded| session.guarded(id, guarded));
        Ok(())
    }

    /// Performs the calls that no hook is against, and answers the others.
    fn guarded(&mut self, id: TaskId, calls: Vec<GuardedCall>) -> Result<(), Stop> {
        let (mut group, mut alone) = (Vec::new(), None);
        for GuardedCall { permitted, in_group, said } in calls {
            match self.unless_blocked(id, permitted, said)? {
                Some(permitted) if in_group => group.push(permitted),
                Some(permitted) => alone = Some(permitted),
                None => {}
            }
        }
        self.perform_all(id, group, alone)
    }

    /// Returns a call that may be performed; answers it otherwise.
    ///
    /// # Errors
    /// Also where a person has to decide first.
    fn unless_blocked(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
        mut said: HooksSaid,
    ) -> Result<Option<PermittedCall>, Stop> {
        let end = std::mem::take(&mut said.end);
        let says = std::mem::take(&mut said.says);
        let stops = end != HooksEnd::Free;
        let call = permitted.waiting.call.id.clone();
        self.record_hooks(id, &call, HookEvent::PreToolUse, (said, stops))?;
        for text in says {
            let text = self.parts.run.redactor.redact(&text);
            self.emit(Event::Reminded { task: id, text, mistake: false, about: None })?;
        }
        let (decision, why) = match end {
            HooksEnd::Free => return Ok(Some(permitted)),
            // A person looked at it.
            HooksEnd::Asked(_) if permitted.permit.approval().is_some() => {
                return Ok(Some(permitted));
            }
            HooksEnd::Asked(why) => (Decision::Hold, why),
            HooksEnd::Blocked(why) => (Decision::Deny, why),
        };
        let act = permitted.permit.act().clone();
        let refusal = refusal_by_hook(&act.intents(), decision, &why);
        if decision == Decision::Hold {
            match self.decision_on(id, &permitted.waiting, &refusal) {
                Some(HoldDecision::Approved(_)) => return Ok(Some(permitted)),
                Some(HoldDecision::Denied(decided)) => {
                    let text = reminders::denied_by_person(&decided.by, decided.reason());
                    let refusal = whole(refusal, permitted.refused);
                    let refusal = refusal.by_person(&decided.by, decided.reason());
                    let not = Observation::refused(text, Box::new(refusal));
                    self.answer_not(id, &permitted.waiting, not)?;
                    return Ok(None);
                }
                None if self.pauses() => {
                    return Err(self.hold(id, &permitted.waiting, &act, &refusal));
                }
                None => {}
            }
        }
        let text = reminders::blocked_by_hook(&why);
        let refusal = Box::new(whole(refusal, permitted.refused));
        self.answer_not(id, &permitted.waiting, Observation::refused(text, refusal))?;
        Ok(None)
    }

    /// Writes down what hooks said; what readers have to know, once.
    pub(crate) fn record_hooks(
        &mut self,
        id: TaskId,
        call: &str,
        event_name: HookEvent,
        (said, stops): (HooksSaid, bool),
    ) -> Result<(), Stop> {
        let HooksSaid { reports: hooks, notes, .. } = said;
        if !hooks.is_empty() {
            let call = call.to_owned();
            self.emit(Event::HooksRan { task: id, call, event_name, hooks, stops })?;
        }
        for text in notes {
            self.note_once(id, text)?;
        }
        Ok(())
    }

    /// Returns the surroundings of a task in which hooks run.
    pub(crate) fn ready_for_hooks(&mut self, id: TaskId) -> Result<TaskEnv<'a>, Stop> {
        if self.begin_layer(id)? {
            self.leave_unjudged(id)?;
        }
        self.task_env(id)
    }

    /// Returns who asks hooks about the answers to some calls; `None` where no hook is for them.
    pub(crate) fn follower(
        &mut self,
        id: TaskId,
        calls: &[&WaitingCall],
    ) -> Result<Option<HookAsker<'a>>, Stop> {
        let Some(asker) = self.hook_asker().filter(|_| !self.ending) else { return Ok(None) };
        let env = self.task_env(id)?;
        let is_followed = |waiting: &&WaitingCall| {
            let call = HookedCall::of(&waiting.call, CallFiles::default(), &env.seen_root());
            asker.has(HookEvent::PostToolUse, call.as_ref()) && call.is_some()
        };
        Ok(calls.iter().any(is_followed).then_some(asker))
    }

    /// Makes the layer ready for hooks that follow a call which does not write to it.
    pub(crate) fn prepare_hooks(&mut self, id: TaskId) -> Result<(), Stop> {
        self.ready_for_hooks(id).map(drop)
    }

    /// Answers a call that was performed and of which nothing is left in the layer, after the hooks
    /// that follow it.
    pub(crate) fn answer_followed(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<(), Stop> {
        let Some(asker) = self.follower(id, &[waiting])? else {
            return self.answer(id, waiting, observation);
        };
        let (env, waiting) = (self.ready_for_hooks(id)?, waiting.clone());
        let followed = async move {
            let (observation, said) = follow(&asker, &env, &waiting, observation).await;
            (waiting, observation, said)
        };
        self.wait(id, followed, move |session, (waiting, observation, said)| {
            let call = &waiting.call.id;
            session.record_hooks(id, call, HookEvent::PostToolUse, (said, false))?;
            session.answer(id, &waiting, observation)
        });
        Ok(())
    }

    /// Whether hooks have to be asked whether the task may end with this completion.
    pub(crate) fn may_hooks_stop(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        status: CompletionStatus,
    ) -> Result<bool, Stop> {
        let task = self.task(id)?;
        let is_asked = task.turn.call(&waiting.call.id).is_some_and(|waiting| waiting.hooked);
        let Some(asker) = self.hook_asker() else { return Ok(false) };
        if status == CompletionStatus::Failed || is_asked {
            return Ok(false);
        }
        if task.parent.is_some() {
            return Ok(asker.has_for(HookEvent::SubagentStop, &task.mode));
        }
        let checked = &self.state.checked;
        Ok(checked.under_way.is_none()
            && checked.decided.is_none()
            && asker.has(HookEvent::Stop, None))
    }

    /// Asks hooks whether the task may end, and completes it, or answers why not.
    pub(crate) fn complete_unless_stopped(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<(), Stop> {
        let Some(asker) = self.hook_asker() else { return Ok(()) };
        let (env, waiting) = (self.ready_for_hooks(id)?, waiting.clone());
        let times = self.state.hooks.kept_from_ending(id);
        let task = self.task(id)?;
        let question = match task.parent {
            Some(_) => HookQuestion::AgentEnds(sub_agent(task), times > 0),
            None => HookQuestion::End(times > 0),
        };
        let event = question.event();
        let asked = async move { asker.ask(&env, &question).await };
        self.wait(id, asked, move |session, mut said| {
            let end = std::mem::take(&mut said.end);
            let call = waiting.call.id.clone();
            let (HooksEnd::Asked(why) | HooksEnd::Blocked(why)) = end else {
                session.record_hooks(id, &call, event, (said, false))?;
                return session.complete(id, &waiting, observation);
            };
            let stops = times.saturating_add(1) < END_LIMIT && session.may_repair(id)?;
            if !stops {
                said.notes.push(format!("The task ended although {why}."));
            }
            session.record_hooks(id, &call, event, (said, stops))?;
            if stops {
                let text = reminders::kept_by_hook(&why);
                return session.answer_not(id, &waiting, Observation::failed(text));
            }
            session.complete(id, &waiting, observation)
        });
        Ok(())
    }
}

/// Returns a call as hooks know it: a file that it names by a link is asked about by both paths.
fn hooked_call(env: &TaskEnv<'_>, permitted: &PermittedCall) -> Option<HookedCall> {
    let (mut edited, mut read) = (Vec::new(), Vec::new());
    for intent in permitted.permit.act().intents() {
        if let Intent::Edit(path) = intent {
            edited.push(path);
        } else if let Intent::Read(path) = intent {
            read.push(path);
        }
    }
    let call = &permitted.waiting.call;
    let places = env.with(|context| dispatch::edited_places(call, context));
    let linked = places.into_iter().filter(|place| edited.contains(&place.real));
    let linked: Vec<RepoPath> = linked.map(|place| place.asked).collect();
    for path in linked {
        if !edited.contains(&path) {
            edited.push(path);
        }
    }
    HookedCall::of(call, CallFiles { edited: &edited, read: &read }, &env.seen_root())
}

/// Asks the hooks that follow a call; returns its answer with what they say.
pub(crate) async fn follow(
    asker: &HookAsker<'_>,
    env: &TaskEnv<'_>,
    waiting: &WaitingCall,
    observation: Observation,
) -> (Observation, HooksSaid) {
    let files = CallFiles { edited: &observation.touched, read: &[] };
    let call = HookedCall::of(&waiting.call, files, &env.seen_root());
    let Some(call) = call.filter(|_| !observation.is_error) else {
        return (observation, HooksSaid::default());
    };
    let mut said = asker.ask(env, &HookQuestion::After(&call, &observation)).await;
    let mut text = observation.text.clone();
    let against = match std::mem::take(&mut said.end) {
        HooksEnd::Free => None,
        HooksEnd::Asked(why) | HooksEnd::Blocked(why) => Some(reminders::followed_by_hook(&why)),
    };
    for said in std::mem::take(&mut said.says).into_iter().chain(against) {
        text.push_str(&format!("\n\n{}", env.run.redactor.redact(&said)));
    }
    (Observation { text, ..observation }, said)
}

/// Returns the refusal of a call that a hook is against.
fn refusal_by_hook(intents: &[Intent], decision: Decision, why: &str) -> Refusal {
    let verdict = |intent: &Intent| Verdict {
        decision,
        intent: intent.to_string(),
        cause: Cause::Check { said: why.to_owned() },
    };
    let verdicts: Vec<Verdict> = intents.iter().take(1).map(verdict).collect();
    Refusal { decision, verdicts, hint: None, by: RefusedBy::Policy }
}
