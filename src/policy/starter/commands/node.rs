//! Commands of Node projects: scripts of `package.json`, by the package manager whose lock file is
//! there, and programs of the packages it names.

use serde_json::Value as Json;

use crate::starter::commands::{RepositoryTools, bare_of_hook, is_safe, is_top, listed};
use crate::words;
use locum_base::path::RepoPath;

/// Packages whose programs check or build, with their names.
const NODE_PROGRAMS: &[(&str, &str)] = &[
    ("vitest", "vitest"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("eslint", "eslint"),
    ("prettier", "prettier"),
    ("typescript", "tsc"),
    ("@biomejs/biome", "biome"),
    ("vite", "vite build"),
    ("vue-tsc", "vue-tsc"),
    ("tsx", "tsx"),
    ("ts-node", "ts-node"),
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
    for looks in ["node:*", "tsx:*", "ts-node:*", "npx:*"] {
        found.add(looks, false, "package.json");
    }
    for verb in listed(
        "--version, -v, ls, list, explain, why, prefix, root, pkg get, config get, exec, outdated",
    ) {
        found.add(&format!("{manager} {verb}:*"), false, "package.json");
    }
    let mut manifests: Vec<&RepoPath> = found.all_named("package.json").collect();
    // A script of the top is the one that proves a change, whatever folders come before it.
    manifests.sort_by_key(|manifest| manifest.parts().count());
    for manifest in manifests {
        let Ok(Json::Object(package)) = serde_json::from_str::<Json>(found.text(manifest)) else {
            continue;
        };
        let Some(Json::Object(scripts)) = package.get("scripts") else { continue };
        let is_own =
            |name: &str| is_safe(name) && !is_hook(name, |other| scripts.contains_key(other));
        for (script, _) in scripts.iter().filter(|(name, text)| is_own(name) && is_written(text)) {
            let command = match (script.as_str(), manager) {
                ("test", _) if manager != "bun" => format!("{manager} test"),
                (script, _) => format!("{manager} run {script}"),
            };
            let proves = script == "test" && is_top(manifest);
            found.add(&format!("{command}:*"), proves, &format!("a script of {manifest}"));
        }
        let of_package = ["dependencies", "devDependencies"]
            .iter()
            .filter_map(|key| package.get(*key).and_then(Json::as_object));
        for name in of_package.flat_map(|packages| packages.keys()) {
            for program in NODE_PROGRAMS.iter().filter(|(package, _)| *package == name) {
                let exec = format!("{manager} exec ");
                let direct = format!("{manager} ");
                let calls = ["npx ", "./node_modules/.bin/", ""];
                let own = [exec.as_str(), direct.as_str()].into_iter().filter(|_| manager != "npm");
                for call in calls.into_iter().chain(own) {
                    let why = format!("{name} is in {manifest}");
                    found.add(&format!("{call}{}:*", program.1), false, &why);
                }
            }
        }
    }
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
