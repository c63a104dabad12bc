//! The steps of workflows that use Locum's Action, as the files say them.
//!
//! In: the text of a workflow. Out: each step with its job's runner, conditions, rights and inputs.
//! It judges nothing.

use std::collections::BTreeMap;

use crate::run::error::RunError;
use crate::run::source::FileSource;
use locum_files::diagnostic::Diagnostic;
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};
use locum_policy::starter::mark;
use locum_policy::starter::prepared::PreparedChains;
use locum_policy::starter::workflow::ActionReference;

/// Where GitHub looks for workflows; not in folders below.
const WORKFLOWS: &str = ".github/workflows";

/// A workflow that uses the Action.
pub(super) struct Workflow {
    /// Its path in the repository.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
    /// The events it listens to.
    pub(super) events: Vec<String>,
    /// The steps that use the Action, at least one.
    pub(super) steps: Vec<ActionStep>,
}

/// The workflows of a repository that use the Action.
pub(super) struct ActionWorkflows {
    /// Those that can be read.
    pub(super) read: Vec<Workflow>,
    /// The first mistake of each that is no YAML and names the Action.
    pub(super) broken: Vec<Diagnostic>,
}

/// A step that uses the Action.
pub(super) struct ActionStep {
    /// The file and line of `uses`.
    pub(super) place: String,
    /// Name of its job in the workflow.
    pub(super) job: String,
    /// What stands behind the `@`.
    pub(super) reference: String,
    /// `if` of the job and of the step.
    pub(super) conditions: Vec<String>,
    /// What the steps before it set up.
    pub(super) prepared: PreparedChains,
    /// What the job's token may do; `None` where the repository's settings say it.
    pub(super) rights: Option<TokenRights>,
    /// The labels of the runner that are no expressions.
    pub(super) runners: Vec<String>,
    /// After how many minutes GitHub cancels the job or the step; `None` where neither says it.
    pub(super) timeout_minutes: Option<u32>,
    /// Whether a step before it checks the repository out.
    pub(super) has_checkout: bool,
    /// Names and values of `env`, of workflow, job and step together.
    pub(super) variables: Vec<(String, String)>,
    /// The inputs.
    pub(super) inputs: Vec<StepInput>,
}

/// An input of a step.
pub(super) struct StepInput {
    /// Its name, as written.
    pub(super) name: String,
    /// Its value, as written.
    pub(super) value: String,
    /// The file and line.
    pub(super) place: String,
}

/// How far a token reaches in one area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TokenRight {
    /// Not at all.
    #[default]
    None,
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// What `permissions` gives a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenRights {
    /// In areas that are not named.
    others: TokenRight,
    named: BTreeMap<String, TokenRight>,
}

impl TokenRights {
    /// Returns how far the token reaches in an area.
    pub(super) fn of(&self, area: &str) -> TokenRight {
        self.named.get(area).copied().unwrap_or(self.others)
    }

    fn read(node: &YamlNode) -> Self {
        let right = |text: &str| match text {
            "write" | "write-all" => TokenRight::Write,
            "read" | "read-all" => TokenRight::Read,
            _ => TokenRight::None,
        };
        let entries = node.entries().unwrap_or_default().iter();
        let named = entries.map(|entry| (entry.key.clone(), right(&scalar(&entry.node)))).collect();
        Self { others: node.text().map(right).unwrap_or_default(), named }
    }
}

impl ActionStep {
    /// Returns the value of an input; `None` where it is not given or is empty.
    pub(super) fn input(&self, name: &str) -> Option<&StepInput> {
        let named = |input: &&StepInput| input.name.eq_ignore_ascii_case(name);
        self.inputs.iter().find(named).filter(|input| !input.value.trim().is_empty())
    }

    /// Returns the value of an input that is no expression.
    pub(super) fn fixed(&self, name: &str) -> Option<&StepInput> {
        self.input(name).filter(|input| !input.value.contains("${{"))
    }

    /// Whether it publishes what another job left, and works itself on nothing.
    pub(super) fn only_publishes(&self) -> bool {
        self.input("bundle").is_some_and(|input| input.value == "publish")
    }

    /// Whether it leaves what it publishes to another job.
    pub(super) fn only_works(&self) -> bool {
        self.input("bundle").is_some_and(|input| input.value == "write")
    }
}

impl ActionWorkflows {
    /// Reads every workflow that GitHub would start and that uses the Action.
    ///
    /// # Errors
    /// When the folder or a file in it cannot be read: it may be one that starts runs.
    pub(super) fn all(source: &FileSource<'_>) -> Result<Self, RunError> {
        let is_started = |path: &str| {
            let name = path.strip_prefix(WORKFLOWS).and_then(|rest| rest.strip_prefix('/'));
            name.is_some_and(|name| !name.contains('/'))
                && [".yml", ".yaml"].iter().any(|end| path.ends_with(end))
        };
        let mut found = Self { read: Vec::new(), broken: Vec::new() };
        for file in source.texts(&[WORKFLOWS], &is_started)? {
            match Workflow::read(file.path, file.text) {
                Ok(workflow) => found.read.extend(workflow),
                Err(mistakes) => found.broken.extend(mistakes.into_iter().next()),
            }
        }
        Ok(found)
    }
}

impl Workflow {
    /// Reads a workflow; `None` where it does not use the Action.
    ///
    /// # Errors
    /// Every mistake of a file that is not YAML and names the Action.
    pub(super) fn read(path: String, text: String) -> Result<Option<Self>, Vec<Diagnostic>> {
        if !text.contains("locum@") && !mark::is_marked(&text) {
            return Ok(None);
        }
        let document = YamlDocument::parse(&text);
        if !document.mistakes.is_empty() {
            let mistakes = document.mistakes.into_iter();
            return Err(mistakes.map(|mistake| mistake.in_file(&path)).collect());
        }
        let Some(root) = document.root else { return Ok(None) };
        let mut steps = Vec::new();
        for job in root.get("jobs").and_then(YamlNode::entries).unwrap_or_default() {
            let listed = job.node.get("steps").and_then(YamlNode::list).unwrap_or_default();
            for (index, step) in listed.iter().enumerate() {
                let before = listed.get(..index).unwrap_or_default();
                let parents = [&root, &job.node, step];
                steps.extend(action_step((&path, &text), &job.key, parents, before));
            }
        }
        let events = root.get("on").map(events).unwrap_or_default();
        Ok((!steps.is_empty()).then_some(Self { path, text, events, steps }))
    }
}

/// Returns the step where it uses the Action; `parents` are the workflow, the job and the step.
fn action_step(
    (path, text): (&str, &str),
    job: &str,
    parents: [&YamlNode; 3],
    before: &[YamlNode],
) -> Option<ActionStep> {
    let [workflow, of_job, step] = parents;
    let uses = step.get("uses")?;
    let (repository, reference) = uses.text()?.trim().split_once('@')?;
    if !ActionReference::is_of(repository, text) {
        return None;
    }
    let place = |node: &YamlNode| format!("{path}:{}", node.place.line);
    let pairs = |node: &YamlNode| -> Vec<(String, String)> {
        let entries = node.entries().unwrap_or_default().iter();
        entries.map(|entry| (entry.key.clone(), scalar(&entry.node))).collect()
    };
    let inputs = step.get("with").and_then(YamlNode::entries).unwrap_or_default().iter();
    let rights = of_job.get("permissions").or_else(|| workflow.get("permissions"));
    Some(ActionStep {
        place: place(uses),
        job: job.to_owned(),
        reference: reference.to_owned(),
        prepared: PreparedChains::by(of_job, before),
        conditions: [of_job, step].iter().filter_map(|node| node.get("if")).map(scalar).collect(),
        rights: rights.map(TokenRights::read),
        runners: of_job.get("runs-on").map(runners).unwrap_or_default(),
        timeout_minutes: [of_job, step]
            .iter()
            .filter_map(|node| scalar(node.get("timeout-minutes")?).parse().ok())
            .min(),
        has_checkout: before.iter().any(checks_out),
        variables: parents.iter().filter_map(|node| node.get("env")).flat_map(pairs).collect(),
        inputs: inputs
            .map(|entry| StepInput {
                name: entry.key.clone(),
                value: scalar(&entry.node),
                place: format!("{path}:{}", entry.key_place.line),
            })
            .collect(),
    })
}

/// Whether a step checks the repository out: by an Action of that name, or by git itself.
fn checks_out(step: &YamlNode) -> bool {
    let says = |key: &str, words: &[&str]| {
        step.get(key)
            .and_then(YamlNode::text)
            .is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    says("uses", &["checkout"]) || says("run", &["git clone", "git checkout", "git fetch"])
}

/// Returns the labels of a runner that are no expressions.
fn runners(node: &YamlNode) -> Vec<String> {
    let labels = node.get("labels").unwrap_or(node);
    let listed = labels.list().unwrap_or(std::slice::from_ref(labels));
    listed.iter().map(scalar).filter(|label| !label.contains("${{")).collect()
}

fn events(on: &YamlNode) -> Vec<String> {
    match &on.value {
        YamlValue::List(listed) => listed.iter().map(scalar).collect(),
        YamlValue::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {
            vec![scalar(on)]
        }
    }
}

/// Returns a single value as it is written; empty for lists and mappings.
fn scalar(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Text(text) | YamlValue::Number(text) => text.clone(),
        YamlValue::Bool(flag) => flag.to_string(),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => String::new(),
    }
}
