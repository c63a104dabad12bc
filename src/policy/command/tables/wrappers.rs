//! Programs that start another one which their own words name: `timeout 60 pytest`, `uv run tox`.
//!
//! In: the words of a command. Out: where the inner command begins, if everything before it is
//! known. The inner command is judged as if it stood alone.

use crate::command::tables::launched;
use crate::command::tables::launcher::{FirstWord, WrapperKind};
use crate::command::tables::launchers::LAUNCHERS;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::command::tables::programs;
use crate::command::variables;
use crate::words;

/// Returns where the inner command begins; `None` where something before it is not known.
pub(crate) fn inner(words: &[String]) -> Option<(usize, WrapperKind)> {
    let mut allowed = launched::of(words.first()?).iter();
    let (known, kind) = allowed.find_map(|known| {
        let is_named = known.is_named(words) && words.len() > known.words.len();
        known.launcher.allowed.filter(|_| is_named).map(|kind| (known, kind))
    })?;
    let mut at = known.words.len();
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if known.launcher.first == FirstWord::ModuleOption && word == "-m" {
            break;
        }
        at = behind_options(&known.harmless, words, at)?;
    }
    let next = words.get(at)?;
    at += match known.launcher.first {
        FirstWord::Nothing => 0,
        FirstWord::Duration => is_duration(next).then_some(1)?,
        FirstWord::Variables => {
            words.get(at..)?.iter().take_while(|word| is_harmless_variable(word)).count()
        }
        FirstWord::ModuleOption => (next == "-m").then_some(1)?,
        // None of these may be allowed.
        FirstWord::Words(_) | FirstWord::Mark(_) => return None,
    };
    let program = words.get(at)?;
    // To these, `a/b` is a repository of GitHub, and `./a` a package to install.
    let fetches = matches!(known.launcher.name, "npx" | "npm exec");
    let is_local = !fetches || !program.contains('/');
    (is_local && starts_plainly(program, kind)).then_some((at, kind))
}

/// Returns what a program is that starts others, where it is only asked for its options.
pub(crate) fn asked(words: &[String]) -> Option<WrapperKind> {
    let (last, name) = words.split_last()?;
    let known = launched::of(name.first()?).iter();
    let mut named = known.filter(|known| known.words == name && last == "--help");
    named.find_map(|known| match known.launcher.name {
        // A word of the shell, which may know no such option.
        "command" => None,
        // What it starts is looked at elsewhere.
        "coverage run" => Some(WrapperKind::Runner),
        _ => known.launcher.allowed,
    })
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
        || LAUNCHERS.iter().any(|launcher| {
            launcher.allowed == Some(WrapperKind::Plain) && launcher.name == program
        })
}

/// Returns true for a program that takes an inner command but was given something that is not
/// known before it: no rule that names only the program covers that.
pub(crate) fn is_named(words: &[String]) -> bool {
    let known = words.first().map(|program| launched::of(program)).unwrap_or_default();
    known.iter().any(|known| {
        known.launcher.allowed.is_some() && known.words.len() > 1 && known.is_named(words)
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
