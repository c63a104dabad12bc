//! Many runs on a few issues, eight at a time: a third is killed, a tenth of all answers is lost,
//! leases run out. In the end each issue has one branch and one pull request, no claim is left, and
//! whoever lost a claim published nothing.

use std::ops::Range;
use std::time::Duration;

use locum::run::action::{ActionEnd, FinishedRun};
use locum_agent::session::outcome::OutcomeWord;
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;

use crate::action::claims::{act, act_watched, block_on, claims, clock_in, never};
use crate::action::fixture::{ActionFixture, Ask};

const WORKERS: u64 = 8;
/// Every tenth answer does not arrive.
const LOST: usize = 10;
const LEASE: Duration = Duration::from_secs(10 * 60);

/// The comment of a run: two on each issue, each delivered again and again.
fn ask(issue: u64, which: u64) -> Ask<'static> {
    let words = ["/locum code say hello", "/locum code say another"];
    let id = issue * 100 + which;
    Ask { number: issue, ids: (id, id + 4000), ..Ask::comment(words[usize::from(which == 1)]) }
}

/// One run on an issue; a third of them are killed at some line of their journal.
async fn run(fixture: &ActionFixture, clock: &TestClock, (worker, turn): (u64, u64), issue: u64) {
    let (place, ask) = (format!("w{worker}-{turn}-"), ask(issue, (turn + worker) % 2));
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
        end = acts => if let ActionEnd::Ran(ran) = end {
            let FinishedRun { outcome, publication, .. } = *ran;
            if outcome.word == OutcomeWord::Cancelled {
                assert_eq!(publication.receipts, [], "{:?}", outcome.reason);
            }
        }
    }
    let _ = std::fs::remove_dir_all(fixture.stage.path(&format!("{place}checkout")));
}

#[test]
fn whatever_happens_each_issue_has_one_pull_request_and_no_claim_is_left() {
    whatever_happens(20..26, 7);
}

#[test]
#[ignore = "takes minutes: three times as many runs"]
fn whatever_happens_to_200_runs_each_issue_has_one_pull_request() {
    whatever_happens(20..40, 25);
}

fn whatever_happens(issues: Range<u64>, runs_each: u64) {
    let fixture = ActionFixture::new();
    let clock = clock_in(0);
    fixture.server.lose_every(LOST);
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (fixture, clock, issues) = (&fixture, &clock, issues.clone());
            scope.spawn(move || {
                for turn in 0..runs_each {
                    // Two workers at a time are at the same issue.
                    let nth = (turn * 7 + worker / 2 * 5) % (issues.end - issues.start);
                    block_on(run(fixture, clock, (worker, turn), issues.start + nth));
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
    for issue in issues.clone() {
        block_on(act(&fixture, &format!("last-{issue}-"), &ask(issue, 0), &clock, never));
    }
    let branches: Vec<String> =
        fixture.branches().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let name = |issue| format!("locum/issue-{issue}-greeting-is-missing");
    let mut expected: Vec<String> = issues.clone().map(name).collect();
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
    for issue in issues {
        let comments = fixture.server.comments(issue);
        let runs = comments.iter().filter(|body| body.contains("kind=progress"));
        assert!(runs.count() <= 2, "one comment for each command: {comments:#?}");
    }
}
