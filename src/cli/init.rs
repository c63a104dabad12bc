//! `locum policy init` and `locum init`: a starter policy made from what lies in the repository,
//! and the workflow that starts runs.
//! In: a folder. Out: new files, or their text. A file appears whole or not at all, and none is
//! overwritten without a flag that says so.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_args::PolicyInitArgs;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use crate::run::repository_scan::scan;
use crate::run::trusted::POLICY_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_modes::{ModeSource, ToolGroup};
use locum_policy::starter::scan::OwnMode;
use locum_policy::starter::starter;

/// Where the workflow is written.
const WORKFLOW_FILE: &str = ".github/workflows/locum.yml";
/// The workflow, with places to fill in.
const WORKFLOW: &str = include_str!("../../config/examples/workflow.yml");

/// A file to be written, and its text.
type InitFile<'a> = (&'a str, &'a str);

/// Runs `locum policy init`.
///
/// # Errors
/// When a file already exists, or cannot be written.
pub(super) fn policy(
    args: &PolicyInitArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let policy = made(context)?;
    if args.stdout {
        output.raw(policy.as_bytes());
        return Ok(ExitStatus::Done);
    }
    write(context, &[(POLICY_FILE, &policy)], args.force, output)?;
    output.talk(
        "Review it, then try it: `locum policy check`, `locum policy test`, `locum policy explain \
         'edit(README.md)'`.",
    );
    Ok(ExitStatus::Done)
}

/// Runs `locum init`.
///
/// # Errors
/// When a file already exists, or cannot be written.
pub(super) fn all(
    force: bool,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let policy = made(context)?;
    write(context, &[(POLICY_FILE, &policy), (WORKFLOW_FILE, WORKFLOW)], force, output)?;
    output.talk(format!(
        "Next steps:\n1. Review `{POLICY_FILE}`, and try it: `locum policy check`, `locum policy \
         test`.\n2. In `{WORKFLOW_FILE}`, set the account and the commit of the Action that you \
         reviewed.\n3. Store the key of your model's provider in the secret `OPENAI_API_KEY`, and \
         the model's name in the variable `LOCUM_MODEL`.\n4. Commit both files to the default \
         branch, and write `/locum` and a task in a comment."
    ));
    Ok(ExitStatus::Done)
}

fn made(context: &CommandContext) -> Result<String, RunError> {
    let place = InspectedRepository::open(context, None)?;
    let modes = place.modes()?;
    let of_repository =
        modes.iter().filter(|mode| matches!(mode.source, ModeSource::Project { .. }));
    let own = of_repository.map(|mode| OwnMode {
        slug: mode.slug.clone(),
        writes: mode
            .groups
            .iter()
            .any(|entry| matches!(entry.group, ToolGroup::Edit | ToolGroup::Command)),
    });
    let root = place.root();
    let scanned = scan(root, own.collect())
        .map_err(|error| RunError::usage("--repo", format!("`{}`: {error}", root.display())))?;
    Ok(starter(&scanned)?)
}

/// Writes the files; none when one of them already exists, unless overwriting was requested.
fn write(
    context: &CommandContext,
    files: &[InitFile<'_>],
    force: bool,
    output: &mut Output,
) -> Result<(), RunError> {
    let place = InspectedRepository::open(context, None)?;
    let root = place.root();
    let there = |(path, _): &&InitFile<'_>| root.join(path).symlink_metadata().is_ok();
    let hint = "overwrite it with `--force`, or print the policy with `locum policy init --stdout`";
    let error: RunError = files
        .iter()
        .filter(there)
        .map(|(path, _)| Diagnostic::about(*path, "already exists").hint(hint))
        .collect();
    if !force && !error.diagnostics.is_empty() {
        return Err(error);
    }
    for (path, text) in files {
        put(root, path, text, force).map_err(|error| RunError::usage(*path, error.to_string()))?;
        output.line(format!("wrote {path}"));
    }
    Ok(())
}

/// Puts a file in its place whole. Folders on the way are made; a link among them is not followed.
fn put(root: &Path, path: &str, text: &str, force: bool) -> io::Result<()> {
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    let mut folder = root.to_owned();
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("`{part}` is not a folder"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(&folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let target = root.join(path);
    let placed = if force { file.persist(target) } else { file.persist_noclobber(target) };
    placed.map(drop).map_err(|error| error.error)
}
