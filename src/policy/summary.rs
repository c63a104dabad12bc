//! What the rules allow, as text for a model: lines for its instructions, and what would be allowed
//! instead of a refused act.
//!
//! In: rules, and a mode or facts. Out: text. Intents are judged in `judge`.

use crate::intent::{Facts, Intent};
use crate::pattern::Pattern;
use crate::rule::Rule;
use crate::verdict::Decision;

/// A kind of use that tools are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// Files whose content is shown.
    Read,
    /// Files created, changed or deleted.
    Edit,
    /// Programs started in the checkout.
    Command,
    /// Calling tools of MCP servers.
    Mcp,
    /// Reading pages of the web.
    Fetch,
    /// Asking another model.
    Expert,
}

/// Returns true when some rule could allow or hold a use of this kind under these facts.
pub(crate) fn may_use(rules: &[Rule], kind: UseKind, facts: &Facts) -> bool {
    if matches!(kind, UseKind::Edit | UseKind::Fetch | UseKind::Mcp) && facts.restriction.read_only
    {
        return false;
    }
    let may = |rule: &&Rule| rule.decision != Decision::Deny && rule.narrowing.holds(facts);
    let mut patterns = rules.iter().filter(may).flat_map(|rule| &rule.patterns);
    patterns.any(|written| use_of(&written.pattern) == Some(kind))
}

/// Returns what is allowed in a mode, one line per kind of intent. Kinds without a tool are left
/// out.
pub(crate) fn lines(
    rules: &[Rule],
    mode: &str,
    has_tool_for: impl Fn(UseKind) -> bool,
) -> Vec<String> {
    let kinds = [
        ("read", "read", Some(UseKind::Read)),
        ("edit", "edit", Some(UseKind::Edit)),
        ("command", "run", Some(UseKind::Command)),
        ("fetch", "fetch", Some(UseKind::Fetch)),
        ("browse", "browse", None),
        ("mcp", "call", Some(UseKind::Mcp)),
        ("mode", "switch to", None),
        ("delegate", "delegate to", None),
        ("expert", "ask the expert", Some(UseKind::Expert)),
    ];
    let mut lines = Vec::new();
    for (decision, said) in [
        (Decision::Allow, "You may"),
        (Decision::Hold, "A person must agree before you"),
        (Decision::Deny, "You may not"),
    ] {
        for (kind, title, _) in kinds.iter().filter(|(_, _, used)| used.is_none_or(&has_tool_for)) {
            let texts = inner_texts(rules, kind, decision, mode);
            if !texts.is_empty() {
                lines.push(format!("{said} {title}: {}", texts.join(", ")));
            }
        }
    }
    lines
}

/// Returns what a model whose act was refused could do instead.
pub(crate) fn hint(rules: &[Rule], intent: &Intent, facts: &Facts) -> Option<String> {
    let kind = kind_word(intent);
    let allowed = inner_texts(rules, kind, Decision::Allow, &facts.mode);
    (!allowed.is_empty()).then(|| format!("allowed here: {kind} {}", allowed.join(", ")))
}

fn inner_texts(rules: &[Rule], kind: &str, decision: Decision, mode: &str) -> Vec<String> {
    let here = rules.iter().filter(|rule| {
        let modes = &rule.narrowing.modes;
        rule.decision == decision && (modes.is_empty() || modes.iter().any(|one| one == mode))
    });
    here.flat_map(|rule| &rule.patterns)
        .filter_map(|written| inner(&written.text, kind))
        .map(|inner| format!("`{inner}`"))
        .collect()
}

fn use_of(pattern: &Pattern) -> Option<UseKind> {
    match pattern {
        Pattern::Read(_) => Some(UseKind::Read),
        Pattern::Edit(_) => Some(UseKind::Edit),
        Pattern::Command(_) => Some(UseKind::Command),
        Pattern::Mcp(_) => Some(UseKind::Mcp),
        Pattern::Fetch(_) => Some(UseKind::Fetch),
        Pattern::Expert(_) => Some(UseKind::Expert),
        Pattern::Browse(_) | Pattern::Mode(_) | Pattern::Delegate(_) | Pattern::Publish(_) => None,
    }
}

fn kind_word(intent: &Intent) -> &'static str {
    match intent {
        Intent::Read(_) => "read",
        Intent::Edit(_) => "edit",
        Intent::Command(_) => "command",
        Intent::Fetch(_) => "fetch",
        Intent::Browse(_) => "browse",
        Intent::Connect(_) => "connect",
        Intent::Server(_) | Intent::Mcp { .. } => "mcp",
        Intent::Publish(_) => "publish",
        Intent::Delegate(_) => "delegate",
        Intent::Expert(_) => "expert",
        Intent::Mode(_) => "mode",
        Intent::Session => "session",
    }
}

fn inner<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    text.trim().strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')
}
