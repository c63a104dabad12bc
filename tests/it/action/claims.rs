//! Two runs on one issue, on machines that know nothing of each other: one works, the other one
//! stops; a dead one's claim is taken over when its lease is over, and only its holder publishes.

use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use locum::cli::local_run::open;
use locum::config::action_context::ActionContext;
use locum::config::action_inputs::ActionInputs;
use locum::config::environment::Environment;
use locum::run::action::{self, ActionEnd, ActionEnv, FinishedRun};
use locum::run::publish::PublishResult;
use locum_agent::session::outcome::OutcomeWord;
use locum_base::secret::Secret;
use locum_forge::github::GitHub;
use locum_testing::clock::TestClock;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;
use pretty_assertions::{assert_eq, assert_ne};
use rustix::process::{Pid, Signal, kill_process};

use crate::action::again::forget_times;
use crate::action::fixture::{ActionFixture, Ask, payload};
use crate::support::stage::Ran;

const BRANCH: &str = "locum/issue-7-greeting-is-missing 1";
/// Asked for when a run has its claim and nothing is published yet.
const AT_START: &str = "GET /repos/acme/app/issues/7/comments?per_page";
/// Asked for when a run has done its work and is about to publish.
const AT_END: &str = "GET /repos/acme/app/pulls?state=closed";

fn first() -> Ask<'static> {
    Ask::comment("/locum code say hello")
}

/// Another comment, and the workflow run that it starts.
fn second() -> Ask<'static> {
    Ask { ids: (56, 4343), ..Ask::comment("/locum code say another") }
}

pub(crate) fn claims(fixture: &ActionFixture) -> String {
    fixture.remote(&["for-each-ref", "--format=%(refname)", "refs/locum/claims"])
}

/// A clock that stands so many minutes from now until it is moved.
pub(crate) fn clock_in(minutes: i64) -> TestClock {
    let now = Timestamp::now() + SignedDuration::from_mins(minutes);
    TestClock::at(now).sleeping_at_most(Duration::ZERO)
}

/// Runs the Action's step in this process, by a clock of the test.
pub(crate) async fn act(
    fixture: &ActionFixture,
    place: &str,
    ask: &Ask<'_>,
    clock: &TestClock,
    cancelled: fn() -> BoxFuture<'static, ()>,
) -> ActionEnd {
    act_watched(fixture, (place, ask), clock, cancelled, &mut || {}).await
}

/// The same; what happens is watched line by line of the journal.
pub(crate) async fn act_watched(
    fixture: &ActionFixture,
    (place, ask): (&str, &Ask<'_>),
    clock: &TestClock,
    cancelled: fn() -> BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(),
) -> ActionEnd {
    fixture.clone_to(place);
    let (event, payload) = payload(ask);
    let mut pairs = fixture.variables(place, event);
    let own = [
        ("GITHUB_RUN_ID", ask.ids.1.to_string()),
        ("PATH", std::env::var("PATH").unwrap()),
        ("HOME", fixture.stage.path("home").display().to_string()),
        ("XDG_STATE_HOME", fixture.stage.path(&format!("{place}state")).display().to_string()),
    ];
    pairs.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let environment = Environment::from_pairs(pairs);
    let workspace = open(&fixture.stage.path(&format!("{place}checkout"))).unwrap();
    let token = || Some(Secret::new("fixture-token-1234567890"));
    // Writes that are repeated wait by it: they wait no time.
    let clock_of_forge = std::sync::Arc::new(TestClock::at(Timestamp::now()));
    let remote = format!("file://{}", fixture.stage.path("remotes/acme/app.git").display());
    let env = ActionEnv {
        job: &ActionContext::from_environment(&environment).unwrap(),
        inputs: &ActionInputs::read(&environment).unwrap(),
        environment: &environment,
        payload: &payload.to_string(),
        workspace: &workspace,
        forge: &GitHub::new(&fixture.server.url, "acme/app", token(), clock_of_forge).unwrap(),
        remote: &Remote::parse(&remote, None).unwrap(),
        git: &GitBinary::new(&workspace.repo, environment.variables()),
        mistakes: None,
        clock,
    };
    action::run(&env, cancelled, &mut |_, _| watch()).await.unwrap().pop().unwrap()
}

pub(crate) fn never() -> BoxFuture<'static, ()> {
    std::future::pending().boxed()
}

fn ran(end: ActionEnd) -> FinishedRun {
    match end {
        ActionEnd::Ran(ran) => *ran,
        ActionEnd::Skipped(why) | ActionEnd::Answered { what: why, .. } => panic!("{why}"),
        ActionEnd::Planned(plan) => panic!("{plan}"),
        ActionEnd::Checked(check) => panic!("{}", check.title),
        ActionEnd::Unusable(mistakes) => panic!("{mistakes}"),
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

#[test]
fn of_two_runs_at_once_one_works_and_the_other_one_says_who_does() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_START);
    let mut child = fixture.elsewhere("a-", &first());
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait();
    assert_eq!(claims(&fixture).trim(), "refs/locum/claims/issue-7");
    let stopped = fixture.fresh(&second());
    assert_eq!((stopped.code, stopped.output("outcome")), (Some(0), "skipped"), "{stopped:?}");
    let told = fixture.server.comments(7);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("workflow run 4242"), "{}", told[0]);
    assert!(told[0].contains("works here for alice since"), "{}", told[0]);
    gate.open();
    let worked = fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()));
    assert_eq!((worked.code, worked.output("outcome")), (Some(0), "done"), "{worked:?}");
    assert_eq!((fixture.branches(), claims(&fixture)), (vec![BRANCH.to_owned()], String::new()));
    assert_eq!(fixture.server.pulls().len(), 1);
}

#[test]
fn the_claim_of_a_killed_run_holds_for_its_lease_and_then_goes_to_the_next() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_END);
    let mut command = fixture.elsewhere("a-", &first());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(fixture.server.comments(7)[0].contains("locum: working"));

    let early = fixture.fresh(&second());
    assert_eq!(early.output("outcome"), "skipped", "{early:?}");
    let end = block_on(act(&fixture, "b-", &second(), &clock_in(9), never));
    assert!(matches!(end, ActionEnd::Answered { refused: true, .. }));
    let end = ran(block_on(act(&fixture, "c-", &second(), &clock_in(11), never)));
    assert_eq!(end.outcome.word, OutcomeWord::Done);
    assert_eq!((fixture.branches(), claims(&fixture)), (vec![BRANCH.to_owned()], String::new()));
    let comments = fixture.server.comments(7);
    assert!(comments[0].contains("ended without a result"), "{}", comments[0]);
}

#[test]
fn the_claim_of_a_run_that_github_says_has_ended_goes_to_the_next_at_once() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_END);
    let mut command = fixture.elsewhere("a-", &first());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.server.add_run(4242, None);
    assert_eq!(fixture.fresh(&second()).output("outcome"), "skipped", "it is still at work");
    fixture.server.add_run(4242, Some("cancelled"));
    let next = fixture.fresh(&Ask { ids: (57, 4344), ..second() });
    assert_eq!(next.output("outcome"), "done", "{next:?}");
    assert_eq!((fixture.server.pulls().len(), claims(&fixture)), (1, String::new()));
}

#[test]
fn a_cancel_before_the_session_begins_is_reported_and_leaves_no_claim() {
    for signal in [Signal::INT, Signal::TERM] {
        let fixture = ActionFixture::new();
        let gate = fixture.server.close_gate(AT_START);
        let mut command = fixture.elsewhere("a-", &first());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        gate.wait();
        assert_ne!(claims(&fixture), "");
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
        gate.open();
        let step = fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()));
        assert_eq!((step.code, step.output("outcome")), (Some(130), "cancelled"), "{step:?}");
        let comments = fixture.server.comments(7);
        assert!(comments[0].contains("locum: cancelled"), "{comments:#?}");
        assert_eq!((claims(&fixture), fixture.server.pulls().len()), (String::new(), 0));
    }
}

#[test]
fn a_cancel_while_publishing_says_what_is_there_and_the_next_attempt_publishes_once() {
    for (gate, branches, said) in
        [(AT_END, 0, "Diff: 1 file"), ("POST /repos/acme/app/pulls", 1, "Commit ")]
    {
        let fixture = ActionFixture::new();
        let gate = fixture.server.close_gate(gate);
        let mut command = fixture.elsewhere("a-", &first());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        gate.wait();
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(process, Signal::INT).unwrap();
        // What it waits for never comes.
        let step = fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()));
        assert_eq!((step.code, step.output("outcome")), (Some(130), "cancelled"), "{step:?}");
        let comments = fixture.server.comments(7);
        assert!(comments[0].contains("locum: cancelled"), "{comments:#?}");
        assert!(comments[0].contains("while its result was being published"), "{comments:#?}");
        assert!(comments[0].contains(said), "{comments:#?}");
        assert_eq!((claims(&fixture), fixture.branches().len()), (String::new(), branches));
        let again = fixture.fresh(&Ask { inputs: &[("GITHUB_RUN_ATTEMPT", "2")], ..first() });
        assert_eq!((again.code, again.output("outcome")), (Some(0), "done"), "{again:?}");
        let reactions = fixture.server.reactions();
        let reactions: Vec<_> = reactions.iter().map(|one| &one["content"]).collect();
        assert_eq!(reactions, ["rocket"], "what the first attempt said is taken back");
        let (comments, pulls) = (fixture.server.comments(7), fixture.server.pulls());
        assert_eq!((comments.len(), pulls.len()), (1, 1), "{comments:#?}");
        assert_eq!(
            (fixture.branches(), claims(&fixture)),
            (vec![BRANCH.to_owned()], String::new())
        );
    }
}

#[test]
fn the_next_attempt_of_a_killed_workflow_run_goes_on_at_once() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_END);
    let mut command = fixture.elsewhere("a-", &first());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    child.kill().unwrap();
    child.wait().unwrap();
    let again = fixture.fresh(&Ask { inputs: &[("GITHUB_RUN_ATTEMPT", "2")], ..first() });
    assert_eq!(again.output("outcome"), "done", "{again:?}");
    assert_eq!((fixture.server.comments(7).len(), fixture.server.pulls().len()), (1, 1));
    assert_eq!(claims(&fixture), "");
}

#[test]
fn a_run_that_comes_back_after_its_lease_publishes_nothing() {
    for gate in [AT_START, AT_END] {
        let fixture = ActionFixture::new();
        let gate = fixture.server.close_gate(gate);
        let clock = clock_in(0);
        block_on(async {
            let old = first();
            let old = act(&fixture, "a-", &old, &clock, never);
            tokio::pin!(old);
            let reached = tokio::task::spawn_blocking(move || {
                gate.wait();
                gate
            });
            let gate = tokio::select! {
                _ = &mut old => panic!("it waits"),
                gate = reached => gate.unwrap(),
            };
            clock.advance(Duration::from_secs(11 * 60));
            let new = ran(act(&fixture, "b-", &second(), &clock, never).await);
            assert!(matches!(new.publication.result, PublishResult::PullRequest { .. }));
            let (pulls, comments) = (fixture.server.pulls(), fixture.server.comments(7));
            let branches = fixture.remote(&["for-each-ref"]);
            gate.open();
            let old = ran(old.await);
            let said = format!("{:?} {:?}", old.outcome.reason, old.publication);
            assert!(said.contains("claim on this work"), "{said}");
            assert_eq!(old.publication.receipts, []);
            assert_eq!(fixture.server.pulls(), pulls);
            assert_eq!(fixture.server.comments(7), comments);
            assert_eq!(fixture.remote(&["for-each-ref"]), branches);
        });
    }
}

#[test]
fn a_cancelled_run_gives_its_claim_back() {
    let fixture = ActionFixture::new();
    let now = || std::future::ready(()).boxed();
    let end = ran(block_on(act(&fixture, "a-", &first(), &clock_in(0), now)));
    assert_eq!((end.outcome.word, claims(&fixture).as_str()), (OutcomeWord::Cancelled, ""));
    assert!(fixture.server.comments(7)[0].contains("locum: cancelled"));
}

#[test]
fn a_claim_that_nobody_came_for_is_removed_by_any_later_run() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_END);
    let mut command = fixture.elsewhere("a-", &first());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    child.kill().unwrap();
    child.wait().unwrap();
    for (place, minutes, left) in [("b-", 60, "refs/locum/claims/issue-7\n"), ("c-", 75, "")] {
        let ask = Ask { number: 9, ids: (57, 4444), ..first() };
        block_on(act(&fixture, place, &ask, &clock_in(minutes), never));
        assert_eq!(claims(&fixture), left);
    }
}

#[test]
fn a_job_that_runs_elsewhere_is_left_out() {
    let fixture = ActionFixture::new();
    let gate = fixture.server.close_gate(AT_END);
    let ask = || Ask { event: "schedule", ids: (0, 1), ..Ask::comment("") };
    let mut child = fixture.elsewhere("a-", &ask());
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait();
    // Its next time comes while it is at work.
    forget_times(&fixture);
    let step = fixture.fresh(&Ask { ids: (0, 2), ..ask() });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(step.output("final-message").contains("workflow run 1"), "{step:?}");
    gate.open();
    let worked = fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()));
    assert_eq!(worked.output("outcome"), "done", "{worked:?}");
    assert_eq!(claims(&fixture), "");
}

#[test]
fn where_the_job_may_not_write_refs_the_summary_says_what_keeps_runs_apart() {
    let fixture = ActionFixture::new();
    fixture.refuse_claims();
    let step = fixture.fresh(&first());
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!((fixture.branches().len(), fixture.server.pulls().len()), (1, 1));
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("may not write refs"), "{summary}");
    assert!(summary.contains("`concurrency`"), "{summary}");
}
