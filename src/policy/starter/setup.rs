//! The steps that set up what the tests of a repository need, before a run: its commands have no
//! network.
//!
//! In: the commands that prove a change, and the repository's own workflows. Out: steps as text.
//! They are those of the job that runs the same tests, as far as they only set up; what is missing
//! there is filled in by the language's own way.

use std::fmt::Write as _;

use crate::starter::ci::{CiJob, CiStep, CiVariable, in_folder};
use crate::starter::package_setup::usual_in;
use crate::starter::proof::{Proof, ToolChain};
use crate::starter::scan::StarterScan;
use crate::starter::setup_step::{input, run, variables};
use crate::starter::usual_setup::{UsualSetup, usual};

use crate::words;
use locum_base::path::RepoPath;

/// Most steps of one job that are taken over.
const STEPS_LIMIT: usize = 12;
/// Parts of the names of actions that set up a tool chain.
const SETS_UP: &[&str] = &[
    "/setup-",
    "/toolchain",
    "rust-toolchain",
    "flutter-action",
    "mise-action",
    "/install-action",
    "/install-poetry",
    "cache-apt-pkgs",
    "/composer-install",
    "action-setup",
    "setup-beam",
    "actions/cache",
    "rust-cache",
    "/setup-action",
];

/// Actions that set nothing up.
const SETS_UP_NOTHING: &str = "\
    actions/checkout actions/github-script actions/upload-artifact actions/download-artifact \
    dorny/paths-filter dorny/test-reporter step-security/harden-runner tj-actions/changed-files \
    styfle/cancel-workflow-action";

/// A step as it is written.
struct SetupStep {
    /// `None` where it is left out, and nothing is to stand in for it.
    text: Option<String>,
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
        let folder = in_folder(&proof.command).0;
        let usual = match folder {
            Some(folder) if proof.is_automatic() => usual_below(scan, proof, folder),
            Some(_) | None => usual_in(scan, proof, proofs),
        };
        let lacks = |part| !own.iter().any(|step| step.part == part);
        let (lacks_chain, lacks_dependencies) =
            (lacks(SetupPart::Chain), lacks(SetupPart::Dependencies));
        let is_left_out = own.iter().any(|step| step.text.is_none());
        let mut steps = Vec::new();
        // The tool chain is there before anything is installed with it.
        steps.extend(usual.chain.filter(|_| lacks_chain));
        steps.extend(own.into_iter().filter_map(|step| step.text));
        steps.extend(usual.dependencies.into_iter().filter(|_| lacks_dependencies));
        // A workflow may do the same with options of its own.
        let is_missing = |step: &String| {
            let command = step.trim_start_matches("      - run: ").trim_end();
            !steps.iter().any(|other: &String| other.contains(command))
        };
        let always = usual.always.into_iter().filter(|_| !is_left_out);
        let missing: Vec<String> = always.filter(is_missing).collect();
        steps.extend(missing);
        steps.retain(|step| !written.contains(step));
        if steps.is_empty() {
            continue;
        }
        let place = place.map_or_else(String::new, |place| format!(", as {place} does"));
        let whose = folder.filter(|_| !proof.is_automatic());
        let whose = whose.map_or_else(String::new, |folder| format!(" of {folder}"));
        let _ = writeln!(
            text,
            "      # What the tests{whose} need{place}: commands of a run have no network."
        );
        for step in steps {
            text.push_str(&step);
            written.push(step);
        }
    }
    text
}

/// What the tests of a folder need that its workflow does not do: there, they reach the network.
fn usual_below(scan: &StarterScan, proof: &Proof, folder: &str) -> UsualSetup {
    let command = in_folder(&proof.command).1.to_owned();
    let always = usual(scan, &Proof { command, ..proof.clone() }).always;
    let step = |text: String| format!("{text}        working-directory: {folder}\n");
    UsualSetup { always: always.into_iter().map(step).collect(), ..UsualSetup::default() }
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

/// Returns the commands of steps, and those that stand for actions which install; `cd FOLDER &&
/// COMMAND` for those of a folder.
pub(super) fn installing(setup: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for step in format!("\n{setup}").split("\n      - ").skip(1) {
        let mut lines = step.lines();
        let first = lines.next().unwrap_or_default();
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with("      #")).collect();
        // Lines behind the script are not commands.
        let script = || lines.iter().map_while(|line| line.strip_prefix("          "));
        let commands: Vec<&str> = match first.strip_prefix("run: ") {
            Some("|") => script().map(str::trim).collect(),
            Some(command) => vec![command],
            None if first.contains("ramsey/composer-install") => vec!["composer install"],
            None if lines.iter().any(|line| line.trim() == "bundler-cache: \"true\"") => {
                vec!["bundle install"]
            }
            None => Vec::new(),
        };
        let folder = lines.iter().find_map(|line| line.trim().strip_prefix("working-directory: "));
        for command in commands {
            let command = match folder {
                Some(folder) => format!("cd {folder} && {command}"),
                None => command.to_owned(),
            };
            if !found.contains(&command) {
                found.push(command);
            }
        }
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

/// Says which steps that the tests are set up with are not copied, as what they do or need is not
/// known here, and which variables the tests have there.
pub(super) fn left_out(jobs: &[CiJob], proofs: &[Proof]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for proof in proofs {
        let Some((job, steps)) = before(jobs, proof) else { continue };
        let is_wanted = |step: &&CiStep| proof.source.is_some() || step.uses.is_some();
        let steps: Vec<&CiStep> = steps.iter().filter(is_wanted).collect();
        let mut notes: Vec<String> =
            steps.iter().filter_map(|step| not_copied(step, proof, &job.workflow)).collect();
        let end = steps.last().map_or(0, |step| step.line);
        let conditional = job.conditional.iter().filter(|step| step.line < end);
        notes.extend(conditional.filter_map(|step| conditional_note(step, &job.workflow)));
        // A command that is copied lacks what its job has.
        let copy = steps.iter().find(|step| step.uses.is_none() && copied(step, proof).is_some());
        let of_job = copy.into_iter().flat_map(|step| hidden(step)).filter(|one| !one.is_own);
        notes.extend(of_job.map(|one| {
            let (name, workflow) = (&one.name, &job.workflow);
            format!("`{name}` of {workflow} is left out of the workflow: it {HIDDEN}")
        }));
        let tests = steps.last().filter(|_| proof.is_automatic());
        notes.extend(tests.and_then(|step| without_variables(step, proof)));
        notes.retain(|note| !found.contains(note));
        found.extend(notes);
    }
    found
}

/// Why a variable is not copied.
const HIDDEN: &str = "holds a secret, or is known only while the workflow runs";

/// Returns the variables of a step whose values are not copied.
fn hidden(step: &CiStep) -> impl Iterator<Item = &CiVariable> {
    // To an action it is for more requests an hour; commands may log in with it.
    let is_needed = |variable: &&CiVariable| !variable.is_token || step.uses.is_none();
    step.variables.iter().filter(|variable| variable.value.is_none()).filter(is_needed)
}

/// Names a step that may set something up and is not copied, with why.
fn not_copied(step: &CiStep, proof: &Proof, workflow: &RepoPath) -> Option<String> {
    let what = set_up_by(step)?;
    let own = hidden(step).find(|variable| variable.is_own);
    if own.is_none() && as_written(step, proof).is_some() {
        return None;
    }
    let why = own.map_or_else(String::new, |own| format!(": `{}` {HIDDEN}", own.name));
    Some(format!("`{what}` of {workflow}:{} is left out of the workflow{why}", step.line))
}

/// Returns what of a step may set something up.
fn set_up_by(step: &CiStep) -> Option<String> {
    match &step.uses {
        Some(uses) if sets_up_nothing(uses) => None,
        Some(uses) => Some(format!("uses: {uses}")),
        None => step.commands.iter().find(|command| installs(command)).cloned(),
    }
}

/// Names a step that may set something up, under a condition.
fn conditional_note(step: &CiStep, workflow: &RepoPath) -> Option<String> {
    Some(format!(
        "`{}` of {workflow}:{} is left out of the workflow: whether its `if:` holds is known only \
         while the workflow runs",
        set_up_by(step)?,
        step.line
    ))
}

/// Says which variables the tests have in a workflow.
fn without_variables(step: &CiStep, proof: &Proof) -> Option<String> {
    let names: Vec<String> =
        step.variables.iter().map(|variable| format!("`{}`", variable.name)).collect();
    let place = &proof.source.as_ref().filter(|_| !names.is_empty())?.place;
    let them = if names.len() == 1 { "it" } else { "them" };
    Some(format!(
        "`{}` has {} at {place}, and commands of a run do not have {them}",
        proof.command,
        names.join(", ")
    ))
}

/// Returns what a workflow sets up before it runs the command, and the workflow's file.
fn of_workflow(jobs: &[CiJob], proof: &Proof) -> (Vec<SetupStep>, Option<String>) {
    let Some((job, steps)) = before(jobs, proof) else { return (Vec::new(), None) };
    let is_wanted = |step: &&CiStep| proof.source.is_some() || step.uses.is_some();
    let steps: Vec<SetupStep> = steps
        .iter()
        .filter(is_wanted)
        .filter_map(|step| copied(step, proof))
        .take(STEPS_LIMIT)
        .collect();
    let is_any_copied = steps.iter().any(|step| step.text.is_some());
    (steps, is_any_copied.then(|| job.workflow.to_string()))
}

/// How the names of actions begin that set up a tool chain.
const CHAIN_ACTIONS: &[(&str, ToolChain)] = &[
    ("actions/setup-node", ToolChain::Node),
    ("oven-sh/setup-bun", ToolChain::Node),
    ("actions/setup-python", ToolChain::Python),
    ("astral-sh/setup-uv", ToolChain::Python),
    ("actions/setup-go", ToolChain::Go),
    ("actions/setup-java", ToolChain::Java),
    ("ruby/setup-ruby", ToolChain::Ruby),
    ("shivammathur/setup-php", ToolChain::Php),
    ("ramsey/composer-install", ToolChain::Php),
    ("actions/setup-dotnet", ToolChain::Dotnet),
    ("erlef/setup-beam", ToolChain::Elixir),
];

/// Returns the tool chains that an action sets up; none where that is not known.
pub(super) fn chains_set_up(uses: &str) -> Vec<ToolChain> {
    let named = CHAIN_ACTIONS.iter().filter(|(name, _)| uses.starts_with(name));
    named.map(|(_, chain)| *chain).collect()
}

fn sets_up_chain(step: &CiStep, chain: ToolChain) -> bool {
    step.uses.as_ref().is_some_and(|uses| chains_set_up(uses).contains(&chain))
}

/// Whether an action is known to set nothing up.
pub(super) fn sets_up_nothing(uses: &str) -> bool {
    words::holds(SETS_UP_NOTHING, uses.split('@').next().unwrap_or_default())
}

/// Copies a step of another workflow. One with variables that are hidden is left out; what is
/// installed with them cannot be installed without, so that nothing stands in for it.
fn copied(step: &CiStep, proof: &Proof) -> Option<SetupStep> {
    let copy = as_written(step, proof)?;
    if !hidden(step).any(|variable| variable.is_own) {
        return Some(copy);
    }
    let left_out = SetupStep { text: None, ..copy };
    (left_out.part == SetupPart::Dependencies).then_some(left_out)
}

/// Writes a step of another workflow, if setting up is all it does.
fn as_written(step: &CiStep, proof: &Proof) -> Option<SetupStep> {
    // What an action sets up is seldom about the variables of the job.
    let is_wanted = |one: &&CiVariable| one.is_own || step.uses.is_none();
    let known = step.variables.iter().filter(is_wanted);
    let known = known.filter_map(|one| Some((one.name.as_str(), one.value.as_deref()?)));
    let variables = variables(&known.collect::<Vec<_>>());
    if let Some(uses) = &step.uses {
        let sets_up = SETS_UP.iter().any(|part| uses.contains(part)) && !uses.starts_with('.');
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/@-".contains(&byte);
        let is_pinned = uses.contains('@') && uses.bytes().all(is_plain);
        if !sets_up || !is_pinned {
            return None;
        }
        let mut text = format!("      - uses: {}\n{variables}", step.spelled);
        if !step.with.is_empty() {
            text.push_str("        with:\n");
        }
        for (name, value) in &step.with {
            text.push_str(&input(name, value));
        }
        let installs = action_installs(uses, &step.with);
        // What it does for another tool chain stands in for nothing that this one needs.
        let part = match (sets_up_chain(step, proof.chain), installs) {
            (true, true) => SetupPart::Dependencies,
            (true, false) => SetupPart::Chain,
            (false, _) => SetupPart::Other,
        };
        return Some(SetupStep { text: Some(text), part });
    }
    let installs: Vec<&str> =
        step.commands.iter().map(String::as_str).filter(|command| installs(command)).collect();
    let is_needed =
        |command: &&str| ToolChain::of(command) == proof.chain && !brings_a_tool(command);
    let part =
        if installs.iter().any(is_needed) { SetupPart::Dependencies } else { SetupPart::Other };
    let is_below = installs.iter().any(|command| in_folder(command).0.is_some());
    let text = match is_below {
        true => installs.iter().map(|command| run(&[command]) + &variables).collect(),
        false => run(&installs) + &variables,
    };
    (!installs.is_empty()).then_some(SetupStep { text: Some(text), part })
}

/// Whether an action installs what a lock file names, besides what it sets up.
pub(super) fn action_installs(uses: &str, with: &[(String, String)]) -> bool {
    uses.contains("/composer-install")
        || uses.contains("ruby/setup-ruby")
            && with.iter().any(|(name, value)| name == "bundler-cache" && value == "true")
}

/// Tools of Python that install what a project needs.
const PYTHON_INSTALLERS: &str = "hatch pdm pip pipenv pipx poetry setuptools uv wheel";

/// Whether a command that installs brings no more than a tool to install with, or something of the
/// machine.
pub(super) fn brings_a_tool(command: &str) -> bool {
    let words: Vec<&str> = in_folder(command).1.split(' ').collect();
    let is_named = |word: &&str| {
        let name = word.split(['=', '<', '>', '~', '[']).next().unwrap_or_default();
        words::holds(PYTHON_INSTALLERS, name)
    };
    match words.as_slice() {
        ["sudo" | "pipx" | "corepack", ..] | ["mix", "local.hex" | "local.rebar", ..] => true,
        ["npm", rest @ ..] => rest.iter().any(|word| words::holds("-g --global", word)),
        ["pip" | "pip3", "install", rest @ ..]
        | ["python" | "python3", "-m", "pip", "install", rest @ ..] => {
            rest.iter().filter(|word| !word.starts_with('-')).all(is_named)
                && !rest.iter().any(|word| words::holds("-e -r --editable --requirement", word))
        }
        _ => false,
    }
}

/// Returns true for a command that installs what a project needs, and nothing else.
pub(super) fn installs(command: &str) -> bool {
    let words: Vec<&str> = in_folder(command).1.split(' ').collect();
    let begins = |start: &[&str]| words.starts_with(start);
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let installing = match first {
        "npm" => words::holds("ci i install", second),
        "pnpm" | "yarn" | "bun" | "bundle" => second == "install" || words.len() == 1,
        "composer" => words::holds("install update require", second),
        "uv" => second == "sync" || begins(&["uv", "pip", "install"]),
        "poetry" | "pdm" | "pipenv" => words::holds("install sync", second),
        "pip" | "pip3" | "pipx" => second == "install",
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
