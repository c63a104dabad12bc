//! Which earlier conversations a run may go on with, and from which commit.

use super::{JudgedBy, LeftCheckout, StartCommits};
use locum_policy::actors::Tier;
use locum_policy::intent::{Facts, Restriction, TriggerKind};
use locum_workspace::repo::CommitId;
use pretty_assertions::assert_eq;

fn judged<'a>(policy_hash: &'a str, facts: &'a Facts) -> JudgedBy<'a> {
    JudgedBy { policy_hash, facts }
}

#[test]
fn a_conversation_goes_on_for_who_is_judged_as_it_was() {
    let facts = |tier| Facts { tier, ..Facts::default() };
    let restricted = |read_only, contained| {
        let restriction = Restriction { read_only, contained, paths: Vec::new() };
        Facts { restriction, ..Facts::default() }
    };
    let began = facts(Tier::Maintainer);
    let before = judged("1", &began);
    let other_paths = Facts {
        trigger: TriggerKind::Comment,
        restriction: Restriction { paths: vec!["docs/**".to_owned()], ..Restriction::default() },
        ..Facts::default()
    };
    assert_eq!(before.check_same(&judged("1", &other_paths)), Ok(()));
    for (hash, now) in [
        ("2", facts(Tier::Maintainer)),
        ("1", facts(Tier::Stranger)),
        ("1", restricted(true, false)),
        ("1", restricted(true, true)),
    ] {
        assert!(before.check_same(&judged(hash, &now)).is_err(), "{hash} {now:?}");
    }
    // Nor does a stranger's conversation get a maintainer's rights.
    let stranger = facts(Tier::Stranger);
    assert!(judged("1", &stranger).check_same(&before).is_err());
}

#[test]
fn a_conversation_goes_on_in_the_checkout_that_it_left() {
    let [old, new, head] = ["a", "b", "c"].map(|id| CommitId(id.to_owned()));
    let at = |base, trusted| StartCommits { base, trusted };
    let left = |head, is_issue, has_changes| LeftCheckout {
        began: at(&old, &old),
        head,
        is_issue,
        has_changes,
        has_approvals: false,
    };
    let goes_on = |left: &LeftCheckout<'_>, base, trusted| {
        let from = left.base_after(&at(base, trusted)).ok();
        from.map(|(commit, has_work)| (commit.0, has_work))
    };
    let from = |commit: &CommitId, has_work| Some((commit.0.clone(), has_work));
    for (left, base, expected) in [
        // Published: only where nobody pushed since.
        (left(Some(&head), true, true), &head, from(&head, false)),
        (left(Some(&head), true, true), &old, None),
        (left(Some(&head), true, true), &new, None),
        // Not published: with its work, on an issue wherever the default branch is.
        (left(None, true, true), &old, from(&old, true)),
        (left(None, true, true), &new, from(&old, true)),
        (left(None, false, true), &old, from(&old, true)),
        (left(None, false, true), &new, None),
        // Nothing changed.
        (left(None, true, false), &new, from(&new, false)),
        (left(None, false, false), &old, from(&old, false)),
        (left(None, false, false), &new, None),
    ] {
        assert_eq!(goes_on(&left, base, base), expected, "{base:?}");
    }
    // The tip of a branch of ours is not the default branch.
    assert_eq!(goes_on(&left(None, true, true), &head, &new), None);
    let approved = LeftCheckout { has_approvals: true, ..left(None, true, true) };
    assert_eq!(goes_on(&approved, &old, &old), None);
}
