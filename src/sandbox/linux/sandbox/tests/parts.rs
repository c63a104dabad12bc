//! Each part of the sandbox taken away alone: what it holds is open then, and closed again with it.
//! And kernels that lack a part: each is made by a filter that answers for the kernel.

use std::collections::BTreeMap;
use std::net::UdpSocket;

use landlock::ABI;
use pretty_assertions::{assert_eq, assert_ne};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use super::SandboxFixture;
use crate::exec::{ExecError, Exit};
use crate::level::SandboxLevel;
use crate::linux::sandbox::{Sandbox, SandboxError};
use locum_policy::schema::{self, CommandLimits};

/// Checks that a script does something with one level and cannot do it with another.
fn held_by(script: &str, without: SandboxLevel, with: SandboxLevel) {
    for (level, succeeds) in [(without, true), (with, false)] {
        let place = SandboxFixture::new();
        let limits = CommandLimits {
            sandbox: schema::SandboxSetting::BestEffort,
            ..CommandLimits::default()
        };
        let sandbox = Sandbox::on(&limits, &place.env, level).unwrap();
        let script = script.replace("$OUTSIDE", &place.outside.display().to_string());
        let (exit, output) = place.run(&script, &sandbox).unwrap();
        assert_eq!(exit == Exit::Code(0), succeeds, "{script} with {level:?}: {exit:?} {output}");
    }
}

#[test]
fn each_part_holds_what_is_open_without_it() {
    let full = SandboxLevel::obtained();
    let first_wall = SandboxLevel { namespaces: false, ..full };
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let send = format!(
        "exec perl -MSocket -e 'socket(S,AF_INET,SOCK_DGRAM,0) or die $!; \
         connect(S,sockaddr_in({port},INADDR_LOOPBACK)) or die $!; send(S,\"x\",0); \
         send(S,\"x\",0) or die $!'"
    );
    held_by("echo x > $OUTSIDE/new", SandboxLevel { files: false, ..first_wall }, first_wall);
    held_by("grep . .env", SandboxLevel { files: false, ..first_wall }, first_wall);
    held_by(&send, SandboxLevel { syscalls: false, network: false, ..first_wall }, first_wall);
    held_by(&format!("test -d /proc/{}", std::process::id()), first_wall, full);
    // The second wall holds without the first one as well.
    let second_wall = SandboxLevel { files: false, syscalls: false, network: false, ..full };
    held_by(&send, SandboxLevel { namespaces: false, ..second_wall }, second_wall);
    held_by(
        "echo x >> .git/config",
        SandboxLevel { namespaces: false, ..second_wall },
        second_wall,
    );
    held_by("cat $OUTSIDE/file", SandboxLevel { namespaces: false, ..second_wall }, second_wall);
}

#[test]
fn every_version_of_the_interface_for_files_holds_what_is_told_of_it() {
    let level = SandboxLevel { namespaces: false, ..SandboxLevel::obtained() };
    assert!(level.landlock >= 6, "this kernel cannot hold what this test takes away: {level:?}");
    let mut victim = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    for version in 3..=i32::from(level.landlock) {
        let place = SandboxFixture::new();
        let mut sandbox = Sandbox::on(&CommandLimits::default(), &place.env, level).unwrap();
        sandbox.newest = ABI::from(version);
        let outside = place.outside.display();
        for held in [
            format!("echo x > {outside}/new"),
            format!("perl -e 'truncate(\"{outside}/file\", 0) or die $!'"),
            "perl -e 'truncate(\".github/workflows/ci.yml\", 0) or die $!'".to_owned(),
            format!("mv src/a {outside}/moved"),
            format!("ln {outside}/file src/link"),
            format!("cat {outside}/file"),
            "grep . .env".to_owned(),
            "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0) or die $!'".to_owned(),
            "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die $!'".to_owned(),
            format!("kill -0 {}", std::process::id()),
        ] {
            let (exit, output) = place.run(&held, &sandbox).unwrap();
            assert_ne!(exit, Exit::Code(0), "version {version}: {held}\n{output}");
        }
        assert_eq!(
            place.run("echo y >> src/a && mv src/a src/b && cat src/b top", &sandbox).unwrap().0,
            Exit::Code(0),
            "{version}"
        );
        let (exit, _) = place.run(&format!("kill -0 {}", victim.id()), &sandbox).unwrap();
        let claimed = SandboxLevel { landlock: u8::try_from(version).unwrap(), ..level };
        assert_eq!(exit != Exit::Code(0), claimed.holds_signals(), "version {version}");
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
}

/// Does something on a kernel that answers these calls with an error; what it starts is on that
/// kernel too.
fn on_a_kernel_without<T: Send + 'static>(
    calls: &[i64],
    errno: i32,
    act: impl FnOnce() -> T + Send + 'static,
) -> T {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect::<BTreeMap<_, _>>();
    let answer = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        answer,
        std::env::consts::ARCH.try_into().unwrap(),
    )
    .unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    let thread = std::thread::spawn(move || {
        seccompiler::apply_filter(&filter).unwrap();
        act()
    });
    thread.join().unwrap()
}

#[test]
fn a_kernel_without_landlock_runs_nothing_where_a_sandbox_is_required() {
    let error = on_a_kernel_without(&[libc::SYS_landlock_create_ruleset], libc::ENOSYS, || {
        let place = SandboxFixture::new();
        let level = SandboxLevel::obtained();
        assert_eq!((level.files, level.landlock, level.is_full()), (false, 0, false));
        let sandbox = Sandbox::prepare(&CommandLimits::default(), &place.env).unwrap();
        assert!(!sandbox.holds());
        place.run("true", &sandbox).unwrap_err()
    });
    assert!(matches!(error, ExecError::Sandbox(SandboxError::Below(_))), "{error}");
}

#[test]
fn a_runner_that_refuses_namespaces_gives_the_first_wall_and_says_why() {
    for (call, why) in [
        (libc::SYS_unshare, "making namespaces"),
        (libc::SYS_mount, "making a root"),
        (libc::SYS_pivot_root, "leaving the old root"),
        (libc::SYS_sendto, "starting the loopback network"),
    ] {
        on_a_kernel_without(&[call], libc::EPERM, move || {
            let (level, refused) = SandboxLevel::tried();
            assert!(level.is_full() && !level.namespaces, "{level:?}");
            assert!(
                refused.as_ref().is_some_and(|refused| refused.starts_with(why)),
                "{refused:?}"
            );
            let place = SandboxFixture::new();
            let sandbox = Sandbox::prepare(&CommandLimits::default(), &place.env).unwrap();
            assert_eq!(place.run("cat top", &sandbox).unwrap(), (Exit::Code(0), "top".to_owned()));
        });
    }
}
