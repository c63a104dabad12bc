//! Who may start what, rule by rule: each allow with a neighbouring refusal.

mod bounds;
mod edges;
mod events;
mod flags;
mod threads;

use super::{
    CommandFlags, DecisionRequest, DecisionTarget, JobFacts, PermissionAnswer, RefusalNotice,
    RequestFacts, RequestRefusal, RequestedAction, examine,
};
use locum_agent::session::recorded::PersonDecision;
use locum_forge::event::{Actor, Comment, EventKind, EventSubject, Trigger};
use locum_forge::{ForgePermission, PullRequest};
use locum_policy::actors::Tier;
use locum_policy::schema::{AssignTrigger, CommentTrigger, Forks, LabelTrigger, Triggers};
use pretty_assertions::assert_eq;

#[derive(Clone)]
struct RequestFixture {
    trigger: Trigger,
    triggers: Triggers,
    permission: Result<ForgePermission, String>,
    pull_request: Option<PullRequest>,
    restarted_by: Option<Result<ForgePermission, String>>,
    changed_paths: Option<Vec<String>>,
    has_task: bool,
    recent_runs: u32,
    git_ref: &'static str,
    now: &'static str,
}

fn fixture(body: &str) -> RequestFixture {
    let tiers = vec![Tier::Maintainer];
    RequestFixture {
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
            subject: Some(EventSubject { number: 7, is_open: true, ..EventSubject::default() }),
            action: "created".to_owned(),
            head: None,
            checks: None,
            text: None,
            body_before: None,
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
            events: Vec::new(),
            repairs: locum_policy::schema::events::RepairRules::default(),
            dashboard: false,
            dispatch_tiers: tiers,
            approve_tiers: vec![Tier::Maintainer],
            bots: vec!["good-app[bot]".to_owned()],
            forks: Forks::ReadOnly,
        },
        permission: Ok(ForgePermission::Write),
        pull_request: None,
        restarted_by: None,
        changed_paths: None,
        has_task: false,
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
        is_fork: false,
        author: String::new(),
        is_own: false,
        labels: Vec::new(),
        head_pushed_at: None,
    }
}

fn answer(permission: Result<ForgePermission, String>) -> PermissionAnswer {
    permission.map_or_else(edges::unsaid, PermissionAnswer::Known)
}

impl RequestFixture {
    fn decide(&self) -> Result<super::Request, RequestRefusal> {
        self.examine().request
    }

    fn examine(&self) -> super::TriggerExamination {
        let modes = ["orchestrator", "architect", "code", "ask", "review", "docs-writer"]
            .map(str::to_owned);
        let known = RequestFacts {
            job: self.job(),
            own_login: Some("locum[bot]"),
            permission: answer(self.permission.clone()),
            restarted_by: self.restarted_by.clone().map(|theirs| ("mallory", answer(theirs))),
            pull_request: self.pull_request.as_ref(),
            changed_paths: self.changed_paths.as_deref(),
            recent_runs: self.recent_runs,
            policy: "policy.yml",
            modes: &modes,
            profiles: &["fast".to_owned()],
        };
        examine(&self.trigger, Some(&self.triggers), &known)
    }

    fn job(&self) -> JobFacts<'static> {
        JobFacts {
            now: self.now.parse().unwrap(),
            repository: "acme/app",
            default_branch: "main",
            git_ref: self.git_ref,
            has_task: self.has_task,
        }
    }

    fn refused_by(&self) -> (&'static str, RefusalNotice) {
        let refused = self.decide().unwrap_err();
        (refused.rule, refused.notice)
    }

    fn runs(&self) {
        assert!(self.decide().is_ok(), "{:?}", self.decide());
    }
}

#[test]
fn words_after_the_prefix_are_verbs_modes_or_the_task() {
    let read = |body: &str| {
        fixture(body)
            .decide()
            .map(|request| (request.action, request.mode.unwrap_or_default(), request.text))
            .map_err(|refused| refused.why)
    };
    let run = |mode: &str, text: &str| Ok((RequestedAction::Run, mode.to_owned(), text.to_owned()));
    assert_eq!(read("/locum"), run("", ""));
    assert_eq!(read("/locum code a b"), run("code", "a b"));
    assert_eq!(read("/locum docs-writer a"), run("docs-writer", "a"));
    assert_eq!(read("/locum plan a"), run("architect", "a"));
    assert_eq!(read("/locum fix --mode code a"), run("code", "fix a"));
    assert_eq!(read("/locum please look"), run("", "please look"));
    assert_eq!(read("/locum help"), Ok((RequestedAction::Help, String::new(), String::new())));
    assert_eq!(read("/locum status"), Ok((RequestedAction::Status, String::new(), String::new())));
    assert_eq!(read("/locum --mode ask code x"), Err("more than one mode is named".to_owned()));
}

#[test]
fn words_about_locum_start_no_run_and_a_lone_unknown_word_is_a_mistake() {
    let read = |body: &str| {
        let request = fixture(body).decide();
        request.map(|request| request.action).map_err(|refused| (refused.rule, refused.why))
    };
    for (body, action) in [
        ("/locum stop", RequestedAction::Stop),
        ("/locum cancel", RequestedAction::Stop),
        ("/locum retry", RequestedAction::Retry),
        ("/locum undo", RequestedAction::Undo),
        ("/locum explain", RequestedAction::Explain),
        ("/locum explain code", RequestedAction::Explain),
        ("/locum explain how it parses", RequestedAction::Run),
        ("/locum fix stop", RequestedAction::Run),
        ("/locum code retry", RequestedAction::Run),
        ("/locum two words", RequestedAction::Run),
        ("/locum Stop!", RequestedAction::Stop),
        ("/locum ?", RequestedAction::Help),
        ("/locum Add a test", RequestedAction::Run),
        ("/locum #12", RequestedAction::Run),
        ("/locum \u{4fee}\u{590d}\u{5b83}", RequestedAction::Run),
    ] {
        assert_eq!(read(body), Ok(action), "{body}");
    }
    for (body, why) in [
        ("/locum stop it, please", "`stop` stands alone"),
        ("/locum retry 3", "`retry` stands alone"),
        ("/locum stop --dry-run", "`stop` takes no flag `--dry-run`"),
        ("/locum deploy", "there is no verb or mode `deploy`. Verbs: `fix`, "),
        ("/locum aprove 0123456789abcdef", "did you mean `approve`? Verbs: "),
        ("/locum stats", "did you mean `status`? Verbs: "),
        ("/locum --budget=1 cod", "did you mean `code`? Verbs: "),
        ("/locum Thanks!", "there is no verb or mode `thanks`"),
        ("/locum thanks_all", "there is no verb or mode `thanks_all`"),
        ("/locum \u{1f44d}", "there is no verb or mode"),
        ("/locum Stop, please", "`stop` stands alone"),
    ] {
        let refused = read(body).unwrap_err();
        assert!(refused.0 == "command" && refused.1.contains(why), "{body}: {refused:?}");
    }
    // A limit on runs is none on words about them.
    for (body, passes) in
        [("/locum stop", true), ("/locum status", true), ("/locum retry", false), ("/locum", false)]
    {
        let full = RequestFixture { recent_runs: 10, ..fixture(body) };
        assert_eq!(full.decide().is_ok(), passes, "{body}");
    }
}

#[test]
fn people_of_the_policys_tiers_decide_and_programs_never() {
    let id = "0123456789abcdef";
    let read = |body: &str| {
        fixture(body)
            .decide()
            .map(|request| request.action)
            .map_err(|refused| (refused.rule, refused.notice))
    };
    let decided = |id: Option<&str>, word| {
        let target = match id {
            Some("all") => DecisionTarget::AllHolds,
            Some(id) => DecisionTarget::Named(id.split(' ').map(str::to_owned).collect()),
            None => DecisionTarget::OnlyQuestion,
        };
        Ok(RequestedAction::Decide(DecisionRequest {
            target,
            word,
            note: String::new(),
            always: false,
        }))
    };
    let noted = |id: &str, said: &str| {
        let RequestedAction::Decide(decision) = decided(Some(id), PersonDecision::Approve)? else {
            unreachable!()
        };
        Ok(RequestedAction::Decide(DecisionRequest { note: said.to_owned(), ..decision }))
    };
    let other = "fedcba9876543210";
    assert_eq!(
        read(&format!("/locum approve {id}, {other} but in French")),
        noted(&format!("{id} {other}"), "but in French")
    );
    for (said, note, always) in [
        ("always", "", true),
        ("Always, but in French", "but in French", true),
        ("always\nand in French", "and in French", true),
        ("always run the tests", "always run the tests", false),
        ("alwayss", "alwayss", false),
    ] {
        let expected = noted(id, note).map(|action| match action {
            RequestedAction::Decide(decision) => {
                RequestedAction::Decide(DecisionRequest { always, ..decision })
            }
            other => other,
        });
        assert_eq!(read(&format!("/locum approve {id} {said}")), expected, "{said}");
    }
    assert_eq!(read("/locum approve all"), decided(Some("all"), PersonDecision::Approve));
    assert_eq!(
        read("/locum deny all too risky"),
        decided(Some("all"), PersonDecision::Deny { reason: "too risky".to_owned() })
    );
    assert_eq!(read(&format!("/locum approve {id}")), decided(Some(id), PersonDecision::Approve));
    assert_eq!(
        read(&format!("/locum approve {}", id.to_uppercase())),
        decided(Some(id), PersonDecision::Approve)
    );
    assert_eq!(
        read(&format!("/locum deny {id} not now")),
        decided(Some(id), PersonDecision::Deny { reason: "not now".to_owned() })
    );
    assert_eq!(
        read(&format!("/locum answer {id} the second")),
        decided(Some(id), PersonDecision::Answer { text: "the second".to_owned() })
    );
    assert_eq!(
        read("/locum answer the second"),
        decided(None, PersonDecision::Answer { text: "the second".to_owned() })
    );
    for wrong in [
        "approve",
        "approve 3",
        "deny it",
        "approve allowed",
        "answer 0123456789abcdef fedcba9876543210 yes",
        "approve --mode=code 0123456789abcdef",
    ] {
        assert_eq!(
            read(&format!("/locum {wrong}")),
            Err(("command", RefusalNotice::Posted)),
            "{wrong}"
        );
    }

    let by = |permission: ForgePermission, body: &str| {
        let mut fixture = fixture(body);
        fixture.permission = Ok(permission);
        fixture.triggers.comment.as_mut().unwrap().tiers.push(Tier::Collaborator);
        fixture
    };
    by(ForgePermission::Triage, "/locum fix it").runs();
    by(ForgePermission::Triage, "/locum answer yes").runs();
    let approve = format!("/locum approve {id}");
    assert_eq!(
        by(ForgePermission::Triage, &approve).refused_by(),
        ("triggers.approve.tiers", RefusalNotice::Silent)
    );
    assert_eq!(
        by(ForgePermission::Read, &approve).refused_by(),
        ("triggers.approve.tiers", RefusalNotice::Silent)
    );
    let mut wider = by(ForgePermission::Triage, &approve);
    wider.triggers.approve_tiers.push(Tier::Collaborator);
    wider.runs();
    for body in [approve.as_str(), "/locum answer yes"] {
        let mut bot = fixture(body);
        bot.trigger.actor = Actor {
            login: "good-app[bot]".to_owned(),
            id: None,
            is_user: false,
            association: String::new(),
        };
        assert_eq!(bot.refused_by(), ("triggers.approve", RefusalNotice::Silent), "{body}");
    }
}

#[test]
fn flags_tighten_and_never_choose_policy_model_or_endpoint() {
    let flags = |body: &str| {
        fixture(body)
            .decide()
            .map(|request| request.flags)
            .map_err(|refused| (refused.rule, refused.notice))
    };
    assert_eq!(
        flags("/locum fix --dry-run --new-pr --budget=2.5 --model fast --paths=src/**,tests/** x"),
        Ok(CommandFlags {
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
        assert_eq!(
            flags(&format!("/locum {body}")),
            Err(("command", RefusalNotice::Posted)),
            "{body}"
        );
    }
}

#[test]
fn only_tiers_of_the_policy_may_and_an_unknown_answer_refuses() {
    for permission in [ForgePermission::Admin, ForgePermission::Maintain, ForgePermission::Write] {
        RequestFixture { permission: Ok(permission), ..fixture("/locum") }.runs();
    }
    for permission in [ForgePermission::Triage, ForgePermission::Read, ForgePermission::None] {
        assert_eq!(
            RequestFixture { permission: Ok(permission), ..fixture("/locum") }.refused_by(),
            ("triggers.comment.tiers", RefusalNotice::Silent)
        );
    }
    assert_eq!(
        RequestFixture { permission: Err("500".to_owned()), ..fixture("/locum") }.refused_by(),
        ("permission", RefusalNotice::Silent)
    );
    let mut open = fixture("/locum");
    open.permission = Ok(ForgePermission::Read);
    open.triggers.comment.as_mut().unwrap().tiers.push(Tier::Collaborator);
    assert_eq!(open.refused_by().0, "triggers.comment.tiers");
    open.trigger.is_private = true;
    open.runs();
}

#[test]
fn programs_run_only_by_name_and_with_the_right_to_write() {
    let from = |login: &str, permission| {
        let mut fixture = fixture("/locum");
        fixture.trigger.actor =
            Actor { login: login.to_owned(), id: None, is_user: false, association: String::new() };
        RequestFixture { permission: Ok(permission), ..fixture }
    };
    assert_eq!(
        from("Good-App[bot]", ForgePermission::Write).decide().unwrap().facts.tier,
        Tier::Bot
    );
    assert_eq!(from("good-app[bot]", ForgePermission::None).refused_by().0, "triggers.bots.allow");
    assert_eq!(from("evil-app[bot]", ForgePermission::Write).refused_by().0, "triggers.bots.allow");
    let mut by_hand = from("good-app[bot]", ForgePermission::Write);
    by_hand.trigger.kind = EventKind::Dispatch;
    by_hand.runs();
    by_hand.triggers.dispatch_tiers.clear();
    assert_eq!(
        by_hand.refused_by().0,
        "triggers.dispatch.tiers",
        "a way that is closed stays closed"
    );
    for own in ["locum[bot]", "Locum[bot]", "github-actions[bot]"] {
        let mut fixture = from(own, ForgePermission::Write);
        fixture.triggers.bots.push(own.to_owned());
        assert_eq!(fixture.refused_by(), ("own-output", RefusalNotice::Silent));
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
            let mut fixture = fixture(bodies[round % bodies.len()]);
            fixture.trigger.actor = Actor {
                login: login.to_owned(),
                id: None,
                is_user: login.starts_with('L'),
                association: "OWNER".to_owned(),
            };
            fixture.permission = Ok(ForgePermission::Admin);
            assert_eq!(
                fixture.decide().unwrap_err().notice,
                RefusalNotice::Silent,
                "{round} {login}"
            );
        }
    }
}

#[test]
fn every_check_is_shown_also_after_one_that_failed() {
    let mut fixture = fixture("/locum fix it");
    fixture.trigger.subject.as_mut().unwrap().is_locked = true;
    fixture.permission = Ok(ForgePermission::None);
    let examined = fixture.examine();
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
    let mut closed = fixture("/locum");
    closed.trigger.subject.as_mut().unwrap().is_open = false;
    assert_eq!(closed.refused_by(), ("thread-open", RefusalNotice::Posted));
    closed.permission = Ok(ForgePermission::None);
    assert_eq!(closed.refused_by().1, RefusalNotice::Silent, "a stranger cannot make us talk");
    let mut locked = fixture("/locum");
    locked.trigger.subject.as_mut().unwrap().is_locked = true;
    assert_eq!(locked.refused_by().0, "thread-unlocked");
    assert_eq!(
        RequestFixture { now: "2026-01-03T03:05:00Z", ..fixture("/locum") }.refused_by().0,
        "event-age"
    );
    RequestFixture { now: "2026-01-03T03:04:00Z", ..fixture("/locum") }.runs();
    assert_eq!(
        RequestFixture { recent_runs: 10, ..fixture("/locum") }.refused_by().0,
        "runs-per-hour"
    );
    RequestFixture { recent_runs: 9, ..fixture("/locum") }.runs();
    assert_eq!(
        fixture(&format!("/locum {}", "a ".repeat(40_000))).refused_by(),
        ("comment-length", RefusalNotice::Silent)
    );
}
