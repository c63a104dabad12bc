//! Messages of the protocol: JSON-RPC requests, answers and notices, each a value and a line.
//!
//! In: bytes. Out: a [`McpMessage`], or nothing where they are none. Their meaning is decided where
//! they are read.

use serde_json::{Value, json};

/// The version of the protocol that is spoken, as a client and as a server.
pub const VERSION: &str = "2025-11-25";

/// Versions a server may choose: what is asked of it means the same in all of them.
pub const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Codes of errors.
pub mod code {
    /// The message is not JSON.
    pub const PARSE: i64 = -32700;
    /// The message is not a request.
    pub const INVALID: i64 = -32600;
    /// The method does not exist.
    pub const NO_METHOD: i64 = -32601;
    /// The parameters are wrong.
    pub const PARAMETERS: i64 = -32602;
}

/// A message in either direction.
#[derive(Clone, Debug, PartialEq)]
pub enum McpMessage {
    /// A call that wants an answer.
    Request {
        /// By which the answer is known.
        id: Value,
        /// Name of the called method.
        method: String,
        /// Arguments of the method.
        params: Value,
    },
    /// A message that wants no answer.
    Notice {
        /// Name of the notice.
        method: String,
        /// What it is about.
        params: Value,
    },
    /// The result or error of a request.
    Answer {
        /// To which request.
        id: Value,
        /// The result, or code and words of an error.
        result: Result<Value, (i64, String)>,
    },
}

impl McpMessage {
    /// Reads the messages of a line; older servers send several in a list. Anything that is not a
    /// message is left out; an answer that is not UTF-8 is an error, so that nobody waits for it.
    pub fn parse_all(bytes: &[u8]) -> Vec<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Array(values)) => values.into_iter().filter_map(Self::of).collect(),
            Ok(value) => Self::of(value).into_iter().collect(),
            Err(_) => Self::not_utf8(bytes).into_iter().collect(),
        }
    }

    /// Returns which request a line answers that is not UTF-8, as an error.
    fn not_utf8(bytes: &[u8]) -> Option<Self> {
        let error = std::str::from_utf8(bytes).err()?;
        let value = serde_json::from_str(&String::from_utf8_lossy(bytes)).ok()?;
        match Self::of(value)? {
            Self::Answer { id, .. } => {
                let at = error.valid_up_to() + 1;
                let text = format!("its answer is not UTF-8, from byte {at} of it on");
                Some(Self::Answer { id, result: Err((code::PARSE, text)) })
            }
            Self::Request { .. } | Self::Notice { .. } => None,
        }
    }

    /// Reads one message.
    pub fn of(mut value: Value) -> Option<Self> {
        let mut take = |name: &str| value.get_mut(name).map(Value::take);
        let id = take("id").filter(|id| matches!(id, Value::String(_) | Value::Number(_)));
        let method = take("method").and_then(|method| method.as_str().map(str::to_owned));
        let error = take("error").filter(|error| !error.is_null());
        match (id, method) {
            (Some(id), Some(method)) => {
                Some(Self::Request { id, method, params: take("params").unwrap_or_default() })
            }
            (None, Some(method)) => {
                Some(Self::Notice { method, params: take("params").unwrap_or_default() })
            }
            (Some(id), None) => {
                let code_and_message = |error: Value| {
                    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
                    // Some servers write text where an object belongs.
                    let text = match error.get("message").and_then(Value::as_str) {
                        Some(text) => text.to_owned(),
                        None if error.is_object() => String::new(),
                        None => error.as_str().map_or_else(|| error.to_string(), str::to_owned),
                    };
                    (code, text)
                };
                let result = match error {
                    Some(error) => Err(code_and_message(error)),
                    None => Ok(take("result")?),
                };
                Some(Self::Answer { id, result })
            }
            (None, None) => None,
        }
    }
}

/// Returns a request.
pub fn request(id: &Value, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Returns a notice.
pub fn notice(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// Returns an answer.
pub fn answer(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// Returns an answer that is an error.
pub fn error(id: &Value, code: i64, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::McpMessage;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn an_answer_that_is_broken_is_an_error_of_its_request() {
        let failed = |code: i64, text: &str| {
            vec![McpMessage::Answer { id: json!(1), result: Err((code, text.to_owned())) }]
        };
        let not_utf8 = "its answer is not UTF-8, from byte 20 of it on";
        for (bytes, expected) in [
            (&br#"{"id":1,"error":"just text"}"#[..], failed(0, "just text")),
            (br#"{"id":1,"error":["a"]}"#, failed(0, r#"["a"]"#)),
            (br#"{"id":1,"error":{"code":-3,"message":"m"}}"#, failed(-3, "m")),
            (b"{\"id\":1,\"result\":\"a\xff\"}", failed(-32700, not_utf8)),
            // Whatever else a program prints.
            (b"\xff starting", Vec::new()),
            (b"{\"method\":\"a\xff\"}", Vec::new()),
            (b"starting", Vec::new()),
        ] {
            assert_eq!(McpMessage::parse_all(bytes), expected);
        }
        let whole = McpMessage::parse_all(br#"{"id":1,"result":2,"error":null}"#);
        assert_eq!(whole, [McpMessage::Answer { id: json!(1), result: Ok(json!(2)) }]);
    }
}
