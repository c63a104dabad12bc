//! The names other programs have for tools. In: a word from an agent file or a mode's `tools`; out:
//! what it gives here.

use locum_base::tool::{ToolGroup, ToolName};

/// What a word gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedTools {
    /// Every tool of a group.
    Group(ToolGroup),
    /// Some tools of a group.
    Tools(ToolGroup, Vec<ToolName>),
    /// A tool every mode has, or one this program does by itself.
    Always,
    /// Nothing this program knows.
    Unknown,
}

/// Words, in lower case without `_` and `-`, and the tools of this program they mean.
const WORDS: &[(&[&str], &[&str])] = &[
    (
        &["read", "fileread", "view", "viewfile", "notebookread", "readmanyfiles", "cat"],
        &["read_file"],
    ),
    (&["glob", "ls", "list", "listdir", "listdirectory", "find", "changes"], &["list_files"]),
    (&["grep", "search", "searchfiles", "usages", "ripgrep"], &["search_files"]),
    (&["codebase", "codebasesearch"], &["codebase_search", "search_files"]),
    (
        &["write", "filewrite", "writefile", "createfile", "new"],
        &["write_to_file", "generate_image"],
    ),
    (
        &[
            "edit",
            "fileedit",
            "editfile",
            "editfiles",
            "multiedit",
            "patch",
            "applypatch",
            "replace",
            "searchreplace",
            "strreplace",
            "strreplaceeditor",
            "strreplacebasededittool",
        ],
        &[
            "apply_diff",
            "write_to_file",
            "multi_edit",
            "search_and_replace",
            "insert_content",
            "notebook_edit",
            "delete_file",
            "move_file",
            "apply_patch",
            "generate_image",
        ],
    ),
    // What only some models are shown is taken from all of them, where they may change parts of
    // files.
    (&["insertcontent"], &["insert_content", "apply_diff"]),
    (&["notebookedit", "editnotebook"], &["notebook_edit", "apply_diff"]),
    (
        &[
            "bash",
            "shell",
            "command",
            "execute",
            "runcommands",
            "runterminalcommand",
            "runtests",
            "runtasks",
            "terminal",
        ],
        &["execute_command"],
    ),
    (&["webfetch", "fetch", "urlfetcher"], &["web_fetch"]),
    (&["websearch", "searchweb"], &["web_search"]),
];

/// Words for what every mode has here, or what a run does by itself.
const ALWAYS: &[&str] = &[
    "todowrite",
    "todoread",
    "todo",
    "todos",
    "askuserquestion",
    "question",
    "think",
    "taskcreate",
    "taskupdate",
    "taskget",
    "tasklist",
    "enterplanmode",
    "exitplanmode",
    "toolsearch",
    "bashoutput",
    "taskoutput",
    "readcommandoutput",
    "killshell",
    "taskstop",
    "askexpertmodel",
];

/// Returns what a word gives: the tool of this program with this name, and those it means in the
/// words of others.
pub fn granted(word: &str) -> GrantedTools {
    let plain: String = word
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    if plain == "mcp"
        || plain == "usemcptool"
        || plain == "accessmcpresource"
        || word.starts_with("mcp__")
        || word.starts_with("mcp--")
    {
        return GrantedTools::Group(ToolGroup::Mcp);
    }
    if ALWAYS.contains(&plain.as_str()) {
        return GrantedTools::Always;
    }
    if matches!(plain.as_str(), "task" | "newtask" | "agent" | "runsubagent" | "switchmode") {
        return GrantedTools::Group(ToolGroup::Modes);
    }
    let peers = WORDS.iter().find(|(words, _)| words.contains(&plain.as_str()));
    let mut tools: Vec<ToolName> = peers
        .iter()
        .flat_map(|(_, names)| names.iter().filter_map(|name| ToolName::find(name)))
        .collect();
    // With single signs a name does not say which server it is of: that gives none.
    let own = ToolName::called(&word.to_lowercase()).filter(|own| *own != ToolName::UseMcpTool);
    tools.extend(own.filter(|own| !tools.contains(own)));
    of_tools(&tools)
}

/// Returns what a word takes away: as [`granted`], but of a tool that is given together with others
/// that it stands for only itself.
pub fn denied(word: &str) -> GrantedTools {
    match (granted(word), ToolName::called(word)) {
        (GrantedTools::Tools(_, tools), Some(own))
            if tools.first() == Some(&own)
                && own.denied_with() == tools.get(1..).unwrap_or_default() =>
        {
            of_tools(&[own])
        }
        (granted, _) => granted,
    }
}

/// Returns the tools of a group.
pub fn of_group(group: ToolGroup) -> Vec<ToolName> {
    ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| tool.availability().group() == Some(group))
        .collect()
}

fn of_tools(tools: &[ToolName]) -> GrantedTools {
    let Some(first) = tools.first() else { return GrantedTools::Unknown };
    let group = first.availability().group();
    group.map_or(GrantedTools::Always, |group| GrantedTools::Tools(group, tools.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::{GrantedTools, denied, granted};
    use crate::ToolGroup;
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    #[test]
    fn knows_whatever_models_may_call_a_tool_by() {
        let names = "Read Write Edit MultiEdit NotebookEdit NotebookRead Bash Grep Glob LS Task \
                     Agent TodoWrite WebFetch URLFetcher Skill AskExpertModel AskUserQuestion \
                     ReadMcpResourceTool read_file write_to_file apply_diff edit search_replace \
                     edit_file apply_patch search_files list_files list_code_definition_names execute_command \
                     ask_followup_question attempt_completion new_task switch_mode \
                     update_todo_list use_mcp_tool access_mcp_resource generate_image \
                     insert_content search_and_replace bash write read grep list patch todowrite \
                     webfetch task question shell shell_command local_shell exec_command \
                     update_plan list_dir grep_files view_image spawn_agent str_replace \
                     str_replace_based_edit_tool delete_file move_file multi_edit notebook_edit";
        for name in names.split_whitespace() {
            assert!(ToolName::called(name).is_some(), "a model calls {name}");
            assert_ne!(granted(name), GrantedTools::Unknown, "an agent file names {name}");
        }
        for name in ["insert_content", "MultiEdit", "NotebookEdit"] {
            let GrantedTools::Tools(group, tools) = granted(name) else { panic!("{name}") };
            let own = ToolName::called(name).unwrap();
            assert!(group == ToolGroup::Edit && tools.contains(&own), "{name}");
            assert!(tools.contains(&ToolName::ApplyDiff), "{name}");
        }
    }

    #[test]
    fn a_search_that_is_denied_leaves_the_other_one() {
        let only = |tool| GrantedTools::Tools(ToolGroup::Read, vec![tool]);
        assert_eq!(denied("codebase_search"), only(ToolName::CodebaseSearch));
        assert_eq!(denied("Grep"), only(ToolName::SearchFiles));
    }

    #[test]
    fn knows_the_names_of_other_programs() {
        for (word, expected) in [
            ("Read", GrantedTools::Tools(ToolGroup::Read, vec![ToolName::ReadFile])),
            ("read_file", GrantedTools::Tools(ToolGroup::Read, vec![ToolName::ReadFile])),
            ("LS", GrantedTools::Tools(ToolGroup::Read, vec![ToolName::ListFiles])),
            (
                "Glob",
                GrantedTools::Tools(ToolGroup::Read, vec![ToolName::ListFiles, ToolName::Glob]),
            ),
            (
                "codebase",
                GrantedTools::Tools(
                    ToolGroup::Read,
                    vec![ToolName::CodebaseSearch, ToolName::SearchFiles],
                ),
            ),
            ("Grep", GrantedTools::Tools(ToolGroup::Read, vec![ToolName::SearchFiles])),
            (
                "file_edit",
                GrantedTools::Tools(
                    ToolGroup::Edit,
                    vec![
                        ToolName::ApplyDiff,
                        ToolName::WriteToFile,
                        ToolName::MultiEdit,
                        ToolName::SearchAndReplace,
                        ToolName::InsertContent,
                        ToolName::NotebookEdit,
                        ToolName::DeleteFile,
                        ToolName::MoveFile,
                        ToolName::ApplyPatch,
                        ToolName::GenerateImage,
                    ],
                ),
            ),
            (
                "runCommands",
                GrantedTools::Tools(ToolGroup::Command, vec![ToolName::ExecuteCommand]),
            ),
            ("mcp__time__now", GrantedTools::Group(ToolGroup::Mcp)),
            ("attempt_completion", GrantedTools::Always),
            ("TodoWrite", GrantedTools::Always),
            ("TaskOutput", GrantedTools::Always),
            ("read_command_output", GrantedTools::Always),
            (
                "ListMcpResourcesTool",
                GrantedTools::Tools(ToolGroup::Mcp, vec![ToolName::AccessMcpResource]),
            ),
            ("LSP", GrantedTools::Unknown),
            ("Task", GrantedTools::Group(ToolGroup::Modes)),
            ("make_coffee", GrantedTools::Unknown),
            ("mcp_time_now", GrantedTools::Unknown),
            ("", GrantedTools::Unknown),
        ] {
            assert_eq!(granted(word), expected, "{word}");
        }
    }
}
