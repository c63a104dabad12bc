//! What an agent may do, from its `tools`, `disallowedTools` and `permission`. In: the head of its
//! file; out: [`AgentRights`], put into the mode's groups, its limits on tools and its permission
//! map.

use crate::agent::AgentReader;
use crate::agent::tools::{self, GrantedTools};
use crate::permissions::{
    PermissionAction, PermissionKind, PermissionRule, Permissions, RULES_LIMIT,
};
use crate::{GroupEntry, Mode, ModeSource, ToolGroup, ToolLimits};
use locum_base::tool::ToolName;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Groups of an agent that limits nothing.
const ALL: &[ToolGroup] =
    &[ToolGroup::Read, ToolGroup::Edit, ToolGroup::Command, ToolGroup::Browser, ToolGroup::Mcp];

/// Permissions of the peers' maps and what they are about here; `*` is about everything.
const PERMISSIONS: &[(&str, PermissionKind)] = &[
    ("read", PermissionKind::Read),
    ("edit", PermissionKind::Edit),
    ("write", PermissionKind::Edit),
    ("patch", PermissionKind::Edit),
    ("apply_patch", PermissionKind::Edit),
    ("bash", PermissionKind::Command),
    ("task", PermissionKind::Delegate),
    ("mcp", PermissionKind::Mcp),
];

/// Permissions that are about one tool as a whole.
const TOOLS: &[(&str, &str)] = &[
    ("list", "list_files"),
    ("glob", "list_files"),
    ("grep", "search_files"),
    ("webfetch", "web_fetch"),
    ("websearch", "web_search"),
];

/// Permissions for what this program does not do, or does by itself.
const NOT_HERE: &[&str] = &[
    "external_directory",
    "doom_loop",
    "skill",
    "question",
    "plan_enter",
    "plan_exit",
    "todowrite",
    "todoread",
    "codesearch",
    "lsp",
];

/// What an agent may do, or what a slash command leaves of what a mode may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRights {
    groups: Vec<ToolGroup>,
    limits: ToolLimits,
    permissions: Vec<PermissionRule>,
}

impl AgentRights {
    pub(super) fn all() -> Self {
        Self { groups: ALL.to_vec(), ..Self::default() }
    }

    /// Puts the rights into a mode; a group whose every use is denied is left out.
    pub(super) fn give(self, mode: Mode) -> Mode {
        let permissions = Permissions(self.permissions);
        let is_left = |group: &ToolGroup| {
            !permissions.deny_all(permission_of(*group).unwrap_or(PermissionKind::Delegate))
        };
        let groups = self.groups.into_iter().filter(is_left).map(|group| GroupEntry {
            group,
            file_regex: None,
            description: None,
        });
        Mode { groups: groups.collect(), tool_limits: self.limits, permissions, ..mode }
    }

    /// Returns a mode without what these rights do not leave it. Nothing is added: groups, tools
    /// and permissions only become fewer.
    pub fn narrow(&self, mode: &Mode) -> Mode {
        let leaving = self.clone().give(Mode::new("", "", "", ModeSource::Builtin));
        let is_left =
            |entry: &&GroupEntry| leaving.groups.iter().any(|left| left.group == entry.group);
        let only = match (&mode.tool_limits.only, leaving.tool_limits.only) {
            (Some(had), Some(left)) => {
                Some(had.iter().copied().filter(|tool| left.contains(tool)).collect())
            }
            (had, left) => left.or_else(|| had.clone()),
        };
        let never =
            mode.tool_limits.never.iter().copied().chain(leaving.tool_limits.never).collect();
        let groups = mode.groups.iter().filter(is_left).cloned().collect();
        Mode {
            groups,
            tool_limits: ToolLimits { only, never },
            narrowed: leaving.permissions,
            ..mode.clone()
        }
    }
}

/// A word of a list of tools: the tool, and what stands in its parentheses.
struct ToolWord<'w> {
    name: &'w str,
    content: Option<&'w str>,
}

impl AgentReader<'_> {
    /// Reads everything a head says about rights.
    pub(super) fn rights(&mut self, head: &YamlNode) -> AgentRights {
        let mut rights = match head.get("tools").map(|node| (node, &node.value)) {
            None | Some((_, YamlValue::Null)) => AgentRights::all(),
            Some((_, YamlValue::Map(_))) => self.rights_of_switches(head),
            Some((node, _)) => {
                let words = self.words(node, "tools");
                if words.iter().any(|(word, _)| word == "*") {
                    AgentRights::all()
                } else {
                    self.rights_of_words(&words)
                }
            }
        };
        if let Some(node) = head.get("disallowedTools").filter(|node| node.value != YamlValue::Null)
        {
            for (word, place) in self.words(node, "disallowedTools") {
                self.forbid(&word, place, &mut rights);
            }
        }
        if let Some(node) = head.get("permission").filter(|node| node.value != YamlValue::Null) {
            self.permissions(node, &mut rights);
        }
        if rights.permissions.len() > RULES_LIMIT {
            self.wrong(
                head.place,
                "permission",
                format!("more than {RULES_LIMIT} permissions"),
                None,
            );
        }
        rights
    }

    /// Reads the list of tools a command leaves; `None` for all of them.
    pub(super) fn left_by_command(&mut self, node: &YamlNode) -> Option<AgentRights> {
        let words = self.words(node, "allowed-tools");
        let all = node.value == YamlValue::Null || words.iter().any(|(word, _)| word == "*");
        (!all).then(|| self.rights_of_words(&words))
    }

    /// Reads a list of tools: only these.
    pub(super) fn rights_of_words(&mut self, words: &[(String, Position)]) -> AgentRights {
        let mut rights = AgentRights::default();
        let mut only: Vec<ToolName> = Vec::new();
        let mut whole: Vec<PermissionKind> = Vec::new();
        let mut allowed: Vec<PermissionRule> = Vec::new();
        for (word, place) in words {
            let parsed = split(word);
            let group = match tools::granted(parsed.name) {
                GrantedTools::Group(group) => {
                    only.extend(tools::of_group(group));
                    group
                }
                GrantedTools::Tools(group, tools) => {
                    only.extend(tools);
                    group
                }
                GrantedTools::Always => continue,
                GrantedTools::Unknown => {
                    self.warn(
                        *place,
                        "tools",
                        format!("there is no tool like `{word}`; it is left out"),
                        None,
                    );
                    continue;
                }
            };
            if !rights.groups.contains(&group) {
                rights.groups.push(group);
            }
            match narrowed(&parsed) {
                Some(rule) => allowed.push(rule),
                None => whole.extend(permission_of(group)),
            }
        }
        rights.groups.sort_unstable();
        rights.limits.only = Some(only);
        allowed.retain(|rule| !whole.contains(&rule.permission));
        for PermissionRule { permission, .. } in &allowed {
            if !rights.permissions.iter().any(|rule| rule.permission == *permission) {
                let (pattern, action) = ("*".to_owned(), PermissionAction::Deny);
                rights.permissions.push(PermissionRule {
                    permission: *permission,
                    pattern,
                    action,
                });
            }
        }
        rights.permissions.extend(allowed);
        rights
    }

    /// Reads `tools: { bash: false }`: all tools but those switched off; `"*": false` switches off
    /// all that are not switched on.
    fn rights_of_switches(&mut self, head: &YamlNode) -> AgentRights {
        let mut rights = AgentRights::all();
        let entries = head.get("tools").and_then(YamlNode::entries).unwrap_or_default();
        let is = |value: &YamlValue, wanted: bool| *value == YamlValue::Bool(wanted);
        if entries.iter().any(|entry| entry.key == "*" && is(&entry.node.value, false)) {
            let on = entries.iter().filter(|entry| entry.key != "*" && is(&entry.node.value, true));
            let words: Vec<(String, Position)> =
                on.map(|entry| (entry.key.clone(), entry.key_place)).collect();
            return self.rights_of_words(&words);
        }
        for entry in entries {
            if is(&entry.node.value, false) {
                self.forbid(&entry.key, entry.key_place, &mut rights);
            } else if !is(&entry.node.value, true) {
                let message = format!("expected true or false, found {}", entry.node.kind());
                self.wrong(entry.node.place, &format!("tools.{}", entry.key), message, None);
            }
        }
        rights
    }

    fn forbid(&mut self, word: &str, place: Position, rights: &mut AgentRights) {
        let parsed = split(word);
        if let Some(rule) = narrowed(&parsed) {
            rights.permissions.push(PermissionRule { action: PermissionAction::Deny, ..rule });
            return;
        }
        match tools::denied(parsed.name) {
            GrantedTools::Group(group) => rights.groups.retain(|other| *other != group),
            GrantedTools::Tools(group, tools) => {
                rights.limits.never.extend(tools);
                let left = tools::of_group(group).into_iter().any(|tool| rights.limits.leave(tool));
                rights.groups.retain(|other| *other != group || left);
            }
            GrantedTools::Always => {}
            GrantedTools::Unknown => {
                self.warn(place, "", format!("there is no tool like `{word}`"), None)
            }
        }
    }

    fn permissions(&mut self, node: &YamlNode, rights: &mut AgentRights) {
        if node.text().is_some() {
            return self.permission("*", "*", node, rights);
        }
        let Some(entries) = node.entries() else {
            self.wrong(
                node.place,
                "permission",
                format!("expected a mapping, found {}", node.kind()),
                None,
            );
            return;
        };
        for entry in entries {
            match entry.node.entries() {
                Some(patterns) => {
                    for pattern in patterns {
                        self.permission(&entry.key, &pattern.key, &pattern.node, rights);
                    }
                }
                None => self.permission(&entry.key, "*", &entry.node, rights),
            }
        }
    }

    fn permission(&mut self, name: &str, pattern: &str, said: &YamlNode, rights: &mut AgentRights) {
        let path = format!("permission.{name}");
        let action = match said.text() {
            Some("allow") => PermissionAction::Allow,
            Some("ask") => PermissionAction::Ask,
            Some("deny") => PermissionAction::Deny,
            Some(other) => return self.no_action(said.place, &path, &format!("`{other}`")),
            None => return self.no_action(said.place, &path, said.kind()),
        };
        let about: Vec<PermissionKind> = match PERMISSIONS.iter().find(|(known, _)| *known == name)
        {
            Some((_, permission)) => vec![*permission],
            None if name == "*" => PERMISSIONS.iter().map(|(_, permission)| *permission).collect(),
            None => {
                let peers = TOOLS.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool);
                let tools: Vec<ToolName> =
                    peers.into_iter().chain([name]).filter_map(ToolName::find).collect();
                if tools.is_empty() && !NOT_HERE.contains(&name) {
                    let message = format!("permission `{name}` has no effect");
                    self.warn(said.place, &path, message, None);
                } else if action == PermissionAction::Deny {
                    rights.limits.never.extend(tools);
                }
                return;
            }
        };
        let rule = |permission| PermissionRule { permission, pattern: pattern.to_owned(), action };
        rights.permissions.extend(about.into_iter().map(rule));
    }

    fn no_action(&mut self, place: Position, path: &str, found: &str) {
        let hint = Some("say `allow`, `ask` or `deny`".to_owned());
        self.wrong(place, path, format!("expected what is allowed, found {found}"), hint);
    }

    /// Reads a list of words: a list, or one text with commas or blanks between them.
    fn words(&mut self, node: &YamlNode, path: &str) -> Vec<(String, Position)> {
        match &node.value {
            YamlValue::Text(text) => {
                let inside = text
                    .trim()
                    .strip_prefix('[')
                    .and_then(|text| text.strip_suffix(']'))
                    .unwrap_or(text);
                separate(inside).into_iter().map(|word| (word, node.place)).collect()
            }
            YamlValue::List(nodes) => {
                let mut words = Vec::new();
                for node in nodes {
                    match node.text() {
                        Some(word) => words.push((word.trim().to_owned(), node.place)),
                        None => self.wrong(
                            node.place,
                            path,
                            format!("expected the name of a tool, found {}", node.kind()),
                            None,
                        ),
                    }
                }
                words
            }
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Map(_) => {
                self.wrong(
                    node.place,
                    path,
                    format!("expected names of tools, found {}", node.kind()),
                    None,
                );
                Vec::new()
            }
        }
    }
}

/// Cuts a text at commas and blanks outside parentheses.
fn separate(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    let plain =
        |word: String| word.trim_matches(|letter| matches!(letter, '"' | '\'' | '`')).to_owned();
    words.into_iter().map(plain).filter(|word| !word.is_empty()).collect()
}

fn split(word: &str) -> ToolWord<'_> {
    match word.split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?))) {
        Some((name, content)) => ToolWord { name: name.trim(), content: Some(content.trim()) },
        None => ToolWord { name: word, content: None },
    }
}

/// Returns what parentheses narrow a tool to: `Bash(git diff:*)`, `Edit(docs/**)`, and the server
/// and tool in `mcp__server__tool`.
fn narrowed(word: &ToolWord<'_>) -> Option<PermissionRule> {
    let rule = |permission, pattern: String| {
        Some(PermissionRule { permission, pattern, action: PermissionAction::Allow })
    };
    if let Some(name) = word.name.strip_prefix("mcp__") {
        let (server, tool) = name.split_once("__").unwrap_or((name, "*"));
        return rule(PermissionKind::Mcp, format!("{server}/{tool}"));
    }
    let content = word.content.filter(|content| !matches!(*content, "" | "*" | "**"))?;
    let group = match tools::granted(word.name) {
        GrantedTools::Group(group) | GrantedTools::Tools(group, _) => group,
        GrantedTools::Always | GrantedTools::Unknown => return None,
    };
    match permission_of(group)? {
        PermissionKind::Command => rule(
            PermissionKind::Command,
            content
                .strip_suffix(":*")
                .map_or_else(|| content.to_owned(), |start| format!("{start} *")),
        ),
        PermissionKind::Edit => {
            rule(PermissionKind::Edit, content.trim_start_matches("./").to_owned())
        }
        PermissionKind::Read => {
            rule(PermissionKind::Read, content.trim_start_matches("./").to_owned())
        }
        PermissionKind::Mcp | PermissionKind::Delegate => None,
    }
}

fn permission_of(group: ToolGroup) -> Option<PermissionKind> {
    match group {
        ToolGroup::Read => Some(PermissionKind::Read),
        ToolGroup::Edit => Some(PermissionKind::Edit),
        ToolGroup::Command => Some(PermissionKind::Command),
        ToolGroup::Mcp => Some(PermissionKind::Mcp),
        ToolGroup::Browser | ToolGroup::Modes | ToolGroup::Coordinator => None,
    }
}
