//! The keys of a mode beyond those most mode files have: its model, rules, variables, limits on
//! files and tools, how it looks.
//!
//! In: a mode's mapping. Out: [`ExtraModeKeys`], or mistakes in the reader's list. In the peers'
//! files a key that has the wrong shape is dropped with a warning, as it is where their programs do
//! not know it; a limit on files is never dropped.

use std::collections::BTreeMap;

use crate::agent::tools::{self, GrantedTools};
use crate::file_limits::FileLimits;
use crate::file_regex::FileRegex;
use crate::loader::fields::shown;
use crate::loader::groups::group_of;
use crate::loader::{Dialect, ModeFileReader};
use crate::{GroupEntry, ModeAppearance, ModeModel, ModelNeed, ToolGroup, ToolLimits};
use locum_base::text::code_list;
use locum_base::tool::ToolName;
use locum_files::yaml::{YamlNode, YamlValue};

/// What the further keys of a mode say.
#[derive(Default)]
pub(super) struct ExtraModeKeys {
    pub(super) file_limits: FileLimits,
    pub(super) system_prompt: Option<String>,
    pub(super) rules: Vec<String>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) model: Option<ModeModel>,
    pub(super) looks: ModeAppearance,
}

/// Keys that only matter to a program with windows.
const WITHOUT_EFFECT: &[&str] =
    &["experimentalFeatures", "highlightRange", "isCustom", "preferredProviderId"];

/// The keys of an entry of `tools`.
const TOOL_KEYS: &[&str] = &["name", "tools"];

impl ModeFileReader<'_> {
    /// Reads the further keys of a mode.
    pub(super) fn more(&mut self, node: &YamlNode, path: &str) -> ExtraModeKeys {
        for key in WITHOUT_EFFECT {
            if let Some(value) = node.get(key) {
                self.warn(
                    value.place,
                    &format!("{path}.{key}"),
                    format!("key `{key}` has no effect"),
                    None,
                );
            }
        }
        ExtraModeKeys {
            file_limits: FileLimits {
                allowed: self.patterns(node, path, "allowedFilePaths"),
                disallowed: self.patterns(node, path, "disallowedFilePaths"),
                edited: self.patterns(node, path, "fileRestrictions"),
            },
            system_prompt: self.word(node, path, "systemPrompt"),
            rules: self.rules(node, path),
            variables: self.variables(node, path),
            model: self.model(node, path),
            looks: ModeAppearance {
                group: self.word(node, path, "groupName"),
                icon: self.word(
                    node,
                    path,
                    if node.get("icon").is_some() { "icon" } else { "iconName" },
                ),
            },
        }
    }

    /// Reads a list of groups, single tools, or tools under the name of a group: `[read, { name:
    /// edit, tools: [apply_diff] }]`.
    pub(super) fn tools(
        &mut self,
        nodes: &[&YamlNode],
        path: &str,
    ) -> Option<(Vec<GroupEntry>, ToolLimits)> {
        let mut groups: Vec<ToolGroup> = Vec::new();
        let mut whole: Vec<ToolGroup> = Vec::new();
        let mut single: Vec<ToolName> = Vec::new();
        let mut is_right = true;
        for (index, node) in nodes.iter().enumerate() {
            if let Some(entries) = node.entries() {
                self.only_keys(entries, TOOL_KEYS, &format!("{path}.{index}"));
            }
            let names: Vec<&YamlNode> = match node.get("tools").and_then(YamlNode::list) {
                Some(names) => names.iter().collect(),
                None => vec![node.get("name").unwrap_or(node)],
            };
            for name in names {
                let granted = name.text().map(|name| match group_of(name) {
                    Some((group, [])) => GrantedTools::Group(group),
                    Some((group, left_out)) => {
                        let given = tools::of_group(group).into_iter();
                        GrantedTools::Tools(
                            group,
                            given.filter(|tool| !left_out.contains(tool)).collect(),
                        )
                    }
                    None => tools::granted(name),
                });
                match granted {
                    Some(GrantedTools::Group(group)) => whole.push(group),
                    Some(GrantedTools::Tools(group, tools)) => {
                        groups.push(group);
                        single.extend(tools);
                    }
                    Some(GrantedTools::Always) => {}
                    Some(GrantedTools::Unknown) | None => {
                        is_right = false;
                        let names: Vec<&str> =
                            ToolGroup::ALL.iter().map(|group| group.as_str()).collect();
                        let hint = Some(format!("groups are {}", code_list(&names)));
                        self.wrong(
                            name.place,
                            &format!("{path}.{index}"),
                            format!("{} is neither a group nor a tool", shown(name)),
                            hint,
                        );
                    }
                }
            }
        }
        let all: Vec<ToolGroup> = ToolGroup::ALL
            .iter()
            .copied()
            .filter(|group| groups.contains(group) || whole.contains(group))
            .collect();
        single.extend(
            ToolName::ALL
                .iter()
                .filter(|tool| whole.iter().any(|group| tools::of_group(*group).contains(tool))),
        );
        let only = all.iter().any(|group| !whole.contains(group)).then_some(single);
        let entry = |group| GroupEntry { group, file_regex: None, description: None };
        is_right
            .then(|| (all.into_iter().map(entry).collect(), ToolLimits { only, never: Vec::new() }))
    }

    fn patterns(&mut self, node: &YamlNode, path: &str, key: &str) -> Vec<FileRegex> {
        let mut patterns = Vec::new();
        let path = format!("{path}.{key}");
        let Some(value) = node.get(key) else { return patterns };
        for (index, node) in value.list().unwrap_or_default().iter().enumerate() {
            match node.text().map(FileRegex::parse) {
                Some(Ok(pattern)) => patterns.push(pattern),
                Some(Err(error)) => {
                    let message =
                        format!("{} is not a JavaScript regular expression: {error}", shown(node));
                    self.wrong(node.place, &format!("{path}.{index}"), message, None);
                }
                None => self.wrong(
                    node.place,
                    &format!("{path}.{index}"),
                    format!("expected a pattern, found {}", node.kind()),
                    None,
                ),
            }
        }
        if value.list().is_none() {
            self.wrong(
                value.place,
                &path,
                format!("expected a list of patterns, found {}", value.kind()),
                None,
            );
        }
        patterns
    }

    fn rules(&mut self, node: &YamlNode, path: &str) -> Vec<String> {
        let Some(value) = node.get("customRules") else { return Vec::new() };
        let rules: Option<Vec<String>> = value
            .list()
            .and_then(|rules| rules.iter().map(|rule| rule.text().map(str::to_owned)).collect());
        if rules.is_none() {
            self.odd(
                value,
                &format!("{path}.customRules"),
                format!("expected a list of texts, found {}", value.kind()),
            );
        }
        rules.unwrap_or_default()
    }

    fn variables(&mut self, node: &YamlNode, path: &str) -> BTreeMap<String, String> {
        let Some(value) = node.get("variables") else { return BTreeMap::new() };
        let mut variables = BTreeMap::new();
        for entry in value.entries().unwrap_or_default() {
            let text = match &entry.node.value {
                YamlValue::Text(text) | YamlValue::Number(text) => Some(text.clone()),
                YamlValue::Bool(flag) => Some(flag.to_string()),
                YamlValue::Null => Some(String::new()),
                YamlValue::List(_) | YamlValue::Map(_) => None,
            };
            match text {
                Some(text) => {
                    variables.insert(entry.key.clone(), text);
                }
                None => {
                    let message =
                        format!("expected a text or a number, found {}", entry.node.kind());
                    self.odd(&entry.node, &format!("{path}.variables.{}", entry.key), message);
                }
            }
        }
        if value.entries().is_none() {
            self.odd(
                value,
                &format!("{path}.variables"),
                format!("expected a mapping, found {}", value.kind()),
            );
        }
        variables
    }

    /// Reads the model a mode asks for. The peers' `preferredModelId` is a wish, `apiModel` is not.
    fn model(&mut self, node: &YamlNode, path: &str) -> Option<ModeModel> {
        let provider = self.word(node, path, "apiProvider");
        let base_url = self.word(node, path, "apiBase");
        let name = self.word(node, path, "apiModel");
        let preferred = self.word(node, path, "preferredModelId");
        if name.is_none() && (provider.is_some() || base_url.is_some()) {
            let place = node
                .get("apiBase")
                .or(node.get("apiProvider"))
                .map_or(node.place, |node| node.place);
            let message =
                "`apiProvider` and `apiBase` have no effect without `apiModel`".to_owned();
            self.warn(
                place,
                &format!("{path}.apiModel"),
                message,
                Some("name the model too".to_owned()),
            );
        }
        let written = node.get("apiBase").and_then(|node| Some((node.place, node.text()?)));
        let is_left_out = |text: &str| text.trim().is_empty() && self.dialect != Dialect::Locum;
        let wrong = written.filter(|(_, text)| !is_address(text) && !is_left_out(text));
        if let Some((place, address)) = wrong {
            let message = format!("`{address}` is not the address of an API");
            let hint = Some("write a URL such as `https://api.example.com/v1`".to_owned());
            self.wrong(place, &format!("{path}.apiBase"), message, hint);
        }
        let wish =
            |name| ModeModel { name, provider: None, base_url: None, need: ModelNeed::Preferred };
        let named =
            name.map(|name| ModeModel { name, provider, base_url, need: ModelNeed::Required });
        named.or(preferred.map(wish))
    }

    /// Reads a text that may be missing; an empty one counts as missing.
    fn word(&mut self, node: &YamlNode, path: &str, key: &str) -> Option<String> {
        let value = node.get(key)?;
        if value.text().is_none() {
            self.odd(
                value,
                &format!("{path}.{key}"),
                format!("expected text, found {}", value.kind()),
            );
        }
        value.text().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    /// Notes a key of the wrong shape: a mistake in our own files, a key without effect in the
    /// peers'.
    fn odd(&mut self, node: &YamlNode, path: &str, message: String) {
        if self.dialect == Dialect::Locum {
            self.wrong(node.place, path, message, None);
        } else {
            self.warn(node.place, path, format!("has no effect: {message}"), None);
        }
    }
}

/// Whether a text is a URL that an API may start with.
fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let letters = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '<' | '>' | '"');
    !host.is_empty() && text.chars().all(letters)
}
