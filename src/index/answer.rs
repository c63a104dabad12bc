//! The files that answer a query, after their lines were looked at.
//!
//! In: the best files of an index with their texts and definitions. Out: the same in a better order,
//! each with its best chunks: a file in which one place says much comes before one in which many
//! places say a little.

use locum_extract::outline::Definition;

use crate::chunk::{RankedChunk, best, cut};
use crate::query::{RankedFile, WeighedWord};

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
    /// Its chunks that have a word of the query, best first.
    pub chunks: Vec<RankedChunk>,
}

/// Looks at the lines of files; returns them best first.
pub fn found<'t>(
    words: &[WeighedWord],
    candidates: impl Iterator<Item = CandidateFile<'t>>,
) -> Vec<FoundFile> {
    let found = candidates.map(|candidate| {
        let chunks = best(candidate.text, cut(candidate.text, candidate.definitions), words);
        let of_chunk = chunks.first().map_or(0.0, |best| best.score);
        let score = candidate.ranked.score + CHUNK_SHARE * of_chunk;
        FoundFile { ranked: RankedFile { score, ..candidate.ranked }, chunks }
    });
    let mut found: Vec<FoundFile> = found.collect();
    found.sort_by(|left, right| right.ranked.score.total_cmp(&left.ranked.score));
    found
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
        let places: Vec<_> = found(&words, candidates)
            .into_iter()
            .map(|file| (file.ranked.place, file.chunks.len()))
            .collect();
        assert_eq!(places, [(1, 1), (0, 2), (2, 0)]);
    }
}
