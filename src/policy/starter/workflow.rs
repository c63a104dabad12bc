//! The workflow that starts runs: only the events the policy lets start something, and what the
//! tests need before Locum's step.
//!
//! In: who may start what, the steps that set up, and a model. Out: the text of a workflow.

use std::fmt::Write as _;

use crate::schema::PolicySpec;
use crate::starter::StarterProposal;
use crate::starter::workflow_events::WorkflowEvents;
use crate::written::quoted;

/// The model a workflow asks, as inputs of the Action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowModel {
    /// The model where the variable `LOCUM_MODEL` names none, with its protocol before a colon.
    pub model: String,
    /// Where its API starts, unless that follows from the model.
    pub base_url: Option<String>,
    /// The expression that gives the key.
    pub key: String,
    /// A permission the key needs, as a line of `permissions`.
    pub permission: Option<String>,
}

/// The placeholder of the Action's own repository and commit.
pub const ACTION: &str = "OWNER/locum@0000000000000000000000000000000000000000";

/// Writes the workflow.
pub fn workflow(
    proposal: &StarterProposal,
    settings: &PolicySpec,
    model: &WorkflowModel,
) -> String {
    let events = WorkflowEvents::of(&settings.triggers, &settings.publish.allow);
    let mut text = format!(
        "# .github/workflows/locum.yml: starts locum on {}.\nname: locum\n\non:\n{}",
        listed(&events.words),
        events.text
    );
    let _ = write!(
        text,
        "\npermissions: {{}}\n\njobs:\n  locum:\n    name: locum\n    # Most comments are not for \
         locum: a runner starts only for its trigger word. The policy decides who may use it.\n    \
         if: >-\n      {}\n",
        events.conditions.join(" ||\n      ")
    );
    text.push_str(
        "    runs-on: ubuntu-24.04\n    timeout-minutes: 45\n    # One run at a time for each \
         issue, pull request and schedule.\n    concurrency:\n      group: locum-${{ \
         github.event.issue.number || github.event.pull_request.number || github.event.schedule \
         || github.run_id }}\n      cancel-in-progress: false\n    permissions:\n      contents: \
         write # to push branches\n      issues: write # to comment, react and label\n      \
         pull-requests: write # to open pull requests and comment on them\n",
    );
    for permission in &events.permissions {
        let _ = writeln!(text, "      {permission}");
    }
    if let Some(permission) = &model.permission {
        let _ = writeln!(text, "      {permission}");
    }
    text.push_str(
        "    steps:\n      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # \
         v5.0.0\n        with:\n          persist-credentials: false\n",
    );
    text.push_str(&proposal.setup);
    let _ = write!(
        text,
        "      # Replace OWNER with the account and the zeros with the commit you have reviewed.\n      \
         - uses: {ACTION}\n        with:\n          model: ${{{{ vars.LOCUM_MODEL || '{}' }}}}\n",
        model.model
    );
    if let Some(url) = &model.base_url {
        let _ = writeln!(text, "          base-url: {url}");
    }
    let _ = writeln!(text, "          api-key: {}", model.key);
    text
}

fn listed(words: &[&str]) -> String {
    match words {
        [] => quoted("nothing"),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
