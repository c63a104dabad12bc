//! Which tool a mode may use on which file. In: a mode and what is asked of it; out: yes, or an
//! error the model can act on.
//!
//! Which group gives which tools is in the table of tools. Tools of other agents with the same mode
//! files are known here by name, so that a mode file means the same. Paths are decided in their
//! plain form; what they really lead to is the caller's question.

use serde_json::Value;

use crate::file_regex::FileRegex;
use crate::permissions::{PermissionKind, PermissionRule, Permissions};
use crate::{FileLimits, Mode, ModeSet};
use locum_base::path::{PathError, RepoPath};
use locum_base::tool::{self, Availability, ToolGroup, ToolName};
use locum_policy::intent::Intent;
use locum_policy::schema::Switching;

/// The slug of the mode that switches modes under `switching: coordinator`.
pub const COORDINATOR: &str = "coordinator";

/// Tools that other agents with the same mode files have, and which modes have them there.
const FOREIGN: &[(&str, Availability)] = &[
    ("codebase_search", Availability::In(ToolGroup::Read)),
    ("edit", Availability::OptIn(ToolGroup::Edit)),
    ("search_replace", Availability::OptIn(ToolGroup::Edit)),
    ("edit_file", Availability::OptIn(ToolGroup::Edit)),
    ("read_command_output", Availability::In(ToolGroup::Command)),
    ("run_slash_command", Availability::Always),
];

/// Parameters that make a call of an edit tool an edit; a call with none of them cannot change a
/// file.
const CONTENT_PARAMETERS: &[&str] = &[
    "diff",
    "content",
    "operations",
    "search",
    "replace",
    "args",
    "line",
    "patch",
    "old_string",
    "new_string",
    "prompt",
];

/// Lines of a patch that name a file it would change.
const PATCH_HEADERS: &[&str] =
    &["*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"];

/// Tools taken from and given to every mode of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolChoice<'a> {
    /// Tools that no mode has, by name or alias; wins over everything.
    pub disabled: &'a [String],
    /// Opt-in tools that the model gets where its mode has their group, by name or alias.
    pub included: &'a [String],
}

/// Why a mode may not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The tool does not exist.
    #[error(
        "Unknown tool \"{tool}\". This tool does not exist. Use one of the tools you were given."
    )]
    UnknownTool {
        /// The name as the model wrote it.
        tool: String,
    },
    /// The mode does not have the tool.
    #[error("Tool \"{tool}\" is not allowed in {mode} mode.")]
    NotAllowed {
        /// The name as the model wrote it.
        tool: String,
        /// Slug of the mode.
        mode: String,
    },
    /// The mode has the tool, but not for this file.
    #[error(transparent)]
    FileRestriction(#[from] FileRestrictionError),
}

/// Why a mode may not do what one use of a tool it has would do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// Not for this file.
    #[error(transparent)]
    FileRestriction(#[from] FileRestrictionError),
    /// The mode changes no files, and this would.
    #[error(
        "Tool '{tool}' in mode '{mode}' cannot change files: the mode has no tools that edit. \
         Got: {path}"
    )]
    NoEdits {
        /// Name of the tool.
        tool: String,
        /// Display name of the mode.
        mode: String,
        /// The path that would change.
        path: String,
    },
    /// Its permission map is against it.
    #[error("Tool '{tool}' in mode '{mode}' is denied for `{pattern}`. {}", said_left(.left))]
    Denied {
        /// Name of the tool.
        tool: String,
        /// Display name of the mode.
        mode: String,
        /// The pattern that denies it.
        pattern: String,
        /// Patterns that are not denied.
        left: Vec<String>,
    },
}

fn said_left(left: &[String]) -> String {
    let patterns: Vec<String> = left.iter().map(|pattern| format!("`{pattern}`")).collect();
    if patterns.is_empty() {
        "Nothing like it is allowed in this mode.".to_owned()
    } else {
        format!("Allowed here: {}.", patterns.join(", "))
    }
}

/// A file a mode may not edit. The message names mode, pattern, description and path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool '{tool}' in mode '{mode}' {limit} files matching pattern: {pattern}{}. Got: {path}", description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct FileRestrictionError {
    /// Name of the tool.
    pub tool: Box<str>,
    /// Display name of the mode.
    pub mode: String,
    /// Pattern of the restriction.
    pub pattern: Box<str>,
    /// What it is to match the pattern.
    pub limit: FileLimit,
    /// What the pattern means.
    pub description: Option<String>,
    /// The requested path.
    pub path: String,
}

/// What it is for a file to match a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLimit {
    /// Only such files.
    Only,
    /// Never such files.
    Never,
}

impl std::fmt::Display for FileLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Only => "can only edit",
            Self::Never => "cannot edit",
        })
    }
}

/// Returns the tools of a mode that this program has, before the policy and the run take some away;
/// in the order shown to models.
pub fn tools_of(mode: &Mode) -> Vec<ToolName> {
    ToolName::ALL.iter().copied().filter(|tool| has_tool(Some(mode), tool.as_str(), &[])).collect()
}

/// What a task is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskPurpose {
    /// To do a part of the work.
    #[default]
    Work,
    /// To decide in which mode another task continues.
    Decide,
}

/// What besides a task's mode decides which tools it is offered.
#[derive(Clone, Copy, Debug)]
pub struct ToolOffer<'a> {
    /// The policy's word on switching modes.
    pub switching: Switching,
    /// Whether the task may start sub-tasks.
    pub may_delegate: bool,
    /// What the task is there for.
    pub purpose: TaskPurpose,
    /// Opt-in tools that the profile of the task's model includes.
    pub included: &'a [ToolName],
}

/// Returns the tools shown to the model: those of its mode, `switch_mode` and `request_mode_switch`
/// by the policy's `switching`, `new_task` only where the task may delegate, opt-in tools only
/// where the model's profile includes them. A task that decides for another one gets
/// `coordinate_mode` in place of all that steers.
pub fn offered(mode: &Mode, offer: ToolOffer<'_>) -> Vec<ToolName> {
    let included: Vec<String> = offer.included.iter().map(ToString::to_string).collect();
    let has = |tool: &ToolName| {
        has_tool(Some(mode), tool.as_str(), &included) && is_offered(*tool, mode, offer)
    };
    ToolName::ALL.iter().copied().filter(has).collect()
}

/// Returns whether a run offers a tool that steers; other tools are the mode's matter alone.
fn is_offered(tool: ToolName, mode: &Mode, offer: ToolOffer<'_>) -> bool {
    let (works, coordinates) = (offer.purpose == TaskPurpose::Work, mode.slug == COORDINATOR);
    match tool {
        ToolName::SwitchMode => {
            works
                && (offer.switching == Switching::Direct
                    || (offer.switching == Switching::Coordinator && coordinates))
        }
        ToolName::RequestModeSwitch => {
            works && offer.switching == Switching::Coordinator && !coordinates
        }
        ToolName::CoordinateMode => !works && coordinates,
        ToolName::NewTask => works && offer.may_delegate,
        ToolName::AttemptCompletion => true,
        other => works || other.availability() != Availability::Always,
    }
}

/// Asks whether a mode may edit a path with a tool it has. A mode without an edit group has no
/// restriction of its own: what its other tools may change is the policy's matter.
///
/// # Errors
/// When the mode's edit group is restricted to other files.
pub fn check_edit(
    mode: &Mode,
    tool: ToolName,
    path: &RepoPath,
) -> Result<(), FileRestrictionError> {
    check_path(mode, tool.as_str(), path.as_str())
}

/// Asks whether a mode may do what a call of a tool it has would do, as far as that shows before it
/// is done: the files it edits or reads, the commands it runs, the MCP tools it calls, the modes it
/// hands work to.
///
/// # Errors
/// When a restriction of the mode, or the permission map of its agent file, is against it.
pub fn check_intent(mode: &Mode, tool: ToolName, intent: &Intent) -> Result<(), UseError> {
    let denied =
        |permission: PermissionKind,
         denying: &dyn for<'m> Fn(&'m Permissions) -> Option<&'m PermissionRule>| {
            let found =
                mode.permission_maps().into_iter().find_map(|map| Some((map, denying(map)?)));
            found.map_or(Ok(()), |(map, rule)| {
                Err(UseError::Denied {
                    tool: tool.to_string(),
                    mode: mode.name.clone(),
                    pattern: rule.pattern.clone(),
                    left: map.left(permission).into_iter().map(str::to_owned).collect(),
                })
            })
        };
    let of = |permission: PermissionKind, subject: &str| {
        denied(permission, &|map| map.denying(permission, subject))
    };
    match intent {
        Intent::Edit(path) if mode.groups.iter().any(|entry| entry.group == ToolGroup::Edit) => {
            Ok(check_edit(mode, tool, path)?)
        }
        Intent::Edit(path) => Err(UseError::NoEdits {
            tool: tool.to_string(),
            mode: mode.name.clone(),
            path: path.as_str().to_owned(),
        }),
        Intent::Read(path) => of(PermissionKind::Read, path.as_str()),
        Intent::Command(script) => {
            denied(PermissionKind::Command, &|map| map.denying_script(script))
        }
        Intent::Mcp { server, tool } => of(PermissionKind::Mcp, &format!("{server}/{tool}")),
        Intent::Delegate(slug) => of(PermissionKind::Delegate, slug),
        Intent::Fetch(_)
        | Intent::Browse(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Publish(_)
        | Intent::Mode(_)
        | Intent::Expert(_)
        | Intent::Session => Ok(()),
    }
}

/// Returns which files a mode may edit, for its prompt: what it is to match a pattern, the pattern,
/// what that means.
pub fn edit_limits(mode: &Mode) -> Vec<(FileLimit, String, Option<&str>)> {
    let edit = mode.groups.iter().filter(|entry| entry.group == ToolGroup::Edit);
    let mut limits: Vec<(FileLimit, String, Option<&str>)> = edit
        .filter_map(|entry| {
            Some((
                FileLimit::Only,
                entry.file_regex.as_ref()?.source().to_owned(),
                entry.description.as_deref(),
            ))
        })
        .collect();
    let joined = |patterns: &[FileRegex]| {
        patterns.iter().map(FileRegex::source).collect::<Vec<_>>().join(" or ")
    };
    let FileLimits { allowed, disallowed } = &mode.file_limits;
    limits.extend((!allowed.is_empty()).then(|| (FileLimit::Only, joined(allowed), None)));
    limits.extend((!disallowed.is_empty()).then(|| (FileLimit::Never, joined(disallowed), None)));
    limits
}

/// Decides on a call as the model wrote it, by any tool name a mode file can give: unknown tools,
/// aliases, tools of MCP servers (`mcp--server--tool`), and every path a patch names. A mode that
/// does not exist has only the tools every mode has.
///
/// # Errors
/// When the tool does not exist, the mode does not have it, or has it for other files only.
pub fn decide_access(
    modes: &ModeSet,
    slug: &str,
    tool: &str,
    params: &Value,
    choice: ToolChoice<'_>,
) -> Result<(), AccessError> {
    let name = tool::resolve(tool);
    if access_of(name).is_none() {
        return Err(AccessError::UnknownTool { tool: tool.to_owned() });
    }
    let mode = modes.find(slug);
    if choice.disabled.iter().any(|disabled| tool::resolve(disabled) == name)
        || !has_tool(mode, name, choice.included)
    {
        return Err(AccessError::NotAllowed { tool: tool.to_owned(), mode: slug.to_owned() });
    }
    if let Some(mode) = mode
        && access_of(name).and_then(Availability::group) == Some(ToolGroup::Edit)
    {
        for path in edited_paths(params) {
            check_path(mode, name, path)?;
        }
    }
    Ok(())
}

/// Returns which modes have a tool of this program or a foreign one; `None` for an unknown one.
fn access_of(name: &str) -> Option<Availability> {
    let foreign =
        || FOREIGN.iter().find(|(known, _)| *known == name).map(|(_, availability)| *availability);
    ToolName::find(name).map(ToolName::availability).or_else(foreign)
}

fn has_tool(mode: Option<&Mode>, name: &str, included: &[String]) -> bool {
    let (group, is_given) = match access_of(name) {
        None => return false,
        Some(Availability::Always) => return true,
        Some(Availability::In(group)) => (group, true),
        Some(Availability::OptIn(group)) => {
            (group, included.iter().any(|included| tool::resolve(included) == name))
        }
    };
    let gives = |mode: &Mode| {
        mode.groups.iter().any(|entry| entry.group == group)
            && ToolName::find(name).is_none_or(|tool| mode.tool_limits.leave(tool))
    };
    is_given && mode.is_some_and(gives)
}

/// Returns every path a call of an edit tool would change.
fn edited_paths(params: &Value) -> Vec<&str> {
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let mut paths = Vec::new();
    if CONTENT_PARAMETERS.iter().any(|key| params.get(key).is_some_and(|value| !value.is_null())) {
        paths.extend(["path", "file_path"].into_iter().filter_map(text));
    }
    for line in text("patch").unwrap_or_default().lines() {
        paths.extend(
            PATCH_HEADERS
                .iter()
                .find_map(|header| line.trim_start().strip_prefix(header))
                .map(str::trim),
        );
    }
    paths
}

/// Refuses a path that the mode's restrictions do not let it edit in its plain form, or that has
/// none.
fn check_path(mode: &Mode, tool: &str, path: &str) -> Result<(), FileRestrictionError> {
    let refused =
        |pattern: &str, limit: FileLimit, description: Option<&String>| FileRestrictionError {
            tool: tool.into(),
            mode: mode.name.clone(),
            pattern: pattern.into(),
            limit,
            description: description.cloned(),
            path: path.to_owned(),
        };
    let plain = plain_form(path);
    let is_in = |regex: &FileRegex| plain.as_ref().is_some_and(|plain| regex.matches(plain));
    let edit = mode.groups.iter().find(|entry| entry.group == ToolGroup::Edit);
    if let Some((regex, entry)) = edit.and_then(|entry| Some((entry.file_regex.as_ref()?, entry)))
        && !is_in(regex)
    {
        return Err(refused(regex.source(), FileLimit::Only, entry.description.as_ref()));
    }
    let FileLimits { allowed, disallowed } = &mode.file_limits;
    if !allowed.is_empty() && !allowed.iter().any(is_in) {
        let patterns: Vec<&str> = allowed.iter().map(FileRegex::source).collect();
        return Err(refused(&patterns.join(" or "), FileLimit::Only, None));
    }
    // NOTE: a search that was given up counts as no match, so it must not be what lets a path
    // through.
    let may_be_in = |regex: &&FileRegex| plain.as_ref().is_none_or(|plain| regex.may_match(plain));
    if let Some(regex) = disallowed.iter().find(may_be_in) {
        return Err(refused(regex.source(), FileLimit::Never, None));
    }
    let subject = plain.as_deref().unwrap_or(path);
    let denying = mode
        .permission_maps()
        .into_iter()
        .find_map(|map| Some((map, map.denying(PermissionKind::Edit, subject)?)));
    match denying {
        Some((map, rule)) if rule.pattern == "*" => {
            Err(refused(&map.left(PermissionKind::Edit).join(" or "), FileLimit::Only, None))
        }
        Some((_, rule)) => Err(refused(&rule.pattern, FileLimit::Never, None)),
        None => Ok(()),
    }
}

/// Returns a path without `.`, `..` and double slashes. Whether an absolute one may be used at all
/// is for whoever opens it to say.
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
mod tests;
