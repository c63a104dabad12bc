//! Commands and MCP servers that write to a layer: what they wrote is judged first, and only then
//! is anything of it in the checkout.
//!
//! In: a command or a request to a server that ended, or was cut off, and its layer. Out: what is
//! allowed is brought into the checkout, announced in the journal before; what is not stays in the
//! session's folder. A session that was killed in between finds the rest in the layer and goes on.
//! What somebody else changed meanwhile is never written over.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

use crate::session::event::Event;
use crate::session::held_changes::{joined, refusal_of};
use crate::session::judged::reasons;
use crate::session::live::Session;
use crate::session::promotion::{HeldChanges, Promotion, RefusedEdits};
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use crate::tools::command_remarks::UNSEEN;
use crate::tools::mcp::call::server_of;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::ToolGroup;
use locum_modes::prompts::reminders;
use locum_policy::intent::Intent;
use locum_policy::paths::Protection;
use locum_policy::verdict::{Decision, Verdict};
use locum_sandbox::exec::Exit;
use locum_workspace::layer::{Layer, LayerChange, LayerChanges};

/// How a command is reported that was cut off together with the run: as killed.
pub(crate) const CUT_OFF: Exit = Exit::Signal(9);

/// What an answer says before it names files that git does not ignore any more.
pub(crate) const NO_LONGER_IGNORED: &str =
    "\n\nGit ignores other files now. What commands had left there is judged, too.";

/// What a command left in its layer.
pub(crate) struct LayeredChanges {
    pub(crate) changes: LayerChanges,
    /// What the command was permitted to do.
    pub(crate) intents: Vec<Intent>,
}

impl Session<'_> {
    /// Whether git's objects hold files that a task may not read in a mode, so that commands that
    /// are contained do not see the objects.
    pub(crate) fn hides_history(&mut self, id: TaskId, mode: &str) -> Result<bool, Stop> {
        if !self.contained {
            return Ok(false);
        }
        let policy = self.parts.run.policy;
        if let Some(known) = self.hidden_history.get(mode) {
            return Ok(*known);
        }
        let (facts, protection) = (self.facts(mode), Protection::default());
        let readable = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
        };
        let is_hidden = |path: &RepoPath| {
            let sensitive = protection.of_read(path).is_some()
                || policy.hides(path)
                || policy.may_deny_reading(path);
            sensitive && !readable(path)
        };
        let hides = self.place(id)?.repo.history_holds(is_hidden)?;
        self.hidden_history.insert(mode.to_owned(), hides);
        Ok(hides)
    }

    /// Makes ready the layer that the commands of a task write to; false where there is none and
    /// they write to the checkout.
    pub(crate) fn begin_layer(&mut self, id: TaskId) -> Result<bool, Stop> {
        let owner = self.state.tree_owner(id);
        let Some(layer) = self.layer_over(owner)? else { return Ok(false) };
        layer.begin().map_err(|error| lost_layer(&error))?;
        self.note_ignored(id, &layer)?;
        Ok(true)
    }

    /// Returns the layer with what a call wrote; `None` where there is none.
    pub(crate) fn layer_of(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
    ) -> Result<Option<Rc<Layer>>, Stop> {
        match self.server_of(waiting) {
            None => self.layer_left(id),
            Some(server) => self.parts.servers.taken(&server).map_err(|error| lost_layer(&error)),
        }
    }

    /// Returns the MCP server that a call asks.
    fn server_of(&self, waiting: &WaitingCall) -> Option<String> {
        server_of(&waiting.call, &self.parts.servers.offered())
    }

    /// Returns what wrote to the layer, for messages.
    pub(crate) fn writer(&self, waiting: &WaitingCall) -> &'static str {
        if self.server_of(waiting).is_some() { "server" } else { "command" }
    }

    /// Says where it is kept what a call wrote.
    pub(crate) fn kept_in_words(&self, waiting: &WaitingCall, layer: &Layer) -> String {
        let (writer, kept) = (self.writer(waiting), layer.kept().join(&waiting.call.id));
        format!(" What the {writer} wrote is in `{}`.", kept.display())
    }

    /// Returns the layer with what a server wrote for a request that was cut off; `None` where it
    /// writes to none.
    pub(crate) fn server_layer_left(
        &self,
        waiting: &WaitingCall,
    ) -> Result<Option<Rc<Layer>>, Stop> {
        let Some(server) = self.server_of(waiting) else { return Ok(None) };
        self.parts.servers.take_left(&server).map_err(Stop::fault)?;
        self.parts.servers.taken(&server).map_err(|error| lost_layer(&error))
    }

    /// Answers a command that was cut off, with what it changed until then.
    pub(crate) fn answer_cut_off_layered(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        layer: &Layer,
    ) -> Result<(), Stop> {
        let mut observation = Observation::failed(reminders::INTERRUPTED);
        observation.exit = waiting.command.as_ref().map(|_| CUT_OFF);
        let changes = match self.server_of(waiting) {
            Some(_) => self.parts.workspace.repo.layer_changes(layer)?,
            None => self.place(id)?.repo.layer_changes(layer)?,
        };
        let left = LayeredChanges { changes, intents: Vec::new() };
        self.answer_layered(id, waiting, observation, &left)
    }

    /// Answers a command after judging everything in its layer: what is allowed is brought into the
    /// checkout.
    pub(crate) fn answer_layered(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        mut observation: Observation,
        LayeredChanges { changes, intents }: &LayeredChanges,
    ) -> Result<(), Stop> {
        self.say_ignored(id, waiting, &mut observation)?;
        if self.only_reads(id)? {
            return self.answer_thrown_away(id, waiting, observation, changes);
        }
        let mut refused = if self.is_elsewhere(id, waiting) {
            RefusedEdits { denied: denied_elsewhere(changes), ..RefusedEdits::default() }
        } else {
            self.refused_edits(id, waiting, changes.paths.keys(), intents)?
        };
        let is_removed = |path: &RepoPath| changes.paths.get(path) == Some(&LayerChange::Removed);
        let (removed, written) = changes.paths.keys().cloned().partition(is_removed);
        self.refuse_git_data(id, &written, &removed, &mut refused)?;
        for (path, why) in &changes.unread {
            let intent = Intent::Edit(path.clone()).to_string();
            refused.denied.insert(path.clone(), Verdict::denied(intent, why.clone()));
        }
        let held = self.set_aside(id, waiting, changes, &mut refused)?;
        let keep: BTreeSet<RepoPath> = refused.denied.keys().cloned().collect();
        let stays = |path: &RepoPath| !keep.contains(path) && !refused.held.contains_key(path);
        let bring: BTreeMap<RepoPath, LayerChange> =
            changes.paths.clone().into_iter().filter(|(path, _)| stays(path)).collect();
        if let Some(unnamed) = kept_out_unnamed(&changes.unnamed) {
            observation.text.push_str(&format!("\n\n{unnamed}"));
            let layer = self.layer_of(id, waiting)?;
            let kept = layer.map(|layer| self.kept_in_words(waiting, &layer)).unwrap_or_default();
            self.note_once(id, format!("{unnamed}{kept}"))?;
        }
        let refusal = refusal_of(&refused.denied, Decision::Deny);
        let before = observation.refused.take();
        if refusal.is_some() {
            let instead = if self.server_of(waiting).is_some() { "" } else { UNSEEN };
            observation.text.push_str(&format!(
                "\n\nChanges that the policy does not allow were kept out of the checkout: \
                 {}.{instead}",
                reasons(refused.denied.values())
            ));
        }
        let refusal = match refusal {
            Some(refusal) => Some(joined(before, refusal)),
            None => before,
        };
        let unread = changes.unread.keys().cloned().collect();
        let staying = self.staying(id, waiting, &bring)?;
        let promotion = Promotion {
            bring,
            keep,
            unread,
            staying,
            held,
            observation,
            refusal,
            ..Promotion::default()
        };
        if !changes.paths.is_empty() || !changes.unread.is_empty() {
            self.note_promotion(id, waiting, &promotion)?;
        }
        self.promote(id, waiting, promotion)
    }

    /// Whether a call asks a server, which is in the run's own checkout, for a task that is not.
    fn is_elsewhere(&self, id: TaskId, waiting: &WaitingCall) -> bool {
        self.state.tree_owner(id).is_some() && self.server_of(waiting).is_some()
    }

    /// Whether a task changes no files, whatever its commands write.
    fn only_reads(&self, id: TaskId) -> Result<bool, Stop> {
        let mode = self.mode(&self.task(id)?.mode)?;
        let edits = mode.groups.iter().any(|entry| entry.group == ToolGroup::Edit);
        Ok(!edits || self.start().facts.restriction.read_only)
    }

    /// Answers a command of a task that changes no files: what it wrote is thrown away.
    fn answer_thrown_away(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        mut observation: Observation,
        changes: &LayerChanges,
    ) -> Result<(), Stop> {
        let count = changes.count();
        if count > 0
            && let Some(layer) = self.layer_of(id, waiting)?
        {
            self.place(id)?.repo.settle(&layer)?;
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let writer = self.writer(waiting);
            observation.text.push_str(&format!(
                "\n\nThis task changes no files: what the {writer} wrote ({files}) was thrown away."
            ));
        }
        self.answer_followed(id, waiting, observation)
    }

    /// Sets aside what is held of what a command wrote. What somebody else changed as well is
    /// denied: there is nothing to decide on.
    fn set_aside(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        changes: &LayerChanges,
        RefusedEdits { denied, held }: &mut RefusedEdits,
    ) -> Result<Option<HeldChanges>, Stop> {
        let owner = self.state.tree_owner(id);
        let (Some(layer), Some(base)) = (self.layer_of(id, waiting)?, self.saved(owner)) else {
            return Ok(None);
        };
        let repo = &self.place(id)?.repo;
        let is_held = |path: &RepoPath| held.contains_key(path);
        let mut paths = changes.paths.clone();
        paths.retain(|path, _| is_held(path));
        let removed_by_others = repo.removed_by_others(&layer, &base, &paths)?;
        for (path, change) in std::mem::take(&mut paths) {
            if removed_by_others.contains(&path)
                || repo.is_changed_by_others(&layer, &path, change)?
            {
                let reason =
                    format!("somebody else changed it while the {} ran", self.writer(waiting));
                let verdict = Verdict::denied(Intent::Edit(path.clone()).to_string(), reason);
                denied.insert(path, verdict);
            } else {
                paths.insert(path, change);
            }
        }
        held.retain(|path, _| paths.contains_key(path));
        let Some(refusal) = refusal_of(held, Decision::Hold) else { return Ok(None) };
        let aside = repo.set_aside(&layer, &base, &paths)?;
        repo.keep_aside(self.start().id.as_str(), &aside)?;
        Ok(Some(HeldChanges { paths: paths.into_keys().collect(), aside, refusal }))
    }

    pub(crate) fn note_promotion(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        promotion: &Promotion,
    ) -> Result<(), Stop> {
        let (call, promotion) = (waiting.call.id.clone(), Box::new(promotion.clone()));
        self.emit(Event::Promoting { task: id, call, promotion })
    }
}

/// Says which names in a layer cannot be brought, if there are any.
fn kept_out_unnamed(names: &[String]) -> Option<String> {
    let shown: Vec<String> =
        names.iter().take(3).map(|name| format!("`{}`", name.escape_debug())).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    (!names.is_empty()).then(|| {
        format!(
            "Kept out of the checkout, because names with line breaks, names that are not UTF-8, \
             names in the root that begin with `~` and paths of more than 4,095 bytes are not \
             taken: {}{more} ({}).",
            shown.join(", "),
            names.len()
        )
    })
}

/// Refuses everything that a server wrote for a task with a worktree of its own.
fn denied_elsewhere(changes: &LayerChanges) -> BTreeMap<RepoPath, Verdict> {
    let denied = |path: &RepoPath| {
        let reason = "servers are in the run's own checkout, and this sub-task has one of its own";
        (path.clone(), Verdict::denied(Intent::Edit(path.clone()).to_string(), reason.to_owned()))
    };
    changes.paths.keys().map(denied).collect()
}

pub(crate) fn lost_layer(error: &io::Error) -> Stop {
    Stop::fault(format!("the layer that commands write to: {error}"))
}
