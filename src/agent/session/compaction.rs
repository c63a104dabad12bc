//! Which messages a conversation loses when it grows too long, and how often its model may say that
//! it has.

use locum_base::chat::Message;

/// Fewest messages that are worth being left out.
const WORTH_MESSAGES: usize = 3;
/// How often in a row a conversation is compacted because its model says that it is too long.
const OVERFLOWS_LIMIT: u32 = 3;

/// A model refused a request as longer than its context window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContextOverflow {
    /// True until the conversation was compacted.
    pub(crate) is_open: bool,
    /// How often in a row.
    pub(crate) times: u32,
}

impl ContextOverflow {
    /// Notes one more; false when there were too many.
    pub(crate) fn note(&mut self) -> bool {
        self.is_open = true;
        self.times += 1;
        self.times <= OVERFLOWS_LIMIT
    }
}

/// Returns how many messages to leave out so that about `keep_bytes` stay: what stays begins with a
/// reply, so that no answer loses its call.
pub(crate) fn cut(messages: &[Message], keep_bytes: usize) -> Option<usize> {
    let begins_turn = |at: usize| matches!(messages.get(at), Some(Message::Assistant { .. }));
    let mut kept_bytes = 0;
    let mut found = None;
    for at in (WORTH_MESSAGES..messages.len()).rev() {
        kept_bytes += messages.get(at).map_or(0, Message::size_bytes);
        if begins_turn(at) {
            // The last turn stays, however long it is.
            if kept_bytes > keep_bytes && found.is_some() {
                break;
            }
            found = Some(at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::cut;
    use locum_base::chat::{Message, ToolCall, ToolResult};
    use pretty_assertions::assert_eq;

    /// A conversation of turns with one call each, whose answers have this many bytes.
    fn turns(answers: &[usize]) -> Vec<Message> {
        let mut messages = vec![Message::User { text: "go".into() }];
        for size in answers {
            let calls = vec![ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() }];
            messages.push(Message::Assistant {
                text: String::new(),
                reasoning: String::new(),
                calls,
                opaque: None,
            });
            let result = ToolResult {
                call_id: "c".into(),
                text: "x".repeat(*size),
                ..ToolResult::default()
            };
            messages.push(Message::Tool { results: vec![result] });
        }
        messages
    }

    #[test]
    fn what_stays_begins_with_a_reply_and_fits() {
        for (answers, keep_bytes, left_out) in [
            (&[100, 100, 100, 100][..], 1000, Some(3)),
            (&[100, 100, 100, 100], 250, Some(5)),
            (&[100, 100, 100, 100], 0, Some(7)),
            (&[100, 100, 100, 9000], 250, Some(7)),
            (&[100, 100], 0, Some(3)),
            (&[100], 0, None),
            (&[], 0, None),
        ] {
            let messages = turns(answers);
            assert_eq!(cut(&messages, keep_bytes), left_out, "{answers:?} {keep_bytes}");
            if let Some(at) = left_out {
                assert!(matches!(messages[at], Message::Assistant { .. }));
            }
        }
    }
}
