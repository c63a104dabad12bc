//! Which files answer a query best: BM25 over their words and those of their paths.
//!
//! In: the words of a query and of files. Out: the best files in their order, with what each word
//! weighs. Only files that are handed over have a say in it: how rare a word is, and how long files
//! are, is counted among them.

use crate::words::{FileWords, Word, words_of};

/// Most words of a query that count; those behind them do not.
const QUERY_LIMIT_WORDS: usize = 64;

/// How soon a word that is there once more says nothing new.
const SATURATION: f32 = 1.2;

/// How much a long file has to say a word more often.
const LENGTH_SHARE: f32 = 0.75;

/// How often a word of a path counts.
const PATH_COUNT: f32 = 4.0;

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    words: Vec<Word>,
}

impl Query {
    /// Reads one; `None` where no word is in it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = Vec::new();
        words_of(text.as_bytes(), |word| {
            if words.len() < QUERY_LIMIT_WORDS && !words.contains(&word) {
                words.push(word);
            }
        });
        (!words.is_empty()).then_some(Self { words })
    }
}

/// A word of a query, with what it weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeighedWord {
    /// The word.
    pub word: Word,
    /// How much it says: more, the fewer files have it.
    pub weight: f32,
}

/// A file that answers a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedFile {
    /// Its place among the files.
    pub place: usize,
    /// How well it answers.
    pub score: f32,
}

/// The answer of an index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The words that some file has, with their weights.
    pub words: Vec<WeighedWord>,
    /// The best files, best first.
    pub files: Vec<RankedFile>,
    /// How many files have one of the words at least.
    pub matched: usize,
}

/// Returns the best `room` of the files that have a word of a query. Files of the same score stay
/// in their order.
pub fn rank<'f>(
    query: &Query,
    files: impl Iterator<Item = (&'f str, FileWords<'f>)>,
    room: usize,
) -> Ranking {
    let (mut matches, mut file_count, mut total) = (Vec::new(), 0_usize, 0.0);
    for (place, (path, words)) in files.enumerate() {
        file_count += 1;
        total += length(words.total());
        let counts = counts(query, path, words);
        if counts.iter().any(|count| *count > 0.0) {
            matches.push((place, length(words.total()), counts));
        }
    }
    let weights: Vec<f32> = (0..query.words.len())
        .map(|at| {
            let has = |counts: &[f32]| counts.get(at).is_some_and(|count| *count > 0.0);
            weight(matches.iter().filter(|(.., counts)| has(counts)).count(), file_count)
        })
        .collect();
    let mean = total / length(u32::try_from(file_count.max(1)).unwrap_or(u32::MAX));
    let mut ranked: Vec<RankedFile> = matches
        .iter()
        .map(|(place, length, counts)| {
            let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / mean.max(1.0));
            let scores = counts.iter().zip(&weights);
            let score = scores.map(|(count, weight)| weight * saturated(*count, norm)).sum();
            RankedFile { place: *place, score }
        })
        .collect();
    ranked.sort_by(|left, right| right.score.total_cmp(&left.score));
    ranked.truncate(room);
    let words = query.words.iter().zip(weights).filter(|(_, weight)| *weight > 0.0);
    let words = words.map(|(word, weight)| WeighedWord { word: *word, weight }).collect();
    Ranking { words, files: ranked, matched: matches.len() }
}

/// Returns how often each word of a query is in a file or its path.
fn counts(query: &Query, path: &str, words: FileWords<'_>) -> Vec<f32> {
    let mut counts: Vec<f32> =
        query.words.iter().map(|word| f32::from(words.count(*word))).collect();
    words_of(path.as_bytes(), |word| {
        let counted = query.words.iter().zip(&mut counts).find(|(wanted, _)| **wanted == word);
        if let Some((_, count)) = counted {
            *count += PATH_COUNT;
        }
    });
    counts
}

/// Returns what a word weighs that so many files have; nothing where none has it.
fn weight(having: usize, files: usize) -> f32 {
    let number = |count: usize| length(u32::try_from(count).unwrap_or(u32::MAX));
    if having == 0 {
        return 0.0;
    }
    (1.0 + (number(files) - number(having) + 0.5) / (number(having) + 0.5)).ln()
}

/// Returns what a count says, from 0 to 1 and a little more.
pub(crate) fn saturated(count: f32, norm: f32) -> f32 {
    count * (SATURATION + 1.0) / (count + norm)
}

/// Returns a number of words, near enough for a score.
#[expect(clippy::cast_precision_loss, reason = "a score needs no more")]
pub(crate) fn length(words: u32) -> f32 {
    words as f32
}

#[cfg(test)]
mod tests {
    use super::{Query, Ranking, rank};
    use crate::words::FileWords;
    use pretty_assertions::assert_eq;

    fn ranking(query: &str, files: &[(&str, &str)]) -> Ranking {
        let words: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(path, text)| {
                let mut bytes = Vec::new();
                FileWords::render(text.as_bytes(), &mut bytes);
                (*path, bytes)
            })
            .collect();
        let files = words.iter().map(|(path, bytes)| (*path, FileWords::parse(bytes).unwrap().0));
        rank(&Query::parse(query).unwrap(), files, 10)
    }

    fn best(query: &str, files: &[(&str, &str)]) -> Vec<usize> {
        ranking(query, files).files.iter().map(|file| file.place).collect()
    }

    #[test]
    fn rare_words_names_and_short_files_come_first() {
        let filler = "the file is read ".repeat(50);
        let (long, twice) = (format!("{filler} checkpoint"), "checkpoint checkpoint file");
        for (query, files, expected) in [
            ("checkpoint", &[("a", "x y"), ("b", &long), ("c", twice)][..], &[2, 1][..]),
            ("rare file", &[("a", "file file file"), ("b", "rare"), ("c", "file")], &[1, 0, 2]),
            ("the checkpoint", &[("a", "one two"), ("src/checkpoint.rs", "one")], &[1]),
            ("parse header", &[("a", "parseHeader"), ("b", "parse"), ("c", "header")], &[0, 1, 2]),
            ("nothing", &[("a", "x")], &[]),
        ] {
            assert_eq!(best(query, files), expected, "{query}");
        }
        assert_eq!(ranking("one two three", &[("a", "one"), ("b", "two")]).words.len(), 2);
        assert_eq!(ranking("one", &[("a", "one"), ("b", "one"), ("c", "")]).matched, 2);
    }

    #[test]
    fn a_query_without_words_is_none_and_one_of_many_is_cut() {
        for text in ["", "  ", "- : !", "a b"] {
            assert_eq!(Query::parse(text), None, "{text:?}");
        }
        let many: String = (0..200).map(|number| format!("word{number} ")).collect();
        assert_eq!(Query::parse(&many).unwrap().words.len(), super::QUERY_LIMIT_WORDS);
    }
}
