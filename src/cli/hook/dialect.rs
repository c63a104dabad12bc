//! How agents ask their hooks, and how they read the answer.
//!
//! In: their JSON. Out: a tool call with its folder, and answers in their JSON. Claude Code and
//! Codex write the same question. Codex takes no `allow` and no `ask`: what is allowed is left to
//! its own approvals, and what a person has to decide is denied.
//!
//! Sources: <https://code.claude.com/docs/en/hooks>, <https://developers.openai.com/codex/hooks>,
//! <https://docs.github.com/en/copilot/reference/hooks-configuration>.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::hook::{HookAnswer, inside, mcp, text};
use locum_base::chat::ToolCall;
use locum_base::tool::ToolName;
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;

/// An agent that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookAgent {
    /// Claude Code.
    Claude,
    /// OpenAI's Codex.
    Codex,
    /// GitHub Copilot: its CLI and its coding agent.
    Copilot,
}

/// A call that an agent is about to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookedCall {
    /// The tool, as the agent names it.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: Value,
    /// The folder the agent works in.
    pub(super) folder: Option<PathBuf>,
}

/// What the policy is asked about a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    /// What a tool without a counterpart here would do.
    Intent(Intent),
    /// A call as a model of ours might write it.
    Call(ToolCall),
    /// It leads to a path outside of the checkout.
    Outside(String),
}

/// Names of arguments that are paths.
const PATHS: [&str; 9] = [
    "file_path",
    "path",
    "notebook_path",
    "absolute_path",
    "filePath",
    "target_file",
    "filename",
    "workdir",
    "cwd",
];

/// Names of arguments that are paths where a file is moved, and may be anything elsewhere.
const ENDS_OF_MOVE: [&str; 9] = [
    "source",
    "source_path",
    "from",
    "old_path",
    "to",
    "destination",
    "destination_path",
    "new_path",
    "target",
];

/// Names of arguments that hold several paths, or objects with a path each.
const FILE_LISTS: [&str; 3] = ["files", "paths", "file"];

/// Which part of the arguments of some tools says what a call does. The rest, such as a timeout or
/// whether it runs in the background, changes nothing that a policy decides.
const DECIDING: [(&[ToolName], &[&str]); 2] = [
    (&[ToolName::ExecuteCommand], &["command", "cmd", "workdir", "cwd"]),
    (&[ToolName::SearchFiles, ToolName::Glob], &["pattern", "path", "glob", "include"]),
];

/// Arguments by which a call leaves the sandbox of its agent.
const LEAVES_SANDBOX: [&str; 2] = ["dangerouslyDisableSandbox", "with_escalated_permissions"];

/// Tools that neither read nor change anything outside of their agent, and those that start others
/// whose calls are asked about by themselves.
const WITHOUT_EFFECT: [&str; 21] = [
    "TodoWrite",
    "TodoRead",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "ExitPlanMode",
    "EnterPlanMode",
    "AskUserQuestion",
    "BashOutput",
    "TaskOutput",
    "TaskStop",
    "KillShell",
    "ToolSearch",
    "ListMcpResourcesTool",
    "Task",
    "Agent",
    "update_plan",
    "report_intent",
    "update_todo",
    "ask_user",
];

/// Whether nothing of a policy is about this tool.
pub(super) fn without_effect(tool: &str) -> bool {
    WITHOUT_EFFECT.contains(&tool)
}

impl HookAgent {
    /// Returns the settings that make the agent ask, to be pasted into the file that is named.
    pub(super) fn settings(self) -> String {
        let (file, settings) = match self {
            Self::Claude => (".claude/settings.json", matched("*", "locum hook claude")),
            Self::Codex => {
                (".codex/hooks.json", matched("Bash|apply_patch|mcp__.*", "locum hook codex"))
            }
            Self::Copilot => {
                let command = "locum hook copilot";
                let hook = json!({ "type": "command", "bash": command, "timeoutSec": 30 });
                let settings = json!({ "version": 1, "hooks": { "preToolUse": [hook] } });
                (".github/hooks/locum.json", settings)
            }
        };
        format!("{file}:\n{settings:#}")
    }

    /// Reads a question; `None` for an event that asks nothing.
    ///
    /// # Errors
    /// When it is not one of this agent's.
    pub(super) fn read(self, written: &[u8]) -> Result<Option<HookedCall>, String> {
        let value: Value = serde_json::from_slice(written).map_err(|error| error.to_string())?;
        let event = text(&value, &["hook_event_name", "hookEventName"]);
        if event.is_some_and(|event| !event.eq_ignore_ascii_case("PreToolUse")) {
            return Ok(None);
        }
        let tool = text(&value, &["tool_name", "toolName"]).ok_or("it names no tool")?.to_owned();
        let arguments = ["tool_input", "toolInput", "toolArgs"]
            .iter()
            .find_map(|name| value.get(name))
            .cloned()
            .unwrap_or_else(|| json!({}));
        // Copilot writes them as JSON within a text.
        let arguments = match arguments {
            Value::String(inner) => {
                serde_json::from_str(&inner).map_err(|error| format!("arguments: {error}"))?
            }
            other => other,
        };
        if !arguments.is_object() {
            return Err("its arguments are not an object".to_owned());
        }
        let folder = text(&value, &["cwd"]).map(PathBuf::from);
        Ok(Some(HookedCall { tool, arguments, folder }))
    }

    /// Writes the answer; `None` where the agent expects nothing.
    pub(super) fn write(self, answer: &HookAnswer) -> Option<String> {
        let HookAnswer::Decided(decision, why) = answer else { return None };
        let word = match (self, decision) {
            (Self::Codex, Decision::Allow) => return None,
            (_, Decision::Allow) => "allow",
            (Self::Codex, Decision::Hold) => {
                return Some(pre_tool_use("deny", &format!("a person has to decide: {why}")));
            }
            (_, Decision::Hold) => "ask",
            (_, Decision::Deny) => "deny",
        };
        Some(match self {
            Self::Claude | Self::Codex => pre_tool_use(word, why),
            Self::Copilot => {
                json!({ "permissionDecision": word, "permissionDecisionReason": said(why) })
                    .to_string()
            }
        })
    }
}

/// Claude Code's settings, and Codex': a command for the tools that match.
fn matched(matcher: &str, command: &str) -> Value {
    let hook = json!({ "type": "command", "command": command });
    json!({ "hooks": { "PreToolUse": [{ "matcher": matcher, "hooks": [hook] }] } })
}

fn pre_tool_use(word: &str, why: &str) -> String {
    let decision = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": said(why),
    });
    json!({ "hookSpecificOutput": decision }).to_string()
}

fn said(why: &str) -> String {
    format!("Locum's policy: {why}")
}

/// What a text among the arguments is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentText {
    /// A path, or a list of files as JSON.
    Path,
    /// Anything else.
    Other,
}

/// Makes paths of the checkout of all paths that arguments name, however deep.
///
/// # Errors
/// The first path that leads out.
fn bring_inside(
    value: &mut Value,
    text: ArgumentText,
    inside: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    match value {
        // The tools take a number for the text of it.
        Value::Number(number) if text == ArgumentText::Path => {
            *value = Value::String(number.to_string());
            bring_inside(value, text, inside)
        }
        Value::String(path) if text == ArgumentText::Path => {
            // Models write lists as texts, and the tools read them.
            if let Ok(mut list @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(path)
            {
                bring_inside(&mut list, text, inside)?;
                *value = list;
            } else {
                *path = inside(path).ok_or_else(|| path.clone())?;
            }
            Ok(())
        }
        Value::Array(items) => {
            items.iter_mut().try_for_each(|item| bring_inside(item, text, inside))
        }
        Value::Object(fields) => fields.iter_mut().try_for_each(|(name, item)| {
            let is_path = PATHS.contains(&name.as_str()) || FILE_LISTS.contains(&name.as_str());
            let text = if is_path { ArgumentText::Path } else { ArgumentText::Other };
            bring_inside(item, text, inside)
        }),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

impl HookedCall {
    /// Whether the call asks its agent to let it out of the agent's own sandbox.
    pub(super) fn leaves_sandbox(&self) -> bool {
        let is_true = |name: &&str| self.arguments.get(*name) == Some(&Value::Bool(true));
        LEAVES_SANDBOX.iter().any(is_true)
            || text(&self.arguments, &["sandbox_permissions"]) == Some("require_escalated")
    }

    /// Returns what the policy is asked. Paths become those of the checkout.
    pub(super) fn question(&self, root: &Path, folder: &Path) -> Question {
        if let Some(intent) = mcp(&self.tool) {
            return Question::Intent(intent);
        }
        let mut arguments = self.arguments.clone();
        let inside = |path: &str| inside(path, root, folder);
        if let Err(path) = bring_inside(&mut arguments, ArgumentText::Other, &inside) {
            return Question::Outside(path);
        }
        let moves = ToolName::called(&self.tool) == Some(ToolName::MoveFile);
        for name in ENDS_OF_MOVE.iter().filter(|_| moves) {
            let Some(end) = arguments.get_mut(*name) else { continue };
            if let Err(path) = bring_inside(end, ArgumentText::Path, &inside) {
                return Question::Outside(path);
            }
        }
        if let Some(fields) = arguments.as_object_mut()
            && let Some((_, kept)) = DECIDING.iter().find(|(tools, _)| {
                tools.iter().any(|tool| Some(*tool) == ToolName::called(&self.tool))
            })
        {
            fields.retain(|name, _| kept.contains(&name.as_str()));
        }
        // Codex' hooks have the patch as `command`.
        if self.tool == "apply_patch"
            && let Some(object) = arguments.as_object_mut()
            && let Some(patch) = object.remove("command").or_else(|| object.remove("input"))
        {
            object.insert("patch".to_owned(), patch);
        }
        let name = self.counterpart(&mut arguments).unwrap_or(&self.tool).to_owned();
        Question::Call(ToolCall { id: String::new(), name, arguments: arguments.to_string() })
    }

    /// Names the tool by which such a call goes on, where this one has no counterpart of its name:
    /// Copilot's `view`, `create` and `edit` are commands of one editor elsewhere, and whatever is
    /// read or changed of a notebook is so of its file.
    fn counterpart(&self, arguments: &mut Value) -> Option<&'static str> {
        let fields = arguments.as_object_mut()?;
        let command = match self.tool.as_str() {
            "view" => "view",
            "create" => "create",
            "edit" => "str_replace",
            "NotebookEdit" | "NotebookRead" => {
                let path = fields.remove("notebook_path").unwrap_or_default();
                fields.clear();
                fields.insert("path".to_owned(), path);
                if self.tool == "NotebookRead" {
                    return Some("Read");
                }
                fields.insert("content".to_owned(), json!(""));
                return Some("Write");
            }
            _ => return None,
        };
        fields.insert("command".to_owned(), json!(command));
        Some("str_replace_based_edit_tool")
    }
}
