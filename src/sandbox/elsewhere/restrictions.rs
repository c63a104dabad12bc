//! What one command gets where nothing can hold it: a home and a temporary folder of its own, under
//! `sandbox: best-effort`.

use crate::command_env::CommandEnv;

/// What one command gets.
pub(crate) struct Restrictions {
    /// What its environment gets besides its own.
    pub(crate) env: CommandEnv,
}
