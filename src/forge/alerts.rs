//! Open alerts of a repository: of code scanning, and of dependencies with known faults.

use serde::{Deserialize, Serialize};

/// Most alerts that are read at once.
pub const ALERTS_LIMIT: usize = 20;

/// Longest line of an alert, in bytes.
pub(crate) const LINE_LIMIT_BYTES: usize = 1_000;

/// Where alerts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertSource {
    /// Code scanning: CodeQL, and whatever uploads SARIF.
    CodeScanning,
    /// Dependabot.
    Dependabot,
}

/// Words for sources, as written in jobs.
pub const ALERT_SOURCES: &[(&str, AlertSource)] =
    &[("code-scanning", AlertSource::CodeScanning), ("dependabot", AlertSource::Dependabot)];

impl AlertSource {
    /// Returns the word for it, which is also its part of the forge's addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CodeScanning => "code-scanning",
            Self::Dependabot => "dependabot",
        }
    }
}
