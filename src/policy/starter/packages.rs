//! Packages in folders of a repository: their tests become success commands where neither the top
//! of the repository nor its workflows test them.
//!
//! In: a repository scan, and the commands that prove a change so far. Out: more of these, as
//! `cd FOLDER && COMMAND`, and what is left for a maintainer to decide.

use std::collections::BTreeSet;

use crate::starter::ci::in_folder;
use crate::starter::commands::{self, MANIFESTS, ProposedTool, ToolOrigin, python_tests};
use crate::starter::folders::CLOSED;
use crate::starter::proof::{self, Proof, ToolChain};
use crate::starter::scan::{StarterScan, has, split, text};
use crate::starter::workspaces;
use crate::words;

/// Most folders on the way to a package whose tests become success commands.
const DEPTH: usize = 3;
/// Most success commands of packages.
const MOST: usize = 8;
/// Most folders with a manifest that are looked at.
const LOOKED_AT: usize = 200;
/// Most names in one sentence.
const NAMED: usize = 10;
/// Folders that show how something is used or tested: what they hold is not a package of its own.
const SHOWING: &str = "\
    example examples fixture fixtures __fixtures__ testdata test-data test_data sample samples \
    demo demos template templates test tests __tests__ spec specs e2e bench benches benchmark \
    benchmarks playground playgrounds snippets tutorial tutorials";
/// Manifests that a package of a tool chain has, whether or not it has tests.
const CHAINS: &[(&str, ToolChain)] = &[
    ("Cargo.toml", ToolChain::Rust),
    ("package.json", ToolChain::Node),
    ("pyproject.toml", ToolChain::Python),
    ("setup.py", ToolChain::Python),
    ("go.mod", ToolChain::Go),
    ("pom.xml", ToolChain::Java),
    ("build.gradle", ToolChain::Java),
    ("build.gradle.kts", ToolChain::Java),
    ("Gemfile", ToolChain::Ruby),
    ("composer.json", ToolChain::Php),
    ("mix.exs", ToolChain::Elixir),
];

/// A folder with a manifest, and what its files show.
pub(super) struct Package {
    /// Its path.
    folder: String,
    /// What its manifests let run.
    tools: Vec<ProposedTool>,
    /// Its tests, as they run in it.
    tests: Vec<Proof>,
    /// Tests beyond the number of commands that one project gets.
    beyond: Vec<String>,
    /// The tool chains of its manifests.
    chains: Vec<ToolChain>,
    /// Whether it has tests in Go; a module without any is only compiled.
    has_go_tests: bool,
}

/// The tests of packages.
#[derive(Default)]
pub(super) struct PackageTests {
    /// They become success commands.
    proofs: Vec<Proof>,
    /// Those that a Makefile above them runs, as a rule: what they need is set up.
    pub(super) below_make: Vec<Proof>,
    /// What lets them run.
    pub(super) tools: Vec<ProposedTool>,
    /// Commands that do not become success commands.
    left: Vec<String>,
    /// Packages of which no test is known.
    unknown: Vec<String>,
}

/// What tests a folder and those below it.
struct TestedFolder {
    folder: String,
    chain: ToolChain,
}

impl TestedFolder {
    /// What a command tests that runs in a folder.
    fn of(folder: &str, proof: &Proof) -> Self {
        Self { folder: folder.to_owned(), chain: proof.chain }
    }

    /// Whether it tests what another folder has of a tool chain. What a Makefile runs is, as a rule,
    /// everything.
    fn covers(&self, folder: &str, chain: ToolChain) -> bool {
        holds(&self.folder, folder) && (self.chain == chain || self.chain == ToolChain::Native)
    }
}

/// Finds the packages, those with the shortest paths first.
pub(super) fn find(scan: &StarterScan) -> Vec<Package> {
    let submodules = submodules(scan);
    let is_manifest = |name: &str| {
        words::holds(MANIFESTS, name)
            || name == "CMakeLists.txt"
            || [".sln", ".slnx", ".csproj"].iter().any(|ending| name.ends_with(ending))
    };
    let folders: BTreeSet<&str> = scan
        .files
        .iter()
        .map(split)
        .filter(|(folder, name)| is_manifest(name) && is_own(folder))
        .filter(|(folder, name)| {
            !name.starts_with("build.gradle") || !in_gradle_build(scan, folder)
        })
        .map(|(folder, _)| folder)
        .filter(|folder| !is_platform(scan, folder))
        .filter(|folder| !submodules.iter().any(|submodule| holds(submodule, folder)))
        .collect();
    let mut folders: Vec<&str> = folders.into_iter().collect();
    folders.sort_by_key(|folder| folder.split('/').count());
    folders.into_iter().take(LOOKED_AT).map(|folder| package(scan, folder)).collect()
}

fn package(scan: &StarterScan, folder: &str) -> Package {
    let own = workspaces::scan_of(scan, folder);
    let tools = commands::find(&own);
    let chains = CHAINS.iter().filter(|(name, _)| has(&own, "", name));
    let has_go_tests = own.files.iter().any(|path| path.as_str().ends_with("_test.go"));
    let tests = proof::find(&[], &tools);
    let success: Vec<&str> = tests.iter().map(|test| test.command.as_str()).collect();
    Package {
        folder: folder.to_owned(),
        beyond: python_tests::beyond(&own, &success),
        tests,
        tools,
        chains: chains.map(|(_, chain)| *chain).collect(),
        has_go_tests,
    }
}

/// Manifests of apps of several platforms, with a word that shows it, and the folders in which such
/// an app has what each platform needs.
const APPS: &[(&str, &str, &str)] = &[
    ("pubspec.yaml", "", "android ios linux macos windows web"),
    ("package.json", "\"react-native\"", "android ios"),
    ("package.json", "\"@capacitor/core\"", "android ios"),
];

/// Whether a folder is a part of an app for one platform: it is built with the app, and has no
/// tests that run by themselves.
fn is_platform(scan: &StarterScan, folder: &str) -> bool {
    workspaces::above(folder).any(|above| {
        let below = folder.strip_prefix(above).unwrap_or_default().trim_start_matches('/');
        let first = below.split('/').next().unwrap_or_default();
        APPS.iter().any(|(name, word, platforms)| {
            words::holds(platforms, first)
                && text(scan, above, name).is_some_and(|text| text.contains(word))
        })
    })
}

/// Whether a folder may be a package that is worked on here: not the top, and nothing that is
/// vendored, written by programs or there as an example.
pub(super) fn is_own(folder: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let is_other = |part: &str| {
        part.starts_with(['.', '-']) || words::holds(CLOSED, part) || words::holds(SHOWING, part)
    };
    !folder.is_empty() && folder.chars().all(plain) && !folder.split('/').any(is_other)
}

/// Whether a folder is a part of the build that one above it describes, which alone starts it.
fn in_gradle_build(scan: &StarterScan, folder: &str) -> bool {
    let settings = ["settings.gradle", "settings.gradle.kts"];
    workspaces::above(folder).any(|above| settings.iter().any(|name| has(scan, above, name)))
}

/// Folders of other repositories.
fn submodules(scan: &StarterScan) -> Vec<&str> {
    text(scan, "", ".gitmodules").unwrap_or_default().lines().filter_map(submodule).collect()
}

/// Reads a line of `.gitmodules` that names a folder.
fn submodule(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix("path")?.trim_start().strip_prefix('=')?.trim())
}

/// Whether a folder is another one or lies above it.
fn holds(folder: &str, other: &str) -> bool {
    folder.is_empty()
        || other.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a document names a command that must be one of a package, as only packages have its tool
/// chain.
pub(super) fn is_of_package(proof: &Proof, tools: &[ProposedTool], packages: &[Package]) -> bool {
    let is_named = proof.source.as_ref().is_some_and(|source| !source.is_automatic);
    let mut at_top = tools.iter().filter(|tool| tool.proves);
    let is_of_chain =
        |package: &Package| package.tests.iter().any(|test| test.chain == proof.chain);
    is_named
        && in_folder(&proof.command).0.is_none()
        && !at_top.any(|tool| ToolChain::of(&tool.command) == proof.chain)
        && packages.iter().any(is_of_chain)
}

/// Chooses the tests that count beside these.
pub(super) fn beside(scan: &StarterScan, packages: &[Package], proofs: &[Proof]) -> PackageTests {
    let folder = |proof: &Proof| in_folder(&proof.command).0.unwrap_or_default().to_owned();
    let mut tested: Vec<TestedFolder> =
        proofs.iter().map(|proof| TestedFolder::of(&folder(proof), proof)).collect();
    let by_workflow = proofs.iter().any(Proof::is_automatic);
    let named: BTreeSet<String> =
        proofs.iter().filter(|proof| proof.source.is_some()).map(folder).collect();
    let mut found = PackageTests::default();
    for package in packages {
        // A workflow or document knows the folder, or what in it is to be tested.
        let is_named = named.iter().any(|other| !other.is_empty() && holds(&package.folder, other));
        // Tests of one package do not replace each other.
        let before = tested.len();
        let of_package = |command: &String| format!("cd {} && {command}", package.folder);
        for test in package.tests.iter().filter(|_| !is_named) {
            let mut others = tested.iter().take(before);
            let covering = others.find(|other| other.covers(&package.folder, test.chain));
            let command = of_package(&test.command);
            match covering {
                Some(other) if other.chain == ToolChain::Native && test.chain != other.chain => {
                    let proof = Proof { command, chain: test.chain, source: None };
                    found.below_make.extend((!by_workflow).then_some(proof));
                }
                Some(_) if !package.is_apart(scan, test.chain) => {}
                Some(_) => found.left.push(command),
                None => {
                    let depth = package.folder.split('/').count();
                    if by_workflow || depth > DEPTH || found.proofs.len() >= MOST {
                        found.left.push(command);
                    } else {
                        found.tools.extend(package.tools_of(test));
                        found.proofs.push(Proof { command, chain: test.chain, source: None });
                    }
                    tested.push(TestedFolder::of(&package.folder, test));
                }
            }
        }
        let mut own = tested.iter().skip(before);
        if own.any(|test| test.chain == ToolChain::Python) {
            found.left.extend(package.beyond.iter().map(of_package));
        }
    }
    let is_unknown = |package: &&Package| {
        package.tests.is_empty()
            && package.chains.iter().any(|chain| {
                !tested.iter().any(|other| {
                    other.covers(&package.folder, *chain)
                        || other.chain == *chain && holds(&package.folder, &other.folder)
                })
            })
    };
    if !by_workflow {
        let unknown = packages.iter().filter(is_unknown);
        found.unknown = unknown.map(|package| package.folder.clone()).collect();
    }
    found.below_make.truncate(MOST);
    found
}

impl Package {
    /// Whether the tests of a folder above leave out those of this package.
    fn is_apart(&self, scan: &StarterScan, chain: ToolChain) -> bool {
        match chain {
            ToolChain::Node => workspaces::of_node(scan, &self.folder).is_none(),
            ToolChain::Go => self.has_go_tests,
            // No command above runs them.
            ToolChain::Dart => true,
            _ => false,
        }
    }

    /// Returns what lets a test of it run; of Node, its other scripts too, as its package manager
    /// may be another one than that of the repository.
    fn tools_of(&self, test: &Proof) -> Vec<ProposedTool> {
        let is_script = |tool: &&ProposedTool| {
            let words: Vec<&str> = tool.command.split(' ').collect();
            let manager = test.command.split(' ').next();
            test.chain == ToolChain::Node && words.len() > 1 && words.first().copied() == manager
        };
        let wanted = |tool: &&ProposedTool| tool.command == test.command || is_script(tool);
        let tool = |tool: &ProposedTool| {
            let mut line = tool.line.clone();
            line.why = format!("{}: {}", self.folder, line.why);
            ProposedTool {
                line,
                command: format!("cd {} && {}", self.folder, tool.command),
                proves: false,
                origin: ToolOrigin::Files,
            }
        };
        self.tools.iter().filter(wanted).map(tool).collect()
    }
}

impl PackageTests {
    /// Lets those tests prove a change that the policy allows; the others are left out.
    pub(super) fn admit(&mut self, proofs: &mut Vec<Proof>, allows: impl Fn(&str) -> bool) {
        let (own, refused): (Vec<Proof>, Vec<Proof>) =
            std::mem::take(&mut self.proofs).into_iter().partition(|own| allows(&own.command));
        proofs.extend(own);
        self.left.extend(refused.into_iter().map(|proof| proof.command));
    }

    /// Says what does not become a success command, each as a sentence on what to do.
    pub(super) fn notes(&self) -> Vec<String> {
        let commands = (!self.left.is_empty()).then(|| {
            format!(
                "No success command runs {}. If a change has to pass it, add it to \
                 `publish.success`, and what it needs to the steps before Locum's.",
                named(&self.left)
            )
        });
        let folders = (!self.unknown.is_empty()).then(|| {
            format!(
                "No test was found in {}. If there is one, add it to `publish.success` as `cd \
                 FOLDER && COMMAND`, and what it needs to the steps before Locum's.",
                named(&self.unknown)
            )
        });
        commands.into_iter().chain(folders).collect()
    }
}

fn named(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", quoted.join(", "))
}
