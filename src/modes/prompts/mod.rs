//! Text for the model. Pure: everything it mentions is handed in, and the same facts give the same
//! bytes.

pub mod commands;
pub mod condense;
pub mod expert;
mod head;
pub mod mentions;
pub mod painter;
pub mod reminders;
pub mod rules;
pub mod sections;
pub mod servers;
pub mod skills;
pub mod task;

use crate::{Mode, ModeSet};
use locum_base::chat::ToolSpec;

/// A file that text for the model is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// Its path in the repository, or where the user keeps it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What the trusted ref and the settings add to every prompt, all modes together.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Rules files, and files that take the place of a mode's prompt.
    pub rules: Vec<rules::RuleFile>,
    /// Skills.
    pub skills: skills::SkillSet,
    /// The language of results and questions.
    pub language: Option<String>,
    /// Names of the models that may be asked a question.
    pub experts: Vec<String>,
    /// Names of the models that draw pictures, those that stand in for the first after it; empty
    /// where nobody does.
    pub painters: Vec<String>,
}

/// Everything a system prompt is made of.
pub struct PromptFacts<'a> {
    /// The mode the task runs in.
    pub mode: &'a Mode,
    /// Every mode it may hand work to; empty when it may not.
    pub delegates: Vec<&'a Mode>,
    /// Every mode the task may go on in.
    pub modes: &'a ModeSet,
    /// The tools it is offered.
    pub tools: &'a [ToolSpec],
    /// Rules files and AGENTS.md, in order.
    pub rules: &'a [rules::RuleFile],
    /// The text that takes the place of most of the prompt in this mode.
    pub replacement: Option<&'a str>,
    /// The skills of the mode.
    pub skills: &'a [&'a skills::Skill],
    /// The models it may ask a question.
    pub experts: &'a [&'a str],
    /// The MCP servers whose tools the task may use.
    pub servers: &'a [servers::OfferedServer],
    /// The language of results and questions.
    pub language: Option<&'a str>,
    /// What the policy allows, in its own words, one line each (so that the model does not try what
    /// cannot work).
    pub policy_lines: &'a [String],
    /// Name of the operating system, `linux`.
    pub system: &'a str,
}

/// Returns the system prompt.
#[must_use]
pub fn system_prompt(facts: &PromptFacts<'_>) -> String {
    sections_of(facts).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n")
}

/// Returns the sections of the system prompt by name, in order, without those that have nothing to
/// say.
#[must_use]
pub fn sections_of(facts: &PromptFacts<'_>) -> Vec<(&'static str, String)> {
    let own = [
        ("formatting", sections::formatting()),
        ("tools", sections::tools(facts)),
        ("capabilities", sections::capabilities(facts)),
        ("modes", sections::modes(facts)),
        ("skills", sections::skills(facts)),
        ("servers", sections::servers(facts)),
        ("rules", sections::rules()),
        ("system", sections::system(facts)),
        ("objective", sections::objective(facts)),
    ];
    let replacing = facts.replacement.map(|text| {
        [
            ("system-prompt", sections::replacing(facts, text)),
            ("servers", sections::servers(facts)),
            ("rules", sections::rules()),
        ]
    });
    let middle = replacing.map_or_else(|| own.to_vec(), |parts| parts.to_vec());
    let end = [
        ("language", sections::language(facts)),
        ("instructions", sections::instructions(facts)),
        ("repository-rules", sections::repository_rules(facts)),
    ];
    let parts = std::iter::once(("role", sections::role(facts))).chain(middle).chain(end);
    parts
        .map(|(name, text)| (name, text.trim().to_owned()))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PromptFacts, sections_of, system_prompt};
    use crate::access::{self, Offer, Purpose};
    use crate::prompts::rules::RuleFile;
    use crate::{ModeSet, builtin};
    use locum_base::chat::ToolSpec;
    use locum_policy::schema::{Delegation, Switching};
    use pretty_assertions::assert_eq;

    /// Composes the prompt of a mode as a run without a policy file does, with the given rules and
    /// policy lines.
    fn prompt(
        slug: &str,
        rules: &[RuleFile],
        policy_lines: &[String],
    ) -> Vec<(&'static str, String)> {
        let modes = ModeSet::merge([builtin::modes()]);
        let mode = modes.find(slug).unwrap();
        let may_delegate = Delegation::default().from.iter().any(|from| from == slug);
        let offer = Offer {
            switching: Switching::Coordinator,
            may_delegate,
            purpose: Purpose::Work,
            included: &[],
        };
        let tools: Vec<ToolSpec> = access::offered(mode, offer)
            .into_iter()
            .map(|tool| ToolSpec {
                name: tool.as_str().to_owned(),
                description: String::new(),
                parameters: serde_json::Value::Null,
            })
            .collect();
        let delegates = modes.iter().filter(|other| may_delegate && other.slug != slug).collect();
        let facts = PromptFacts {
            mode,
            delegates,
            modes: &modes,
            tools: &tools,
            rules,
            policy_lines,
            replacement: None,
            skills: &[],
            experts: &[],
            servers: &[],
            language: None,
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
            let rules = [RuleFile {
                path: "AGENTS.md".into(),
                text: "Run `make test` before you finish.\n".into(),
            }];
            let lines =
                ["read: any file but secrets".to_owned(), "command: cargo test ...".to_owned()];
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
            ["role", "formatting", "tools", "rules", "system", "objective", "instructions"]
        );
        assert!(text(&prompt("code", &[], &["x".into()]), "capabilities").is_some());
    }

    #[test]
    fn says_only_what_the_offered_tools_make_true() {
        let tools = |slug: &str| text(&prompt(slug, &[], &[]), "tools").unwrap();
        assert!(tools("code").contains("apply_diff") && !tools("ask").contains("apply_diff"));
        assert!(
            tools("code").contains("Commands get") && !tools("architect").contains("Commands get")
        );
        assert!(tools("orchestrator").contains("new_task") && !tools("code").contains("new_task"));
        let modes = |slug: &str| text(&prompt(slug, &[], &[]), "modes");
        assert!(
            modes("orchestrator").unwrap().contains("- `code`")
                && modes("coordinator").unwrap().contains("to switch to")
        );
        assert_eq!(modes("code"), None);
        assert!(
            text(&prompt("architect", &[], &[]), "capabilities")
                .unwrap()
                .contains(r"`\.md$` (Markdown files only)")
        );
    }
}
