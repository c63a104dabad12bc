//! What starts the workflow: the events that the policy lets start something, the conditions under
//! which a runner is worth starting, and what the token needs for them.
//!
//! In: who may start what. Out: the keys below `on`, conditions and permissions.

use std::fmt::Write as _;

use crate::glob::PathGlob;
use crate::intent::{PublicationKind, TriggerKind};
use crate::schema::Triggers;
use crate::schema::events::{EventRule, actions_of};
use crate::written::quoted;

/// What starts the workflow.
#[derive(Default)]
pub(super) struct WorkflowEvents {
    /// The keys below `on`.
    pub(super) text: String,
    /// When the job runs.
    pub(super) conditions: Vec<String>,
    /// For people.
    pub(super) words: Vec<&'static str>,
    /// Lines of `permissions` that only some events need.
    pub(super) permissions: Vec<&'static str>,
}

impl WorkflowEvents {
    pub(super) fn of(triggers: &Triggers, publishes: &[PublicationKind]) -> Self {
        let mut events = Self::default();
        if !triggers.schedule_jobs.is_empty() {
            events.starts_always("schedule");
        }
        if !triggers.dispatch_tiers.is_empty() {
            events.starts_always("workflow_dispatch");
        }
        if let Some(comment) = &triggers.comment {
            events.words.push("a comment");
            events.text.push_str(
                "  issue_comment: # zizmor: ignore[dangerous-triggers] the comment is read as \
                 data, and who may ask is checked first\n    types: [created]\n  \
                 pull_request_review_comment:\n    types: [created]\n  pull_request_review:\n    \
                 types: [submitted]\n",
            );
            let word = literal(&comment.prefix);
            events.conditions.push(format!("contains(github.event.comment.body, '{word}')"));
            events.conditions.push(format!("contains(github.event.review.body, '{word}')"));
        }
        events.issues(triggers);
        events.repository(triggers);
        events.checks(triggers, publishes);
        if !triggers.dispatch_tiers.is_empty() {
            events.words.push("a button");
            events.text.push_str(
                "  workflow_dispatch:\n    inputs:\n      task:\n        description: The task\n        \
                 type: string\n      mode:\n        description: The mode to start in; the \
                 policy's default when empty\n        type: string\n",
            );
            if triggers.started_jobs().next().is_some() {
                events.text.push_str(
                    "      job:\n        description: A job of .locum/jobs to run instead of a \
                     task\n        type: string\n",
                );
            }
        }
        if !triggers.schedule_jobs.is_empty() {
            events.words.push("a schedule");
            events.text.push_str(
                "  schedule:\n    - cron: \"17 * * * *\" # every hour; .locum/jobs sets when each \
                 job is due\n",
            );
        }
        events
    }

    fn starts_always(&mut self, event: &str) {
        self.conditions.push(format!("github.event_name == '{event}'"));
    }

    fn issues(&mut self, triggers: &Triggers) {
        let mut types = Vec::new();
        if let Some(comment) = &triggers.comment {
            types.push("opened");
            let word = literal(&comment.prefix);
            self.conditions.push(format!(
                "(github.event.action == 'opened' && contains(github.event.issue.body, '{word}'))"
            ));
        }
        if let Some(label) = &triggers.label {
            self.words.push("a label");
            types.push("labeled");
            let name = literal(&label.name);
            let is_whole = name == label.name.replace('\'', "''");
            let asked = format!("github.event.label.name == '{name}'");
            // The policy looks at the label all the same.
            let any = "github.event.action == 'labeled'".to_owned();
            self.conditions.push(if is_whole { asked } else { any });
        }
        if triggers.assign.is_some() {
            self.words.push("an assignment");
            types.push("assigned");
            self.conditions.push("github.event.action == 'assigned'".to_owned());
        }
        if triggers.dashboard {
            self.words.push("a box of the dashboard");
            types.push("edited");
            self.conditions.push(
                "(github.event.action == 'edited' && contains(github.event.issue.body, \
                 'locum:v1 kind=dashboard'))"
                    .to_owned(),
            );
        }
        if !types.is_empty() {
            let _ = writeln!(self.text, "  issues:\n    types: [{}]", types.join(", "));
        }
    }

    /// Adds the events that have entries of their own.
    fn repository(&mut self, triggers: &Triggers) {
        let rules = |kind| triggers.rules_for(kind).collect::<Vec<_>>();
        let mut pull_request = actions(&rules(TriggerKind::PullRequest), TriggerKind::PullRequest);
        // A label counts on a pull request as it does on an issue.
        let labeled = "labeled".to_owned();
        let only_by_label = triggers.label.is_some() && !pull_request.contains(&labeled);
        if !pull_request.is_empty() {
            self.words.push("a pull request");
            if only_by_label {
                self.conditions.push(
                    "(github.event_name == 'pull_request' && github.event.action != 'labeled')"
                        .to_owned(),
                );
            } else {
                self.starts_always("pull_request");
            }
        }
        if only_by_label {
            pull_request.push(labeled);
        }
        if !pull_request.is_empty() {
            let _ =
                writeln!(self.text, "  pull_request:\n    types: [{}]", pull_request.join(", "));
        }
        let failures = rules(TriggerKind::CiFailure);
        if !failures.is_empty() {
            self.failures(&failures);
        }
        let pushes = rules(TriggerKind::Push);
        if !pushes.is_empty() {
            self.words.push("a push");
            self.text.push_str("  push:\n");
            if pushes.iter().all(|rule| !rule.branches.is_empty()) {
                self.branches(&pushes);
                self.starts_always("push");
            } else {
                self.text.push_str("    branches: [\"**\"]\n");
                self.conditions.push(
                    "(github.event_name == 'push' && github.ref_name == \
                     github.event.repository.default_branch)"
                        .to_owned(),
                );
            }
        }
        let releases = actions(&rules(TriggerKind::Release), TriggerKind::Release);
        if !releases.is_empty() {
            self.words.push("a release");
            self.starts_always("release");
            let _ = writeln!(self.text, "  release:\n    types: [{}]", releases.join(", "));
        }
        if triggers.rules_for(TriggerKind::MergeGroup).next().is_some() {
            self.words.push("a merge queue");
            self.starts_always("merge_group");
            self.text.push_str("  merge_group:\n    types: [checks_requested]\n");
        }
        let sent = rules(TriggerKind::RepositoryDispatch);
        if !sent.is_empty() {
            self.words.push("another program");
            self.starts_always("repository_dispatch");
            self.text.push_str("  repository_dispatch:\n");
            let types: Vec<String> =
                sent.iter().flat_map(|rule| &rule.actions).map(|one| quoted(one)).collect();
            if sent.iter().all(|rule| !rule.actions.is_empty()) {
                let _ = writeln!(self.text, "    types: [{}]", types.join(", "));
            }
        }
    }

    fn failures(&mut self, rules: &[&EventRule]) {
        self.words.push("a failed check");
        self.conditions.push(
            "(github.event_name == 'workflow_run' && contains(fromJSON('[\"success\", \
             \"failure\", \"timed_out\", \"startup_failure\"]'), \
             github.event.workflow_run.conclusion) && github.event.workflow_run.pull_requests[0])"
                .to_owned(),
        );
        let named: Vec<String> =
            rules.iter().flat_map(|rule| &rule.workflows).map(|one| quoted(one)).collect();
        let workflows = if named.is_empty() {
            "[\"CI\"] # name the workflows whose failure is to be repaired".to_owned()
        } else {
            format!("[{}]", named.join(", "))
        };
        let _ = writeln!(
            self.text,
            "  workflow_run: # zizmor: ignore[dangerous-triggers] only pull requests of this \
             repository are repaired, and their output is read as data\n    workflows: \
             {workflows}\n    types: [completed]"
        );
        self.permissions
            .push("actions: write # to read the output of failed jobs and run them again");
    }

    /// Adds what reading and publishing checks needs.
    fn checks(&mut self, triggers: &Triggers, publishes: &[PublicationKind]) {
        if publishes.contains(&PublicationKind::Check) {
            self.permissions.push("checks: write # to show results as check runs");
        } else if triggers.rules_for(TriggerKind::CiFailure).next().is_some() {
            self.permissions.push("checks: read # to see what else failed");
        }
    }

    fn branches(&mut self, rules: &[&EventRule]) {
        let named: Vec<String> = rules
            .iter()
            .flat_map(|rule| &rule.branches)
            .map(PathGlob::text)
            .map(|one| quoted(&one))
            .collect();
        let _ = writeln!(self.text, "    branches: [{}]", named.join(", "));
    }
}

/// Returns the beginning of a text that a literal of an expression can hold.
fn literal(text: &str) -> String {
    let ends = |(at, letter): &(usize, char)| {
        letter.is_control() || text.get(*at..).is_some_and(|rest| rest.starts_with("${{"))
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default().replace('\'', "''")
}

/// Returns the actions that entries count, each once.
fn actions(rules: &[&EventRule], kind: TriggerKind) -> Vec<String> {
    let (known, default) = actions_of(kind);
    let mut all: Vec<String> = Vec::new();
    for rule in rules {
        let named = if rule.actions.is_empty() {
            known.iter().take(default).map(|one| (*one).to_owned()).collect()
        } else {
            rule.actions.clone()
        };
        all.extend(named);
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::WorkflowEvents;
    use crate::Policy;
    use pretty_assertions::assert_eq;

    #[test]
    fn no_word_of_the_policy_becomes_an_expression_of_the_workflow() {
        for (name, expected) in [
            ("bot's", "github.event.label.name == 'bot''s'"),
            ("x ${{ secrets.A }}", "github.event.action == 'labeled'"),
        ] {
            let label = format!("label: {{ name: \"{name}\", tiers: [maintainer] }}");
            let text = format!("version: 1\ntriggers: {{ {label} }}\n");
            let policy = Policy::parse(&text, "p").unwrap();
            let events = WorkflowEvents::of(&policy.settings().triggers, &[]);
            assert_eq!(events.conditions, [expected]);
        }
    }
}
