//! Words of a shell that change nothing but variables which any program may be given, or that only
//! wait: `export CI=1`, `unset CI`, `wait`.
//!
//! In: a simple command. Out: whether it is such a word and nothing else. A variable is judged as
//! it is in front of a command (`variables`), so it means no harm to what follows either.

use crate::command::tree::{Redirect, SimpleCommand};
use crate::command::variables;
use crate::words;

/// Returns true for a command that needs no rule, whatever stands behind it. `root` is where the
/// repository lies.
pub(super) fn is_inert(simple: &SimpleCommand, root: &str) -> bool {
    let Some((program, rest)) = simple.words.split_first() else { return false };
    let is_alone = simple.variables.is_empty() && simple.redirects.iter().all(is_silent);
    is_alone
        && match program.as_str() {
            "export" => !rest.is_empty() && rest.iter().all(|word| is_harmless(word, root)),
            "unset" => !rest.is_empty() && rest.iter().all(|name| variables::may_be_unset(name)),
            "wait" => {
                let written = simple.written.get(1..).unwrap_or_default();
                written.len() == rest.len() && written.iter().all(|word| is_job(word))
            }
            _ => false,
        }
}

/// Returns true for a redirection that only takes output away, or joins it to another.
pub(super) fn is_silent(redirect: &Redirect) -> bool {
    match redirect {
        Redirect::Output { path, .. } => path == "/dev/null",
        Redirect::Duplicate { .. } => true,
        Redirect::Input { .. }
        | Redirect::Text(_)
        | Redirect::WorkedOut { .. }
        | Redirect::Template(_) => false,
    }
}

fn is_harmless(word: &str, root: &str) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    if variables::names_folders(name) {
        variables::check(name, &variables::from_root(value, root)).is_ok()
    } else {
        variables::check(name, value).is_ok()
    }
}

/// Whether a word is a process by its number, or the last one that was started.
fn is_job(written: &str) -> bool {
    matches!(written, "$!" | "\"$!\"") || words::is_number(written)
}

#[cfg(test)]
mod tests {
    use super::is_inert;
    use crate::command::Script;

    /// Whether the last command of a script is.
    fn ends_inert(text: &str) -> bool {
        let script = Script::parse(text).below("/w/repo");
        let loose = script.loose_commands().unwrap_or_default().iter().map(|it| &it.simple);
        let mut commands = script.simple_commands().into_iter().chain(loose);
        commands.next_back().is_some_and(|simple| is_inert(simple, "/w/repo"))
    }

    #[test]
    fn a_word_that_sets_what_any_program_may_be_given_is_inert_and_no_other() {
        for text in [
            "export CI=1",
            "export 'CI=1' RUST_LOG=debug >/dev/null 2>&1",
            "export GIT_PAGER=cat PAGER=cat",
            "export RUSTFLAGS='-D warnings'",
            "export PYTHONPATH=$PWD/src:$PYTHONPATH",
            "x=src; export PYTHONPATH=$x",
            "export PYTHONPATH=/w/repo/src",
            "unset CI PYTHONPATH",
            "wait",
            "wait $!",
            "wait \"$!\" 2>/dev/null",
            "wait 42",
        ] {
            assert!(ends_inert(text), "{text}");
        }
        for text in [
            "export",
            "export CI",
            "export -p",
            "export -n CI=1",
            "export -f x",
            "export PATH=x",
            "export CI=1 PATH=x",
            "export LD_PRELOAD=x",
            "export GIT_PAGER=sh",
            "export GIT_DIR=x",
            "export BASH_ENV=x",
            "export NODE_OPTIONS='--require x'",
            "export X=1",
            "export CI=$(id)",
            "export CI=$x",
            "export PYTHONPATH=/tmp/x:$PYTHONPATH",
            "export PYTHONPATH=/w/repository",
            "export CI=1 > a",
            "CC=x export CI=1",
            "unset",
            "unset PATH",
            "unset GIT_CONFIG_COUNT",
            "unset GIT_PAGER",
            "unset -f x",
            "unset x",
            "wait -p PATH",
            "wait -n",
            "wait $x",
            "wait %1",
            "wait < a",
            "readonly CI=1",
            "declare -x CI=1",
        ] {
            assert!(!ends_inert(text), "{text}");
        }
    }
}
