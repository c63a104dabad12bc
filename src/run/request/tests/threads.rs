//! Who may start what from pull requests, labels, dispatches, schedules and other repositories.

use super::{RequestFixture, fixture, pull_request};
use crate::run::jobs::dashboard::dashboard_marker;
use crate::run::request::{DecisionRequest, DecisionTarget, RefusalNotice, RequestedAction};
use locum_agent::session::recorded::PersonDecision;
use locum_forge::event::{Actor, EventKind, EventSubject};
use locum_forge::{ForgePermission, PullRequest};
use locum_policy::actors::Tier;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::{Forks, ListedUser};
use pretty_assertions::assert_eq;

#[test]
fn a_job_started_again_needs_the_right_of_who_did_it() {
    assert_eq!(
        RequestFixture { restarted_by: Some(Ok(ForgePermission::Read)), ..fixture("/locum") }
            .refused_by()
            .0,
        "restart"
    );
    assert_eq!(
        RequestFixture { restarted_by: Some(Err("404".to_owned())), ..fixture("/locum") }
            .refused_by()
            .0,
        "permission"
    );
    RequestFixture { restarted_by: Some(Ok(ForgePermission::Write)), ..fixture("/locum") }.runs();
}

#[test]
fn pull_requests_are_read_as_they_are_now() {
    let on = |change: fn(&mut PullRequest)| {
        let mut fixture = fixture("/locum");
        fixture.trigger.subject.as_mut().unwrap().is_pull_request = true;
        fixture.trigger.subject.as_mut().unwrap().head_sha = Some("aaa".to_owned());
        let mut now = pull_request();
        change(&mut now);
        fixture.pull_request = Some(now);
        fixture
    };
    assert!(!on(|_| ()).decide().unwrap().read_only);
    let fork = on(|now| now.is_fork = true).decide().unwrap();
    assert!(fork.read_only && !fork.contained);
    assert_eq!(on(|now| now.head_sha = "ccc".to_owned()).refused_by().0, "head-moved");
    let pushed = |at: &str, seen: Option<&str>, is_fork: bool| {
        let mut fixture = on(|_| ());
        fixture.trigger.subject.as_mut().unwrap().head_sha = seen.map(str::to_owned);
        let pushed = Some(at.parse().unwrap());
        fixture.pull_request =
            Some(PullRequest { is_fork, head_pushed_at: pushed, ..pull_request() });
        fixture
    };
    assert_eq!(pushed("2026-01-02T03:04:05Z", None, true).refused_by().0, "head-moved");
    assert!(pushed("2026-01-02T03:04:04Z", None, true).decide().unwrap().read_only);
    assert!(pushed("2026-01-02T03:04:06Z", Some("aaa"), true).decide().unwrap().read_only);
    assert!(!pushed("2026-01-02T03:04:06Z", None, false).decide().unwrap().read_only);
    assert_eq!(on(|now| now.is_open = false).refused_by().0, "thread-open");
    assert_eq!(on(|now| now.number = 8).refused_by().0, "pull-request");
    assert_eq!(RequestFixture { pull_request: None, ..on(|_| ()) }.refused_by().0, "pull-request");
    let mut deny = on(|now| now.is_fork = true);
    deny.triggers.forks = Forks::Deny;
    assert_eq!(deny.refused_by().0, "triggers.forks");
    deny.triggers.forks = Forks::Contained;
    let request = deny.decide().unwrap();
    assert!(request.read_only && request.contained);
    deny.triggers.forks = Forks::Allow;
    assert!(!deny.decide().unwrap().read_only);
}

#[test]
fn labels_dispatches_and_schedules_have_their_own_rules() {
    let mut labeled = fixture("");
    labeled.trigger.kind = EventKind::IssueLabeled;
    labeled.trigger.label = Some("locum".to_owned());
    labeled.runs();
    labeled.trigger.label = Some("bug".to_owned());
    assert_eq!(labeled.refused_by().0, "triggers.label.name");

    labeled.trigger.kind = EventKind::IssueAssigned;
    labeled.trigger.assignee = Some("Locum-Bot".to_owned());
    assert_eq!(labeled.decide().unwrap().facts.trigger, TriggerKind::Assign);
    labeled.trigger.assignee = Some("carol".to_owned());
    assert_eq!(labeled.refused_by(), ("triggers.assign.login", RefusalNotice::Silent));
    labeled.trigger.assignee = Some("locum-bot".to_owned());
    labeled.permission = Ok(ForgePermission::Read);
    assert_eq!(labeled.refused_by().0, "triggers.assign.tiers");
    labeled.triggers.assign = None;
    assert_eq!(labeled.refused_by().0, "triggers.assign");

    let mut dispatch = fixture("");
    dispatch.trigger.kind = EventKind::Dispatch;
    dispatch.trigger.inputs = [("task", "do it"), ("mode", "code"), ("job", "docs")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let request = dispatch.decide().unwrap();
    assert_eq!(
        (
            request.text.as_str(),
            request.mode.as_deref(),
            request.job.as_deref(),
            request.facts.trigger
        ),
        ("do it", Some("code"), Some("docs"), TriggerKind::Dispatch)
    );
    dispatch.trigger.inputs =
        ["task", "mode", "job"].map(|key| (key.to_owned(), String::new())).into();
    let request = dispatch.decide().unwrap();
    assert_eq!(
        (request.text.as_str(), request.mode, request.job, request.facts.job),
        ("", None, None, None),
        "left empty"
    );
    dispatch.triggers.dispatch_tiers.clear();
    assert_eq!(dispatch.refused_by().0, "triggers.dispatch.tiers");

    let mut schedule = fixture("");
    schedule.trigger.kind = EventKind::Schedule;
    schedule.permission = Err("nobody to ask about".to_owned());
    assert_eq!(schedule.decide().unwrap().facts.tier, Tier::Schedule);
    schedule.git_ref = "refs/heads/topic";
    assert_eq!(schedule.refused_by().0, "schedule-branch");
}

#[test]
fn a_ticked_box_is_a_run_by_hand_where_there_is_a_dashboard() {
    let body = format!("{}\n- [ ] `docs`", dashboard_marker());
    let mut ticked = fixture("");
    ticked.trigger.kind = EventKind::IssueEdited;
    ticked.trigger.comment = None;
    ticked.trigger.subject.as_mut().unwrap().body = body.replace("[ ]", "[x]");
    ticked.trigger.body_before = Some(body.clone());
    assert_eq!(ticked.refused_by(), ("triggers.schedule.dashboard", RefusalNotice::Silent));
    ticked.triggers.dashboard = true;
    assert_eq!(ticked.decide().unwrap().facts.trigger, TriggerKind::Dispatch);
    let changed = |change: fn(&mut RequestFixture)| {
        let mut other = ticked.clone();
        change(&mut other);
        other.refused_by()
    };
    for (rule, refused) in [
        ("triggers.dispatch.tiers", changed(|it| it.permission = Ok(ForgePermission::Read))),
        ("permission", changed(|it| it.permission = Err("gone".to_owned()))),
        ("triggers.dispatch.tiers", changed(|it| it.triggers.dispatch_tiers.clear())),
        ("triggers.bots.allow", changed(|it| it.trigger.actor.is_user = false)),
        ("triggers.schedule.dashboard", changed(|it| it.trigger.body_before = None)),
    ] {
        assert_eq!(refused, (rule, RefusalNotice::Silent));
    }
    let closed = changed(|it| it.trigger.subject.as_mut().unwrap().is_open = false);
    assert_eq!(closed, ("thread-open", RefusalNotice::Posted));
    ticked.trigger.subject.as_mut().unwrap().body = body;
    assert_eq!(ticked.refused_by().0, "triggers.schedule.dashboard", "nothing changed");
}

#[test]
fn people_may_be_listed_by_name_and_better_by_number() {
    let with = |login: &str, id: Option<u64>, permission: ForgePermission| {
        let mut fixture = fixture("/locum fix the test");
        fixture.triggers.users = vec![ListedUser { login: login.to_owned(), id }];
        fixture.permission = Ok(permission);
        fixture
    };
    with("Alice", None, ForgePermission::Read).runs();
    assert_eq!(
        with("alice", Some(42), ForgePermission::Read).decide().unwrap().facts.tier,
        Tier::Stranger,
        "it stays what the forge says"
    );
    assert_eq!(
        with("alice", Some(43), ForgePermission::Read).refused_by().0,
        "triggers.comment.tiers",
        "a renamed account"
    );
    assert_eq!(
        with("alice2", None, ForgePermission::Read).refused_by().0,
        "triggers.comment.tiers"
    );
    assert_eq!(with("alice", None, ForgePermission::None).refused_by().0, "triggers.comment.tiers");

    let mut yes = with("alice", None, ForgePermission::Read);
    yes.trigger.comment = fixture("/locum approve 0123456789abcdef").trigger.comment;
    assert_eq!(
        yes.refused_by().0,
        "triggers.approve.tiers",
        "no name stands in for the right to approve"
    );
    let mut bot = with("good-app", None, ForgePermission::Read);
    bot.trigger.actor = Actor {
        login: "good-app".to_owned(),
        id: None,
        is_user: false,
        association: String::new(),
    };
    assert_eq!(bot.refused_by().0, "triggers.bots.allow");
    let mut closed = with("alice", None, ForgePermission::Read);
    closed.trigger.kind = EventKind::Dispatch;
    closed.runs();
    closed.triggers.dispatch_tiers.clear();
    assert_eq!(
        closed.refused_by().0,
        "triggers.dispatch.tiers",
        "a way that is closed stays closed"
    );
}

#[test]
fn a_command_below_a_quoted_question_answers_it() {
    let quoted = "> **locum: a question**\n>\n> Answer by a comment, and the run goes on: `/locum \
                  answer 0123456789abcdef your words`.\n\n";
    let said = |body: &str| fixture(body).decide().map(|request| request.action);
    let answer = |text: &str| {
        let target = DecisionTarget::Named(vec!["0123456789abcdef".to_owned()]);
        Ok(RequestedAction::Decide(DecisionRequest {
            target,
            word: PersonDecision::Answer { text: text.to_owned() },
            note: String::new(),
            always: false,
        }))
    };
    assert_eq!(said(&format!("{quoted}/locum the second one")), answer("the second one"));
    assert_eq!(said(&format!("{quoted}/locum code is fine\nmore")), answer("code is fine\nmore"));
    assert_eq!(said(&format!("{quoted}/locum status")), Ok(RequestedAction::Status));
    let block = "> Answer by a comment:\n>\n> ```\n> /locum answer 0123456789abcdef your words\n> \
                 ```\n\n";
    assert_eq!(said(&format!("{block}/locum the second one")), answer("the second one"));
    // A thread may discuss a question; without the command word nothing is an answer, and below the
    // command nothing is a quote.
    assert_eq!(
        fixture(&format!("{quoted}the second one?")).refused_by(),
        ("triggers.comment.prefix", RefusalNotice::Silent)
    );
    assert_eq!(said(&format!("/locum fix it\n\n{quoted}")), Ok(RequestedAction::Run));
    assert_eq!(said("> `/locum answer nonsense`\n\n/locum fix it"), Ok(RequestedAction::Run));
    let mut stranger = fixture(&format!("{quoted}/locum the second one"));
    stranger.permission = Ok(ForgePermission::Read);
    assert_eq!(stranger.refused_by().0, "triggers.comment.tiers");
}

#[test]
fn other_repositories_and_missing_policies_start_nothing() {
    let mut other = fixture("/locum");
    other.trigger.repository = "evil/app".to_owned();
    assert_eq!(other.refused_by().0, "repository");
    let mut off = fixture("/locum");
    off.triggers.comment = None;
    assert_eq!(off.refused_by(), ("triggers.comment", RefusalNotice::Silent));
}

#[test]
fn an_attack_by_event_starts_nothing() {
    let starts = |change: &dyn Fn(&mut RequestFixture)| {
        let mut fixture = fixture("/locum fix the test");
        change(&mut fixture);
        fixture.decide().is_ok_and(|request| !request.read_only)
    };
    assert!(starts(&|_| {}));
    assert!(
        !starts(&|fixture| fixture.trigger.actor.login = "Locum[bot]".to_owned()),
        "own output"
    );
    let by_bot = |fixture: &mut RequestFixture, login: &str| {
        fixture.trigger.actor =
            Actor { login: login.to_owned(), id: None, is_user: false, association: String::new() };
    };
    assert!(starts(&|fixture| by_bot(fixture, "good-app[bot]")));
    assert!(!starts(&|fixture| by_bot(fixture, "evil-app[bot]")), "a program nobody named");
    assert!(
        !starts(&|fixture| fixture.permission = Ok(ForgePermission::Read)),
        "a person who may only read"
    );
    let on_a_pull_request = |fixture: &mut RequestFixture, change: PullRequest| {
        let authority = Some("aaa".to_owned());
        fixture.trigger.subject = Some(EventSubject {
            number: 7,
            is_open: true,
            is_pull_request: true,
            head_sha: authority,
            ..EventSubject::default()
        });
        fixture.pull_request = Some(change);
    };
    assert!(starts(&|fixture| on_a_pull_request(fixture, pull_request())));
    let fork = || PullRequest { is_fork: true, ..pull_request() };
    assert!(!starts(&|fixture| on_a_pull_request(fixture, fork())), "a fork");
    let moved = || PullRequest { head_sha: "new".to_owned(), ..pull_request() };
    assert!(!starts(&|fixture| on_a_pull_request(fixture, moved())), "a head that moved");
}
