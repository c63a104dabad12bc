//! System prompts of the built-in modes.

use super::{PromptFacts, sections_of, system_prompt};
use crate::access::{self, TaskPurpose, ToolOffer};
use crate::prompts::PromptFile;
use crate::prompts::place::RunPlace;
use crate::{ModeSet, builtin};
use locum_base::chat::ToolSpec;
use locum_policy::schema::{Delegation, Switching};
use pretty_assertions::assert_eq;

/// Composes the prompt of a mode as a run without a policy file does, with the given rules and
/// policy lines.
fn prompt(
    slug: &str,
    rules: &[PromptFile],
    policy_lines: &[String],
) -> Vec<(&'static str, String)> {
    prompt_to(TaskPurpose::Work, slug, rules, policy_lines)
}

/// The same for what the task is there for.
fn prompt_to(
    purpose: TaskPurpose,
    slug: &str,
    rules: &[PromptFile],
    policy_lines: &[String],
) -> Vec<(&'static str, String)> {
    let modes = ModeSet::merge([builtin::modes()]);
    let mode = modes.find(slug).unwrap();
    let may_delegate = Delegation::default().from.iter().any(|from| from == slug);
    let offer =
        ToolOffer { switching: Switching::Coordinator, may_delegate, purpose, included: &[] };
    let tools: Vec<ToolSpec> = access::offered(mode, offer)
        .into_iter()
        .map(|tool| ToolSpec {
            name: tool.as_str().to_owned(),
            description: String::new(),
            parameters: serde_json::Value::Null,
        })
        .collect();
    let delegates = modes
        .iter()
        .filter(|other| may_delegate && other.slug != slug)
        .map(|other| (other, "edit `src/**`, and run nothing".to_owned()))
        .collect();
    let place = RunPlace {
        date: "2026-01-31".to_owned(),
        branch: Some("main".to_owned()),
        entries: vec!["src/".to_owned(), "Cargo.toml".to_owned()],
        more: 3,
        tools: Vec::new(),
        missing: vec!["rg".to_owned()],
    };
    let facts = PromptFacts {
        mode,
        delegates,
        modes: &modes,
        tools: &tools,
        rules,
        policy_lines,
        replacement: None,
        skills: &[],
        commands: &[],
        experts: &[],
        servers: &[],
        language: None,
        everywhere: None,
        parallel: false,
        checks: &[("cargo test".to_owned(), true), ("make deploy-check".to_owned(), false)],
        place: &place,
        system: "linux",
    };
    let whole = sections_of(&facts);
    let texts: Vec<String> = whole.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(texts.join("\n\n"), system_prompt(&facts));
    whole
}

fn text(parts: &[(&str, String)], name: &str) -> Option<String> {
    parts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.clone())
}

#[test]
fn each_built_in_mode_has_its_whole_prompt() {
    for mode in builtin::modes() {
        let rules = [PromptFile {
            path: "AGENTS.md".into(),
            text: "Run `make test` before you finish.\n".into(),
        }];
        let lines = ["read: any file but secrets".to_owned(), "command: cargo test ...".to_owned()];
        let whole: Vec<String> =
            prompt(&mode.slug, &rules, &lines).into_iter().map(|(_, text)| text).collect();
        insta::assert_snapshot!(format!("prompt_{}", mode.slug), whole.join("\n\n"));
    }
}

#[test]
fn the_prompt_of_every_mode_is_small() {
    for mode in builtin::modes() {
        let bytes: usize =
            prompt(&mode.slug, &[], &[]).iter().map(|(_, text)| text.len() + 2).sum();
        assert!(bytes < 6 * 1024, "{} has {bytes} bytes", mode.slug);
    }
}

#[test]
fn sections_with_nothing_to_say_are_left_out() {
    let code = prompt("code", &[], &[]);
    assert_eq!(
        code.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["role", "formatting", "tools", "modes", "rules", "system", "objective", "instructions"]
    );
    assert!(text(&prompt("code", &[], &["x".into()]), "capabilities").is_some());
}

#[test]
fn says_only_what_the_offered_tools_make_true() {
    let tools = |slug: &str| text(&prompt(slug, &[], &[]), "tools").unwrap();
    assert!(tools("code").contains("apply_diff") && !tools("ask").contains("apply_diff"));
    assert!(tools("code").contains("Commands get") && !tools("architect").contains("Commands get"));
    assert!(tools("orchestrator").contains("new_task") && !tools("code").contains("new_task"));
    let modes = |slug: &str| text(&prompt(slug, &[], &[]), "modes");
    assert!(
        modes("orchestrator").unwrap().contains("- `code`")
            && modes("coordinator").unwrap().contains("to switch to")
    );
    assert!(modes("code").unwrap().contains("`request_mode_switch` may name "));
    let objective = |slug: &str| text(&prompt(slug, &[], &[]), "objective").unwrap();
    assert!(objective("code").contains("ready: `cargo test`, `make deploy-check`. You cannot run"));
    assert!(objective("orchestrator").contains("`cargo test`"));
    for changes_nothing in ["ask", "review"] {
        let objective = objective(changes_nothing);
        assert!(!objective.contains("`cargo test`") && !objective.contains("becomes the title"));
    }
    assert!(objective("code").contains("becomes the title of the pull request"));
    assert!(
        text(&prompt("architect", &[], &[]), "capabilities")
            .unwrap()
            .contains(r"`\.md$` (Markdown files only)")
    );
}

#[test]
fn a_decision_has_a_prompt_of_its_own() {
    let whole = |purpose| {
        let parts = prompt_to(purpose, "coordinator", &[], &[]);
        parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n")
    };
    let (decides, works) = (whole(TaskPurpose::Decide), whole(TaskPurpose::Work));
    for of_work in
        ["switch_mode", "ask_followup_question", "Do the whole task", "becomes the title"]
    {
        assert!(!decides.contains(of_work), "{of_work}: {decides}");
    }
    assert!(decides.contains("End with `coordinate_mode`"));
    assert!(works.contains("switch_mode") && !works.contains("coordinate_mode"), "{works}");
}
