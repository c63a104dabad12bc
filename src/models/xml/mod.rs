//! `PromptedToolCalls`: tool calls in XML for a model that has none of its own.
//!
//! In: any model and a request with tools. Out: the same deltas as from a model with tool calls.
//! The tools are described in the system prompt, the calls and results of the conversation become
//! text, and calls written in the reply become calls. Whatever stands above (chains, cassettes, the
//! session) sees no difference, and whatever protocol lies below sends plain text. Calls that the
//! model makes natively are taken as they are.

mod peer;
mod reply;
mod tag;
mod thought;
mod value;
pub mod write;

use std::collections::BTreeMap;
use std::future::{poll_fn, ready};

use futures::channel::mpsc;
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};

use crate::retry::assembly::REPLY_LIMIT_BYTES;
use crate::xml::reply::{ParsedPiece, ReplyEnd};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{StopReason, ToolSpec};

/// A model whose tools are listed in the prompt and that calls them in XML.
pub struct PromptedToolCalls {
    model: Box<dyn Model>,
}

impl PromptedToolCalls {
    /// Wraps a model.
    pub fn new(model: Box<dyn Model>) -> Self {
        Self { model }
    }

    /// Sends the request as plain text and translates what comes back.
    async fn relay(
        &self,
        request: ModelRequest<'_>,
        mut deltas: mpsc::Sender<Result<Delta, ModelError>>,
    ) {
        let system = system(request.system, request.tools);
        let messages = write::conversation(request.messages);
        let mut asked = self.model.stream(ModelRequest {
            system: &system,
            messages: &messages,
            tools: &[],
            ..request
        });
        let mut translator = ReplyTranslator { tools: request.tools, ..ReplyTranslator::default() };
        loop {
            let item = asked.next().await;
            let is_over = item.is_none();
            let translated: Vec<Result<Delta, ModelError>> = match item {
                Some(Ok(delta)) => translator.translate(delta).into_iter().map(Ok).collect(),
                // Words of a reply that breaks off count as lost.
                Some(Err(err)) => translator.kept().map(Ok).into_iter().chain([Err(err)]).collect(),
                None => translator.kept().map(Ok).into_iter().collect(),
            };
            for item in translated {
                // The receiver is gone.
                if poll_fn(|context| deltas.poll_ready(context)).await.is_err()
                    || deltas.start_send(item).is_err()
                {
                    return;
                }
            }
            if is_over {
                return;
            }
        }
    }
}

impl Model for PromptedToolCalls {
    fn label(&self) -> &str {
        self.model.label()
    }

    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        self.model.may_reply(request)
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let (sender, deltas) = mpsc::channel(0);
        let relay = self.relay(request, sender).into_stream().filter_map(|()| ready(None));
        stream::select(deltas, relay).boxed()
    }
}

/// Returns the system prompt with the tools described in it.
fn system(system: &str, tools: &[ToolSpec]) -> String {
    if tools.is_empty() {
        system.to_owned()
    } else {
        format!("{system}\n\n{}", write::section(tools))
    }
}

/// Translates the text of a model into the deltas of one with native tool calls.
#[derive(Default)]
struct ReplyTranslator<'t> {
    tools: &'t [ToolSpec],
    /// Words, kept until the reply is whole: a closing tag may make thoughts even of the first.
    pending: String,
    /// Places of the calls it made natively.
    native: BTreeMap<usize, usize>,
}

impl ReplyTranslator<'_> {
    fn translate(&mut self, delta: Delta) -> Vec<Delta> {
        match delta {
            Delta::Text(text) if self.tools.is_empty() => vec![Delta::Text(text)],
            Delta::Text(text) => {
                self.pending.push_str(&text);
                if self.pending.len() <= REPLY_LIMIT_BYTES {
                    return Vec::new();
                }
                // Too much for a reply, and refused as such above.
                self.kept().into_iter().collect()
            }
            Delta::Call { index, id, name, arguments } => {
                let next = self.native.len();
                let index = *self.native.entry(index).or_insert(next);
                vec![Delta::Call { index, id, name, arguments }]
            }
            // It belongs to words as they were sent, which are not those that come back.
            Delta::Opaque(_) => Vec::new(),
            Delta::Restart => {
                *self = Self { tools: self.tools, ..Self::default() };
                vec![Delta::Restart]
            }
            Delta::Stop(stop) => self.finish(stop),
            other @ (Delta::Reasoning(_)
            | Delta::Image(_)
            | Delta::By(_)
            | Delta::Fixed
            | Delta::Accepted
            | Delta::Usage(_)) => {
                vec![other]
            }
        }
    }

    /// Returns the words that are kept, as they came.
    fn kept(&mut self) -> Option<Delta> {
        let words = std::mem::take(&mut self.pending);
        (!words.is_empty()).then_some(Delta::Text(words))
    }

    fn finish(&mut self, stop: StopReason) -> Vec<Delta> {
        let end = match stop {
            StopReason::Length | StopReason::Filtered => ReplyEnd::Cut,
            StopReason::End | StopReason::ToolUse => ReplyEnd::Whole,
        };
        let mut index = self.native.len();
        let reading = reply::read(&std::mem::take(&mut self.pending), self.tools, end);
        let mut deltas: Vec<Delta> = Vec::with_capacity(reading.pieces.len() + 1);
        let (mut has_words, mut needs_gap) = (false, false);
        for piece in reading.pieces {
            match piece {
                ParsedPiece::Text(text) => {
                    let gap = if needs_gap && has_words { "\n\n" } else { "" };
                    has_words = true;
                    deltas.push(Delta::Text(format!("{gap}{text}")));
                }
                ParsedPiece::Reasoning(text) => deltas.push(Delta::Reasoning(text)),
                ParsedPiece::Call { name, arguments } => {
                    let arguments = serde_json::Value::Object(arguments).to_string();
                    deltas.push(Delta::Call { index, id: None, name: Some(name), arguments });
                    index += 1;
                    needs_gap = true;
                }
            }
        }
        // An incomplete call is reported like one that the output limit cut.
        let keeps_stop = stop == StopReason::Filtered || reading.end == ReplyEnd::Whole;
        deltas.push(Delta::Stop(if keeps_stop { stop } else { StopReason::Length }));
        deltas
    }
}

#[cfg(test)]
mod tests;
