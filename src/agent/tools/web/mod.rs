//! Tools that ask the network.

pub mod fetch;
mod html;
pub mod markdown;
pub mod search;
