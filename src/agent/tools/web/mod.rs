//! Tools that ask the network.

mod charset;
pub mod fetch;
mod html;
pub mod markdown;
pub mod search;
