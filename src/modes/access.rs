//! Which tool a mode may use on which file. In: a mode and what is asked of it; out: yes, or an
//! error the model can act on.
//!
//! Which group gives which tools is in the table of tools. What a path really leads to is the
//! caller's question.

use crate::file_regex::FileRegex;
use crate::permissions::PermissionKind;
use crate::{FileLimits, Mode};
use locum_base::path::RepoPath;
use locum_base::tool::{Availability, ToolGroup, ToolName};
use locum_policy::intent::Intent;
use locum_policy::schema::Switching;

/// The slug of the mode that switches modes under `switching: coordinator`.
pub const COORDINATOR: &str = "coordinator";

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
    ToolName::ALL.iter().copied().filter(|tool| has_tool(mode, *tool, &[])).collect()
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
    let has =
        |tool: &ToolName| has_tool(mode, *tool, offer.included) && is_offered(*tool, mode, offer);
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
    let refused =
        |pattern: &str, limit: FileLimit, description: Option<&String>| FileRestrictionError {
            tool: tool.as_str().into(),
            mode: mode.name.clone(),
            pattern: pattern.into(),
            limit,
            description: description.cloned(),
            path: path.as_str().to_owned(),
        };
    let is_in = |regex: &FileRegex| regex.matches(path.as_str());
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
    if let Some(regex) = disallowed.iter().find(|regex| regex.may_match(path.as_str())) {
        return Err(refused(regex.source(), FileLimit::Never, None));
    }
    match mode.denying(PermissionKind::Edit, path.as_str()) {
        Some((map, rule)) if rule.pattern == "*" => {
            Err(refused(&map.left(PermissionKind::Edit).join(" or "), FileLimit::Only, None))
        }
        Some((_, rule)) => Err(refused(&rule.pattern, FileLimit::Never, None)),
        None => Ok(()),
    }
}

/// Asks whether a mode may do what a call of a tool it has would do, as far as that shows before it
/// is done: the files it edits or reads, the commands it runs, the MCP tools it calls, the modes it
/// hands work to.
///
/// # Errors
/// When a restriction of the mode, or the permission map of its agent file, is against it.
pub fn check_intent(mode: &Mode, tool: ToolName, intent: &Intent) -> Result<(), UseError> {
    let of =
        |permission: PermissionKind, subject: &str| (permission, mode.denying(permission, subject));
    let (permission, found) = match intent {
        Intent::Edit(path) if mode.groups.iter().any(|entry| entry.group == ToolGroup::Edit) => {
            return Ok(check_edit(mode, tool, path)?);
        }
        Intent::Edit(path) => {
            let (tool, mode, path) =
                (tool.to_string(), mode.name.clone(), path.as_str().to_owned());
            return Err(UseError::NoEdits { tool, mode, path });
        }
        Intent::Read(path) => of(PermissionKind::Read, path.as_str()),
        Intent::Command(script) => {
            let maps = mode.permission_maps().into_iter();
            let mut denying = maps.filter_map(|map| Some((map, map.denying_script(script)?)));
            (PermissionKind::Command, denying.next())
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
        | Intent::Session => return Ok(()),
    };
    let Some((map, rule)) = found else { return Ok(()) };
    Err(UseError::Denied {
        tool: tool.to_string(),
        mode: mode.name.clone(),
        pattern: rule.pattern.clone(),
        left: map.left(permission).into_iter().map(str::to_owned).collect(),
    })
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

/// Returns true for a tool that a mode has: every mode has some, the others come with a group, and
/// some of those only where they are `included`.
pub fn has_tool(mode: &Mode, tool: ToolName, included: &[ToolName]) -> bool {
    let group = match tool.availability() {
        Availability::Always => return true,
        Availability::In(group) => group,
        Availability::OptIn(group) if included.contains(&tool) => group,
        Availability::OptIn(_) => return false,
    };
    mode.groups.iter().any(|entry| entry.group == group) && mode.tool_limits.leave(tool)
}

#[cfg(test)]
mod tests;
