//! Remarks that a model reads behind the output of a command: why a program that works elsewhere
//! does not work here, and what does.
//!
//! In: what the command ran in, how it ended, what it printed. Out: sentences.

use std::path::Path;

use crate::tools::ToolContext;
use locum_sandbox::exec::Exit;
use locum_sandbox::network::offline;

/// What git says where it finds no repository.
const NO_REPOSITORY: &[&str] = &["not a git repository", "invalid gitfile format"];

/// What a model reads behind that where it is so on purpose.
const GIT_IS_HIDDEN: &str = "\n(The repository's history holds files that you may not read, so \
    scripts do not see it. `git status`, `diff`, `log`, `show`, `restore` work alone, and beside \
    commands that only show named files, if a rule allows their words: `command(git log:*)`.)";

/// What programs print where a folder of the checkout cannot be renamed in a layer.
const OTHER_DEVICE: &str = "cross-device link";

/// What a model reads behind that.
const FOLDERS_STAY: &str = "\n(Commands cannot rename a folder of the checkout as a whole. \
    `mv A B` copies it instead, and then `git add -A A B` does what `git mv A B` would.)";

/// What programs print, in small letters, where a file of another owner cannot come into a layer.
const OTHER_OWNER: &str = "value too large for defined data type";

/// What a model reads behind that.
const OWNERS_STAY: &str = "\n(Commands cannot change a file or fill a folder of another user or \
    group here: the kernel copies none into their layer. `write_to_file` and the like can.)";

/// What a model reads behind the complaint of a program that may not write to `/tmp`.
const SCRATCH_IS_ELSEWHERE: &str = "\n(The checkout lies below `/tmp`, so commands cannot write to \
    `/tmp` itself. `$TMPDIR` is their folder for temporary files.)";

/// What sanitizers print, in small letters, where they do not get the address space they reserve.
const SHADOW_REFUSED: &[&str] = &[
    "reserveshadowmemoryrange failed",
    "sanitizer failed to allocate",
    "perhaps you're using ulimit -v",
];

/// What a model reads behind that.
const MEMORY_IS_LIMITED: &str = "\n(A process of a command may have 32 GiB of memory, and \
    sanitizers such as AddressSanitizer reserve more when they start: programs built with them do \
    not run here. Build without them, use `valgrind` if it is there, and say in your result what \
    could not be checked.)";

/// What debuggers print, in small letters, where they may not trace.
const NO_TRACING: &str = "ptrace: operation not permitted";

/// What a model reads behind that.
const NO_DEBUGGER: &str = "\n(Commands cannot trace processes, so debuggers and `strace` do not \
    work here. Use `valgrind` if it is there, or print what you need.)";

/// What is added where changes of a command were kept out of the checkout.
pub(crate) const UNSEEN: &str =
    " Later commands do not see them. `$TMPDIR` keeps files for the run.";

/// What a command ran in.
pub(super) struct CommandPlace<'a> {
    /// Whether it does not see the repository's history.
    pub(super) git_hidden: bool,
    /// Whether it wrote to a layer.
    pub(super) layered: bool,
    /// Whether a sandbox contained it.
    pub(super) contained: bool,
    /// The checkout's root.
    pub(super) root: &'a Path,
}

impl CommandPlace<'_> {
    /// Returns the remarks on what a command printed, which is given in small letters.
    pub(super) fn remarks(&self, printed: &str) -> String {
        let has = |complaints: &[&str]| complaints.iter().any(|one| printed.contains(one));
        [
            (self.git_hidden && has(NO_REPOSITORY), GIT_IS_HIDDEN),
            (self.layered && has(&[OTHER_DEVICE]), FOLDERS_STAY),
            (self.layered && has(&[OTHER_OWNER]), OWNERS_STAY),
            (self.contained && is_kept_from_temporary(printed, self.root), SCRATCH_IS_ELSEWHERE),
            (self.contained && has(SHADOW_REFUSED), MEMORY_IS_LIMITED),
            (self.contained && has(&[NO_TRACING]), NO_DEBUGGER),
        ]
        .into_iter()
        .filter_map(|(applies, remark)| applies.then_some(remark))
        .collect()
    }
}

/// What a command reaches of the network.
#[derive(Clone, Copy)]
pub(super) enum NetworkReach {
    Nothing,
    Listed,
    Everything,
}

impl NetworkReach {
    pub(super) fn of(context: ToolContext<'_>) -> Self {
        match context.run.sandbox {
            sandbox if sandbox.is_offline() => Self::Nothing,
            sandbox if sandbox.is_proxied() => Self::Listed,
            _ => Self::Everything,
        }
    }

    /// Says what there is of the network, behind the output of a command that failed for it, or was
    /// killed for its time: some programs wait for a host without a word.
    pub(super) fn remark(self, (failed, exit): (bool, Exit), output: &str) -> &'static str {
        if exit != Exit::TimedOut && !(failed && offline::is_complaint(output)) {
            return "";
        }
        match (self, exit) {
            (Self::Nothing, Exit::TimedOut) => {
                "\n\nIf it waited for a host: commands have no network, the policy says \
                 `network: off`."
            }
            (Self::Listed, Exit::TimedOut) => {
                "\n\nIf it waited for a host: commands reach only those that the policy allows."
            }
            (Self::Nothing, _) => "\n\nCommands have no network: the policy says `network: off`.",
            (Self::Listed, _) => "\n\nCommands reach only the hosts that the policy allows.",
            (Self::Everything, _) => "",
        }
    }
}

/// Whether a program complains in a line, in small letters, that it may not write to `/tmp` or look
/// there, or that it can open no database (SQLite names no path), where the checkout lies in it.
pub(super) fn is_kept_from_temporary(said: &str, root: &Path) -> bool {
    let checkout = root.to_string_lossy().to_ascii_lowercase();
    let is_about = |line: &str| {
        let rest = line.replace(&*checkout, "");
        let names_it =
            ["/tmp/", "/tmp'", "/tmp:", "/tmp\"", "/tmp`"].iter().any(|name| rest.contains(name));
        rest.contains("permission denied") && names_it
            || rest.contains("unable to open database file")
    };
    root.starts_with("/tmp") && said.lines().any(is_about)
}
