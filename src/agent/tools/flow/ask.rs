//! `ask_followup_question`: asks the maintainers behind the task.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::peer_words::PeerWords;
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// Most suggested answers to one question.
pub const SUGGESTION_LIMIT: usize = 4;

/// The tool that asks people.
#[derive(Clone, Debug)]
pub struct AskFollowupQuestion;

impl SteeringTool for AskFollowupQuestion {
    const DESCRIPTION: &'static str = "Ask the people behind the task. Nobody is waiting: the run \
        may stop here until someone answers, so ask only what the repository cannot tell and the \
        work cannot go on without.";
    const REQUIRED: &'static [&'static str] = &["question", "follow_up"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[
            ("options", "follow_up"),
            ("suggestions", "follow_up"),
            ("followUp", "follow_up"),
        ]],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "question": { "type": "string" },
            "follow_up": {
                "type": "array", "minItems": 1, "maxItems": SUGGESTION_LIMIT, "items": { "type": "string" },
                "description": "Complete answers to choose from, best first"
            }
        })
    }

    /// Checks the arguments; a suggestion is a text or an object with a `text`.
    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let question = arguments.words("question", "what to ask")?;
        let meaning = "1 to 4 suggested answers, best first";
        let items = match arguments.optional_value("follow_up") {
            Some(Value::Array(items)) => items,
            Some(Value::String(text)) => {
                let lines = text.lines().map(|line| line.trim().trim_start_matches(['-', '*']));
                lines.map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
            }
            Some(_) => Vec::new(),
            None => {
                return Err(CallError(format!(
                    "`ask_followup_question` needs `follow_up`: {meaning}."
                )));
            }
        };
        arguments.finish()?;
        let names_mode =
            items.iter().any(|item| item.get("mode").is_some_and(|mode| !mode.is_null()));
        let suggestions: Option<Vec<String>> = items.into_iter().map(suggestion).collect();
        match suggestions {
            Some(suggestions) if (1..=SUGGESTION_LIMIT).contains(&suggestions.len()) => {
                Ok(SteeringCall {
                    intent: Intent::Session,
                    headline: format!("ask: {question}"),
                    said: if names_mode {
                        "The question is put; a mode in a suggestion is ignored.".to_owned()
                    } else {
                        "The question is put.".to_owned()
                    },
                    control: Control::Ask { question, suggestions },
                })
            }
            Some(_) | None => Err(CallError(format!(
                "`follow_up` of `ask_followup_question` must be {meaning}, each a text that is \
                 not empty."
            ))),
        }
    }
}

fn suggestion(item: Value) -> Option<String> {
    let text = match item {
        Value::String(text) => text,
        Value::Object(fields) => ["text", "answer", "label"]
            .iter()
            .find_map(|name| fields.get(*name))?
            .as_str()?
            .to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::ToolFixture;
    use crate::tools::{Control, Observation};
    use pretty_assertions::assert_eq;

    fn ask(arguments: &str) -> Observation {
        ToolFixture::new(&[]).call("ask_followup_question", arguments)
    }

    #[test]
    fn takes_texts_and_objects_as_suggestions() {
        let asked =
            ask(r#"{"question": "Which?", "follow_up": ["a", {"text": "b", "mode": "code"}]}"#);
        let suggestions = vec!["a".into(), "b".into()];
        assert_eq!(asked.control, Some(Control::Ask { question: "Which?".into(), suggestions }));
        assert!(asked.text.contains("mode in a suggestion is ignored"));
    }

    #[test]
    fn refuses_none_too_many_and_empty_suggestions() {
        for list in ["[]", r#"["a","b","c","d","e"]"#, r#"[" "]"#, "[3]", "null"] {
            let asked = ask(&format!(r#"{{"question": "Which?", "follow_up": {list}}}"#));
            assert_eq!((asked.is_error, asked.control), (true, None), "{list}");
        }
        assert!(ask(r#"{"question": " ", "follow_up": ["a"]}"#).is_error);
    }
}
