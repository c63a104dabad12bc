//! One turn of a task: the budget is asked, the model is asked, its reply is written down and
//! charged.

use std::sync::Arc;

use tracing::Instrument;

use crate::session::event::Event;
use crate::session::in_flight::{CompletedRequest, InFlightRequest, ReplyCost};
use crate::session::live::Session;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;
use locum_base::chat::{Reply, StopReason, ToolCall};
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::{ModelError, ModelRequest};
use locum_modes::prompts::reminders;

impl<'a> Session<'a> {
    /// Asks the task's model for its next reply, or first for a summary where its window is full.
    pub(crate) fn ask(&mut self, id: TaskId) -> Result<(), Stop> {
        self.read_messages(id)?;
        if self.asks_start_hooks(id)? {
            return Ok(());
        }
        self.tell_asides(id)?;
        let system_prompt = self.system_prompt(id)?;
        let task = self.task(id)?;
        let (model, conversation) = (self.model_of(task), &task.conversation);
        let mut counted = self.counted.get(&id).copied().unwrap_or_default();
        let estimate_tokens =
            counted.context_tokens(conversation, model.tokenizer, system_prompt.size_tokens);
        self.counted.insert(id, counted);
        if let Some(left_out) = self.to_leave_out(id, estimate_tokens)? {
            return self.sum_up(id, left_out);
        }
        let task = self.task(id)?;
        let terms = RequestTerms {
            words_tokens: None,
            cached_tokens: task.conversation.cached_tokens(),
            cached_place: model.place_of(task.conversation.replied_by.as_deref()),
        };
        let in_flight =
            self.request(InFlightRequest { task: id, model, estimate_tokens }, terms)?;
        let messages = Arc::clone(&task.conversation.messages);
        let earlier = task.conversation.earlier;
        let (mode, turn) = (task.mode.clone(), earlier.turns.saturating_add(task.turn.number));
        let temperature = self.mode(&mode)?.temperature.map(|temperature| temperature.0);
        let span = self.turn_span(id);
        let reply = async move {
            let request = ModelRequest {
                system: &system_prompt.system,
                tools: &system_prompt.tools,
                temperature,
                earlier,
                ..ModelRequest::new(&messages, id, &mode, turn)
            };
            in_flight.whole(request).await
        };
        self.wait(id, reply.instrument(span), |session, answered| session.replied(answered));
        Ok(())
    }

    /// Writes a reply down and charges it, with what attempts before it used up.
    fn replied(&mut self, answered: CompletedRequest<'a>) -> Result<(), Stop> {
        let is_cut = answered.cut_at().is_some();
        let CompletedRequest { target, reply, lost, .. } = answered;
        let id = target.task;
        self.charge_lost(target, &lost)?;
        let reply = match reply {
            Err(ModelError::TooLong { .. }) if self.note_overflow(id)? => return Ok(()),
            reply => reply?,
        };
        self.overflows.remove(&id);
        if is_cut {
            self.cut_by_budget.insert(id);
        } else {
            self.cut_by_budget.remove(&id);
        }
        let (reply, withheld) = self.without_secrets(reply);
        let tokenizer = target.model.tokenizer_by(reply.by.as_deref());
        let cost = ReplyCost::of(&reply, target, accounting::estimate_reply(tokenizer, &reply));
        self.emit(Event::Replied {
            task: id,
            reply,
            charge: cost.counted,
            priced: !cost.unpriced,
            withheld,
        })
    }

    /// Says something to a reply that called no tool.
    pub(crate) fn nudge(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.task(id)?;
        let text = match task.turn.stop {
            StopReason::Length if self.cut_by_budget.contains(&id) => {
                reminders::REPLY_CUT_BY_BUDGET
            }
            StopReason::Length => reminders::REPLY_CUT,
            StopReason::Filtered => reminders::REPLY_FILTERED,
            StopReason::End | StopReason::ToolUse => reminders::NO_TOOL_CALLED,
        };
        let mistake = task.turn.toolless_in_a_row > 1;
        self.emit(Event::Reminded { task: id, text: text.to_owned(), mistake, about: None })
    }

    /// Takes secrets out of a reply; names the calls that held one.
    fn without_secrets(&self, reply: Reply) -> (Reply, Vec<String>) {
        let redactor = self.parts.run.redactor;
        let redact =
            |text: String| if redactor.finds_secret(&text) { redactor.redact(&text) } else { text };
        let holds = |call: &ToolCall| redactor.finds_secret(&call.arguments);
        let (mut calls, mut withheld) = (Vec::with_capacity(reply.calls.len()), Vec::new());
        for (index, call) in reply.calls.into_iter().enumerate() {
            // A name that held a secret still has to distinguish calls.
            let id = if redactor.finds_secret(&call.id) {
                format!("call-{index}")
            } else {
                call.id.clone()
            };
            if holds(&call) {
                withheld.push(id.clone());
            }
            calls.push(ToolCall { id, name: redact(call.name), arguments: redact(call.arguments) });
        }
        // What was signed cannot be mended: it goes as a whole.
        let opaque = reply.opaque.filter(|opaque| {
            !opaque.parts.iter().any(|part| redactor.finds_secret(&part.written()))
        });
        (
            Reply {
                opaque,
                text: redact(reply.text),
                reasoning: redact(reply.reasoning),
                calls,
                ..reply
            },
            withheld,
        )
    }
}
