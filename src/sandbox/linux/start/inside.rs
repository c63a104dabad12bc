//! Starts a command in namespaces of its own, with no process between it and this program but the
//! first one inside.
//!
//! In: the view, the restrictions, the program. Out: the first process of the namespaces, PID 1
//! inside and a child of this program, once the command itself runs; or what could not be had. A
//! helper that lives for a moment makes the namespaces and PID 1; PID 1 takes the view and starts
//! the command. Helper and command borrow the memory of whoever starts them until they end or
//! become the program, so that nothing is copied for them. PID 1 lives on and has its own.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::io::{self, PipeReader, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, setsid};

use crate::linux::loopback;
use crate::linux::process_tree::CommandMark;
use crate::linux::restrictions::ChildRestrictions;
use crate::linux::start::child::{
    close_others_at_exec, exit, go_first, hand_out, keep_only, restrict, unshare,
};
use crate::linux::start::pid1;
use crate::linux::view::SandboxView;
use crate::linux::view::stage::ViewStage;

/// Memory for the stack of a process that borrows everything else.
const STACK_BYTES: usize = 256 * 1024;

/// Where programs are looked for without a `PATH`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// What runs a file that the kernel cannot start by itself.
const SHELL: &CStr = c"/bin/sh";

/// What a command in namespaces of its own is started with.
pub(super) struct InNamespaces {
    pub(super) view: SandboxView,
    /// Where its first process hands out descriptors, and then its status.
    pub(super) status: OwnedFd,
    /// Whether it hands out its namespace of files.
    pub(super) shares_files: bool,
    /// Whether it hands out its network.
    pub(super) shares_network: bool,
    pub(super) folder: CString,
    pub(super) restrictions: ChildRestrictions,
    /// Where it hands out the descriptor that its calls come in on.
    pub(super) notify: Option<UnixStream>,
    pub(super) mark: CommandMark,
    /// Input, output and errors.
    pub(super) streams: [OwnedFd; 3],
    pub(super) program: ProgramWords,
}

/// A program as the kernel takes it.
pub(super) struct ProgramWords {
    /// Where it may lie, in the order in which they are tried.
    places: Vec<CString>,
    words: Vec<CString>,
    env: Vec<CString>,
}

impl ProgramWords {
    /// Returns the program as the kernel takes it.
    ///
    /// # Errors
    /// When a word or a variable has a zero byte in it.
    pub(super) fn of(words: &[String], env: &BTreeMap<String, String>) -> io::Result<Self> {
        let text = |text: String| CString::new(text).map_err(|_| io::ErrorKind::InvalidInput);
        let program = words.first().ok_or(io::ErrorKind::InvalidInput)?;
        let places = if program.contains('/') {
            vec![program.clone()]
        } else {
            let path = env.get("PATH").map_or(USUAL_PATH, String::as_str);
            let folders =
                path.split(':').map(|folder| if folder.is_empty() { "." } else { folder });
            folders.map(|folder| format!("{folder}/{program}")).collect()
        };
        Ok(Self {
            places: places.into_iter().map(text).collect::<Result<_, _>>()?,
            words: words.iter().cloned().map(text).collect::<Result<_, _>>()?,
            env: env
                .iter()
                .map(|(name, value)| text(format!("{name}={value}")))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// What could not be had, on the way to a command that runs.
#[derive(Clone, Copy)]
struct StartFailure {
    /// The part of the view; 0 for none.
    stage: u8,
    errno: i32,
}

/// All that the processes on the way share.
struct Starting {
    inside: InNamespaces,
    /// Where PID 1 says whether the command runs.
    result: OwnedFd,
    /// Pointers to the words, the variables, and the words for a shell, each list ended by a zero.
    words: Vec<*const c_char>,
    env: Vec<*const c_char>,
    shell_words: Vec<*const c_char>,
    /// The end of the stack of the command until it is one.
    stack_end: *mut c_void,
    /// Says when this program has ended.
    parent: OwnedFd,
    /// PID 1, as this program sees it.
    first: i32,
    failure: Option<StartFailure>,
}

/// Starts a command; returns PID 1 of its namespaces.
///
/// # Errors
/// When the namespaces, the view or the restrictions cannot be had, or the program not be started.
pub(super) fn start(inside: InNamespaces) -> io::Result<Pid> {
    let (reader, result) = io::pipe()?;
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        let pointers = texts.iter().map(|text| text.as_ptr());
        pointers.chain(std::iter::once(std::ptr::null())).collect()
    };
    let (words, env) = (pointers(&inside.program.words), pointers(&inside.program.env));
    // The shell, the file, which is filled in when it is known, and what follows it.
    let own = [SHELL.as_ptr(), std::ptr::null()];
    let shell_words = own.into_iter().chain(words.iter().copied().skip(1)).collect();
    let (mut helper_stack, mut command_stack) = (stack(), stack());
    let mut starting = Starting {
        inside,
        result: result.into(),
        words,
        env,
        shell_words,
        stack_end: end_of(&mut command_stack),
        parent: rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?,
        first: 0,
        failure: None,
    };
    let signals = SignalMask::block_all();
    let helper = borrowing_child(make_first, end_of(&mut helper_stack), &mut starting);
    drop(signals);
    let helper = helper?;
    while matches!(rustix::process::waitpid(Some(helper), WaitOptions::empty()), Err(Errno::INTR)) {
    }
    let (first, failure) = (starting.first, starting.failure);
    // Its end of what PID 1 says, above all.
    drop(starting);
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let first = Pid::from_raw(first).ok_or(io::ErrorKind::Other)?;
    match outcome(reader) {
        Ok(()) => Ok(first),
        Err(error) => {
            kill(first);
            Err(error)
        }
    }
}

/// Ends PID 1, and all in its namespaces with it.
pub(super) fn kill(first: Pid) {
    // Both fail only when it is gone.
    let _ = rustix::process::kill_process(first, Signal::KILL);
    let _ = rustix::process::waitpid(Some(first), WaitOptions::empty());
}

/// Waits until PID 1 says whether the command runs.
fn outcome(mut reader: PipeReader) -> io::Result<()> {
    let mut said = [0; 5];
    reader.read_exact(&mut said)?;
    let [stage, errno @ ..] = said;
    match i32::from_ne_bytes(errno) {
        0 => Ok(()),
        errno => Err(StartFailure { stage, errno }.into()),
    }
}

impl StartFailure {
    fn at(stage: ViewStage) -> impl Fn(Errno) -> Self {
        move |errno| Self { stage: stage as u8, errno: errno.raw_os_error() }
    }

    fn of(error: &io::Error) -> Self {
        let refused = Errno::PERM.raw_os_error();
        Self { stage: 0, errno: error.raw_os_error().unwrap_or(refused) }
    }
}

impl From<StartFailure> for io::Error {
    fn from(StartFailure { stage, errno }: StartFailure) -> Self {
        let error = Self::from_raw_os_error(errno);
        ViewStage::numbered(stage)
            .map_or(error, |stage| stage.explain(&Self::from_raw_os_error(errno)))
    }
}

/// What the helper does: it makes the namespaces, and PID 1 in them as a child of this program.
extern "C" fn make_first(starting: *mut c_void) -> libc::c_int {
    let starting = borrowed(starting);
    let made = || {
        let view = &starting.inside.view;
        view.join().map_err(StartFailure::at(ViewStage::Namespaces))?;
        unshare(view.namespaces()).map_err(|error| StartFailure {
            stage: ViewStage::Namespaces as u8,
            ..StartFailure::of(&error)
        })?;
        sibling().map_err(StartFailure::at(ViewStage::Processes))
    };
    match made() {
        Ok(0) => be_first(starting),
        Ok(first) => starting.first = first,
        Err(failure) => starting.failure = Some(failure),
    }
    0
}

/// What PID 1 does; it frees no memory, since another thread may have been at it when this process
/// was made. It takes the view, starts the command, and waits for it.
fn be_first(starting: &mut Starting) -> ! {
    let started = start_command(starting);
    let failure = started.err().unwrap_or(StartFailure { stage: 0, errno: 0 });
    let [one, two, three, four] = failure.errno.to_ne_bytes();
    // Fails only where nobody waits for it any more.
    let _ = rustix::io::write(&starting.result, &[failure.stage, one, two, three, four]);
    if let Ok(command) = started {
        keep_only(&starting.inside.status);
        pid1::wait_inside(command);
    }
    exit(0)
}

fn start_command(starting: &mut Starting) -> Result<Pid, StartFailure> {
    let processes = StartFailure::at(ViewStage::Processes);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(&processes)?;
    // Whoever started this may be gone already.
    let mut ends = [PollFd::new(&starting.parent, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut ends, Some(&now)).map_err(&processes)? > 0 {
        return Err(processes(Errno::PIPE));
    }
    setsid().map_err(&processes)?;
    starting.inside.mark.put_on_this_process();
    go_first().map_err(|error| StartFailure::of(&error))?;
    let taken = starting.inside.view.take();
    if let Some(held) = taken.map_err(|(stage, errno)| StartFailure::at(stage)(errno))? {
        loopback::hand_over(&starting.inside.status, &held)
            .map_err(StartFailure::at(ViewStage::Network))?;
    }
    let command =
        borrowing_child(become_program, starting.stack_end, starting).map_err(|error| {
            StartFailure { stage: ViewStage::Processes as u8, ..StartFailure::of(&error) }
        })?;
    match starting.failure {
        Some(failure) => Err(failure),
        None => Ok(command),
    }
}

/// What the command does until it is one. Comes back only when it cannot become the program.
extern "C" fn become_program(starting: *mut c_void) -> libc::c_int {
    let starting = borrowed(starting);
    let failure = match prepare(&mut starting.inside) {
        Ok(()) => execute(starting),
        Err(error) => StartFailure::of(&error),
    };
    starting.failure = Some(failure);
    127
}

fn prepare(inside: &mut InNamespaces) -> io::Result<()> {
    if inside.shares_files {
        hand_out(&inside.status, &[c"/proc/self/ns/mnt", c"/"])?;
    }
    if inside.shares_network {
        hand_out(&inside.status, &[c"/proc/self/ns/net"])?;
    }
    rustix::process::chdir(&inside.folder)?;
    let [input, output, errors] = &inside.streams;
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(errors)?;
    restrict(&mut inside.restrictions, inside.notify.as_ref())?;
    close_others_at_exec()?;
    as_programs_expect_signals();
    Ok(())
}

/// Becomes the program: the first of its places where there is one that may be started.
fn execute(starting: &mut Starting) -> StartFailure {
    let mut worst = Errno::NOENT;
    for place in &starting.inside.program.places {
        match become_file(place, &starting.words, &starting.env) {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => worst = Errno::ACCESS,
            Errno::NOEXEC => {
                if let Some(file) = starting.shell_words.get_mut(1) {
                    *file = place.as_ptr();
                }
                worst = become_file(SHELL, &starting.shell_words, &starting.env);
                break;
            }
            errno => {
                worst = errno;
                break;
            }
        }
    }
    StartFailure { stage: 0, errno: worst.raw_os_error() }
}

/// Becomes a program; returns why it did not.
#[expect(unsafe_code, reason = "a process becomes a program by lists of pointers")]
fn become_file(place: &CStr, words: &[*const c_char], env: &[*const c_char]) -> Errno {
    // SAFETY: both lists end with a zero, and what they point to lives in `Starting`.
    unsafe { libc::execve(place.as_ptr(), words.as_ptr(), env.as_ptr()) };
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOEXEC)
}

/// Returns what the processes on the way share.
#[expect(unsafe_code, reason = "the kernel passes on a pointer that says nothing of what it is to")]
fn borrowed<'a>(starting: *mut c_void) -> &'a mut Starting {
    // SAFETY: `borrowing_child` passes a `Starting` that nobody else uses until the child is over.
    unsafe { &mut *starting.cast::<Starting>() }
}

fn stack() -> Vec<MaybeUninit<u128>> {
    Vec::with_capacity(STACK_BYTES / size_of::<u128>())
}

/// Returns where a stack begins: at its end.
fn end_of(stack: &mut Vec<MaybeUninit<u128>>) -> *mut c_void {
    stack.spare_capacity_mut().as_mut_ptr_range().end.cast()
}

/// Starts a child that borrows the memory of this process, which waits until the child has ended or
/// become a program.
#[expect(
    unsafe_code,
    reason = "a child without memory of its own can be asked for in no other way"
)]
fn borrowing_child(
    act: extern "C" fn(*mut c_void) -> libc::c_int,
    stack_end: *mut c_void,
    starting: &mut Starting,
) -> io::Result<Pid> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is the child's alone and large enough for the few calls it makes; it grows
    // down from its end, which is aligned. The caller waits meanwhile, so `starting` has one user
    // at a time. The child makes system calls only.
    let number = unsafe { libc::clone(act, stack_end, flags, std::ptr::from_mut(starting).cast()) };
    match (number > 0).then(|| Pid::from_raw(number)).flatten() {
        Some(child) => Ok(child),
        None => Err(io::Error::last_os_error()),
    }
}

/// Forks into new namespaces a process whose parent is that of the caller; 0 in the new process.
#[expect(unsafe_code, reason = "the first process of namespaces can only be forked into them")]
fn sibling() -> Result<i32, Errno> {
    let none = std::ptr::null_mut::<c_void>();
    let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
    // SAFETY: a fork with a copy of all memory, the caller's stack with it. It is asked of the
    // kernel itself so that no handler of a library runs; the new process only makes system calls.
    let number = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    match i32::try_from(number) {
        Ok(number) if number >= 0 => Ok(number),
        Ok(_) | Err(_) => {
            Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN))
        }
    }
}

/// The signals that were let through; let through again when dropped.
struct SignalMask(libc::sigset_t);

impl SignalMask {
    /// Lets no signal through to this thread: a handler must not run in a child that borrows its
    /// memory, nor in one that only waits.
    #[expect(unsafe_code, reason = "which signals come through is set by an old interface")]
    fn block_all() -> Self {
        let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: each call fills what the next one, or the return, reads.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self(before.assume_init())
        }
    }
}

impl Drop for SignalMask {
    #[expect(unsafe_code, reason = "which signals come through is set by an old interface")]
    fn drop(&mut self) {
        // SAFETY: the set was filled by the kernel.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
    }
}

/// Lets every signal through, and a closed pipe end the process: programs begin like that.
#[expect(unsafe_code, reason = "which signals come through is set by an old interface")]
fn as_programs_expect_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` fills what the next call reads; handlers are this process's alone.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::ProgramWords;

    #[test]
    fn a_program_is_looked_for_along_the_path_it_is_given() {
        let places = |program: &str, path: Option<&str>| {
            let env = path.map(|path| ("PATH".to_owned(), path.to_owned()));
            let env: BTreeMap<String, String> = env.into_iter().collect();
            let words = ProgramWords::of(&[program.to_owned()], &env).unwrap();
            words.places.iter().map(|place| place.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(places("x", Some("/a::/b")), ["/a/x", "./x", "/b/x"]);
        assert_eq!(places("x", None), ["/bin/x", "/usr/bin/x"]);
        assert_eq!(places("./x", Some("/a")), ["./x"]);
        assert!(ProgramWords::of(&["a\0b".to_owned()], &BTreeMap::new()).is_err());
        assert!(ProgramWords::of(&[], &BTreeMap::new()).is_err());
    }
}
