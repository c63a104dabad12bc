//! Texts for modes that other files define. In: the mapping under `customModePrompts`, by slug;
//! out: [`ModePrompt`]s, or mistakes in the reader's list.

use crate::loader::{ModeFileReader, Strictness};
use crate::mode_prompt::ModePrompt;
use crate::schema::{PROMPT_KEYS, PROMPTS_KEY};
use locum_files::yaml::{MapEntry, YamlNode};

impl ModeFileReader<'_> {
    /// Reads the mapping. When lenient, mistakes in one entry are that one's alone.
    pub(super) fn prompts(&mut self, node: &YamlNode) -> Vec<ModePrompt> {
        let Some(entries) = node.entries() else {
            let hint = "write texts by slug: `code: { customInstructions: \"...\" }`".to_owned();
            let message = format!("expected a mapping, found {}", node.kind());
            self.wrong(node.place, PROMPTS_KEY, message, Some(hint));
            return Vec::new();
        };
        let mut prompts = Vec::new();
        for entry in entries {
            let before = self.errors.len();
            prompts.extend(self.prompt(entry));
            if self.strictness == Strictness::Lenient && self.errors.len() > before {
                self.drop_since(before, Some(&entry.key));
            }
        }
        prompts.retain(|prompt| !self.found.lost.contains(&prompt.slug));
        prompts
    }

    fn prompt(&mut self, entry: &MapEntry) -> Option<ModePrompt> {
        let (slug, node) = (&entry.key, &entry.node);
        let path = format!("{PROMPTS_KEY}.{slug}");
        let Some(entries) = node.entries() else {
            let message = format!("expected a mapping, found {}", node.kind());
            self.wrong(node.place, &path, message, None);
            return None;
        };
        self.only_keys(entries, PROMPT_KEYS, &path);
        self.lengths(node, &path);
        let mut text = |key| self.optional(node, &path, key).ok().flatten();
        let prompt = ModePrompt {
            slug: slug.clone(),
            place: entry.key_place,
            role_definition: text("roleDefinition"),
            when_to_use: text("whenToUse"),
            description: text("description"),
            custom_instructions: text("customInstructions"),
        };
        if prompt.role_definition.as_deref() == Some("") {
            let place = node.get("roleDefinition").map_or(node.place, |value| value.place);
            let path = format!("{path}.roleDefinition");
            self.wrong(place, &path, "`roleDefinition` is empty".to_owned(), None);
        }
        Some(prompt)
    }
}
