//! Starts a command with restrictions around it, in namespaces of its own where there are some.

pub(crate) mod child;
pub(crate) mod inside;
mod pid1;
pub(crate) mod process;
pub(crate) mod setup;
