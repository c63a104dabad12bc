//! What to look at in a repository although runs can start: tests that no success command runs,
//! what they need in the Action, build output that git does not ignore, and files with mistakes
//! that only their own commands meet.
//!
//! In: the policy and what `locum init` would write now. Out: sentences. None of them changes the
//! exit code.

use crate::cli::CommandContext;
use crate::cli::action_workflow::{ActionStep, ActionWorkflows, Workflow};
use crate::cli::init;
use crate::cli::init::last_words::unignored;
use crate::cli::inspected::InspectedRepository;
use locum_files::diagnostic::Diagnostic;
use locum_policy::Policy;
use locum_policy::cases::{CASES_FILE, read_cases};
use locum_policy::intent::PublicationKind;
use locum_policy::starter::StarterProposal;
use locum_workspace::repo::Repo;

/// Returns the notes; none outside a repository.
pub(super) fn notes(policy: Option<&Policy>, context: &CommandContext) -> Vec<String> {
    let (Ok(repo), Some(proposal)) = (Repo::open(&context.folder), init::proposal(context)) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    notes.extend(policy.and_then(|policy| without_success(policy, &proposal)));
    // Why workflows cannot be read is a problem of the Action.
    let place = InspectedRepository::open(context, Some("HEAD")).ok();
    let workflows = place.and_then(|place| ActionWorkflows::all(&place.source()).ok());
    if let (Some(policy), Some(workflows)) = (policy, workflows) {
        let workflows = workflows.read.iter();
        notes.extend(workflows.filter_map(|workflow| without_setup(workflow, policy, &proposal)));
    }
    notes.extend(unignored(&repo, &proposal.outputs));
    if let Ok(place) = InspectedRepository::open(context, None) {
        notes.extend(broken_commands(&place));
        notes.extend(broken_cases(&place));
    }
    notes
}

/// Says that files of slash commands have mistakes.
fn broken_commands(place: &InspectedRepository<'_>) -> Option<String> {
    let set = place.origin().commands().ok()?;
    let first = set.files.iter().find_map(|file| {
        let mistake = file.command.as_ref().err()?.first()?;
        Some(mistake.clone().in_file(&file.origin).headline())
    })?;
    Some(format!("{first}: `locum commands validate` lists every mistake"))
}

/// Says that the tests of the policy have mistakes.
fn broken_cases(place: &InspectedRepository<'_>) -> Option<String> {
    let file = place.source().own_file(CASES_FILE).ok()??;
    let errors = read_cases(&file.text, &file.origin).err()?;
    let first = errors.0.first().map(Diagnostic::headline)?;
    Some(format!("{first}: `locum policy test` lists every mistake"))
}

/// Says that no command shows that a change is ready, where there is one that would.
fn without_success(policy: &Policy, proposal: &StarterProposal) -> Option<String> {
    let publish = &policy.settings().publish;
    let changes = [PublicationKind::Commit, PublicationKind::PullRequest];
    if !publish.success.is_empty() || !changes.iter().any(|kind| publish.allow.contains(kind)) {
        return None;
    }
    let proposed = Policy::parse(&proposal.policy, "the proposed policy").ok()?;
    let proposed = listed(&proposed.settings().publish.success)?;
    Some(format!(
        "`publish.success` names no command, so nothing shows that a change is ready; `locum init` \
         proposes {proposed}"
    ))
}

/// Names the commands that `locum init` proposes to install what the tests need, and that no step
/// before Locum's replaces.
fn without_setup(
    workflow: &Workflow,
    policy: &Policy,
    proposal: &StarterProposal,
) -> Option<String> {
    let success = &policy.settings().publish.success;
    let lacking = |step: &ActionStep| listed(&step.prepared.lacking(&proposal.installs, success));
    let lacking = workflow.steps.iter().filter(|step| !step.only_publishes()).find_map(lacking)?;
    Some(format!(
        "no step of `{}` installs what {lacking} would, and commands have no network; `locum init` \
         proposes it for the success commands",
        workflow.path
    ))
}

fn listed<T: AsRef<str>>(commands: &[T]) -> Option<String> {
    let quoted: Vec<String> =
        commands.iter().map(|command| format!("`{}`", command.as_ref())).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}
