//! The steps that set up what the tests of a repository need, before a run: its commands have no
//! network.
//!
//! In: the commands that prove a change, and the repository's own workflows. Out: steps as text.
//! They are those of the job that runs the same tests, as far as they only set up; what is missing
//! there is filled in by the language's own way.

use std::fmt::Write as _;

use crate::starter::ci::{CiJob, CiStep, in_folder};
use crate::starter::commands::{self, python};
use crate::starter::proof::{Proof, ToolChain};
use crate::starter::scan::StarterScan;
use crate::words;
use locum_base::path::RepoPath;

/// Most steps of one job that are taken over.
const STEPS_LIMIT: usize = 12;
/// Parts of the names of actions that set up a tool chain.
const SETS_UP: &[&str] = &[
    "/setup-",
    "rust-toolchain",
    "/install-action",
    "/composer-install",
    "action-setup",
    "setup-beam",
    "actions/cache",
    "rust-cache",
    "/setup-action",
];

/// A step as it is written.
struct SetupStep {
    text: String,
    /// What it does for a tool chain.
    part: SetupPart,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetupPart {
    Chain,
    Dependencies,
    Other,
}

/// Returns the steps, indented for a job; empty when nothing is needed or known.
pub(super) fn steps(scan: &StarterScan, jobs: &[CiJob], proofs: &[Proof]) -> String {
    let mut text = String::new();
    let mut written: Vec<String> = Vec::new();
    for proof in proofs {
        let (own, place) = of_workflow(jobs, proof);
        let usual = match in_folder(&proof.command) {
            (Some(folder), _) => usual_below(scan, proof, folder),
            (None, _) => usual(scan, proof),
        };
        let lacks = |part| !own.iter().any(|step| step.part == part);
        let (lacks_chain, lacks_dependencies) =
            (lacks(SetupPart::Chain), lacks(SetupPart::Dependencies));
        let mut steps = Vec::new();
        // The tool chain is there before anything is installed with it.
        steps.extend(usual.chain.filter(|_| lacks_chain));
        steps.extend(own.into_iter().map(|step| step.text));
        steps.extend(usual.dependencies.into_iter().filter(|_| lacks_dependencies));
        // A workflow may do the same with options of its own.
        let is_missing = |step: &String| {
            let command = step.trim_start_matches("      - run: ").trim_end();
            !steps.iter().any(|other: &String| other.contains(command))
        };
        let missing: Vec<String> = usual.always.into_iter().filter(is_missing).collect();
        steps.extend(missing);
        steps.retain(|step| !written.contains(step));
        if steps.is_empty() {
            continue;
        }
        let place = place.map_or_else(String::new, |place| format!(", as {place} does"));
        let _ = writeln!(
            text,
            "      # What the tests need{place}: commands of a run have no network."
        );
        for step in steps {
            text.push_str(&step);
            written.push(step);
        }
    }
    text
}

/// Inputs of a checkout that tests may need.
const CHECKOUT_INPUTS: &str = "submodules lfs fetch-depth fetch-tags";

/// Returns those inputs of the checkout that the workflow with the tests has.
pub(super) fn checkout_inputs(jobs: &[CiJob], proofs: &[Proof]) -> Vec<(String, String)> {
    let is_checkout = |step: &&CiStep| {
        step.uses.as_ref().is_some_and(|uses| uses.starts_with("actions/checkout@"))
            && step.with.iter().all(|(name, _)| !matches!(&**name, "path" | "repository"))
    };
    let sources = proofs.iter().filter_map(|proof| proof.source.as_ref());
    let steps = sources.filter_map(|source| jobs.get(source.job)?.steps.iter().find(is_checkout));
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, value) in steps.flat_map(|step| &step.with) {
        let is_new = !found.iter().any(|(known, _)| known == name);
        if is_new && words::holds(CHECKOUT_INPUTS, name) && !value.contains('\n') {
            found.push((name.clone(), value.clone()));
        }
    }
    found
}

/// Returns the commands of steps, and those that stand for actions which install.
pub(super) fn installing(setup: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_script = false;
    for line in setup.lines() {
        let step = line.strip_prefix("      - ");
        let own = match (step, in_script) {
            (Some("run: |"), _) => {
                in_script = true;
                None
            }
            (Some(step), _) => {
                in_script = false;
                let by_action = [("ramsey/composer-install", "composer install")];
                let action = by_action.iter().find(|(action, _)| step.contains(action));
                step.strip_prefix("run: ").or(action.map(|(_, command)| *command))
            }
            (None, true) => Some(line.trim()),
            (None, false) => {
                line.trim().starts_with("bundler-cache: \"true\"").then_some("bundle install")
            }
        };
        let own = own.filter(|command| !found.iter().any(|other| other == command));
        found.extend(own.map(str::to_owned));
    }
    found
}

/// Returns the job that shows what the command needs, and its steps up to there.
fn before<'j>(jobs: &'j [CiJob], proof: &Proof) -> Option<(&'j CiJob, &'j [CiStep])> {
    // What manifests show may need less than any one job; its tool chain is the same.
    let (job, end) = match &proof.source {
        Some(source) => (jobs.get(source.job)?, source.step),
        None => jobs.iter().find_map(|job| {
            Some((job, job.steps.iter().position(|step| sets_up_chain(step, proof.chain))?))
        })?,
    };
    Some((job, job.steps.get(..=end)?))
}

/// Says which actions of the repository's own the tests are set up with, which are not copied: what
/// they do is not known here.
pub(super) fn left_out(jobs: &[CiJob], proofs: &[Proof]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (job, steps) in proofs.iter().filter_map(|proof| before(jobs, proof)) {
        for step in steps {
            let own = step.uses.as_ref().filter(|uses| uses.starts_with("./"));
            let note = own.map(|uses| {
                let place = format!("{}:{}", job.workflow, step.line);
                format!("`uses: {uses}` of {place} is left out of the workflow")
            });
            found.extend(note.filter(|note| !found.contains(note)));
        }
    }
    found
}

/// Returns what a workflow sets up before it runs the command, and the workflow's file.
fn of_workflow(jobs: &[CiJob], proof: &Proof) -> (Vec<SetupStep>, Option<String>) {
    let nothing = || (Vec::new(), None);
    let Some((job, steps)) = before(jobs, proof) else { return nothing() };
    let is_wanted = |step: &&CiStep| proof.source.is_some() || step.uses.is_some();
    let steps: Vec<SetupStep> = steps
        .iter()
        .filter(is_wanted)
        .filter_map(|step| copied(step, proof))
        .take(STEPS_LIMIT)
        .collect();
    if steps.is_empty() { nothing() } else { (steps, Some(job.workflow.to_string())) }
}

fn sets_up_chain(step: &CiStep, chain: ToolChain) -> bool {
    let names: &[&str] = match chain {
        ToolChain::Rust => &["rust-toolchain"],
        ToolChain::Node => &["actions/setup-node"],
        ToolChain::Python => &["actions/setup-python", "astral-sh/setup-uv"],
        ToolChain::Go => &["actions/setup-go"],
        ToolChain::Java => &["actions/setup-java"],
        ToolChain::Ruby => &["ruby/setup-ruby"],
        ToolChain::Php => &["shivammathur/setup-php"],
        ToolChain::Dotnet => &["actions/setup-dotnet"],
        ToolChain::Elixir => &["erlef/setup-beam"],
        ToolChain::Native => &[],
    };
    step.uses.as_ref().is_some_and(|uses| names.iter().any(|name| uses.starts_with(name)))
}

/// Writes a step of another workflow, if setting up is all it does.
fn copied(step: &CiStep, proof: &Proof) -> Option<SetupStep> {
    if let Some(uses) = &step.uses {
        let sets_up = SETS_UP.iter().any(|part| uses.contains(part)) && !uses.starts_with('.');
        let is_pinned = uses.contains('@');
        if !sets_up || !is_pinned {
            return None;
        }
        let mut text = format!("      - uses: {}\n", step.spelled);
        if !step.with.is_empty() {
            text.push_str("        with:\n");
        }
        for (name, value) in &step.with {
            text.push_str(&input(name, value));
        }
        // An action that caches installs what the lock file names, too.
        let installs = uses.contains("/composer-install")
            || uses.contains("ruby/setup-ruby")
                && step.with.iter().any(|(name, value)| name == "bundler-cache" && value == "true");
        let part = if installs {
            SetupPart::Dependencies
        } else if sets_up_chain(step, proof.chain) {
            SetupPart::Chain
        } else {
            SetupPart::Other
        };
        return Some(SetupStep { text, part });
    }
    let installs: Vec<&str> =
        step.commands.iter().map(String::as_str).filter(|command| installs(command)).collect();
    let part = if installs.iter().any(|command| command.starts_with("sudo ")) {
        SetupPart::Other
    } else {
        SetupPart::Dependencies
    };
    let is_below = installs.iter().any(|command| in_folder(command).0.is_some());
    let text = match is_below {
        true => installs.iter().map(|command| run(&[command])).collect(),
        false => run(&installs),
    };
    (!installs.is_empty()).then_some(SetupStep { text, part })
}

/// One input of an action; a value of several lines keeps them.
pub(super) fn input(name: &str, value: &str) -> String {
    if value.contains('\n') {
        let lines: String = value.lines().map(|line| format!("            {line}\n")).collect();
        return format!("          {name}: |\n{lines}");
    }
    format!("          {name}: {}\n", crate::written::quoted(value))
}

fn run(commands: &[&str]) -> String {
    match commands {
        [command] if in_folder(command).0.is_some() => {
            let (folder, command) = in_folder(command);
            let folder = folder.unwrap_or_default();
            format!("{}        working-directory: {folder}\n", run(&[command]))
        }
        [command] if !command.contains([':', '#', '&']) => format!("      - run: {command}\n"),
        _ => {
            let lines: String =
                commands.iter().map(|command| format!("          {command}\n")).collect();
            format!("      - run: |\n{lines}")
        }
    }
}

/// Returns true for a command that installs what a project needs, and nothing else.
fn installs(command: &str) -> bool {
    let words: Vec<&str> = in_folder(command).1.split(' ').collect();
    let begins = |start: &[&str]| words.starts_with(start);
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let installing = match first {
        "npm" => words::holds("ci i install", second),
        "pnpm" | "yarn" | "bun" | "bundle" => second == "install" || words.len() == 1,
        "composer" => words::holds("install update require", second),
        "uv" => second == "sync" || begins(&["uv", "pip", "install"]),
        "poetry" | "pdm" => words::holds("install sync", second),
        "pip" | "pip3" => second == "install",
        "python" | "python3" => begins(&[first, "-m", "pip", "install"]),
        "mix" => second == "deps.get" || second == "local.hex" || second == "local.rebar",
        "go" => begins(&["go", "mod", "download"]),
        "cargo" => second == "fetch",
        "dotnet" => second == "restore" || begins(&["dotnet", "tool", "restore"]),
        "corepack" => second == "enable",
        "autoreconf" | "./autogen.sh" | "./configure" | "./bootstrap" | "./bootstrap.sh" => true,
        "sudo" => {
            words::holds("apt-get apt", second)
                && words.iter().any(|word| words::holds("install update", word))
        }
        _ => false,
    };
    installing && !words.iter().any(|word| word.contains("://"))
}

/// Actions that set up tool chains, by the commit that a release was made from, as their
/// repositories name it: a tag can be moved.
const SETUP_BEAM: &str = "erlef/setup-beam@54075bcc5e249e4758d363f27d099f55d843f124 # v1.24.1";
const SETUP_BUN: &str = "oven-sh/setup-bun@0c5077e51419868618aeaa5fe8019c62421857d6 # v2.2.0";
const SETUP_GO: &str = "actions/setup-go@924ae3a1cded613372ab5595356fb5720e22ba16 # v6.5.0";
const SETUP_JAVA: &str = "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0";
const SETUP_NODE: &str = "actions/setup-node@249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0";
const SETUP_PHP: &str = "shivammathur/setup-php@f3e473d116dcccaddc5834248c87452386958240 # 2.37.2";
const SETUP_PYTHON: &str = "actions/setup-python@ece7cb06caefa5fff74198d8649806c4678c61a1 # v6.3.0";
const SETUP_RUBY: &str = "ruby/setup-ruby@0dafeac902942906541bc140009cdbf32665b601 # v1.315.0";
const SETUP_UV: &str = "astral-sh/setup-uv@37802adc94f370d6bfd71619e3f0bf239e1f3b78 # v7.6.0";

/// How a language sets up a project.
#[derive(Default)]
struct UsualSetup {
    chain: Option<String>,
    dependencies: Vec<String>,
    /// Needed although a workflow does not do it: there, the tests reach the network.
    always: Vec<String>,
}

/// What the tests of a folder need that its workflow does not do: there, they reach the network.
fn usual_below(scan: &StarterScan, proof: &Proof, folder: &str) -> UsualSetup {
    let command = in_folder(&proof.command).1.to_owned();
    let always = usual(scan, &Proof { command, ..proof.clone() }).always;
    let step = |text: String| format!("{text}        working-directory: {folder}\n");
    UsualSetup { always: always.into_iter().map(step).collect(), ..UsualSetup::default() }
}

fn usual(scan: &StarterScan, proof: &Proof) -> UsualSetup {
    let has = |name: &str| scan.files.iter().any(|path| path.as_str() == name);
    let action = |name: &str, inputs: &[(&str, &str)]| {
        let with: String = inputs.iter().map(|(name, value)| input(name, value)).collect();
        let with = if with.is_empty() { with } else { format!("        with:\n{with}") };
        Some(format!("      - uses: {name}\n{with}"))
    };
    let only = |chain: Option<String>, dependencies: &[&str]| UsualSetup {
        chain,
        dependencies: dependencies.iter().map(|command| run(&[command])).collect(),
        always: Vec::new(),
    };
    match proof.chain {
        ToolChain::Rust => {
            let locked = if has("Cargo.lock") { "cargo fetch --locked" } else { "cargo fetch" };
            // The runner has Rust, which reads `rust-toolchain.toml`.
            UsualSetup { always: vec![run(&[locked])], ..UsualSetup::default() }
        }
        ToolChain::Node => node(scan, &action),
        ToolChain::Python => python_setup(scan, proof, &action),
        ToolChain::Go => UsualSetup {
            chain: action(SETUP_GO, &[("go-version-file", "go.mod")]),
            dependencies: Vec::new(),
            always: vec![run(&["go mod download"])],
        },
        ToolChain::Java => {
            let (cache, first) = java(&proof.command);
            UsualSetup {
                chain: action(
                    SETUP_JAVA,
                    &[("distribution", "temurin"), ("java-version", "21"), ("cache", cache)],
                ),
                dependencies: Vec::new(),
                always: vec![first],
            }
        }
        ToolChain::Ruby => UsualSetup {
            chain: None,
            dependencies: action(
                SETUP_RUBY,
                &[
                    ("ruby-version", if has(".ruby-version") { "default" } else { "3.4" }),
                    ("bundler-cache", "true"),
                ],
            )
            .into_iter()
            .collect(),
            always: Vec::new(),
        },
        ToolChain::Php => only(
            action(SETUP_PHP, &[("php-version", "8.4"), ("coverage", "none")]),
            &["composer install --no-interaction --prefer-dist"],
        ),
        ToolChain::Dotnet => only(None, &["dotnet restore"]),
        ToolChain::Elixir => only(
            action(SETUP_BEAM, &[("otp-version", "28"), ("elixir-version", "1.19")]),
            &["mix local.hex --force --if-missing", "mix deps.get"],
        ),
        ToolChain::Native if has("configure.ac") && !has("configure") => {
            let configure = vec![run(&["./configure"])];
            UsualSetup { always: configure, ..only(None, &["autoreconf -i"]) }
        }
        ToolChain::Native => UsualSetup::default(),
    }
}

/// Writes a step that uses an action.
type ActionStep<'a> = dyn Fn(&str, &[(&str, &str)]) -> Option<String> + 'a;

fn node(scan: &StarterScan, action: &ActionStep<'_>) -> UsualSetup {
    let has = |name: &str| scan.files.iter().any(|path| path.as_str() == name);
    let (manager, locked) = match commands::package_manager(scan) {
        Some("pnpm") => ("pnpm", "pnpm install --frozen-lockfile"),
        Some("yarn") if !has(".yarnrc.yml") => ("yarn", "yarn install --frozen-lockfile"),
        Some("yarn") => ("yarn", "yarn install --immutable"),
        Some("bun") => ("bun", "bun install --frozen-lockfile"),
        Some(_) | None => ("npm", "npm ci"),
    };
    let lock = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"];
    let is_locked = lock.iter().any(|name| has(name)) || has("bun.lock") || has("bun.lockb");
    let install = if is_locked { locked.to_owned() } else { format!("{manager} install") };
    if manager == "bun" {
        return UsualSetup {
            chain: action(SETUP_BUN, &[]),
            dependencies: vec![run(&[&install])],
            always: Vec::new(),
        };
    }
    let mut chain = String::new();
    if manager != "npm" {
        chain.push_str(&run(&["corepack enable"]));
    }
    let version =
        if has(".nvmrc") { ("node-version-file", ".nvmrc") } else { ("node-version", "lts/*") };
    let cache = ("cache", manager);
    let inputs = if is_locked { vec![version, cache] } else { vec![version] };
    chain.push_str(&action(SETUP_NODE, &inputs).unwrap_or_default());
    UsualSetup { chain: Some(chain), dependencies: vec![run(&[&install])], always: Vec::new() }
}

fn python_setup(scan: &StarterScan, proof: &Proof, action: &ActionStep<'_>) -> UsualSetup {
    let has = |name: &str| scan.files.iter().any(|path| path.as_str() == name);
    let program = proof.command.split(' ').next().unwrap_or_default();
    match program {
        "uv" => {
            return UsualSetup {
                chain: action(SETUP_UV, &[]),
                dependencies: vec![run(&["uv sync --all-extras"])],
                always: Vec::new(),
            };
        }
        "poetry" | "pdm" | "hatch" => {
            let install = match program {
                "poetry" => "poetry install --all-extras",
                "pdm" => "pdm sync --dev",
                _ => "hatch env create",
            };
            let tool = format!("pip install {program}");
            return UsualSetup {
                chain: action(SETUP_PYTHON, &[("python-version", "3.x")]),
                dependencies: vec![run(&[&tool, install])],
                always: Vec::new(),
            };
        }
        _ => {}
    }
    let mut lines: Vec<String> = Vec::new();
    let wanted = |path: &&RepoPath| {
        path.parts().count() <= 2 && python::is_requirements(path.name().unwrap_or_default())
    };
    let mut files: Vec<&str> = scan.files.iter().filter(wanted).map(RepoPath::as_str).collect();
    files.retain(|file| !file.contains("docs") && !file.contains('\''));
    lines.extend(files.iter().take(5).map(|file| format!("pip install -r {file}")));
    if ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| has(name)) {
        let extras = python::test_extras(scan);
        let extras = if extras.is_empty() { String::new() } else { format!("[{extras}]") };
        lines.push(format!("pip install -e .{extras}"));
    }
    lines.extend(python::test_group(scan).map(|name| format!("pip install --group {name}")));
    lines.extend(python::tox_requirements(scan).map(|names| format!("pip install {names}")));
    let tests = lines.join(" ");
    if proof.command.contains("pytest") && !tests.contains("pytest") {
        lines.push("pip install pytest".to_owned());
    }
    if matches!(program, "tox" | "nox") && !tests.contains(program) {
        lines.push(format!("pip install {program}"));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let always = match program {
        "tox" => vec![run(&["tox run --notest"])],
        "nox" => vec![run(&["nox --install-only"])],
        _ => Vec::new(),
    };
    UsualSetup {
        chain: action(SETUP_PYTHON, &[("python-version", "3.x")]),
        dependencies: if lines.is_empty() { Vec::new() } else { vec![run(&lines)] },
        always,
    }
}

/// Returns what caches and what fetches for a build tool of Java. What runs tests is only fetched
/// when tests are run, so that some are asked for that do not exist.
fn java(command: &str) -> (&'static str, String) {
    let program = command.split(' ').next().unwrap_or_default();
    if program.contains("gradle") {
        let first = format!("{program} testClasses test --tests none.such --continue || true");
        ("gradle", run(&[&first]))
    } else {
        let plugins = format!("{program} -B -ntp dependency:go-offline");
        let none =
            "-Dtest=NoSuchTest -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false";
        let goal = if command.contains("verify") { "verify" } else { "test" };
        ("maven", run(&[&plugins, &format!("{program} -B -ntp {goal} {none}")]))
    }
}
