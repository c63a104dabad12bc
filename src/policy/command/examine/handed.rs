//! What a program is given that runs code of the repository: words and values of which nothing says
//! that they are files it reads or writes.
//!
//! In: such a word. Out: a finding if it names what lies outside the repository or is protected.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::word_paths::{leaves, leaves_out};

impl Examiner<'_> {
    /// Refuses words that name what lies outside, or is protected.
    pub(super) fn handed(&mut self, words: &[(usize, String)]) {
        for (index, word) in words {
            self.handed_word(*index, word);
        }
    }

    pub(super) fn handed_word(&mut self, index: usize, word: &str) {
        if leaves(word, self.folder) {
            self.outside(index, word);
        } else {
            self.refuse_protected_word(index, word);
        }
    }

    /// The same for the value of an option, which a program may take for several words.
    pub(super) fn handed_value(&mut self, option: &str, index: usize, value: &str) {
        if !self.found.runs_code || leaves_out(option) {
            return;
        }
        if value.split_whitespace().any(|word| leaves(word, self.folder)) {
            self.outside(index, value);
        } else {
            self.refuse_protected_value(index, value);
        }
    }

    fn outside(&mut self, index: usize, word: &str) {
        self.finding(index, format!("`{word}` may be a path outside the repository"));
    }
}
