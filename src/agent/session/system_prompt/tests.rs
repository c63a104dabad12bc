//! Whole prompts of the built-in modes with the built-in policy, and what decides on their parts.

use super::{PromptContext, PromptInputs};
use locum_base::tool::ToolName;
use locum_models::accounting;
use locum_models::tokens::Tokenizer;
use locum_modes::access::TaskPurpose;
use locum_modes::prompts::RepositoryInstructions;
use locum_modes::prompts::place::{ENTRIES_LIMIT, RunPlace};
use locum_modes::{ModeSet, builtin};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use pretty_assertions::assert_eq;

/// Most tokens of a built-in mode's prompt with its tools.
const LIMIT_TOKENS: u64 = 3_050;

fn place() -> RunPlace {
    RunPlace {
        date: "2026-01-31".to_owned(),
        branch: Some("feature/a-longer-name".to_owned()),
        entries: (0..ENTRIES_LIMIT).map(|number| format!("folder{number}/")).collect(),
        more: 12,
        tools: [".venv/bin", "node_modules/.bin"].map(str::to_owned).to_vec(),
        missing: ["rg", "tree", "jq"].map(str::to_owned).to_vec(),
    }
}

fn inputs(policy: &Policy, facts: &Facts, place: &RunPlace, purpose: TaskPurpose) -> PromptInputs {
    let modes = ModeSet::merge([builtin::modes()]);
    PromptInputs::of(&PromptContext {
        mode: modes.find(&facts.mode).unwrap(),
        modes: &modes,
        policy,
        facts,
        may_delegate: policy.settings().modes.delegation.from.contains(&facts.mode),
        purpose,
        included: &[],
        instructions: &RepositoryInstructions::default(),
        servers: &[],
        had_background: false,
        place,
    })
}

fn facts(mode: &str, contained: bool) -> Facts {
    Facts { mode: mode.to_owned(), sandboxed: true, contained, ..Facts::default() }
}

fn text(inputs: &PromptInputs) -> String {
    inputs.sections.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n")
}

fn with_checks() -> Policy {
    let text = locum_policy::BUILTIN_TEXT
        .replace("publish:\n", "publish:\n  success: [cargo test, cargo clippy]\n");
    Policy::parse(&text, "policy.yml").unwrap()
}

#[test]
fn the_prompt_and_tools_of_every_built_in_mode_are_small() {
    let (policy, place) = (Policy::builtin(), place());
    let mut large = Vec::new();
    for mode in builtin::modes() {
        for contained in [true, false] {
            let facts = facts(&mode.slug, contained);
            let inputs = inputs(&policy, &facts, &place, TaskPurpose::Work);
            let tokens = Tokenizer::O200k.tokens(&text(&inputs))
                + accounting::estimate_tools(Tokenizer::O200k, &inputs.tools);
            if tokens > LIMIT_TOKENS {
                large.push(format!("{} (contained: {contained}): {tokens}", mode.slug));
            }
        }
    }
    assert_eq!(large, Vec::<String>::new());
}

#[test]
fn a_prompt_names_the_place_as_far_as_the_mode_may_know_it() {
    let policy = with_checks();
    let place = RunPlace {
        entries: ["src/", ".env", "README.md"].map(str::to_owned).to_vec(),
        missing: ["rg", "no-rule-names-it"].map(str::to_owned).to_vec(),
        ..place()
    };
    let code = text(&inputs(&policy, &facts("code", false), &place, TaskPurpose::Work));
    for said in [
        "today is 2026-01-31",
        "on branch `feature/a-longer-name`",
        "- There: `src/`, `README.md`, and 12 more",
        "- Programs not on PATH: `.venv/bin`, `node_modules/.bin`\n- Not installed: `rg`\n",
        "whether the result is ready: `cargo test`, `cargo clippy`.",
        "You cannot run `cargo test`, `cargo clippy` in this mode.",
        "Commands have no network",
    ] {
        assert!(code.contains(said), "{said}:\n{code}");
    }
    assert!(!code.contains(".env"), "{code}");
    let contained = text(&inputs(&policy, &facts("code", true), &place, TaskPurpose::Work));
    assert!(!contained.contains("You cannot run"), "{contained}");
    let ask = text(&inputs(&policy, &facts("ask", false), &place, TaskPurpose::Work));
    assert!(!ask.contains("Not installed") && !ask.contains("whether the result"), "{ask}");
}

#[test]
fn who_hands_work_on_reads_what_each_mode_may_do() {
    let policy = with_checks();
    let facts = facts("orchestrator", true);
    let said = text(&inputs(&policy, &facts, &place(), TaskPurpose::Work));
    for rights in [
        "It may edit `**`, and run any script.",
        r"It may edit `**` where the path matches `\.md$`, and run nothing.",
        "It may edit nothing, and run nothing.",
    ] {
        assert!(said.contains(rights), "{rights}:\n{said}");
    }
}

#[test]
fn who_decides_on_a_mode_is_not_told_to_report() {
    let policy = with_checks();
    let facts = facts("coordinator", true);
    let deciding = inputs(&policy, &facts, &place(), TaskPurpose::Decide);
    assert!(deciding.offered.contains(&ToolName::CoordinateMode));
    let said = text(&deciding);
    assert!(said.contains("End with `coordinate_mode`") && !said.contains("how you verified it"));
}
