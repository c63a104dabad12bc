//! What a script expects of a request, checked.
//!
//! In: the expectation and the request. Out: nothing, or a sentence a user can act on. Only the
//! messages since the last reply are looked at: what a script asserts is the effect of the turn
//! before.

use std::borrow::Cow;

use crate::ModelRequest;
use crate::scripted::script::Expectation;
use locum_base::chat::Message;
use locum_base::text::{ClippedText, code_list};

/// Most bytes of the last messages shown in a difference.
const SHOWN_LIMIT_BYTES: usize = 2000;

/// Checks an expectation against a request.
///
/// # Errors
/// Says what was expected and what was there.
pub(super) fn check_expectation(
    expected: &Expectation,
    request: &ModelRequest<'_>,
) -> Result<(), String> {
    let received = last_messages(request.messages);
    let holds = |words: &&String| received.contains(words.as_str());
    if let Some(words) = expected.contains.iter().find(|words| !holds(words)) {
        return Err(format!(
            "the last messages do not contain `{words}`; they are:\n{}",
            quoted(&received)
        ));
    }
    if let Some(words) = expected.not_contains.iter().find(holds) {
        return Err(format!(
            "the last messages contain `{words}`, which they must not; they are:\n{}",
            quoted(&received)
        ));
    }
    let offered = |name: &&String| request.tools.iter().any(|tool| tool.name == **name);
    if let Some(name) = expected.tools.iter().find(|name| !offered(name)) {
        return Err(format!(
            "tool `{name}` is not offered; offered are {}",
            offered_names(request)
        ));
    }
    if let Some(name) = expected.not_tools.iter().find(offered) {
        return Err(format!(
            "tool `{name}` is offered, which it must not be; offered are {}",
            offered_names(request)
        ));
    }
    Ok(())
}

/// Returns the texts that came since the model last spoke, one below the other.
fn last_messages(messages: &[Message]) -> String {
    let since = messages
        .iter()
        .rposition(|message| matches!(message, Message::Assistant { .. }))
        .map_or(0, |at| at + 1);
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for message in messages.iter().skip(since) {
        match message {
            Message::User { text } | Message::Assistant { text, .. } => texts.push(text.into()),
            Message::Images { images } => {
                texts.extend(images.iter().map(|image| format!("[{image}]").into()))
            }
            Message::Tool { results } => {
                texts.extend(results.iter().map(|result| Cow::from(&result.text)))
            }
        }
    }
    texts.join("\n")
}

fn quoted(text: &str) -> String {
    let clipped = ClippedText::head_tail(text, SHOWN_LIMIT_BYTES).text;
    clipped.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

fn offered_names(request: &ModelRequest<'_>) -> String {
    if request.tools.is_empty() {
        return "none".to_owned();
    }
    code_list(request.tools.iter().map(|tool| &tool.name))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::check_expectation;
    use crate::ModelRequest;
    use crate::scripted::script::Expectation;
    use locum_base::chat::{Message, ToolSpec};

    fn check(expected: Expectation) -> Result<(), String> {
        let messages = [
            Message::User { text: "old words".into() },
            Message::Assistant {
                text: "spoken".into(),
                reasoning: String::new(),
                calls: vec![],
                opaque: None,
            },
            Message::User { text: "new words\nsecond line".into() },
        ];
        let tools = [ToolSpec {
            name: "read_file".into(),
            description: String::new(),
            parameters: serde_json::json!({}),
        }];
        let request =
            ModelRequest { tools: &tools, mode: "ask", turn: 1, ..ModelRequest::with(&messages) };
        check_expectation(&expected, &request)
    }

    fn list(words: &str) -> Vec<String> {
        vec![words.to_owned()]
    }

    #[test]
    fn looks_only_at_what_came_since_the_last_reply() {
        assert_eq!(
            check(Expectation {
                contains: list("new words"),
                not_contains: list("old words"),
                ..Expectation::default()
            }),
            Ok(())
        );
        let fault = check(Expectation { contains: list("old words"), ..Expectation::default() })
            .unwrap_err();
        assert_eq!(
            fault,
            "the last messages do not contain `old words`; they are:\n  | new words\n  | second \
             line"
        );
        assert!(
            check(Expectation { not_contains: list("second"), ..Expectation::default() })
                .unwrap_err()
                .contains("must not")
        );
    }

    #[test]
    fn checks_the_tools_offered() {
        assert_eq!(
            check(Expectation {
                tools: list("read_file"),
                not_tools: list("write_to_file"),
                ..Expectation::default()
            }),
            Ok(())
        );
        assert!(
            check(Expectation { tools: list("write_to_file"), ..Expectation::default() })
                .unwrap_err()
                .contains("offered are `read_file`")
        );
        assert!(
            check(Expectation { not_tools: list("read_file"), ..Expectation::default() })
                .unwrap_err()
                .contains("must not be")
        );
    }
}
