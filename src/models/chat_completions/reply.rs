//! What the chunks of a Chat Completions answer say, in whatever shape compatible servers give
//! them.
//!
//! In: chunks in the order they came. Out: words, reasoning, calls, counts, and why the model
//! stopped. A reply counts as whole when its finish reason or `[DONE]` was seen, or when it is a
//! whole message.

use serde_json::{Map, Value};

use crate::chat_completions::call::CallSlot;
use crate::chat_completions::chunk::{CallPiece, ChatChunk, ChatPiece};
use crate::transport::response::{
    DeltaWriter, PieceKind, ReplyParser, ResponseError, ResponseForm,
};
use locum_base::chat::{OpaquePart, StopReason};

/// The reason of a reply that the context window cut off (docs.z.ai, "Chat Completion").
const WINDOW_FULL: &str = "model_context_window_exceeded";

/// A reply as far as its chunks came.
#[derive(Debug, Default)]
pub(crate) struct ChatReply {
    calls: Vec<CallSlot>,
    text_bytes: usize,
    /// A gateway's account of the reasoning, to be returned.
    details: Vec<Map<String, Value>>,
}

impl ReplyParser for ChatReply {
    type Piece = ChatChunk;

    fn take(
        &mut self,
        chunk: ChatChunk,
        raw: &[u8],
        form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError> {
        if let Some(fault) = chunk.fault() {
            return Err(ResponseError::Reported(fault.clone()));
        }
        if chunk.is_fault() && chunk.choices.is_none() {
            return Err(ResponseError::Reported(serde_json::from_slice(raw).unwrap_or_default()));
        }
        out.count(chunk.usage());
        let Some(choices) = chunk.choices else { return Ok(PieceKind::Other) };
        for choice in choices {
            if form == ResponseForm::Plain && choice.message.is_some() {
                // A whole message needs no finish reason to be whole.
                out.done();
            }
            if choice.index.as_ref().and_then(Value::as_u64).unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta.or(choice.message) {
                self.take_piece(&piece, out);
            }
            let finish = choice.finish_reason.as_ref().and_then(Value::as_str).unwrap_or_default();
            if finish == WINDOW_FULL && self.text_bytes == 0 && self.calls.is_empty() {
                // Not even a word fits behind the conversation.
                let fault = serde_json::json!({
                    "code": "context_length_exceeded",
                    "message": format!("the model stopped with `{WINDOW_FULL}` before it replied"),
                });
                return Err(ResponseError::Reported(fault));
            }
            out.finish(read_finish(finish)?);
        }
        Ok(PieceKind::Reply)
    }

    fn parts(&mut self) -> Vec<OpaquePart> {
        let details = std::mem::take(&mut self.details);
        let own = (!details.is_empty())
            .then(|| OpaquePart::Own(serde_json::json!({ "reasoning_details": details })));
        let text = (self.text_bytes > 0)
            .then_some(OpaquePart::Text { bytes: self.text_bytes, seal: Value::Null });
        let calls = std::mem::take(&mut self.calls).into_iter().map(|slot| OpaquePart::Call {
            seal: slot
                .extra_content
                .map_or(Value::Null, |extra| serde_json::json!({ "extra_content": extra })),
        });
        own.into_iter().chain(text).chain(calls).collect()
    }
}

impl ChatReply {
    fn take_piece(&mut self, piece: &ChatPiece, out: &mut DeltaWriter) {
        let (words, reasoning) = piece.texts();
        self.text_bytes += words.len();
        for detail in piece
            .reasoning_details
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
        {
            self.take_detail(detail);
        }
        out.reasoning(&reasoning);
        out.text(&words);
        piece.images().for_each(|data| out.image(data));
        let calls = piece.calls();
        let several = calls.len() > 1;
        for (position, call) in calls.into_iter().enumerate() {
            self.take_call(call, several.then_some(position), out);
        }
    }

    /// Joins the pieces of one account of reasoning; what is opaque comes whole.
    fn take_detail(&mut self, piece: &Map<String, Value>) {
        let same = |key: &str, other: &Map<String, Value>| other.get(key) == piece.get(key);
        match self.details.last_mut() {
            Some(known)
                if same("type", known)
                    && same("index", known)
                    && piece.get("data").is_none_or(Value::is_null) =>
            {
                for (key, value) in piece {
                    match (known.get_mut(key), value) {
                        (Some(Value::String(text)), Value::String(more))
                            if matches!(key.as_str(), "text" | "summary") =>
                        {
                            text.push_str(more)
                        }
                        (_, Value::Null) => {}
                        (_, value) => drop(known.insert(key.clone(), value.clone())),
                    }
                }
            }
            Some(_) | None => self.details.push(piece.clone()),
        }
    }

    /// `position` is the piece's place among several of one chunk.
    fn take_call(&mut self, piece: CallPiece, position: Option<usize>, out: &mut DeltaWriter) {
        let found = self.find_call(&piece, position);
        let ended =
            found.and_then(|at| self.calls.get_mut(at)).filter(|slot| slot.ends_before(&piece));
        let known = found.filter(|_| ended.is_none());
        let piece = match ended {
            Some(slot) => slot.begin_next(piece),
            None => piece,
        };
        let at = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(CallSlot::new(piece.index));
        }
        let Some(slot) = self.calls.get_mut(at) else { return };
        let fresh = slot.take(piece);
        out.call(at, fresh.id, fresh.name, fresh.arguments);
    }

    /// Finds the call a piece belongs to by its id, number and place; `None` when they say that it
    /// begins a new one.
    fn find_call(&self, piece: &CallPiece, position: Option<usize>) -> Option<usize> {
        let has_its_id = |slot: &CallSlot| {
            piece.id.is_some()
                && slot.id == piece.id
                && (slot.index == piece.index || piece.index.is_none())
        };
        if let Some(at) = self.calls.iter().rposition(has_its_id) {
            return Some(at);
        }
        let is_called =
            |slot: &CallSlot| piece.name.as_ref().is_none_or(|name| slot.may_be_called(name));
        if piece.index.is_some() {
            let at = self.calls.iter().rposition(|slot| slot.index == piece.index)?;
            // A new id with another name begins a new call, even under a number that is taken: some
            // servers number every call 0. Others give every piece of one call a new id.
            let is_new =
                |slot: &CallSlot| piece.id.is_some() && slot.id.is_some() && !is_called(slot);
            return self.calls.get(at).filter(|slot| !is_new(slot)).map(|_| at);
        }
        let last = self.calls.len().checked_sub(1)?;
        match position {
            // Several pieces without number or id in one chunk: by their place, unless they name
            // new tools.
            Some(place) if piece.name.is_none() => Some(place.min(last)),
            Some(_) => None,
            None => {
                let goes_on = piece.name.is_none()
                    || (piece.id.is_none() && self.calls.get(last).is_some_and(is_called));
                goes_on.then_some(last)
            }
        }
    }
}

fn read_finish(reason: &str) -> Result<Option<StopReason>, ResponseError> {
    match reason {
        "" | "null" => Ok(None),
        "length" | "max_tokens" | "model_length" | "max_output_tokens" | WINDOW_FULL => {
            Ok(Some(StopReason::Length))
        }
        "content_filter" | "content-filter" | "safety" | "SAFETY" | "sensitive" => {
            Ok(Some(StopReason::Filtered))
        }
        "tool_calls" | "function_call" | "tool_use" => Ok(Some(StopReason::ToolUse)),
        "error" | "error_finish" | "insufficient_system_resource" | "network_error" | "abort" => {
            Err(ResponseError::Cut(format!("the provider stopped with `{reason}`")))
        }
        // `stop`, `eos`, `end_turn` and whatever else servers call it.
        _ => Ok(Some(StopReason::End)),
    }
}

#[cfg(test)]
mod tests;
