//! Outcome to text. Pure: no clock, no environment, no effect.
//!
//! Texts may hold a model's words raw; they keep their structure whatever those words are, and pass
//! `forge::sanitise` before they leave.

pub mod actions;
pub mod activity;
pub mod annotations;
pub mod branch;
pub mod charges;
pub mod comment;
pub mod commit;
pub mod export;
pub mod figures;
pub mod findings;
#[cfg(test)]
mod gallery;
pub mod hindrance;
pub mod json;
pub mod live;
pub mod live_status;
pub mod markdown;
pub mod named_lines;
pub mod pull_request;
pub mod resume;
pub mod review;
#[cfg(test)]
mod sample;
pub mod sarif;
mod sections;
pub mod spent;
pub mod summary;
pub mod surface;
#[cfg(test)]
mod surfaces;
pub mod title;
pub mod trace;
pub mod transcript;
pub mod verdict;
pub mod waiting;
pub mod whole;
