//! Commands of Node projects: scripts of `package.json`, by the package manager whose lock file is
//! there, and programs of the packages it names.

use serde_json::Value as Json;

use crate::starter::commands::node_programs::PROGRAMS;
use crate::starter::commands::{RepositoryTools, bare_of_hook, is_safe, is_top, listed};
use crate::words;
use locum_base::path::RepoPath;

/// What every package manager shows.
const LOOKS: &str = "\
    --version, -v, ls, list, explain, why, prefix, root, pkg get, config get, exec, outdated";
/// The same of one of them alone.
const OWN_LOOKS: &[(&str, &str)] = &[
    (
        "npm",
        "npm ll:*, npm query:*, npm help:*, npm fund:*, npm bin:*, npm pack --dry-run, npm pack \
         --dry-run --json",
    ),
    ("pnpm", "pnpm licenses list:*, pnpm bin, pnpm store path"),
    ("yarn", "yarn workspaces list:*, yarn workspaces info:*, yarn info:*, yarn bin:*"),
];
/// What Bun does. It may run anything, so each is spelled out, but for files that it is given.
const BUN: &str = "\
    bun:*, bun run, bun test, bun test --coverage, bun test --bail, bun pm ls, bun pm ls --all, \
    bun pm bin, bun --version, bun -v, bun --revision, bunx tsc --noEmit, bun tsc --noEmit, bun \
    run tsc --noEmit";
/// Endings of the files in which Bun finds tests.
const BUN_TESTS: &[&str] = &[
    ".test.ts",
    ".test.tsx",
    ".test.js",
    ".test.jsx",
    "_test.ts",
    "_test.tsx",
    ".spec.ts",
    ".spec.tsx",
    ".spec.js",
];

/// What npm and its like do with a package by themselves, before and after which they run a script
/// of that name: npm, "Life Cycle Scripts", <https://docs.npmjs.com/cli/using-npm/scripts>.
const LIFE_CYCLE: &str = "prepare pack publish publishOnly install uninstall version test start \
                          stop restart rebuild dependencies shrinkwrap";

/// Returns the package manager of the first project.
pub(super) fn package_manager(found: &RepositoryTools<'_>) -> Option<&'static str> {
    found.named("package.json").map(|manifest| manager(found, manifest))
}

/// The scripts that `package.json` has, by the package manager whose lock file is there.
pub(super) fn node(found: &mut RepositoryTools<'_>) {
    let manager = match found.named("package.json") {
        None => return,
        Some(manifest) => manager(found, manifest),
    };
    found.add_all(listed("node:*, tsx:*, ts-node:*, npx:*"), "package.json");
    if manager != "bun" {
        for verb in listed(LOOKS) {
            found.add(&format!("{manager} {verb}:*"), false, "package.json");
        }
        found.add(&format!("{manager} run"), false, "package.json");
    }
    for (_, looks) in OWN_LOOKS.iter().filter(|(name, _)| *name == manager) {
        found.add_all(listed(looks), "package.json");
    }
    let mut manifests: Vec<&RepoPath> = found.all_named("package.json").collect();
    // A script of the top is the one that proves a change, whatever folders come before it.
    manifests.sort_by_key(|manifest| manifest.parts().count());
    for manifest in manifests {
        let Ok(Json::Object(package)) = serde_json::from_str::<Json>(found.text(manifest)) else {
            continue;
        };
        if let Some(Json::Object(scripts)) = package.get("scripts") {
            add_scripts(found, manager, (manifest, scripts));
        }
        let of_package = ["dependencies", "devDependencies"]
            .iter()
            .filter_map(|key| package.get(*key).and_then(Json::as_object));
        for name in of_package.flat_map(|packages| packages.keys()) {
            add_programs(found, manager, (manifest, name.as_str()));
        }
    }
    if manager == "bun" {
        // It finds tests by itself, where no script says how.
        let has_script =
            found.tools.iter().any(|tool| tool.proves && tool.command == "bun run test");
        found.add("bun test", !has_script && has_bun_tests(found), "package.json");
        found.add_all(listed(BUN), "package.json");
    }
}

/// Adds the scripts of a package: the test of the top proves a change.
fn add_scripts(
    found: &mut RepositoryTools<'_>,
    manager: &str,
    (manifest, scripts): (&RepoPath, &serde_json::Map<String, Json>),
) {
    let is_own = |name: &str| is_safe(name) && !is_hook(name, |other| scripts.contains_key(other));
    for (script, _) in scripts.iter().filter(|(name, text)| is_own(name) && is_written(text)) {
        let command = match (script.as_str(), manager) {
            ("test", "npm" | "pnpm" | "yarn") => format!("{manager} test:*"),
            (script, "bun") => format!("bun run {script}"),
            (script, _) => format!("{manager} run {script}:*"),
        };
        let proves = script == "test" && is_top(manifest);
        found.add(&command, proves, &format!("a script of {manifest}"));
    }
}

/// Adds the programs that a package brings along, by each way to start them.
fn add_programs(
    found: &mut RepositoryTools<'_>,
    manager: &str,
    (manifest, name): (&RepoPath, &str),
) {
    let why = format!("{name} is in {manifest}");
    for (_, command) in PROGRAMS.iter().filter(|(package, _)| *package == name) {
        // What `npx` and `pnpm exec` start is judged by the second.
        for call in ["./node_modules/.bin/", ""] {
            found.add(&format!("{call}{command}"), false, &why);
        }
        if matches!(manager, "pnpm" | "yarn") {
            found.add(&format!("{manager} {command}"), false, &why);
        }
    }
}

/// Whether the first package has files of tests that Bun finds by itself.
fn has_bun_tests(found: &RepositoryTools<'_>) -> bool {
    found.named("package.json").is_some_and(is_top)
        && found.scan.files.iter().any(|path| {
            let name = path.name().unwrap_or_default();
            BUN_TESTS.iter().any(|ending| name.ends_with(ending))
        })
}

fn manager(found: &RepositoryTools<'_>, manifest: &RepoPath) -> &'static str {
    let named = found.text(manifest).split("\"packageManager\"").nth(1).unwrap_or_default();
    let named = named.trim_start_matches([' ', ':', '"', '\t', '\n']);
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lockb", "bun"),
        ("bun.lock", "bun"),
        ("package-lock.json", "npm"),
    ];
    let by_name = ["pnpm", "yarn", "bun", "npm"].into_iter().find(|name| named.starts_with(*name));
    by_name
        .or_else(|| locks.iter().find(|(lock, _)| found.has(lock)).map(|(_, name)| *name))
        .unwrap_or("npm")
}

/// Whether a script is run by the package manager itself, beside another script of the file or as
/// part of what it does with the package.
fn is_hook(name: &str, has: impl Fn(&str) -> bool) -> bool {
    matches!(name, "prepare" | "dependencies" | "pnpm:devPreinstall")
        || bare_of_hook(name).is_some_and(|bare| words::holds(LIFE_CYCLE, bare) || has(bare))
}

/// `npm init` writes a test that only fails.
fn is_written(script: &Json) -> bool {
    script
        .as_str()
        .is_some_and(|text| !text.trim().is_empty() && !text.contains("no test specified"))
}
