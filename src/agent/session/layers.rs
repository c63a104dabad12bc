//! The layers over the checkouts of a session: the run's own, and those of sub-tasks that have a
//! worktree. Each is opened when something is first written to it.
//!
//! In: a checkout of the session. Out: its layer, with what is shared with another checkout; none
//! where this machine gives none.

use std::path::PathBuf;
use std::rc::Rc;

use crate::session::layered::lost_layer;
use crate::session::live::Session;
use crate::session::stop::Stop;
use locum_base::id::TaskId;
use locum_workspace::Workspace;
use locum_workspace::layer::Layer;

/// Name of the layer over the run's own checkout.
pub const RUN_LAYER: &str = "run";

impl Session<'_> {
    /// Finds out whether commands are contained here.
    pub(crate) fn find_containment(&mut self) -> Result<(), Stop> {
        if !self.parts.run.policy.settings().commands.contains_scripts() {
            return Ok(());
        }
        let (sandbox, workspace) = (self.parts.run.sandbox, self.parts.workspace);
        let place = (self.journal.folder(), RUN_LAYER);
        let layer =
            Layer::over(&workspace.checkout, place, sandbox).map_err(|error| lost_layer(&error))?;
        self.contained = layer.is_some();
        let layer = layer.map(|layer| self.shared_with(None, layer)).transpose()?;
        self.layers.insert(None, layer.map(Rc::new));
        Ok(())
    }

    /// Returns the layer over a checkout of the session; `None` where this machine gives none.
    pub(crate) fn layer_over(&mut self, owner: Option<TaskId>) -> Result<Option<Rc<Layer>>, Stop> {
        if !self.layers.contains_key(&owner) {
            let layer = self.new_layer_over(owner)?;
            self.layers.insert(owner, layer.map(Rc::new));
        }
        Ok(self.layers.get(&owner).cloned().flatten())
    }

    fn new_layer_over(&mut self, owner: Option<TaskId>) -> Result<Option<Layer>, Stop> {
        // Commands find a worktree where another checkout is: the layer may not lie there, either.
        let stood_for = [owner.map(|_| self.parts.workspace), self.parts.stands_for];
        let lies_in =
            |other: &Workspace| !Layer::can_lie_over(self.journal.folder(), other.repo.root());
        if stood_for.into_iter().flatten().any(lies_in) {
            return Ok(None);
        }
        let (place, sandbox) = (self.place_of(owner)?, self.parts.run.sandbox);
        let name = layer_name(owner);
        let layer = Layer::over(&place.checkout, (self.journal.folder(), &name), sandbox)
            .map_err(|error| lost_layer(&error))?;
        layer.map(|layer| self.shared_with(owner, layer)).transpose()
    }

    /// Lets the commands of a sub-task that has a worktree find it where its parent's checkout is,
    /// with what git ignores there.
    pub(crate) fn shared_with(
        &mut self,
        owner: Option<TaskId>,
        mut layer: Layer,
    ) -> Result<Layer, Stop> {
        let place = self.place_of(owner)?;
        place.repo.lay_over_git(&mut layer, self.parts.run.sandbox)?;
        let Some(owner) = owner else {
            if let Some(other) = self.parts.stands_for {
                self.parts.workspace.repo.stand_for(&mut layer, &other.repo, None)?;
            }
            return Ok(layer);
        };
        let parent = self.task(owner)?.parent.unwrap_or_default();
        let around = self.state.tree_owner(parent);
        let (other, other_layer) = (self.place_of(around)?, self.layer_over(around)?);
        place.repo.stand_for(&mut layer, &other.repo, other_layer.as_deref())?;
        Ok(layer)
    }

    /// Returns the layer that a session which was cut off left; `None` where it had none.
    pub(crate) fn layer_left(&mut self, id: TaskId) -> Result<Option<Rc<Layer>>, Stop> {
        let owner = self.state.tree_owner(id);
        let known = self.layers.get(&owner).cloned().flatten();
        if known.is_some() || !self.layer_folder(owner).exists() {
            return Ok(known);
        }
        let layer = Layer::open(&self.layer_folder(owner)).map_err(|error| lost_layer(&error))?;
        let layer = Rc::new(self.shared_with(owner, layer)?);
        self.layers.insert(owner, Some(Rc::clone(&layer)));
        Ok(Some(layer))
    }

    /// Notes for the layer of a sub-task that its worktree was made again: nothing in there is the
    /// change of somebody else.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub(crate) fn begin_again_over(&self, owner: TaskId) -> Result<(), Stop> {
        let folder = self.layer_folder(Some(owner));
        if !folder.exists() {
            return Ok(());
        }
        let begun = Layer::open(&folder).and_then(|layer| layer.begin());
        begun.map_err(|error| lost_layer(&error))
    }

    fn layer_folder(&self, owner: Option<TaskId>) -> PathBuf {
        Layer::place(self.journal.folder(), &layer_name(owner))
    }
}

fn layer_name(owner: Option<TaskId>) -> String {
    owner.map_or_else(|| RUN_LAYER.to_owned(), |owner| owner.to_string())
}
