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
/// Words in the names of scripts that publish.
const PUBLISHING: &[&str] = &["publish", "release", "deploy", "version", "push", "upload"];
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
/// Modules of Python that check, with what may show that they are used.
const PYTHON_MODULES: &[&str] = &[
    "pytest",
    "unittest",
    "ruff check",
    "ruff format",
    "mypy",
    "black",
    "isort",
    "flake8",
    "pyright",
    "coverage",
];
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
    ruby(&mut found);
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
    fn mentions_in_automation(&self, word: &str) -> bool {
        self.scan.texts.iter().any(|(path, text)| {
            path.as_str().starts_with(".github/workflows/") && text.contains(word)
        })
    }

    /// Names of the programs that packages of Rust build.
    fn programs(&self, manifest: &str, main: &str) -> Vec<String> {
        let has_main = |path: &&RepoPath| {
            let (folder, _) = split(path);
            let at = if folder.is_empty() { main.to_owned() } else { format!("{folder}/{main}") };
            self.scan.files.iter().any(|file| file.as_str() == at)
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
         deny, llvm-cov, semver-checks, fix, miri, update, package, outdated, --version, -V, \
         -vV, --list",
    ) {
        found.add(&format!("cargo {verb}:*"), false, &why);
    }
    for looks in
        ["rustc:*", "rustfmt:*", "rustup show:*", "rustup toolchain list:*", "rustup target list:*"]
    {
        found.add(looks, false, &why);
    }
    for program in found.programs("Cargo.toml", "src/main.rs") {
        for profile in ["debug", "release"] {
            for here in ["", "./"] {
                found.add(&format!("{here}target/{profile}/{program}:*"), false, &why);
            }
        }
    }
    if found.scan.files.iter().any(|path| path.as_str() == ".config/nextest.toml")
        || found.mentions_in_automation("cargo nextest")
    {
        found.add("cargo nextest run:*", false, "nextest is set up");
    }
    found.add("cargo test:*", is_top(manifest), &why);
}

/// The scripts that `package.json` has, by the package manager whose lock file is there.
fn node(found: &mut RepositoryTools<'_>) {
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
    let manifests: Vec<&RepoPath> = found.all_named("package.json").collect();
    for manifest in manifests {
        let Ok(Json::Object(package)) = serde_json::from_str::<Json>(found.text(manifest)) else {
            continue;
        };
        let Some(Json::Object(scripts)) = package.get("scripts") else { continue };
        for (script, _) in scripts.iter().filter(|(name, text)| is_safe(name) && is_written(text)) {
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

/// Whether a script's name does not say that it publishes or installs.
fn is_safe(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
    let hooks = ["pre", "post", "install", "prepare"].iter().any(|hook| name.starts_with(hook));
    plain && !hooks && !PUBLISHING.iter().any(|word| name.contains(word))
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
            found.add(&format!("{run}pytest:*"), is_top(manifest), lock);
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
    for module in PYTHON_MODULES {
        let name = module.split(' ').next().unwrap_or_default();
        if name != "unittest" && !found.mentions(&manifests, name) {
            continue;
        }
        let why = format!("{name} is set up");
        for call in ["python -m ", "python3 -m ", runner.map_or("", |(_, run)| run), ""] {
            found.add(&format!("{call}{module}:*"), false, &why);
        }
    }
    let why = manifest.to_string();
    for program in ["python", "python3"] {
        found.add(&format!("{program}:*"), false, &why);
        for module in listed(
            "json.tool, doctest, tabnanny, site, sysconfig, cProfile, trace, timeit, py_compile, \
             compileall, build",
        ) {
            found.add(&format!("{program} -m {module}:*"), false, &why);
        }
    }
    for looks in
        listed("pip list:*, pip show:*, pip freeze:*, pip check:*, sphinx-build:*, mkdocs build:*")
    {
        found.add(looks, false, &why);
    }
    for (lock, tool) in
        [("uv.lock", "uv run"), ("poetry.lock", "poetry run"), ("pdm.lock", "pdm run")]
    {
        if found.has(lock) {
            found.add(
                &format!("{tool}:*"),
                false,
                &format!("{lock}; what it starts has to be allowed too"),
            );
        }
    }
    if found.has("uv.lock") {
        for looks in ["uv tree:*", "uv pip list:*", "uv pip show:*", "uv --version"] {
            found.add(looks, false, "uv.lock");
        }
    }
    let is_set_up = |found: &RepositoryTools<'_>, file: &str, section: &str| {
        found.has(file) || found.mentions(&["pyproject.toml", "setup.cfg"], section)
    };
    for (program, file, section) in
        [("tox", "tox.ini", "tool.tox"), ("nox", "noxfile.py", "nox"), ("tox", "uv.lock", "tox")]
    {
        if is_set_up(found, file, section) {
            found.add(&format!("{program}:*"), false, &format!("{program} is set up"));
        }
    }
    if found.scan.files.iter().any(|path| path.as_str() == ".pre-commit-config.yaml")
        || found.has("uv.lock")
    {
        for program in ["pre-commit run:*", "prek run:*"] {
            found.add(program, false, "hooks that check");
        }
    }
}

fn go(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("go.mod") else { return };
    let why = manifest.to_string();
    found.add("go test ./...", is_top(manifest), &why);
    for verb in listed(
        "test, vet, build, run, generate, fmt, fix, list, doc, env, version, help, clean, tool, \
         mod why, \
         mod graph, mod verify, mod tidy",
    ) {
        found.add(&format!("go {verb}:*"), false, &why);
    }
    for program in ["gofmt:*", "goimports:*", "gofumpt:*", "staticcheck:*"] {
        found.add(program, false, &why);
    }
    if [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name)) {
        found.add("golangci-lint run:*", false, "golangci-lint is set up");
    }
    let programs = found.scan.files.iter().filter_map(|path| {
        let (program, file) = path.as_str().strip_prefix("cmd/")?.split_once('/')?;
        (file == "main.go" && is_safe(program)).then(|| program.to_owned())
    });
    for program in programs.collect::<BTreeSet<_>>() {
        found.add(&format!("./bin/{program}:*"), false, &format!("cmd/{program}"));
        found.add(&format!("./{program}:*"), false, &format!("cmd/{program}"));
    }
}

fn java(found: &mut RepositoryTools<'_>) {
    for (manifest, wrapper, program, offline) in [
        (found.named("pom.xml"), "mvnw", "mvn", "-o"),
        (
            found.named("build.gradle").or_else(|| found.named("build.gradle.kts")),
            "gradlew",
            "gradle",
            "--offline",
        ),
    ] {
        let Some(manifest) = manifest else { continue };
        let wrapped = format!("./{wrapper}");
        let own = found.has(wrapper).then_some(wrapped.as_str());
        let why = format!("{manifest}; offline, as commands reach no network");
        let first = own.unwrap_or(program);
        found.add(&format!("{first} {offline} test:*"), is_top(manifest), &why);
        for program in own.into_iter().chain([program]) {
            found.add(
                &format!("{program}:*"),
                false,
                &format!("{manifest}; tasks that build and test"),
            );
        }
    }
    if found.has("pom.xml") || found.has("build.gradle") || found.has("build.gradle.kts") {
        for program in ["java:*", "javac:*", "javap:*"] {
            found.add(program, false, "sources in Java");
        }
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
            "bundle exec rspec:*",
        ),
        (
            found.named("Gemfile").filter(|_| found.mentions(&["Gemfile"], "rubocop")),
            "bundle exec rubocop:*",
        ),
        (found.named("Gemfile").filter(|_| found.mentions(&["Gemfile"], "rspec")), "rspec:*"),
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

/// Programs of Ruby that look or run what the repository has.
fn ruby(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Gemfile") else { return };
    let why = manifest.to_string();
    for command in listed(
        "ruby, rake, ri, standardrb, yard, bundle exec, bundle list, bundle show, bundle info, \
         bundle outdated, \
         bundle check, bundle -v, bundle --version, gem list, gem env, gem contents, gem \
         which, gem build, gem --version, gem -v",
    ) {
        found.add(&format!("{command}:*"), false, &why);
    }
    if found.mentions(&["Gemfile"], "rubocop") {
        found.add("rubocop:*", false, &why);
    }
}

/// Targets of the top Makefile and justfile; they prove a change where nothing else does.
fn make(found: &mut RepositoryTools<'_>) {
    for (name, program) in [("Makefile", "make"), ("justfile", "just")] {
        let Some(file) = found.scan.files.iter().find(|path| path.as_str() == name) else {
            continue;
        };
        if program == "make" {
            found.add("make:*", false, &format!("targets of {file}"));
        }
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
