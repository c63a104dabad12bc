//! The tools' names and the groups modes give them in. What a tool does is in `tools`; who may call
//! it is decided by `modes` and `policy`.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! tool_names {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)+) => {
        /// Every tool there is; its name for the model is the variant in `snake_case`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ToolName { $($(#[$doc])* $variant,)+ }

        impl ToolName {
            /// Every tool, in the order they are shown to models.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name the model calls it by.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

tool_names! {
    /// Reads a file or a part of it.
    ReadFile => "read_file",
    /// Lists a folder.
    ListFiles => "list_files",
    /// Searches file contents by regular expression.
    SearchFiles => "search_files",
    /// Writes a whole file.
    WriteToFile => "write_to_file",
    /// Applies search/replace blocks to a file.
    ApplyDiff => "apply_diff",
    /// Applies one patch to several files; only for models whose profile asks for it.
    ApplyPatch => "apply_patch",
    /// Has another model draw a picture and writes it to a file.
    GenerateImage => "generate_image",
    /// Runs a command.
    ExecuteCommand => "execute_command",
    /// Reads a page from the web.
    WebFetch => "web_fetch",
    /// Calls a tool of an MCP server; models see each of these tools under a name of its own.
    UseMcpTool => "use_mcp_tool",
    /// Reads a resource of an MCP server.
    AccessMcpResource => "access_mcp_resource",
    /// Gives the instructions of a skill.
    Skill => "skill",
    /// Asks another model a question.
    AskExpertModel => "ask_expert_model",
    /// Replaces the task's checklist.
    UpdateTodoList => "update_todo_list",
    /// Asks the people behind the task; ends the run with a question when the policy says so.
    AskFollowupQuestion => "ask_followup_question",
    /// Ends the task with a result.
    AttemptCompletion => "attempt_completion",
    /// Starts a sub-task in another mode.
    NewTask => "new_task",
    /// Changes the mode of the running task.
    SwitchMode => "switch_mode",
    /// Asks the coordinator for another mode of the running task.
    RequestModeSwitch => "request_mode_switch",
    /// Decides on such a request.
    CoordinateMode => "coordinate_mode",
}

impl ToolName {
    /// Finds a tool by the name a model wrote.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.as_str() == name)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Other names of tools.
const ALIASES: &[(&str, &str)] = &[("write_file", "write_to_file"), ("search_and_replace", "edit")];

/// The tool that stands for every tool of an MCP server.
const MCP_TOOL: &str = "use_mcp_tool";

/// Brings a name to the one the table has: `write_file` to `write_to_file`.
#[must_use]
pub fn resolve(tool: &str) -> &str {
    if tool.starts_with("mcp--") || tool.starts_with("mcp__") {
        return MCP_TOOL;
    }
    ALIASES.iter().find(|(alias, _)| *alias == tool).map_or(tool, |(_, name)| name)
}
