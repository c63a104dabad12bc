//! Chunks of a file along its definitions, and which of them answer a query best.
//!
//! In: a text, its definitions and the words of a query with their weights. Out: chunks, best
//! first, each with its lines and the line that names it. A definition is a chunk with the comment
//! above it, without the definitions inside it; what stands between definitions is cut at blank
//! lines.

use locum_extract::outline::Definition;

use crate::query::{WeighedWord, length, saturated};
use crate::words::words_of;

/// Most lines of a chunk; a longer one is cut into several.
const CHUNK_LIMIT_LINES: usize = 60;

/// Lines after which text without definitions is cut at the next blank line.
const BLOCK_LINES: usize = 20;

/// Words of a chunk of usual length.
const USUAL_WORDS: f32 = 100.0;

/// How often a word of the line that names a chunk counts besides.
const HEAD_COUNT: f32 = 3.0;

/// What starts a line that belongs to the definition below it: comments and attributes.
const ABOVE_DEFINITION: &[&str] = &["//", "/*", "*", "#", "--", "@", "[", ";"];

/// Lines of a file that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The first line, from 1.
    pub first_line: usize,
    /// The last line.
    pub last_line: usize,
    /// The line that names it; `None` for what no definition names.
    pub head: Option<String>,
}

/// A chunk that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedChunk {
    /// The chunk.
    pub chunk: Chunk,
    /// How well it answers.
    pub score: f32,
}

/// Cuts a text into chunks, in their order.
pub fn cut(text: &str, definitions: &[Definition]) -> Vec<Chunk> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut behind = 1;
    for definition in definitions {
        let (first, end) = (definition.first_line, definition.last_line.min(lines.len()));
        if first == 0 || end < first {
            continue;
        }
        let start = above(&lines, first, behind);
        // Several definitions on a line make one chunk, which the first names.
        if parts.last().is_some_and(|last| last.start >= start) {
            continue;
        }
        parts.push(Part { start, end, head: Some(&definition.head) });
        behind = first + 1;
    }
    let mut chunks = Vec::new();
    let (mut next_line, mut parts) = (1, parts.into_iter().peekable());
    while let Some(part) = parts.next() {
        push_blocks(&lines, next_line, part.start - 1, &mut chunks);
        let before_next = parts.peek().map_or(lines.len(), |next| next.start - 1);
        let last = part.end.min(before_next);
        push_pieces(&lines, Part { end: last, ..part }, &mut chunks);
        next_line = last + 1;
    }
    push_blocks(&lines, next_line, lines.len(), &mut chunks);
    chunks
}

/// Lines that a definition names, both from 1.
#[derive(Clone, Copy)]
struct Part<'d> {
    start: usize,
    end: usize,
    head: Option<&'d str>,
}

/// Returns the first line of the comment directly above a definition, not before `limit`.
fn above(lines: &[&str], first_line: usize, limit: usize) -> usize {
    let belongs = |line: &usize| {
        let text = lines.get(*line - 1).map(|text| text.trim_start()).unwrap_or_default();
        ABOVE_DEFINITION.iter().any(|start| text.starts_with(start))
    };
    let comment = (limit.max(1)..first_line).rev().take_while(belongs).count();
    first_line - comment
}

/// Adds the lines of a definition, in pieces where they are too many.
fn push_pieces(lines: &[&str], part: Part<'_>, chunks: &mut Vec<Chunk>) {
    let mut first = part.start;
    while first <= part.end {
        let last = part.end.min(first + CHUNK_LIMIT_LINES - 1);
        push(lines, Part { start: first, end: last, ..part }, chunks);
        first = last + 1;
    }
}

/// Adds lines that no definition names.
fn push_blocks(lines: &[&str], first: usize, last: usize, chunks: &mut Vec<Chunk>) {
    let mut start = first;
    for line in first..=last {
        let text = lines.get(line - 1).copied().unwrap_or_default();
        let long = line + 1 - start;
        let is_title = text.starts_with('#') && long > 3;
        if (long >= BLOCK_LINES && text.trim().is_empty()) || long >= CHUNK_LIMIT_LINES || is_title
        {
            push(lines, Part { start, end: line - 1, head: None }, chunks);
            start = line;
        }
    }
    push(lines, Part { start, end: last, head: None }, chunks);
}

/// Adds a chunk without the blank lines around it, if it has a word.
fn push(lines: &[&str], part: Part<'_>, chunks: &mut Vec<Chunk>) {
    let says = |line: &usize| {
        lines.get(*line - 1).is_some_and(|text| text.contains(char::is_alphanumeric))
    };
    let is_text = |line: &usize| lines.get(*line - 1).is_some_and(|text| !text.trim().is_empty());
    let mut range = part.start..=part.end;
    if !range.clone().any(|line| says(&line)) {
        return;
    }
    let (Some(first_line), last_line) = (range.find(is_text), range.rfind(is_text)) else {
        return;
    };
    let last_line = last_line.unwrap_or(first_line);
    chunks.push(Chunk { first_line, last_line, head: part.head.map(str::to_owned) });
}

/// Returns the chunks that have a word of a query, best first.
pub fn best(text: &str, chunks: Vec<Chunk>, words: &[WeighedWord]) -> Vec<RankedChunk> {
    let lines: Vec<&str> = text.lines().collect();
    let ranked = chunks.into_iter().filter_map(|chunk| {
        let of_chunk = lines.get(chunk.first_line - 1..chunk.last_line).unwrap_or_default();
        let score = score(of_chunk, chunk.head.as_deref().unwrap_or_default(), words);
        (score > 0.0).then_some(RankedChunk { chunk, score })
    });
    let mut ranked: Vec<RankedChunk> = ranked.collect();
    ranked.sort_by(|left, right| right.score.total_cmp(&left.score));
    ranked
}

fn score(lines: &[&str], head: &str, words: &[WeighedWord]) -> f32 {
    let (mut counts, mut total) = (vec![0.0_f32; words.len()], 0_u32);
    let mut add = |text: &str, times: f32| {
        words_of(text.as_bytes(), |word| {
            total = total.saturating_add(1);
            let counted = words.iter().zip(&mut counts).find(|(weighed, _)| weighed.word == word);
            if let Some((_, count)) = counted {
                *count += times;
            }
        });
    };
    lines.iter().for_each(|line| add(line, 1.0));
    add(head, HEAD_COUNT);
    let norm = 0.3 + 0.9 * length(total) / USUAL_WORDS;
    let scores = words.iter().zip(&counts);
    scores.map(|(weighed, count)| weighed.weight * saturated(*count, norm)).sum()
}

/// Returns the `room` lines of a chunk that say most of a query: the first line, and how many.
pub fn telling_lines(
    text: &str,
    chunk: &Chunk,
    words: &[WeighedWord],
    room: usize,
) -> (usize, usize) {
    let count = (chunk.last_line + 1).saturating_sub(chunk.first_line);
    let lines = text.lines().skip(chunk.first_line.saturating_sub(1)).take(count);
    let mut found = vec![false; words.len()];
    let weights: Vec<f32> = lines
        .map(|line| {
            let mut weight = 0.0;
            words_of(line.as_bytes(), |word| {
                let place = words.iter().position(|weighed| weighed.word == word);
                let Some(place) = place else { return };
                // A word that was there before says little more.
                let is_new =
                    found.get_mut(place).is_some_and(|found| !std::mem::replace(found, true));
                let of_word = words.get(place).map_or(0.0, |weighed| weighed.weight);
                weight += if is_new { of_word } else { of_word / 4.0 };
            });
            weight
        })
        .collect();
    let shown = room.min(weights.len());
    let mut best = (0, f32::MIN);
    for (start, window) in weights.windows(shown.max(1)).enumerate() {
        let sum: f32 = window.iter().sum();
        if sum > best.1 {
            best = (start, sum);
        }
    }
    (chunk.first_line + best.0, shown)
}

#[cfg(test)]
mod tests {
    use super::{Chunk, best, cut, telling_lines};
    use crate::query::WeighedWord;
    use crate::words::words_of;
    use locum_extract::outline::Definition;
    use pretty_assertions::assert_eq;

    fn definition(first_line: usize, last_line: usize, head: &str) -> Definition {
        Definition { first_line, last_line, depth: 0, head: head.to_owned() }
    }

    fn chunk(first_line: usize, last_line: usize, head: &str) -> Chunk {
        let head = (!head.is_empty()).then(|| head.to_owned());
        Chunk { first_line, last_line, head }
    }

    fn weighed(query: &str) -> Vec<WeighedWord> {
        let mut words = Vec::new();
        words_of(query.as_bytes(), |word| words.push(WeighedWord { word, weight: 1.0 }));
        words
    }

    const TEXT: &str = "use a::b;\n\n/// Says a.\n#[inline]\nfn a() {\n    b();\n}\n\nimpl C {\n    \
                        const D: u8 = 1;\n\n    // Parses it.\n    fn parse() {\n        e();\n    \
                        }\n}\n\nstatic F: u8 = 2;\n";

    fn of_text() -> Vec<Definition> {
        vec![
            definition(5, 7, "fn a() {"),
            definition(9, 16, "impl C {"),
            definition(13, 15, "fn parse() {"),
        ]
    }

    #[test]
    fn definitions_are_chunks_with_their_comments_and_without_those_inside() {
        assert_eq!(
            cut(TEXT, &of_text()),
            [
                chunk(1, 1, ""),
                chunk(3, 7, "fn a() {"),
                chunk(9, 10, "impl C {"),
                chunk(12, 15, "fn parse() {"),
                chunk(16, 18, ""),
            ]
        );
        let line = "a() {} b() {}\n";
        let both = [definition(1, 1, "a() {}"), definition(1, 1, "b() {}")];
        assert_eq!(cut(line, &both), [chunk(1, 1, "a() {}")]);
        assert_eq!(cut("", &[]), []);
        assert_eq!(cut("\n}\n", &[]), []);
    }

    #[test]
    fn definitions_that_fit_no_text_are_left_out() {
        for (first_line, last_line) in [(0, 0), (9, 12), (3, 1), (usize::MAX, usize::MAX), (2, 1)] {
            let chunks = cut("one\ntwo\n", &[definition(first_line, last_line, "x")]);
            let lines: usize =
                chunks.iter().map(|chunk| chunk.last_line + 1 - chunk.first_line).sum();
            assert_eq!(lines, 2, "{first_line}-{last_line}: {chunks:?}");
        }
    }

    #[test]
    fn long_definitions_and_long_texts_are_cut() {
        let long = "x = 1\n".repeat(130);
        let heads = |chunks: Vec<Chunk>| -> Vec<(usize, usize)> {
            chunks.iter().map(|chunk| (chunk.first_line, chunk.last_line)).collect()
        };
        assert_eq!(heads(cut(&long, &[definition(1, 130, "x")])), [(1, 60), (61, 120), (121, 130)]);
        assert_eq!(heads(cut(&long, &[])), [(1, 59), (60, 118), (119, 130)]);
        let page = format!("# One\n{}\n# Two\ntext\n", "text\n".repeat(5));
        assert_eq!(heads(cut(&page, &[])), [(1, 6), (8, 9)]);
        let blocks = "a = 1\n".repeat(22) + "\n" + &"b = 1\n".repeat(5);
        assert_eq!(heads(cut(&blocks, &[])), [(1, 22), (24, 28)]);
    }

    #[test]
    fn the_chunk_that_is_named_by_the_query_comes_first() {
        let found = best(TEXT, cut(TEXT, &of_text()), &weighed("parse"));
        let lines: Vec<_> = found.iter().map(|found| found.chunk.first_line).collect();
        assert_eq!(lines, [12]);
        let found = best(
            "call parse\n\nfn parse\n",
            vec![chunk(1, 1, ""), chunk(3, 3, "fn parse")],
            &weighed("parse"),
        );
        assert_eq!(found[0].chunk.first_line, 3);
    }

    #[test]
    fn the_lines_with_most_of_the_words_are_shown() {
        let text = "fn a() {\nx\nx\nfind\nthe header\nx\nfind find\n}\n";
        let all = chunk(1, 8, "");
        assert_eq!(telling_lines(text, &all, &weighed("find header"), 3), (3, 3));
        assert_eq!(telling_lines(text, &all, &weighed("none"), 3), (1, 3));
        assert_eq!(telling_lines(text, &all, &weighed("find"), 20), (1, 8));
        assert_eq!(telling_lines(text, &chunk(8, 8, ""), &weighed("find"), 3), (8, 1));
    }
}
