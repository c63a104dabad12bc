//! What the rules allow, as text for a model: lines for its instructions, and what would be allowed
//! instead of a refused act.
//!
//! In: rules, and a mode or facts. Out: text. Intents are judged in `judge`.

use crate::intent::{Facts, Intent};
use crate::kind::RuleKind;
use crate::rule::Rule;
use crate::verdict::Decision;

/// What a model reads where commands are contained.
pub(crate) const CONTAINED: &str = "You may run: any script, in a shell. It has no way out to a \
                                    network, files outside the repository or secrets. Each file \
                                    it writes is judged as an edit afterwards, and stays out of \
                                    the repository where that is not allowed";

/// What a model reads where every command needs a rule.
pub(crate) const BY_WORDS: &str = "Commands are judged word by word: prefer one plain program per \
                                   call, and `cd` only as `cd FOLDER && ...`; shell constructs \
                                   are more often refused";

/// Returns true when some rule could allow or hold a use of this kind under these facts.
pub(crate) fn may_use(rules: &[Rule], kind: RuleKind, facts: &Facts) -> bool {
    if matches!(kind, RuleKind::Edit | RuleKind::Fetch | RuleKind::Mcp)
        && facts.restriction.read_only
    {
        return false;
    }
    let may = |rule: &&Rule| rule.decision != Decision::Deny && rule.narrowing.holds(facts);
    let mut patterns = rules.iter().filter(may).flat_map(|rule| &rule.patterns);
    patterns.any(|written| written.pattern.kind == kind)
}

/// Returns what is allowed in a mode, one line per kind of intent. Kinds without a tool are left
/// out.
pub(crate) fn lines(
    rules: &[Rule],
    mode: &str,
    has_tool_for: impl Fn(RuleKind) -> bool,
) -> Vec<String> {
    let kinds = [
        ("read", "read", Some(RuleKind::Read)),
        ("edit", "edit", Some(RuleKind::Edit)),
        ("command", "run", Some(RuleKind::Command)),
        ("fetch", "fetch", Some(RuleKind::Fetch)),
        ("browse", "browse", None),
        ("mcp", "call", Some(RuleKind::Mcp)),
        ("mode", "switch to", None),
        ("delegate", "delegate to", None),
        ("expert", "ask the expert", Some(RuleKind::Expert)),
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

/// Returns what rules of one decision and kind are about under these facts, as written between the
/// parentheses.
pub(crate) fn patterns<'r>(
    rules: &'r [Rule],
    kind: RuleKind,
    decision: Decision,
    facts: &Facts,
) -> Vec<&'r str> {
    let here = rules.iter().filter(|rule| rule.decision == decision && rule.narrowing.holds(facts));
    here.flat_map(|rule| &rule.patterns)
        .filter(|written| written.pattern.kind == kind)
        .filter_map(|written| written.text.trim().split_once('(')?.1.strip_suffix(')'))
        .collect()
}

/// Returns what a model whose act was refused could do instead.
pub(crate) fn hint(rules: &[Rule], intent: &Intent, facts: &Facts) -> Option<String> {
    let shown = intent.to_string();
    let kind = shown.split('(').next().unwrap_or_default();
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

fn inner<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    text.trim().strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')
}
