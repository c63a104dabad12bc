//! Variables that may stand in front of a command: those that change what a program says, or how
//! loudly, which of its own checks it makes, and nothing else it starts or reads.
//!
//! In: an assignment as the script has it. Out: name and value, or why commands run without it.
//! Every other name is refused, for a variable can name programs, libraries and folders
//! (`LD_PRELOAD`, `PATH`, `GIT_DIR`), and what a program makes of one it does not say.

use crate::words;

/// Variables that any program may be given.
const HARMLESS: &str = "\
    CARGO_INCREMENTAL CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_TERM_QUIET \
    CARGO_TERM_VERBOSE CGO_ENABLED CI CLICOLOR CLICOLOR_FORCE COLUMNS COVERAGE DEBUG FORCE_COLOR \
    GO111MODULE GOARCH GOOS INSTA_UPDATE LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC \
    LC_TIME LINES LOG_LEVEL NODE_ENV NO_COLOR PROPTEST_CASES PYTHONDONTWRITEBYTECODE \
    PYTHONHASHSEED PYTHONUNBUFFERED PYTHONUTF8 PYTHONWARNINGS RACK_ENV RAILS_ENV RUST_BACKTRACE \
    RUST_LIB_BACKTRACE RUST_LOG RUST_TEST_THREADS TERM TZ VERBOSE";

/// Variables whose value is a folder of the repository, from which code is loaded.
const FOLDERS: &str = "PYTHONPATH RUBYLIB";

/// Variables whose value is a folder for temporary files, to which a build is written.
const SCRATCH_FOLDERS: &str = "CARGO_TARGET_DIR";

/// Variables whose value holds options, with those that are harmless. One that ends with `*` may be
/// followed by letters, digits and `_-.,:=`; a blank after it takes such a word.
const OPTIONS: &[(&str, &[&str])] = &[
    ("RUSTFLAGS", RUSTC),
    ("RUSTDOCFLAGS", RUSTC),
    (
        "PYTEST_ADDOPTS",
        &[
            "-q",
            "-v",
            "-x",
            "-s",
            "-vv",
            "-l",
            "--tb=*",
            "--color=*",
            "--maxfail=*",
            "--lf",
            "-k *",
            "-m *",
            "-n *",
        ],
    ),
    (
        "GOFLAGS",
        &[
            "-v",
            "-race",
            "-short",
            "-count=*",
            "-tags=*",
            "-mod=readonly",
            "-mod=vendor",
            "-mod=mod",
        ],
    ),
    ("RUBYOPT", &["-w", "-W0", "-W1", "-W2", "-W:*", "--enable=*", "--disable=*", "--yjit"]),
    ("MAVEN_OPTS", JAVA),
    ("JAVA_OPTS", JAVA),
    ("GRADLE_OPTS", JAVA),
    (
        "NODE_OPTIONS",
        &[
            "--max-old-space-size=*",
            "--enable-source-maps",
            "--experimental-vm-modules",
            "--no-warnings",
            "--trace-warnings",
            "--unhandled-rejections=*",
            "--stack-trace-limit=*",
        ],
    ),
];

const RUSTC: &[&str] = &[
    "-D *",
    "-W *",
    "-A *",
    "-F *",
    "-D*",
    "-W*",
    "-A*",
    "--cfg *",
    "--cfg=*",
    "--cap-lints *",
    "--cap-lints=*",
    "-Copt-level=*",
    "-Cdebuginfo=*",
    "-Ctarget-cpu=*",
    "-Cdebug-assertions=*",
];

const JAVA: &[&str] =
    &["-Xmx*", "-Xms*", "-Xss*", "-ea", "-Dfile.encoding=*", "-Djava.awt.headless=*"];

/// Checks an assignment whose value is known.
///
/// # Errors
/// Why it is refused, as the middle of a sentence.
pub(super) fn check(name: &str, value: &str) -> Result<(), String> {
    if let Some((_, options)) = OPTIONS.iter().find(|(known, _)| *known == name) {
        return if holds_only(options, value) {
            Ok(())
        } else {
            Err(format!("the value of `{name}` holds an option that is not known to be harmless"))
        };
    }
    if words::holds(FOLDERS, name) {
        return if value.is_empty() || value.split(':').all(is_folder) {
            Ok(())
        } else {
            Err(format!("the value of `{name}` names more than folders of the repository"))
        };
    }
    if words::holds(SCRATCH_FOLDERS, name) {
        return if value.is_empty() || value.strip_prefix("/tmp/").is_some_and(is_folder) {
            Ok(())
        } else {
            Err(format!("the value of `{name}` is no folder below `/tmp`"))
        };
    }
    if !words::holds(HARMLESS, name) {
        return Err(format!(
            "the script sets a variable (`{name}`); commands run in a fixed environment"
        ));
    }
    // No path: a language and a time zone are looked up as files.
    if value.contains("..") || !value.chars().all(is_plain) {
        return Err(format!(
            "the value of `{name}` holds more than letters, digits and `_-.,:=+@`"
        ));
    }
    Ok(())
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-.,:=+@".contains(letter)
}

/// Whether a value is a list of known options.
fn holds_only(options: &[&str], value: &str) -> bool {
    let plain = |word: &str| !word.contains("..") && word.chars().all(is_plain);
    let mut given = value.split_ascii_whitespace();
    while let Some(word) = given.next() {
        let takes_next = options
            .iter()
            .any(|option| option.strip_suffix(" *").is_some_and(|option| option == word));
        let known = options.iter().any(|option| match option.strip_suffix('*') {
            None => *option == word,
            Some(start) => {
                word.strip_prefix(start).is_some_and(|rest| !rest.is_empty() && plain(rest))
            }
        });
        let next = |given: &mut std::str::SplitAsciiWhitespace<'_>| {
            given.next().is_some_and(|next| !next.starts_with('-') && plain(next))
        };
        let harmless = known || (takes_next && next(&mut given));
        if !harmless {
            return false;
        }
    }
    true
}

/// Whether a word is a folder below the one the command runs in.
fn is_folder(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    !word.is_empty() && !word.starts_with('/') && !word.contains("..") && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, HARMLESS, OPTIONS, SCRATCH_FOLDERS, check};

    #[test]
    fn the_documentation_names_every_variable() {
        let page = include_str!("../../../docs/commands.md");
        let lists = [HARMLESS, FOLDERS, SCRATCH_FOLDERS];
        let listed = lists.into_iter().flat_map(str::split_ascii_whitespace);
        for name in listed.chain(OPTIONS.iter().map(|(name, _)| *name)) {
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
            ("RUSTFLAGS", "--cfg tokio_unstable -D warnings"),
            ("RUSTFLAGS", "-Dwarnings -Ctarget-cpu=native"),
            ("RUBYOPT", "-W0"),
            ("MAVEN_OPTS", "-Xmx1g -Xms256m"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("PYTEST_ADDOPTS", "-q -k parser"),
            ("PYTHONPATH", "src"),
            ("PYTHONPATH", "./src:tests/lib"),
            ("GOOS", "linux"),
            ("CARGO_TARGET_DIR", "/tmp/target"),
        ] {
            assert!(check(name, value).is_ok(), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "1"),
            ("LD_PRELOAD", "x"),
            ("rust_log", "1"),
            ("GIT_PAGER", "cat"),
            ("NODE_PATH", "1"),
            ("LC_ALL", "../x"),
            ("LANG", "/tmp/x"),
            ("TZ", ":/etc/passwd"),
            ("TZ", ".."),
            ("CI", "$(id)"),
            ("CI", "a b"),
            ("RUST_LOG", "é"),
            ("RUSTFLAGS", "1"),
            ("RUSTFLAGS", "-C linker=/tmp/x"),
            ("RUSTFLAGS", "-Clinker=x"),
            ("RUSTFLAGS", "-D --emit=asm"),
            ("RUSTFLAGS", "-D"),
            ("RUBYOPT", "-r/tmp/x"),
            ("RUBYOPT", "-rx"),
            ("MAVEN_OPTS", "-javaagent:/tmp/x.jar"),
            ("MAVEN_OPTS", "-Xmx1g -Dx=y"),
            ("NODE_OPTIONS", "--require x"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 -r x"),
            ("PYTEST_ADDOPTS", "-p evil"),
            ("GOFLAGS", "-toolexec=x"),
            ("PYTHONPATH", "/tmp/x"),
            ("PYTHONPATH", "src:"),
            ("PYTHONPATH", "src/../../x"),
            ("CARGO_TARGET_DIR", "/tmp/../etc"),
            ("CARGO_TARGET_DIR", "/tmp"),
            ("CARGO_TARGET_DIR", ".github"),
            ("PYTHONSTARTUP", "x.py"),
            ("RUSTC", "x"),
            ("CC", "x"),
        ] {
            assert!(check(name, value).is_err(), "{name}={value}");
        }
    }
}
