//! Reads mode files. In: a file's text and where it stands; out: its modes, or every mistake at
//! once with its place in the file and in the data. One mistake and the whole file contributes
//! nothing. Reads no file itself and merges nothing.
//!
//! The file's name determines the dialect. In ours (`.locum/modes.yml`, the built-in modes) text is
//! taken as it is, and unknown keys are mistakes. In the peers' (`.roomodes`, `custom_modes.yaml`,
//! `.kilocodemodes`) typographic characters are cleaned first, unknown keys
//! are dropped, and text that is not YAML may still be JSON.

mod clean;
mod fields;
mod groups;
mod more;
mod prompts;

use crate::loader::clean::{clean, json};
use crate::mode_prompt::ModePrompt;
use crate::schema::{PROMPTS_KEY, TOP_KEY};
use crate::{Mode, ModeSource};
use locum_files::diagnostic::Diagnostic;
use locum_files::position::Position;
use locum_files::yaml::{MISTAKE_LIMIT, YamlDocument, YamlNode, YamlValue};

/// Every mistake found in a mode file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(line_of).collect::<Vec<_>>().join("\n"))]
pub struct ModeErrors(pub Vec<Diagnostic>);

fn line_of(error: &Diagnostic) -> String {
    let Diagnostic { origin, place, path, message, .. } = error;
    let colon = if path.is_empty() { "" } else { ": " };
    format!("modes `{origin}`:{place}: {path}{colon}{message}")
}

impl ModeErrors {
    /// Returns the mistakes of one text as messages: in order of place, each with its line, a
    /// bounded number of them.
    pub fn of(mut errors: Vec<Diagnostic>, text: &str) -> Self {
        errors.sort_by_key(|error| error.place);
        errors.truncate(MISTAKE_LIMIT);
        Diagnostic::attach_excerpts(&mut errors, text);
        Self(errors)
    }
}

/// What one file defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeDefinitions {
    /// Modes without mistakes, in the file's order.
    pub modes: Vec<Mode>,
    /// Texts for modes that it or weaker files define.
    pub prompts: Vec<ModePrompt>,
    /// Slugs that name no mode because of this file, not even one of another file: those of modes
    /// whose mistakes a lenient reading tolerated, and of agents that are switched off.
    pub lost: Vec<String>,
    /// Mistakes that were tolerated, then what the file says without effect: dropped keys and
    /// groups, or modes where none are looked for.
    pub warnings: Vec<Diagnostic>,
    /// Whether the file has no list of modes where one has to be. Its program reads it as one
    /// without modes, and so does a run; whoever checks the file wants to know.
    pub is_misshapen: bool,
}

/// What becomes of a file with a mistake in one of its modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// It gives no modes.
    #[default]
    Strict,
    /// It gives its other modes. A file that is no YAML still gives none.
    Lenient,
}

/// Reads a mode file's text.
///
/// # Errors
/// Every mistake at once.
pub fn parse(text: &str, source: &ModeSource) -> Result<Vec<Mode>, ModeErrors> {
    parse_file(text, source, Strictness::Strict).map(|file| file.modes)
}

/// Reads a file of modes that are to be taken over; also returns its data, for what a mode carries
/// beside itself.
///
/// # Errors
/// Every mistake at once; an empty file is one.
pub(crate) fn parse_import(
    text: &str,
    source: &ModeSource,
) -> Result<(ModeDefinitions, YamlNode), ModeErrors> {
    let mut reader = ModeFileReader::new(source, Dialect::Import, Strictness::Strict);
    let read = reader.document(text).map(|root| {
        root.unwrap_or(YamlNode { place: Position::default(), value: YamlValue::Null })
    });
    let read = read.map(|root| (reader.file(&root), root));
    reader.done(read, text).map(|((modes, root), found)| (ModeDefinitions { modes, ..found }, root))
}

/// Reads a mode file's text, and says what in it has no effect.
///
/// # Errors
/// Every mistake at once; when lenient, those that are in no mode.
pub fn parse_file(
    text: &str,
    source: &ModeSource,
    strictness: Strictness,
) -> Result<ModeDefinitions, ModeErrors> {
    let mut reader = ModeFileReader::new(source, Dialect::of(source), strictness);
    let read =
        reader.document(text).map(|root| root.map(|root| reader.file(&root)).unwrap_or_default());
    reader.done(read, text).map(|(modes, found)| ModeDefinitions { modes, ..found })
}

/// The rules a file is read by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Our own dialect, which is strict.
    Locum,
    /// The peers', in a file that is always YAML.
    Yaml,
    /// The peers', in a file that may be JSON that is no YAML.
    YamlOrJson,
    /// As the last, and the modes may stand in a list at the top and say whose they are.
    Kilo,
    /// A file on its way to another repository: as the last, but the text is cleaned only where it
    /// cannot be read otherwise.
    Import,
}

impl Dialect {
    fn of(source: &ModeSource) -> Self {
        match source.file().and_then(|file| file.rsplit(['/', '\\']).next()) {
            Some(".kilocodemodes") => Self::Kilo,
            Some(".roomodes") => Self::YamlOrJson,
            Some("custom_modes.yaml") => Self::Yaml,
            Some(_) | None => Self::Locum,
        }
    }
}

struct ModeFileReader<'a> {
    source: &'a ModeSource,
    dialect: Dialect,
    strictness: Strictness,
    errors: Vec<Diagnostic>,
    /// Mistakes that are tolerated.
    dropped: Vec<Diagnostic>,
    found: ModeDefinitions,
}

impl<'a> ModeFileReader<'a> {
    fn new(source: &'a ModeSource, dialect: Dialect, strictness: Strictness) -> Self {
        let found = ModeDefinitions::default();
        Self { source, dialect, strictness, errors: Vec::new(), dropped: Vec::new(), found }
    }

    /// Returns what was read beside what was found, or every mistake.
    fn done<T>(
        mut self,
        read: Result<T, Vec<Diagnostic>>,
        text: &str,
    ) -> Result<(T, ModeDefinitions), ModeErrors> {
        let read = read.map_err(|mistakes| {
            for mistake in mistakes {
                self.wrong(mistake.place, "", mistake.message, mistake.hint);
            }
        });
        match read {
            Ok(read) if self.errors.is_empty() => {
                let warnings = self.dropped.into_iter().chain(self.found.warnings).collect();
                Ok((read, ModeDefinitions { warnings, ..self.found }))
            }
            Ok(_) | Err(()) => Err(ModeErrors::of(self.errors, text)),
        }
    }

    /// Reads the text as data: YAML, then JSON where YAML fails.
    fn document(&self, text: &str) -> Result<Option<YamlNode>, Vec<Diagnostic>> {
        let cleaned = match self.dialect {
            Dialect::Locum => text.to_owned(),
            Dialect::Yaml | Dialect::YamlOrJson | Dialect::Kilo => clean(text),
            Dialect::Import if YamlDocument::parse(text).mistakes.is_empty() => text.to_owned(),
            Dialect::Import => clean(text),
        };
        let document = YamlDocument::parse(&cleaned);
        if document.mistakes.is_empty() {
            return Ok(document.root);
        }
        let may_be_json =
            matches!(self.dialect, Dialect::YamlOrJson | Dialect::Kilo | Dialect::Import);
        if let Some(root) = json(&cleaned).or_else(|| if may_be_json { json(text) } else { None }) {
            return Ok(Some(root));
        }
        Err(document.mistakes)
    }

    fn file(&mut self, root: &YamlNode) -> Vec<Mode> {
        if self.dialect == Dialect::Locum {
            match root.entries() {
                Some(entries) => self.only_keys(entries, &[TOP_KEY, PROMPTS_KEY], ""),
                None => self.wrong(
                    root.place,
                    TOP_KEY,
                    format!("expected a mapping with `{TOP_KEY}`, found {}", root.kind()),
                    None,
                ),
            }
        }
        if self.dialect == Dialect::Locum
            && let Some(prompts) = root.get(PROMPTS_KEY)
        {
            self.found.prompts = self.prompts(prompts);
        }
        if matches!(self.dialect, Dialect::Kilo | Dialect::Import) && root.list().is_some() {
            return self.modes(root, "");
        }
        if self.dialect == Dialect::Import && root.get(TOP_KEY).and_then(YamlNode::list).is_none() {
            let hint = Some(format!("an exported file has its modes in a list under `{TOP_KEY}:`"));
            self.wrong(root.place, TOP_KEY, format!("expected a list under `{TOP_KEY}`"), hint);
            return Vec::new();
        }
        if self.dialect != Dialect::Locum && root.get(TOP_KEY).is_none() {
            let hint = Some(format!("put the modes in a list under `{TOP_KEY}:`"));
            let message = format!("no `{TOP_KEY}` at the top, so this file gives no modes");
            if self.dialect == Dialect::Kilo {
                self.wrong(root.place, "", message, hint);
                return Vec::new();
            }
            self.found.is_misshapen = true;
            self.warn(root.place, "", message, hint);
        }
        if self.dialect != Dialect::Locum && root.get(TOP_KEY).is_some() {
            self.only_keys(root.entries().unwrap_or_default(), &[TOP_KEY], "");
        }
        root.get(TOP_KEY)
            .filter(|node| !is_nothing(node))
            .map(|list| self.modes(list, TOP_KEY))
            .unwrap_or_default()
    }

    /// Reads a list of modes. When lenient, mistakes in one of them are that one's alone.
    fn modes(&mut self, list: &YamlNode, path: &str) -> Vec<Mode> {
        let Some(nodes) = list.list() else {
            self.wrong(list.place, path, format!("expected a list, found {}", list.kind()), None);
            return Vec::new();
        };
        let mut modes: Vec<(Position, Mode)> = Vec::new();
        let mut is_whole = true;
        for (index, node) in nodes.iter().enumerate() {
            let at = if path.is_empty() { index.to_string() } else { format!("{path}.{index}") };
            let before = self.errors.len();
            let mode = self.mode(node, &at);
            is_whole &= mode.is_some();
            modes.extend(mode.map(|mode| (node.place, mode)));
            if self.strictness == Strictness::Lenient && self.errors.len() > before {
                self.drop_since(before, node.get("slug").and_then(YamlNode::text));
            }
        }
        // NOTE: as in the peers, slugs are compared only where every mode has the right shape.
        if is_whole || self.strictness == Strictness::Lenient {
            self.repeated(&modes, path);
        }
        modes
            .into_iter()
            .map(|(_, mode)| mode)
            .filter(|mode| !self.found.lost.contains(&mode.slug))
            .collect()
    }

    fn repeated(&mut self, modes: &[(Position, Mode)], path: &str) {
        for (index, (place, mode)) in modes.iter().enumerate() {
            if modes.iter().take(index).any(|(_, earlier)| earlier.slug == mode.slug) {
                let hint = Some("give each mode a slug of its own".to_owned());
                self.wrong(*place, path, format!("slug `{}` is used twice", mode.slug), hint);
                if self.strictness == Strictness::Strict {
                    return;
                }
                self.drop_since(self.errors.len() - 1, Some(&mode.slug));
            }
        }
    }

    /// Puts up with the latest mistakes; a mode of this slug is lost to them.
    fn drop_since(&mut self, before: usize, slug: Option<&str>) {
        self.dropped.extend(self.errors.drain(before..));
        self.found.lost.extend(slug.map(str::to_owned));
    }

    fn wrong(&mut self, place: Position, path: &str, message: String, hint: Option<String>) {
        let error = self.said(place, path, message, hint);
        self.errors.push(error);
    }

    fn warn(&mut self, place: Position, path: &str, message: String, hint: Option<String>) {
        let warning = self.said(place, path, message, hint);
        self.found.warnings.push(warning);
    }

    fn said(
        &self,
        place: Position,
        path: &str,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        let origin = self.source.file().unwrap_or("built-in").to_owned();
        let path = path.to_owned();
        Diagnostic { origin, path, hint, ..Diagnostic::new(place, message) }
    }
}

/// Returns true for what counts as no modes at all: `customModes:` with nothing, `false`, `0` or an
/// empty text.
fn is_nothing(node: &YamlNode) -> bool {
    match &node.value {
        YamlValue::Null | YamlValue::Bool(false) => true,
        YamlValue::Text(text) => text.is_empty(),
        YamlValue::Number(written) => {
            written.parse::<f64>().is_ok_and(|number| number == 0.0 || number.is_nan())
        }
        YamlValue::Bool(true) | YamlValue::List(_) | YamlValue::Map(_) => false,
    }
}

#[cfg(test)]
mod tests;
