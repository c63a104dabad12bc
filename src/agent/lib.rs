//! The agent: tools the model can call, the session that drives them, and reports of how it went.
//!
//! In: models, modes, a policy, a checkout. Out: a journal, an outcome, and texts about it. Every
//! effect takes a permit.

pub mod embedder;
pub mod env;
pub mod report;
pub mod search_engine;
pub mod session;
pub mod tools;
