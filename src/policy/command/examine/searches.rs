//! What goes through folders and shows what is in their files: which of these its words choose.
//!
//! In: where it looks, and its patterns. Out: files that are read although no word is their path.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::{PathUse, patterns};

/// Verbs of git that show what is in files.
const SHOWING_FILES: &[&str] = &[
    "git diff",
    "git diff-files",
    "git diff-index",
    "git diff-tree",
    "git grep",
    "git log",
    "git show",
];

impl Examiner<'_> {
    /// What the patterns of a search are about is read as if a word named it.
    pub(super) fn searched(&mut self, name: &str, folders: Vec<&str>) {
        let recursive = ["-r", "-R", "--recursive", "--dereference-recursive"];
        if name == "rg" || self.has_any(&recursive) {
            self.goes_through_store();
        }
        let folders = if folders.is_empty() { vec!["."] } else { folders };
        let named = patterns::below(&folders, &patterns::named_by_search(self.words));
        self.reads(named.iter().map(String::as_str));
    }

    /// The settings of git lie in its folder: whatever goes through that reads them.
    pub(super) fn goes_through_store(&mut self) {
        let stores = self.found.reads.iter().filter_map(PathUse::inside);
        let stores = stores.filter(|path| patterns::is_store(path.as_str()));
        let settings: Vec<PathUse> =
            stores.filter_map(|path| path.join("config").ok()).map(PathUse::Inside).collect();
        self.found.reads.extend(settings);
    }

    /// Pathspecs of git choose files as patterns of names do.
    pub(super) fn chosen_by_pathspecs<'a>(
        &mut self,
        name: &str,
        words: impl Iterator<Item = &'a str>,
    ) {
        if SHOWING_FILES.contains(&name) {
            let patterns = words.filter(|word| word.contains(['*', '?', '[']));
            let named: Vec<String> = patterns.flat_map(patterns::named_by_pathspec).collect();
            self.reads(named.iter().map(String::as_str));
        }
    }
}
