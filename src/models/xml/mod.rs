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
        while let Some(item) = asked.next().await {
            let translated = match item {
                Ok(delta) => translator.translate(delta).into_iter().map(Ok).collect(),
                Err(err) => vec![Err(err)],
            };
            for item in translated {
                // The receiver is gone.
                if poll_fn(|context| deltas.poll_ready(context)).await.is_err()
                    || deltas.start_send(item).is_err()
                {
                    return;
                }
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
    /// Words that may hold calls, kept until the reply is whole.
    pending: String,
    /// Whether a call may have begun in what is kept: then all that comes is kept, and not looked
    /// over again.
    may_have_begun: bool,
    /// Whether words were passed on.
    has_words: bool,
    /// Places of the calls it made natively.
    native: BTreeMap<usize, usize>,
}

impl ReplyTranslator<'_> {
    fn translate(&mut self, delta: Delta) -> Vec<Delta> {
        match delta {
            Delta::Text(text) if self.tools.is_empty() => vec![Delta::Text(text)],
            Delta::Text(text) => self.pass_on(&text).map(Delta::Text).into_iter().collect(),
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
            | Delta::Usage(_)) => {
                vec![other]
            }
        }
    }

    /// Takes the next words; returns those that no call can begin in.
    fn pass_on(&mut self, text: &str) -> Option<String> {
        self.pending.push_str(text);
        if self.pending.len() > REPLY_LIMIT_BYTES {
            // Too much for a reply, and refused as such above.
            return Some(std::mem::take(&mut self.pending));
        }
        if self.may_have_begun {
            return None;
        }
        let begun = self.pending.find('<').into_iter().chain(self.pending.find("```")).min();
        self.may_have_begun = begun.is_some();
        let plain = begun.unwrap_or(self.pending.len());
        let sure = self
            .pending
            .get(..plain)?
            .trim_end_matches(|letter: char| letter.is_whitespace() || letter == '`')
            .len();
        let rest = self.pending.split_off(sure);
        let words = std::mem::replace(&mut self.pending, rest);
        self.has_words |= !words.is_empty();
        Some(words).filter(|words| !words.is_empty())
    }

    fn finish(&mut self, stop: StopReason) -> Vec<Delta> {
        let end = match stop {
            StopReason::Length | StopReason::Filtered => ReplyEnd::Cut,
            StopReason::End | StopReason::ToolUse => ReplyEnd::Whole,
        };
        let mut index = self.native.len();
        let reading = reply::read(&std::mem::take(&mut self.pending), self.tools, end);
        let mut deltas: Vec<Delta> = Vec::with_capacity(reading.pieces.len() + 1);
        let mut needs_gap = false;
        for piece in reading.pieces {
            match piece {
                ParsedPiece::Text(text) => {
                    let gap = if needs_gap && self.has_words { "\n\n" } else { "" };
                    self.has_words = true;
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
