//! Where a check begins to refuse: the last value that passes beside the first that does not, and
//! what is refused before the forge is asked.

use super::{Scene, scene};
use crate::run::request::{Notice, screen};
use locum_forge::Permission;
use locum_forge::event::{Actor, EventKind};
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use pretty_assertions::assert_eq;

/// The verb of the command, or the rule that refuses.
fn screened(scene: &Scene) -> Result<Option<String>, &'static str> {
    screen(&scene.trigger, &scene.triggers, &scene.job())
        .map(|command| command.and_then(|command| command.verb))
        .map_err(|refused| refused.rule)
}

fn by(login: &str, is_user: bool) -> Scene {
    let mut scene = scene("/locum fix it");
    scene.trigger.actor =
        Actor { login: login.to_owned(), id: None, is_user, association: String::new() };
    scene
}

#[test]
fn what_the_event_alone_refuses_never_reaches_the_forge() {
    assert_eq!(screened(&by("alice", true)), Ok(Some("fix".to_owned())));
    assert_eq!(screened(&by("good-app[bot]", false)), Ok(Some("fix".to_owned())));
    assert_eq!(screened(&by("evil-app[bot]", false)), Err("triggers.bots.allow"));
    assert_eq!(screened(&by("github-actions[bot]", false)), Err("own-output"));
    assert_eq!(screened(&scene("nice work")), Err("triggers.comment.prefix"));
    let mut other = scene("/locum fix it");
    other.trigger.repository = "evil/app".to_owned();
    assert_eq!(screened(&other), Err("repository"));
    let mut schedule = by("github-actions[bot]", false);
    schedule.trigger.kind = EventKind::Schedule;
    assert_eq!(screened(&schedule), Ok(None));
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
fn a_comment_has_as_many_characters_as_the_forge_allows() {
    let filled = |letter: &str, length: usize| format!("/locum {}", letter.repeat(length - 7));
    for letter in ["a", "\u{e9}"] {
        scene(&filled(letter, BODY_LIMIT_CHARS)).runs();
        assert_eq!(
            scene(&filled(letter, BODY_LIMIT_CHARS + 1)).refused_by(),
            ("comment-length", Notice::Silent)
        );
    }
}

#[test]
fn an_event_is_fresh_for_a_day_and_a_budget_is_above_zero() {
    Scene { now: "2026-01-03T03:04:05Z", ..scene("/locum") }.runs();
    let late = Scene { now: "2026-01-03T03:04:06Z", ..scene("/locum") };
    assert_eq!(late.refused_by(), ("event-age", Notice::Posted));
    scene("/locum fix --budget 0.01").runs();
    for budget in ["0", "-0", "$0"] {
        assert_eq!(
            scene(&format!("/locum fix --budget {budget}")).refused_by(),
            ("command", Notice::Posted),
            "{budget}"
        );
    }
}

#[test]
fn a_mode_that_is_named_stands_beside_plan() {
    let mode = |body: &str| scene(body).decide().unwrap().mode;
    assert_eq!(mode("/locum plan it").as_deref(), Some("architect"));
    assert_eq!(mode("/locum plan --mode=code it").as_deref(), Some("code"));
}

#[test]
fn a_refusal_names_the_tier() {
    for (permission, tier) in [(Permission::Triage, "collaborator"), (Permission::Read, "stranger")]
    {
        let refused = Scene { permission: Ok(permission), ..scene("/locum") }.decide();
        assert_eq!(refused.unwrap_err().why, format!("tier `{tier}` may not start runs this way"));
    }
}
