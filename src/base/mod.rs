//! Floor 0: the plain words every other floor speaks. No effects, no clock of its own, nothing that decides.

pub mod chat;
pub mod clock;
pub mod excerpt;
pub mod fields;
pub mod front_matter;
pub mod id;
pub mod image;
pub mod path;
pub mod secret;
pub mod section;
pub mod shape;
pub mod text;
pub mod tool;
pub mod yaml;
