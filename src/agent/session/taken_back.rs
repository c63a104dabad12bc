//! Commands that write to the checkout itself, because this machine gives them no layer: what they
//! wrote is judged afterwards, and what may not stay is taken back.
//!
//! In: a command that ended, and what is different from before it. Out: its answer. A copy of what
//! is taken back is kept with the session. Protected files that git ignores are put back to what
//! they held, and so are files that were recorded before the command because they were in no commit.
//! What else had changes that are in no commit is left as it is, and ends the session.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::session::held_changes::{named, refusal_of};
use crate::session::judged::reasons;
use crate::session::live::Session;
use crate::session::promotion::{HeldChanges, Promotion, RefusedEdits};
use crate::session::rewind::without_content;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::intent::Intent;
use locum_policy::verdict::{Decision, Verdict};
use locum_workspace::aside::LargeFiles;
use locum_workspace::repo::CommitId;
use locum_workspace::touched::Snapshot;

/// Folder of a session with copies of what was taken back from the checkout, by call.
const TAKEN_BACK_FOLDER: &str = "taken-back";

/// The result of a call with effects.
pub(crate) struct PerformedCall<'d> {
    pub(crate) observation: Observation,
    /// What it was permitted to do.
    pub(crate) intents: Vec<Intent>,
    /// For commands: the checkout before it.
    pub(crate) before: Option<&'d Snapshot>,
}

impl Session<'_> {
    /// Answers a call after judging every file it changed in the checkout without having named it;
    /// what is not allowed is put back.
    ///
    /// # Errors
    /// Also when something cannot be put back: a file that had changes of its own before the
    /// command, which are in no commit.
    pub(crate) fn answer_written(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        done: PerformedCall<'_>,
    ) -> Result<(), Stop> {
        let PerformedCall { mut observation, intents, before } = done;
        let mut refused = self.refused_edits(id, waiting, &observation.touched, &intents)?;
        let checkout = &self.place(id)?.checkout;
        let is_there = |path: &RepoPath| checkout.entry(path).is_ok_and(|entry| entry.is_some());
        let (written, removed) = observation.touched.iter().cloned().partition(is_there);
        self.refuse_git_data(id, &written, &removed, &mut refused)?;
        self.refuse_unrecorded(id, &mut observation, before, &mut refused)?;
        refuse_beside_refused(&mut refused, &observation.touched);
        if let Some(before) = before {
            let stays = |path: &RepoPath| {
                !refused.denied.contains_key(path) && !refused.held.contains_key(path)
            };
            let said = self.keep_written(id, before, &observation.touched, stays)?;
            observation.text.push_str(&said.unwrap_or_default());
        }
        if refused.denied.is_empty() && refused.held.is_empty() {
            return self.answer(id, waiting, observation);
        }
        let owner = self.state.tree_owner(id);
        let Some(base) = self.saved(owner) else {
            return Err(Stop::failed("there is no commit that a command's changes go back to"));
        };
        let owned = &self.state.tree(owner).touched;
        let is_kept = |path: &RepoPath| before.is_some_and(|before| before.keeps(path));
        let is_lost = |path: &&RepoPath| {
            before.is_some_and(|before| before.is_dirty(path) && !before.is_recorded(path))
                && !owned.contains_key(*path)
                && !is_kept(path)
        };
        let guarded: BTreeSet<RepoPath> =
            refused.denied.keys().filter(|path| is_kept(path)).cloned().collect();
        let all = refused.denied.keys().chain(refused.held.keys());
        let lost: BTreeSet<RepoPath> = all.filter(is_lost).cloned().collect();
        let held = self.hold_written(id, &base, &mut refused, lost.is_empty())?;
        let refusal = refusal_of(&refused.denied, Decision::Deny);
        if refusal.is_some() {
            let fate = if lost.is_empty() { "were undone" } else { "could not all be undone" };
            observation.text.push_str(&format!(
                "\n\nChanges that the policy does not allow {fate}: {}.",
                reasons(refused.denied.values())
            ));
        }
        let is_refused = |path: &RepoPath| {
            refused.denied.contains_key(path)
                || held.as_ref().is_some_and(|held| held.paths.contains(path))
        };
        observation.touched.retain(|path| !is_refused(path));
        if let Some(before) = before {
            self.put_back_guarded(id, before, &guarded, &waiting.call.id)?;
        }
        let goes = |path: &RepoPath| !lost.contains(path) && !guarded.contains(path);
        let keep = refused.denied.into_keys().filter(goes).collect();
        let promotion =
            Promotion { keep, held, lost, observation, refusal, ..Promotion::default() };
        self.note_promotion(id, waiting, &promotion)?;
        self.promote(id, waiting, promotion)
    }

    /// Refuses files that cannot be recorded, such as one that is too large. One that was there
    /// before and is in no commit stays, and is none of the run's. So is what a person had closed.
    fn refuse_unrecorded(
        &mut self,
        id: TaskId,
        observation: &mut Observation,
        before: Option<&Snapshot>,
        refused: &mut RefusedEdits,
    ) -> Result<(), Stop> {
        let place = self.place(id)?;
        let mut left = Vec::new();
        for path in &observation.touched {
            if before.is_some_and(|before| place.repo.was_unseen(before, path)) {
                left.push((path.clone(), format!("`{path}` was closed before the command")));
                continue;
            }
            let Some(why) = place.checkout.unrecorded(path) else { continue };
            if before.is_some_and(|before| before.is_dirty(path)) {
                left.push((path.clone(), why));
            } else if !refused.denied.contains_key(path) {
                let verdict = Verdict::denied(Intent::Edit(path.clone()).to_string(), why);
                refused.held.remove(path);
                refused.denied.insert(path.clone(), verdict);
            }
        }
        for (path, why) in left {
            if refused.denied.contains_key(&path) {
                continue;
            }
            refused.held.remove(&path);
            observation.touched.retain(|touched| *touched != path);
            let text = format!("Left in the checkout as it is, and no part of the work: {why}.");
            observation.text.push_str(&format!("\n\n{text}"));
            self.note_once(id, text)?;
        }
        Ok(())
    }

    /// Sets aside what waits for a decision, where all of it can be kept until then and the
    /// session goes on; else it is denied.
    fn hold_written(
        &mut self,
        id: TaskId,
        base: &CommitId,
        refused: &mut RefusedEdits,
        goes_on: bool,
    ) -> Result<Option<HeldChanges>, Stop> {
        let Some(refusal) = refusal_of(&refused.held, Decision::Hold) else { return Ok(None) };
        let paths: BTreeSet<RepoPath> = refused.held.keys().cloned().collect();
        let why = if goes_on {
            let repo = &self.place(id)?.repo;
            let kept = repo.set_aside_written(base, &paths).and_then(|aside| {
                repo.keep_aside(self.start().id.as_str(), &aside).map(|()| aside)
            });
            match kept {
                Ok(aside) => return Ok(Some(HeldChanges { paths, aside, refusal })),
                Err(error) => {
                    format!("it needs an approval and cannot be kept until then: {error}")
                }
            }
        } else {
            "it needs an approval, and the run ends here".to_owned()
        };
        for path in paths {
            let verdict = Verdict::denied(Intent::Edit(path.clone()).to_string(), why.clone());
            refused.denied.insert(path, verdict);
        }
        Ok(None)
    }

    /// Takes back what a command wrote to the checkout and may not stay there; a copy is kept with
    /// the session.
    pub(crate) fn take_back(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        promotion: &Promotion,
    ) -> Result<(), Stop> {
        let (keep, call) = (&promotion.keep, &waiting.call.id);
        let held = promotion.held.iter().flat_map(|held| &held.paths);
        self.take_back_paths(id, &keep.iter().chain(held).cloned().collect(), call)?;
        if keep.is_empty() { Ok(()) } else { self.note_taken_back(id, keep, call) }
    }

    /// Puts protected files that git ignores back to what they held before a command; a copy of
    /// what they held after it is kept with the session, below `label`.
    pub(crate) fn put_back_guarded(
        &mut self,
        id: TaskId,
        before: &Snapshot,
        paths: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<(), Stop> {
        if paths.is_empty() {
            return Ok(());
        }
        let kept = self.copies(label);
        let repo = &self.place(id)?.repo;
        let back = repo
            .copy_out(paths, &kept, LargeFiles::Moved)
            .and_then(|()| paths.iter().try_for_each(|path| repo.put_back(before, path).map(drop)));
        back.map_err(|error| still_there(&error.to_string()))?;
        self.note_taken_back(id, paths, label)
    }

    fn note_taken_back(
        &mut self,
        id: TaskId,
        paths: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<(), Stop> {
        let mut text = format!(
            "Taken back from the checkout, because the policy does not allow the change: {}.",
            named(paths)
        );
        let copies = self.copies(label);
        // Of what the command removed there is none.
        if copies.exists() {
            text.push_str(&format!(
                " A copy of each file as it was until then is in `{}`, in case a person had \
                 changed it.",
                copies.display()
            ));
        }
        self.note_once(id, text)
    }

    /// Returns where copies of what is taken back lie.
    pub(crate) fn copies(&self, label: &str) -> PathBuf {
        self.journal.folder().join(TAKEN_BACK_FOLDER).join(label)
    }

    /// Takes paths back to what is safe of them; a copy is kept with the session, below `label`.
    pub(crate) fn take_back_paths(
        &mut self,
        id: TaskId,
        paths: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<(), Stop> {
        let Some(commit) = self.saved(self.state.tree_owner(id)) else { return Ok(()) };
        let kept = self.copies(label);
        let repo = &self.place(id)?.repo;
        let mut unfiltered = BTreeSet::new();
        let mut taken = |paths: &BTreeSet<RepoPath>| {
            repo.take_back(&commit, paths, &kept).map(|found| unfiltered.extend(found))
        };
        // What is wrong with one path keeps no other in the checkout.
        let left: Vec<String> = match taken(paths) {
            Ok(()) => Vec::new(),
            Err(_) => {
                let each = paths.iter().map(|path| taken(&BTreeSet::from([path.clone()])));
                each.filter_map(Result::err).map(|error| error.to_string()).collect()
            }
        };
        if !unfiltered.is_empty() {
            self.note_once(id, without_content(&unfiltered))?;
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(still_there(&left.join("; ")))
    }
}

fn still_there(errors: &str) -> Stop {
    Stop::fault(format!(
        "changes that the policy does not allow are still in the checkout, and have to be taken \
         back by hand: {errors}"
    ))
}

/// Refuses also what is allowed in the place of something that is not, or below it.
fn refuse_beside_refused<'p>(
    refused: &mut RefusedEdits,
    touched: impl IntoIterator<Item = &'p RepoPath>,
) {
    let all: BTreeSet<RepoPath> =
        refused.denied.keys().chain(refused.held.keys()).cloned().collect();
    for path in touched.into_iter().filter(|path| !all.contains(*path)) {
        if all.iter().any(|other| path.is_within(other) || other.is_within(path)) {
            let reason = "it is in the place of something that stays".to_owned();
            let verdict = Verdict::denied(Intent::Edit(path.clone()).to_string(), reason);
            refused.denied.insert(path.clone(), verdict);
        }
    }
}
