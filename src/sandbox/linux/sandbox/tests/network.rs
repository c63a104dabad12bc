//! What commands reach over a network, and over sockets of this machine.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;

use pretty_assertions::{assert_eq, assert_ne};

use super::{SandboxFixture, check};
use crate::exec::{ExecError, Exit};
use crate::level::SandboxLevel;
use crate::linux::sandbox::{Sandbox, SandboxError};
use crate::network::Connector;
use crate::network::proxy::NetworkProxy;
use crate::samples::RecordingTransport;
use locum_policy::Policy;
use locum_policy::intent::{Connection, Facts};
use locum_policy::schema::{self, CommandLimits};

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
        (
            "tcp",
            perl(format!(
                "socket(S,AF_INET,SOCK_STREAM,0) or die $!; \
                 connect(S,sockaddr_in({port},INADDR_LOOPBACK)) or die $!"
            )),
        ),
        (
            "udp",
            perl(format!(
                "socket(S,AF_INET,SOCK_DGRAM,0) or die $!; \
                 connect(S,sockaddr_in({udp_port},INADDR_LOOPBACK)) or die $!; send(S,\"x\",0); \
                 send(S,\"x\",0) or die $!"
            )),
        ),
        ("netlink of the auditors", perl("socket(S,16,SOCK_RAW,9) or die $!".to_owned())),
        (
            "hidden name",
            perl(format!(
                "socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"\\0{name}\")) \
                 or die $!"
            )),
        ),
        (
            "named",
            perl(format!(
                "socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"{}\")) or die \
                 $!",
                path.display()
            )),
        ),
    ]);
    udp.set_nonblocking(true).unwrap();
    let mut arrived = 0;
    while udp.recv(&mut [0; 8]).is_ok() {
        arrived += 1;
    }
    assert_eq!(arrived, 2, "those sent outside");
    tcp.set_nonblocking(true).unwrap();
    assert!(tcp.accept().is_ok() && tcp.accept().is_err(), "the one connected outside");
}

#[test]
fn a_program_that_listens_is_reached_by_its_own_kind_where_there_are_namespaces() {
    let place = SandboxFixture::new();
    let talk = |family: &str, address: &str| {
        format!(
            "exec perl -MSocket=:all -e 'socket(L,{family},SOCK_STREAM,0) or die $!; \
             bind(L,{address}) or die $!; listen(L,5) or die $!; if (!fork) {{ accept(C,L) or die \
             $!; syswrite C, \"hello\"; exit }} socket(S,{family},SOCK_STREAM,0) or die $!; \
             connect(S,getsockname(L)) or die $!; sysread(S,my $b,5); wait; exit($b ne \"hello\")'"
        )
    };
    let [with, without] =
        place.sandboxes(schema::SandboxSetting::Required).try_into().ok().unwrap();
    for script in [
        talk("AF_INET", "sockaddr_in(0,INADDR_LOOPBACK)"),
        talk("AF_INET6", "sockaddr_in6(0,inet_pton(AF_INET6,\"::1\"))"),
        talk("AF_UNIX", "sockaddr_un(\"$ENV{TMPDIR}/s\")"),
        talk("AF_UNIX", "sockaddr_un(\"/var/tmp/s\")"),
    ] {
        let (exit, output) = place.run(&script, &with).unwrap();
        assert_eq!(exit, Exit::Code(0), "{script}\n{output}");
        assert_ne!(place.run(&script, &without).unwrap().0, Exit::Code(0), "{script}");
    }
}

#[test]
fn commands_reach_the_hosts_of_the_policy_through_the_proxy_and_nothing_else() {
    let policy = Policy::parse(
        "version: 1\ncommands: { network: policy }\nnetwork: { allow: ['http://good.example'] }\n",
        "policy.yml",
    )
    .unwrap();
    let place = SandboxFixture::new();
    // In place of the whole internet.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, port) = (server.local_addr().unwrap(), server.local_addr().unwrap().port());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = server.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
            );
        }
    });
    let script = |asked: &str| {
        format!(
            "exec perl -MSocket -e 'my ($host, $port) = $ENV{{HTTP_PROXY}} =~ m,^http://([0-9.]+):([0-9]+)$,; socket(S,AF_INET,SOCK_STREAM,0) or die $!; \
             connect(S,sockaddr_in($port,inet_aton($host))) or die $!; syswrite S, \"{asked} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\"; \
             local $/; print <S>'"
        )
    };
    let limits = policy.settings().commands.clone();
    let proxy = || {
        let (transport, connected) = RecordingTransport::new(address, &[]);
        // No test reads it, but the receiver has to stay alive.
        std::mem::forget(connected);
        let policy = policy.clone();
        NetworkProxy::new(
            Connector::new(Arc::new(transport)),
            Arc::new(move |to| policy.admit(Connection::Command(to), &Facts::default())),
        )
    };
    for namespaces in [true, false] {
        let level = SandboxLevel { namespaces, ..SandboxLevel::obtained() };
        assert!(level.calls, "this kernel cannot do what this test tries: {level:?}");
        let sandbox = Sandbox::on(&limits, &place.env, level)
            .unwrap()
            .with_hosts_of(&policy, &Facts::default());
        let run = |script: &str| place.run_through(script, &sandbox, Some(proxy())).unwrap();
        let output = run(&script("GET http://good.example/"));
        assert!(
            output.output.text.contains("200 OK") && output.output.text.ends_with("hello"),
            "{}",
            output.output.text
        );
        let traffic = output.traffic.unwrap();
        assert_eq!(traffic.verdicts.len(), 1, "{traffic:?}");
        for refused in [
            "GET http://bad.example/",
            "CONNECT good.example:22",
            "GET http://127.0.0.1/",
            "GET http://localhost/",
        ] {
            let output = run(&script(refused));
            assert!(output.output.text.contains("403"), "{refused}: {}", output.output.text);
        }
        let direct = format!(
            "exec perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0) or die $!; \
             connect(S,sockaddr_in({port},INADDR_LOOPBACK)) or die $!'"
        );
        assert_ne!(run(&direct).exit, Exit::Code(0), "beside the proxy");
        assert!(sandbox.proxy("code").is_some(), "a command of the tool gets one");
        // Without a proxy there is no answer. A connection may be made before the socket is closed.
        let output =
            place.run_through(&script("GET http://good.example/"), &sandbox, None).unwrap();
        assert!(!output.output.text.contains("HTTP/1.1"), "{}", output.output.text);
    }
    let level = SandboxLevel { namespaces: false, calls: false, ..SandboxLevel::obtained() };
    let without =
        Sandbox::on(&limits, &place.env, level).unwrap().with_hosts_of(&policy, &Facts::default());
    let error = place.run("true", &without).unwrap_err();
    assert!(matches!(error, ExecError::Sandbox(SandboxError::NoProxy)), "{error}");
    let off = Sandbox::prepare(
        &CommandLimits { sandbox: schema::SandboxSetting::Off, ..limits },
        &place.env,
    )
    .unwrap();
    assert!(
        matches!(place.run("true", &off), Err(ExecError::Sandbox(SandboxError::NoProxy))),
        "nothing holds them without a sandbox"
    );
}

#[test]
fn a_network_is_used_again_by_a_later_command_and_nothing_is_left_in_it() {
    let place = SandboxFixture::new();
    let sandbox = place.sandbox(schema::SandboxSetting::Required);
    let listens = "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); \
                   bind(S,sockaddr_in(4000,INADDR_LOOPBACK)) or die; listen(S,1) or die; \
                   socket(U,AF_UNIX,SOCK_STREAM,0); bind(U,sockaddr_un(\"\\0left\")) or die; \
                   if (fork) { print \"listens\\n\"; exit } sleep 1000'; \
                   readlink /proc/self/ns/net";
    let (exit, first) = place.run(listens, &sandbox).unwrap();
    assert_eq!(exit, Exit::Code(0), "{first}");
    let network = first.lines().find(|line| line.starts_with("net:")).unwrap();
    assert!(first.contains("listens"), "{first}");
    let look = "readlink /proc/self/ns/net; tail -n +2 /proc/net/tcp; grep left /proc/net/unix; \
                perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); \
                connect(S,sockaddr_in(4000,INADDR_LOOPBACK)) and print \"met somebody\"'; true";
    let (exit, second) = place.run(look, &sandbox).unwrap();
    assert_eq!((exit, second.trim()), (Exit::Code(0), network), "the same, and empty");
    let (_, own) = place
        .run("readlink /proc/self/ns/net", &place.sandbox(schema::SandboxSetting::Required))
        .unwrap();
    assert_ne!(own.trim(), network, "another run has others");
}
