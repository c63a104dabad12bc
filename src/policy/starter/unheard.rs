//! Which events of a policy a workflow does not listen to.
//!
//! In: the policy's settings and the text of a workflow. Out: names, with the activity types that
//! are missing. Nothing is said of events that start nothing: other jobs may want them.

use crate::schema::PolicySpec;
use crate::starter::workflow_events::WorkflowEvents;
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};

/// Returns the events that the policy lets start something and the workflow does not name, such as
/// `schedule` or `issues: labeled`. A workflow that cannot be read names none.
pub fn unheard_events(settings: &PolicySpec, workflow: &str) -> Vec<String> {
    let needed = WorkflowEvents::of(&settings.triggers, &settings.publish.allow);
    let needed = YamlDocument::parse(&format!("on:\n{}", needed.text));
    let written = YamlDocument::parse(workflow);
    let of = |document: &YamlDocument| document.root.as_ref()?.get("on").cloned();
    let written = of(&written);
    let mut unheard = Vec::new();
    for entry in of(&needed).iter().filter_map(YamlNode::entries).flatten() {
        match heard(written.as_ref(), &entry.key) {
            HeardTypes::None => unheard.push(entry.key.clone()),
            HeardTypes::Usual => {}
            HeardTypes::Listed(listed) => {
                let wanted = entry.node.get("types").map(texts).unwrap_or_default();
                let missing = wanted.into_iter().filter(|word| !listed.contains(word));
                unheard.extend(missing.map(|word| format!("{}: {word}", entry.key)));
            }
        }
    }
    unheard
}

/// What of an event starts a workflow.
enum HeardTypes {
    /// Nothing.
    None,
    /// What GitHub takes where no types are listed.
    Usual,
    /// These types alone.
    Listed(Vec<String>),
}

fn heard(on: Option<&YamlNode>, event: &str) -> HeardTypes {
    let Some(on) = on else { return HeardTypes::None };
    let is_named = match &on.value {
        YamlValue::Text(name) => name == event,
        YamlValue::List(_) => texts(on).iter().any(|name| name == event),
        YamlValue::Map(_) => {
            let types = on.get(event).and_then(|node| node.get("types"));
            if let Some(types) = types {
                return HeardTypes::Listed(texts(types));
            }
            on.entries().unwrap_or_default().iter().any(|entry| entry.key == event)
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => false,
    };
    if is_named { HeardTypes::Usual } else { HeardTypes::None }
}

/// One text or a list of them.
fn texts(node: &YamlNode) -> Vec<String> {
    match &node.value {
        YamlValue::Text(text) => vec![text.clone()],
        YamlValue::List(list) => {
            list.iter().filter_map(YamlNode::text).map(str::to_owned).collect()
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Map(_) => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unheard_events;
    use crate::Policy;
    use pretty_assertions::assert_eq;

    #[test]
    fn events_without_a_listener_are_named() {
        let policy = "version: 1\ntriggers:\n  comment: { prefix: /do, tiers: [maintainer] }\n  \
                      label: { name: x, tiers: [maintainer] }\n  schedule: { jobs: [nightly] }\n";
        let policy = Policy::parse(policy, "p").unwrap();
        let all = "on:\n  issue_comment: { types: [created] }\n  pull_request_review_comment:\n  \
                   pull_request_review: { types: [submitted] }\n  issues: { types: [opened, \
                   labeled] }\n  pull_request: { types: labeled }\n  schedule: [{ cron: '1 1 * * \
                   *' }]\n";
        for (workflow, expected) in [
            (all.to_owned(), &[][..]),
            (all.replace("  schedule: [{ cron: '1 1 * * *' }]\n", ""), &["schedule"]),
            (all.replace("[opened, labeled]", "[opened]"), &["issues: labeled"]),
            (
                "on: [issue_comment, issues]\n".to_owned(),
                &["pull_request_review_comment", "pull_request_review", "pull_request", "schedule"],
            ),
            (
                "on: push\n".to_owned(),
                &[
                    "issue_comment",
                    "pull_request_review_comment",
                    "pull_request_review",
                    "issues",
                    "pull_request",
                    "schedule",
                ],
            ),
        ] {
            assert_eq!(unheard_events(policy.settings(), &workflow), expected, "{workflow}");
        }
    }
}
