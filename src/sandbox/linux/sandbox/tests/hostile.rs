//! A program in C that tries every way out, so that no interpreter stands between it and the
//! kernel. Where a way is open outside for anybody, that is checked too: no attack fails for a
//! reason of its own.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::{SandboxFixture, sandboxes_of};
use crate::exec::Exit;
use crate::level::{ProcessLimit, SandboxLevel};
use crate::linux::sandbox::Sandbox;
use crate::reach::WriteAccess;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::schema::{self, CommandLimits};

/// How the program ends when it was not permitted to, and when something else stopped it.
const NOT_PERMITTED: i32 = 10;
const STOPPED: i32 = 11;

/// Returns a place with the program in it.
fn place() -> SandboxFixture {
    static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("hostile.c"), folder.path().join("hostile"));
        std::fs::write(&source, include_str!("hostile.c")).unwrap();
        let built = Command::new("cc")
            .arg("-O1")
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .output()
            .expect("`cc` is needed for this test");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        std::fs::read(&program).unwrap()
    });
    let place = SandboxFixture::new();
    let at = place.root.join("hostile");
    // Copied by another program, as a file that this one wrote may still be held open by a child of
    // another test.
    let written = place.root.join("hostile.bytes");
    std::fs::write(&written, program).unwrap();
    assert!(Command::new("cp").arg(&written).arg(&at).status().unwrap().success());
    std::fs::remove_file(&written).unwrap();
    std::fs::set_permissions(&at, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place
}

fn attack(place: &SandboxFixture, words: &str, sandbox: &Sandbox) -> (Exit, String) {
    place.run(&format!("exec ./hostile {words}"), sandbox).unwrap()
}

#[test]
fn no_way_out_that_is_open_to_anybody_is_open_inside() {
    let (tcp, tcp6) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("[::1]:0").unwrap());
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("locum-{}", uuid::Uuid::now_v7());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let named = UnixListener::bind(&path).unwrap();
    let mut victim = Command::new("sleep").arg("1000").spawn().unwrap();
    let port = |address: std::io::Result<std::net::SocketAddr>| address.unwrap().port();
    let ways = [
        format!("tcp {}", port(tcp.local_addr())),
        format!("fastopen {}", port(tcp.local_addr())),
        format!("tcp6 {}", port(tcp6.local_addr())),
        format!("udp {}", port(udp.local_addr())),
        format!("named {}", path.display()),
        format!("hidden-name {name}"),
        format!("signal {}", victim.id()),
        format!("trace {}", victim.id()),
        format!("read-memory {}", victim.id()),
        format!("pidfd {}", victim.id()),
        format!("priority {}", victim.id()),
        "write $OUTSIDE/new".to_owned(),
        "truncate $OUTSIDE/file".to_owned(),
        "truncate .github/workflows/ci.yml".to_owned(),
        "read $OUTSIDE/file".to_owned(),
        "read .env".to_owned(),
        "read web/deep/server.key".to_owned(),
        "link $OUTSIDE/new".to_owned(),
        "link-in $OUTSIDE/file".to_owned(),
        "rename $OUTSIDE/file".to_owned(),
        "rename .github/workflows/ci.yml".to_owned(),
        "rename .git/HEAD".to_owned(),
        "exchange .git".to_owned(),
        "exchange .github".to_owned(),
        "keyctl".to_owned(),
        "add-key".to_owned(),
        "privileges".to_owned(),
    ];
    for way in &ways {
        let place = place();
        let words = way.replace("$OUTSIDE", &place.outside.display().to_string());
        let (exit, output) = attack(&place, &words, &place.sandbox(schema::SandboxSetting::Off));
        assert_eq!(exit, Exit::Code(0), "{way} outside: {output}");
    }
    let count = || {
        let mut arrived = 0;
        for listener in [&tcp, &tcp6] {
            listener.set_nonblocking(true).unwrap();
            arrived += std::iter::from_fn(|| listener.accept().ok()).count();
        }
        for listener in [&hidden, &named] {
            listener.set_nonblocking(true).unwrap();
            arrived += std::iter::from_fn(|| listener.accept().ok()).count();
        }
        udp.set_nonblocking(true).unwrap();
        arrived + std::iter::from_fn(|| udp.recv(&mut [0; 8]).ok()).count()
    };
    assert_eq!(count(), 7, "what arrived from outside");
    for way in &ways {
        for sandbox in sandboxes_of(&SandboxFixture::new().env) {
            let place = place();
            let words = way.replace("$OUTSIDE", &place.outside.display().to_string());
            let (exit, output) = attack(&place, &words, &sandbox);
            assert!(
                matches!(exit, Exit::Code(NOT_PERMITTED | STOPPED)),
                "{way}, {:?}: {exit:?} {output}",
                sandbox.level
            );
        }
    }
    assert_eq!(count(), 0, "what arrived from inside");
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[test]
fn a_socket_that_was_handed_out_leads_to_the_proxy_alone() {
    let (tcp, tcp6) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("[::1]:0").unwrap());
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let [port, port6, udp_port] = [tcp.local_addr(), tcp6.local_addr(), udp.local_addr()]
        .map(|address| address.unwrap().port());
    let policy = Policy::parse(
        "version: 1\ncommands: { network: policy }\nnetwork: { allow: [docs.rs] }\n",
        "policy.yml",
    )
    .unwrap();
    let limits = policy.settings().commands.clone();
    let level = SandboxLevel { namespaces: false, ..SandboxLevel::obtained() };
    // With the kernel's rules for connections, and without them: each wall has to hold alone.
    for (level, second_wall) in [(level, true), (SandboxLevel { files: false, ..level }, false)] {
        let limits = CommandLimits {
            sandbox: if second_wall { limits.sandbox } else { schema::SandboxSetting::BestEffort },
            ..limits.clone()
        };
        for way in [
            format!("tcp {port}"),
            format!("tcp6 {port6}"),
            format!("udp {udp_port}"),
            format!("fastopen {port}"),
            format!("fastopen-message {port}"),
            format!("fastopen-messages {port}"),
            format!("reconnect {port}"),
            format!("race {port}"),
            "wait-for-others".to_owned(),
            "route".to_owned(),
            "fast-connect".to_owned(),
            "raw".to_owned(),
            "packet".to_owned(),
            "vsock".to_owned(),
            "audit".to_owned(),
            "io-uring".to_owned(),
        ] {
            let place = place();
            let words = format!("exec ./hostile {way}");
            if second_wall && !["raw", "packet", "vsock", "audit", "route"].contains(&way.as_str())
            {
                let (exit, output) = place
                    .run(&format!("{words} 1000000"), &place.sandbox(schema::SandboxSetting::Off))
                    .unwrap();
                assert_eq!(exit, Exit::Code(0), "{way} outside: {output}");
            }
            tcp.set_nonblocking(true).unwrap();
            udp.set_nonblocking(true).unwrap();
            let arrived = || {
                std::iter::from_fn(|| tcp.accept().ok()).count()
                    + std::iter::from_fn(|| udp.recv(&mut [0; 8]).ok()).count()
            };
            arrived();
            let sandbox = Sandbox::on(&limits, &place.env, level)
                .unwrap()
                .with_hosts_of(&policy, &Facts::default());
            let (exit, output) = place.run(&words, &sandbox).unwrap();
            assert!(
                matches!(exit, Exit::Code(NOT_PERMITTED | STOPPED)),
                "{way}: {exit:?} {output}"
            );
            assert_eq!(arrived(), 0, "{way}");
        }
    }
}

#[test]
fn what_most_kernels_or_users_are_refused_anyway_is_refused_by_the_sandbox() {
    // A descriptor that the next program would get if it stayed open.
    let _kept = rustix::io::dup(std::io::stdin()).unwrap();
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        let place = place();
        for way in [
            "raw",
            "raw6",
            "packet",
            "old-packet",
            "vsock",
            "bluetooth",
            "crypto",
            "audit",
            "mount",
            "unmount src",
            "open-tree",
            "fsopen",
            "pivot",
            "chroot",
            "unshare-user",
            "clone-user",
            "clone3",
            "setns",
            "io-uring",
            "userfaultfd",
            "bpf",
            "perf",
            "kexec",
            "module",
            "handle",
            "clock",
            "hostname",
            "reboot",
            "second-numbering",
            "terminal",
            "descriptors",
            "descriptor-bomb",
            "file-bomb",
        ] {
            let (exit, output) = attack(&place, way, &sandbox);
            assert_eq!(exit, Exit::Code(NOT_PERMITTED), "{way}, {:?}: {output}", sandbox.level);
        }
    }
}

#[test]
fn a_command_with_too_many_processes_ends_with_all_of_them() {
    let level = SandboxLevel::obtained();
    let is_root = rustix::process::geteuid().is_root();
    let first_wall = SandboxLevel { namespaces: false, ..level };
    let mut limits = vec![
        (level, if is_root { ProcessLimit::Namespace } else { ProcessLimit::User }),
        (first_wall, if is_root { ProcessLimit::Answered } else { ProcessLimit::User }),
    ];
    if is_root {
        limits.push((SandboxLevel { pids: false, ..level }, ProcessLimit::Answered));
        limits.push((SandboxLevel { pids: false, calls: false, ..level }, ProcessLimit::Looked));
        limits.push((SandboxLevel { calls: false, ..first_wall }, ProcessLimit::Looked));
    }
    for (level, limit) in limits {
        assert_eq!(level.process_limit(), limit, "{level:?}");
        let mut sandbox =
            Sandbox::on(&CommandLimits::default(), &SandboxFixture::new().env, level).unwrap();
        sandbox.limits.set(200, 1 << 30);
        let place = place();
        let name = unique(&place);
        let (exit, output) = place.run(&format!("exec ./{name} crowd 400"), &sandbox).unwrap();
        // What counts refuses the next one; what only looks ends them all.
        let expected = if limit == ProcessLimit::Looked {
            Exit::TooManyProcesses
        } else {
            Exit::Code(NOT_PERMITTED)
        };
        assert_eq!(exit, expected, "{level:?}: {output}");
        assert_eq!(running(&name), 0, "{:?}", sandbox.level);
        let (exit, _) = place
            .run_for(
                &format!("exec ./{name} crowd 20"),
                &sandbox,
                WriteAccess::Entries,
                Duration::from_secs(1),
            )
            .unwrap();
        assert_eq!(exit, Exit::TimedOut, "a few are fine");
        assert_eq!(running(&name), 0, "{:?}", sandbox.level);
    }
}

#[test]
fn nothing_hides_from_the_end_of_its_command() {
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        let place = place();
        let name = unique(&place);
        let (exit, output) =
            place.run(&format!("./{name} hide; ./{name} hide & wait; exit 0"), &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{output}");
        assert_eq!(running(&name), 0, "{:?}", sandbox.level);
    }
}

#[test]
fn a_command_cannot_take_all_memory() {
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        let mut sandbox = sandbox;
        sandbox.limits.set(4096, 512 << 20);
        let place = place();
        let (exit, output) = place.run("exec ./hostile memory-bomb", &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(NOT_PERMITTED), "{output}");
        let (_, output) = place.run("cat /proc/self/oom_score_adj", &sandbox).unwrap();
        assert!(
            output.trim().parse::<i32>().unwrap() >= 500,
            "the kernel ends it before this program: {output}"
        );
    }
}

/// Gives the program a name of its own, by which its processes are known.
fn unique(place: &SandboxFixture) -> String {
    let name = format!("h{}", &uuid::Uuid::now_v7().simple().to_string()[20..]);
    std::fs::hard_link(place.root.join("hostile"), place.root.join(&name)).unwrap();
    name
}

fn running(name: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| {
            std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|comm| comm.trim() == name)
        })
        .count()
}
