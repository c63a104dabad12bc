//! Floor 2: modes. Who the agent is, which tools it has and which files it may touch. Pure: files' texts come in as text.

pub mod access;
pub mod builtin;
pub mod file_regex;
mod js_regex;
pub mod loader;
pub mod schema;

use crate::base::tool::ToolName;

/// A role with its tools and restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name in commands and files: letters, digits and `-`.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// Who the model is in this mode.
    pub role_definition: String,
    /// When an orchestrator should choose it.
    pub when_to_use: Option<String>,
    /// One line for lists.
    pub description: Option<String>,
    /// More instructions, put near the end of the prompt.
    pub custom_instructions: Option<String>,
    /// Tool groups, each at most once.
    pub groups: Vec<GroupEntry>,
    /// Where it was defined.
    pub source: ModeSource,
}

/// A tool group of a mode and its restriction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupEntry {
    /// The group.
    pub group: Group,
    /// For `edit`: only files whose path matches.
    pub file_regex: Option<file_regex::FileRegex>,
    /// What the restriction means, for people and the model.
    pub description: Option<String>,
}

/// A set of tools that modes give together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Reading, listing, searching.
    Read,
    /// Changing files.
    Edit,
    /// Running commands.
    Command,
    /// Tools of MCP servers.
    Mcp,
    /// Switching modes and starting sub-tasks.
    Modes,
}

impl Group {
    /// Every group.
    pub const ALL: &'static [Self] = &[Self::Read, Self::Edit, Self::Command, Self::Mcp, Self::Modes];

    /// Returns the name mode files use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Command => "command",
            Self::Mcp => "mcp",
            Self::Modes => "modes",
        }
    }

    /// Finds a group by its name; case matters.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|group| group.as_str() == name)
    }
}

/// Where a mode was defined; later ones replace earlier ones by slug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeSource {
    /// In the binary.
    Builtin,
    /// In the user's own configuration.
    Global {
        /// The file.
        file: String,
    },
    /// In the repository.
    Project {
        /// The file, relative to the repository root.
        file: String,
    },
}

impl ModeSource {
    /// Returns where this is in one word: `builtin`, `global`, `project`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Global { .. } => "global",
            Self::Project { .. } => "project",
        }
    }
}

/// Every mode of a run, by slug, in listing order.
#[derive(Clone, Debug, Default)]
pub struct ModeSet {
    modes: Vec<Mode>,
}

impl ModeSet {
    /// Joins modes in order of precedence: a later one takes the place of an earlier one with the same slug.
    #[must_use]
    pub fn merge(layers: impl IntoIterator<Item = Vec<Mode>>) -> Self {
        let mut modes: Vec<Mode> = Vec::new();
        for mode in layers.into_iter().flatten() {
            match modes.iter_mut().find(|known| known.slug == mode.slug) {
                Some(known) => *known = mode,
                None => modes.push(mode),
            }
        }
        Self { modes }
    }

    /// Finds a mode by slug.
    #[must_use]
    pub fn find(&self, slug: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.slug == slug)
    }

    /// Returns every mode in listing order.
    pub fn iter(&self) -> impl Iterator<Item = &Mode> {
        self.modes.iter()
    }
}

impl Mode {
    /// Returns the tools this mode gives, before the policy and the run take some away; in the order shown to models.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolName> {
        access::tools_of(self)
    }
}
