//! What somebody else did to the run's own checkout while the session was stopped: said to the
//! tasks at work there and in the report, and left as it is.
//!
//! In: the last checkpoint and the files touched until then. Out: a reminder and a note in the
//! journal, once for the same finding.

use std::collections::BTreeSet;

use crate::session::event::Event;
use crate::session::held_changes::named;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::session::task::TaskState;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_workspace::repo::CommitId;

impl Session<'_> {
    /// Notes which files that the run had changed are not as it left them.
    pub(crate) fn note_changed_checkout(&mut self) -> Result<(), Stop> {
        let Some(checkpoint) = self.state.tree.checkpoint.clone() else { return Ok(()) };
        let Some(left) = self.left_as_saved() else { return Ok(()) };
        let repo = &self.parts.workspace.repo;
        let paths = |commit: &CommitId, of: &BTreeSet<RepoPath>| -> Result<BTreeSet<_>, Stop> {
            Ok(repo.changes(commit, of)?.into_iter().map(|change| change.path).collect())
        };
        let changed = paths(&checkpoint, &left)?;
        if changed.is_empty() {
            return Ok(());
        }
        let other = paths(&self.start().base, &changed)?;
        let reset: BTreeSet<RepoPath> = changed.difference(&other).cloned().collect();
        let works_here = |id: &&TaskId| self.state.tree_owner(**id).is_none();
        let here: Vec<TaskId> = self.state.running.iter().filter(works_here).copied().collect();
        for id in here {
            self.tell_changed(id, (&changed, &reset), &checkpoint)?;
        }
        let text = told(&changed, &reset, &checkpoint);
        self.note_once(TaskId::default(), text)
    }

    /// Notes once what readers of the outcome have to know.
    pub(crate) fn note_once(&mut self, task: TaskId, text: String) -> Result<(), Stop> {
        let text = self.parts.run.redactor.redact(&text);
        if self.state.notes.contains(&text) {
            return Ok(());
        }
        self.emit(Event::Noted { task, text })
    }

    /// Tells a task about the files that it may read, unless it was told already.
    fn tell_changed(
        &mut self,
        id: TaskId,
        (changed, reset): (&BTreeSet<RepoPath>, &BTreeSet<RepoPath>),
        checkpoint: &CommitId,
    ) -> Result<(), Stop> {
        let may_read = self.readable(id)?;
        let seen = |paths: &BTreeSet<RepoPath>| -> BTreeSet<RepoPath> {
            paths.iter().filter(|path| may_read(path)).cloned().collect()
        };
        let (changed, reset) = (seen(changed), seen(reset));
        drop(may_read);
        let text = told(&changed, &reset, checkpoint);
        if changed.is_empty() || self.task(id)?.nudges.reminded_of.contains(&text) {
            return Ok(());
        }
        let about = Some(text.clone());
        let text = format!("{text} Read them again before you go on.");
        self.emit(Event::Reminded { task: id, text, mistake: false, about })
    }

    /// Returns the files that should be as the last checkpoint has them; `None` where the session
    /// was killed in the middle of something that may have changed any of them.
    fn left_as_saved(&self) -> Option<BTreeSet<RepoPath>> {
        let tree = &self.state.tree;
        let mut left: BTreeSet<RepoPath> = tree.touched.keys().cloned().collect();
        left.retain(|path| !tree.unsaved.contains(path));
        let is_merging = |task: &TaskState| {
            task.isolation.isolated && task.ended.is_some() && task.isolation.merge.is_none()
        };
        if self.state.tasks.iter().any(is_merging) {
            return None;
        }
        let here = self.state.tasks.iter().filter(|task| self.state.tree_owner(task.id).is_none());
        for announced in
            here.flat_map(|task| task.turn.open()).filter_map(|call| call.performing.as_ref())
        {
            if announced.snapshot.is_some() {
                return None;
            }
            let edited = announced.before.iter().map(|file| &file.path);
            let brought = announced.promotion.iter().flat_map(|promotion| {
                let held = promotion.held.iter().flat_map(|held| &held.paths);
                promotion.observation.touched.iter().chain(held).chain(&promotion.keep)
            });
            edited.chain(brought).for_each(|path| {
                left.remove(path);
            });
        }
        Some(left)
    }
}

/// Says which files are not as the run left them, and which of them are as before the run.
fn told(changed: &BTreeSet<RepoPath>, reset: &BTreeSet<RepoPath>, checkpoint: &CommitId) -> String {
    let reset = if reset.is_empty() {
        String::new()
    } else if reset.len() == changed.len() {
        " They are as they were before the run.".to_owned()
    } else {
        format!(" Of them, {} are as before the run.", named(reset))
    };
    format!(
        "While the run was stopped, somebody else changed files that it had changed: {}.{reset} \
         What the run had written is in commit {}.",
        named(changed),
        checkpoint.0
    )
}
