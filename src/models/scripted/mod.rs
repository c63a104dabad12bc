//! `ScriptedModel`: replies from a file instead of a model, for jobs of fixed steps, demonstrations
//! and tests of modes and policies.
//!
//! In: a checked [`ModelScript`] and requests. Out: the reply the script has for the task's mode,
//! its first message in this run and the turn of this run. It keeps no state: the same request
//! always gets the same reply, so a killed run resumes to the same end. Every request is checked
//! for its shape and for what the script expects of it.

mod expect;
pub mod script;

use futures::stream::{self, BoxStream, StreamExt};

use crate::accounting::estimate_request;
use crate::conversation::check_conversation;
use crate::scripted::expect::check_expectation;
use crate::scripted::script::{ModelScript, ScriptTask, ScriptTurn, ScriptedFailure};
use crate::tokens::{Tokenizer, estimate_tokens};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Message, StopReason, Usage};
use locum_base::image::Image;

/// A model that replies from a script.
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    script: ModelScript,
}

impl ScriptedModel {
    /// Takes a checked script.
    pub fn new(script: ModelScript) -> Self {
        Self { script }
    }

    fn reply(&self, request: &ModelRequest<'_>) -> Result<Vec<Delta>, ModelError> {
        check_conversation(request.messages)
            .map_err(|message| self.fault(format!("the request is malformed: {message}")))?;
        let (number, task) = self.find_task(request)?;
        let index = index_of(request);
        let place =
            || format!("task {number}{}, turn {}", described(task), index.saturating_add(1));
        let Some(turn) = task.turns.get(index) else {
            return Err(self.fault(format!(
                "{}: the script has only {} turns for this task",
                place(),
                task.turns.len()
            )));
        };
        check_expectation(&turn.expect, request)
            .map_err(|message| self.fault(format!("{}: {message}", place())))?;
        match &turn.fail {
            None => Ok(deltas(turn, request)),
            Some(ScriptedFailure::Unavailable(message)) => {
                Err(ModelError::unavailable(self.label(), message))
            }
            Some(ScriptedFailure::Garbled(message)) => {
                Err(ModelError::garbled(self.label(), message))
            }
        }
    }

    fn find_task(&self, request: &ModelRequest<'_>) -> Result<(usize, &ScriptTask), ModelError> {
        let first = match request.messages.get(request.earlier.messages) {
            Some(Message::User { text }) => text.as_str(),
            Some(Message::Images { .. } | Message::Assistant { .. } | Message::Tool { .. })
            | None => "",
        };
        let fits = |task: &ScriptTask| {
            task.mode.as_deref().is_none_or(|mode| mode == request.mode)
                && task.contains.as_deref().is_none_or(|words| first.contains(words))
        };
        let found = self.script.tasks.iter().enumerate().find(|(_, task)| fits(task));
        let (at, task) = found.ok_or_else(|| {
            let known: Vec<String> = self
                .script
                .tasks
                .iter()
                .enumerate()
                .map(|(at, task)| format!("task {}{}", at + 1, described(task)))
                .collect();
            let opening = locum_base::text::head(first, 200);
            self.fault(format!(
                "no task fits mode `{}` and the message `{opening}`; the script has {}",
                request.mode,
                known.join(", ")
            ))
        })?;
        Ok((at + 1, task))
    }

    fn fault(&self, message: String) -> ModelError {
        ModelError::Script { model: self.script.file.clone(), message }
    }
}

impl Model for ScriptedModel {
    fn label(&self) -> &str {
        &self.script.name
    }

    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        let index = index_of(request);
        self.find_task(request).is_ok_and(|(_, task)| index < task.turns.len())
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let items: Vec<Result<Delta, ModelError>> = match self.reply(&request) {
            Ok(deltas) => deltas.into_iter().map(Ok).collect(),
            Err(err) => vec![Err(err)],
        };
        stream::iter(items).boxed()
    }
}

/// Returns which reply of this run is asked for, from 0.
fn index_of(request: &ModelRequest<'_>) -> usize {
    let turn = request.turn.saturating_sub(request.earlier.turns);
    usize::try_from(turn).unwrap_or(usize::MAX)
}

fn described(task: &ScriptTask) -> String {
    match (&task.mode, &task.contains) {
        (None, None) => String::new(),
        (Some(mode), None) => format!(" (mode `{mode}`)"),
        (None, Some(words)) => format!(" (contains `{words}`)"),
        (Some(mode), Some(words)) => format!(" (mode `{mode}`, contains `{words}`)"),
    }
}

fn deltas(turn: &ScriptTurn, request: &ModelRequest<'_>) -> Vec<Delta> {
    let mut deltas = Vec::with_capacity(turn.calls.len() + 4);
    if !turn.reasoning.is_empty() {
        deltas.push(Delta::Reasoning(turn.reasoning.clone()));
    }
    if !turn.say.is_empty() {
        deltas.push(Delta::Text(turn.say.clone()));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let id = format!("call-{}-{}-{}", request.task, request.turn.saturating_add(1), index + 1);
        deltas.push(Delta::Call {
            index,
            id: Some(id),
            name: Some(call.tool.clone()),
            arguments: call.arguments.clone(),
        });
    }
    deltas.extend(turn.images.iter().cloned().map(Delta::Image));
    deltas.push(Delta::Usage(turn.usage.unwrap_or_else(|| estimate(turn, request))));
    let natural = if turn.calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
    deltas.push(Delta::Stop(turn.stop.unwrap_or(natural)));
    deltas
}

fn estimate(turn: &ScriptTurn, request: &ModelRequest<'_>) -> Usage {
    let calls: usize = turn.calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum();
    let reasoning = estimate_tokens(turn.reasoning.len());
    let images = turn.images.iter().map(Image::tokens).sum::<usize>();
    let output = estimate_tokens(turn.say.len() + calls)
        + reasoning
        + u64::try_from(images).unwrap_or(u64::MAX);
    Usage {
        input: estimate_request(Tokenizer::Bytes, request),
        output,
        reasoning,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
