//! Floor 7: settings. The only reader of the environment and of configuration files.

pub mod action_context;
pub mod environment;
pub mod load;
pub mod settings;
