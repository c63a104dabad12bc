//! The shape every request must have: starts with a user message, every call answered once and in
//! place, no answer without a call.
//!
//! In: the messages of a request. Out: nothing, or a sentence that names the message at fault. It
//! looks at no text.

use std::collections::BTreeSet;

use locum_base::chat::{Message, ToolCall, ToolResult};

/// Checks the shape of a conversation that is about to be sent.
///
/// # Errors
/// Names the first message (counted from 1) that breaks it and how.
pub(crate) fn check_conversation(messages: &[Message]) -> Result<(), String> {
    let mut open: &[ToolCall] = &[];
    for (at, message) in messages.iter().enumerate() {
        let number = at + 1;
        match message {
            Message::Images { .. } if at == 0 => {
                return Err(
                    "message 1 is images; a conversation starts with a user message".to_owned()
                );
            }
            Message::User { .. } | Message::Images { .. } => check_answered(open, number)?,
            Message::Assistant { .. } if at == 0 => {
                return Err(
                    "message 1 is the assistant's; a conversation starts with a user message"
                        .to_owned(),
                );
            }
            Message::Assistant { calls, .. } => {
                check_answered(open, number)?;
                check_ids(calls, number)?;
                open = calls;
            }
            Message::Tool { results } => {
                check_results(open, results, number)?;
                open = &[];
            }
        }
    }
    match messages.last() {
        None => Err("there are no messages; a conversation starts with a user message".to_owned()),
        Some(Message::Assistant { .. }) => Err(format!(
            "message {}, the last, is the assistant's: nothing was said or answered since",
            messages.len()
        )),
        Some(Message::User { .. } | Message::Images { .. } | Message::Tool { .. }) => Ok(()),
    }
}

fn check_answered(open: &[ToolCall], number: usize) -> Result<(), String> {
    match open.first() {
        None => Ok(()),
        Some(call) => Err(format!(
            "message {number} comes while call `{}` of `{}` is not answered",
            call.id, call.name
        )),
    }
}

fn check_ids(calls: &[ToolCall], number: usize) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    match calls.iter().find(|call| !seen.insert(call.id.as_str())) {
        None => Ok(()),
        Some(call) => Err(format!("message {number} holds two calls named `{}`", call.id)),
    }
}

fn check_results(open: &[ToolCall], results: &[ToolResult], number: usize) -> Result<(), String> {
    if let Some(orphan) =
        results.iter().find(|result| !open.iter().any(|call| call.id == result.call_id))
    {
        return Err(format!(
            "message {number} answers `{}`, which the message before did not call",
            orphan.call_id
        ));
    }
    if let Some(call) =
        open.iter().find(|call| !results.iter().any(|result| result.call_id == call.id))
    {
        return Err(format!(
            "message {number} leaves call `{}` of `{}` without an answer",
            call.id, call.name
        ));
    }
    let in_order = open.len() == results.len()
        && open.iter().zip(results).all(|(call, result)| call.id == result.call_id);
    if in_order {
        Ok(())
    } else {
        Err(format!("message {number} does not answer each call once and in call order"))
    }
}

#[cfg(test)]
mod tests {
    use super::check_conversation;
    use locum_base::chat::{Message, ToolCall, ToolResult};

    fn user() -> Message {
        Message::User { text: "do it".into() }
    }

    fn assistant(ids: &[&str]) -> Message {
        let calls = ids
            .iter()
            .map(|id| ToolCall {
                id: (*id).into(),
                name: "read_file".into(),
                arguments: "{}".into(),
            })
            .collect();
        Message::Assistant { text: String::new(), reasoning: String::new(), calls, opaque: None }
    }

    fn tool(ids: &[&str]) -> Message {
        Message::Tool {
            results: ids
                .iter()
                .map(|id| ToolResult {
                    call_id: (*id).into(),
                    text: "ok".into(),
                    ..ToolResult::default()
                })
                .collect(),
        }
    }

    #[test]
    fn accepts_conversations_whose_calls_are_all_answered() {
        for messages in [
            vec![user()],
            vec![user(), user()],
            vec![user(), assistant(&["a", "b"]), tool(&["a", "b"])],
            vec![user(), assistant(&["a"]), tool(&["a"]), assistant(&["a"]), tool(&["a"]), user()],
            vec![user(), assistant(&[]), user()],
        ] {
            assert_eq!(check_conversation(&messages), Ok(()), "{messages:?}");
        }
    }

    #[test]
    fn names_what_is_torn() {
        for (messages, words) in [
            (vec![], "no messages"),
            (vec![assistant(&[]), user()], "message 1 is the assistant's"),
            (vec![tool(&["a"])], "answers `a`"),
            (vec![user(), assistant(&["a"]), user()], "call `a` of `read_file` is not answered"),
            (vec![user(), assistant(&["a", "b"]), tool(&["a"])], "leaves call `b`"),
            (vec![user(), assistant(&["a"]), tool(&["a", "z"])], "answers `z`"),
            (vec![user(), assistant(&["a"]), tool(&["a"]), tool(&["a"])], "message 4 answers `a`"),
            (vec![user(), assistant(&["a", "b"]), tool(&["b", "a"])], "in call order"),
            (vec![user(), assistant(&["a"]), tool(&["a", "a"])], "once"),
            (vec![user(), assistant(&["a", "a"]), tool(&["a", "a"])], "two calls named `a`"),
            (vec![user(), assistant(&[])], "the last, is the assistant's"),
        ] {
            let fault = check_conversation(&messages).unwrap_err();
            assert!(fault.contains(words), "{fault} should say {words}");
        }
    }
}
