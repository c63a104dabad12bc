//! Why a check of the policy does not pass on a machine, and what to do about it.
//!
//! In: how one command of `publish.success` ended, with the end of its output. Out: what it needs.
//! The words of package managers and compilers say whether that is a program, a network or
//! dependencies; whatever they do not say is the command's own failure.

use std::fmt;

use locum_agent::report::markdown::visible;
use locum_agent::session::no_tests;
use locum_agent::session::outcome::{CheckEnd, CheckReport};
use locum_base::text::tail_lines;
use locum_policy::command::change_of_folder;
use locum_sandbox::exec::Exit;

/// Most lines shown of what a failed check wrote, the last ones.
const SHOWN_LINES: usize = 12;

/// Most bytes of them.
const SHOWN_BYTES: usize = 2 * 1024;

/// What a check lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckLack {
    /// A program that is not on this machine.
    Program,
    /// Packages that would have been installed before.
    Dependencies,
    /// A host: it would fetch something.
    Network,
    /// Another version of a program than this machine has.
    Version,
    /// The package manager, of the version that `package.json` pins.
    PackageManager,
    /// A test: it found none that it could run.
    Tests,
    /// Nothing known: the command itself fails.
    Unknown,
}

impl CheckLack {
    /// Returns its word for programs; `None` where nothing is known to be missing.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Program => Some("program"),
            Self::Dependencies => Some("dependencies"),
            Self::Network => Some("network"),
            Self::Version => Some("version"),
            Self::PackageManager => Some("package-manager"),
            Self::Tests => Some("tests"),
            Self::Unknown => None,
        }
    }
}

/// Why a check does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// What it lacks.
    pub lack: CheckLack,
    /// The same for people, as a fragment: "exit code 101: ...".
    pub why: String,
    /// The last lines of its output.
    pub output: String,
}

/// Words with which tools say that packages are not installed.
const DEPENDENCIES: &[&str] = &[
    "modulenotfounderror",
    "no module named",
    "cannot find module",
    "cannot find package",
    "err_module_not_found",
    "could not find gem",
    "bundler::gemnotfound",
    "bundle install",
    "the gemfile's dependencies are missing",
    "bundler: command not found",
    "unmet dependencies",
    "unchecked dependencies",
    "mix deps.get",
    "composer install",
    "vendor/autoload.php",
    "no matching package named",
    "node_modules missing",
    "npm install",
    "in offline mode",
    "could not create local repository",
    "has not been downloaded from it before",
    "no cached version",
    "missing go.sum entry",
    "module lookup disabled",
    "could not find hex",
    "project.assets.json",
    "error netsdk1004",
];

/// Words with which tools say that they are of the wrong version.
const VERSIONS: &[&str] = &[
    "invalid go version",
    "requires go >=",
    "requires rustc",
    "requires a different python",
    "unsupported class file major version",
    "unsupported engine",
    "your ruby version is",
];

/// Words with which shells and tools say that a program is not there.
const PROGRAMS: &[&str] =
    &["command not found", ": not found", "error 127", "executable file not found"];

/// Words with which tools say that they reach no host.
const NETWORK: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "name resolution",
    "name or service not known",
    "network is unreachable",
    "nodename nor servname",
    "no such host",
    "enotfound",
    "eai_again",
    "econnrefused",
    "unknownhostexception",
    "unknown host",
    "dial tcp",
    "failed to establish a new connection",
    "temporary failure in",
    "unable to load the service index",
    "failed to download",
    "error fetching",
    "request failed",
    "failed to fetch",
];

impl CheckFailure {
    /// Returns what a check lacks; `None` for one that passed and ran a test, where it tests.
    pub fn of(report: &CheckReport) -> Option<Self> {
        let output = tail_lines(report.output.trim_end(), SHOWN_LINES, SHOWN_BYTES).to_owned();
        let exit = match &report.end {
            CheckEnd::Exited(Exit::Code(0)) => return None,
            CheckEnd::NotStarted(why) => {
                // What packages bring along lies below the checkout, or is started by their tool.
                let own = program(&report.command);
                let is_below = |name: &String| {
                    ["vendor/bin/", "node_modules/", ".venv/"]
                        .iter()
                        .any(|part| name.contains(part))
                };
                let missing = &report.missing;
                let is_brought = starts_packages(&report.command)
                    && !missing.iter().any(|name| name == own)
                    || missing.iter().any(is_below);
                let lack = match (missing.is_empty(), is_brought) {
                    (true, _) => CheckLack::Unknown,
                    (false, true) => CheckLack::Dependencies,
                    (false, false) => CheckLack::Program,
                };
                return Some(Self { lack, why: why.clone(), output });
            }
            CheckEnd::Unclean(what) => {
                return Some(Self { lack: CheckLack::Unknown, why: what.clone(), output });
            }
            CheckEnd::NoTests => Exit::Code(0),
            CheckEnd::Exited(exit) => *exit,
        };
        let written = report.output.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| written.contains(word));
        let pinned = pinned_manager(&written);
        let lack = if report.end == CheckEnd::NoTests {
            CheckLack::Tests
        } else if pinned.is_some() {
            CheckLack::PackageManager
        } else if says(DEPENDENCIES) {
            CheckLack::Dependencies
        } else if says(VERSIONS) {
            CheckLack::Version
        } else if says(NETWORK) {
            CheckLack::Network
        } else if exit == Exit::Code(127) || says(PROGRAMS) {
            // A script of the project starts what its packages bring along.
            let brings = starts_packages(&report.command);
            if brings { CheckLack::Dependencies } else { CheckLack::Program }
        } else if no_tests::ran_none(&report.output) {
            CheckLack::Tests
        } else {
            CheckLack::Unknown
        };
        let ended = match exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(number) => format!("ended by signal {number}"),
            Exit::TimedOut => "it took longer than `commands.timeout`".to_owned(),
            Exit::TooManyProcesses => "it had more processes than `commands` allows".to_owned(),
        };
        let why = match lack {
            CheckLack::Program => format!("a program that it starts is not installed ({ended})"),
            CheckLack::Dependencies => format!("dependencies are not installed ({ended})"),
            CheckLack::Network => {
                format!("it wants the network, which commands do not have ({ended})")
            }
            CheckLack::Version => format!("it needs another version of a program ({ended})"),
            CheckLack::PackageManager => format!(
                "{}, which `packageManager` of `package.json` pins, is not installed ({ended})",
                pinned.unwrap_or_default()
            ),
            CheckLack::Tests => format!("it ran no test ({ended})"),
            CheckLack::Unknown => format!("the command itself fails ({ended})"),
        };
        Some(Self { lack, why, output })
    }
}

/// Returns the package manager of a Node project, with its version, where it stops because that
/// one would have to be fetched first: pnpm fetches itself, corepack fetches each of them, and
/// Yarn 1 refuses to stand in for another version. `written` is in lower case.
fn pinned_manager(written: &str) -> Option<String> {
    let version = |rest: &str| -> String {
        let is_part = |letter: &char| letter.is_ascii_alphanumeric() || ".-".contains(*letter);
        rest.chars().take_while(is_part).collect()
    };
    let after = |begin: &str| Some(version(written.split_once(begin)?.1));
    let by_itself = after("pnpm add pnpm@").map(|version| format!("pnpm {version}"));
    let by_refusal = || {
        let (_, rest) = written.split_once("defines \"packagemanager\": \"")?;
        let (name, rest) = rest.split_once('@')?;
        Some(format!("{name} {}", version(rest)))
    };
    let by_corepack = || {
        // Its stack says that it installs; what stops it may be the network or a closed folder.
        let is_corepack = written.contains("corepack.cjs")
            && (written.contains("fetch failed") || written.contains("installversion"));
        let named = || {
            let yarn = after("repo.yarnpkg.com/").or_else(|| after("yarnpkg-cli-dist-"));
            let yarn = yarn.map(|version| format!("yarn {version}"));
            yarn.or_else(|| {
                Some(format!("pnpm {}", after("/pnpm/-/pnpm-")?.trim_end_matches(".tgz")))
            })
        };
        is_corepack.then(|| named().unwrap_or_else(|| "the package manager".to_owned()))
    };
    by_itself.or_else(by_refusal).or_else(by_corepack)
}

/// Returns the program of a command, in whatever folder it runs.
fn program(command: &str) -> &str {
    let bare = change_of_folder(command).map_or(command, |(_, bare)| bare);
    bare.split(' ').next().unwrap_or_default()
}

/// Whether a command starts what the project's packages bring along.
fn starts_packages(command: &str) -> bool {
    matches!(program(command), "npm" | "pnpm" | "yarn" | "bun" | "composer" | "bundle")
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.why)?;
        visible(&self.output).lines().try_for_each(|line| write!(out, "\n    {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckFailure, CheckLack, pinned_manager};
    use locum_agent::session::outcome::{CheckEnd, CheckReport};
    use locum_sandbox::exec::Exit;
    use pretty_assertions::assert_eq;

    fn lack(command: &str, end: CheckEnd, output: &str) -> Option<CheckLack> {
        let report = CheckReport { output: output.to_owned(), ..CheckReport::new(command, end) };
        CheckFailure::of(&report).map(|failure| failure.lack)
    }

    #[test]
    fn what_a_check_that_did_not_start_lacks_is_told_by_what_is_missing() {
        let lack = |command: &str, missing: &[&str]| {
            // What is said of it decides nothing.
            let end = CheckEnd::NotStarted("`node_modules/x` did not start".to_owned());
            let missing = missing.iter().map(|name| (*name).to_owned()).collect();
            let report = CheckReport { missing, ..CheckReport::new(command, end) };
            CheckFailure::of(&report).map(|failure| failure.lack)
        };
        for (command, missing, expected) in [
            ("mix test", &["mix"] as &[&str], CheckLack::Program),
            ("npm test", &["npm"], CheckLack::Program),
            ("npm test", &["tap"], CheckLack::Dependencies),
            ("cd web && npm test", &["npm"], CheckLack::Program),
            ("cd web && npm test", &["tap"], CheckLack::Dependencies),
            ("cd web && mix test", &["tap"], CheckLack::Program),
            ("composer exec phpunit", &["phpunit"], CheckLack::Dependencies),
            ("vendor/bin/phpunit", &["vendor/bin/phpunit"], CheckLack::Dependencies),
            ("mix test", &[], CheckLack::Unknown),
        ] {
            assert_eq!(lack(command, missing), Some(expected), "{command}");
        }
    }

    #[test]
    fn what_a_check_lacks_is_read_from_how_it_ends() {
        let code = |code| CheckEnd::Exited(Exit::Code(code));
        for (command, end, output, expected) in [
            ("cargo test", code(0), "", None),
            ("npm test", code(127), "sh: 1: tap: not found", Some(CheckLack::Dependencies)),
            ("make test", code(2), "make: cc: not found", Some(CheckLack::Program)),
            (
                "make test",
                code(2),
                "make: *** [Makefile:2: test] Error 127",
                Some(CheckLack::Program),
            ),
            (
                "pytest",
                code(4),
                "ModuleNotFoundError: No module named 'x'",
                Some(CheckLack::Dependencies),
            ),
            (
                "cargo test",
                code(101),
                "[6] Could not resolve hostname (Could not resolve host: index.crates.io)",
                Some(CheckLack::Network),
            ),
            (
                "go test ./...",
                code(1),
                "dial tcp: lookup proxy.golang.org",
                Some(CheckLack::Network),
            ),
            (
                "mvn -o test",
                code(1),
                "Cannot access central in offline mode",
                Some(CheckLack::Dependencies),
            ),
            (
                "mvn -o test",
                code(1),
                "[ERROR] Could not create local repository at /home/a/.m2/repository",
                Some(CheckLack::Dependencies),
            ),
            ("mvn -o test", code(1), "[ERROR] Tests run: 1, Failures: 1", Some(CheckLack::Unknown)),
            (
                "go test ./...",
                code(1),
                "go.mod:3: invalid go version '1.25.0': must match format 1.23",
                Some(CheckLack::Version),
            ),
            (
                "pnpm test",
                code(1),
                "ERROR  Command failed with exit code 1: pnpm add pnpm@11.3.0 --loglevel=error",
                Some(CheckLack::PackageManager),
            ),
            ("cargo test", code(101), "test a ... FAILED", Some(CheckLack::Unknown)),
            (
                "pytest",
                code(5),
                "collected 0 items\n\nno tests ran in 0.01s",
                Some(CheckLack::Tests),
            ),
            ("pytest", code(1), "collected 1 item\n\n1 failed in 0.01s", Some(CheckLack::Unknown)),
            ("python -m unittest", CheckEnd::NoTests, "", Some(CheckLack::Tests)),
            ("npm test", code(1), "No tests found, exiting with code 1", Some(CheckLack::Tests)),
            ("cargo test", CheckEnd::Exited(Exit::TimedOut), "", Some(CheckLack::Unknown)),
        ] {
            assert_eq!(lack(command, end, output), expected, "{command}: {output}");
        }
    }

    #[test]
    fn a_pinned_package_manager_is_named_with_its_version() {
        let corepack = |url: &str| {
            format!(
                "/usr/lib/node_modules/corepack/dist/lib/corepack.cjs:22089\nError: Error when \
                 performing the request to {url}; for troubleshooting help, see x\n  [cause]: \
                 TypeError: fetch failed\n    [cause]: Error: getaddrinfo EAI_AGAIN x\n"
            )
        };
        let refused = "error This project's package.json defines \"packageManager\": \
                       \"yarn@4.5.0+sha512.aa\". However the current global version of Yarn is \
                       1.22.22.";
        let by_itself = "ERR_PNPM_NO_OFFLINE_META  Failed to resolve pnpm@11.3.0 in package mirror \
                         x\n ERROR  Command failed with exit code 1: pnpm add pnpm@11.3.0 \
                         --loglevel=error\n";
        for (output, expected) in [
            (by_itself.to_owned(), Some("pnpm 11.3.0")),
            (refused.to_owned(), Some("yarn 4.5.0")),
            (
                corepack("https://repo.yarnpkg.com/4.5.0/packages/yarnpkg-cli/bin/yarn.js"),
                Some("yarn 4.5.0"),
            ),
            (corepack("https://registry.npmjs.org/pnpm/-/pnpm-10.1.0.tgz"), Some("pnpm 10.1.0")),
            (corepack(""), Some("the package manager")),
            (
                "    at download (/usr/lib/node_modules/corepack/dist/lib/corepack.cjs:22288:21)\n    \
                 at installVersion (/usr/lib/x/corepack.cjs:22386:61)\n  code: 'EROFS',\n"
                    .to_owned(),
                Some("the package manager"),
            ),
            // These are about packages of the project.
            ("pnpm add left-pad@1.0.0: getaddrinfo EAI_AGAIN".to_owned(), None),
            ("node:internal: fetch failed".to_owned(), None),
        ] {
            let found = pinned_manager(&output.to_ascii_lowercase());
            assert_eq!(found.as_deref(), expected, "{output}");
        }
    }
}
