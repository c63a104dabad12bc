//! What commands may not ask of the kernel: sockets to anywhere, other processes, namespaces,
//! mounts, and the interfaces that have been ways out of sandboxes before.
//!
//! In: whether the network is open, and how unix sockets are held. Out: filters ready to be loaded
//! by a child. What is not named here stays allowed: files are the other half's business (`files`).

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Filters that a child loads one after the other; the strictest answer counts.
pub(crate) type Filters = Vec<BpfProgram>;

/// How much of the network commands may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketAccess {
    /// No socket that could be connected to anything. Pairs of connected sockets stay.
    None,
    /// Those that this program hands out, connected as they are.
    Handed,
    /// The internet protocols, where addresses are those of namespaces of its own.
    Unnamed,
    /// Sockets of the internet protocols.
    Internet,
    /// The internet protocols and sockets with names, where names and addresses are those of
    /// namespaces of its own.
    Own,
}

/// Whose processes commands see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessVisibility {
    /// Those of every user.
    Shared,
    /// Their own, under numbers of their own.
    Own,
}

/// System calls that make what all processes of the machine share and no command would remove:
/// memory, semaphores and queues. In namespaces they belong to the command.
const SHARED_MEMORY: &[i64] =
    &[libc::SYS_shmget, libc::SYS_semget, libc::SYS_msgget, libc::SYS_mq_open];

/// The number of that limit, which C libraries have as different types.
/// Source: Linux, `include/uapi/asm-generic/resource.h`.
const RLIMIT_RTTIME: i32 = 15;

/// `kexec_file_load`, which `libc` does not name for musl on ARM64.
/// Source: Linux, `include/uapi/asm-generic/unistd.h`.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: libc::c_long = 294;
/// `kexec_file_load`.
#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: libc::c_long = libc::SYS_kexec_file_load;

/// System calls that are refused whatever their arguments are.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Other views of the machine.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Parts of the kernel with much behind them, and no use in a build.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_lookup_dcookie,
    // The machine itself.
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_nfsservctl,
];

/// System calls that change the attributes of a file, which the kernel's rules for files do not
/// hold. Where commands have no view of their own, no file has any: what copies them goes on.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Newer calls that change attributes of files or set their flags: `setxattrat`, `removexattrat`
/// and `file_setattr`. They have the same number on every machine.
const NEWER_ATTRIBUTES: &[i64] = &[463, 466, 469];

/// Requests that change the flags of a file: `FS_IOC_SETFLAGS`, in both widths, and
/// `FS_IOC_FSSETXATTR`.
const FILE_FLAGS: &[u64] = &[0x4008_6602, 0x4004_6602, 0x401c_5820];

/// The same for system calls that only some machines have.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// Flags of `clone` that make a namespace.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Families of sockets the internet needs: the protocols, and the kernel's own table of addresses.
const INTERNET: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The same with sockets that have names.
const OWN: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_UNIX];

/// Kinds of sockets that are made by hand what the kernel makes otherwise. The table of addresses
/// is asked over one of them.
const BY_HAND: &[i32] = &[libc::SOCK_RAW, OLD_PACKET];

/// Type by which raw packets were requested before they had a family.
const OLD_PACKET: i32 = 10;

/// Settings of a connected socket, each with its level, by which what it sends could take another
/// way.
const ROUTES: &[(i32, i32)] = &[
    (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
    (libc::SOL_SOCKET, libc::SO_BINDTOIFINDEX),
    (libc::SOL_SOCKET, libc::SO_MARK),
    (libc::IPPROTO_TCP, libc::TCP_REPAIR),
    (libc::IPPROTO_TCP, libc::TCP_FASTOPEN),
    (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT),
];

/// The part of a socket's kind without its flags.
const KIND_MASK: u64 = 0xf;

/// Requests that put characters into the input of a terminal.
const TERMINAL_INPUT: &[libc::Ioctl] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// The first number of system calls in the second numbering that x86_64 has; nothing that is built
/// today uses it.
const SECOND_NUMBERING: u32 = 0x4000_0000;

/// Makes the filters.
///
/// # Errors
/// On a machine whose system calls are not known, or when a filter cannot be made.
pub(crate) fn filters(
    sockets: SocketAccess,
    processes: ProcessVisibility,
) -> Result<Filters, seccompiler::Error> {
    let refused = errno(libc::EPERM);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|number| (*number, Vec::new())).collect();
    match sockets {
        SocketAccess::None => {
            rules.insert(libc::SYS_socket, Vec::new());
        }
        SocketAccess::Handed => rules.extend(fixed_connections()?),
        SocketAccess::Internet | SocketAccess::Unnamed => {
            rules.insert(libc::SYS_socket, all_but(INTERNET)?);
        }
        SocketAccess::Own => {
            rules.insert(libc::SYS_socket, all_but(OWN)?);
        }
    }
    let namespaces: Result<Vec<_>, seccompiler::Error> = NAMESPACES
        .iter()
        .map(|flag| {
            Ok(SeccompRule::new(vec![when(0, SeccompCmpOp::MaskedEq(word(*flag)), word(*flag))?])?)
        })
        .collect();
    rules.insert(libc::SYS_clone, namespaces?);
    let terminal: Result<Vec<_>, seccompiler::Error> = TERMINAL_INPUT
        .iter()
        .map(|request| {
            // Its type is another one in each C library.
            let request = u64::try_from(i128::from(*request)).unwrap_or(u64::MAX);
            Ok(SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, request)?])?)
        })
        .collect();
    let mut requests = terminal?;
    if processes == ProcessVisibility::Shared {
        for request in FILE_FLAGS {
            requests.push(SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, *request)?])?);
        }
    }
    rules.insert(libc::SYS_ioctl, requests);
    rules.extend(limits_of_others()?);
    match processes {
        ProcessVisibility::Shared => {
            rules.extend(aimed_at_us()?);
            rules.extend(SHARED_MEMORY.iter().map(|number| (*number, Vec::new())));
        }
        // The number of this program belongs to another process there.
        ProcessVisibility::Own => {}
    }
    let target: TargetArch = std::env::consts::ARCH.try_into()?;
    let main: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, refused, target)?.try_into()?;
    // The flags of `clone3` cannot be seen; libraries fall back to `clone` where it does not exist.
    let newer: &[i64] = match processes {
        ProcessVisibility::Shared => NEWER_ATTRIBUTES,
        ProcessVisibility::Own => &[],
    };
    let unseen = refusing(&[&[libc::SYS_clone3], newer].concat(), libc::ENOSYS, target)?;
    let mut filters = vec![one_numbering(main), unseen];
    if processes == ProcessVisibility::Shared {
        filters.push(refusing(ATTRIBUTES, libc::EOPNOTSUPP, target)?);
    }
    Ok(filters)
}

/// Makes a filter that answers calls with one error.
fn refusing(
    calls: &[i64],
    number: i32,
    target: TargetArch,
) -> Result<BpfProgram, seccompiler::Error> {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, errno(number), target)?.try_into()?)
}

/// Puts filters on the calling process; they cannot be removed.
///
/// # Errors
/// When the kernel refuses one.
pub(crate) fn load(filters: &Filters) -> io::Result<()> {
    filters.iter().try_for_each(|filter| {
        seccompiler::apply_filter(filter).map_err(|_| io::ErrorKind::PermissionDenied.into())
    })
}

/// Sockets of other families, those made by hand, and the kernel's tables besides the one of
/// addresses.
fn all_but(families: &[i32]) -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let other: Result<Vec<_>, _> =
        families.iter().map(|family| when(0, SeccompCmpOp::Ne, word(*family))).collect();
    let mut rules = vec![SeccompRule::new(other?)?];
    for kind in BY_HAND {
        let internet = when(0, SeccompCmpOp::Ne, word(libc::AF_NETLINK))?;
        rules.push(SeccompRule::new(vec![
            internet,
            when(1, SeccompCmpOp::MaskedEq(KIND_MASK), word(*kind))?,
        ])?);
    }
    let table = when(2, SeccompCmpOp::Ne, word(libc::NETLINK_ROUTE))?;
    rules.push(SeccompRule::new(vec![when(0, SeccompCmpOp::Eq, word(libc::AF_NETLINK))?, table])?);
    Ok(rules)
}

/// What would lead a connected socket elsewhere, or let others in: listening, sending along with a
/// connection that is only made by that, and settings that choose a route.
fn fixed_connections() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::Error> {
    let fast = |argument: u8| -> Result<Vec<SeccompRule>, seccompiler::Error> {
        let flag = word(libc::MSG_FASTOPEN);
        Ok(vec![SeccompRule::new(vec![when(argument, SeccompCmpOp::MaskedEq(flag), flag)?])?])
    };
    let mut settings = Vec::new();
    for level in [libc::IPPROTO_IP, libc::IPPROTO_IPV6] {
        settings.push(SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, word(level))?])?);
    }
    for (level, name) in ROUTES {
        settings.push(SeccompRule::new(vec![
            when(1, SeccompCmpOp::Eq, word(*level))?,
            when(2, SeccompCmpOp::Eq, word(*name))?,
        ])?);
    }
    Ok(BTreeMap::from([
        (libc::SYS_bind, Vec::new()),
        (libc::SYS_listen, Vec::new()),
        (libc::SYS_sendto, fast(3)?),
        (libc::SYS_sendmsg, fast(2)?),
        (libc::SYS_sendmmsg, fast(3)?),
        (libc::SYS_setsockopt, settings),
    ]))
}

/// What would end this program: signals to it or to everyone.
fn aimed_at_us() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::Error> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is = |argument: u8, value: i32| -> Result<SeccompRule, seccompiler::Error> {
        Ok(SeccompRule::new(vec![when(argument, SeccompCmpOp::Eq, word(value))?])?)
    };
    let signals = [
        (libc::SYS_kill, vec![is(0, own)?, is(0, -own)?, is(0, -1)?]),
        (libc::SYS_tkill, vec![is(0, own)?]),
        (libc::SYS_tgkill, vec![is(0, own)?]),
        (libc::SYS_rt_sigqueueinfo, vec![is(0, own)?]),
        (libc::SYS_rt_tgsigqueueinfo, vec![is(0, own)?]),
        (libc::SYS_pidfd_open, vec![is(0, own)?]),
    ];
    Ok(BTreeMap::from(signals))
}

/// What would starve others, and what would take off the mark by which descendants are found.
fn limits_of_others() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::Error> {
    let sets = || -> Result<SeccompCondition, seccompiler::Error> {
        Ok(SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?)
    };
    let mark = RLIMIT_RTTIME;
    let limits = vec![
        SeccompRule::new(vec![when(0, SeccompCmpOp::Ne, 0)?, sets()?])?,
        SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, word(mark))?, sets()?])?,
    ];
    let own = SeccompRule::new(vec![when(0, SeccompCmpOp::Eq, word(mark))?])?;
    Ok(BTreeMap::from([(libc::SYS_prlimit64, limits), (libc::SYS_setrlimit, vec![own])]))
}

fn when(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}

/// The kernel looks at the lower half of these arguments only.
fn word(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.cast_unsigned())
}

/// Puts before a filter that numbers of the second numbering do not exist: the filter knows the
/// first one only.
fn one_numbering(filter: BpfProgram) -> BpfProgram {
    let step = |code: u32, jf: u8, k: u32| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: 0,
        jf,
        k,
    };
    let none = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let mut all = vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, SECOND_NUMBERING),
        step(libc::BPF_RET | libc::BPF_K, 0, none),
    ];
    all.extend(filter);
    all
}
