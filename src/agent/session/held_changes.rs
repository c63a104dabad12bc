//! Held changes: what a command wrote to files that a person decides about. It is set aside, and
//! the session stops at the command until that person says yes or no.
//!
//! In: a command whose changes were judged, and later the decision. Out: the changes in the
//! checkout, or an answer that says why not. Until then a private ref keeps them.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::event::Event;
use crate::session::judged::reasons;
use crate::session::live::Session;
use crate::session::pause::{HeldPreview, HoldDecision};
use crate::session::promotion::HeldChanges;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::prompts::reminders;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Decision, Refusal, RefusedBy, Verdict};
use locum_workspace::aside::SetAside;

/// Most denied edits of one command that are recorded one by one.
const DENIED_EDITS_RECORDED: usize = 100;

/// Most paths that are named one by one.
const PATHS_NAMED: usize = 20;

/// The act of changing what a person approved.
struct ApprovedEdits(BTreeSet<RepoPath>);

impl Act for ApprovedEdits {
    fn intents(&self) -> Vec<Intent> {
        self.0.iter().cloned().map(Intent::Edit).collect()
    }
}

impl Session<'_> {
    /// Answers a command some of whose changes are held, as a person decided.
    ///
    /// # Errors
    /// Also without a decision: the session stops for it.
    pub(crate) fn answer_held(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        mut observation: Observation,
        held: HeldChanges,
    ) -> Result<(), Stop> {
        let approval = match self.decision_on(id, waiting, &held.refusal) {
            None => return Err(self.hold_changes(id, waiting, &held)),
            Some(HoldDecision::Denied(decided)) => {
                let denied = reminders::denied_by_person(&decided.by, decided.reason());
                let what = named(&held.paths);
                observation.text.push_str(&format!("\n\nChanges of {what} were held. {denied}"));
                let refusal = held.refusal.by_person(&decided.by, decided.reason());
                let refusal = Box::new(refusal);
                observation.refused = Some(joined(observation.refused.take(), refusal));
                self.answer(id, waiting, observation)?;
                self.let_go(&held.aside);
                return Ok(());
            }
            Some(HoldDecision::Approved(approval)) => approval,
        };
        let facts = self.facts(&self.task(id)?.mode);
        let edits = ApprovedEdits(held.paths.clone());
        let mut is_named = false;
        match self.parts.run.policy.admit_approved(edits, &facts, approval) {
            Err(refusal) => {
                let refused = reminders::refused(&reasons(&refusal.verdicts), &[]);
                observation.text.push_str(&format!("\n\n{refused}"));
                observation.refused = Some(joined(observation.refused.take(), refusal));
            }
            Ok(permit) => {
                let repo = &self.place(id)?.repo;
                let is_free = repo.aside_conflicts(&held.aside, &held.paths)?.is_empty();
                let kept = match is_free {
                    true => self.keep_files(id, &held.paths, &waiting.call.id)?,
                    false => None,
                };
                let of_others = self.bring_held(id, waiting, &permit, &held)?;
                let what = named(&held.paths);
                observation.text.push_str(&format!("\n\nA person approved the changes of {what}."));
                if of_others.is_empty() {
                    observation.text.push_str(&kept.unwrap_or_default());
                    observation.touched.extend(held.paths);
                } else {
                    is_named = true;
                    let (others, commit) = (named(&of_others), &held.aside.after.0);
                    observation.text.push_str(&format!(
                        " But somebody else changed {others} meanwhile, so none of it is in the \
                         checkout; commit {commit} has it. Read the files again before you change \
                         them."
                    ));
                    self.note_once(
                        id,
                        format!(
                            "The approved changes of {what} are not in the checkout, because \
                             somebody else changed {others} meanwhile. Commit {commit} has them."
                        ),
                    )?;
                }
            }
        }
        self.answer(id, waiting, observation)?;
        // A commit that people read of stays until the session goes.
        if !is_named {
            self.let_go(&held.aside);
        }
        Ok(())
    }

    /// Lets go of changes that somebody decided on. A ref that cannot be removed goes with the
    /// session.
    fn let_go(&self, aside: &SetAside) {
        let session = self.start().id.as_str();
        if let Err(error) = self.parts.workspace.repo.drop_aside(session, aside) {
            tracing::warn!(%error, "the ref of held changes");
        }
    }

    /// Brings approved changes into the checkout; returns the files that somebody else changed, in
    /// which case nothing is brought.
    fn bring_held(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        permit: &Permit<ApprovedEdits>,
        held: &HeldChanges,
    ) -> Result<Vec<RepoPath>, Stop> {
        self.emit(Event::Judged {
            task: id,
            call: waiting.call.id.clone(),
            headline: self.headline_of(id, waiting)?,
            command: waiting.command.clone(),
            verdicts: permit.verdicts().to_vec(),
            approval: permit.approval().cloned(),
        })?;
        Ok(self.place(id)?.repo.bring_aside(&held.aside, &permit.act().0)?)
    }

    /// Returns what a call does, in words: it was judged after `waiting` was taken down.
    pub(crate) fn headline_of(&self, id: TaskId, waiting: &WaitingCall) -> Result<String, Stop> {
        let judged =
            self.task(id)?.turn.call(&waiting.call.id).and_then(|call| call.headline.clone());
        Ok(judged.or_else(|| waiting.headline.clone()).unwrap_or_else(|| waiting.call.name.clone()))
    }

    /// Returns the stop at changes that are held, with what a maintainer needs to decide on them.
    fn hold_changes(&mut self, id: TaskId, waiting: &WaitingCall, held: &HeldChanges) -> Stop {
        // A session that was made of another, or by an earlier release, has no ref of its own yet.
        let session = self.start().id.as_str();
        if let Err(error) = self.parts.workspace.repo.keep_aside(session, &held.aside) {
            return error.into();
        }
        let headline = match self.headline_of(id, waiting) {
            Ok(headline) => headline,
            Err(stop) => return stop,
        };
        match self.changes_shown(id, held) {
            Ok(diff) => {
                let preview = HeldPreview { headline, diff, ..HeldPreview::default() };
                self.stop_on_hold(id, waiting, &held.refusal, preview)
            }
            Err(stop) => stop,
        }
    }

    /// Returns the changes of files that the task may read, as a diff.
    fn changes_shown(&mut self, id: TaskId, held: &HeldChanges) -> Result<Option<String>, Stop> {
        let facts = self.facts(&self.task(id)?.mode);
        let policy = self.parts.run.policy;
        let may_read = |path: &&RepoPath| {
            policy.decide(&Intent::Read((*path).clone()), &facts).decision == Decision::Allow
        };
        let readable = held.paths.iter().filter(may_read).cloned().collect();
        let changes = self.place(id)?.repo.aside_changes(&held.aside, &readable)?;
        let shown: String = changes.into_iter().map(|change| change.patch).collect();
        Ok((!shown.is_empty()).then_some(shown))
    }
}

/// Returns the refusal of these edits; `None` where there are none. A person approves each one that
/// is held; of those that are denied, the first stand for the others.
pub(crate) fn refusal_of(
    edits: &BTreeMap<RepoPath, Verdict>,
    decision: Decision,
) -> Option<Box<Refusal>> {
    let most = if decision == Decision::Hold { usize::MAX } else { DENIED_EDITS_RECORDED };
    let verdicts: Vec<Verdict> = edits.values().take(most).cloned().collect();
    (!verdicts.is_empty())
        .then(|| Box::new(Refusal { decision, verdicts, hint: None, by: RefusedBy::Policy }))
}

/// Returns both refusals as one.
pub(crate) fn joined(first: Option<Box<Refusal>>, mut second: Box<Refusal>) -> Box<Refusal> {
    let verdicts = first.map(|first| first.verdicts).unwrap_or_default();
    second.verdicts.splice(0..0, verdicts);
    second
}

/// Lists paths; of many, the first are named and the others counted.
pub(crate) fn named<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> String {
    let mut paths = paths.into_iter();
    let told = paths.by_ref().take(PATHS_NAMED).map(|path| format!("`{path}`"));
    let told = told.collect::<Vec<_>>().join(", ");
    match paths.count() {
        0 => told,
        others => format!("{told} and {others} more"),
    }
}
