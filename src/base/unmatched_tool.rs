//! Tools of Claude Code, Codex, Kilo and Kode that no tool here stands for, each with what to do
//! instead. Models that were trained on those agents call them here too.
//!
//! In: the name of a call. Out: a sentence for the model. Names that mean a tool here are in the
//! table of [`ToolName`](crate::tool::ToolName).

/// Tools with one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmatchedTool {
    /// Their names.
    pub names: &'static [&'static str],
    /// What to do instead: one sentence.
    pub instead: &'static str,
}

/// The tools that have no counterpart.
pub const UNMATCHED_TOOLS: &[UnmatchedTool] = &[
    UnmatchedTool {
        names: &["LSP"],
        instead: "No language server runs here: `list_code_definition_names` shows what a file \
                  defines, and `search_files` where a name is used.",
    },
    UnmatchedTool {
        names: &["EnterPlanMode", "ExitPlanMode", "plan_enter", "plan_exit"],
        instead: "Nobody is there to approve a plan: do the work, or end with the plan as `result` \
                  of `attempt_completion`.",
    },
    UnmatchedTool {
        names: &["Architect"],
        instead: "Plan it yourself, or have a sub-task in mode `architect` do it with `new_task`.",
    },
    UnmatchedTool {
        names: &["ToolSearch", "MCPSearch", "tool_search"],
        instead: "Every tool that there is has been listed: call it by its name.",
    },
    UnmatchedTool {
        names: &["batch", "multi_tool_use.parallel"],
        instead: "Make the calls themselves, several of them in one reply.",
    },
    UnmatchedTool {
        names: &["TodoRead", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"],
        instead: "The checklist is what you last sent with `update_todo_list`, which takes the \
                  whole of it.",
    },
    UnmatchedTool {
        names: &[
            "wait_agent",
            "send_input",
            "send_message",
            "SendMessage",
            "followup_task",
            "resume_agent",
            "close_agent",
            "list_agents",
        ],
        instead: "`new_task` waits for its sub-task and answers with the result: put all that it \
                  needs into its `message`.",
    },
    UnmatchedTool {
        names: &["TeamCreate", "TeamDelete", "Workflow", "spawn_agents_on_csv", "agent_manager"],
        instead: "`new_task` starts a sub-task; several in one reply can run in parallel.",
    },
    UnmatchedTool {
        names: &["Monitor", "background_process", "interactive_terminal"],
        instead: "`execute_command` with `background: true` starts a command, `command_output` \
                  reads what it prints, and `stop_command` ends it.",
    },
    UnmatchedTool {
        names: &["PowerShell"],
        instead: "Commands are scripts for `bash`, which `execute_command` runs.",
    },
    UnmatchedTool {
        names: &["js_repl", "notebook_execute"],
        instead: "Run the interpreter, or the notebook, with `execute_command`.",
    },
    UnmatchedTool {
        names: &["EnterWorktree", "ExitWorktree"],
        instead: "Work in the checkout as it is: the run takes care of branches and worktrees.",
    },
    UnmatchedTool {
        names: &["CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "RemoteTrigger"],
        instead: "A run ends with its task and schedules nothing: do it now, or say in the \
                  `result` of `attempt_completion` what is to be done later.",
    },
    UnmatchedTool {
        names: &["request_permissions"],
        instead: "The policy does not change during a run: do what it allows, and name what was \
                  refused in the `result` of `attempt_completion`.",
    },
    UnmatchedTool {
        names: &["PushNotification", "notify_user", "send_file", "Artifact"],
        instead: "People read the `result` of `attempt_completion` and the files that you change.",
    },
    UnmatchedTool {
        names: &["get_goal", "create_goal", "update_goal"],
        instead: "The task is the goal, and `attempt_completion` ends it, with its `status`.",
    },
    UnmatchedTool {
        names: &["kilo_memory_recall", "kilo_memory_save", "kilo_local_recall"],
        instead: "Notes of earlier runs are read with `read_memory` and written with \
                  `write_memory`, by their names.",
    },
];

impl UnmatchedTool {
    /// Finds what is said of a name; case makes no difference.
    pub fn find(name: &str) -> Option<Self> {
        let name = name.trim();
        let is_of = |tool: &&Self| tool.names.iter().any(|one| one.eq_ignore_ascii_case(name));
        UNMATCHED_TOOLS.iter().find(is_of).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{UNMATCHED_TOOLS, UnmatchedTool};
    use crate::tool::ToolName;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_without_a_counterpart_has_one_sentence_and_means_no_tool() {
        let mut seen = BTreeSet::new();
        for tool in UNMATCHED_TOOLS {
            assert!(tool.instead.ends_with('.') && !tool.instead.contains(". "), "{tool:?}");
            for name in tool.names {
                assert!(seen.insert(name.to_lowercase()), "{name} stands there twice");
                assert_eq!(ToolName::called(name), None, "{name}");
                assert_eq!(UnmatchedTool::find(&format!(" {} ", name.to_uppercase())), Some(*tool));
            }
        }
        for name in ["execute_command", "Bash", "sequentialthinking", ""] {
            assert_eq!(UnmatchedTool::find(name), None, "{name}");
        }
    }

    #[test]
    fn what_a_sentence_names_exists() {
        for tool in UNMATCHED_TOOLS {
            let named = tool.instead.split('`').skip(1).step_by(2);
            for name in named.filter(|name| name.contains('_')) {
                assert!(ToolName::find(name).is_some(), "{name} in {tool:?}");
            }
        }
    }
}
