//! Which files answer a query best by what they mean, and how two orders of files become one.
//!
//! In: the direction of a query and of the chunks of files, places in several orders. Out: the best
//! files, each with its best chunks.

use std::collections::BTreeMap;

use crate::vectors::{Direction, HashedChunk, Vectors};

/// Most chunks of a file that are named.
const FILE_CHUNKS: usize = 3;

/// How little the first place of an order says more than the second: an order is summed up as in
/// Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
/// Learning Methods", SIGIR 2009. Their 60 is for lists of a thousand; of thirty, what is in the
/// middle of both would come before what is first in one. `tests/bench/recall.rs` says what pays.
const RANK_DAMPING: f32 = 5.0;

/// What a place by meaning counts beside the same place by words. A small model that alone finds
/// less than half of what words find leaves answers as good as they were; at an even share, it made
/// them worse.
const MEANING_SHARE: f32 = 0.5;

/// A file whose chunks are like a query.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeFile {
    /// Its place among the files.
    pub place: usize,
    /// Its chunks that are most like it, the best first, each with its likeness from -1 to 1.
    pub chunks: Vec<(HashedChunk, f32)>,
}

/// Returns the best `room` files by their best chunk. A file without a chunk that is known is none.
pub fn nearest<'f>(
    query: &Direction,
    files: impl Iterator<Item = &'f [HashedChunk]>,
    vectors: &Vectors,
    room: usize,
) -> Vec<LikeFile> {
    let mut like: Vec<LikeFile> = files
        .enumerate()
        .filter_map(|(place, chunks)| {
            let likeness = |chunk: &HashedChunk| {
                let direction = vectors.direction(&chunk.hash)?;
                Some((*chunk, query.likeness(direction.parts())))
            };
            let mut chunks: Vec<_> = chunks.iter().filter_map(likeness).collect();
            chunks.sort_by(|(_, left), (_, right)| right.total_cmp(left));
            chunks.truncate(FILE_CHUNKS);
            (!chunks.is_empty()).then_some(LikeFile { place, chunks })
        })
        .collect();
    let best = |file: &LikeFile| file.chunks.first().map_or(-1.0, |(_, likeness)| *likeness);
    like.sort_by(|left, right| best(right).total_cmp(&best(left)));
    like.truncate(room);
    like
}

/// Makes one order of one by words and one by meaning, the best first: what is near the beginning
/// of one is near that of the whole, and what is near that of both is before it. What is as good
/// stays in its order.
pub fn fused<T: Copy + Ord>(by_words: &[T], by_meaning: &[T]) -> Vec<T> {
    let mut scores: BTreeMap<T, f32> = BTreeMap::new();
    for (order, share) in [(by_words, 1.0), (by_meaning, MEANING_SHARE)] {
        let mut rank = RANK_DAMPING;
        for one in order {
            rank += 1.0;
            *scores.entry(*one).or_default() += share / rank;
        }
    }
    let mut fused: Vec<(T, f32)> = scores.into_iter().collect();
    fused.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    fused.into_iter().map(|(one, _)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::{fused, nearest};
    use crate::kept::content_hash;
    use crate::vectors::{Direction, HashedChunk, Vectors};
    use pretty_assertions::assert_eq;

    #[test]
    fn files_come_in_the_order_of_their_best_chunk() {
        let mut vectors = Vectors::default();
        let mut chunk = |line: u32, vector: &[f32]| {
            let hash = content_hash(&line.to_le_bytes());
            if let Some(direction) = Direction::of(vector) {
                vectors.add_direction(hash, direction);
            }
            HashedChunk { first_line: line, last_line: line, hash }
        };
        let files = [
            vec![chunk(1, &[0.0, 1.0]), chunk(2, &[1.0, 1.0])],
            vec![chunk(3, &[])],
            vec![chunk(4, &[1.0, 0.1]), chunk(5, &[-1.0, 0.0])],
            vec![],
            vec![chunk(6, &[0.5, 1.0])],
        ];
        let query = Direction::of(&[2.0, 0.0]).unwrap();
        let found = |room| {
            let found = nearest(&query, files.iter().map(Vec::as_slice), &vectors, room);
            let lines = |chunks: &[(HashedChunk, f32)]| {
                chunks.iter().map(|(chunk, _)| chunk.first_line).collect::<Vec<_>>()
            };
            found.iter().map(|file| (file.place, lines(&file.chunks))).collect::<Vec<_>>()
        };
        assert_eq!(found(10), [(2, vec![4, 5]), (0, vec![2, 1]), (4, vec![6])]);
        assert_eq!(found(1), [(2, vec![4, 5])]);
    }

    #[test]
    fn one_order_of_several_has_the_best_of_each_first() {
        assert_eq!(fused(&[1, 2, 3], &[3, 4]), [3, 1, 2, 4]);
        assert_eq!(fused(&[1, 2], &[]), [1, 2]);
        assert_eq!(fused(&[], &[1, 2]), [1, 2]);
        // The first by meaning comes before the eighth by words.
        let words = [10, 11, 12, 13, 14, 15, 16, 17];
        assert_eq!(fused(&words, &[1]), [10, 11, 12, 13, 14, 15, 1, 16, 17]);
        assert_eq!(fused::<u8>(&[], &[]), [0_u8; 0]);
    }
}
