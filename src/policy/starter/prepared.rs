//! `PreparedChains`: for which tool chains the steps of a job install something, and which commands
//! that install what tests need none of them stands for.
//!
//! In: a job of a workflow and its steps before the tests. Out: commands. A step of which it is not
//! known what it does may install everything.

use std::collections::BTreeSet;

use crate::starter::ci::plain;
use crate::starter::proof::ToolChain;
use crate::starter::setup::{chains_set_up, installs, sets_up_nothing};
use locum_files::yaml::YamlNode;

/// The tool chains for which steps install or set up something.
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

/// Returns the tool chains that a step is about; `None` where it may do anything.
fn chains_of(step: &YamlNode) -> Option<Vec<ToolChain>> {
    if let Some(uses) = step.get("uses").and_then(YamlNode::text) {
        let chains = chains_set_up(uses);
        return (!chains.is_empty() || sets_up_nothing(uses)).then_some(chains);
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
            chains.push(Some(ToolChain::of(command)).filter(|_| installs(command))?);
        }
    }
    Some(chains)
}
