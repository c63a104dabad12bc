//! Kode and Claude Code: `permissions` with `allow`, `ask` and `deny` lists of rules such as `Bash(cargo test:*)`.
//!
//! In: a settings file. Out: rules in a draft. Rules are case-sensitive; what is no rule at all is left out with a note.

use crate::base::fields::Mistakes;
use crate::base::yaml::Node;
use crate::policy::import::{Draft, DraftRule, pattern_words, texts};
use crate::policy::pattern::Pattern;

/// Commands that need no rule there.
const ALWAYS_ALLOWED: &[&str] = &["git status", "git diff", "git log", "git branch", "pwd", "tree", "date", "which"];
/// Commands that the mode `acceptEdits` allows.
const EDITING: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

pub(super) fn read(root: &Node, draft: &mut Draft, mistakes: &mut Mistakes) {
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
            rule(decision, &text, draft);
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
    if !reads.is_empty() {
        let reads: Vec<String> = reads.iter().map(|glob| super::quoted(glob)).collect();
        draft.commands.push(("reads", format!("[{}]", reads.join(", "))));
    }
}

fn rule(decision: &'static str, text: &str, draft: &mut Draft) {
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
    let pattern = match (tool, inner) {
        ("Bash", None) => Some("command-prefix(*)".to_owned()),
        ("Bash", Some(inner)) => command(inner.trim_end_matches("[background]").trim_end()),
        ("Read" | "Grep" | "Glob" | "LS", None) => Some("read(**)".to_owned()),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", None) => Some("edit(**)".to_owned()),
        ("Read" | "Grep" | "Glob" | "LS", Some(inner)) => path("read", inner, decision, draft),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(inner)) => path("edit", inner, decision, draft),
        ("WebFetch", Some(inner)) => inner.strip_prefix("domain:").map(|host| format!("fetch({host})")),
        ("Task", None) => Some("delegate(*)".to_owned()),
        (tool, None) => mcp(tool),
        _ => None,
    };
    match pattern {
        Some(done) if done.is_empty() => {}
        Some(pattern) if Pattern::parse(&pattern).is_ok() => draft.rule(decision, pattern),
        Some(_) | None => unread(draft),
    }
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

/// `//x` is absolute, `/x` counts from the settings' folder, `~/x` from the home directory; anything else matches at any depth.
fn path(kind: &str, text: &str, decision: &str, draft: &mut Draft) -> Option<String> {
    if let Some(absolute) = text.strip_prefix("//") {
        if kind == "read" && decision == "allow" {
            draft.outside.push(format!("/{absolute}"));
            return Some(String::new());
        }
        return (decision == "deny").then(String::new);
    }
    if text.starts_with("~/") {
        return (decision == "deny").then(String::new);
    }
    let rooted = text.strip_prefix("./").or_else(|| text.strip_prefix('/'));
    let glob = match rooted {
        Some(rooted) => rooted.to_owned(),
        None if text.contains('/') || text == "**" => text.to_owned(),
        None => format!("**/{text}"),
    };
    Some(format!("{kind}({glob})"))
}

fn mcp(tool: &str) -> Option<String> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__").unwrap_or((tool.strip_prefix("mcp__")?, "*"));
    Some(format!("mcp({server}/{name})"))
}
