//! Commands where nothing can hold them: which are refused, how they start, and how they are ended.
//! These run on Linux, too.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make and read files, and start a program of their own"
)]

use std::collections::BTreeMap;
use std::io::{PipeReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pretty_assertions::assert_eq;
use rustix::io::FdFlags;
use rustix::process::{Pid, test_kill_process};

use super::confined;
use super::sandbox::Sandbox;
use super::start::{StartedProcess, start};
use crate::program::ProgramStart;
use crate::reach::CommandReach;
use crate::sandbox_error::SandboxError;
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};

/// Starts a script of the shell; returns it with the end that its output is read from.
fn sh(text: &str, folder: &Path) -> (StartedProcess, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let input = std::fs::File::open("/dev/null").unwrap();
    let program = ProgramStart {
        words: &["/bin/sh", "-c", text].map(str::to_owned),
        folder,
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        streams: [input.into(), writer.try_clone().unwrap().into(), writer.into()],
        goes_on: false,
    };
    (start(program, None).unwrap(), reader)
}

fn prepared(sandbox: SandboxSetting, network: CommandNetwork) -> Sandbox {
    let limits = CommandLimits { sandbox, network, ..CommandLimits::default() };
    let env = BTreeMap::from([("HOME".to_owned(), "/home/me".to_owned())]);
    Sandbox::prepare(&limits, &env).unwrap()
}

fn reach(root: &Path) -> CommandReach<'_> {
    CommandReach::open(root)
}

fn is_gone(process: i32) -> bool {
    test_kill_process(Pid::from_raw(process).unwrap()).is_err()
}

#[test]
fn a_required_sandbox_refuses_commands_and_none_runs_them() {
    let reach = reach(Path::new("/checkout"));
    let required = prepared(SandboxSetting::Required, CommandNetwork::Off);
    let Err(error) = required.restrictions(&reach) else { panic!("nothing holds it") };
    assert!(matches!(error, SandboxError::Below(_)), "{error}");
    assert!(error.to_string().contains("files are not restricted"), "{error}");
    let off = prepared(SandboxSetting::Off, CommandNetwork::Off);
    assert!(off.restrictions(&reach).unwrap().is_none());
    for sandbox in [required, off] {
        assert!(!sandbox.holds() && !sandbox.is_offline());
        assert!(!sandbox.contains(Path::new("/checkout")));
    }
}

#[test]
fn hosts_that_nothing_holds_commands_to_refuse_them() {
    for wanted in [SandboxSetting::Required, SandboxSetting::BestEffort, SandboxSetting::Off] {
        let sandbox = prepared(wanted, CommandNetwork::Listed);
        let refused = sandbox.restrictions(&reach(Path::new("/checkout")));
        assert!(matches!(refused, Err(SandboxError::NoProxy)), "{wanted:?}");
    }
    let open = prepared(SandboxSetting::Off, CommandNetwork::Open);
    assert!(open.restrictions(&reach(Path::new("/checkout"))).unwrap().is_none());
}

#[test]
fn best_effort_gives_a_home_and_a_temporary_folder() {
    let sandbox = prepared(SandboxSetting::BestEffort, CommandNetwork::Off);
    let restrictions = sandbox.restrictions(&reach(Path::new("/checkout"))).unwrap().unwrap();
    let mut env = BTreeMap::from([("HOME".to_owned(), "/home/me".to_owned())]);
    restrictions.env.adapt(&mut env);
    for name in ["HOME", "TMPDIR"] {
        assert!(Path::new(&env[name]).is_dir() && env[name] != "/home/me", "{env:?}");
    }
    let home = env["HOME"].clone();
    drop(sandbox);
    assert!(!Path::new(&home).exists());
}

#[tokio::test]
async fn runs_a_program_in_a_session_and_a_group_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (mut started, mut output) = sh("pwd -P; cat; echo $$; ps -o pgid= -p $$", folder.path());
    assert!(started.process.wait().await.unwrap().success());
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let path = folder.path().canonicalize().unwrap().display().to_string();
    assert_eq!(lines.first(), Some(&path.as_str()));
    assert_eq!(lines.get(1), lines.get(2), "the shell leads its group");
    assert_eq!(lines.len(), 3, "its input is empty");
}

#[tokio::test]
async fn a_program_gets_no_descriptor_that_this_one_was_given() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "secret").unwrap();
    let key = std::fs::File::open(folder.path().join("key")).unwrap();
    rustix::io::fcntl_setfd(&key, FdFlags::empty()).unwrap();
    let text = format!("cat /dev/fd/{} && echo read", key.as_raw_fd());
    let (mut started, mut output) = sh(&text, folder.path());
    assert!(!started.process.wait().await.unwrap().success());
    let mut said = String::new();
    output.read_to_string(&mut said).unwrap();
    assert!(!said.contains("secret") && !said.contains("read"), "{said}");
    // Any other program that is started gets it.
    let inherited = Command::new("/bin/sh").args(["-c", &text]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&inherited.stdout), "secretread\n");
}

#[test]
fn nothing_hostile_is_read_where_nothing_confines_its_reader() {
    let mut command = Command::new("/bin/true");
    for refused in [confined::prepare(&mut command), confined::give_up(1 << 30, Duration::MAX)] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("confined process"), "{error}");
    }
}

#[tokio::test]
async fn killing_the_tree_ends_every_process_of_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let text = "trap '' TERM; sleep 1000 & echo $!; echo $$; wait; wait";
    let (mut started, mut output) = sh(text, folder.path());
    let numbers = numbers(&mut output);
    started.tree.ask_to_end();
    assert!(numbers.iter().skip(1).all(|process| !is_gone(*process)), "the shell does not heed");
    started.tree.kill();
    let status = started.process.wait().await.unwrap();
    assert!(!status.success());
    // Its end is seen by the end of its output.
    output.read_to_string(&mut String::new()).unwrap();
    assert!(is_gone(numbers[1]));
}

#[tokio::test]
async fn dropping_the_tree_kills_it() {
    let folder = tempfile::tempdir().unwrap();
    let (started, mut output) = sh("sleep 1000 & echo $!; echo $$; wait", folder.path());
    let numbers = numbers(&mut output);
    assert!(!is_gone(numbers[0]));
    let StartedProcess { tree, mut process, .. } = started;
    drop(tree);
    assert!(!process.wait().await.unwrap().success());
    output.read_to_string(&mut String::new()).unwrap();
    assert!(is_gone(numbers[1]));
}

#[tokio::test]
async fn a_program_that_is_not_there_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let (_, writer) = std::io::pipe().unwrap();
    for words in [vec!["no-such-program".to_owned()], Vec::new()] {
        let program = ProgramStart {
            words: &words,
            folder: folder.path(),
            env: BTreeMap::new(),
            streams: [(); 3].map(|()| writer.try_clone().unwrap().into()),
            goes_on: false,
        };
        assert!(start(program, None).is_err(), "{words:?}");
    }
}

#[test]
fn says_that_there_is_no_sandbox() {
    let (level, refused) = super::tried();
    assert!(!level.is_full() && !level.namespaces && !level.calls);
    assert!(refused.unwrap().starts_with("no sandbox: "));
}

/// Reads two lines, each a number.
fn numbers(output: &mut PipeReader) -> Vec<i32> {
    let mut text = String::new();
    let mut byte = [0];
    while text.lines().count() < 2 || !text.ends_with('\n') {
        output.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text.lines().map(|line| line.parse().unwrap()).collect()
}
