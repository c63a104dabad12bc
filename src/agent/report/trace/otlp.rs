//! Spans as OTLP writes them in JSON: the bodies of requests to a collector.
//!
//! In: spans, who they are from. Out: JSON texts of bounded size. It sends nothing.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::report::trace::span::{Span, SpanKind};

/// Most spans of one request.
const SPANS_LIMIT: usize = 512;

/// Returns the bodies that report spans to a collector; `resource` says who they are from.
pub fn bodies(spans: &[Span], resource: &[(String, String)]) -> Vec<String> {
    let said =
        |(key, value): &(String, String)| json!({ "key": key, "value": { "stringValue": value } });
    let resource: Vec<Value> = resource.iter().map(said).collect();
    let scope = json!({ "name": "locum", "version": env!("CARGO_PKG_VERSION") });
    let body = |spans: &[Span]| {
        let spans: Vec<Value> = spans.iter().map(render).collect();
        let scoped = json!([{ "scope": scope, "spans": spans }]);
        json!({ "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": scoped }] }).to_string()
    };
    spans.chunks(SPANS_LIMIT).map(body).collect()
}

fn render(span: &Span) -> Value {
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Client => 3,
    };
    let mut rendered = json!({
        "traceId": span.trace_id,
        "spanId": span.id,
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end.max(span.start)),
        "attributes": span.attributes.render(),
        "status": if span.failed { json!({ "code": 2 }) } else { json!({}) },
    });
    if let (Some(parent), Some(fields)) = (&span.parent, rendered.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), json!(parent));
    }
    rendered
}

fn nanoseconds(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}
