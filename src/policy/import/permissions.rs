//! Kode and Claude Code: `permissions` with `allow`, `ask` and `deny` lists of rules such as
//! `Bash(cargo test:*)`. Kode's older file, `.kode.json`, has one list, `allowedTools`.
//!
//! In: a settings file. Out: rules in a draft. Rules are case-sensitive; what is not a rule is
//! left out with a note, and what no pattern says in the same way is named as changed.

use crate::command::word;
use crate::glob::PathGlob;
use crate::import::outside::{self, is_absolute};
use crate::import::{DraftRule, ImportedSettings, Peer, PolicyDraft};
use crate::pattern::Pattern;
use crate::words;
use crate::written::{pattern_words, quoted};
use locum_base::text::code_list;
use locum_files::position::Position;
use locum_files::yaml::{YamlNode, YamlValue};

/// Commands that need no rule there.
const ALWAYS_ALLOWED: &[&str] =
    &["git status", "git diff", "git log", "git branch", "pwd", "tree", "date", "which"];
/// Commands that the mode `acceptEdits` allows.
const EDITING: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// Kode's older list.
const OLDER_LIST: &str = "allowedTools";
/// The words it has for tools, and today's.
const OLDER_TOOLS: &[(&str, &str)] = &[
    ("bash", "Bash"),
    ("file_edit", "Edit"),
    ("file_read", "Read"),
    ("file_write", "Write"),
    ("glob", "Glob"),
    ("grep", "Grep"),
    ("ls", "LS"),
    ("multi_edit", "MultiEdit"),
    ("notebook_edit", "NotebookEdit"),
    ("notebook_read", "Read"),
    ("task", "Task"),
    ("web_search", "WebSearch"),
];

/// Keys that are not about permissions, and where the same is written for Locum.
const ELSEWHERE: &[(&str, &str)] = &[
    ("context", "write what it says into `AGENTS.md`"),
    ("contextFiles", "name the files in `context_files` of `.locum/config.yml`"),
    ("mcpServers", "servers are read from `.kode.json` itself, and from `.mcp.json`"),
    ("modelPointers", "write them into `models.pointers` of `.locum/config.yml`"),
    ("modelProfiles", "write them into `models.profiles` of `.locum/config.yml`"),
];

/// Keys of `permissions` that are carried over.
const CARRIED: &[&str] = &["allow", "ask", "deny", "defaultMode", "additionalDirectories"];

/// Tools, and the pattern of everything they do.
const TOOLS_OF_KINDS: &[(&str, &str)] = &[
    ("Bash", "command-prefix(*)"),
    ("Read Grep Glob LS", "read(**)"),
    ("Edit Write MultiEdit NotebookEdit", "edit(**)"),
    ("WebFetch", "fetch(*)"),
    ("WebSearch", "search(**)"),
    ("Task", "delegate(*)"),
];

/// What a mode of these tools does to what the lists allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImportedMode {
    /// The lists decide alone.
    Lists,
    /// Edits need no click.
    Edits,
    /// Nothing is changed: what would change something waits.
    Plan,
}

pub(super) fn read(peer: Peer, files: &[ImportedSettings<'_>], draft: &mut PolicyDraft) {
    draft.rules.push(DraftRule {
        decision: "allow",
        patterns: vec!["read(**)".to_owned()],
        comment: "Files of the working folder are read without asking.",
        ..DraftRule::default()
    });
    draft.rules.push(DraftRule {
        decision: "allow",
        patterns: ALWAYS_ALLOWED.iter().map(|command| format!("command({command})")).collect(),
        comment: "These need no rule there.",
        ..DraftRule::default()
    });
    let mode = default_mode(files, draft);
    let opened = |text: &str| text.split_once('(').is_some_and(|(_, path)| path.starts_with("//"));
    let opens = files.iter().any(|file| {
        let texts = permissions(file, "allow").and_then(YamlNode::list).unwrap_or_default();
        texts.iter().filter_map(YamlNode::text).any(opened)
            || permissions(file, "additionalDirectories").is_some()
    });
    for (key, decision) in [("allow", "allow"), ("ask", "hold"), ("deny", "deny")] {
        for file in files {
            let list = draft.texts(file.origin, permissions(file, key), key);
            for (text, place) in list {
                let waits = mode == ImportedMode::Plan
                    && !text.starts_with("Read")
                    && !text.starts_with("WebFetch")
                    && !text.starts_with("WebSearch");
                let decision = if decision == "allow" && waits { "hold" } else { decision };
                RuleImport { peer, origin: file.origin, place, opens, draft }.rule(decision, &text);
            }
        }
    }
    for file in files.iter().filter(|_| peer == Peer::Kode) {
        for (text, place) in draft.texts(file.origin, file.root.get(OLDER_LIST), OLDER_LIST) {
            let decision = if mode == ImportedMode::Plan { "hold" } else { "allow" };
            let text = in_todays_words(&text);
            RuleImport { peer, origin: file.origin, place, opens, draft }.rule(decision, &text);
        }
    }
    if mode == ImportedMode::Edits {
        draft.rule("allow", "edit(**)".to_owned());
        EDITING
            .iter()
            .for_each(|program| draft.rule("allow", format!("command-prefix({program})")));
    }
    for file in files {
        additional(file, draft);
        left_out(peer, file, draft);
    }
    draft.commands.extend([
        ("max_complexity", "1.0".to_owned()),
        ("expansions", "allow".to_owned()),
        ("edits", "checkout".to_owned()),
    ]);
    let reads = std::mem::take(&mut draft.outside);
    if !reads.is_empty() {
        let reads: Vec<String> = reads.iter().map(|glob| quoted(glob)).collect();
        draft.commands.push(("reads", format!("[{}]", reads.join(", "))));
    }
}

fn permissions<'n>(file: &'n ImportedSettings<'_>, key: &str) -> Option<&'n YamlNode> {
    file.root.get("permissions")?.get(key)
}

/// The last file's mode counts.
fn default_mode(files: &[ImportedSettings<'_>], draft: &mut PolicyDraft) -> ImportedMode {
    let Some((file, node)) =
        files.iter().rev().find_map(|file| Some((file, permissions(file, "defaultMode")?)))
    else {
        return ImportedMode::Lists;
    };
    match node.text() {
        Some("acceptEdits") => return ImportedMode::Edits,
        Some("plan") => {
            let change = "the mode `plan`: what the lists allow is held, but for `Read`, \
                          `WebFetch` and `WebSearch`";
            draft.changed(file.origin, node.place, change);
            return ImportedMode::Plan;
        }
        Some("default" | "dontAsk" | "delegate") => {}
        Some(other) => {
            draft.note(file.origin, node.place, format!("the mode `{}`", other.escape_debug()))
        }
        None if node.value == YamlValue::Null => {}
        None => draft.note(file.origin, node.place, "`defaultMode`, which is not a word"),
    }
    ImportedMode::Lists
}

/// Folders outside the repository, which commands may read.
fn additional(file: &ImportedSettings<'_>, draft: &mut PolicyDraft) {
    for (folder, place) in draft.texts(
        file.origin,
        permissions(file, "additionalDirectories"),
        "additionalDirectories",
    ) {
        let glob = format!("{}/**", folder.trim_end_matches('/'));
        let inside = glob
            .strip_prefix('/')
            .is_some_and(|rest| PathGlob::parse(rest).is_ok_and(|glob| glob.parts().len() > 1));
        let plain = !folder.contains(['*', '?']) && !folder.chars().any(char::is_control);
        if inside && plain {
            draft.outside.push(glob);
            let change = format!(
                "`{folder}` as a folder to write to: commands may read it, and nothing outside is \
                 written"
            );
            draft.changed(file.origin, place, change);
        } else {
            let folder = folder.escape_debug();
            let note = format!("`{folder}`: only absolute folders can be opened to commands");
            draft.note(file.origin, place, note);
        }
    }
}

/// Returns a rule with today's word for its tool.
fn in_todays_words(text: &str) -> String {
    let (tool, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
    let today = OLDER_TOOLS.iter().find(|(older, _)| *older == tool);
    format!("{}{rest}", today.map_or(tool, |(_, today)| today))
}

fn left_out(peer: Peer, file: &ImportedSettings<'_>, draft: &mut PolicyDraft) {
    let is_carried = |key: &str| key == "permissions" || (key == OLDER_LIST && peer == Peer::Kode);
    let root =
        file.root.entries().unwrap_or_default().iter().filter(|entry| !is_carried(&entry.key));
    let inner = file.root.get("permissions").and_then(YamlNode::entries).unwrap_or_default().iter();
    for entry in root.chain(inner.filter(|entry| !CARRIED.contains(&entry.key.as_str()))) {
        let place = ELSEWHERE.iter().find(|(key, _)| *key == entry.key);
        let place = place.map(|(_, place)| format!(": {place}")).unwrap_or_default();
        let note = format!("`{}`{place}", entry.key.escape_debug());
        draft.note(file.origin, entry.key_place, note);
    }
}

/// Where a rule stands and where it goes.
struct RuleImport<'r> {
    peer: Peer,
    origin: &'r str,
    place: Position,
    /// Whether commands may read something outside the repository.
    opens: bool,
    draft: &'r mut PolicyDraft,
}

impl RuleImport<'_> {
    fn rule(&mut self, decision: &'static str, text: &str) {
        if text.contains(|letter: char| letter.is_control() && letter != '\n') {
            return self.unread(decision, text);
        }
        let (tool, inner) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (tool, Some(inner.trim())),
                None => return self.unread(decision, text),
            },
        };
        let refuses = decision != "allow";
        // A prefix that ends with a blank is never one of a command there.
        let is_of_none = |inner: &str| {
            inner.strip_suffix(":*").is_some_and(|head| head.ends_with(char::is_whitespace))
        };
        if tool == "Bash" && !refuses && self.peer == Peer::Kode && inner.is_some_and(is_of_none) {
            return self.unread(decision, text);
        }
        let file_kind = match tool {
            "Read" | "Grep" | "Glob" | "LS" => Some("read"),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some("edit"),
            _ => None,
        };
        // `//x` counts from the root of the file system, `~/x` from the home directory.
        if let (Some(kind), Some(path)) = (file_kind, inner.filter(|inner| is_absolute(inner))) {
            return self.absolute(kind, decision, text, path);
        }
        let mut is_changed = false;
        let mut patterns = match (tool, inner) {
            (_, inner) if let Some(kind) = file_kind => {
                is_changed = inner.is_some_and(|inner| is_other_path(kind, inner, refuses));
                self.path(kind, inner, decision)
            }
            ("Bash", None) => vec!["command-prefix(*)".to_owned()],
            ("Bash", Some(inner)) => {
                let inner = inner.trim_end_matches("[background]").trim_end();
                let refused = refuses.then(|| refused_command(self.peer, inner)).flatten();
                is_changed = match &refused {
                    Some(refused) => refused.is_wider,
                    None => !refuses && has_wildcard(self.peer, inner),
                };
                let refused = refused.map(|refused| refused.pattern);
                command(self.peer, inner).into_iter().chain(refused).collect()
            }
            ("WebFetch", Some(inner)) => inner
                .strip_prefix("domain:")
                .map(|host| format!("fetch({host})"))
                .into_iter()
                .collect(),
            ("WebFetch", None) => vec!["fetch(*)".to_owned()],
            ("WebSearch", None) => vec!["search(**)".to_owned()],
            ("Task", None) => vec!["delegate(*)".to_owned()],
            (tool, None) => mcp(tool).into_iter().collect(),
            _ => Vec::new(),
        };
        patterns.retain(|pattern| Pattern::parse(pattern).is_ok());
        if patterns.is_empty() {
            return self.unread(decision, text);
        }
        if is_changed {
            self.changed(text, &code_list(&patterns));
        }
        patterns.into_iter().for_each(|pattern| self.draft.rule(decision, pattern));
    }

    /// Says what a rule is about here, where it was about something else.
    fn changed(&mut self, text: &str, about: &str) {
        let change = format!("the rule `{}` is about {about}", text.escape_debug());
        self.draft.changed(self.origin, self.place, change);
    }

    /// Says what is left out. A rule that refuses and cannot be read refuses all that its tool
    /// does.
    fn unread(&mut self, decision: &'static str, text: &str) {
        let kinds = if decision == "allow" { Vec::new() } else { kinds_of(text) };
        let rule = format!("the rule `{}`", text.escape_debug());
        if kinds.is_empty() {
            self.draft.note(self.origin, self.place, rule);
        } else {
            let change = format!("{rule}; {} takes its place", code_list(&kinds));
            self.draft.changed(self.origin, self.place, change);
        }
        kinds.into_iter().for_each(|kind| self.draft.rule(decision, kind.to_owned()));
    }

    /// What lies in the repository is judged as a path of it; what commands may read of the rest
    /// stands in `commands.reads`. A path of which nothing is left, such as one with `..`, cannot
    /// be read.
    fn absolute(&mut self, kind: &str, decision: &'static str, text: &str, path: &str) {
        let refuses = decision != "allow";
        let found = if refuses {
            outside::refused(path, &self.draft.roots, self.opens)
        } else {
            outside::allowed(path, &self.draft.roots)
        };
        let patterns: Vec<String> =
            found.inside.iter().map(|glob| format!("{kind}({glob})")).collect();
        let is_lost = refuses && patterns.is_empty() && found.outside.is_empty();
        let reads = |glob: &String| PathGlob::parse(glob.trim_start_matches('/')).is_ok();
        if is_lost
            || !patterns.iter().all(|pattern| Pattern::parse(pattern).is_ok())
            || !found.outside.iter().all(reads)
        {
            return self.unread(decision, text);
        }
        let nothing = |why: &str| format!("`{kind}({})`: {why}", path.escape_debug());
        match (kind, refuses) {
            ("read", true) => {
                self.draft.outside.extend(found.outside.iter().map(|glob| format!("!{glob}")));
            }
            ("read", false) => self.draft.outside.extend(found.outside.iter().cloned()),
            (_, true) if !found.outside.is_empty() => {
                let note = nothing("nothing outside the repository is written anyway");
                self.draft.note(self.origin, self.place, note);
            }
            (_, _) => {}
        }
        if !refuses && found.inside.is_empty() && (kind != "read" || found.outside.is_empty()) {
            let note = nothing("nothing outside the repository");
            self.draft.note(self.origin, self.place, note);
        }
        // Nobody knows whose home directory `~` is, and sets of letters are not known here.
        if refuses && (path.starts_with('~') || path.contains('[')) {
            let outside = found.outside.iter().filter(|_| kind == "read");
            let about = code_list(patterns.iter().chain(outside));
            if !about.is_empty() {
                self.changed(text, &about);
            }
        }
        patterns.into_iter().for_each(|pattern| self.draft.rule(decision, pattern));
    }

    /// `/x` counts from the settings' folder. Anything else is read like `.gitignore`: without a
    /// slash but at its end it matches at any depth, and a folder matches everything in it.
    fn path(&self, kind: &str, text: Option<&str>, decision: &str) -> Vec<String> {
        let Some(text) = text else { return vec![format!("{kind}(**)")] };
        let refused =
            |line: &str| PathGlob::of_ignore_line(line).into_iter().map(|glob| glob.text());
        if decision != "allow" {
            let line = match text.strip_prefix("./") {
                // Kode takes `./` away, so that the rest matches at any depth.
                Some(rest) if self.peer == Peer::Kode => rest.to_owned(),
                Some(rooted) => format!("/{rooted}"),
                None => text.to_owned(),
            };
            return refused(&line).map(|glob| format!("{kind}({glob})")).collect();
        }
        let rooted = text.strip_prefix("./").or_else(|| text.strip_prefix('/'));
        vec![match rooted {
            Some(rooted) => format!("{kind}({rooted})"),
            None if text.contains('/') || text == "**" => format!("{kind}({text})"),
            None => format!("{kind}(**/{text})"),
        }]
    }
}

/// Returns what stands for everything that a rule's tool does; nothing for a tool that has no
/// counterpart here.
fn kinds_of(text: &str) -> Vec<&'static str> {
    let tool = text.split('(').next().unwrap_or_default().trim();
    let is_any = tool == "*";
    let kinds = TOOLS_OF_KINDS.iter().filter(|(tools, _)| is_any || words::holds(tools, tool));
    let mut kinds: Vec<&str> = kinds.map(|(_, kind)| *kind).collect();
    if is_any || tool.starts_with("mcp__") {
        kinds.push("mcp(*/*)");
    }
    kinds
}

/// `X:*` is a prefix that ends with a word; anything else is the whole command, letter for letter.
fn command(peer: Peer, text: &str) -> Option<String> {
    let text = &starred(peer, text);
    if let Some(prefix) = text.strip_suffix(":*") {
        let words: Vec<&str> = prefix.split_whitespace().collect();
        return (!words.is_empty()).then(|| format!("command-prefix({})", pattern_words(&words)));
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=,@%+: ".contains(letter);
    let words: Vec<&str> = text.split_whitespace().collect();
    if text.is_empty() {
        return None;
    }
    Some(if text.chars().all(plain) && !text.ends_with(":*") {
        format!("command({})", pattern_words(&words))
    } else {
        format!("script({text})")
    })
}

/// Claude Code also writes a prefix as `X *`.
fn starred(peer: Peer, text: &str) -> String {
    match text.strip_suffix(" *").filter(|head| peer == Peer::Claude && !head.contains('*')) {
        Some(head) => format!("{head}:*"),
        None => text.to_owned(),
    }
}

/// Whether an allowed command has a `*` that is not its end: it stands for itself here.
fn has_wildcard(peer: Peer, text: &str) -> bool {
    let text = starred(peer, text);
    peer == Peer::Claude && text.strip_suffix(":*").unwrap_or(&text).contains('*')
}

/// Whether no pattern says the same as the path of a rule: sets of letters are not known here, and
/// what is allowed is not also a folder of that name.
fn is_other_path(kind: &str, text: &str, refuses: bool) -> bool {
    let name = text.rsplit('/').next().unwrap_or_default();
    let may_be_a_folder = !name.is_empty() && !name.contains(['*', '.']);
    let has_set = text.contains('[');
    // Reading is allowed anyway.
    if refuses { has_set } else { kind == "edit" && (has_set || may_be_a_folder) }
}

/// What a refused text means as words.
struct RefusedWords {
    pattern: String,
    /// Whether it is about other commands than the text is.
    is_wider: bool,
}

/// Returns what a refused text means as words, where [`command`] took it letter by letter: a part
/// of a script is compared there too, however it is quoted here. A text that is not plain words
/// refuses everything that begins as it does.
fn refused_command(peer: Peer, text: &str) -> Option<RefusedWords> {
    let (text, open) = text.strip_suffix(":*").map_or((text, false), |head| (head, true));
    let cut = text.split_once('*').filter(|_| peer == Peer::Claude);
    // `X *` is `X:*`, and `*` alone is every command.
    let is_wider = cut
        .is_some_and(|(head, rest)| !rest.is_empty() || !(head.is_empty() || head.ends_with(' ')));
    let (text, open) = cut.map_or((text, open), |(head, _)| (head, true));
    let words = word::split(text).unwrap_or_default();
    let form = |words: &[&str], open: bool| {
        let kind = if open { "command-prefix" } else { "command" };
        (!words.is_empty()).then(|| format!("{kind}({})", pattern_words(words)))
    };
    if !words.is_empty() && words.iter().all(|word| word != "*") {
        let pattern = form(&words.iter().map(String::as_str).collect::<Vec<_>>(), open)?;
        return Some(RefusedWords { pattern, is_wider });
    }
    let plain = |word: &&str| {
        word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./=,@%+:".contains(letter))
    };
    let begin: Vec<&str> = text.split_whitespace().take_while(plain).collect();
    if peer == Peer::Claude && begin.is_empty() && open {
        return Some(RefusedWords { pattern: "command-prefix(*)".to_owned(), is_wider });
    }
    let pattern =
        form(&begin, true).filter(|_| text.contains(['$', '`', '<', '>', '\'', '"', '\\']))?;
    Some(RefusedWords { pattern, is_wider: true })
}

fn mcp(tool: &str) -> Option<String> {
    let (server, name) =
        tool.strip_prefix("mcp__")?.split_once("__").unwrap_or((tool.strip_prefix("mcp__")?, "*"));
    Some(format!("mcp({server}/{name})"))
}
