//! Amazon's event stream, read into the server-sent events that it stands for.
//!
//! In: bytes as they come from the wire. Out: the text of the same events as
//! [`sse`](super::sse) reads them, so that everything behind is as with Anthropic itself. A frame
//! whose checksums are wrong ends the answer. Source: smithy.io/2.0/aws/amazon-eventstream.html;
//! Amazon Bedrock API reference, InvokeModelWithResponseStream: a `chunk` holds `bytes` in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// What the header `content-type` of such an answer says.
pub(super) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";
/// Most bytes of one frame.
const FRAME_LIMIT_BYTES: usize = 24 * 1024 * 1024;
/// Lengths and the checksum of them.
const PRELUDE_BYTES: usize = 12;
/// The checksum at the end.
const CHECKSUM_BYTES: usize = 4;
/// The type of a header's value that is a text.
const TEXT: u8 = 7;

/// A reader that keeps what is not a whole frame yet.
#[derive(Debug, Default)]
pub(super) struct EventStreamReader {
    waiting: Vec<u8>,
}

impl EventStreamReader {
    /// Takes the next bytes and returns the events they complete, as server-sent events.
    ///
    /// # Errors
    /// Says what is wrong with a frame.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.waiting.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(prelude) = self.waiting.get(..PRELUDE_BYTES) {
            let total = number(prelude, 0);
            if number(prelude, 8) != checksum(prelude.get(..8)) {
                return Err("the checksum of a frame's lengths is wrong".to_owned());
            }
            if !(PRELUDE_BYTES + CHECKSUM_BYTES..=FRAME_LIMIT_BYTES).contains(&total) {
                return Err(format!("a frame of {total} bytes is not one"));
            }
            let Some(frame) = self.waiting.get(..total) else { break };
            let end = total - CHECKSUM_BYTES;
            if number(frame, end) != checksum(frame.get(..end)) {
                return Err("the checksum of a frame is wrong".to_owned());
            }
            let payload_at = PRELUDE_BYTES + number(frame, 4);
            let headers = frame.get(PRELUDE_BYTES..payload_at.min(end)).unwrap_or_default();
            let payload = frame.get(payload_at..end).unwrap_or_default();
            event(headers, payload, &mut events)?;
            self.waiting.drain(..total);
        }
        Ok(events)
    }
}

/// Appends what a frame says as a server-sent event.
fn event(headers: &[u8], payload: &[u8], events: &mut Vec<u8>) -> Result<(), String> {
    let value: Value = serde_json::from_slice(payload).unwrap_or_default();
    let data = match value.get("bytes").and_then(Value::as_str) {
        Some(bytes) => {
            STANDARD.decode(bytes).map_err(|_| "the bytes of a chunk are not base64".to_owned())?
        }
        // Some servers that stand in for Amazon send the event itself.
        None if value.get("type").is_some() => payload.to_vec(),
        // Anything else that is not an event is an exception, named in a header.
        None => match text_header(headers, ":exception-type") {
            Some(kind) => {
                let words = value.get("message").and_then(Value::as_str).unwrap_or_default();
                let error = json!({ "type": kind, "message": words });
                json!({ "type": "error", "error": error }).to_string().into_bytes()
            }
            None => return Ok(()),
        },
    };
    events.extend_from_slice(b"data: ");
    events.extend_from_slice(&data);
    events.extend_from_slice(b"\n\n");
    Ok(())
}

/// Finds a header whose value is a text. A value of another type ends the search: what is looked
/// for comes before.
fn text_header(mut rest: &[u8], name: &str) -> Option<String> {
    loop {
        let (length, after) = rest.split_first()?;
        let (found, after) = after.split_at_checked(usize::from(*length))?;
        let (kind, after) = after.split_first()?;
        if *kind != TEXT {
            return None;
        }
        let (length, after) = after.split_at_checked(2)?;
        let length = usize::from(u16::from_be_bytes(length.try_into().ok()?));
        let (value, after) = after.split_at_checked(length)?;
        if found == name.as_bytes() {
            return Some(String::from_utf8_lossy(value).into_owned());
        }
        rest = after;
    }
}

fn checksum(bytes: Option<&[u8]>) -> usize {
    usize::try_from(crc32fast::hash(bytes.unwrap_or_default())).unwrap_or(usize::MAX)
}

/// Reads four bytes as a number; 0 where they are not there.
fn number(bytes: &[u8], at: usize) -> usize {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or_default();
    usize::try_from(u32::from_be_bytes(four)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::EventStreamReader;

    /// Writes a frame with one text header.
    fn frame(name: &str, value: &str, payload: &str) -> Vec<u8> {
        let mut headers = vec![u8::try_from(name.len()).unwrap()];
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.bytes());
        let total = u32::try_from(16 + headers.len() + payload.len()).unwrap();
        let mut frame = total.to_be_bytes().to_vec();
        frame.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        frame.extend(headers);
        frame.extend(payload.bytes());
        frame.extend(crc32fast::hash(&frame).to_be_bytes());
        frame
    }

    fn read(bytes: &[u8], cut: usize) -> Result<String, String> {
        let mut reader = EventStreamReader::default();
        let parts: Result<Vec<_>, _> = bytes.chunks(cut).map(|part| reader.feed(part)).collect();
        Ok(String::from_utf8(parts?.concat()).unwrap())
    }

    #[test]
    fn frames_are_events_however_they_are_cut() {
        let chunk = frame(":event-type", "chunk", r#"{"bytes":"eyJ0eXBlIjoicGluZyJ9","p":"ab"}"#);
        let fault = frame(":exception-type", "throttlingException", r#"{"message":"slow down"}"#);
        let other = frame(":event-type", "metadata", "{}");
        let all = [chunk, other, fault].concat();
        for cut in [1, 5, all.len()] {
            assert_eq!(
                read(&all, cut).unwrap(),
                "data: {\"type\":\"ping\"}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\
                 \"throttlingException\",\"message\":\"slow down\"}}\n\n",
                "{cut}"
            );
        }
    }

    #[test]
    fn an_event_may_stand_in_its_frame_itself() {
        let bare = frame(":event-type", "chunk", r#"{"type":"ping"}"#);
        assert_eq!(read(&bare, bare.len()).unwrap(), "data: {\"type\":\"ping\"}\n\n");
    }

    #[test]
    fn a_frame_that_is_damaged_ends_the_answer() {
        let whole = frame(":event-type", "chunk", r#"{"bytes":"e30="}"#);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert!(read(&damaged, damaged.len()).is_err(), "byte {at}");
        }
        assert_eq!(read(&whole[..whole.len() - 1], 99), Ok(String::new()), "half a frame waits");
    }
}
