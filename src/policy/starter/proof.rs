//! Which commands show that a change is ready: the tests that the repository's own workflows run,
//! and where these say nothing, what its manifests show.
//!
//! In: jobs of workflows and the tools that were found. Out: at most one command for each tool
//! chain, as it runs without a network.

use crate::command::tables::verbs;
use crate::command::word;
use crate::starter::ci::{CiJob, in_folder};
use crate::starter::commands::{ProposedTool, ToolOrigin};
use crate::words;

/// Most commands that are taken over from workflows.
const MOST: usize = 20;
/// Programs that run tests, whatever their arguments.
const RUNNERS: &str = "\
    pytest py.test unittest nose2 rspec cucumber minitest phpunit pest jest vitest mocha ava tap \
    tape ctest bats shellspec gotestsum";
/// Programs one of whose words says that they test, by its name or the name of a script.
const TESTING: &str = "\
    cargo go dotnet mix rebar3 swift dart flutter deno zig bazel stack cabal dune sbt npm pnpm \
    yarn bun make just rake task ninja composer mvn gradle poetry hatch pdm pipenv django \
    django-admin";
/// Goals and tasks of Maven and Gradle that run tests.
const TASKS: &str = "test verify check build install package";
/// Words that make a command one that does more than test, or something else.
const DOING_MORE: &str = "\
    publish deploy login upload release remove uninstall update upgrade fix run-script dlx add \
    --install --push -c -e --fix --write --no-run --version -DskipTests -Dmaven.test.skip=true -i \
    --bench bench";
/// Options by which programs run a part of the tests; without a program, those of all.
const NARROWING: &[(&str, &str)] = &[
    ("", "--filter --grep --testNamePattern --tests --only"),
    ("cargo", "-p --package --lib --bin --bins --doc --test --example --examples"),
    ("go", "-run"),
    ("pytest py.test", "-k -m"),
    ("jest vitest mocha", "-t -g"),
    ("npm pnpm yarn", "-w --workspace"),
    ("mvn mvnw", "-Dtest -pl"),
];
/// Most commands that share the tests.
const PARTS: usize = 4;
/// Words before a program that start it.
const STARTERS: &[&[&str]] = &[
    &["bundle", "exec"],
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["python", "-m"],
    &["python3", "-m"],
    &["coverage", "run"],
    &["composer", "exec"],
    &["pnpm", "exec"],
    &["npm", "exec"],
    &["yarn", "exec"],
    &["npx"],
];

/// A command that shows that a change is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    /// The command, as it runs without a network; `cd FOLDER && COMMAND` where it belongs to one.
    pub(super) command: String,
    /// The tool chain it belongs to.
    pub(super) chain: ToolChain,
    /// Where a workflow runs it; `None` for what manifests show.
    pub(super) source: Option<ProofSource>,
}

impl Proof {
    /// Whether a workflow runs it.
    pub(super) fn is_automatic(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_automatic)
    }

    /// Whether it belongs to another tool chain than these, or finds the tests of other folders by
    /// the same runner.
    pub(super) fn adds_to(&self, found: &[Self]) -> bool {
        let is_beside = |other: &Self| other.chain != self.chain || self.shares_tests_with(other);
        self.chain != ToolChain::Native && found.iter().all(is_beside) && !found.contains(self)
    }

    /// Whether each of two commands finds the tests of one folder.
    fn shares_tests_with(&self, other: &Self) -> bool {
        let finds = |proof: &Self| proof.source.is_none() && proof.command.contains(" -m unittest");
        finds(self) && finds(other)
    }
}

/// Where a workflow runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProofSource {
    /// Index of the job among those of all workflows.
    pub(super) job: usize,
    /// Index of the step in the job.
    pub(super) step: usize,
    /// File and line, for people.
    pub(super) place: String,
    /// Whether a workflow runs it; else a document names it.
    pub(super) is_automatic: bool,
}

impl ProofSource {
    /// Returns why the command is taken, for people.
    pub(super) fn why(&self) -> String {
        format!("{} {} it", self.place, if self.is_automatic { "runs" } else { "names" })
    }
}

/// What installs and runs what a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ToolChain {
    Rust,
    Node,
    Python,
    Go,
    Java,
    Ruby,
    Php,
    Dotnet,
    Elixir,
    Dart,
    /// One of a language of which nothing is known that sets it up.
    Other,
    /// Whatever a Makefile, CMake or a script builds with: as a rule, what it runs is that of the
    /// other tool chains.
    Native,
}

impl ToolChain {
    /// Returns the tool chain of a command.
    pub(super) fn of(command: &str) -> Self {
        let first = in_folder(command).1.split(' ').next().unwrap_or_default();
        match first.rsplit('/').next().unwrap_or_default() {
            "cargo" => Self::Rust,
            "npm" | "pnpm" | "yarn" | "bun" | "npx" | "corepack" | "node" | "jest" | "vitest"
            | "mocha" | "tape" => Self::Node,
            "go" | "gotestsum" => Self::Go,
            "mvn" | "mvnw" | "gradle" | "gradlew" => Self::Java,
            "bundle" | "rake" | "rails" | "rspec" | "ruby" => Self::Ruby,
            "composer" | "phpunit" | "pest" | "php" => Self::Php,
            "dotnet" => Self::Dotnet,
            "mix" => Self::Elixir,
            "pytest" | "python" | "python3" | "pip" | "pip3" | "pipx" | "tox" | "nox" | "uv"
            | "poetry" | "pdm" | "hatch" | "pipenv" | "coverage" | "py.test" | "manage.py"
            | "django-admin" => Self::Python,
            "dart" | "flutter" => Self::Dart,
            "swift" | "deno" | "zig" | "stack" | "cabal" | "dune" | "sbt" | "rebar3" => Self::Other,
            _ => Self::Native,
        }
    }
}

/// Chooses the commands, those of workflows before those that manifests show.
pub(super) fn find(jobs: &[CiJob], tools: &[ProposedTool]) -> Vec<Proof> {
    let shown: Vec<Proof> = tools
        .iter()
        .filter(|tool| tool.proves)
        .map(|tool| Proof {
            command: tool.command.clone(),
            chain: ToolChain::of(&tool.command),
            source: None,
        })
        .collect();
    let mut found: Vec<Proof> = Vec::new();
    let chains: Vec<ToolChain> = shown.iter().map(|proof| proof.chain).collect();
    let by_workflow = of_jobs(jobs, true);
    let named = if by_workflow.is_empty() { of_jobs(jobs, false) } else { by_workflow };
    let is_here = |proof: &Proof| in_folder(&proof.command).0.is_none();
    let (named, below): (Vec<Proof>, Vec<Proof>) = named.into_iter().partition(is_here);
    for chain in named.iter().map(|proof| proof.chain) {
        // A workflow may test more than the repository's own tool chain.
        let fits = chains.is_empty() || chains.contains(&chain);
        let of_chain: Vec<&Proof> = named.iter().filter(|proof| proof.chain == chain).collect();
        // What tests a part shows less than what the manifests show.
        let is_part = of_chain.iter().all(|proof| is_narrow(&proof.command));
        let is_new = !found.iter().any(|other| other.chain == chain);
        if is_new && fits && !(is_part && chains.contains(&chain)) {
            found.extend(of_chain.into_iter().take(PARTS).cloned());
        }
    }
    for proof in shown {
        if found.is_empty() || proof.adds_to(&found) {
            found.push(proof);
        }
    }
    if found.iter().any(|proof| proof.chain != ToolChain::Native) {
        found.retain(|proof| proof.chain != ToolChain::Native || proof.source.is_some());
    }
    // The tests of folders count where nothing tests the whole.
    if found.is_empty() { below.into_iter().take(PARTS).collect() } else { found }
}

/// Returns the tests that workflows run, or documents name: of each tool chain and folder the
/// plainest of the job that tells most, or its parts where nothing tests the whole.
fn of_jobs(jobs: &[CiJob], is_automatic: bool) -> Vec<Proof> {
    let mut found: Vec<(usize, Proof)> = Vec::new();
    let of_kind = |(_, job): &(usize, &CiJob)| job.is_automatic == is_automatic;
    for (job_index, job) in jobs.iter().enumerate().filter(of_kind) {
        for (step_index, step) in job.steps.iter().enumerate() {
            for command in step.commands.iter().filter(|command| tests(command)) {
                let source = ProofSource {
                    job: job_index,
                    step: step_index,
                    place: format!("{}:{}", job.workflow, step.line),
                    is_automatic,
                };
                let command = offline(&whole(command));
                let chain = ToolChain::of(&command);
                let proof = Proof { command, chain, source: Some(source) };
                let is_alike = |(_, other): &&(usize, Proof)| {
                    other.chain == chain
                        && in_folder(&other.command).0 == in_folder(&proof.command).0
                };
                match found.iter().position(|other| is_alike(&other)) {
                    None => found.push((job_index, proof)),
                    Some(at) => choose(&mut found, at, (job_index, proof)),
                }
            }
        }
    }
    found.into_iter().map(|(_, proof)| proof).collect()
}

/// Puts a command in the place of one of the same job that is less plain, or beside it where both
/// test a part.
fn choose(found: &mut Vec<(usize, Proof)>, at: usize, (job, proof): (usize, Proof)) {
    let Some((of_job, other)) = found.get_mut(at) else { return };
    let narrow = (is_narrow(&proof.command), is_narrow(&other.command));
    match narrow {
        _ if *of_job != job => {}
        (false, true) => {
            found.retain(|(_, part)| {
                part.chain != proof.chain
                    || in_folder(&part.command).0 != in_folder(&proof.command).0
            });
            found.push((job, proof));
        }
        (false, false) if proof.command.len() < other.command.len() => *other = proof,
        (true, true) if found.iter().all(|(_, part)| part.command != proof.command) => {
            found.push((job, proof));
        }
        (_, false) | (true, true) => {}
    }
}

/// Returns true for a command that says which tests it runs, of all there are.
fn is_narrow(command: &str) -> bool {
    let (program, arguments) = plain(in_folder(command).1).unwrap_or_default();
    let narrows = |option: &str| {
        NARROWING.iter().any(|(programs, options)| {
            (programs.is_empty() || words::holds(programs, program))
                && words::holds(options, option)
        })
    };
    arguments.iter().any(|word| narrows(word.split('=').next().unwrap_or_default()))
        || program == "go" && !arguments.iter().any(|word| word.ends_with("..."))
}

/// Takes out what makes a command one of several that share the tests, or writes what they cover.
fn whole(command: &str) -> String {
    const LEFT_OUT: &[&str] = &["--shard", "-coverprofile"];
    let mut words: Vec<&str> = command.split(' ').collect();
    let option = |word: &&str| LEFT_OUT.contains(&word.split('=').next().unwrap_or_default());
    while let Some(at) = words.iter().position(&option) {
        let has_value = words.get(at).is_some_and(|word| !word.contains('='));
        words.drain(at..(at + 1 + usize::from(has_value)).min(words.len()));
    }
    if words.last() == Some(&"--") {
        words.pop();
    }
    words.join(" ")
}

/// Returns the commands that workflows run to test or to look, with their places; where there are
/// none, those that documents name.
pub(super) fn of_workflows(jobs: &[CiJob]) -> Vec<ProposedTool> {
    let run = commands_of(jobs, true);
    if run.is_empty() { commands_of(jobs, false) } else { run }
}

fn commands_of(jobs: &[CiJob], is_automatic: bool) -> Vec<ProposedTool> {
    let mut found: Vec<ProposedTool> = Vec::new();
    for job in jobs.iter().filter(|job| job.is_automatic == is_automatic) {
        for step in &job.steps {
            let verb = if is_automatic { "runs" } else { "names" };
            let place = format!("{}:{} {verb} it", job.workflow, step.line);
            let wanted = |command: &&str| tests(command) || looks(command);
            for command in step.commands.iter().map(|command| in_folder(command).1).filter(wanted) {
                if !found.iter().any(|tool| tool.command == command) {
                    found.extend(ProposedTool::new(
                        command,
                        false,
                        place.clone(),
                        ToolOrigin::Named,
                    ));
                }
            }
        }
    }
    found.truncate(MOST);
    found
}

/// Programs that check without testing.
const CHECKERS: &str = "\
    ruff mypy pyright flake8 pycodestyle pydocstyle pylint black isort autopep8 bandit vulture \
    eslint oxlint stylelint prettier tsc biome rubocop standardrb phpstan psalm phpcs \
    php-cs-fixer golangci-lint gofmt gofumpt staticcheck checkstyle spotless google-java-format \
    ktlint detekt shellcheck shfmt checkbashisms clang-format clang-tidy cppcheck cpplint \
    codespell typos yamllint actionlint hadolint markdownlint markdownlint-cli2";
/// First words of programs that configure and build.
const BUILDING: &[(&str, &str)] = &[
    ("cmake", "-S -B --build --preset --fresh"),
    ("meson", "setup compile test"),
    ("ninja", "-C"),
];
/// Words of other programs that say that they check.
const CHECKING: &str = "lint clippy fmt format vet typecheck types check doc build compile";

/// Returns true for a command that checks without testing, or builds what is tested.
fn looks(command: &str) -> bool {
    let Some((program, arguments)) = plain(command) else { return false };
    let installs = arguments.iter().any(|word| word.starts_with("install"));
    let builds = BUILDING.iter().any(|(name, first)| {
        let begins = arguments.first().is_some_and(|word| words::holds(first, word));
        *name == program && begins && !installs
    });
    builds
        || words::holds(CHECKERS, program)
        || words::holds(TESTING, program)
            && arguments.iter().any(|word| is_named(word, &|part| words::holds(CHECKING, part)))
}

/// Returns true for a command that runs tests, and does nothing else.
pub(super) fn tests(command: &str) -> bool {
    let Some((program, arguments)) = plain(in_folder(command).1) else { return false };
    let named = |word: &&str| is_named(word, &is_test);
    match program {
        "mvn" | "mvnw" => {
            let mut goals = arguments.iter().filter(|word| !word.starts_with('-')).peekable();
            goals.peek().is_none() || goals.any(|word| words::holds(TASKS, word))
        }
        "gradle" | "gradlew" => arguments
            .iter()
            .any(|word| words::holds(TASKS, word.rsplit(':').next().unwrap_or_default())),
        "rake" => arguments.is_empty() || arguments.iter().any(named),
        "rails" => arguments.first().is_some_and(|word| word.split(':').next() == Some("test")),
        "manage.py" => arguments.first() == Some(&"test"),
        // A program of the repository that tests, by its name.
        _ if program.ends_with(".py") => named(&program.trim_end_matches(".py")),
        "python" | "python3" | "ruby" | "node" | "php" | "sh" | "bash" => {
            let file = arguments.first().and_then(|file| file.rsplit('/').next());
            let stem = file.and_then(|file| file.rsplit_once('.')).map(|(stem, _)| stem);
            let is_console = stem == Some("manage") || file == Some("artisan");
            stem.is_some_and(|stem| named(&stem)) || is_console && arguments.get(1) == Some(&"test")
        }
        "cargo" => {
            let words = [vec![program], arguments].concat();
            let mut verb = words.iter().skip(verbs::place(&words).unwrap_or(words.len()));
            match verb.next() {
                Some(&"nextest") => verb.next() == Some(&"run"),
                first => first == Some(&"test"),
            }
        }
        _ => {
            words::holds(RUNNERS, program)
                || words::holds(TESTING, program)
                    && arguments.iter().any(named)
                    && !arguments.iter().any(|word| words::holds("install get download", word))
                    && !arguments.iter().any(|word| {
                        is_named(word, &|part| {
                            words::holds("lint format fmt types typecheck bench", part)
                        })
                    })
        }
    }
}

fn is_test(part: &str) -> bool {
    matches!(part, "test" | "tests" | "t" | "spec" | "specs" | "unit" | "unittest" | "check")
        || (part.ends_with("test") || part.ends_with("tests"))
            && !matches!(part, "latest" | "oldest" | "newest" | "fastest" | "greatest")
}

/// Whether one part of a word, such as `test` of `test:unit`, is meant.
fn is_named(word: &str, is_meant: &dyn Fn(&str) -> bool) -> bool {
    !word.starts_with('-')
        && !word.contains(['/', '@'])
        && word.split([':', '-', '_']).any(is_meant)
}

/// Returns the program that a command of plain words comes down to, by its name, and its arguments;
/// `None` for one that does more.
fn plain(command: &str) -> Option<(&str, Vec<&str>)> {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || " -_./:=,+@%".contains(letter);
    let mut words: Vec<&str> = command.split(' ').collect();
    let more = |word: &&str| words::holds(DOING_MORE, word) || word.starts_with('/');
    if !command.chars().all(letters)
        || word::split(command).is_err()
        || words.iter().skip(1).any(more)
    {
        return None;
    }
    while let Some(starter) = STARTERS.iter().find(|starter| words.starts_with(starter)) {
        // Options of what starts it, with a value where they have one.
        let mut left = words.split_off(starter.len());
        while let Some(option) = left.first().filter(|word| word.starts_with('-')) {
            let takes_value = matches!(*option, "--group" | "--extra" | "--with" | "-p" | "-m");
            let is_module = *option == "-m";
            left.drain(..usize::from(takes_value && !is_module) + 1).for_each(drop);
        }
        words = left;
    }
    let program = words.first()?.rsplit('/').next()?;
    Some((program, words.split_off(1)))
}

/// Adds what keeps a build tool from looking for news, and takes out what would install.
fn offline(command: &str) -> String {
    let (folder, bare) = in_folder(command);
    let (program, rest) = bare.split_once(' ').unwrap_or((bare, ""));
    let option = match program.rsplit('/').next().unwrap_or_default() {
        "mvn" | "mvnw" => "-o",
        "gradle" | "gradlew" => "--offline",
        _ => return command.to_owned(),
    };
    let kept = rest.split(' ').filter(|word| !word.is_empty() && *word != option).map(|word| {
        // It would write outside the checkout.
        if word == "install" { "verify" } else { word }
    });
    let kept = kept.filter(|word| *word != "--scan");
    let bare = std::iter::once(program).chain([option]).chain(kept).collect::<Vec<_>>().join(" ");
    folder.map_or_else(|| bare.clone(), |folder| format!("cd {folder} && {bare}"))
}
