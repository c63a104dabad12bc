//! What to look at in a repository although runs can start: tests that no success command runs,
//! what they need in the Action, build output that git does not ignore, and files with mistakes
//! that only their own commands meet.
//!
//! In: the policy and what `locum init` would write now. Out: sentences. None of them changes the
//! exit code.

use crate::cli::CommandContext;
use crate::cli::doctor::action::workflows;
use crate::cli::doctor::workflow::Workflow;
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
    let workflows = InspectedRepository::open(context, Some("HEAD"))
        .map(|place| workflows(&place).0)
        .unwrap_or_default();
    let wants = policy.is_some_and(|policy| !policy.settings().publish.success.is_empty());
    notes.extend(
        workflows
            .iter()
            .filter(|workflow| wants && installs_nothing(workflow))
            .filter_map(|workflow| without_setup(workflow, &proposal)),
    );
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

/// Whether no step of a workflow may install anything.
fn installs_nothing(workflow: &Workflow) -> bool {
    let installs = |line: &str| {
        let step = line.trim_start().trim_start_matches("- ");
        let action = step.strip_prefix("uses:").map(str::trim_start);
        // Besides the checkout, what an action does is not known; Locum's own has inputs.
        let other = action.is_some_and(|action| !action.starts_with("actions/checkout"));
        (step.starts_with("run:") || step.starts_with("container:"), other)
    };
    let found: Vec<(bool, bool)> = workflow.text.lines().map(installs).collect();
    let actions = found.iter().filter(|(_, other)| *other).count();
    actions <= 1 && found.iter().all(|(installs, _)| !installs)
}

/// Says that the tests lack what they need in the Action.
fn without_setup(workflow: &Workflow, proposal: &StarterProposal) -> Option<String> {
    let installs = listed(&proposal.installs)?;
    Some(format!(
        "no step of `{}` installs what the success commands need, and commands have no network; \
         `locum init` proposes {installs}",
        workflow.path
    ))
}

fn listed(commands: &[String]) -> Option<String> {
    let quoted: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", "))
}
