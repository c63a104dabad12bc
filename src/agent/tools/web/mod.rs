//! Tools that ask the network.

pub mod fetch;
pub mod markdown;
pub mod search;
