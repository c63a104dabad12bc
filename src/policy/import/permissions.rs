//! Kode and Claude Code: `permissions` with `allow`, `ask` and `deny` lists of rules such as `Bash(cargo test:*)`.
//!
//! In: a settings file. Out: rules in a draft. Rules are case-sensitive; what is no rule at all is left out with a note.

use crate::base::fields::Mistakes;
use crate::base::yaml::Node;
use crate::policy::command::word;
use crate::policy::glob::PathGlob;
use crate::policy::import::{Draft, DraftRule, Peer, pattern_words, texts};
use crate::policy::pattern::Pattern;

/// Commands that need no rule there.
const ALWAYS_ALLOWED: &[&str] = &["git status", "git diff", "git log", "git branch", "pwd", "tree", "date", "which"];
/// Commands that the mode `acceptEdits` allows.
const EDITING: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

pub(super) fn read(peer: Peer, root: &Node, draft: &mut Draft, mistakes: &mut Mistakes) {
    let permissions = root.get("permissions");
    let list = |key: &str, mistakes: &mut Mistakes| texts(permissions.and_then(|node| node.get(key)), key, mistakes).unwrap_or_default();
    draft.rules.push(DraftRule {
        decision: "allow",
        patterns: vec!["read(**)".to_owned()],
        except: Vec::new(),
        comment: "Files of the working folder are read without asking.",
    });
    draft.rules.push(DraftRule {
        decision: "allow",
        patterns: ALWAYS_ALLOWED.iter().map(|command| format!("command({command})")).collect(),
        except: Vec::new(),
        comment: "These need no rule there.",
    });
    for (key, decision) in [("allow", "allow"), ("ask", "hold"), ("deny", "deny")] {
        for text in list(key, mistakes) {
            rule(peer, decision, &text, draft);
        }
    }
    match permissions.and_then(|node| node.get("defaultMode")).and_then(Node::text) {
        None | Some("default" | "dontAsk" | "delegate") => {}
        Some("acceptEdits") => {
            draft.rule("allow", "edit(**)".to_owned());
            EDITING.iter().for_each(|program| draft.rule("allow", format!("command-prefix({program})")));
        }
        Some(other) => draft.note(format!("the mode `{}`", other.escape_debug())),
    }
    if permissions.and_then(|node| node.get("additionalDirectories")).is_some() {
        draft.note("`additionalDirectories`: tools stay in the repository; `commands: { reads: [...] }` opens folders to commands");
    }
    for key in ["hooks", "env", "apiKeyHelper", "enableAllProjectMcpServers"] {
        if root.get(key).is_some() {
            draft.note(format!("`{key}`"));
        }
    }
    draft.commands.extend([("max_complexity", "1.0".to_owned()), ("expansions", "allow".to_owned()), ("edits", "checkout".to_owned())]);
    let reads = std::mem::take(&mut draft.outside);
    if reads.iter().any(|glob| !glob.starts_with('!')) {
        let reads: Vec<String> = reads.iter().map(|glob| super::quoted(glob)).collect();
        draft.commands.push(("reads", format!("[{}]", reads.join(", "))));
    }
}

fn rule(peer: Peer, decision: &'static str, text: &str, draft: &mut Draft) {
    let unread = |draft: &mut Draft| draft.note(format!("the rule `{}`", text.escape_debug()));
    if text.contains(|letter: char| letter.is_control() && letter != '\n') {
        return unread(draft);
    }
    let (tool, inner) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inner) => (tool, Some(inner.trim())),
            None => return unread(draft),
        },
    };
    let refuses = decision != "allow";
    let patterns = match (tool, inner) {
        ("Bash", None) => vec!["command-prefix(*)".to_owned()],
        ("Bash", Some(inner)) => {
            let inner = inner.trim_end_matches("[background]").trim_end();
            let allowed = command(inner);
            allowed.into_iter().chain(refuses.then(|| refused_command(peer, inner)).flatten()).collect()
        }
        ("Read" | "Grep" | "Glob" | "LS", None) => vec!["read(**)".to_owned()],
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", None) => vec!["edit(**)".to_owned()],
        ("Read" | "Grep" | "Glob" | "LS", Some(inner)) => path("read", inner, decision, draft),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(inner)) => path("edit", inner, decision, draft),
        ("WebFetch", Some(inner)) => inner.strip_prefix("domain:").map(|host| format!("fetch({host})")).into_iter().collect(),
        ("Task", None) => vec!["delegate(*)".to_owned()],
        (tool, None) => mcp(tool).into_iter().collect(),
        _ => Vec::new(),
    };
    let (read, _): (Vec<String>, Vec<String>) = patterns.into_iter().partition(|pattern| Pattern::parse(pattern).is_ok());
    if read.is_empty() && !outside(inner.unwrap_or_default()) {
        return unread(draft);
    }
    read.into_iter().for_each(|pattern| draft.rule(decision, pattern));
}

/// `X:*` is a prefix that ends with a word; anything else is the whole command, letter for letter.
fn command(text: &str) -> Option<String> {
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

/// What a refused text means as words, where [`command`] took it letter by letter: a part of a script is compared there too, in
/// whatever way it is quoted here. A text that is no plain words refuses everything that begins as it does.
fn refused_command(peer: Peer, text: &str) -> Option<String> {
    let (text, open) = text.strip_suffix(":*").map_or((text, false), |head| (head, true));
    let (text, open) = match text.split_once('*').filter(|_| peer == Peer::Claude) {
        Some((head, _)) => (head, true),
        None => (text, open),
    };
    let words = word::split(text).unwrap_or_default();
    let form = |words: &[&str], open: bool| {
        let kind = if open { "command-prefix" } else { "command" };
        (!words.is_empty()).then(|| format!("{kind}({})", pattern_words(words)))
    };
    if !words.is_empty() && words.iter().all(|word| word != "*") {
        return form(&words.iter().map(String::as_str).collect::<Vec<_>>(), open);
    }
    let plain = |word: &&str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./=,@%+:".contains(letter));
    let begin: Vec<&str> = text.split_whitespace().take_while(plain).collect();
    if peer == Peer::Claude && begin.is_empty() && open {
        return Some("command-prefix(*)".to_owned());
    }
    form(&begin, true).filter(|_| text.contains(['$', '`', '<', '>', '\'', '"', '\\']))
}

/// Whether a path rule is about files outside the repository.
fn outside(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("~/") || text == "~"
}

/// `//x` is absolute, `/x` counts from the settings' folder, `~/x` from the home directory; anything else is what `.gitignore`
/// makes of it: without a slash but at its end it matches at any depth, and a folder stands for everything in it.
fn path(kind: &str, text: &str, decision: &str, draft: &mut Draft) -> Vec<String> {
    let refuses = decision != "allow";
    let refused = |line: &str| PathGlob::of_ignore_line(line).into_iter().map(|glob| glob.text());
    if outside(text) {
        match text.strip_prefix("//") {
            Some(absolute) if !refuses && kind == "read" => draft.outside.push(format!("/{absolute}")),
            Some(absolute) if refuses => draft.outside.extend(refused(&format!("/{absolute}")).map(|glob| format!("!/{glob}"))),
            // Whose home directory is not known here, so it is refused in everybody's.
            None if refuses => {
                draft.outside.extend(refused(&format!("**/{}", text.trim_start_matches(['~', '/']))).map(|glob| format!("!/{glob}")))
            }
            Some(_) | None => draft.note(format!("`{kind}({})`: nothing outside the repository", text.escape_debug())),
        }
        return Vec::new();
    }
    if refuses {
        let line = text.strip_prefix("./").map_or_else(|| text.to_owned(), |rooted| format!("/{rooted}"));
        return refused(&line).map(|glob| format!("{kind}({glob})")).collect();
    }
    let rooted = text.strip_prefix("./").or_else(|| text.strip_prefix('/'));
    vec![match rooted {
        Some(rooted) => format!("{kind}({rooted})"),
        None if text.contains('/') || text == "**" => format!("{kind}({text})"),
        None => format!("{kind}(**/{text})"),
    }]
}

fn mcp(tool: &str) -> Option<String> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__").unwrap_or((tool.strip_prefix("mcp__")?, "*"));
    Some(format!("mcp({server}/{name})"))
}
