//! A hostile command, tried once with the sandbox and once without: every attack must fail inside
//! and succeed outside, so that none fails for a reason of its own. Where the kernel cannot hold
//! it, these tests fail.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests prepare files, sockets and a victim, and take the time"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

mod background;
mod files;
mod hostile;
mod layer;
mod network;
mod parts;
mod processes;
mod runner;
mod user;

use super::{Sandbox, SandboxError};
use crate::exec::{self, CommandOutput, CommandRun, ExecError, Exit};
use crate::layer::LayerFolders;
use crate::level::SandboxLevel;
use crate::network::proxy::NetworkProxy;
use crate::reach::{CommandReach, WriteAccess};
use crate::shared_network::SharedNetwork;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::schema::{self, CommandLimits};
use locum_policy::{Permit, Policy};

/// A checkout, a home with a secret, and a folder that commands must not see.
struct SandboxFixture {
    _folder: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    env: BTreeMap<String, String>,
}

/// What is around a script, and how far it reaches.
const BY_WORDS: &str = "version: 1\nrules:\n  - allow: \"command(./script.sh)\"\n";

/// What other commands have to do with a command.
#[derive(Clone, Copy, Default)]
struct Beside<'a> {
    layer: Option<LayerFolders<'a>>,
    seen_below: Option<&'a Path>,
    network: Option<&'a SharedNetwork>,
}

struct ScriptAttempt<'a> {
    sandbox: &'a Sandbox,
    writes: WriteAccess,
    git_hidden: bool,
    /// What allows the script.
    policy: &'a str,
    timeout: Duration,
    proxy: Option<NetworkProxy>,
}

impl ScriptAttempt<'_> {
    fn of(sandbox: &Sandbox) -> ScriptAttempt<'_> {
        let (writes, timeout) = (WriteAccess::Entries, Duration::from_secs(20));
        ScriptAttempt {
            sandbox,
            writes,
            git_hidden: false,
            policy: BY_WORDS,
            timeout,
            proxy: sandbox.proxy("code"),
        }
    }
}

impl SandboxFixture {
    fn new() -> Self {
        Self::inside(&std::env::temp_dir())
    }

    fn inside(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let base = folder.path().canonicalize().unwrap();
        let [root, home, outside] = ["checkout", "home", "outside"].map(|name| base.join(name));
        for (at, text) in [
            ("checkout/src/a", "a"),
            ("checkout/top", "top"),
            ("checkout/.env", "PASSWORD=1"),
            ("checkout/.github/workflows/ci.yml", "on: push"),
            ("checkout/.locum/policy.yml", "version: 1"),
            ("checkout/.git/HEAD", "ref: refs/heads/main"),
            ("checkout/.git/config", "[http]\n\textraheader = AUTHORIZATION: basic c2VjcmV0\n"),
            ("checkout/.git/hooks/sample", ""),
            ("checkout/web/deep/server.key", "secret"),
            ("checkout/web/deep/page", "x"),
            ("checkout/sub/AGENTS.md", "x"),
            ("checkout/sub/.git/config", "[http]\n\textraheader = AUTHORIZATION: basic c2VjcmV0\n"),
            ("checkout/sub/.git/hooks/sample", ""),
            ("home/.ssh/id_ed25519", "secret"),
            ("outside/file", "outside"),
        ] {
            std::fs::create_dir_all(base.join(at).parent().unwrap()).unwrap();
            std::fs::write(base.join(at), text).unwrap();
        }
        std::os::unix::fs::symlink(&outside, root.join("door")).unwrap();
        let env = [("PATH", "/usr/bin:/bin".to_owned()), ("HOME", home.display().to_string())];
        let env = env.map(|(name, value)| (name.to_owned(), value)).into();
        Self { _folder: folder, root, home, outside, env }
    }

    fn sandbox(&self, wanted: schema::SandboxSetting) -> Sandbox {
        let limits = CommandLimits { sandbox: wanted, ..CommandLimits::default() };
        let sandbox = Sandbox::prepare(&limits, &self.env).unwrap();
        assert_eq!(
            sandbox.holds(),
            wanted == schema::SandboxSetting::Required,
            "this kernel: {:?}",
            sandbox.level
        );
        sandbox
    }

    fn sandboxes(&self, wanted: schema::SandboxSetting) -> Vec<Sandbox> {
        if wanted == schema::SandboxSetting::Off {
            vec![self.sandbox(wanted)]
        } else {
            sandboxes_of(&self.env)
        }
    }

    fn reach(&self) -> CommandReach<'_> {
        CommandReach::open(&self.root)
    }

    fn run(&self, script: &str, sandbox: &Sandbox) -> Result<(Exit, String), ExecError> {
        self.run_as(script, sandbox, WriteAccess::Entries)
    }

    fn run_as(
        &self,
        script: &str,
        sandbox: &Sandbox,
        writes: WriteAccess,
    ) -> Result<(Exit, String), ExecError> {
        self.run_for(script, sandbox, writes, Duration::from_secs(20))
    }

    fn run_for(
        &self,
        script: &str,
        sandbox: &Sandbox,
        writes: WriteAccess,
        timeout: Duration,
    ) -> Result<(Exit, String), ExecError> {
        let attempt = ScriptAttempt { writes, timeout, ..ScriptAttempt::of(sandbox) };
        let output = self.run_whole(script, attempt)?;
        Ok((output.exit, output.output.text))
    }

    fn run_through(
        &self,
        script: &str,
        sandbox: &Sandbox,
        proxy: Option<NetworkProxy>,
    ) -> Result<CommandOutput, ExecError> {
        self.run_whole(script, ScriptAttempt { proxy, ..ScriptAttempt::of(sandbox) })
    }

    fn run_whole(
        &self,
        script: &str,
        attempt: ScriptAttempt<'_>,
    ) -> Result<CommandOutput, ExecError> {
        self.run_over(script, attempt, None)
    }

    fn run_over(
        &self,
        script: &str,
        attempt: ScriptAttempt<'_>,
        layer: Option<LayerFolders<'_>>,
    ) -> Result<CommandOutput, ExecError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let around = Beside { layer, ..Beside::default() };
        self.with_command(script, attempt, around, |permit, command| {
            runtime.block_on(exec::run(permit, command))
        })
    }

    /// Makes a command of a script, and what permits it, for whoever starts it.
    fn with_command<T>(
        &self,
        script: &str,
        ScriptAttempt { sandbox, writes, git_hidden, policy, timeout, proxy }: ScriptAttempt<'_>,
        Beside { layer, seen_below, network }: Beside<'_>,
        start: impl FnOnce(&Permit<TestCommand>, CommandRun<'_>) -> T,
    ) -> T {
        write_program(&self.root.join("script.sh"), &format!("#!/bin/sh\n{script}\n"));
        let script = Script::parse("./script.sh");
        let policy = Policy::parse(policy, "policy.yml").unwrap();
        let mode = "code".to_owned();
        let facts = Facts { mode, sandboxed: true, contained: true, ..Facts::default() };
        let permit = policy.admit(TestCommand(script.clone()), &facts).unwrap();
        let git = [self.root.join(".git")];
        let visible = |path: &RepoPath| !matches!(path.as_str(), ".env" | "web/deep/server.key");
        let command = CommandRun {
            tail: None,
            script: &script,
            folder: self.root.clone(),
            env: &self.env,
            timeout,
            output_bytes: 10_000,
            redactor: &Redactor::default(),
            sandbox,
            reach: CommandReach {
                git: &git,
                writes,
                git_hidden,
                visible: &visible,
                layer,
                seen_below,
                network,
                ..CommandReach::open(&self.root)
            },
            proxy,
        };
        start(&permit, command)
    }
}

/// Writes a program by another process: a child that a test beside this one starts meanwhile would
/// have the file open for writing, and what is open for writing cannot be started.
#[expect(clippy::disallowed_types, reason = "a test makes the program that is tried")]
fn write_program(file: &Path, text: &str) {
    let script = r#"printf %s "$2" > "$1" && chmod 755 "$1""#;
    let written = std::process::Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(file)
        .arg(text)
        .status()
        .unwrap();
    assert!(written.success());
}

/// The sandboxes to try: with namespaces and without, as a runner that refuses them would give it.
fn sandboxes_of(env: &BTreeMap<String, String>) -> Vec<Sandbox> {
    let limits = CommandLimits::default();
    let level = SandboxLevel::obtained();
    assert!(
        level.is_full() && level.namespaces,
        "this kernel cannot hold what these tests attack: {:?}",
        SandboxLevel::tried()
    );
    [level, SandboxLevel { namespaces: false, ..level }]
        .map(|level| Sandbox::on(&limits, env, level).unwrap())
        .into()
}

struct TestCommand(Script);

impl Act for TestCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

/// Runs each attack in a fresh place, outside and then inside.
fn check(attacks: &[(&str, String)]) {
    for (name, script) in attacks {
        for (wanted, succeeds) in
            [(schema::SandboxSetting::Off, true), (schema::SandboxSetting::Required, false)]
        {
            let place = SandboxFixture::new();
            let script = script.replace("$OUTSIDE", &place.outside.display().to_string());
            for sandbox in place.sandboxes(wanted) {
                let (exit, output) = place.run(&script, &sandbox).unwrap();
                assert_eq!(
                    exit == Exit::Code(0),
                    succeeds,
                    "{name} with {wanted:?}, {:?}: {exit:?}\n{output}",
                    sandbox.level
                );
            }
        }
    }
}

fn attacks(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    list.iter().map(|(name, script)| (*name, (*script).to_owned())).collect()
}

#[test]
fn everyday_work_goes_on() {
    let place = SandboxFixture::new();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    for script in [
        "echo x > src/new && mkdir -p src/deep/er && mv src/new src/deep/er/new && rm -r src/deep",
        "echo x >> top && cat top",
        "ln src/a src/b && ln -s a src/c && cat src/c",
        "echo x > \"$TMPDIR/t\" && echo y > ~/h && cat \"$TMPDIR/t\" ~/h",
        "cat .git/HEAD .github/workflows/ci.yml .locum/policy.yml",
        "echo a | sort | tee /dev/null && cat < /dev/null && head -c 4 /dev/urandom > /dev/null",
        "(sleep 0.01 &) ; kill -0 $$ && nproc && id -u && date && ls -la . > /dev/null",
        "perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or die $!; my $p = fork; exit 0 \
         unless $p; waitpid $p,0'",
        "exec 3> \"$TMPDIR/l\"; flock 3; mkfifo \"$TMPDIR/f\"",
    ] {
        let (exit, output) = place.run(script, &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{script}\n{output}");
    }
    assert!(!place.home.join("h").exists(), "the home is not the real one");
}

#[test]
fn a_kernel_that_gives_too_little_runs_nothing_where_a_sandbox_is_required() {
    let place = SandboxFixture::new();
    for level in [
        SandboxLevel::default(),
        SandboxLevel { files: false, ..SandboxLevel::obtained() },
        SandboxLevel { syscalls: false, network: false, ..SandboxLevel::obtained() },
    ] {
        for (wanted, runs) in
            [(schema::SandboxSetting::Required, false), (schema::SandboxSetting::BestEffort, true)]
        {
            let limits = CommandLimits { sandbox: wanted, ..CommandLimits::default() };
            let sandbox = Sandbox::on(&limits, &place.env, level).unwrap();
            assert!(!sandbox.holds());
            match place.run("true", &sandbox) {
                Ok((exit, _)) => assert!(runs && exit == Exit::Code(0), "{level:?} {wanted:?}"),
                Err(ExecError::Sandbox(SandboxError::Below(missing))) => {
                    assert!(!runs && missing.contains("(needs "), "{missing}")
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn tells_what_it_costs() {
    let place = SandboxFixture::new();
    let time = |sandbox: &Sandbox| {
        let mut times: Vec<Duration> = (0..30)
            .map(|_| {
                let begin = Instant::now();
                place.run(":", sandbox).unwrap();
                begin.elapsed()
            })
            .collect();
        times.sort();
        times[times.len() / 2]
    };
    let (plain, inside) = (
        time(&place.sandbox(schema::SandboxSetting::Off)),
        time(&place.sandbox(schema::SandboxSetting::Required)),
    );
    println!("a command: plain {plain:?}, sandboxed {inside:?}");
}
