//! What a run begins with: the task as the model first reads it, and the slash command it calls.
//!
//! In: the task, the trusted configuration. Out: the parts of the first message; what they name is
//! looked up later, by `lookups`. Only text of users who may start runs is searched, never an
//! issue's title.

pub mod lookups;

use crate::run::error::RunError;
use crate::run::task_material::{TaskAuthor, TaskMaterial};
use crate::run::trusted::TrustedConfig;
use locum_agent::tools::mcp::servers::PlannedServer;
use locum_modes::agent::rights::AgentRights;
use locum_modes::prompts::commands::SlashCommand;
use locum_modes::prompts::commands::expand::{self, TaskPart};
use locum_modes::prompts::skills::SkillSet;

/// What is known of the first message before anything is looked up.
#[derive(Clone, Debug)]
pub struct FirstMessage {
    parts: Vec<TaskPart>,
    words: TaskAuthor,
    materials: Vec<TaskMaterial>,
    /// The slash command that the task calls.
    pub command: Option<SlashCommand>,
    /// The skill that it calls so: its name and what follows it.
    skill: Option<(String, String)>,
    /// The MCP server of the prompt that it calls so.
    server: Option<String>,
}

impl FirstMessage {
    /// Reads a task. A slash command is looked for in the trusted commit, then among the user's
    /// own, then among the skills of the modes that may run.
    ///
    /// # Errors
    /// When the command or skill does not exist, or its file has mistakes.
    pub fn read(
        task: &str,
        words: TaskAuthor,
        config: &TrustedConfig<'_>,
    ) -> Result<Self, RunError> {
        let empty = Self {
            parts: Vec::new(),
            words,
            materials: Vec::new(),
            command: None,
            skill: None,
            server: None,
        };
        let call = expand::parse_invocation(task).filter(|_| words == TaskAuthor::Asker);
        let Some(call) = call else {
            let part = if words == TaskAuthor::Asker {
                expand::parse_plain(task)
            } else {
                TaskPart::Text(task.trim().to_owned())
            };
            return Ok(Self { parts: vec![part], ..empty });
        };
        let file = match config.commands()?.find(call.name) {
            Ok(file) => file,
            Err(_) if config.skills()?.has(call.name) => {
                let skill = Some((call.name.to_owned(), call.arguments.to_owned()));
                return Ok(Self { skill, ..empty });
            }
            Err(hint) => {
                if let Some(prompt) = expand::parse_server_prompt(&call) {
                    let (parts, server) = (vec![TaskPart::Text(prompt.task())], prompt.server);
                    return Ok(Self { parts, server: Some(server.to_owned()), ..empty });
                }
                let what = format!(
                    "there is no command or skill `/{}` in {}",
                    call.name, config.origin.source
                );
                return Err(RunError::usage("task", what).hint(hint));
            }
        };
        for warning in &file.warnings {
            tracing::warn!(
                file = file.origin,
                place = %warning.place,
                warning = warning.message,
                "part of a command has no effect"
            );
        }
        let command =
            file.command.clone().map_err(|mistakes| RunError::file(&file.origin, mistakes))?;
        if call.arguments.len() > expand::ARGUMENTS_LIMIT_BYTES {
            let what = format!(
                "the arguments of `/{}` have more than {} bytes",
                call.name,
                expand::ARGUMENTS_LIMIT_BYTES
            );
            return Err(RunError::usage("task", what));
        }
        let parts = expand::fill(&command.body, call.arguments);
        Ok(Self { parts, command: Some(command), ..empty })
    }

    /// Adds what the task is about.
    pub fn with_materials(self, materials: Vec<TaskMaterial>) -> Self {
        Self { materials, ..self }
    }

    /// Puts in the instructions of the skill that the task calls, as the mode it begins in has it.
    ///
    /// # Errors
    /// When that mode does not have it.
    pub fn with_skill(self, skills: &SkillSet, mode: &str) -> Result<Self, RunError> {
        let Some((name, arguments)) = &self.skill else { return Ok(self) };
        let of_mode = skills.all_of_mode(mode);
        let skill = of_mode.into_iter().find(|skill| skill.name == *name).ok_or_else(|| {
            RunError::usage("task", format!("mode `{mode}` does not have the skill `/{name}`"))
                .hint("name a mode that its `modeSlugs` names")
        })?;
        Ok(Self { parts: vec![TaskPart::Text(skill.instructions(arguments))], ..self })
    }

    /// Checks that the server is defined of whose prompts the task calls one.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_server(&self, servers: &[PlannedServer]) -> Result<(), RunError> {
        let Some(name) = &self.server else { return Ok(()) };
        if servers.iter().any(|server| server.definition.name == *name) {
            return Ok(());
        }
        let defined: Vec<&str> =
            servers.iter().map(|server| server.definition.name.as_str()).collect();
        let hint = match defined.as_slice() {
            [] => "none is defined: `locum mcp add` defines one".to_owned(),
            names => format!("defined are `{}`", names.join("`, `")),
        };
        Err(RunError::usage("task", format!("there is no MCP server `{name}`")).hint(hint))
    }

    /// Returns what the task calls by a slash, for reports.
    pub fn called(&self) -> Option<String> {
        let of_skill = || self.skill.as_ref().map(|(name, _)| format!("/{name} (skill)"));
        self.command
            .as_ref()
            .map(|command| format!("/{} ({})", command.name, command.origin))
            .or_else(of_skill)
    }

    /// Returns what the command leaves of what the modes may do.
    pub fn rights(&self) -> Option<&AgentRights> {
        self.command.as_ref().and_then(|command| command.rights.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstMessage, TaskAuthor};
    use crate::config::environment::Environment;
    use crate::run::source::FileSource;
    use crate::run::trusted::{ConfigOrigin, TrustedConfig};
    use crate::run::user::UserFolder;
    use locum_modes::prompts::commands::expand::TaskPart;
    use locum_workspace::repo::Repo;
    use locum_workspace::seed;
    use pretty_assertions::assert_eq;

    #[test]
    fn slash_command_is_called_by_words_of_the_asker_only() {
        let folder = tempfile::tempdir().unwrap();
        let files = [(".roo/commands/fix.md", "Fix $1."), ("home/locum/commands/fix.md", "Never.")];
        let commit = seed::repository(folder.path(), &files, "first").unwrap();
        let home = folder.path().join("home").display().to_string();
        let environment = Environment::from_pairs([("XDG_CONFIG_HOME".to_owned(), home)]);
        let repo = Repo::open(folder.path()).unwrap();
        let origin = ConfigOrigin {
            source: FileSource::Commit(&repo, commit),
            user: UserFolder::of(&environment),
            environment: &environment,
        };
        let config = TrustedConfig::load(origin, &[], None).unwrap();
        let read = |task: &str, words| FirstMessage::read(task, words, &config).unwrap().parts;
        assert_eq!(read("/fix it", TaskAuthor::Asker), [TaskPart::Text("Fix it.".to_owned())]);
        for task in ["/fix it", "/nothing", "\\/fix"] {
            assert_eq!(read(task, TaskAuthor::Program), [TaskPart::Text(task.to_owned())]);
        }
        assert!(FirstMessage::read("/nothing", TaskAuthor::Asker, &config).is_err());
        for task in ["/mcp:docs:review a \"b\"", "/mcp__docs__review a \"b\""] {
            let [TaskPart::Text(text)] = &read(task, TaskAuthor::Asker)[..] else {
                panic!("{task}")
            };
            assert!(text.starts_with("Get the prompt `review` of the MCP server `docs` by"));
            assert!(text.contains("`args` as follows: a \"b\"\n"), "{text}");
            let program = read(task, TaskAuthor::Program);
            assert_eq!(program, [TaskPart::Text(task.to_owned())]);
        }
        for task in ["/mcp:docs", "/mcp::review", "/mcp__docs", "/mcp:docs:"] {
            assert!(FirstMessage::read(task, TaskAuthor::Asker, &config).is_err(), "{task}");
        }
    }
}
