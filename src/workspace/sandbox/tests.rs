//! A hostile command, tried once with the sandbox and once without: every attack must fail inside and succeed outside, so that none
//! fails for a reason of its own. Where the kernel cannot hold it, these tests fail.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests prepare files, sockets and a victim, and take the time")]

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use super::{Level, Reach, Sandbox, SandboxError, Writes};
use crate::base::path::RepoPath;
use crate::base::secret::Redactor;
use crate::policy::Policy;
use crate::policy::command::Script;
use crate::policy::intent::{Act, Facts, Intent};
use crate::policy::schema::{self, CommandLimits};
use crate::workspace::exec::{self, CommandRun, ExecError, Exit};

/// A checkout, a home with a secret, and a folder that is nobody's business.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    env: BTreeMap<String, String>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
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

    fn sandbox(&self, wanted: schema::Sandbox) -> Sandbox {
        let limits = CommandLimits { sandbox: wanted, ..CommandLimits::default() };
        let sandbox = Sandbox::prepare(&limits, &self.env).unwrap();
        assert_eq!(sandbox.holds(), wanted == schema::Sandbox::Required, "this kernel: {:?}", sandbox.level);
        sandbox
    }

    fn run(&self, script: &str, sandbox: &Sandbox) -> Result<(Exit, String), ExecError> {
        self.run_as(script, sandbox, Writes::Entries)
    }

    fn run_as(&self, script: &str, sandbox: &Sandbox, writes: Writes) -> Result<(Exit, String), ExecError> {
        let file = self.root.join("script.sh");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let script = Script::parse("./script.sh");
        let policy = Policy::parse("version: 1\nrules:\n  - allow: \"command(./script.sh)\"\n", "policy.yml").unwrap();
        let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
        let permit = policy.admit(OneCommand(script.clone()), &facts).unwrap();
        let git = [self.root.join(".git")];
        let visible = |path: &RepoPath| path.as_str() != ".env";
        let command = CommandRun {
            script: &script,
            folder: self.root.clone(),
            env: &self.env,
            timeout: Duration::from_secs(20),
            output_bytes: 10_000,
            redactor: &Redactor::default(),
            sandbox,
            reach: Reach { root: &self.root, git: &git, writes, git_settings: false, visible: &visible },
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(exec::run(&permit, command)).map(|output| (output.exit, output.output.text))
    }
}

struct OneCommand(Script);

impl Act for OneCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

/// Runs each attack in a fresh place, outside and then inside.
fn check(attacks: &[(&str, String)]) {
    for (name, script) in attacks {
        for (wanted, succeeds) in [(schema::Sandbox::Off, true), (schema::Sandbox::Required, false)] {
            let place = Place::new();
            let script = script.replace("$OUTSIDE", &place.outside.display().to_string());
            let (exit, output) = place.run(&script, &place.sandbox(wanted)).unwrap();
            assert_eq!(exit == Exit::Code(0), succeeds, "{name} with the sandbox {wanted:?}: {exit:?}\n{output}");
        }
    }
}

fn attacks(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    list.iter().map(|(name, script)| (*name, (*script).to_owned())).collect()
}

#[test]
fn nothing_outside_and_nothing_protected_is_written() {
    check(&attacks(&[
        ("write outside", "echo x > $OUTSIDE/new"),
        ("change outside", "echo x >> $OUTSIDE/file"),
        ("cut outside", ": > $OUTSIDE/file"),
        ("remove outside", "rm $OUTSIDE/file"),
        ("write through a link", "echo x > door/new"),
        ("carry in from outside", "ln $OUTSIDE/file src/link"),
        ("write to the temporary folder of all", "echo x > /tmp/locum-sandbox-test-$$ && rm /tmp/locum-sandbox-test-$$"),
        ("change git's settings", "echo x >> .git/config"),
        ("cut git's settings", ": > .git/config"),
        ("make a hook", "echo x > .git/hooks/pre-commit"),
        ("link a hook", "ln src/a .git/hooks/pre-commit"),
        ("point to a hook", "ln -s ../../src/a .git/hooks/pre-commit"),
        ("move a hook in", "mv src/a .git/hooks/pre-commit"),
        ("move git's folder away", "mv .git src/git"),
        ("change a workflow", "echo x >> .github/workflows/ci.yml"),
        ("make a workflow", "echo x > .github/workflows/new.yml"),
        ("remove the policy", "rm .locum/policy.yml"),
        ("make a folder agents read", "mkdir .claude"),
        ("make a file agents read", "echo x > CLAUDE.md"),
    ]));
}

#[test]
fn no_credential_is_read() {
    check(&attacks(&[
        ("a key of the home", "cat $OUTSIDE/../home/.ssh/id_ed25519"),
        ("a listing of the home", "ls $OUTSIDE/../home/.ssh"),
        ("the environment file", "cat .env"),
        ("git's settings with a token in them", "cat .git/config"),
        ("the environment of this program", "cat /proc/$PPID/environ"),
        ("the memory of this program", "exec 3< /proc/$PPID/mem"),
        ("the open files of this program", "readlink /proc/$PPID/fd/0"),
        ("a file outside", "cat $OUTSIDE/file"),
    ]));
}

#[test]
fn no_socket_reaches_anything() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let name = format!("locum-{}", uuid::Uuid::now_v7());
    let _hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _named = UnixListener::bind(&path).unwrap();
    let perl = |code: String| format!("exec perl -MSocket -e '{code}'");
    check(&[
        ("tcp", perl(format!("socket(S,AF_INET,SOCK_STREAM,0) or die $!; connect(S,sockaddr_in({port},INADDR_LOOPBACK)) or die $!"))),
        ("listening", perl("socket(S,AF_INET,SOCK_STREAM,0) or die $!; bind(S,sockaddr_in(0,INADDR_LOOPBACK)) or die $!".to_owned())),
        ("tcp 6", perl("socket(S,AF_INET6,SOCK_STREAM,0) or die $!".to_owned())),
        (
            "udp",
            perl(format!("socket(S,AF_INET,SOCK_DGRAM,0) or die $!; send(S,\"x\",0,sockaddr_in({udp_port},INADDR_LOOPBACK)) or die $!")),
        ),
        ("netlink", perl("socket(S,16,SOCK_RAW,0) or die $!".to_owned())),
        ("hidden name", perl(format!("socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"\\0{name}\")) or die $!"))),
        ("named", perl(format!("socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"{}\")) or die $!", path.display()))),
    ]);
    udp.set_nonblocking(true).unwrap();
    let mut arrived = 0;
    while udp.recv(&mut [0; 8]).is_ok() {
        arrived += 1;
    }
    assert_eq!(arrived, 1, "the one sent outside");
}

#[test]
fn other_processes_are_left_alone() {
    let mut victim = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    let call = |number: i64, arguments: &str| format!("exec perl -e 'exit(syscall({number},{arguments}) < 0 && $!{{EPERM}})'");
    check(&[
        ("signal this program", "kill -0 $PPID".to_owned()),
        ("signal a process outside", format!("kill -0 {}", victim.id())),
        ("limit this program", "prlimit --pid $PPID --core=1:1 2>&1".to_owned()),
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
fn what_only_an_administrator_may_is_refused_by_the_sandbox_itself() {
    let place = Place::new();
    let sandbox = place.sandbox(schema::Sandbox::Required);
    for number in [libc::SYS_mount, libc::SYS_bpf, libc::SYS_reboot, libc::SYS_init_module, libc::SYS_kexec_load, libc::SYS_chroot] {
        let script = format!("exec perl -e 'exit(syscall({number},0,0,0,0,0) < 0 && $!{{EPERM}} ? 7 : 0)'");
        assert_eq!(place.run(&script, &sandbox).unwrap().0, Exit::Code(7), "{number}");
    }
    let (_, status) = place.run("cat /proc/self/status; ulimit -c; ulimit -p", &sandbox).unwrap();
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    let limits: Vec<u64> = status.lines().rev().take(2).map(|line| line.parse().unwrap()).collect();
    assert!(limits[0] <= super::PROCESSES_LIMIT && limits[1] == 0, "{limits:?}");
}

#[test]
fn everyday_work_goes_on() {
    let place = Place::new();
    let sandbox = place.sandbox(schema::Sandbox::Required);
    for script in [
        "echo x > src/new && mkdir -p src/deep/er && mv src/new src/deep/er/new && rm -r src/deep",
        "echo x >> top && cat top",
        "ln src/a src/b && ln -s a src/c && cat src/c",
        "echo x > \"$TMPDIR/t\" && echo y > ~/h && cat \"$TMPDIR/t\" ~/h",
        "cat .git/HEAD .github/workflows/ci.yml .locum/policy.yml",
        "echo a | sort | tee /dev/null && cat < /dev/null && head -c 4 /dev/urandom > /dev/null",
        "(sleep 0.01 &) ; kill -0 $$ && nproc && id -u && date && ls -la . > /dev/null",
        "perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or die $!; my $p = fork; exit 0 unless $p; waitpid $p,0'",
        "exec 3> \"$TMPDIR/l\"; flock 3; mkfifo \"$TMPDIR/f\"",
    ] {
        let (exit, output) = place.run(script, &sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{script}\n{output}");
    }
    assert!(!place.home.join("h").exists(), "the home is not the real one");
}

#[test]
fn a_command_reaches_as_far_as_it_is_known() {
    let place = Place::new();
    let sandbox = place.sandbox(schema::Sandbox::Required);
    for (writes, inside, top) in [(Writes::Nothing, false, false), (Writes::Entries, true, false), (Writes::Everything, true, true)] {
        let fine = |script: &str| place.run_as(script, &sandbox, writes).unwrap().0 == Exit::Code(0);
        assert_eq!((fine("echo x > src/new"), fine("echo x > new && rm new")), (inside, top), "{writes:?}");
        assert!(!fine(&format!("echo x > {}/new", place.outside.display())) && !fine("cat ~/../home/.ssh/id_ed25519"), "{writes:?}");
    }
}

#[test]
fn a_kernel_that_gives_too_little_runs_nothing_where_a_sandbox_is_required() {
    let place = Place::new();
    for level in
        [Level::default(), Level { files: false, ..Level::obtained() }, Level { syscalls: false, network: false, ..Level::obtained() }]
    {
        for (wanted, runs) in [(schema::Sandbox::Required, false), (schema::Sandbox::BestEffort, true)] {
            let limits = CommandLimits { sandbox: wanted, ..CommandLimits::default() };
            let sandbox = Sandbox::on(&limits, &place.env, level).unwrap();
            assert!(!sandbox.holds());
            match place.run("true", &sandbox) {
                Ok((exit, _)) => assert!(runs && exit == Exit::Code(0), "{level:?} {wanted:?}"),
                Err(ExecError::Sandbox(SandboxError::Below(missing))) => assert!(!runs && missing.contains("not held"), "{missing}"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn tells_what_it_costs() {
    let place = Place::new();
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
    let (plain, inside) = (time(&place.sandbox(schema::Sandbox::Off)), time(&place.sandbox(schema::Sandbox::Required)));
    println!("a command: plain {plain:?}, sandboxed {inside:?}");
}
