//! Tools that ask the network.

pub mod fetch;
mod markdown;
pub mod search;
