//! Slash commands as models read them: which there are, and the text of one that a model calls.
//!
//! In: commands; for a call also its arguments and the task's mode. Out: text. What a command asks
//! of a task that begins with it is said and not done: a call switches no mode and no model, limits
//! no tools and runs nothing.

use serde_json::Value;

use crate::prompts::commands::expand::{self, TaskPart};
use crate::prompts::commands::{CommandSet, SlashCommand};
use crate::prompts::mentions;
use locum_base::text::{head, single_blanks};

/// Most commands named in a prompt.
pub(crate) const LISTED_LIMIT: usize = 50;
/// Bytes of one description in a prompt, and of the hint before it.
const DESCRIPTION_LIMIT_BYTES: usize = 200;
const HINT_LIMIT_BYTES: usize = 80;
/// Most mentions of a command's text that are named.
const MENTIONS_NAMED: usize = 10;

impl CommandSet {
    /// Returns the commands that models may call, by name: those without mistakes that their files
    /// do not keep for people.
    pub fn callable(&self) -> Vec<&SlashCommand> {
        let commands = self.files.iter().filter_map(|file| file.command.as_ref().ok());
        commands.filter(|command| command.is_for_models).collect()
    }
}

impl SlashCommand {
    /// Returns its text with the arguments in it, for a model that calls it in a mode, and notes on
    /// what is not done of it.
    pub fn instructions(&self, arguments: &str, mode: &str) -> String {
        let (mut text, mut named, mut notes) = (String::new(), String::new(), self.notes(mode));
        for part in expand::fill(&self.body, arguments) {
            match part {
                TaskPart::Text(part) => {
                    text.push_str(&part);
                    named.push_str(&part);
                }
                TaskPart::Output(command) => {
                    text.push_str(&format!("(the output of `{command}`, which was not run)"));
                    named.push(' ');
                    notes.push(format!("`{command}` was not run: run it if you may and need it"));
                }
            }
        }
        let named: Vec<String> = mentions::parse(&named)
            .into_iter()
            .take(MENTIONS_NAMED)
            .map(|mention| format!("`{}`", mention.written))
            .collect();
        if !named.is_empty() {
            notes.push(format!("not shown here, look yourself: {}", named.join(", ")));
        }
        let notes: String = notes.iter().map(|note| format!("\n- {note}")).collect();
        let notes = if notes.is_empty() { notes } else { format!("\n\nNotes:{notes}") };
        format!("Command `/{}`:\n\n{}{notes}", self.name, text.trim())
    }

    /// Says what of its header has no effect on the task that calls it.
    fn notes(&self, mode: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(wanted) = self.mode.as_ref().filter(|wanted| *wanted != mode) {
            notes.push(format!(
                "it is for mode `{wanted}`, and this task is in `{mode}`: hand it on with \
                 `new_task`, or change the mode with `switch_mode` or `request_mode_switch`, where \
                 you have these; else do it here as far as you can"
            ));
        }
        if self.model.is_some() {
            notes.push("its `model` has no effect: this task keeps its own".to_owned());
        }
        if let (Some(_), Some(tools)) = (&self.rights, &self.allowed_tools) {
            notes.push(format!(
                "for it, use these tools alone: {}; this gives no right to use them",
                words(tools)
            ));
        }
        notes
    }
}

/// Returns the commands of a prompt, one line each.
pub(crate) fn listed(commands: &[&SlashCommand]) -> String {
    let mut lines: String =
        commands.iter().take(LISTED_LIMIT).map(|command| line(command)).collect();
    if commands.len() > LISTED_LIMIT {
        lines.push_str(&format!(
            "- and {} more, which are not named here\n",
            commands.len() - LISTED_LIMIT
        ));
    }
    lines
}

fn line(command: &SlashCommand) -> String {
    let first = || command.body.lines().next().unwrap_or_default();
    let about = command.description.as_deref().unwrap_or_else(first);
    let hint = command.argument_hint.as_deref().map(|hint| clipped(hint, HINT_LIMIT_BYTES));
    let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
    format!("- `/{}{hint}`: {}\n", command.name, clipped(about, DESCRIPTION_LIMIT_BYTES))
}

/// Returns a text on one line, and of a long one the beginning.
fn clipped(text: &str, limit_bytes: usize) -> String {
    let all = single_blanks(text);
    let shown = head(&all, limit_bytes);
    if shown.len() < all.len() { format!("{} ...", shown.trim_end()) } else { all }
}

/// Returns a list of tools as it was written.
fn words(tools: &Value) -> String {
    match tools {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED_LIMIT, listed};
    use crate::prompts::PromptFile;
    use crate::prompts::commands::CommandSet;
    use pretty_assertions::assert_eq;

    fn set(files: &[(&str, &str)]) -> CommandSet {
        let file = |(name, text): &(&str, &str)| PromptFile {
            path: format!(".claude/commands/{name}.md"),
            text: (*text).to_owned(),
        };
        CommandSet::read(&files.iter().map(file).collect::<Vec<_>>())
    }

    fn instructions(text: &str, arguments: &str) -> String {
        set(&[("fix", text)]).callable()[0].instructions(arguments, "code")
    }

    #[test]
    fn a_plain_command_is_its_text_with_the_arguments() {
        assert_eq!(instructions("Fix $1 now.", "a b"), "Command `/fix`:\n\nFix a now.");
        assert_eq!(instructions("Fix.", "$1"), "Command `/fix`:\n\nFix.\n\nArguments: $1");
        let own = instructions("---\nmode: code\nallowed-tools: '*'\n---\nFix.", "");
        assert_eq!(own, "Command `/fix`:\n\nFix.");
    }

    #[test]
    fn what_is_not_done_of_it_is_said() {
        let text = "---\nmode: debug\nmodel: small\nallowed-tools: [Read, \"Bash(git log:*)\"]\n\
                    ---\nSee !`git log $1` and @src/lib.rs";
        assert_eq!(
            instructions(text, "-3"),
            "Command `/fix`:\n\nSee (the output of `git log -3`, which was not run) and \
             @src/lib.rs\n\nNotes:\n- it is for mode `debug`, and this task is in `code`: hand it \
             on with `new_task`, or change the mode with `switch_mode` or `request_mode_switch`, \
             where you have these; else do it here as far as you can\n- its `model` has no effect: \
             this task keeps its own\n- for it, use these tools alone: Read, Bash(git log:*); this \
             gives no right to use them\n- `git log -3` was not run: run it if you may and need \
             it\n- not shown here, look yourself: `@src/lib.rs`"
        );
    }

    #[test]
    fn models_may_call_what_is_whole_and_not_kept_for_people() {
        let text = |value: &str| format!("---\ndisable-model-invocation: {value}\n---\nx");
        let (yes, no, odd) = (text("true"), text("false"), text("\"yes\""));
        let set = set(&[
            ("yes", &yes),
            ("no", &no),
            ("odd", &odd),
            ("broken", "---\nreadOnly: true\n---\nx"),
            ("plain", "x"),
        ]);
        let names: Vec<&str> = set.callable().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["no", "plain"]);
    }

    #[test]
    fn a_prompt_lists_some_with_hint_and_beginning() {
        let long =
            format!("---\ndescription: {}\nargument-hint: \"[issue]\"\n---\nx", "a ".repeat(300));
        let set_of_two = set(&[("fix", &long), ("web/test", "Run the\nbrowser tests.")]);
        let line = format!("- `/fix [issue]`: {}...\n", "a ".repeat(100));
        assert_eq!(listed(&set_of_two.callable()), format!("{line}- `/web:test`: Run the\n"));
        let names: Vec<String> = (0..LISTED_LIMIT + 2).map(|at| format!("c{at}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        let many = listed(&set(&many).callable());
        assert!(many.ends_with("- and 2 more, which are not named here\n"), "{many}");
        assert_eq!(many.lines().count(), LISTED_LIMIT + 1);
    }
}
