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
    for verb in [
        "check",
        "build",
        "run",
        "bench",
        "doc",
        "tree",
        "metadata",
        "clippy",
        "fmt",
        "clean",
        "pkgid",
        "locate-project",
        "nextest list",
        "rustc",
    ] {
        found.add(&format!("cargo {verb}:*"), false, &why);
    }
    found.add("cargo test:*", is_top(manifest), &why);
    if found.automation_mentions("cargo nextest")
        || found.scan.files.iter().any(|path| path.as_str() == ".config/nextest.toml")
    {
        found.add("cargo nextest run:*", false, "nextest is set up");
    }
}

/// The scripts that `package.json` has, by the package manager whose lock file is there.
fn node(found: &mut RepositoryTools<'_>) {
    let manager = match found.named("package.json") {
        None => return,
        Some(manifest) => manager(found, manifest),
    };
    for looks in ["node --version", "node -v", "npm --version", "npm -v", "npm ls:*", "npm list:*"]
    {
        found.add(looks, false, "package.json");
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
    for looks in ["python --version", "python3 --version", "python -V", "python -m py_compile:*"] {
        found.add(looks, false, &manifest.to_string());
    }
    for looks in ["python -m compileall:*", "pip list:*", "pip show:*", "pip freeze:*"] {
        found.add(looks, false, &manifest.to_string());
    }
    for (there, command) in [
        (
            found.has("tox.ini") || found.mentions(&["pyproject.toml", "setup.cfg"], "tool.tox"),
            "tox",
        ),
        (found.has("noxfile.py"), "nox"),
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
    for verb in ["test", "vet", "build", "fmt", "list", "mod", "doc", "env", "version"] {
        found.add(&format!("go {verb}:*"), false, &why);
    }
    found.add("gofmt:*", false, &why);
    if [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name)) {
        found.add("golangci-lint run", false, "golangci-lint is set up");
    }
}

fn java(found: &mut RepositoryTools<'_>) {
    let phases =
        ["test", "verify", "compile", "test-compile", "package", "clean test", "clean verify"];
    let tasks = [
        "test",
        "check",
        "build",
        "classes",
        "compileJava",
        "testClasses",
        "clean",
        "help",
        "tasks",
    ];
    for (manifest, wrapper, program, offline, goals) in [
        (found.named("pom.xml"), "mvnw", "mvn", "-o", phases.as_slice()),
        (
            found.named("build.gradle").or_else(|| found.named("build.gradle.kts")),
            "gradlew",
            "gradle",
            "--offline",
            tasks.as_slice(),
        ),
    ] {
        let Some(manifest) = manifest else { continue };
        let wrapped = format!("./{wrapper}");
        let own = found.has(wrapper).then_some(wrapped.as_str());
        let why = format!("{manifest}; offline, as commands reach no network");
        let first = own.unwrap_or(program);
        found.add(&format!("{first} {offline} test:*"), is_top(manifest), &why);
        for program in own.into_iter().chain([program]) {
            for options in ["", offline, "-q", &format!("-q {offline}"), &format!("{offline} -q")] {
                for goal in goals {
                    let words = [program, options, goal].join(" ").replace("  ", " ");
                    found.add(&format!("{words}:*"), false, &manifest.to_string());
                }
            }
            found.add(&format!("{program} --version"), false, &manifest.to_string());
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
        (found.named("Gemfile"), "bundle exec rake"),
        (found.named("Gemfile"), "bundle list:*"),
        (found.named("Gemfile"), "bundle show:*"),
        (found.named("Gemfile"), "bundle exec rake test:*"),
        (found.named("Gemfile"), "bundle exec rake spec:*"),
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
