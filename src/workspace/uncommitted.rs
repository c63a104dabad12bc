//! Work that is in no commit: what the checkout has of it is recorded before a command may change
//! it.
//!
//! In: paths that are about to change, or may. Out: a commit with them as they are, and of those
//! that do change a checkpoint. No branch and no index changes. What is too large for git, or more
//! than is read before each command, is named instead. So is what the run may not read: commands
//! could read it in git's objects.

use std::collections::{BTreeMap, BTreeSet};

use crate::checkout::{Checkout, EntryKind};
use crate::layer::{Layer, LayerChange};
use crate::recorded_files::RecordedFiles;
use crate::repo::{CommitId, Repo, RepoError, entry_at};
use crate::touched::Snapshot;
use crate::trees::{TreeChanges, file_mode};
use locum_base::path::RepoPath;

/// Most files that are recorded before a command which may change any of them.
const FILES_LIMIT: usize = 2_000;

/// The largest of these, in bytes.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// All of these together, in bytes.
const ALL_LIMIT_BYTES: u64 = 128 << 20;

impl Repo {
    /// Records the files of the checkout that change when these changes of a layer are brought.
    /// What others changed meanwhile is not brought, and what was brought already changes no more.
    /// `last` is a commit of the checkout's files.
    ///
    /// # Errors
    /// When the checkout or the layer cannot be read, or git fails.
    pub fn record_under(
        &self,
        layer: &Layer,
        last: &CommitId,
        bring: &BTreeMap<RepoPath, LayerChange>,
        may_read: impl Fn(&RepoPath) -> bool,
    ) -> Result<RecordedFiles, RepoError> {
        let (mut paths, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        for (path, change) in bring {
            // What the layer has no more was brought before the session was killed.
            let is_settled = *change == LayerChange::Written && !layer.has(path);
            if is_settled || *change == LayerChange::Folder || !self.checkout.has_file(path) {
                continue;
            }
            if self.is_changed_by_others(layer, path, *change)? {
                continue;
            }
            if !may_read(path) || self.checkout.unrecorded(path).is_some() {
                left_out.insert(path.clone());
                continue;
            }
            let is_brought = *change == LayerChange::Written
                && self.checkout.stored(path)? == layer.stored(path)?;
            if !is_brought {
                paths.insert(path.clone());
            }
        }
        self.record(last, paths, left_out)
    }

    /// Records these files of the checkout, which are about to be written over.
    ///
    /// # Errors
    /// When one cannot be read, or git fails.
    pub fn record_files(
        &self,
        last: &CommitId,
        paths: &BTreeSet<RepoPath>,
        may_read: impl Fn(&RepoPath) -> bool,
    ) -> Result<RecordedFiles, RepoError> {
        let is_there = |path: &&RepoPath| self.checkout.has_file(path);
        let (paths, left_out) = paths
            .iter()
            .filter(is_there)
            .cloned()
            .partition(|path| may_read(path) && self.checkout.unrecorded(path).is_none());
        self.record(last, paths, left_out)
    }

    /// Records the files that a look at the checkout found to be in no commit, as far as they are
    /// not too many and not too large.
    ///
    /// # Errors
    /// When git fails.
    pub fn record_dirty(
        &self,
        last: &CommitId,
        before: &mut Snapshot,
        may_read: impl Fn(&RepoPath) -> bool,
    ) -> Result<(), RepoError> {
        let (mut paths, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        let mut left_bytes = ALL_LIMIT_BYTES;
        for path in before.dirty.keys().filter(|path| self.checkout.has_file(path)) {
            let entry = self.checkout.entry(path)?;
            let size_bytes = entry.map_or(0, |entry| entry.size_bytes);
            let is_left_out = !may_read(path)
                || paths.len() >= FILES_LIMIT
                || size_bytes > FILE_LIMIT_BYTES.min(left_bytes)
                || self.checkout.unrecorded(path).is_some();
            if is_left_out {
                left_out.insert(path.clone());
            } else {
                left_bytes -= size_bytes;
                paths.insert(path.clone());
            }
        }
        before.recorded = Some(self.record(last, paths, left_out)?);
        Ok(())
    }

    fn record(
        &self,
        last: &CommitId,
        paths: BTreeSet<RepoPath>,
        left_out: BTreeSet<RepoPath>,
    ) -> Result<RecordedFiles, RepoError> {
        if paths.is_empty() {
            return Ok(RecordedFiles { commit: last.clone(), paths, left_out });
        }
        let parent = self.find(last)?;
        let tree = self.tree_with(&parent.tree()?, &paths)?;
        let commit = if tree.id() == parent.tree_id() {
            last.clone()
        } else {
            self.own_commit("files before a command", &tree, &[&parent])?
        };
        Ok(RecordedFiles { commit, paths, left_out })
    }

    /// Returns the paths that two commits do not have alike.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn unlike(
        &self,
        commits: (&CommitId, &CommitId),
        paths: &BTreeSet<RepoPath>,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let (one, other) = (self.tree_of(commits.0)?, self.tree_of(commits.1)?);
        let mut unlike = BTreeSet::new();
        for path in paths {
            let [one, other] = [&one, &other].map(|tree| {
                let entry = entry_at(tree, path)?;
                Ok::<_, RepoError>(entry.map(|entry| (entry.id(), entry.filemode())))
            });
            if one? != other? {
                unlike.insert(path.clone());
            }
        }
        Ok(unlike)
    }

    /// Makes a checkpoint of a session of what another commit has at these paths.
    ///
    /// # Errors
    /// When a commit is gone or git fails; the ref is then as it was.
    pub fn checkpoint_of(
        &self,
        (session, base): (&str, &CommitId),
        recorded: &CommitId,
        paths: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<CommitId, RepoError> {
        let tree = self.tree_of(recorded)?;
        let mut changes = TreeChanges::default();
        for path in paths {
            let entry = entry_at(&tree, path)?;
            changes.put(path, entry.map(|entry| (entry.id(), file_mode(entry.filemode()))));
        }
        self.checkpoint_with(session, base, label, |parent| {
            Ok(self.git.find_tree(changes.apply(&self.git, parent)?)?)
        })
    }
}

impl Checkout {
    fn has_file(&self, path: &RepoPath) -> bool {
        let entry = self.entry(path).ok().flatten();
        entry.is_some_and(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Link))
    }
}

impl Snapshot {
    /// Returns the files that were recorded, if any were.
    pub fn recorded(&self) -> Option<&RecordedFiles> {
        self.recorded.as_ref()
    }

    /// Takes over what was recorded of an earlier look, if nothing in no commit has changed since;
    /// false where something has.
    pub fn is_recorded_as(&mut self, known: &Self) -> bool {
        if known.recorded.is_none() || known.dirty != self.dirty {
            return false;
        }
        self.recorded.clone_from(&known.recorded);
        true
    }

    /// Whether a path was recorded, so that nothing is lost if it changes.
    pub fn is_recorded(&self, path: &RepoPath) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.paths.contains(path))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::{FILE_LIMIT_BYTES, FILES_LIMIT};
    use crate::fixture::{RepoFixture, path, paths};
    use crate::layer::{Layer, LayerChange};
    use crate::touched::Snapshot;

    #[test]
    fn what_changes_under_a_layer_is_recorded_and_nothing_else_is() {
        let fixture = RepoFixture::new();
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(folder.path()).unwrap();
        fixture.write("src/lib.rs", "mine\n");
        fixture.write("new", "mine\n");
        fixture.write("same", "same\n");
        fixture.write("other", "mine\n");
        fixture.write("hidden", "mine\n");
        let large = fs::File::create(fixture.root.join("large")).unwrap();
        large.set_len(101 << 20).unwrap();
        layer.begin().unwrap();
        for file in ["src/lib.rs", "same", "made"] {
            let at = layer.folders().upper.join(file);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, "same\n").unwrap();
        }
        let (written, removed) = (LayerChange::Written, LayerChange::Removed);
        let bring = [
            ("src/lib.rs", written),
            ("same", written),
            ("made", written),
            ("new", removed),
            ("gone", removed),
            ("large", removed),
            ("hidden", removed),
            ("src", LayerChange::Folder),
        ];
        let bring: BTreeMap<_, _> = bring.map(|(name, change)| (path(name), change)).into();
        let recorded = fixture
            .repo
            .record_under(&layer, &fixture.base, &bring, |path| path.as_str() != "hidden")
            .unwrap();
        assert_eq!(recorded.paths, paths(&["new", "src/lib.rs"]));
        assert_eq!(recorded.left_out, paths(&["hidden", "large"]));
        let all = paths(&["new", "src/lib.rs", "run.sh", "other"]);
        let unlike = fixture.repo.unlike((&fixture.base, &recorded.commit), &all).unwrap();
        assert_eq!(unlike, recorded.paths);

        // The checkpoint has them as they were, whatever is there by then.
        fixture.write("src/lib.rs", "same\n");
        fixture.remove("new");
        let checkpoint = || {
            let (session, new) = (("s1", &fixture.base), paths(&["new"]));
            fixture.repo.checkpoint_of(session, &recorded.commit, &new, "x").unwrap()
        };
        let made = checkpoint();
        assert_eq!(checkpoint(), made, "a second time changes nothing");
        let unlike = fixture.repo.unlike((&fixture.base, &made), &all).unwrap();
        assert_eq!(unlike, paths(&["new"]));
        fixture.repo.restore(&made, &paths(&["new"])).unwrap();
        assert_eq!(fs::read_to_string(fixture.root.join("new")).unwrap(), "mine\n");
    }

    #[test]
    fn before_a_command_that_may_change_anything_no_more_is_recorded_than_the_limits_say() {
        let fixture = RepoFixture::new();
        let large = fs::File::create(fixture.root.join("large")).unwrap();
        large.set_len(FILE_LIMIT_BYTES + 1).unwrap();
        let many: BTreeSet<_> =
            (0..=FILES_LIMIT + 1).map(|at| path(&format!("m/{at:05}"))).collect();
        for file in &many {
            fixture.write(file.as_str(), "x");
        }
        let mut before = Snapshot::default();
        let dirty = many.iter().cloned().chain([path("large"), path("gone")]);
        before.dirty = dirty.map(|path| (path, None)).collect();
        fixture
            .repo
            .record_dirty(&fixture.base, &mut before, |path| path.as_str() != "m/00001")
            .unwrap();
        let recorded = before.recorded().unwrap();
        assert_eq!(recorded.paths.len(), FILES_LIMIT);
        assert_eq!(
            recorded.left_out,
            paths(&["large", "m/00001", &format!("m/{:05}", FILES_LIMIT + 1)])
        );
        assert!(before.is_recorded(&path("m/00000")) && !before.is_recorded(&path("large")));
    }
}
