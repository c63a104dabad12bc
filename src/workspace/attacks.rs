//! Attacks on the checkout and on commands, each with and without the one guard that stops it.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::collections::BTreeMap;
use std::time::Duration;

use crate::base::guard::{Guard, stops};
use crate::base::secret::Redactor;
use crate::policy::Policy;
use crate::policy::command::Script;
use crate::policy::intent::{Act, Facts, Intent};
use crate::workspace::exec::{self, CommandOutput, CommandRun, Exit};
use crate::workspace::fixture::{Fixture, path, permit};
use crate::workspace::sandbox::{Reach, Sandbox, Writes};

/// Runs a script whose text the policy spells out.
fn run(folder: &std::path::Path, text: &str, timeout: Duration) -> CommandOutput {
    std::fs::write(folder.join("attack.sh"), text).unwrap();
    let script = Script::parse("echo begun; sh attack.sh");
    let policy = "version: 1\ncommands: { sandbox: off }\nrules:\n  - allow: ['command(echo:*)', 'command(sh attack.sh)', 'read(**)']\n";
    let permit = Policy::parse(policy, "policy.yml").unwrap().admit(OneCommand(script.clone()), &Facts::default()).unwrap();
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let command = CommandRun {
        script: &script,
        folder: folder.to_owned(),
        env: &env,
        timeout,
        output_bytes: 1000,
        redactor: &Redactor::default(),
        sandbox: &Sandbox::around_nothing(),
        reach: Reach { root: folder, git: &[], writes: Writes::Entries, git_settings: false, visible: &|_| true, policy: None },
        proxy: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(exec::run(&permit, command)).unwrap()
}

struct OneCommand(Script);

impl Act for OneCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

#[test]
fn a_link_put_in_place_of_a_judged_file_is_not_followed() {
    let fixture = Fixture::new();
    let outside = fixture.root.parent().unwrap().join("outside");
    std::fs::write(&outside, "outside").unwrap();
    fixture.link(outside.to_str().unwrap(), "src/swapped");
    fixture.link("../..", "old/up");
    for at in ["src/swapped", "old/up/outside"] {
        let permit = permit(&[Intent::Read(path(at))]);
        stops(Guard::NoLinks, || fixture.repo.checkout.read(&permit, &path(at), 99).is_ok_and(|content| content == b"outside"));
    }
}

#[test]
fn a_pipe_is_not_opened_as_a_file() {
    let fixture = Fixture::new();
    let (at, mode) = (fixture.root.join("src/pipe"), rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let permit = permit(&[Intent::Read(path("src/pipe"))]);
    stops(Guard::RegularFiles, || fixture.repo.checkout.read(&permit, &path("src/pipe"), 99).is_ok());
}

#[test]
fn gits_own_folder_is_not_written_even_with_a_permit() {
    let fixture = Fixture::new();
    let at = path("src/.git/hooks/pre-commit");
    // No policy gives such a permit; the floor below does not rely on it.
    stops(Guard::GitFolder, || fixture.repo.checkout.put_file(&at, b"x", super::write::Executable::AsBefore).is_ok());
}

#[test]
fn a_command_ends_when_its_time_is_over() {
    let fixture = Fixture::new();
    stops(Guard::CommandTime, || run(&fixture.root, "sleep 0.4", Duration::from_millis(50)).exit == Exit::Code(0));
}

#[test]
fn output_is_kept_up_to_a_limit() {
    let fixture = Fixture::new();
    stops(Guard::BoundedOutput, || run(&fixture.root, "seq 40000", Duration::from_secs(20)).output.text.len() > 100_000);
}

#[test]
fn nothing_a_command_started_outlives_it() {
    let fixture = Fixture::new();
    stops(Guard::NothingLeftRunning, || {
        run(&fixture.root, "sleep 1000 > /dev/null 2>&1 & echo $! > pid", Duration::from_secs(20));
        let pid: i32 = std::fs::read_to_string(fixture.root.join("pid")).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let alive = rustix::process::test_kill_process(pid).is_ok();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        alive
    });
}
