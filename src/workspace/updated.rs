//! A file that a program wrote and people changed since, brought up to date: what people changed
//! stays.
//!
//! In: the file as it was written, as it is, and as it would be written now. Out: one text of both.
//! Where both changed the same lines, those of people stay.

use git2::{FileFavor, MergeFileInput, MergeFileOptions, ObjectType, Oid, Sort};

use crate::repo::{Repo, RepoError, entry_at};
use locum_base::path::RepoPath;

/// Most commits that are looked through for versions of a file.
const COMMITS_LIMIT: usize = 20_000;
/// Most versions of a file.
const VERSIONS_LIMIT: usize = 200;

/// Merges what a program would write now into what people made of what it wrote before. `None` for
/// texts that cannot be merged.
pub fn updated(written: &str, own: &str, now: &str) -> Option<String> {
    let mut options = MergeFileOptions::new();
    options.favor(FileFavor::Ours);
    let (mut base, mut ours, mut theirs) =
        (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
    base.content(written.as_bytes());
    ours.content(own.as_bytes());
    theirs.content(now.as_bytes());
    let merged = git2::merge_file(&base, &ours, &theirs, Some(&mut options)).ok()?;
    String::from_utf8(merged.content().to_vec()).ok()
}

impl Repo {
    /// Returns the versions of a file in the history of `HEAD`, the newest first, each once.
    ///
    /// # Errors
    /// When git's objects cannot be read.
    pub fn versions(&self, path: &RepoPath) -> Result<Vec<String>, RepoError> {
        let mut found: Vec<Oid> = Vec::new();
        let mut walk = self.git.revwalk()?;
        if walk.push_head().is_err() {
            return Ok(Vec::new());
        }
        walk.set_sorting(Sort::TIME)?;
        for commit in walk.take(COMMITS_LIMIT) {
            let Some(entry) = entry_at(&self.git.find_commit(commit?)?.tree()?, path)? else {
                continue;
            };
            if entry.kind() == Some(ObjectType::Blob) && !found.contains(&entry.id()) {
                found.push(entry.id());
            }
            if found.len() >= VERSIONS_LIMIT {
                break;
            }
        }
        let text = |id: Oid| {
            let blob = self.git.find_blob(id)?;
            Ok(String::from_utf8_lossy(blob.content()).into_owned())
        };
        found.into_iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::updated;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_people_changed_stays_and_what_is_new_comes_in() {
        let written = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n";
        for (own, now, expected) in [
            (written, "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n", "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n"),
            (
                "a: 9\nb: 2\nc: 3\nd: 4\ne: 5\n",
                "a: 8\nb: 2\nc: 3\nd: 4\nnew\ne: 5\n",
                "a: 9\nb: 2\nc: 3\nd: 4\nnew\ne: 5\n",
            ),
            // A line that was taken out does not come back.
            (
                "b: 2\nc: 3\nd: 4\ne: 5\n",
                "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n",
                "b: 2\nc: 3\nd: 4\ne: 6\n",
            ),
        ] {
            assert_eq!(updated(written, own, now).as_deref(), Some(expected));
        }
    }
}
