//! What is known of a shell's variables: every value that the script itself gives them, and where
//! they surely have one. Also the folder for temporary files.
//!
//! In: each place of a script that sets a variable, in the order of the walk, and words in pieces.
//! Out: everything a word may be, or nothing where that is not known.
//!
//! What a variable may hold is gathered from the whole script before a word counts as known, so no
//! loop, branch or later line can give it another value. Where it may not be set yet, or by another
//! shell (a pipe's, a substitution's), nothing is known: it could come from the environment.

use std::collections::{BTreeMap, BTreeSet};

use brush_parser::word::{WordPiece, WordPieceWithSource};

use crate::command::loose::{LoopValue, NUMBER, SAMPLES, UnknownWord, files_like, producer};
use crate::command::word::literal;

/// How often a script is walked: values of variables are known in the last walk.
pub(super) const WALKS: usize = 3;

/// Most values a word may have.
const VALUES_LIMIT: usize = 32;

/// All that a variable may hold; `None` for anything.
type Values = Option<Vec<LoopValue>>;

/// What a script sets its variables to, wherever it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    /// How often each is set, and all that it may hold as one text.
    values: BTreeMap<String, (usize, Values)>,
    /// How often each is set to names of files, and the folders below which these lie.
    names: BTreeMap<String, (usize, Vec<String>)>,
    /// How many walks gathered this, one after another.
    walks: usize,
}

/// Which variables surely hold a value at a place of the script.
#[derive(Clone, Debug, Default)]
pub(super) struct SetVariables {
    set: BTreeSet<String>,
    /// Those whose last value was not empty, since what gave it ended well.
    filled: BTreeSet<String>,
}

impl SetVariables {
    /// Returns what is known where either may hold.
    pub(super) fn and(&self, other: &Self) -> Self {
        let both = |one: &BTreeSet<String>, two: &BTreeSet<String>| {
            one.intersection(two).cloned().collect()
        };
        Self { set: both(&self.set, &other.set), filled: both(&self.filled, &other.filled) }
    }
}

/// The variables of a script, at the place that the walk has come to.
#[derive(Debug, Default)]
pub(super) struct ShellVariables {
    /// What an earlier walk gathered.
    known: Bindings,
    /// What this walk gathers.
    gathered: Bindings,
    /// What is surely set here.
    pub(super) here: SetVariables,
    /// Whether nothing may be known of any variable.
    closed: bool,
    sets_tmpdir: bool,
}

impl ShellVariables {
    /// Starts at the outside of a script, with what an earlier walk gathered.
    pub(super) fn of(script: &str, known: Bindings) -> Self {
        Self {
            known,
            // What stands for an unknown text must not be in the script.
            closed: SAMPLES.iter().any(|sample| script.contains(sample)),
            sets_tmpdir: script.contains("TMPDIR="),
            ..Self::default()
        }
    }

    /// Returns what was gathered.
    pub(super) fn gathered(self) -> Bindings {
        Bindings { walks: self.known.walks + 1, ..self.gathered }
    }

    /// Returns true where all is known that will be: what is still not known is refused.
    pub(super) fn are_known(&self) -> bool {
        self.known.walks + 1 >= WALKS
    }

    /// Notes that a variable gets one of these values here. `surely` is where nothing can keep it
    /// from it.
    pub(super) fn set(&mut self, name: &str, values: Values, surely: bool) {
        let (count, all) =
            self.gathered.values.entry(name.to_owned()).or_insert_with(|| (0, Some(Vec::new())));
        *count += 1;
        *all = all.take().zip(values).map(|(mut all, values)| {
            all.extend(values);
            all
        });
        *all = all.take().filter(|all| all.len() <= VALUES_LIMIT);
        // What the shell itself changes is never known.
        if name.starts_with('_') {
            *all = None;
        }
        self.here.filled.remove(name);
        if surely {
            self.here.set.insert(name.to_owned());
        }
    }

    /// Notes that a variable gets names of files here, where it is set to what a command prints.
    pub(super) fn set_names(&mut self, name: &str, pieces: &[WordPieceWithSource]) {
        if let Some(printed) = printed_names(pieces) {
            let (count, folders) = self.gathered.names.entry(name.to_owned()).or_default();
            *count += 1;
            folders.extend(printed);
        }
    }

    /// Returns the folders below which all files lie that a variable names, cut at blanks.
    fn named_by(&self, pieces: &[WordPieceWithSource], raw: &str) -> Values {
        let [WordPieceWithSource { piece: WordPiece::ParameterExpansion(_), .. }] = pieces else {
            return None;
        };
        let name = variable_of(raw)?;
        let (times, _) = self.known.values.get(name)?;
        let (count, folders) = self.known.names.get(name)?;
        let is_known = self.here.set.contains(name) && count == times;
        (is_known && folders.len() <= VALUES_LIMIT).then(|| vec![LoopValue::Below(folders.clone())])
    }

    /// Notes that what gave a variable its value ended well: only where nothing else sets it.
    pub(super) fn fill(&mut self, name: &str) {
        if self.known.values.get(name).is_some_and(|(count, _)| *count == 1) {
            self.here.filled.insert(name.to_owned());
        }
    }

    /// Returns what a loop's variable may be that goes through these words.
    pub(super) fn values_of_list(
        &self,
        words: &[(&str, Option<Vec<WordPieceWithSource>>)],
    ) -> Values {
        let mut all = Vec::new();
        for (raw, pieces) in words {
            all.extend(self.values_of_item(raw, pieces.as_deref())?);
        }
        (!self.closed && !all.is_empty() && all.len() <= VALUES_LIMIT).then_some(all)
    }

    fn values_of_item(&self, raw: &str, pieces: Option<&[WordPieceWithSource]>) -> Values {
        if let Ok(text) = literal(raw) {
            return (!text.is_empty() && is_plain(&text)).then(|| vec![LoopValue::Text(text)]);
        }
        if let UnknownWord::Files(glob) = files_like(raw) {
            return Some(vec![LoopValue::Files(glob)]);
        }
        match pieces? {
            // Each word of what is printed.
            [WordPieceWithSource { piece: WordPiece::CommandSubstitution(script), .. }] => {
                Some(producer::words_of(script)?)
            }
            pieces => self.named_by(pieces, raw).or_else(|| {
                self.values_of(pieces, raw).filter(|values| {
                    // What is empty is no word of the list, and a name is cut at its blanks.
                    let is_word = |value: &LoopValue| {
                        is_quoted_as_one(pieces)
                            || matches!(value, LoopValue::Text(text) if !text.is_empty())
                    };
                    values.iter().all(is_word)
                })
            }),
        }
    }

    /// Returns the value that a variable is given with this word.
    pub(super) fn values_of_assigned(&self, pieces: &[WordPieceWithSource], raw: &str) -> Values {
        match literal(raw) {
            Ok(text) => (is_plain(&text) && !self.closed).then(|| vec![LoopValue::Text(text)]),
            Err(_) => self.values_of(pieces, raw),
        }
    }

    /// Returns everything a word may be; it stays one word between double quotes alone.
    pub(super) fn values_of(&self, pieces: &[WordPieceWithSource], raw: &str) -> Values {
        let found = self.values_of_file(pieces, raw)?;
        let plain = |value: &LoopValue| match value {
            LoopValue::Files(glob) => !glob.starts_with(['*', '?', '-']),
            LoopValue::Text(_) | LoopValue::Like(_) | LoopValue::Below(_) => true,
        };
        found.iter().all(plain).then_some(found)
    }

    /// As [`Self::values_of`], where a word that looks like an option is none: behind a
    /// redirection.
    pub(super) fn values_of_file(&self, pieces: &[WordPieceWithSource], raw: &str) -> Values {
        if self.closed || (outer_quotes(pieces, raw) > 0 && !is_quoted_as_one(pieces)) {
            return None;
        }
        let mut found = vec![LoopValue::Text(String::new())];
        self.add(pieces, raw, &mut found)?;
        Some(found)
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
                WordPiece::Text(text) if is_plain(text) => append(found, text)?,
                WordPiece::DoubleQuotedSequence(inner) => self.add(inner, raw, found)?,
                WordPiece::ParameterExpansion(_) => self.add_variable(source, found)?,
                WordPiece::CommandSubstitution(script) => {
                    combine(found, &producer::text_of(script)?)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn add_variable(&self, source: &str, found: &mut Vec<LoopValue>) -> Option<()> {
        let name = variable_of(source)?;
        let at_the_start =
            || matches!(found.as_slice(), [LoopValue::Text(text)] if text.is_empty());
        // Commands have a folder of their own for temporary files, and it is always set.
        if matches!(name, "TMPDIR" | "TMPDIR:-/tmp") {
            let is_free = at_the_start() && !self.sets_tmpdir;
            return is_free.then(|| append(found, "/tmp"))?;
        }
        if is_number(name) {
            return combine(found, &[LoopValue::Like(NUMBER.to_owned())]);
        }
        if !self.here.set.contains(name) {
            return None;
        }
        let (_, values) = self.known.values.get(name)?;
        let values = values.as_ref()?;
        if self.here.filled.contains(name) {
            let filled: Vec<LoopValue> =
                values.iter().filter(|value| !value.is_empty()).cloned().collect();
            return combine(found, &filled);
        }
        combine(found, values)
    }
}

/// Returns what stands behind the `$` of an expansion, without its braces.
fn variable_of(source: &str) -> Option<&str> {
    let name = source.strip_prefix('$')?;
    Some(name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name))
}

/// Returns the folders below which all files lie that a word is, where a command prints them.
fn printed_names(pieces: &[WordPieceWithSource]) -> Option<Vec<String>> {
    let [WordPieceWithSource { piece, .. }] = pieces else { return None };
    match piece {
        WordPiece::DoubleQuotedSequence(inner) => printed_names(inner),
        WordPiece::CommandSubstitution(script) => match producer::words_of(script)?.as_slice() {
            [LoopValue::Below(folders)] => Some(folders.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true for an expansion that is a number: how long a text is, how commands ended.
fn is_number(name: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    name == "?" || name == "#" || name.strip_prefix('#').is_some_and(is_name)
}

/// Puts each of some values behind each of those found so far.
fn combine(found: &mut Vec<LoopValue>, values: &[LoopValue]) -> Option<()> {
    let mut all = Vec::new();
    for before in found.iter() {
        for value in values {
            all.push(joined(before, value)?);
        }
    }
    (!all.is_empty() && all.len() <= VALUES_LIMIT).then(|| *found = all)
}

fn joined(before: &LoopValue, value: &LoopValue) -> Option<LoopValue> {
    match (before, value) {
        (LoopValue::Text(before), LoopValue::Text(value)) => {
            Some(LoopValue::Text(format!("{before}{value}")))
        }
        (LoopValue::Text(before), LoopValue::Files(glob)) => {
            Some(LoopValue::Files(format!("{before}{glob}")))
        }
        (
            LoopValue::Text(before) | LoopValue::Like(before),
            LoopValue::Text(value) | LoopValue::Like(value),
        ) => Some(LoopValue::Like(format!("{before}{value}"))),
        // The names of files are whole words.
        (LoopValue::Text(before), LoopValue::Below(_)) if before.is_empty() => Some(value.clone()),
        _ => None,
    }
}

fn append(found: &mut [LoopValue], text: &str) -> Option<()> {
    for value in found {
        match value {
            LoopValue::Text(before) | LoopValue::Files(before) | LoopValue::Like(before) => {
                before.push_str(text);
            }
            LoopValue::Below(_) => return None,
        }
    }
    Some(())
}

/// How many quotes stand in a word outside its expansions.
fn outer_quotes(pieces: &[WordPieceWithSource], raw: &str) -> usize {
    let quoted = |piece: &&WordPieceWithSource| {
        raw.get(piece.start_index..piece.end_index)
            .is_some_and(|source| source.starts_with(['"', '\'']))
    };
    pieces.iter().filter(quoted).count()
}

/// Whether all that a shell works out in a word stands between double quotes. What follows them
/// cannot be a part of a number or a commit.
fn is_quoted_as_one(pieces: &[WordPieceWithSource]) -> bool {
    let is_quoted = |it: &WordPieceWithSource| match &it.piece {
        WordPiece::DoubleQuotedSequence(_) => true,
        WordPiece::Text(text) => is_plain(text),
        _ => false,
    };
    let ends_it = |it: &WordPieceWithSource| match &it.piece {
        WordPiece::Text(text) => text.starts_with(['.', '/']),
        _ => true,
    };
    pieces.last().is_some_and(ends_it) && pieces.iter().all(is_quoted)
}

/// Text that means nothing to a shell, quoted or not.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./:=+@".contains(letter))
}
