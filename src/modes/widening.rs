//! Whether one mode may do more than another, by what their files say: a task that was given one
//! mode must not gain rights by going on in another.
//!
//! In: two modes. Out: what the second has that the first lacks. Where texts do not show that one
//! pattern lies within another, the second counts as wider. What the policy adds is not known here.

use crate::access::has_tool;
use crate::permissions::{PermissionAction, Permissions};
use crate::{GroupEntry, Mode, ToolGroup};
use locum_base::tool::{Availability, ToolName};

/// Returns what a mode may do that another may not, as part of a sentence; `None` when it may do
/// nothing more.
pub fn gained(from: &Mode, to: &Mode) -> Option<String> {
    let has = |mode: &Mode, tool: ToolName| has_tool(mode, tool, ToolName::ALL);
    // A tool that comes with less, not more, shows nothing that the group does not.
    let is_no_more = |tool: ToolName| matches!(tool.availability(), Availability::InWithout(group, _) if from.group(group).is_some());
    let gains = |tool: &&ToolName| has(to, **tool) && !has(from, **tool) && !is_no_more(**tool);
    if let Some(tool) = ToolName::ALL.iter().find(gains) {
        return Some(format!("it has `{tool}`"));
    }
    for (group, what) in [(ToolGroup::Edit, "edits"), (ToolGroup::Read, "reads")] {
        let pattern = |mode: &'_ Mode| mode.group(group).and_then(pattern_of);
        let limit = pattern(from).filter(|_| to.group(group).is_some());
        if let Some(limit) = limit.filter(|limit| pattern(to).as_ref() != Some(limit)) {
            return Some(format!("it {what} files besides those that match `{limit}`"));
        }
    }
    if !from.file_limits.are_kept_by(&to.file_limits) {
        return Some(format!("the limits on files of `{}` do not hold in it", from.slug));
    }
    let denies = |map: &Permissions| map.0.iter().any(|rule| rule.action == PermissionAction::Deny);
    let lost = from
        .permission_maps()
        .into_iter()
        .find(|map| denies(map) && !to.permission_maps().contains(map));
    lost.map(|_| format!("what the permissions of `{}` deny is not denied in it", from.slug))
}

fn pattern_of(entry: &GroupEntry) -> Option<String> {
    entry.file_regex.as_ref().map(|regex| regex.source().to_owned())
}

#[cfg(test)]
mod tests {
    use super::gained;
    use crate::{ModeSet, ModeSource, builtin, loader};
    use pretty_assertions::assert_eq;

    fn modes() -> ModeSet {
        let text = "customModes:\n\
            \x20 - {slug: tests, name: T, roleDefinition: R, groups: [read, [edit, {fileRegex: '^tests/'}]]}\n\
            \x20 - {slug: same, name: T, roleDefinition: R, groups: [[edit, {fileRegex: '^tests/'}]]}\n\
            \x20 - {slug: wide, name: T, roleDefinition: R, groups: [read, edit]}\n\
            \x20 - {slug: listed, name: T, roleDefinition: R, groups: [read, edit], allowedFilePaths: [a, b]}\n\
            \x20 - {slug: fewer, name: T, roleDefinition: R, groups: [read, edit], allowedFilePaths: [b]}\n\
            \x20 - {slug: reads, name: T, roleDefinition: R, groups: [[read, {fileRegex: x}]]}\n\
            \x20 - {slug: core, name: T, roleDefinition: R, groups: [core]}\n";
        let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
        ModeSet::merge([builtin::modes(), loader::parse(text, &source).unwrap()])
    }

    #[test]
    fn a_mode_gains_by_tools_and_by_files() {
        let modes = modes();
        for (from, to, expected) in [
            ("code", "ask", None),
            ("code", "debug", None),
            ("code", "architect", None),
            ("ask", "code", Some("it has `write_to_file`")),
            ("ask", "review", Some("it has `execute_command`")),
            ("architect", "code", Some("it has `execute_command`")),
            ("orchestrator", "ask", Some("it has `read_file`")),
            ("architect", "wide", Some(r"it edits files besides those that match `\.md$`")),
            ("architect", "tests", Some(r"it edits files besides those that match `\.md$`")),
            ("tests", "same", None),
            ("same", "tests", Some("it has `read_file`")),
            ("tests", "ask", Some("it has `browser_action`")),
            ("wide", "listed", None),
            ("listed", "fewer", None),
            ("fewer", "listed", Some("the limits on files of `fewer` do not hold in it")),
            ("listed", "wide", Some("the limits on files of `listed` do not hold in it")),
            ("reads", "core", Some("it reads files besides those that match `x`")),
            ("ask", "reads", None),
            ("core", "reads", Some("it has `web_fetch`")),
        ] {
            let (from_mode, to_mode) = (modes.find(from).unwrap(), modes.find(to).unwrap());
            assert_eq!(gained(from_mode, to_mode).as_deref(), expected, "{from} -> {to}");
        }
    }
}
