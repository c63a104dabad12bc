//! Where a check begins to refuse: the last value that passes beside the first that does not, and
//! what is refused before the forge is asked.

use super::{RequestFixture, fixture};
use crate::run::request::permission::PermissionAnswer;
use crate::run::request::{RefusalNotice, RequestedAction, screen};
use locum_forge::ForgePermission;
use locum_forge::event::{Actor, EventKind};
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use locum_policy::actors::Tier;
use locum_policy::intent::TriggerKind;
use pretty_assertions::assert_eq;

/// What a test says in place of a permission where the forge answers that it is an app.
const APP: &str = "an app";

/// The answer of a forge that names no permission.
pub(super) fn unsaid(said: String) -> PermissionAnswer {
    if said == APP { PermissionAnswer::App } else { PermissionAnswer::Unknown(said) }
}

/// Nothing, or the rule that refuses.
fn screened(fixture: &RequestFixture) -> Result<(), &'static str> {
    let screened = screen(&fixture.trigger, &fixture.triggers, &fixture.job());
    screened.map(|_| ()).map_err(|refused| refused.rule)
}

fn by(login: &str, is_user: bool) -> RequestFixture {
    let mut fixture = fixture("/locum fix it");
    fixture.trigger.actor =
        Actor { login: login.to_owned(), id: None, is_user, association: String::new() };
    fixture
}

#[test]
fn a_maintainer_may_ask_in_a_comment() {
    let request = fixture("/locum fix the test").decide().unwrap();
    assert_eq!(
        (request.action, request.mode.as_deref(), request.text.as_str(), request.read_only),
        (RequestedAction::Run, None, "fix the test", false)
    );
    assert_eq!(
        (request.facts.trigger, request.facts.tier),
        (TriggerKind::Comment, Tier::Maintainer)
    );
}

#[test]
fn what_the_event_alone_refuses_never_reaches_the_forge() {
    assert_eq!(screened(&by("alice", true)), Ok(()));
    assert_eq!(screened(&by("good-app[bot]", false)), Ok(()));
    assert_eq!(screened(&by("evil-app[bot]", false)), Err("triggers.bots.allow"));
    assert_eq!(screened(&by("github-actions[bot]", false)), Err("own-output"));
    assert_eq!(screened(&fixture("nice work")), Err("triggers.comment.prefix"));
    let mut other = fixture("/locum fix it");
    other.trigger.repository = "evil/app".to_owned();
    assert_eq!(screened(&other), Err("repository"));
    let mut schedule = by("github-actions[bot]", false);
    schedule.trigger.kind = EventKind::Schedule;
    assert_eq!(screened(&schedule), Ok(()));
    schedule.git_ref = "refs/heads/topic";
    assert_eq!(screened(&schedule), Err("schedule-branch"));
}

#[test]
fn a_program_nobody_listed_is_refused_by_that_check_and_by_its_tier() {
    let failed: Vec<&str> = by("evil-app[bot]", false)
        .examine()
        .checks
        .iter()
        .filter(|check| check.refused.is_some())
        .map(|check| check.claim)
        .collect();
    let expected = ["it is by a person, or by a bot the policy lists", "the forge knows who it is"];
    assert_eq!(failed, expected);
}

#[test]
fn an_app_of_which_the_forge_says_nothing_counts_by_its_listing_and_nothing_else_does() {
    let of = |login: &str, is_user: bool| RequestFixture {
        permission: Err(APP.to_owned()),
        ..by(login, is_user)
    };
    let admitted = of("Good-App[bot]", false).decide().unwrap();
    assert_eq!(admitted.facts.tier, Tier::Bot);
    for (login, is_user, rule) in [
        ("evil-app[bot]", false, "triggers.bots.allow"),
        ("good-app", false, "triggers.bots.allow"),
        ("good-app[bot]x", false, "triggers.bots.allow"),
        ("good-app[bot]", true, "triggers.comment.tiers"),
        ("mallory", true, "triggers.comment.tiers"),
    ] {
        let mut fixture = of(login, is_user);
        assert_eq!(fixture.refused_by().0, rule, "{login}");
        fixture.triggers.bots.extend(["good-app", "good-app[bot]x", "[bot]"].map(str::to_owned));
        assert_eq!(fixture.refused_by().0, rule, "{login}, where more are listed");
    }
    // It decides nothing, and starts no job again for others.
    let mut decides = of("good-app[bot]", false);
    decides.trigger.comment = fixture("/locum approve 0123456789abcdef").trigger.comment;
    assert_eq!(decides.refused_by().0, "triggers.approve");
    let mut restarted = fixture("/locum fix it");
    restarted.restarted_by = Some(Err(APP.to_owned()));
    assert_eq!(restarted.refused_by().0, "restart");
}

#[test]
fn a_comment_has_as_many_characters_as_the_forge_allows() {
    let filled = |letter: &str, length: usize| format!("/locum {}", letter.repeat(length - 7));
    for letter in ["a", "\u{e9}"] {
        fixture(&filled(letter, BODY_LIMIT_CHARS)).runs();
        assert_eq!(
            fixture(&filled(letter, BODY_LIMIT_CHARS + 1)).refused_by(),
            ("comment-length", RefusalNotice::Silent)
        );
    }
}

#[test]
fn an_event_is_fresh_for_a_day_and_a_budget_is_above_zero() {
    RequestFixture { now: "2026-01-03T03:04:05Z", ..fixture("/locum") }.runs();
    let late = RequestFixture { now: "2026-01-03T03:04:06Z", ..fixture("/locum") };
    assert_eq!(late.refused_by(), ("event-age", RefusalNotice::Posted));
    fixture("/locum fix --budget 0.01").runs();
    for budget in ["0", "-0", "$0"] {
        assert_eq!(
            fixture(&format!("/locum fix --budget {budget}")).refused_by(),
            ("command", RefusalNotice::Posted),
            "{budget}"
        );
    }
}

#[test]
fn a_mode_that_is_named_stands_beside_plan() {
    let mode = |body: &str| fixture(body).decide().unwrap().mode;
    assert_eq!(mode("/locum plan it").as_deref(), Some("architect"));
    assert_eq!(mode("/locum plan --mode=code it").as_deref(), Some("code"));
}

#[test]
fn a_refusal_names_the_tier() {
    for (permission, tier) in
        [(ForgePermission::Triage, "collaborator"), (ForgePermission::Read, "stranger")]
    {
        let refused = RequestFixture { permission: Ok(permission), ..fixture("/locum") }.decide();
        assert_eq!(refused.unwrap_err().why, format!("tier `{tier}` may not start runs this way"));
    }
}

#[test]
fn fix_is_a_word_of_the_task_that_follows_it() {
    for (asked, text) in [
        ("/locum fix this, and add a test", "fix this, and add a test"),
        ("/locum fix --mode=code #12 and add a test", "fix #12 and add a test"),
        ("/locum fix the log:\n\na\nb", "fix the log:\n\na\nb"),
        ("/locum fix @src/a.rs", "fix @src/a.rs"),
        ("/locum fix", ""),
        ("/locum fix #12", "#12"),
        ("/locum fix #12, acme/lib#3", "#12, acme/lib#3"),
        (
            "/locum fix https://github.example/acme/app/issues/12",
            "https://github.example/acme/app/issues/12",
        ),
        ("/locum fix /release minor", "/release minor"),
        ("/locum code this, and add a test", "this, and add a test"),
    ] {
        assert_eq!(fixture(asked).decide().unwrap().text, text, "{asked}");
    }
}
