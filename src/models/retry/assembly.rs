//! `ReplyAssembly`: a reply put together from its deltas, in time linear in its length.
//!
//! In: deltas in the order they came. Out: a whole [`Reply`], or why there is none. What models and
//! servers do to tool calls is set right here, once for every adapter: missing or repeated ids,
//! arguments encoded twice, empty arguments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::retry::LostAttempt;
use crate::tokens::estimate_tokens;
use crate::{Delta, ModelRequest};
use locum_base::chat::{OpaquePart, OpaqueState, Reply, StopReason, ToolCall, Usage};
use locum_base::image::Image;

/// Most bytes of text, reasoning and arguments together in one reply.
pub(crate) const REPLY_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// Most tool calls in one reply.
pub(crate) const REPLY_LIMIT_CALLS: usize = 256;

/// A reply in the making.
#[derive(Debug, Default)]
pub(crate) struct ReplyAssembly {
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, CallDraft>,
    images: Vec<Image>,
    opaque: Option<OpaqueState>,
    by: Option<String>,
    fixed: bool,
    accepted: bool,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    bytes: usize,
}

/// Why deltas do not make a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IncompleteReply {
    /// The stream ended before the reply did.
    Cut,
    /// The reply says nothing and calls nothing.
    Empty,
    /// The reply is larger than any reply may be.
    TooLarge(String),
}

#[derive(Debug, Default)]
struct CallDraft {
    id: String,
    name: String,
    arguments: String,
}

impl ReplyAssembly {
    /// Takes the next delta.
    pub(crate) fn add(&mut self, delta: Delta) -> Result<(), IncompleteReply> {
        match delta {
            Delta::Text(text) => {
                self.count(text.len())?;
                self.text.push_str(&text);
            }
            Delta::Reasoning(text) => {
                self.count(text.len())?;
                self.reasoning.push_str(&text);
            }
            Delta::Call { index, id, name, arguments } => {
                self.count(arguments.len() + name.as_ref().map_or(0, String::len))?;
                let draft = self.calls.entry(index).or_default();
                draft.arguments.push_str(&arguments);
                draft.name.push_str(&name.unwrap_or_default());
                if let Some(id) = id {
                    draft.id = id;
                }
                if self.calls.len() > REPLY_LIMIT_CALLS {
                    return Err(IncompleteReply::TooLarge(format!(
                        "more than {REPLY_LIMIT_CALLS} tool calls in one reply"
                    )));
                }
            }
            Delta::Image(image) => {
                self.count(image.size_bytes)?;
                self.images.push(image);
            }
            Delta::Opaque(opaque) => {
                self.count(opaque.parts.iter().map(OpaquePart::size_bytes).sum())?;
                self.opaque = Some(opaque);
            }
            Delta::By(label) => self.by = Some(label),
            Delta::Fixed => self.fixed = true,
            Delta::Accepted => self.accepted = true,
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Stop(stop) => self.stop = Some(stop),
            Delta::Restart => *self = Self::default(),
        }
        Ok(())
    }

    /// Returns what came so far as an attempt that broke; `None` when the provider did not take the
    /// request, and nothing came.
    pub(crate) fn lost(&self) -> Option<LostAttempt> {
        let is_counted = self.usage.map_or(self.accepted, |usage| usage.total() > 0);
        let has_any = self.bytes > 0 || is_counted;
        has_any.then(|| {
            let mut text = format!("{}{}", self.text, self.reasoning);
            self.calls
                .values()
                .for_each(|draft| text.extend([draft.name.as_str(), draft.arguments.as_str()]));
            let shown_bytes: usize = self.images.iter().map(|image| image.size_bytes).sum();
            let shown_tokens: usize = self.images.iter().map(Image::tokens).sum();
            // Images count by their tokens, as elsewhere, and not by their bytes.
            let opaque =
                estimate_tokens(self.bytes.saturating_sub(shown_bytes).saturating_sub(text.len()));
            let other_tokens =
                opaque.saturating_add(u64::try_from(shown_tokens).unwrap_or(u64::MAX));
            LostAttempt { by: self.by.clone(), usage: self.usage, text, other_tokens }
        })
    }

    /// Returns true once the reply has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns the reply when it is whole, and leaves nothing behind.
    pub(crate) fn finish(&mut self, request: &ModelRequest<'_>) -> Result<Reply, IncompleteReply> {
        let stop = match (self.stop.ok_or(IncompleteReply::Cut)?, self.calls.is_empty()) {
            (StopReason::End, false) => StopReason::ToolUse,
            (StopReason::ToolUse, true) => StopReason::End,
            (
                stop @ (StopReason::End
                | StopReason::ToolUse
                | StopReason::Length
                | StopReason::Filtered),
                _,
            ) => stop,
        };
        if self.calls.is_empty()
            && stop == StopReason::End
            && self.text.trim().is_empty()
            && self.images.is_empty()
        {
            return Err(IncompleteReply::Empty);
        }
        let Self { text, reasoning, calls, images, opaque, by, fixed, usage, .. } =
            std::mem::take(self);
        Ok(Reply {
            text,
            reasoning,
            calls: finished_calls(calls, request),
            images,
            opaque,
            by,
            fixed,
            usage,
            stop,
        })
    }

    fn count(&mut self, bytes: usize) -> Result<(), IncompleteReply> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_LIMIT_BYTES {
            return Err(IncompleteReply::TooLarge(format!(
                "more than {REPLY_LIMIT_BYTES} bytes in one reply"
            )));
        }
        Ok(())
    }
}

fn finished_calls(drafts: BTreeMap<usize, CallDraft>, request: &ModelRequest<'_>) -> Vec<ToolCall> {
    let mut taken = BTreeSet::new();
    let mut calls = Vec::with_capacity(drafts.len());
    for (at, draft) in drafts.into_values().enumerate() {
        let given = format!("call-{}-{}-{}", request.task, request.turn.saturating_add(1), at + 1);
        let mut id =
            if draft.id.trim().is_empty() || taken.contains(&draft.id) { given } else { draft.id };
        while !taken.insert(id.clone()) {
            id.push('x');
        }
        calls.push(ToolCall {
            id,
            name: draft.name.trim().to_owned(),
            arguments: tidy_arguments(draft.arguments),
        });
    }
    calls
}

/// Returns the arguments as the object they encode where that is clear, else as they are.
fn tidy_arguments(arguments: String) -> String {
    let trimmed = arguments.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return "{}".to_owned();
    }
    if trimmed.starts_with('"') {
        let inner = serde_json::from_str::<String>(trimmed).ok();
        return inner.filter(|inner| is_object(inner)).unwrap_or(arguments);
    }
    // Some servers open every call with an empty object and send the real one after it.
    if let Some(rest) = trimmed.strip_prefix("{}").filter(|rest| is_object(rest)) {
        return rest.to_owned();
    }
    arguments
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<Value>(text).is_ok()
}

#[cfg(test)]
mod tests;
