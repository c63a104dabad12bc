//! The network of a command in namespaces of its own: the loopback interface, and the one socket
//! that leads out of it.
//!
//! The socket listens inside and is served by a proxy outside: it is handed over the channel
//! between the two. Everything here is done between fork and exec, in plain system calls without
//! memory being taken, but for [`receive`].

use std::io;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, bind, netlink, recv, recvmsg,
    sendmsg, sendto, socket_with,
};

/// Where the proxy is found, as seen from inside a network that one command has for itself.
pub(crate) const PROXY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// Connections that wait for the proxy.
const BACKLOG: i32 = 128;

/// Bytes of a message that changes an interface: its head, and what it says of the interface.
const LENGTH: usize = 32;

/// What the kernel calls an answer that says whether it was done.
const ERROR: u16 = 2;

/// The byte that is sent along with the socket.
const SOCKET: u8 = b'S';

/// Starts the first interface of a new network, which is the loopback: a message to the kernel's
/// table of interfaces, and its answer.
///
/// # Errors
/// What the kernel says.
pub(crate) fn start() -> Result<(), Errno> {
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_ACK).unwrap_or_default();
    let up = libc::IFF_UP.cast_unsigned().to_ne_bytes();
    let mut message = [0_u8; LENGTH];
    let fields: [(usize, &[u8]); 6] = [
        (0, &32_u32.to_ne_bytes()),
        (4, &libc::RTM_NEWLINK.to_ne_bytes()),
        (6, &flags.to_ne_bytes()),
        // Which interface, its flags, and which of them change.
        (20, &1_i32.to_ne_bytes()),
        (24, &up),
        (28, &up),
    ];
    for (at, bytes) in fields {
        if let Some(place) = message.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let kernel = netlink::SocketAddrNetlink::new(0, 0);
    sendto(&socket, &message, SendFlags::empty(), &kernel)?;
    let mut answer = [0_u8; 128];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    let number =
        |at: usize| answer.get(..length)?.get(at..at + 4)?.try_into().ok().map(i32::from_ne_bytes);
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    match (kind, number(16)) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(errno)) => Err(Errno::from_raw_os_error(-errno)),
        _ => Err(Errno::PROTO),
    }
}

/// Makes the socket that a proxy outside is to serve.
///
/// # Errors
/// What the kernel says.
pub(crate) fn listen(at: &SocketAddrV4) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, at)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Hands the socket out.
///
/// # Errors
/// What the kernel says.
pub(crate) fn hand_over(channel: impl AsFd, socket: &OwnedFd) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [socket.as_fd()];
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Errno::NOBUFS);
    }
    sendmsg(channel, &[IoSlice::new(&[SOCKET])], &mut control, SendFlags::empty()).map(drop)
}

/// Takes what was handed over.
///
/// # Errors
/// When it was something else.
pub(crate) fn receive(channel: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut said = [0];
    recvmsg(channel, &mut [IoSliceMut::new(&mut said)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sockets = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<OwnedFd>>(),
        _ => Vec::new(),
    });
    match (said, sockets.next()) {
        ([SOCKET], Some(socket)) => Ok(socket),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
