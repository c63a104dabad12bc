//! The steps that set up what the tests of packages need: in their folders, or in that of their
//! workspace, with one tool chain for all packages of a language.
//!
//! In: a repository scan and the commands that prove a change. Out: steps as text.

use crate::starter::ci::in_folder;
use crate::starter::commands::{self, python};
use crate::starter::proof::{Proof, ToolChain};
use crate::starter::scan::{StarterScan, at, has, is_plain, text};
use crate::starter::setup_step::{action, run};
use crate::starter::usual_setup::{
    SETUP_BUN, SETUP_GO, SETUP_NODE, SETUP_PYTHON, UsualSetup, usual, usual_of, version_or,
    versions,
};
use crate::starter::workspaces::{NODE_LOCKS, home, scan_of};

/// Tools of Python that install by themselves, and keep their own caches.
const PYTHON_TOOLS: &[&str] = &["uv", "poetry", "pdm", "hatch", "pipenv"];

/// Returns what the tests of a folder need, among all that prove a change.
pub(super) fn usual_in(scan: &StarterScan, proof: &Proof, proofs: &[Proof]) -> UsualSetup {
    let (Some(folder), command) = in_folder(&proof.command) else { return usual(scan, proof) };
    let own = scan_of(scan, folder);
    let bare = Proof { command: command.to_owned(), ..proof.clone() };
    let mut setup = usual_of((scan, folder), &own, &bare);
    let home = home(scan, folder, proof.chain);
    if home != folder && command.starts_with("uv ") {
        // Without all packages it would take out what the others need.
        setup.dependencies = vec![run(&["uv sync --all-packages --all-extras"])];
    }
    for step in setup.dependencies.iter_mut().chain(&mut setup.always) {
        *step = placed(step, &home);
    }
    let alike: Vec<(&str, &str)> = proofs
        .iter()
        .filter(|other| other.chain == proof.chain && !other.is_automatic())
        .filter_map(|other| Some((in_folder(&other.command).0?, in_folder(&other.command).1)))
        .collect();
    setup.chain = match proof.chain {
        ToolChain::Go => Some(go(scan, &alike)),
        ToolChain::Node => Some(node(scan, &alike)),
        ToolChain::Python if !PYTHON_TOOLS.iter().any(|tool| is_started_by(command, tool)) => {
            Some(pip(scan, &alike))
        }
        _ => setup.chain,
    };
    setup
}

fn is_started_by(command: &str, program: &str) -> bool {
    command.split(' ').next() == Some(program)
}

/// Lets a step work in a folder.
fn placed(step: &str, folder: &str) -> String {
    match (folder, step.starts_with("      - uses:")) {
        ("", _) => step.to_owned(),
        (_, true) => format!("{step}          working-directory: {folder}\n"),
        (_, false) => format!("{step}        working-directory: {folder}\n"),
    }
}

/// Returns an input of paths.
fn cached(paths: &[String]) -> Option<(&'static str, String)> {
    (!paths.is_empty()).then(|| ("cache-dependency-path", paths.join("\n")))
}

fn with<'i>(
    inputs: &[(&'i str, &'i str)],
    cache: Option<&'i (&'static str, String)>,
) -> Vec<(&'i str, &'i str)> {
    let cache = cache.map(|(name, value)| (*name, value.as_str()));
    inputs.iter().copied().chain(cache).collect()
}

/// The newest Go that a module asks for tests the others, too.
fn go(scan: &StarterScan, packages: &[(&str, &str)]) -> String {
    let version = |folder: &str| -> Vec<u32> {
        let text = text(scan, folder, "go.mod").unwrap_or_default();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("go "));
        let parts = line.unwrap_or_default().split('.');
        parts.map_while(|part| part.trim().parse().ok()).collect()
    };
    let folders = packages.iter().map(|(folder, _)| *folder);
    let newest = folders.clone().rev().max_by_key(|folder| version(folder)).unwrap_or_default();
    let sums: Vec<String> = folders
        .filter(|folder| has(scan, folder, "go.sum"))
        .map(|folder| at(folder, "go.sum"))
        .collect();
    let manifest = at(newest, "go.mod");
    action(SETUP_GO, &with(&[("go-version-file", &manifest)], cached(&sums).as_ref()))
}

/// One Node for all packages, and what starts each of their package managers.
fn node(scan: &StarterScan, packages: &[(&str, &str)]) -> String {
    let mut managers: Vec<&str> = Vec::new();
    let mut locks: Vec<(&str, String)> = Vec::new();
    for (folder, _) in packages {
        let manager = commands::package_manager(&scan_of(scan, folder)).unwrap_or("npm");
        if !managers.contains(&manager) {
            managers.push(manager);
        }
        let home = home(scan, folder, ToolChain::Node);
        let lock = NODE_LOCKS.split_ascii_whitespace().find(|lock| has(scan, &home, lock));
        let lock = lock.map(|lock| (manager, at(&home, lock)));
        locks.extend(lock.filter(|lock| !locks.contains(lock)));
    }
    let mut text = String::new();
    if managers.contains(&"bun") {
        text.push_str(&action(SETUP_BUN, &[]));
    }
    managers.retain(|manager| *manager != "bun");
    locks.retain(|(manager, _)| *manager != "bun");
    if managers.is_empty() {
        return text;
    }
    if managers.iter().any(|manager| *manager != "npm") {
        text.push_str(&run(&["corepack enable"]));
    }
    let mut folders = packages.iter().map(|(folder, _)| *folder).chain([""]);
    let version = folders.find_map(|folder| versions::node(scan, folder));
    let version = version_or(version, versions::USUAL_NODE);
    let mut inputs = vec![(version.0, version.1.as_str())];
    // The action caches for one package manager.
    let manager = locks.first().map(|(manager, _)| *manager);
    let paths: Vec<String> = locks
        .iter()
        .filter(|(other, _)| Some(*other) == manager)
        .map(|(_, lock)| lock.clone())
        .collect();
    inputs.extend(manager.map(|manager| ("cache", manager)));
    text.push_str(&action(SETUP_NODE, &with(&inputs, cached(&paths).as_ref())));
    text
}

/// Python, with a cache of what `pip` installs.
fn pip(scan: &StarterScan, packages: &[(&str, &str)]) -> String {
    let by_pip = |command: &str| !PYTHON_TOOLS.iter().any(|tool| is_started_by(command, tool));
    let folders = packages.iter().filter(|(_, command)| by_pip(command)).map(|(folder, _)| *folder);
    let manifests = |folder: &'_ str| -> Vec<String> {
        let is_manifest = |name: &str| {
            python::is_requirements(name) || matches!(name, "pyproject.toml" | "setup.py")
        };
        let files = scan.files.iter().map(crate::starter::scan::split);
        files
            .filter(|(other, name)| *other == folder && is_manifest(name) && is_plain(name))
            .map(|(_, name)| at(folder, name))
            .collect()
    };
    let version = folders.clone().chain([""]).find_map(|folder| versions::python(scan, folder));
    let version = version_or(version, versions::USUAL_PYTHON);
    let paths: Vec<String> = folders.flat_map(manifests).collect();
    let cache = (!paths.is_empty()).then_some(("cache", "pip"));
    let inputs: Vec<(&str, &str)> =
        [(version.0, version.1.as_str())].into_iter().chain(cache).collect();
    action(SETUP_PYTHON, &with(&inputs, cached(&paths).as_ref()))
}
