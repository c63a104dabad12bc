//! What a hook reads: a call in the words of Claude Code, which hooks are written for.
//!
//! In: a call as a model wrote it, the files it edits, and where the checkout lies. Out: the names
//! its tool has there and its arguments. Pure. A call that reads or edits several files is asked
//! about once for each, so that a guard of a path sees every path.

use std::borrow::Cow;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::tools::dispatch;
use crate::tools::files::apply_diff::parse;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::insertion::Insertion;
use crate::tools::files::edit::notebook::{CellAction, CellEdit};
use crate::tools::files::edit::search::MeantPlaces;
use crate::tools::files::edit::texts::TextEdit;
use crate::tools::tool::ToolEffect;
use locum_base::chat::ToolCall;
use locum_base::json::put;
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

/// The files that a call is about, as far as they are known: where links lead, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallFiles<'f> {
    /// The files it edits.
    pub edited: &'f [RepoPath],
    /// The files and folders it reads.
    pub read: &'f [RepoPath],
}

/// A call as hooks know it.
#[derive(Clone, Debug, PartialEq)]
pub struct HookedCall {
    /// The names that its tool has; a matcher for any of them is for this call.
    pub names: Vec<String>,
    /// Its arguments, one set for each file that it reads or edits.
    pub inputs: Vec<Value>,
}

impl HookedCall {
    /// Returns a call in the words of hooks; `None` for one that hooks are not asked about, because
    /// it only steers the session. Paths are below `root`. What is read is asked about as it is
    /// written, and by the path that links lead to.
    pub fn of(call: &ToolCall, files: CallFiles<'_>, root: &Path) -> Option<Self> {
        let tool = dispatch::meant(call)?;
        if dispatch::effect(tool) == ToolEffect::Steers && tool != ToolName::NewTask {
            return None;
        }
        let words = CallWords { fields: dispatch::mapped(call), root };
        let names = match tool {
            ToolName::UseMcpTool => vec![words.server_tool(call)],
            other => names(other),
        };
        let inputs = match dispatch::effect(tool) {
            ToolEffect::Edits if !files.edited.is_empty() => {
                files.edited.iter().map(|path| words.edit(tool, path)).collect()
            }
            _ if tool == ToolName::ReadFile => words.reads(),
            _ => vec![words.input(tool)],
        };
        let inputs = words.with_real(tool, inputs, files.read);
        Some(Self { names, inputs })
    }

    /// Returns the names, as matchers take them.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

/// Returns what a tool is called there. A tool without a counterpart keeps its name, so that hooks
/// for every tool are for it too.
fn names(tool: ToolName) -> Vec<String> {
    let names = dispatch::peer_words(tool).hook_names;
    if names.is_empty() {
        return vec![tool.to_string()];
    }
    names.iter().map(|name| (*name).to_owned()).collect()
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

    /// Returns an argument as a text: what is none is seen as JSON.
    fn text(&self, name: &str) -> Cow<'_, str> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(other) => Cow::Owned(other.to_string()),
        }
    }

    /// Adds a set of arguments for each path that is read and that none of them names.
    fn with_real(&self, tool: ToolName, mut inputs: Vec<Value>, read: &[RepoPath]) -> Vec<Value> {
        let key = match tool {
            ToolName::ReadFile | ToolName::ListCodeDefinitionNames => "file_path",
            ToolName::ListFiles
            | ToolName::Glob
            | ToolName::SearchFiles
            | ToolName::CodebaseSearch => "path",
            _ => return inputs,
        };
        for path in read {
            let real = self.absolute(path.as_str());
            let is_named = inputs.iter().any(|input| input.get(key) == Some(&json!(real)));
            let like = inputs.first().filter(|_| !is_named).cloned();
            inputs.extend(like.map(|mut input| {
                put(&mut input, key, real);
                input
            }));
        }
        inputs
    }

    /// Returns a path that the call names, as an absolute one.
    fn absolute(&self, written: &str) -> String {
        if written.starts_with('/') && Path::new(written).starts_with(self.root) {
            return written.to_owned();
        }
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
        let path = || self.absolute(&self.text("path"));
        match tool {
            ToolName::ExecuteCommand => {
                let (command, folder) = (self.text("command"), self.text("cwd"));
                let here = folder.is_empty() || folder == ".";
                let command =
                    if here { command.into_owned() } else { format!("cd {folder} && {command}") };
                json!({ "command": command, "description": "" })
            }
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

    /// Returns the files that a call reads.
    fn reads(&self) -> Vec<Value> {
        let others = self.fields.get("files").and_then(Value::as_array).into_iter().flatten();
        let read = |fields: &Map<String, Value>| {
            let field = |name| fields.get(name).cloned().unwrap_or_default();
            let path = fields.get("path").and_then(Value::as_str).unwrap_or_default();
            json!({
                "file_path": self.absolute(path), "offset": field("offset"), "limit": field("limit")
            })
        };
        [&self.fields].into_iter().chain(others.filter_map(Value::as_object)).map(read).collect()
    }

    /// Returns what an edit does to one of its files.
    fn edit(&self, tool: ToolName, path: &RepoPath) -> Value {
        let file = self.absolute(path.as_str());
        let mut input = match tool {
            ToolName::WriteToFile => {
                return json!({ "file_path": file, "content": self.field("content") });
            }
            ToolName::NotebookEdit => json!({
                "notebook_path": file, "new_source": self.field("new_source")
            }),
            _ => json!({}),
        };
        let texts = self.texts(tool);
        let all =
            |part: fn(&TextEdit) -> &str| texts.iter().map(part).collect::<Vec<_>>().join("\n");
        put(&mut input, "file_path", file);
        put(&mut input, "old_string", all(|text| &text.old));
        put(&mut input, "new_string", all(|text| &text.new));
        // Several texts are together what a guard of one text sees, too.
        if texts.len() > 1 || tool == ToolName::MultiEdit {
            let edits = texts.iter().map(|text| {
                json!({
                    "old_string": text.old, "new_string": text.new, "replace_all": text.all
                })
            });
            put(&mut input, "edits", edits.collect::<Vec<_>>());
        } else if texts.iter().any(|text| text.all) {
            put(&mut input, "replace_all", true);
        }
        input
    }

    /// Returns the texts that an edit replaces, and what takes their places.
    fn texts(&self, tool: ToolName) -> Vec<TextEdit> {
        let change = match tool {
            ToolName::ApplyDiff => self.mapped("diff"),
            ToolName::MultiEdit => self.mapped("edits"),
            ToolName::InsertContent => self.mapped("content").map(FileChange::Insertion),
            _ => None,
        };
        match (change, tool) {
            (Some(change), _) => texts(change),
            (None, ToolName::ApplyDiff) => {
                texts(FileChange::Blocks(self.text("diff").into_owned()))
            }
            (None, ToolName::SearchAndReplace) => {
                let all = self.fields.get("replace_all").is_some_and(|all| *all == true)
                    || self.fields.get("count").is_some_and(|count| *count != 1);
                let (old, new) = (self.text("search"), self.text("replace"));
                vec![TextEdit { all, ..replaced(&old, &new) }]
            }
            (None, ToolName::InsertContent) => vec![replaced("", &self.text("content"))],
            (None, ToolName::NotebookEdit) => vec![replaced("", &self.text("new_source"))],
            (None, ToolName::ApplyPatch) => {
                // It may stand beside the folder that its paths are in.
                let inner = self.fields.get("patch").and_then(|patch| patch.get("patch")?.as_str());
                vec![inner.map_or_else(|| replaced("", &self.text("patch")), |it| replaced("", it))]
            }
            _ => Vec::new(),
        }
    }

    /// Returns an argument that stands as what the engine takes.
    fn mapped<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.fields.get(name).filter(|value| !value.is_string())?;
        serde_json::from_value(value.clone()).ok()
    }
}

/// Returns the texts that a change replaces, and what takes their places.
fn texts(change: FileChange) -> Vec<TextEdit> {
    match change {
        FileChange::Texts(texts) => texts,
        FileChange::Search(edit) => {
            let all = edit.places != MeantPlaces::Exactly(1);
            vec![TextEdit { old: edit.search, new: edit.replace, all }]
        }
        FileChange::Insertion(Insertion { text, .. }) => vec![replaced("", &text)],
        FileChange::Blocks(diff) => match parse::parse(&diff) {
            Ok(blocks) => {
                blocks.iter().map(|block| replaced(&block.search, &block.replace)).collect()
            }
            // What is not understood is seen as it was written.
            Err(_) => vec![replaced("", &diff)],
        },
        FileChange::Cell(CellEdit { action, .. }) => match action {
            CellAction::Replace { source, .. } | CellAction::Insert { source, .. } => {
                vec![replaced("", &source)]
            }
            CellAction::Delete => Vec::new(),
        },
    }
}

fn replaced(old: &str, new: &str) -> TextEdit {
    TextEdit { old: old.to_owned(), new: new.to_owned(), all: false }
}

#[cfg(test)]
mod tests;
