//! What `locum doctor` says of the browser: which one a run here would open pages in, or why none.
//!
//! In: the settings and what the sandbox comes to. Out: a finding, and a row for people. The
//! program is asked for its version.

use serde::Serialize;

use crate::cli::sandbox_rows::row;
use crate::cli::stop_signal::runtime;
use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::run::browser;
use crate::run::error::RunError;
use locum_sandbox::exec::version::version;
use locum_sandbox::level::SandboxLevel;

/// The browser of this machine.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BrowserFinding {
    /// Its program; `None` where there is none.
    program: Option<String>,
    /// What it says of itself; `None` where it says nothing.
    version: Option<String>,
    /// Whether this machine has the sandbox that a browser runs in.
    contained: bool,
    /// Why there is no program.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl BrowserFinding {
    /// Finds it, and asks it for its version.
    ///
    /// # Errors
    /// When nothing can be started here at all.
    pub(super) fn look(
        settings: &Settings,
        environment: &Environment,
        sandbox: SandboxLevel,
    ) -> Result<Self, RunError> {
        // Without namespaces it would have no network of its own.
        let contained = sandbox.is_full() && sandbox.namespaces;
        Ok(match browser::installed(settings, environment) {
            Ok(program) => Self {
                version: runtime()?.block_on(version(&program)),
                program: Some(program.display().to_string()),
                contained,
                problem: None,
            },
            Err(why) => Self { program: None, version: None, contained, problem: Some(why) },
        })
    }

    /// Returns the row of the report.
    pub(super) fn row(&self) -> [String; 3] {
        let Some(program) = &self.program else {
            return row("browser", "none", self.problem.as_deref().unwrap_or_default());
        };
        let state = self.version.as_deref().unwrap_or("unknown version");
        let held = match self.contained {
            true => "a sandbox holds it",
            false => "not used: it runs only in the whole sandbox with namespaces",
        };
        row("browser", state, &format!("{program}: {held}"))
    }
}

#[cfg(test)]
mod tests {
    use super::BrowserFinding;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_browser_is_shown_with_what_holds_it_and_none_with_the_reason() {
        let found = BrowserFinding {
            program: Some("/b/chrome".to_owned()),
            version: Some("Chromium 1".to_owned()),
            contained: true,
            problem: None,
        };
        let held = found.row();
        assert_eq!(held, ["browser", "Chromium 1", "/b/chrome: a sandbox holds it"]);
        let loose = BrowserFinding { contained: false, version: None, ..found.clone() }.row();
        assert!(loose[1] == "unknown version" && loose[2].contains("not used"), "{loose:?}");
        let none =
            BrowserFinding { program: None, problem: Some("there is none".to_owned()), ..found };
        assert_eq!(none.row(), ["browser", "none", "there is none"]);
    }
}
