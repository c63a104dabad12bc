//! Attributes of a span: keys with values, in the form OTLP writes them in.

use serde_json::{Value, json};

use crate::session::recorded::ReplyCharge;
use locum_base::chat::{ToolCall, Usage};
use locum_base::text::ClippedText;

/// Longest text of one attribute, in bytes.
const TEXT_LIMIT_BYTES: usize = 16 * 1024;

/// Keys with values, each key once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SpanAttributes(Vec<(String, Value)>);

impl SpanAttributes {
    /// Says a text.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.put(key, json!({ "stringValue": clipped(text) }));
    }

    /// Says several texts.
    pub(super) fn texts(&mut self, key: &str, texts: &[&str]) {
        let values: Vec<Value> =
            texts.iter().map(|text| json!({ "stringValue": clipped(text) })).collect();
        self.put(key, json!({ "arrayValue": { "values": values } }));
    }

    /// Says a whole number: OTLP's JSON writes those of 64 bits as text.
    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.put(key, json!({ "intValue": i64::try_from(number).unwrap_or(i64::MAX).to_string() }));
    }

    /// Says an amount.
    pub(super) fn amount(&mut self, key: &str, amount: f64) {
        self.put(key, json!({ "doubleValue": amount }));
    }

    /// Says yes or no.
    pub(super) fn flag(&mut self, key: &str, flag: bool) {
        self.put(key, json!({ "boolValue": flag }));
    }

    /// Says a message: its words, and the tools it called.
    pub(super) fn messages(&mut self, key: &str, role: &str, text: &str, calls: &[ToolCall]) {
        let words = (!text.is_empty()).then(|| json!({ "type": "text", "content": clipped(text) }));
        let call = |call: &ToolCall| json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": clipped(&call.arguments) });
        let parts: Vec<Value> = words.into_iter().chain(calls.iter().map(call)).collect();
        self.put(
            key,
            json!({ "stringValue": json!([{ "role": role, "parts": parts }]).to_string() }),
        );
    }

    /// Says what several requests took together, under [`OWN`] or [`TOTAL`].
    pub(super) fn total(&mut self, scope: &str, usage: Usage, cost_usd: f64) {
        for (what, tokens) in [
            ("input", usage.input),
            ("output", usage.output),
            ("cache_read", usage.cached_read),
            ("cache_write", usage.cached_write),
            ("reasoning", usage.reasoning),
        ] {
            self.number(&format!("locum.{scope}.{what}_tokens"), tokens);
        }
        self.amount(&format!("locum.{scope}.cost_usd"), cost_usd);
    }

    /// Says what one request took, and whether that is an estimate.
    pub(super) fn spent(&mut self, charge: &ReplyCharge) {
        let ReplyCharge { usage, estimated, cost_usd } = *charge;
        self.number("gen_ai.usage.input_tokens", usage.input);
        self.number("gen_ai.usage.output_tokens", usage.output);
        for (key, tokens) in [
            ("gen_ai.usage.cache_read.input_tokens", usage.cached_read),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cached_write),
            ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
        ] {
            if tokens > 0 {
                self.number(key, tokens);
            }
        }
        self.amount("locum.cost_usd", cost_usd);
        self.flag("locum.usage.estimated", estimated);
    }

    fn put(&mut self, key: &str, value: Value) {
        self.0.retain(|(known, _)| known != key);
        self.0.push((key.to_owned(), value));
    }

    /// Returns them as OTLP writes them.
    pub(super) fn render(&self) -> Vec<Value> {
        self.0.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
    }
}

fn clipped(text: &str) -> String {
    ClippedText::head_tail(text, TEXT_LIMIT_BYTES).text
}
