//! Types that every other crate uses: paths, secrets, messages, images, ids, tools' names, the
//! trait of clocks.
//!
//! No effects, no clock of its own, no decisions.

#![forbid(unsafe_code)]

pub mod chat;
pub mod clock;
pub mod id;
pub mod image;
pub mod json;
pub mod path;
pub mod rebuilt;
pub mod retry;
pub mod secret;
pub mod text;
pub mod tool;
pub mod unmatched_tool;

#[cfg(test)]
extern crate self as locum_base;
#[cfg(test)]
#[path = "../testing/images.rs"]
#[expect(dead_code, unreachable_pub, reason = "other crates use all of it, and from outside")]
mod samples;
