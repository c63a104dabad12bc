//! Roo Code and Kilo Code: lists of command prefixes, the longer one wins, a tie denies.
//!
//! In: exported settings or an editor's settings file. Out: rules in a draft. What the lists say about other tools than commands
//! becomes rules where the policy has a word for it, and a note where it has none.

use crate::base::fields::Mistakes;
use crate::base::yaml::{Node, Value};
use crate::policy::import::{Draft, DraftRule, texts};

/// Commands that are allowed where no list is given.
const DEFAULT_ALLOWED: &[&str] = &["git log", "git diff", "git show"];
/// Keys of an editor's settings file start with one of these.
const PREFIXES: &[&str] = &["", "roo-cline.", "kilo-code."];

pub(super) fn read(root: &Node, draft: &mut Draft, mistakes: &mut Mistakes) {
    let settings = root.get("globalSettings").unwrap_or(root);
    let find = |key: &str| PREFIXES.iter().find_map(|prefix| settings.get(&format!("{prefix}{key}")));
    let given = texts(find("allowedCommands"), "allowedCommands", mistakes);
    let allowed = usable(given.unwrap_or_else(|| DEFAULT_ALLOWED.iter().map(ToString::to_string).collect()), draft);
    let denied = usable(texts(find("deniedCommands"), "deniedCommands", mistakes).unwrap_or_default(), draft);
    draft.rules.push(DraftRule { decision: "allow", patterns: vec!["read(**)".to_owned()], except: Vec::new(), comment: "" });
    for one in &allowed {
        draft.rule("allow", pattern(one));
    }
    for one in &denied {
        let carved = allowed.iter().filter(|other| is_longer(other, one)).map(|other| pattern(other)).collect();
        draft.rules.push(DraftRule { decision: "deny", patterns: vec![pattern(one)], except: carved, comment: "" });
    }
    draft.commands.push(("max_complexity", "1.0".to_owned()));
    draft.commands.push(("expansions", "allow".to_owned()));
    other_approvals(&find, draft);
}

fn usable(texts: Vec<String>, draft: &mut Draft) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        if text.trim().is_empty() {
            draft.note("an empty command, which matches nothing");
        } else if text.contains(|letter: char| letter.is_control()) {
            draft.note(format!("the command `{}`, which holds a control character", text.escape_debug()));
        } else {
            found.push(text.to_lowercase());
        }
    }
    found
}

fn pattern(text: &str) -> String {
    if text == "*" { "command-prefix(*)".to_owned() } else { format!("command-text({text})") }
}

/// Whether an allowed prefix is a longer one of the same commands, so that it wins over a denied one.
fn is_longer(allowed: &str, denied: &str) -> bool {
    allowed.len() > denied.len() && (denied == "*" || allowed.starts_with(denied)) || (denied == "*" && allowed != "*")
}

fn other_approvals<'n>(find: &impl Fn(&str) -> Option<&'n Node>, draft: &mut Draft) {
    let on = |key: &str| find(key).is_some_and(|node| node.value == Value::Bool(true));
    if on("alwaysAllowWrite") {
        draft.rule("allow", "edit(**)".to_owned());
    }
    for (key, pattern) in [("alwaysAllowModeSwitch", "mode(*)"), ("alwaysAllowSubtasks", "delegate(*)")] {
        if on(key) {
            draft.rule("allow", pattern.to_owned());
        }
    }
    for (key, why) in [
        ("alwaysAllowReadOnlyOutsideWorkspace", "nothing outside the repository is read by tools"),
        ("alwaysAllowWriteOutsideWorkspace", "nothing outside the repository is written"),
        ("alwaysAllowWriteProtected", "a protected path is opened by a rule that names it in full with `protected: true`"),
        ("alwaysAllowMcp", "each tool of an MCP server is allowed by name, with `mcp(server/tool)`"),
        ("alwaysAllowFollowupQuestions", "see `questions` in the policy"),
    ] {
        if on(key) {
            draft.note(format!("`{key}`: {why}"));
        }
    }
    if find("alwaysAllowExecute").is_some_and(|node| node.value == Value::Bool(false)) {
        draft
            .note("`alwaysAllowExecute: false`: a policy has nobody to ask, so the listed commands are allowed; take them out to run none");
    }
    for (key, name) in [("allowedMaxRequests", "turns"), ("allowedMaxCost", "cost_usd")] {
        if let Some(Value::Number(number)) = find(key).map(|node| &node.value) {
            draft.budget.push((name, number.clone()));
        }
    }
}
