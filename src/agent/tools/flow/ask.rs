//! `ask_followup_question`: asks the people behind the task.

use serde_json::{Value, json};

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// Most suggested answers to one question.
pub const SUGGESTION_LIMIT: usize = 4;

/// A question about to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskFollowupQuestion {
    question: String,
    suggestions: Vec<String>,
    names_mode: bool,
}

impl AskFollowupQuestion {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::AskFollowupQuestion.to_string(),
            description: "Ask the people behind the task. Nobody is waiting: the run may stop \
                          here until someone answers, so ask only what the repository cannot tell \
                          and the work cannot go on without."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "question": { "type": "string" },
                    "follow_up": {
                        "type": "array", "minItems": 1, "maxItems": SUGGESTION_LIMIT, "items": { "type": "string" },
                        "description": "Complete answers to choose from, best first"
                    }
                },
                "required": ["question", "follow_up"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments; a suggestion is a text or an object with a `text`.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let question = arguments.words("question", "what to ask")?;
        let meaning = "1 to 4 suggested answers, best first";
        let items = arguments.list("follow_up", meaning)?;
        arguments.finish()?;
        let names_mode =
            items.iter().any(|item| item.get("mode").is_some_and(|mode| !mode.is_null()));
        let suggestions: Option<Vec<String>> = items.into_iter().map(suggestion).collect();
        match suggestions {
            Some(suggestions) if (1..=SUGGESTION_LIMIT).contains(&suggestions.len()) => {
                Ok(Self { question, suggestions, names_mode })
            }
            Some(_) | None => Err(CallError(format!(
                "`follow_up` of `ask_followup_question` must be {meaning}, each a text that is \
                 not empty."
            ))),
        }
    }

    /// Returns the question.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// Hands the question to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let text = if self.names_mode {
            "The question is put; a mode in a suggestion is ignored."
        } else {
            "The question is put."
        };
        let control =
            Control::Ask { question: self.question.clone(), suggestions: self.suggestions.clone() };
        Observation { control: Some(control), ..Observation::said(text) }
    }
}

fn suggestion(item: Value) -> Option<String> {
    let text = match item {
        Value::String(text) => text,
        Value::Object(fields) => {
            fields.get("text").or_else(|| fields.get("answer"))?.as_str()?.to_owned()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::AskFollowupQuestion;
    use crate::tools::arguments::Arguments;
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    fn parse(text: &str) -> Option<AskFollowupQuestion> {
        AskFollowupQuestion::parse(Arguments::parse(ToolName::AskFollowupQuestion, text).unwrap())
            .ok()
    }

    #[test]
    fn takes_texts_and_objects_as_suggestions() {
        let asked =
            parse(r#"{"question": "Which?", "follow_up": ["a", {"text": "b", "mode": "code"}]}"#)
                .unwrap();
        assert_eq!(asked.suggestions, ["a", "b"]);
        assert!(asked.perform().text.contains("mode in a suggestion is ignored"));
    }

    #[test]
    fn refuses_none_too_many_and_empty_suggestions() {
        for list in ["[]", r#"["a","b","c","d","e"]"#, r#"[" "]"#, "[3]", "null"] {
            assert_eq!(
                parse(&format!(r#"{{"question": "Which?", "follow_up": {list}}}"#)),
                None,
                "{list}"
            );
        }
        assert_eq!(parse(r#"{"question": " ", "follow_up": ["a"]}"#), None);
    }
}
