//! Words that name what is protected, given to a program of which nothing says that it only reads
//! them: `flake8 --output-file=.github/a`.
//!
//! In: words. Out: findings, so that only a rule that spells such a word out covers it.

use crate::command::examine::PathUse;
use crate::command::examine::examiner::Examiner;
use crate::command::examine::word_paths::{attached, leaves_out, nameable};
use crate::paths::{self, Protection};
use crate::words;
use locum_base::path::RepoPath;

/// Words of a shell that only list others.
const LISTING: &str = "case for";

/// Options that leave something out and whose value may be the next word.
const TAKES_NEXT: &str = "--coveragePathIgnorePatterns --exclude --exclude-dir --exclude-dirs \
                          --extend-exclude --extend-skip --ignore --ignore-path --ignore-paths \
                          --ignore-pattern --ignore-patterns --modulePathIgnorePatterns --omit \
                          --skip --skip-glob --testPathIgnorePatterns";

impl Examiner<'_> {
    /// Refuses words of a command that name what is protected.
    pub(super) fn refuse_protected(&mut self, words: &[(usize, String)]) {
        for (index, word) in words {
            self.refuse_protected_word(*index, word);
        }
    }

    /// As [`Self::refuse_protected`], for all words from one on.
    pub(super) fn refuse_protected_from(&mut self, from: usize) {
        let given = self.words;
        if given.first().is_some_and(|program| words::holds(LISTING, program)) {
            return;
        }
        for (index, word) in given.iter().enumerate().skip(from) {
            self.refuse_protected_word(index, word);
        }
    }

    /// Refuses a word that names what is protected, unless it is known that it is only read or left
    /// out.
    pub(super) fn refuse_protected_word(&mut self, index: usize, word: &str) {
        let before = index.checked_sub(1).and_then(|before| self.words.get(before));
        let left_out = word.split_once('=').is_some_and(|(option, _)| leaves_out(option))
            || before.is_some_and(|before| words::holds(TAKES_NEXT, before));
        if !left_out {
            self.refuse_protected_value(index, word);
        }
    }

    /// As [`Self::refuse_protected_word`], whatever stands before it.
    pub(super) fn refuse_protected_value(&mut self, index: usize, word: &str) {
        let behind = attached(word).and_then(|value| self.folder.join(value).ok());
        let found = nameable(word, self.folder)
            .chain(behind)
            .filter(|path| !self.is_read(path))
            .find_map(|path| why(&path));
        if let Some(why) = found {
            self.finding(index, format!("`{word}` names what is protected: {why}"));
        }
    }

    fn is_read(&self, path: &RepoPath) -> bool {
        let is_it = |read: &PathUse| matches!(read, PathUse::Inside(inside) if inside == path);
        self.found.reads.iter().any(is_it)
    }
}

/// Returns why a path is protected from edits, or from reading.
fn why(path: &RepoPath) -> Option<&'static str> {
    paths::protected(path).or_else(|| Protection::default().of_read(path))
}
