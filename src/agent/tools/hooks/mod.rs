//! Hooks as Claude Code's settings define them: commands that are run around calls, before a task
//! ends, and where a session, a prompt or a sub-task begins.
//!
//! In: the text of `.claude/settings.json`. Out: the hooks with file and line, mistakes, and what
//! has no effect here. Nothing is run. A guard that cannot be read is a mistake, because a run
//! without it would do what the guard is there to stop.

pub mod answer;
pub mod question;

use std::time::Duration;

use regex::Regex;

use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlDocument, YamlNode};
use locum_policy::command::Script;

/// Where a repository keeps its hooks.
pub const HOOKS_FILE: &str = ".claude/settings.json";

/// Most hooks of a file.
pub const HOOKS_LIMIT: usize = 50;

/// How long a hook may take that does not say.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest a hook may say, in seconds.
const TIMEOUT_LIMIT_S: u64 = 3600;

/// What the folder of the project is called in commands of hooks.
const PROJECT_FOLDER: &str = "CLAUDE_PROJECT_DIR";

/// Letters with which a text may start more than one command.
const MORE_COMMANDS: [char; 8] = ['\n', '\r', ';', '&', '|', '(', '`', '<'];

/// What to do about a file that is not to be obeyed here.
const WAY_OUT: &str = "mend it, or let runs go without hooks: `commands: { hooks: off }` in the \
                       policy";

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HookEvent {
    /// Before a call that the policy allows.
    PreToolUse,
    /// After a call that succeeded.
    PostToolUse,
    /// Before the root task ends.
    Stop,
    /// Before the first request of a session, and of one that resumes.
    SessionStart,
    /// Before the model reads what a person asks for.
    UserPromptSubmit,
    /// Before the first request of a sub-task.
    SubagentStart,
    /// Before a sub-task ends.
    SubagentStop,
}

/// Every event whose hooks run.
const EVENTS: [HookEvent; 7] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::Stop,
    HookEvent::SessionStart,
    HookEvent::UserPromptSubmit,
    HookEvent::SubagentStart,
    HookEvent::SubagentStop,
];

impl HookEvent {
    /// Returns the name of the event in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
        }
    }

    /// Whether its hooks are there to stop what they are asked about, so that one that cannot run
    /// stops it.
    pub fn guards(self) -> bool {
        matches!(self, Self::PreToolUse | Self::UserPromptSubmit)
    }

    /// Whether its hooks can be against something: where a session or a sub-task begins, they only
    /// add to what the model reads.
    pub fn decides(self) -> bool {
        !matches!(self, Self::SessionStart | Self::SubagentStart)
    }

    /// Whether it has what a matcher is compared with.
    fn has_matcher(self) -> bool {
        !matches!(self, Self::Stop | Self::UserPromptSubmit)
    }
}

/// A command that runs at an event.
#[derive(Clone, Debug)]
pub struct HookDefinition {
    /// When it runs.
    pub event: HookEvent,
    /// What it is for, by name: tools, how a session begins, modes of sub-tasks; everything where
    /// it is missing.
    matcher: Option<Regex>,
    /// The command, with the folder of the project as `.`.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it stands: `.claude/settings.json:5`.
    pub place: String,
}

impl HookDefinition {
    /// Returns the first of a tool's names that the hook is for.
    pub fn matched<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        let fits =
            |name: &&&str| self.matcher.as_ref().is_none_or(|matcher| matcher.is_match(name));
        names.iter().find(fits).copied()
    }
}

/// What a file defines.
#[derive(Clone, Debug, Default)]
pub struct HookFile {
    /// Its hooks, in order.
    pub hooks: Vec<HookDefinition>,
    /// What is wrong with it.
    pub mistakes: Vec<Diagnostic>,
    /// Which part of it has no effect here.
    pub warnings: Vec<Diagnostic>,
}

impl HookFile {
    /// Reads the settings. Keys beside `hooks` are for other programs.
    pub fn parse(origin: &str, text: &str) -> Self {
        let document = YamlDocument::parse(text);
        let mut reader = HookReader {
            origin,
            mistakes: Diagnostics(document.mistakes),
            warnings: Diagnostics::default(),
            hooks: Vec::new(),
        };
        match &document.root {
            Some(root) => reader.file(root),
            None if reader.mistakes.0.is_empty() => {
                reader.mistake(Position::default(), "the file is empty".to_owned());
            }
            None => {}
        }
        let HookReader { mut mistakes, warnings, hooks, .. } = reader;
        if let Some(last) = mistakes.0.last_mut() {
            last.hint.get_or_insert_with(|| WAY_OUT.to_owned());
        }
        Self { hooks, mistakes: mistakes.finish(text), warnings: warnings.finish(text) }
    }
}

struct HookReader<'f> {
    origin: &'f str,
    mistakes: Diagnostics,
    warnings: Diagnostics,
    hooks: Vec<HookDefinition>,
}

/// The group of hooks that is read.
struct HookGroup<'g> {
    event: HookEvent,
    matcher: Option<&'g YamlNode>,
}

impl HookReader<'_> {
    fn file(&mut self, root: &YamlNode) {
        let Some(entries) = root.entries() else {
            return self.mistakes.wanted(root, "the file", "a mapping").unwrap_or_default();
        };
        let flag = |key: &str| entries.iter().find(|entry| entry.key == key);
        if let Some(entry) = flag("disableAllHooks")
            && self.mistakes.flag(&entry.node, &entry.key) == Some(true)
        {
            return;
        }
        let Some(hooks) = root.get("hooks") else { return };
        let Some(events) = hooks.entries() else {
            return self.mistakes.wanted(hooks, "hooks", "a mapping").unwrap_or_default();
        };
        for MapEntry { key, key_place, node } in events {
            match EVENTS.into_iter().find(|event| event.as_str() == key) {
                Some(event) => self.groups(event, node),
                None => self.warnings.add(
                    *key_place,
                    format!(
                        "hooks of `{key}` are not run here; those of {} are",
                        EVENTS.map(HookEvent::as_str).join(", ")
                    ),
                ),
            }
        }
    }

    fn groups(&mut self, event: HookEvent, node: &YamlNode) {
        let Some(groups) = node.list() else {
            return self.mistakes.wanted(node, event.as_str(), "a list").unwrap_or_default();
        };
        for group in groups {
            let Some(entries) = group.entries() else {
                self.mistakes.wanted::<()>(group, event.as_str(), "a list of mappings");
                continue;
            };
            for entry in entries.iter().filter(|e| !matches!(e.key.as_str(), "matcher" | "hooks")) {
                self.ignored(entry);
            }
            let of = HookGroup { event, matcher: group.get("matcher") };
            match group.get("hooks").map(|node| (node, node.list())) {
                Some((_, Some(hooks))) => hooks.iter().for_each(|hook| self.hook(&of, hook)),
                Some((node, None)) => {
                    self.mistakes.wanted::<()>(node, "hooks", "a list");
                }
                None => self.mistake(group.place, "`hooks` is missing".to_owned()),
            }
        }
    }

    fn hook(&mut self, group: &HookGroup<'_>, node: &YamlNode) {
        let before = self.mistakes.0.len();
        let Some(entries) = node.entries() else {
            return self.mistakes.wanted(node, "hooks", "a list of mappings").unwrap_or_default();
        };
        let kind = node.get("type").and_then(YamlNode::text);
        if kind.is_some_and(|kind| kind != "command") || node.get("type").is_none() {
            return self.other_kind(group.event, node, kind);
        }
        for entry in entries {
            match entry.key.as_str() {
                "type" | "command" | "timeout" | "statusMessage" => {}
                _ => self.ignored(entry),
            }
        }
        let command = match node.get("command") {
            Some(command) => self.mistakes.text(command, "command"),
            None => self.mistakes.refuse(node.place, "`command` is missing"),
        };
        let timeout = node.get("timeout").and_then(|node| self.mistakes.count(node, "timeout"));
        let matcher = self.matcher(group);
        let Some(command) = command.filter(|_| self.mistakes.0.len() == before) else { return };
        if command.trim().is_empty() {
            return self.mistake(node.place, "`command` is empty".to_owned());
        }
        if asks_locum(&command) {
            return;
        }
        if self.hooks.len() == HOOKS_LIMIT {
            return self.mistake(node.place, format!("more than {HOOKS_LIMIT} hooks"));
        }
        let seconds = timeout.map(|seconds| seconds.clamp(1, TIMEOUT_LIMIT_S));
        self.hooks.push(HookDefinition {
            event: group.event,
            matcher,
            command: in_project(&command),
            timeout: seconds.map_or(TIMEOUT, Duration::from_secs),
            place: format!("{}:{}", self.origin, node.place.line),
        });
    }

    /// Reports a hook that is not a command: a guard must not be left out silently.
    fn other_kind(&mut self, event: HookEvent, node: &YamlNode, kind: Option<&str>) {
        let said = match kind {
            Some(kind) => format!("a hook of type `{kind}` is not run here; only `command` is"),
            None => "`type` is missing; it is `command`".to_owned(),
        };
        if event.guards() {
            self.mistake(node.place, said);
        } else {
            self.warnings.add(node.place, said);
        }
    }

    /// Reads what a group is for: a regular expression for the whole name. Nothing and `*` are
    /// everything.
    fn matcher(&mut self, group: &HookGroup<'_>) -> Option<Regex> {
        let node = group.matcher.filter(|_| group.event.has_matcher())?;
        let text = self.mistakes.text(node, "matcher")?;
        if matches!(text.trim(), "" | "*") {
            return None;
        }
        match Regex::new(&format!("^(?:{})$", text.trim())) {
            Ok(matcher) => Some(matcher),
            Err(_) => {
                self.mistake(node.place, format!("`{text}` is no regular expression"));
                None
            }
        }
    }

    fn ignored(&mut self, MapEntry { key, key_place, .. }: &MapEntry) {
        self.warnings.add(*key_place, format!("`{key}` of a hook has no effect here"));
    }

    fn mistake(&mut self, place: Position, said: String) {
        self.mistakes.add(place, said);
    }
}

/// Whether a hook does nothing but ask this program's policy, which has decided already
/// (`locum hook claude`).
fn asks_locum(command: &str) -> bool {
    let script = Script::parse(command);
    let is_alone = match script.simple_commands().as_slice() {
        // It may hold words that only a shell works out.
        [] => !command.contains(MORE_COMMANDS),
        [_] => true,
        [_, _, ..] => false,
    };
    let mut words = command.split_whitespace();
    let program = words.next().and_then(|word| word.rsplit('/').next());
    is_alone && program == Some("locum") && words.next() == Some("hook")
}

/// Returns a command with the folder of the project as `.`: hooks run there, and a word that is
/// known can be judged.
fn in_project(command: &str) -> String {
    command
        .replace(&format!("${{{PROJECT_FOLDER}}}"), ".")
        .replace(&format!("${PROJECT_FOLDER}"), ".")
}

#[cfg(test)]
mod tests;
