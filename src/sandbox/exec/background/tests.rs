//! Commands in the background without a sandbox: what they print, how they end, that none is left.
#![expect(clippy::disallowed_methods, reason = "tests make and read files")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::{BackgroundCommand, OutputWait};
use crate::exec::tests::{process_in, reach};
use crate::exec::{CommandRun, ExecError, Exit};
use crate::machine::sandbox::Sandbox;
use locum_base::secret::{Redactor, Secret};
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Facts, Intent};
use rustix::process::test_kill_process;

const LONG: Duration = Duration::from_secs(20);

struct TestCommand(Script);

impl Act for TestCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

/// What is run.
const RUN: &str = "sh run.sh";

fn start_as(permitted: &str, folder: &Path) -> Result<BackgroundCommand, ExecError> {
    let script = Script::parse(RUN);
    let policy = "version: 1\ncommands: { sandbox: off }\nrules:\n  - allow: ['command(sh run.sh)', 'command(echo a)']\n";
    let permit = Policy::parse(policy, "policy.yml")
        .unwrap()
        .admit(TestCommand(Script::parse(permitted)), &Facts::default())
        .unwrap();
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let sandbox = Sandbox::around_nothing();
    let command = CommandRun {
        tail: None,
        script: &script,
        folder: folder.to_owned(),
        env: &env,
        timeout: Duration::ZERO,
        output_bytes: 1000,
        redactor: &Redactor::default(),
        sandbox: &sandbox,
        reach: reach(folder),
        proxy: None,
    };
    BackgroundCommand::start(&permit, command)
}

fn start(text: &str, folder: &Path) -> BackgroundCommand {
    std::fs::write(folder.join("run.sh"), text).unwrap();
    start_as(RUN, folder).unwrap()
}

fn wait(until: Option<&str>) -> OutputWait<'_> {
    OutputWait { patience: LONG, until }
}

#[tokio::test]
async fn its_output_comes_in_parts_and_each_part_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo one; echo listening on 1; while [ ! -e go ]; do :; done; echo two; printf 3";
    let mut command = start(script, folder.path());
    let redactor = Redactor::default();
    assert_eq!(command.wait(wait(Some("listening"))).await, None);
    assert_eq!(command.take_output(&redactor).text, "one\nlistening on 1\n");
    assert_eq!(command.take_output(&redactor).text, "");
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert_eq!(command.wait(wait(None)).await, Some(Exit::Code(0)));
    assert_eq!(command.take_output(&redactor).text, "two\n3");
    assert_eq!(command.wait(wait(None)).await, Some(Exit::Code(0)), "it stays so");
    assert_eq!(command.stop().await, Exit::Code(0));
}

#[tokio::test]
async fn a_wait_ends_with_the_patience_and_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = start("echo a; sleep 1000", folder.path());
    let short = OutputWait { patience: Duration::from_millis(1), until: Some("never") };
    assert_eq!(command.wait(short).await, None);
    assert_eq!(command.stop().await, Exit::Signal(15));
    let mut command = start("echo a; exit 3", folder.path());
    assert_eq!(command.wait(wait(Some("never"))).await, Some(Exit::Code(3)));
    assert_eq!(command.take_output(&Redactor::default()).text, "a\n");
}

#[tokio::test]
async fn what_does_not_want_to_end_is_killed_and_what_it_started_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; setsid sleep 1000 & echo $! > other; echo up; while :; do sleep 1; \
                  done";
    let mut command = start(script, folder.path());
    command.wait(wait(Some("up"))).await;
    assert_eq!(command.stop().await, Exit::Signal(9));
    assert!(test_kill_process(process_in(&folder.path().join("other"))).is_err());
}

#[tokio::test]
async fn dropping_it_kills_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = start("setsid sleep 1000 & echo $! > other; echo up; wait", folder.path());
    command.wait(wait(Some("up"))).await;
    drop(command);
    assert!(test_kill_process(process_in(&folder.path().join("other"))).is_err());
}

#[tokio::test]
async fn no_secret_is_cut_in_two_by_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "correct-horse-battery-staple-42";
    let script = "echo start; printf 'key correct-horse-'; while [ ! -e go ]; do :; done; \
                  echo battery-staple-42";
    let mut command = start(script, folder.path());
    let redactor = Redactor::new([Secret::new(secret)]);
    command.wait(wait(Some("start"))).await;
    let first = command.take_output(&redactor).text;
    std::fs::write(folder.path().join("go"), "").unwrap();
    command.wait(wait(None)).await;
    let second = command.take_output(&redactor).text;
    assert_eq!(first, "start\n");
    assert!(!second.contains("horse") && !second.contains("battery"), "{second}");
}

#[tokio::test]
async fn output_of_any_length_takes_bounded_room_and_both_ends_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo first; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done";
    let mut command = start(script, folder.path());
    assert_eq!(command.wait(wait(None)).await, Some(Exit::Code(0)));
    let output = command.take_output(&Redactor::default());
    assert!(output.text.starts_with("first\n") && output.text.ends_with("line 19999\n"));
    assert!(output.text.len() < 1100 && output.omitted_bytes > 100_000, "{}", output.text.len());
}

#[tokio::test]
async fn it_does_not_start_without_its_own_permit() {
    let folder = tempfile::tempdir().unwrap();
    let refused = start_as("echo a", folder.path());
    assert!(matches!(refused, Err(ExecError::NotPermitted)));
}
