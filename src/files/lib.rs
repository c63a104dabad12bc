//! Readers of users' files: every mistake at its line and column, and the JSON Schema from the same
//! description.
//!
//! In: a file's text. Out: values, or every [`diagnostic::Diagnostic`] at once with a hint. It
//! opens no file.

#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod excerpt;
pub mod fields;
pub mod front_matter;
pub mod position;
pub mod rejection;
pub mod section;
pub mod shape;
pub mod yaml;
