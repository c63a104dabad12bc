//! Text for the model. Pure: everything it mentions is handed in, and the same facts give the same
//! bytes.

pub mod checks;
pub mod commands;
pub mod condense;
pub mod expert;
mod head;
pub mod image_model;
pub mod memory;
pub mod mentions;
pub mod place;
pub mod reminders;
pub mod rules;
pub mod sections;
pub mod servers;
pub mod skills;
pub mod task;

use crate::{Mode, ModeSet};
use locum_base::chat::ToolSpec;

/// How replies are written.
const FORMATTING: &str = include_str!("../../../config/prompts/formatting.md");

/// A file that text for the model is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// Its path in the repository, or where the user keeps it.
    pub path: String,
    /// Whole text of the file.
    pub text: String,
}

/// What the trusted ref and the settings add to every prompt, all modes together.
#[derive(Clone, Debug, Default)]
pub struct RepositoryInstructions {
    /// Rules files, and files that take the place of a mode's prompt.
    pub rules: rules::RulesFiles,
    /// Skills by name.
    pub skills: skills::SkillSet,
    /// Slash commands, the user's own among them.
    pub commands: commands::CommandSet,
    /// The language of results and questions.
    pub language: Option<String>,
    /// Instructions of the user or the organisation for every repository.
    pub everywhere: Option<String>,
    /// Names of the models that may be asked a question.
    pub experts: Vec<String>,
    /// Names of the image model and its fallbacks; empty without one.
    pub image_models: Vec<String>,
    /// Whether there is a search engine to ask.
    pub has_search_engine: bool,
    /// Whether there is a browser to open pages in.
    pub has_browser: bool,
}

/// Everything a system prompt is made of.
pub struct PromptFacts<'a> {
    /// The mode the task runs in.
    pub mode: &'a Mode,
    /// Every mode it may hand work to, with what a sub-task may do there; empty when it may not.
    pub delegates: Vec<(&'a Mode, String)>,
    /// Whether sub-tasks of one reply work at the same time.
    pub parallel: bool,
    /// Every mode the task may go on in.
    pub modes: &'a ModeSet,
    /// The tools it is offered.
    pub tools: &'a [ToolSpec],
    /// Rules files and AGENTS.md, in order.
    pub rules: &'a [PromptFile],
    /// The text that takes the place of most of the prompt in this mode.
    pub replacement: Option<&'a str>,
    /// The skills of the mode.
    pub skills: &'a [&'a skills::Skill],
    /// The slash commands it may call.
    pub commands: &'a [&'a commands::SlashCommand],
    /// The models it may ask a question.
    pub experts: &'a [&'a str],
    /// The MCP servers whose tools the task may use.
    pub servers: &'a [servers::OfferedServer],
    /// The language of results and questions.
    pub language: Option<&'a str>,
    /// Instructions of the user or the organisation for every repository.
    pub everywhere: Option<&'a str>,
    /// What the policy allows, in its own words, one line each (so that the model does not try what
    /// cannot work).
    pub policy_lines: &'a [String],
    /// The commands that decide whether the result is ready, each with whether it may be run here.
    pub checks: &'a [(String, bool)],
    /// The place the run works in.
    pub place: &'a place::RunPlace,
    /// Name of the operating system, `linux`.
    pub system: &'a str,
}

/// Returns the system prompt.
pub fn system_prompt(facts: &PromptFacts<'_>) -> String {
    sections_of(facts).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n")
}

/// Returns the sections of the system prompt by name, in order, without those that have nothing to
/// say.
pub fn sections_of(facts: &PromptFacts<'_>) -> Vec<(&'static str, String)> {
    let own = [
        ("formatting", FORMATTING.to_owned()),
        ("tools", sections::tools(facts)),
        ("capabilities", sections::capabilities(facts)),
        ("modes", sections::modes(facts)),
        ("skills", sections::skills(facts)),
        ("commands", sections::commands(facts)),
        ("servers", sections::servers(facts)),
        ("rules", sections::run_rules(facts).to_owned()),
        ("system", sections::system(facts)),
        ("objective", sections::objective(facts)),
    ];
    let replacing = facts.replacement.map(|text| {
        [
            ("system-prompt", sections::replacing(facts, text)),
            ("servers", sections::servers(facts)),
            ("rules", sections::run_rules(facts).to_owned()),
        ]
    });
    let middle = replacing.map_or_else(|| own.to_vec(), |parts| parts.to_vec());
    let end = [
        ("language", sections::language(facts)),
        ("standing-instructions", sections::everywhere(facts)),
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
mod tests;
