//! What stands behind the words of a command, counted before it is copied: the words of a long
//! command may hold very many others.
//!
//! In: words and texts, and how many words may still be copied. Out: commands and scripts. When
//! none may be copied any more, nothing is added.

use crate::command::UNKNOWN;

/// How many bytes of a script count as one word.
const BYTES_OF_A_WORD: usize = 4;
/// How many words each script counts as besides: it is read again.
const WORDS_OF_A_SCRIPT: usize = 8;
/// How many bytes of one word count as one more.
const BYTES_OF_A_LONG_WORD: usize = 64;

/// What a command may start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Behind {
    /// A command.
    Words(Vec<String>),
    /// The text of a script.
    Script(String),
}

/// What stands behind one command. Its words are counted before they are copied.
pub(crate) struct WordsBehind<'l> {
    found: Vec<Behind>,
    words_left: &'l mut usize,
}

impl<'l> WordsBehind<'l> {
    pub(crate) fn new(words_left: &'l mut usize) -> Self {
        Self { found: Vec::new(), words_left }
    }

    pub(crate) fn into_found(self) -> Vec<Behind> {
        self.found
    }

    /// Whether there is more than may be copied.
    pub(crate) fn is_cut(&self) -> bool {
        *self.words_left == 0
    }

    /// Counts words that are to be copied or looked at; false where there are too many.
    pub(crate) fn count(&mut self, words: usize) -> bool {
        *self.words_left = self.words_left.saturating_sub(words);
        !self.is_cut()
    }

    pub(crate) fn count_words(&mut self, words: &[String]) -> bool {
        if self.is_cut() {
            return false;
        }
        let lengths = words.iter().map(|word| word.len() / BYTES_OF_A_LONG_WORD + 1);
        self.count(lengths.sum())
    }

    /// Adds a command.
    pub(crate) fn command(&mut self, words: &[String]) {
        let is_known = words.first().is_some_and(|program| program != UNKNOWN);
        if is_known && self.count_words(words) {
            self.found.push(Behind::Words(words.to_vec()));
        }
    }

    /// Adds a command whose program may stand in another word than all behind it does; empty where
    /// it does not.
    pub(crate) fn with_program(&mut self, program: &str, rest: &[String]) {
        if program.is_empty() {
            self.command(rest);
        } else if program != UNKNOWN && self.count_words(rest) && self.count(1) {
            let program = std::iter::once(program.to_owned());
            self.found.push(Behind::Words(program.chain(rest.iter().cloned()).collect()));
        }
    }

    /// Adds a script.
    pub(crate) fn script(&mut self, text: &str) {
        self.joined(text, &[]);
    }

    /// Adds a script of a text and the words behind it.
    pub(crate) fn joined(&mut self, text: &str, words: &[String]) {
        if self.is_cut() {
            return;
        }
        let length: usize = words.iter().map(|word| word.len() + 1).sum();
        if self.count(words_in(text.len() + length)) {
            let text = Some(text).filter(|text| !text.is_empty());
            let parts = text.into_iter().chain(words.iter().map(String::as_str));
            self.counted_script(parts.collect::<Vec<_>>().join(" "));
        }
    }

    /// Adds a script that is counted.
    pub(crate) fn counted_script(&mut self, text: String) {
        if !text.trim().is_empty() && !text.contains(UNKNOWN) {
            self.found.push(Behind::Script(text));
        }
    }
}

/// Returns how many words a script of so many bytes counts as.
pub(crate) fn words_in(bytes: usize) -> usize {
    bytes / BYTES_OF_A_WORD + WORDS_OF_A_SCRIPT
}
