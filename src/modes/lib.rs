//! Modes and prompts. Who the agent is, which tools it has and which files it may touch. Pure:
//! files' texts come in as text.
//!
//! # From files to a prompt
//!
//! 1. [`places`] says which files of a repository may define modes, and in which format.
//! 2. [`merge::merge`] reads them, mode files with [`loader`] and agent files with
//!    [`agent`](mod@agent). It gives one mode for each slug, or every mistake of every file.
//!    [`builtin::modes`] are there without any file.
//! 3. [`ModeSet::find`] gives a [`Mode`] by its slug.
//! 4. [`access::offered`] says which tools a task in it is offered.
//! 5. [`prompts::system_prompt`] writes the prompt from facts alone.
//!
//! # While a task works
//!
//! [`access::check_intent`] asks whether a mode may do what a call would do: by its groups of
//! tools, its lists of files ([`file_limits`]) and its [`permissions`]. A mode only takes away.
//! What it leaves open is for the policy to decide.
//!
//! # Changing modes
//!
//! [`edit`] changes a mode in the text of its file and leaves the rest as it is. [`transfer`] moves
//! modes between repositories. [`widening`] says whether one mode may do more than another.

#![forbid(unsafe_code)]

pub mod access;
pub mod agent;
pub mod builtin;
pub mod edit;
pub mod file_limits;
pub mod file_regex;
mod js_regex;
pub mod json_schema;
mod limit_words;
pub mod loader;
pub mod merge;
pub mod mode_prompt;
pub mod permissions;
pub mod places;
pub mod prompts;
pub mod schema;
pub mod transfer;
pub mod widening;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::access::COORDINATOR;
use crate::file_limits::FileLimits;
use crate::permissions::{PermissionKind, PermissionRule, Permissions};
pub use locum_base::tool::ToolGroup;
use locum_base::tool::ToolName;

/// A role with its tools and restrictions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mode {
    /// Its name in commands and files: letters, digits and `-`.
    pub slug: String,
    /// Display name, for users.
    pub name: String,
    /// Who the model is in this mode.
    pub role_definition: String,
    /// When an orchestrator should choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// One line for lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// More instructions, put near the end of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// Tool groups, each at most once.
    pub groups: Vec<GroupEntry>,
    /// Instructions that stand right after the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Which tools of its groups it has.
    #[serde(skip)]
    pub tool_limits: ToolLimits,
    /// Which files it may read and edit, besides the restrictions of its groups.
    #[serde(flatten)]
    pub file_limits: FileLimits,
    /// What an agent file lets it do, in that file's own words.
    #[serde(skip)]
    pub permissions: Permissions,
    /// What the command a run began with leaves of that.
    #[serde(skip)]
    pub narrowed: Permissions,
    /// Rules of its own, shown with those of the repository.
    #[serde(rename = "customRules", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Values of `{{name}}` in its texts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The model it runs on, where that is not the run's.
    #[serde(flatten)]
    pub model: Option<ModeModel>,
    /// How tasks come to be in it.
    #[serde(skip)]
    pub entry: ModeEntry,
    /// Most turns of a task that begins in it.
    #[serde(skip)]
    pub turns: Option<u32>,
    /// Sampling temperature, where that is not its model's.
    #[serde(skip)]
    pub temperature: Option<Temperature>,
    /// The heading it is listed under, and its icon; only for display.
    #[serde(flatten)]
    pub looks: ModeAppearance,
    /// Where it was defined.
    #[serde(skip)]
    pub source: ModeSource,
    /// The files that changed its texts, in order.
    #[serde(skip)]
    pub changed_in: Vec<String>,
}

/// Which tools of its groups a mode has. Tools every mode has are not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolLimits {
    /// Only these; all when `None`.
    pub only: Option<Vec<ToolName>>,
    /// These are taken away, also from `only`.
    pub never: Vec<ToolName>,
}

impl ToolLimits {
    /// Returns true when a tool is not taken away.
    pub fn leave(&self, tool: ToolName) -> bool {
        let given = |only: &Vec<ToolName>| {
            only.contains(&tool) || tool.given_with().is_some_and(|other| only.contains(&other))
        };
        self.only.as_ref().is_none_or(given) && !self.deny(tool)
    }

    /// Returns true when a tool is taken away, by its name or by that of one that it stands for.
    pub fn deny(&self, tool: ToolName) -> bool {
        self.never.contains(&tool)
            || tool.denied_with().iter().any(|other| self.never.contains(other))
    }
}

/// The model a mode asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeModel {
    /// A profile of the settings, or a model's name at its provider.
    pub name: String,
    /// Protocol of its server.
    pub provider: Option<String>,
    /// Where its provider's API starts.
    pub base_url: Option<String>,
    /// What becomes of the mode when the model does not exist.
    pub need: ModelNeed,
}

/// How much a mode needs the model it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelNeed {
    /// The mode cannot run without it.
    Required,
    /// Another program's name for a model: where no profile is called so, the run's own model is
    /// used.
    Preferred,
}

/// How tasks come to be in a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModeEntry {
    /// As root task, as sub-task, by a switch.
    #[default]
    Any,
    /// Never as a sub-task.
    NotDelegated,
    /// As a sub-task only.
    Delegated,
}

/// A sampling temperature from 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperature(pub f64);

/// It is a number: it was read from a text and lies between two.
impl Eq for Temperature {}

/// How a mode is displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModeAppearance {
    /// The heading it is listed under.
    #[serde(rename = "groupName", skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The name of its sign.
    #[serde(rename = "iconName", skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
}

/// A tool group of a mode and its restriction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupEntry {
    /// Tools that the entry gives.
    pub group: ToolGroup,
    /// For `edit` and `read`: only files whose path matches. Another group keeps what its file has,
    /// without effect.
    pub file_regex: Option<file_regex::FileRegex>,
    /// What the restriction means, for users and the model.
    pub description: Option<String>,
}

impl GroupEntry {
    /// Whether `file_regex` has an effect on the group.
    pub fn may_limit_files(&self) -> bool {
        matches!(self.group, ToolGroup::Edit | ToolGroup::Read)
    }
}

/// Where a mode was defined; later ones replace earlier ones by slug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModeSource {
    /// In the binary.
    #[default]
    Builtin,
    /// In the user's own configuration.
    Global {
        /// Path of the file.
        file: String,
    },
    /// In the repository.
    Project {
        /// The file, relative to the repository root.
        file: String,
    },
    /// By the organisation, for all of its repositories.
    Organization {
        /// Path of the file.
        file: String,
    },
}

impl ModeSource {
    /// Returns where this is in one word: `builtin`, `global`, `project`, `organization`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Global { .. } => "global",
            Self::Project { .. } => "project",
            Self::Organization { .. } => "organization",
        }
    }

    /// Returns true when the file is the repository's, whoever it says its modes are of.
    pub fn is_in_repository(&self) -> bool {
        match self {
            Self::Project { .. } => true,
            Self::Builtin => false,
            Self::Global { file } | Self::Organization { file } => places::may_define(file),
        }
    }

    /// Returns the file; `None` for a built-in mode.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Builtin => None,
            Self::Global { file } | Self::Project { file } | Self::Organization { file } => {
                Some(file)
            }
        }
    }
}

/// Every mode of a run, by slug, in listing order.
#[derive(Clone, Debug, Default)]
pub struct ModeSet {
    modes: Vec<Mode>,
}

impl ModeSet {
    /// Joins modes in order of precedence: a later one takes the place of an earlier one with the
    /// same slug.
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

    /// Returns the same modes, each changed so.
    pub fn map(self, change: impl FnMut(Mode) -> Mode) -> Self {
        Self { modes: self.modes.into_iter().map(change).collect() }
    }

    /// Finds a mode by slug.
    pub fn find(&self, slug: &str) -> Option<&Mode> {
        self.modes.iter().find(|mode| mode.slug == slug)
    }

    /// Returns every mode in listing order.
    pub fn iter(&self) -> impl Iterator<Item = &Mode> {
        self.modes.iter()
    }
}

impl Mode {
    /// Returns a mode that has no tools of its own and says nothing but who it is.
    pub fn new(
        slug: impl Into<String>,
        name: impl Into<String>,
        role_definition: impl Into<String>,
        source: ModeSource,
    ) -> Self {
        Self {
            slug: slug.into(),
            name: name.into(),
            role_definition: role_definition.into(),
            source,
            ..Self::default()
        }
    }

    /// Returns the variables that stay where a task comes into this mode from others, which it left
    /// in this order: a later mode's value counts, and this mode's own before all.
    pub fn kept_variables<'m>(
        &self,
        before: impl IntoIterator<Item = &'m Self>,
    ) -> BTreeMap<String, String> {
        let mut kept = BTreeMap::new();
        for mode in before {
            kept.extend(mode.variables.clone());
        }
        kept.retain(|name, _| !self.variables.contains_key(name));
        kept
    }

    /// Returns a text of this mode with its variables filled in: `{{name}}`, blanks inside allowed.
    /// A name it does not have stays as it is written.
    pub fn filled(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            let value = after
                .split_once("}}")
                .and_then(|(name, after)| Some((self.variables.get(name.trim())?, after)));
            match value {
                Some((value, after)) => {
                    filled.push_str(value);
                    rest = after;
                }
                None => {
                    filled.push_str("{{");
                    rest = after;
                }
            }
        }
        filled + rest
    }

    /// Returns the entry of a group; `None` where it does not have the group.
    pub fn group(&self, group: ToolGroup) -> Option<&GroupEntry> {
        self.groups.iter().find(|entry| entry.group == group)
    }

    /// Returns true for a mode that decides in which mode tasks go on.
    pub fn coordinates(&self) -> bool {
        self.slug == COORDINATOR || self.group(ToolGroup::Coordinator).is_some()
    }

    /// Returns its permission maps, each of which can take a thing away.
    pub fn permission_maps(&self) -> [&Permissions; 2] {
        [&self.permissions, &self.narrowed]
    }

    /// Returns the rule that denies a subject, with the map it stands in.
    pub(crate) fn denying(
        &self,
        permission: PermissionKind,
        subject: &str,
    ) -> Option<(&Permissions, &PermissionRule)> {
        let mut maps = self.permission_maps().into_iter();
        maps.find_map(|map| Some((map, map.denying(permission, subject)?)))
    }

    /// Returns the tools this mode gives, before the policy and the run take some away; in the
    /// order shown to models.
    pub fn tools(&self) -> Vec<ToolName> {
        access::tools_of(self)
    }
}
