//! Which programs build and test a repository, found by what lies in it.
//!
//! In: a repository scan. Out: commands with why: a tool whose options are known gets `:*`,
//! anything else its exact words.

mod app;
mod beam;
mod checkers;
mod infrastructure;
mod languages;
mod native;
mod node;
mod node_programs;
mod other_languages;
mod php;
pub(super) mod python;
mod python_modules;
pub(super) mod python_tests;
mod ruby;
mod scripts;
mod tasks;

use std::collections::BTreeSet;

use crate::command::word;
use crate::starter::scan::{ProposedLine, StarterScan, has, split};
use locum_base::path::RepoPath;

/// Files whose presence makes a folder a package; their texts are read.
pub(super) const MANIFESTS: &str = "\
    Cargo.toml package.json deno.json deno.jsonc pyproject.toml setup.py setup.cfg tox.ini \
    noxfile.py requirements.txt Pipfile go.mod pom.xml build.gradle build.gradle.kts \
    settings.gradle settings.gradle.kts build.sbt Gemfile composer.json mix.exs pubspec.yaml \
    Package.swift build.zig Makefile justfile";
/// Lock files, which change with the manifests beside them.
pub(super) const LOCKS: &str = "\
    Cargo.lock package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb \
    deno.lock poetry.lock uv.lock pdm.lock Pipfile.lock go.sum gradle.lockfile Gemfile.lock \
    composer.lock mix.lock pubspec.lock Package.resolved";
/// Other files whose texts tell which commands there are.
pub(super) const READ: &str = "\
    CMakeLists.txt Rakefile configure.ac phpunit.xml phpunit.xml.dist .gitlab-ci.yml \
    Taskfile.yml Taskfile.yaml taskfile.yml";
/// Words in the names of scripts that publish.
const PUBLISHING: &[&str] = &["publish", "release", "deploy", "version", "push", "upload"];

/// A command that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProposedTool {
    /// The line of the policy that allows it.
    pub(super) line: ProposedLine,
    /// One that is allowed, for the examples.
    pub(super) command: String,
    /// Whether a change is ready when it exits with 0.
    pub(super) proves: bool,
    /// What shows that it is there.
    pub(super) origin: ToolOrigin,
}

/// What shows that a tool is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolOrigin {
    /// A kind of files, for which it is one of the usual tools.
    Files,
    /// A setting of the repository for this very tool.
    SetUp,
    /// A workflow that runs it, or a document that names it.
    Named,
}

impl ProposedTool {
    /// A command, with `:*` where more words may follow; `None` when its words cannot be written as
    /// a pattern.
    pub(super) fn new(
        command: &str,
        proves: bool,
        why: String,
        origin: ToolOrigin,
    ) -> Option<Self> {
        let line = ProposedLine::new(format!("command({command})"), why)?;
        let command = command.trim_end_matches(":*");
        let words = word::split(command).ok().filter(|words| !words.is_empty())?;
        let plain = words.iter().all(|word| word != "*") && command == command.trim();
        plain.then(|| Self { line, command: command.to_owned(), proves, origin })
    }
}

/// What the files show, ready to be asked.
struct RepositoryTools<'s> {
    scan: &'s StarterScan,
    tools: Vec<ProposedTool>,
    seen: BTreeSet<String>,
}

/// Finds the commands, the ones that prove a change first among their kind.
pub(super) fn find(scan: &StarterScan) -> Vec<ProposedTool> {
    let mut found = RepositoryTools { scan, tools: Vec::new(), seen: BTreeSet::new() };
    rust(&mut found);
    node::node(&mut found);
    python::python(&mut found);
    languages::go(&mut found);
    languages::java(&mut found);
    languages::dotnet(&mut found);
    beam::beam(&mut found);
    app::dart(&mut found);
    app::swift(&mut found);
    ruby::ruby(&mut found);
    php::php(&mut found);
    other_languages::other_languages(&mut found);
    tasks::tasks(&mut found);
    native::native(&mut found);
    native::shell(&mut found);
    scripts::scripts(&mut found);
    infrastructure::infrastructure(&mut found);
    checkers::checkers(&mut found);
    found.tools
}

impl<'s> RepositoryTools<'s> {
    fn add(&mut self, command: &str, proves: bool, why: &str) {
        self.add_from(ToolOrigin::Files, command, proves, why);
    }

    /// A tool that a setting of the repository is for.
    fn add_set_up(&mut self, command: &str, why: &str) {
        self.add_from(ToolOrigin::SetUp, command, false, why);
    }

    fn add_from(&mut self, origin: ToolOrigin, command: &str, proves: bool, why: &str) {
        if self.seen.insert(command.trim_end_matches(":*").to_owned()) {
            self.tools.extend(ProposedTool::new(command, proves, why.to_owned(), origin));
        }
    }

    /// The first file of a name, the top one before those below.
    fn named(&self, name: &str) -> Option<&'s RepoPath> {
        self.all_named(name).min_by_key(|path| path.parts().count())
    }

    fn all_named(&self, name: &str) -> impl Iterator<Item = &'s RepoPath> {
        self.scan.files.iter().filter(move |path| path.name() == Some(name))
    }

    fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    fn text(&self, path: &RepoPath) -> &'s str {
        self.scan.texts.get(path).map_or("", String::as_str)
    }

    /// Whether a manifest of one of these names mentions a word.
    fn mentions(&self, names: &[&str], word: &str) -> bool {
        names.iter().any(|name| self.all_named(name).any(|path| self.text(path).contains(word)))
    }

    /// Whether a list of packages for `pip` mentions a word.
    fn mentions_in_requirements(&self, word: &str) -> bool {
        let mut texts = self.scan.texts.iter();
        texts.any(|(path, text)| python::is_requirements_file(path) && text.contains(word))
    }

    /// Whether there is a file of this very path.
    fn holds(&self, path: &str) -> bool {
        has(self.scan, "", path)
    }

    /// Whether something proves a change already.
    fn has_proof(&self) -> bool {
        self.tools.iter().any(|tool| tool.proves)
    }

    /// Adds commands, each as a line of its own.
    fn add_all(&mut self, commands: impl Iterator<Item = &'static str>, why: &str) {
        for command in commands {
            self.add(command, false, why);
        }
    }

    /// Whether a workflow mentions a word.
    fn mentions_in_automation(&self, word: &str) -> bool {
        self.scan.texts.iter().any(|(path, text)| {
            path.as_str().starts_with(".github/workflows/") && text.contains(word)
        })
    }

    /// Names of the programs that packages of Rust build.
    fn programs(&self, manifest: &str, main: &str) -> Vec<String> {
        let has_main = |path: &&RepoPath| {
            let (folder, _) = split(path);
            has(self.scan, folder, main)
        };
        let name = |path: &RepoPath| {
            let line =
                self.text(path).lines().find(|line| line.trim_start().starts_with("name"))?;
            let name = line.split('"').nth(1)?;
            is_safe(name).then(|| name.to_owned())
        };
        self.all_named(manifest).filter(has_main).filter_map(name).collect()
    }
}

/// Commands written as one text, with a comma between them.
fn listed(commands: &'static str) -> impl Iterator<Item = &'static str> {
    commands.split(',').map(str::trim)
}

/// What proves a change is run from the top.
fn is_top(manifest: &RepoPath) -> bool {
    manifest.parts().count() == 1
}

fn rust(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Cargo.toml") else { return };
    let why = format!("{manifest}");
    for verb in listed(
        "check, c, build, b, t, run, bench, doc, tree, metadata, clippy, fmt, clean, pkgid, \
         locate-project, nextest list, rustc, expand, machete, shear, udeps, hack, insta, \
         deny, llvm-cov, semver-checks, fix, miri, update, package, outdated, verify-project, \
         read-manifest, info, help, version, criterion, tarpaulin, --version, -V, -vV, --list",
    ) {
        found.add(&format!("cargo {verb}:*"), false, &why);
    }
    let looks = listed(
        "rustc:*, rustfmt:*, rustup show:*, rustup toolchain list:*, rustup target list:*, rustup \
         component list:*, rustup which:*, cargo --help, cargo -h",
    );
    found.add_all(looks, &why);
    if found.holds("xtask/Cargo.toml") {
        for task in ["", " help", " test", " check", " lint", " fmt", " build", " ci", " codegen"] {
            found.add(&format!("cargo xtask{task}"), false, "xtask/Cargo.toml");
        }
    }
    for program in found.programs("Cargo.toml", "src/main.rs") {
        for profile in ["debug", "release"] {
            for here in ["", "./"] {
                found.add(&format!("{here}target/{profile}/{program}:*"), false, &why);
            }
        }
    }
    if found.holds(".config/nextest.toml") || found.mentions_in_automation("cargo nextest") {
        found.add_set_up("cargo nextest run:*", "nextest is set up");
    }
    found.add("cargo test:*", is_top(manifest), &why);
}

/// Whether the name of a program or script does not say that it publishes or installs.
fn is_safe(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
    let bare = bare_of_hook(name).unwrap_or(name);
    let installs = [name, bare].iter().any(|name| name.starts_with("install"));
    plain && !installs && !PUBLISHING.iter().any(|word| name.contains(word))
}

/// What a name is about that says when it is run: before or after something.
fn bare_of_hook(name: &str) -> Option<&str> {
    name.strip_prefix("pre").or_else(|| name.strip_prefix("post"))
}

/// Returns the package manager of a Node project.
pub(super) fn package_manager(scan: &StarterScan) -> Option<&'static str> {
    node::package_manager(&RepositoryTools { scan, tools: Vec::new(), seen: BTreeSet::new() })
}
