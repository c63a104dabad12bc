//! Which tool a mode may use on which file. In: a mode and what is asked of it; out: yes, or an error the model can act on.
//!
//! One table says which group gives which tools. It also knows the names of tools that other agents with the same mode files have, so
//! that a mode file means the same here. Paths are decided in their plain form; what they really lead to is the caller's question.

use serde_json::Value;

use crate::base::path::{PathError, RepoPath};
use crate::base::tool::ToolName;
use crate::modes::file_regex::FileRegex;
use crate::modes::{Group, Mode, ModeSet};
use crate::policy::schema::Switching;

/// The slug of the mode that switches modes under `switching: coordinator`.
pub const COORDINATOR: &str = "coordinator";

/// A group, the tools it gives, and those it gives only to models that ask for them by name.
struct GroupTools {
    group: Group,
    tools: &'static [&'static str],
    opt_in: &'static [&'static str],
}

const GROUPS: &[GroupTools] = &[
    GroupTools { group: Group::Read, tools: &["read_file", "list_files", "search_files", "codebase_search"], opt_in: &[] },
    GroupTools {
        group: Group::Edit,
        tools: &["write_to_file", "apply_diff", "generate_image"],
        opt_in: &["edit", "search_replace", "edit_file", "apply_patch"],
    },
    GroupTools { group: Group::Command, tools: &["execute_command", "read_command_output"], opt_in: &[] },
    GroupTools { group: Group::Mcp, tools: &[MCP_TOOL, "access_mcp_resource"], opt_in: &[] },
    GroupTools { group: Group::Modes, tools: &["new_task", "switch_mode"], opt_in: &[] },
];

/// Tools of every mode, whatever its groups.
const ALWAYS: &[&str] =
    &["update_todo_list", "ask_followup_question", "attempt_completion", "new_task", "switch_mode", "run_slash_command", "skill"];

/// Other names of tools.
const ALIASES: &[(&str, &str)] = &[("write_file", "write_to_file"), ("search_and_replace", "edit")];

/// The tool that stands for every tool of an MCP server.
const MCP_TOOL: &str = "use_mcp_tool";

/// Parameters that make a call of an edit tool an edit; a call with none of them cannot change a file.
const CONTENT_PARAMETERS: &[&str] =
    &["diff", "content", "operations", "search", "replace", "args", "line", "patch", "old_string", "new_string", "prompt"];

/// Lines of a patch that name a file it would change.
const PATCH_HEADERS: &[&str] = &["*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"];

/// Tools taken from and given to every mode of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolChoice<'a> {
    /// Tools nobody has, by name or alias; wins over everything.
    pub disabled: &'a [String],
    /// Opt-in tools that the model gets where its mode has their group, by name or alias.
    pub included: &'a [String],
}

/// Why a mode may not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// There is no such tool.
    #[error("Unknown tool \"{tool}\". This tool does not exist. Use one of the tools you were given.")]
    UnknownTool {
        /// The name as the model wrote it.
        tool: String,
    },
    /// The mode does not have the tool.
    #[error("Tool \"{tool}\" is not allowed in {mode} mode.")]
    NotAllowed {
        /// The name as the model wrote it.
        tool: String,
        /// The mode's slug.
        mode: String,
    },
    /// The mode has the tool, but not for this file.
    #[error(transparent)]
    FileRestriction(#[from] FileRestrictionError),
}

/// A file a mode may not edit. The message names mode, pattern, description and path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool '{tool}' in mode '{mode}' can only edit files matching pattern: {pattern}{}. Got: {path}", description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct FileRestrictionError {
    /// The tool.
    pub tool: String,
    /// The mode's name for people.
    pub mode: String,
    /// The pattern.
    pub pattern: String,
    /// What the pattern means.
    pub description: Option<String>,
    /// The path asked for.
    pub path: String,
}

/// Returns the tools of a mode that this program has, before the policy and the run take some away; in the order shown to models.
#[must_use]
pub fn tools_of(mode: &Mode) -> Vec<ToolName> {
    ToolName::ALL.iter().copied().filter(|tool| has_tool(Some(mode), tool.as_str(), &[])).collect()
}

/// What besides a task's mode decides which tools it is offered.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The policy's word on switching modes.
    pub switching: Switching,
    /// Whether the task may start sub-tasks.
    pub may_delegate: bool,
    /// Opt-in tools that the profile of the task's model includes.
    pub included: &'a [ToolName],
}

/// Returns the tools shown to the model: those of its mode, `switch_mode` by the policy's `switching`, `new_task` only where the task may
/// delegate, opt-in tools only where the model's profile includes them.
#[must_use]
pub fn offered(mode: &Mode, offer: Offer<'_>) -> Vec<ToolName> {
    let may_switch = match offer.switching {
        Switching::Coordinator => mode.slug == COORDINATOR,
        Switching::Direct => true,
        Switching::Off => false,
    };
    let included: Vec<String> = offer.included.iter().map(ToString::to_string).collect();
    ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| has_tool(Some(mode), tool.as_str(), &included))
        .filter(|tool| may_switch || *tool != ToolName::SwitchMode)
        .filter(|tool| offer.may_delegate || *tool != ToolName::NewTask)
        .collect()
}

/// Asks whether a mode may edit a path with a tool it has. A mode without an edit group has no restriction of its own: what its other
/// tools may change is the policy's matter.
///
/// # Errors
/// When the mode's edit group is restricted to other files.
pub fn check_edit(mode: &Mode, tool: ToolName, path: &RepoPath) -> Result<(), FileRestrictionError> {
    check_path(mode, tool.as_str(), path.as_str())
}

/// Decides on a call as the model wrote it, by any tool name a mode file can give: unknown tools, aliases, tools of MCP servers
/// (`mcp--server--tool`), and every path a patch names. A mode that does not exist has only the tools every mode has.
///
/// # Errors
/// When there is no such tool, the mode does not have it, or has it for other files only.
pub fn decide_access(modes: &ModeSet, slug: &str, tool: &str, params: &Value, choice: ToolChoice<'_>) -> Result<(), AccessError> {
    let name = resolve(tool);
    if !is_known(name) {
        return Err(AccessError::UnknownTool { tool: tool.to_owned() });
    }
    let mode = modes.find(slug);
    if choice.disabled.iter().any(|disabled| resolve(disabled) == name) || !has_tool(mode, name, choice.included) {
        return Err(AccessError::NotAllowed { tool: tool.to_owned(), mode: slug.to_owned() });
    }
    if let Some(mode) = mode
        && GROUPS.iter().any(|row| row.group == Group::Edit && (row.tools.contains(&name) || row.opt_in.contains(&name)))
    {
        for path in edited_paths(params) {
            check_path(mode, name, path)?;
        }
    }
    Ok(())
}

/// Brings a name to the one the table has: `write_file` to `write_to_file`.
#[must_use]
pub fn resolve(tool: &str) -> &str {
    if tool.starts_with("mcp--") || tool.starts_with("mcp__") {
        return MCP_TOOL;
    }
    ALIASES.iter().find(|(alias, _)| *alias == tool).map_or(tool, |(_, name)| name)
}

fn is_known(name: &str) -> bool {
    ALWAYS.contains(&name) || GROUPS.iter().any(|row| row.tools.contains(&name) || row.opt_in.contains(&name))
}

fn has_tool(mode: Option<&Mode>, name: &str, included: &[String]) -> bool {
    let opted_in = || included.iter().any(|included| resolve(included) == name);
    let has_group = |group: Group| mode.is_some_and(|mode| mode.groups.iter().any(|entry| entry.group == group));
    ALWAYS.contains(&name)
        || GROUPS.iter().any(|row| (row.tools.contains(&name) || (row.opt_in.contains(&name) && opted_in())) && has_group(row.group))
}

/// Returns every path a call of an edit tool would change.
fn edited_paths(params: &Value) -> Vec<&str> {
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let mut paths = Vec::new();
    if CONTENT_PARAMETERS.iter().any(|key| params.get(key).is_some_and(|value| !value.is_null())) {
        paths.extend(["path", "file_path"].into_iter().filter_map(text));
    }
    for line in text("patch").unwrap_or_default().lines() {
        paths.extend(PATCH_HEADERS.iter().find_map(|header| line.trim_start().strip_prefix(header)).map(str::trim));
    }
    paths
}

fn restriction(mode: &Mode) -> Option<(&FileRegex, Option<&String>)> {
    let entry = mode.groups.iter().find(|entry| entry.group == Group::Edit)?;
    Some((entry.file_regex.as_ref()?, entry.description.as_ref()))
}

/// Refuses a path that the mode's restriction does not match in its plain form, or that has none.
fn check_path(mode: &Mode, tool: &str, path: &str) -> Result<(), FileRestrictionError> {
    let Some((regex, description)) = restriction(mode) else { return Ok(()) };
    if plain_form(path).is_some_and(|plain| regex.matches(&plain)) {
        return Ok(());
    }
    Err(FileRestrictionError {
        tool: tool.to_owned(),
        mode: mode.name.clone(),
        pattern: regex.source().to_owned(),
        description: description.cloned(),
        path: path.to_owned(),
    })
}

/// Returns a path without `.`, `..` and double slashes. Whether an absolute one may be used at all is for whoever opens it to say.
fn plain_form(path: &str) -> Option<String> {
    match RepoPath::parse(path) {
        Ok(plain) => Some(plain.as_str().to_owned()),
        Err(PathError::Absolute(_)) if path.starts_with('/') => {
            RepoPath::parse(path.trim_start_matches('/')).ok().map(|below| format!("/{below}"))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessError, Offer, ToolChoice, check_edit, decide_access, offered};
    use crate::base::path::RepoPath;
    use crate::base::tool::ToolName;
    use crate::modes::{ModeSet, ModeSource, builtin, loader};
    use crate::policy::schema::Switching;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn modes() -> ModeSet {
        let text = "customModes:\n  - {slug: tests, name: Tests, roleDefinition: R, groups: [[edit, {fileRegex: '^tests/'}]]}\n  - {slug: free, name: Free, roleDefinition: R, groups: [edit, mcp]}\n";
        let custom = loader::parse(text, &ModeSource::Project { file: ".locum/modes.yml".to_owned() }).unwrap();
        ModeSet::merge([builtin::modes(), custom])
    }

    fn check(mode: &str, tool: &str, params: serde_json::Value, expected: &str) {
        let included = ["apply_patch".to_owned(), "edit".to_owned()];
        let choice = ToolChoice { disabled: &["skill".to_owned()], included: &included };
        let found = match decide_access(&modes(), mode, tool, &params, choice) {
            Ok(()) => "yes".to_owned(),
            Err(AccessError::UnknownTool { .. }) => "unknown".to_owned(),
            Err(AccessError::NotAllowed { .. }) => "not in mode".to_owned(),
            Err(AccessError::FileRestriction(error)) => format!("not {}", error.path),
        };
        assert_eq!(found, expected, "{mode} {tool} {params}");
    }

    #[test]
    fn a_mode_has_the_tools_of_its_groups_and_the_common_ones() {
        check("code", "execute_command", json!({}), "yes");
        check("ask", "execute_command", json!({}), "not in mode");
        check("ask", "edit", json!({}), "not in mode");
        check("nosuch", "read_file", json!({}), "not in mode");
        check("nosuch", "attempt_completion", json!({}), "yes");
        check("orchestrator", "skill", json!({}), "not in mode");
        check("code", "make_coffee", json!({}), "unknown");
    }

    #[test]
    fn tools_of_mcp_servers_belong_to_their_group() {
        for tool in ["mcp--time--now", "mcp__time__now", "use_mcp_tool"] {
            check("free", tool, json!({}), "yes");
            check("tests", tool, json!({}), "not in mode");
        }
    }

    #[test]
    fn a_restriction_holds_on_every_path_a_call_names() {
        check("tests", "write_file", json!({"path": "tests/a", "content": ""}), "yes");
        check("tests", "write_to_file", json!({"path": "src/a", "content": ""}), "not src/a");
        check("tests", "write_to_file", json!({"path": "tests/../src/a", "content": "x"}), "not tests/../src/a");
        check("tests", "write_to_file", json!({"path": "./tests//a", "content": "x"}), "yes");
        check("tests", "write_to_file", json!({"path": "/tests/a", "content": "x"}), "not /tests/a");
        check("tests", "write_to_file", json!({"path": "tests/../../tests/a", "content": "x"}), "not tests/../../tests/a");
        check("free", "write_to_file", json!({"path": "/tests/a", "content": "x"}), "yes");
        check("tests", "search_and_replace", json!({"file_path": "src/a", "old_string": "", "new_string": null}), "not src/a");
        let patch = |body: &str| json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") });
        check("tests", "apply_patch", patch("*** Update File: tests/a\n@@\n-x"), "yes");
        check("tests", "apply_patch", patch("*** Update File: tests/a\n*** Move to: src/a\n@@\n-x"), "not src/a");
        check("tests", "apply_patch", patch("*** Delete File: tests/../b"), "not tests/../b");
    }

    #[test]
    fn check_edit_names_mode_pattern_meaning_and_path() {
        let modes = modes();
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let architect = modes.find("architect").unwrap();
        assert_eq!(check_edit(architect, ToolName::ApplyDiff, &path("docs/plan.md")), Ok(()));
        assert_eq!(
            check_edit(architect, ToolName::ApplyDiff, &path("src/lib.rs")).unwrap_err().to_string(),
            r"Tool 'apply_diff' in mode '🏗️ Architect' can only edit files matching pattern: \.md$ (Markdown files only). Got: src/lib.rs"
        );
        assert_eq!(check_edit(modes.find("code").unwrap(), ToolName::ApplyDiff, &path("src/lib.rs")), Ok(()));
    }

    #[test]
    fn switching_and_delegating_are_offered_as_the_policy_says() {
        let modes = modes();
        let has = |slug: &str, switching: Switching, may_delegate: bool, tool: ToolName| {
            offered(modes.find(slug).unwrap(), Offer { switching, may_delegate, included: &[] }).contains(&tool)
        };
        assert!(has("coordinator", Switching::Coordinator, false, ToolName::SwitchMode));
        assert!(!has("code", Switching::Coordinator, false, ToolName::SwitchMode));
        assert!(has("code", Switching::Direct, false, ToolName::SwitchMode));
        assert!(!has("coordinator", Switching::Off, false, ToolName::SwitchMode));
        assert!(has("orchestrator", Switching::Off, true, ToolName::NewTask));
        assert!(!has("orchestrator", Switching::Off, false, ToolName::NewTask));
    }

    #[test]
    fn the_orchestrator_has_no_tools_of_its_own() {
        let modes = modes();
        let orchestrator = modes.find("orchestrator").unwrap();
        let common = [ToolName::UpdateTodoList, ToolName::AskFollowupQuestion, ToolName::AttemptCompletion, ToolName::NewTask];
        let offer = Offer { switching: Switching::Coordinator, may_delegate: true, included: &[ToolName::ApplyPatch] };
        assert_eq!(offered(orchestrator, offer), common);
    }

    #[test]
    fn an_opt_in_tool_needs_the_profile_and_the_modes_group() {
        let modes = modes();
        let has = |slug: &str, included: &[ToolName]| {
            let offer = Offer { switching: Switching::Off, may_delegate: false, included };
            offered(modes.find(slug).unwrap(), offer).contains(&ToolName::ApplyPatch)
        };
        assert!(has("code", &[ToolName::ApplyPatch]));
        assert!(!has("code", &[]) && !has("ask", &[ToolName::ApplyPatch]));
    }
}
