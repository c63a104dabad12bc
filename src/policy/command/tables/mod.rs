//! Option tables of common programs: every option that may follow a `:*`, and what it does. An
//! option that is not here is not allowed by `:*`, so that a new option of a program is a refusal,
//! not a hole.
//!
//! Notation: `-l` takes nothing; `--color=?` takes a value only after `=`; `-n=` takes a value;
//! `--file=<` takes a file that is read; `-o=>` takes a file that is written; `--arg==` takes two
//! values. Single letters combine (`-la`).

mod build;
mod git;
pub(super) mod index;
mod text;

/// One program, or one verb of a program.
pub struct Table {
    /// The program and, where it has them, the verb.
    pub words: &'static [&'static str],
    /// Its options, in two lists where verbs share one.
    pub options: [&'static str; 2],
    /// What its other words are.
    pub operands: Operands,
    /// What running it means.
    pub effect: Effect,
}

/// What the words of a command that are not options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// There must be none.
    None,
    /// Text without a meaning for files; options are not looked for either.
    Words,
    /// Text without a meaning for files.
    Text,
    /// Files and folders that are read.
    Paths,
    /// As `Paths`; without one, the folder the command runs in.
    PathsOrHere,
    /// One file that is read; a second would be written.
    OnePath,
    /// A pattern or program, unless an option gave it, then files; without one, the folder the
    /// command runs in or its input.
    PatternThenPaths(&'static [&'static str]),
    /// Revisions, `REVISION:PATH`, or paths.
    Revisions,
    /// None, but patterns of what is shown under one of these options.
    PatternsUnder(&'static [&'static str]),
    /// None but these.
    Only(&'static [&'static str]),
    /// Names of tests or packages that may be paths.
    Targets,
    /// Files and folders that are made, changed or removed.
    Edited,
    /// Files and folders that are read, and written under one of these options.
    EditedWith(&'static [&'static str]),
    /// Files and folders that are written, and only read under one of these options.
    EditedWithout(&'static [&'static str]),
    /// Nothing but a format, which starts with `+`.
    Format,
    /// Files that are read, and last where they go.
    Copied,
}

/// What running a program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It may write, but runs nothing of the repository.
    Writes,
    /// It runs code of the repository: tests, builds, scripts.
    RunsCode,
}

pub(super) const fn reads(
    words: &'static [&'static str],
    operands: Operands,
    options: &'static str,
) -> Table {
    Table { words, options: [options, ""], operands, effect: Effect::Reads }
}

pub(super) const fn runs(
    words: &'static [&'static str],
    operands: Operands,
    options: &'static str,
) -> Table {
    Table { words, options: [options, ""], operands, effect: Effect::RunsCode }
}

/// Returns every table.
pub fn all() -> impl Iterator<Item = &'static Table> {
    text::TABLES.iter().chain(git::TABLES).chain(build::TABLES)
}

/// Programs that read what lies in a folder they are given; with a letter, only under that option.
const DESCENDING: &[(&str, &str)] = &[
    ("rg", ""),
    ("find", ""),
    ("tree", ""),
    ("du", ""),
    ("git", ""),
    ("ls", "R"),
    ("grep", "rR"),
    ("diff", "r"),
    ("cp", "rRa"),
    ("mv", ""),
    ("rm", "rR"),
];

/// Returns true for a command that reads what lies in the folders it is given.
pub(super) fn descends(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let Some((_, letters)) = DESCENDING.iter().find(|(name, _)| *name == program.to_lowercase())
    else {
        return false;
    };
    let asked = |word: &String| {
        matches!(word.as_str(), "--recursive" | "--archive" | "--dereference-recursive")
            || (word.starts_with('-')
                && !word.starts_with("--")
                && word.chars().any(|letter| letters.contains(letter)))
    };
    letters.is_empty() || rest.iter().any(asked)
}

/// Returns true for a verb of git's own, which no alias can stand for.
pub(super) fn is_verb_of_git(verb: &str) -> bool {
    git::VERBS.split_ascii_whitespace().any(|known| known == verb)
}

/// Returns true for verbs of git that show files and know no pattern of what to leave out: a rule
/// has to name them.
pub(super) fn git_shows_everything(verb: &str, second: Option<&str>) -> bool {
    let verbs = [
        "archive",
        "annotate",
        "bundle",
        "difftool",
        "fast-export",
        "format-patch",
        "pack-objects",
        "range-diff",
        "request-pull",
        "send-email",
        "unpack-file",
        "whatchanged",
    ];
    verbs.contains(&verb) || (verb == "stash" && second == Some("show"))
}

/// Returns the index of a word after which a shell that has the program built in evaluates a name,
/// in which code can stand.
pub(super) fn evaluated<'w>(program: &str, words: &'w [String]) -> Option<(usize, &'w str)> {
    let evaluates = |word: &str| match program {
        "printf" => word.starts_with("-v"),
        "test" | "[" => matches!(word, "-v" | "-R"),
        _ => false,
    };
    words
        .iter()
        .enumerate()
        .skip(1)
        .map(|(index, word)| (index, word.as_str()))
        .find(|(_, word)| evaluates(word))
}

/// Returns true when a verb of git that can leave files out shows any that no word names. Some
/// options allow no such patterns.
pub(super) fn git_shows_files(verb: &str, words: &[String]) -> bool {
    let options = || {
        words
            .iter()
            .take_while(|word| *word != "--")
            .filter(|word| word.len() > 1 && word.starts_with('-'))
    };
    let named = |wanted: &str| {
        options().any(|word| word == wanted || word.split('=').next() == Some(wanted))
    };
    match verb {
        "log" => {
            !named("--follow")
                && !options().any(|word| word.starts_with("-L"))
                && options().any(|word| git::is_about_files(word))
        }
        "ls-files" => !named("--error-unmatch"),
        "diff" => !named("--no-index"),
        _ => true,
    }
}

/// Returns the index of a word that may be a folder whose history `git log --follow` shows: then
/// nothing can be left out of it.
pub(super) fn follows_a_folder(words: &[String]) -> Option<usize> {
    let follows = words.first().is_some_and(|word| word == "git")
        && words.iter().any(|word| word == "--follow");
    let shows =
        || words.iter().skip(1).any(|word| word.starts_with('-') && git::is_about_files(word));
    let last = words.len().checked_sub(1).filter(|_| follows && shows())?;
    let name = words.get(last)?.rsplit('/').next().unwrap_or_default();
    (!name.trim_start_matches('.').contains('.')).then_some(last)
}

/// Returns the index of the word before which a last option can be added.
pub(super) fn end_of_options(words: &[String]) -> usize {
    words.iter().position(|word| word == "--").unwrap_or(words.len())
}

/// Programs whose first word after the name is a verb with its own table; a verb without one takes
/// no options under `:*`.
pub(super) const WITH_VERBS: &[&str] =
    &["git", "cargo", "npm", "yarn", "pnpm", "go", "dotnet", "ruff"];

/// Programs to which no word at all means harm: what a shell makes of a word may be given to them.
pub(super) const ANY_WORD: &[&str] =
    &["echo", "printf", "true", "false", "basename", "dirname", "seq", "ls", "test", "["];

/// Those of [`RUN_OTHERS`] that start other programs by name or read commands from elsewhere: a
/// rule that names one of these says nothing about what is run.
pub(super) const WRAPPERS: &[&str] = &[
    "env",
    "xargs",
    "parallel",
    "timeout",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "nohup",
    "setsid",
    "stdbuf",
    "time",
    "command",
    "builtin",
    "exec",
    "eval",
    "source",
    ".",
    "sudo",
    "doas",
    "su",
    "runuser",
    "setpriv",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "flock",
    "watch",
    "script",
    "expect",
    "unbuffer",
    "strace",
    "ltrace",
    "gdb",
    "perf",
    "valgrind",
    "busybox",
    "toybox",
    "sh",
    "bash",
    "rbash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "screen",
    "tmux",
    "start-stop-daemon",
    "entr",
    "direnv",
    "ld.so",
    "ld-linux-x86-64.so.2",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "ssh",
    "fd",
    "fdfind",
];

/// Programs that run what their words say: wrappers, shells, interpreters, remote shells, archivers
/// and editors with hooks. A rule allows them only when it is written out word for word.
pub(super) const RUN_OTHERS: &[&str] = &[
    "env",
    "xargs",
    "parallel",
    "timeout",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "nohup",
    "setsid",
    "stdbuf",
    "time",
    "command",
    "builtin",
    "exec",
    "eval",
    "source",
    ".",
    "sudo",
    "doas",
    "su",
    "runuser",
    "setpriv",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "flock",
    "watch",
    "script",
    "scriptreplay",
    "expect",
    "unbuffer",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "perf",
    "valgrind",
    "busybox",
    "toybox",
    "sh",
    "bash",
    "rbash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "nu",
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "bunx",
    "npx",
    "pnpx",
    "uvx",
    "pipx",
    "tsx",
    "ts-node",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "m4",
    "dc",
    "bc",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "view",
    "emacs",
    "nano",
    "less",
    "more",
    "most",
    "man",
    "pager",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "socat",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "curl",
    "wget",
    "aria2c",
    "tar",
    "bsdtar",
    "cpio",
    "zip",
    "unzip",
    "7z",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "systemd-run",
    "systemctl",
    "at",
    "batch",
    "crontab",
    "screen",
    "tmux",
    "start-stop-daemon",
    "ld.so",
    "ld-linux-x86-64.so.2",
    "java",
    "jshell",
    "scala",
    "groovy",
    "kotlin",
    "rscript",
    "r",
    "julia",
    "ghci",
    "runghc",
    "erl",
    "elixir",
    "iex",
    "osascript",
    "open",
    "xdg-open",
    "make-fifo",
    "mkfifo",
    "dd",
    "tee",
    "ln",
    "install",
    "gh",
    "hub",
    "act",
    "just",
    "task",
    "rake",
    "gulp",
    "grunt",
    "ninja",
    "cmake",
    "bazel",
    "nix",
    "nix-shell",
    "nix-build",
    "direnv",
    "entr",
    "inotifywait",
    "fd",
    "fdfind",
    "ag",
    "ack",
];

/// Words that only a shell understands and that change what later commands mean. No rule allows
/// them.
pub(super) const SHELL_WORDS: &[&str] = &[
    "alias",
    "unalias",
    "bg",
    "bind",
    "break",
    "caller",
    "cd",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "suspend",
    "times",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "unset",
    "wait",
    "eval",
    "exec",
    "source",
    ".",
    "builtin",
    "command",
    "coproc",
];
