//! Settings. The only reader of the environment and of configuration files.
//!
//! Every setting is a line of [`keys::KEYS`]; [`load::load`] merges the layers;
//! [`settings::Settings`] is what a run works with.

pub mod action_context;
pub mod action_inputs;
mod collector_headers;
pub mod edit;
pub mod environment;
pub mod files;
pub mod keys;
pub mod kind;
pub mod load;
pub mod release;
pub mod schema;
pub mod settings;
pub mod source;
pub mod telemetry;
