//! A policy within the bounds of another one: who may start runs and what runs spend is what both
//! allow. What a run may do is decided by its own rules alone.
//!
//! In: the policy of a pull request's base, and that of the default branch, which nobody chooses by
//! opening a pull request. Out: the first one, tightened. It never gives.

use crate::Policy;
use crate::budget::Budget;
use crate::schema::events::RepairRules;
use crate::schema::{
    AssignTrigger, CommentTrigger, LabelTrigger, ListedUser, PolicySpec, Triggers,
};
use crate::spending_limit::{SpendingLimit, SpendingLimits};

impl Policy {
    /// Returns the same policy with triggers, budgets and spending limits that `bounds` allows as
    /// well. Rules and the hash stay. So do the entries for events, and names such as the prefix of
    /// commands: whether `bounds` lets an event start something is asked of itself.
    #[must_use]
    pub fn within(mut self, bounds: &Self) -> Self {
        let (own, other) = (self.spec, &bounds.spec);
        self.spec = PolicySpec {
            triggers: triggers(own.triggers, &other.triggers),
            budget: budget(&own.budget, &other.budget),
            spending_limits: SpendingLimits {
                daily: limit(own.spending_limits.daily, other.spending_limits.daily),
                per_thread: limit(own.spending_limits.per_thread, other.spending_limits.per_thread),
            },
            ..own
        };
        self
    }
}

fn triggers(own: Triggers, other: &Triggers) -> Triggers {
    let comment = own.comment.zip(other.comment.as_ref());
    let label = own.label.zip(other.label.as_ref());
    let assign = own.assign.zip(other.assign.as_ref());
    Triggers {
        comment: comment
            .map(|(own, other)| CommentTrigger { tiers: common(own.tiers, &other.tiers), ..own }),
        label: label
            .map(|(own, other)| LabelTrigger { tiers: common(own.tiers, &other.tiers), ..own }),
        assign: assign
            .map(|(own, other)| AssignTrigger { tiers: common(own.tiers, &other.tiers), ..own }),
        users: own.users.into_iter().filter_map(|user| listed(user, &other.users)).collect(),
        schedule_jobs: common(own.schedule_jobs, &other.schedule_jobs),
        dashboard: own.dashboard && other.dashboard,
        dispatch_tiers: common(own.dispatch_tiers, &other.dispatch_tiers),
        events: own.events,
        repairs: RepairRules {
            attempts: own.repairs.attempts.min(other.repairs.attempts),
            reruns: own.repairs.reruns.min(other.repairs.reruns),
        },
        approve_tiers: common(own.approve_tiers, &other.approve_tiers),
        bots: own.bots.into_iter().filter(|bot| names(&other.bots, bot)).collect(),
        forks: own.forks.min(other.forks),
    }
}

/// Returns what both lists have, in the order of the first.
fn common<T: PartialEq>(mut own: Vec<T>, other: &[T]) -> Vec<T> {
    own.retain(|one| other.contains(one));
    own
}

/// Returns whether a list has a login, in whatever case.
fn names(list: &[String], login: &str) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(login))
}

/// Returns a user whom the other list has as well, with the number that either of both names.
fn listed(user: ListedUser, other: &[ListedUser]) -> Option<ListedUser> {
    let is_same = |known: &&ListedUser| {
        let is_account = known.id.is_none() || user.id.is_none() || known.id == user.id;
        known.login.eq_ignore_ascii_case(&user.login) && is_account
    };
    let id = other.iter().find(is_same)?.id;
    Some(ListedUser { id: user.id.or(id), ..user })
}

/// Returns the lower of each limit.
fn budget(own: &Budget, other: &Budget) -> Budget {
    Budget {
        turns: own.turns.min(other.turns),
        tool_calls: own.tool_calls.min(other.tool_calls),
        tokens: own.tokens.min(other.tokens),
        cost_usd: own.cost_usd.min(other.cost_usd),
        minutes: own.minutes.min(other.minutes),
        files: own.files.min(other.files),
        diff_lines: own.diff_lines.min(other.diff_lines),
    }
}

fn limit(own: SpendingLimit, other: SpendingLimit) -> SpendingLimit {
    let counts = |own: Option<u64>, other: Option<u64>| own.into_iter().chain(other).min();
    let dollars = own.cost_usd.into_iter().chain(other.cost_usd).reduce(f64::min);
    SpendingLimit {
        runs: counts(own.runs, other.runs),
        tokens: counts(own.tokens, other.tokens),
        cost_usd: dollars,
    }
}

#[cfg(test)]
mod tests {
    use crate::Policy;
    use crate::actors::Tier;
    use crate::intent::{Facts, Intent};
    use crate::query::parse_intent;
    use crate::schema::Forks;
    use crate::verdict::Decision;
    use pretty_assertions::assert_eq;

    const WIDE: &str = "version: 1
triggers:
  comment: { prefix: /old, tiers: [maintainer, collaborator, stranger] }
  label: { name: go, tiers: [maintainer] }
  dispatch: { tiers: [maintainer, collaborator] }
  approve: { tiers: [maintainer, collaborator] }
  users: { allow: [bob, \"carol:7\", dave] }
  bots: { allow: [\"a[bot]\", \"b[bot]\"] }
  forks: allow
budget: { turns: 90, cost_usd: 2, daily: { runs: 9 }, per_thread: { cost_usd: 4 } }
rules:
  - allow: [\"read(**)\", \"edit(docs/**)\"]
";
    const NARROW: &str = "version: 1
triggers:
  comment: { prefix: /locum, tiers: [maintainer, collaborator] }
  dispatch: { tiers: [maintainer] }
  approve: { tiers: [maintainer] }
  users: { allow: [\"Bob:5\", \"carol:8\"] }
  bots: { allow: [\"B[bot]\"] }
budget: { turns: 60, cost_usd: 3, daily: { runs: 12, tokens: 1000 } }
rules:
  - allow: [\"read(**)\", \"edit(src/**)\"]
";

    fn policy(text: &str) -> Policy {
        Policy::parse(text, "policy.yml").unwrap()
    }

    #[test]
    fn nobody_may_start_more_than_both_policies_allow() {
        let bounded = policy(WIDE).within(&policy(NARROW));
        let triggers = &bounded.settings().triggers;
        let comment = triggers.comment.as_ref().unwrap();
        assert_eq!(
            (comment.prefix.as_str(), comment.tiers.as_slice()),
            ("/old", [Tier::Maintainer, Tier::Collaborator].as_slice())
        );
        assert!(triggers.label.is_none());
        let maintainers = [Tier::Maintainer].as_slice();
        assert_eq!(triggers.dispatch_tiers, maintainers);
        assert_eq!(triggers.approve_tiers, maintainers);
        let users: Vec<_> = triggers.users.iter().map(|user| (&*user.login, user.id)).collect();
        assert_eq!(users, [("bob", Some(5))]);
        assert_eq!(triggers.bots, ["b[bot]"]);
        assert_eq!(triggers.forks, Forks::ReadOnly);
    }

    #[test]
    fn each_limit_is_the_lower_of_both() {
        let bounded = policy(WIDE).within(&policy(NARROW));
        let (budget, limits) = (bounded.settings().budget, bounded.settings().spending_limits);
        assert_eq!((budget.turns, budget.cost_usd), (60, 2.0));
        assert_eq!((limits.daily.runs, limits.daily.tokens), (Some(9), Some(1000)));
        assert_eq!((limits.daily.cost_usd, limits.per_thread.cost_usd), (None, Some(4.0)));
    }

    #[test]
    fn its_own_rules_decide_what_a_run_may_do() {
        let (wide, narrow) = (policy(WIDE), policy(NARROW));
        let bounded = wide.clone().within(&narrow);
        let decided = |intent: &str| {
            let intent: Intent = parse_intent(intent).unwrap();
            bounded.decide(&intent, &Facts::default()).decision
        };
        assert_eq!(decided("edit(docs/a.md)"), Decision::Allow);
        assert_eq!(decided("edit(src/a.rs)"), Decision::Deny);
        assert_eq!(bounded.hash(), wide.hash());
    }

    #[test]
    fn the_same_policy_takes_nothing_away() {
        let bounded = policy(WIDE).within(&policy(WIDE));
        assert_eq!(format!("{:?}", bounded.settings()), format!("{:?}", policy(WIDE).settings()));
    }
}
