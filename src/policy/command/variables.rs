//! Variables that may stand in front of a command: those that change what a program says, or how
//! loudly, and nothing it starts or reads.
//!
//! In: an assignment as the script has it. Out: name and value, or why commands run without it.
//! Every other name is refused, for a variable can name programs, libraries and folders
//! (`LD_PRELOAD`, `PATH`, `GIT_DIR`), and what a program makes of one it does not say.

use crate::words;

/// Variables that any program may be given.
const HARMLESS: &str = "\
    CARGO_INCREMENTAL CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_TERM_QUIET \
    CARGO_TERM_VERBOSE CI CLICOLOR CLICOLOR_FORCE COLUMNS FORCE_COLOR LANG LC_ALL LC_COLLATE \
    LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME NODE_ENV NO_COLOR PROPTEST_CASES \
    PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUNBUFFERED RUST_BACKTRACE \
    RUST_LIB_BACKTRACE RUST_LOG RUST_TEST_THREADS TZ";

/// Checks an assignment whose value is known.
///
/// # Errors
/// Why it is refused, as the middle of a sentence.
pub(super) fn check(name: &str, value: &str) -> Result<(), String> {
    if !words::holds(HARMLESS, name) {
        return Err(format!(
            "the script sets a variable (`{name}`); commands run in a fixed environment"
        ));
    }
    // No path: a language and a time zone are looked up as files.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,:=+@".contains(letter);
    if value.contains("..") || !value.chars().all(plain) {
        return Err(format!(
            "the value of `{name}` holds more than letters, digits and `_-.,:=+@`"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{HARMLESS, check};

    #[test]
    fn the_documentation_names_every_variable() {
        let page = include_str!("../../../docs/policy.md");
        for name in HARMLESS.split_ascii_whitespace() {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn a_variable_that_changes_what_is_said_may_be_set_and_no_other() {
        for (name, value) in [
            ("RUST_BACKTRACE", "1"),
            ("RUST_LOG", "debug,a::b=trace"),
            ("LC_ALL", "C.UTF-8"),
            ("CI", ""),
            ("TZ", "UTC"),
        ] {
            assert!(check(name, value).is_ok(), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "1"),
            ("LD_PRELOAD", "x"),
            ("rust_log", "1"),
            ("GIT_PAGER", "cat"),
            ("RUSTFLAGS", "1"),
            ("NODE_OPTIONS", "1"),
            ("LC_ALL", "../x"),
            ("LANG", "/tmp/x"),
            ("TZ", ":/etc/passwd"),
            ("TZ", ".."),
            ("CI", "$(id)"),
            ("CI", "a b"),
            ("RUST_LOG", "é"),
        ] {
            assert!(check(name, value).is_err(), "{name}={value}");
        }
    }
}
