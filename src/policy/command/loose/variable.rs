//! Variables of loops whose values the script itself lists, and the folder for temporary files.
//!
//! In: the loops around a word, and the word in pieces. Out: everything the word may be, or nothing
//! where that is not known.

use brush_parser::ast;
use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::command::loose::{LoopValue, UnknownWord, files_like};
use crate::command::word::literal;

/// Most values a word may have.
const VALUES_LIMIT: usize = 32;

/// The variables of the loops that are open, the innermost last.
#[derive(Debug, Default)]
pub(super) struct LoopVariables {
    script: String,
    open: Vec<(String, Option<Vec<LoopValue>>)>,
}

impl LoopVariables {
    /// Starts at the outside of a script.
    pub(super) fn of(script: &str) -> Self {
        Self { script: script.to_owned(), open: Vec::new() }
    }

    /// Enters a loop over values.
    pub(super) fn enter(&mut self, name: &str, values: Option<&[ast::Word]>) {
        let known = |values: &[ast::Word]| -> Option<Vec<LoopValue>> {
            values.iter().map(|word| value(&word.value)).collect()
        };
        let set_elsewhere = ["=", "+=", "[", "++", "--"]
            .iter()
            .any(|sign| self.script.contains(&format!("{name}{sign}")));
        let loops = self.script.split_whitespace().collect::<Vec<_>>();
        let loops = loops.windows(2).filter(|pair| matches!(pair, ["for", next] if *next == name));
        let alone = !set_elsewhere && loops.count() == 1;
        let values = values.filter(|_| alone).and_then(known);
        let values = values.filter(|values| !values.is_empty() && values.len() <= VALUES_LIMIT);
        self.open.push((name.to_owned(), values));
    }

    /// Leaves the innermost loop.
    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    /// Returns everything a word may be.
    pub(super) fn values_of(
        &self,
        pieces: &[WordPieceWithSource],
        raw: &str,
    ) -> Option<Vec<LoopValue>> {
        let quotes = raw.matches(['"', '\'']).count();
        let whole = quotes == 2 && raw.starts_with('"') && raw.ends_with('"');
        if quotes > 0 && !whole {
            return None;
        }
        let mut found = vec![LoopValue::Text(String::new())];
        self.add(pieces, raw, &mut found)?;
        let plain = |value: &LoopValue| match value {
            LoopValue::Text(text) => !text.is_empty() && !text.starts_with('-'),
            LoopValue::Files(glob) => !glob.starts_with(['*', '?', '-']),
        };
        found.iter().all(plain).then_some(found)
    }

    fn add(
        &self,
        pieces: &[WordPieceWithSource],
        raw: &str,
        found: &mut Vec<LoopValue>,
    ) -> Option<()> {
        for piece in pieces {
            let source = raw.get(piece.start_index..piece.end_index)?;
            match &piece.piece {
                WordPiece::Text(text) if is_plain(text) => append(found, text),
                WordPiece::DoubleQuotedSequence(inner) => self.add(inner, raw, found)?,
                WordPiece::ParameterExpansion(_) => self.add_variable(source, found)?,
                _ => return None,
            }
        }
        Some(())
    }

    fn add_variable(&self, source: &str, found: &mut Vec<LoopValue>) -> Option<()> {
        let name = source.strip_prefix('$')?;
        let braced = name.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
        let name = braced.unwrap_or(name);
        let at_the_start =
            || matches!(found.as_slice(), [LoopValue::Text(text)] if text.is_empty());
        // Commands have a folder of their own for temporary files, and it is always set.
        if matches!(name, "TMPDIR" | "TMPDIR:-/tmp") {
            let is_free = at_the_start() && !self.script.contains("TMPDIR=");
            return is_free.then(|| append(found, "/tmp"));
        }
        let (_, values) = self.open.iter().rev().find(|(open, _)| open == name)?;
        let values = values.as_ref()?;
        let mut all = Vec::new();
        for before in found.iter() {
            for value in values {
                all.push(joined(before, value)?);
            }
        }
        (all.len() <= VALUES_LIMIT).then(|| *found = all)
    }
}

fn joined(before: &LoopValue, value: &LoopValue) -> Option<LoopValue> {
    match (before, value) {
        (LoopValue::Text(before), LoopValue::Text(value)) => {
            Some(LoopValue::Text(format!("{before}{value}")))
        }
        (LoopValue::Text(before), LoopValue::Files(glob)) => {
            Some(LoopValue::Files(format!("{before}{glob}")))
        }
        (LoopValue::Files(_), _) => None,
    }
}

fn append(found: &mut [LoopValue], text: &str) {
    for value in found {
        match value {
            LoopValue::Text(before) | LoopValue::Files(before) => before.push_str(text),
        }
    }
}

/// A value that stays one word: known text, or files that match a glob.
fn value(raw: &str) -> Option<LoopValue> {
    if let Ok(text) = literal(raw) {
        return (!text.is_empty() && is_plain(&text)).then_some(LoopValue::Text(text));
    }
    match files_like(raw) {
        UnknownWord::Files(glob) => Some(LoopValue::Files(glob)),
        UnknownWord::Value | UnknownWord::OneOf(_) | UnknownWord::Pipe => None,
    }
}

/// Text that means nothing to a shell, quoted or not.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./:=+@".contains(letter))
}
