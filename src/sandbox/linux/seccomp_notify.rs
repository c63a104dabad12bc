//! The seccomp user-notification supervisor: system calls of commands that this program answers
//! itself. Where commands have no network of their own, it answers every call for a socket, with
//! one that is already connected to the proxy. Where the kernel does not count their processes, it
//! answers every call for another one. Where they have no view of their own, it answers every call
//! that changes mode, owner or times of a file (`file_facts`).
//!
//! In: the descriptor on which calls of a command wait, where the proxy listens, who counts, and
//! where the command may write. Out: answers. The command itself can connect nothing: where a
//! socket leads is settled before it has it. So no memory of the command is trusted. The filters
//! refuse what else its sockets could do: send without a connection, listen, change their route
//! (`syscalls`).
#![expect(
    clippy::disallowed_methods,
    reason = "the address that a call names is read from the caller's memory"
)]

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::ioctl::{Setter, Updater, ioctl};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::linux::file_facts::{self, FileFactsCall, WritablePlaces};
use crate::linux::loopback;
use crate::linux::process_tree::ProcessCounter;

/// Sockets that are being connected at once; further calls wait.
const OPENING_AT_ONCE: usize = 32;

/// Longest wait for a connection to the proxy of this program.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for a call that is tried.
const TRIAL_PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The part of a socket's kind without its flags.
const KIND_MASK: u64 = 0xf;

/// Bytes of an address of the internet's fourth version.
const ADDRESS_BYTES: usize = size_of::<libc::sockaddr_in>();

/// Calls that ask for a socket or a connection.
const SOCKETS: &[i64] = &[libc::SYS_socket, libc::SYS_connect];

/// Calls that make a process or a thread. There is one more, whose flags cannot be seen: the
/// filters say that it does not exist.
#[cfg(target_arch = "x86_64")]
const PROCESSES: &[i64] = &[libc::SYS_clone, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const PROCESSES: &[i64] = &[libc::SYS_clone];

/// Which calls wait for an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnsweredCalls {
    /// Those for sockets and connections.
    pub(crate) sockets: bool,
    /// Those for new processes and threads.
    pub(crate) processes: bool,
    /// Those that change mode, owner or times of a file.
    pub(crate) file_facts: bool,
}

/// Returns the program for the kernel that lets calls wait. Empty when none are to.
pub(crate) fn calls(answered: AnsweredCalls) -> Vec<libc::sock_filter> {
    let step = |code: u32, jt: usize, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: u8::try_from(jt).unwrap_or_default(),
        jf: 0,
        k,
    };
    let AnsweredCalls { sockets, processes, file_facts } = answered;
    let wanted: Vec<i64> =
        [(sockets, SOCKETS), (processes, PROCESSES), (file_facts, file_facts::CALLS)]
            .iter()
            .filter(|(wanted, _)| *wanted)
            .flat_map(|(_, calls)| *calls)
            .copied()
            .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    // Other numberings are refused by the filters before this one: the strictest answer counts.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (place, call) in wanted.iter().enumerate() {
        let number = u32::try_from(*call).unwrap_or(u32::MAX);
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, wanted.len() - place, number));
    }
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_USER_NOTIF));
    steps
}

/// Lets calls of the calling process, and of all that descend from it, wait for an answer. Returns
/// where the calls come in. Takes no memory: it runs between fork and exec.
///
/// # Errors
/// What the kernel says; it knows one such descriptor for a process only.
#[expect(unsafe_code, reason = "the kernel hands out the listener only with this call")]
pub(crate) fn install(calls: &mut [libc::sock_filter]) -> Result<OwnedFd, Errno> {
    let program = libc::sock_fprog {
        len: u16::try_from(calls.len()).unwrap_or_default(),
        filter: calls.as_mut_ptr(),
    };
    // A program that is signalled often would ask again and again if signals ended the wait.
    let flags =
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel reads the program, which lives until the call returns, and gives a
    // descriptor without another owner.
    unsafe {
        match libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const program,
        ) {
            listener @ 0.. => {
                Ok(OwnedFd::from_raw_fd(i32::try_from(listener).map_err(|_| Errno::BADF)?))
            }
            _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOSYS)),
        }
    }
}

/// Tries on a thread of its own whether calls can be answered here.
pub(crate) fn is_available() -> bool {
    let (sender, listeners) = mpsc::channel();
    let caller = std::thread::spawn(move || {
        rustix::thread::set_no_new_privs(true).ok()?;
        sender
            .send(
                install(&mut calls(AnsweredCalls { sockets: true, ..AnsweredCalls::default() }))
                    .ok()?,
            )
            .ok()?;
        let socket = rustix::net::socket(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::STREAM,
            None,
        )
        .ok()?;
        rustix::net::connect(&socket, &loopback::PROXY).ok()
    });
    let answered = listeners.recv().is_ok_and(|listener| {
        (0..2).all(|_| {
            let mut ready = [PollFd::new(&listener, PollFlags::IN)];
            let came = poll(&mut ready, Some(&TRIAL_PATIENCE)).is_ok_and(|count| count == 1);
            came && SupervisedSyscall::next(&listener).is_ok_and(|call| match call.request {
                SyscallKind::Socket { .. } => call.hand(&listener, &listener, 0).is_ok(),
                SyscallKind::Connection { .. }
                | SyscallKind::Process
                | SyscallKind::FileFacts(_)
                | SyscallKind::Other => call.reply(&listener, SyscallReply::Done).is_ok(),
            })
        })
    });
    // Without a listener the caller gets errors: it ends in any case.
    drop(listeners);
    caller.join().ok().flatten().is_some() && answered
}

/// What calls are granted from.
pub(crate) struct SyscallGrants {
    /// Where sockets lead; `None` where none are handed out.
    pub(crate) proxy: Option<SocketAddr>,
    /// Counts new processes; `None` where the kernel counts them.
    pub(crate) counter: Option<ProcessCounter>,
    /// Where mode, owner and times of files may be changed.
    pub(crate) writable: WritablePlaces,
}

/// Answers the calls of one command. It ends when this is dropped: calls that come later fail.
pub(crate) struct Supervisor {
    answering: JoinHandle<()>,
}

impl Supervisor {
    /// Answers what comes in on a listener. Has to be called inside a runtime.
    ///
    /// # Errors
    /// When the listener cannot be waited on.
    #[expect(
        unsafe_code,
        reason = "the runtime asks for the word that the descriptor stays open while it waits on it"
    )]
    pub(crate) fn on(listener: OwnedFd, grants: SyscallGrants) -> io::Result<Self> {
        // SAFETY: the listener is owned and stays the same descriptor until it is dropped, after
        // its registration.
        let listener = unsafe { AsyncFd::register_with_interest(listener, Interest::READABLE)? };
        let listener = Arc::new(listener);
        Ok(Self { answering: tokio::spawn(answer_all(listener, grants)) })
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

async fn answer_all(listener: Arc<AsyncFd<OwnedFd>>, mut grants: SyscallGrants) {
    let mut opening = JoinSet::new();
    loop {
        let Ok(mut ready) = listener.readable().await else { return };
        match ListenerState::on(listener.get_ref()) {
            ListenerState::Call => {}
            ListenerState::None => {
                ready.clear_ready();
                continue;
            }
            ListenerState::Ended => return,
        }
        // The caller may be gone by now, which does not matter to the others, here and below.
        let Ok(call) = SupervisedSyscall::next(listener.get_ref()) else { continue };
        match (call.request, grants.proxy) {
            (SyscallKind::Socket { nonblocking, closed_at_exec }, Some(proxy)) => {
                let listener = Arc::clone(&listener);
                opening.spawn(async move {
                    let opened = timeout(OPENING_TIMEOUT, TcpStream::connect(proxy))
                        .await
                        .unwrap_or_else(|late| Err(late.into()));
                    let socket = opened.and_then(TcpStream::into_std);
                    let socket = socket
                        .and_then(|socket| socket.set_nonblocking(nonblocking).map(|()| socket));
                    let _answered = match socket {
                        Ok(socket) => call.hand(listener.get_ref(), &socket, closed_at_exec),
                        Err(_) => {
                            call.reply(listener.get_ref(), SyscallReply::Refused(Errno::NFILE))
                        }
                    };
                });
            }
            (SyscallKind::Connection { is_to_proxy }, _) => {
                let answer = if is_to_proxy {
                    SyscallReply::Done
                } else {
                    SyscallReply::Refused(Errno::NETUNREACH)
                };
                let _answered = call.reply(listener.get_ref(), answer);
            }
            (SyscallKind::Process, _) => {
                let admitted = grants.counter.as_mut().is_none_or(ProcessCounter::admits);
                let _answered = call.reply(
                    listener.get_ref(),
                    if admitted {
                        SyscallReply::Continue
                    } else {
                        SyscallReply::Refused(Errno::AGAIN)
                    },
                );
            }
            (SyscallKind::FileFacts(asked), _) => {
                let is_waiting = || call.is_waiting(listener.get_ref());
                let answer = match asked.perform(&grants.writable, is_waiting) {
                    Ok(()) => SyscallReply::Done,
                    Err(errno) => SyscallReply::Refused(errno),
                };
                let _answered = call.reply(listener.get_ref(), answer);
            }
            (SyscallKind::Other | SyscallKind::Socket { .. }, _) => {
                let _answered = call.reply(listener.get_ref(), SyscallReply::Refused(Errno::PERM));
            }
        }
        while opening.len() >= OPENING_AT_ONCE || opening.try_join_next().is_some() {
            if opening.len() >= OPENING_AT_ONCE {
                let _opened = opening.join_next().await;
            }
        }
    }
}

/// What is to be done on a listener.
enum ListenerState {
    Call,
    None,
    /// Every process of the command has ended.
    Ended,
}

impl ListenerState {
    fn on(listener: &OwnedFd) -> Self {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        let looked = poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let [ready] = ready.map(|one| one.revents());
        match looked {
            Ok(_) if ready.contains(PollFlags::IN) => Self::Call,
            Ok(_) if ready.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
                Self::Ended
            }
            Ok(_) | Err(_) => Self::None,
        }
    }
}

/// A call that waits for its answer.
struct SupervisedSyscall {
    id: u64,
    request: SyscallKind,
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyscallKind {
    /// A socket of the only kind there is: a stream of the internet's fourth version.
    Socket { nonblocking: bool, closed_at_exec: u32 },
    /// A connection; every socket has one already.
    Connection {
        /// Whether it is to the address of the proxy.
        is_to_proxy: bool,
    },
    /// A new process or thread.
    Process,
    /// A change of mode, owner or times of a file.
    FileFacts(FileFactsCall),
    /// Something that is not to be had.
    Other,
}

/// What is answered where no socket is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyscallReply {
    /// It is done already.
    Done,
    /// The kernel is to do it as it was asked. Only for calls that nothing can be changed about
    /// meanwhile.
    Continue,
    Refused(Errno),
}

impl SupervisedSyscall {
    /// Takes the next call.
    ///
    /// # Errors
    /// What the kernel says; most often that the caller is gone.
    #[expect(
        unsafe_code,
        reason = "a call is taken by an ioctl that the kernel knows by its shape"
    )]
    fn next(listener: &OwnedFd) -> Result<Self, Errno> {
        let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        let mut taken = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
        // SAFETY: the number names this shape, which the kernel wants to be zero and fills.
        unsafe { ioctl(listener, Updater::<{ RECEIVE }, libc::seccomp_notif>::new(&mut taken))? };
        let request = match i64::from(taken.data.nr) {
            libc::SYS_socket => socket_asked(taken.data.args),
            libc::SYS_connect => {
                SyscallKind::Connection { is_to_proxy: is_to_proxy(taken.pid, taken.data.args) }
            }
            call if PROCESSES.contains(&call) => SyscallKind::Process,
            call if file_facts::CALLS.contains(&call) => SyscallKind::FileFacts(FileFactsCall {
                process: taken.pid,
                number: call,
                arguments: taken.data.args,
            }),
            _ => SyscallKind::Other,
        };
        Ok(Self { id: taken.id, request })
    }

    /// Puts a socket into the caller and lets it have its number.
    ///
    /// # Errors
    /// What the kernel says.
    #[expect(
        unsafe_code,
        reason = "a call is answered by an ioctl that the kernel knows by its shape"
    )]
    fn hand(
        &self,
        listener: &OwnedFd,
        socket: impl AsFd,
        closed_at_exec: u32,
    ) -> Result<(), Errno> {
        let answer = libc::seccomp_notif_addfd {
            id: self.id,
            flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SEND).unwrap_or_default(),
            srcfd: u32::try_from(socket.as_fd().as_raw_fd()).map_err(|_| Errno::BADF)?,
            newfd: 0,
            newfd_flags: closed_at_exec,
        };
        // SAFETY: the number names this shape, which the kernel only reads.
        unsafe { ioctl(listener, Setter::<{ HAND }, libc::seccomp_notif_addfd>::new(answer)) }
    }

    /// Whether the caller still waits for an answer.
    #[expect(
        unsafe_code,
        reason = "a call is asked for by an ioctl that the kernel knows by its shape"
    )]
    fn is_waiting(&self, listener: &OwnedFd) -> bool {
        // SAFETY: the number names this shape, which the kernel only reads.
        unsafe { ioctl(listener, Setter::<{ WAITS }, u64>::new(self.id)) }.is_ok()
    }

    /// Answers without a socket.
    ///
    /// # Errors
    /// What the kernel says.
    #[expect(
        unsafe_code,
        reason = "a call is answered by an ioctl that the kernel knows by its shape"
    )]
    fn reply(&self, listener: &OwnedFd, reply: SyscallReply) -> Result<(), Errno> {
        let (error, flags) = match reply {
            SyscallReply::Done => (0, 0),
            SyscallReply::Continue => (0, CONTINUE),
            SyscallReply::Refused(errno) => (-errno.raw_os_error(), 0),
        };
        let mut answer = libc::seccomp_notif_resp { id: self.id, val: 0, error, flags };
        // SAFETY: the number names this shape.
        unsafe {
            ioctl(listener, Updater::<{ ANSWER }, libc::seccomp_notif_resp>::new(&mut answer))
        }
    }
}

/// Says in an answer that the kernel is to do what was asked.
const CONTINUE: u32 = 1;

/// How the kernel numbers what can be done on a listener.
const RECEIVE: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::read_write::<libc::seccomp_notif>(b'!', 0);
const ANSWER: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::read_write::<libc::seccomp_notif_resp>(b'!', 1);
const WAITS: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<u64>(b'!', 2);
const HAND: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::write::<libc::seccomp_notif_addfd>(b'!', 3);

/// The kernel looks at the lower half of these arguments only.
fn socket_asked([family, kind, protocol, ..]: [u64; 6]) -> SyscallKind {
    let [family, kind, protocol] =
        [family, kind, protocol].map(|argument| argument & u64::from(u32::MAX));
    let [inet, stream, tcp] = [libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP].map(known);
    let [nonblocking, closed_at_exec] = [libc::SOCK_NONBLOCK, libc::SOCK_CLOEXEC].map(known);
    let has_unknown_flags = kind & !(KIND_MASK | nonblocking | closed_at_exec) != 0;
    if family != inet
        || kind & KIND_MASK != stream
        || has_unknown_flags
        || !(protocol == 0 || protocol == tcp)
    {
        return SyscallKind::Other;
    }
    let closed_at_exec =
        if kind & closed_at_exec == 0 { 0 } else { libc::O_CLOEXEC.cast_unsigned() };
    SyscallKind::Socket { nonblocking: kind & nonblocking != 0, closed_at_exec }
}

fn known(number: i32) -> u64 {
    u64::from(number.cast_unsigned())
}

/// Returns whether a call means to reach the proxy. It only matters to the caller: what its socket
/// is connected to is settled. So where its memory cannot be read, it gets the proxy.
fn is_to_proxy(process: u32, [_, address, length, ..]: [u64; 6]) -> bool {
    if length & u64::from(u32::MAX) < ADDRESS_BYTES as u64 {
        return false;
    }
    let mut bytes = [0; ADDRESS_BYTES];
    let read = File::open(format!("/proc/{process}/mem"))
        .and_then(|memory| memory.read_exact_at(&mut bytes, address));
    read.is_err() || address_in(bytes) == Some(loopback::PROXY)
}

fn address_in(bytes: [u8; ADDRESS_BYTES]) -> Option<SocketAddrV4> {
    let [family @ .., b, c, d, e, f, g, _, _, _, _, _, _, _, _] = bytes;
    let is_inet = i32::from(u16::from_ne_bytes(family)) == libc::AF_INET;
    is_inet.then(|| SocketAddrV4::new(Ipv4Addr::new(d, e, f, g), u16::from_be_bytes([b, c])))
}

#[cfg(test)]
mod tests;
