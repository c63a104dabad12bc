//! Room in a model's window: the beginning of a conversation that grows too long is summed up or,
//! where there is no summary, left out (compaction).
//!
//! In: a task that is about to ask its model, or whose model said that the conversation is too
//! long. Out: a request for a summary, then the event that compacts the context. The journal
//! keeps every message; only what the model is sent gets shorter. Calls and their answers stay
//! together, and the task, its checklist, what the policy refused and which files were read last
//! stand in what is left.

use tracing::Instrument;

use crate::session::compaction;
use crate::session::event::Event;
use crate::session::in_flight::{CompletedRequest, InFlightRequest, ReplyCost};
use crate::session::live::Session;
use crate::session::outcome::RefusedCall;
use crate::session::recorded::CompactionKind;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;
use crate::session::task::TaskState;
use crate::session::task::conversation::Conversation;
use crate::tools::Todo;
use locum_base::chat::{Message, StopReason};
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::{ModelError, ModelRequest};
use locum_modes::prompts::condense::{self, CompactionMemory};
use locum_policy::verdict::Verdict;

/// Most tokens of the words of a summary.
const SUMMARY_LIMIT_TOKENS: u32 = 4096;
/// Most bytes of files that stay as they were read.
const FILES_LIMIT_BYTES: usize = 32 * 1024;
/// Most refusals that are remembered, each told once.
const REFUSALS: usize = 20;
/// Most changed files that are named.
const CHANGED: usize = 50;
/// The mode of a request for a summary, by which a script or cassette finds it.
const MODE: &str = "condense";

impl<'a> Session<'a> {
    /// Returns how many messages a task's conversation has to lose before its next request; `None`
    /// when there is room enough, or nothing that could be left out.
    pub(crate) fn to_leave_out(
        &self,
        id: TaskId,
        estimate_tokens: u64,
    ) -> Result<Option<usize>, Stop> {
        let task = self.task(id)?;
        let overflow = self.overflows.get(&id).copied().unwrap_or_default();
        let model = self.model_of(task);
        let window = u64::from(model.context_window);
        let full = window.saturating_mul(model.condense_percent.into()) / 100;
        if !overflow.is_open && estimate_tokens <= full {
            return Ok(None);
        }
        let Conversation { messages, size_bytes, .. } = &task.conversation;
        // A quarter of the window, at four bytes a token; less each time that was not enough.
        let keep_bytes = usize::try_from(window).unwrap_or(usize::MAX).min(size_bytes / 2)
            >> overflow.times.saturating_sub(1).min(8);
        Ok(compaction::cut(messages, keep_bytes))
    }

    /// Requests a summary of the first messages of a task's conversation.
    pub(crate) fn sum_up(&mut self, id: TaskId, left_out: usize) -> Result<(), Stop> {
        let model = self.parts.models.condense.unwrap_or(self.model_of(self.task(id)?));
        self.sum_up_within(id, left_out, model.context_window)
    }

    /// The same of a conversation cut to what fits this window.
    fn sum_up_within(&mut self, id: TaskId, left_out: usize, window: u32) -> Result<(), Stop> {
        let task = self.task(id)?;
        let model = self.parts.models.condense.unwrap_or(self.model_of(task));
        let limit_bytes = usize::try_from(window).unwrap_or(usize::MAX).saturating_mul(2);
        let messages = task.conversation.messages.get(..left_out).unwrap_or_default();
        let changed = changed_files(task);
        let text = condense::request(&task.message, &changed, messages, limit_bytes);
        let estimate_tokens = accounting::estimate_ask(model.tokenizer, condense::SYSTEM, &text);
        let turn = task.conversation.compactions;
        let target = InFlightRequest { task: id, model, estimate_tokens };
        let in_flight = self.request(target, RequestTerms::of_words(SUMMARY_LIMIT_TOKENS))?;
        let summary = async move {
            let messages = [Message::User { text }];
            let request = ModelRequest {
                system: condense::SYSTEM,
                ..ModelRequest::new(&messages, id, MODE, turn)
            };
            in_flight.whole(request).await
        };
        let span = tracing::info_span!(parent: &self.task_span(id), "condense");
        self.wait(id, summary.instrument(span), move |session, summary| {
            session.summed_up(summary, left_out, window)
        });
        Ok(())
    }

    /// Puts a summary in place of the first messages of a conversation, or leaves them out where
    /// there is none. A request that was too long for a model with a smaller window than this is
    /// sent once more.
    fn summed_up(
        &mut self,
        answered: CompletedRequest<'a>,
        left_out: usize,
        window: u32,
    ) -> Result<(), Stop> {
        let cut_at = answered.cut_at();
        let CompletedRequest { target, reply, lost, .. } = answered;
        let id = target.task;
        self.charge_lost(target, &lost)?;
        let smallest = target.model.chain().map(|model| model.context_window).min();
        if let Some(smaller) = smallest.filter(|smallest| *smallest < window)
            && matches!(reply, Err(ModelError::TooLong { .. }))
        {
            return self.sum_up_within(id, left_out, smaller);
        }
        match reply {
            Ok(reply) => {
                let tokenizer = target.model.tokenizer_by(reply.by.as_deref());
                let cost = ReplyCost::of(&reply, target, tokenizer.tokens(&reply.text));
                let text = self.parts.run.redactor.redact(reply.text.trim());
                if !text.is_empty() {
                    return self.compact(id, left_out, Some(&text), cost);
                }
                let why = no_words(reply.stop, cut_at);
                tracing::warn!(why, "no summary: the conversation loses its beginning");
                self.compact(id, left_out, None, cost)?;
                self.note_no_summary(id, left_out, &why)
            }
            Err(err) => {
                tracing::warn!(%err, "no summary: the conversation loses its beginning");
                self.compact(id, left_out, None, ReplyCost::default())?;
                self.note_no_summary(id, left_out, &err.to_string())
            }
        }
    }

    /// Notes for the readers of the outcome why a conversation lost its beginning.
    fn note_no_summary(&mut self, id: TaskId, left_out: usize, why: &str) -> Result<(), Stop> {
        let text = format!(
            "The first {left_out} messages of task {id}'s context were left out without a \
             summary: {}.",
            why.trim_end_matches('.')
        );
        self.note_once(id, text)
    }

    /// Puts a summary in place of the first messages of a conversation, or leaves them out where
    /// there is none.
    fn compact(
        &mut self,
        id: TaskId,
        left_out: usize,
        summary: Option<&str>,
        cost: ReplyCost,
    ) -> Result<(), Stop> {
        let text = self.what_stays(id, left_out, summary)?;
        if let Some(overflow) = self.overflows.get_mut(&id) {
            overflow.is_open = false;
        }
        self.emit(Event::Compacted {
            task: id,
            how: if summary.is_some() {
                CompactionKind::Condensed
            } else {
                CompactionKind::Truncated
            },
            left_out,
            text,
            charge: cost.charge(),
        })
    }

    /// Returns the text that replaces messages that are left out.
    fn what_stays(
        &self,
        id: TaskId,
        left_out: usize,
        summary: Option<&str>,
    ) -> Result<String, Stop> {
        let task = self.task(id)?;
        let todos: Vec<String> = task.todos.iter().map(Todo::line).collect();
        let refused = self.state.refusals.iter().filter(|refused| refused.task == id);
        let refusals = refused_once(refused);
        let changed = changed_files(task);
        let messages = task.conversation.messages.get(..left_out).unwrap_or_default();
        let left_out_bytes: usize = messages.iter().map(Message::size_bytes).sum();
        let window_bytes =
            usize::try_from(self.model_of(task).context_window).unwrap_or(usize::MAX);
        // A sixteenth of the window, at four bytes a token, and never so much that it would not be
        // worth it; nothing where the model said it is too long.
        let room_bytes = if self.overflows.get(&id).is_some_and(|overflow| overflow.is_open) {
            0
        } else {
            FILES_LIMIT_BYTES.min(window_bytes / 4).min(left_out_bytes / 4)
        };
        let remembered = CompactionMemory {
            task: &task.message,
            todos: &todos,
            refusals: &refusals,
            changed: &changed,
            messages,
            room_bytes,
        };
        Ok(condense::message(&remembered, summary))
    }

    /// Notes that a task's model refused its conversation as too long; false when that happened too
    /// often, or nothing can be left out.
    pub(crate) fn note_overflow(&mut self, id: TaskId) -> Result<bool, Stop> {
        let can_be_cut = compaction::cut(&self.task(id)?.conversation.messages, 0).is_some();
        Ok(self.overflows.entry(id).or_default().note() && can_be_cut)
    }
}

/// Returns why a reply that came whole has no words.
fn no_words(stop: StopReason, cut_at: Option<u32>) -> String {
    match (stop, cut_at) {
        (StopReason::Length, Some(limit)) => {
            format!("its model thought until the limit of {limit} tokens and wrote nothing")
        }
        (StopReason::Length, None) => {
            "its model thought until its output limit and wrote nothing".to_owned()
        }
        (StopReason::Filtered, _) => "the provider's filter stopped it".to_owned(),
        (StopReason::End | StopReason::ToolUse, _) => "its model wrote nothing".to_owned(),
    }
}

/// Returns the last refusals, one line each; what was refused several times is counted.
fn refused_once<'r>(refused: impl DoubleEndedIterator<Item = &'r RefusedCall>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for refused in refused.rev() {
        let reason = refused.refusal.verdicts.first().map(Verdict::reason).unwrap_or_default();
        let line = format!("- {}: {reason}", refused.headline);
        match counted.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => counted.push((line, 1)),
        }
    }
    counted.truncate(REFUSALS);
    counted.reverse();
    let line = |(line, times): (String, usize)| {
        if times == 1 { line } else { format!("{line} ({times} times)") }
    };
    counted.into_iter().map(line).collect()
}

/// Returns the files that a task and its sub-tasks changed, one line each.
fn changed_files(task: &TaskState) -> Vec<String> {
    let mut lines: Vec<String> =
        task.touched.iter().take(CHANGED).map(|path| format!("- {path}")).collect();
    if let Some(more) = task.touched.len().checked_sub(CHANGED).filter(|more| *more > 0) {
        lines.push(format!("- and {more} more"));
    }
    lines
}
