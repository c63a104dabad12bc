//! What a maintainer still has to do after `locum init`: files that git would leave out, and
//! settings of the repository at GitHub.
//!
//! In: what was written. Out: notes and numbered steps.

use ignore::gitignore::gitconfig_excludes_path;

use crate::cli::init::ignored::{lines_to_ignore, lines_to_keep};
use crate::cli::init::plan::InitPlan;
use crate::cli::init::update::{FileUpdate, PlannedFile};
use crate::cli::output::Output;
use crate::run::error::RunError;
use crate::run::trusted::POLICY_FILE;
use locum_policy::Policy;
use locum_policy::intent::{Facts, PublicationKind};
use locum_policy::kind::RuleKind;
use locum_policy::starter::build_output::BuildOutput;
use locum_policy::starter::jobs::JobRecipe;
use locum_workspace::repo::Repo;

/// Most source folders that a step names.
const NAMED_FOLDERS: usize = 10;

/// Returns the lines that bring back files which git would leave out of a commit, and says it.
pub(super) fn ignored(repo: &Repo, paths: &[&str], output: &mut Output) -> Vec<String> {
    let lines = lines_to_keep(repo, paths, gitconfig_excludes_path());
    if !lines.is_empty() {
        output.talk(format_args!(
            "note: git ignores what was written, so a commit would leave it out.\n  hint: add to \
             the end of `.gitignore`:\n    {}",
            lines.join("\n    ")
        ));
    }
    lines
}

/// Returns what is left for a maintainer to do, settings at GitHub included. `updates` says that
/// what would change was changed.
///
/// # Errors
/// When the policy has mistakes.
pub(super) fn next_steps(
    plan: &InitPlan,
    repo: &Repo,
    updates: bool,
) -> Result<Vec<String>, RunError> {
    let InitPlan { proposal, model, policy, .. } = plan;
    let policy = Policy::parse(&policy.text, &policy.origin)?;
    let settings = policy.settings();
    let check = if proposal.has_tests {
        "`locum policy check`, `locum policy test`"
    } else {
        "`locum policy check`; name the command that tests a change in `publish.success`"
    };
    let mut steps = vec![format!("Review `{POLICY_FILE}`, and try it: {check}.")];
    steps.extend(proposal.untested.iter().cloned());
    steps.extend(may_edit(plan, &policy));
    steps.extend(unopened(&proposal.unopened));
    steps.extend(unignored(repo, &proposal.outputs));
    steps.push(match model.secret {
        None if !model.workflow.variables.is_empty() => identity(&model.workflow.variables),
        Some(secret) => format!(
            "Store the key of your model's provider: at GitHub, Settings > Secrets and variables \
             > Actions > New repository secret, named `{secret}`; or `gh secret set {secret}`."
        ),
        None => "There is no key to store: the workflow's own token asks the model.".to_owned(),
    });
    steps.push(if plan.uses_action() {
        format!(
            "The workflow asks `{}`. The variable `LOCUM_MODEL` of the repository replaces it.",
            model.workflow.model
        )
    } else {
        format!(
            "`{}` does not use the Action, so nothing starts a run at GitHub: give that file \
             another name and run `locum init` again, or take over the difference.",
            plan.workflow_path
        )
    });
    if settings.publish.allow.contains(&PublicationKind::PullRequest) {
        steps.push(
            "At GitHub, Settings > Actions > General > Workflow permissions: turn on \"Allow \
             GitHub Actions to create and approve pull requests\"."
                .to_owned(),
        );
    }
    if let Some(label) = &settings.triggers.label {
        steps.push(format!(
            "Create the label that starts runs: `gh label create '{}'`.",
            label.name.replace('\'', "'\\''")
        ));
    }
    let comment = settings.triggers.comment.as_ref().filter(|_| plan.uses_action());
    let asks = comment.map_or_else(String::new, |comment| {
        format!(", and write `{}` and a task in a comment", comment.prefix)
    });
    let is_written = |file: &&PlannedFile| match file.update {
        FileUpdate::New => true,
        FileUpdate::Changed { .. } => updates,
        FileUpdate::Same | FileUpdate::Adapted { .. } | FileUpdate::ByHand { .. } => false,
    };
    let written: Vec<String> =
        plan.files.iter().filter(is_written).map(|file| format!("`{}`", file.path)).collect();
    let files = match (written.len(), plan.files.len()) {
        (2, 2) => "both files".to_owned(),
        (written, all) if written == all => "the files".to_owned(),
        _ => written.join(", "),
    };
    steps.push(format!("Commit {files} to the default branch{asks}."));
    // The Action alone reads alerts.
    if let Some(job) = proposal.jobs.iter().find(|job| job.recipe != JobRecipe::SecurityAlerts) {
        steps.push(format!(
            "Look at a job after the commit: `locum job run {} --dry-run`.",
            job.name
        ));
    }
    Ok(steps)
}

/// Says which build output git does not ignore, and what to do about it.
pub(in crate::cli) fn unignored(repo: &Repo, outputs: &[BuildOutput]) -> Option<String> {
    let lines = lines_to_ignore(repo, outputs);
    let quoted: Vec<String> = lines.iter().map(|line| format!("`{line}`")).collect();
    let each = if quoted.len() > 1 { ", each on a line" } else { "" };
    (!quoted.is_empty()).then(|| {
        format!(
            "Let git ignore what installs, builds and tests write, or a run's change may contain \
             it: add {} to `.gitignore`{each}.",
            quoted.join(", ")
        )
    })
}

/// Says that runs may edit nothing, or no source, and what to do about it.
fn may_edit(plan: &InitPlan, policy: &Policy) -> Option<String> {
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let is_new = plan.files.first().is_some_and(|file| file.update == FileUpdate::New);
    if !is_new || !plan.proposal.edits.is_empty() {
        return None;
    }
    let has_texts = !policy.allowed(RuleKind::Edit, &facts).is_empty();
    let what = if has_texts { "no source" } else { "nothing" };
    Some(format!(
        "Runs may edit {what} yet, as no source was found here: name what they may edit with \
         `locum init --update --edit 'src/**'`, or let `locum init --update` find it once it is \
         there."
    ))
}

/// Names source folders that stay closed, as there are too many to open each by a line.
fn unopened(globs: &[String]) -> Option<String> {
    let named: Vec<String> =
        globs.iter().take(NAMED_FOLDERS).map(|glob| format!("`{glob}`")).collect();
    let more = globs.len().saturating_sub(NAMED_FOLDERS);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!globs.is_empty()).then(|| {
        format!(
            "Runs may not edit {}{more}: `locum init` opens a limited number of folders. Open \
             these by rules of your own, or name all that is open with `--edit`.",
            named.join(", ")
        )
    })
}

/// What is left to do where a job's identity stands in for a key.
fn identity(variables: &[String]) -> String {
    format!(
        "There is no key to store: let the model's provider trust this repository's jobs (the \
         provider's page of Locum's documentation says how). Then set the repository's variables {}, which are no secrets: at GitHub, \
         Settings > Secrets and variables > Actions > Variables; or `gh variable set {}`.",
        variables.join(", "),
        variables.first().map_or("NAME", String::as_str)
    )
}
