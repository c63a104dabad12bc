//! One run, start to end: request, plan, session, publish.

pub mod action;
pub mod clock;
pub mod error;
pub mod execute;
pub mod execution;
pub mod explain;
pub mod first_message;
pub mod job;
pub mod model_set;
pub mod models;
pub mod plan;
pub mod prepare;
pub mod progress;
pub mod publish;
pub mod repository_scan;
pub mod request;
pub mod run_request;
pub mod servers;
pub mod source;
pub mod spending;
pub mod steps;
pub mod task_material;
mod telemetry;
pub mod tree;
pub mod trusted;
pub mod uncommitted;
pub mod user;
