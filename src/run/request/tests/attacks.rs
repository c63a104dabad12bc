//! What starts nothing: quoted commands, other repositories, own output, strangers, moved heads.

use super::{Scene, pull_request, scene};
use crate::run::request::{DecisionRequest, Notice, RequestedAction};
use locum_agent::session::event::PersonsWord;
use locum_forge::event::{Actor, EventKind, Subject};
use locum_forge::{Permission, PullRequest};
use locum_policy::actors::Tier;
use locum_policy::schema::ListedUser;
use pretty_assertions::assert_eq;

#[test]
fn a_command_below_a_quoted_question_answers_it() {
    let quoted = "> **locum: a question**\n>\n> Answer by a comment, and the run goes on: `/locum \
                  answer 0123456789abcdef your words`.\n\n";
    let said = |body: &str| scene(body).decide().map(|request| request.action);
    let answer = |text: &str| {
        let id = Some("0123456789abcdef".to_owned());
        Ok(RequestedAction::Decide(DecisionRequest {
            id,
            word: PersonsWord::Answer { text: text.to_owned() },
        }))
    };
    assert_eq!(said(&format!("{quoted}/locum the second one")), answer("the second one"));
    assert_eq!(said(&format!("{quoted}/locum code is fine\nmore")), answer("code is fine\nmore"));
    assert_eq!(said(&format!("{quoted}/locum status")), Ok(RequestedAction::Status));
    // People talk about a question; without the word nothing is an answer, and below the command
    // nothing is a quote.
    assert_eq!(
        scene(&format!("{quoted}the second one?")).refused_by(),
        ("triggers.comment.prefix", Notice::Silent)
    );
    assert_eq!(said(&format!("/locum fix it\n\n{quoted}")), Ok(RequestedAction::Run));
    assert_eq!(said("> `/locum answer nonsense`\n\n/locum fix it"), Ok(RequestedAction::Run));
    let mut stranger = scene(&format!("{quoted}/locum the second one"));
    stranger.permission = Ok(Permission::Read);
    assert_eq!(stranger.refused_by().0, "triggers.comment.tiers");
}

#[test]
fn other_repositories_and_missing_policies_start_nothing() {
    let mut other = scene("/locum");
    other.trigger.repository = "evil/app".to_owned();
    assert_eq!(other.refused_by().0, "repository");
    let mut off = scene("/locum");
    off.triggers.comment = None;
    assert_eq!(off.refused_by(), ("triggers.comment", Notice::Silent));
}

#[test]
fn an_attack_by_event_starts_nothing() {
    let starts = |change: &dyn Fn(&mut Scene)| {
        let mut scene = scene("/locum fix the test");
        change(&mut scene);
        scene.decide().is_ok_and(|request| !request.read_only)
    };
    assert!(starts(&|_| {}));
    assert!(!starts(&|scene| scene.trigger.actor.login = "Locum[bot]".to_owned()), "own output");
    let by_bot = |scene: &mut Scene, login: &str| {
        scene.trigger.actor =
            Actor { login: login.to_owned(), id: None, is_user: false, association: String::new() };
    };
    assert!(starts(&|scene| by_bot(scene, "good-app[bot]")));
    assert!(!starts(&|scene| by_bot(scene, "evil-app[bot]")), "a program nobody named");
    assert!(
        !starts(&|scene| scene.permission = Ok(Permission::Read)),
        "a person who may only read"
    );
    let on_a_pull_request = |scene: &mut Scene, change: PullRequest| {
        let asked = Some("aaa".to_owned());
        scene.trigger.subject = Some(Subject {
            number: 7,
            is_open: true,
            is_pull_request: true,
            head_sha: asked,
            ..Subject::default()
        });
        scene.pull_request = Some(change);
    };
    assert!(starts(&|scene| on_a_pull_request(scene, pull_request())));
    let fork = || PullRequest { is_fork: true, ..pull_request() };
    assert!(!starts(&|scene| on_a_pull_request(scene, fork())), "a fork");
    let moved = || PullRequest { head_sha: "new".to_owned(), ..pull_request() };
    assert!(!starts(&|scene| on_a_pull_request(scene, moved())), "a head that moved");
}

#[test]
fn people_may_be_listed_by_name_and_better_by_number() {
    let with = |login: &str, id: Option<u64>, permission: Permission| {
        let mut scene = scene("/locum fix the test");
        scene.triggers.users = vec![ListedUser { login: login.to_owned(), id }];
        scene.permission = Ok(permission);
        scene
    };
    with("Alice", None, Permission::Read).runs();
    assert_eq!(
        with("alice", Some(42), Permission::Read).decide().unwrap().facts.tier,
        Tier::Stranger,
        "it stays what the forge says"
    );
    assert_eq!(
        with("alice", Some(43), Permission::Read).refused_by().0,
        "triggers.comment.tiers",
        "a renamed account"
    );
    assert_eq!(with("alice2", None, Permission::Read).refused_by().0, "triggers.comment.tiers");
    assert_eq!(with("alice", None, Permission::None).refused_by().0, "triggers.comment.tiers");

    let mut yes = with("alice", None, Permission::Read);
    yes.trigger.comment = scene("/locum approve 0123456789abcdef").trigger.comment;
    assert_eq!(
        yes.refused_by().0,
        "triggers.approve.tiers",
        "no name stands in for the right to approve"
    );
    let mut bot = with("good-app", None, Permission::Read);
    bot.trigger.actor = Actor {
        login: "good-app".to_owned(),
        id: None,
        is_user: false,
        association: String::new(),
    };
    assert_eq!(bot.refused_by().0, "triggers.bots.allow");
    let mut closed = with("alice", None, Permission::Read);
    closed.trigger.kind = EventKind::Dispatch;
    closed.runs();
    closed.triggers.dispatch_tiers.clear();
    assert_eq!(
        closed.refused_by().0,
        "triggers.dispatch.tiers",
        "a way that is closed stays closed"
    );
}
