//! Who may start what, rule by rule: each allow with a neighbouring refusal.

mod attacks;
mod edges;

use super::{
    DecisionRequest, Flags, JobFacts, Notice, Refused, RequestFacts, RequestedAction, examine,
};
use locum_agent::session::event::PersonsWord;
use locum_forge::event::{Actor, Comment, EventKind, Subject, Trigger};
use locum_forge::{Permission, PullRequest};
use locum_policy::actors::Tier;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::{AssignTrigger, CommentTrigger, Forks, LabelTrigger, Triggers};
use pretty_assertions::assert_eq;

struct Scene {
    trigger: Trigger,
    triggers: Triggers,
    permission: Result<Permission, String>,
    pull_request: Option<PullRequest>,
    restarted_by: Option<Result<Permission, String>>,
    recent_runs: u32,
    git_ref: &'static str,
    now: &'static str,
}

fn scene(body: &str) -> Scene {
    let tiers = vec![Tier::Maintainer];
    Scene {
        trigger: Trigger {
            kind: EventKind::IssueComment,
            repository: "acme/app".to_owned(),
            default_branch: "main".to_owned(),
            is_private: false,
            happened_at: Some("2026-01-02T03:04:05Z".parse().unwrap()),
            actor: Actor {
                login: "alice".to_owned(),
                id: Some(42),
                is_user: true,
                association: "MEMBER".to_owned(),
            },
            subject: Some(Subject { number: 7, is_open: true, ..Subject::default() }),
            comment: Some(Comment { id: 11, body: body.to_owned(), ..Comment::default() }),
            label: None,
            assignee: None,
            inputs: std::collections::BTreeMap::new(),
            schedule: None,
        },
        triggers: Triggers {
            comment: Some(CommentTrigger { prefix: "/locum".to_owned(), tiers: tiers.clone() }),
            label: Some(LabelTrigger { name: "locum".to_owned(), tiers: tiers.clone() }),
            assign: Some(AssignTrigger { login: "locum-bot".to_owned(), tiers: tiers.clone() }),
            users: Vec::new(),
            schedule_jobs: Vec::new(),
            dispatch_tiers: tiers,
            approve_tiers: vec![Tier::Maintainer],
            bots: vec!["good-app[bot]".to_owned()],
            forks: Forks::ReadOnly,
        },
        permission: Ok(Permission::Write),
        pull_request: None,
        restarted_by: None,
        recent_runs: 0,
        git_ref: "refs/heads/main",
        now: "2026-01-02T04:00:00Z",
    }
}

fn pull_request() -> PullRequest {
    PullRequest {
        number: 7,
        title: String::new(),
        body: String::new(),
        is_open: true,
        head_branch: "topic".to_owned(),
        head_sha: "aaa".to_owned(),
        base_branch: "main".to_owned(),
        base_sha: "bbb".to_owned(),
        is_fork: false,
    }
}

impl Scene {
    fn decide(&self) -> Result<super::Request, Refused> {
        self.examine().request
    }

    fn examine(&self) -> super::Examination {
        let modes = ["orchestrator", "architect", "code", "ask", "review", "docs-writer"]
            .map(str::to_owned);
        let profiles = ["fast".to_owned()];
        let known = RequestFacts {
            job: self.job(),
            own_login: Some("locum[bot]"),
            permission: self.permission.clone(),
            restarted_by: self.restarted_by.clone().map(|permission| ("mallory", permission)),
            pull_request: self.pull_request.as_ref(),
            recent_runs: self.recent_runs,
            modes: &modes,
            profiles: &profiles,
        };
        examine(&self.trigger, Some(&self.triggers), &known)
    }

    fn job(&self) -> JobFacts<'static> {
        JobFacts {
            now: self.now.parse().unwrap(),
            repository: "acme/app",
            default_branch: "main",
            git_ref: self.git_ref,
        }
    }

    fn refused_by(&self) -> (&'static str, Notice) {
        let refused = self.decide().unwrap_err();
        (refused.rule, refused.notice)
    }

    fn runs(&self) {
        assert!(self.decide().is_ok(), "{:?}", self.decide());
    }
}

#[test]
fn a_maintainer_may_ask_in_a_comment() {
    let request = scene("/locum fix the test").decide().unwrap();
    assert_eq!(
        (request.action, request.mode.as_deref(), request.text.as_str(), request.read_only),
        (RequestedAction::Run, None, "the test", false)
    );
    assert_eq!(
        (request.facts.trigger, request.facts.tier),
        (TriggerKind::Comment, Tier::Maintainer)
    );
    assert_eq!((request.subject.unwrap().number, request.comment.unwrap().id), (7, 11));
}

#[test]
fn words_after_the_prefix_are_verbs_modes_or_the_task() {
    let read = |body: &str| {
        scene(body)
            .decide()
            .map(|request| (request.action, request.mode.unwrap_or_default(), request.text))
            .map_err(|refused| refused.why)
    };
    let run = |mode: &str, text: &str| Ok((RequestedAction::Run, mode.to_owned(), text.to_owned()));
    assert_eq!(read("/locum"), run("", ""));
    assert_eq!(read("/locum code a b"), run("code", "a b"));
    assert_eq!(read("/locum docs-writer a"), run("docs-writer", "a"));
    assert_eq!(read("/locum plan a"), run("architect", "a"));
    assert_eq!(read("/locum fix --mode code a"), run("code", "a"));
    assert_eq!(read("/locum please look"), run("", "please look"));
    assert_eq!(read("/locum help"), Ok((RequestedAction::Help, String::new(), String::new())));
    assert_eq!(read("/locum status"), Ok((RequestedAction::Status, String::new(), String::new())));
    assert_eq!(read("/locum retry 3"), Err("`retry` is not known".to_owned()));
    assert_eq!(read("/locum --mode nonsense"), Err("there is no mode `nonsense`".to_owned()));
    assert_eq!(read("/locum --mode ask code x"), Err("more than one mode is named".to_owned()));
}

#[test]
fn people_of_the_policys_tiers_decide_and_programs_never() {
    let id = "0123456789abcdef";
    let read = |body: &str| {
        scene(body)
            .decide()
            .map(|request| request.action)
            .map_err(|refused| (refused.rule, refused.notice))
    };
    let decided = |id: Option<&str>, word| {
        Ok(RequestedAction::Decide(DecisionRequest { id: id.map(str::to_owned), word }))
    };
    assert_eq!(read(&format!("/locum approve {id}")), decided(Some(id), PersonsWord::Approve));
    assert_eq!(
        read(&format!("/locum approve {}", id.to_uppercase())),
        decided(Some(id), PersonsWord::Approve)
    );
    assert_eq!(
        read(&format!("/locum deny {id} not now")),
        decided(Some(id), PersonsWord::Deny { reason: "not now".to_owned() })
    );
    assert_eq!(
        read(&format!("/locum answer {id} the second")),
        decided(Some(id), PersonsWord::Answer { text: "the second".to_owned() })
    );
    assert_eq!(
        read("/locum answer the second"),
        decided(None, PersonsWord::Answer { text: "the second".to_owned() })
    );
    for wrong in [
        "approve",
        "approve 3",
        "deny it",
        "approve 0123456789abcdef and the rest",
        "approve --mode=code 0123456789abcdef",
    ] {
        assert_eq!(read(&format!("/locum {wrong}")), Err(("command", Notice::Posted)), "{wrong}");
    }

    let by = |permission: Permission, body: &str| {
        let mut scene = scene(body);
        scene.permission = Ok(permission);
        scene.triggers.comment.as_mut().unwrap().tiers.push(Tier::Collaborator);
        scene
    };
    by(Permission::Triage, "/locum fix it").runs();
    by(Permission::Triage, "/locum answer yes").runs();
    let approve = format!("/locum approve {id}");
    assert_eq!(
        by(Permission::Triage, &approve).refused_by(),
        ("triggers.approve.tiers", Notice::Silent)
    );
    assert_eq!(
        by(Permission::Read, &approve).refused_by(),
        ("triggers.approve.tiers", Notice::Silent)
    );
    let mut wider = by(Permission::Triage, &approve);
    wider.triggers.approve_tiers.push(Tier::Collaborator);
    wider.runs();
    for body in [approve.as_str(), "/locum answer yes"] {
        let mut bot = scene(body);
        bot.trigger.actor = Actor {
            login: "good-app[bot]".to_owned(),
            id: None,
            is_user: false,
            association: String::new(),
        };
        assert_eq!(bot.refused_by(), ("triggers.approve", Notice::Silent), "{body}");
    }
}

#[test]
fn flags_tighten_and_never_choose_policy_model_or_endpoint() {
    let flags = |body: &str| {
        scene(body)
            .decide()
            .map(|request| request.flags)
            .map_err(|refused| (refused.rule, refused.notice))
    };
    assert_eq!(
        flags("/locum fix --dry-run --new-pr --budget=2.5 --model fast --paths=src/**,tests/** x"),
        Ok(Flags {
            model: Some("fast".to_owned()),
            budget_usd: Some(2.5),
            dry_run: true,
            new_pull_request: true,
            paths: vec!["src/**".to_owned(), "tests/**".to_owned()]
        })
    );
    for body in [
        "--policy ./mine.yml --model evil fix",
        "--model evil fix",
        "--base-url=http://x fix",
        "--budget -1",
        "--budget=NaN",
        "--budget=inf",
        "--budget",
        "--dry-run=no",
        "--tools all",
        "fix --sandbox=off",
    ] {
        assert_eq!(flags(&format!("/locum {body}")), Err(("command", Notice::Posted)), "{body}");
    }
}

#[test]
fn only_tiers_of_the_policy_may_and_an_unknown_answer_refuses() {
    for permission in [Permission::Admin, Permission::Maintain, Permission::Write] {
        Scene { permission: Ok(permission), ..scene("/locum") }.runs();
    }
    for permission in [Permission::Triage, Permission::Read, Permission::None] {
        assert_eq!(
            Scene { permission: Ok(permission), ..scene("/locum") }.refused_by(),
            ("triggers.comment.tiers", Notice::Silent)
        );
    }
    assert_eq!(
        Scene { permission: Err("500".to_owned()), ..scene("/locum") }.refused_by(),
        ("permission", Notice::Silent)
    );
    let mut open = scene("/locum");
    open.permission = Ok(Permission::Read);
    open.triggers.comment.as_mut().unwrap().tiers.push(Tier::Collaborator);
    assert_eq!(open.refused_by().0, "triggers.comment.tiers");
    open.trigger.is_private = true;
    open.runs();
}

#[test]
fn programs_run_only_by_name_and_with_the_right_to_write() {
    let from = |login: &str, permission| {
        let mut scene = scene("/locum");
        scene.trigger.actor =
            Actor { login: login.to_owned(), id: None, is_user: false, association: String::new() };
        Scene { permission: Ok(permission), ..scene }
    };
    assert_eq!(from("Good-App[bot]", Permission::Write).decide().unwrap().facts.tier, Tier::Bot);
    assert_eq!(from("good-app[bot]", Permission::None).refused_by().0, "triggers.bots.allow");
    assert_eq!(from("evil-app[bot]", Permission::Write).refused_by().0, "triggers.bots.allow");
    let mut by_hand = from("good-app[bot]", Permission::Write);
    by_hand.trigger.kind = EventKind::Dispatch;
    by_hand.runs();
    by_hand.triggers.dispatch_tiers.clear();
    assert_eq!(
        by_hand.refused_by().0,
        "triggers.dispatch.tiers",
        "a way that is closed stays closed"
    );
    for own in ["locum[bot]", "Locum[bot]", "github-actions[bot]"] {
        let mut scene = from(own, Permission::Write);
        scene.triggers.bots.push(own.to_owned());
        assert_eq!(scene.refused_by(), ("own-output", Notice::Silent));
    }
}

#[test]
fn own_output_never_starts_a_run_however_often_and_under_whatever_name_it_comes_back() {
    let bodies = [
        "/locum code x",
        "<!-- locum:v1 kind=progress run=1 -->\n/locum fix",
        "Write `/locum approve 0123456789abcdef`.",
        "/locum help",
    ];
    for round in 0..100 {
        for login in ["locum[bot]", "github-actions[bot]", "other-app[bot]", "LOCUM[BOT]"] {
            let mut scene = scene(bodies[round % bodies.len()]);
            scene.trigger.actor = Actor {
                login: login.to_owned(),
                id: None,
                is_user: login.starts_with('L'),
                association: "OWNER".to_owned(),
            };
            scene.permission = Ok(Permission::Admin);
            assert_eq!(scene.decide().unwrap_err().notice, Notice::Silent, "{round} {login}");
        }
    }
}

#[test]
fn every_check_is_shown_also_after_one_that_failed() {
    let mut scene = scene("/locum fix it");
    scene.trigger.subject.as_mut().unwrap().is_locked = true;
    scene.permission = Ok(Permission::None);
    let examined = scene.examine();
    let failed: Vec<&str> = examined
        .checks
        .iter()
        .filter_map(|check| check.refused.as_ref())
        .map(|refused| refused.rule)
        .collect();
    assert_eq!(failed, ["triggers.comment.tiers", "thread-unlocked"]);
    assert_eq!(
        examined.request.unwrap_err().rule,
        "triggers.comment.tiers",
        "the first one decides"
    );
}

#[test]
fn closed_locked_and_old_threads_start_nothing() {
    let mut closed = scene("/locum");
    closed.trigger.subject.as_mut().unwrap().is_open = false;
    assert_eq!(closed.refused_by(), ("thread-open", Notice::Posted));
    closed.permission = Ok(Permission::None);
    assert_eq!(closed.refused_by().1, Notice::Silent, "a stranger cannot make us talk");
    let mut locked = scene("/locum");
    locked.trigger.subject.as_mut().unwrap().is_locked = true;
    assert_eq!(locked.refused_by().0, "thread-unlocked");
    assert_eq!(
        Scene { now: "2026-01-03T03:05:00Z", ..scene("/locum") }.refused_by().0,
        "event-age"
    );
    Scene { now: "2026-01-03T03:04:00Z", ..scene("/locum") }.runs();
    assert_eq!(Scene { recent_runs: 10, ..scene("/locum") }.refused_by().0, "runs-per-hour");
    Scene { recent_runs: 9, ..scene("/locum") }.runs();
    assert_eq!(
        scene(&format!("/locum {}", "a ".repeat(40_000))).refused_by(),
        ("comment-length", Notice::Silent)
    );
}

#[test]
fn a_job_started_again_needs_the_right_of_who_did_it() {
    assert_eq!(
        Scene { restarted_by: Some(Ok(Permission::Read)), ..scene("/locum") }.refused_by().0,
        "restart"
    );
    assert_eq!(
        Scene { restarted_by: Some(Err("404".to_owned())), ..scene("/locum") }.refused_by().0,
        "permission"
    );
    Scene { restarted_by: Some(Ok(Permission::Write)), ..scene("/locum") }.runs();
}

#[test]
fn pull_requests_are_read_as_they_are_now() {
    let on = |change: fn(&mut PullRequest)| {
        let mut scene = scene("/locum");
        scene.trigger.subject.as_mut().unwrap().is_pull_request = true;
        scene.trigger.subject.as_mut().unwrap().head_sha = Some("aaa".to_owned());
        let mut now = pull_request();
        change(&mut now);
        scene.pull_request = Some(now);
        scene
    };
    assert!(!on(|_| ()).decide().unwrap().read_only);
    assert!(on(|now| now.is_fork = true).decide().unwrap().read_only);
    assert_eq!(on(|now| now.head_sha = "ccc".to_owned()).refused_by().0, "head-moved");
    assert_eq!(on(|now| now.is_open = false).refused_by().0, "thread-open");
    assert_eq!(on(|now| now.number = 8).refused_by().0, "pull-request");
    assert_eq!(Scene { pull_request: None, ..on(|_| ()) }.refused_by().0, "pull-request");
    let mut deny = on(|now| now.is_fork = true);
    deny.triggers.forks = Forks::Deny;
    assert_eq!(deny.refused_by().0, "triggers.forks");
    deny.triggers.forks = Forks::Allow;
    assert!(!deny.decide().unwrap().read_only);
}

#[test]
fn labels_dispatches_and_schedules_have_their_own_rules() {
    let mut labeled = scene("");
    labeled.trigger.kind = EventKind::IssueLabeled;
    labeled.trigger.label = Some("locum".to_owned());
    labeled.runs();
    labeled.trigger.label = Some("bug".to_owned());
    assert_eq!(labeled.refused_by().0, "triggers.label.name");

    labeled.trigger.kind = EventKind::IssueAssigned;
    labeled.trigger.assignee = Some("Locum-Bot".to_owned());
    assert_eq!(labeled.decide().unwrap().facts.trigger, TriggerKind::Assign);
    labeled.trigger.assignee = Some("carol".to_owned());
    assert_eq!(labeled.refused_by(), ("triggers.assign.login", Notice::Silent));
    labeled.trigger.assignee = Some("locum-bot".to_owned());
    labeled.permission = Ok(Permission::Read);
    assert_eq!(labeled.refused_by().0, "triggers.assign.tiers");
    labeled.triggers.assign = None;
    assert_eq!(labeled.refused_by().0, "triggers.assign");

    let mut dispatch = scene("");
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

    let mut schedule = scene("");
    schedule.trigger.kind = EventKind::Schedule;
    schedule.permission = Err("nobody to ask about".to_owned());
    assert_eq!(schedule.decide().unwrap().facts.tier, Tier::Schedule);
    schedule.git_ref = "refs/heads/topic";
    assert_eq!(schedule.refused_by().0, "schedule-branch");
}
