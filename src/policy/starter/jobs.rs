//! Jobs that a starter brings along: files of `config/jobs`, fitted to a repository, and the lines
//! of its policy and workflow that they need.
//!
//! In: the names that somebody chose, the repository's files and the commands that prove a change.
//! Out: texts. Each text is that of the recipe with the names of lock files, commands and documents
//! that the repository has.

use std::fmt::Write as _;

use crate::schema::PolicyErrors;
use crate::starter::proof::Proof;
use crate::starter::scan::{ProposedLine, StarterScan, has};
use crate::written::quoted;
use locum_base::path::RepoPath;
use locum_files::diagnostic::Diagnostic;

/// A recipe of `docs/recipes` whose job fits repositories of many kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobRecipe {
    /// Brings lock files up to date.
    DependencyUpdates,
    /// Writes the notes of a release.
    ReleaseNotes,
    /// Mends alerts of code scanning.
    SecurityAlerts,
}

/// The recipes: the name of the job, and what it does, for people.
pub const JOBS: &[(&str, JobRecipe, &str)] = &[
    (
        "dependency-updates",
        JobRecipe::DependencyUpdates,
        "every Monday: update the lock file, test, open a pull request",
    ),
    (
        "release-notes",
        JobRecipe::ReleaseNotes,
        "for a published release: add its notes to the changelog",
    ),
    (
        "security-alerts",
        JobRecipe::SecurityAlerts,
        "every day: mend an open code scanning alert, with a test",
    ),
];

/// A lock file, the commands that bring it up to date, what they change besides and the hosts they
/// reach.
struct Ecosystem {
    lock: &'static str,
    commands: &'static [&'static str],
    also: &'static [&'static str],
    hosts: &'static [&'static str],
}

const NPM: &str = "registry.npmjs.org";

/// Ecosystems whose updates stay within what the manifests allow, and can be tried in the sandbox:
/// what is installed lies in the checkout or in a store that jobs with a network may write.
const ECOSYSTEMS: &[Ecosystem] = &[
    ecosystem("Cargo.lock", &["cargo update"], &["index.crates.io", "static.crates.io"]),
    ecosystem("package-lock.json", &["npm update"], &[NPM]),
    Ecosystem {
        // What is there is linked from a store that commands do not see.
        also: &["node_modules"],
        ..ecosystem("pnpm-lock.yaml", &["rm -rf node_modules", "pnpm update --no-save"], &[NPM])
    },
    ecosystem("yarn.lock", &["yarn upgrade"], &["registry.yarnpkg.com", NPM]),
];

const fn ecosystem(
    lock: &'static str,
    commands: &'static [&'static str],
    hosts: &'static [&'static str],
) -> Ecosystem {
    Ecosystem { lock, commands, also: &[], hosts }
}

/// A job as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarterJob {
    /// The recipe it was made of.
    pub recipe: JobRecipe,
    /// Its name.
    pub name: &'static str,
    /// What it does, for people.
    pub about: &'static str,
    /// The text of its file.
    pub text: String,
}

/// What jobs need of the workflow that starts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobNeeds {
    /// To read alerts of code scanning.
    pub alerts: bool,
    /// A checkout with every commit.
    pub history: bool,
}

impl JobNeeds {
    /// Returns what these recipes need.
    pub fn of(recipes: impl IntoIterator<Item = JobRecipe>) -> Self {
        let mut needs = Self::default();
        for recipe in recipes {
            needs.alerts |= recipe == JobRecipe::SecurityAlerts;
            needs.history |= recipe == JobRecipe::ReleaseNotes;
        }
        needs
    }
}

impl JobRecipe {
    /// Returns where its file is written.
    pub fn path(self) -> &'static str {
        match self {
            Self::DependencyUpdates => ".locum/jobs/dependency-updates.yml",
            Self::ReleaseNotes => ".locum/jobs/release-notes.yml",
            Self::SecurityAlerts => ".locum/jobs/security-alerts.yml",
        }
    }

    /// Returns the recipe of a job's name.
    pub fn of_name(name: &str) -> Option<Self> {
        JOBS.iter().find(|(job, ..)| *job == name).map(|(_, recipe, _)| *recipe)
    }

    /// Returns true where a repository has what the job works on.
    pub fn fits(self, scan: &StarterScan) -> bool {
        self != Self::DependencyUpdates || !ecosystems(scan).is_empty()
    }

    fn source(self) -> &'static str {
        match self {
            Self::DependencyUpdates => include_str!("../../../config/jobs/dependency-updates.yml"),
            Self::ReleaseNotes => include_str!("../../../config/jobs/release-notes.yml"),
            Self::SecurityAlerts => include_str!("../../../config/jobs/security-alerts.yml"),
        }
    }

    fn fitted(self, scan: &StarterScan, proofs: &[Proof]) -> String {
        match self {
            Self::DependencyUpdates => dependency_updates(self.source(), scan, proofs),
            Self::ReleaseNotes => self.source().replace("CHANGELOG.md", changelog(scan)),
            Self::SecurityAlerts => self.source().to_owned(),
        }
    }
}

/// Fits the recipes to a repository.
///
/// # Errors
/// When a repository lacks what a job works on.
pub(super) fn fitted(
    chosen: &[JobRecipe],
    scan: &StarterScan,
    proofs: &[Proof],
) -> Result<Vec<StarterJob>, PolicyErrors> {
    let of = |(name, recipe, about): &(&'static str, JobRecipe, &'static str)| StarterJob {
        recipe: *recipe,
        name,
        about,
        text: recipe.fitted(scan, proofs),
    };
    let unfit: Vec<Diagnostic> =
        chosen.iter().filter(|recipe| !recipe.fits(scan)).map(|_| no_lock_file()).collect();
    if !unfit.is_empty() {
        return Err(PolicyErrors(unfit));
    }
    Ok(JOBS.iter().filter(|(_, recipe, _)| chosen.contains(recipe)).map(of).collect())
}

fn no_lock_file() -> Diagnostic {
    let known: Vec<&str> = ECOSYSTEMS.iter().map(|ecosystem| ecosystem.lock).collect();
    let message = "`dependency-updates` knows no lock file at the top of this repository";
    Diagnostic::about("--job", message).hint(format!(
        "it knows {} (of Yarn 1); for another one write the job by hand, as docs/jobs.md shows",
        known.join(", ")
    ))
}

/// Adds the triggers of jobs.
pub(super) fn triggers(jobs: &[JobRecipe], text: &mut String) {
    let scheduled: Vec<&str> = names(jobs, |recipe| recipe != JobRecipe::ReleaseNotes);
    if !scheduled.is_empty() {
        let _ = writeln!(text, "  schedule: {{ jobs: [{}] }}", scheduled.join(", "));
    }
    if jobs.contains(&JobRecipe::ReleaseNotes) {
        text.push_str("  release: { on: published, job: release-notes, tiers: [maintainer] }\n");
    }
}

/// Returns what the job that updates dependencies may do, where it is chosen.
pub(super) fn updates(jobs: &[JobRecipe], scan: &StarterScan) -> Vec<ProposedLine> {
    if !jobs.contains(&JobRecipe::DependencyUpdates) {
        return Vec::new();
    }
    let of = |ecosystem: &&Ecosystem| {
        let files = std::iter::once(&ecosystem.lock).chain(ecosystem.also);
        let edits = files.map(|file| format!("edit({file})"));
        let commands = ecosystem.commands.iter().map(|command| format!("command({command})"));
        edits.chain(commands).collect::<Vec<_>>()
    };
    let patterns = ecosystems(scan).iter().flat_map(of).collect::<Vec<_>>();
    patterns.into_iter().filter_map(|pattern| ProposedLine::new(pattern, "")).collect()
}

/// Returns the edits that the job which writes release notes needs, where it is chosen.
pub(super) fn notes(jobs: &[JobRecipe], scan: &StarterScan) -> Option<ProposedLine> {
    let line = ProposedLine::new(format!("edit({})", changelog(scan)), "");
    line.filter(|_| jobs.contains(&JobRecipe::ReleaseNotes))
}

/// Returns the hosts that jobs reach.
pub(super) fn hosts(jobs: &[JobRecipe], scan: &StarterScan) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    if jobs.contains(&JobRecipe::DependencyUpdates) {
        for host in ecosystems(scan).iter().flat_map(|ecosystem| ecosystem.hosts) {
            if !found.contains(host) {
                found.push(host);
            }
        }
    }
    found
}

/// Names the jobs of a kind.
fn names(jobs: &[JobRecipe], is_meant: impl Fn(JobRecipe) -> bool) -> Vec<&'static str> {
    let chosen = JOBS.iter().filter(|(_, recipe, _)| jobs.contains(recipe) && is_meant(*recipe));
    chosen.map(|(name, ..)| *name).collect()
}

/// Returns the ecosystems whose lock files lie at the top.
fn ecosystems(scan: &StarterScan) -> Vec<&'static Ecosystem> {
    let has = |name: &str| has(scan, "", name);
    // Yarn 2 and later know no `upgrade`, and what they know instead changes manifests.
    let is_known = |ecosystem: &&Ecosystem| ecosystem.lock != "yarn.lock" || !has(".yarnrc.yml");
    ECOSYSTEMS.iter().filter(|ecosystem| has(ecosystem.lock)).filter(is_known).collect()
}

fn dependency_updates(recipe: &str, scan: &StarterScan, proofs: &[Proof]) -> String {
    let found = ecosystems(scan);
    let locks: Vec<&str> = found.iter().map(|ecosystem| ecosystem.lock).collect();
    let commands: Vec<&str> =
        found.iter().flat_map(|ecosystem| ecosystem.commands).copied().collect();
    let spans: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
    let tests = proofs.iter().map(|proof| proof.command.as_str());
    let steps = |commands: &mut dyn Iterator<Item = &str>| -> String {
        commands.map(|command| format!("  - run: {}\n", scalar(command))).collect()
    };
    recipe
        .replace("  - run: cargo update\n", &steps(&mut commands.iter().copied()))
        .replace("  - run: cargo test\n", &steps(&mut tests.into_iter()))
        .replace("`cargo update`", &spans.join(" and "))
        .replace("Cargo.lock", &locks.join(" and "))
}

/// Writes a command as YAML reads it, plain where it may be.
fn scalar(command: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_./=".contains(letter);
    let begins =
        command.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '.');
    if begins && command.chars().all(is_plain) { command.to_owned() } else { quoted(command) }
}

/// Returns the file that says what changed in a release.
fn changelog(scan: &StarterScan) -> &str {
    let is_one = |path: &&RepoPath| {
        let name = path.as_str().to_ascii_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        let endings = ["", ".md", ".rst", ".txt", ".adoc"];
        ["changelog", "changes", "history", "news"].contains(&stem)
            && endings.iter().any(|ending| name == format!("{stem}{ending}"))
    };
    scan.files.iter().find(is_one).map_or("CHANGELOG.md", RepoPath::as_str)
}
