//! What a hook reads: a call in the words of Claude Code, which hooks are written for.
//!
//! In: a call as a model wrote it, the files it edits, and where the checkout lies. Out: the names
//! its tool has there and its arguments. Pure. A call that edits several files is asked about once
//! for each, so that a guard of a path sees every path.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::tools::dispatch;
use crate::tools::files::apply_diff::parse;
use crate::tools::tool::ToolEffect;
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;

/// How a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionSource {
    /// As a new one.
    Startup,
    /// Where it, or an earlier one, stopped.
    Resume,
}

impl SessionSource {
    /// Returns its word for hooks and their matchers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
        }
    }
}

/// A sub-task as hooks know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgent {
    /// Names it in its session.
    pub id: String,
    /// What matchers are compared with.
    pub kind: String,
}

/// A call as hooks know it.
#[derive(Clone, Debug, PartialEq)]
pub struct HookedCall {
    /// The names that its tool has; a matcher for any of them is for this call.
    pub names: Vec<String>,
    /// Its arguments, one set for each file that it edits.
    pub inputs: Vec<Value>,
}

impl HookedCall {
    /// Returns a call in the words of hooks; `None` for one that hooks are not asked about, because
    /// it only steers the session. `edited` are the files it edits, and paths are below `root`.
    pub fn of(call: &ToolCall, edited: &[RepoPath], root: &Path) -> Option<Self> {
        let tool = dispatch::meant(call)?;
        if dispatch::effect(tool) == ToolEffect::Steers && tool != ToolName::NewTask {
            return None;
        }
        let words = CallWords { fields: dispatch::mapped(call), root };
        let names = match tool {
            ToolName::UseMcpTool => vec![words.server_tool(call)],
            other => names(other).iter().map(|name| (*name).to_owned()).collect(),
        };
        let inputs = match dispatch::effect(tool) {
            ToolEffect::Edits if !edited.is_empty() => {
                edited.iter().map(|path| words.edit(tool, path)).collect()
            }
            _ => vec![words.input(tool)],
        };
        Some(Self { names, inputs })
    }

    /// Returns the names, as matchers take them.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

/// Returns what a tool is called there. A tool without a counterpart keeps its name, so that hooks
/// for every tool are for it too.
fn names(tool: ToolName) -> &'static [&'static str] {
    match tool {
        ToolName::ExecuteCommand => &["Bash"],
        ToolName::CommandOutput => &["BashOutput"],
        ToolName::StopCommand => &["KillShell"],
        // It shows lines of files, and a guard of what is read means that, too.
        ToolName::ReadFile | ToolName::ListCodeDefinitionNames => &["Read"],
        ToolName::ListFiles => &["LS"],
        ToolName::Glob => &["Glob"],
        ToolName::SearchFiles | ToolName::CodebaseSearch => &["Grep"],
        ToolName::WriteToFile | ToolName::GenerateImage => &["Write"],
        ToolName::ApplyDiff | ToolName::SearchAndReplace | ToolName::InsertContent => {
            &["Edit", "MultiEdit"]
        }
        ToolName::MultiEdit => &["MultiEdit", "Edit"],
        ToolName::NotebookEdit => &["NotebookEdit", "Edit"],
        // There it is a command that does it, and a guard of files means these too.
        ToolName::DeleteFile | ToolName::MoveFile | ToolName::ApplyPatch => {
            &["Edit", "Write", "MultiEdit"]
        }
        ToolName::WebFetch => &["WebFetch"],
        ToolName::WebSearch => &["WebSearch"],
        ToolName::Skill => &["Skill"],
        ToolName::RunSlashCommand => &["SlashCommand"],
        ToolName::NewTask => &["Task", "Agent"],
        ToolName::ShowChanges => &["show_changes"],
        ToolName::BrowserAction => &["browser_action"],
        ToolName::AskExpertModel => &["ask_expert_model"],
        ToolName::AccessMcpResource => &["ReadMcpResourceTool"],
        ToolName::UseMcpTool
        | ToolName::GetMcpPrompt
        | ToolName::ReadMemory
        | ToolName::WriteMemory
        | ToolName::UpdateTodoList
        | ToolName::Think
        | ToolName::FetchInstructions
        | ToolName::AskFollowupQuestion
        | ToolName::AttemptCompletion
        | ToolName::SwitchMode
        | ToolName::RequestModeSwitch
        | ToolName::CoordinateMode => &[],
    }
}

/// The arguments of a call in our own words.
struct CallWords<'r> {
    fields: Map<String, Value>,
    root: &'r Path,
}

impl CallWords<'_> {
    fn field(&self, name: &str) -> Value {
        self.fields.get(name).cloned().unwrap_or_default()
    }

    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a path that the call names, as an absolute one.
    fn absolute(&self, written: &str) -> String {
        let path = RepoPath::parse(written).unwrap_or_else(|_| RepoPath::root());
        let inside =
            if path.is_root() { self.root.to_owned() } else { self.root.join(path.as_str()) };
        inside.display().to_string()
    }

    /// Returns the name of a server's tool.
    fn server_tool(&self, call: &ToolCall) -> String {
        if call.name.trim() == ToolName::UseMcpTool.as_str() {
            return format!("mcp__{}__{}", self.text("server_name"), self.text("tool_name"));
        }
        // They are parted in another way here: `mcp--time--now`.
        call.name.trim().replace("--", "__")
    }

    fn input(&self, tool: ToolName) -> Value {
        let path = || self.absolute(self.text("path"));
        match tool {
            ToolName::ExecuteCommand => {
                let (command, folder) = (self.text("command"), self.text("cwd"));
                let here = folder.is_empty() || folder == ".";
                let command =
                    if here { command.to_owned() } else { format!("cd {folder} && {command}") };
                json!({ "command": command, "description": "" })
            }
            ToolName::ReadFile => json!({
                "file_path": path(), "offset": self.field("offset"), "limit": self.field("limit")
            }),
            ToolName::ListCodeDefinitionNames => json!({ "file_path": path() }),
            ToolName::ListFiles => json!({ "path": path() }),
            ToolName::Glob => json!({ "pattern": self.field("pattern"), "path": path() }),
            ToolName::SearchFiles => json!({
                "pattern": self.field("regex"), "path": path(), "glob": self.field("file_pattern")
            }),
            ToolName::CodebaseSearch => json!({ "pattern": self.field("query"), "path": path() }),
            ToolName::WebFetch => json!({ "url": self.field("url"), "prompt": "" }),
            ToolName::NewTask => json!({
                "subagent_type": self.field("mode"),
                "prompt": self.field("message"),
                "description": "",
            }),
            ToolName::RunSlashCommand => {
                let (name, args) = (self.text("command"), self.text("args"));
                json!({ "command": format!("/{} {args}", name.trim_start_matches('/')).trim() })
            }
            ToolName::UseMcpTool if self.fields.contains_key("tool_name") => {
                self.field("arguments")
            }
            _ => Value::Object(self.fields.clone()),
        }
    }

    /// Returns what an edit does to one of its files.
    fn edit(&self, tool: ToolName, path: &RepoPath) -> Value {
        let file = self.absolute(path.as_str());
        let edit = |old: &str, new: &str| json!({ "file_path": file, "old_string": old, "new_string": new });
        match tool {
            ToolName::WriteToFile => json!({ "file_path": file, "content": self.field("content") }),
            ToolName::ApplyDiff => self.blocks(&file),
            ToolName::MultiEdit => json!({ "file_path": file, "edits": self.field("edits") }),
            ToolName::SearchAndReplace => edit(self.text("search"), self.text("replace")),
            ToolName::InsertContent => edit("", self.text("content")),
            ToolName::NotebookEdit => json!({
                "file_path": file,
                "notebook_path": file,
                "new_source": self.field("new_source"),
                "old_string": "",
                "new_string": self.field("new_source"),
            }),
            ToolName::ApplyPatch => edit("", self.text("patch")),
            _ => edit("", ""),
        }
    }

    /// Returns the blocks of a diff: one as an edit, several as the edits of a file, with their
    /// texts together as well.
    fn blocks(&self, file: &str) -> Value {
        if let Some(edits) = self.fields.get("edits").filter(|edits| edits.is_array()) {
            return json!({ "file_path": file, "edits": edits });
        }
        let blocks = parse::parse(self.text("diff")).unwrap_or_default();
        let edits = blocks
            .iter()
            .map(|block| json!({ "old_string": block.search, "new_string": block.replace }));
        let all = |part: fn(&parse::DiffBlock) -> &str| {
            blocks.iter().map(part).collect::<Vec<_>>().join("\n")
        };
        let (old, new) = (all(|block| &block.search), all(|block| &block.replace));
        let mut input = json!({ "file_path": file, "old_string": old, "new_string": new });
        if let Some(fields) = input.as_object_mut().filter(|_| blocks.len() > 1) {
            fields.insert("edits".to_owned(), edits.collect());
        }
        input
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::HookedCall;
    use locum_base::chat::ToolCall;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn asked(name: &str, arguments: &Value, edited: &[&str]) -> Option<HookedCall> {
        let edited: Vec<RepoPath> =
            edited.iter().map(|path| RepoPath::parse(path).unwrap()).collect();
        let (id, arguments) = ("1".to_owned(), arguments.to_string());
        let call = ToolCall { id, name: name.to_owned(), arguments };
        HookedCall::of(&call, &edited, Path::new("/repo"))
    }

    #[test]
    fn calls_are_asked_about_in_the_words_of_claude_code() {
        let diff = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE";
        let nothing = Value::Null;
        for (name, arguments, edited, first, input) in [
            (
                "execute_command",
                json!({ "command": "ls", "cwd": "src" }),
                vec![],
                "Bash",
                json!({ "command": "cd src && ls", "description": "" }),
            ),
            (
                "Bash",
                json!({ "command": "ls" }),
                vec![],
                "Bash",
                json!({ "command": "ls", "description": "" }),
            ),
            (
                "read_file",
                json!({ "path": "src/a" }),
                vec![],
                "Read",
                json!({ "file_path": "/repo/src/a", "offset": nothing, "limit": nothing }),
            ),
            (
                "write_to_file",
                json!({ "path": "a", "content": "x" }),
                vec!["a"],
                "Write",
                json!({ "file_path": "/repo/a", "content": "x" }),
            ),
            (
                "apply_diff",
                json!({ "path": "a", "diff": diff }),
                vec!["a"],
                "Edit",
                json!({ "file_path": "/repo/a", "old_string": "a", "new_string": "b" }),
            ),
            (
                "delete_file",
                json!({ "path": "a" }),
                vec!["a"],
                "Edit",
                json!({ "file_path": "/repo/a", "old_string": "", "new_string": "" }),
            ),
            (
                "web_search",
                json!({ "query": "rust", "allowed_domains": ["docs.rs"] }),
                vec![],
                "WebSearch",
                json!({ "query": "rust", "allowed_domains": ["docs.rs"] }),
            ),
            (
                "mcp--time--now",
                json!({ "zone": "UTC" }),
                vec![],
                "mcp__time__now",
                json!({ "zone": "UTC" }),
            ),
        ] {
            let call = asked(name, &arguments, &edited).unwrap();
            assert_eq!((call.names[0].as_str(), &call.inputs[0]), (first, &input), "{name}");
        }
    }

    #[test]
    fn each_edited_file_is_asked_about_and_what_steers_is_not() {
        let moved = asked("move_file", &json!({ "path": "a", "to": "b" }), &["a", "b"]).unwrap();
        let files: Vec<&Value> = moved.inputs.iter().map(|input| &input["file_path"]).collect();
        assert_eq!(files, [&json!("/repo/a"), &json!("/repo/b")]);
        assert_eq!(moved.names(), ["Edit", "Write", "MultiEdit"]);
        for name in ["attempt_completion", "update_todo_list", "switch_mode", "no_such_tool"] {
            assert_eq!(asked(name, &json!({}), &[]), None, "{name}");
        }
        assert!(asked("new_task", &json!({ "mode": "code", "message": "m" }), &[]).is_some());
    }
}
