//! The parts of a reply in the order the model wrote them, for an adapter that sends it back.
//!
//! In: an assistant message and the model that is asked. Out: its words, its calls and what only
//! its provider reads, each in its place. What another model kept, or what no longer fits the words
//! and calls, is left out as a whole.

use serde_json::Value;

use locum_base::chat::{OpaquePart, OpaqueState, ToolCall};

/// A part of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReplyPart<'a> {
    /// What only its provider reads.
    Own(&'a Value),
    /// Words, and what its provider hung on them.
    Text(&'a str, &'a Value),
    /// A call, and what its provider hung on it.
    Call(&'a ToolCall, &'a Value),
}

/// Returns the parts of a reply; words and calls alone where nothing was kept for the model that is
/// `asked`.
pub(crate) fn reply_parts<'a>(
    text: &'a str,
    calls: &'a [ToolCall],
    kept: Option<&'a OpaqueState>,
    asked: &str,
) -> Vec<ReplyPart<'a>> {
    kept.filter(|kept| kept.by == asked).and_then(|kept| fitted(text, calls, kept)).unwrap_or_else(
        || {
            let words = (!text.is_empty()).then_some(ReplyPart::Text(text, &Value::Null));
            words
                .into_iter()
                .chain(calls.iter().map(|call| ReplyPart::Call(call, &Value::Null)))
                .collect()
        },
    )
}

fn fitted<'a>(
    text: &'a str,
    calls: &'a [ToolCall],
    kept: &'a OpaqueState,
) -> Option<Vec<ReplyPart<'a>>> {
    let (mut rest, mut calls) = (text, calls.iter());
    let parts = kept.parts.iter().map(|part| match part {
        OpaquePart::Own(own) => Some(ReplyPart::Own(own)),
        OpaquePart::Text { bytes, seal } => {
            let (words, after) = rest.split_at_checked(*bytes)?;
            rest = after;
            Some(ReplyPart::Text(words, seal))
        }
        OpaquePart::Call { seal } => calls.next().map(|call| ReplyPart::Call(call, seal)),
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    (rest.is_empty() && calls.next().is_none()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{ReplyPart, reply_parts};
    use locum_base::chat::{OpaquePart, OpaqueState, ToolCall};

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() }
    }

    #[test]
    fn what_was_kept_comes_back_in_its_place_and_only_to_its_model() {
        let (own, seal) = (json!({ "type": "thinking" }), json!("sig"));
        let text = |bytes| OpaquePart::Text { bytes, seal: Value::Null };
        let kept = OpaqueState {
            by: "one".into(),
            parts: vec![
                text(1),
                OpaquePart::Own(own.clone()),
                OpaquePart::Call { seal: seal.clone() },
                text(3),
                OpaquePart::Call { seal: Value::Null },
            ],
        };
        let calls = [call("a"), call("b")];
        let plain = |text| {
            vec![
                ReplyPart::Text(text, &Value::Null),
                ReplyPart::Call(&calls[0], &Value::Null),
                ReplyPart::Call(&calls[1], &Value::Null),
            ]
        };
        assert_eq!(
            reply_parts("wörd", &calls, Some(&kept), "one"),
            plain("wörd"),
            "words that no longer fit"
        );
        assert_eq!(
            reply_parts("word", &calls, Some(&kept), "one"),
            [
                ReplyPart::Text("w", &Value::Null),
                ReplyPart::Own(&own),
                ReplyPart::Call(&calls[0], &seal),
                ReplyPart::Text("ord", &Value::Null),
                ReplyPart::Call(&calls[1], &Value::Null)
            ]
        );
        assert_eq!(reply_parts("word", &calls, Some(&kept), "other"), plain("word"));
        assert_eq!(
            reply_parts("word", &calls[..1], Some(&kept), "one"),
            [ReplyPart::Text("word", &Value::Null), ReplyPart::Call(&calls[0], &Value::Null)]
        );
        assert_eq!(reply_parts("words", &calls, Some(&kept), "one"), plain("words"));
        assert_eq!(reply_parts("", &[], None, "one"), []);
    }
}
