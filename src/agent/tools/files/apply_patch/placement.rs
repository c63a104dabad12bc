//! Where the chunks of one file go: each at the one place that its lines, the line above them and
//! the order of the chunks leave. Two ways to place them all are one too many.

use std::ops::Range;

use crate::tools::files::apply_patch::parse::PatchChunk;
use crate::tools::files::text::lines::EditedLines;
use crate::tools::files::text::stand::{Likeness, places};

/// The place of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedChunk {
    /// The lines it replaces, counted from 0.
    pub range: Range<usize>,
    /// How its lines were found.
    pub likeness: Likeness,
    /// Lines at its end that are not written: the empty one behind the last line end.
    pub unwritten: usize,
}

/// Where chunks go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placements {
    /// The place of each, in their order.
    pub placed: Vec<PlacedChunk>,
    /// Chunks whose lines stand in that place letter for letter, and in others but for blanks and
    /// signs: each a [`Misplaced::Alike`].
    pub questions: Vec<Misplaced>,
}

/// Most questions about the chunks of one file.
const QUESTIONS_LIMIT: usize = 8;

/// Why chunks have no place. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The line above a chunk stands nowhere after this line.
    NoContext {
        /// Which chunk, counted from 0.
        chunk: usize,
        /// The line looked after; 0 for the whole file.
        line: usize,
    },
    /// A chunk only adds lines, and the block of the line above it does not end the file: where in
    /// it they belong is unknown.
    OnlyAdds {
        /// Which chunk, counted from 0.
        chunk: usize,
    },
    /// The lines of a chunk stand nowhere after this line.
    Nowhere {
        /// Which chunk, counted from 0.
        chunk: usize,
        /// The line looked after; 0 for the whole file.
        line: usize,
    },
    /// A chunk can go to several places.
    Several {
        /// Which chunk, counted from 0.
        chunk: usize,
        /// The first line of each.
        places: Vec<usize>,
        /// Whether its lines stand in each letter for letter.
        exact: bool,
    },
    /// The lines of a chunk stand in one place letter for letter, and in others with other blanks
    /// or signs.
    Alike {
        /// Which chunk, counted from 0.
        chunk: usize,
        /// The first line of the place that has them.
        line: usize,
        /// The first line of each of the others.
        alike: Vec<usize>,
    },
}

/// A line above a chunk.
#[derive(Clone)]
struct ContextLine {
    line: usize,
    /// The line behind those below it that are indented deeper: its class, its function. A chunk
    /// that fits twice in there can be meant by either.
    end: usize,
}

/// What is known of a chunk alone.
#[derive(Clone)]
struct ChunkPlaces {
    /// Where the line above it stands; `None` where none is given.
    context: Option<Vec<ContextLine>>,
    /// Where its lines stand; `None` where it only adds lines at the end.
    lines: Option<Vec<usize>>,
    /// Whether it only adds lines, somewhere in a block that is not at the end.
    adds_within: bool,
    height: usize,
    likeness: Likeness,
    unwritten: usize,
}

/// Finds the place of every chunk: of places that are alike, the only one that is exact.
///
/// # Errors
/// The first chunk that has none, or more than one.
pub fn placements(text: &EditedLines, chunks: &[PatchChunk]) -> Result<Placements, Misplaced> {
    let count = text.lines().len() - usize::from(text.is_ended());
    let known: Vec<ChunkPlaces> =
        chunks.iter().map(|chunk| ChunkPlaces::of(text.lines(), count, chunk)).collect();
    let first = only_way(&known, count)?;
    // Text that stands elsewhere with other blanks may have lost or gained some on its way here.
    let mut alike: Vec<ChunkPlaces> = known
        .iter()
        .zip(chunks)
        .map(|(known, chunk)| known.with_alike(text.lines(), count, chunk))
        .collect();
    let mut questions = Vec::new();
    while let Err(error) = only_way(&alike, count) {
        let Misplaced::Several { chunk, places, .. } = &error else { return Err(error) };
        let exact = known.get(*chunk).filter(|known| known.likeness == Likeness::Exact);
        let (Some(exact), Some(open), Some(start)) =
            (exact, alike.get_mut(*chunk), first.get(*chunk))
        else {
            return Err(error);
        };
        if open.likeness == Likeness::Exact || questions.len() == QUESTIONS_LIMIT {
            return Err(error);
        }
        // From here on it stands where it is exact.
        *open = exact.clone();
        let line = start + 1;
        let alike = places.iter().copied().filter(|place| *place != line).collect();
        questions.push(Misplaced::Alike { chunk: *chunk, line, alike });
    }
    let placed = |(start, known): (usize, &ChunkPlaces)| PlacedChunk {
        range: start..start + known.height,
        likeness: known.likeness,
        unwritten: known.unwritten,
    };
    let placed = first.into_iter().zip(&known).map(placed).collect();
    Ok(Placements { placed, questions })
}

/// Places every chunk where alone it can go.
fn only_way(known: &[ChunkPlaces], count: usize) -> Result<Vec<usize>, Misplaced> {
    let first = first_way(known, count)?;
    let last = last_way(known, count);
    for (at, (first, last)) in first.iter().zip(&last).enumerate() {
        let lines = known.get(at).and_then(|known| known.lines.as_ref());
        if let Some(lines) = lines.filter(|_| first != last) {
            let between = lines.iter().filter(|line| (*first..=*last).contains(*line));
            return Err(Misplaced::Several {
                chunk: at,
                places: between.map(|line| line + 1).collect(),
                exact: known.get(at).is_some_and(|known| known.likeness == Likeness::Exact),
            });
        }
    }
    Ok(first)
}

/// Places every chunk as far up as it can go.
fn first_way(known: &[ChunkPlaces], count: usize) -> Result<Vec<usize>, Misplaced> {
    let mut at = 0;
    let place = |(chunk, known): (usize, &ChunkPlaces)| {
        if let Some(context) = &known.context {
            let found = context.iter().find(|context| context.line >= at);
            at = found.ok_or(Misplaced::NoContext { chunk, line: at })?.line + 1;
        }
        if known.adds_within {
            return Err(Misplaced::OnlyAdds { chunk });
        }
        let Some(lines) = &known.lines else { return Ok(count) };
        let found = lines.iter().find(|line| **line >= at);
        let start = *found.ok_or(Misplaced::Nowhere { chunk, line: at })?;
        at = start + known.height;
        Ok(start)
    };
    known.iter().enumerate().map(place).collect()
}

/// Places every chunk as far down as it can go; there is a way.
fn last_way(known: &[ChunkPlaces], count: usize) -> Vec<usize> {
    let mut bound = usize::MAX;
    let place = |known: &ChunkPlaces| {
        let fits = |line: &usize| line.saturating_add(known.height) <= bound;
        let below = |context: &ContextLine| {
            known.lines.as_ref().map_or(Some(count), |lines| {
                let mut after = lines.iter().copied().filter(|line| *line > context.line);
                let mut within = after.clone().filter(|line| *line < context.end && fits(line));
                within.next_back().or_else(|| after.next().filter(fits))
            })
        };
        let (start, top) = match (&known.context, &known.lines) {
            (Some(context), _) => {
                let contexts = context.iter().rev().filter(|context| context.line < bound);
                let found = |context| Some((below(context)?, context.line));
                contexts.filter_map(found).next().unwrap_or_default()
            }
            (None, Some(lines)) => {
                let start = lines.iter().rev().find(|line| fits(line)).copied().unwrap_or_default();
                (start, start)
            }
            (None, None) => (count, bound),
        };
        bound = top;
        start
    };
    let mut starts: Vec<usize> = known.iter().rev().map(place).collect();
    starts.reverse();
    starts
}

impl ChunkPlaces {
    fn of(lines: &[String], count: usize, chunk: &PatchChunk) -> Self {
        let standing = |line: &String| -> Vec<ContextLine> {
            let mut found = strictest(lines, &[line.as_str()], count).0;
            if found.is_empty() {
                found = beginning_with(lines, line, count);
            }
            let found = found.into_iter();
            found.map(|line| ContextLine { line, end: block_end(lines, line) }).collect()
        };
        let context = chunk.context.as_ref().map(|line| {
            let mut levels = chunk.outer.iter().chain([line]).map(standing);
            let outermost = levels.next().unwrap_or_default();
            levels.fold(outermost, |outer, inner| below(&outer, inner))
        });
        let mut known = Self {
            context,
            lines: None,
            adds_within: false,
            height: 0,
            likeness: Likeness::Exact,
            unwritten: 0,
        };
        let old: Vec<&str> = chunk.old.iter().map(String::as_str).collect();
        if old.is_empty() {
            if let Some(context) = known.context.as_mut().filter(|_| !chunk.at_end) {
                let ends_the_file = |context: &ContextLine| context.end >= count;
                known.adds_within = !context.is_empty() && !context.iter().any(ends_the_file);
                context.retain(|context| known.adds_within || ends_the_file(context));
            }
            return known;
        }
        let found = |old: &[&str]| {
            let (mut found, likeness) = strictest(lines, old, count);
            found.retain(|start| !chunk.at_end || start + old.len() == count);
            (found, likeness)
        };
        let (mut starts, mut likeness) = found(&old);
        known.height = old.len();
        // Models write the empty line that follows the last line end as a line of its own.
        if let [old @ .., ""] = old.as_slice()
            && starts.is_empty()
        {
            (starts, likeness) = found(old);
            known.height = old.len();
            known.unwritten = usize::from(chunk.new.last().is_some_and(String::is_empty));
        }
        Self { lines: Some(starts), likeness, ..known }
    }

    /// Returns the same with every place where the lines stand but for blanks and signs.
    fn with_alike(&self, lines: &[String], count: usize, chunk: &PatchChunk) -> Self {
        let old: Vec<&str> = chunk.old.iter().take(self.height).map(String::as_str).collect();
        let mut alike = places(lines, &old, Likeness::Signs, 0..count);
        alike.retain(|start| !chunk.at_end || start + old.len() == count);
        // Blank lines are alike nowhere.
        let lines = if alike.is_empty() { self.lines.clone() } else { Some(alike) };
        Self { lines, likeness: Likeness::Signs, ..self.clone() }
    }
}

/// Returns those of some lines that are in the block of an outer one. Where indentation does not
/// show that block, as with a brace on a line of its own, it is the first below the outer one.
fn below(outer: &[ContextLine], inner: Vec<ContextLine>) -> Vec<ContextLine> {
    let is_within =
        |it: &ContextLine| outer.iter().any(|outer| outer.line < it.line && it.line < outer.end);
    if inner.iter().any(is_within) {
        return inner.into_iter().filter(is_within).collect();
    }
    let without_block = outer.iter().filter(|outer| outer.end == outer.line + 1);
    let first = |outer: &ContextLine| inner.iter().find(|it| it.line > outer.line).cloned();
    let mut found: Vec<ContextLine> = without_block.filter_map(first).collect();
    found.dedup_by_key(|it| it.line);
    found
}

/// Returns the lines that begin with words: `class A` for `class A(B):`.
fn beginning_with(lines: &[String], words: &str, count: usize) -> Vec<usize> {
    let words = words.trim();
    let goes_on = |rest: &str| rest.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    let begins = |line: &String| {
        let rest = line.trim_start().strip_prefix(words);
        !words.is_empty() && rest.is_some_and(|rest| !goes_on(rest))
    };
    (0..count).filter(|at| lines.get(*at).is_some_and(begins)).collect()
}

/// Returns the first line below one that is not blank and not indented deeper.
fn block_end(lines: &[String], line: usize) -> usize {
    let depth = |line: &String| line.len() - line.trim_start().len();
    let own = lines.get(line).map_or(0, depth);
    let rest = lines.iter().enumerate().skip(line + 1);
    let mut ends = rest.filter(|(_, line)| !line.trim_start().is_empty() && depth(line) <= own);
    ends.next().map_or(lines.len(), |(at, _)| at)
}

/// Returns where lines stand, by the strictest likeness that finds any.
fn strictest(lines: &[String], wanted: &[&str], count: usize) -> (Vec<usize>, Likeness) {
    let found = |likeness| (places(lines, wanted, likeness, 0..count), likeness);
    let mut ways = Likeness::ALL.into_iter().map(found);
    ways.find(|(found, _)| !found.is_empty()).unwrap_or((Vec::new(), Likeness::Exact))
}
