//! Room in a model's window: a conversation that grows too long is summed up or, where nobody sums
//! it up, loses its beginning.
//!
//! In: a task that is about to ask its model, or whose model said that the conversation is too
//! long. Out: a work that asks for a summary, then the event that shortens the context. The journal
//! keeps every message; only what the model is sent gets shorter. Calls and their answers stay
//! together, and the task, its checklist, what the policy refused and which files were read last
//! stand in what is left.

use futures::FutureExt;
use tracing::Instrument;

use crate::session::Session;
use crate::session::event::{Event, Shortening};
use crate::session::stop::Stop;
use crate::session::work::{Done, Work};
use crate::tools::{Todo, TodoState};
use locum_base::chat::{Message, Usage};
use locum_base::id::TaskId;
use locum_models::ModelRequest;
use locum_models::accounting;
use locum_models::retry::Completed;
use locum_modes::prompts::condense::{self, Remembered};

/// Share of the window, in quarters, that a conversation may fill before it is shortened.
const FULL_QUARTERS: u64 = 3;
/// Most tokens of a summary.
const SUMMARY_LIMIT_TOKENS: u32 = 4096;
/// Fewest messages that are worth being left out.
const WORTH_MESSAGES: usize = 3;
/// Most bytes of files that stay as they were read.
const FILES_LIMIT_BYTES: usize = 32 * 1024;
/// How often in a row a conversation is shortened because its model says that it is too long.
const TIMES: u32 = 3;
/// Most refusals that are remembered.
const REFUSALS: usize = 20;
/// The mode that a request for a summary is told to be in.
const MODE: &str = "condense";

/// A model said that a conversation is too long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crowded {
    /// True until the conversation was shortened.
    is_told: bool,
    /// How often it said so in a row.
    times: u32,
}

impl<'a> Session<'a> {
    /// Returns the work that makes room for a task's next request; `None` when there is enough, or
    /// nothing that could be left out.
    pub(crate) fn make_room(
        &mut self,
        id: TaskId,
        estimate_tokens: u64,
    ) -> Result<Option<Work<'a>>, Stop> {
        let task = self.task(id)?;
        let own = self.model_of(task);
        let crowded = self.crowded.get(&id).copied().unwrap_or_default();
        let window = u64::from(own.context_window);
        if !crowded.is_told && estimate_tokens <= window / 4 * FULL_QUARTERS {
            return Ok(None);
        }
        // A quarter of the window, at four bytes a token; less each time that was not enough.
        let keep_bytes = usize::try_from(window).unwrap_or(usize::MAX).min(task.context_bytes / 2)
            >> crowded.times.saturating_sub(1).min(8);
        let Some(left_out) = cut(&task.messages, keep_bytes) else { return Ok(None) };
        let condenser = self.parts.condense.unwrap_or(own);
        let limit_bytes =
            usize::try_from(condenser.context_window).unwrap_or(usize::MAX).saturating_mul(2);
        let text = condense::request(
            &task.message,
            task.messages.get(..left_out).unwrap_or_default(),
            limit_bytes,
        );
        let estimate_tokens =
            accounting::estimate_ask(condenser.tokenizer, condense::SYSTEM, &text);
        self.afford(task, Usage { input: estimate_tokens, ..Usage::default() }, condenser.price)?;
        let (turn, asking) = (task.shortened, self.asking(id, condenser, estimate_tokens));
        Ok(Some(
            async move {
                let messages = [Message::User { text }];
                let request = ModelRequest {
                    system: condense::SYSTEM,
                    max_output_tokens: Some(SUMMARY_LIMIT_TOKENS),
                    ..ModelRequest::new(&messages, id, MODE, turn)
                };
                let summary = asking.whole(request).await;
                (id, Done::SummedUp { summary, left_out, estimate_tokens })
            }
            .instrument(tracing::info_span!(parent: &self.task_span(id), "condense"))
            .boxed_local(),
        ))
    }

    /// Shortens a task's conversation by what was summed up, or simply where nothing was.
    pub(crate) fn shorten(
        &mut self,
        id: TaskId,
        completed: Completed,
        left_out: usize,
        estimate_tokens: u64,
    ) -> Result<(), Stop> {
        let condenser = self.parts.condense.unwrap_or(self.model_of(self.task(id)?));
        let Completed { reply: summary, lost } = completed;
        self.charge_lost(id, condenser, &lost, estimate_tokens)?;
        let (summary, cost) = match summary {
            Ok(reply) => {
                let (price, estimated) = (condenser.price_of(&reply), reply.usage.is_none());
                let output = condenser.tokenizer_by(reply.by.as_deref()).tokens(&reply.text);
                let usage = reply.usage.unwrap_or_else(|| Usage {
                    input: estimate_tokens,
                    output,
                    ..Usage::default()
                });
                let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
                let text = self.parts.redactor.redact(reply.text.trim());
                (
                    Some(text).filter(|text| !text.is_empty()),
                    Some((usage, estimated || price.is_none(), cost_usd)),
                )
            }
            Err(err) => {
                tracing::warn!(%err, "the conversation was not summed up: its beginning is left out");
                (None, None)
            }
        };
        let task = self.task(id)?;
        let todos: Vec<String> = task.todos.iter().map(todo_line).collect();
        let refusals =
            self.state.refusals.iter().filter(|refused| refused.task == id).rev().take(REFUSALS);
        let mut refusals: Vec<String> = refusals
            .map(|refused| {
                let reason = refused
                    .refusal
                    .verdicts
                    .first()
                    .map(|verdict| verdict.reason())
                    .unwrap_or_default();
                format!("- {}: {reason}", refused.headline)
            })
            .collect();
        refusals.reverse();
        let messages = task.messages.get(..left_out).unwrap_or_default();
        let left_out_bytes: usize = messages.iter().map(Message::size_bytes).sum();
        let window_bytes =
            usize::try_from(self.model_of(task).context_window).unwrap_or(usize::MAX);
        // A sixteenth of the window, at four bytes a token, and never so much that it would not be
        // worth it; nothing where the model said it is too long.
        let is_told = self.crowded.get(&id).is_some_and(|crowded| crowded.is_told);
        let room_bytes = if is_told {
            0
        } else {
            FILES_LIMIT_BYTES.min(window_bytes / 4).min(left_out_bytes / 4)
        };
        let remembered = Remembered {
            task: &task.message,
            todos: &todos,
            refusals: &refusals,
            messages,
            room_bytes,
        };
        let text = condense::message(&remembered, summary.as_deref());
        let how = if summary.is_some() { Shortening::Condensed } else { Shortening::Truncated };
        let (usage, estimated, cost_usd) = cost.unwrap_or((Usage::default(), false, 0.0));
        if let Some(crowded) = self.crowded.get_mut(&id) {
            crowded.is_told = false;
        }
        self.emit(Event::Shortened { task: id, how, left_out, text, usage, estimated, cost_usd })
    }

    /// Notes that a task's model said that its conversation is too long; false when it was
    /// shortened for that too often, or cannot be.
    pub(crate) fn is_crowded(&mut self, id: TaskId) -> Result<bool, Stop> {
        let can_be_cut = cut(&self.task(id)?.messages, 0).is_some();
        let crowded = self.crowded.entry(id).or_default();
        crowded.is_told = true;
        crowded.times += 1;
        Ok(can_be_cut && crowded.times <= TIMES)
    }
}

/// Returns how many messages to leave out so that about `keep_bytes` stay: what stays begins with a
/// reply, so that no answer loses its call.
fn cut(messages: &[Message], keep_bytes: usize) -> Option<usize> {
    let begins_turn = |at: usize| matches!(messages.get(at), Some(Message::Assistant { .. }));
    let mut kept = 0;
    let mut found = None;
    for at in (WORTH_MESSAGES..messages.len()).rev() {
        kept += messages.get(at).map_or(0, Message::size_bytes);
        if begins_turn(at) {
            // The last turn stays, however long it is.
            if kept > keep_bytes && found.is_some() {
                break;
            }
            found = Some(at);
        }
    }
    found
}

fn todo_line(todo: &Todo) -> String {
    let mark = match todo.state {
        TodoState::Pending => ' ',
        TodoState::Started => '-',
        TodoState::Done => 'x',
    };
    format!("- [{mark}] {}", todo.text)
}

#[cfg(test)]
mod tests {
    use super::cut;
    use locum_base::chat::{Message, ToolCall, ToolResult};
    use pretty_assertions::assert_eq;

    /// A conversation of turns with one call each, whose answers have this many bytes.
    fn turns(answers: &[usize]) -> Vec<Message> {
        let mut messages = vec![Message::User { text: "go".into() }];
        for size in answers {
            let calls = vec![ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() }];
            messages.push(Message::Assistant {
                text: String::new(),
                reasoning: String::new(),
                calls,
                kept: None,
            });
            let result = ToolResult {
                call_id: "c".into(),
                text: "x".repeat(*size),
                ..ToolResult::default()
            };
            messages.push(Message::Tool { results: vec![result] });
        }
        messages
    }

    #[test]
    fn what_stays_begins_with_a_reply_and_fits() {
        for (answers, keep_bytes, left_out) in [
            (&[100, 100, 100, 100][..], 1000, Some(3)),
            (&[100, 100, 100, 100], 250, Some(5)),
            (&[100, 100, 100, 100], 0, Some(7)),
            (&[100, 100, 100, 9000], 250, Some(7)),
            (&[100, 100], 0, Some(3)),
            (&[100], 0, None),
            (&[], 0, None),
        ] {
            let messages = turns(answers);
            assert_eq!(cut(&messages, keep_bytes), left_out, "{answers:?} {keep_bytes}");
            if let Some(at) = left_out {
                assert!(matches!(messages[at], Message::Assistant { .. }));
            }
        }
    }
}
