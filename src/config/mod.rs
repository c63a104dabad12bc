//! Floor 7: settings. The only reader of the environment and of configuration files.

pub mod load;
pub mod settings;
