//! Commands in the background, by task: each writes to a layer of its own, and they end with the
//! task, and when it comes into another mode, whose rules are others.

use std::rc::Rc;

use crate::session::event::Event;
use crate::session::layered::lost_layer;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::tools::background::BackgroundCommands;
use locum_base::id::TaskId;
use locum_workspace::layer::Layer;

impl Session<'_> {
    /// Returns the commands that a task has in the background.
    pub(crate) fn background_of(&mut self, id: TaskId) -> Rc<BackgroundCommands> {
        Rc::clone(self.background.entry(id).or_default())
    }

    /// Makes ready what the next command in the background of a task writes to.
    pub(crate) fn prepare_background(&mut self, id: TaskId) -> Result<(), Stop> {
        let (owner, commands) = (self.state.tree_owner(id), self.background_of(id));
        let mut layer = None;
        if self.layer_over(owner)?.is_some() {
            let (place, session) = (self.place_of(owner)?, self.journal.folder());
            let name = format!("background-{id}-{}", commands.started() + 1);
            let left = Layer::place(session, &name);
            if left.exists() {
                // Of a run that was cut off.
                let left = Layer::open(&left).and_then(|left| left.discard());
                left.map_err(|error| lost_layer(&error))?;
            }
            let sandbox = self.parts.run.sandbox;
            layer = Layer::over(&place.checkout, (session, &name), sandbox)
                .map_err(|error| lost_layer(&error))?;
        }
        let layer = layer.map(|layer| self.shared_with(owner, layer)).transpose()?;
        commands.prepare(layer);
        Ok(())
    }

    /// Ends the commands in the background that are over with an event.
    pub(crate) fn end_background(&mut self, event: &Event) {
        if let Event::TaskEnded { task, .. } | Event::ModeSwitched { task, .. } = event
            && let Some(commands) = self.background.remove(task)
        {
            commands.end();
        }
    }
}
