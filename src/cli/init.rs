//! `locum policy init` and `locum init`: a starter policy made from what lies in the repository,
//! and the workflow that starts runs.
//! In: a checkout. Out: new files, or their text. A file appears whole or not at all, and none is
//! overwritten without a flag that says so.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::cli::init_args::InitArgs;
use crate::cli::init_model::{self, InitModel};
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_args::PolicyInitArgs;
use crate::cli::programs::is_on_path;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::release;
use crate::run::error::RunError;
use crate::run::repository_scan::scan;
use crate::run::trusted::POLICY_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_modes::{ModeSource, ToolGroup};
use locum_policy::Policy;
use locum_policy::starter::scan::OwnMode;
use locum_policy::starter::workflow::{WorkflowForm, workflow};
use locum_policy::starter::{StarterProposal, propose};
use locum_workspace::repo::Repo;

/// Where the workflow is written.
const WORKFLOW_FILE: &str = ".github/workflows/locum.yml";

/// A file to be written, and its text.
type InitFile<'a> = (&'a str, &'a str);

/// Runs `locum policy init`.
///
/// # Errors
/// When the folder is not in a git checkout, or the file exists or cannot be written.
pub(super) fn policy(
    args: &PolicyInitArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if args.stdout {
        output.raw(proposed(context)?.policy.as_bytes());
        return Ok(ExitStatus::Done);
    }
    in_checkout(context)?;
    let proposal = proposed(context)?;
    write(context, &[(POLICY_FILE, &proposal.policy)], args.force, output)?;
    missing(&proposal, context, output);
    output.talk(
        "Review it, then try it: `locum policy check`, `locum policy test`, `locum policy explain \
         'edit(README.md)'`.",
    );
    Ok(ExitStatus::Done)
}

/// Runs `locum init`.
///
/// # Errors
/// When the folder is not in a git checkout, both files exist, or one cannot be written.
pub(super) fn all(
    args: &InitArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    in_checkout(context)?;
    let action = args.action.clone().or_else(release::own_action).ok_or_else(|| {
        RunError::usage("--action", "this program is not of a release, so it knows no Action").hint(
            "name the commit of Locum's repository that workflows use with `--action \
             OWNER/NAME@COMMIT`, or write a policy alone with `locum policy init`",
        )
    })?;
    let model = init_model::choose(args.provider, args.model.as_deref(), &context.environment)?;
    let proposal = proposed(context)?;
    let place = InspectedRepository::open(context, None)?;
    let there = |path: &str| !args.force && place.root().join(path).symlink_metadata().is_ok();
    let kept: Vec<&str> =
        [POLICY_FILE, WORKFLOW_FILE].into_iter().filter(|path| there(path)).collect();
    // The workflow listens to what the policy starts, also to one that was there.
    let policy = if kept.contains(&POLICY_FILE) && kept.len() == 1 {
        match place.source().file(POLICY_FILE)? {
            Some(file) => Policy::parse(&file.text, &file.origin)?,
            None => Policy::parse(&proposal.policy, POLICY_FILE)?,
        }
    } else {
        Policy::parse(&proposal.policy, POLICY_FILE)?
    };
    let form = if args.two_jobs { WorkflowForm::TwoJobs } else { WorkflowForm::OneJob };
    let workflow = workflow(&proposal, policy.settings(), (&model.workflow, &action), form);
    let files: Vec<InitFile<'_>> =
        [(POLICY_FILE, proposal.policy.as_str()), (WORKFLOW_FILE, workflow.as_str())]
            .into_iter()
            .filter(|(path, _)| kept.len() == 2 || !kept.contains(path))
            .collect();
    write(context, &files, args.force, output)?;
    for path in kept {
        output.talk(format!("kept {path}: it already exists; `--force` overwrites it"));
    }
    missing(&proposal, context, output);
    output.talk(next_steps(&proposal, &model));
    Ok(ExitStatus::Done)
}

fn next_steps(proposal: &StarterProposal, model: &InitModel) -> String {
    let key = match model.secret {
        Some(secret) => format!("Store the key of your model's provider in the secret `{secret}`."),
        None => "Nothing to store: the workflow's own token asks the model.".to_owned(),
    };
    let check = if proposal.has_tests {
        "`locum policy check`, `locum policy test`"
    } else {
        "`locum policy check`; name the command that tests a change in `publish.success`"
    };
    format!(
        "Next steps:\n1. Review `{POLICY_FILE}`, and try it: {check}.\n2. {key} The workflow asks \
         `{}`; the variable `LOCUM_MODEL` of the repository replaces it.\n3. Commit both files to \
         the default branch, and write `/locum` and a task in a comment.",
        model.workflow.model
    )
}

/// Says which programs of the repository's builds and tests are not on this machine.
fn missing(proposal: &StarterProposal, context: &CommandContext, output: &mut Output) {
    for (program, why) in
        proposal.programs.iter().filter(|(program, _)| !is_on_path(program, &context.environment))
    {
        output.talk(format!("note: `{program}` is not installed on this machine ({why})"));
    }
}

fn in_checkout(context: &CommandContext) -> Result<(), RunError> {
    Repo::open(&context.folder).map(drop).map_err(|_| {
        let folder = context.folder.display();
        RunError::usage("--repo", format!("`{folder}` is not in a git checkout")).hint(
            "run `git init` first, or print a policy for the folder with `locum policy init \
             --stdout`",
        )
    })
}

fn proposed(context: &CommandContext) -> Result<StarterProposal, RunError> {
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
    Ok(propose(&scanned)?)
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
