//! `SearchQuery`: what a web search asks, and which engine it asks.
//!
//! In: the words of a query as a model wrote them. Out: the query in one form, and what is wrong
//! with it whatever the rules say. A query leaves the machine, so it is held to what addresses are
//! held to: nothing unseen, and no long run of letters as encoded data would be.

use crate::glob::{LetterCase, name_matches, name_matches_in, single_stars};
use crate::paths::is_invisible;
use crate::urls::{RUN_LIMIT_BYTES, WebUrl, longest_run};
use locum_base::text::single_blanks;

/// Longest query, in characters.
const QUERY_LIMIT_CHARS: usize = 400;

/// A query about to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    text: String,
    engine: Option<WebUrl>,
}

impl SearchQuery {
    /// Reads a query; blanks between its words count as one. `engine` is where the API of the
    /// engine starts; `None` where there is no engine and the query is only judged.
    pub fn new(text: &str, engine: Option<WebUrl>) -> Self {
        Self { text: single_blanks(text), engine }
    }

    /// Returns its words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the address of the engine: its host is all that may be connected to.
    pub fn engine(&self) -> Option<&WebUrl> {
        self.engine.as_ref()
    }

    /// Returns what is wrong with it, or with the engine's address: a sentence without a full stop.
    pub fn problem(&self) -> Option<String> {
        // U+2800 is a letter of Braille without a dot.
        let unseen =
            |letter: &char| is_invisible(*letter) || letter.is_control() || *letter == '\u{2800}';
        if self.text.is_empty() {
            return Some("the query is empty".to_owned());
        }
        if let Some(letter) = self.text.chars().find(unseen) {
            return Some(format!("the query holds U+{:04X}, which is not seen", u32::from(letter)));
        }
        if self.text.chars().count() > QUERY_LIMIT_CHARS {
            return Some(format!(
                "the query is longer than {QUERY_LIMIT_CHARS} characters; search for its most \
                 telling words"
            ));
        }
        if longest_run(&self.text) > RUN_LIMIT_BYTES {
            return Some(format!(
                "a part of the query is longer than {RUN_LIMIT_BYTES} letters and digits, as data \
                 carried away would be"
            ));
        }
        let engine = self.engine.as_ref()?;
        Some(format!("the search engine `{engine}` is not asked: {}", engine.forbidden()?))
    }
}

/// Reads the pattern of `search(...)`: text in which `*` stands for any characters and `?` for one.
///
/// # Errors
/// When there is nothing in it.
pub(crate) fn parse_pattern(text: &str) -> Result<String, String> {
    let pattern = single_blanks(text);
    if pattern.is_empty() {
        return Err("search pattern is empty; `search(**)` means every query".to_owned());
    }
    Ok(single_stars(&pattern))
}

/// Returns true when a pattern matches the words of a query.
pub(crate) fn matches(pattern: &str, query: &SearchQuery, case: LetterCase) -> bool {
    name_matches_in(case, pattern, &query.text)
}

/// Returns true when everything that `two` matches is matched by `one`, as far as the texts show
/// it: a `?` of `one` could stand for a `*` of `two`, and that would not do.
pub(crate) fn covers(one: &str, two: &str) -> bool {
    one == two || (!one.contains('?') && name_matches(one, two))
}
