//! Programs that start another one which their own words name: `timeout 60 pytest`, `uv run tox`.
//!
//! In: the words of a command. Out: where the inner command begins, if everything before it is
//! known. The inner command is judged as if it stood alone.

use std::sync::LazyLock;

use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::command::tables::programs;
use crate::command::variables;
use crate::words;

/// What a program does besides starting another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperKind {
    /// Nothing: what is started decides, where a rule names the wrapper.
    Plain,
    /// It prepares an environment of the repository first: a rule has to name it too.
    Runner,
    /// It starts modules of Python: a rule has to name it too, unless it spells out what is
    /// started.
    Module,
}

/// A program that starts another one.
struct Wrapper {
    /// The program and, where it has them, the verb.
    words: &'static [&'static str],
    kind: WrapperKind,
    /// Options before the inner command, in the notation of `tables`.
    options: &'static str,
    /// What has to stand between the options and the inner command.
    first: FirstWord,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstWord {
    Nothing,
    Duration,
    Variables,
    /// `-m`, behind which a module is named.
    ModuleOption,
}

const PYTHON: &str = "-X= -W= -B -E -I -O -OO -P -b -bb -d -q -s -S -u -v";

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        words: &["timeout"],
        kind: WrapperKind::Plain,
        options: "-k= --kill-after= -s= --signal= --preserve-status --foreground -v --verbose",
        first: FirstWord::Duration,
    },
    plain(&["nice"], "-n= --adjustment= -#"),
    plain(&["ionice"], "-c= -n= -t"),
    plain(&["nohup"], ""),
    plain(&["stdbuf"], "-i= -o= -e= --input= --output= --error="),
    plain(&["command"], ""),
    Wrapper { words: &["env"], kind: WrapperKind::Plain, options: "", first: FirstWord::Variables },
    runner(
        &["uv", "run"],
        "--offline --locked --frozen --no-sync --no-project --all-extras --no-extra= --extra= \
         --all-groups --group= --no-group= --only-group= --no-default-groups --dev --no-dev \
         --only-dev --all-packages --package= --isolated --exact --active --no-progress -q \
         --quiet -v --verbose --no-cache --no-env-file --no-config --color= -p= --python=",
    ),
    runner(
        &["valgrind"],
        "-q -v --quiet --verbose --tool= --leak-check= --show-leak-kinds= --show-reachable= \
         --show-possibly-lost= --errors-for-leak-kinds= --track-origins= --track-fds= \
         --undef-value-errors= --error-exitcode= --error-limit= --exit-on-first-error= \
         --num-callers= --trace-children= --child-silent-after-fork= --time-stamp= \
         --gen-suppressions= --max-stackframe= --main-stacksize= --read-var-info= --fair-sched= \
         --redzone-size= --leak-resolution= --expensive-definedness-checks=",
    ),
    runner(&["poetry", "run"], ""),
    runner(&["pdm", "run"], ""),
    runner(&["bundle", "exec"], ""),
    runner(&["npx"], "--no --no-install --offline -q --quiet"),
    runner(&["npm", "exec"], "--offline -s --silent --"),
    runner(&["pnpm", "exec"], "-r --recursive -s --silent"),
    runner(&["yarn", "exec"], "--"),
    module(&["python"]),
    module(&["python3"]),
];

const fn plain(words: &'static [&'static str], options: &'static str) -> Wrapper {
    Wrapper { words, kind: WrapperKind::Plain, options, first: FirstWord::Nothing }
}

const fn runner(words: &'static [&'static str], options: &'static str) -> Wrapper {
    Wrapper { words, kind: WrapperKind::Runner, options, first: FirstWord::Nothing }
}

const fn module(words: &'static [&'static str]) -> Wrapper {
    Wrapper { words, kind: WrapperKind::Module, options: PYTHON, first: FirstWord::ModuleOption }
}

static OPTIONS: LazyLock<Vec<OptionTable>> = LazyLock::new(|| {
    WRAPPERS.iter().map(|wrapper| OptionTable::new([wrapper.options, ""])).collect()
});

/// Returns where the inner command begins; `None` where something before it is not known.
pub(crate) fn inner(words: &[String]) -> Option<(usize, WrapperKind)> {
    let named = |wrapper: &Wrapper| {
        words.len() > wrapper.words.len()
            && wrapper.words.iter().zip(words).all(|(wanted, word)| wanted == word)
    };
    let (place, wrapper) = WRAPPERS.iter().enumerate().find(|(_, wrapper)| named(wrapper))?;
    let options = OPTIONS.get(place)?;
    let mut at = wrapper.words.len();
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if wrapper.first == FirstWord::ModuleOption && word == "-m" {
            break;
        }
        at = behind_options(options, words, at)?;
    }
    let next = words.get(at)?;
    at += match wrapper.first {
        FirstWord::Nothing => 0,
        FirstWord::Duration => is_duration(next).then_some(1)?,
        FirstWord::Variables => {
            words.get(at..)?.iter().take_while(|word| is_harmless_variable(word)).count()
        }
        FirstWord::ModuleOption => (next == "-m").then_some(1)?,
    };
    let program = words.get(at)?;
    // To these, `a/b` is a repository of GitHub, and `./a` a package to install.
    let fetches = matches!(wrapper.words, ["npx"] | ["npm", "exec"]);
    let is_local = !fetches || !program.contains('/');
    (is_local && starts_plainly(program, wrapper.kind)).then_some((at, wrapper.kind))
}

/// Returns where the program begins that all before it only start.
pub(crate) fn innermost(words: &[String]) -> usize {
    let mut at = 0;
    while let Some((further, _)) = words.get(at..).and_then(inner) {
        at += further;
    }
    at
}

/// Returns true for a program that is nothing without the command that it starts.
pub(crate) fn starts_another(words: &[String]) -> bool {
    let [program] = words else { return false };
    program == "xargs"
        || WRAPPERS
            .iter()
            .any(|wrapper| wrapper.kind == WrapperKind::Plain && wrapper.words == [program])
}

/// Returns true for a program that takes an inner command but was given something that is not
/// known before it: no rule that names only the program covers that.
pub(crate) fn is_named(words: &[String]) -> bool {
    WRAPPERS.iter().any(|wrapper| {
        wrapper.words.len() > 1
            && words.len() >= wrapper.words.len()
            && wrapper.words.iter().zip(words).all(|(wanted, word)| wanted == word)
    })
}

/// Returns what stands behind a word of options and their values; `None` where one is not known.
fn behind_options(options: &OptionTable, words: &[String], at: usize) -> Option<usize> {
    let read = options.read(words, at);
    let is_harmless = |option: &GivenOption<'_>| match (option.takes, option.value) {
        (OptionArgument::Nothing, None) => true,
        (OptionArgument::Value, Some(value)) => is_plain(value),
        (_, _) => option.name == "-#",
    };
    (read.is_known && read.given.iter().all(is_harmless)).then_some(read.next)
}

/// A value that is no path and no option.
fn is_plain(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:,+-".contains(&byte);
    let number = value.strip_prefix('-').is_some_and(words::is_number);
    !value.is_empty()
        && (number || !value.starts_with('-'))
        && !value.contains("..")
        && value.bytes().all(plain)
}

fn is_duration(word: &str) -> bool {
    let number = word.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(word);
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && number.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_harmless_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| variables::check(name, value).is_ok())
}

/// A program in a folder of the repository.
fn is_relative(program: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte);
    program.contains('/')
        && !program.starts_with(['/', '-'])
        && !program.split('/').any(|part| part == "..")
        && program.bytes().all(plain)
}

/// What is started has to be named plainly; an interpreter or a shell among it is judged by its own
/// words.
fn starts_plainly(program: &str, kind: WrapperKind) -> bool {
    let plain = program.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && program.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    match kind {
        WrapperKind::Plain => !program.starts_with('-') && !program.contains('='),
        WrapperKind::Runner => plain || is_relative(program),
        WrapperKind::Module => {
            plain && programs::runner(program).is_none() && !programs::is_shell_word(program)
        }
    }
}
