//! Which tool a mode may use on which file. In: a mode and what is asked of it; out: yes, or an
//! error the model can act on.
//!
//! Which group gives which tools is in the table of tools. What a path really leads to is the
//! caller's question.

use crate::Mode;
use crate::file_limits::{FileLimit, FileRestrictionError, FileUse};
use crate::permissions::PermissionKind;
use locum_base::path::RepoPath;
use locum_base::tool::{Availability, ToolGroup, ToolName};
use locum_policy::command::Script;
use locum_policy::command::examine::PathUse;
use locum_policy::intent::Intent;
use locum_policy::schema::Switching;

/// The slug of the built-in mode that decides on switches under `switching: coordinator`. Other
/// modes do so with the group of this name.
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
    /// The mode has no tool that does such things.
    #[error("mode `{mode}` has no tool that {what}")]
    NoTool {
        /// Slug of the mode.
        mode: String,
        /// What the tool would do: `runs commands`.
        what: &'static str,
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
    let (works, coordinates) = (offer.purpose == TaskPurpose::Work, mode.coordinates());
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
        // Who decides looks, and does no part of the work.
        other => works || other.availability().group() == Some(ToolGroup::Read),
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
    check_file(mode, tool, (FileUse::Edit, path))?;
    let refused = |pattern: &str, limit: FileLimit| {
        restriction(mode, tool, (FileUse::Edit, path), (limit, pattern))
    };
    match mode.denying(PermissionKind::Edit, path.as_str()) {
        Some((map, rule)) if rule.pattern == "*" => {
            Err(refused(&map.left(PermissionKind::Edit).join(" or "), FileLimit::Only))
        }
        Some((_, rule)) => Err(refused(&rule.pattern, FileLimit::Never)),
        None => Ok(()),
    }
}

/// Asks whether a mode may read a file. Folders have no limits: what lies in them has.
///
/// # Errors
/// When the mode's read group, or its lists of files, leave it out.
pub fn check_read(
    mode: &Mode,
    tool: ToolName,
    path: &RepoPath,
) -> Result<(), FileRestrictionError> {
    check_file(mode, tool, (FileUse::Read, path))
}

/// Returns true when some files are left out for a mode that reads.
pub fn limits_reading(mode: &Mode) -> bool {
    !read_limits(mode).is_empty()
}

fn check_file(
    mode: &Mode,
    tool: ToolName,
    (used, path): (FileUse, &RepoPath),
) -> Result<(), FileRestrictionError> {
    let group = match used {
        FileUse::Read => ToolGroup::Read,
        FileUse::Edit => ToolGroup::Edit,
    };
    let regex = mode.group(group).and_then(|entry| Some((entry.file_regex.as_ref()?, entry)));
    if let Some((regex, entry)) = regex.filter(|(regex, _)| !regex.matches(path.as_str())) {
        let error = restriction(mode, tool, (used, path), (FileLimit::Only, regex.source()));
        // An empty one says nothing.
        let description = entry.description.clone().filter(|text| !text.is_empty());
        return Err(FileRestrictionError { description, ..error });
    }
    match mode.file_limits.refusing(used, path.as_str()) {
        Some((limit, pattern)) => Err(restriction(mode, tool, (used, path), (limit, &pattern))),
        None => Ok(()),
    }
}

fn restriction(
    mode: &Mode,
    tool: ToolName,
    (used, path): (FileUse, &RepoPath),
    (limit, pattern): (FileLimit, &str),
) -> FileRestrictionError {
    FileRestrictionError {
        tool: tool.as_str().into(),
        mode: mode.name.clone(),
        pattern: pattern.into(),
        limit,
        used,
        description: None,
        path: path.as_str().to_owned(),
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
        Intent::Read(path) => {
            // Of a folder, what lies in it is left out one by one.
            if !tool.reads_folders() {
                check_read(mode, tool, path)?;
            }
            of(PermissionKind::Read, path.as_str())
        }
        Intent::Command(script) => {
            check_named_reads(mode, tool, script)?;
            let maps = mode.permission_maps().into_iter();
            let mut denying = maps.filter_map(|map| Some((map, map.denying_script(script)?)));
            (PermissionKind::Command, denying.next())
        }
        Intent::Mcp { server, tool } => of(PermissionKind::Mcp, &format!("{server}/{tool}")),
        Intent::Delegate(slug) => of(PermissionKind::Delegate, slug),
        Intent::Fetch(_)
        | Intent::Search(_)
        | Intent::Browse(_)
        | Intent::Visit(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Service { .. }
        | Intent::Publish(_)
        | Intent::Mode(_)
        | Intent::Expert(_)
        | Intent::MemoryRead(_)
        | Intent::MemoryWrite(_)
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

/// Asks whether a mode may do a thing with any of its tools, `offered` being those. What needs no
/// tool of a group is not the mode's matter.
///
/// # Errors
/// When no tool of the mode does such things, or the mode keeps each of them from it.
pub fn check_any_tool(mode: &Mode, offered: &[ToolName], intent: &Intent) -> Result<(), UseError> {
    let (group, what) = match intent {
        Intent::Read(_) => (ToolGroup::Read, "reads files"),
        Intent::Edit(_) => (ToolGroup::Edit, "changes files"),
        Intent::Command(_) => (ToolGroup::Command, "runs commands"),
        Intent::Fetch(_) => (ToolGroup::Read, "fetches pages"),
        Intent::Search(_) => (ToolGroup::Read, "searches the web"),
        Intent::Browse(_) => (ToolGroup::Browser, "looks at pages in a browser"),
        Intent::Mcp { .. } => (ToolGroup::Mcp, "calls MCP servers"),
        Intent::Delegate(_) => return check_intent(mode, ToolName::NewTask, intent),
        Intent::Visit(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Service { .. }
        | Intent::Publish(_)
        | Intent::Mode(_)
        | Intent::Expert(_)
        | Intent::MemoryRead(_)
        | Intent::MemoryWrite(_)
        | Intent::Session => return Ok(()),
    };
    let of_web = |tool: ToolName| match tool {
        ToolName::WebFetch => matches!(intent, Intent::Fetch(_)),
        ToolName::WebSearch => matches!(intent, Intent::Search(_)),
        _ => !matches!(intent, Intent::Fetch(_) | Intent::Search(_)),
    };
    let does = |tool: &ToolName| tool.availability().group() == Some(group) && of_web(*tool);
    let mut refused = None;
    for tool in offered.iter().copied().filter(does) {
        match check_intent(mode, tool, intent) {
            Ok(()) => return Ok(()),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| UseError::NoTool { mode: mode.slug.clone(), what }))
}

/// Asks whether a mode may read the files that a script is known to read.
fn check_named_reads(
    mode: &Mode,
    tool: ToolName,
    script: &Script,
) -> Result<(), FileRestrictionError> {
    if !limits_reading(mode) {
        return Ok(());
    }
    let reads = script.examinations().into_iter().flat_map(|(_, effects)| effects.reads);
    for used in reads.chain(script.redirected().0) {
        if let PathUse::Inside(path) | PathUse::Perhaps(path) = used {
            check_read(mode, tool, &path)?;
        }
    }
    Ok(())
}

/// Returns which files a mode may read, for its prompt: what it is to match a pattern, the pattern,
/// what that means.
pub fn read_limits(mode: &Mode) -> Vec<(FileLimit, String, Option<&str>)> {
    limits(mode, ToolGroup::Read, FileUse::Read)
}

/// Returns which files a mode may edit, for its prompt: what it is to match a pattern, the pattern,
/// what that means.
pub fn edit_limits(mode: &Mode) -> Vec<(FileLimit, String, Option<&str>)> {
    limits(mode, ToolGroup::Edit, FileUse::Edit)
}

fn limits(mode: &Mode, group: ToolGroup, used: FileUse) -> Vec<(FileLimit, String, Option<&str>)> {
    let of_group = mode.group(group).and_then(|entry| {
        let pattern = entry.file_regex.as_ref()?.source().to_owned();
        Some((FileLimit::Only, pattern, entry.description.as_deref()))
    });
    let lists = mode.file_limits.of(used).into_iter();
    of_group.into_iter().chain(lists.map(|(limit, pattern)| (limit, pattern, None))).collect()
}

/// Returns true for a tool that a mode has: every mode has some, the others come with a group, and
/// some of those only where they are `included`.
pub fn has_tool(mode: &Mode, tool: ToolName, included: &[ToolName]) -> bool {
    let group = match tool.availability() {
        Availability::Always => return true,
        Availability::OptInAlways => {
            return included.contains(&tool) && !mode.tool_limits.deny(tool);
        }
        Availability::In(group) => group,
        Availability::InWithout(_, other) if mode.group(other).is_some() => return false,
        Availability::InWithout(group, _) => group,
        Availability::OptIn(group) if included.contains(&tool) => group,
        Availability::OptIn(_) => return false,
    };
    mode.group(group).is_some() && mode.tool_limits.leave(tool)
}

#[cfg(test)]
mod tests;
