//! `TokenMerge`: how many tokens one piece of a text makes, by byte-pair merging.
//!
//! In: the bytes of a piece. Out: a number. Of all neighbours that make a token together those of
//! the lowest rank are put together first, the leftmost of them first, until none is left. Each
//! step is a look into a heap, so a piece of n bytes takes n log n; one longer than
//! [`PIECE_LIMIT_BYTES`] is counted in parts, so that time and memory stay bounded.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tokens::table;

/// Most bytes that are put together at once: a multiple of the bytes of any one letter. Longer
/// pieces may count a token more for each such part.
const PIECE_LIMIT_BYTES: usize = 12 * 1024;

/// Room for merging, used again from piece to piece.
#[derive(Debug, Default)]
pub(super) struct TokenMerge {
    /// Where the part that begins at a byte ends; 0 where none begins.
    ends: Vec<u16>,
    /// Where the part before the one that begins at a byte begins.
    befores: Vec<u16>,
    /// Neighbours that make a token.
    pairs: BinaryHeap<Reverse<TokenPair>>,
    /// Looks into the vocabulary.
    #[cfg(test)]
    looks: usize,
}

/// Neighbours that make a token together, in order of what is merged first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TokenPair {
    rank: u32,
    start: u16,
    end: u16,
}

impl TokenMerge {
    /// Returns how many tokens a piece makes.
    pub(super) fn tokens(&mut self, piece: &[u8]) -> u64 {
        if self.rank(piece).is_some() {
            return 1;
        }
        piece.chunks(PIECE_LIMIT_BYTES).map(|part| u64::from(self.merged(part))).sum()
    }

    fn rank(&mut self, bytes: &[u8]) -> Option<u32> {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        table::rank(bytes)
    }

    fn merged(&mut self, piece: &[u8]) -> u16 {
        // At most `PIECE_LIMIT_BYTES`.
        let length = u16::try_from(piece.len()).unwrap_or(u16::MAX);
        self.ends.clear();
        self.ends.extend(1..=length);
        self.befores.clear();
        self.befores.extend((0..length).map(|at| at.saturating_sub(1)));
        self.pairs.clear();
        for start in 0..length.saturating_sub(1) {
            self.note(piece, start, start + 2);
        }
        let mut parts = length;
        while let Some(Reverse(TokenPair { start, end, .. })) = self.pairs.pop() {
            let middle = at(&self.ends, start);
            // What was noted may have been put together otherwise since.
            if middle == 0 || middle >= end || at(&self.ends, middle) != end {
                continue;
            }
            parts -= 1;
            set(&mut self.ends, start, end);
            set(&mut self.ends, middle, 0);
            if end < length {
                set(&mut self.befores, end, start);
                self.note(piece, start, at(&self.ends, end));
            }
            if start > 0 {
                self.note(piece, at(&self.befores, start), end);
            }
        }
        parts
    }

    /// Notes neighbours that make a token together.
    fn note(&mut self, piece: &[u8], start: u16, end: u16) {
        let bytes = piece.get(usize::from(start)..usize::from(end)).unwrap_or_default();
        if let Some(rank) = self.rank(bytes) {
            self.pairs.push(Reverse(TokenPair { rank, start, end }));
        }
    }
}

fn at(places: &[u16], place: u16) -> u16 {
    places.get(usize::from(place)).copied().unwrap_or_default()
}

fn set(places: &mut [u16], place: u16, value: u16) {
    if let Some(found) = places.get_mut(usize::from(place)) {
        *found = value;
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE_LIMIT_BYTES, TokenMerge};

    fn looks(piece: &str) -> usize {
        let mut merge = TokenMerge::default();
        assert!(merge.tokens(piece.as_bytes()) > 0);
        merge.looks
    }

    /// Each merge looks twice, and there are fewer merges than bytes.
    #[test]
    fn looks_a_few_times_for_each_byte_however_long_a_piece_is() {
        let random = |length: u32| {
            (0..length).map(|at| {
                char::from(
                    b'a' + u8::try_from((at.wrapping_mul(2_654_435_761) >> 13) % 26).unwrap(),
                )
            })
        };
        for length in [10, 1_000, 40_000] {
            for piece in [
                "a".repeat(length),
                " ".repeat(length),
                "=".repeat(length),
                "字".repeat(length / 3),
                random(u32::try_from(length).unwrap()).collect(),
            ] {
                let looks = looks(&piece);
                assert!(looks <= 3 * length + 1, "{length} bytes: {looks}");
            }
        }
    }

    #[test]
    fn keeps_no_more_room_than_one_part_needs() {
        let mut merge = TokenMerge::default();
        assert_eq!(merge.tokens("a".repeat(120_000).as_bytes()), 15_000);
        assert!(
            merge.ends.capacity() <= 2 * PIECE_LIMIT_BYTES
                && merge.pairs.capacity() <= 4 * PIECE_LIMIT_BYTES
        );
    }
}
