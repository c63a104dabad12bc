//! Tools that search, and the walk they share with lists.

pub mod changes;
pub mod codebase;
pub mod glob;
pub mod grep;
mod line_search;
pub(crate) mod near_names;
pub(crate) mod opened;
pub mod outline;
pub mod pattern;
pub mod walk;
