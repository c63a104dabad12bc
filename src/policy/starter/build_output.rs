//! What builds and tests of a repository write, and the lines of `.gitignore` that leave it out of
//! commits.
//!
//! In: a repository scan. Out: for each manifest the files that it leads to. Whether git ignores
//! them is for the caller to find out.

use crate::starter::packages;
use crate::starter::proof::ToolChain;
use crate::starter::scan::{StarterScan, at, split, text};
use crate::starter::workspaces::home;

/// Most manifests that are looked at.
const LOOKED_AT: usize = 200;

/// A folder that builds or tests write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOutput {
    /// A file that it would hold, from the top of the repository.
    pub file: String,
    /// The line of `.gitignore` for it.
    pub line: &'static str,
}

/// What stands beside a manifest after a build or a test.
const WRITTEN: &[(&str, Option<ToolChain>, &[&str])] = &[
    ("Cargo.toml", Some(ToolChain::Rust), &["target/"]),
    ("package.json", Some(ToolChain::Node), &["node_modules/"]),
    ("pyproject.toml", None, &["__pycache__/"]),
    ("setup.py", None, &["__pycache__/"]),
    ("requirements.txt", None, &["__pycache__/"]),
    ("uv.lock", None, &[".venv/"]),
    ("pom.xml", None, &["target/"]),
    ("build.gradle", None, &["build/", ".gradle/"]),
    ("build.gradle.kts", None, &["build/", ".gradle/"]),
    ("composer.json", None, &["vendor/"]),
    ("mix.exs", None, &["_build/", "deps/"]),
    ("pubspec.yaml", None, &[".dart_tool/", "build/"]),
    ("Package.swift", None, &[".build/"]),
    ("Pipfile", None, &["__pycache__/"]),
    ("CMakeLists.txt", None, &["build/"]),
];
/// Words in scripts of `package.json` that write `dist`.
const BUNDLERS: &[&str] = &["vite build", "tsup", "rollup -c", "webpack"];

/// Finds what builds and tests write.
pub(super) fn find(scan: &StarterScan) -> Vec<BuildOutput> {
    let mut found: Vec<BuildOutput> = Vec::new();
    let mut add = |folder: &str, line: &'static str| {
        let file = format!("{}x", at(folder, line));
        if !found.iter().any(|other| other.file == file) {
            found.push(BuildOutput { file, line });
        }
    };
    let is_wanted = |name: &str| WRITTEN.iter().any(|(manifest, ..)| *manifest == name);
    let manifests = scan.files.iter().map(split).filter(|(folder, name)| {
        is_wanted(name) && (folder.is_empty() || packages::is_own(folder))
    });
    for (folder, name) in manifests.take(LOOKED_AT) {
        for (_, chain, lines) in WRITTEN.iter().filter(|(manifest, ..)| *manifest == name) {
            // A workspace builds and installs in one place.
            let home = chain.map_or_else(|| folder.to_owned(), |chain| home(scan, folder, chain));
            // CMake builds what lies below with what lies above.
            let is_part = name == "CMakeLists.txt" && !folder.is_empty();
            if !is_part || text(scan, "", name).is_none() {
                lines.iter().for_each(|line| add(&home, line));
            }
        }
        let package = text(scan, folder, name).filter(|_| name == "package.json");
        if package.is_some_and(|text| BUNDLERS.iter().any(|word| text.contains(word))) {
            add(folder, "dist/");
        }
    }
    found
}
