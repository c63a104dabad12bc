//! What a child does to itself between being made and becoming a program: plain system calls on
//! what was made before, no memory taken, no lock waited for.
//!
//! With `seccomp_notify`, `inside`, `setup` and `process` the only places with `unsafe`: what a
//! child does before it is a program can only be said through `pre_exec`.
#![expect(clippy::disallowed_types, reason = "steps are given to a command about to be started")]

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::DumpableBehavior;
use rustix::thread::UnshareFlags;

use crate::linux::loopback;
use crate::linux::restrictions::ChildRestrictions;

/// The kernel's preference for ending a command when memory is short, from -1000 to 1000, as text.
const ENDED_FIRST: &[u8] = b"800";

/// How much a command lets others go before it, from -20 to 19.
const NICE: i32 = 5;

/// Lets the child take a step before it becomes the program.
#[expect(
    unsafe_code,
    reason = "the child must change itself before it becomes the program; there is no other way"
)]
pub(in crate::linux) fn before_exec(
    command: &mut std::process::Command,
    step: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec the steps of this file only do async-signal-safe things: plain
    // system calls on what was made before, no memory taken, no lock waited for. The processes
    // forked on the way do nothing else either and never return from here.
    unsafe {
        command.pre_exec(step);
    }
}

/// Restricts the calling process, and hands out the descriptor its calls come in on.
pub(super) fn restrict(own: &mut ChildRestrictions, notify: Option<&UnixStream>) -> io::Result<()> {
    own.apply()?;
    notify.map_or(Ok(()), |channel| own.notify(channel))
}

/// Hands out what the calling process finds at these paths: its namespaces, its root.
pub(super) fn hand_out(channel: &OwnedFd, paths: &[&CStr]) -> Result<(), Errno> {
    for &path in paths {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let held = rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty())?;
        loopback::hand_over(channel, &held)?;
    }
    Ok(())
}

/// Does something to the process's own files in `/proc`: one that others cannot look into does not
/// own them.
pub(super) fn with_own_files(act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    let done = act();
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    done
}

/// Gives everything else on this machine precedence over the command: for the processor, and when
/// memory runs out.
pub(super) fn go_first() -> io::Result<()> {
    let first = || {
        let file = rustix::fs::open(
            c"/proc/self/oom_score_adj",
            OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(rustix::io::write(&file, ENDED_FIRST).map(drop)?)
    };
    // A container may keep both to itself; the other limits stand.
    let _ = with_own_files(first);
    let _ = rustix::process::nice(NICE);
    Ok(())
}

#[expect(unsafe_code, reason = "namespaces are made by a child that has one thread")]
pub(super) fn unshare(namespaces: i32) -> io::Result<()> {
    let flags = UnshareFlags::from_bits_retain(namespaces.cast_unsigned());
    // SAFETY: descriptors are not among what is unshared, and there are no other threads.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Puts one descriptor where input is, and closes every other.
pub(super) fn keep_only(kept: &OwnedFd) {
    // Both fail only where there is no such descriptor.
    let _ = rustix::stdio::dup2_stdin(kept);
    let _ = close_range(1, 0);
}

/// Sees to it that the program gets its three streams and no other descriptor.
pub(in crate::linux) fn close_others_at_exec() -> io::Result<()> {
    close_range(3, libc::CLOSE_RANGE_CLOEXEC)
}

#[expect(unsafe_code, reason = "descriptors of others are closed in processes that never use them")]
fn close_range(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: either only a flag is set, or the process uses no descriptor afterwards but its
    // input.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    match closed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ends the process without anything else being done.
#[expect(unsafe_code, reason = "a forked process must not run what the program does when it ends")]
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}
