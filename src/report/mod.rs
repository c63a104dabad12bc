//! Floor 7: outcome to text. Pure.

pub mod comment;
pub mod json;
pub mod live;
pub mod markdown;
pub mod summary;
