//! `run_slash_command`: gives the text of a slash command, for the model to follow. The text comes
//! from where a task's own `/command` comes from, the trusted ref and the user's own files, and
//! never from the checkout. Nothing of it is done here.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::text::{code_list, head};
use locum_files::fields::nearest;
use locum_modes::prompts::commands::SlashCommand;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Longest arguments of a command, in bytes. A text may name them many times.
const ARGUMENTS_LIMIT_BYTES: usize = 8 * 1024;
/// Longest text that is given, in bytes.
const TEXT_LIMIT_BYTES: usize = 96 * 1024;
/// Bytes of a name in an error.
const NAME_LIMIT_BYTES: usize = 100;
/// Most names in an error.
const NAMES_LIMIT: usize = 50;

/// A slash command about to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSlashCommand {
    name: String,
    text: String,
}

impl Tool for RunSlashCommand {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Get the text of a slash command, to follow it. It switches \
        and runs nothing by itself.";
    const REQUIRED: &'static [&'static str] = &["command"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[
            ("name", "command"),
            ("command_name", "command"),
            ("slash_command", "command"),
            ("arguments", "args"),
        ]],
        hook_names: &["SlashCommand"],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Commands);

    fn properties() -> Value {
        json!({
            "command": { "type": "string", "description": "Its name" },
            "args": { "type": ["string", "null"], "description": "Its arguments" }
        })
    }

    /// Checks the arguments and finds the command.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let command = arguments.words("command", "the name of a slash command")?;
        let given = arguments.optional_text("args", "what follows the command's name")?;
        arguments.finish()?;
        let (name, behind) = split(&command);
        let about = match (behind, given.as_deref().unwrap_or_default().trim()) {
            (behind, "") => behind,
            ("", given) => given,
            (_, _) => {
                return Err(CallError(
                    "`command` of `run_slash_command` holds arguments behind the name, and `args` \
                     holds some too. Give all of them in `args`."
                        .to_owned(),
                ));
            }
        };
        if about.len() > ARGUMENTS_LIMIT_BYTES {
            return Err(CallError(format!(
                "The arguments of a slash command have at most {ARGUMENTS_LIMIT_BYTES} bytes."
            )));
        }
        let command = find(name, context)?;
        let text = command.instructions(about, &context.mode.slug);
        if text.len() > TEXT_LIMIT_BYTES {
            return Err(CallError(format!(
                "With these arguments, the text of `/{name}` has more than {TEXT_LIMIT_BYTES} \
                 bytes. Give it shorter ones."
            )));
        }
        Ok(Self { name: name.to_owned(), text })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        format!("read the command /{}", self.name)
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

/// Splits a call at the blank behind the name: `/fix issue 12`.
fn split(command: &str) -> (&str, &str) {
    let command = command.trim();
    let command = command.strip_prefix('/').unwrap_or(command);
    let (name, behind) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    (name, behind.trim())
}

/// Finds a command that models may call, or says what to do instead.
fn find<'c>(name: &str, context: ToolContext<'c>) -> Result<&'c SlashCommand, CallError> {
    let callable = context.commands.map(|commands| commands.callable()).unwrap_or_default();
    if let Some(command) = callable.iter().copied().find(|command| command.is_called(name)) {
        return Ok(command);
    }
    let files = context.commands.map(|commands| commands.files.as_slice()).unwrap_or_default();
    let instead = match files.iter().find(|file| file.name == name).map(|file| &file.command) {
        Some(Ok(_)) => return Err(CallError(format!("`/{name}` is for people to call, not you."))),
        Some(Err(mistakes)) => {
            let why = mistakes.first().map(|mistake| mistake.message.as_str()).unwrap_or_default();
            return Err(CallError(format!("The file of `/{name}` has mistakes: {why}.")));
        }
        None => known(name, &callable),
    };
    let skills = context.skills.map(|skills| skills.of_mode(&context.mode.slug));
    let is_skill = skills.unwrap_or_default().iter().any(|skill| skill.name == name);
    let name = head(name, NAME_LIMIT_BYTES);
    let instead =
        if is_skill { "It is a skill: read it with `skill`.".to_owned() } else { instead };
    Err(CallError(format!("There is no command `/{name}`. {instead}")))
}

/// Says which commands there are, the nearest first.
fn known(name: &str, callable: &[&SlashCommand]) -> String {
    let names: Vec<String> = callable.iter().map(|command| format!("/{}", command.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        return "There are none.".to_owned();
    }
    let near = nearest(&format!("/{name}"), &names);
    let near = near.map(|near| format!("Did you mean `{near}`? ")).unwrap_or_default();
    let listed = code_list(names.get(..NAMES_LIMIT).unwrap_or(&names));
    match names.len().saturating_sub(NAMES_LIMIT) {
        0 => format!("{near}There are: {listed}."),
        more => format!("{near}There are: {listed}, and {more} more."),
    }
}

#[cfg(test)]
mod tests {
    use super::{ARGUMENTS_LIMIT_BYTES, NAMES_LIMIT};
    use crate::tools::fixture::ToolFixture;
    use locum_base::tool::ToolName;
    use locum_modes::prompts::PromptFile;
    use locum_modes::prompts::commands::CommandSet;
    use locum_modes::prompts::skills::SkillSet;
    use locum_policy::intent::{Act, Intent};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn file(path: &str, text: &str) -> PromptFile {
        PromptFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn fixture() -> ToolFixture {
        let mut fixture = ToolFixture::new(&[]);
        let many = "$ARGUMENTS ".repeat(5000);
        fixture.commands = CommandSet::read(&[
            file(".claude/commands/fix.md", "Fix $1 of $2."),
            file(".claude/commands/web/test.md", "Test it."),
            file(".claude/commands/many.md", &many),
            file(".claude/commands/people.md", "---\ndisable-model-invocation: true\n---\nx"),
            file(".claude/commands/broken.md", "---\nreadOnly: true\n---\nx"),
        ]);
        let skill = "---\nname: notes\ndescription: d\n---\nx";
        fixture.skills = SkillSet::read(&[file(".claude/skills/notes/SKILL.md", skill)]);
        fixture
    }

    #[test]
    fn gives_the_text_by_every_form_of_the_call() {
        for (name, arguments) in [
            ("run_slash_command", json!({ "command": "fix", "args": "it now" })),
            ("run_slash_command", json!({ "command": "/fix", "args": " it now " })),
            ("run_slash_command", json!({ "name": "fix", "arguments": "it now" })),
            ("SlashCommand", json!({ "command": " /fix  it now" })),
            ("SlashCommand", json!({ "command": "/fix it now", "args": null })),
        ] {
            let call = fixture().parse(name, &arguments.to_string(), ToolName::ALL).unwrap();
            assert_eq!(call.tool(), ToolName::RunSlashCommand);
            assert_eq!((call.intents(), call.only_reads()), (vec![Intent::Session], true));
            assert_eq!(call.headline(), "read the command /fix");
            let seen = fixture().call(name, &arguments.to_string());
            assert!(!seen.is_error && seen.control.is_none(), "{}", seen.text);
            assert_eq!(seen.text, "Command `/fix`:\n\nFix it of now.");
        }
    }

    #[test]
    fn says_what_there_is_instead() {
        let long = "x".repeat(ARGUMENTS_LIMIT_BYTES + 1);
        for (arguments, message) in [
            (json!({}), "`run_slash_command` needs `command`"),
            (json!({ "command": " " }), "`command` of `run_slash_command` is empty"),
            (json!({ "command": "/" }), "There is no command `/`. There are: `/fix`, `/many`, "),
            (json!({ "command": "fixx" }), "Did you mean `/fix`? There are: `/fix`, `/many`, "),
            (json!({ "command": "quite-other" }), "There are: `/fix`, `/many`, `/web:test`."),
            (json!({ "command": "../fix" }), "There is no command `/../fix`."),
            (json!({ "command": "people" }), "`/people` is for people to call, not you."),
            (json!({ "command": "broken" }), "The file of `/broken` has mistakes: "),
            (json!({ "command": "notes" }), "It is a skill: read it with `skill`."),
            (json!({ "command": "/fix a", "args": "b" }), "Give all of them in `args`."),
            (json!({ "command": "fix", "args": long }), "have at most 8192 bytes"),
            (json!({ "command": "many", "args": "x".repeat(100) }), "Give it shorter ones."),
        ] {
            let seen = fixture().call("run_slash_command", &arguments.to_string());
            assert!(seen.is_error && seen.text.contains(message), "{message}: {}", seen.text);
        }
        let none = ToolFixture::new(&[]).call("run_slash_command", r#"{"command": "x"}"#);
        assert!(none.text.contains("There are none."), "{}", none.text);
    }

    #[test]
    fn an_error_names_a_bounded_number_of_commands() {
        let mut fixture = ToolFixture::new(&[]);
        let files = (0..NAMES_LIMIT + 3).map(|at| file(&format!(".roo/commands/c{at:03}.md"), "x"));
        fixture.commands = CommandSet::read(&files.collect::<Vec<_>>());
        let long = format!(r#"{{"command": "{}"}}"#, "y".repeat(5000));
        let seen = fixture.call("run_slash_command", &long);
        assert!(seen.text.ends_with("`/c049`, and 3 more."), "{}", seen.text);
        assert!(seen.text.len() < 1000);
    }
}
