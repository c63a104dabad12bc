//! One mode of a mode file, key by key. In: a mapping; out: a mode, or mistakes in the reader's
//! list. Knows the vocabulary most mode files have; the rest of the keys are `more`'s.

use crate::limit_words::{looks_like_limit, looks_like_option};
use crate::loader::{Dialect, ModeFileReader};
use crate::schema::{MODE_KEYS, OPTION_KEYS};
use crate::{Mode, ModeSource};
use locum_base::text::code_list;
use locum_files::fields::nearest;
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlNode, YamlValue};

/// Most characters of a mode's texts, by key.
const LENGTH_LIMITS: &[(&str, usize)] =
    &[("slug", 50), ("name", 100), ("roleDefinition", 1000), ("role", 1000), ("description", 500)];

/// Words for the role.
const ROLE_KEYS: &[&str] = &["roleDefinition", "role"];

/// Keys that programs add to modes they have read: where from, and when.
const NOTED_KEYS: &[&str] = &["filePath", "createdAt", "updatedAt"];

/// A value is no text; the mistake is recorded already.
pub(super) struct NotText;

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
        let base_instructions = self.optional(node, path, "baseInstructions");
        let custom_instructions = self.optional(node, path, "customInstructions");
        let groups = self.groups(node, path);
        let more = self.more(node, path);
        if let Some(slug) = &slug {
            self.slug(node, path, slug);
        }
        self.lengths(node, path);
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
        let instructions = [base_instructions.ok()?, custom_instructions.ok()?];
        let instructions: Vec<String> = instructions.into_iter().flatten().collect();
        Some(Mode {
            when_to_use: when_to_use.ok()?,
            description: description.ok()?,
            custom_instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
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

    /// Checks how long texts are. In the peers' files, and for roles, too long is only worth a
    /// warning: their programs read them.
    pub(super) fn lengths(&mut self, node: &YamlNode, path: &str) {
        for (key, most) in LENGTH_LIMITS {
            let Some(value) = node.get(key) else { continue };
            let Some(count) = value.text().map(|text| text.chars().count()) else { continue };
            let is_empty = *key == "description" && count == 0;
            if count <= *most && !is_empty {
                continue;
            }
            let (place, at) = (value.place, format!("{path}.{key}"));
            let message = if is_empty {
                format!("`{key}` is empty")
            } else {
                format!("`{key}` has {count} characters, more than {most}")
            };
            let is_role = ROLE_KEYS.contains(key);
            if self.dialect == Dialect::Locum && !is_role {
                self.wrong(place, &at, message, None);
            } else {
                self.warn(place, &at, message, None);
            }
        }
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
            let message = format!("expected one of {}, found {}", code_list(known), shown(source));
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
        self.optional(node, path, key).ok()?
    }

    /// Reads a text that may be missing.
    ///
    /// # Errors
    /// When it is not text, which is among the mistakes then.
    pub(super) fn optional(
        &mut self,
        node: &YamlNode,
        path: &str,
        key: &str,
    ) -> Result<Option<String>, NotText> {
        let Some(value) = node.get(key) else { return Ok(None) };
        if let Some(text) = value.text() {
            return Ok(Some(text.to_owned()));
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
        Err(NotText)
    }

    /// Unknown keys are mistakes in our files, and dropped in the peers' unless they may be limits;
    /// those that say something the peers know are dropped silently.
    pub(super) fn only_keys(&mut self, entries: &[MapEntry], known: &[&str], path: &str) {
        let are_options = known == OPTION_KEYS;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let key = &entry.key;
            let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let hint = nearest(key, known).map_or_else(
                || format!("known here: {}", code_list(known)),
                |near| format!("did you mean `{near}`?"),
            );
            let is_noted = NOTED_KEYS.contains(&key.as_str()) && !are_options;
            if is_noted && self.dialect != Dialect::Locum {
                continue;
            }
            let limits = looks_like_limit(key) || (are_options && looks_like_option(key));
            let hint = if key == "rulesFiles" {
                "`locum modes import` writes them where they are read".to_owned()
            } else {
                hint
            };
            if self.dialect == Dialect::Locum {
                self.wrong(entry.key_place, &at, format!("unknown key `{key}`"), Some(hint));
            } else if limits {
                let message = format!("`{key}` looks like a limit, and is not known");
                self.wrong(entry.key_place, &at, message, Some(hint));
            } else {
                self.warn(entry.key_place, &at, format!("key `{key}` has no effect"), Some(hint));
            }
        }
    }
}

/// Returns the first of the keys that the mapping has, else the first.
pub(super) fn one_of(node: &YamlNode, keys: &[&'static str]) -> &'static str {
    keys.iter().find(|key| node.get(key).is_some()).or(keys.first()).copied().unwrap_or_default()
}

/// Returns where the value under a key stands, or where the mapping does.
pub(super) fn place_of(node: &YamlNode, key: &str) -> Position {
    node.get(key).map_or(node.place, |value| value.place)
}

pub(super) fn shown(node: &YamlNode) -> String {
    node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"))
}
