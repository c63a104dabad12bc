//! Arguments as other agents' tools have them: Roo, Kilo, Kode, Claude Code and Codex. Models that
//! were trained on those write them here too.
//!
//! In: the tool, the name it was called by, and the arguments as written. Out: the tool's own
//! arguments, and the names of those that were left out. Everything after this sees the mapped
//! call alone, the policy included. Where two readings would differ in effect, none is taken: the
//! model reads what to write instead.

mod command;
mod edit;
mod editor;
mod lines;
mod patch;

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::arguments::{kind_of, quoted};
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// A tool's arguments, in its own words.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MappedArguments {
    /// The arguments that the tool knows, and those it has to refuse.
    pub(crate) fields: Map<String, Value>,
    /// Names of arguments that change nothing and were left out.
    pub(crate) ignored: Vec<String>,
}

/// What is known of a tool while its arguments are mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledTool<'c> {
    /// The tool.
    pub(crate) tool: ToolName,
    /// The name the model called it by.
    pub(crate) called: &'c str,
    /// Whether its calls read or steer alone, so that what it does not know may be left out.
    pub(crate) changes_nothing: bool,
    /// Names of its own parameters.
    pub(crate) known: &'c [String],
}

/// Other names of parameters, each with the tool's own.
type Renames = &'static [(&'static str, &'static str)];

const PATH: Renames = &[
    ("file_path", "path"),
    ("filePath", "path"),
    ("absolute_path", "path"),
    ("target_file", "path"),
    ("filename", "path"),
];

const FOLDER: Renames = &[
    ("directory", "path"),
    ("dir", "path"),
    ("dir_path", "path"),
    ("folder", "path"),
    ("directory_path", "path"),
    ("relative_workspace_path", "path"),
];

/// Arguments that say something about a call and change nothing of what it does.
const REMARKS: &[&str] = &[
    "description",
    "explanation",
    "line_count",
    "requires_approval",
    "security_risk",
    "task_progress",
    "justification",
    "with_escalated_permissions",
    "yield_time_ms",
    "max_output_tokens",
    "login",
    "prompt",
];

/// Arguments of tools that read which change what is found: to leave them out would answer another
/// question.
const DECISIVE: &[&str] =
    &["invert_match", "-v", "multiline", "fixed_strings", "literal", "whole_word", "-w"];

fn renames(tool: ToolName) -> &'static [Renames] {
    match tool {
        ToolName::ReadFile => {
            &[PATH, &[("start_line", "offset"), ("line_start", "offset"), ("max_lines", "limit")]]
        }
        ToolName::WriteToFile => &[
            PATH,
            &[("file_text", "content"), ("contents", "content"), ("new_content", "content")],
        ],
        ToolName::ApplyDiff => &[PATH],
        ToolName::ApplyPatch => &[&[("input", "patch"), ("patch_text", "patch")]],
        ToolName::ListFiles | ToolName::ShowChanges => &[FOLDER],
        ToolName::Glob => &[
            FOLDER,
            &[("glob", "pattern"), ("glob_pattern", "pattern"), ("file_pattern", "pattern")],
        ],
        ToolName::SearchFiles => &[
            FOLDER,
            &[
                ("pattern", "regex"),
                ("query", "regex"),
                ("glob", "file_pattern"),
                ("include", "file_pattern"),
                ("include_pattern", "file_pattern"),
                ("file_path", "path"),
                ("filePath", "path"),
            ],
        ],
        ToolName::ExecuteCommand => &[&[
            ("cmd", "command"),
            ("workdir", "cwd"),
            ("working_directory", "cwd"),
            ("directory", "cwd"),
            ("timeout_seconds", "timeout"),
            ("timeout_secs", "timeout"),
        ]],
        ToolName::NewTask => &[&[
            ("subagent_type", "mode"),
            ("agent", "mode"),
            ("agent_type", "mode"),
            ("mode_slug", "mode"),
            ("prompt", "message"),
            ("instructions", "message"),
        ]],
        ToolName::UpdateTodoList => {
            &[&[("plan", "todos"), ("items", "todos"), ("todo_list", "todos")]]
        }
        ToolName::SwitchMode | ToolName::RequestModeSwitch | ToolName::CoordinateMode => {
            &[&[("mode", "mode_slug"), ("slug", "mode_slug")]]
        }
        ToolName::AskFollowupQuestion => {
            &[&[("options", "follow_up"), ("suggestions", "follow_up"), ("followUp", "follow_up")]]
        }
        ToolName::AttemptCompletion => &[&[("summary", "result")]],
        ToolName::WebFetch => &[&[("uri", "url"), ("address", "url")]],
        ToolName::UseMcpTool => &[&[("server", "server_name"), ("tool", "tool_name")]],
        ToolName::AccessMcpResource => &[&[("server", "server_name")]],
        ToolName::Skill => &[&[("name", "skill"), ("arguments", "args")]],
        ToolName::AskExpertModel => &[&[("expert_model", "expert")]],
        ToolName::GenerateImage => &[],
    }
}

/// Returns the tool that a call means, given the one of that name: where one tool of a peer has the
/// effects of several, the arguments say which.
pub(crate) fn meant(named: ToolName, called: &str, fields: &Map<String, Value>) -> ToolName {
    match named {
        ToolName::ApplyDiff if editor::is_editor(called) => editor::meant(fields),
        ToolName::ExecuteCommand if patch::is_patch(fields) => ToolName::ApplyPatch,
        named => named,
    }
}

/// Maps the arguments of a call to the tool's own.
///
/// # Errors
/// A sentence for the model, where two arguments contradict each other or one has no counterpart
/// of the same effect.
pub(crate) fn map(
    of: CalledTool<'_>,
    mut fields: Map<String, Value>,
) -> Result<MappedArguments, CallError> {
    fields.retain(|_, value| !value.is_null());
    if editor::is_editor(of.called) {
        editor::command(&mut fields)?;
    }
    unwrap_single(of, &mut fields)?;
    let mut ignored = Vec::new();
    for (from, to) in renames(of.tool).iter().copied().flatten() {
        rename(of, &mut fields, from, to)?;
    }
    match of.tool {
        ToolName::ReadFile => lines::line_range(&mut fields)?,
        ToolName::ApplyDiff => edit::diff(of, &mut fields)?,
        ToolName::ApplyPatch => patch::patch(&mut fields)?,
        ToolName::ExecuteCommand => command::command(of, &mut fields)?,
        ToolName::SearchFiles => letter_case(&mut fields),
        _ => {}
    }
    let unknown: Vec<String> =
        fields.keys().filter(|name| !of.known.contains(name)).cloned().collect();
    for name in unknown {
        if may_be_left_out(of, &name, fields.get(&name)) {
            fields.remove(&name);
            ignored.push(name);
        }
    }
    Ok(MappedArguments { fields, ignored })
}

/// Whether a parameter that the tool has not may be left out. What may be a slip of the pen, or
/// would have changed the effect, is refused by the tool itself.
fn may_be_left_out(of: CalledTool<'_>, name: &str, value: Option<&Value>) -> bool {
    let off = matches!(value, Some(Value::Bool(false)))
        || matches!(value, Some(Value::String(text)) if text.is_empty());
    if REMARKS.contains(&name) || off {
        return true;
    }
    let known: Vec<&str> = of.known.iter().map(String::as_str).collect();
    of.changes_nothing && !DECISIVE.contains(&name) && nearest(name, &known).is_none()
}

/// Gives a parameter the tool's own name.
fn rename(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
    from: &str,
    to: &str,
) -> Result<(), CallError> {
    if of.known.iter().any(|name| name == from) {
        return Ok(());
    }
    let Some(value) = fields.remove(from) else { return Ok(()) };
    match fields.get(to) {
        Some(other) if *other != value => Err(CallError(format!(
            "`{to}` and `{from}` of `{}` differ; give `{to}` alone.",
            of.called
        ))),
        Some(_) | None => {
            fields.insert(to.to_owned(), value);
            Ok(())
        }
    }
}

/// Takes the one file out of `files`, `paths`, or `args.file`, as tools have it that take several.
fn unwrap_single(of: CalledTool<'_>, fields: &mut Map<String, Value>) -> Result<(), CallError> {
    if !matches!(of.tool, ToolName::ReadFile | ToolName::ApplyDiff | ToolName::WriteToFile) {
        return Ok(());
    }
    if let Some(Value::Object(args)) = fields.get("args") {
        let args = args.clone();
        fields.remove("args");
        for (name, value) in args {
            fields.entry(name).or_insert(value);
        }
    }
    for name in ["files", "paths", "file"] {
        let Some(value) = fields.get(name) else { continue };
        let one = match parsed(value.clone()) {
            Value::Array(mut items) => match (items.pop(), items.len()) {
                (Some(one), 0) => one,
                (_, others) => {
                    return Err(CallError(format!(
                        "`{}` takes one file a call, and `{name}` has {}; make a call for each, in \
                         the same reply.",
                        of.tool,
                        others.saturating_add(1)
                    )));
                }
            },
            one => one,
        };
        fields.remove(name);
        match one {
            Value::Object(inner) => {
                for (name, value) in inner {
                    fields.entry(name).or_insert(value);
                }
            }
            text @ Value::String(_) => {
                fields.entry("path").or_insert(text);
            }
            other => {
                return Err(CallError(format!(
                    "`{name}` of `{}` must name a file, not {}.",
                    of.called,
                    kind_of(&other)
                )));
            }
        }
    }
    Ok(())
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Takes upper and lower case as equal where the call says so.
fn letter_case(fields: &mut Map<String, Value>) {
    let names = ["-i", "case_insensitive", "ignore_case", "caseInsensitive"];
    let ignores =
        names.iter().any(|name| fields.remove(*name).is_some_and(|value| is_true(&value)));
    let exact = fields.remove("case_sensitive").is_none_or(|value| is_true(&value));
    if (ignores || !exact)
        && let Some(Value::String(regex)) = fields.get_mut("regex")
    {
        regex.insert_str(0, "(?i)");
    }
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_str().is_some_and(|text| text == "true"))
}

/// Reads a list or an object that was written as text.
fn parsed(value: Value) -> Value {
    let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    inner.filter(|inner: &Value| inner.is_array() || inner.is_object()).unwrap_or(value)
}

/// Says which arguments were left out.
pub(crate) fn note(tool: ToolName, ignored: &[String]) -> String {
    match ignored {
        [] => String::new(),
        [one] => format!("\n\n(`{one}` is not a parameter of `{tool}` and was ignored.)"),
        several => {
            format!("\n\n({} are not parameters of `{tool}` and were ignored.)", quoted(several))
        }
    }
}
