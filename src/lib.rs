//! Locum: a headless coding agent for CI whose every effect is decided by a policy file.
//!
//! This package is the program: the command line, one run from start to end, and the settings. What
//! they stand on are crates of their own below `src/`; `docs/ARCHITECTURE.md` is the map.

pub mod cli;
pub mod config;
pub mod run;
