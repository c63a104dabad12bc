//! Effects: a permitted call that may write is announced in the journal, performed, and what it
//! changed is judged again.
//!
//! In: a permitted call. Out: its answer in the journal. A call found announced but unanswered
//! after a kill is recovered here: edits are put back and done again, commands are not.

use std::collections::BTreeSet;

use futures::FutureExt;
use tracing::Instrument;

use crate::session::after_edit;
use crate::session::event::Event;
use crate::session::hook_runs::HooksSaid;
use crate::session::hooked;
use crate::session::judged::PermittedCall;
use crate::session::layered::{CUT_OFF, LayeredChanges};
use crate::session::live::Session;
use crate::session::promotion::RefusedEdits;
use crate::session::recorded::{ContentBefore, FileBefore};
use crate::session::spans::call_span;
use crate::session::stop::Stop;
use crate::session::taken_back::PerformedCall;
use crate::session::task::turn::WaitingCall;
use crate::session::unjudged;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::hooks::HookEvent;
use crate::tools::tool::ToolEffect;
use crate::tools::{EffectInputs, Observation, ToolContext};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::prompts::{image_model, reminders};
use locum_modes::{ToolGroup, access};
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Decision, Verdict};
use locum_workspace::checkout::FileError;
use locum_workspace::touched::Snapshot;

/// Largest file whose content is kept before it is edited, so that an edit cut off midway can be
/// done again.
pub(crate) const KEPT_LIMIT_BYTES: u64 = 16 << 20;

impl Session<'_> {
    /// Performs a call that does not only read, or steers the session.
    pub(crate) fn perform_alone(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
    ) -> Result<(), Stop> {
        let PermittedCall { waiting, permit, .. } = &permitted;
        if let CheckedCall::AskExpertModel(_) = permit.act() {
            return self.ask_expert(id, permitted);
        }
        if let CheckedCall::GenerateImage(_) = permit.act() {
            match &waiting.generated {
                None => return self.generate(id, permitted),
                Some(generated) if generated.image.is_none() => {
                    let text = image_model::no_picture(&generated.by, &generated.said);
                    return self.answer(id, waiting, Observation::failed(text));
                }
                Some(_) => {}
            }
        }
        if dispatch::effect(permit.act().tool()) == ToolEffect::Steers {
            let waiting = waiting.clone();
            let observation = self.perform_now(id, permitted)?;
            return self.steer(id, &waiting, observation);
        }
        match &waiting.performing {
            // What was judged already is brought.
            Some(performing)
                if performing.promotion.is_some()
                    || !self.recover(id, permit, &performing.before)? =>
            {
                self.answer_interrupted(id, waiting)
            }
            Some(_) => self.perform(id, permitted, None),
            None => {
                let before = self.keep_before(id, permit)?;
                if let CheckedCall::ExecuteCommand(command) = permit.act()
                    && command.in_background()
                {
                    self.prepare_background(id)?;
                    return self.announce(id, permitted, before, None);
                }
                let mut intents = permit.act().intents().into_iter();
                let runs = intents.any(|intent| matches!(intent, Intent::Command(_)));
                if !runs || self.begin_layer(id)? {
                    return self.announce(id, permitted, before, None);
                }
                self.look(id, move |session, mut snapshot| {
                    session.record_dirty(id, &mut snapshot)?;
                    session.announce(id, permitted, before, Some(snapshot))
                })
            }
        }
    }

    /// Performs a call that waits for nothing: one that steers the session.
    pub(crate) fn perform_now(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
    ) -> Result<Observation, Stop> {
        let PermittedCall { waiting, permit, .. } = permitted;
        let span = call_span(&self.turn_span(id), &waiting, &permit);
        let performed = self
            .task_env(id)?
            .with(|context| dispatch::perform(permit, context).instrument(span).now_or_never());
        Ok(performed.unwrap_or_else(|| Observation::failed("This call cannot be performed.")))
    }

    /// Announces a call with effects in the journal and performs it.
    fn announce(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
        before: Vec<FileBefore>,
        snapshot: Option<Snapshot>,
    ) -> Result<(), Stop> {
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
        permitted: PermittedCall,
        snapshot: Option<Snapshot>,
    ) -> Result<(), Stop> {
        let PermittedCall { waiting, permit, .. } = permitted;
        let checks_edit = self.prepare_after_edit(id, permit.act())?;
        let is_edit = dispatch::effect(permit.act().tool()) == ToolEffect::Edits;
        let follower = self.follower(id, &[&waiting])?;
        if follower.is_some() && dispatch::effect(permit.act().tool()) != ToolEffect::Runs {
            self.prepare_hooks(id)?;
        }
        let (intents, env) = (permit.act().intents(), self.task_env(id)?);
        let span = call_span(&self.turn_span(id), &waiting, &permit);
        let performed = async move {
            let visible = env.readable();
            let picture = waiting.generated.as_ref().and_then(|given| given.image.as_ref());
            let context = env.context(&visible);
            let given =
                EffectInputs { before: snapshot.as_ref(), picture, outputs: None, ..context.given };
            let context = ToolContext { given, ..context };
            let mut observation = dispatch::perform(permit, context).await;
            if is_edit {
                observation = unjudged::look_again(&env, observation);
            }
            if checks_edit && !observation.waits_for_judgement() {
                observation = after_edit::check(&env, observation).await;
            }
            // What is in a layer is brought out of it first.
            let mut said = HooksSaid::default();
            if let Some(asker) = follower.filter(|_| !observation.waits_for_judgement()) {
                (observation, said) = hooked::follow(&asker, &env, &waiting, observation).await;
            }
            (waiting, observation, snapshot, said)
        };
        self.wait(id, performed.instrument(span), move |session, performed| {
            let (waiting, observation, snapshot, said) = performed;
            session.note_servers()?;
            let call = &waiting.call.id;
            session.record_hooks(id, call, HookEvent::PostToolUse, (said, false))?;
            let done = PerformedCall { observation, intents, before: snapshot.as_ref() };
            session.answer_judged(id, &waiting, done)
        });
        Ok(())
    }

    /// Keeps what the files a call would edit hold now.
    fn keep_before(
        &mut self,
        id: TaskId,
        permit: &Permit<CheckedCall>,
    ) -> Result<Vec<FileBefore>, Stop> {
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
            let entry = place.checkout.entry(&path).ok().flatten();
            Ok(FileBefore { path, content, permissions: entry.map(|entry| entry.permissions) })
        };
        paths.map(keep).collect()
    }

    /// Puts back what the files of an interrupted call held before it; false when the call must not
    /// be performed again.
    fn recover(
        &mut self,
        id: TaskId,
        permit: &Permit<CheckedCall>,
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
                    let content = self.journal.kept(hash)?;
                    match file.permissions {
                        Some(bits) => checkout.write_as(permit, &file.path, &content, bits),
                        None => checkout.write(permit, &file.path, &content),
                    }
                }
                ContentBefore::Absent => match checkout.remove(permit, &file.path) {
                    Err(FileError::Missing(_)) => Ok(()),
                    other => other,
                },
                ContentBefore::NotKept => Ok(()),
            };
            done.map_err(|error| {
                Stop::failed(format!("an interrupted edit could not be undone: {error}"))
            })?;
        }
        Ok(true)
    }

    /// Answers a call that was cut off midway, with what it changed until then. A command that had
    /// ended is answered as it would have been.
    pub(crate) fn answer_interrupted(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
    ) -> Result<(), Stop> {
        let performing = waiting.performing.as_ref();
        if let Some(promotion) = performing.and_then(|performing| performing.promotion.clone()) {
            return self.promote(id, waiting, *promotion);
        }
        if waiting.command.is_some()
            && let Some(layer) = self.layer_left(id)?
        {
            return self.answer_cut_off_layered(id, waiting, &layer);
        }
        if let Some(layer) = self.server_layer_left(waiting)? {
            return self.answer_cut_off_layered(id, waiting, &layer);
        }
        let kept = performing.and_then(|performing| performing.snapshot.as_ref());
        let Some(hash) = kept else { return self.answer_cut_off(id, waiting, None) };
        let (before, waiting) = (self.kept_snapshot(hash)?, waiting.clone());
        self.look_after(id, before, move |session, looks| {
            session.answer_cut_off(id, &waiting, Some(looks))
        })
    }

    /// Answers such a call; `looks` is the checkout before it and now.
    fn answer_cut_off(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        looks: Option<(Snapshot, Snapshot)>,
    ) -> Result<(), Stop> {
        let mut observation = Observation::failed(reminders::INTERRUPTED);
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
        let before = looks.as_ref().map(|(before, _)| before);
        self.answer_judged(id, waiting, PerformedCall { observation, intents: Vec::new(), before })
    }

    pub(crate) fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<String, Stop> {
        let bytes = serde_json::to_vec(snapshot).map_err(|error| lost_snapshot(&error))?;
        Ok(self.journal.keep(&bytes)?)
    }

    pub(crate) fn kept_snapshot(&self, hash: &str) -> Result<Snapshot, Stop> {
        serde_json::from_slice(&self.journal.kept(hash)?).map_err(|error| lost_snapshot(&error))
    }

    /// Answers a call after judging every file it changed without having named it (a command): in
    /// its layer, or in the checkout.
    ///
    /// # Errors
    /// Also when that cannot be found out: then the call is not answered, and a session that is
    /// resumed looks again.
    fn answer_judged(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        done: PerformedCall<'_>,
    ) -> Result<(), Stop> {
        let PerformedCall { mut observation, intents, before } = done;
        if let Some(why) = observation.unjudged.take() {
            return Err(Stop::fault(format!(
                "what `{}` changed cannot be judged: {why}; nothing of it is published",
                self.headline_of(id, waiting)?
            )));
        }
        match observation.layered.take() {
            Some(changes) => self.answer_layered(
                id,
                waiting,
                observation,
                &LayeredChanges { changes: *changes, intents },
            ),
            None => {
                let written = PerformedCall { observation, intents, before };
                self.answer_written(id, waiting, written)
            }
        }
    }

    /// Judges the paths a call changed without having named them; returns those that may not stay.
    /// An approval of a command covers what it does: what would be held may stay, what is denied
    /// may not.
    pub(crate) fn refused_edits<'p>(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        paths: impl IntoIterator<Item = &'p RepoPath>,
        named: &[Intent],
    ) -> Result<RefusedEdits, Stop> {
        let mode = &self.task(id)?.mode;
        let approved = self.state.is_approved(waiting);
        let pauses = self.pauses();
        let mut refused = RefusedEdits::default();
        let paths: Vec<&RepoPath> = paths.into_iter().collect();
        // What a command made a repository of is this one's all the same.
        let made: Vec<RepoPath> = paths
            .iter()
            .filter(|path| path.name() == Some(".git"))
            .map(|path| path.parent())
            .collect();
        for path in paths {
            if named.contains(&Intent::Edit(path.clone())) {
                continue;
            }
            let verdict = if made.iter().any(|folder| path.is_within(folder)) {
                self.own_edit_verdict(mode, path)?
            } else {
                self.edit_verdict(mode, path)?
            };
            let of_kind = match verdict.decision {
                Decision::Allow => continue,
                Decision::Hold if approved => continue,
                Decision::Hold if pauses => &mut refused.held,
                Decision::Hold | Decision::Deny => &mut refused.denied,
            };
            of_kind.insert(path.clone(), verdict);
        }
        Ok(refused)
    }

    /// Refuses what a command wrote into a folder that git takes for a repository: whoever enters
    /// it and asks git something starts what its settings name. `removed` are gone.
    pub(crate) fn refuse_git_data(
        &mut self,
        id: TaskId,
        written: &BTreeSet<RepoPath>,
        removed: &BTreeSet<RepoPath>,
        refused: &mut RefusedEdits,
    ) -> Result<(), Stop> {
        for (path, folder) in self.place(id)?.repo.git_data_in(written, removed) {
            let why = format!("git would take `{folder}` for a repository of its own");
            let verdict = Verdict::denied(Intent::Edit(path.clone()).to_string(), why);
            refused.held.remove(&path);
            refused.denied.entry(path).or_insert(verdict);
        }
        Ok(())
    }

    /// Returns the verdict on changing a file in a mode: whether it is this repository's, then the
    /// policy's, then the mode's own.
    pub(crate) fn edit_verdict(&self, mode: &str, path: &RepoPath) -> Result<Verdict, Stop> {
        match self.outside_repository(path) {
            Some(verdict) => Ok(verdict),
            None => self.own_edit_verdict(mode, path),
        }
    }

    fn own_edit_verdict(&self, mode: &str, path: &RepoPath) -> Result<Verdict, Stop> {
        let verdict = self.parts.run.policy.decide(&Intent::Edit(path.clone()), &self.facts(mode));
        if verdict.decision == Decision::Deny {
            return Ok(verdict);
        }
        let mode = self.mode(mode)?;
        let reason = if mode.groups.iter().any(|entry| entry.group == ToolGroup::Edit) {
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
}

fn lost_snapshot(error: &serde_json::Error) -> Stop {
    Stop::failed(format!("what a command changed cannot be found out: {error}"))
}
