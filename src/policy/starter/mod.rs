//! A starter policy for a repository: only real source folders may be edited, only commands that
//! exist may be run, and every line says why it is there.
//!
//! In: the repository's paths and the texts of a few files. Out: a policy's text, the same for the
//! same repository. It is written to be read, cut down and added to by a maintainer, and is a valid
//! policy whatever the repository holds.

pub mod build_output;
mod built_in;
mod ci;
pub mod ci_commands;
mod ci_condition;
mod commands;
mod documents;
mod folders;
pub mod jobs;
pub mod mark;
mod output;
mod owners;
mod package_setup;
mod packages;
pub mod prepared;
mod programs;
mod proof;
pub mod scan;
mod setup;
mod setup_step;
pub mod unheard;
mod usual_setup;
pub mod workflow;
mod workflow_events;
mod workspaces;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::Policy;
use crate::actors::Tier;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::schema::PolicyErrors;
use crate::starter::build_output::BuildOutput;
use crate::starter::commands::{ProposedTool, ToolOrigin};
use crate::starter::folders::ScannedFolders;
use crate::starter::jobs::{JobNeeds, JobRecipe, StarterJob};
use crate::starter::proof::{Proof, ProofSource};
use crate::starter::scan::{ProposedLine, StarterScan, is_installed};
use crate::verdict::Decision;
use crate::words;
use crate::written::quoted;
use locum_base::path::RepoPath;

/// Modes that write and run.
const WRITERS: &[&str] = &["code", "debug"];
/// How errors name the text.
const ORIGIN: &str = "the starter policy";
/// Commands among the examples.
const EXAMPLES: usize = 8;
/// Modes there are without any file.
const BUILT_IN: &[&str] =
    &["orchestrator", "architect", "code", "debug", "ask", "review", "coordinator"];

/// Returns true for files whose text a repository scan needs.
pub fn is_read(path: &RepoPath) -> bool {
    let workflow = path.as_str().starts_with(".github/workflows/")
        && (path.as_str().ends_with(".yml") || path.as_str().ends_with(".yaml"));
    let name = path.name().unwrap_or_default();
    if is_installed(path) {
        return false;
    }
    workflow
        || name == ".gitattributes"
        || documents::is_document(path)
        || owners::PLACES.contains(&path.as_str())
        || path.as_str() == ".gitmodules"
        || name == ".gitignore"
        || workspaces::is_read(name)
        || words::holds(commands::MANIFESTS, name)
        || words::holds(commands::READ, name)
        || words::holds(usual_setup::versions::VERSION_FILES, name)
        || commands::python::is_requirements_file(path)
}

/// Returns true for files of which a repository scan needs the texts of some: they show what tests
/// are written for.
pub fn is_sampled(path: &RepoPath) -> bool {
    !is_installed(path) && commands::python_tests::is_sampled(path)
}

/// What is proposed for a repository.
#[derive(Clone, Debug)]
pub struct StarterProposal {
    /// The policy's text.
    pub policy: String,
    /// Programs that the repository's builds and tests start by their names, with why.
    pub programs: BTreeMap<String, String>,
    /// Whether a command was found that shows that a change is ready.
    pub has_tests: bool,
    /// Globs of the source that may be edited.
    pub edits: Vec<String>,
    /// Globs of source folders that are beyond what a policy opens by itself.
    pub unopened: Vec<String>,
    /// Commands that install what the tests need, as the workflow runs them before Locum's step.
    pub installs: Vec<String>,
    /// Workflows of the repository that cannot be read, as fragments.
    pub unreadable: Vec<String>,
    /// What the repository's workflow sets up and the proposed one does not, as fragments.
    pub left_out: Vec<String>,
    /// Which tests are no success commands, or are not set up, as sentences on what to do.
    pub untested: Vec<String>,
    /// What builds and tests write.
    pub outputs: Vec<BuildOutput>,
    /// The jobs that were chosen, as they are written.
    pub jobs: Vec<StarterJob>,
    /// Steps that set up what the tests need, for a job of a workflow.
    setup: String,
    /// Inputs of the checkout that the tests need.
    checkout: Vec<(String, String)>,
    /// What jobs need of the workflow, those that are chosen here.
    pub needs: JobNeeds,
}

/// What a maintainer chose besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StarterChoices {
    /// The least that somebody has to be to start a run.
    pub lowest_tier: Tier,
    /// A label that starts runs, too.
    pub label: Option<String>,
    /// Globs of what may be edited, in place of the source folders; empty for these.
    pub edits: Vec<String>,
    /// Jobs that are written along.
    pub jobs: Vec<JobRecipe>,
    /// Leaves out the limit of a day: a job that may write nothing cannot count over many runs.
    pub without_daily_limit: bool,
}

impl StarterChoices {
    /// Returns the tiers that may start a run, as a list of the policy.
    fn tiers(&self) -> String {
        let tiers = [Tier::Maintainer, Tier::Collaborator, Tier::Contributor, Tier::Stranger];
        let chosen = tiers.into_iter().take_while(|tier| *tier <= self.lowest_tier);
        let words: Vec<&str> = chosen.map(Tier::as_str).collect();
        words.join(", ")
    }
}

/// Proposes a policy, and what its tests need.
///
/// # Errors
/// Never for a repository this code foresees, unless a choice cannot stand in a policy. The text is
/// parsed before it is returned, and what is wrong with it is reported.
pub fn propose(
    scan: &StarterScan,
    choices: &StarterChoices,
) -> Result<StarterProposal, PolicyErrors> {
    let mut folders = folders::find(&scan.files, &scan.texts).restricted(&choices.edits);
    folders.hold_owned(owners::find(scan));
    let mut ci = ci::jobs(scan);
    ci.extend(documents::jobs(scan));
    let mut tools = commands::find(scan);
    let packages = packages::find(scan);
    let mut proofs = proof::find(&ci, &tools);
    proofs.retain(|proof| !packages::is_of_package(proof, &tools, &packages));
    let shown = proof::find(&[], &tools);
    for proof in &proofs {
        let why = proof.source.as_ref().map(ProofSource::why);
        if let Some(why) = why {
            let command = ci::in_folder(&proof.command).1;
            tools.extend(ProposedTool::new(command, true, why, ToolOrigin::Named));
        }
    }
    tools.extend(proof::of_workflows(&ci));
    // A wide line does not cover every option: what it leaves out stays word for word.
    let wide: Vec<ProposedTool> =
        tools.iter().filter(|tool| tool.line.is_wide()).cloned().collect();
    let draft = Policy::parse(&render((scan, choices), &folders, &wide, &[]), ORIGIN)?;
    // Without a file a formatter may be refused that is allowed with one.
    let is_allowed = |tool: &ProposedTool| {
        let asked = format!("{} --help", tool.command);
        allows(&draft, &tool.command) || (tool.line.is_open() && allows(&draft, &asked))
    };
    tools.retain(|tool| tool.line.is_wide() || !is_allowed(tool));
    // What the rules do not let run where nothing contains it proves nothing there.
    let draft = Policy::parse(&render((scan, choices), &folders, &tools, &[]), ORIGIN)?;
    proofs.retain(|proof| allows(&draft, &proof.command));
    // A line that allows nothing, since no rule lets it write where it would, is none.
    tools.retain(|tool| tool.line.is_open() || allows(&draft, &tool.command));
    for proof in shown.into_iter().filter(|proof| allows(&draft, &proof.command)) {
        if proofs.is_empty() || proof.adds_to(&proofs) {
            proofs.push(proof);
        }
    }
    let mut below = packages::beside(scan, &packages, &proofs);
    let (wide, exact): (Vec<ProposedTool>, Vec<ProposedTool>) =
        std::mem::take(&mut below.tools).into_iter().partition(|tool| tool.line.is_open());
    let open: Vec<ProposedLine> = wide.iter().map(|tool| tool.line.clone()).collect();
    tools.retain(|tool| tool.line.is_open() || !tool.line.is_covered(&open));
    tools.extend(wide);
    let draft = Policy::parse(&render((scan, choices), &folders, &tools, &[]), ORIGIN)?;
    tools.extend(exact.into_iter().filter(|tool| !allows(&draft, &tool.command)));
    let draft = Policy::parse(&render((scan, choices), &folders, &tools, &[]), ORIGIN)?;
    tools.retain(|tool| tool.line.is_open() || allows(&draft, &tool.command));
    below.admit(&mut proofs, |command| allows(&draft, command));
    let policy = render((scan, choices), &folders, &tools, &proofs);
    Policy::parse(&policy, ORIGIN)?;
    let prepared = [proofs.as_slice(), below.below_make.as_slice()].concat();
    let setup = setup::steps(scan, &ci, &prepared);
    let jobs = jobs::fitted(&choices.jobs, scan, &proofs)?;
    let success: Vec<&str> = proofs.iter().map(|proof| proof.command.as_str()).collect();
    let beyond = commands::python_tests::untested(scan, &success);
    let unprepared = programs::unprepared(&proofs, &setup);
    let untested = below.notes().into_iter().chain(beyond).chain(unprepared);
    Ok(StarterProposal {
        policy,
        programs: programs::needed(&tools, &proofs),
        has_tests: !proofs.is_empty(),
        edits: folders.sources.iter().filter_map(glob_of).collect(),
        unopened: folders.unopened,
        installs: setup::installing(&setup),
        unreadable: ci::unreadable(scan),
        left_out: setup::left_out(&ci, &proofs),
        untested: untested.collect(),
        outputs: build_output::find(scan),
        needs: JobNeeds::of(jobs.iter().map(|job| job.recipe)),
        jobs,
        checkout: setup::checkout_inputs(&ci, &proofs),
        setup,
    })
}

/// Returns the glob of a line that allows edits.
fn glob_of(line: &ProposedLine) -> Option<String> {
    Some(line.pattern.strip_prefix("edit(")?.strip_suffix(')')?.to_owned())
}

/// Whether a policy lets a command run by its words.
fn allows(policy: &Policy, command: &str) -> bool {
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let intent = Intent::Command(Script::asked(command));
    policy.decide(&intent, &facts).decision == Decision::Allow
}

fn render(
    (scan, choices): (&StarterScan, &StarterChoices),
    folders: &ScannedFolders,
    tools: &[ProposedTool],
    proofs: &[Proof],
) -> String {
    let mut text = String::from(
        "# What locum may do here. Read it, cut it down, add to it: what no rule allows is \
         denied.\n# Ask it before you commit it: `locum policy check`, `locum policy explain \
         'edit(README.md)'`, `locum policy test`.\nversion: 1\n\n",
    );
    triggers(choices, &mut text);
    let own: Vec<&str> = scan
        .modes
        .iter()
        .map(|mode| mode.slug.as_str())
        .filter(|slug| !BUILT_IN.contains(slug))
        .collect();
    if !own.is_empty() {
        let all: Vec<String> = BUILT_IN.iter().chain(&own).map(|slug| (*slug).to_owned()).collect();
        let _ = write!(
            text,
            "\nmodes: # the built-in ones and those of this repository\n  allow: [{}]\n",
            all.join(", ")
        );
    }
    rules((scan, choices), folders, tools, &mut text);
    if proofs.is_empty() {
        text.push_str(without_proof(tools));
    }
    examples(folders, proofs, &mut text);
    text.push_str(
        "\ncommands:\n  timeout: 10m\n  sandbox: required # tests run the repository's code: only \
         where the machine can hold it\n  contained: allow # any script may run where it has no way \
         out and what it writes is judged; elsewhere by its words\n  expansions: allow # there, \
         variables, globs and loops around commands that are allowed\n  max_complexity: 1.0\n",
    );
    text.push_str(&network(choices, scan));
    text.push_str(
        "\nbudget: { turns: 60, cost_usd: 2.00, minutes: 30, files: 30, diff_lines: 1500 }\n",
    );
    if !choices.without_daily_limit {
        text.insert_str(text.len() - " }\n".len(), ", daily: { cost_usd: 10.00 }");
    }
    text.push_str(
        "\npublish:\n  allow: [comment, commit, pull-request, label]\n  draft: true # a person \
         marks it as ready\n",
    );
    if !proofs.is_empty() {
        text.push_str(
            "  success: # must exit with 0, else the pull request is a draft and says why\n",
        );
    }
    for proof in proofs {
        let why = proof.source.as_ref().map(|source| format!(" # {}", source.why()));
        let _ = writeln!(text, "    - {}{}", quoted(&proof.command), why.unwrap_or_default());
    }
    text
}

/// Says what is missing where no command shows that a change is ready.
fn without_proof(tools: &[ProposedTool]) -> &'static str {
    if tools.iter().any(|tool| proof::tests(ci::in_folder(&tool.command).1)) {
        return "  # No command was found that tests the whole repository. Name yours in \
                `publish.success`, as in:\n  # publish:\n  #   success: [cd FOLDER && COMMAND]\n";
    }
    "  # No test command was found. Name yours, as exact words, or with `:*` where more may \
     follow:\n  # - allow: \"command(make test)\"\n  #   modes: [code, debug]\n"
}

/// Returns what commands reach: nothing, but for the hosts of a job.
fn network(choices: &StarterChoices, scan: &StarterScan) -> String {
    let hosts = jobs::hosts(&choices.jobs, scan);
    if hosts.is_empty() {
        return "  network: off # what a build needs has to be there before\n".to_owned();
    }
    format!(
        "  network: policy # none, but for the job below: what a build needs has to be there \
         before\n\nnetwork:\n  allow: [{}]\n  jobs: [dependency-updates]\n",
        hosts.join(", ")
    )
}

fn triggers(choices: &StarterChoices, text: &mut String) {
    let who = match choices.lowest_tier {
        Tier::Maintainer => "everyone who may push",
        Tier::Collaborator => "everyone who may push or triage",
        Tier::Contributor => "everyone who may push, triage, or has contributed before",
        Tier::Stranger | Tier::Bot | Tier::Schedule => "everyone",
    };
    let tiers = choices.tiers();
    let _ = write!(
        text,
        "triggers: # who may start a run: {who}, by `/locum` in a comment or by hand\n  comment: \
         {{ prefix: /locum, tiers: [{tiers}] }}\n"
    );
    if let Some(label) = &choices.label {
        let name = quoted(label);
        let _ = writeln!(text, "  label: {{ name: {name}, tiers: [maintainer] }}");
    }
    text.push_str("  dispatch: { tiers: [maintainer] }\n");
    jobs::triggers(&choices.jobs, text);
    text.push_str(
        "  forks: read-only # pull requests of strangers \
         start nothing that writes\n",
    );
}

// NOTE: writing to a string cannot fail, so results of `write!` are dropped here.
fn rules(
    (scan, choices): (&StarterScan, &StarterChoices),
    folders: &ScannedFolders,
    tools: &[ProposedTool],
    text: &mut String,
) {
    let own = scan
        .modes
        .iter()
        .filter(|mode| mode.writes && !BUILT_IN.contains(&mode.slug.as_str()))
        .map(|mode| mode.slug.as_str());
    let writers: Vec<&str> = WRITERS.iter().copied().chain(own).collect();
    text.push_str(
        "\nrules: # the strictest matching rule decides\n  - allow: \"read(**)\" # files that may \
         hold secrets stay closed all the same\n",
    );
    text.push_str(&built_in::allowing("commands that only look"));
    text.push_str(&built_in::allowing("commands whose files are judged as edits"));
    let _ = writeln!(text, "    modes: [{}]", writers.join(", "));
    list(
        text,
        "allow",
        "source folders, and the files beside them",
        &folders.sources,
        Some(&writers),
    );
    let writers_of_text: Vec<&str> =
        std::iter::once("architect").chain(writers.iter().copied()).collect();
    list(text, "allow", "texts for people", &folders.texts, Some(&writers_of_text));
    let below = tools.iter().filter_map(|tool| ci::in_folder(&tool.command).0);
    let below: BTreeSet<String> = below.map(str::to_owned).collect();
    let mut written = output::find(scan, &below);
    written.retain(|line| below.is_empty() || !line.is_covered(&folders.sources));
    list(text, "allow", "what builds write and git ignores", &written, Some(&writers));
    let ran: Vec<ProposedLine> = tools.iter().map(|tool| tool.line.clone()).collect();
    let mut seen = BTreeSet::new();
    let ran: Vec<ProposedLine> = ran
        .iter()
        .filter(|line| !line.is_wide() || !line.is_covered(&ran))
        .filter(|line| seen.insert(line.pattern.clone()))
        .cloned()
        .collect();
    list(text, "allow", "builds and tests, in the sandbox", &ran, Some(&writers));
    let updates = jobs::updates(&choices.jobs, scan);
    of_job(text, "dependency-updates", &updates);
    let notes = jobs::notes(&choices.jobs, scan);
    let is_open = |line: &ProposedLine| folders.texts.iter().any(|own| own.pattern == line.pattern);
    of_job(text, "release-notes", notes.filter(|line| !is_open(line)).as_slice());
    // What the job edits by itself waits for nobody.
    let held: Vec<ProposedLine> = folders
        .manifests
        .iter()
        .filter(|line| {
            let around = std::slice::from_ref(*line);
            !updates.iter().any(|own| own.pattern == line.pattern || own.is_covered(around))
        })
        .cloned()
        .collect();
    list(text, "hold", "", &held, None);
    if !held.is_empty() {
        text.push_str("    reason: dependencies and how it is built need a person\n");
    }
    list(text, "hold", "", &folders.owned, None);
    if !folders.owned.is_empty() {
        text.push_str("    reason: its owners decide, as CODEOWNERS says\n");
    }
    list(text, "deny", "", &folders.closed, None);
    if !folders.closed.is_empty() {
        text.push_str("    reason: written by programs or by others, not by hand\n");
    }
    text.push_str(&built_in::denying());
    if folders.sources.is_empty() {
        text.push_str(
            "  # No source folder was found. Name yours:\n  # - allow: [\"edit(src/**)\", \
             \"edit(tests/**)\"]\n  #   modes: [code, debug]\n",
        );
    }
}

fn list(
    text: &mut String,
    decision: &str,
    title: &str,
    lines: &[ProposedLine],
    modes: Option<&[&str]>,
) {
    if lines.is_empty() {
        return;
    }
    let title = if title.is_empty() { String::new() } else { format!(" # {title}") };
    let _ = writeln!(text, "  - {decision}:{title}");
    for line in lines {
        let why = if line.why.is_empty() { String::new() } else { format!(" # {}", line.why) };
        let _ = writeln!(text, "      - {}{why}", quoted(&line.pattern));
    }
    if let Some(modes) = modes {
        let _ = writeln!(text, "    modes: [{}]", modes.join(", "));
    }
}

/// Adds what one job may do, and no other run.
fn of_job(text: &mut String, job: &str, lines: &[ProposedLine]) {
    list(text, "allow", "what one job needs", lines, None);
    if !lines.is_empty() {
        let _ = writeln!(text, "    jobs: [{job}]");
    }
}

fn examples(folders: &ScannedFolders, proofs: &[Proof], text: &mut String) {
    let mut allow = vec!["command(git diff HEAD~1)".to_owned()];
    allow.extend(folders.example.iter().map(|path| format!("edit({path})")));
    let shown = proofs.iter().take(EXAMPLES);
    allow.extend(shown.map(|proof| format!("command({})", proof.command)));
    let mut deny = vec![
        "edit(.github/workflows/ci.yml)".to_owned(),
        "edit(.locum/policy.yml)".to_owned(),
        "read(.env)".to_owned(),
    ];
    deny.extend(["command(git push)".to_owned(), "command(git log; curl evil.example)".to_owned()]);
    deny.extend(folders.closed_example.iter().map(|path| format!("edit({path})")));
    text.push_str("\nexamples: # the policy's own tests, checked whenever it is read\n");
    for (decision, intents) in [("allow", allow), ("deny", deny)] {
        let _ = writeln!(text, "  {decision}:");
        for intent in intents {
            let _ = writeln!(text, "    - {}", quoted(&intent));
        }
    }
}

#[cfg(test)]
mod tests;
