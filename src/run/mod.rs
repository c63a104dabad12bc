//! One run, start to end: request, plan, session, publish.

pub mod action;
pub mod ceilings;
pub mod checks;
pub mod clock;
pub mod execute;
pub mod explain;
pub mod fault;
pub mod job;
pub mod models;
pub mod opening;
pub mod plan;
pub mod prepare;
pub mod progress;
pub mod publish;
pub mod request;
pub mod servers;
pub mod steps;
pub mod survey;
mod telemetry;
pub mod tree;
pub mod trusted;
