//! What the policies of two branches have to let start alike: that of a pull request's base, and
//! the default branch's.

use super::{RequestFixture, answer, fixture, pull_request};
use crate::run::request::bounds::{self, TriggerBounds};
use crate::run::request::{RefusalNotice, Request, RequestFacts, RequestRefusal};
use locum_forge::{ForgePermission, PullRequest};
use locum_policy::actors::Tier;
use locum_policy::schema::{Forks, ListedUser, Triggers};
use pretty_assertions::assert_eq;

/// Decides on a trigger under the fixture's policy, within another one.
fn within(own: &RequestFixture, triggers: &Triggers) -> Result<Request, RequestRefusal> {
    let known = RequestFacts {
        job: own.job(),
        own_login: Some("locum[bot]"),
        permission: answer(own.permission.clone()),
        restarted_by: None,
        pull_request: own.pull_request.as_ref(),
        changed_paths: None,
        recent_runs: 0,
        policy: "policy.yml",
        modes: &["code".to_owned(), "docs-writer".to_owned()],
        profiles: &[],
    };
    let bounds = TriggerBounds { triggers, modes: &["elsewhere".to_owned()] };
    bounds::decide(&own.trigger, (&own.triggers, Some(bounds)), &known)
}

/// A comment of somebody with a permission, under a policy that lets strangers ask.
fn open_to_strangers(body: &str, permission: ForgePermission) -> RequestFixture {
    let mut open = fixture(body);
    open.permission = Ok(permission);
    open.triggers.comment.as_mut().unwrap().tiers.push(Tier::Stranger);
    open
}

#[test]
fn a_base_lets_nobody_ask_whom_the_default_branch_does_not() {
    let narrow = fixture("").triggers;
    let asks = |body: &str, permission| within(&open_to_strangers(body, permission), &narrow);
    let refused = asks("/locum fix it", ForgePermission::Read).unwrap_err();
    assert_eq!(
        (refused.rule, refused.notice),
        ("triggers.comment.tiers", RefusalNotice::Silent),
        "{refused}"
    );
    assert!(refused.why.ends_with("by the policy of the default branch"), "{refused}");
    // Nor does a mistake of theirs get an answer.
    let refused = asks("/locum --nonsense fix it", ForgePermission::Read).unwrap_err();
    assert_eq!(refused.notice, RefusalNotice::Silent, "{refused}");
    let refused = asks("/locum --nonsense fix it", ForgePermission::Write).unwrap_err();
    assert_eq!((refused.rule, refused.notice), ("command", RefusalNotice::Posted), "{refused}");
    assert!(!refused.why.contains("default branch"), "{refused}");
    assert!(asks("/locum fix it", ForgePermission::Write).is_ok());
    // The base's own no counts as well.
    let wide = open_to_strangers("", ForgePermission::Read).triggers;
    let stranger = RequestFixture { permission: Ok(ForgePermission::Read), ..fixture("/locum go") };
    let refused = within(&stranger, &wide).unwrap_err();
    assert_eq!((refused.rule, refused.notice), ("triggers.comment.tiers", RefusalNotice::Silent));
}

#[test]
fn each_policy_may_let_the_same_person_ask_in_a_way_of_its_own() {
    let mut listing = fixture("/locum fix it");
    listing.permission = Ok(ForgePermission::Read);
    listing.triggers.users = vec![ListedUser { login: "alice".to_owned(), id: None }];
    assert!(within(&listing, &open_to_strangers("", ForgePermission::Read).triggers).is_ok());
    assert!(within(&listing, &fixture("").triggers).is_err());
    // A mode that only one of both branches has is not a mistake.
    let mut elsewhere = fixture("/locum docs-writer fix it");
    assert!(within(&elsewhere, &fixture("").triggers).is_ok());
    elsewhere.trigger.comment.as_mut().unwrap().body = "/locum --mode elsewhere fix it".to_owned();
    assert_eq!(within(&elsewhere, &fixture("").triggers).unwrap_err().rule, "command");
}

#[test]
fn a_fork_may_do_only_what_both_policies_let_it() {
    let on_fork = |own, bounding| {
        let mut fixture = fixture("/locum fix it");
        fixture.trigger.subject.as_mut().unwrap().is_pull_request = true;
        fixture.pull_request = Some(PullRequest { is_fork: true, ..pull_request() });
        let bounds = Triggers { forks: bounding, ..fixture.triggers.clone() };
        fixture.triggers.forks = own;
        let request = within(&fixture, &bounds);
        request.map(|request| (request.read_only, request.contained)).map_err(|no| no.rule)
    };
    for (own, bounding, expected) in [
        (Forks::Allow, Forks::Allow, Ok((false, false))),
        (Forks::Allow, Forks::ReadOnly, Ok((true, false))),
        (Forks::Allow, Forks::Contained, Ok((true, true))),
        (Forks::Contained, Forks::Allow, Ok((true, true))),
        (Forks::Contained, Forks::ReadOnly, Ok((true, false))),
        (Forks::Allow, Forks::Deny, Err("triggers.forks")),
    ] {
        assert_eq!(on_fork(own, bounding), expected, "{own:?} within {bounding:?}");
        if own != Forks::Deny && bounding != Forks::Deny {
            assert_eq!(on_fork(bounding, own), expected, "{bounding:?} within {own:?}");
        }
    }
}
