//! A mode as its files have it: the keys, and a mode written back in that shape. In: a checked
//! [`Mode`]; out: plain data that serialises to what the loader reads. Reading is the loader's.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{GroupEntry, Mode, ModelNeed, ToolGroup, ToolLimits};
use locum_base::tool::ToolName;

/// The key of a mode file that holds its modes.
pub(crate) const TOP_KEY: &str = "customModes";

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

/// A mode in the shape of a mode file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeRecord {
    /// Its name in commands and files.
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
    /// Instructions after the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// Tool groups, each with its restriction.
    pub groups: Vec<GroupRecord>,
    /// Instructions right after the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Patterns of files, one of which an edited file has to match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_file_paths: Vec<String>,
    /// Patterns of files that are never edited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_file_paths: Vec<String>,
    /// Rules of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub custom_rules: Vec<String>,
    /// Values of `{{name}}` in its texts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Protocol of its model's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_provider: Option<String>,
    /// The model it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_model: Option<String>,
    /// Where that model's provider is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_base: Option<String>,
    /// The model it would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_model_id: Option<String>,
    /// The heading it is listed under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_name: Option<String>,
    /// The name of its sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_name: Option<String>,
}

impl ModeRecord {
    /// Returns what a mode would lose if only this was written: limits that agent files have and
    /// mode files cannot say.
    pub fn lost(mode: &Mode) -> Option<&'static str> {
        if !mode.permissions.0.is_empty() {
            return Some("its permission map");
        }
        (mode.tool_limits != ToolLimits::default()).then_some("its list of single tools")
    }
}

/// A group in the shape of a mode file: a name, or a name with options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GroupRecord {
    /// `read`
    Name(ToolGroup),
    /// `[edit, { fileRegex: ... }]`
    WithOptions(ToolGroup, GroupOptions),
}

/// The options of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupOptions {
    /// The pattern of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_regex: Option<String>,
    /// What the restriction means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A mode as inspecting commands print it: what its file says, where that is, and its effective
/// tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModeView {
    /// What its file says.
    #[serde(flatten)]
    pub record: ModeRecord,
    /// `builtin`, `global` or `project`.
    pub source: &'static str,
    /// The file it was read from; `None` for a built-in mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The tools it gives, before the policy and the run take some away.
    pub tools: Vec<ToolName>,
}

impl From<&Mode> for ModeRecord {
    fn from(mode: &Mode) -> Self {
        let model_name = |need| {
            mode.model.as_ref().filter(|model| model.need == need).map(|model| model.name.clone())
        };
        Self {
            slug: mode.slug.clone(),
            name: mode.name.clone(),
            role_definition: mode.role_definition.clone(),
            when_to_use: mode.when_to_use.clone(),
            description: mode.description.clone(),
            custom_instructions: mode.custom_instructions.clone(),
            groups: mode.groups.iter().map(GroupRecord::from).collect(),
            system_prompt: mode.system_prompt.clone(),
            allowed_file_paths: mode
                .file_limits
                .allowed
                .iter()
                .map(|pattern| pattern.source().to_owned())
                .collect(),
            disallowed_file_paths: mode
                .file_limits
                .disallowed
                .iter()
                .map(|pattern| pattern.source().to_owned())
                .collect(),
            custom_rules: mode.rules.clone(),
            variables: mode.variables.clone(),
            api_provider: mode.model.as_ref().and_then(|model| model.provider.clone()),
            api_model: model_name(ModelNeed::Required),
            api_base: mode.model.as_ref().and_then(|model| model.base_url.clone()),
            preferred_model_id: model_name(ModelNeed::Preferred),
            group_name: mode.looks.group.clone(),
            icon_name: mode.looks.icon.clone(),
        }
    }
}

impl From<&GroupEntry> for GroupRecord {
    fn from(entry: &GroupEntry) -> Self {
        if entry.file_regex.is_none() && entry.description.is_none() {
            return Self::Name(entry.group);
        }
        let file_regex = entry.file_regex.as_ref().map(|regex| regex.source().to_owned());
        Self::WithOptions(
            entry.group,
            GroupOptions { file_regex, description: entry.description.clone() },
        )
    }
}

impl From<&Mode> for ModeView {
    fn from(mode: &Mode) -> Self {
        let file = mode.source.file().map(str::to_owned);
        Self {
            record: ModeRecord::from(mode),
            source: mode.source.word(),
            file,
            tools: mode.tools(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ModeRecord, ModeView};
    use crate::{Mode, ModeSource, builtin, loader};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_mode_written_back_is_read_as_the_same_mode() {
        let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
        let records: Vec<ModeRecord> = builtin::modes().iter().map(ModeRecord::from).collect();
        let text = serde_json::json!({ "customModes": records }).to_string();
        let expected: Vec<Mode> = builtin::modes()
            .into_iter()
            .map(|mode| Mode { source: source.clone(), ..mode })
            .collect();
        assert_eq!(loader::parse(&text, &source), Ok(expected));
    }

    #[test]
    fn every_key_is_written_back() {
        let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
        let text = "customModes: [{slug: a, name: A, role: R, groups: [], systemPrompt: S, allowedFilePaths: [x], disallowedFilePaths: [y], customRules: [r], variables: {k: v}, apiProvider: openai, apiModel: m, apiBase: 'https://a.example', groupName: G, icon: i}, {slug: b, name: B, role: R, groups: [], preferredModelId: p}]";
        let modes = loader::parse(text, &source).unwrap();
        let records: Vec<ModeRecord> = modes.iter().map(ModeRecord::from).collect();
        let written = serde_json::json!({ "customModes": records }).to_string();
        assert_eq!(loader::parse(&written, &source), Ok(modes));
    }

    #[test]
    fn a_view_says_where_a_mode_is_from_and_what_it_may() {
        let text = "customModes: [{slug: docs, name: Docs, roleDefinition: R, groups: [read, \
                    [edit, {fileRegex: '\\.md$'}]]}]";
        let modes =
            loader::parse(text, &ModeSource::Project { file: ".roomodes".to_owned() }).unwrap();
        let expected = serde_json::json!({
            "slug": "docs",
            "name": "Docs",
            "roleDefinition": "R",
            "groups": ["read", ["edit", { "fileRegex": "\\.md$" }]],
            "source": "project",
            "file": ".roomodes",
            "tools": modes[0].tools(),
        });
        assert_eq!(serde_json::to_value(ModeView::from(&modes[0])).unwrap(), expected);
    }
}
