//! The lines of a file most like a search text that stands nowhere in it: for the error message,
//! and for callers that take less than equality.

use crate::tools::files::text::stand;

/// Work spent on similarity for one search, in compared character pairs; what is not compared by
/// then does not count.
const COMPARISON_LIMIT: usize = 40_000_000;

/// A file's lines, made comparable once.
#[derive(Debug, Default)]
pub struct NormalizedLines {
    lines: Vec<Vec<u16>>,
}

/// A range of lines to look in, counted from 0, end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBounds {
    /// First line, counted from 0.
    pub start: usize,
    /// Line after the last.
    pub end: usize,
}

/// Lines that are like the search text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineMatch {
    /// The first of them, counted from 0.
    pub line: usize,
    /// 1.0 is equal; 1 minus the edit distance over the longer length, in UTF-16 units.
    pub similarity: f64,
}

impl NormalizedLines {
    /// Prepares a file's lines.
    pub fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        Self { lines: lines.into_iter().map(plain).collect() }
    }

    /// Returns the lines within `bounds` most like the search text, if any are; of equals, the one
    /// nearest to the middle.
    ///
    /// Places are compared in order of how similar they can be at best, until no other can be
    /// better.
    pub fn find_similar(&self, search: &str, bounds: LineBounds) -> Option<LineMatch> {
        let (wanted, height) = wanted(search);
        let letters = LetterCounts::of(&wanted);
        let mut candidates: Vec<(f64, usize, usize)> = middle_out(bounds, height)
            .into_iter()
            .enumerate()
            .map(|(rank, line)| {
                (LetterCounts::of(&self.window(line, height)).best_similarity(&letters), rank, line)
            })
            .collect();
        candidates.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let mut best: Option<(f64, usize, usize)> = None;
        let mut compared = 0;
        for (possible, rank, line) in candidates {
            if best.is_some_and(|(score, _, _)| possible < score) {
                break;
            }
            let window = self.window(line, height);
            let (left, right) = differing(&window, &wanted);
            compared += left.len() * right.len();
            if compared > COMPARISON_LIMIT {
                break;
            }
            let score = similarity(&window, &wanted);
            if best.is_none_or(|(known, known_rank, _)| {
                score > known || (score >= known && rank < known_rank)
            }) {
                best = Some((score, rank, line));
            }
        }
        best.filter(|(score, _, _)| *score > 0.0 && !search.is_empty())
            .map(|(similarity, _, line)| LineMatch { line, similarity })
    }

    fn window(&self, line: usize, height: usize) -> Vec<u16> {
        join(self.slice(line, height))
    }

    fn slice(&self, line: usize, height: usize) -> &[Vec<u16>] {
        let end = line.saturating_add(height).min(self.lines.len());
        self.lines.get(line.min(end)..end).unwrap_or_default()
    }
}

const SPACE: u16 = b' ' as u16;

fn wanted(search: &str) -> (Vec<u16>, usize) {
    let lines: Vec<Vec<u16>> = search.split('\n').map(plain).collect();
    (join(&lines), lines.len())
}

fn plain(line: &str) -> Vec<u16> {
    stand::plain(line).encode_utf16().collect()
}

fn join(lines: &[Vec<u16>]) -> Vec<u16> {
    lines.iter().filter(|line| !line.is_empty()).map(Vec::as_slice).collect::<Vec<_>>().join(&SPACE)
}

/// The places to look at: from the middle outwards, left before right; to the right only where the
/// whole text fits.
fn middle_out(bounds: LineBounds, height: usize) -> Vec<usize> {
    let LineBounds { start, end } = bounds;
    let middle = usize::midpoint(start, end);
    let mut left = (start..=middle).rev();
    let mut right = (middle + 1)..(end + 1).saturating_sub(height).max(middle + 1);
    let mut places = Vec::new();
    loop {
        let (before, after) = (left.next(), right.next());
        places.extend(before);
        places.extend(after);
        if before.is_none() && after.is_none() {
            return places;
        }
    }
}

fn similarity(left: &[u16], right: &[u16]) -> f64 {
    if left == right {
        return 1.0;
    }
    share(distance(left, right), left.len().max(right.len()))
}

fn share(distance: usize, longer: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "lengths of texts are far below 2^52")]
    let share = distance as f64 / longer.max(1) as f64;
    1.0 - share
}

/// Returns what is left of both texts without what they start and end with in common.
fn differing<'a>(left: &'a [u16], right: &'a [u16]) -> (&'a [u16], &'a [u16]) {
    let start = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) =
        (left.get(start..).unwrap_or_default(), right.get(start..).unwrap_or_default());
    let end =
        left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    (
        left.get(..left.len() - end).unwrap_or_default(),
        right.get(..right.len() - end).unwrap_or_default(),
    )
}

fn distance(left: &[u16], right: &[u16]) -> usize {
    let (left, right) = differing(left, right);
    strsim::generic_levenshtein(&left.to_vec(), &right.to_vec())
}

/// How often each ASCII character stands in a text; all others are counted together.
struct LetterCounts {
    counts: [usize; 129],
    total: usize,
}

impl LetterCounts {
    fn of(text: &[u16]) -> Self {
        let mut counts = [0; 129];
        for unit in text {
            if let Some(count) = counts.get_mut(usize::from(*unit).min(128)) {
                *count += 1;
            }
        }
        Self { counts, total: text.len() }
    }

    /// No edit turns one letter into two: the letters both texts share bound their similarity from
    /// above.
    fn best_similarity(&self, other: &Self) -> f64 {
        let longer = self.total.max(other.total);
        let shared: usize =
            self.counts.iter().zip(&other.counts).map(|(left, right)| left.min(right)).sum();
        share(longer - shared.min(longer), longer)
    }
}

#[cfg(test)]
mod tests {
    use super::{LineBounds, LineMatch, NormalizedLines, distance, middle_out};
    use pretty_assertions::assert_eq;

    #[test]
    fn looks_from_the_middle_outwards() {
        assert_eq!(middle_out(LineBounds { start: 0, end: 4 }, 1), [2, 3, 1, 0]);
        assert_eq!(middle_out(LineBounds { start: 0, end: 1 }, 3), [0]);
    }

    #[test]
    fn names_the_most_similar_lines() {
        let file = NormalizedLines::new(["alpha", "beta", "gamma", "gamma"]);
        let bounds = LineBounds { start: 0, end: 4 };
        assert_eq!(
            file.find_similar("gamme", bounds),
            Some(LineMatch { line: 2, similarity: 0.8 })
        );
        assert_eq!(file.find_similar("xyz", bounds), None);
    }

    #[test]
    fn counts_edits() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        for (left, right, expected) in [
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("ab", "", 2),
            ("flaw", "lawn", 2),
            ("abcab", "abab", 1),
            ("aa", "a", 1),
        ] {
            assert_eq!(distance(&units(left), &units(right)), expected, "{left} {right}");
        }
    }
}
