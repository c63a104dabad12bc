//! `new_task`: hands a part of the work to a sub-task in another mode.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::flow::todo;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, Todo, ToolContext};
use locum_base::chat::ToolCall;
use locum_base::id::TaskId;
use locum_base::text::{head, single_blanks};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most bytes of a title.
const TITLE_LIMIT_BYTES: usize = 120;

/// The argument that makes a sub-task wait for others.
const AFTER: &str = "after";
const AFTER_MEANING: &str = "whether it begins after those before it";

/// A sub-task about to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// The requested mode.
    pub mode: String,
    /// What it is called, in one line; a reader of the run tells sub-tasks apart by it.
    pub title: Option<String>,
    /// What it is to do.
    pub message: String,
    /// Its first checklist.
    pub todos: Vec<Todo>,
    /// Its share among parallel sub-tasks.
    pub priority: TaskPriority,
    /// What it has to know.
    pub context: Option<String>,
    /// Whether it waits for those before it in the same reply, and reads their results.
    pub after: bool,
}

/// Share of the remaining budget a sub-task may spend, compared with parallel ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskPriority {
    /// Half of a normal one's share.
    Low,
    /// An equal share of what is left.
    #[default]
    Normal,
    /// Twice a normal one's share.
    High,
}

impl TaskPriority {
    /// Shares of a normal sub-task.
    pub const NORMAL_SHARES: u32 = 2;

    /// Returns how many shares it gets.
    pub fn shares(self) -> u32 {
        match self {
            Self::Low => 1,
            Self::Normal => Self::NORMAL_SHARES,
            Self::High => 4,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    fn find(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "low" => Some(Self::Low),
            "" | "normal" | "medium" => Some(Self::Normal),
            "high" | "urgent" => Some(Self::High),
            _ => None,
        }
    }
}

impl NewTask {
    /// Returns what the sub-task is called among those of its session.
    pub fn named(&self, number: TaskId) -> String {
        let title = self.title.as_ref().map(|title| format!(", `{title}`")).unwrap_or_default();
        format!("sub-task {number}{title}, priority {}", self.priority.as_str())
    }

    /// Returns true for a call that waits for those before it; what is wrong with it is said when
    /// it is read.
    pub fn waits(call: &ToolCall) -> bool {
        CallFields::parse(ToolName::NewTask, &call.arguments)
            .and_then(|mut arguments| arguments.flag(AFTER, false, AFTER_MEANING))
            .unwrap_or_default()
    }
}

impl Tool for NewTask {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Start a sub-task in the given mode and wait for its result. \
        It sees nothing of this conversation: the message must hold all it needs, its limits, and \
        what to report back.";
    const REQUIRED: &'static [&'static str] = &["mode", "message"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[
            ("subagent_type", "mode"),
            ("agent", "mode"),
            ("agent_type", "mode"),
            ("mode_slug", "mode"),
            ("prompt", "message"),
            ("instructions", "message"),
        ]],
        hook_names: &["Task", "Agent"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "mode": { "type": "string", "description": "The mode of the sub-task, e.g. `code`" },
            "message": { "type": "string", "description": "The complete instructions" },
            "title": { "type": ["string", "null"], "description": "A short name" },
            "todos": { "type": ["string", "null"], "description": "Its first checklist, one `- [ ] step` a line" },
            "priority": { "type": ["string", "null"], "enum": ["low", "normal", "high", null], "description": "Its share of the budget" },
            "context": { "type": ["string", "null"], "description": "What it has to know" },
            "after": { "type": ["boolean", "null"], "description": "Begin after those before it, with their results" }
        })
    }

    /// Checks the arguments. Whether the mode exists is the session's to say.
    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let mode = arguments.words("mode", "the mode of the sub-task")?.trim().to_owned();
        let message = arguments.words("message", "the complete instructions of the sub-task")?;
        let title = arguments.optional_text("title", "a short name of the sub-task")?;
        let title = title.unwrap_or_default();
        let title = single_blanks(&title).replace('`', "'");
        let todos = arguments.optional_value("todos");
        let todos = todos.map(|list| todo::read(&list)).transpose()?.unwrap_or_default();
        let priority =
            arguments.optional_text("priority", "`low`, `normal` or `high`")?.unwrap_or_default();
        let Some(priority) = TaskPriority::find(&priority) else {
            return Err(CallError(
                "`priority` of `new_task` must be `low`, `normal` or `high`.".to_owned(),
            ));
        };
        let context = arguments.optional_text("context", "what the sub-task has to know")?;
        let after = arguments.flag(AFTER, false, AFTER_MEANING)?;
        arguments.finish()?;
        Ok(Self {
            after,
            mode,
            title: Some(head(&title, TITLE_LIMIT_BYTES).to_owned()).filter(|it| !it.is_empty()),
            message,
            todos,
            priority,
            context: context.filter(|text| !text.trim().is_empty()),
        })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Delegate(self.mode.clone())]
    }

    fn headline(&self) -> String {
        let title = self.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
        format!("start a sub-task in {} mode{title}", self.mode)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        Ok(Observation::said(format!("A sub-task in {} mode is started.", self.mode)))
    }
}
