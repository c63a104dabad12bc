//! `Stage`: a folder with everything a run of the binary touches: home, state, temporary files, a
//! checkout, and files of the test's own.
//!
//! In: files and arguments. Out: what the binary said, how it ended and what its journal holds. The
//! binary sees no variable but those named here, and of the network only 127.0.0.1.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "makes checkouts and starts the binary"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::json_schema::faults_of_line;
use git2::Repository;
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::journal::Journal;
use locum_testing::repository::{commit_all, init};
use serde_json::Value;

/// A folder for one test.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    /// Whether the binary can make namespaces here.
    namespaces: bool,
}

/// The Action that workflows of tests use: a build for tests is of no release.
pub(crate) const ACTION: &str = "acme/locum@0123456789abcdef0123456789abcdef01234567";

/// Shell script that runs a program where no namespaces can be made: for `unshare -Ur sh -c`, whose
/// user namespace gets limits of zero.
pub(crate) const WITHOUT_NAMESPACES: &str = "for kind in user mnt pid net ipc; do echo 0 > \
                                  /proc/sys/user/max_${kind}_namespaces; done; exec \"$@\"";

/// How a run of the binary ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; `None` for a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Stage {
    /// Makes the folders, without a checkout.
    pub(crate) fn empty() -> Self {
        let stage = Self { root: tempfile::tempdir().unwrap(), namespaces: true };
        for folder in ["home", "tmp", "checkout"] {
            std::fs::create_dir(stage.path(folder)).unwrap();
        }
        stage
    }

    /// Makes a checkout of these files, all in one commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let stage = Self::empty();
        init(&stage.path("checkout"));
        files.iter().for_each(|(path, text)| stage.write(&format!("checkout/{path}"), text));
        stage.commit("first");
        stage
    }

    /// Makes a stage twice: on a machine that gives namespaces and on one that does not.
    pub(crate) fn in_both_worlds(make: impl Fn() -> Self) -> [Self; 2] {
        [make(), Self { namespaces: false, ..make() }]
    }

    /// A path below the stage.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Writes a file below the stage.
    pub(crate) fn write(&self, path: &str, text: &(impl AsRef<[u8]> + ?Sized)) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Puts a shell script onto the path, before every program of that name.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let file = format!("bin/{name}");
        self.write(&file, &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.path(&file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Reads a file below the stage.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Names in a folder below the stage, sorted; none where there is no such folder.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// Runs git in the checkout and returns what it says.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in("checkout", arguments)
    }

    /// Runs git in a folder below the stage and returns what it says.
    pub(crate) fn git_in(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = self.plain("git");
        command.args([
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.com",
            "-c",
            "protocol.file.allow=always",
        ]);
        let output = command.args(arguments).current_dir(self.path(folder)).output().unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Commits everything in the checkout.
    pub(crate) fn commit(&self, message: &str) {
        commit_all(&Repository::open(self.path("checkout")).unwrap(), message);
    }

    /// Everything the checkout is: where HEAD points, and which files differ from it and how.
    pub(crate) fn checkout_state(&self) -> (String, String, String) {
        let head = std::fs::read_to_string(self.path("checkout/.git/HEAD")).unwrap();
        (
            head,
            self.git(&["rev-parse", "HEAD"]),
            self.git(&["status", "--porcelain", "--untracked-files=all"]),
        )
    }

    /// The binary, in the checkout.
    pub(crate) fn locum(&self, arguments: &[&str]) -> Command {
        let binary = env!("CARGO_BIN_EXE_locum");
        let mut command = self.plain(if self.namespaces { binary } else { "unshare" });
        if !self.namespaces {
            command.args(["-Ur", "sh", "-c", WITHOUT_NAMESPACES, "sh", binary]);
        }
        command.args(arguments).current_dir(self.path("checkout"));
        command
    }

    /// A program with the stage's clean environment; its own programs come first on the path, then
    /// the toolchain that built this test.
    pub(crate) fn plain(&self, program: &str) -> Command {
        let toolchain = Path::new(env!("CARGO")).parent().unwrap();
        let path = format!(
            "{}:{}:{}",
            self.path("bin").display(),
            toolchain.display(),
            std::env::var("PATH").unwrap()
        );
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"));
        command
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.locum(arguments).output().unwrap().into()
    }

    /// Runs a task with the fixed replies of a script.
    pub(crate) fn play(&self, script: &str, arguments: &[&str]) -> Ran {
        self.write("script.yml", script);
        let script = self.path("script.yml");
        let given = ["run", "Do the task.", "--script", script.to_str().unwrap()];
        self.run(&[given.as_slice(), arguments].concat())
    }

    /// The names of every session.
    pub(crate) fn sessions(&self) -> Vec<String> {
        self.names("state/locum/sessions")
    }

    /// The journal of the only session, every line of it whole.
    pub(crate) fn journal(&self) -> Vec<JournalLine> {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        let lines = Journal::read(&self.path("state/locum/sessions").join(&sessions[0])).unwrap();
        let text = self.read(&format!("state/locum/sessions/{}/journal.jsonl", sessions[0]));
        assert_eq!(
            (text.ends_with('\n'), text.lines().count()),
            (true, lines.len()),
            "every line is whole"
        );
        for line in text.lines().map(|line| serde_json::from_str(line).unwrap()) {
            assert_eq!(faults_of_line(&line), Vec::<String>::new(), "{line}");
        }
        lines
    }

    /// The answers in the only journal, in order: tool and text.
    pub(crate) fn answers(&self) -> Vec<(String, String)> {
        let answer = |line: JournalLine| match line.event {
            Event::Answered { tool, observation, .. } => Some((tool, observation.text)),
            _ => None,
        };
        self.journal().into_iter().filter_map(answer).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// The result as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The result as one JSON value a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}
