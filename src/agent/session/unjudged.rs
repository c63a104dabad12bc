//! What lies in a layer although no command's changes are judged: git ignored it when it was
//! written, and does not any more.
//!
//! In: a `.gitignore` that a command or an edit changed. Out: what git does not ignore any more is
//! judged with that call. Where somebody else changed what git ignores, later commands see it and
//! have it judged; what is left before checks, hooks and the end is kept with the session, and the
//! report says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::held_changes::named;
use crate::session::layered::{NO_LONGER_IGNORED, lost_layer};
use crate::session::live::Session;
use crate::session::promotion::Promotion;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::session::task_env::TaskEnv;
use crate::tools::Observation;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_workspace::layer::{Layer, LayerChange, LayerChanges};

/// The name of files that say what git ignores.
const IGNORE_FILE: &str = ".gitignore";

/// Under which label it is kept.
const LABEL: &str = "unjudged";

fn is_ignore_file(path: &RepoPath) -> bool {
    path.name() == Some(IGNORE_FILE)
}

/// Has what git does not ignore any more after an edit of nothing but such files judged with it.
pub(crate) fn look_again(env: &TaskEnv<'_>, edited: Observation) -> Observation {
    let touched = &edited.touched;
    if edited.is_error || touched.is_empty() || !touched.iter().all(is_ignore_file) {
        return edited;
    }
    let Some(layer) = &env.layer else { return edited };
    match env.place.repo.layer_changes(layer) {
        Ok(changes) if changes.count() > 0 => {
            let text = format!("{}{NO_LONGER_IGNORED}", edited.text);
            Observation { text, layered: Some(Box::new(changes)), ..edited }
        }
        // What cannot be read now is reported with the next command.
        Ok(_) | Err(_) => edited,
    }
}

impl Session<'_> {
    /// Returns what stays in the layer that a call wrote to, before it brings something that
    /// changes what git ignores; `None` where it brings nothing like that.
    pub(crate) fn staying(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        bring: &BTreeMap<RepoPath, LayerChange>,
    ) -> Result<Option<BTreeSet<RepoPath>>, Stop> {
        if !bring.keys().any(is_ignore_file) {
            return Ok(None);
        }
        let Some(layer) = self.layer_of(id, waiting)? else { return Ok(None) };
        Ok(Some(self.place(id)?.repo.staying(&layer)?))
    }

    /// Returns what git does not ignore any more after what a call wrote was brought; `None` where
    /// there is nothing, or a person has to decide on the call first.
    pub(crate) fn no_longer_ignored(
        &mut self,
        id: TaskId,
        layer: &Layer,
        promotion: &Promotion,
    ) -> Result<Option<LayerChanges>, Stop> {
        if promotion.staying.is_none() || promotion.held.is_some() {
            return Ok(None);
        }
        let changes = self.place(id)?.repo.layer_changes(layer)?;
        Ok((changes.count() > 0).then_some(changes))
    }

    /// Takes out of a task's layer what was judged with no call, and keeps it with the session.
    pub(crate) fn leave_unjudged(&mut self, id: TaskId) -> Result<(), Stop> {
        let Some(layer) = self.layer_left(id)? else { return Ok(()) };
        let place = self.place(id)?;
        let LayerChanges { paths, unnamed, unread } = place.repo.layer_changes(&layer)?;
        let is_written = |change: &LayerChange| *change == LayerChange::Written;
        let written = paths.iter().filter(|(_, change)| is_written(change)).map(|(path, _)| path);
        let written: Vec<&RepoPath> = written.chain(unread.keys()).collect();
        for path in &written {
            layer.keep_whole(path, LABEL).map_err(|error| lost_layer(&error))?;
        }
        place.repo.settle_judged(&layer, None, LABEL)?;
        if written.is_empty() && unnamed.is_empty() {
            return Ok(());
        }
        let names = [named(written), unnamed_in_words(unnamed.len())];
        let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let note = format!(
            "Kept out of the checkout: {}. Git does not ignore it any more, or what wrote it was \
             cut off. It is in `{}`.",
            names.join(" and "),
            layer.kept().join(LABEL).display()
        );
        self.note_once(id, note)
    }
}

fn unnamed_in_words(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 file whose name is not taken".to_owned(),
        count => format!("{count} files whose names are not taken"),
    }
}
