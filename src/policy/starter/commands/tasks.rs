//! Commands of task runners: targets of a Makefile, recipes of `just`, tasks of Task. They prove a
//! change where nothing else does.

use crate::starter::commands::{RepositoryTools, is_top, listed};
use locum_base::path::RepoPath;

/// Targets that test, check or build.
const TARGETS: &[&str] = &[
    "test",
    "tests",
    "check",
    "lint",
    "build",
    "fmt",
    "format",
    "typecheck",
    "types",
    "unit",
    "coverage",
    "docs",
    "bench",
    "clean",
];
/// Names of the files of Task.
const TASKFILES: &[&str] = &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"];

pub(super) fn tasks(found: &mut RepositoryTools<'_>) {
    if let Some(manifest) = found.named("configure.ac").filter(|path| is_top(path)) {
        let why = manifest.to_string();
        found.add("make check:*", !found.has_proof(), &why);
        found.add_all(
            listed("make:*, ./configure:*, autoreconf -i, autoreconf -fi, autoreconf -fvi"),
            &why,
        );
    }
    if let Some(file) = found.named("Makefile").filter(|path| is_top(path)) {
        found.add("make:*", false, &format!("targets of {file}"));
        runner(found, file, "make", is_target);
    }
    if let Some(file) = found.named("justfile").filter(|path| is_top(path)) {
        runner(found, file, "just", is_recipe);
        found.add_all(listed("just --list, just -l, just --summary"), &file.to_string());
    }
    let taskfile = TASKFILES.iter().find_map(|name| found.named(name));
    if let Some(file) = taskfile.filter(|path| is_top(path)) {
        runner(found, file, "task", is_task);
        found.add_all(listed("task --list, task -l, task --list-all, task -a"), &file.to_string());
    }
}

/// Adds the targets that a file has, the first that tests as the one that proves a change.
fn runner(
    found: &mut RepositoryTools<'_>,
    file: &RepoPath,
    program: &str,
    is_named: fn(&str, &str) -> bool,
) {
    let lines: Vec<&str> = found.text(file).lines().collect();
    let why = format!("a target of {file}");
    for target in TARGETS.iter().filter(|target| lines.iter().any(|line| is_named(line, target))) {
        let proves = target.starts_with("test") && !found.has_proof();
        found.add(&format!("{program} {target}"), proves, &why);
    }
}

fn is_target(line: &str, target: &str) -> bool {
    line.strip_prefix(target).is_some_and(|rest| {
        rest.trim_start().starts_with(':') && !rest.trim_start().starts_with(":=")
    })
}

/// As a target; a recipe may be quiet, and take words that it can do without.
fn is_recipe(line: &str, recipe: &str) -> bool {
    let line = line.trim_start_matches('@');
    let takes_more = || line.strip_prefix(recipe).is_some_and(|rest| rest.starts_with(" *"));
    is_target(line, recipe) || takes_more()
}

/// Whether a line begins a task of Task, which is indented below `tasks:`.
fn is_task(line: &str, task: &str) -> bool {
    line.starts_with("  ")
        && line.trim_start().strip_prefix(task).is_some_and(|rest| rest.starts_with(':'))
}
