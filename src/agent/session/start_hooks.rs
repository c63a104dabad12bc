//! Hooks of the trusted ref before the first request of a session, of a prompt and of a sub-task.
//!
//! In: a task that is about to ask its model. Out: what the hooks print, as text for the model, or
//! the end of the run where one is against its prompt. What hooks said stands in the journal, so
//! that a resumed session asks about each prompt once.

use crate::session::event::Event;
use crate::session::hook_runs::{HookAsker, HookQuestion, HooksEnd, HooksSaid};
use crate::session::live::Session;
use crate::session::outcome::OutcomeWord;
use crate::session::stop::Stop;
use crate::session::task::TaskState;
use crate::tools::hooks::HookEvent;
use crate::tools::hooks::question::SubAgent;
use locum_base::id::TaskId;
use locum_modes::prompts::reminders;

impl<'a> Session<'a> {
    /// Lets a task wait for the next hooks that are due before its request; false where none are.
    /// Hooks about the session come first, whichever task is the first to ask a model, and no step
    /// is taken until they have answered.
    pub(crate) fn asks_start_hooks(&mut self, id: TaskId) -> Result<bool, Stop> {
        let Some(asker) = self.hook_asker() else { return Ok(false) };
        let of_session = self.session_question(&asker);
        let is_of_session = of_session.is_some();
        let due = match of_session {
            Some(question) => Some((question, TaskId::default())),
            None => self.agent_question(id, &asker)?.map(|question| (question, id)),
        };
        let Some((question, in_mode_of)) = due else { return Ok(false) };
        let (env, event) = (self.ready_for_hooks(in_mode_of)?, question.event());
        self.only_hooks = is_of_session;
        let asked = async move { asker.ask(&env, &question).await };
        self.wait(id, asked, move |session, said| {
            session.only_hooks = false;
            session.start_hooks_said(id, event, said)
        });
        Ok(true)
    }

    /// Returns what hooks are to be asked next about the session.
    fn session_question(&self, asker: &HookAsker<'a>) -> Option<HookQuestion<'static>> {
        let history = &self.state.hooks;
        let is_asked = |source: &_| asker.has_for(HookEvent::SessionStart, source);
        if let Some(source) = history.source.filter(|source| is_asked(source.as_str())) {
            return Some(HookQuestion::Begins(source));
        }
        let has_prompt_hooks = asker.has(HookEvent::UserPromptSubmit, None);
        let prompt = history.prompts.front().filter(|_| has_prompt_hooks);
        prompt.cloned().map(HookQuestion::Prompt)
    }

    /// Returns what hooks are to be asked about a sub-task that begins.
    fn agent_question(
        &self,
        id: TaskId,
        asker: &HookAsker<'a>,
    ) -> Result<Option<HookQuestion<'static>>, Stop> {
        let task = self.task(id)?;
        let agent = sub_agent(task);
        let is_due = task.parent.is_some()
            && task.turn.number == 0
            && !self.state.hooks.begun.contains(&id)
            && asker.has_for(HookEvent::SubagentStart, &agent.kind);
        Ok(is_due.then_some(HookQuestion::AgentBegins(agent)))
    }

    /// Gives the model what hooks said, or ends the run where one is against the prompt.
    fn start_hooks_said(
        &mut self,
        id: TaskId,
        event: HookEvent,
        mut said: HooksSaid,
    ) -> Result<(), Stop> {
        let (end, says) = (std::mem::take(&mut said.end), std::mem::take(&mut said.says));
        let against = match end {
            HooksEnd::Free => None,
            HooksEnd::Asked(why) | HooksEnd::Blocked(why) => Some(why),
        };
        self.record_hooks(id, "", event, (said, against.is_some()))?;
        if let Some(why) = against {
            let why = self.parts.run.redactor.redact(&why);
            let reason = format!("the prompt was not given to the model: {why}");
            return Err(Stop::session(OutcomeWord::Refused, reason));
        }
        for said in says {
            let text = reminders::context_of_hook(&self.parts.run.redactor.redact(&said));
            self.emit(Event::Reminded { task: id, text, mistake: false, about: None })?;
        }
        Ok(())
    }
}

/// Returns a sub-task as hooks know it: its kind is its mode.
pub(crate) fn sub_agent(task: &TaskState) -> SubAgent {
    SubAgent { id: format!("task-{}", task.id), kind: task.mode.clone() }
}
