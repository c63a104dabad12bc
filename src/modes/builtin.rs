//! The seven built-in modes, from `config/modes.yml`, which is read as every mode file of ours is.

use crate::{Mode, ModeSource, loader};

/// Returns the built-in modes in listing order.
pub fn modes() -> Vec<Mode> {
    loader::parse(include_str!("../../config/modes.yml"), &ModeSource::Builtin).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::modes;
    use crate::loader;
    use crate::{ModeSource, ToolGroup};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_file_has_no_mistake() {
        let read = loader::parse(include_str!("../../config/modes.yml"), &ModeSource::Builtin);
        assert_eq!(read.map(|modes| modes.len()), Ok(7));
    }

    #[test]
    fn gives_each_mode_the_groups_it_needs_and_no_more() {
        let groups: Vec<(String, Vec<ToolGroup>)> = modes()
            .into_iter()
            .map(|mode| (mode.slug, mode.groups.iter().map(|entry| entry.group).collect()))
            .collect();
        let expected = [
            (
                "architect",
                vec![ToolGroup::Read, ToolGroup::Edit, ToolGroup::Browser, ToolGroup::Mcp],
            ),
            (
                "code",
                vec![
                    ToolGroup::Read,
                    ToolGroup::Edit,
                    ToolGroup::Command,
                    ToolGroup::Browser,
                    ToolGroup::Mcp,
                ],
            ),
            ("ask", vec![ToolGroup::Read, ToolGroup::Browser, ToolGroup::Mcp]),
            (
                "debug",
                vec![
                    ToolGroup::Read,
                    ToolGroup::Edit,
                    ToolGroup::Command,
                    ToolGroup::Browser,
                    ToolGroup::Mcp,
                ],
            ),
            ("orchestrator", vec![]),
            ("coordinator", vec![ToolGroup::Read, ToolGroup::Coordinator]),
            ("review", vec![ToolGroup::Read, ToolGroup::Command]),
        ];
        assert_eq!(groups, expected.map(|(slug, groups)| (slug.to_owned(), groups)));
    }

    #[test]
    fn says_when_to_use_each() {
        for mode in modes() {
            assert!(mode.when_to_use.is_some() && mode.description.is_some(), "{}", mode.slug);
        }
    }
}
