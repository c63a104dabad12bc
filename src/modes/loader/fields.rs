//! One mode of a mode file, key by key. In: a mapping; out: a mode, or mistakes in the reader's
//! list. Knows the vocabulary most mode files have; the rest of the keys are `more`'s.

use crate::file_regex::FileRegex;
use crate::loader::{DEPRECATED_GROUP, Dialect, ModeFileReader};
use crate::schema::{MODE_KEYS, OPTION_KEYS};
use crate::{GroupEntry, Mode, ModeSource, ToolGroup, ToolLimits};
use locum_files::fields::nearest;
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlNode, YamlValue};

impl ModeFileReader<'_> {
    /// Reads one mode; `None` when its shape is so wrong that nothing more can be said of the list
    /// it stands in.
    pub(super) fn mode(&mut self, node: &YamlNode, path: &str) -> Option<Mode> {
        let Some(entries) = node.entries() else {
            self.wrong(
                node.place,
                path,
                format!("expected a mapping, found {}", node.kind()),
                None,
            );
            return None;
        };
        self.only_keys(entries, MODE_KEYS, path);
        let source = self.source_of(node, path);
        let role_key = one_of(node, &["roleDefinition", "role"]);
        let slug = self.required(node, path, "slug");
        let name = self.required(node, path, "name");
        let role_definition = self.required(node, path, role_key);
        let when_to_use = self.optional(node, path, "whenToUse");
        let description = self.optional(node, path, "description");
        let custom_instructions = self.optional(node, path, "customInstructions");
        let groups = self.groups(node, path);
        let more = self.more(node, path);
        if let Some(slug) = &slug {
            self.slug(node, path, slug);
        }
        for (key, value) in [("name", &name), (role_key, &role_definition)] {
            if value.as_ref().is_some_and(String::is_empty) {
                self.wrong(
                    place_of(node, key),
                    &format!("{path}.{key}"),
                    format!("`{key}` is empty"),
                    None,
                );
            }
        }
        let (groups, tool_limits) = groups?;
        Some(Mode {
            when_to_use: when_to_use?,
            description: description?,
            custom_instructions: custom_instructions?,
            groups,
            tool_limits,
            file_limits: more.file_limits,
            system_prompt: more.system_prompt,
            rules: more.rules,
            variables: more.variables,
            model: more.model,
            looks: more.looks,
            ..Mode::new(slug?, name?, role_definition?, source)
        })
    }

    fn slug(&mut self, node: &YamlNode, path: &str, slug: &str) {
        if !slug.is_empty() && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return;
        }
        let hint = Some("use the letters a to z, digits and `-`".to_owned());
        self.wrong(
            place_of(node, "slug"),
            &format!("{path}.slug"),
            format!("`{slug}` is not a slug"),
            hint,
        );
    }

    /// Checks `source` and returns where the mode is from: the file's place says it, except in the
    /// one kind of file that holds modes of all three.
    fn source_of(&mut self, node: &YamlNode, path: &str) -> ModeSource {
        let own = self.source.clone();
        let Some(source) = node.get("source") else { return own };
        let known: &[&str] = if self.dialect == Dialect::Yaml || self.dialect == Dialect::YamlOrJson
        {
            &["global", "project"]
        } else {
            &["global", "project", "organization"]
        };
        let word = source.text().filter(|word| known.contains(word));
        if word.is_none() {
            let message = format!("expected one of {}, found {}", listed(known), shown(source));
            self.wrong(
                source.place,
                &format!("{path}.source"),
                message,
                Some("leave it out".to_owned()),
            );
        }
        let file = own.file().unwrap_or_default().to_owned();
        match word {
            Some("organization") if self.dialect == Dialect::Kilo => {
                ModeSource::Organization { file }
            }
            Some("global") if self.dialect == Dialect::Kilo => ModeSource::Global { file },
            Some(_) | None => own,
        }
    }

    fn required(&mut self, node: &YamlNode, path: &str, key: &str) -> Option<String> {
        if node.get(key).is_none() {
            self.wrong(node.place, &format!("{path}.{key}"), format!("`{key}` is required"), None);
            return None;
        }
        self.optional(node, path, key)?
    }

    /// Reads a text that may be missing: `Some(None)` then, `None` when it is not text.
    #[expect(clippy::option_option, reason = "absent and wrong are different answers")]
    pub(super) fn optional(
        &mut self,
        node: &YamlNode,
        path: &str,
        key: &str,
    ) -> Option<Option<String>> {
        let Some(value) = node.get(key) else { return Some(None) };
        if let Some(text) = value.text() {
            return Some(Some(text.to_owned()));
        }
        let hint = match &value.value {
            YamlValue::Null => Some(format!("leave `{key}` out, or give it a text")),
            YamlValue::Number(written) => Some(format!("write it as text: \"{written}\"")),
            YamlValue::Bool(_) | YamlValue::Text(_) | YamlValue::List(_) | YamlValue::Map(_) => {
                None
            }
        };
        self.wrong(
            value.place,
            &format!("{path}.{key}"),
            format!("expected text, found {}", value.kind()),
            hint,
        );
        None
    }

    /// Reads the groups and, where some of them are single tools, which of their tools the mode
    /// has.
    fn groups(&mut self, node: &YamlNode, path: &str) -> Option<(Vec<GroupEntry>, ToolLimits)> {
        let key = one_of(node, &["groups", "tools"]);
        let path = format!("{path}.{key}");
        let Some(groups) = node.get(key) else {
            self.wrong(
                node.place,
                &path,
                "`groups` is required".to_owned(),
                Some("`groups: []` gives no tools".to_owned()),
            );
            return None;
        };
        let Some(list) = groups.list() else {
            self.wrong(
                groups.place,
                &path,
                format!("expected a list, found {}", groups.kind()),
                None,
            );
            return None;
        };
        let (dropped, kept): (Vec<&YamlNode>, Vec<&YamlNode>) =
            list.iter().partition(|entry| self.dialect != Dialect::Locum && is_deprecated(entry));
        for entry in dropped {
            self.warn(
                entry.place,
                &path,
                format!("group `{DEPRECATED_GROUP}` gives no tools any more"),
                None,
            );
        }
        if key == "tools" {
            return self.tools(&kept, &path);
        }
        let entries: Vec<Option<GroupEntry>> = kept
            .iter()
            .enumerate()
            .map(|(index, entry)| self.group(entry, &format!("{path}.{index}")))
            .collect();
        let entries = entries.into_iter().collect::<Option<Vec<GroupEntry>>>()?;
        let repeated = entries.iter().enumerate().find(|(index, entry)| {
            entries.iter().take(*index).any(|other| other.group == entry.group)
        });
        if let Some((index, entry)) = repeated {
            let place = kept.get(index).map(|node| node.place).unwrap_or(groups.place);
            self.wrong(
                place,
                &path,
                format!("group `{}` stands here twice", entry.group.as_str()),
                None,
            );
        }
        Some((entries, ToolLimits::default()))
    }

    /// Reads `read` or `[edit, { fileRegex: ... }]`; `None` when it is neither.
    pub(super) fn group(&mut self, node: &YamlNode, path: &str) -> Option<GroupEntry> {
        let (name, options) = match node.list() {
            None => (node, None),
            Some([name, options]) => (name, Some(options)),
            Some(_) => {
                let hint = Some("write `- edit`, or `- [edit, { fileRegex: ... }]`".to_owned());
                self.wrong(
                    node.place,
                    path,
                    "expected a group, or a pair of a group and its options".to_owned(),
                    hint,
                );
                return None;
            }
        };
        let Some(group) = name.text().and_then(ToolGroup::find) else {
            let names: Vec<&str> = ToolGroup::ALL.iter().map(|group| group.as_str()).collect();
            self.wrong(
                name.place,
                path,
                format!("{} is not a group", shown(name)),
                Some(format!("groups are {}", listed(&names))),
            );
            return None;
        };
        let mut entry = GroupEntry { group, file_regex: None, description: None };
        let Some(options) = options else { return Some(entry) };
        let option =
            |key: &str| options.get(key).map(|value| value.text().ok_or(value)).transpose();
        let (Some(keys), Ok(pattern), Ok(description)) =
            (options.entries(), option("fileRegex"), option("description"))
        else {
            let message = "expected options of text: `fileRegex`, `description`".to_owned();
            self.wrong(options.place, path, message, None);
            return None;
        };
        self.only_keys(keys, OPTION_KEYS, &format!("{path}.1"));
        if self.dialect == Dialect::Locum && group != ToolGroup::Edit && pattern.is_some() {
            let hint = Some("only `edit` can be limited to files".to_owned());
            self.wrong(
                options.place,
                &format!("{path}.1.fileRegex"),
                format!("has no effect on `{}`", group.as_str()),
                hint,
            );
        }
        entry.description = description.map(str::to_owned);
        if let Some(pattern) = pattern {
            match FileRegex::parse(pattern) {
                Ok(regex) => entry.file_regex = Some(regex),
                Err(error) => {
                    let message =
                        format!("`{pattern}` is not a JavaScript regular expression: {error}");
                    self.wrong(
                        place_of(options, "fileRegex"),
                        &format!("{path}.1.fileRegex"),
                        message,
                        None,
                    );
                }
            }
        }
        Some(entry)
    }

    /// Unknown keys are mistakes in our files, and dropped in the peers'; those that say something
    /// the peers know are dropped silently.
    pub(super) fn only_keys(&mut self, entries: &[MapEntry], known: &[&str], path: &str) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let key = &entry.key;
            let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let hint = nearest(key, known).map_or_else(
                || format!("known here: {}", listed(known)),
                |near| format!("did you mean `{near}`?"),
            );
            let hint = if key == "rulesFiles" {
                "`locum modes import` writes them where they are read".to_owned()
            } else {
                hint
            };
            if self.dialect == Dialect::Locum {
                self.wrong(entry.key_place, &at, format!("unknown key `{key}`"), Some(hint));
            } else {
                self.warn(entry.key_place, &at, format!("key `{key}` has no effect"), Some(hint));
            }
        }
    }
}

/// Returns the first of the keys that the mapping has, else the first.
fn one_of(node: &YamlNode, keys: &[&'static str]) -> &'static str {
    keys.iter().find(|key| node.get(key).is_some()).or(keys.first()).copied().unwrap_or_default()
}

fn is_deprecated(node: &YamlNode) -> bool {
    node.list().map_or(Some(node), |pair| pair.first()).and_then(YamlNode::text)
        == Some(DEPRECATED_GROUP)
}

/// Returns where the value under a key stands, or where the mapping does.
pub(super) fn place_of(node: &YamlNode, key: &str) -> Position {
    node.get(key).map_or(node.place, |value| value.place)
}

pub(super) fn shown(node: &YamlNode) -> String {
    node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"))
}

pub(super) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
