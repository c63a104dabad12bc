//! Which programs build and test a repository, found by what lies in it.
//!
//! In: a repository scan. Out: commands with why: a tool whose options are known gets `:*`,
//! anything else its exact words.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::command::word;
use crate::starter::scan::{ProposedLine, StarterScan, split};
use locum_base::path::RepoPath;

/// Files whose presence makes a folder a package; their texts are read.
pub(super) const MANIFESTS: &str = "\
    Cargo.toml package.json pyproject.toml setup.py setup.cfg tox.ini noxfile.py \
    requirements.txt go.mod pom.xml build.gradle build.gradle.kts Gemfile composer.json \
    mix.exs Makefile justfile";
/// Scripts of `package.json` that test or look.
const SCRIPTS: &[&str] =
    &["test", "test:unit", "lint", "typecheck", "type-check", "check", "format:check", "build"];
/// Targets of a Makefile that test or look.
const TARGETS: &[&str] = &["test", "tests", "lint", "check", "build"];

/// A command that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProposedTool {
    /// The line of the policy that allows it.
    pub(super) line: ProposedLine,
    /// One that is allowed, for the examples.
    pub(super) command: String,
    /// Whether a change is ready when it exits with 0.
    pub(super) proves: bool,
}

impl ProposedTool {
    /// A command, with `:*` where more words may follow; `None` when its words cannot be written as
    /// a pattern.
    pub(super) fn new(command: &str, proves: bool, why: String) -> Option<Self> {
        let line = ProposedLine::new(format!("command({command})"), why)?;
        let command = command.trim_end_matches(":*");
        let words = word::split(command).ok().filter(|words| !words.is_empty())?;
        let plain = words.iter().all(|word| word != "*") && command == command.trim();
        plain.then(|| Self { line, command: command.to_owned(), proves })
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
    node(&mut found);
    python(&mut found);
    go(&mut found);
    java(&mut found);
    others(&mut found);
    make(&mut found);
    found.tools
}

impl<'s> RepositoryTools<'s> {
    fn add(&mut self, command: &str, proves: bool, why: &str) {
        if self.seen.insert(command.trim_end_matches(":*").to_owned()) {
            self.tools.extend(ProposedTool::new(command, proves, why.to_owned()));
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

    /// Whether a workflow mentions a word.
    fn automation_mentions(&self, word: &str) -> bool {
        self.scan.texts.iter().any(|(path, text)| {
            path.as_str().starts_with(".github/workflows/") && text.contains(word)
        })
    }
}

/// What proves a change is run from the top.
fn is_top(manifest: &RepoPath) -> bool {
    manifest.parts().count() == 1
}

fn rust(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Cargo.toml") else { return };
    let why = format!("{manifest}");
    found.add("cargo check:*", false, &why);
    found.add("cargo test:*", is_top(manifest), &why);
    if found.automation_mentions("cargo nextest")
        || found.scan.files.iter().any(|path| path.as_str() == ".config/nextest.toml")
    {
        found.add("cargo nextest run:*", false, "nextest is set up");
    }
    if found.automation_mentions("cargo clippy")
        || found.has("clippy.toml")
        || found.has(".clippy.toml")
        || found.mentions(&["Cargo.toml"], "lints.clippy")
    {
        found.add("cargo clippy:*", false, "clippy is set up");
    }
    if found.automation_mentions("cargo fmt")
        || found.has("rustfmt.toml")
        || found.has(".rustfmt.toml")
    {
        found.add("cargo fmt --check", false, "rustfmt is set up");
    }
}

/// The scripts that `package.json` has, by the package manager whose lock file is there.
fn node(found: &mut RepositoryTools<'_>) {
    let manager = match found.named("package.json") {
        None => return,
        Some(manifest) => manager(found, manifest),
    };
    let manifests: Vec<&RepoPath> = found.all_named("package.json").collect();
    for manifest in manifests {
        let Ok(Json::Object(package)) = serde_json::from_str::<Json>(found.text(manifest)) else {
            continue;
        };
        let Some(Json::Object(scripts)) = package.get("scripts") else { continue };
        for script in SCRIPTS.iter().filter(|script| scripts.get(**script).is_some_and(is_written))
        {
            let command = match (*script, manager) {
                ("test", _) if manager != "bun" => format!("{manager} test"),
                (script, _) => format!("{manager} run {script}"),
            };
            found.add(
                &command,
                *script == "test" && is_top(manifest),
                &format!("a script of {manifest}"),
            );
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

/// `npm init` writes a test that only fails.
fn is_written(script: &Json) -> bool {
    script
        .as_str()
        .is_some_and(|text| !text.trim().is_empty() && !text.contains("no test specified"))
}

fn python(found: &mut RepositoryTools<'_>) {
    let manifests =
        ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "noxfile.py"];
    let Some(manifest) = manifests.iter().find_map(|name| found.named(name)) else { return };
    let tests = found.scan.files.iter().find(|path| {
        let (_, name) = split(path);
        (name.starts_with("test_") && name.ends_with(".py"))
            || name.ends_with("_test.py")
            || name == "conftest.py"
            || name == "pytest.ini"
    });
    let runner = [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run ")]
        .into_iter()
        .find(|(lock, _)| found.has(lock));
    let pytest =
        found.mentions(&manifests, "pytest") || found.has("pytest.ini") || found.has("conftest.py");
    match (pytest, tests, runner) {
        (true, _, Some((lock, run))) => {
            found.add(&format!("{run}pytest"), is_top(manifest), lock);
            found.add(
                "pytest:*",
                false,
                &format!("{manifest}, inside an environment that is set up"),
            );
        }
        (true, _, None) => found.add("pytest:*", is_top(manifest), &manifest.to_string()),
        (false, Some(test), _) => {
            found.add("python -m unittest", is_top(manifest), &test.to_string())
        }
        (false, None, _) => {}
    }
    for (there, command) in [
        (
            found.has("tox.ini") || found.mentions(&["pyproject.toml", "setup.cfg"], "tool.tox"),
            "tox",
        ),
        (found.has("noxfile.py"), "nox"),
        (
            found.has("ruff.toml")
                || found.has(".ruff.toml")
                || found.mentions(&["pyproject.toml"], "tool.ruff"),
            "ruff check",
        ),
        (found.has("mypy.ini") || found.mentions(&["pyproject.toml"], "tool.mypy"), "mypy ."),
    ] {
        if there {
            found.add(
                command,
                false,
                &format!("{} is set up", command.split(' ').next().unwrap_or_default()),
            );
        }
    }
}

fn go(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("go.mod") else { return };
    let why = manifest.to_string();
    found.add("go test ./...", is_top(manifest), &why);
    found.add("go test:*", false, &why);
    found.add("go vet:*", false, &why);
    found.add("go build ./...", false, &why);
    if [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name)) {
        found.add("golangci-lint run", false, "golangci-lint is set up");
    }
}

fn java(found: &mut RepositoryTools<'_>) {
    if let Some(manifest) = found.named("pom.xml") {
        let maven = if found.has("mvnw") { "./mvnw" } else { "mvn" };
        found.add(
            &format!("{maven} -o test"),
            is_top(manifest),
            &format!("{manifest}; offline, as commands reach no network"),
        );
        found.add(&format!("{maven} test"), false, &manifest.to_string());
    }
    if let Some(manifest) = found.named("build.gradle").or_else(|| found.named("build.gradle.kts"))
    {
        let gradle = if found.has("gradlew") { "./gradlew" } else { "gradle" };
        found.add(
            &format!("{gradle} --offline test"),
            is_top(manifest),
            &format!("{manifest}; offline, as commands reach no network"),
        );
        found.add(&format!("{gradle} test"), false, &manifest.to_string());
    }
}

fn others(found: &mut RepositoryTools<'_>) {
    let ends = |ending: &str| found.scan.files.iter().find(|path| path.as_str().ends_with(ending));
    let project = ends(".csproj").or_else(|| ends(".sln"));
    for (there, command) in [
        (
            found
                .named("Gemfile")
                .filter(|_| found.has("spec_helper.rb") || found.mentions(&["Gemfile"], "rspec")),
            "bundle exec rspec",
        ),
        (
            found
                .named("Gemfile")
                .filter(|_| found.has("Rakefile") && !found.mentions(&["Gemfile"], "rspec")),
            "bundle exec rake test",
        ),
        (
            found.named("composer.json").filter(|_| found.mentions(&["composer.json"], "\"test\"")),
            "composer test",
        ),
        (found.named("mix.exs"), "mix test"),
        (project, "dotnet test"),
    ] {
        if let Some(why) = there {
            found.add(command, is_top(why), &why.to_string());
        }
    }
}

/// Targets of the top Makefile and justfile; they prove a change where nothing else does.
fn make(found: &mut RepositoryTools<'_>) {
    for (name, program) in [("Makefile", "make"), ("justfile", "just")] {
        let Some(file) = found.scan.files.iter().find(|path| path.as_str() == name) else {
            continue;
        };
        let lines: Vec<&str> = found.text(file).lines().collect();
        for target in
            TARGETS.iter().filter(|target| lines.iter().any(|line| is_target(line, target)))
        {
            let proves = target.starts_with("test") && !found.tools.iter().any(|tool| tool.proves);
            found.add(&format!("{program} {target}"), proves, &format!("a target of {file}"));
        }
    }
}

fn is_target(line: &str, target: &str) -> bool {
    line.strip_prefix(target).is_some_and(|rest| {
        rest.trim_start().starts_with(':') && !rest.trim_start().starts_with(":=")
    })
}
