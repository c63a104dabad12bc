//! Texts that a file gives to a mode which another file defines, or which is built in: what the
//! mode may do stays as it is.

use crate::{Mode, ModeSource};
use locum_files::position::Position;

/// The texts of one mode that a file changes; those that it leaves out stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModePrompt {
    /// The mode.
    pub slug: String,
    /// Where in the file it is named.
    pub place: Position,
    /// In place of the role.
    pub role_definition: Option<String>,
    /// In place of what tells an orchestrator when to choose it.
    pub when_to_use: Option<String>,
    /// In place of its line for lists.
    pub description: Option<String>,
    /// In place of its instructions; an empty text leaves none.
    pub custom_instructions: Option<String>,
}

impl ModePrompt {
    /// Changes the mode, which remembers the file.
    pub(crate) fn apply(self, mode: &mut Mode, source: &ModeSource) {
        if let Some(role) = self.role_definition {
            mode.role_definition = role;
        }
        mode.when_to_use = self.when_to_use.or(mode.when_to_use.take());
        mode.description = self.description.or(mode.description.take());
        if let Some(instructions) = self.custom_instructions {
            mode.custom_instructions = Some(instructions).filter(|text| !text.is_empty());
        }
        mode.changed_in.extend(source.file().map(str::to_owned));
    }
}
