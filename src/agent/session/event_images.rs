//! The images that an event holds. The journal stores their bytes beside its lines.

use crate::session::event::Event;
use locum_base::image::Image;

impl Event {
    /// Returns the images it holds: their bytes are stored separately.
    pub fn images(&self) -> &[Image] {
        if let Self::Answered { observation, .. } = self {
            &observation.images
        } else if let Self::Replied { reply, .. } = self {
            &reply.images
        } else if let Self::ImageGenerated { generated, .. } = self {
            generated.image.as_slice()
        } else if let Self::Started(start) = self {
            &start.images
        } else if let Self::MessageReceived { message } = self {
            &message.images
        } else if let Self::MessageRead { images, .. } | Self::Continued { images, .. } = self {
            images
        } else {
            &[]
        }
    }

    /// As [`Event::images`].
    pub(crate) fn images_mut(&mut self) -> &mut [Image] {
        if let Self::Answered { observation, .. } = self {
            &mut observation.images
        } else if let Self::Replied { reply, .. } = self {
            &mut reply.images
        } else if let Self::ImageGenerated { generated, .. } = self {
            generated.image.as_mut_slice()
        } else if let Self::Started(start) = self {
            &mut start.images
        } else if let Self::MessageReceived { message } = self {
            &mut message.images
        } else if let Self::MessageRead { images, .. } | Self::Continued { images, .. } = self {
            images
        } else {
            &mut []
        }
    }
}
