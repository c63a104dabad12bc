//! Attacks on the checkout and on commands, each paired with the same act without the hostile part.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::collections::BTreeMap;
use std::time::Duration;

use crate::checkout::FileError;
use crate::fixture::{RepoFixture, path};
use crate::write::Executable;
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Facts, Intent};
use locum_sandbox::exec::{self, CommandOutput, CommandRun, Exit};
use locum_sandbox::{CommandReach, Sandbox};
use locum_testing::permits::permit;

/// Runs a script whose text the policy spells out.
fn run(folder: &std::path::Path, text: &str, timeout: Duration) -> CommandOutput {
    std::fs::write(folder.join("attack.sh"), text).unwrap();
    let script = Script::parse("echo begun; sh attack.sh");
    let policy = "version: 1\ncommands: { sandbox: off }\nrules:\n  - allow: ['command(echo:*)', \
                  'command(sh attack.sh)', 'read(**)']\n";
    let permit = Policy::parse(policy, "policy.yml")
        .unwrap()
        .admit(AttackCommand(script.clone()), &Facts::default())
        .unwrap();
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let command = CommandRun {
        tail: None,
        script: &script,
        folder: folder.to_owned(),
        env: &env,
        timeout,
        output_bytes: 1000,
        redactor: &Redactor::default(),
        sandbox: &Sandbox::around_nothing(),
        reach: CommandReach::open(folder),
        proxy: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(exec::run(&permit, command)).unwrap()
}

struct AttackCommand(Script);

impl Act for AttackCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

#[test]
fn a_link_put_in_place_of_a_judged_file_is_not_followed() {
    let fixture = RepoFixture::new();
    let outside = fixture.root.parent().unwrap().join("outside");
    std::fs::write(&outside, "outside").unwrap();
    let folder = ("old/up/outside", "old/up", "../..");
    for (at, swapped, target) in [("src/swapped", "src/swapped", outside.to_str().unwrap()), folder]
    {
        let permit = permit(&[Intent::Read(path(at))]);
        let read = || fixture.repo.checkout.read(&permit, &path(at), 99);
        fixture.write(at, "inside");
        assert_eq!(read().unwrap(), b"inside", "{at}");
        std::fs::rename(fixture.root.join(swapped), fixture.root.join(format!("{swapped}-moved")))
            .unwrap();
        fixture.link(target, swapped);
        assert_eq!(std::fs::read(fixture.root.join(at)).unwrap(), b"outside", "{at} leads there");
        assert!(matches!(read(), Err(FileError::Link(_))), "{at}: {:?}", read());
    }
}

#[test]
fn a_pipe_is_not_opened_as_a_file() {
    let fixture = RepoFixture::new();
    let permit = permit(&[Intent::Read(path("src/pipe"))]);
    let read = || fixture.repo.checkout.read(&permit, &path("src/pipe"), 99);
    fixture.write("src/pipe", "a file yet");
    assert_eq!(read().unwrap(), b"a file yet");
    fixture.remove("src/pipe");
    let (at, mode) = (fixture.root.join("src/pipe"), rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(
        matches!(read(), Err(FileError::NotAFile { what: "a named pipe", .. })),
        "{:?}",
        read()
    );
}

#[test]
fn gits_own_folder_is_not_written_even_with_a_permit() {
    let fixture = RepoFixture::new();
    // No policy gives such a permit; the floor below does not rely on it.
    let write = |at: &str| fixture.repo.checkout.put_file(&path(at), b"x", Executable::AsBefore);
    assert!(write("src/git/hooks/pre-commit").is_ok());
    assert!(matches!(write("src/.git/hooks/pre-commit"), Err(FileError::GitFolder(_))));
    assert!(!fixture.root.join("src/.git").exists());
}

#[test]
fn a_command_ends_when_its_time_is_over() {
    let fixture = RepoFixture::new();
    let end = |timeout| run(&fixture.root, "sleep 0.4", timeout).exit;
    assert_eq!(end(Duration::from_millis(50)), Exit::TimedOut);
    assert_eq!(end(Duration::from_secs(20)), Exit::Code(0));
}

#[test]
fn output_is_kept_up_to_a_limit() {
    let fixture = RepoFixture::new();
    let print = |script: &str| run(&fixture.root, script, Duration::from_secs(20)).output;
    assert_eq!(print("seq 3").text, "begun\n1\n2\n3\n");
    let output = print("seq 40000");
    assert!(
        output.text.starts_with("begun\n1\n2\n") && output.text.ends_with("39999\n40000\n"),
        "{}",
        output.text
    );
    assert!(output.text.len() < 1100 && output.omitted_bytes > 100_000, "{}", output.text.len());
}

#[test]
fn nothing_a_command_started_outlives_it() {
    let fixture = RepoFixture::new();
    let begin = "sleep 1000 > /dev/null 2>&1 & echo $! > pid; kill -0 $! && echo it runs";
    assert_eq!(run(&fixture.root, begin, Duration::from_secs(20)).output.text, "begun\nit runs\n");
    let pid: i32 =
        std::fs::read_to_string(fixture.root.join("pid")).unwrap().trim().parse().unwrap();
    assert!(
        rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_err()
    );
}
