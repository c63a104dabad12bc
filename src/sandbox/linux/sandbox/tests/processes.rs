//! What commands do to other processes, and ask of the kernel.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;

use super::{SandboxFixture, check};
use crate::exec::Exit;
use locum_policy::schema;

#[test]
fn other_processes_are_left_alone() {
    let mut victim = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    let call = |number: i64, arguments: &str| {
        format!("exec perl -e 'exit(syscall({number},{arguments}) < 0 && $!{{EPERM}})'")
    };
    let own = std::process::id();
    check(&[
        ("signal this program", format!("kill -0 {own}")),
        ("signal a process outside", format!("kill -0 {}", victim.id())),
        ("limit this program", format!("prlimit --pid {own} --core=1:1 2>&1")),
        ("trace", call(libc::SYS_ptrace, "0,0,0,0")),
        ("read memory", call(libc::SYS_process_vm_readv, "$$,0,0,0,0,0")),
        ("write memory", call(libc::SYS_process_vm_writev, "$$,0,0,0,0,0")),
        ("leave namespaces", call(libc::SYS_unshare, "0")),
        ("keys", call(libc::SYS_add_key, "0,0,0,0,0")),
        ("rings", call(libc::SYS_io_uring_setup, "0,0")),
    ]);
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[test]
fn a_command_that_makes_a_group_or_session_of_its_own_ends_when_it_ends() {
    let place = SandboxFixture::new();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    for (script, code) in
        [("exec timeout 5 true", 0), ("exec timeout 5 sh -c 'exit 3'", 3), ("exec setsid true", 0)]
    {
        let (exit, output) = place.run(script, &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(code), "{script}: {output}");
    }
}

#[test]
fn what_only_an_administrator_may_is_refused_by_the_sandbox_itself() {
    let place = SandboxFixture::new();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    for number in [
        libc::SYS_mount,
        libc::SYS_bpf,
        libc::SYS_reboot,
        libc::SYS_init_module,
        libc::SYS_kexec_load,
        libc::SYS_chroot,
    ] {
        let script =
            format!("exec perl -e 'exit(syscall({number},0,0,0,0,0) < 0 && $!{{EPERM}} ? 7 : 0)'");
        assert_eq!(place.run(&script, &sandbox).unwrap().0, Exit::Code(7), "{number}");
    }
    let (_, status) = place.run("cat /proc/self/status; ulimit -c; ulimit -p", &sandbox).unwrap();
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    let limits: Vec<u64> = status.lines().rev().take(2).map(|line| line.parse().unwrap()).collect();
    assert!(limits[0] <= 4096 && limits[1] == 0, "{limits:?}");
}

#[test]
fn settings_of_git_that_were_there_stay_when_the_sandbox_adds_its_own() {
    let place = SandboxFixture::new();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    let restrictions = sandbox.restrictions(&place.reach()).unwrap().unwrap();
    let mut env = BTreeMap::from([
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", "false"),
    ])
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    restrictions.env.adapt(&mut env);
    let value = |name: &str| env.get(name).map(String::as_str);
    assert_eq!(
        (value("GIT_CONFIG_COUNT"), value("GIT_CONFIG_KEY_0"), value("GIT_CONFIG_KEY_1")),
        (Some("2"), Some("core.fsmonitor"), Some("safe.directory"))
    );
}

#[test]
fn no_memory_that_all_processes_share_outlives_a_command() {
    let place = SandboxFixture::new();
    let key = std::process::id();
    let made = format!("perl -e 'exit(defined shmget({key}, 4096, 01666) ? 0 : 1)'");
    let found = ["-e", &format!("exit(defined shmget({key}, 0, 0) ? 0 : 1)")];
    let outside = || std::process::Command::new("perl").args(found).status().unwrap().success();
    for sandbox in place.sandboxes(schema::SandboxSetting::Required) {
        let (exit, output) = place.run(&made, &sandbox).unwrap();
        // In namespaces it has memory of its own.
        assert_eq!(exit == Exit::Code(0), sandbox.level.namespaces, "{output}");
        assert!(!outside(), "{:?}", sandbox.level);
    }
    let (exit, output) = place.run(&made, &place.sandbox(schema::SandboxSetting::Off)).unwrap();
    assert!(exit == Exit::Code(0) && outside(), "{output}");
    let removed = format!("shmctl(shmget({key}, 0, 0), 0, 0)");
    assert!(std::process::Command::new("perl").args(["-e", &removed]).status().unwrap().success());
}
