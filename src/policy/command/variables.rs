//! Variables that may stand in front of a command or behind `export`: those that change what a
//! program says, or how loudly, which of its own checks it makes, and nothing else it starts or
//! reads.
//!
//! In: an assignment as the script has it. Out: nothing, or why commands run without it. Every
//! other name is refused, for a variable can name programs, libraries and folders (`LD_PRELOAD`,
//! `PATH`, `GIT_DIR`), and what a program makes of one it does not say.

use crate::command::tables::variables::{
    EXACT, FOLDERS, HARMLESS, KEYED, NUMBERS, OPTIONS, SCRATCH_FILES, SCRATCH_FOLDERS,
    SETTINGS_MODULES, WITH_STARS,
};
use crate::words;

/// Checks the name of a variable.
///
/// # Errors
/// Why it is refused whatever its value is, as the middle of a sentence.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if is_listed(name) {
        Ok(())
    } else {
        Err(format!("the script sets a variable (`{name}`); commands run in a fixed environment"))
    }
}

/// Checks an assignment whose value is known.
///
/// # Errors
/// Why it is refused, as the middle of a sentence.
pub(super) fn check(name: &str, value: &str) -> Result<(), String> {
    check_name(name)?;
    let holds = |list| words::holds(list, name);
    let (fits, wanted) = if let Some((_, options)) = entry(OPTIONS, name) {
        (holds_only(options, value), "options that are known to be harmless")
    } else if let Some((_, values)) = entry(EXACT, name) {
        (values.contains(&value), "one of the values that are known to be harmless")
    } else if let Some((_, keys)) = entry(KEYED, name) {
        (holds_keys(keys, value), "settings that are known to be harmless")
    } else if holds(FOLDERS) {
        let fits = value.is_empty() || value.split(':').all(is_folder);
        (fits, "folders of the repository")
    } else if holds(SCRATCH_FOLDERS) {
        (value.is_empty() || is_scratch_folder(value), "a folder below `/tmp`")
    } else if holds(SCRATCH_FILES) {
        (is_scratch_folder(value) && value.matches('/').count() == 2, "a file in `/tmp`")
    } else if holds(SETTINGS_MODULES) {
        (is_settings_module(value), "a module of settings")
    } else if holds(NUMBERS) {
        (words::is_number(value), "a number")
    } else if name == "TZ" {
        (value.is_empty() || is_time_zone(value), "the name of a time zone")
    } else {
        let stars = holds(WITH_STARS);
        let plain = |letter: char| is_plain(letter) || (stars && letter == '*');
        // No path: a language is looked up as a file.
        let fits = !value.contains("..") && value.chars().all(plain);
        (fits, "a word of letters, digits and `_-.,:=+@`")
    };
    if fits { Ok(()) } else { Err(format!("the value of `{name}` has to be {wanted}")) }
}

/// Returns true for a variable that may be unset. One with fixed values may not: commands are given
/// some of these, and a program without them would start another one or look for a host.
pub(super) fn may_be_unset(name: &str) -> bool {
    is_listed(name) && entry(EXACT, name).is_none()
}

/// Returns true for a variable whose value names folders of the repository.
pub(super) fn names_folders(name: &str) -> bool {
    words::holds(FOLDERS, name)
}

/// Returns a list of folders with absolute ones of the repository as they are from its root.
pub(super) fn from_root(value: &str, root: &str) -> String {
    value.split(':').map(|part| seen_from(root, part)).collect::<Vec<_>>().join(":")
}

fn seen_from<'p>(root: &str, part: &'p str) -> &'p str {
    match part.strip_prefix(root).filter(|_| !root.is_empty()) {
        Some("" | "/") => ".",
        Some(below) => below.strip_prefix('/').unwrap_or(part),
        None => part,
    }
}

/// Returns true for a folder below the one the command runs in.
fn is_folder(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    !word.is_empty() && !word.starts_with('/') && !word.contains("..") && word.chars().all(plain)
}

fn entry<'t, T>(table: &'t [(&'static str, T)], name: &str) -> Option<&'t (&'static str, T)> {
    table.iter().find(|(known, _)| *known == name)
}

fn is_listed(name: &str) -> bool {
    let lists = [HARMLESS, NUMBERS, FOLDERS, SCRATCH_FOLDERS, SCRATCH_FILES, SETTINGS_MODULES];
    lists.iter().any(|list| words::holds(list, name))
        || entry(OPTIONS, name).is_some()
        || entry(EXACT, name).is_some()
        || entry(KEYED, name).is_some()
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-.,:=+@".contains(letter)
}

/// Whether a value is a list of known options. Programs that take more of them from `@FILE` do so
/// behind any other word.
fn holds_only(options: &[&str], value: &str) -> bool {
    if value.split_ascii_whitespace().any(|word| word.starts_with('@')) {
        return false;
    }
    let mut given = value.split_ascii_whitespace();
    while let Some(word) = given.next() {
        if options.iter().any(|option| !option.contains(' ') && fits(option, word)) {
            continue;
        }
        let takes = |next: &str| {
            let pairs = options.iter().filter_map(|option| option.split_once(' '));
            let mut values = pairs.filter(|(first, _)| *first == word).map(|(_, value)| value);
            !next.starts_with('-') && values.any(|value| fits(value, next))
        };
        let is_pair = given.next().is_some_and(takes);
        if !is_pair {
            return false;
        }
    }
    true
}

/// Whether a word is the one of a table, or begins like it where that ends with `*`.
fn fits(known: &str, word: &str) -> bool {
    let plain = |rest: &str| !rest.is_empty() && !rest.contains("..") && rest.chars().all(is_plain);
    match known.strip_suffix('*') {
        None => known == word,
        Some(start) => word.strip_prefix(start).is_some_and(plain),
    }
}

/// Whether a value is a list of `KEY=WORD` with known keys. Programs part it by different signs, so
/// all of them part it here.
fn holds_keys(keys: &str, value: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    value.split([',', ':', ' ']).all(|setting| {
        setting.split_once('=').is_some_and(|(key, word)| {
            words::holds(keys, key) && !word.is_empty() && word.chars().all(plain)
        })
    })
}

/// Whether a word is a file or a folder below `/tmp`, or nowhere. The checkout may lie there too:
/// what begins with a dot is refused, for so do all of its folders that nothing may write.
fn is_scratch_folder(word: &str) -> bool {
    let below = |below: &str| is_folder(below) && !below.split('/').any(|it| it.starts_with('.'));
    word == "/dev/null" || word.strip_prefix("/tmp/").is_some_and(below)
}

/// Whether a word names a module of settings by a path with dots. Other modules do something when
/// they are loaded, so it has to be called that.
fn is_settings_module(word: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let is_settings = |part: &str| part == "config" || part.contains("settings");
    word.split('.').all(plain) && word.split('.').any(is_settings)
}

/// Whether a word is a time zone: `UTC`, `Europe/Berlin`.
fn is_time_zone(word: &str) -> bool {
    let plain = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && !part.contains("..")
            && part.chars().all(is_plain)
    };
    word.split('/').count() <= 3 && word.split('/').all(plain)
}

#[cfg(test)]
mod tests {
    use super::{
        EXACT, FOLDERS, HARMLESS, KEYED, NUMBERS, OPTIONS, SCRATCH_FILES, SCRATCH_FOLDERS,
        SETTINGS_MODULES, check, may_be_unset,
    };

    #[test]
    fn the_documentation_names_every_variable() {
        let page = include_str!("../../../docs/commands.md");
        let lists = [HARMLESS, NUMBERS, FOLDERS, SCRATCH_FOLDERS, SCRATCH_FILES, SETTINGS_MODULES];
        let listed = lists.into_iter().flat_map(str::split_ascii_whitespace);
        let listed = listed.chain(OPTIONS.iter().map(|(name, _)| *name));
        let listed = listed.chain(KEYED.iter().map(|(name, _)| *name));
        for name in listed {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        for (name, values) in EXACT {
            let named = |value: &&str| page.contains(&format!("`{name}={value}`"));
            assert!(values.iter().any(named), "{name}");
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
            ("TZ", ""),
            ("TZ", "America/New_York"),
            ("TZ", "America/Argentina/Ushuaia"),
            ("DEBUG", "vitest:*"),
            ("GTEST_FILTER", "Parser.*:-Parser.Slow*"),
            ("RUSTFLAGS", "--cfg tokio_unstable -D warnings"),
            ("RUSTFLAGS", "-Dwarnings -Ctarget-cpu=native"),
            ("RUSTFLAGS", "-C debuginfo=0 -C target-feature=+crt-static"),
            ("MIRIFLAGS", "-Zmiri-disable-isolation"),
            ("RUBYOPT", "-W0"),
            ("SPEC_OPTS", "--format progress --fail-fast"),
            ("SPEC_OPTS", "--tag a@b"),
            ("MAVEN_OPTS", "-Xmx1g -Xms256m"),
            ("MAVEN_OPTS", "-Xmx2g -XX:+UseParallelGC"),
            ("JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF-8"),
            ("GRADLE_OPTS", "-Xmx1g -Dorg.gradle.daemon=false"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("NODE_OPTIONS", "--experimental-vm-modules --no-warnings"),
            ("PYTEST_ADDOPTS", "-q -k parser"),
            ("PYTEST_ADDOPTS", "-p no:cacheprovider -n4"),
            ("GOFLAGS", "-buildvcs=false -mod=mod"),
            ("CFLAGS", "-O2 -Wall -Wno-unused -DX=1 -fsanitize=address"),
            ("PYTHONPATH", "src"),
            ("PYTHONPATH", "./src:tests/lib"),
            ("MYPYPATH", "stubs"),
            ("GOOS", "linux"),
            ("CARGO_TARGET_DIR", "/tmp/target"),
            ("MYPY_CACHE_DIR", "/dev/null"),
            ("COVERAGE_FILE", "/tmp/coverage-1"),
            ("GIT_PAGER", "cat"),
            ("PAGER", ""),
            ("GOWORK", "off"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
            ("GODEBUG", "gctrace=1,schedtrace=1000"),
            ("ASAN_OPTIONS", "detect_leaks=0:halt_on_error=1"),
            ("VITEST_MAX_THREADS", "1"),
            ("DATABASE_URL", "sqlite:///:memory:"),
            ("DJANGO_SETTINGS_MODULE", "app.settings"),
            ("DJANGO_SETTINGS_MODULE", "config.settings.test"),
            ("XDEBUG_MODE", "off"),
            ("UV_OFFLINE", "1"),
        ] {
            assert!(check(name, value).is_ok(), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "1"),
            ("LD_PRELOAD", "x"),
            ("rust_log", "1"),
            ("NODE_PATH", "1"),
            ("LC_ALL", "../x"),
            ("LANG", "/tmp/x"),
            ("TZ", ":/etc/passwd"),
            ("TZ", ".."),
            ("TZ", "/etc/passwd"),
            ("TZ", "a/../b"),
            ("TZ", "a/b/c/d"),
            ("CI", "$(id)"),
            ("CI", "a b"),
            ("CI", "*"),
            ("RUST_LOG", "é"),
            ("RUSTFLAGS", "1"),
            ("RUSTFLAGS", "-C linker=/tmp/x"),
            ("RUSTFLAGS", "-C linker=x"),
            ("RUSTFLAGS", "-Clinker=x"),
            ("RUSTFLAGS", "-C link-arg=-fuse-ld=x"),
            ("RUSTFLAGS", "-C debuginfo=0 -C linker=x"),
            ("RUSTFLAGS", "-C"),
            ("RUSTFLAGS", "-Zcodegen-backend=x"),
            ("RUSTFLAGS", "-D --emit=asm"),
            ("RUSTFLAGS", "-D"),
            ("RUSTFLAGS", "-D @args"),
            ("RUSTFLAGS", "--cfg a -W @args"),
            ("PYTEST_ADDOPTS", "-k @args"),
            ("SPEC_OPTS", "--tag @args"),
            ("MIRIFLAGS", "-Zmiri-native-lib=x"),
            ("RUBYOPT", "-r/tmp/x"),
            ("RUBYOPT", "-rx"),
            ("SPEC_OPTS", "--require x"),
            ("SPEC_OPTS", "-rx"),
            ("SPEC_OPTS", "--format Evil"),
            ("SPEC_OPTS", "--out x"),
            ("MAVEN_OPTS", "-javaagent:/tmp/x.jar"),
            ("MAVEN_OPTS", "-Xmx1g -Dx=y"),
            ("MAVEN_OPTS", "-XX:OnError=x"),
            ("MAVEN_OPTS", "-XX:Flags=x"),
            ("MAVEN_OPTS", "-Xbootclasspath:x"),
            ("JAVA_TOOL_OPTIONS", "-javaagent:x.jar"),
            ("JAVA_TOOL_OPTIONS", "-agentlib:x"),
            ("JDK_JAVA_OPTIONS", "@x"),
            ("GRADLE_OPTS", "-Duser.home=x"),
            ("GRADLE_OPTS", "-Dorg.slf4j.simpleLogger.logFile=x"),
            ("NODE_OPTIONS", "--require x"),
            ("NODE_OPTIONS", "--import=x"),
            ("NODE_OPTIONS", "--inspect=0.0.0.0:1"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 -r x"),
            ("PYTEST_ADDOPTS", "-p evil"),
            ("PYTEST_ADDOPTS", "-p no:x -p evil"),
            ("PYTEST_ADDOPTS", "-c x"),
            ("GOFLAGS", "-toolexec=x"),
            ("GOFLAGS", "-exec=x"),
            ("GOFLAGS", "-overlay=x"),
            ("CFLAGS", "-fplugin=x.so"),
            ("CFLAGS", "-Wl,-plugin,x.so"),
            ("CFLAGS", "-Bx"),
            ("CFLAGS", "@x"),
            ("CFLAGS", "-O2 -wrapper x"),
            ("LDFLAGS", "-s"),
            ("PYTHONPATH", "/tmp/x"),
            ("PYTHONPATH", "src:"),
            ("PYTHONPATH", "src/../../x"),
            ("MYPYPATH", "/tmp/x"),
            ("CARGO_TARGET_DIR", "/tmp/../etc"),
            ("CARGO_TARGET_DIR", "/tmp"),
            ("CARGO_TARGET_DIR", ".github"),
            ("CARGO_TARGET_DIR", "/tmp/repo/.github"),
            ("COVERAGE_FILE", "/tmp/repo/x"),
            ("COVERAGE_FILE", "/tmp/.x"),
            ("COVERAGE_FILE", "x"),
            ("COVERAGE_FILE", ""),
            ("GIT_PAGER", "sh"),
            ("GIT_PAGER", "cat x"),
            ("PAGER", "less"),
            ("GIT_EDITOR", "vi"),
            ("GIT_EXTERNAL_DIFF", "cat"),
            ("GIT_SSH_COMMAND", "true"),
            ("GIT_DIR", "x"),
            ("GIT_CONFIG_COUNT", "0"),
            ("GIT_TERMINAL_PROMPT", "1"),
            ("BROWSER", "evil"),
            ("GOWORK", "x"),
            ("GOPROXY", "direct"),
            ("GOTOOLCHAIN", "go1.99"),
            ("GOSUMDB", "off"),
            ("GONOSUMDB", "x"),
            ("GOCACHE", "/tmp/x"),
            ("GODEBUG", "execerrdot=0"),
            ("GODEBUG", "gctrace=1,execerrdot=0"),
            ("GODEBUG", "gctrace=1:x509sha1=1"),
            ("GODEBUG", "gctrace"),
            ("GODEBUG", ""),
            ("ASAN_OPTIONS", "external_symbolizer_path=x"),
            ("ASAN_OPTIONS", "detect_leaks=0:log_path=x"),
            ("ASAN_OPTIONS", "include=x"),
            ("VITEST_MAX_THREADS", "x"),
            ("VITEST_MAX_THREADS", ""),
            ("DATABASE_URL", "postgres://db.example/x"),
            ("DATABASE_URL", "sqlite:///x.db"),
            ("DJANGO_SETTINGS_MODULE", "antigravity"),
            ("DJANGO_SETTINGS_MODULE", "venv.__main__"),
            ("DJANGO_SETTINGS_MODULE", "a/settings"),
            ("DJANGO_SETTINGS_MODULE", ".settings"),
            ("XDEBUG_MODE", "debug"),
            ("UV_OFFLINE", "0"),
            ("CARGO_NET_OFFLINE", "false"),
            ("MPLBACKEND", "module:x"),
            ("PYTHONBREAKPOINT", "os.system"),
            ("PYTHONSTARTUP", "x.py"),
            ("PYTHONHOME", "x"),
            ("PYTHONINSPECT", "1"),
            ("PYTHONPYCACHEPREFIX", "/tmp/x"),
            ("PYTHONUSERBASE", "x"),
            ("PERL5LIB", "lib"),
            ("PERL5OPT", "-Mx"),
            ("BUNDLE_GEMFILE", "x"),
            ("RUSTC", "x"),
            ("RUSTC_WRAPPER", "x"),
            ("CARGO_BUILD_RUSTC_WRAPPER", "x"),
            ("CARGO_HOME", "x"),
            ("CC", "gcc"),
            ("BASH_ENV", "x"),
            ("ENV", "x"),
            ("HOME", "/tmp/x"),
            ("TMPDIR", "/tmp/x"),
            ("IFS", ","),
            ("MAKEFLAGS", "-j4"),
            ("LESSOPEN", "x"),
            ("EDITOR", "true"),
            ("http_proxy", "x"),
        ] {
            assert!(check(name, value).is_err(), "{name}={value}");
        }
    }

    #[test]
    fn what_keeps_programs_from_starting_others_may_not_be_unset() {
        for (name, expected) in [
            ("CI", true),
            ("PYTHONPATH", true),
            ("RUSTFLAGS", true),
            ("GIT_PAGER", false),
            ("GOPROXY", false),
            ("PATH", false),
            ("GIT_CONFIG_COUNT", false),
            ("x", false),
        ] {
            assert_eq!(may_be_unset(name), expected, "{name}");
        }
    }
}
