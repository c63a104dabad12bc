//! One turn of a task: the budget is asked, the model is asked, its reply is written down and
//! charged.

use std::sync::Arc;

use futures::FutureExt;
use tracing::Instrument;

use crate::session::Session;
use crate::session::event::Event;
use crate::session::model::TaskModel;
use crate::session::stop::Stop;
use crate::session::task::TaskState;
use crate::session::work::{Done, Work};
use locum_base::chat::{Reply, StopReason, ToolCall, Usage};
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::profile::Price;
use locum_models::retry::{Completed, LostAttempt};
use locum_models::{ModelError, ModelRequest};
use locum_modes::prompts::reminders;

impl<'a> Session<'a> {
    /// Asks the task's model for its next reply.
    pub(crate) fn ask(&mut self, id: TaskId) -> Result<Work<'a>, Stop> {
        self.tell_asides(id)?;
        let brief = self.brief(id)?;
        let estimate_tokens = self.context_tokens(id, &brief)?;
        if let Some(work) = self.make_room(id, estimate_tokens)? {
            return Ok(work);
        }
        let task = self.task(id)?;
        let used = self.model_of(task);
        let cached_read = task.measured.map_or(0, |measured| measured.tokens);
        self.afford(
            task,
            Usage { input: estimate_tokens, cached_read, ..Usage::default() },
            used.price,
        )?;
        let asking = self.asking(id, used, estimate_tokens);
        let (messages, mode, turn) = (Arc::clone(&task.messages), task.mode.clone(), task.turns);
        let span = self.turn_span(id);
        let temperature = self.mode(&mode)?.temperature.map(|temperature| temperature.0);
        Ok(async move {
            let request = ModelRequest {
                system: &brief.system,
                messages: &messages,
                tools: &brief.tools,
                max_output_tokens: None,
                temperature,
                task: id,
                mode: &mode,
                turn,
                picture: None,
            };
            (id, Done::Replied { reply: asking.whole(request).await, estimate_tokens })
        }
        .instrument(span)
        .boxed_local())
    }

    /// Asks budget and ceilings for a request of about this size. What was sent before is taken for
    /// cached, so that a run is not stopped early.
    pub(crate) fn afford(
        &self,
        task: &TaskState,
        estimate: Usage,
        price: Option<Price>,
    ) -> Result<(), Stop> {
        let estimate_usd = price.map_or(0.0, |price| accounting::cost(estimate, price));
        task.budget.ask_turn(&task.spent, estimate.input, estimate_usd)?;
        let run = self.state.root().unwrap_or(task);
        Ok(self.parts.allowance.ask(&run.spent, estimate.input, estimate_usd)?)
    }

    /// Charges attempts that broke midway: by what the provider said, else by an estimate.
    pub(crate) fn charge_lost(
        &mut self,
        id: TaskId,
        used: TaskModel<'_>,
        lost: &[LostAttempt],
        estimate_tokens: u64,
    ) -> Result<(), Stop> {
        for attempt in lost {
            let by = attempt.by.as_deref();
            let output =
                used.tokenizer_by(by).tokens(&attempt.text).saturating_add(attempt.other_tokens);
            let estimate = Usage { input: estimate_tokens, output, ..Usage::default() };
            // A provider says what it read at the beginning and what it wrote at the end, which did
            // not come.
            let usage = attempt
                .usage
                .map_or(estimate, |said| Usage { output: said.output.max(output), ..said });
            let price = used.price_by(by);
            let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
            self.emit(Event::ReplyLost { task: id, usage, estimated: true, cost_usd })?;
        }
        Ok(())
    }

    /// Writes a reply down and charges it, with what attempts before it used up.
    pub(crate) fn replied(
        &mut self,
        id: TaskId,
        completed: Completed,
        estimate_tokens: u64,
    ) -> Result<(), Stop> {
        let Completed { reply, lost } = completed;
        self.charge_lost(id, self.model_of(self.task(id)?), &lost, estimate_tokens)?;
        let reply = match reply {
            Err(ModelError::TooLong { .. }) if self.is_crowded(id)? => return Ok(()),
            reply => reply?,
        };
        self.crowded.remove(&id);
        let used = self.model_of(self.task(id)?);
        let (price, tokenizer) = (used.price_of(&reply), used.tokenizer_by(reply.by.as_deref()));
        let (reply, withheld) = self.without_secrets(reply);
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: estimate_tokens,
            output: accounting::estimate_reply(tokenizer, &reply),
            ..Usage::default()
        });
        let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
        let estimated = reply.usage.is_none();
        self.emit(Event::Replied {
            task: id,
            reply,
            usage,
            estimated,
            cost_usd,
            priced: price.is_some(),
            withheld,
        })
    }

    /// Says something to a reply that called no tool.
    pub(crate) fn remind(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.task(id)?;
        let text = match task.stop {
            StopReason::Length => reminders::reply_cut(),
            StopReason::Filtered => reminders::reply_filtered(),
            StopReason::End | StopReason::ToolUse => reminders::no_tool_called(),
        };
        let mistake = task.toolless_in_a_row > 1;
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
            // A name that held a secret still has to tell calls apart.
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
        let kept = reply
            .kept
            .filter(|kept| !kept.parts.iter().any(|part| redactor.finds_secret(&part.written())));
        (
            Reply {
                kept,
                text: redact(reply.text),
                reasoning: redact(reply.reasoning),
                calls,
                ..reply
            },
            withheld,
        )
    }
}
