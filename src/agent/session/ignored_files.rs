//! Files that never arrive in the checkout: those that git ignores and that were there before the
//! run, and those of other repositories below it. What a command did to them, in its answer and in
//! the report.
//!
//! In: a command that ended. Out: its answer names what of them is gone or different for the
//! commands after it. What a command that failed removed of what git ignores is there again.

use std::collections::BTreeSet;

use crate::session::layered::lost_layer;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use locum_base::id::TaskId;
use locum_sandbox::exec::Exit;
use locum_workspace::layer::Layer;
use locum_workspace::layer::ignored::{IgnoredChanges, named};

impl Session<'_> {
    /// Notes what is different before a command.
    pub(crate) fn note_ignored(&mut self, id: TaskId, layer: &Layer) -> Result<(), Stop> {
        let before = self.place(id)?.repo.ignored_changes(layer)?;
        self.ignored_before.insert(self.state.tree_owner(id), before);
        Ok(())
    }

    /// Says what a command did to such files, and undoes what a failed one removed.
    pub(crate) fn say_ignored(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: &mut Observation,
    ) -> Result<(), Stop> {
        let owner = self.state.tree_owner(id);
        let Some(exit) = observation.exit else { return Ok(()) };
        // Of a command that was cut off it is not known what was before.
        let Some(before) = self.ignored_before.remove(&owner) else { return Ok(()) };
        let Some(layer) = self.layer_of(id, waiting)? else { return Ok(()) };
        let now = self.place(id)?.repo.ignored_changes(&layer)?;
        let mut new = now.since(&before);
        let failed = exit != Exit::Code(0) || observation.command.failures().next().is_some();
        if failed && !new.removed.is_empty() {
            let left = layer.undo_removals(&new.removed, &before);
            let left = left.map_err(|error| lost_layer(&error))?;
            new.removed.retain(|path| !left.contains(path));
            let undone = std::mem::replace(&mut new.removed, left);
            if !undone.is_empty() {
                observation.text.push_str(&format!(
                    "\n\nThe command failed, so files that git ignores and that it removed are \
                     there again: {}.",
                    named(&undone)
                ));
            }
        }
        observation.text.push_str(&said(&new));
        if let Some(folders) = now.cut_since(&before) {
            observation.text.push_str(&format!(
                "\n\nCommands wrote more paths in {folders} than are looked at. Which files there \
                 are gone or different is not known, and none of them is put back."
            ));
        }
        if let Some(kept_out) = of_others(&new) {
            observation.text.push_str(&format!(
                "\n\n{kept_out} Later commands and the checks of the policy see it; it is not \
                 published."
            ));
        }
        // The run's own checkout is looked at once more at the end.
        match of_others(&now).filter(|_| owner.is_some()) {
            Some(kept_out) => self.note_once(id, kept_out),
            None => Ok(()),
        }
    }

    /// Notes for the report what commands wrote below other repositories.
    pub(crate) fn note_of_others(&mut self) -> Result<(), Stop> {
        let Some(layer) = self.layers.get(&None).cloned().flatten() else { return Ok(()) };
        let found = self.parts.workspace.repo.ignored_changes(&layer)?;
        match of_others(&found) {
            Some(kept_out) => self.note_once(TaskId::default(), kept_out),
            None => Ok(()),
        }
    }

    /// Notes for the report which of these files differ for checks from a fresh checkout.
    pub(crate) fn note_unpublished(&mut self, id: TaskId) -> Result<(), Stop> {
        let Some(layer) = self.layer_left(id)? else { return Ok(()) };
        let found = self.place(id)?.repo.ignored_changes(&layer)?;
        let paths: BTreeSet<_> = found.removed.union(&found.changed).cloned().collect();
        let cut = found.cut_since(&IgnoredChanges::default());
        let cut = cut.map(|folders| {
            format!("possibly files in {folders}, where more was written than is looked at")
        });
        let names = (!found.is_empty()).then(|| named(&paths));
        let names: Vec<String> = names.into_iter().chain(cut).collect();
        if names.is_empty() {
            return Ok(());
        }
        let text = format!(
            "the checks used ignored files that this run changed or removed, and these changes are \
             not published: {}",
            names.join(", and ")
        );
        self.note_once(id, text)
    }
}

/// Says what of other repositories is new, different or gone.
fn of_others(found: &IgnoredChanges) -> Option<String> {
    let more = if found.has_more_of_others() { ", and more" } else { "" };
    let of_others = &found.of_others;
    (!of_others.is_empty()).then(|| {
        format!(
            "Kept out of the checkout, because it belongs to another repository and a run changes \
             only its own: {}{more}.",
            named(of_others)
        )
    })
}

/// Says what of such files is gone or different for later commands.
fn said(IgnoredChanges { removed, changed, .. }: &IgnoredChanges) -> String {
    let mut parts = Vec::new();
    for (what, paths) in [("removed", removed), ("changed", changed)] {
        if !paths.is_empty() {
            parts.push(format!("{what} {}", named(paths)));
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    format!(
        "\n\nOf the files that git ignores and that were there before the run, it {}. Later \
         commands and the checks of the policy see that; it is not published.",
        parts.join(" and ")
    )
}
