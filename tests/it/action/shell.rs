//! The Action's own shell around the program: `action.yml` as GitHub runs it.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use pretty_assertions::assert_eq;
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::action::fixture::{ActionFixture, Ask, payload};
use crate::support::stage::Ran;

/// What a test waits for comes within this time, or the test fails.
const LONGEST: Duration = Duration::from_secs(30);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The steps of `action.yml`, in order.
fn steps() -> Vec<Value> {
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let action: Value = serde_yaml::from_str(&text).unwrap();
    action["runs"]["steps"].as_array().unwrap().clone()
}

fn step_named<'a>(steps: &'a [Value], name: &str) -> (usize, &'a Value) {
    steps.iter().enumerate().find(|(_, step)| step["name"] == name).expect(name)
}

/// The processes that a process started, and those that these started.
fn descendants(of: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|process: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let after_name = stat.rsplit_once(") ")?.1;
            Some((process, after_name.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![of];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| process));
        at += 1;
    }
    found.remove(0);
    found
}

/// The program that a process runs, with its arguments; empty once it is over.
fn command_line(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default()
}

/// Waits until the step's command runs; returns all processes of the step.
fn until_it_sleeps(bash: &Child) -> Vec<(u32, String)> {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        let all: Vec<(u32, String)> = descendants(bash.id())
            .into_iter()
            .chain([bash.id()])
            .map(|process| (process, command_line(process)))
            .collect();
        if all.iter().any(|(_, line)| line.starts_with("sleep\0")) {
            return all;
        }
        std::thread::yield_now();
    }
    panic!("the command of the run never started");
}

#[test]
fn a_cancelled_workflow_reaches_the_run_through_the_shell() {
    for signal in [Signal::INT, Signal::TERM] {
        let fixture = ActionFixture::new();
        let steps = steps();
        let (_, step) = step_named(&steps, "Run locum");
        assert_eq!(step["shell"], "bash");
        fixture.stage.write("step.sh", step["run"].as_str().unwrap());
        let (event, payload) = payload(&Ask::comment("/locum code wait for long"));
        let prepared = fixture.prepare(event, &payload.to_string(), &[]);

        // How GitHub runs a step with `shell: bash`. It signals this process alone.
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(fixture.stage.path("step.sh"))
            .current_dir(fixture.stage.path("checkout"))
            .env_clear()
            .envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("BINARY", env!("CARGO_BIN_EXE_locum"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let bash = bash.spawn().unwrap();
        let processes = until_it_sleeps(&bash);
        let entry = Pid::from_raw(i32::try_from(bash.id()).unwrap()).unwrap();
        rustix::process::kill_process(entry, signal).unwrap();
        let signalled = Instant::now();
        let step = fixture.ended("", Ran::from(bash.wait_with_output().unwrap()));

        assert!(signalled.elapsed() < Duration::from_secs(5), "{:?}", signalled.elapsed());
        assert_eq!((step.code, step.output("outcome")), (Some(130), "cancelled"), "{step:?}");
        let comments = fixture.server.comments(7);
        assert_eq!(comments.len(), 1, "{comments:#?}");
        assert!(comments[0].contains("**locum: cancelled**"), "{}", comments[0]);
        let left: Vec<_> = processes
            .iter()
            .filter(|(process, line)| !line.is_empty() && command_line(*process) == *line)
            .collect();
        assert_eq!(left, Vec::<&(u32, String)>::new());
    }
}

/// Runs the script that names a version of the sources in a folder.
fn key_of(folder: &Path) -> String {
    let output = Command::new(root().join("config/source-key.sh"))
        .arg(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_key_of_a_build_names_what_it_is_built_from() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for file in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src/main.rs", "config/a b.md"]
    {
        write(file, "one\n");
    }
    let first = key_of(folder.path());
    assert!(first.len() == 65 && first.trim_end().bytes().all(|digit| digit.is_ascii_hexdigit()));
    write("docs/page.md", "what is not compiled\n");
    write("target/x", "what was compiled\n");
    write("config/release.txt", "what was made of it\n");
    assert_eq!(key_of(folder.path()), first);
    let mut keys = vec![first];
    for (file, text) in [
        ("Cargo.lock", "two\n"),
        ("rust-toolchain.toml", "two\n"),
        ("src/main.rs", "two\n"),
        ("config/a b.md", "two\n"),
        ("src/new/mod.rs", ""),
    ] {
        write(file, text);
        let key = key_of(folder.path());
        assert!(!keys.contains(&key), "{file} is not in the key");
        keys.push(key);
    }
    std::fs::rename(folder.path().join("src/new"), folder.path().join("src/old")).unwrap();
    assert!(!keys.contains(&key_of(folder.path())), "names count");
    let mode = std::fs::metadata(root().join("config/source-key.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}

/// A folder of Locum's sources whose release is one program, and the release's files beside it.
struct Released {
    folder: tempfile::TempDir,
}

impl Released {
    fn new() -> Self {
        let released = Self { folder: tempfile::tempdir().unwrap() };
        let own = root().join("config");
        for file in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src/main.rs"] {
            released.write(&format!("action/{file}"), b"one\n");
        }
        for script in ["download.sh", "source-key.sh"] {
            let to = released.path(&format!("action/config/{script}"));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(own.join(script), to).unwrap();
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"#!/bin/sh\necho released\n").unwrap();
        let packed = packed.finish().unwrap();
        let file = released.file();
        released.write(&format!("mirror/{file}"), &packed);
        let sum = released.bash("sha256sum mirror/*.gz | cut -d ' ' -f 1").out;
        let text = format!(
            "# The programs.\nrepository acme/locum\nversion 1.2.3\ncommit 0123\nsource \
             {}{}  {file}\n",
            key_of(&released.path("action")),
            sum.trim_end(),
        );
        released.write("action/config/release.txt", text.as_bytes());
        released
    }

    /// The name of the program's file for this machine.
    fn file(&self) -> String {
        format!("locum-1.2.3-{}-unknown-linux-musl.gz", std::env::consts::ARCH)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn bash(&self, script: &str) -> Ran {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", script]).current_dir(self.folder.path());
        bash.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        let at = |path: &str| self.path(path);
        bash.env("GITHUB_ACTION_PATH", at("action")).env("GITHUB_OUTPUT", at("output"));
        bash.env("RUNNER_TOOL_CACHE", at("kept")).env("PROGRAM", at("temp/locum-release/locum"));
        bash.env("BINARY", "").env("MIRROR", format!("file://{}/", at("mirror").display()));
        bash.output().unwrap().into()
    }

    /// Runs the step of the Action that gets the program. Returns its end and its outputs.
    fn get(&self, before: &str) -> (Ran, String) {
        let steps = steps();
        let (_, step) = step_named(&steps, "Get the released locum");
        self.write("output", b"");
        let ran = self.bash(&format!("{before}\n{}", step["run"].as_str().unwrap()));
        (ran, std::fs::read_to_string(self.path("output")).unwrap())
    }

    fn program(&self) -> Option<String> {
        let program = self.path("temp/locum-release/locum");
        program.exists().then(|| self.bash("\"$PROGRAM\"").out)
    }
}

#[test]
fn the_program_of_a_release_is_the_one_that_its_source_names() {
    let released = Released::new();
    let path = format!("path={}\n", released.path("temp/locum-release/locum").display());
    for (times, said) in [("first", "downloaded from file://"), ("again", "kept from an earlier")] {
        let (ran, output) = released.get("");
        assert!(ran.code == Some(0) && ran.out.contains(said), "{times}: {ran:?}");
        assert_eq!(
            (output.as_str(), released.program().as_deref()),
            (path.as_str(), Some("released\n"))
        );
        std::fs::remove_dir_all(released.path("temp")).unwrap();
    }
    // What was kept is not believed either.
    released.write(&format!("kept/locum/{}", released.file()), b"somebody's");
    let (ran, _) = released.get("");
    assert!(ran.code == Some(0) && ran.out.contains("downloaded"), "{ran:?}");
    assert_eq!(released.program().as_deref(), Some("released\n"));
}

#[test]
fn a_program_that_its_source_does_not_name_is_not_used() {
    let released = Released::new();
    let file = released.path(&format!("mirror/{}", released.file()));
    std::fs::write(&file, b"somebody's").unwrap();
    let (ran, output) = released.get("");
    assert!(ran.code == Some(1) && ran.out.contains("It is not used."), "{ran:?}");
    assert_eq!((output.as_str(), released.program()), ("", None));
    std::fs::remove_file(file).unwrap();
    let (ran, output) = released.get("");
    assert!(ran.code == Some(1) && ran.out.contains("Set the input mirror"), "{ran:?}");
    assert_eq!((output.as_str(), released.program()), ("", None));
}

#[test]
fn runners_of_other_systems_are_refused_before_anything_runs_there() {
    let steps = steps();
    let (first, refusal) = step_named(&steps, "Refuse other systems than Linux");
    assert_eq!((first, refusal["if"].as_str()), (0, Some("runner.os != 'Linux'")));
    let released = Released::new();
    let ran = released.bash(refusal["run"].as_str().unwrap());
    let said = "::error title=Locum::Locum's Action runs on Linux";
    assert!(ran.code == Some(1) && ran.out.starts_with(said), "{ran:?}");
    for system in ["Darwin", "FreeBSD"] {
        released.write("fake/uname", format!("#!/bin/sh\necho {system}\n").as_bytes());
        let (ran, output) = released.get("chmod 755 fake/uname; PATH=$PWD/fake:$PATH");
        assert!(ran.code == Some(1) && ran.out.starts_with(said), "{system}: {ran:?}");
        assert_eq!((output.as_str(), released.program()), ("", None), "{system}");
    }
}

#[test]
fn sources_without_a_release_of_their_own_are_built() {
    for (before, said) in [
        ("BINARY=build", ""),
        ("rm action/config/release.txt", "these sources are not of a release"),
        ("echo two > action/src/main.rs", "the sources are not those of release 1.2.3"),
        ("sed -i /gz/d action/config/release.txt", "the release has none for"),
    ] {
        let released = Released::new();
        let (ran, output) = released.get(before);
        assert!(ran.code == Some(0) && ran.out.contains(said), "{before}: {ran:?}");
        assert_eq!(output, format!("key={}", key_of(&released.path("action"))), "{before}");
        assert_eq!(released.program(), None);
    }
}

#[test]
fn what_was_built_is_kept_at_once_under_a_key_of_its_own_version() {
    let steps = steps();
    let (get, got) = step_named(&steps, "Get the released locum");
    let (restore, restored) = step_named(&steps, "Find a built locum");
    let (build, built) = step_named(&steps, "Build locum");
    let (save, saved) = step_named(&steps, "Keep the built locum");
    let (run, ran) = step_named(&steps, "Run locum");
    assert!(get < restore && restore < build && build + 1 == save && save < run);
    assert_eq!(got["id"], "program");
    let pin = |step: &Value, action: &str| {
        let uses = step["uses"].as_str().unwrap().to_owned();
        uses.strip_prefix(action).expect(action).to_owned()
    };
    assert_eq!(pin(restored, "actions/cache/restore@"), pin(saved, "actions/cache/save@"));
    assert_eq!(restored["with"], saved["with"], "the same file under the same key");
    let key = restored["with"]["key"].as_str().unwrap();
    assert!(key.contains("${{ steps.program.outputs.key }}") && !key.contains("github."), "{key}");
    assert_eq!(built["if"], saved["if"]);
    let (_, allowed) = step_named(&steps, "Let commands have namespaces");
    assert_eq!(ran["env"]["BINARY"], allowed["env"]["BINARY"]);
}
