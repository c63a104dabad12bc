//! Definitions in source code: what is defined, on which lines.
//!
//! In: a language and a text. Out: definitions in their order, those inside another one deeper.
//! What stands in the body of a function is left out. A text with mistakes gives what can be read
//! of it. For a process of its own: most parsers are C, and the text is hostile.

mod braces;
mod grammar;
pub mod language;
mod ruby;
mod tree;

use serde::{Deserialize, Serialize};

use crate::line::short_line;
use crate::outline::grammar::DefinitionParser;
use crate::outline::language::Language;

/// Most definitions found in one text, and in all texts that are asked for together. A line for
/// each of them is more than anyone is shown.
const DEFINITIONS_LIMIT: usize = 10_000;

/// Most bytes of a definition's line that are kept.
const HEAD_LIMIT_BYTES: usize = 160;

/// Most definitions that one is said to stand in.
const DEPTH_LIMIT: usize = 100;

/// The definitions of a text, or why there are none.
pub type TextOutline = Result<Vec<Definition>, OutlineError>;

/// Something that a text defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The line it begins on, from 1.
    pub first_line: usize,
    /// The line it ends on.
    pub last_line: usize,
    /// How many definitions it stands in.
    pub depth: usize,
    /// The line of its name without the blanks around it, cut after 160 bytes. Where several
    /// definitions have their names on a line, only the first shows what stands before it.
    pub head: String,
}

impl Definition {
    /// Returns it within the limits of what is shown.
    fn bounded(self) -> Self {
        let head = short_line(&self.head, HEAD_LIMIT_BYTES);
        Self { depth: self.depth.min(DEPTH_LIMIT), head, ..self }
    }
}

/// Why a text has no outline: what stands behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum OutlineError {
    /// The limit on work is reached.
    #[error("takes too long to parse")]
    TooSlow,
    /// Those before it have as many definitions as are found in all.
    #[error("comes after 10,000 definitions of others")]
    BehindLimit,
}

/// Finds the definitions of each text, up to 10,000 in all.
pub fn outlines(texts: Vec<(Language, &[u8])>) -> Vec<TextOutline> {
    let mut room = DEFINITIONS_LIMIT;
    let outline = |(language, text): (Language, &[u8])| {
        let found = || definitions(language, &String::from_utf8_lossy(text));
        within(&mut room, || found().ok_or(OutlineError::TooSlow))
    };
    texts.into_iter().map(outline).collect()
}

/// Returns outlines that anyone may have written within the limits.
pub(crate) fn bounded(outlines: Vec<TextOutline>) -> Vec<TextOutline> {
    let mut room = DEFINITIONS_LIMIT;
    let outline = |outline: TextOutline| {
        let found = within(&mut room, || outline)?;
        Ok(found.into_iter().map(Definition::bounded).collect())
    };
    outlines.into_iter().map(outline).collect()
}

/// Takes as many definitions of a text as there is room for.
fn within(room: &mut usize, found: impl FnOnce() -> TextOutline) -> TextOutline {
    if *room == 0 {
        return Err(OutlineError::BehindLimit);
    }
    let mut found = found()?;
    found.truncate(*room);
    *room -= found.len();
    Ok(found)
}

/// Finds the definitions of a text; `None` where it takes too long to parse.
fn definitions(language: Language, text: &str) -> Option<Vec<Definition>> {
    let mut outline = OutlinedText::new(text);
    match grammar::of(language) {
        DefinitionParser::Grammar(grammar) => tree::outline(&grammar, &mut outline)?,
        DefinitionParser::Braces(dialect) => braces::outline(dialect, &mut outline)?,
        DefinitionParser::Ruby => ruby::outline(&mut outline),
    }
    Some(outline.found)
}

/// Where something is defined, in bytes of the text.
#[derive(Clone, Copy, Debug)]
struct FoundPlace {
    start: usize,
    /// Where its name begins.
    name: usize,
    /// Behind its last byte.
    end: usize,
}

/// A text, and what was found in it so far.
struct OutlinedText<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
    found: Vec<Definition>,
    /// The line of the last name.
    last_name_line: usize,
    /// The last end that was asked for, and where the last byte before it is that is no blank:
    /// many definitions can end at one place, behind many blanks.
    last_end: (usize, usize),
}

impl<'t> OutlinedText<'t> {
    fn new(text: &'t str) -> Self {
        let later = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(later.map(|(at, _)| at + 1)).collect();
        Self { text, lines, found: Vec::new(), last_name_line: 0, last_end: (0, 0) }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= DEFINITIONS_LIMIT
    }

    /// Takes a definition in.
    fn add(&mut self, place: FoundPlace, depth: usize) {
        let (head, first_line) = (self.head(place), self.line(place.start));
        let last_line = self.last_line(place.start, place.end);
        self.found.push(Definition { first_line, last_line, depth, head });
    }

    /// Returns the line that a byte stands on, from 1.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// Returns the line of the last byte that is no blank.
    fn last_line(&mut self, start: usize, end: usize) -> usize {
        if self.last_end.0 != end {
            let text = self.text.get(..end).unwrap_or_default().trim_end();
            self.last_end = (end, text.len().saturating_sub(1));
        }
        self.line(self.last_end.1.max(start))
    }

    fn head(&mut self, place: FoundPlace) -> String {
        let line = self.line(place.name);
        let line_start = self.lines.get(line - 1).copied().unwrap_or_default();
        let line_end = self.lines.get(line).map_or(self.text.len(), |next| next - 1);
        let is_first = std::mem::replace(&mut self.last_name_line, line) != line
            && place.name - line_start < HEAD_LIMIT_BYTES / 2;
        let (start, end) = if is_first {
            (line_start, line_end)
        } else {
            (place.start.max(line_start), place.end.clamp(place.name, line_end))
        };
        let head = self.text.get(start..end).unwrap_or_default().trim();
        short_line(head, HEAD_LIMIT_BYTES)
    }
}

#[cfg(test)]
mod tests;
