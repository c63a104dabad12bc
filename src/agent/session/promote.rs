//! What was judged of a layer is done: brought into the checkout, or kept out of it.
//!
//! In: a promotion that stands in the journal. Out: the answer of the command. A session that was
//! killed in between does it again: doing it a second time changes nothing. What somebody else
//! changed meanwhile is never written over.

use std::collections::BTreeSet;

use crate::session::held_changes::named;
use crate::session::layered::{LayeredChanges, NO_LONGER_IGNORED, lost_layer};
use crate::session::live::Session;
use crate::session::promotion::Promotion;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::command::render_touched;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_workspace::layer::{Layer, LayerChange};
use locum_workspace::repo::RepoError;

impl Session<'_> {
    /// Does with what a command wrote as decided, and answers it. Doing it a second time changes
    /// nothing.
    ///
    /// # Errors
    /// Also where a person has to decide first.
    pub(crate) fn promote(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        mut promotion: Promotion,
    ) -> Result<(), Stop> {
        if !promotion.settled {
            match self.layer_of(id, waiting)? {
                Some(layer) => {
                    self.settle_layer(id, waiting, &layer, &mut promotion)?;
                    if let Some(changes) = self.no_longer_ignored(id, &layer, &promotion)? {
                        let Promotion { mut observation, refusal, .. } = promotion;
                        observation.text.push_str(NO_LONGER_IGNORED);
                        observation.refused = refusal;
                        let left = LayeredChanges { changes, intents: Vec::new() };
                        return self.answer_layered(id, waiting, observation, &left);
                    }
                }
                None if promotion.bring.is_empty() => self.take_back(id, waiting, &promotion)?,
                None => return Err(Stop::failed("the layer of a command is gone")),
            }
            promotion.settled = true;
            if promotion.held.is_some() || self.follower(id, &[waiting])?.is_some() {
                // What was written must be known when the session stops here.
                self.note_promotion(id, waiting, &promotion)?;
            }
        }
        let Promotion { held, lost, mut observation, refusal, .. } = promotion;
        observation.refused = refusal;
        match held {
            Some(held) => self.answer_held(id, waiting, observation, held),
            None => self.answer_followed(id, waiting, observation),
        }?;
        if lost.is_empty() {
            return Ok(());
        }
        let what = "which the policy does not allow and which had changes that are in no commit; \
                    they are left as they are now";
        Err(Stop::failed(format!("a command changed {}, {what}", named(&lost))))
    }

    /// Does with what is in the layer as decided.
    fn settle_layer(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        layer: &Layer,
        promotion: &mut Promotion,
    ) -> Result<(), Stop> {
        let call = &waiting.call.id;
        let mut bring = promotion.bring.clone();
        // Asked before anything is recorded: a checkpoint would make it the run's own.
        let of_others = match self.saved(self.state.tree_owner(id)) {
            Some(base) => self.place(id)?.repo.removed_by_others(layer, &base, &bring)?,
            None => BTreeSet::new(),
        };
        bring.retain(|path, _| !layer.is_kept_out(path, call) && !of_others.contains(path));
        let kept_before = self.keep_under(id, layer, &bring, call)?;
        let brought = self.bring((id, waiting), layer, promotion, &of_others);
        if brought.is_err() {
            // What is in the checkout by then is reported, however the session ends.
            self.note_promotion(id, waiting, promotion)?;
        }
        let NotBrought { of_others, blocked } = brought?;
        promotion.bring.clear();
        let observation = &mut promotion.observation;
        let brought = observation.touched.iter().cloned().collect();
        observation.text.push_str(&render_touched(&brought));
        observation.text.push_str(&kept_before.unwrap_or_default());
        let writer = self.writer(waiting);
        // Of what was removed there is nothing to keep.
        let is_kept = layer.kept().join(call).exists();
        let kept = if is_kept { self.kept_in_words(waiting, layer) } else { String::new() };
        if !of_others.is_empty() {
            let what = format!("Somebody else changed {} while", named(&of_others));
            observation.text.push_str(&format!(
                "\n\n{what} the {writer} ran. Their version is in the checkout; the {writer}'s is \
                 kept with the session. Read the files again before you change them.",
            ));
            let note = format!("{what} a {writer} ran. Their version is in the checkout.{kept}");
            self.note_once(id, note)?;
        }
        if !blocked.is_empty() {
            let what = format!(
                "Kept out of the checkout, where something that stays is in the way: {}.",
                named(&blocked)
            );
            observation.text.push_str(&format!("\n\n{what}"));
            self.note_once(id, format!("{what}{kept}"))?;
        }
        Ok(())
    }

    /// Brings what is to be brought of a layer, and keeps out what is not; returns what stands in
    /// the way. What arrived is touched, also where something after it cannot be brought.
    fn bring(
        &mut self,
        (id, waiting): (TaskId, &WaitingCall),
        layer: &Layer,
        promotion: &mut Promotion,
        removed_by_others: &BTreeSet<RepoPath>,
    ) -> Result<NotBrought, Stop> {
        let (place, call) = (self.place(id)?, &waiting.call.id);
        let Promotion { bring, keep, unread, staying, observation, .. } = promotion;
        for path in unread.iter() {
            layer.keep_whole(path, call).map_err(|error| lost_layer(&error))?;
        }
        for path in keep.iter() {
            layer.keep_out(path, call).map_err(|error| lost_layer(&error))?;
        }
        // What is gone makes place for what is new.
        let (removed, made): (Vec<_>, Vec<_>) =
            bring.iter().partition(|(_, change)| **change == LayerChange::Removed);
        let (mut not, mut touched) = (NotBrought::default(), BTreeSet::new());
        touched.extend(observation.touched.drain(..));
        let bring_each = || {
            for (path, change) in removed.into_iter().chain(made) {
                if place.repo.is_blocked(path, *change).map_err(not_brought)? {
                    layer.keep_out(path, call).map_err(|error| lost_layer(&error))?;
                    not.blocked.push(path.clone());
                    continue;
                }
                if layer.is_kept_out(path, call)
                    || removed_by_others.contains(path)
                    || place.repo.is_changed_by_others(layer, path, *change).map_err(not_brought)?
                {
                    layer.keep_out(path, call).map_err(|error| lost_layer(&error))?;
                    not.of_others.push(path.clone());
                    continue;
                }
                place.repo.bring(layer, path, *change).map_err(not_brought)?;
                if *change != LayerChange::Folder {
                    touched.insert(path.clone());
                }
            }
            place.repo.settle_judged(layer, staying.as_ref(), call).map_err(not_brought)
        };
        let brought = bring_each();
        observation.touched.extend(touched);
        brought.map(|()| not)
    }
}

/// What of a layer does not come into the checkout.
#[derive(Default)]
struct NotBrought {
    /// Somebody else changed it meanwhile.
    of_others: Vec<RepoPath>,
    /// Something that stays is in the way of it.
    blocked: Vec<RepoPath>,
}

fn not_brought(error: RepoError) -> Stop {
    Stop::fault(format!(
        "what a command wrote could not all be brought into the checkout: {error}; what was \
         brought until then is there, and a session that is resumed goes on with the rest"
    ))
}
