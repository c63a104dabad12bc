//! Commands of projects in Deno, Scala, Zig, Haskell and OCaml: what builds, tests, formats and
//! checks them. Nothing is known here that would set them up for a run.

use serde_json::Value as Json;

use crate::starter::commands::{RepositoryTools, is_safe, is_top, listed};
use locum_base::path::RepoPath;

/// What Deno tests and checks with. It may run anything, so each is spelled out.
const DENO: &str = "\
    deno test, deno test -A, deno test --allow-all, deno lint, deno fmt, deno fmt --check, deno \
    check, deno check ., deno task, deno doc, deno info, deno --version";
/// Tasks of sbt.
const SBT: &str = "\
    sbt test, sbt compile, sbt Test/compile, sbt clean, sbt doc, sbt projects, sbt scalafmtAll, \
    sbt scalafmtCheckAll, sbt scalafixAll, sbt --version";
/// Verbs of Zig.
const ZIG: &str =
    "zig build:*, zig test:*, zig fmt:*, zig ast-check:*, zig env, zig targets, zig version";
/// What Cabal builds and tests with.
const HASKELL: &str = "\
    cabal build:*, cabal test:*, cabal bench:*, cabal check, cabal list-bin:*, cabal haddock:*, \
    cabal --version";
/// The same of Stack.
const STACK: &str = "\
    stack build:*, stack test:*, stack bench:*, stack haddock:*, stack ls dependencies, stack \
    path:*, stack --version";
/// What Dune builds, tests and formats with.
const DUNE: &str = "\
    dune build:*, dune test:*, dune runtest:*, dune fmt:*, dune describe:*, dune show:*, dune \
    clean, dune --version";

pub(super) fn other_languages(found: &mut RepositoryTools<'_>) {
    deno(found);
    let packages = found.scan.files.iter().filter(|path| path.as_str().ends_with(".cabal"));
    let package = packages.min_by_key(|path| path.parts().count());
    let haskell = found.named("stack.yaml").map(|path| (path, "stack test:*"));
    let haskell = haskell.or_else(|| Some((package?, "cabal test:*")));
    let zig = found.named("build.zig");
    // Without such a step there is nothing to test.
    let tests_zig = zig.is_some_and(|path| found.text(path).contains("\"test\""));
    if let Some((manifest, test)) = haskell {
        let why = manifest.to_string();
        found.add(test, is_top(manifest) && !found.has_proof(), &why);
        found.add_all(listed(HASKELL), &why);
        if found.has("stack.yaml") {
            found.add_all(listed(STACK), &why);
        }
    }
    for (manifest, test, commands, proves) in [
        (found.named("build.sbt"), "sbt test", SBT, true),
        (zig, "zig build test:*", ZIG, tests_zig),
        (found.named("dune-project"), "dune test:*", DUNE, true),
    ] {
        let Some(manifest) = manifest else { continue };
        let why = manifest.to_string();
        found.add(test, proves && is_top(manifest) && !found.has_proof(), &why);
        found.add_all(listed(commands), &why);
    }
}

/// Tasks that `deno.json` has, and what Deno itself does.
fn deno(found: &mut RepositoryTools<'_>) {
    let manifest = ["deno.json", "deno.jsonc"].iter().find_map(|name| found.named(name));
    let Some(manifest) = manifest else { return };
    let why = manifest.to_string();
    let config = serde_json::from_str::<Json>(found.text(manifest)).unwrap_or_default();
    let tasks = config.get("tasks").and_then(Json::as_object);
    let own = tasks.into_iter().flatten().map(|(name, _)| name.as_str());
    let own: Vec<&str> = own.filter(|name| is_safe(name)).collect();
    let is_test = |path: &RepoPath| {
        let name = path.name().unwrap_or_default();
        ["_test.ts", ".test.ts", "_test.tsx", ".test.tsx", "_test.js", ".test.js"]
            .iter()
            .any(|ending| name.ends_with(ending))
    };
    let has_tests = found.scan.files.iter().any(is_test);
    for task in &own {
        let proves = *task == "test" && is_top(manifest) && !found.has_proof();
        found.add(&format!("deno task {task}"), proves, &format!("a task of {why}"));
    }
    let proves = has_tests && !own.contains(&"test") && is_top(manifest) && !found.has_proof();
    found.add("deno test", proves, &why);
    found.add_all(listed(DENO), &why);
}
