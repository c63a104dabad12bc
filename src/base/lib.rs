//! Types that every other crate uses: paths, secrets, messages, images, ids, tools' names, the
//! trait of clocks.
//!
//! No effects, no clock of its own, no decisions.
//!
//! # What is checked once
//!
//! Several types hold a text that was checked where it came in, so that nobody asks again:
//!
//! - [`path::RepoPath`] is a place inside the checkout. `RepoPath::parse("src/lib.rs")` is one;
//!   `../x` is an error. Whether a link leads out of the checkout is asked by the crate that opens
//!   files.
//! - [`secret::Secret`] is a value that never prints itself. A [`secret::Redactor`] takes such
//!   values out of every text that leaves.
//! - [`image::Image`] is bytes whose kind and size are known.
//!
//! # What crates share
//!
//! - [`chat`] is the conversation with a model, in no provider's dialect.
//! - [`tool`] has the table of tools: names, the order in which models are shown them, and which
//!   modes have them. A tool's own file is in the agent.
//! - [`clock::Clock`] is where time comes from.
//! - [`text`] cuts what is too long, and writes lists of names.

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
