//! `ask_expert_model`: asks another model one question.

use serde_json::json;

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// Longest question, in bytes.
const QUESTION_LIMIT_BYTES: usize = 64 * 1024;

/// A question about to be put to another model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskExpertModel {
    question: String,
    expert: String,
}

impl AskExpertModel {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::AskExpertModel.to_string(),
            description: "Ask another model one question and get its answer. It sees nothing of \
                          this task and has no tools: the question holds everything it needs, \
                          code and errors included. It costs from this task's budget."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "question": { "type": "string", "description": "What it is told: background, what was tried, what to answer" },
                    "expert": { "type": "string", "description": "Which model: one of the experts named in the prompt" }
                },
                "required": ["question", "expert"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments. Whether there is such an expert is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let question =
            arguments.words("question", "what to ask, with everything the expert needs")?;
        let expert = arguments.words("expert", "the expert to ask")?.trim().to_owned();
        arguments.finish()?;
        if question.len() > QUESTION_LIMIT_BYTES {
            return Err(CallError(format!(
                "`question` of `ask_expert_model` has more than {QUESTION_LIMIT_BYTES} bytes. Ask \
                 about a part."
            )));
        }
        Ok(Self { question, expert })
    }

    /// Returns who is asked.
    #[must_use]
    pub fn expert(&self) -> &str {
        &self.expert
    }

    /// Hands the question to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let control =
            Control::AskExpert { question: self.question.clone(), expert: self.expert.clone() };
        Observation { control: Some(control), ..Observation::said("The question is put.") }
    }
}
