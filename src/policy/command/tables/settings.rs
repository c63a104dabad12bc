//! Values of options that are harmless only if it is known what they set.
//!
//! In: a program, one of its options and the value. Out: whether the value is known.

use crate::command::tables::{compilers, configuring, tasks};
use crate::words;

/// Properties of Maven that leave out checks or choose tests.
const MAVEN_PROPERTIES: &[&str] = &[
    "test",
    "it.test",
    "groups",
    "excludedGroups",
    "skipTests",
    "skipITs",
    "maven.test.skip",
    "maven.test.failure.ignore",
    "failIfNoTests",
    "failIfNoSpecifiedTests",
    "surefire.failIfNoSpecifiedTests",
    "surefire.useFile",
    "surefire.printSummary",
    "surefire.rerunFailingTestsCount",
    "trimStackTrace",
    "style.color",
    "includes",
    "verbose",
    "detail",
    "plugin",
    "goal",
    "forceStdout",
    "artifact",
];

/// Properties of the JVM that choose tests, or how Gradle itself runs.
const GRADLE_PROPERTIES: &str =
    "test.single integTest.single org.gradle.caching org.gradle.daemon org.gradle.parallel";

/// Settings of pytest that only change what it collects or says.
const PYTEST_SETTINGS: &str = "\
    asyncio_mode console_output_style empty_parameter_set_mark faulthandler_timeout junit_family \
    junit_logging junit_suite_name log_cli log_cli_level log_level python_classes python_files \
    python_functions strict_markers strict_config timeout verbosity_assertions xfail_strict";

/// What `rustc --print` shows.
const RUSTC_SHOWN: &str = "\
    calling-conventions cfg check-cfg code-models crate-name file-names host-tuple \
    native-static-libs relocation-models split-debuginfo stack-protector-strategies sysroot \
    target-cpus target-features target-libdir target-list tls-models";

/// Returns true for a value that is known to be harmless.
pub(crate) fn is_known(program: &str, option: &str, value: &str) -> bool {
    match (program, option) {
        (compiler, _) if words::holds(compilers::NAMES, compiler) => {
            compilers::is_known(option, value)
        }
        ("cmake", _) => configuring::is_known_to_cmake(option, value),
        ("meson setup" | "meson configure", "-D") => configuring::is_known_to_meson(value),
        ("ninja", _) => configuring::is_known_to_ninja(option, value),
        ("bats", _) => words::holds("junit pretty tap tap13", value),
        ("gdb", "-ex" | "--ex") => configuring::is_known_to_gdb(value),
        ("pylint" | "python -m pylint" | "python3 -m pylint", _) => {
            words::holds("colorized github json json2 msvs parseable text", value)
        }
        ("pytest" | "python -m pytest" | "python3 -m pytest", "-p") => {
            value.strip_prefix("no:").is_some_and(is_word)
        }
        ("pytest" | "python -m pytest" | "python3 -m pytest", "-o" | "--override-ini") => {
            let (name, set) = value.split_once('=').unwrap_or((value, ""));
            (name == "addopts" && set.is_empty())
                || (words::holds(PYTEST_SETTINGS, name) && is_word(set))
        }
        ("gradle" | "./gradlew" | "gradlew", "-D") => {
            let (name, set) = value.split_once('=').unwrap_or((value, "true"));
            words::holds(GRADLE_PROPERTIES, name) && is_word(set)
        }
        ("rustc", "--print") => words::holds(RUSTC_SHOWN, value),
        ("rustc", "--emit") => value
            .split(',')
            .all(|kind| words::holds("asm dep-info link llvm-bc llvm-ir metadata mir obj", kind)),
        ("clang-format" | "clang-tidy", _) => is_word(value) && !value.contains(':'),
        // It may be a file that is loaded.
        (_, "--reporter" | "--format" | "-f") => is_inside(value),
        ("mvn" | "./mvnw" | "mvnw" | "mvnd", "-D") => {
            let (name, set) = value.split_once('=').unwrap_or((value, "true"));
            // Other expressions show settings, passwords among them.
            let shown = name == "expression" && set.starts_with("project.");
            let listed = MAVEN_PROPERTIES.contains(&name)
                || shown
                || (name.ends_with(".skip") && is_word(name));
            listed && is_word(set)
        }
        (_, "-P" | "--activate-profiles") => {
            let (name, set) = value.split_once('=').unwrap_or((value, "true"));
            is_word(name) && is_word(set) && !tasks::reaches_out(value)
        }
        ("tox" | "nox", _) => value.split(',').all(tasks::is_harmless),
        (_, "-ldflags") => is_list(value, &["-s", "-w", "-X"], true),
        (_, "-gcflags") => {
            is_list(value, &["-m", "-m=2", "-N", "-l", "-S", "-e", "all=-N", "all=-l"], false)
        }
        _ => false,
    }
}

/// Letters, digits and a few signs; no path and no option.
fn is_word(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.,:#*+!?-[]@ ".contains(letter);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// No path that leaves the folder.
fn is_inside(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['/', '~', '-'])
        && !text.contains("..")
        && !text.contains(':')
}

/// Flags from a list; where they set names, `NAME=VALUE` may stand between them.
fn is_list(value: &str, flags: &[&str], sets: bool) -> bool {
    let is_setting = |word: &str| {
        let word = word.trim_matches('\'');
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-+:".contains(&byte);
        sets && word.split_once('=').is_some_and(|(name, value)| {
            !name.starts_with('-') && name.bytes().all(plain) && value.bytes().all(plain)
        })
    };
    value.split_ascii_whitespace().all(|word| flags.contains(&word) || is_setting(word))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn only_values_are_known_that_load_and_send_nothing() {
        for (program, option, value) in [
            ("pytest", "-p", "no:cacheprovider"),
            ("pytest", "-o", "addopts="),
            ("python -m pytest", "--override-ini", "xfail_strict=true"),
            ("./gradlew", "-D", "test.single=Parser"),
            ("rustc", "--print", "sysroot"),
            ("rustc", "--emit", "metadata,mir"),
            ("clang-format", "--style", "Google"),
            ("vitest", "--reporter", "json"),
            ("eslint", "-f", "./tools/format.js"),
            ("mvn", "-D", "skipTests"),
            ("mvn", "-D", "test=ParserTest#parses*"),
            ("mvn", "-D", "checkstyle.skip=true"),
            ("mvn", "-D", "expression=project.version"),
            ("./mvnw", "-P", "ci,fast"),
            ("tox", "-e", "py312,lint"),
            ("go build", "-ldflags", "-s -w -X main.version=1.2"),
            ("go build", "-gcflags", "-m -l"),
        ] {
            assert!(is_known(program, option, value), "{program} {option} {value}");
        }
        for (program, option, value) in [
            ("pytest", "-p", "evil"),
            ("pytest", "-o", "addopts=-p evil"),
            ("pytest", "-o", "required_plugins=evil"),
            ("pytest", "-o", "pythonpath=docs"),
            ("pytest", "-o", "log_cli"),
            ("pytest", "-o", "python_files=/tmp/x"),
            ("./gradlew", "-D", "org.gradle.jvmargs=-javaagent:x"),
            ("./gradlew", "-D", "test.single=/tmp/x"),
            ("rustc", "--print", "cfg=docs/x"),
            ("rustc", "--emit", "link=/tmp/x"),
            ("clang-format", "-style", "file:a"),
            ("clang-format", "--style", "/tmp/x"),
            ("vitest", "--reporter", "/tmp/x.js"),
            ("eslint", "--format", "../x.js"),
            ("eslint", "--format", "file:///tmp/x.js"),
            ("mvn", "-D", "maven.repo.local=evil"),
            ("mvn", "-D", "argLine=-javaagent:x.jar"),
            ("mvn", "-D", "test=/tmp/x"),
            ("mvn", "-D", "expression=settings.servers"),
            ("mvn", "-D", "maven.ext.class.path=x"),
            ("mvn", "-P", "release"),
            ("tox", "-e", "py312,publish"),
            ("gradle", "-P", "repo=/tmp/x"),
            ("go build", "-ldflags", "-extld=x"),
            ("go build", "-ldflags", "-linkmode external"),
            ("go build", "-gcflags", "-toolexec=x"),
            ("make", "-D", "test"),
        ] {
            assert!(!is_known(program, option, value), "{program} {option} {value}");
        }
    }
}
