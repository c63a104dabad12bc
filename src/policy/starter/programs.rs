//! Programs that the commands of a policy start: those that a machine should have, and those that
//! no step of the workflow sets up.
//!
//! In: the commands that may run and those that prove a change, and the steps as text. Out: names
//! with why, and sentences on what to do.

use std::collections::BTreeMap;

use crate::command::tables::verbs;
use crate::starter::ci::in_folder;
use crate::starter::commands::{ProposedTool, ToolOrigin};
use crate::starter::proof::Proof;

/// Programs that a machine of Actions does not have by itself: with a word that the name of each
/// action has which sets them up, and one of these.
const NOT_THERE: &[(&str, &str, &str)] = &[
    ("flutter", "flutter", "subosito/flutter-action"),
    ("dart", "dart", "dart-lang/setup-dart"),
    ("deno", "deno", "denoland/setup-deno"),
    ("sbt", "sbt", "sbt/setup-sbt"),
    ("zig", "zig", "mlugg/setup-zig"),
    ("dune", "ocaml", "ocaml/setup-ocaml"),
    ("just", "just", "extractions/setup-just"),
    ("task", "task", "go-task/setup-task"),
];

/// Returns the programs that a machine should have: those of the tests, and those a workflow or a
/// setting of the repository names.
pub(super) fn needed(tools: &[ProposedTool], proofs: &[Proof]) -> BTreeMap<String, String> {
    // What a tool installs for the project is started by that tool.
    let runs = |proof: &Proof| {
        let words: Vec<&str> = in_folder(&proof.command).1.split(' ').collect();
        verbs::verb(&words) == Some("run")
    };
    let has_runner = proofs.iter().any(runs);
    let is_named = |tool: &&ProposedTool| match tool.origin {
        ToolOrigin::Named => true,
        ToolOrigin::SetUp => !has_runner,
        ToolOrigin::Files => false,
    };
    let named = tools.iter().filter(is_named).map(|tool| (&tool.command, tool.line.why.clone()));
    let proving = proofs.iter().map(|proof| (&proof.command, "`publish.success`".to_owned()));
    let mut found = BTreeMap::new();
    for (command, why) in proving.chain(named) {
        let program = in_folder(command).1.split(' ').next().unwrap_or_default();
        if !program.contains('/') {
            found.entry(program.to_owned()).or_insert(why);
        }
    }
    found
}

/// Says which of these no step of the workflow sets up, each once, as sentences on what to do:
/// nothing is known of how this repository gets them.
pub(super) fn unprepared(proofs: &[Proof], setup: &str) -> Vec<String> {
    let is_set_up =
        |word: &str| setup.lines().any(|line| line.contains("uses:") && line.contains(word));
    let note = |(program, word, action): &(&str, &str, &str)| {
        let starts =
            |proof: &&Proof| in_folder(&proof.command).1.split(' ').next() == Some(*program);
        let proof = proofs.iter().find(starts).filter(|_| !is_set_up(word))?;
        Some(format!(
            "The workflow sets up no `{program}`, which `{}` starts: add a step that does before \
             Locum's, such as one that uses `{action}`.",
            proof.command
        ))
    };
    NOT_THERE.iter().filter_map(note).collect()
}
