//! The table of tools: their names, in the order models are shown them, and which modes have them.
//! What a tool takes and does is in its own file in the agent; who may call it is decided by
//! `modes` and `policy`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Passes the table of tools to a macro. A tool is one row: its variant of
/// [`ToolName`](crate::tool::ToolName), the name models call it by, the modes that have it, its
/// type below `tools` in the agent, and its peers' names. Those are what tools of the same effect
/// are called in Claude Code, Codex, Roo, Kilo and Kode. Models that were trained on those call
/// them here too; their arguments are mapped where calls are read.
#[macro_export]
macro_rules! tool_table {
    ($expand:ident) => {
        $expand! {
            ReadFile, "read_file", In(Read), files::read::ReadFile,
                // `read_command_output` reads or searches an answer that is kept whole: its
                // arguments say which.
                ["Read", "view_file", "view_image", "NotebookRead", "notebook_read",
                    "read_command_output"];
            ListFiles, "list_files", In(Read), files::list::ListFiles,
                ["LS", "list", "list_dir", "list_directory"];
            Glob, "glob", In(Read), search::glob::Glob, ["Glob", "glob_search"];
            ListCodeDefinitionNames, "list_code_definition_names", In(Read),
                search::outline::ListCodeDefinitionNames, [];
            SearchFiles, "search_files", In(Read), search::grep::SearchFiles,
                ["Grep", "grep_search", "grep_files"];
            CodebaseSearch, "codebase_search", In(Read), search::codebase::CodebaseSearch,
                ["semantic_search"];
            ShowChanges, "show_changes", InWithout(Read, Edit), search::changes::ShowChanges, [];
            WriteToFile, "write_to_file", In(Edit), files::write::WriteToFile,
                ["Write", "create_file"];
            ApplyDiff, "apply_diff", In(Edit),
                files::edit_tool::Editing<files::apply_diff::tool::ApplyDiff>,
                // The last two view and create files, too: their arguments say so.
                ["Edit", "edit_file", "search_replace", "str_replace", "str_replace_editor",
                    "str_replace_based_edit_tool"];
            MultiEdit, "multi_edit", OptIn(Edit),
                files::edit_tool::Editing<files::multi_edit::MultiEdit>,
                ["MultiEdit", "multi_edit_file"];
            SearchAndReplace, "search_and_replace", In(Edit),
                files::edit_tool::Editing<files::search_and_replace::SearchAndReplace>, [];
            InsertContent, "insert_content", OptIn(Edit),
                files::edit_tool::Editing<files::insert_content::InsertContent>, [];
            NotebookEdit, "notebook_edit", OptIn(Edit),
                files::edit_tool::Editing<files::notebook_edit::NotebookEdit>,
                ["NotebookEdit", "edit_notebook"];
            DeleteFile, "delete_file", In(Edit), files::delete_file::DeleteFile,
                ["remove_file", "rm_file"];
            MoveFile, "move_file", In(Edit), files::move_file::MoveFile, ["rename_file"];
            ApplyPatch, "apply_patch", OptIn(Edit), files::apply_patch::tool::ApplyPatch, ["patch"];
            GenerateImage, "generate_image", In(Edit), files::generate::GenerateImage, [];
            ExecuteCommand, "execute_command", In(Command), command::ExecuteCommand,
                ["Bash", "shell", "shell_command", "local_shell", "container.exec",
                    "exec_command", "run_command", "run_terminal_cmd"];
            CommandOutput, "command_output", In(Command), background::output::CommandOutput,
                // With nothing to write, `write_stdin` waits for output.
                ["BashOutput", "TaskOutput", "write_stdin"];
            StopCommand, "stop_command", In(Command), background::stop::StopCommand,
                ["KillShell", "KillBash", "TaskStop", "kill_process"];
            WebFetch, "web_fetch", In(Read), web::fetch::WebFetch, ["WebFetch", "URLFetcher"];
            WebSearch, "web_search", In(Read), web::search::WebSearch,
                // `codesearch` looks for code and its documentation on the web, not here.
                ["WebSearch", "search_web", "codesearch"];
            BrowserAction, "browser_action", In(Browser), browser::action::BrowserAction, [];
            UseMcpTool, "use_mcp_tool", In(Mcp), mcp::call::UseMcpTool, [];
            AccessMcpResource, "access_mcp_resource", In(Mcp), mcp::resource::AccessMcpResource,
                // The last three list resources: they name none.
                ["ReadMcpResourceTool", "read_mcp_resource", "ListMcpResourcesTool",
                    "list_mcp_resources", "list_mcp_resource_templates"];
            GetMcpPrompt, "get_mcp_prompt", In(Mcp), mcp::prompt::GetMcpPrompt, [];
            Skill, "skill", Always, skill::UseSkill, ["Skill"];
            RunSlashCommand, "run_slash_command", Always, flow::slash_command::RunSlashCommand,
                ["SlashCommand"];
            Think, "think", OptInAlways, flow::think::Think, ["Think"];
            FetchInstructions, "fetch_instructions", OptInAlways,
                flow::instructions::FetchInstructions, [];
            AskExpertModel, "ask_expert_model", Always, flow::expert::AskExpertModel,
                ["AskExpertModel"];
            ReadMemory, "read_memory", Always, memory::read::ReadMemory, ["MemoryRead"];
            WriteMemory, "write_memory", Always, memory::write::WriteMemory, ["MemoryWrite"];
            UpdateTodoList, "update_todo_list", Always,
                flow::steering::Steering<flow::todo::UpdateTodoList>,
                ["TodoWrite", "update_plan"];
            AskFollowupQuestion, "ask_followup_question", Always,
                flow::steering::Steering<flow::ask::AskFollowupQuestion>,
                ["AskUserQuestion", "question", "request_user_input"];
            AttemptCompletion, "attempt_completion", Always,
                flow::steering::Steering<flow::complete::AttemptCompletion>, [];
            NewTask, "new_task", Always, flow::new_task::NewTask, ["Task", "Agent", "spawn_agent"];
            SwitchMode, "switch_mode", Always,
                flow::steering::Steering<flow::switch_mode::SwitchMode>,
                ["mode_switch"];
            RequestModeSwitch, "request_mode_switch", Always,
                flow::steering::Steering<flow::request_mode_switch::RequestModeSwitch>, [];
            CoordinateMode, "coordinate_mode", Always,
                flow::steering::Steering<flow::coordinate_mode::CoordinateMode>, [];
        }
    };
}

macro_rules! tool_names {
    ($($tool:ident, $name:literal, $available:expr, $kind:ty, [$($peer:literal),* $(,)?];)+) => {
        /// Every tool there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ToolName {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $tool,
            )+
        }

        impl ToolName {
            /// Every tool, in the order they are shown to models.
            pub const ALL: &'static [Self] = &[$(Self::$tool,)+];

            /// Returns the name the model calls it by.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$tool => $name,)+ }
            }

            /// Returns the names that tools of the same effect have in other agents.
            fn called_by_peers(self) -> &'static [&'static str] {
                match self { $(Self::$tool => &[$($peer),*],)+ }
            }

            /// Returns which modes have it.
            pub fn availability(self) -> Availability {
                use Availability::{Always, In, InWithout, OptIn, OptInAlways};
                use ToolGroup::{Browser, Command, Edit, Mcp, Read};
                match self { $(Self::$tool => $available,)+ }
            }
        }
    };
}

tool_table!(tool_names);

/// Which modes have a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Every mode, whatever its groups.
    Always,
    /// Modes with the group.
    In(ToolGroup),
    /// Modes with the first group and without the second.
    InWithout(ToolGroup, ToolGroup),
    /// Modes with the group, for models whose profile includes the tool by name.
    OptIn(ToolGroup),
    /// Every mode, for models whose profile includes the tool by name. Such a tool has no effect on
    /// anything but the conversation, so that a call by another model is understood, too.
    OptInAlways,
}

impl Availability {
    /// Returns the group that gives the tool; `None` when no group does.
    pub fn group(self) -> Option<ToolGroup> {
        match self {
            Self::Always | Self::OptInAlways => None,
            Self::In(group) | Self::InWithout(group, _) | Self::OptIn(group) => Some(group),
        }
    }
}

/// A set of tools that modes give together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolGroup {
    /// Reading, listing, searching.
    Read,
    /// Creating, changing and deleting files.
    Edit,
    /// Running commands in the checkout.
    Command,
    /// Looking at pages in a browser.
    Browser,
    /// Tools of MCP servers.
    Mcp,
    /// Switching modes and starting sub-tasks, which every mode may ask for.
    Modes,
    /// Deciding in which mode a task goes on.
    Coordinator,
}

impl ToolGroup {
    /// Every group, for iteration.
    pub const ALL: &'static [Self] = &[
        Self::Read,
        Self::Edit,
        Self::Command,
        Self::Browser,
        Self::Mcp,
        Self::Modes,
        Self::Coordinator,
    ];

    /// Returns the name mode files use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Command => "command",
            Self::Browser => "browser",
            Self::Mcp => "mcp",
            Self::Modes => "modes",
            Self::Coordinator => "coordinator",
        }
    }

    /// Finds a group by its name; case matters.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|group| group.as_str() == name)
    }
}

impl ToolName {
    /// Returns the tools without which a mode lacks this one, too: it does what they do in another
    /// way, or more.
    pub fn denied_with(self) -> &'static [Self] {
        match self {
            Self::MultiEdit | Self::SearchAndReplace | Self::InsertContent | Self::NotebookEdit => {
                &[Self::ApplyDiff]
            }
            Self::DeleteFile | Self::MoveFile => &[Self::WriteToFile],
            Self::CommandOutput | Self::StopCommand => &[Self::ExecuteCommand],
            Self::CodebaseSearch => &[Self::SearchFiles],
            Self::ApplyPatch => &[Self::ApplyDiff, Self::WriteToFile],
            _ => &[],
        }
    }

    /// Returns true when the paths it reads may be folders. Of a folder, what lies in it is left
    /// out one by one.
    pub fn reads_folders(self) -> bool {
        matches!(
            self,
            Self::ListFiles
                | Self::Glob
                | Self::ListCodeDefinitionNames
                | Self::SearchFiles
                | Self::CodebaseSearch
                | Self::ShowChanges
                | Self::ExecuteCommand
        )
    }

    /// Returns the tool that brings this one along, in a mode that names the tools it has: what
    /// this one does is a part of that.
    pub fn given_with(self) -> Option<Self> {
        matches!(self, Self::CommandOutput | Self::StopCommand).then_some(Self::ExecuteCommand)
    }

    /// Finds a tool by its own name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.as_str() == name)
    }

    /// Finds the tool that a call means: by its own name, or by the name that another agent's tool
    /// of the same effect has.
    pub fn called(name: &str) -> Option<Self> {
        let name = name.trim();
        let is_called =
            |tool: &Self| tool.called_by_peers().iter().any(|peer| peer.eq_ignore_ascii_case(name));
        Self::find(resolve(name)).or_else(|| Self::ALL.iter().copied().find(is_called))
    }

    /// Returns the other names it is called by, without those of single tools of MCP servers.
    pub fn peer_names(self) -> impl Iterator<Item = &'static str> {
        let aliases =
            ALIASES.iter().filter(move |(_, name)| *name == self.as_str()).map(|(alias, _)| *alias);
        self.called_by_peers().iter().copied().chain(aliases)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Other names of tools.
const ALIASES: &[(&str, &str)] = &[("write_file", "write_to_file")];

/// Returns the name the table has for a tool: `write_to_file` for `write_file`, `use_mcp_tool` for
/// every tool of an MCP server. With single `_` a name may mean several of those: the servers of
/// the run say which.
pub fn resolve(tool: &str) -> &str {
    if tool.starts_with("mcp--") || tool.starts_with("mcp_") {
        return ToolName::UseMcpTool.as_str();
    }
    ALIASES.iter().find(|(alias, _)| *alias == tool).map_or(tool, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::ToolName;

    #[test]
    fn a_call_by_a_peers_name_means_the_tool_of_the_same_effect() {
        for (name, expected) in [
            ("read_file", Some(ToolName::ReadFile)),
            (" Read ", Some(ToolName::ReadFile)),
            ("bash", Some(ToolName::ExecuteCommand)),
            ("Bash", Some(ToolName::ExecuteCommand)),
            ("Glob", Some(ToolName::Glob)),
            ("glob", Some(ToolName::Glob)),
            ("BashOutput", Some(ToolName::CommandOutput)),
            ("KillShell", Some(ToolName::StopCommand)),
            ("TodoWrite", Some(ToolName::UpdateTodoList)),
            ("write_file", Some(ToolName::WriteToFile)),
            ("MultiEdit", Some(ToolName::MultiEdit)),
            ("insert_content", Some(ToolName::InsertContent)),
            ("search_and_replace", Some(ToolName::SearchAndReplace)),
            ("NotebookEdit", Some(ToolName::NotebookEdit)),
            ("WebSearch", Some(ToolName::WebSearch)),
            ("search_web", Some(ToolName::WebSearch)),
            ("SlashCommand", Some(ToolName::RunSlashCommand)),
            ("Think", Some(ToolName::Think)),
            ("str_replace_based_edit_tool", Some(ToolName::ApplyDiff)),
            ("mcp__time__now", Some(ToolName::UseMcpTool)),
            ("mcp_time_now", Some(ToolName::UseMcpTool)),
            ("mcp", None),
            ("mcptime_now", None),
            ("TaskOutput", Some(ToolName::CommandOutput)),
            ("TaskStop", Some(ToolName::StopCommand)),
            ("container.exec", Some(ToolName::ExecuteCommand)),
            ("codesearch", Some(ToolName::WebSearch)),
            ("list_mcp_resources", Some(ToolName::AccessMcpResource)),
            // What has no tool of the same effect.
            ("LSP", None),
            ("sequentialthinking", None),
        ] {
            assert_eq!(ToolName::called(name), expected, "{name}");
        }
    }

    #[test]
    fn every_other_name_of_a_tool_means_it_and_no_tool_of_its_own() {
        for tool in ToolName::ALL {
            for name in tool.peer_names() {
                assert_eq!(ToolName::called(name), Some(*tool), "{name}");
                assert_eq!(ToolName::find(name), None, "{name}");
            }
        }
        assert!(ToolName::WriteToFile.peer_names().any(|name| name == "write_file"));
    }
}
