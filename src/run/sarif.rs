//! What runs found, written as a SARIF file; and where in the files of a commit or checkout that
//! is.
//!
//! In: runs that ended. Out: findings with their lines, and a file. Secrets are taken out of it.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::run::error::RunError;
use crate::run::source::FileSource;
use locum_agent::report::findings;
use locum_agent::report::named_lines::named_lines;
use locum_agent::report::sarif::{self, LocatedFinding, SarifRun};
use locum_agent::session::outcome::Outcome;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_workspace::Workspace;
use locum_workspace::repo::{CommitId, Repo};

/// Lines of a larger file are not looked at.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// Returns what a result reports about lines of the files of a commit.
pub(crate) fn found_at(repo: &Repo, commit: &CommitId, outcome: &Outcome) -> Vec<LocatedFinding> {
    located(outcome, |path| {
        let path = RepoPath::parse(path).ok()?;
        Some(repo.file_at(commit, &path, FILE_LIMIT_BYTES).ok()??.text)
    })
}

/// Returns what a run at the command line reports about lines: of the files that it saw, which are
/// those of its base where it changed something.
pub fn found_in(workspace: &Workspace, outcome: &Outcome) -> Vec<LocatedFinding> {
    if !outcome.changes.is_empty() {
        return found_at(&workspace.repo, &outcome.base, outcome);
    }
    let source = FileSource::WorkingTree(workspace.checkout.root().to_owned());
    located(outcome, |path| {
        let path = RepoPath::parse(path).ok()?;
        Some(source.file(path.as_str()).ok()??.text)
    })
}

/// Writes the log of some runs.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, runs: &[SarifRun<'_>], redactor: &Redactor) -> Result<(), RunError> {
    let log = sarif::log(runs, env!("CARGO_PKG_VERSION"));
    let text = serde_json::to_string_pretty(&log).map_err(RunError::internal)?;
    put(path, &(redactor.redact(&text) + "\n"))
        .map_err(|error| RunError::usage(path.display().to_string(), error.to_string()))
}

/// Puts the file in its place whole: a link that a run left there is replaced, never followed.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it is no file"))?;
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn located(outcome: &Outcome, text_of: impl Fn(&str) -> Option<String>) -> Vec<LocatedFinding> {
    let count = |text: &str| u32::try_from(text.lines().count()).ok();
    let lines = named_lines(&outcome.summary, |path| count(&text_of(path)?));
    let found = findings::all_findings(&outcome.summary, &outcome.commands, &lines);
    let located = found.into_iter().map(|finding| {
        let text = text_of(&finding.path).unwrap_or_default();
        let at = usize::try_from(finding.last).unwrap_or_default().saturating_sub(1);
        let line = text.lines().nth(at).map(str::to_owned);
        LocatedFinding { finding, line, file_lines: count(&text).unwrap_or_default() }
    });
    located.collect()
}
