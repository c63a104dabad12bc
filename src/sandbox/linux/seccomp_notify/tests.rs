//! What the supervisor reads of a system call.

use std::net::{Ipv4Addr, SocketAddrV4};

use pretty_assertions::assert_eq;

use super::{
    ADDRESS_BYTES, AnsweredCalls, PROCESSES, SyscallKind, address_in, calls, is_available,
    socket_asked,
};
use crate::linux::file_facts;

#[test]
fn calls_can_be_answered_on_this_kernel() {
    assert!(is_available());
}

#[test]
fn calls_that_wait_are_those_asked_for() {
    let length = |sockets, processes, file_facts| {
        calls(AnsweredCalls { sockets, processes, file_facts }).len()
    };
    assert_eq!(length(false, false, false), 0);
    assert_eq!(length(true, false, false), 5);
    assert_eq!(length(true, true, false), 5 + PROCESSES.len());
    assert_eq!(length(false, false, true), 3 + file_facts::CALLS.len());
}

#[test]
fn only_streams_of_one_family_are_handed_out() {
    let asked = |family: i32, kind: i32, protocol: i32| {
        let [family, kind, protocol] = [family, kind, protocol].map(super::known);
        socket_asked([family, kind, protocol, 0, 0, 0])
    };
    let handed = |nonblocking, closed_at_exec| SyscallKind::Socket { nonblocking, closed_at_exec };
    let (stream, both) = (libc::SOCK_STREAM, libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
    assert_eq!(asked(libc::AF_INET, stream, 0), handed(false, 0));
    assert_eq!(
        asked(libc::AF_INET, stream | both, libc::IPPROTO_TCP),
        handed(true, libc::O_CLOEXEC.cast_unsigned())
    );
    // What stands in the upper half the kernel does not see either.
    assert_eq!(socket_asked([1 << 32 | 2, 1, 0, 0, 0, 0]), handed(false, 0));
    for (family, kind, protocol) in [
        (libc::AF_INET6, stream, 0),
        (libc::AF_UNIX, stream, 0),
        (libc::AF_NETLINK, libc::SOCK_RAW, 0),
        (libc::AF_PACKET, stream, 0),
        (libc::AF_VSOCK, stream, 0),
        (-1, stream, 0),
        (libc::AF_INET, libc::SOCK_DGRAM, 0),
        (libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_TCP),
        (libc::AF_INET, libc::SOCK_SEQPACKET, 0),
        (libc::AF_INET, stream | 0x100, 0),
        (libc::AF_INET, stream, libc::IPPROTO_SCTP),
        (libc::AF_INET, stream, libc::IPPROTO_MPTCP),
    ] {
        assert_eq!(asked(family, kind, protocol), SyscallKind::Other, "{family} {kind} {protocol}");
    }
}

#[test]
fn an_address_is_read_as_the_kernel_reads_it() {
    let mut bytes = [0; ADDRESS_BYTES];
    bytes[..2].copy_from_slice(&2_u16.to_ne_bytes());
    bytes[2..8].copy_from_slice(&[0x0c, 0x38, 127, 0, 0, 1]);
    assert_eq!(address_in(bytes), Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128)));
    bytes[..2].copy_from_slice(&10_u16.to_ne_bytes());
    assert_eq!(address_in(bytes), None);
}
