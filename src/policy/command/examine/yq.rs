//! The first word of `yq`, which is a program, or a file where the program is left out.
//!
//! In: that word, and how many are behind it. Out: the file as read or written, or as one that it
//! may be. Which files there are is not known here, so what looks like one counts as one.

use crate::command::examine::examiner::Examiner;
use crate::command::examine::{PathUse, path_use};
use crate::words;

/// Endings of files that it reads.
const ENDINGS: &str = "csv ini json lua properties toml tsv xml yaml yml";

/// Options under which it changes its files.
pub(super) const IN_PLACE: &[&str] = &["-i", "--in-place", "--inplace"];

impl Examiner<'_> {
    /// Looks at the first word; `others` is how many files are named behind it.
    pub(super) fn program_of_yq(&mut self, index: usize, word: &str, others: usize) {
        if word.ends_with(".yq") {
            self.finding(index, format!("`{word}` may hold a program of `yq` that is not known"));
        }
        let in_place = self.has_any(IN_PLACE);
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        let plain = word.chars().all(|one| one.is_ascii_alphanumeric() || "_-./+@".contains(one));
        let is_program = !plain && others > 0 && !words::holds(ENDINGS, ending);
        if is_program || matches!(word, "." | "..") {
            return;
        }
        let is_path = word.contains('/') || (!word.starts_with('.') && word.contains('.'));
        // In place, something is changed, and a program says what.
        let is_file = words::holds(ENDINGS, ending)
            || (plain && (is_path || in_place))
            || (in_place && others == 0);
        let used = path_use(word, self.folder).filter(|used| is_file || used.inside().is_some());
        let used = used.map(|used| match used {
            PathUse::Inside(path) if !is_file => PathUse::Perhaps(path),
            used => used,
        });
        self.found.reads.extend(used.clone());
        if in_place {
            self.found.edits.extend(used);
        }
    }
}
