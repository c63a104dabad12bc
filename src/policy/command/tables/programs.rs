//! Programs known beyond their options: those that run other programs, those that go through
//! folders, words that only a shell understands.
//!
//! In: a program's name, or a command's words. Out: what is known of it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words;

/// How a program gets at what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramRunner {
    /// It starts other programs by name or reads commands from elsewhere: a rule that names it says
    /// nothing about what is run.
    Wrapper,
    /// Its words are a program, or it has hooks: interpreters, remote shells, archivers, editors.
    Interpreter,
}

/// Programs that run what their words say. A rule allows them only when it is written out word for
/// word.
static RUNNERS: LazyLock<HashMap<&'static str, ProgramRunner>> = LazyLock::new(|| {
    let all = |kind, list: &'static str| {
        list.split_ascii_whitespace().map(move |program| (program, kind))
    };
    // A wrapper stays one where both lists name it.
    all(ProgramRunner::Interpreter, INTERPRETERS)
        .chain(all(ProgramRunner::Wrapper, WRAPPERS))
        .collect()
});

const WRAPPERS: &str = "\
    env xargs parallel timeout nice ionice chrt taskset nohup setsid stdbuf time command \
    builtin exec eval source . sudo doas su runuser setpriv chroot unshare nsenter bwrap \
    firejail flock watch script expect unbuffer strace ltrace gdb perf valgrind busybox toybox \
    sh bash rbash dash ash zsh ksh mksh fish csh tcsh systemd-run at batch crontab screen tmux \
    start-stop-daemon entr direnv ld.so ld-linux-x86-64.so.2 npx pnpx bunx uvx pipx ssh fd \
    fdfind";

const INTERPRETERS: &str = "\
    scriptreplay lldb pwsh nu python python2 python3 pypy pypy3 perl ruby irb node nodejs deno \
    bun tsx ts-node php lua luajit tclsh wish m4 dc bc ed ex vi vim nvim \
    view emacs nano most pager scp sftp rsync socat nc ncat netcat telnet curl \
    wget aria2c tar bsdtar cpio zip unzip 7z docker podman nerdctl kubectl systemctl java \
    jshell scala groovy kotlin rscript r julia ghci runghc erl elixir iex osascript open \
    xdg-open mkfifo dd ln install gh hub act just task gulp grunt ninja \
    cmake bazel nix nix-shell nix-build inotifywait ag ack";

/// Returns how a program runs others; `None` for one that is not known to.
pub(crate) fn runner(program: &str) -> Option<ProgramRunner> {
    RUNNERS.get(program).copied()
}

/// As [`runner`], also for a program with its version behind its name, such as `python3.12`.
pub(crate) fn runner_of_any_version(program: &str) -> Option<ProgramRunner> {
    let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    runner(program).or_else(|| runner(plain).map(|_| ProgramRunner::Interpreter))
}

/// Words that only a shell understands and that change what later commands mean. No rule allows
/// them.
const SHELL_WORDS: &str = "\
    alias unalias bg bind break caller cd compgen complete compopt continue declare dirs \
    disown enable exit export fc fg getopts help history jobs let local logout mapfile \
    popd pushd read readarray readonly return set shift shopt suspend times trap typeset \
    ulimit umask unset wait eval exec source . builtin command coproc";

/// Returns true for a word that only a shell understands.
pub(crate) fn is_shell_word(program: &str) -> bool {
    words::holds(SHELL_WORDS, program)
}

/// Programs that a shell has built in and that may not be there as files.
const BUILT_IN: &str = ": command hash set type for while until case if break continue exit";

/// Returns true for a program that only a shell can run.
pub(crate) fn is_built_in(program: &str) -> bool {
    words::holds(BUILT_IN, program)
}

/// Programs whose first word after the name is a verb with its own table; a verb without one takes
/// no options under `:*`.
pub(crate) const WITH_VERBS: &[&str] = &[
    "git", "cargo", "npm", "yarn", "pnpm", "go", "dotnet", "ruff", "pip", "pip3", "uv", "gem",
    "bundle", "poetry", "rustup", "meson",
];

/// Programs to which no word at all means harm: what a shell makes of a word may be given to them.
pub(crate) const ANY_WORD: &[&str] =
    &["echo", "printf", "true", "false", "basename", "dirname", "seq", "ls", "test", "["];

/// Programs that read what lies in a folder they are given; with a letter, only under that option.
const DESCENDING: &[(&str, &str)] = &[
    ("rg", ""),
    ("find", ""),
    ("fd", ""),
    ("fdfind", ""),
    ("cppcheck", ""),
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
pub(crate) fn descends(words: &[String]) -> bool {
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

/// Returns the index of a word after which a shell that has the program built in evaluates a name,
/// in which code can stand.
pub(crate) fn evaluated<'w>(program: &str, words: &'w [String]) -> Option<(usize, &'w str)> {
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

/// Returns the index of the word before which a last option can be added.
pub(crate) fn end_of_options(words: &[String]) -> usize {
    words.iter().position(|word| word == "--").unwrap_or(words.len())
}

#[cfg(test)]
mod tests {
    use super::WRAPPERS;
    use crate::command::tables::launched;
    use crate::words;

    /// Wrappers whose commands are no words of theirs, and those that `behind` reads itself.
    const OTHERS: &str = "\
        source . expect at batch crontab fd fdfind sh bash rbash dash ash zsh ksh mksh fish csh \
        tcsh";

    #[test]
    fn every_wrapper_is_looked_behind() {
        for program in WRAPPERS.split_ascii_whitespace() {
            let is_known = !launched::of(program).is_empty();
            assert_ne!(is_known, words::holds(OTHERS, program), "{program}");
        }
    }
}
