//! `Consultation`: what other models did for a task: questions answered, images generated.

use crate::session::event::Event;
use crate::session::recorded::GeneratedImage;
use crate::session::task::turn::Turn;

/// What other models did for a task.
#[derive(Clone, Debug, Default)]
pub struct Consultation {
    /// How often one answered a question.
    pub questions: u32,
    /// How many images were requested.
    pub images: u32,
    /// The last image that could not be written where it was to go.
    pub unplaced: Option<GeneratedImage>,
}

impl Consultation {
    /// Takes an event in; `turn` is as it was before.
    pub(crate) fn apply(&mut self, event: &Event, turn: &Turn) {
        if let Event::Consulted { .. } = event {
            self.questions = self.questions.saturating_add(1);
        } else if let Event::ImageGenerated { generated, .. } = event {
            self.unplaced = None;
            self.images = self.images.saturating_add(u32::from(!generated.again));
        } else if let Event::Answered { call, observation, .. } = event
            && observation.is_error
            && let Some(generated) = turn.call(call).and_then(|waiting| waiting.generated.as_ref())
            && generated.image.is_some()
        {
            self.unplaced = Some(generated.clone());
        }
    }
}
