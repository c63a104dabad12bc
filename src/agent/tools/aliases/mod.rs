//! Arguments as other agents' tools have them: Roo, Kilo, Kode, Claude Code and Codex. Models that
//! were trained on those write them here too.
//!
//! In: the tool, the name it was called by, and the arguments as written. Out: the tool's own
//! arguments, and the names of those that were ignored. Everything after this sees the mapped call
//! alone, the policy included. Where two readings would differ in effect, none is taken: the model
//! reads what to write instead.

pub(crate) mod command;
pub(crate) mod decisive;
mod edit;
mod editor;
mod files;
mod kept;
mod lines;
mod patch;
mod prompt;
pub(crate) mod unknown;

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::arguments::kind_of;
use crate::tools::peer_words::PeerWords;
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// A tool's arguments, in its own words.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MappedArguments {
    /// The arguments that the tool knows, and those it has to refuse.
    pub(crate) fields: Map<String, Value>,
    /// Names of arguments that it does not know and that were ignored.
    pub(crate) ignored: Vec<String>,
}

/// What is known of a tool while its arguments are mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledTool<'c> {
    /// The tool.
    pub(crate) tool: ToolName,
    /// The name the model called it by.
    pub(crate) called: &'c str,
    /// Whether its calls only read, so that a slip of the pen does no harm.
    pub(crate) only_reads: bool,
    /// What others call it and its parameters.
    pub(crate) words: &'static PeerWords,
    /// The schemas of its own parameters.
    pub(crate) properties: &'c Map<String, Value>,
}

/// Returns the tool that a call means, given the one of that name: where one tool of a peer has the
/// effects of several, the arguments say which.
pub(crate) fn meant(named: ToolName, called: &str, fields: &Map<String, Value>) -> ToolName {
    match named {
        ToolName::ApplyDiff if editor::is_editor(called) => editor::meant(fields),
        ToolName::ReadFile if kept::is_of_kept_output(called) => kept::meant(fields),
        ToolName::ExecuteCommand if patch::is_patch(fields) => ToolName::ApplyPatch,
        ToolName::RunSlashCommand if prompt::is_prompt(fields) => ToolName::GetMcpPrompt,
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
    if of.tool == ToolName::GetMcpPrompt && prompt::is_prompt(&fields) {
        prompt::command(&mut fields);
    }
    let mut ignored = Vec::new();
    if kept::is_of_kept_output(of.called) {
        kept::output(of, &mut fields, &mut ignored)?;
    }
    if of.tool == ToolName::NotebookEdit {
        edit::cell(&mut fields);
    }
    unwrap_arguments(of, &mut fields);
    if of.tool == ToolName::ReadFile {
        files::files(of, &mut fields, &mut ignored)?;
    }
    unwrap_single(of, &mut fields)?;
    for (from, to) in of.words.renames.iter().copied().flatten() {
        rename(of, &mut fields, from, to)?;
    }
    match of.tool {
        ToolName::ReadFile => lines::line_range(&mut fields)?,
        ToolName::MultiEdit => edit::edits(&mut fields, &mut ignored)?,
        ToolName::InsertContent => edit::insertion(&mut fields)?,
        ToolName::ApplyDiff => edit::diff(of, &mut fields, &mut ignored)?,
        ToolName::ApplyPatch => patch::patch(&mut fields)?,
        ToolName::ExecuteCommand => command::command(of, &mut fields)?,
        ToolName::CommandOutput => command::output(of, &mut fields)?,
        ToolName::SearchFiles => letter_case(&mut fields),
        ToolName::AskFollowupQuestion => question(&mut fields)?,
        _ => {}
    }
    let unknown = leave_out(&mut fields, of.properties, |name, value, given| {
        may_be_ignored(of, name, value, given)
    })?;
    ignored.extend(unknown);
    for (name, schema) in of.properties {
        if let Some(inner) = schema.get("properties").and_then(Value::as_object)
            && let Some(Value::Object(given)) = fields.get_mut(name)
        {
            given.retain(|_, value| !value.is_null());
            let unknown = leave_out(given, inner, |_, _, _| Ok(true))?;
            ignored.extend(unknown.into_iter().map(|inner| format!("{name}.{inner}")));
        }
    }
    Ok(MappedArguments { fields, ignored })
}

/// Takes out the arguments that have no schema and that may be ignored; returns their names.
fn leave_out(
    fields: &mut Map<String, Value>,
    properties: &Map<String, Value>,
    may_be_ignored: impl Fn(&str, &Value, &Map<String, Value>) -> Result<bool, CallError>,
) -> Result<Vec<String>, CallError> {
    let mut ignored = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| !properties.contains_key(*name)) {
        if may_be_ignored(name, value, fields)? {
            ignored.push(name.clone());
        }
    }
    for name in &ignored {
        fields.remove(name);
    }
    Ok(ignored)
}

/// Whether a parameter that the tool has not may be ignored. What may be a slip of the pen for one
/// that is missing is refused by the tool itself, where it would change more than an answer.
fn may_be_ignored(
    of: CalledTool<'_>,
    name: &str,
    value: &Value,
    given: &Map<String, Value>,
) -> Result<bool, CallError> {
    if let Some(instead) = unknown::instead_of(of.words.decisive, name, value) {
        return Err(CallError(format!(
            "`{}` has no parameter `{name}`, and without it the call would do something else. \
             {instead}",
            of.tool
        )));
    }
    if unknown::is_nothing(value) {
        return Ok(true);
    }
    if of.tool == ToolName::UseMcpTool && !given.contains_key("arguments") {
        return Err(CallError(format!(
            "`{name}` is not a parameter of `use_mcp_tool`: what the server's tool takes goes into \
             `arguments`."
        )));
    }
    let missing = of.properties.keys().filter(|known| !given.contains_key(*known));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    Ok(of.only_reads || nearest(name, &missing).is_none())
}
/// Gives a parameter the tool's own name.
fn rename(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
    from: &str,
    to: &str,
) -> Result<(), CallError> {
    if of.properties.contains_key(from) {
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

/// Takes the arguments out of `args`, as tools have it that take several files.
fn unwrap_arguments(of: CalledTool<'_>, fields: &mut Map<String, Value>) {
    if of.tool != ToolName::ReadFile && !of.words.lists_files {
        return;
    }
    if let Some(Value::Object(args)) = fields.get("args") {
        let args = args.clone();
        fields.remove("args");
        for (name, value) in args {
            fields.entry(name).or_insert(value);
        }
    }
}

/// Takes the one file out of `files`, `paths` or `file`.
fn unwrap_single(of: CalledTool<'_>, fields: &mut Map<String, Value>) -> Result<(), CallError> {
    if !of.words.lists_files {
        return Ok(());
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

/// Takes the one question out of `questions`, with its answers to choose from.
fn question(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let Some(questions) = fields.remove("questions").map(parsed) else { return Ok(()) };
    let Value::Array(mut questions) = questions else {
        return Err(CallError("`questions` must be a list with one question.".to_owned()));
    };
    let (Some(Value::Object(mut one)), 0) = (questions.pop(), questions.len()) else {
        return Err(CallError(
            "`ask_followup_question` asks one question a call, as `question` with `follow_up`."
                .to_owned(),
        ));
    };
    for (from, to) in [("question", "question"), ("options", "follow_up")] {
        if let Some(value) = one.remove(from) {
            fields.entry(to).or_insert(value);
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
