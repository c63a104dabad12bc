//! Chromium's DevTools protocol: JSON messages, each ended by a zero byte.
//!
//! In: commands. Out: their answers, and events. Whoever runs the browser decides what they mean.
//! Facts: <https://chromedevtools.github.io/devtools-protocol/>.

use std::time::Duration;

use serde_json::{Value, json};

use locum_base::text::head;
use locum_sandbox::exec::dialogue::{Dialogue, DialogueEnd, MessageFraming};

/// How its messages are framed. Pages can be large, and so are pictures of them.
pub(super) const FRAMING: MessageFraming = MessageFraming { end: 0, limit_bytes: 64 << 20 };

/// Longest text of an error that is passed on, in bytes.
const ERROR_LIMIT_BYTES: usize = 300;

/// Why something could not be done in a browser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BrowserError {
    /// A command failed; the browser can be used further.
    #[error("{0}")]
    Failed(String),
    /// The page did not answer in time.
    #[error("the page did not answer within {} s", .0.as_secs())]
    TooLate(Duration),
    /// It is over.
    #[error("{0}")]
    Over(String),
}

impl From<DialogueEnd> for BrowserError {
    fn from(end: DialogueEnd) -> Self {
        Self::Over(format!("the browser is gone ({end})"))
    }
}

/// What came from the browser.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DevToolsMessage {
    /// The answer to a command, by its number.
    Answer(u64, Result<Value, BrowserError>),
    /// Something happened.
    Event(DevToolsEvent),
    /// What is neither.
    Other,
}

/// Something that happened in the browser.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DevToolsEvent {
    /// The page or worker it is about; `None` for the browser itself.
    pub(super) session: Option<String>,
    /// Its name.
    pub(super) method: String,
    /// What there is to say of it.
    pub(super) params: Value,
}

/// A conversation with a browser.
pub(super) struct DevTools {
    dialogue: Dialogue,
    asked: u64,
}

impl DevTools {
    /// Takes a browser that was started with its pipes.
    pub(super) fn over(dialogue: Dialogue) -> Self {
        Self { dialogue, asked: 0 }
    }

    /// Sends a command to the browser (`None`) or a page or worker; returns its number.
    pub(super) async fn tell(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<u64, BrowserError> {
        self.asked += 1;
        let mut command = json!({ "id": self.asked, "method": method, "params": params });
        if let (Some(session), Value::Object(fields)) = (session, &mut command) {
            fields.insert("sessionId".to_owned(), json!(session));
        }
        self.dialogue.send(&command.to_string()).await?;
        Ok(self.asked)
    }

    /// Waits for what comes next. Nothing is lost when the wait is given up.
    pub(super) async fn next(&mut self) -> Result<DevToolsMessage, BrowserError> {
        Ok(read(&self.dialogue.next().await?))
    }
}

/// Reads a message.
fn read(bytes: &[u8]) -> DevToolsMessage {
    let Ok(Value::Object(mut message)) = serde_json::from_slice::<Value>(bytes) else {
        return DevToolsMessage::Other;
    };
    if let Some(number) = message.get("id").and_then(Value::as_u64) {
        let result = match message.remove("error") {
            Some(error) => {
                let text = error.get("message").and_then(Value::as_str).unwrap_or("an error");
                Err(BrowserError::Failed(head(text, ERROR_LIMIT_BYTES).to_owned()))
            }
            None => Ok(message.remove("result").unwrap_or_default()),
        };
        return DevToolsMessage::Answer(number, result);
    }
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let session = text(message.remove("sessionId"));
    match text(message.remove("method")) {
        Some(method) => {
            let params = message.remove("params").unwrap_or_default();
            DevToolsMessage::Event(DevToolsEvent { session, method, params })
        }
        None => DevToolsMessage::Other,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{BrowserError, DevToolsEvent, DevToolsMessage, read};

    #[test]
    fn answers_errors_and_events_are_told_apart() {
        let answer = |result| DevToolsMessage::Answer(3, result);
        let event = |session: Option<&str>, params| {
            let (session, method) = (session.map(str::to_owned), "Page.x".to_owned());
            DevToolsMessage::Event(DevToolsEvent { session, method, params })
        };
        let failed = BrowserError::Failed("No node".to_owned());
        for (text, expected) in [
            (r#"{"id":3,"result":{"a":1},"sessionId":"S"}"#, answer(Ok(json!({ "a": 1 })))),
            (r#"{"id":3}"#, answer(Ok(json!(null)))),
            (r#"{"id":3,"error":{"code":-1,"message":"No node"}}"#, answer(Err(failed))),
            (r#"{"method":"Page.x","params":{},"sessionId":"S"}"#, event(Some("S"), json!({}))),
            (r#"{"method":"Page.x"}"#, event(None, json!(null))),
            (r#"{"params":{}}"#, DevToolsMessage::Other),
            ("[]", DevToolsMessage::Other),
            ("{", DevToolsMessage::Other),
        ] {
            assert_eq!(read(text.as_bytes()), expected, "{text}");
        }
    }
}
