//! `PreparedChains`: for which tool chains the steps of a job install what tests need, and which of
//! the commands that `locum init` proposes for that no step replaces.
//!
//! In: a job of a workflow and its steps before the tests. Out: commands. A step of which it is not
//! known what it does may install everything.

use std::collections::BTreeSet;

use crate::starter::ci::plain;
use crate::starter::proof::ToolChain;
use crate::starter::setup::{
    action_installs, brings_a_tool, chains_set_up, installs, sets_up_nothing,
};
use crate::words;
use locum_files::yaml::{YamlNode, YamlValue};

/// The tool chains for which steps install something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedChains {
    /// `None` where a step may install everything.
    known: Option<BTreeSet<ToolChain>>,
}

impl PreparedChains {
    /// Reads what the steps of a job do.
    pub fn by(job: &YamlNode, steps: &[YamlNode]) -> Self {
        if job.get("container").is_some() {
            return Self { known: None };
        }
        let known = steps.iter().map(chains_of).collect::<Option<Vec<_>>>();
        Self { known: known.map(|chains| chains.into_iter().flatten().collect()) }
    }

    /// Returns those of the commands that install something for a tool chain of a success command,
    /// where no step does so for that tool chain.
    pub fn lacking<'i>(&self, installs: &'i [String], success: &[String]) -> Vec<&'i str> {
        let Some(known) = &self.known else { return Vec::new() };
        let tested: BTreeSet<ToolChain> =
            success.iter().map(|command| ToolChain::of(command)).collect();
        // What a Makefile runs may be about every tool chain.
        let is_tested = |chain| tested.contains(&chain) || tested.contains(&ToolChain::Native);
        let is_lacking = |command: &&str| {
            let chain = ToolChain::of(command);
            is_tested(chain) && !known.contains(&chain)
        };
        installs.iter().map(String::as_str).filter(is_lacking).collect()
    }
}

/// Actions that set up what installs nothing for tests, besides those that `setup` knows.
const INSTALLING_NOTHING: &str = "\
    actions-rust-lang/setup-rust-toolchain aws-actions/configure-aws-credentials azure/login \
    dtolnay/rust-toolchain google-github-actions/auth";

/// Returns the tool chains that a step installs something for; `None` where it may do anything.
fn chains_of(step: &YamlNode) -> Option<Vec<ToolChain>> {
    if let Some(uses) = step.get("uses").and_then(YamlNode::text) {
        let chains = chains_set_up(uses);
        if action_installs(uses, &inputs(step)) {
            return Some(chains);
        }
        let name = uses.split('@').next().unwrap_or_default();
        let is_known =
            !chains.is_empty() || sets_up_nothing(uses) || words::holds(INSTALLING_NOTHING, name);
        return is_known.then(Vec::new);
    }
    let script = step.get("run").and_then(YamlNode::text)?.replace("\\\n", " ");
    let lines = script.lines().map(str::trim);
    let mut chains = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let commands = plain(line);
        if commands.is_empty() {
            return None;
        }
        for command in commands.iter().filter(|command| !command.starts_with("cd ")) {
            // What comes with the machine is not known.
            if !installs(command) || command.starts_with("sudo ") {
                return None;
            }
            chains.extend((!brings_a_tool(command)).then(|| ToolChain::of(command)));
        }
    }
    Some(chains)
}

fn inputs(step: &YamlNode) -> Vec<(String, String)> {
    let entries = step.get("with").and_then(YamlNode::entries).unwrap_or_default().iter();
    let text = |node: &YamlNode| match &node.value {
        YamlValue::Bool(flag) => Some(flag.to_string()),
        _ => node.text().map(str::to_owned),
    };
    entries.filter_map(|entry| Some((entry.key.clone(), text(&entry.node)?))).collect()
}
