//! What every other crate speaks of: paths, secrets, messages, images, ids, tools' names, the
//! clock's trait.
//!
//! No effects, no clock of its own, nothing that decides.

pub mod chat;
pub mod clock;
pub mod id;
pub mod image;
pub mod path;
pub mod secret;
pub mod text;
pub mod tool;

#[cfg(test)]
extern crate self as locum_base;
#[cfg(test)]
#[path = "../testing/images.rs"]
mod samples;
