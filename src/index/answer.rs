//! The files that answer a query, after their lines were looked at.
//!
//! In: the best files of an index with their texts and definitions. Out: the same in a better
//! order, each with its best chunks: a file in which one place says much comes before one in which
//! many places say a little.

use locum_extract::outline::Definition;

use crate::chunk::{Chunk, RankedChunk, best, cut};
use crate::meaning::{LikeFile, fused};
use crate::query::{RankedFile, WeighedWord};
use crate::vectors::HashedChunk;

/// How much the best chunk of a file counts beside the whole file.
const CHUNK_SHARE: f32 = 0.5;

/// A file that is looked at.
#[derive(Clone, Debug)]
pub struct CandidateFile<'t> {
    /// Its place among the files, and how well all of it answers.
    pub ranked: RankedFile,
    /// What it holds.
    pub text: &'t str,
    /// What it defines.
    pub definitions: &'t [Definition],
}

/// A file that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundFile {
    /// Its place among the files, and how well it answers.
    pub ranked: RankedFile,
    /// Its chunks that have a word of the query or are like it, best first.
    pub chunks: Vec<RankedChunk>,
}

/// Looks at the lines of files; returns them best first. Files that are like the query by meaning,
/// `like`, come in one order with those that have its words.
pub fn found<'t>(
    words: &[WeighedWord],
    candidates: impl Iterator<Item = CandidateFile<'t>>,
    like: &[LikeFile],
) -> Vec<FoundFile> {
    let found = candidates.map(|candidate| {
        let all = cut(candidate.text, candidate.definitions);
        let of_file = like.iter().find(|file| file.place == candidate.ranked.place);
        let near: Vec<Chunk> = of_file
            .iter()
            .flat_map(|file| &file.chunks)
            .map(|(hashed, _)| named(*hashed, &all))
            .collect();
        let chunks = best(candidate.text, all, words);
        let of_chunk = chunks.first().map_or(0.0, |best| best.score);
        let score = candidate.ranked.score + CHUNK_SHARE * of_chunk;
        let chunks = if near.is_empty() { chunks } else { together(chunks, near) };
        FoundFile { ranked: RankedFile { score, ..candidate.ranked }, chunks }
    });
    let mut found: Vec<FoundFile> = found.collect();
    found.sort_by(|left, right| right.ranked.score.total_cmp(&left.ranked.score));
    if like.is_empty() {
        return found;
    }
    let with_words = found.iter().filter(|file| file.ranked.score > 0.0);
    let with_words: Vec<usize> = with_words.map(|file| file.ranked.place).collect();
    let like: Vec<usize> = like.iter().map(|file| file.place).collect();
    let order = fused(&with_words, &like);
    found.sort_by_key(|file| order.iter().position(|place| *place == file.ranked.place));
    found
}

/// Returns a chunk that was found by meaning with the line that names it.
fn named(hashed: HashedChunk, all: &[Chunk]) -> Chunk {
    let line = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let (first_line, last_line) = (line(hashed.first_line), line(hashed.last_line));
    let same =
        all.iter().find(|chunk| (chunk.first_line, chunk.last_line) == (first_line, last_line));
    same.cloned().unwrap_or(Chunk { first_line, last_line, head: None })
}

/// Makes one order of a file's chunks with words of a query and those that are like it.
fn together(with_words: Vec<RankedChunk>, near: Vec<Chunk>) -> Vec<RankedChunk> {
    let by_words: Vec<usize> = with_words.iter().map(|ranked| ranked.chunk.first_line).collect();
    let by_meaning: Vec<usize> = near.iter().map(|chunk| chunk.first_line).collect();
    let order = fused(&by_words, &by_meaning);
    let mut chunks = with_words;
    for chunk in near {
        if !by_words.contains(&chunk.first_line) {
            chunks.push(RankedChunk { chunk, score: 0.0 });
        }
    }
    chunks.sort_by_key(|ranked| order.iter().position(|line| *line == ranked.chunk.first_line));
    chunks
}

#[cfg(test)]
mod tests {
    use super::{CandidateFile, found};
    use crate::query::{RankedFile, WeighedWord};
    use crate::words::words_of;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_file_with_all_words_in_one_place_comes_first() {
        let mut words = Vec::new();
        words_of(b"parse header", |word| words.push(WeighedWord { word, weight: 1.0 }));
        words.truncate(2);
        let spread = format!("parse\n{}header\n", "x = 1\n".repeat(80));
        let near = format!("parse header\n{}", "x = 1\n".repeat(80));
        let texts = [spread.as_str(), near.as_str(), ""];
        let candidates = texts.iter().enumerate().map(|(place, text)| CandidateFile {
            ranked: RankedFile { place, score: 1.0 },
            text,
            definitions: &[],
        });
        let places: Vec<_> = found(&words, candidates, &[])
            .into_iter()
            .map(|file| (file.ranked.place, file.chunks.len()))
            .collect();
        assert_eq!(places, [(1, 1), (0, 2), (2, 0)]);
    }
}
