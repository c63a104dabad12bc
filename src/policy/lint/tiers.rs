//! Ways to start a run that are open to nobody: without `tiers` a way starts nothing.
//!
//! In: a policy. Out: a warning for each such way.

use crate::Policy;
use crate::intent::TriggerKind;
use crate::lint::warning::Warning;
use crate::rule::trigger_word;
use crate::schema::Triggers;

/// Returns a warning for each way that starts nothing. Comments also decide on held calls, so they
/// are named only where nothing else starts.
pub fn ways_without_tiers(policy: &Policy) -> Vec<Warning> {
    let triggers = &policy.settings().triggers;
    let mut idle = idle_ways(triggers);
    if let Some(comment) = &triggers.comment
        && comment.tiers.is_empty()
        && !starts_anything(triggers)
        && !names_anyone(triggers)
    {
        idle.insert(0, "comment");
    }
    let warning = |way: &str| {
        let key = format!("triggers.{way}");
        let message = format!(
            "`{key}` starts nothing: it has no `tiers`, which say who may start a run this way, as \
             in `tiers: [maintainer]`"
        );
        Warning::of_key(policy, &key, message)
    };
    idle.into_iter().map(warning).collect()
}

/// Whether a run can start in any way.
pub fn starts_anything(triggers: &Triggers) -> bool {
    let idle = idle_ways(triggers);
    let comments = triggers
        .comment
        .as_ref()
        .is_some_and(|comment| !comment.tiers.is_empty() || names_anyone(triggers));
    let is_open = |way: &str| !idle.contains(&way);
    comments
        || triggers.label.is_some() && is_open("label")
        || triggers.assign.is_some() && is_open("assign")
        || triggers.events.iter().any(|rule| is_open(trigger_word(rule.kind)))
        || !triggers.dispatch_tiers.is_empty()
        || !triggers.schedule_jobs.is_empty()
}

/// Returns the ways other than comments that nobody may start a run by.
fn idle_ways(triggers: &Triggers) -> Vec<&'static str> {
    // Who is named may use every way there is.
    if names_anyone(triggers) {
        return Vec::new();
    }
    let mut idle = Vec::new();
    let label = triggers.label.as_ref().filter(|label| label.tiers.is_empty());
    let assign = triggers.assign.as_ref().filter(|assign| assign.tiers.is_empty());
    idle.extend(label.map(|_| "label"));
    idle.extend(assign.map(|_| "assign"));
    // Checks of what Locum pushed fail without anybody.
    let closed = |kind| triggers.rules_for(kind).all(|rule| rule.tiers.is_empty());
    let kinds = triggers.events.iter().map(|rule| rule.kind);
    for kind in kinds.filter(|kind| *kind != TriggerKind::CiFailure && closed(*kind)) {
        let word = trigger_word(kind);
        if !idle.contains(&word) {
            idle.push(word);
        }
    }
    idle
}

/// Whether people or bots are named that may start runs whatever their tier is.
fn names_anyone(triggers: &Triggers) -> bool {
    !triggers.users.is_empty() || !triggers.bots.is_empty()
}

#[cfg(test)]
mod tests {
    use super::ways_without_tiers;
    use crate::Policy;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_way_without_tiers_is_named_unless_somebody_may_use_it() {
        let found = |triggers: &str| -> Vec<String> {
            let policy =
                Policy::parse(&format!("version: 1\ntriggers: {triggers}\n"), "p").unwrap();
            ways_without_tiers(&policy).into_iter().map(|warning| warning.rule.pattern).collect()
        };
        for (triggers, expected) in [
            (
                "{ comment: { prefix: /x }, label: { name: x }, assign: { login: x } }",
                &["triggers.comment", "triggers.label", "triggers.assign"][..],
            ),
            ("{ comment: {}, label: { name: x, tiers: [maintainer] } }", &[]),
            ("{ comment: {}, label: { name: x }, users: { allow: [bob] } }", &[]),
            ("{ comment: {}, label: { name: x }, bots: { allow: ['b[bot]'] } }", &[]),
            // Comments decide on what others started.
            ("{ comment: {}, schedule: { jobs: [x] } }", &[]),
            ("{ pull_request: {}, push: { job: x } }", &["triggers.pull_request", "triggers.push"]),
            ("{ pull_request: [{}, { tiers: [maintainer] }] }", &[]),
            // Checks of what Locum pushed fail without anybody.
            ("{ ci_failure: {} }", &[]),
            ("{ dispatch: { tiers: [maintainer] } }", &[]),
        ] {
            assert_eq!(found(triggers), expected, "{triggers}");
        }
    }
}
