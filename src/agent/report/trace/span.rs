//! `Span`: something that took time in a session, and the names that tie spans together.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::report::trace::attribute::SpanAttributes;
use crate::session::id::SessionId;

/// Something that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The trace it belongs to: 32 hexadecimal digits.
    pub(crate) trace_id: String,
    /// Its name in the trace: 16 hexadecimal digits, the same ones for the same session.
    pub id: String,
    /// The span it is part of.
    pub parent: Option<String>,
    /// What it is, for readers of the trace.
    pub name: String,
    /// Whether it waited for another server.
    pub(super) kind: SpanKind,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Attributes, with keys of OpenTelemetry's conventions.
    pub(super) attributes: SpanAttributes,
    /// True when it did not do what it was there for.
    pub failed: bool,
}

impl Span {
    /// Notes that it did not do what it was there for, and in one word why.
    pub(super) fn fail(&mut self, why: &str) {
        self.failed = true;
        self.attributes.text("error.type", why);
    }
}

/// Whether a span waited for another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// It did not.
    Internal,
    /// It asked a server.
    Client,
}

/// What a run is part of: W3C's `traceparent`, as a workflow hands it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The trace's id, 32 hexadecimal digits.
    pub(crate) trace_id: String,
    /// The span in it.
    pub(crate) span_id: String,
}

impl Parent {
    /// Reads `00-TRACE-SPAN-FLAGS`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace_id, span_id) = (parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length
                && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && text.bytes().any(|byte| byte != b'0')
        };
        let fits = version.len() == 2
            && version != "ff"
            && is_hex(trace_id, 32)
            && is_hex(span_id, 16)
            && parts.next().is_some();
        fits.then(|| Self { trace_id: trace_id.to_owned(), span_id: span_id.to_owned() })
    }
}

/// The names of the spans of one session.
pub(super) struct SpanNames {
    /// The session's name, from which ids are derived.
    pub(super) session: String,
    trace_id: String,
}

impl SpanNames {
    pub(super) fn new(session: &SessionId, parent: Option<&Parent>) -> Self {
        let session = session.as_str().to_owned();
        let own = if session.len() == 32 && session.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            session.to_ascii_lowercase()
        } else {
            format!("{:.32x}", Sha256::digest(&session))
        };
        Self { trace_id: parent.map_or(own, |parent| parent.trace_id.clone()), session }
    }

    /// Begins a span; `seed` distinguishes it from every other of the session.
    pub(super) fn span(
        &self,
        seed: &str,
        parent: Option<String>,
        name: String,
        start: Timestamp,
    ) -> Span {
        let id = format!("{:.16x}", Sha256::digest(format!("{} {seed}", self.session)));
        let attributes = SpanAttributes::default();
        Span {
            trace_id: self.trace_id.clone(),
            id,
            parent,
            name,
            kind: SpanKind::Internal,
            start,
            end: start,
            attributes,
            failed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parent;

    #[test]
    fn reads_what_a_workflow_hands_on_and_nothing_else() {
        let parent =
            Parent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
        assert_eq!(
            (parent.trace_id.as_str(), parent.span_id.as_str()),
            ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
        );
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
        ] {
            assert_eq!(Parent::parse(text), None, "{text}");
        }
    }
}
