//! `new_task`: hands a part of the work to a sub-task in another mode.

use serde_json::json;

use crate::base::chat::ToolSpec;
use crate::base::tool::ToolName;
use crate::tools::arguments::Arguments;
use crate::tools::flow::todo;
use crate::tools::{CallError, Control, Observation, Todo};

/// A sub-task about to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    mode: String,
    message: String,
    todos: Vec<Todo>,
}

impl NewTask {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::NewTask.to_string(),
            description: "Start a sub-task in the given mode and wait for its result. It sees nothing of this conversation: \
                          the message must hold all it needs, its limits, and what to report back."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "mode": { "type": "string", "description": "The mode of the sub-task, e.g. `code`" },
                    "message": { "type": "string", "description": "The complete instructions" },
                    "todos": { "type": ["string", "null"], "description": "Its first checklist, one `- [ ] step` a line" }
                },
                "required": ["mode", "message"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments. Whether the mode exists is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let mode = arguments.words("mode", "the mode of the sub-task")?.trim().to_owned();
        let message = arguments.words("message", "the complete instructions of the sub-task")?;
        let todos = match arguments.optional_text("todos", "a checklist, one `- [ ] step` a line")? {
            Some(text) => todo::parse(&text)?,
            None => Vec::new(),
        };
        arguments.finish()?;
        Ok(Self { mode, message, todos })
    }

    /// Returns the mode asked for.
    #[must_use]
    pub fn mode(&self) -> &str {
        &self.mode
    }

    /// Returns what it is to do.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns its first checklist.
    #[must_use]
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// Hands the sub-task to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let control = Control::NewTask { mode: self.mode.clone(), message: self.message.clone(), todos: self.todos.clone() };
        Observation { control: Some(control), ..Observation::said(format!("A sub-task in {} mode is started.", self.mode)) }
    }
}
