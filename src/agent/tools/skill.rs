//! `skill`: gives the instructions of a skill of the trusted ref. Nothing is read from the
//! checkout: a pull request cannot rewrite them.

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A skill about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseSkill {
    name: String,
    text: String,
}

impl Tool for UseSkill {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str =
        "Read the instructions of a skill before work that it is for.";
    const REQUIRED: &'static [&'static str] = &["skill"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[("name", "skill"), ("command", "skill"), ("arguments", "args")]],
        hook_names: &["Skill"],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Skills);

    fn properties() -> Value {
        json!({
            "skill": { "type": "string", "description": "Its name" },
            "args": { "type": ["string", "null"], "description": "What it is to be used on" }
        })
    }

    /// Checks the arguments and finds the skill.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let name = arguments
            .words("skill", "the name of a skill")?
            .trim()
            .trim_start_matches('/')
            .to_owned();
        let given = arguments.optional_text("args", "what the skill is to be used on")?;
        arguments.finish()?;
        let skills =
            context.skills.map(|skills| skills.of_mode(&context.mode.slug)).unwrap_or_default();
        let Some(skill) = skills.iter().find(|skill| skill.name == name) else {
            let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            let known = known(&name, &names, " in this mode");
            let name = shown_name(&name);
            return Err(CallError(format!("There is no skill `{name}`. {known}")));
        };
        let text = skill.instructions(given.as_deref().unwrap_or_default());
        Ok(Self { name, text })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        format!("read the skill {}", self.name)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        Ok(Observation::said(self.text.clone()))
    }

    fn only_reads(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::ToolFixture;
    use locum_modes::prompts::PromptFile;
    use locum_modes::prompts::skills::SkillSet;

    fn fixture() -> ToolFixture {
        let file = |name: &str, more: &str| PromptFile {
            path: format!(".claude/skills/{name}/SKILL.md"),
            text: format!("---\nname: {name}\ndescription: d\n{more}---\nDo {name}."),
        };
        let mut fixture = ToolFixture::new(&[]);
        fixture.skills =
            SkillSet::read(&[file("release", ""), file("asking", "modeSlugs: [ask]\n")]);
        fixture
    }

    #[test]
    fn gives_the_instructions_and_says_where_its_files_are() {
        let seen = fixture().call("skill", r#"{"skill": "release", "args": "the parser"}"#);
        assert!(!seen.is_error, "{}", seen.text);
        assert_eq!(
            seen.text,
            "Skill `release`; files it names lie below `.claude/skills/release/`.\n\nDo \
             release.\n\nUse it on: the parser"
        );
    }

    #[test]
    fn a_skill_may_be_named_as_other_agents_name_it() {
        for name in ["name", "command"] {
            let seen = fixture().call("Skill", &format!(r#"{{"{name}": "release"}}"#));
            assert!(!seen.is_error && seen.text.contains("Do release."), "{name}: {}", seen.text);
        }
    }

    #[test]
    fn knows_only_skills_of_the_mode() {
        for (name, message) in [
            ("asking", "There are: `release`."),
            ("relaese", "Did you mean `release`?"),
            ("../x", "There is no skill `../x`."),
        ] {
            let seen = fixture().call("skill", &format!(r#"{{"skill": "{name}"}}"#));
            assert!(seen.is_error && seen.text.contains(message), "{name}: {}", seen.text);
        }
        let long = format!(r#"{{"skill": "{}"}}"#, "x".repeat(100_000));
        assert!(fixture().call("skill", &long).text.len() < 400);
        let none = ToolFixture::new(&[]).call("skill", r#"{"skill": "x"}"#);
        assert!(none.text.contains("There are none in this mode."), "{}", none.text);
    }
}
