//! Locum: a headless coding agent for CI whose every effect is decided by a policy file.
//!
//! The library exists for the binary and its tests. Floors, lowest first; a module imports only from floors below its own
//! (`tests/house.rs` holds them to it, `docs/ARCHITECTURE.md` is the map):
//! base · policy · modes · prompts · workspace, models, forge · tools · session · report, config · run · cli.

pub mod base;
pub mod cli;
pub mod config;
pub mod forge;
pub mod models;
pub mod modes;
pub mod policy;
pub mod prompts;
pub mod report;
pub mod run;
pub mod session;
pub mod tools;
pub mod workspace;
