//! Many runs at once on a few issues: some are killed, some replies are lost, leases run out. In the
//! end each issue has one branch and one pull request, and no claim is left.

use std::time::Duration;

use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;

use crate::action::claims::{act, act_watched, block_on, claims, clock_in, never};
use crate::action::fixture::{ActionFixture, Ask};
use crate::support::github::Fault;

const ISSUES: [u64; 3] = [7, 9, 10];
const WORKERS: u64 = 4;
const RUNS_EACH: u64 = 5;
const LEASE: Duration = Duration::from_secs(10 * 60);

/// The comment of a run: two on each issue, each delivered again and again.
fn ask(issue: u64, which: u64) -> Ask<'static> {
    let words = ["/locum code say hello", "/locum code say another"];
    let id = issue * 100 + which;
    Ask { number: issue, ids: (id, id + 4000), ..Ask::comment(words[usize::from(which == 1)]) }
}

/// One run; a third of them are killed at some line of their journal.
async fn run(fixture: &ActionFixture, clock: &TestClock, worker: u64, turn: u64) {
    let issue = ISSUES[usize::try_from(turn * 7 + worker * 2).unwrap() % ISSUES.len()];
    let (place, ask) = (format!("w{worker}-{turn}-"), ask(issue, turn % 2));
    let dies_at = (turn + worker).is_multiple_of(3).then_some(1 + (turn * 5 + worker) % 9);
    let (kill, killed) = tokio::sync::oneshot::channel();
    let (mut kill, mut lines) = (Some(kill), 0);
    let mut watch = || {
        lines += 1;
        if Some(lines) == dies_at {
            kill.take().map(|kill| kill.send(()));
        }
    };
    let acts = act_watched(fixture, (&place, &ask), clock, never, &mut watch);
    tokio::select! {
        biased;
        Ok(()) = killed => {}
        _ = acts => {}
    }
}

#[test]
fn whatever_happens_each_issue_has_one_pull_request_and_no_claim_is_left() {
    let fixture = ActionFixture::new();
    let clock = clock_in(0);
    for path in ["pulls", "issues/7/comments", "issues/9/comments"] {
        let lost = Fault::status(&format!("POST /repos/acme/app/{path}"), 502, "lost").performed();
        fixture.server.fail(lost);
    }
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (fixture, clock) = (&fixture, &clock);
            scope.spawn(move || {
                for turn in 0..RUNS_EACH {
                    block_on(run(fixture, clock, worker, turn));
                    // Now and then every lease runs out, also of those who are at work.
                    if worker == 0 && turn % 2 == 0 {
                        clock.advance(LEASE);
                    }
                }
            });
        }
    });
    // What a maintainer does then: runs what failed again.
    clock.advance(LEASE);
    for issue in ISSUES {
        block_on(act(&fixture, &format!("last-{issue}-"), &ask(issue, 0), &clock, never));
    }
    let branches: Vec<String> =
        fixture.branches().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let mut expected = ISSUES.map(|issue| format!("locum/issue-{issue}-greeting-is-missing"));
    expected.sort_unstable();
    assert_eq!(branches, expected);
    let mut heads: Vec<String> = fixture
        .server
        .pulls()
        .iter()
        .map(|pull| pull["head"]["ref"].as_str().unwrap().to_owned())
        .collect();
    heads.sort_unstable();
    assert_eq!(heads, expected);
    assert_eq!(claims(&fixture), "");
    for issue in ISSUES {
        let comments = fixture.server.comments(issue);
        let runs = comments.iter().filter(|body| body.contains("kind=progress"));
        assert!(runs.count() <= 2, "one comment for each command: {comments:#?}");
    }
}
