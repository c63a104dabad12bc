//! Effects: a permitted call that may write is announced in the journal, performed, and what it
//! changed is judged again.
//!
//! In: a permitted call. Out: its answer in the journal. A call found announced but unanswered
//! after a kill is recovered here: edits are put back and done again, commands are not.

use std::collections::BTreeSet;

use futures::FutureExt;
use tracing::Instrument;

use crate::session::Session;
use crate::session::calls::{Permitted, reasons};
use crate::session::event::{ContentBefore, Event, FileBefore, TouchedPath};
use crate::session::fork::ref_of;
use crate::session::outcome::OutcomeWord;
use crate::session::spans::call_span;
use crate::session::stop::Stop;
use crate::session::task::WaitingCall;
use crate::session::work::{Done, Work};
use crate::tools::Observation;
use crate::tools::dispatch::{self, Call, Given};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::prompts::reminders;
use locum_modes::{Group, access};
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Decision, Refusal, Verdict};
use locum_sandbox::exec::Exit;
use locum_workspace::checkout::FileError;
use locum_workspace::touched::Snapshot;

/// Largest file whose content is kept before it is edited, so that an edit cut off midway can be
/// done again.
pub(crate) const KEPT_LIMIT_BYTES: u64 = 16 << 20;

/// How a command is reported that was cut off together with the run: as killed.
const CUT_OFF: Exit = Exit::Signal(9);

impl<'a> Session<'a> {
    /// Performs a call that does not only read, or steers the session. Returns what has to be
    /// waited for.
    pub(crate) fn perform_alone(
        &mut self,
        id: TaskId,
        permitted: Permitted,
    ) -> Result<Option<Work<'a>>, Stop> {
        let Permitted { waiting, permit } = permitted;
        if let Call::AskExpertModel(_) = permit.act() {
            return self.ask_expert(id, waiting, permit);
        }
        if let Call::GenerateImage(_) = permit.act() {
            match &waiting.painted {
                None => return self.draw(id, Permitted { waiting, permit }),
                Some(painting) if painting.image.is_none() => {
                    return self.not_painted(id, &waiting, painting);
                }
                Some(_) => {}
            }
        }
        if steers(permit.act().tool()) {
            return self.steer_by(id, &waiting, permit).map(|()| None);
        }
        match &waiting.performing {
            Some(performing) if !self.recover(id, &permit, &performing.before)? => {
                self.answer_interrupted(id, &waiting)
            }
            Some(_) => self.perform(id, Permitted { waiting, permit }, None).map(Some),
            None => {
                let before = self.keep_before(id, &permit)?;
                let looks = runs_command(&permit);
                let permitted = Permitted { waiting, permit };
                if looks {
                    let permitted = Box::new(permitted);
                    return self
                        .look(id, |snapshot| Done::LookedBefore { permitted, before, snapshot })
                        .map(Some);
                }
                self.announce(id, permitted, before, None).map(Some)
            }
        }
    }

    /// Does what a steering call says; it waits for nothing.
    fn steer_by(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        permit: Permit<Call>,
    ) -> Result<(), Stop> {
        let tools = self.tools(id)?;
        let visible = tools.readable();
        let span = call_span(&self.turn_span(id), waiting, &permit);
        let observation =
            dispatch::perform(permit, tools.context(&visible)).instrument(span).now_or_never();
        self.steer(
            id,
            waiting,
            observation.unwrap_or_else(|| Observation::failed("This call cannot be performed.")),
        )
    }

    /// Announces a call with effects in the journal and performs it.
    pub(crate) fn announce(
        &mut self,
        id: TaskId,
        permitted: Permitted,
        before: Vec<FileBefore>,
        snapshot: Option<Snapshot>,
    ) -> Result<Work<'a>, Stop> {
        let kept = snapshot.as_ref().map(|snapshot| self.keep_snapshot(snapshot)).transpose()?;
        self.emit(Event::Performing {
            task: id,
            call: permitted.waiting.call.id.clone(),
            before,
            snapshot: kept,
        })?;
        self.perform(id, permitted, snapshot)
    }

    fn perform(
        &mut self,
        id: TaskId,
        permitted: Permitted,
        snapshot: Option<Snapshot>,
    ) -> Result<Work<'a>, Stop> {
        let Permitted { waiting, permit } = permitted;
        let (intents, waiting, tools) =
            (permit.act().intents(), Box::new(waiting), self.tools(id)?);
        let span = call_span(&self.turn_span(id), &waiting, &permit);
        Ok(async move {
            let visible = tools.readable();
            let picture = waiting.painted.as_ref().and_then(|painting| painting.image.as_ref());
            let given = Given { before: snapshot.as_ref(), picture };
            let observation = dispatch::perform_with(permit, tools.context(&visible), given).await;
            (id, Done::Performed { waiting, observation, intents, snapshot })
        }
        .instrument(span)
        .boxed_local())
    }

    /// Keeps what the files a call would edit hold now.
    fn keep_before(&mut self, id: TaskId, permit: &Permit<Call>) -> Result<Vec<FileBefore>, Stop> {
        let intents = permit.act().intents().into_iter();
        let paths = intents
            .filter_map(|intent| if let Intent::Edit(path) = intent { Some(path) } else { None });
        let place = self.place(id)?;
        let keep = |path: RepoPath| {
            let content = match place.checkout.read(permit, &path, KEPT_LIMIT_BYTES) {
                Ok(content) => ContentBefore::Kept(self.journal.keep(&content)?),
                Err(FileError::Missing(_)) => ContentBefore::Absent,
                Err(_unreadable) => ContentBefore::NotKept,
            };
            Ok(FileBefore { path, content })
        };
        paths.map(keep).collect()
    }

    /// Puts back what the files of an interrupted call held before it; false when the call must not
    /// be performed again.
    fn recover(
        &mut self,
        id: TaskId,
        permit: &Permit<Call>,
        before: &[FileBefore],
    ) -> Result<bool, Stop> {
        let only_edits =
            permit.act().intents().iter().all(|intent| {
                matches!(intent, Intent::Edit(_) | Intent::Read(_) | Intent::Expert(_))
            });
        if !only_edits
            || before.is_empty()
            || before.iter().any(|file| file.content == ContentBefore::NotKept)
        {
            return Ok(false);
        }
        let place = self.place(id)?;
        let checkout = &place.checkout;
        for file in before {
            let done = match &file.content {
                ContentBefore::Kept(hash) => {
                    checkout.write(permit, &file.path, &self.journal.kept(hash)?)
                }
                ContentBefore::Absent => match checkout.remove(permit, &file.path) {
                    Err(FileError::Missing(_)) => Ok(()),
                    other => other,
                },
                ContentBefore::NotKept => Ok(()),
            };
            done.map_err(|error| {
                Stop::session(
                    OutcomeWord::Failed,
                    format!("an interrupted edit could not be undone: {error}"),
                )
            })?;
        }
        Ok(true)
    }

    /// Answers a call that was cut off midway, with what it changed until then. Returns what has to
    /// be waited for.
    pub(crate) fn answer_interrupted(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
    ) -> Result<Option<Work<'a>>, Stop> {
        let kept = waiting.performing.as_ref().and_then(|performing| performing.snapshot.as_ref());
        let Some(hash) = kept else { return self.answer_cut_off(id, waiting, None).map(|()| None) };
        let (before, waiting) = (self.kept_snapshot(hash)?, Box::new(waiting.clone()));
        self.look(id, |after| Done::LookedAfter { waiting, before, after }).map(Some)
    }

    /// Answers such a call; `looks` is the checkout before it and now.
    pub(crate) fn answer_cut_off(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        looks: Option<(Snapshot, Snapshot)>,
    ) -> Result<(), Stop> {
        let mut observation = Observation::failed(reminders::interrupted());
        observation.exit = waiting.command.as_ref().map(|_| CUT_OFF);
        let edited = waiting
            .performing
            .iter()
            .flat_map(|performing| &performing.before)
            .map(|file| file.path.clone());
        observation.touched.extend(edited);
        if let Some((before, after)) = &looks {
            observation.touched.extend(self.place(id)?.repo.touched(before, after)?);
        }
        self.answer_judged(id, waiting, observation, &[], looks.as_ref().map(|(before, _)| before))
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<String, Stop> {
        let bytes = serde_json::to_vec(snapshot).map_err(|error| lost_snapshot(&error))?;
        Ok(self.journal.keep(&bytes)?)
    }

    fn kept_snapshot(&self, hash: &str) -> Result<Snapshot, Stop> {
        serde_json::from_slice(&self.journal.kept(hash)?).map_err(|error| lost_snapshot(&error))
    }

    /// Answers a call after judging every file it changed without having named it (a command); what
    /// is not allowed is put back.
    ///
    /// # Errors
    /// Also when something cannot be put back: a file that had changes of its own before the
    /// command, which are in no commit.
    pub(crate) fn answer_judged(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        mut observation: Observation,
        intents: &[Intent],
        before: Option<&Snapshot>,
    ) -> Result<(), Stop> {
        let mode = self.task(id)?.mode.clone();
        let unnamed = observation
            .touched
            .iter()
            .filter(|path| !intents.contains(&Intent::Edit((*path).clone())));
        let verdicts: Vec<(RepoPath, Verdict)> = unnamed
            .map(|path| Ok((path.clone(), self.edit_verdict(&mode, path)?)))
            .collect::<Result<_, Stop>>()?;
        // A person's yes to a command is one to what it does: what would be held may stay, what is
        // denied is put back.
        let least = if self.state.is_approved(waiting) { Decision::Hold } else { Decision::Allow };
        let (undone, verdicts): (BTreeSet<RepoPath>, Vec<Verdict>) =
            verdicts.into_iter().filter(|(_, verdict)| verdict.decision > least).unzip();
        if undone.is_empty() {
            let refused = observation.refused.take();
            return self.answered(id, waiting, observation, refused, false);
        }
        let touched = &self.state.tree(self.state.tree_owner(id)).touched;
        let lost = |path: &&RepoPath| {
            before.is_some_and(|before| before.is_dirty(path)) && !touched.contains_key(*path)
        };
        let lost: Vec<String> =
            undone.iter().filter(lost).map(|path| format!("`{path}`")).collect();
        let refusal = Refusal { decision: Decision::Deny, verdicts, hint: None };
        let fate = if lost.is_empty() { "were undone" } else { "could not all be undone" };
        observation.text.push_str(&format!(
            "\n\nChanges that the policy does not allow {fate}: {}.",
            reasons(&refusal)
        ));
        observation.touched.retain(|path| !undone.contains(path));
        if lost.is_empty() {
            self.put_back(id, &undone)?;
        }
        self.answered(id, waiting, observation, Some(Box::new(refusal)), false)?;
        if lost.is_empty() {
            return Ok(());
        }
        let what = "which the policy does not allow and which had changes that are in no commit; \
                    they are left as they are now";
        Err(Stop::session(
            OutcomeWord::Failed,
            format!("a command changed {}, {what}", lost.join(", ")),
        ))
    }

    /// Returns the verdict on changing a file in a mode: the policy's, then the mode's own.
    pub(crate) fn edit_verdict(&self, mode: &str, path: &RepoPath) -> Result<Verdict, Stop> {
        let verdict = self.parts.run.policy.decide(&Intent::Edit(path.clone()), &self.facts(mode));
        if verdict.decision != Decision::Allow {
            return Ok(verdict);
        }
        let mode = self.mode(mode)?;
        let reason = if mode.groups.iter().any(|entry| entry.group == Group::Edit) {
            access::check_edit(mode, ToolName::ExecuteCommand, path)
                .err()
                .map(|error| error.to_string())
        } else {
            Some(format!("mode `{}` changes no files", mode.slug))
        };
        Ok(match reason {
            Some(reason) => Verdict::denied(verdict.intent, reason),
            None => verdict,
        })
    }

    fn put_back(&mut self, id: TaskId, paths: &BTreeSet<RepoPath>) -> Result<(), Stop> {
        let Some(commit) = self.saved(self.state.tree_owner(id)) else { return Ok(()) };
        Ok(self.place(id)?.repo.restore(&commit, paths)?)
    }

    /// Makes a checkpoint of what was touched in a checkout since the last one and counts the lines
    /// changed.
    pub(crate) fn save(&mut self, owner: Option<TaskId>) -> Result<(), Stop> {
        let place = self.place_of(owner)?;
        let there =
            self.state.at_work().filter(|task| self.state.tree_owner(task.id) == owner).last();
        let label =
            there.map_or("end".to_owned(), |task| format!("task {} turn {}", task.id, task.turns));
        let (Some(start), Some(base)) = (&self.state.start, self.start_of(owner)) else {
            return Ok(());
        };
        let paths = &self.state.tree(owner).unsaved;
        let commit = place.repo.checkpoint(&ref_of(&start.id, owner), &base, paths, &label)?;
        let changes = place.repo.changes(&base, paths)?;
        let lines_of = |path: &RepoPath| {
            changes
                .iter()
                .find(|change| change.path == *path)
                .map(|change| change.added.saturating_add(change.removed))
        };
        let touched = paths
            .iter()
            .map(|path| TouchedPath { path: path.clone(), diff_lines: lines_of(path) })
            .collect();
        self.emit(Event::Checkpointed { tree: owner, commit, touched })
    }
}

fn lost_snapshot(error: &serde_json::Error) -> Stop {
    Stop::session(
        OutcomeWord::Failed,
        format!("what a command changed cannot be found out: {error}"),
    )
}

fn runs_command(permit: &Permit<Call>) -> bool {
    permit.act().intents().iter().any(|intent| matches!(intent, Intent::Command(_)))
}

/// Returns true for tools that act on the session and not on the world.
fn steers(tool: ToolName) -> bool {
    match tool {
        ToolName::UpdateTodoList
        | ToolName::Skill
        | ToolName::AskExpertModel
        | ToolName::AskFollowupQuestion
        | ToolName::AttemptCompletion
        | ToolName::NewTask
        | ToolName::SwitchMode
        | ToolName::RequestModeSwitch
        | ToolName::CoordinateMode => true,
        ToolName::ReadFile
        | ToolName::ListFiles
        | ToolName::SearchFiles
        | ToolName::WriteToFile
        | ToolName::ApplyDiff
        | ToolName::ApplyPatch
        | ToolName::GenerateImage
        | ToolName::ExecuteCommand
        | ToolName::WebFetch
        | ToolName::UseMcpTool
        | ToolName::AccessMcpResource => false,
    }
}
