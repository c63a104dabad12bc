//! `apply_diff`: search/replace blocks on one file, found by text and, where given, by line.
//!
//! [`apply`] is pure: the file's text and the diff in, the new text and what became of each block
//! out. A block that does not fit, or that fits in more than one place, is reported beside those
//! that fit in one; nothing is changed when none does. Text found letter for letter comes before
//! any that differs in blanks or signs.

pub mod matching;
pub mod miss;
pub mod parse;
pub mod tool;

use std::ops::Range;

use crate::tools::files::apply_diff::matching::{LineBounds, LineMatch, NormalizedLines};
use crate::tools::files::apply_diff::miss::{Miss, NoMatch, SoughtText};
use crate::tools::files::apply_diff::parse::{DiffBlock, DiffParseError};
use crate::tools::files::text::blank;
use crate::tools::files::text::excerpt::together;
use crate::tools::files::text::indent;
use crate::tools::files::text::lines::{ChangedRange, EditedLines};
use crate::tools::files::text::placeholder::first_placeholder;
use crate::tools::files::text::stand::{Likeness, places};

/// Furthest that a model's line numbers are off, by miscounting or after edits further up. Of two
/// copies within that of a start line, either can be meant, unless one begins exactly there.
pub(crate) const MISCOUNT_LINES: usize = 30;

/// What becomes of a block whose start line is exactly one copy's while another is that near, or
/// beside one while what is near it differs in blanks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearCopies {
    /// Nothing is changed until the call is sent again.
    Ask,
    /// The one at the start line, or of exactly that text, is changed.
    Take,
}

/// Lines shown around the place a block was looked for, in both directions together.
const SURROUNDING_LINES: usize = 40;

/// How far from its start line, how unlike the file and how near a copy a search text may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Least similarity, 0.0 to 1.0; 1.0 still leaves blanks and typographic signs out of account.
    pub similarity: f64,
    /// Lines before and after the start line that are searched.
    pub lines: usize,
    /// Whether a start line that may be another copy's is asked about.
    pub near_copies: NearCopies,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { similarity: 1.0, lines: 40, near_copies: NearCopies::Ask }
    }
}

/// The result of a diff of which at least one block fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedDiff {
    /// The file's new text.
    pub content: String,
    /// The places that changed, in the order they were applied.
    pub changed: Vec<ChangedRange>,
    /// The blocks that did not fit.
    pub failed: Vec<BlockError>,
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DiffError {
    /// The text is not a diff.
    #[error(transparent)]
    Parse(#[from] DiffParseError),
    /// No block fits; one error each.
    #[error("{}", together(.0))]
    NoBlockFits(Vec<BlockError>),
    /// Start lines that may be off, or may be those of other copies; the blocks that have them.
    #[error("{}", together(.0))]
    Unconfirmed(Vec<NoMatch>),
}

/// Why one block did not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlockError {
    /// Search and replacement are the same text, or the file holds the replacement already.
    #[error("nothing would change: the new text is what stands there already")]
    Identical,
    /// There is nothing to search for.
    #[error("the text to replace is empty; give the lines to replace")]
    EmptySearch,
    /// No place of the file is meant without doubt.
    #[error("{0}")]
    NoMatch(Box<NoMatch>),
}

impl BlockError {
    /// Whether the same call may be sent again to confirm it.
    pub(crate) fn is_question(&self) -> bool {
        matches!(self, Self::NoMatch(miss) if miss.is_unconfirmed())
    }
}

/// Applies a diff to a file's text as the tool does.
///
/// # Errors
/// When the text is not a diff or no block fits.
pub fn apply(original: &str, diff: &str) -> Result<AppliedDiff, DiffError> {
    apply_with(original, diff, Tolerance::default())
}

/// Applies a diff with another tolerance.
///
/// # Errors
/// As [`apply`].
pub fn apply_with(
    original: &str,
    diff: &str,
    tolerance: Tolerance,
) -> Result<AppliedDiff, DiffError> {
    let blocks = parse::parse(diff)?;
    let mut file = TargetText::new(original, tolerance, SoughtText::Block);
    file.named = blocks.iter().map(|block| (block.start_line, block.search.clone())).collect();
    let (mut failed, mut unconfirmed) = (Vec::new(), Vec::new());
    for block in blocks {
        match file.apply(block) {
            Err(BlockError::NoMatch(miss)) if miss.is_unconfirmed() => {
                unconfirmed.push(*miss);
            }
            Err(error) => failed.push(error),
            Ok(()) => {}
        }
    }
    if !unconfirmed.is_empty() {
        return Err(DiffError::Unconfirmed(unconfirmed));
    }
    if file.edited.changed().is_empty() {
        Err(DiffError::NoBlockFits(failed))
    } else {
        Ok(AppliedDiff { failed, ..file.applied() })
    }
}

/// The file while blocks are applied to it, one after another.
pub(crate) struct TargetText<'a> {
    original: &'a str,
    /// Its lines as they are by now.
    pub(crate) edited: EditedLines,
    /// How far from what is sought a place may be.
    pub(crate) tolerance: Tolerance,
    /// What is sought, for messages.
    sought: SoughtText,
    /// Start lines and search texts of all blocks, as sent.
    named: Vec<(usize, String)>,
}

/// A place where a block goes.
struct Target {
    line: usize,
    likeness: Option<Likeness>,
    block: DiffBlock,
}

impl<'a> TargetText<'a> {
    /// Takes a file as it is.
    pub(crate) fn new(original: &'a str, tolerance: Tolerance, sought: SoughtText) -> Self {
        Self { original, edited: EditedLines::new(original), tolerance, sought, named: Vec::new() }
    }

    /// Returns how many lines there are by now.
    pub(crate) fn line_count(&self) -> usize {
        self.edited.lines().len() - usize::from(self.edited.is_ended())
    }

    /// Returns what became of the file, as if everything had fitted.
    pub(crate) fn applied(&self) -> AppliedDiff {
        let changed = self.edited.changed().to_vec();
        AppliedDiff { content: self.edited.text(), changed, failed: Vec::new() }
    }

    /// Replaces lines by a block that is the only one.
    pub(crate) fn apply_alone(&mut self, block: DiffBlock) -> Result<(), BlockError> {
        self.named = vec![(block.start_line, block.search.clone())];
        self.apply(block)
    }

    /// Replaces lines that stand in one place.
    pub(crate) fn apply(&mut self, block: DiffBlock) -> Result<(), BlockError> {
        let sent_line = block.start_line;
        let block = self.placed(block);
        if block.search == block.replace {
            return Err(BlockError::Identical);
        }
        if block.search.is_empty() {
            return Err(BlockError::EmptySearch);
        }
        if let Some(line) = self.placeholder(&block.search, &block.replace) {
            return Err(self.no_match(&block, Miss::Placeholder { line }));
        }
        let target = self.find(&block)?;
        self.check_named(&block, sent_line, &target)?;
        self.replace(&target)
    }

    /// Returns the first new line that stands for text left out.
    pub(crate) fn placeholder(&self, search: &str, replace: &str) -> Option<String> {
        let height = |text: &str| if text.is_empty() { 0 } else { text.split('\n').count() };
        let loses = height(replace) < height(search);
        let known = |line: &str| self.original.lines().any(|known| known.trim() == line);
        first_placeholder(replace.split('\n'), known, loses).map(str::to_owned)
    }

    /// Moves the start line with the changes made so far.
    fn placed(&self, block: DiffBlock) -> DiffBlock {
        match block.start_line {
            0 => block,
            line => DiffBlock { start_line: self.edited.moved(line), ..block },
        }
    }

    /// Finds the one place that is meant: as written, then without the blank lines a model leaves
    /// after a marker, each letter for letter first; then without line numbers copied from
    /// `read_file`, then without what is left of them.
    fn find(&self, block: &DiffBlock) -> Result<Target, BlockError> {
        let strict = without_leading_blank_lines(block);
        let plain = without_numbers(&strict);
        let bare = DiffBlock {
            start_line: plain.start_line,
            search: blank::strip_number_remains(&plain.search),
            replace: blank::strip_number_remains(&plain.replace),
        };
        for forms in [&[block, &strict][..], &[&plain], &[&bare]] {
            for likeness in Likeness::ALL {
                for form in forms {
                    let line = match self.stands(form, likeness).as_slice() {
                        [] => continue,
                        [line] => *line,
                        [..] => return Err(self.several(block, form, likeness)),
                    };
                    self.check_alike(block, form, line)?;
                    return Ok(Target { line, likeness: Some(likeness), block: (*form).clone() });
                }
            }
        }
        self.most_similar(&bare, self.tolerance.similarity)
            .filter(|_| self.tolerance.similarity < 1.0)
            .map(|found| Target { line: found.line, likeness: None, block: bare })
            .ok_or_else(|| self.nowhere(&plain))
    }

    /// Refuses a place that the start line names exactly where another copy is so near that a
    /// number that is off could mean it. Numbers copied with the text decide, and so do other
    /// blocks that name the other copies.
    fn check_named(
        &self,
        block: &DiffBlock,
        sent_line: usize,
        target: &Target,
    ) -> Result<(), BlockError> {
        let Some(likeness) = target.likeness else { return Ok(()) };
        let copied = blank::is_numbered(&block.search).then(|| blank::first_number(&block.search));
        let is_named = sent_line > 0 && block.start_line == target.line + 1;
        if self.tolerance.near_copies == NearCopies::Take
            || !is_named
            || copied.flatten() == Some(sent_line)
        {
            return Ok(());
        }
        let is_named_too = |line: usize| {
            let names = |(named, search): &(usize, String)| {
                *named > 0 && self.edited.moved(*named) == line + 1 && *search == block.search
            };
            self.named.iter().any(names)
        };
        let is_near =
            |line: &usize| line.abs_diff(target.line) <= MISCOUNT_LINES && !is_named_too(*line);
        if !self.copies(&target.block, likeness).iter().any(is_near) {
            return Ok(());
        }
        // Nothing of the call is done: the lines are those of the file as it is.
        let file = TargetText::new(self.original, self.tolerance, self.sought);
        let everywhere = DiffBlock { start_line: 0, ..target.block.clone() };
        let lines = file.copies(&everywhere, likeness).iter().map(|line| line + 1).collect();
        let sent = DiffBlock { start_line: sent_line, ..block.clone() };
        Err(self.no_match(&sent, Miss::NearCopies { lines }))
    }

    /// Refuses a place where the text stands elsewhere with other blanks or signs, too, and no
    /// start line decides: one about there says that either number or text is wrong, and without
    /// one about there the text alone would say which is meant.
    fn check_alike(
        &self,
        block: &DiffBlock,
        form: &DiffBlock,
        line: usize,
    ) -> Result<(), BlockError> {
        let start = form.start_line.checked_sub(1);
        if start == Some(line) {
            return Ok(());
        }
        let mut alike = self.copies(form, Likeness::Signs);
        let start = start.filter(|start| line.abs_diff(*start) <= MISCOUNT_LINES);
        let Some(start) = start else {
            if alike.iter().all(|other| *other == line) {
                return Ok(());
            }
            let lines = alike.iter().map(|line| line + 1).collect();
            return Err(self.no_match(block, Miss::Several { lines, likeness: Likeness::Signs }));
        };
        if self.tolerance.near_copies == NearCopies::Take {
            return Ok(());
        }
        alike.retain(|other| other.abs_diff(start) <= MISCOUNT_LINES && *other != line);
        if alike.is_empty() {
            return Ok(());
        }
        let alike = alike.iter().map(|line| line + 1).collect();
        Err(self.no_match(block, Miss::Alike { line: line + 1, alike }))
    }

    /// Returns where a block can be meant: one place, several, or none.
    fn stands(&self, block: &DiffBlock, likeness: Likeness) -> Vec<usize> {
        let found = self.copies(block, likeness);
        let Some(start) = block.start_line.checked_sub(1) else { return found };
        if found.contains(&start) {
            return vec![start];
        }
        // Of places that are only alike, none is more meant than the other by a line nearby.
        let is_near = |line: &usize| line.abs_diff(start) <= MISCOUNT_LINES;
        let near: Vec<usize> = found.iter().copied().filter(is_near).collect();
        if near.len() == 1 && likeness == Likeness::Exact { near } else { found }
    }

    /// Returns every place around the start line that holds the text, those that earlier blocks
    /// wrote only where there is no other.
    fn copies(&self, block: &DiffBlock, likeness: Likeness) -> Vec<usize> {
        let wanted: Vec<&str> = block.search.split('\n').collect();
        let LineBounds { start, end } = self.bounds(block);
        let mut found = places(self.edited.lines(), &wanted, likeness, start..end);
        let run = |line: usize| line..line + wanted.len();
        if found.iter().any(|line| !self.edited.is_new(&run(*line))) {
            found.retain(|line| !self.edited.is_new(&run(*line)));
        }
        found
    }

    /// Says where all the places are of which one is meant, those far from the start line, too.
    fn several(&self, block: &DiffBlock, form: &DiffBlock, likeness: Likeness) -> BlockError {
        let everywhere = DiffBlock { start_line: 0, ..form.clone() };
        let lines = self.stands(&everywhere, likeness).iter().map(|line| line + 1).collect();
        self.no_match(block, Miss::Several { lines, likeness })
    }

    fn most_similar(&self, block: &DiffBlock, least: f64) -> Option<LineMatch> {
        let LineBounds { start, end } = self.bounds(block);
        let reach = end.saturating_add(block.search.split('\n').count());
        let lines = self.edited.lines();
        let near = lines.get(start..reach.min(lines.len())).unwrap_or_default();
        NormalizedLines::new(near.iter().map(String::as_str))
            .find_similar(&block.search, LineBounds { start: 0, end: end.saturating_sub(start) })
            .filter(|found| found.similarity >= least)
            .map(|found| LineMatch { line: found.line + start, ..found })
    }

    fn bounds(&self, block: &DiffBlock) -> LineBounds {
        let count = self.edited.lines().len();
        if block.start_line == 0 {
            return LineBounds { start: 0, end: count };
        }
        let height = block.search.split('\n').count();
        let start = block.start_line.saturating_sub(self.tolerance.lines + 1);
        let end = block.start_line.saturating_add(height + self.tolerance.lines).min(count);
        LineBounds { start, end }
    }

    fn replace(&mut self, Target { line, likeness, block }: &Target) -> Result<(), BlockError> {
        let given: Vec<&str> = block.search.split('\n').collect();
        let new: Vec<&str> =
            if block.replace.is_empty() { Vec::new() } else { block.replace.split('\n').collect() };
        let count = self.edited.lines().len();
        let range: Range<usize> = (*line).min(count)..line.saturating_add(given.len()).min(count);
        let found: Vec<&str> = self
            .edited
            .lines()
            .get(range.clone())
            .unwrap_or_default()
            .iter()
            .map(String::as_str)
            .collect();
        let lines = match likeness {
            Some(Likeness::Exact) => Some(new.iter().map(|line| (*line).to_owned()).collect()),
            Some(_) => indent::reindented(&given, &found, &new),
            // Of lines that are only similar, the first says how deep they are.
            None => indent::reindented(
                given.get(..1).unwrap_or_default(),
                found.get(..1).unwrap_or_default(),
                &new,
            ),
        };
        let Some(lines) = lines else {
            let text = found.join("\n");
            return Err(self.no_match(block, Miss::Indentation { line: line + 1, text }));
        };
        if self.edited.replace(range, lines) { Ok(()) } else { Err(BlockError::Identical) }
    }

    /// Says what is wrong with lines.
    pub(crate) fn no_match(&self, block: &DiffBlock, why: Miss) -> BlockError {
        let DiffBlock { start_line, search, .. } = block.clone();
        BlockError::NoMatch(Box::new(NoMatch { search, start_line, sought: self.sought, why }))
    }

    /// Says that lines stand nowhere, and what is most like them.
    pub(crate) fn nowhere(&self, block: &DiffBlock) -> BlockError {
        let height = block.search.split('\n').count();
        let best = self.most_similar(block, 0.0);
        let centre = best.map_or(block.start_line.saturating_sub(1), |found| found.line);
        let lines = self.edited.lines();
        let text = |found: LineMatch| {
            lines
                .get(found.line..(found.line + height).min(lines.len()))
                .unwrap_or_default()
                .join("\n")
        };
        let wanted: Vec<&str> = block.search.split('\n').collect();
        let elsewhere = places(lines, &wanted, Likeness::Exact, 0..lines.len());
        self.no_match(
            block,
            Miss::Nowhere {
                elsewhere: elsewhere.iter().map(|line| line + 1).collect(),
                best: best.map(|found| (found.line + 1, found.similarity, text(found))),
                needed: self.tolerance.similarity,
                surroundings: miss::numbered(
                    lines,
                    centre.saturating_sub(SURROUNDING_LINES / 2),
                    height + SURROUNDING_LINES,
                ),
            },
        )
    }
}

/// Takes the blank lines off that both parts begin with.
fn without_leading_blank_lines(block: &DiffBlock) -> DiffBlock {
    let strict = |text: &str| {
        let blank = text.split('\n').take_while(|line| blank::trim(line).is_empty()).count();
        text.split('\n').skip(blank).collect::<Vec<_>>().join("\n")
    };
    DiffBlock {
        start_line: block.start_line,
        search: strict(&block.search),
        replace: strict(&block.replace),
    }
}

/// Takes off the line numbers of `read_file` where every line has one; the first of them is the
/// start line where none is given.
fn without_numbers(block: &DiffBlock) -> DiffBlock {
    let DiffBlock { start_line, search, replace } = block;
    let is_numbered = blank::is_numbered(search)
        && (blank::is_numbered(replace) || blank::trim(replace).is_empty());
    if !is_numbered {
        return block.clone();
    }
    let start_line = match start_line {
        0 => blank::first_number(search).unwrap_or_default(),
        line => *line,
    };
    let [search, replace] = [search, replace].map(|text| blank::strip_numbers(text));
    DiffBlock { start_line, search, replace }
}

#[cfg(test)]
mod tests;
