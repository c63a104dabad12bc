//! How each language sets up a project before its tests: the tool chain, and what they depend on.
//!
//! In: a repository scan and the command that tests. Out: steps as text, for where no workflow of
//! the repository shows its own.

mod requirement;
pub(super) mod versions;

use crate::starter::commands::{self, python};
use crate::starter::proof::{Proof, ToolChain};
use crate::starter::scan::{StarterScan, has, is_plain};
use crate::starter::setup_step::{action, run};
use crate::starter::usual_setup::versions::{UsualVersion, VersionInput};
use locum_base::path::RepoPath;

/// Actions that set up tool chains, by the commit that a release was made from, as their
/// repositories name it: a tag can be moved.
const SETUP_BEAM: &str = "erlef/setup-beam@54075bcc5e249e4758d363f27d099f55d843f124 # v1.24.1";
pub(super) const SETUP_BUN: &str =
    "oven-sh/setup-bun@0c5077e51419868618aeaa5fe8019c62421857d6 # v2.2.0";
pub(super) const SETUP_GO: &str =
    "actions/setup-go@924ae3a1cded613372ab5595356fb5720e22ba16 # v6.5.0";
const SETUP_JAVA: &str = "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0";
pub(super) const SETUP_NODE: &str =
    "actions/setup-node@249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0";
const SETUP_PHP: &str = "shivammathur/setup-php@f3e473d116dcccaddc5834248c87452386958240 # 2.37.2";
pub(super) const SETUP_PYTHON: &str =
    "actions/setup-python@ece7cb06caefa5fff74198d8649806c4678c61a1 # v6.3.0";
const SETUP_RUBY: &str = "ruby/setup-ruby@0dafeac902942906541bc140009cdbf32665b601 # v1.315.0";
const SETUP_UV: &str = "astral-sh/setup-uv@37802adc94f370d6bfd71619e3f0bf239e1f3b78 # v7.6.0";

/// How a language sets up a project.
#[derive(Default)]
pub(super) struct UsualSetup {
    pub(super) chain: Option<String>,
    pub(super) dependencies: Vec<String>,
    /// Needed although a workflow does not do it: there, the tests reach the network.
    pub(super) always: Vec<String>,
}

/// Returns how a language sets up the project at the top for a command.
pub(super) fn usual(scan: &StarterScan, proof: &Proof) -> UsualSetup {
    usual_of((scan, ""), scan, proof)
}

/// Returns how a language sets up the project in a folder of a repository for a command, by what
/// lies in that folder. Versions count that the folders above it name, as for version managers.
pub(super) fn usual_of(
    (repository, folder): (&StarterScan, &str),
    scan: &StarterScan,
    proof: &Proof,
) -> UsualSetup {
    let has = |name: &str| has(scan, "", name);
    let only = |chain: Option<String>, dependencies: &[&str]| UsualSetup {
        chain,
        dependencies: dependencies.iter().map(|command| run(&[command])).collect(),
        always: Vec::new(),
    };
    match proof.chain {
        ToolChain::Rust => {
            let locked = if has("Cargo.lock") { "cargo fetch --locked" } else { "cargo fetch" };
            // The runner has Rust, which reads `rust-toolchain.toml`.
            UsualSetup { always: vec![run(&[locked])], ..UsualSetup::default() }
        }
        ToolChain::Node => node(scan),
        ToolChain::Python => {
            let python = |folder: &str| versions::python(repository, folder);
            let version = versions::nearest(folder, python, python);
            python_setup(scan, proof, version_or(version, versions::USUAL_PYTHON))
        }
        ToolChain::Go => UsualSetup {
            chain: Some(chosen(SETUP_GO, &[versions::go(scan, "")], &[])),
            dependencies: Vec::new(),
            always: vec![run(&["go mod download"])],
        },
        ToolChain::Java => {
            let (cache, first) = java(&proof.command);
            // Builds of other folders say nothing of this one.
            let version = versions::nearest(
                folder,
                |folder| versions::java(repository, folder),
                |above| versions::managed_java(repository, above),
            );
            UsualSetup {
                chain: Some(chosen(
                    SETUP_JAVA,
                    &[version_or(version, versions::USUAL_JAVA)],
                    &[("distribution", "temurin"), ("cache", cache)],
                )),
                dependencies: Vec::new(),
                always: vec![first],
            }
        }
        ToolChain::Ruby => {
            let version = versions::nearest(
                folder,
                |folder| versions::ruby(repository, folder),
                |above| versions::managed_ruby(repository, above),
            );
            UsualSetup {
                chain: None,
                dependencies: vec![chosen(
                    SETUP_RUBY,
                    &[version_or(version, versions::USUAL_RUBY)],
                    &[("bundler-cache", "true")],
                )],
                always: Vec::new(),
            }
        }
        ToolChain::Php => {
            let php = |folder: &str| versions::php(repository, folder);
            let version = versions::nearest(folder, php, php);
            only(
                Some(chosen(
                    SETUP_PHP,
                    &[version_or(version, versions::USUAL_PHP)],
                    &[("coverage", "none")],
                )),
                &["composer install --no-interaction --prefer-dist"],
            )
        }
        ToolChain::Dotnet => only(None, &["dotnet restore"]),
        ToolChain::Elixir => {
            let beam = |folder: &str| {
                Some(versions::beam(repository, folder)).filter(|named| !named.is_empty())
            };
            let named = versions::nearest(folder, beam, beam);
            let versions = named.unwrap_or_else(versions::usual_beam);
            only(
                Some(chosen(SETUP_BEAM, &versions, &[])),
                &["mix local.hex --force --if-missing", "mix deps.get"],
            )
        }
        ToolChain::Native if has("configure.ac") && !has("configure") => {
            let configure = vec![run(&["./configure"])];
            UsualSetup { always: configure, ..only(None, &["autoreconf -i"]) }
        }
        ToolChain::Dart | ToolChain::Other | ToolChain::Native => UsualSetup::default(),
    }
}

/// Returns the named version, else the usual one.
pub(super) fn version_or(
    named: Option<VersionInput>,
    (input, usual): UsualVersion,
) -> VersionInput {
    named.unwrap_or_else(|| (input, usual.to_owned()))
}

/// A step that sets up versions, with other inputs behind them.
fn chosen(name: &str, versions: &[VersionInput], others: &[(&str, &str)]) -> String {
    let versions = versions.iter().map(|(input, value)| (*input, value.as_str()));
    action(name, &versions.chain(others.iter().copied()).collect::<Vec<_>>())
}

fn node(scan: &StarterScan) -> UsualSetup {
    let has = |name: &str| has(scan, "", name);
    let (manager, locked) = match commands::package_manager(scan) {
        Some("pnpm") => ("pnpm", "pnpm install --frozen-lockfile"),
        Some("yarn") if !has(".yarnrc.yml") => ("yarn", "yarn install --frozen-lockfile"),
        Some("yarn") => ("yarn", "yarn install --immutable"),
        Some("bun") => ("bun", "bun install --frozen-lockfile"),
        Some(_) | None => ("npm", "npm ci"),
    };
    let lock = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"];
    let is_locked = lock.iter().any(|name| has(name)) || has("bun.lock") || has("bun.lockb");
    let install = if is_locked { locked.to_owned() } else { format!("{manager} install") };
    if manager == "bun" {
        return UsualSetup {
            chain: Some(chosen(SETUP_BUN, versions::bun(scan, "").as_slice(), &[])),
            dependencies: vec![run(&[&install])],
            always: Vec::new(),
        };
    }
    let mut chain = String::new();
    if manager != "npm" {
        chain.push_str(&run(&["corepack enable"]));
    }
    let version = version_or(versions::node(scan, ""), versions::USUAL_NODE);
    let cache = is_locked.then_some(("cache", manager));
    chain.push_str(&chosen(SETUP_NODE, &[version], cache.as_slice()));
    UsualSetup { chain: Some(chain), dependencies: vec![run(&[&install])], always: Vec::new() }
}

fn python_setup(scan: &StarterScan, proof: &Proof, version: VersionInput) -> UsualSetup {
    let has = |name: &str| has(scan, "", name);
    let chain = Some(chosen(SETUP_PYTHON, &[version], &[]));
    let program = proof.command.split(' ').next().unwrap_or_default();
    match program {
        "uv" => {
            return UsualSetup {
                chain: Some(action(SETUP_UV, &[])),
                dependencies: vec![run(&["uv sync --all-extras"])],
                always: Vec::new(),
            };
        }
        "poetry" | "pdm" | "hatch" | "pipenv" => {
            let install = match program {
                "poetry" => "poetry install --all-extras",
                "pdm" => "pdm sync --dev",
                "pipenv" if has("Pipfile.lock") => "pipenv sync --dev",
                "pipenv" => "pipenv install --dev",
                _ => "hatch env create",
            };
            let tool = format!("pip install {program}");
            let dependencies = vec![run(&[&tool, install])];
            return UsualSetup { chain, dependencies, always: Vec::new() };
        }
        _ => {}
    }
    let mut lines: Vec<String> = Vec::new();
    let wanted = |path: &&RepoPath| {
        path.parts().count() <= 2 && python::is_requirements(path.name().unwrap_or_default())
    };
    let mut files: Vec<&str> = scan.files.iter().filter(wanted).map(RepoPath::as_str).collect();
    files.retain(|file| !file.contains("docs") && is_plain(file));
    files.extend(python::requirements_in_folder(scan));
    lines.extend(files.iter().take(5).map(|file| format!("pip install -r {file}")));
    if has("Pipfile") && files.is_empty() {
        let deploy = if has("Pipfile.lock") { " --deploy" } else { "" };
        lines.push("pip install pipenv".to_owned());
        lines.push(format!("pipenv install --dev --system{deploy}"));
    }
    if ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| has(name)) {
        let extras = python::test_extras(scan);
        let extras = if extras.is_empty() { String::new() } else { format!("[{extras}]") };
        lines.push(format!("pip install -e .{extras}"));
    }
    lines.extend(python::test_group(scan).map(|name| format!("pip install --group {name}")));
    lines.extend(python::tox_requirements(scan).map(|names| format!("pip install {names}")));
    let tests = lines.join(" ");
    if proof.command.contains("pytest") && !tests.contains("pytest") {
        lines.push("pip install pytest".to_owned());
    }
    if matches!(program, "tox" | "nox") && !tests.contains(program) {
        lines.push(format!("pip install {program}"));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let always = match program {
        "tox" => vec![run(&["tox run --notest"])],
        "nox" => vec![run(&["nox --install-only"])],
        _ => Vec::new(),
    };
    UsualSetup {
        chain,
        dependencies: if lines.is_empty() { Vec::new() } else { vec![run(&lines)] },
        always,
    }
}

/// Returns what caches and what fetches for a build tool of Java. What runs tests is only fetched
/// when tests are run, so that some are asked for that do not exist.
fn java(command: &str) -> (&'static str, String) {
    let program = command.split(' ').next().unwrap_or_default();
    if program.contains("gradle") {
        let first = format!("{program} testClasses test --tests none.such --continue || true");
        ("gradle", run(&[&first]))
    } else {
        let plugins = format!("{program} -B -ntp dependency:go-offline");
        let none =
            "-Dtest=NoSuchTest -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false";
        let goal = if command.contains("verify") { "verify" } else { "test" };
        ("maven", run(&[&plugins, &format!("{program} -B -ntp {goal} {none}")]))
    }
}
