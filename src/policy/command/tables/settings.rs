//! Values of options that are harmless only if it is known what they set.
//!
//! In: a program, one of its options and the value. Out: whether the value is known.

use crate::command::tables::jvm::MAVEN_PROGRAMS;
use crate::command::tables::properties::{self, is_word};
use crate::command::tables::{compilers, configuring, tasks};
use crate::words;

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

/// Plugins of pytest that are widely used, and its own.
const PYTEST_PLUGINS: &str = "\
    anyio asyncio cacheprovider django faulthandler hypothesispytest pytest_asyncio pytest_cov \
    pytest_django pytest_mock pytest_randomly pytest_timeout pytester randomly rerunfailures \
    sugar timeout xdist xdist.plugin";

/// What `rustc -C` sets that chooses no program and writes no other file.
const RUSTC_CODEGEN: &str = "\
    code-model codegen-units control-flow-guard debug-assertions debuginfo \
    force-frame-pointers force-unwind-tables inline-threshold instrument-coverage link-dead-code \
    lto metadata no-prepopulate-passes no-redzone no-vectorize-loops no-vectorize-slp opt-level \
    overflow-checks panic prefer-dynamic relocation-model soft-float split-debuginfo strip \
    symbol-mangling-version target-cpu target-feature";

/// What `rustc -Z` shows.
const RUSTC_UNSTABLE: &str = "\
    input-stats macro-backtrace no-codegen parse-crate-root-only print-mono-items \
    print-type-sizes span-debug time-passes trace-macros treat-err-as-bug unpretty validate-mir \
    verbose-internals";

/// Settings of rustfmt that name a file or patterns of files, or let it write.
const RUSTFMT_FILES: &str = "emit_mode ignore license_template_path make_backup";

/// Settings of ruff that name no file and let it write none.
const RUFF_SETTINGS: &str = "\
    format.indent-style format.line-ending format.quote-style indent-width line-length \
    lint.extend-ignore lint.extend-select lint.ignore lint.select output-format preview \
    respect-gitignore show-fixes target-version";

/// Loggers of `dotnet test` by their friendly names; another one could be a path.
const DOTNET_LOGGERS: &str = "console GitHubActions html json junit nunit trx xunit";

/// Properties of MSBuild whose value is a word or a number, and chooses no program.
const DOTNET_PROPERTIES: &str = "\
    AnalysisLevel AnalysisMode AssemblyVersion CollectCoverage Configuration \
    ContinuousIntegrationBuild CoverletOutputFormat DebugType Deterministic \
    EnableNETAnalyzers EnforceCodeStyleInBuild Exclude ExcludeByAttribute FileVersion \
    GenerateDocumentationFile ImplicitUsings Include InformationalVersion LangVersion NoWarn \
    Nullable Optimize ParallelizeTestCollections Platform RunAnalyzers \
    RunAnalyzersDuringBuild SkipAutoProps TargetFramework TestingPlatformDotnetTestSupport \
    Threshold ThresholdStat ThresholdType TreatWarningsAsErrors UseSharedCompilation Version \
    VersionPrefix VersionSuffix WarningLevel WarningsAsErrors WarningsNotAsErrors";

/// Returns the file that a setting makes a program write.
pub(crate) fn written<'v>(program: &str, option: &str, value: &'v str) -> Option<&'v str> {
    let is_property = MAVEN_PROGRAMS.contains(&program) && matches!(option, "-D" | "--define");
    properties::written_by_maven(value).filter(|_| is_property)
}

/// Returns the file that a setting is read from.
pub(crate) fn read<'v>(program: &str, option: &str, value: &'v str) -> Option<&'v str> {
    let is_file = match (program, option) {
        ("ruff check" | "ruff format", "--config") => !value.contains('='),
        ("jest", "-c" | "--config") => true,
        _ => false,
    };
    is_file.then_some(value)
}

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
        ("java", _) => properties::is_known_to_jvm(option, value),
        ("pylint" | "python -m pylint" | "python3 -m pylint", _) => {
            words::holds("colorized github json json2 msvs parseable text", value)
        }
        ("pytest" | "python -m pytest" | "python3 -m pytest", _) => {
            is_known_to_pytest(option, value)
        }
        ("gradle" | "./gradlew" | "gradlew", "-D" | "--system-prop") => {
            properties::is_known_to_gradle(value)
        }
        ("rustc" | "cargo rustc" | "rustfmt", _) => is_known_to_rust(option, value),
        ("clang-format" | "clang-tidy", _) => is_word(value) && !value.contains(':'),
        ("ruff check" | "ruff format", "--config") => match value.split_once('=') {
            Some((name, set)) => {
                words::holds(RUFF_SETTINGS, name.trim()) && !set.contains(['/', '~', '\n', '\r'])
            }
            None => is_inside(value),
        },
        ("actionlint", _) => value.is_empty(),
        ("yamllint", _) => !value.contains(['/', '~']),
        (dotnet, _) if dotnet.starts_with("dotnet ") => is_known_to_dotnet(option, value),
        ("jest", "--env" | "--testEnvironment") | ("vitest", "--environment") => words::holds(
            "edge-runtime happy-dom jest-environment-jsdom jest-environment-node jsdom node",
            value,
        ),
        // It may be settings in themselves.
        ("jest", "-c" | "--config") => is_inside(value) && !value.trim_start().starts_with('{'),
        ("vitest", "--pool") => words::holds("forks threads vmForks vmThreads", value),
        ("vitest", "--coverage.provider") => words::holds("istanbul v8", value),
        ("prettier", "--parser") => {
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        }
        ("rspec", "-r" | "--require") => words::holds("rails_helper spec_helper", value),
        // It may be a file that is loaded, or that holds settings of a program.
        (
            _,
            "--reporter"
            | "--reporters"
            | "--coverageReporters"
            | "--coverage.reporter"
            | "--format"
            | "--formatter"
            | "-f",
        ) => is_inside(value),
        (maven, "-D" | "--define") if MAVEN_PROGRAMS.contains(&maven) => {
            properties::is_known_to_maven(value)
        }
        (_, "-P" | "--activate-profiles" | "--project-prop") => {
            let (name, set) = value.split_once('=').unwrap_or((value, "true"));
            is_word(name) && is_word(set) && !tasks::reaches_out(value)
        }
        ("tox" | "nox", _) => value.split(',').all(tasks::is_harmless),
        (_, "-ldflags") => is_list(value, &["-s", "-w", "-X"], true),
        (_, "-gcflags") => is_list(
            value,
            &["-m", "-m=2", "-m=3", "-N", "-l", "-S", "-e", "-live", "all=-N", "all=-l", "all=-m"],
            false,
        ),
        _ => false,
    }
}

fn is_known_to_pytest(option: &str, value: &str) -> bool {
    match option {
        "-p" => {
            value.strip_prefix("no:").is_some_and(is_word) || words::holds(PYTEST_PLUGINS, value)
        }
        // A module of settings, or a class in it.
        "--ds" | "--dc" => value.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }),
        _ => {
            let (name, set) = value.split_once('=').unwrap_or((value, ""));
            (name == "addopts" && set.is_empty())
                || (words::holds(PYTEST_SETTINGS, name) && is_word(set))
        }
    }
}

fn is_known_to_rust(option: &str, value: &str) -> bool {
    let (name, set) = value.split_once('=').unwrap_or((value, "yes"));
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_,.+-".contains(&byte))
    };
    match option {
        "--print" => words::holds(RUSTC_SHOWN, value),
        "--emit" => value.split(',').all(|kind| {
            let kinds = "asm checkstyle coverage dep-info files json link llvm-bc llvm-ir \
                         metadata mir obj stdout";
            words::holds(kinds, kind)
        }),
        "-C" | "--codegen" => words::holds(RUSTC_CODEGEN, name) && plain(set),
        "-Z" => words::holds(RUSTC_UNSTABLE, name) && plain(set),
        "-L" => match value.split_once('=') {
            Some((kind, path)) => {
                words::holds("all crate dependency framework native", kind) && is_inside(path)
            }
            None => is_inside(value),
        },
        "--config" => value.split(',').all(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !words::holds(RUSTFMT_FILES, name) && is_word(&pair.replace(['=', '"'], "_"))
        }),
        _ => false,
    }
}

fn is_known_to_dotnet(option: &str, value: &str) -> bool {
    if option.contains("-l") {
        let mut parts = value.split(';');
        return parts.next().is_some_and(|name| words::holds(DOTNET_LOGGERS, name))
            && parts.all(|part| {
                part.split_once('=').is_some_and(|(name, set)| is_word(name) && is_word(set))
            });
    }
    let property = value.trim_start_matches(':');
    property.split(';').all(|property| {
        let (name, set) = property.split_once('=').unwrap_or((property, ""));
        words::holds(DOTNET_PROPERTIES, name) && is_word(set)
    })
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
            ("pytest", "-p", "xdist"),
            ("pytest", "--ds", "config.settings.test"),
            ("rustc", "-C", "opt-level=3"),
            ("rustc", "-L", "dependency=target/debug/deps"),
            ("rustc", "-Z", "unpretty=hir-tree"),
            ("rustfmt", "--emit", "stdout"),
            ("rustfmt", "--config", "max_width=100,edition=2021"),
            ("ruff check", "--config", "line-length = 100"),
            ("ruff format", "--config", "ruff.toml"),
            ("actionlint", "-shellcheck", ""),
            ("yamllint", "-d", "{extends: relaxed}"),
            ("dotnet test", "--logger", "console;verbosity=detailed"),
            ("dotnet test", "-l:", "trx;LogFileName=x.trx"),
            ("dotnet build", "-p", ":TreatWarningsAsErrors=true"),
            ("dotnet build", "--property:", "Configuration=Release"),
            ("vitest", "--environment", "jsdom"),
            ("rspec", "-r", "spec_helper"),
            ("java", "-X", "mx1g"),
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
            ("pytest", "--ds", "/tmp/a"),
            ("pytest", "--ds", "a..b"),
            ("rustc", "-C", "linker=a"),
            ("rustc", "-C", "incremental=a"),
            ("rustc", "-L", "native=/tmp/x"),
            ("rustc", "-Z", "codegen-backend=a.so"),
            ("rustfmt", "--config", "license_template_path=a"),
            ("rustfmt", "--config", "max_width=/tmp/x"),
            ("ruff check", "--config", "/tmp/x.toml"),
            ("ruff check", "--config", "extend='a.toml'"),
            ("ruff check", "--config", "fix=true"),
            ("ruff check", "--config", "\"cache-dir\"='a'"),
            ("ruff check", "--config", "line-length=99\nfix=true"),
            ("rustfmt", "--config", "emit_mode=Files"),
            ("rustfmt", "--config", "max_width=90,make_backup=true"),
            ("ruff check", "--config", "cache-dir='/etc'"),
            ("actionlint", "-shellcheck", "./evil"),
            ("yamllint", "-d", "{extends: /tmp/x}"),
            ("dotnet test", "--logger", "./evil.dll"),
            ("dotnet test", "--logger:", "trx;LogFileName=../x"),
            ("dotnet build", "-p", ":CscToolPath=a"),
            ("dotnet build", "-p:", "Version=/tmp/x"),
            ("jest", "--config", "{\"runner\":\"a\"}"),
            ("jest", "-c", "{}"),
            ("jest", "--env", "./evil.js"),
            ("vitest", "--environment", "/tmp/evil.js"),
            ("vitest", "--pool", "./evil.js"),
            ("prettier", "--parser", "./evil.js"),
            ("rspec", "--require", "evil"),
            ("java", "-X", "bootclasspath:a"),
        ] {
            assert!(!is_known(program, option, value), "{program} {option} {value}");
        }
    }
}
