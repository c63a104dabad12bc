//! What commands reach over a network, and over sockets of this machine.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use pretty_assertions::{assert_eq, assert_ne};

use super::{Place, check};
use crate::policy::schema;
use crate::workspace::exec::Exit;

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
        (
            "udp",
            perl(format!(
                "socket(S,AF_INET,SOCK_DGRAM,0) or die $!; connect(S,sockaddr_in({udp_port},INADDR_LOOPBACK)) or die $!; send(S,\"x\",0); send(S,\"x\",0) or die $!"
            )),
        ),
        ("netlink of the auditors", perl("socket(S,16,SOCK_RAW,9) or die $!".to_owned())),
        ("hidden name", perl(format!("socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"\\0{name}\")) or die $!"))),
        ("named", perl(format!("socket(S,AF_UNIX,SOCK_STREAM,0) or die $!; connect(S,sockaddr_un(\"{}\")) or die $!", path.display()))),
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
    let place = Place::new();
    let talk = |family: &str, address: &str| {
        format!(
            "exec perl -MSocket=:all -e 'socket(L,{family},SOCK_STREAM,0) or die $!; bind(L,{address}) or die $!; listen(L,5) or die $!; \
             if (!fork) {{ accept(C,L) or die $!; syswrite C, \"hello\"; exit }} \
             socket(S,{family},SOCK_STREAM,0) or die $!; connect(S,getsockname(L)) or die $!; sysread(S,my $b,5); wait; exit($b ne \"hello\")'"
        )
    };
    let [with, without] = place.sandboxes(schema::Sandbox::Required).try_into().ok().unwrap();
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
