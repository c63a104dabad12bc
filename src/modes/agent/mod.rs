//! Reads agent files: Markdown whose head says what an agent may do and whose body is its prompt.
//! In: a file's text and where it stands; out: the modes it comes to, or every mistake. What
//! another program would do with an agent and this one cannot is said in a warning.
//!
//! One reader for the files of Claude Code and Kode (`tools: Read, Bash(git diff:*)`), of Kilo Code
//! and OpenCode (`permission:` maps, `tools: { bash: false }`) and for plain ones with the sections
//! Instructions, Tools and Context.

pub mod rights;
mod sections;
pub mod tools;

use crate::agent::rights::AgentRights;
use crate::limit_words::looks_like_limit;
use crate::loader::{ModeDefinitions, ModeErrors};
use crate::places::AGENTS_FILE;
use crate::{Mode, ModeEntry, ModeModel, ModeSource, ModelNeed, Temperature};
use locum_files::diagnostic::Diagnostic;
use locum_files::front_matter;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Keys of a head that mean something to another program only.
const PASSED_OVER: &[&str] = &[
    "color",
    "hidden",
    "effort",
    "maxTurns",
    "top_p",
    "variant",
    "forkContext",
    "permissionMode",
    "disable-model-invocation",
    "source",
    "options",
    "requirements",
    "skills",
    "memory",
    "hooks",
    "version",
    "author",
];

/// Keys of a head that are read.
const KEYS: &[&str] = &[
    "name",
    "displayName",
    "description",
    "whenToUse",
    "model",
    "model_name",
    "tools",
    "disallowedTools",
    "permission",
    "disable",
    "prompt",
    "mode",
    "steps",
    "maxSteps",
    "temperature",
];

/// Returns the slug of an agent with this name, or whose file has this path below its folder,
/// without its ending. A name that is a slug stays as it is; any other is reduced to small letters,
/// digits and `-`.
pub fn slug_of(name: &str) -> String {
    let name = name.strip_suffix(".agent").unwrap_or(name);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if !name.is_empty() && name.chars().all(fits) {
        return name.to_owned();
    }
    let plain: String = name
        .chars()
        .map(|letter| if fits(letter) { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// Returns the slugs that the agent of a file with mistakes may have been meant to have: that of
/// its path, and that of its name, as far as its head can be read.
pub fn slugs_of_broken(text: &str, below: &str) -> Vec<String> {
    let head = front_matter::parse(text).ok().flatten().map(|found| found.head);
    let name = head.as_ref().and_then(|head| head.get("name")).and_then(YamlNode::text);
    [Some(below), name].into_iter().flatten().map(|name| slug_of(name.trim())).collect()
}

/// Reads an agent file. `below` is its path below the folder of agents, without its ending.
///
/// # Errors
/// Every mistake at once.
pub fn parse(text: &str, below: &str, source: &ModeSource) -> Result<ModeDefinitions, ModeErrors> {
    let mut reader = AgentReader { source, errors: Vec::new(), file: ModeDefinitions::default() };
    match front_matter::parse(text) {
        Ok(Some(found)) => {
            if let Some(mistake) = &found.mistake {
                let hint = Some("put texts with `: ` into quotes".to_owned());
                reader.warn(
                    mistake.place,
                    "",
                    format!("the head is not YAML and is read line by line: {}", mistake.message),
                    hint,
                );
            }
            reader.agent(&found.head, found.body, below);
        }
        Ok(None) => match sections::agents(text).into_iter().next() {
            Some(described) => reader.described(&described, below),
            None => {
                let hint = Some(
                    "begin it with `---`, keys such as `name` and `description`, and `---`"
                        .to_owned(),
                );
                reader.wrong(
                    Position::default(),
                    "",
                    "no head and no section `Instructions`, so this describes no agent".to_owned(),
                    hint,
                );
            }
        },
        Err(mistake) => reader.mistake(mistake),
    }
    reader.done(text)
}

/// Reads the agents that sections of `AGENTS.md` describe: a title, and below it `Instructions` and
/// `Tools`.
///
/// # Errors
/// Every mistake at once.
pub fn parse_agents_file(text: &str, source: &ModeSource) -> Result<ModeDefinitions, ModeErrors> {
    let mut reader = AgentReader { source, errors: Vec::new(), file: ModeDefinitions::default() };
    for described in sections::agents(text).iter().filter(|described| described.tools.is_some()) {
        reader.described(described, &described.title);
    }
    reader.done(text)
}

/// What a command leaves of what a mode may do, as its file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsLeft {
    /// `None` where it takes nothing away.
    pub rights: Option<AgentRights>,
    /// Words without effect.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the `allowed-tools` of a slash command, in the words agent files have.
///
/// # Errors
/// Every mistake at once; without the line it is on.
pub fn parse_allowed_tools(
    node: &YamlNode,
    source: &ModeSource,
) -> Result<ToolsLeft, Vec<Diagnostic>> {
    let mut reader = AgentReader { source, errors: Vec::new(), file: ModeDefinitions::default() };
    let rights = reader.left_by_command(node);
    if reader.errors.is_empty() {
        Ok(ToolsLeft { rights, warnings: reader.file.warnings })
    } else {
        Err(reader.errors)
    }
}

struct AgentReader<'a> {
    source: &'a ModeSource,
    errors: Vec<Diagnostic>,
    file: ModeDefinitions,
}

impl AgentReader<'_> {
    fn done(self, text: &str) -> Result<ModeDefinitions, ModeErrors> {
        if self.errors.is_empty() {
            return Ok(self.file);
        }
        Err(ModeErrors::of(self.errors, text))
    }

    fn agent(&mut self, head: &YamlNode, body: &str, below: &str) {
        for entry in head.entries().unwrap_or_default() {
            let key = entry.key.as_str();
            if KEYS.contains(&key) || PASSED_OVER.contains(&key) {
                continue;
            }
            if looks_like_limit(key) {
                let message = format!("`{key}` looks like a limit, and is not known");
                let hint = "an agent is limited by `tools`, `disallowedTools` and `permission`";
                self.wrong(entry.key_place, key, message, Some(hint.to_owned()));
            } else {
                self.warn(entry.key_place, key, format!("key `{key}` has no effect"), None);
            }
        }
        let name = self.text(head, "name");
        let slug = slug_of(name.as_deref().unwrap_or(below));
        if slug.is_empty() {
            let place = head.get("name").map_or(head.place, |node| node.place);
            let hint = Some("use the letters a to z, digits and `-`".to_owned());
            self.wrong(
                place,
                "name",
                "the name has no letter or digit that a slug may have".to_owned(),
                hint,
            );
            return;
        }
        if head.get("disable").is_some_and(|node| node.value == YamlValue::Bool(true)) {
            self.file.lost.push(slug);
            return;
        }
        let prompt = if body.trim().is_empty() {
            self.text(head, "prompt").unwrap_or_default()
        } else {
            body.trim().to_owned()
        };
        if prompt.is_empty() {
            self.wrong(
                head.place,
                "",
                "no text stands below the head: an agent needs a prompt".to_owned(),
                None,
            );
        }
        let rights = self.rights(head);
        let description = self.text(head, "whenToUse").or_else(|| self.text(head, "description"));
        let shown = self.text(head, "displayName").or(name).unwrap_or_else(|| slug.clone());
        let mode = Mode {
            when_to_use: description.map(|text| text.replace("\\n", "\n")),
            model: self.model(head),
            entry: self.entry(head),
            turns: self.turns(head),
            temperature: self.temperature(head),
            ..Mode::new(slug, shown, prompt, self.source.clone())
        };
        self.file.modes.push(rights.give(mode));
    }

    fn described(&mut self, described: &sections::DescribedAgent<'_>, name: &str) {
        let slug = slug_of(name);
        if slug.is_empty() {
            let message = format!("`{name}` has no letter or digit that a slug may have");
            self.wrong(
                described.place,
                "",
                message,
                Some("give it a title with such letters".to_owned()),
            );
            return;
        }
        let words: Vec<(String, Position)> = described.tools.clone().unwrap_or_default();
        let rights = if described.tools.is_some() {
            self.rights_of_words(&words)
        } else {
            rights::AgentRights::all()
        };
        let context =
            described.context.map(|text| format!("\n\n## Context\n\n{text}")).unwrap_or_default();
        let title = if described.title.is_empty() { slug.clone() } else { described.title.clone() };
        let mode = Mode::new(
            slug,
            title,
            format!("{}{context}", described.instructions),
            self.source.clone(),
        );
        self.file.modes.push(rights.give(mode));
    }

    /// Reads the model; another program's name for one is only a preference.
    fn model(&mut self, head: &YamlNode) -> Option<ModeModel> {
        let name = self.text(head, "model").or_else(|| self.text(head, "model_name"))?;
        let wish = ModeModel { name, provider: None, base_url: None, need: ModelNeed::Preferred };
        (wish.name != "inherit").then_some(wish)
    }

    /// Reads how tasks come to be in it, in the words of Kilo Code and OpenCode.
    fn entry(&mut self, head: &YamlNode) -> ModeEntry {
        match self.text(head, "mode").as_deref() {
            None | Some("all") => ModeEntry::Any,
            Some("primary") => ModeEntry::NotDelegated,
            Some("subagent") => ModeEntry::Delegated,
            Some(other) => {
                let place = head.get("mode").map_or(head.place, |node| node.place);
                let hint = Some("`all`, `primary` or `subagent`".to_owned());
                self.wrong(place, "mode", format!("`{other}` is not a way to use an agent"), hint);
                ModeEntry::Any
            }
        }
    }

    fn turns(&mut self, head: &YamlNode) -> Option<u32> {
        let key = if head.get("steps").is_some() { "steps" } else { "maxSteps" };
        self.number(head, key, "a whole number above 0", |text| {
            text.parse().ok().filter(|turns| *turns > 0)
        })
    }

    fn temperature(&mut self, head: &YamlNode) -> Option<Temperature> {
        self.number(head, "temperature", "a number from 0 to 2", |text| {
            text.parse().ok().filter(|heat| (0.0..=2.0).contains(heat)).map(Temperature)
        })
    }

    fn number<T>(
        &mut self,
        head: &YamlNode,
        key: &str,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(head, key)?;
        let number = read(&text);
        if number.is_none() {
            let place = head.get(key).map_or(head.place, |node| node.place);
            self.wrong(place, key, format!("`{key}` must be {what}"), None);
        }
        number
    }

    fn text(&mut self, head: &YamlNode, key: &str) -> Option<String> {
        let node = head.get(key)?;
        match &node.value {
            YamlValue::Text(text) | YamlValue::Number(text) => {
                Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
            }
            YamlValue::Null => None,
            YamlValue::Bool(_) | YamlValue::List(_) | YamlValue::Map(_) => {
                self.wrong(node.place, key, format!("expected text, found {}", node.kind()), None);
                None
            }
        }
    }

    fn mistake(&mut self, mistake: Diagnostic) {
        self.wrong(mistake.place, "", mistake.message, mistake.hint);
    }

    fn wrong(&mut self, place: Position, path: &str, message: String, hint: Option<String>) {
        let error = self.said(place, path, message, hint);
        self.errors.push(error);
    }

    fn warn(&mut self, place: Position, path: &str, message: String, hint: Option<String>) {
        let warning = self.said(place, path, message, hint);
        self.file.warnings.push(warning);
    }

    fn said(
        &self,
        place: Position,
        path: &str,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        let origin = self.source.file().unwrap_or(AGENTS_FILE).to_owned();
        let path = path.to_owned();
        Diagnostic { origin, path, hint, ..Diagnostic::new(place, message) }
    }
}

#[cfg(test)]
mod tests;
