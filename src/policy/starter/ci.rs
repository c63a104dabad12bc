//! What a repository's own workflows do: their jobs, with one value for each name of a matrix.
//!
//! In: the texts of workflows. Out: jobs in the order in which they tell most about how a change is
//! tested, their steps, and the plain commands in them. Nothing is run, and whatever is not known
//! before a workflow runs is left out.

use std::collections::BTreeMap;

use crate::command::tree::SimpleCommand;
use crate::command::{Script, change_of_folder};
use crate::starter::ci_condition::{holds, is_name, release};
use crate::starter::mark;
use crate::starter::scan::StarterScan;
use locum_base::path::RepoPath;
use locum_files::yaml::{MapEntry, YamlDocument, YamlNode, YamlValue};

/// Most jobs looked at.
const JOBS_LIMIT: usize = 200;
/// Contexts whose values Actions fills in where a step is copied.
const KEPT_CONTEXTS: &[&str] = &["hashFiles(", "runner.", "github."];
/// Words in the names of variables that change how output looks, and not what a command does.
const LOOKS: &[&str] = &["COLOR", "COLOUR", "BACKTRACE"];

/// A job of a workflow.
#[derive(Clone, Debug)]
pub(super) struct CiJob {
    /// The workflow's file, or the document.
    pub(super) workflow: RepoPath,
    /// Its steps, in order.
    pub(super) steps: Vec<CiStep>,
    /// Steps besides, of which only a running workflow knows whether they are taken.
    pub(super) conditional: Vec<CiStep>,
    /// How little it tells about how a change is tested: 0 tells most.
    rank: usize,
    /// Whether it is one of a workflow, and not made of a document.
    pub(super) is_automatic: bool,
}

impl CiJob {
    /// Returns a document's blocks of code as a job.
    pub(super) fn of_document(path: RepoPath, steps: Vec<CiStep>) -> Self {
        Self {
            workflow: path,
            steps,
            conditional: Vec::new(),
            rank: usize::MAX,
            is_automatic: false,
        }
    }
}

/// A step of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct CiStep {
    /// Line of its key `run` or `uses`.
    pub(super) line: u32,
    /// The action it uses.
    pub(super) uses: Option<String>,
    /// The action as the file spells it, with the comment behind it.
    pub(super) spelled: String,
    /// What the action gets, without what is not known before the workflow runs.
    pub(super) with: Vec<(String, String)>,
    /// The plain commands of its script, in order; `cd FOLDER && COMMAND` for one of a folder.
    pub(super) commands: Vec<String>,
    /// Variables of its own, its job and its workflow.
    pub(super) variables: Vec<CiVariable>,
}

/// The token of the job that has it.
const OWN_TOKEN: [&str; 2] = ["${{ secrets.GITHUB_TOKEN }}", "${{ github.token }}"];

/// A variable that a step has.
#[derive(Clone, Debug)]
pub(super) struct CiVariable {
    /// Its name.
    pub(super) name: String,
    /// `None` where it holds a secret, or is known only while the workflow runs.
    pub(super) value: Option<String>,
    /// Whether it is the token of the job.
    pub(super) is_token: bool,
    /// Whether the step itself declares it.
    pub(super) is_own: bool,
}

/// What a job gives its steps.
struct StepContext<'j> {
    known: &'j BTreeMap<String, String>,
    /// The folder that they work in.
    folder: Option<&'j str>,
    /// Those of the job and the workflow.
    variables: &'j [CiVariable],
    /// The workflow's file.
    lines: &'j [&'j str],
}

/// Reads the jobs of all workflows, those that test a change first.
pub(super) fn jobs(scan: &StarterScan) -> Vec<CiJob> {
    let mut jobs = Vec::new();
    for (path, text) in scan.texts.iter().filter(|(path, text)| is_workflow(path, text)) {
        let Some(root) = YamlDocument::parse(text).root else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let events = events(&root);
        let none = BTreeMap::new();
        let of_root: BTreeMap<String, String> = variables(&root)
            .into_iter()
            .filter_map(|(name, value)| Some((name, expanded(&value, &none)?)))
            .collect();
        let list = root.get("jobs").and_then(YamlNode::entries).unwrap_or_default();
        for entry in list.iter().take(JOBS_LIMIT) {
            let mut known = of_root.clone();
            let matrix = matrix(&entry.node);
            let on_linux = runs_on_linux(&entry.node, &matrix);
            known.extend(matrix);
            let of_job = variables(&entry.node);
            known.extend(
                of_job
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, expanded(&value, &known)?)))
                    .collect::<Vec<_>>(),
            );
            if entry.node.get("container").is_some() {
                continue;
            }
            let steps = entry.node.get("steps").and_then(YamlNode::list).unwrap_or_default();
            let elsewhere = [&entry.node, &root].into_iter().find_map(working_directory);
            let variables = within(&declared(&root, &known), declared(&entry.node, &known));
            let context = StepContext {
                known: &known,
                folder: elsewhere.as_deref(),
                variables: &variables,
                lines: &lines,
            };
            let read = |wanted: Option<bool>| -> Vec<CiStep> {
                let steps = steps.iter().filter(|step| condition_of(step, &known) == wanted);
                steps.filter_map(|step| read_step(step, &context)).collect()
            };
            let (steps, conditional) = (read(Some(true)), read(None));
            let mut used = steps.iter().filter_map(|step| step.uses.as_ref());
            if used.any(|uses| uses.contains("/locum@")) {
                continue;
            }
            let tests =
                is_about_tests(&entry.key) || is_about_tests(path.name().unwrap_or_default());
            let rank = usize::from(!on_linux) * 4 + usize::from(!events) * 2 + usize::from(!tests);
            let workflow = path.clone();
            jobs.push(CiJob { workflow, steps, conditional, rank, is_automatic: true });
        }
    }
    // Of workflows alike, the one with the shortest name is the plainest.
    jobs.sort_by_key(|job| (job.rank, job.workflow.as_str().len()));
    jobs
}

/// Says which workflows are no YAML and where, as nothing is known of what they run.
pub(super) fn unreadable(scan: &StarterScan) -> Vec<String> {
    let workflows = scan.texts.iter().filter(|(path, text)| is_workflow(path, text));
    let note = |(path, text): (&RepoPath, &String)| {
        let document = YamlDocument::parse(text);
        let mistake = document.mistakes.first().filter(|_| document.root.is_none())?;
        let line = mistake.place.line;
        Some(format!("`{path}` is passed over: it is not YAML, line {line}: {}", mistake.what()))
    };
    workflows.filter_map(note).collect()
}

/// A workflow other than the one that starts locum, which does not show how the repository is
/// tested.
pub(super) fn is_workflow(path: &RepoPath, text: &str) -> bool {
    path.as_str().starts_with(".github/workflows/")
        && !path.as_str().ends_with("/locum.yml")
        && !mark::is_marked(text)
}

/// Returns true when changes start the workflow.
fn events(root: &YamlNode) -> bool {
    let named = |name: &str| matches!(name, "push" | "pull_request");
    match root.get("on").map(|node| &node.value) {
        Some(YamlValue::Text(name)) => named(name),
        Some(YamlValue::List(names)) => names.iter().filter_map(YamlNode::text).any(named),
        Some(YamlValue::Map(entries)) => entries.iter().any(|entry| named(&entry.key)),
        Some(YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_)) | None => false,
    }
}

fn is_about_tests(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["test", "spec", "ci.y"].iter().any(|word| lower.contains(word))
}

/// Returns the folder that the steps of a job or workflow work in unless they say another one.
fn working_directory(node: &YamlNode) -> Option<String> {
    let run = node.get("defaults")?.get("run")?;
    run.get("working-directory").and_then(scalar)
}

/// Variables with a value that is written out: `env.NAME`.
fn variables(node: &YamlNode) -> BTreeMap<String, String> {
    let entries = node.get("env").and_then(YamlNode::entries).unwrap_or_default();
    let named = |entry: &MapEntry| Some((format!("env.{}", entry.key), scalar(&entry.node)?));
    entries.iter().filter_map(named).collect()
}

/// Reads the variables that a workflow, a job or a step declares, but for those of the output's
/// looks.
fn declared(node: &YamlNode, known: &BTreeMap<String, String>) -> Vec<CiVariable> {
    let is_wanted = |entry: &&MapEntry| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        entry.key.bytes().all(plain) && !LOOKS.iter().any(|word| entry.key.contains(word))
    };
    let variable = |entry: &MapEntry| {
        let written = scalar(&entry.node).unwrap_or_default();
        let is_token = OWN_TOKEN.contains(&written.trim());
        let value = expanded_for_step(&written, known);
        let (name, value) = (entry.key.clone(), value.filter(|value| is_public(value)));
        CiVariable { name, value, is_token, is_own: false }
    };
    let entries = node.get("env").and_then(YamlNode::entries).unwrap_or_default();
    entries.iter().filter(is_wanted).map(variable).collect()
}

/// Adds variables to those around them, of which they replace the ones of the same name.
fn within(around: &[CiVariable], own: Vec<CiVariable>) -> Vec<CiVariable> {
    let is_replaced = |other: &&CiVariable| own.iter().any(|one| one.name == other.name);
    let kept: Vec<CiVariable> =
        around.iter().filter(|other| !is_replaced(other)).cloned().collect();
    [kept, own].concat()
}

/// Whether a value holds no secret and nothing that an event brings.
fn is_public(value: &str) -> bool {
    let count = |word: &str| value.matches(word).count();
    ["secrets", "matrix."].iter().all(|word| count(word) == 0)
        && count("github.") == count("github.workspace")
        && !value.chars().any(|letter| letter.is_control() && letter != '\n')
}

fn runs_on_linux(job: &YamlNode, matrix: &BTreeMap<String, String>) -> bool {
    let runner = job.get("runs-on").and_then(scalar).and_then(|text| expanded(&text, matrix));
    runner.is_none_or(|name| name.is_empty() || name.contains("ubuntu") || name.contains("linux"))
}

/// Returns a scalar as written.
fn scalar(node: &YamlNode) -> Option<String> {
    match &node.value {
        YamlValue::Text(text) => Some(text.clone()),
        YamlValue::Number(written) => Some(written.clone()),
        YamlValue::Bool(flag) => Some(flag.to_string()),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

/// Chooses one value for each name of a job's matrix: Linux, and the newest release.
fn matrix(job: &YamlNode) -> BTreeMap<String, String> {
    let mut chosen = BTreeMap::new();
    let Some(entries) =
        job.get("strategy").and_then(|node| node.get("matrix")).and_then(YamlNode::entries)
    else {
        return chosen;
    };
    for entry in entries.iter().filter(|entry| !matches!(&*entry.key, "include" | "exclude")) {
        let values = entry.node.list().unwrap_or_default();
        if let Some(value) = choose(values) {
            insert(&mut chosen, &format!("matrix.{}", entry.key), value);
        }
    }
    let is_alone = chosen.is_empty();
    let include = entries.iter().find(|entry| entry.key == "include");
    let included = include.and_then(|entry| entry.node.list()).unwrap_or_default();
    if is_alone {
        // Each entry stands for itself.
        let linux = included.iter().any(mentions_linux);
        let fits = included.iter().filter(|node| !linux || mentions_linux(node)).rev();
        if let Some(node) = fits.max_by_key(|node| newest(node)) {
            insert(&mut chosen, "matrix", node);
        }
    }
    chosen
}

fn insert(chosen: &mut BTreeMap<String, String>, name: &str, node: &YamlNode) {
    if let Some(text) = scalar(node) {
        chosen.insert(name.to_owned(), text);
    }
    for entry in node.entries().unwrap_or_default() {
        insert(chosen, &format!("{name}.{}", entry.key), &entry.node);
    }
}

/// Returns the first release that an entry names, as numbers.
fn newest(node: &YamlNode) -> Vec<u32> {
    let entries = node.entries().unwrap_or_default().iter();
    let releases = entries.filter_map(|entry| scalar(&entry.node)).map(|text| release(&text));
    releases.flatten().next().unwrap_or_default()
}

fn choose(values: &[YamlNode]) -> Option<&YamlNode> {
    let of = |node: &YamlNode| scalar(node).and_then(|text| release(&text));
    let newest = values.iter().filter(|node| of(node).is_some()).max_by_key(|node| of(node));
    values.iter().find(|node| mentions_linux(node)).or(newest).or_else(|| values.first())
}

fn mentions_linux(node: &YamlNode) -> bool {
    let linux = |text: &str| text.contains("ubuntu") || text.contains("Linux");
    match &node.value {
        YamlValue::Text(text) => linux(text),
        YamlValue::Map(entries) => entries.iter().any(|entry| mentions_linux(&entry.node)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::List(_) => false,
    }
}

/// Puts known values in the place of expressions; `None` when one stays that Actions would have to
/// know.
fn expanded(text: &str, known: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, after) = after.split_once("}}")?;
        let expression = expression.trim();
        out.push_str(before);
        match known.get(expression) {
            Some(value) => out.push_str(value),
            // What a matrix does not name is empty.
            None if expression.starts_with("matrix.") && is_name(expression) => {}
            None => return None,
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// As [`expanded`]; expressions stay that mean the same in any workflow.
fn expanded_for_step(text: &str, known: &BTreeMap<String, String>) -> Option<String> {
    expanded(text, known).or_else(|| {
        let parts = text.split("${{").skip(1);
        let kept = |part: &str| {
            let expression = part.trim_start();
            KEPT_CONTEXTS.iter().any(|context| expression.starts_with(context))
                && !expression.split("}}").next().unwrap_or_default().contains(['|', '&', '='])
        };
        parts.into_iter().all(kept).then(|| text.to_owned())
    })
}

/// Returns whether a step is taken for the chosen matrix; `None` where only a running workflow
/// knows it.
fn condition_of(step: &YamlNode, known: &BTreeMap<String, String>) -> Option<bool> {
    step.get("if").and_then(scalar).map_or(Some(true), |text| holds(&text, known))
}

/// Returns `None` for a step that works elsewhere.
fn read_step(step: &YamlNode, context: &StepContext<'_>) -> Option<CiStep> {
    let StepContext { known, folder: elsewhere, variables, lines } = *context;
    let own = declared(step, known).into_iter();
    let own = own.map(|variable| CiVariable { is_own: true, ..variable }).collect();
    let variables = within(variables, own);
    let place = |key: &str| {
        let entries = step.entries().unwrap_or_default();
        entries.iter().find(|entry| entry.key == key).map_or(0, |entry| entry.key_place.line)
    };
    if let Some(uses) = step.get("uses").and_then(YamlNode::text) {
        let line = place("uses");
        let written = usize::try_from(line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
        let spelled = written
            .and_then(|text| text.split_once("uses:"))
            .map(|(_, rest)| rest.trim().replace(['"', '\''], ""))
            .filter(|rest| {
                // Behind the name there is nothing but a comment.
                let behind = rest.strip_prefix(uses).map(str::trim_start);
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('#'))
                    && !rest.chars().any(char::is_control)
            });
        let with = step.get("with").and_then(YamlNode::entries).unwrap_or_default();
        let input = |entry: &MapEntry| {
            let value = expanded_for_step(&scalar(&entry.node)?, known)?;
            let is_known = ["matrix.", "secrets"].iter().all(|word| !value.contains(word));
            let is_kept = is_known && is_name(&entry.key) && !value.trim().is_empty();
            is_kept.then(|| (entry.key.clone(), value))
        };
        return Some(CiStep {
            line,
            uses: Some(uses.to_owned()),
            spelled: spelled.unwrap_or_else(|| uses.to_owned()),
            with: with.iter().filter_map(input).collect(),
            commands: Vec::new(),
            variables,
        });
    }
    let script = step.get("run").and_then(YamlNode::text)?;
    let folder = step.get("working-directory").and_then(YamlNode::text);
    let folder = expanded(folder.or(elsewhere).unwrap_or("."), known)?;
    let shell = step.get("shell").and_then(YamlNode::text).unwrap_or("bash");
    if !matches!(shell, "bash" | "sh") {
        return None;
    }
    let joined = script.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| expanded(line, known));
    let commands = commands_below(below("", &folder)?, lines);
    Some(CiStep { line: place("run"), commands, variables, ..CiStep::default() })
}

/// Returns the plain commands of lines that begin in a folder, up to where it is not known any
/// more.
fn commands_below(mut folder: String, lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines {
        let commands = plain(&line);
        if commands.is_empty() && line.trim_start().starts_with("cd ") {
            return found;
        }
        for command in commands {
            match command.split(' ').next() {
                Some("cd" | "pushd" | "popd") => {
                    let next = command.strip_prefix("cd ").and_then(|next| below(&folder, next));
                    let Some(next) = next else { return found };
                    folder = next;
                }
                _ if folder.is_empty() => found.push(command),
                _ => found.push(format!("cd {folder} && {command}")),
            }
        }
    }
    found
}

/// Returns a folder below another one of the repository; empty for the repository itself.
fn below(folder: &str, name: &str) -> Option<String> {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    match name {
        "" | "." => Some(folder.to_owned()),
        _ if name.chars().all(plain) && RepoPath::parse(name).is_ok() => {
            let parent = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            Some(format!("{parent}{name}"))
        }
        _ => None,
    }
}

/// Splits `cd FOLDER && COMMAND`.
pub(super) fn in_folder(command: &str) -> (Option<&str>, &str) {
    let split = change_of_folder(command);
    split.map_or((None, command), |(folder, command)| (Some(folder), command))
}

/// Returns the commands of a line that holds nothing but commands of plain words.
pub(super) fn plain(line: &str) -> Vec<String> {
    let line = line.trim();
    let letters =
        |letter: char| letter.is_ascii_alphanumeric() || " -_./:=,+@%&[]\"'^~".contains(letter);
    if line.is_empty()
        || !line.chars().all(letters)
        || line.contains(" ../")
        || line.replace("&&", "").contains('&')
    {
        return Vec::new();
    }
    let script = Script::parse(line);
    if script.problem().is_some() || !script.redirects().is_empty() {
        return Vec::new();
    }
    let commands = script.simple_commands();
    let is_plain = |simple: &&SimpleCommand| {
        let words = &simple.words;
        simple.variables.is_empty()
            && !words.is_empty()
            && words.iter().all(|word| !word.is_empty() && !word.contains(' '))
    };
    if !commands.iter().all(is_plain) {
        return Vec::new();
    }
    commands.iter().map(|simple| simple.words.join(" ")).collect()
}
