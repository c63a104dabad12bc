//! git against a server that fails now and then: what it tries again, and what it looks up first.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
#![expect(clippy::disallowed_types, reason = "the server answers through `git http-backend`")]

use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Response, Uri};
use pretty_assertions::assert_eq;

use crate::fixture::{RepoFixture, paths};
use crate::git_binary::{FetchDepth, GitBinary};
use crate::remote::Remote;
use crate::repo::{CommitId, NewCommit, RepoError};
use locum_base::clock::Clock;
use locum_base::retry::RetryBudget;
use locum_testing::clock::TestClock;

/// What the server does to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It answers with this status and does nothing.
    Status(u16),
    /// It does what is asked, and the answer is lost in a gateway.
    Lost,
}

type Faults = Arc<Mutex<VecDeque<(&'static str, Fault)>>>;

struct FlakyRemote {
    fixture: RepoFixture,
    theirs: git2::Repository,
    remote: Remote,
    faults: Faults,
    clock: Arc<TestClock>,
    git: GitBinary,
}

impl FlakyRemote {
    async fn start() -> Self {
        let fixture = RepoFixture::new();
        let root = fixture.root.parent().unwrap().join("served");
        let theirs = git2::Repository::init_bare(root.join("a.git")).unwrap();
        let faults = Faults::default();
        let queue = Arc::clone(&faults);
        let answer = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let asked = format!("{method} {uri}");
            let fault = {
                let mut queue = queue.lock().unwrap();
                let next = queue.front().is_some_and(|(to, _)| asked.contains(to));
                next.then(|| queue.pop_front()).flatten().map(|(_, fault)| fault)
            };
            let root = root.clone();
            async move { respond(fault, &root, (&method, &uri, &headers), &body) }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/a.git", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        let clock = Arc::new(TestClock::default());
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]);
        let git = GitBinary::new(&fixture.repo, &env)
            .patient(clock.clone(), Arc::new(RetryBudget::default()));
        let remote = Remote::parse(&url, None).unwrap();
        Self { fixture, theirs, remote, faults, clock, git }
    }

    fn fail(&self, faults: &[(&'static str, Fault)]) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// Seconds that were slept so far: 1 for one repeat, 3 for two, 31 for all five.
    fn slept_s(&self) -> u64 {
        self.clock.elapsed().as_secs()
    }

    fn commit(&self, parent: &CommitId, content: &str) -> CommitId {
        std::fs::write(self.fixture.repo.root().join("new"), content).unwrap();
        let (touched, author) = (paths(&["new"]), ("a", "a@example.org"));
        let new = NewCommit { parent, touched: &touched, message: content, author };
        self.fixture.repo.commit(&new).unwrap()
    }

    /// The commit of a ref at the remote; empty without it.
    fn tip(&self, name: &str) -> String {
        self.theirs.refname_to_id(name).map_or_else(|_| String::new(), |id| id.to_string())
    }

    /// Moves a private ref, as claims are moved.
    async fn claim(&self, moves: (Option<&CommitId>, Option<&CommitId>)) -> Result<(), RepoError> {
        self.git.move_ref(&self.remote, "refs/locum/claims/issue-7", moves).await
    }
}

fn respond(
    fault: Option<Fault>,
    root: &Path,
    (method, uri, headers): (&Method, &Uri, &HeaderMap),
    body: &[u8],
) -> Response<Body> {
    let status = |code: u16| Response::builder().status(code).body(Body::empty()).unwrap();
    if let Some(Fault::Status(code)) = fault {
        return status(code);
    }
    let header = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", PathBuf::from(root))
        .envs([("GIT_HTTP_EXPORT_ALL", "1"), ("REMOTE_USER", "x")])
        .env("PATH_INFO", uri.path())
        .env("QUERY_STRING", uri.query().unwrap_or_default())
        .env("REQUEST_METHOD", method.as_str())
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    backend.stdin.take().unwrap().write_all(body).unwrap();
    let answer = backend.wait_with_output().unwrap().stdout;
    if fault == Some(Fault::Lost) {
        return status(502);
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let mut response = Response::builder();
    for line in String::from_utf8_lossy(&answer[..end]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(value[..3].parse::<u16>().unwrap()),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(answer[end + 4..].to_vec())).unwrap()
}

#[tokio::test]
async fn a_fetch_and_a_push_survive_a_server_that_is_busy() {
    let flaky = FlakyRemote::start().await;
    let first = flaky.commit(&flaky.fixture.base, "1");
    let to = "service=git-receive-pack";
    flaky.fail(&[(to, Fault::Status(503)), (to, Fault::Status(502))]);
    flaky.git.push_permitted(&flaky.remote, "x", (None, &first)).await.unwrap();
    assert_eq!((flaky.tip("refs/heads/x"), flaky.slept_s()), (first.0.clone(), 3));
    flaky.fail(&[
        ("POST /a.git/git-upload-pack", Fault::Status(503)),
        ("info/refs", Fault::Status(429)),
    ]);
    let refspec = "+refs/heads/x:refs/locum/fetched";
    flaky.git.fetch(&flaky.remote, refspec, FetchDepth::Full).await.unwrap();
    assert_eq!(flaky.slept_s(), 3 + 3);
    let tip = flaky.git.branch_tip(&flaky.remote, "x").await.unwrap();
    assert_eq!((tip, flaky.slept_s()), (Some(first), 3 + 3));
}

#[tokio::test]
async fn a_push_whose_answer_was_lost_is_looked_up_and_not_repeated() {
    let flaky = FlakyRemote::start().await;
    let first = flaky.commit(&flaky.fixture.base, "1");
    let lost = ("POST /a.git/git-receive-pack", Fault::Lost);
    // A claim is taken once: repeating it blindly would be refused, and the run without its claim.
    flaky.fail(&[lost]);
    flaky.claim((None, Some(&first))).await.unwrap();
    assert_eq!(flaky.tip("refs/locum/claims/issue-7"), first.0);
    assert_eq!(flaky.slept_s(), 1);
    // The look-up fails as well, and the repeated push is refused: it is ours all the same.
    let second = flaky.commit(&first, "2");
    flaky.fail(&[lost, ("info/refs?service=git-upload-pack", Fault::Status(503))]);
    flaky.claim((Some(&first), Some(&second))).await.unwrap();
    assert_eq!(flaky.tip("refs/locum/claims/issue-7"), second.0);
    // So is one that is given back.
    flaky.fail(&[lost]);
    flaky.claim((Some(&second), None)).await.unwrap();
    assert_eq!(flaky.tip("refs/locum/claims/issue-7"), "");
}

#[tokio::test]
async fn what_somebody_else_pushed_meanwhile_is_still_a_refusal() {
    let flaky = FlakyRemote::start().await;
    let (ours, theirs) =
        (flaky.commit(&flaky.fixture.base, "1"), flaky.commit(&flaky.fixture.base, "2"));
    flaky.git.push_permitted(&flaky.remote, "x", (None, &theirs)).await.unwrap();
    for faults in [&[][..], &[("info/refs", Fault::Status(503))]] {
        flaky.fail(faults);
        let refused =
            flaky.git.push_permitted(&flaky.remote, "x", (None, &ours)).await.unwrap_err();
        assert!(matches!(refused, RepoError::PushRefused(_)), "{refused:?}");
        assert_eq!(flaky.slept_s(), faults.len() as u64);
    }
    assert_eq!(flaky.tip("refs/heads/x"), theirs.0);
}

#[tokio::test]
async fn a_refusal_and_a_server_that_stays_away_end_within_the_budget() {
    let flaky = FlakyRemote::start().await;
    let first = flaky.commit(&flaky.fixture.base, "1");
    flaky.fail(&[("info/refs", Fault::Status(404))]);
    let missing = flaky.git.fetch(&flaky.remote, "main", FetchDepth::Full).await.unwrap_err();
    assert_eq!(flaky.slept_s(), 0, "{missing}");
    flaky.fail(&[("info/refs", Fault::Status(503)); 40]);
    let error = flaky.git.push_permitted(&flaky.remote, "x", (None, &first)).await.unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(flaky.slept_s(), 31);
    assert_eq!(flaky.tip("refs/heads/x"), "");
}
