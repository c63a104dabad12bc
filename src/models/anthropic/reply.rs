//! What the events of a Messages answer say.
//!
//! In: events in the order they came, odd ones too: a block that was never begun, a call whose
//! arguments came whole with its beginning, a count that only comes at the end. Out: words,
//! reasoning, calls, counts, why the model stopped, and the blocks of thinking to be returned.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::anthropic::event::{MessagesEvent, UsageCounts};
use crate::transport::json::{read_arguments, read_text};
use crate::transport::response::{
    DeltaWriter, PieceKind, ReplyParser, ResponseError, ResponseForm,
};
use locum_base::chat::{OpaquePart, StopReason};

/// A reply as far as its events came.
#[derive(Debug, Default)]
pub(crate) struct MessagesReply {
    blocks: BTreeMap<u64, OpenBlock>,
    calls: usize,
    counts: UsageCounts,
    /// The block of the last event that named one.
    last: u64,
    /// True when the model was cut off: its last block may not be whole.
    is_cut: bool,
}

/// A block of the content.
#[derive(Debug)]
enum OpenBlock {
    Text {
        bytes: usize,
    },
    Call {
        index: usize,
        /// Arguments that came with the beginning and count unless pieces follow.
        whole: Option<String>,
    },
    /// ThinkingConfig: returned unchanged.
    Thinking(Map<String, Value>),
    /// A block of another kind: returned unchanged.
    Own(Map<String, Value>),
}

impl ReplyParser for MessagesReply {
    type Piece = MessagesEvent;

    fn take(
        &mut self,
        event: MessagesEvent,
        raw: &[u8],
        _form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError> {
        if event.kind == "error" || event.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(ResponseError::Reported(
                event.error.unwrap_or_else(|| serde_json::from_slice(raw).unwrap_or_default()),
            ));
        }
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                self.count(message.get("usage"), out);
            }
            "content_block_start" => {
                let index = self.index(event.index);
                self.begin(index, event.content_block.unwrap_or_default(), out);
            }
            "content_block_delta" => {
                let index = self.index(event.index);
                self.go_on(index, &event.delta.unwrap_or_default(), out);
            }
            "content_block_stop" => {
                let index = self.index(event.index);
                self.end(index, out);
            }
            "message_delta" => {
                self.count(event.usage.as_ref(), out);
                let reason = event
                    .delta
                    .as_ref()
                    .and_then(|delta| delta.get("stop_reason"))
                    .and_then(Value::as_str);
                self.finish(reason, out);
            }
            "message_stop" => {
                self.finish(None, out);
                out.done();
            }
            "message" => {
                for (index, block) in event
                    .content
                    .as_ref()
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .enumerate()
                {
                    let index = self.index(u64::try_from(index).ok());
                    self.begin(index, block.as_object().cloned().unwrap_or_default(), out);
                }
                self.count(event.usage.as_ref(), out);
                self.finish(event.stop_reason.as_deref(), out);
                out.done();
            }
            // `ping`, and events of a later day.
            _ => return Ok(PieceKind::Other),
        }
        Ok(PieceKind::Reply)
    }

    fn parts(&mut self) -> Vec<OpaquePart> {
        let is_cut = self.is_cut;
        let last = self.blocks.keys().next_back().copied();
        let parts =
            std::mem::take(&mut self.blocks).into_iter().filter_map(|(index, block)| match block {
                OpenBlock::Text { bytes } => Some(OpaquePart::Text { bytes, seal: Value::Null }),
                OpenBlock::Call { .. } => Some(OpaquePart::Call { seal: Value::Null }),
                // Half a thought has no signature and would be refused.
                OpenBlock::Thinking(block) => (!is_cut || last != Some(index))
                    .then_some(OpaquePart::Own(Value::Object(block))),
                OpenBlock::Own(block) => Some(OpaquePart::Own(Value::Object(block))),
            });
        parts.collect()
    }
}

impl MessagesReply {
    fn index(&mut self, index: Option<u64>) -> u64 {
        self.last = index.unwrap_or(self.last);
        self.last
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut DeltaWriter) {
        if let Some(usage) = usage.filter(|usage| usage.is_object()) {
            out.count(Some(self.counts.take(usage)));
        }
    }

    fn begin(&mut self, index: u64, block: Map<String, Value>, out: &mut DeltaWriter) {
        if self.blocks.contains_key(&index) {
            return;
        }
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let begun = match kind.as_str() {
            "text" => {
                let text = read_text(block.get("text")).unwrap_or_default();
                out.text(&text);
                OpenBlock::Text { bytes: text.len() }
            }
            "tool_use" => {
                let whole = read_arguments(block.get("input"));
                self.call(
                    read_text(block.get("id")),
                    read_text(block.get("name")),
                    Some(whole).filter(|whole| whole.len() > 2),
                    out,
                )
            }
            "thinking" => {
                out.reasoning(&read_text(block.get("thinking")).unwrap_or_default());
                OpenBlock::Thinking(block)
            }
            _ => OpenBlock::Own(block),
        };
        self.blocks.insert(index, begun);
    }

    fn call(
        &mut self,
        id: Option<String>,
        name: Option<String>,
        whole: Option<String>,
        out: &mut DeltaWriter,
    ) -> OpenBlock {
        let index = self.calls;
        self.calls += 1;
        out.call(index, id, name, String::new());
        OpenBlock::Call { index, whole }
    }

    fn go_on(&mut self, index: u64, delta: &Map<String, Value>, out: &mut DeltaWriter) {
        let kind = delta.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = |key: &str| read_text(delta.get(key)).unwrap_or_default();
        if !self.blocks.contains_key(&index) {
            // A block that was never begun is what its pieces say.
            let begun = match kind {
                "text_delta" => OpenBlock::Text { bytes: 0 },
                "input_json_delta" => self.call(None, None, None, out),
                "thinking_delta" | "signature_delta" => OpenBlock::Thinking(Map::from_iter([
                    ("type".to_owned(), "thinking".into()),
                    ("thinking".to_owned(), "".into()),
                ])),
                _ => return,
            };
            self.blocks.insert(index, begun);
        }
        match (kind, self.blocks.get_mut(&index)) {
            ("text_delta", Some(OpenBlock::Text { bytes })) => {
                let text = text("text");
                *bytes += text.len();
                out.text(&text);
            }
            ("input_json_delta", Some(OpenBlock::Call { index, whole })) => {
                let piece = read_arguments(delta.get("partial_json"));
                if !piece.is_empty() {
                    *whole = None;
                    out.call(*index, None, None, piece);
                }
            }
            ("thinking_delta", Some(OpenBlock::Thinking(block))) => {
                let text = text("thinking");
                append(block, "thinking", &text);
                out.reasoning(&text);
            }
            ("signature_delta", Some(OpenBlock::Thinking(block))) => {
                append(block, "signature", &text("signature"))
            }
            _ => {}
        }
    }

    fn end(&mut self, index: u64, out: &mut DeltaWriter) {
        if let Some(OpenBlock::Call { index, whole }) = self.blocks.get_mut(&index)
            && let Some(whole) = whole.take()
        {
            out.call(*index, None, None, whole);
        }
    }

    fn finish(&mut self, reason: Option<&str>, out: &mut DeltaWriter) {
        let indices: Vec<u64> = self.blocks.keys().copied().collect();
        for index in indices {
            self.end(index, out);
        }
        let stop = match reason {
            None | Some("") => None,
            Some("tool_use") => Some(StopReason::ToolUse),
            Some("max_tokens" | "model_context_window_exceeded") => Some(StopReason::Length),
            Some("refusal") => Some(StopReason::Filtered),
            // `end_turn`, `stop_sequence`, `pause_turn` and whatever else comes.
            Some(_) => Some(StopReason::End),
        };
        self.is_cut |= stop == Some(StopReason::Length);
        out.finish(stop);
    }
}

fn append(block: &mut Map<String, Value>, key: &str, piece: &str) {
    match block.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        Some(other) => *other = piece.into(),
        None => drop(block.insert(key.to_owned(), piece.into())),
    }
}

#[cfg(test)]
mod tests;
