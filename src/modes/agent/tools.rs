//! The names other programs have for tools. In: a word from an agent file or a mode's `tools`; out:
//! what it gives here.

use locum_base::tool::{self, Group, ToolName};

/// What a word gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Every tool of a group.
    Group(Group),
    /// Some tools of a group.
    Tools(Group, Vec<ToolName>),
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
    (
        &[
            "glob",
            "ls",
            "list",
            "listdir",
            "listdirectory",
            "listcodedefinitionnames",
            "find",
            "changes",
        ],
        &["list_files"],
    ),
    (
        &["grep", "search", "searchfiles", "codebase", "codebasesearch", "usages", "ripgrep"],
        &["search_files"],
    ),
    (
        &["write", "filewrite", "writefile", "createfile", "new", "insertcontent"],
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
            "searchandreplace",
            "searchreplace",
        ],
        &["apply_diff", "write_to_file", "apply_patch", "generate_image"],
    ),
    (&["notebookedit"], &["apply_diff"]),
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
    "exitplanmode",
    "bashoutput",
    "killshell",
    "askexpertmodel",
];

/// Returns what a word gives: the tool of this program with this name, and those it means in the
/// words of others.
#[must_use]
pub fn granted(word: &str) -> Granted {
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
        return Granted::Group(Group::Mcp);
    }
    if ALWAYS.contains(&plain.as_str()) {
        return Granted::Always;
    }
    if matches!(plain.as_str(), "task" | "newtask" | "agent" | "runsubagent" | "switchmode") {
        return Granted::Group(Group::Modes);
    }
    let peers = WORDS.iter().find(|(words, _)| words.contains(&plain.as_str()));
    let mut tools: Vec<ToolName> = peers
        .iter()
        .flat_map(|(_, names)| names.iter().filter_map(|name| ToolName::find(name)))
        .collect();
    let own = ToolName::find(tool::resolve(&word.to_lowercase()));
    tools.extend(own.filter(|own| !tools.contains(own)));
    of_tools(&tools)
}

/// Returns the tools of a group.
#[must_use]
pub fn of_group(group: Group) -> Vec<ToolName> {
    ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| tool.availability().group() == Some(group))
        .collect()
}

fn of_tools(tools: &[ToolName]) -> Granted {
    let Some(first) = tools.first() else { return Granted::Unknown };
    let group = first.availability().group();
    group.map_or(Granted::Always, |group| Granted::Tools(group, tools.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::{Granted, granted};
    use crate::Group;
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    #[test]
    fn knows_the_names_of_other_programs() {
        for (word, expected) in [
            ("Read", Granted::Tools(Group::Read, vec![ToolName::ReadFile])),
            ("read_file", Granted::Tools(Group::Read, vec![ToolName::ReadFile])),
            ("LS", Granted::Tools(Group::Read, vec![ToolName::ListFiles])),
            ("Glob", Granted::Tools(Group::Read, vec![ToolName::ListFiles, ToolName::Glob])),
            (
                "file_edit",
                Granted::Tools(
                    Group::Edit,
                    vec![
                        ToolName::ApplyDiff,
                        ToolName::WriteToFile,
                        ToolName::ApplyPatch,
                        ToolName::GenerateImage,
                    ],
                ),
            ),
            ("runCommands", Granted::Tools(Group::Command, vec![ToolName::ExecuteCommand])),
            ("mcp__time__now", Granted::Group(Group::Mcp)),
            ("attempt_completion", Granted::Always),
            ("TodoWrite", Granted::Always),
            ("Task", Granted::Group(Group::Modes)),
            ("make_coffee", Granted::Unknown),
            ("", Granted::Unknown),
        ] {
            assert_eq!(granted(word), expected, "{word}");
        }
    }
}
