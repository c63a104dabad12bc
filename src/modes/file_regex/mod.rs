//! `FileRegex`: the restriction of an edit group. In: the pattern of a mode file and a path in its
//! plain form; out: whether the path matches, in bounded time. Does not know modes or tools.

use fancy_regex::{Regex, RegexBuilder};

use crate::js_regex::{self, JsRegexError};

/// A longer pattern is refused.
pub const PATTERN_LIMIT_BYTES: usize = 8 * 1024;
/// Steps of backtracking after which a path counts as not matching.
const BACKTRACK_LIMIT: usize = 200_000;
/// Memory of one compiled pattern.
const COMPILED_LIMIT_BYTES: usize = 2 * 1024 * 1024;

/// A `fileRegex`: JavaScript semantics without flags, searched anywhere in the normalised path,
/// bounded in time.
#[derive(Clone, Debug)]
pub struct FileRegex {
    source: String,
    compiled: Regex,
}

impl PartialEq for FileRegex {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for FileRegex {}

/// Why a pattern is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRegexError {
    /// It is too long.
    #[error("pattern of {0} bytes is longer than {PATTERN_LIMIT_BYTES}")]
    TooLong(usize),
    /// It is not valid JavaScript, or cannot be translated.
    #[error(transparent)]
    Syntax(#[from] JsRegexError),
    /// It compiles to something too large, or uses what the engine does not support.
    #[error("cannot be compiled: {0}")]
    Engine(String),
}

impl FileRegex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// When the pattern is too long, not a JavaScript regular expression, or beyond what the engine
    /// can do.
    pub fn parse(source: &str) -> Result<Self, FileRegexError> {
        if source.len() > PATTERN_LIMIT_BYTES {
            return Err(FileRegexError::TooLong(source.len()));
        }
        let translated = js_regex::translate(source)?;
        let compiled = RegexBuilder::new(&translated)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(COMPILED_LIMIT_BYTES)
            .build()
            .map_err(|error| FileRegexError::Engine(error.to_string()))?;
        Ok(Self { source: source.to_owned(), compiled })
    }

    /// Returns the pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns true when the pattern is found in a path. A search that takes too long has not found
    /// it.
    pub fn matches(&self, path: &str) -> bool {
        self.compiled.is_match(path).unwrap_or(false)
    }

    /// Returns true when the pattern is found in a path, or the search took too long to say.
    pub fn may_match(&self, path: &str) -> bool {
        self.compiled.is_match(path).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests;
