//! Three-way merges of what parallel sub-tasks changed.
//!
//! In: three commits and the paths that differ between them. Out: a commit that holds both sides,
//! or what is in conflict, both sides of it. Nothing is written but objects: bringing the result
//! into a checkout is the caller's. Only the named paths are looked at, whatever else the
//! repository holds; a file that one side moved takes what the other side changed along. It is all
//! or nothing: a side in conflict is not taken over in part.

use std::collections::{BTreeMap, BTreeSet};

use git2::{
    IndexConflict, IndexEntry, MergeFileInput, MergeFileOptions, MergeOptions, ObjectType, Oid,
    Tree,
};

use crate::repo::{CommitId, Repo, RepoError, entry_at};
use crate::trees::{TreeChanges, file_mode};
use locum_base::path::RepoPath;
use locum_base::text::ClippedText;

/// Bytes of both sides of one file that are shown.
const SIDES_LIMIT_BYTES: usize = 6 * 1024;

/// The commits of a merge, and the paths it touches.
#[derive(Clone, Copy, Debug)]
pub struct MergeSides<'a> {
    /// What both began with.
    pub base: &'a CommitId,
    /// The side that stays.
    pub ours: &'a CommitId,
    /// The side that comes in.
    pub theirs: &'a CommitId,
    /// What that side is called where the two contradict each other: `sub-task`, `base`.
    pub their_name: &'a str,
    /// Every path that may differ between them.
    pub touched: &'a BTreeSet<RepoPath>,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// Both sides in one commit.
    Whole {
        /// The merge, on top of our side.
        commit: CommitId,
        /// The paths in which it differs from our side.
        changed: BTreeSet<RepoPath>,
    },
    /// The sides contradict each other.
    Conflicts(Vec<Conflict>),
}

/// One file on which two sides contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Conflict {
    /// Path of the file in conflict.
    pub path: RepoPath,
    /// What is wrong, as part of a sentence: `both sides changed the same lines`.
    pub what: String,
    /// Both sides of the lines in conflict between git's markers, clipped; empty for a file without
    /// lines.
    pub sides: String,
}

type MergeEntry = (Oid, i32);

impl Repo {
    /// Merges two sides.
    ///
    /// # Errors
    /// When a commit is not there or git fails.
    pub fn merge(&self, sides: &MergeSides<'_>) -> Result<MergeOutcome, RepoError> {
        let (base, ours, theirs) = (
            self.entries(sides.base, sides.touched)?,
            self.entries(sides.ours, sides.touched)?,
            self.entries(sides.theirs, sides.touched)?,
        );
        let trees = (self.small_tree(&base)?, self.small_tree(&ours)?, self.small_tree(&theirs)?);
        let mut options = MergeOptions::new();
        let index =
            self.git.merge_trees(&trees.0, &trees.1, &trees.2, Some(options.find_renames(true)))?;
        if index.has_conflicts() {
            let conflicts =
                index.conflicts()?.map(|found| self.conflict(&found?, sides.their_name));
            return Ok(MergeOutcome::Conflicts(conflicts.collect::<Result<_, RepoError>>()?));
        }
        let mut merged: BTreeMap<RepoPath, MergeEntry> = BTreeMap::new();
        for entry in index.iter() {
            merged.insert(
                named(&entry.path)?,
                (entry.id, i32::try_from(entry.mode).unwrap_or_default()),
            );
        }
        let mut changes = TreeChanges::default();
        let mut changed = BTreeSet::new();
        for path in merged.keys().chain(ours.keys()) {
            let (now, before) = (merged.get(path), ours.get(path));
            if now != before && changed.insert(path.clone()) {
                changes.put(path, now.map(|(id, mode)| (*id, file_mode(*mode))));
            }
        }
        let (ours, theirs) = (self.find(sides.ours)?, self.find(sides.theirs)?);
        let tree = self.git.find_tree(changes.apply(&self.git, &ours.tree()?)?)?;
        let commit = self.own_commit("merge of a sub-task", &tree, &[&ours, &theirs])?;
        Ok(MergeOutcome::Whole { commit, changed })
    }

    /// Returns the touched paths that hold other content in two commits.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn differing(
        &self,
        one: &CommitId,
        other: &CommitId,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let (one, other) = (self.entries(one, touched)?, self.entries(other, touched)?);
        Ok(touched.iter().filter(|path| one.get(*path) != other.get(*path)).cloned().collect())
    }

    fn entries(
        &self,
        commit: &CommitId,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<BTreeMap<RepoPath, MergeEntry>, RepoError> {
        let tree = self.tree_of(commit)?;
        let mut found = BTreeMap::new();
        for path in paths.iter().filter(|path| !path.is_root()) {
            let entry = entry_at(&tree, path)?;
            let entry = entry.filter(|entry| entry.kind() == Some(ObjectType::Blob));
            found.extend(entry.map(|entry| (path.clone(), (entry.id(), entry.filemode()))));
        }
        Ok(found)
    }

    /// Writes a tree of these entries alone.
    fn small_tree(&self, entries: &BTreeMap<RepoPath, MergeEntry>) -> Result<Tree<'_>, RepoError> {
        let nothing = self.git.find_tree(self.git.treebuilder(None)?.write()?)?;
        let mut changes = TreeChanges::default();
        for (path, (id, mode)) in entries {
            changes.put(path, Some((*id, file_mode(*mode))));
        }
        Ok(self.git.find_tree(changes.apply(&self.git, &nothing)?)?)
    }

    fn conflict(&self, found: &IndexConflict, their_name: &str) -> Result<Conflict, RepoError> {
        let (base, ours, theirs) =
            (found.ancestor.as_ref(), found.our.as_ref(), found.their.as_ref());
        let shown = ours.or(theirs).or(base);
        let path = shown.map_or(Ok(RepoPath::root()), |entry| named(&entry.path))?;
        let of = |what: &str, sides| Ok(Conflict { path, what: what.to_owned(), sides });
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            let what = match (base, ours, theirs) {
                (Some(_), Some(_), None) => {
                    format!("changed here and removed by the {their_name}")
                }
                (Some(_), None, Some(_)) => {
                    format!("removed here and changed by the {their_name}")
                }
                (None, None, None) => "the sides cannot be merged".to_owned(),
                _ => "a file on one side stands where the other has a folder or has moved it"
                    .to_owned(),
            };
            return of(&what, String::new());
        };
        let content = |entry: Option<&IndexEntry>| -> Result<Vec<u8>, RepoError> {
            entry.map_or(Ok(Vec::new()), |entry| {
                Ok(self.git.find_blob(entry.id)?.content().to_vec())
            })
        };
        let (before, mine, other) = (content(base)?, content(Some(ours))?, content(Some(theirs))?);
        if [&before, &mine, &other].iter().any(|content| content.contains(&0)) {
            return of("a binary file, changed on both sides", String::new());
        }
        let what = if base.is_none() {
            "added on both sides, with different content"
        } else {
            "both sides changed the same lines"
        };
        of(what, sides_of(&before, &mine, (&other, their_name))?)
    }
}

/// Returns the hunks in which two sides contradict each other, each with the line it begins at in
/// the merged text.
fn sides_of(
    before: &[u8],
    ours: &[u8],
    (theirs, their_name): (&[u8], &str),
) -> Result<String, RepoError> {
    let (mut before_input, mut our_input, mut their_input) =
        (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
    before_input.content(before);
    our_input.content(ours);
    their_input.content(theirs);
    let mut options = MergeFileOptions::new();
    options.our_label("here").their_label(their_name).ancestor_label("before").style_diff3(true);
    let merged = git2::merge_file(&before_input, &our_input, &their_input, Some(&mut options))?;
    let text = String::from_utf8_lossy(merged.content()).into_owned();
    let mut shown = String::new();
    let (mut inside, end) = (false, format!(">>>>>>> {their_name}"));
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("<<<<<<< here") {
            inside = true;
            shown.push_str(&format!("@@ line {} @@\n", number + 1));
        }
        if inside {
            shown.push_str(line);
            shown.push('\n');
        }
        if line.starts_with(&end) {
            inside = false;
        }
    }
    Ok(ClippedText::head_tail(&shown, SIDES_LIMIT_BYTES).text)
}

fn named(path: &[u8]) -> Result<RepoPath, RepoError> {
    let text = String::from_utf8_lossy(path);
    RepoPath::parse(&text).map_err(|_| RepoError::BadName(text.into_owned()))
}

#[cfg(test)]
mod tests;
