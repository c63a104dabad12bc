//! Events of the repository against the policy's entries: real payloads, each filter with a
//! neighbour that does not fit.

use super::{RequestFixture, fixture, pull_request};
use crate::run::publish::own_branch::PullRequestMarker;
use crate::run::request::{RefusalNotice, Request, RequestRefusal, RequestedAction, screen};
use locum_forge::ForgePermission;
use locum_forge::event::{EventKind, Trigger, parse, parse_other};
use locum_policy::Policy;
use locum_policy::actors::Tier;
use locum_policy::intent::TriggerKind;
use locum_workspace::repo::CommitId;
use pretty_assertions::assert_eq;

/// An event of an example, under entries of a policy.
#[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
fn of(name: &str, triggers: &str) -> RequestFixture {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/events");
    let payload = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    let (event, _) = name.split_once('.').unwrap_or((name, ""));
    let mut trigger = parse(event, &payload).unwrap();
    trigger.repository = "acme/app".to_owned();
    trigger.happened_at = None;
    let mut fixture = fixture("");
    if let Some(subject) = trigger.subject.as_ref().filter(|subject| subject.is_pull_request) {
        let mut pull_request = pull_request();
        pull_request.number = subject.number;
        pull_request.head_sha = subject.head_sha.clone().unwrap_or_default();
        fixture.pull_request = Some(pull_request);
    }
    let text = format!("version: 1\ntriggers: {{ {triggers} }}\nrules: []\n");
    let policy = Policy::parse(&text, "policy.yml").unwrap();
    RequestFixture { trigger, triggers: policy.settings().triggers.clone(), ..fixture }
}

impl RequestFixture {
    fn with(mut self, change: impl FnOnce(&mut Trigger)) -> Self {
        change(&mut self.trigger);
        self
    }

    /// The mode or job that it starts and how, or the rule that refuses.
    fn starts(&self) -> Result<(TriggerKind, String), String> {
        let started = |request: Request| {
            let what = request.job.or(request.mode).unwrap_or(request.text);
            (request.facts.trigger, what)
        };
        let refused = |refused: RequestRefusal| {
            assert_eq!(refused.notice, RefusalNotice::Silent, "nobody asked: {refused}");
            refused.to_string()
        };
        self.decide().map(started).map_err(refused)
    }
}

#[track_caller]
fn started(fixture: &RequestFixture, kind: TriggerKind, what: &str) {
    assert_eq!(fixture.starts(), Ok((kind, what.to_owned())));
}

#[track_caller]
fn refused(fixture: &RequestFixture, why: &str) {
    let said = fixture.starts().unwrap_err();
    assert!(said.contains(why), "{said}");
}

#[test]
fn a_pull_request_starts_what_the_first_entry_that_fits_says() {
    let entry = "pull_request: { tiers: maintainer }";
    let review = |name: &str| started(&of(name, entry), TriggerKind::PullRequest, "review");
    review("pull_request.opened");
    review("pull_request.ready_for_review");
    refused(&of("pull_request.synchronize", entry), "`on` does not name `synchronize`");
    let entry = "pull_request: { tiers: maintainer, on: [synchronize] }";
    started(&of("pull_request.synchronize", entry), TriggerKind::PullRequest, "review");
    refused(&of("pull_request.opened", entry), "`on` does not name `opened`");
    let entries = "pull_request: [{ tiers: maintainer, branches: [stable], mode: ask }, \
                   { tiers: maintainer, mode: code, task: Look. }]";
    started(&of("pull_request.opened", entries), TriggerKind::PullRequest, "code");
    let refusal = of("pull_request.opened", "comment: { tiers: maintainer }");
    refused(&refusal, "such events start nothing here (rule: triggers.pull_request)");
}

#[test]
fn every_filter_of_a_pull_request_has_to_fit() {
    let of = |entry: &str| {
        of("pull_request.opened", &format!("pull_request: {{ tiers: maintainer, {entry} }}"))
    };
    let review = |fixture: &RequestFixture| started(fixture, TriggerKind::PullRequest, "review");
    review(&of("branches: [\"mas*\"]"));
    refused(&of("branches: [main]"), "`branches` does not name `master`");
    review(&of("authors: [codertocat]"));
    refused(&of("authors: [alice]"), "`authors` does not name `Codertocat`");
    let draft = |trigger: &mut Trigger| trigger.head.as_mut().unwrap().is_draft = true;
    review(&of("draft: true").with(draft));
    refused(&of("draft: false").with(draft), "is a draft");
    let labelled = |trigger: &mut Trigger| {
        trigger.head.as_mut().unwrap().labels.push("ai-review".to_owned());
    };
    review(&of("label: ai-review").with(labelled));
    refused(&of("label: ai-review"), "has no label `ai-review`");
    let changed = |path: &str| RequestFixture {
        changed_paths: Some(vec!["README.md".to_owned(), path.to_owned()]),
        ..of("paths: [\"src/**\"]")
    };
    review(&changed("src/a.rs"));
    refused(&changed("docs/a.md"), "nothing was changed that `paths` names");
}

#[test]
fn paths_are_looked_up_only_where_a_filter_asks() {
    let by_paths = |entry: &str| {
        let fixture = of("pull_request.opened", &format!("pull_request: {{ {entry} }}"));
        screen(&fixture.trigger, &fixture.triggers, &fixture.job()).unwrap()
    };
    assert!(by_paths("tiers: maintainer, paths: [\"src/**\"]"));
    assert!(!by_paths("tiers: maintainer"));
}

#[test]
fn a_label_on_a_pull_request_counts_as_one_on_an_issue() {
    let name = |label: &str| format!("label: {{ name: {label}, tiers: maintainer }}");
    let labelled = of("pull_request.labeled", &name("bug"));
    assert_eq!(labelled.decide().unwrap().facts.trigger, TriggerKind::Label);
    refused(&of("pull_request.labeled", &name("other")), "such events start nothing here");
    let entry = |label: &str| {
        let entry = format!("pull_request: {{ on: labeled, label: {label}, tiers: maintainer }}");
        of("pull_request.labeled", &entry)
    };
    started(&entry("bug"), TriggerKind::PullRequest, "review");
    refused(&entry("other"), "the label that was put on is not `other`");
}

#[test]
fn whoever_caused_the_event_needs_a_tier_of_the_entry() {
    let entry = "pull_request: { tiers: [maintainer, collaborator] }";
    let by = |permission| RequestFixture {
        permission: Ok(permission),
        ..of("pull_request.opened", entry)
    };
    started(&by(ForgePermission::Triage), TriggerKind::PullRequest, "review");
    refused(&by(ForgePermission::Read), "(rule: triggers.pull_request.tiers)");
    refused(&of("pull_request.opened", "pull_request: {}"), "(rule: triggers.pull_request.tiers)");
    let of_fork = |forks: &str| {
        let mut fixture = of("pull_request.opened", &format!("{entry}, forks: {forks}"));
        fixture.pull_request.as_mut().unwrap().is_fork = true;
        fixture
    };
    assert!(of_fork("read-only").decide().unwrap().read_only);
    refused(&of_fork("deny"), "(rule: triggers.forks)");
    let moved = of("pull_request.opened", entry)
        .with(|trigger| trigger.subject.as_mut().unwrap().head_sha = Some("b".repeat(40)));
    refused(&moved, "(rule: head-moved)");
}

/// A check that failed on pull request 2, which is somebody's or ours.
fn failed(name: &str, entry: &str, is_ours: bool) -> RequestFixture {
    let mut fixture = of(name, &format!("ci_failure: {{ {entry} }}"));
    let mut pull = pull_request();
    pull.number = 2;
    pull.head_sha = fixture.trigger.head.as_ref().unwrap().sha.clone();
    if is_ours {
        pull.is_own = true;
        let head = CommitId(pull.head_sha.clone());
        let marker = PullRequestMarker::new("0199aabb", ("issue-7", "comment-1"), &head, None);
        pull.body = format!("{}\nmended", marker.line());
    }
    fixture.trigger.checks.as_mut().unwrap().conclusion = "failure".to_owned();
    fixture.trigger.subject = Some(locum_forge::event::EventSubject {
        number: 2,
        is_pull_request: true,
        is_open: true,
        head_sha: Some(pull.head_sha.clone()),
        ..Default::default()
    });
    fixture.pull_request = Some(pull);
    fixture
}

#[test]
fn failed_checks_start_a_repair_of_our_own_pull_requests_and_of_labelled_ones() {
    for name in ["workflow_run.completed", "check_suite.completed"] {
        let own = RequestFixture {
            permission: Err("nobody is asked".to_owned()),
            ..failed(name, "mode: code", true)
        };
        started(&own, TriggerKind::CiFailure, "code");
        assert_eq!(own.decide().unwrap().facts.tier, Tier::Bot);
        refused(&failed(name, "mode: code", false), "is not Locum's own");
    }
    let name = "workflow_run.completed";
    let ended_as = |own: bool, conclusion: &str| {
        failed(name, "mode: code, tiers: maintainer", own).with(|trigger| {
            trigger.checks.as_mut().unwrap().conclusion = conclusion.to_owned();
        })
    };
    let passed = ended_as(true, "success").decide().unwrap();
    assert_eq!((passed.action, passed.facts.tier), (RequestedAction::ChecksPassed, Tier::Bot));
    refused(&ended_as(true, "skipped"), "the checks did not fail: `skipped`");
    refused(&ended_as(false, "success"), "is not Locum's own");
    let labelled = |tiers: &str, label: &str| {
        let mut fixture = failed(name, &format!("mode: code, label: locum-ci, {tiers}"), false);
        fixture.pull_request.as_mut().unwrap().labels.push(label.to_owned());
        fixture
    };
    started(&labelled("tiers: maintainer", "locum-ci"), TriggerKind::CiFailure, "code");
    refused(&labelled("tiers: maintainer", "other"), "has no label `locum-ci`");
    refused(&labelled("tiers: collaborator", "locum-ci"), "(rule: triggers.ci_failure.tiers)");
    let named = |entry: &str| {
        failed(name, &format!("mode: code, {entry}"), true)
            .with(|trigger| trigger.checks.as_mut().unwrap().name = "CI".to_owned())
    };
    started(&named("workflows: [CI]"), TriggerKind::CiFailure, "code");
    refused(&named("workflows: [Release]"), "`workflows` does not name `CI`");
    refused(&named("branches: [other]"), "`branches` does not name");
    let mut of_fork = labelled("tiers: maintainer", "locum-ci");
    of_fork.pull_request.as_mut().unwrap().is_fork = true;
    refused(&of_fork, "comes from a fork");
    // Whoever writes our hidden line into a description does not make it ours.
    let mut forged = failed(name, "mode: code", true);
    forged.pull_request.as_mut().unwrap().is_own = false;
    refused(&forged, "is not Locum's own");
}

#[test]
fn a_push_counts_on_the_default_branch_or_on_those_that_are_named() {
    let entry = "push: { job: sync, tiers: maintainer }";
    let to = |name: &str, branch: &str, entry: &str| {
        of(name, entry).with(|trigger| trigger.head.as_mut().unwrap().branch = branch.to_owned())
    };
    started(&to("push.new-branch", "master", entry), TriggerKind::Push, "sync");
    refused(&to("push.new-branch", "topic", entry), "only the default branch counts");
    let named = "push: { job: sync, tiers: maintainer, branches: [\"release/**\"] }";
    started(&to("push.new-branch", "release/1", named), TriggerKind::Push, "sync");
    refused(&to("push.new-branch", "master", named), "`branches` does not name `master`");
    refused(&of("push.deleted-tag", entry), "the push is not to a branch");
    refused(&to("push.deleted-tag", "master", entry), "the branch `master` was deleted");
}

#[test]
fn releases_merge_queues_and_other_programs_start_what_is_named() {
    let entry = "release: { task: Write it up., mode: ask, tiers: maintainer }";
    started(&of("release.published", entry), TriggerKind::Release, "ask");
    let entry = "release: { on: created, task: Write it up., tiers: maintainer }";
    refused(&of("release.published", entry), "`on` does not name `published`");
    let entry = "merge_group: { job: check, tiers: maintainer }";
    let queue = of("merge_group.checks_requested", entry);
    started(&queue, TriggerKind::MergeGroup, "check");
    assert!(queue.decide().unwrap().read_only);
    let entry = "merge_group: { job: check, tiers: maintainer, branches: [stable] }";
    refused(&of("merge_group.checks_requested", entry), "`branches` does not name `main`");
    let entry = |types: &str| {
        let entry = format!("repository_dispatch: {{ types: [{types}], tiers: maintainer }}");
        of("repository_dispatch", &entry)
            .with(|trigger| drop(trigger.inputs.insert("task".to_owned(), "Do it.".to_owned())))
    };
    started(&entry("on-demand-test"), TriggerKind::RepositoryDispatch, "Do it.");
    refused(&entry("other"), "`types` does not name `on-demand-test`");
}

#[test]
fn a_command_may_stand_in_an_issue_or_in_the_summary_of_a_review() {
    let comment = "comment: { tiers: maintainer }";
    let body = |trigger: &mut Trigger, text: &str| {
        text.clone_into(&mut trigger.subject.as_mut().unwrap().body);
    };
    let opened = |text: &str| of("issues.opened", comment).with(|trigger| body(trigger, text));
    started(&opened("It breaks.\n\n/locum fix it"), TriggerKind::Comment, "fix it");
    refused(&opened("It breaks."), "triggers.comment.prefix");
    let edited = |before: Option<&str>, after: &str| {
        of("issues.edited", comment).with(|trigger| {
            trigger.body_before = before.map(str::to_owned);
            body(trigger, after);
        })
    };
    started(&edited(Some("It breaks."), "/locum fix it"), TriggerKind::Comment, "fix it");
    refused(
        &edited(Some("/locum fix it"), "/locum fix it, please"),
        "edits of issues start nothing",
    );
    refused(&edited(None, "/locum fix it"), "edits of issues start nothing");
    let review = |text: &str| {
        of("pull_request_review.submitted", comment)
            .with(|trigger| text.clone_into(&mut trigger.comment.as_mut().unwrap().body))
    };
    started(&review("Nearly.\n/locum ask why?"), TriggerKind::Comment, "ask");
    refused(&review("Nearly."), "triggers.comment.prefix");
}

#[test]
fn any_event_runs_the_task_of_the_workflow_under_the_rules_of_a_start_by_hand() {
    let payload = of("pull_request.opened", "").trigger;
    let any = |triggers: &str| {
        let mut fixture = of("pull_request.opened", triggers);
        fixture.trigger = Trigger { kind: EventKind::Other, ..payload.clone() };
        fixture
    };
    let by_hand = "dispatch: { tiers: maintainer }";
    assert_eq!(any(by_hand).decide().unwrap().facts.trigger, TriggerKind::Dispatch);
    refused(&any("comment: { tiers: maintainer }"), "(rule: triggers.dispatch.tiers)");
    // An event that the policy could have an entry for is no different where it has none.
    let with_task = RequestFixture { has_task: true, ..of("pull_request.opened", by_hand) };
    assert_eq!(with_task.decide().unwrap().facts.trigger, TriggerKind::Dispatch);
    refused(&of("pull_request.opened", by_hand), "such events start nothing here");
    let entry =
        format!("{by_hand}, pull_request: {{ tiers: maintainer, draft: true, on: labeled }}");
    refused(
        &RequestFixture { has_task: true, ..of("pull_request.opened", &entry) },
        "`on` does not name",
    );
    assert!(parse_other("watch", r#"{"action": "started"}"#).is_err());
}

#[test]
fn a_mode_that_the_policy_names_is_no_mistake_of_the_event() {
    let push = |mode: &str| {
        let entry = format!("push: {{ task: Look, tiers: maintainer, mode: {mode} }}");
        of("push.new-branch", &entry).with(|trigger| {
            trigger.head.as_mut().unwrap().branch = "master".to_owned();
        })
    };
    let why = "policy.yml:2:58: `triggers.push` names mode `coder`, which does not exist or is \
               not in `modes.allow`";
    assert_eq!(push("coder").decide().unwrap_err().why, why);
    started(&push("code"), TriggerKind::Push, "code");
}
