//! What the chunks of a `generateContent` answer say.
//!
//! In: chunks in the order they came. Out: words, thoughts, calls with ids or without, counts, why
//! the model stopped, and the signatures to be returned, each on the part it came with.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::transport::json::{count_at, is_set, read_arguments, read_text};
use crate::transport::response::{
    DeltaWriter, PieceKind, ReplyParser, ResponseError, ResponseForm,
};
use locum_base::chat::{OpaquePart, StopReason, Usage};

/// A reply as far as its chunks came.
#[derive(Debug, Default)]
pub(crate) struct GeminiReply {
    parts: Vec<OpaquePart>,
    calls: usize,
}

/// One chunk, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GeminiChunk {
    candidates: Option<Vec<Value>>,
    prompt_feedback: Option<Value>,
    usage_metadata: Option<Value>,
    error: Option<Value>,
}

impl ReplyParser for GeminiReply {
    type Piece = GeminiChunk;

    fn take(
        &mut self,
        chunk: GeminiChunk,
        _raw: &[u8],
        _form: ResponseForm,
        out: &mut DeltaWriter,
    ) -> Result<PieceKind, ResponseError> {
        if let Some(fault) = chunk.error.filter(is_set) {
            return Err(ResponseError::Reported(fault));
        }
        out.count(chunk.usage_metadata.as_ref().map(read_usage));
        if let Some(reason) = chunk
            .prompt_feedback
            .as_ref()
            .and_then(|feedback| read_text(feedback.get("blockReason")))
        {
            out.reasoning(&format!("(the provider blocked the request: {reason})"));
            out.finish(Some(StopReason::Filtered));
            return Ok(PieceKind::Reply);
        }
        let Some(candidates) = chunk.candidates else {
            return Ok(if chunk.usage_metadata.is_some() {
                PieceKind::Reply
            } else {
                PieceKind::Other
            });
        };
        // Candidates after the first were not requested.
        let first = candidates
            .iter()
            .find(|candidate| candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        if let Some(candidate) = first {
            let parts = candidate
                .get("content")
                .and_then(|content| content.get("parts"))
                .and_then(Value::as_array);
            for part in parts.into_iter().flatten().filter_map(Value::as_object) {
                self.take_part(part, out);
            }
            self.finish(candidate, out)?;
        }
        Ok(PieceKind::Reply)
    }

    fn parts(&mut self) -> Vec<OpaquePart> {
        std::mem::take(&mut self.parts)
    }
}

impl GeminiReply {
    fn take_part(&mut self, part: &Map<String, Value>, out: &mut DeltaWriter) {
        let signature = part.get("thoughtSignature").filter(|signature| is_set(signature));
        let text = read_text(part.get("text")).unwrap_or_default();
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            out.reasoning(&text);
            self.parts.extend(signature.map(|_| OpaquePart::Own(Value::Object(part.clone()))));
        } else if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            let id = read_text(call.get("id"));
            let mut seal = Map::new();
            seal.extend(id.clone().map(|id| ("id".to_owned(), id.into())));
            seal.extend(
                signature.map(|signature| ("thoughtSignature".to_owned(), signature.clone())),
            );
            self.parts.push(OpaquePart::Call {
                seal: if seal.is_empty() { Value::Null } else { Value::Object(seal) },
            });
            out.call(self.calls, id, read_text(call.get("name")), read_arguments(call.get("args")));
            self.calls += 1;
        } else if let Some(data) = inline_image(part) {
            out.image(data);
        } else if part.contains_key("text") {
            out.text(&text);
            let seal = signature.map_or(
                Value::Null,
                |signature| serde_json::json!({ "thoughtSignature": signature }),
            );
            match self.parts.last_mut() {
                // What is signed stands alone.
                Some(OpaquePart::Text { bytes, seal: Value::Null }) if seal.is_null() => {
                    *bytes += text.len()
                }
                _ if text.is_empty() && seal.is_null() => {}
                Some(_) | None => self.parts.push(OpaquePart::Text { bytes: text.len(), seal }),
            }
        } else {
            self.parts.push(OpaquePart::Own(Value::Object(part.clone())));
        }
    }

    fn finish(&mut self, candidate: &Value, out: &mut DeltaWriter) -> Result<(), ResponseError> {
        let reason = candidate.get("finishReason").and_then(Value::as_str).unwrap_or_default();
        let stop = match reason {
            "" | "FINISH_REASON_UNSPECIFIED" => return Ok(()),
            "MAX_TOKENS" => StopReason::Length,
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => StopReason::Filtered,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS"
                if self.calls == 0 =>
            {
                // The model gets the same reminder as one that called nothing, and sees what it
                // wrote.
                let words =
                    read_text(candidate.get("finishMessage")).unwrap_or_else(|| reason.to_owned());
                let words = format!("(this call could not be read: {words})");
                out.text(&words);
                self.parts.push(OpaquePart::Text { bytes: words.len(), seal: Value::Null });
                StopReason::End
            }
            "OTHER" if self.parts.is_empty() => {
                return Err(ResponseError::Cut("the provider stopped with `OTHER`".to_owned()));
            }
            _ if self.calls > 0 => StopReason::ToolUse,
            // `STOP` and whatever else comes.
            _ => StopReason::End,
        };
        out.finish(Some(stop));
        Ok(())
    }
}

/// Returns the base64 of an image.
fn inline_image(part: &Map<String, Value>) -> Option<&str> {
    let data = part.get("inlineData")?;
    let is_image =
        data.get("mimeType").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"));
    data.get("data").and_then(Value::as_str).filter(|_| is_image)
}

fn read_usage(usage: &Value) -> Usage {
    let count = |key: &str| count_at(usage, &[key]);
    let (thoughts, words) = (count("thoughtsTokenCount"), count("candidatesTokenCount"));
    Usage {
        input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output: words.saturating_add(thoughts),
        cached_read: count("cachedContentTokenCount"),
        cached_write: 0,
        reasoning: thoughts,
    }
}

#[cfg(test)]
mod tests;
