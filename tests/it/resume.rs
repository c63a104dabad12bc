//! Runs of the binary that are killed by the system while they write any line of their journal, and
//! resumed.
//!
//! The kill comes from a limit on the size of files (`prlimit`): the process dies in the middle of
//! a line, after the effect the line tells of. `tests/it/session/resume.rs` has the other kill,
//! right after a line and before the effect it announces.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_agent::session::tool_counts::ToolCounts;
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;

const SIGXFSZ: i32 = 25;

const POLICY: &str = r#"
version: 1
modes: { default: orchestrator, allow: [orchestrator, code] }
rules:
  - allow: ["read(**)"]
  - allow: ["edit(src/**)", "command(./step.sh)"]
    modes: [code]
"#;

const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Write." } }]
      - calls: [{ tool: attempt_completion, args: { result: "all done" } }]
  - mode: code
    turns:
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\ntwo\n=======\ntwo\ntwo\n>>>>>>> REPLACE\n" } }]
      - calls:
          - { tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }
          - { tool: write_to_file, args: { path: README.md, content: "no" } }
          - { tool: execute_command, args: { command: "./step.sh" } }
      - calls: [{ tool: apply_diff, args: { path: src/b.txt, diff: "<<<<<<< SEARCH\nb\n=======\nb\nb\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
"#;

/// A checkout, the run's own files, and the folder of its sessions.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with(POLICY, SCRIPT)
    }

    fn with(policy: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkout");
        for (path, text) in [
            ("src/a.txt", "one\ntwo\nthree\n"),
            ("README.md", "# It\n"),
            ("step.sh", "#!/bin/sh\necho stepped >> src/steps.txt\n"),
        ] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        std::fs::set_permissions(root.join("step.sh"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        commit_all(&init(&root), "first");
        std::fs::write(folder.path().join("policy.yml"), policy).unwrap();
        std::fs::write(folder.path().join("script.yml"), script).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary behind `wrapper`, with no environment but a home and a path.
    fn locum(&self, wrapper: &[String], arguments: &[&str]) -> ExitStatus {
        let binary = env!("CARGO_BIN_EXE_locum").to_owned();
        let words: Vec<&String> = wrapper.iter().chain([&binary]).collect();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(arguments)
            .args(["--session-dir", self.path("sessions").to_str().unwrap()]);
        command.args(["--repo", self.path("checkout").to_str().unwrap()]);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder.path());
        command.output().unwrap().status
    }

    fn run(&self, wrapper: &[String]) -> ExitStatus {
        let (policy, script) = (self.path("policy.yml"), self.path("script.yml"));
        let files = ["--policy", policy.to_str().unwrap(), "--script", script.to_str().unwrap()];
        self.locum(
            wrapper,
            &[["run", "Do the thing.", "--quiet", "--publish", "none"].as_slice(), &files].concat(),
        )
    }

    fn resume(&self) -> ExitStatus {
        let session = self.session();
        self.locum(&[], &["session", "resume", session.file_name().unwrap().to_str().unwrap()])
    }

    fn session(&self) -> PathBuf {
        let found =
            std::fs::read_dir(self.path("sessions")).unwrap().map(|entry| entry.unwrap().path());
        let sessions: Vec<PathBuf> =
            found.filter(|path| path.join(JOURNAL_FILE).exists()).collect();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].clone()
    }

    fn journal(&self) -> Vec<JournalLine> {
        Journal::read(&self.session()).unwrap()
    }

    fn journal_bytes(&self) -> Vec<u8> {
        std::fs::read(self.session().join(JOURNAL_FILE)).unwrap()
    }

    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let names = ["src/a.txt", "src/b.txt", "src/steps.txt", "README.md", "step.sh"];
        let read = |name: &&str| {
            Some((
                PathBuf::from(*name),
                std::fs::read_to_string(self.path("checkout").join(name)).ok()?,
            ))
        };
        names.iter().filter_map(read).collect()
    }
}

/// What a resumed run must have in common with one that was not killed.
fn essence(lines: &[JournalLine]) -> (Outcome, BTreeSet<String>) {
    let Some(Event::Ended(outcome)) = lines.last().map(|line| &line.event) else {
        unreachable!("it has not ended: {lines:?}")
    };
    let mut outcome = outcome.as_ref().clone();
    outcome.session = locum_agent::session::id::SessionId::parse("0").unwrap();
    // A command that was cut off is reported as killed, and its answer has another length; the
    // names of commits hold their time.
    outcome.commands.clear();
    outcome.spent.usage = locum_base::chat::Usage::default();
    for task in &mut outcome.tasks {
        task.own.usage = outcome.spent.usage;
        task.with_sub_tasks.usage = outcome.spent.usage;
        task.commands.clear();
    }
    // A call that was cut off has failed, and is made again.
    outcome.tools = ToolCounts::default();
    outcome.spent.seconds = 0;
    outcome.tasks.iter_mut().for_each(|task| task.seconds = 0);
    outcome.base.0.clear();
    outcome.checkpoint = None;
    let answered = lines.iter().filter_map(|line| {
        if let Event::Answered { call, .. } = &line.event { Some(call.clone()) } else { None }
    });
    (outcome, answered.collect())
}

fn prlimit(bytes: usize) -> Vec<String> {
    ["prlimit", &format!("--fsize={bytes}"), "--core=0", "--"].map(str::to_owned).to_vec()
}

/// Where each line of a journal ends.
fn line_ends(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

#[test]
fn a_kill_while_any_line_is_written_changes_nothing() {
    let whole = Bench::new();
    assert_eq!(whole.run(&[]).code(), Some(0));
    let expected = essence(&whole.journal());
    assert_eq!(expected.0.word.as_str(), "done");
    let ends = line_ends(&whole.journal_bytes());
    let mut killed_after = BTreeSet::new();
    for pair in ends.windows(2) {
        // Times are written with as many digits as they need, so a run's lines are a few bytes
        // longer or shorter than another's.
        let bench = Bench::new();
        assert_eq!(bench.run(&prlimit(pair[0].midpoint(pair[1]))).signal(), Some(SIGXFSZ));
        killed_after.insert(line_ends(&bench.journal_bytes()).len());
        assert_eq!(bench.resume().code(), Some(0), "killed after {killed_after:?}");
        assert_eq!(bench.tree(), whole.tree(), "killed after {killed_after:?}");
        assert_eq!(essence(&bench.journal()), expected, "killed after {killed_after:?}");
    }
    assert_eq!(killed_after, (1..ends.len()).collect());
}

const PARALLEL_SCRIPT: &str = r#"
version: 1
tasks:
  - mode: orchestrator
    turns:
      - calls:
          - { tool: new_task, args: { mode: code, message: "Write a." } }
          - { tool: new_task, args: { mode: code, message: "Write b." } }
      - calls: [{ tool: attempt_completion, args: { result: "all done" } }]
  - contains: Write a.
    turns:
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\ntwo\n=======\ntwo\ntwo\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: write_to_file, args: { path: README.md, content: "no" } }]
      - calls: [{ tool: attempt_completion, args: { result: "a is written" } }]
  - contains: Write b.
    turns:
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: apply_diff, args: { path: src/b.txt, diff: "<<<<<<< SEARCH\nb\n=======\nb\nb\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "b is written" } }]
"#;

#[test]
fn a_kill_while_sub_tasks_work_beside_each_other_changes_nothing() {
    let policy =
        POLICY.replace("modes: {", "modes: { delegation: { from: [orchestrator], parallel: 2 },");
    let whole = Bench::with(&policy, PARALLEL_SCRIPT);
    assert_eq!(whole.run(&[]).code(), Some(0));
    let expected = essence(&whole.journal());
    assert_eq!(expected.0.word.as_str(), "done");
    assert!(whole.journal().iter().any(|line| matches!(line.event, Event::ParallelStarted { .. })));
    for pair in line_ends(&whole.journal_bytes()).windows(2) {
        let bench = Bench::with(&policy, PARALLEL_SCRIPT);
        assert_eq!(bench.run(&prlimit(pair[0].midpoint(pair[1]))).signal(), Some(SIGXFSZ));
        let at = line_ends(&bench.journal_bytes()).len();
        assert_eq!(bench.resume().code(), Some(0), "killed after {at}");
        assert_eq!(bench.tree(), whole.tree(), "killed after {at}");
        assert_eq!(essence(&bench.journal()), expected, "killed after {at}");
        assert!(!bench.session().join("trees").exists(), "killed after {at}");
    }
}

#[test]
fn a_disk_that_fills_up_fails_the_run_and_leaves_a_whole_journal() {
    let whole = Bench::new();
    assert_eq!(whole.run(&[]).code(), Some(0));
    let ends = line_ends(&whole.journal_bytes());
    let limit = ends[ends.len() / 2] + 20;
    let bench = Bench::new();
    let ignoring = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"]
        .map(str::to_owned)
        .into_iter()
        .chain(prlimit(limit));
    assert_eq!(bench.run(&ignoring.collect::<Vec<_>>()).code(), Some(3));
    let bytes = bench.journal_bytes();
    assert!(bytes.ends_with(b"\n"), "the journal ends with a whole line");
    assert_eq!(line_ends(&bytes).len(), bench.journal().len());
    assert!(Path::new(&bench.path("checkout/src/a.txt")).exists());
}
