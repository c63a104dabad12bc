//! `Tokenizer`: how many tokens a text has for a model, before its provider has counted them.
//!
//! In: any text. Out: an estimated number of tokens: what providers put around messages and tools
//! is not published. Counting is linear in the text, keeps nothing and needs no start-up; the
//! tables are read-only data of the program.

mod class;
mod merge;
mod split;
mod table;

use serde::{Deserialize, Serialize};

use crate::tokens::merge::TokenMerge;
use locum_base::text::weighed_bytes;

/// Bytes of text that make about one token.
const BYTES_PER_TOKEN: u64 = 4;

/// How the tokens of a text are estimated for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokenizer {
    /// A quarter of the bytes, of letters outside ASCII half of theirs: for models whose tokenizer
    /// is not built in.
    #[default]
    Bytes,
    /// The vocabulary `o200k_base` of OpenAI's models from GPT-4o on; that of gpt-oss differs from
    /// it in frames of messages alone. It stands in for others that are near it.
    O200k,
}

impl Tokenizer {
    /// Every tokenizer, for iteration.
    pub const ALL: [Self; 2] = [Self::Bytes, Self::O200k];

    /// Returns the word it is configured by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::O200k => "o200k",
        }
    }

    /// Returns the tokens that stand around a message or a tool. OpenAI documents three for a
    /// message and one for its role, and not how tools are written. A quarter of the bytes is
    /// assumed to hold them.
    pub(crate) fn frame_tokens(self) -> u64 {
        match self {
            Self::Bytes => 0,
            Self::O200k => 4,
        }
    }

    /// Returns how many tokens a text has. What looks like a special token (`<|endoftext|>`) is
    /// text like any other.
    pub fn tokens(self, text: &str) -> u64 {
        match self {
            Self::Bytes => estimate_tokens(weighed_bytes(text)),
            Self::O200k => {
                let mut merge = TokenMerge::default();
                split::pieces(text).map(|piece| merge.tokens(piece.as_bytes())).sum()
            }
        }
    }
}

/// Returns about how many tokens a text of `bytes` has: an estimate, rounded up.
pub fn estimate_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests;
