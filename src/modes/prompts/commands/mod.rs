//! Slash commands: texts of a repository that a task may begin with, `/name what it is about`. In:
//! files and where they lie; out: the commands by name, each with what is wrong with its file.
//! Reads nothing: what a command's text refers to is looked up by the run.

pub mod expand;

use crate::ModeSource;
use crate::agent::rights::Rights;
use crate::agent::{self, ToolsLeft};
use crate::prompts::PromptFile;
use crate::prompts::head::{HeadReader, Keys};
use locum_files::fields;
use locum_files::yaml::{Mistake, Node, Place};

/// Folders of a repository that hold commands, each with everything below it; a command of an
/// earlier one takes the place of a later one's.
pub const FOLDERS: &[&str] = &[OWN_FOLDER, ".roo/commands", ".kode/commands", ".claude/commands"];
/// The folder whose files may have no mistakes.
const OWN_FOLDER: &str = ".locum/commands";
/// The folder of the user's configuration that holds commands; weaker than every repository's.
pub const USER_FOLDER: &str = "commands";
/// Longest text of a command, in bytes.
pub const COMMAND_LIMIT_BYTES: usize = 64 * 1024;
/// Longest name, in bytes.
const NAME_LIMIT_BYTES: usize = 100;

const KEYS: Keys = Keys {
    read: &["description", "argument-hint", "mode", "model", "allowed-tools"],
    passed_over: &[
        "name",
        "when_to_use",
        "whenToUse",
        "max-thinking-tokens",
        "disable-model-invocation",
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

/// A slash command.
#[derive(Clone, Debug, PartialEq)]
pub struct SlashCommand {
    /// What it is called by, without the slash; `:` stands between folders and name.
    pub name: String,
    /// The file.
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
    pub rights: Option<Rights>,
    /// The tools it leaves, as written.
    pub allowed_tools: Option<serde_json::Value>,
    /// What is to be done.
    pub body: String,
}

/// A file of a command, read.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandFile {
    /// The command's name.
    pub name: String,
    /// The file.
    pub origin: String,
    /// The command, or every mistake in the file.
    pub command: Result<SlashCommand, Vec<Mistake>>,
    /// What the file says without effect.
    pub warnings: Vec<Mistake>,
}

/// The commands of a run: one file a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandSet {
    /// Sorted by name.
    pub files: Vec<CommandFile>,
}

impl CommandSet {
    /// Reads files, the strongest first: the first of a name counts. Files that are no commands are
    /// left out.
    #[must_use]
    pub fn read(texts: &[PromptFile]) -> Self {
        let mut files: Vec<CommandFile> = Vec::new();
        for (text, name) in texts.iter().filter_map(|text| Some((text, name_of(&text.path)?))) {
            if files.iter().all(|known| known.name != name) {
                files.push(read(&name, text));
            }
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Self { files }
    }

    /// Finds a command's file by the name it is called by; case matters.
    ///
    /// # Errors
    /// What to do instead.
    pub fn find(&self, name: &str) -> Result<&CommandFile, String> {
        self.files.iter().find(|file| file.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
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

/// Returns true for a file of a repository that is a command.
#[must_use]
pub fn is_command_file(path: &str) -> bool {
    FOLDERS.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
        && name_of(path).is_some()
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
    let is_readme = name.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("readme"));
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
        reader.wrong(Place::default(), "no text says what the command does");
    }
    let mut command = SlashCommand {
        name: name.to_owned(),
        origin: file.path.clone(),
        description: None,
        argument_hint: None,
        mode: None,
        model: None,
        rights: None,
        allowed_tools: None,
        body: body.to_owned(),
    };
    if let Some(head) = head {
        reader.check_keys(&head, KEYS);
        command.description = reader.text(&head, "description");
        command.argument_hint = hint(&head, &mut reader);
        command.mode = reader.text(&head, "mode");
        command.model = reader.text(&head, "model").filter(|model| model != "inherit");
        if let Some(node) = head.get("allowed-tools") {
            command.rights = rights(node, &file.path, &mut reader);
            command.allowed_tools = Some(node.to_json()).filter(|tools| !tools.is_null());
        }
    }
    let (command, warnings) = reader.finish(command);
    CommandFile { name: name.to_owned(), origin: file.path.clone(), command, warnings }
}

/// `argument-hint: [a]` without quotes is a list to YAML.
fn hint(head: &Node, reader: &mut HeadReader<'_>) -> Option<String> {
    match head.get("argument-hint").and_then(Node::list) {
        Some(words) => Some(format!(
            "[{}]",
            words.iter().filter_map(Node::text).collect::<Vec<_>>().join(", ")
        )),
        None => reader.text(head, "argument-hint"),
    }
}

fn rights(node: &Node, origin: &str, reader: &mut HeadReader<'_>) -> Option<Rights> {
    let mistake = |error: Mistake| Mistake { origin: String::new(), path: String::new(), ..error };
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
mod tests {
    use super::{CommandSet, is_command_file};
    use crate::prompts::PromptFile;
    use crate::{Group, builtin};
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    fn file(path: &str, text: &str) -> PromptFile {
        PromptFile { path: path.to_owned(), text: text.to_owned() }
    }

    /// Reads one file of ours: the mistakes, else nothing.
    fn mistakes(text: &str) -> Vec<String> {
        let set = CommandSet::read(&[file(".locum/commands/x.md", text)]);
        let told = set.files[0].command.as_ref().err().cloned().unwrap_or_default();
        told.iter().map(|mistake| format!("{}: {}", mistake.place, mistake.message)).collect()
    }

    #[test]
    fn names_are_paths_below_the_folder() {
        let paths = [
            ".claude/commands/front end/x.md",
            ".claude/commands/web/test.md",
            ".roo/commands/README.md",
            ".roo/commands/fix.md",
            ".roo/commands/fix.txt",
            ".roo/commands/-x.md",
            "docs/.roo/commands/no.md",
            ".locum/commands/fix.md",
            "/home/u/.config/locum/commands/mine.md",
        ];
        let files: Vec<PromptFile> = paths.iter().map(|path| file(path, path)).collect();
        let set = CommandSet::read(&[&files[7..], &files[..7]].concat());
        let found: Vec<(&str, &str)> =
            set.files.iter().map(|file| (file.name.as_str(), file.origin.as_str())).collect();
        assert_eq!(
            found,
            [
                ("fix", ".locum/commands/fix.md"),
                ("mine", "/home/u/.config/locum/commands/mine.md"),
                ("web:test", ".claude/commands/web/test.md"),
            ]
        );
        assert!(
            is_command_file(paths[1])
                && !is_command_file(paths[2])
                && !is_command_file(paths[6])
                && !is_command_file(paths[8])
        );
    }

    #[test]
    fn reads_a_head_in_full() {
        let text = "---\ndescription: Fix it\nargument-hint: [issue]\nmode: debug\nmodel: \
                    small\nallowed-tools: Read, Bash(git diff:*)\n---\n\nDo it.\n";
        let set = CommandSet::read(&[file(".claude/commands/fix.md", text)]);
        let command = set.find("fix").unwrap().command.as_ref().unwrap();
        let told = [&command.description, &command.argument_hint, &command.mode, &command.model]
            .map(|text| text.as_deref().unwrap());
        assert_eq!(
            (told, command.body.as_str()),
            (["Fix it", "[issue]", "debug", "small"], "Do it.")
        );
        let code = builtin::modes().into_iter().find(|mode| mode.slug == "code").unwrap();
        let narrowed = command.rights.as_ref().unwrap().narrow(&code);
        assert_eq!(
            narrowed.groups.iter().map(|entry| entry.group).collect::<Vec<_>>(),
            [Group::Read, Group::Command]
        );
        assert!(
            narrowed.tools().contains(&ToolName::ReadFile)
                && !narrowed.tools().contains(&ToolName::ListFiles)
        );
    }

    #[test]
    fn narrowing_never_gives_what_a_mode_does_not_have() {
        let set = CommandSet::read(&[file(
            ".claude/commands/all.md",
            "---\nallowed-tools: Read, Edit, Write, Bash, mcp__a\n---\nDo it.",
        )]);
        let rights = set.files[0].command.as_ref().unwrap().rights.clone().unwrap();
        for mode in builtin::modes() {
            let narrowed = rights.narrow(&mode);
            assert!(
                narrowed.tools().iter().all(|tool| mode.tools().contains(tool)),
                "{}",
                mode.slug
            );
            assert_eq!(
                narrowed
                    .groups
                    .iter()
                    .map(|entry| &entry.file_regex)
                    .collect::<Vec<_>>()
                    .is_empty(),
                narrowed.groups.is_empty()
            );
        }
        let all = CommandSet::read(&[file(
            ".claude/commands/all.md",
            "---\nallowed-tools: '*'\n---\nDo it.",
        )]);
        assert_eq!(all.files[0].command.as_ref().unwrap().rights, None);
    }

    #[test]
    fn our_own_files_have_no_mistakes_and_others_are_read_as_there() {
        assert_eq!(mistakes("Do it."), Vec::<String>::new());
        assert_eq!(
            mistakes("---\nmode: [a]\ndescripton: x\n---\nDo it."),
            ["3:1: key `descripton` has no effect", "2:7: `mode` has to be text, found a list"]
        );
        assert_eq!(
            mistakes("---\nmode: code\n---\n \n"),
            ["0:0: no text says what the command does"]
        );
        assert!(mistakes(&"x".repeat(70_000))[0].contains("longer than 65536"));
        let broken = "---\ndescription: \"never closed\n---\n\nFollow @docs/x.md";
        let set = CommandSet::read(&[file(".roo/commands/x.md", broken)]);
        assert_eq!(set.files[0].command.as_ref().unwrap().body, "Follow @docs/x.md");
        assert_eq!(set.files[0].warnings.len(), 1);
        assert_eq!(mistakes(broken).len(), 1);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let set = CommandSet::read(&[
            file(".roo/commands/release.md", "x"),
            file(".roo/commands/fix.md", "x"),
        ]);
        assert!(set.find("realease").unwrap_err().starts_with("did you mean `/release`?"));
        assert!(set.find("quite-other").unwrap_err().starts_with("known: /fix, /release;"));
        assert!(
            CommandSet::default()
                .find("x")
                .unwrap_err()
                .starts_with("commands are read from .locum/commands, ")
        );
    }
}
