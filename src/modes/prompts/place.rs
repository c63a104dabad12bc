//! `RunPlace`: what a model is told of the place it works in: the day, the branch, what lies at the
//! top of the checkout, which programs are missing.
//!
//! Looked up once, when a run begins, and kept in its journal: a resumed run sends the same words,
//! and a provider's cache holds from turn to turn.

use serde::{Deserialize, Serialize};

use locum_base::text::code_list;

/// Most entries of the root that are named.
pub const ENTRIES_LIMIT: usize = 30;

/// Most missing programs that are named.
pub const MISSING_LIMIT: usize = 20;

/// The place a run works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunPlace {
    /// The day it began, `2026-01-31`, in UTC; empty where it is not known.
    pub date: String,
    /// The branch it began on.
    pub branch: Option<String>,
    /// Names at the root of the checkout, folders with a `/` behind them; those that may be read,
    /// [`ENTRIES_LIMIT`] at most.
    pub entries: Vec<String>,
    /// How many more there are.
    pub more: usize,
    /// Folders of the checkout with programs in them, such as `.venv/bin`.
    pub tools: Vec<String>,
    /// Programs that some rule allows and that are not installed, [`MISSING_LIMIT`] at most.
    pub missing: Vec<String>,
}

impl RunPlace {
    /// Returns true when nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is said of it behind the working directory, line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.entries.is_empty() {
            let more =
                if self.more > 0 { format!(", and {} more", self.more) } else { String::new() };
            lines.push(format!("There: {}{more}", code_list(&self.entries)));
        }
        if !self.tools.is_empty() {
            lines.push(format!("Programs not on PATH: {}", code_list(&self.tools)));
        }
        if !self.missing.is_empty() {
            lines.push(format!("Not installed: {}", code_list(&self.missing)));
        }
        lines
    }
}
