//! Files with changes that are in no commit and that a command changes: what they held becomes a
//! checkpoint first, and the answer and the report name them.
//!
//! In: what is about to be brought of a layer, or a look at the checkout before a command that
//! writes to it. Out: a checkpoint and its event. At the end, which of these files are still not
//! what they were.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::event::Event;
use crate::session::held_changes::named;
use crate::session::live::Session;
use crate::session::outcome::OutcomeWord;
use crate::session::stop::Stop;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_workspace::aside::LargeFiles;
use locum_workspace::layer::{Layer, LayerChange};
use locum_workspace::recorded_files::RecordedFiles;
use locum_workspace::repo::CommitId;
use locum_workspace::touched::Snapshot;

/// Label of a checkpoint of what a command changes then.
const LABEL: &str = "before a command";

impl Session<'_> {
    /// Records what is in no commit before a command that writes to the checkout itself.
    pub(crate) fn record_dirty(&mut self, id: TaskId, before: &mut Snapshot) -> Result<(), Stop> {
        if before.dirty().next().is_none() {
            return Ok(());
        }
        let owner = self.state.tree_owner(id);
        // What the run itself wrote is a checkpoint by then.
        self.save_unsaved(owner)?;
        let Some(last) = self.saved(owner) else { return Ok(()) };
        let whose = (owner, self.task(id)?.mode.clone());
        let known = self.recorded_look.as_ref().filter(|(of, _)| *of == whose);
        if !known.is_some_and(|(_, known)| before.is_recorded_as(known)) {
            self.place(id)?.repo.record_dirty(&last, before, self.readable(id)?)?;
        }
        self.recorded_look = Some((whose, before.clone()));
        Ok(())
    }

    /// Keeps what such a command changed since: `stay` of it stays changed, everything else is
    /// reverted. Returns what the answer says of it.
    pub(crate) fn keep_written<'p>(
        &mut self,
        id: TaskId,
        before: &Snapshot,
        touched: impl IntoIterator<Item = &'p RepoPath>,
        stay: impl Fn(&RepoPath) -> bool,
    ) -> Result<Option<String>, Stop> {
        let Some(recorded) = before.recorded() else { return Ok(None) };
        let (changed, lost): (BTreeSet<RepoPath>, BTreeSet<RepoPath>) = touched
            .into_iter()
            .filter(|path| recorded.paths.contains(*path) || recorded.left_out.contains(*path))
            .cloned()
            .partition(|path| recorded.paths.contains(path));
        let repo = &self.place(id)?.repo;
        let is_same = |path: &RepoPath| repo.is_as_in(&recorded.commit, path);
        let changed = changed.into_iter().filter(|path| !is_same(path)).collect();
        let said = self.keep_recorded(id, &recorded.commit, &changed, stay)?;
        if !lost.is_empty() {
            let text = format!(
                "A command changed files that had changes in no commit, and no copy of these was \
                 kept, because they are too large, too many or not for the run to read: {}.",
                named(&lost)
            );
            self.note_once(id, text)?;
        }
        Ok(said)
    }

    /// Keeps what is about to change when these changes of a layer are brought; below `label`,
    /// where it is too large for git. Returns what the answer says of it.
    pub(crate) fn keep_under(
        &mut self,
        id: TaskId,
        layer: &Layer,
        bring: &BTreeMap<RepoPath, LayerChange>,
        label: &str,
    ) -> Result<Option<String>, Stop> {
        let owner = self.state.tree_owner(id);
        self.save_unsaved(owner)?;
        let Some(last) = self.saved(owner) else { return Ok(None) };
        let recorded =
            self.place(id)?.repo.record_under(layer, &last, bring, self.readable(id)?)?;
        self.keep_changing(id, &recorded, label)
    }

    /// The same for files that are about to be written over.
    pub(crate) fn keep_files(
        &mut self,
        id: TaskId,
        paths: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<Option<String>, Stop> {
        let owner = self.state.tree_owner(id);
        self.save_unsaved(owner)?;
        let Some(last) = self.saved(owner) else { return Ok(None) };
        let recorded = self.place(id)?.repo.record_files(&last, paths, self.readable(id)?)?;
        self.keep_changing(id, &recorded, label)
    }

    fn keep_changing(
        &mut self,
        id: TaskId,
        recorded: &RecordedFiles,
        label: &str,
    ) -> Result<Option<String>, Stop> {
        if !recorded.left_out.is_empty() {
            let copies = self.copies(label);
            self.place(id)?.repo.copy_out(&recorded.left_out, &copies, LargeFiles::Copied)?;
            let text = format!(
                "A command changed files that are too large for a checkpoint, or not for the run to \
                 read: {}. A copy of each as it was before is in `{}`.",
                named(&recorded.left_out),
                copies.display()
            );
            self.note_once(id, text)?;
        }
        self.keep_recorded(id, &recorded.commit, &recorded.paths, |_| true)
    }

    /// Makes a checkpoint of recorded files that change, as far as neither the commit that the
    /// checkout began with has them nor, where the run has written them, the last checkpoint.
    fn keep_recorded(
        &mut self,
        id: TaskId,
        recorded: &CommitId,
        changed: &BTreeSet<RepoPath>,
        stay: impl Fn(&RepoPath) -> bool,
    ) -> Result<Option<String>, Stop> {
        let owner = self.state.tree_owner(id);
        let (Some(base), Some(last)) = (self.start_of(owner), self.saved(owner)) else {
            return Ok(None);
        };
        let repo = &self.place(id)?.repo;
        let mut kept = repo.unlike((&base, recorded), changed)?;
        let written = &self.state.tree(owner).touched;
        let own = kept.iter().filter(|path| written.contains_key(*path)).cloned().collect();
        let since = repo.unlike((&last, recorded), &own)?;
        kept.retain(|path| !own.contains(path) || since.contains(path));
        if kept.is_empty() {
            return Ok(None);
        }
        let commit = repo.checkpoint_of((&self.ref_of(owner), &base), recorded, &kept, LABEL)?;
        kept.retain(stay);
        let said = (!kept.is_empty()).then(|| {
            format!(
                "\n\nChanges that somebody else made before and that are in no commit were in {}. \
                 Commit {} has these files as they were before this command.",
                named(&kept),
                commit.0
            )
        });
        // Nothing of it is the run's: it is not touched yet.
        let touched = Vec::new();
        self.emit(Event::Checkpointed { tree: owner, commit, touched, uncommitted: kept })?;
        Ok(said)
    }

    /// Notes for the report that commands left a stash, which nothing but their layer has.
    pub(crate) fn note_stash(&mut self, word: OutcomeWord) -> Result<(), Stop> {
        let Some(layer) = self.layers.get(&None).cloned().flatten() else { return Ok(()) };
        let is_kept = matches!(
            word,
            OutcomeWord::Cancelled | OutcomeWord::TimedOut | OutcomeWord::BudgetExhausted
        );
        if is_kept || !self.parts.workspace.repo.has_stash_in(&layer) {
            return Ok(());
        }
        let text = "Commands left a stash. It was never in the repository, and is gone with the \
                    layer that they wrote to.";
        self.note_once(TaskId::default(), text.to_owned())
    }

    /// Returns files that had changes in no commit and are not as they were before a command, by
    /// the number of the checkpoint that has them.
    pub(crate) fn replaced(&self) -> BTreeMap<usize, BTreeSet<RepoPath>> {
        let mut replaced: BTreeMap<usize, BTreeSet<RepoPath>> = BTreeMap::new();
        let tree = &self.state.tree;
        for (path, kept) in &tree.uncommitted {
            if tree.touched.contains_key(path) && !self.is_as_found(path) {
                replaced.entry(kept.number).or_default().insert(path.clone());
            }
        }
        replaced
    }

    /// Whether a file with changes in no commit is as it was before a command changed it first.
    pub(crate) fn is_as_found(&self, path: &RepoPath) -> bool {
        let kept = self.state.tree.uncommitted.get(path);
        kept.is_some_and(|kept| self.parts.workspace.repo.is_as_in(&kept.commit, path))
    }

    /// Says which files these are, and how they are had back.
    pub(crate) fn replaced_notes(
        &self,
        replaced: &BTreeMap<usize, BTreeSet<RepoPath>>,
    ) -> Vec<String> {
        let session = &self.start().id;
        let note = |(number, paths): (&usize, &BTreeSet<RepoPath>)| {
            let text = format!(
                "Commands changed or removed files that had changes in no commit: {}. Checkpoint \
                 {number} has them as they were: `locum session restore {session} {number}`.",
                named(paths)
            );
            self.parts.run.redactor.redact(&text)
        };
        replaced.iter().map(note).collect()
    }
}
