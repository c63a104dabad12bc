//! A mode as its files have it: the keys, and a mode written back in that shape. In: a checked
//! [`Mode`]; out: plain data that serialises to what the loader reads. Reading is the loader's.

use serde::{Serialize, Serializer};

use crate::file_regex::FileRegex;
use crate::{GroupEntry, Mode, ModeModel, ModelNeed, ToolLimits};
use locum_base::tool::ToolName;

/// The key of a mode file that holds its modes.
pub(crate) const TOP_KEY: &str = "customModes";

/// The key of a mode file of ours with texts for modes that others define.
pub(crate) const PROMPTS_KEY: &str = "customModePrompts";

/// The texts that it may change.
pub(crate) const PROMPT_KEYS: &[&str] =
    &["roleDefinition", "whenToUse", "description", "customInstructions"];

/// The keys of a mode.
pub const MODE_KEYS: &[&str] = &[
    "slug",
    "name",
    "roleDefinition",
    "whenToUse",
    "description",
    "customInstructions",
    "groups",
    "iconName",
    "source",
    "role",
    "tools",
    "groupName",
    "icon",
    "isCustom",
    "systemPrompt",
    "allowedFilePaths",
    "disallowedFilePaths",
    "fileRestrictions",
    "baseInstructions",
    "customRules",
    "variables",
    "apiProvider",
    "apiModel",
    "apiBase",
    "preferredModelId",
    "preferredProviderId",
    "experimentalFeatures",
    "highlightRange",
];

/// The keys of a group's options.
pub(crate) const OPTION_KEYS: &[&str] = &["fileRegex", "description"];

/// Returns which part of a mode would be lost in a file of modes; `None` when nothing.
pub fn lost(mode: &Mode) -> Option<&'static str> {
    if !mode.permissions.0.is_empty() {
        return Some("its permission map");
    }
    (mode.tool_limits != ToolLimits::default()).then_some("its list of single tools")
}

/// A mode as it is shown: as its file has it, where that is, and the tools it has.
#[derive(Clone, Debug, Serialize)]
pub struct ModeView<'m> {
    /// The mode, in the shape of mode files.
    #[serde(flatten)]
    pub mode: &'m Mode,
    /// Kind of source it comes from, in a word.
    pub source: &'static str,
    /// Path of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'m str>,
    /// Files that changed its texts.
    #[serde(rename = "changedIn", skip_serializing_if = "<[_]>::is_empty")]
    pub changed_in: &'m [String],
    /// Every tool it has.
    pub tools: Vec<ToolName>,
}

impl<'m> From<&'m Mode> for ModeView<'m> {
    fn from(mode: &'m Mode) -> Self {
        let (source, file) = (mode.source.word(), mode.source.file());
        Self { mode, source, file, changed_in: &mode.changed_in, tools: mode.tools() }
    }
}

impl Serialize for FileRegex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl Serialize for GroupEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { group, file_regex, description } = self;
        if file_regex.is_none() && description.is_none() {
            return group.serialize(serializer);
        }
        (group, GroupOptions { file_regex, description }).serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupOptions<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_regex: &'m Option<FileRegex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: &'m Option<String>,
}

impl Serialize for ModeModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = |need: ModelNeed| Some(&self.name).filter(|_| self.need == need);
        let keys = [
            ("apiProvider", self.provider.as_ref()),
            ("apiModel", named(ModelNeed::Required)),
            ("apiBase", self.base_url.as_ref()),
            ("preferredModelId", named(ModelNeed::Preferred)),
        ];
        serializer.collect_map(keys.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }
}
