//! The head of a Markdown file that text for the model is made of: a command's, a skill's. In: the
//! file; out: its keys, its body, and what is wrong, with places. Our own files may have no
//! mistakes; those of other programs are read as there, with warnings.

use crate::limit_words::looks_like_limit;
use crate::prompts::PromptFile;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields;
use locum_files::front_matter;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Reads the head of one file and collects what is wrong with it.
pub(crate) struct HeadReader<'f> {
    file: &'f PromptFile,
    is_own: bool,
    pub(crate) mistakes: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Keys that a head may have.
#[derive(Clone, Copy)]
pub(crate) struct FrontMatterKeys {
    /// Those that are read.
    pub(crate) read: &'static [&'static str],
    /// Those that mean something to another program only.
    pub(crate) passed_over: &'static [&'static str],
}

impl<'f> HeadReader<'f> {
    /// Begins with a file that must not be longer than `limit_bytes`.
    pub(crate) fn new(file: &'f PromptFile, is_own: bool, limit_bytes: usize) -> Self {
        let mut reader = Self { file, is_own, mistakes: Vec::new(), warnings: Vec::new() };
        if file.text.len() > limit_bytes {
            reader.wrong(
                Position::default(),
                format!("the file of {} bytes is longer than {limit_bytes}", file.text.len()),
            );
        }
        reader
    }

    /// Returns the head, if there is one, and the text below it.
    pub(crate) fn split(&mut self) -> (Option<YamlNode>, &'f str) {
        let text = self.file.text.as_str();
        match front_matter::parse(text) {
            Ok(Some(found)) => {
                if let Some(mistake) = found.mistake {
                    let message = format!(
                        "the head is not YAML and is read line by line: {}",
                        mistake.message
                    );
                    self.put_up_with(
                        Diagnostic::new(mistake.place, message)
                            .hint("put texts with `: ` into quotes"),
                    );
                }
                (Some(found.head), found.body.trim())
            }
            Ok(None) => (None, text.strip_prefix('\u{feff}').unwrap_or(text).trim()),
            Err(mistake) => {
                let message =
                    format!("the head cannot be read and counts as text: {}", mistake.message);
                self.put_up_with(Diagnostic { message, ..mistake });
                (None, text.trim())
            }
        }
    }

    /// Says which keys of a head have no effect. One that may be a limit is a mistake everywhere.
    pub(crate) fn check_keys(&mut self, head: &YamlNode, keys: FrontMatterKeys) {
        for entry in head.entries().unwrap_or_default() {
            let key = entry.key.as_str();
            if keys.read.contains(&key) || keys.passed_over.contains(&key) {
                continue;
            }
            if looks_like_limit(key) {
                let message = format!("`{key}` looks like a limit, and is not known");
                self.wrong(entry.key_place, message);
                continue;
            }
            let unknown = Diagnostic::new(entry.key_place, format!("key `{key}` has no effect"));
            self.put_up_with(match fields::nearest(key, keys.read) {
                Some(near) => unknown.hint(format!("did you mean `{near}`?")),
                None => unknown.hint(format!("keys: {}", keys.read.join(", "))),
            });
        }
    }

    /// Reads a key that holds text; `None` where it is absent or blank.
    pub(crate) fn text(&mut self, head: &YamlNode, key: &str) -> Option<String> {
        let node = head.get(key)?;
        match &node.value {
            YamlValue::Text(text) | YamlValue::Number(text) => {
                Some(text.trim().to_owned()).filter(|text| !text.is_empty())
            }
            YamlValue::Null => None,
            YamlValue::Bool(_) | YamlValue::List(_) | YamlValue::Map(_) => {
                self.wrong(node.place, format!("`{key}` has to be text, found {}", node.kind()));
                None
            }
        }
    }

    /// Adds a mistake.
    pub(crate) fn wrong(&mut self, place: Position, message: impl Into<String>) {
        self.mistakes.push(Diagnostic::new(place, message));
    }

    /// Adds what is a mistake in our own files only.
    pub(crate) fn put_up_with(&mut self, mistake: Diagnostic) {
        if self.is_own { self.mistakes.push(mistake) } else { self.warnings.push(mistake) }
    }

    /// Returns what was read unless there are mistakes, and the warnings; all with their lines.
    pub(crate) fn finish<T>(mut self, read: T) -> (Result<T, Vec<Diagnostic>>, Vec<Diagnostic>) {
        Diagnostic::attach_excerpts(&mut self.mistakes, &self.file.text);
        Diagnostic::attach_excerpts(&mut self.warnings, &self.file.text);
        (if self.mistakes.is_empty() { Ok(read) } else { Err(self.mistakes) }, self.warnings)
    }
}
