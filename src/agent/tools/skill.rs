//! `skill`: gives the instructions of a skill of the trusted ref. Nothing is read from the
//! checkout: a pull request cannot rewrite them.

use serde_json::json;

use crate::tools::arguments::{Arguments, quoted};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// A skill about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseSkill {
    name: String,
    text: String,
}

impl UseSkill {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::Skill.to_string(),
            description: "Read the instructions of a skill before work that it is for.".into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "skill": { "type": "string", "description": "Its name" },
                    "args": { "type": ["string", "null"], "description": "What it is to be used on" }
                },
                "required": ["skill"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments and finds the skill.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments, context: ToolContext<'_>) -> Result<Self, CallError> {
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
            let known = match nearest(&name, &names) {
                Some(near) => format!("Did you mean `{near}`?"),
                None if names.is_empty() => "There are none in this mode.".to_owned(),
                None => format!("There are: {}.", quoted(&names)),
            };
            return Err(CallError(format!("There is no skill `{name}`. {known}")));
        };
        let text = skill.instructions(given.as_deref().unwrap_or_default());
        Ok(Self { name, text })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the instructions.
    #[must_use]
    pub fn perform(&self) -> Observation {
        Observation::said(self.text.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::Fixture;
    use locum_modes::prompts::PromptFile;
    use locum_modes::prompts::skills::SkillSet;

    fn fixture() -> Fixture {
        let file = |name: &str, more: &str| PromptFile {
            path: format!(".claude/skills/{name}/SKILL.md"),
            text: format!("---\nname: {name}\ndescription: d\n{more}---\nDo {name}."),
        };
        let mut fixture = Fixture::new(&[]);
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
    fn knows_only_skills_of_the_mode() {
        for (name, told) in [
            ("asking", "There are: `release`."),
            ("relaese", "Did you mean `release`?"),
            ("../x", "There is no skill `../x`."),
        ] {
            let seen = fixture().call("skill", &format!(r#"{{"skill": "{name}"}}"#));
            assert!(seen.is_error && seen.text.contains(told), "{name}: {}", seen.text);
        }
        let none = Fixture::new(&[]).call("skill", r#"{"skill": "x"}"#);
        assert!(none.text.contains("There are none in this mode."), "{}", none.text);
    }
}
