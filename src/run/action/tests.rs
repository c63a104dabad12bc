//! One event reads each file of the trusted commit once, however much it starts.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use futures::FutureExt;
use locum_testing::clock::TestClock;
use pretty_assertions::assert_eq;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Metadata, Subscriber};

use super::{ActionEnd, ActionEnv, run};
use crate::config::action_context::ActionContext;
use crate::config::action_inputs::ActionInputs;
use crate::config::environment::Environment;
use crate::run::trusted::{CONFIG_FILE, POLICY_FILE};
use locum_forge::local::LocalForge;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

const POLICY: &str = "version: 1\ntriggers:\n  comment: { prefix: /locum, tiers: [maintainer] }\n  \
                      schedule: { jobs: [one, two] }\nmodes: { default: code, allow: [code] }\n\
                      rules:\n  - allow: ['read(**)']\n";
const CONFIG: &str =
    "models: { profiles: { fixed: { provider: scripted, model: .locum/s.yml } } }\n";
const SCRIPT: &str = "version: 1\ntasks: [{ contains: a, turns: [{ calls: [{ tool: \
                      attempt_completion, args: { result: Done. } }] }] }]\n";
const JOB: &str = "version: 1\nschedule: '*/5 * * * *'\ntask: Look around.\n";
const FILES: [(&str, &str); 8] = [
    (POLICY_FILE, POLICY),
    (CONFIG_FILE, CONFIG),
    (".locum/s.yml", SCRIPT),
    (".locum/jobs/one.yml", JOB),
    (".locum/jobs/two.yml", JOB),
    (".roomodes", "customModes: []\n"),
    (".roo/commands/fix.md", "Fix $1."),
    (".rooignore", "secrets/\n"),
];

const NOW: &str = "2026-01-02T03:04:05Z";

/// Sends the path of every file that is read.
struct ReadObserver(Sender<String>);

impl Subscriber for ReadObserver {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "locum::run::source"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut path = PathField(None);
        event.record(&mut path);
        self.0.send(path.0.unwrap()).unwrap();
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct PathField(Option<String>);

impl Visit for PathField {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "path" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}

fn comment(body: &str) -> serde_json::Value {
    json!({
        "action": "created",
        "issue": { "number": 7, "title": "A test fails", "body": null, "state": "open",
                   "locked": false, "user": { "login": "carol" } },
        "comment": { "id": 11, "body": body, "html_url": "x",
                     "created_at": NOW, "author_association": "MEMBER" },
        "repository": { "full_name": "acme/app", "default_branch": "main", "private": false },
        "sender": { "login": "alice", "type": "User" },
    })
}

/// Runs an event dry; returns how many runs it would start, and how often each file was read.
fn dry_run(event_name: &str, payload: &serde_json::Value) -> (usize, BTreeMap<String, usize>) {
    let folder = tempfile::tempdir().unwrap();
    let (checkout, postings) = (folder.path().join("checkout"), folder.path().join("postings"));
    let commit = seed::repository(&checkout, &FILES, "first").unwrap();
    let pairs = [
        ("GITHUB_EVENT_NAME", event_name),
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_REPOSITORY", "acme/app"),
        ("GITHUB_SHA", &commit.0),
        ("GITHUB_REF", "refs/heads/main"),
        ("GITHUB_WORKSPACE", "."),
        ("INPUT_DRY_RUN", "true"),
    ];
    let environment = Environment::from_pairs(pairs);
    let workspace = Workspace {
        checkout: Checkout::open(&checkout).unwrap(),
        repo: Repo::open(&checkout).unwrap(),
    };
    let env = ActionEnv {
        job: &ActionContext::from_environment(&environment).unwrap(),
        inputs: &ActionInputs::read(&environment).unwrap(),
        mistakes: None,
        environment: &environment,
        payload: &payload.to_string(),
        workspace: &workspace,
        forge: &LocalForge::new(&postings),
        remote: &Remote::parse(checkout.to_str().unwrap(), None).unwrap(),
        git: &GitBinary::new(&workspace.repo, environment.variables()),
        clock: &TestClock::at(NOW.parse().unwrap()).sleeping_at_most(Duration::ZERO),
    };
    let (sender, receiver) = channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // NOTE: with a single subscriber alive, tracing asks the thread that meets a log line first who
    // listens; a test on another thread would answer for this one, with nobody.
    let _second = Dispatch::new(NoSubscriber::default());
    let ends = tracing::subscriber::with_default(ReadObserver(sender), || {
        let cancelled = || std::future::pending().boxed();
        runtime.block_on(run(&env, cancelled, &mut |_, _| {})).unwrap()
    });
    let is_planned = |end: &ActionEnd| matches!(end, ActionEnd::Planned(_));
    let mut reads = BTreeMap::new();
    for path in receiver {
        *reads.entry(path).or_insert(0) += 1;
    }
    (ends.iter().filter(|end| is_planned(end)).count(), reads)
}

fn assert_each_once(reads: &BTreeMap<String, usize>, expected: &[&str]) {
    let counted: BTreeMap<&str, usize> = expected
        .iter()
        .map(|path| (*path, reads.get(*path).copied().unwrap_or_default()))
        .collect();
    assert_eq!(counted, expected.iter().map(|path| (*path, 1)).collect());
}

#[test]
fn comment_reads_each_file_of_the_trusted_commit_once() {
    let (runs, reads) = dry_run("issue_comment", &comment("/locum /fix it"));
    assert_eq!(runs, 1);
    let files = [POLICY_FILE, CONFIG_FILE, ".roomodes", ".roo/commands/fix.md", ".rooignore"];
    assert_each_once(&reads, &files);
}

#[test]
fn schedule_reads_each_file_once_for_all_its_jobs() {
    let (runs, reads) = dry_run("schedule", &json!({ "schedule": "*/5 * * * *" }));
    assert_eq!(runs, 2);
    let files =
        [POLICY_FILE, CONFIG_FILE, ".roomodes", ".locum/jobs/one.yml", ".locum/jobs/two.yml"];
    assert_each_once(&reads, &files);
}
