//! Commands for what describes machines, clusters and containers: only those that work on files.
//!
//! Everything else of these programs is denied by word.

use crate::starter::commands::{RepositoryTools, listed};
use crate::starter::scan::{is_plain, split};
use locum_base::path::RepoPath;

/// Most charts, and most folders of Kustomize, with lines of their own.
const MOST: usize = 8;
/// What Docker Compose makes of its files.
const COMPOSE: &str = "\
    docker compose config, docker compose config -q, docker compose config --quiet, docker compose \
    config --services, docker compose config --images, docker compose config --volumes";

pub(super) fn infrastructure(found: &mut RepositoryTools<'_>) {
    for (ending, program) in [(".tf", "terraform"), (".tofu", "tofu")] {
        if found.scan.files.iter().any(|path| path.as_str().ends_with(ending)) {
            for verb in ["fmt", "validate"] {
                found.add(&format!("{program} {verb}:*"), false, &format!("*{ending}"));
            }
        }
    }
    for folder in folders(found, &["Chart.yaml"]) {
        // With an option it would start a program for what it renders.
        found.add(&format!("helm template {folder}"), false, "a chart");
        found.add("helm lint:*", false, "a chart");
    }
    for folder in folders(found, &["kustomization.yaml", "kustomization.yml"]) {
        for program in ["kubectl kustomize", "kustomize build"] {
            found.add(&format!("{program} {folder}"), false, "kustomization.yaml");
        }
    }
    let compose = ["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"];
    if let Some(file) = compose.iter().find(|name| found.holds(name)) {
        found.add_all(listed(COMPOSE), file);
    }
    let is_dockerfile = |path: &RepoPath| {
        path.name().is_some_and(|name| name.starts_with("Dockerfile") || name == "Containerfile")
    };
    if let Some(file) = found.scan.files.iter().find(|path| is_dockerfile(path)) {
        found.add("hadolint:*", false, &file.to_string());
    }
}

/// Returns the folders that hold a file of one of these names; `.` for the top.
fn folders<'s>(found: &RepositoryTools<'s>, names: &[&str]) -> Vec<&'s str> {
    let named = found.scan.files.iter().filter(|path| {
        is_plain(path.as_str()) && path.name().is_some_and(|name| names.contains(&name))
    });
    let folder =
        |path: &'s RepoPath| Some(split(path).0).filter(|it| !it.is_empty()).unwrap_or(".");
    named.map(folder).take(MOST).collect()
}
