//! What is shown of the places that were found, within a bound, and what was left out.

use std::fmt::Write as _;

use crate::tools::search::codebase::by_meaning::MeaningFound;
use crate::tools::search::codebase::indexed::{FILES_LIMIT, SearchedFiles};
use locum_index::chunk::{RankedChunk, telling_lines};
use locum_index::query::WeighedWord;

/// Most files shown.
pub(super) const SHOWN_FILES: usize = 10;

/// Most chunks of a file that are named.
const FILE_CHUNKS: usize = 3;

/// Most lines shown of a file's best chunk.
const SHOWN_LINES: usize = 8;

/// Longest line shown, in characters.
const LINE_LIMIT_CHARS: usize = 200;

/// Most bytes shown.
pub(super) const SHOWN_LIMIT_BYTES: usize = 16 * 1024;

/// A file that was found.
pub(super) struct ShownFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    /// Best first.
    pub(super) chunks: &'a [RankedChunk],
}

/// What is shown.
pub(super) struct SearchAnswer<'a> {
    /// Best first.
    pub(super) files: Vec<ShownFile<'a>>,
    pub(super) words: &'a [WeighedWord],
    /// How many files have a word of the query.
    pub(super) matched: usize,
    pub(super) searched: &'a SearchedFiles<'a>,
    /// `None` where nothing is found by meaning.
    pub(super) by_meaning: Option<&'a MeaningFound>,
    /// Why there are no definitions.
    pub(super) no_outlines: Option<&'a str>,
}

pub(super) fn render(answer: &SearchAnswer<'_>) -> String {
    let (mut body, mut shown) = (String::new(), 0);
    for file in answer.files.iter().take(SHOWN_FILES) {
        let text = render_file(file, answer.words);
        if body.len() + text.len() > SHOWN_LIMIT_BYTES {
            break;
        }
        body.push_str(&text);
        shown += 1;
    }
    let searched = files(answer.searched.files.len());
    let by_meaning = answer.by_meaning.is_some_and(|found| !found.files.is_empty());
    let head = match (answer.matched, shown) {
        (_, 1..) if by_meaning => {
            format!("The best {} of {searched}, by words and by meaning.", files(shown))
        }
        (0, _) => format!("No word of the query is in any of {searched} that were searched."),
        (matched, shown) if matched == shown => {
            format!("{} with words of the query, of {searched}. Best first.", files(matched))
        }
        (matched, shown) => format!(
            "The best {shown} of {} with words of the query, of {searched}. Best first.",
            files(matched)
        ),
    };
    format!("{head}\n{body}{}", notes(answer)).trim_end().to_owned()
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

fn render_file(file: &ShownFile<'_>, words: &[WeighedWord]) -> String {
    let mut text = format!("\n# {}\n", file.path);
    for (place, RankedChunk { chunk, .. }) in file.chunks.iter().take(FILE_CHUNKS).enumerate() {
        let head = chunk.head.as_deref();
        if place > 0 && head.is_none() {
            continue;
        }
        let head = head.map(|head| format!(" | {}", short(head))).unwrap_or_default();
        let _ = writeln!(text, "{}-{}{head}", chunk.first_line, chunk.last_line);
        if place > 0 {
            continue;
        }
        let (first, count) = telling_lines(file.text, chunk, words, SHOWN_LINES);
        let lines = file.text.lines().enumerate().skip(first.saturating_sub(1)).take(count);
        for (line, of_file) in lines {
            let _ = writeln!(text, "{:>5} | {}", line + 1, short(of_file));
        }
    }
    text
}

fn short(line: &str) -> String {
    match line.char_indices().nth(LINE_LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Says what was left out.
fn notes(answer: &SearchAnswer<'_>) -> String {
    let (mut text, searched) = (String::new(), answer.searched);
    if searched.too_large > 0 {
        let _ = write!(text, "\n({} larger than 1 MiB not searched.)", files(searched.too_large));
    }
    if searched.has_refused {
        text.push_str("\n(Files that may not be read are left out.)");
    }
    if searched.has_more {
        let _ = write!(text, "\n(The first {FILES_LIMIT} files; name a folder for others.)");
    }
    if let Some(MeaningFound { unknown, problem, .. }) = answer.by_meaning {
        let why = problem.as_deref().unwrap_or_default();
        let known = searched.files.len() - unknown.unwrap_or_default();
        let known = files(known);
        let _ = match (unknown, why) {
            (None, _) => write!(text, "\n(By words alone: {why}.)"),
            (Some(0), "") => Ok(()),
            (Some(_), "") => write!(
                text,
                "\n({known} known by meaning so far; the next search continues with the others.)"
            ),
            (Some(_), _) => write!(text, "\n({known} known by meaning, not more: {why}.)"),
        };
    }
    if let Some(why) = answer.no_outlines {
        let _ = write!(text, "\n(Not cut along definitions: {why}.)");
    }
    text
}
