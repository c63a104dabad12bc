//! Slash commands: texts of a repository that a task may begin with, `/name what it is about`. In:
//! files and where they lie; out: the commands by name, each with what is wrong with its file.
//! Reads nothing: what a command's text refers to is looked up by the run.

pub(crate) mod called;
pub mod expand;

use crate::ModeSource;
use crate::agent::rights::AgentRights;
use crate::agent::{self, ToolsLeft};
use crate::prompts::PromptFile;
use crate::prompts::head::{FrontMatterKeys, HeadReader};
use locum_files::diagnostic::Diagnostic;
use locum_files::fields;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Folders of a repository that hold commands, each with everything below it; a command of an
/// earlier one takes the place of a later one's.
pub const FOLDERS: &[&str] = &[OWN_FOLDER, ".roo/commands", ".kode/commands", ".claude/commands"];
/// The folder whose files may have no mistakes.
const OWN_FOLDER: &str = ".locum/commands";
/// The folder of the user's configuration that holds commands; weaker than every repository's.
pub const USER_FOLDER: &str = "commands";
/// How names of programs end that are commands elsewhere.
const PROGRAM_ENDINGS: &[&str] = &["ts", "mts", "cts", "tsx", "js", "mjs", "cjs"];
/// Longest text of a command, in bytes.
pub(crate) const COMMAND_LIMIT_BYTES: usize = 64 * 1024;
/// Longest name, in bytes.
const NAME_LIMIT_BYTES: usize = 100;

const KEYS: FrontMatterKeys = FrontMatterKeys {
    read: &[
        "description",
        "aliases",
        "argument-hint",
        "mode",
        "model",
        "allowed-tools",
        "disable-model-invocation",
    ],
    passed_over: &[
        "name",
        "when_to_use",
        "whenToUse",
        "max-thinking-tokens",
        "user-invocable",
        "agent",
        "subtask",
        "context",
        "hooks",
        "category",
        "tags",
        "version",
        "author",
        "arguments",
    ],
};

/// A slash command, read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlashCommand {
    /// What it is called by, without the slash; `:` stands between folders and name.
    pub name: String,
    /// Other names it is called by.
    pub aliases: Vec<String>,
    /// Path of the file.
    pub origin: String,
    /// One line for lists.
    pub description: Option<String>,
    /// What may follow its name.
    pub argument_hint: Option<String>,
    /// The mode its task begins in.
    pub mode: Option<String>,
    /// The profile or model its task runs on.
    pub model: Option<String>,
    /// What it leaves of what the modes may do.
    pub rights: Option<AgentRights>,
    /// The tools it leaves, as written.
    pub allowed_tools: Option<serde_json::Value>,
    /// Whether models may call it, and are shown it.
    pub is_for_models: bool,
    /// What is to be done.
    pub body: String,
}

/// A file of a command, read.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandFile {
    /// Name after the slash.
    pub name: String,
    /// Path of the file.
    pub origin: String,
    /// The command, or every mistake in the file.
    pub command: Result<SlashCommand, Vec<Diagnostic>>,
    /// What the file says without effect.
    pub warnings: Vec<Diagnostic>,
}

/// The commands of a run: one file a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandSet {
    /// Sorted by name.
    pub files: Vec<CommandFile>,
}

impl CommandSet {
    /// Reads files, the strongest first: the first of a name counts. Files that are not commands
    /// are left out.
    pub fn read(texts: &[PromptFile]) -> Self {
        let mut files: Vec<CommandFile> = Vec::new();
        for (text, name) in texts.iter().filter_map(|text| Some((text, name_of(&text.path)?))) {
            if files.iter().all(|known| known.name != name) {
                files.push(read(&name, text));
            }
        }
        warn_of_aliases(&mut files);
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Self { files }
    }

    /// Finds a command's file by the name it is called by, or else by an alias; case matters.
    ///
    /// # Errors
    /// What to do instead.
    pub fn find(&self, name: &str) -> Result<&CommandFile, String> {
        // No alias is the name of another command.
        let is_called =
            |file: &&CommandFile| file.name == name || file.aliases().any(|alias| alias == name);
        self.files.iter().find(is_called).ok_or_else(|| {
            let names =
                self.files.iter().flat_map(|file| file.aliases().chain([file.name.as_str()]));
            let known: Vec<&str> = names.collect();
            let other = "a task that is to begin with a slash begins with `\\/`";
            match fields::nearest(name, &known) {
                Some(near) => format!("did you mean `/{near}`? {other}"),
                None if known.is_empty() => {
                    format!("commands are read from {}; {other}", FOLDERS.join(", "))
                }
                None => format!(
                    "known: {}; {other}",
                    known.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ")
                ),
            }
        })
    }
}

impl SlashCommand {
    /// Returns true where this is its name or an alias of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

impl CommandFile {
    /// Returns the other names of its command; none of one with mistakes.
    fn aliases(&self) -> impl Iterator<Item = &str> {
        self.command.iter().flat_map(|command| command.aliases.iter().map(String::as_str))
    }
}

/// Takes away aliases that are the name of another command, or an alias of a stronger one, with a
/// warning.
fn warn_of_aliases(files: &mut [CommandFile]) {
    let mut taken: Vec<(String, String)> =
        files.iter().map(|file| (file.name.clone(), file.origin.clone())).collect();
    for file in files {
        let CommandFile { origin, command: Ok(command), warnings, .. } = file else { continue };
        command.aliases.retain(|alias| {
            let by = taken.iter().find(|(name, _)| name == alias).map(|(_, by)| by.clone());
            match by {
                Some(by) => warnings.push(Diagnostic::about(
                    "",
                    format!("the alias `{alias}` has no effect: `{by}` has this name"),
                )),
                None => taken.push((alias.clone(), origin.clone())),
            }
            taken.last().is_some_and(|(name, by)| name == alias && by == origin)
        });
    }
}

/// Returns true for a file of a repository that is a command.
pub fn is_command_file(path: &str) -> bool {
    FOLDERS.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
        && name_of(path).is_some()
}

/// Returns true for a file of a repository that other agents run as a command.
pub fn is_program(path: &str) -> bool {
    let lies_there = FOLDERS
        .iter()
        .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    lies_there && path.rsplit_once('.').is_some_and(|(_, ending)| PROGRAM_ENDINGS.contains(&ending))
}

/// Returns what is said of such a file.
pub fn program_warning() -> Diagnostic {
    let message = "a command that is a program is not run: nothing would judge what it does";
    Diagnostic::about("", message)
        .hint("write what it does into a `.md` file beside it; commands in its text are judged")
}

/// Returns the name of the command in a file: its path below its folder, `:` in place of `/`,
/// without the ending.
fn name_of(path: &str) -> Option<String> {
    let of_repository =
        FOLDERS.iter().find_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    let below = of_repository.or_else(|| {
        path.strip_prefix('/')?.rsplit_once(&format!("/{USER_FOLDER}/")).map(|(_, below)| below)
    })?;
    let name = below.strip_suffix(".md")?;
    // `readme.md` is a command like any other; a description of the folder shows by its capitals.
    let is_readme = matches!(name.rsplit('/').next(), Some("README" | "Readme" | "ReadMe"));
    let fits = name.len() <= NAME_LIMIT_BYTES && name.split('/').all(is_word);
    (fits && !is_readme).then(|| name.replace('/', ":"))
}

/// Names are of letters, digits, `_`, `-` and `.`; they begin with a letter or digit.
fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphanumeric())
        && word.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

fn read(name: &str, file: &PromptFile) -> CommandFile {
    let mut reader = HeadReader::new(file, file.path.starts_with(OWN_FOLDER), COMMAND_LIMIT_BYTES);
    let (head, body) = reader.split();
    if body.is_empty() {
        reader.wrong(Position::default(), "no text says what the command does");
    }
    let mut command = SlashCommand {
        name: name.to_owned(),
        origin: file.path.clone(),
        is_for_models: true,
        body: body.to_owned(),
        ..SlashCommand::default()
    };
    if let Some(head) = head {
        reader.check_keys(&head, KEYS);
        command.description = reader.text(&head, "description");
        command.aliases = aliases(&head, &mut reader);
        command.argument_hint = hint(&head, &mut reader);
        command.mode = reader.text(&head, "mode");
        command.model = reader.text(&head, "model").filter(|model| model != "inherit");
        let kept = head.get("disable-model-invocation").map(|node| &node.value);
        // Any other value may be meant to keep it from models.
        command.is_for_models =
            matches!(kept, None | Some(YamlValue::Bool(false) | YamlValue::Null));
        if let Some(node) = head.get("allowed-tools") {
            command.rights = rights(node, &file.path, &mut reader);
            command.allowed_tools = Some(node.to_json()).filter(|tools| !tools.is_null());
        }
    }
    let (command, warnings) = reader.finish(command);
    CommandFile { name: name.to_owned(), origin: file.path.clone(), command, warnings }
}

/// Reads `aliases`: one name, several with commas between them, or a list.
fn aliases(head: &YamlNode, reader: &mut HeadReader<'_>) -> Vec<String> {
    let Some(node) = head.get("aliases") else { return Vec::new() };
    let texts: Vec<(Position, String)> = match node.list() {
        Some(items) => items
            .iter()
            .map(|item| match &item.value {
                YamlValue::Text(text) | YamlValue::Number(text) => (item.place, text.clone()),
                _ => (item.place, String::new()),
            })
            .collect(),
        None => {
            let text = reader.text(head, "aliases").unwrap_or_default();
            text.split(',').map(|name| (node.place, name.to_owned())).collect()
        }
    };
    let mut names = Vec::new();
    for (place, text) in texts {
        let name = text.trim().trim_start_matches('/');
        let fits = !name.is_empty() && name.len() <= NAME_LIMIT_BYTES;
        if fits && name.split(':').all(is_word) {
            names.push(name.to_owned());
        } else if !text.trim().is_empty() || node.list().is_some() {
            let message = format!("`{}` is no name of a command", text.trim());
            let hint = "names are of letters, digits, `_`, `-`, `.`, and `:` between parts";
            reader.put_up_with(Diagnostic::new(place, message).hint(hint));
        }
    }
    names
}

/// `argument-hint: [a]` without quotes is a list to YAML.
fn hint(head: &YamlNode, reader: &mut HeadReader<'_>) -> Option<String> {
    match head.get("argument-hint").and_then(YamlNode::list) {
        Some(words) => Some(format!(
            "[{}]",
            words.iter().filter_map(YamlNode::text).collect::<Vec<_>>().join(", ")
        )),
        None => reader.text(head, "argument-hint"),
    }
}

fn rights(node: &YamlNode, origin: &str, reader: &mut HeadReader<'_>) -> Option<AgentRights> {
    let mistake =
        |error: Diagnostic| Diagnostic { origin: String::new(), path: String::new(), ..error };
    match agent::parse_allowed_tools(node, &ModeSource::Project { file: origin.to_owned() }) {
        Ok(ToolsLeft { rights, warnings }) => {
            reader.warnings.extend(warnings.into_iter().map(mistake));
            rights
        }
        Err(errors) => {
            reader.mistakes.extend(errors.into_iter().map(mistake));
            None
        }
    }
}

#[cfg(test)]
mod tests;
