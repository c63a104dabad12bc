//! Claims of two machines on one remote, by a clock that the test moves.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use locum_testing::clock::TestClock;
use pretty_assertions::{assert_eq, assert_ne};

use super::listed::{ClaimList, ClaimUnread};
use super::record::{ClaimRecord, Claimant, LEASE_MINUTES};
use super::refs::ClaimRef;
use super::{Claim, ClaimAnswer, HoldClaim, ask, permit};
use crate::run::kept_file::{KeptAt, KeptFile};
use locum_base::clock::Clock;
use locum_forge::Forge;
use locum_forge::local::LocalForge;
use locum_policy::intent::Facts;
use locum_policy::{Permit, Policy};
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

const LEASE: Duration = Duration::from_secs(LEASE_MINUTES as u64 * 60);

/// A remote, and two machines with a repository each.
struct Machines {
    folder: tempfile::TempDir,
    remote: Remote,
    machines: [(Repo, GitBinary); 2],
    clock: TestClock,
}

impl Machines {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let place = folder.path().join(name);
            seed::repository(&place, &[("file", "x\n")], "first").unwrap();
            place
        };
        let path = "/usr/bin:/bin".to_owned();
        let machine = |place: &Path| {
            let repo = Repo::open(place).unwrap();
            let git = GitBinary::new(&repo, &[("PATH".to_owned(), path.clone())].into());
            (repo, git)
        };
        let remote = Remote::parse(at("remote").to_str().unwrap(), None).unwrap();
        let machines = [machine(&at("a")), machine(&at("b"))];
        let clock = TestClock::at("2026-01-02T03:04:05Z".parse().unwrap());
        Self { folder, remote, machines, clock }
    }

    fn at(&self, machine: usize) -> KeptAt<'_> {
        let (repo, git) = &self.machines[machine];
        KeptAt { git, remote: &self.remote, repo }
    }

    fn place(&self, machine: usize) -> ClaimRef<'_> {
        ClaimRef::of("issue-7", self.at(machine))
    }

    async fn ask(&self, machine: usize, id: &str) -> ClaimAnswer<'_> {
        self.ask_for(self.place(machine), id).await
    }

    async fn ask_for<'a>(&'a self, place: ClaimRef<'a>, id: &str) -> ClaimAnswer<'a> {
        // Nobody is there who knows how workflow runs ended.
        let forge = LocalForge::new("unused");
        let services = (&forge as &dyn Forge, &self.clock as &dyn Clock);
        ask(place, permitted(), claimant(id), services).await.unwrap()
    }

    async fn granted(&self, machine: usize, id: &str) -> Claim<'_> {
        match self.ask(machine, id).await {
            ClaimAnswer::Granted(claim) => *claim,
            ClaimAnswer::Busy(why) => panic!("{why}"),
        }
    }
}

fn claimant(id: &str) -> Claimant<'_> {
    Claimant { id, run: id, attempt: 1, url: "https://x", by: "alice", comment: "" }
}

fn permitted() -> Permit<HoldClaim> {
    let policy = "version: 1\npublish: { allow: [comment] }\n";
    permit(&Policy::parse(policy, "policy.yml").unwrap(), &Facts::default()).unwrap()
}

fn number(claim: &Claim<'_>) -> i64 {
    claim.held.as_ref().unwrap().record.number
}

#[tokio::test]
async fn one_has_it_until_it_gives_it_back() {
    let machines = Machines::new();
    let first = machines.granted(0, "a").await;
    let ClaimAnswer::Busy(why) = machines.ask(1, "b").await else { panic!("it is taken") };
    assert_eq!(
        why,
        "workflow run a (https://x) works here for alice since 2026-01-02 03:04 UTC; ask again \
         when it has ended, or after 2026-01-02 03:14 UTC if it was killed"
    );
    let number_of_first = number(&first);
    first.release().await;
    assert_eq!(machines.place(1).tip().await.unwrap(), None);
    machines.clock.advance(Duration::from_millis(1));
    assert!(number(&machines.granted(1, "b").await) > number_of_first);
}

#[tokio::test]
async fn a_claim_that_is_renewed_outlives_its_lease_and_one_that_is_not_does_not() {
    let machines = Machines::new();
    let mut first = machines.granted(0, "a").await;
    machines.clock.advance(LEASE - Duration::from_secs(1));
    first.confirm().await.unwrap();
    machines.clock.advance(LEASE - Duration::from_secs(1));
    assert!(matches!(machines.ask(1, "b").await, ClaimAnswer::Busy(_)));
    assert!(!first.lease.is_over());
    machines.clock.advance(Duration::from_secs(1));
    assert!(first.lease.is_over());
    let mut second = machines.granted(1, "b").await;
    assert!(number(&second) > number(&first));

    // The old one comes back: it has nothing to keep or to give back.
    let why = first.keep().await;
    assert!(why.contains("taken over by workflow run b"), "{why}");
    first.release().await;
    second.confirm().await.unwrap();
    second.release().await;
}

#[tokio::test]
async fn one_whose_successor_has_ended_too_has_lost_it() {
    let machines = Machines::new();
    let mut first = machines.granted(0, "a").await;
    machines.clock.advance(LEASE);
    machines.granted(1, "b").await.release().await;
    assert!(first.confirm().await.unwrap_err().contains("a run that has ended since"));
}

#[tokio::test]
async fn a_renewal_whose_answer_was_lost_is_no_loss() {
    let machines = Machines::new();
    let mut first = machines.granted(0, "a").await;
    let before = first.held.as_ref().unwrap().tip.clone();
    machines.clock.advance(Duration::from_secs(1));
    first.confirm().await.unwrap();
    let held = first.held.as_mut().unwrap();
    assert_ne!(held.tip, before);
    held.tip = before;
    machines.clock.advance(Duration::from_secs(1));
    first.confirm().await.unwrap();
    // The same where it is given back.
    let before = first.held.as_ref().unwrap().tip.clone();
    machines.clock.advance(Duration::from_secs(1));
    first.confirm().await.unwrap();
    first.held.as_mut().unwrap().tip = before;
    first.release().await;
    assert_eq!(machines.place(0).tip().await.unwrap(), None);
}

#[tokio::test]
async fn a_sweep_reads_claims_once_and_that_of_a_job_is_none_on_a_thread() {
    let machines = Machines::new();
    let first = machines.granted(0, "a").await;
    for subject in ["job-docs-12", "pr-8-check-12", "pr-13-check-a.b"] {
        let other = machines.ask_for(ClaimRef::of(subject, machines.at(0)), "b").await;
        assert!(matches!(other, ClaimAnswer::Granted(_)), "{subject}");
    }
    let (now, claims) = (machines.clock.now(), ClaimList::new(machines.at(1)));
    for (number, own, is_renewed) in [
        (7, "c", true),
        (7, "a", false),
        (12, "c", false),
        (8, "c", true),
        (8, "b", false),
        (13, "c", true),
        (1, "c", false),
        (3, "c", false),
    ] {
        let known = claims.is_renewed_on(number, (own, now)).await;
        assert_eq!(known, Ok(is_renewed), "{number} {own}");
    }
    assert_eq!(claims.is_renewed_on(7, ("c", now + LEASE)).await, Ok(false), "it is over");
    first.release().await;
    assert_eq!(claims.is_renewed_on(7, ("c", now)).await, Ok(true), "it is not read again");
    let later = ClaimList::new(machines.at(1));
    assert_eq!(later.is_renewed_on(7, ("c", now)).await, Ok(false));
}

#[tokio::test]
async fn a_claim_that_cannot_be_read_hides_nothing_on_other_threads() {
    let machines = Machines::new();
    let file = KeptFile {
        full_name: "",
        file: "other.json",
        limit_bytes: 1,
        once_deleted: "",
        at: machines.at(0),
    };
    let broken = file.write("{}", "no claim\n").unwrap();
    for subject in ["pr-8-check-vague", "issue-7"] {
        let place = ClaimRef::of(subject, machines.at(0));
        place.push(&permitted(), (None, Some(&broken))).await.unwrap();
    }
    let known = ClaimRef::of("pr-7-check-vague", machines.at(0));
    assert!(matches!(machines.ask_for(known, "b").await, ClaimAnswer::Granted(_)));
    let (now, claims) = (machines.clock.now(), ClaimList::new(machines.at(1)));
    for (number, is_renewed) in [(8, Err(ClaimUnread)), (7, Ok(true)), (9, Ok(false))] {
        assert_eq!(claims.is_renewed_on(number, ("c", now)).await, is_renewed, "{number}");
    }
    assert_eq!(claims.is_renewed_on(7, ("b", now)).await, Err(ClaimUnread));
}

#[tokio::test]
async fn a_sweep_asks_a_remote_once_that_cannot_be_reached() {
    let machines = Machines::new();
    let place = machines.folder.path().join("late");
    let remote = Remote::parse(place.to_str().unwrap(), None).unwrap();
    let at = KeptAt { remote: &remote, ..machines.at(1) };
    let (now, claims) = (machines.clock.now(), ClaimList::new(at));
    assert_eq!(claims.is_renewed_on(7, ("c", now)).await, Err(ClaimUnread));
    seed::repository(&place, &[("file", "x\n")], "first").unwrap();
    assert_eq!(claims.is_renewed_on(7, ("c", now)).await, Err(ClaimUnread));
    assert_eq!(claims.end_of_comment("x").await, Err(ClaimUnread));
    assert_eq!(ClaimList::new(at).is_renewed_on(7, ("c", now)).await, Ok(false));
}

#[test]
fn an_attempt_takes_over_from_the_one_before_it_and_from_no_other_run() {
    let now = Timestamp::UNIX_EPOCH;
    let record = ClaimRecord::new(claimant("a"), None, now);
    for (run, attempt, may) in [("a", 2, true), ("a", 1, false), ("b", 2, false), ("", 2, false)] {
        let who = Claimant { run, attempt, ..claimant("c") };
        assert_eq!(record.may_be_taken_over(who, now), may, "{run} {attempt}");
    }
    let unnamed = ClaimRecord::new(Claimant { run: "", ..claimant("a") }, None, now);
    assert!(!unnamed.may_be_taken_over(Claimant { run: "", attempt: 2, ..claimant("b") }, now));
}

#[test]
fn a_record_is_read_as_it_is_written_and_not_otherwise() {
    let record = ClaimRecord::new(claimant("a"), None, Timestamp::UNIX_EPOCH);
    let text = record.render().unwrap();
    assert_eq!(ClaimRecord::parse(&text), Ok(record));
    for broken in [
        text.replace("\"version\": 1", "\"version\": 2"),
        text.replace("\"version\": 1", "\"version\": 1, \"more\": 1"),
        String::new(),
    ] {
        assert!(ClaimRecord::parse(&broken).is_err(), "{broken}");
    }
}
