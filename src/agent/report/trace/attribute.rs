//! What is said of a span: keys with values, in the form OTLP writes them in.

use serde_json::{Value, json};

use locum_base::chat::ToolCall;
use locum_base::text::Clipped;

/// Longest text of one attribute, in bytes.
const TEXT_LIMIT_BYTES: usize = 16 * 1024;

/// Keys with values, each key once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attributes(Vec<(&'static str, Value)>);

impl Attributes {
    /// Says a text.
    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.put(key, json!({ "stringValue": clipped(text) }));
    }

    /// Says several texts.
    pub(super) fn texts(&mut self, key: &'static str, texts: &[&str]) {
        let values: Vec<Value> =
            texts.iter().map(|text| json!({ "stringValue": clipped(text) })).collect();
        self.put(key, json!({ "arrayValue": { "values": values } }));
    }

    /// Says a whole number: OTLP's JSON writes those of 64 bits as text.
    pub(super) fn number(&mut self, key: &'static str, number: u64) {
        self.put(key, json!({ "intValue": i64::try_from(number).unwrap_or(i64::MAX).to_string() }));
    }

    /// Says an amount.
    pub(super) fn amount(&mut self, key: &'static str, amount: f64) {
        self.put(key, json!({ "doubleValue": amount }));
    }

    /// Says yes or no.
    pub(super) fn flag(&mut self, key: &'static str, flag: bool) {
        self.put(key, json!({ "boolValue": flag }));
    }

    /// Says a message: its words, and the tools it called.
    pub(super) fn messages(
        &mut self,
        key: &'static str,
        role: &str,
        text: &str,
        calls: &[ToolCall],
    ) {
        let words = (!text.is_empty()).then(|| json!({ "type": "text", "content": clipped(text) }));
        let call = |call: &ToolCall| json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": clipped(&call.arguments) });
        let parts: Vec<Value> = words.into_iter().chain(calls.iter().map(call)).collect();
        self.put(
            key,
            json!({ "stringValue": json!([{ "role": role, "parts": parts }]).to_string() }),
        );
    }

    fn put(&mut self, key: &'static str, value: Value) {
        self.0.retain(|(known, _)| *known != key);
        self.0.push((key, value));
    }

    /// Returns them as OTLP writes them.
    pub(super) fn render(&self) -> Vec<Value> {
        self.0.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
    }
}

fn clipped(text: &str) -> String {
    Clipped::head_tail(text, TEXT_LIMIT_BYTES).text
}
