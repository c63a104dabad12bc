//! Files that are copied or moved: where the last word is a folder, they lie in it by their own
//! names.
//!
//! In: the words that are not options. Out: files that are read or written, and findings.

use crate::command::examine::PathUse;
use crate::command::examine::examiner::Examiner;
use crate::command::examine::operands::texts;
use crate::command::tables::git;

impl Examiner<'_> {
    pub(super) fn copied(&mut self, name: &str, operands: &[(usize, String)]) {
        let count = operands.len().saturating_sub(1);
        self.reads(texts(operands).take(count));
        if name == "cp" {
            if self.has_any(&["-r", "-R", "-a", "--recursive", "--archive"]) {
                self.goes_through_store();
            }
            self.edits(texts(operands).skip(count));
            self.put_into(operands);
            return;
        }
        self.edits(texts(operands).skip(count));
        let more = operands.get(2).filter(|_| name.contains("sphinx"));
        self.refuse(more, |word| {
            format!("`{name}` writes into its second folder; `{word}` is one more")
        });
    }

    /// What is written if the last word is a folder: a refusal of it counts.
    pub(super) fn put_into(&mut self, operands: &[(usize, String)]) {
        let Some(((_, target), sources)) = operands.split_last() else { return };
        let is_file = sources.len() == 1 && git::is_name_of_a_file(target);
        if is_file || self.has_any(&["-T", "--no-target-directory"]) {
            return;
        }
        let Ok(folder) = self.folder.join(target) else { return };
        let names =
            texts(sources).filter_map(|source| source.trim_end_matches('/').rsplit('/').next());
        let paths =
            names.filter(|name| !matches!(*name, "" | "." | "..")).map(|name| folder.child(name));
        self.found.edits.extend(paths.flatten().map(PathUse::Perhaps));
    }
}
