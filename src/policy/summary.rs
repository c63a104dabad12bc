//! What a policy lets a run do under given facts, as lines for a model's instructions, for a plan
//! and for `locum trigger explain`.
//!
//! In: rules, settings and facts. Out: text. Rules are narrowed here as the judge narrows them, so
//! that no line promises what would be refused. Intents are judged in `judge`; what a refused act
//! could be instead is in `lint::instead`.

use crate::Policy;
use crate::command::tables::programs::{is_built_in, is_shell_word};
use crate::intent::Facts;
use crate::kind::RuleKind;
use crate::memory::needs_maintainer;
use crate::pattern::CommandForm;
use crate::rule::{LocatedPattern, Rule};
use crate::schema::{CommandNetwork, Expansions, Switching};
use crate::verdict::Decision;
use crate::words;

/// Most patterns of one line; the others are counted.
const LISTED_LIMIT: usize = 36;

/// The same for what is denied: that is refused with the reason, whatever the line names.
const DENIED_LIMIT: usize = 24;

/// What a model reads where commands are contained.
pub(crate) const CONTAINED: &str = "You may run: any script, in a shell. It has no way out to a \
                                    network (`127.0.0.1` answers to your background commands), \
                                    files outside the repository or secrets. Each file it writes \
                                    is judged as an edit afterwards, and stays out of the \
                                    repository where that is not allowed: later commands do not \
                                    see it. Temporary files go to `$TMPDIR`, which stays for \
                                    the run";

/// The same where some hosts may be reached.
const CONTAINED_LISTED: &str = "You may run: any script, in a shell. It reaches no files outside \
                                the repository and no secrets. Each file it writes is judged as \
                                an edit afterwards, and stays out of the repository where that is \
                                not allowed: later commands do not see it. Temporary files go \
                                to `$TMPDIR`, which stays for the run";

/// What a model reads where every command needs a rule.
pub(crate) const BY_WORDS: &str = "`:*` stands for further words; options not known to be harmless \
                                   are refused. Pipes, `&&` and `;` may join allowed commands; \
                                   `$`, globs, loops and `&` are refused";

/// The same where a shell may work words out.
const BY_WORDS_EXPANDED: &str = "`:*` stands for further words; options not known to be harmless \
                                 are refused. Pipes, lists and expansions are fine where each \
                                 command is allowed";

/// What no pattern that is wider than a name opens.
const APART: &str = ", but no secrets";

/// What begins a line about what is held.
const HELD: &str = "A person must agree before you";

/// Kinds of acts, with the verb of their line. The last three steer, which needs no tool group.
const KINDS: &[(RuleKind, &str)] = &[
    (RuleKind::Read, "read"),
    (RuleKind::Edit, "edit"),
    (RuleKind::Command, "run"),
    (RuleKind::Fetch, "fetch"),
    (RuleKind::Search, "search the web for"),
    (RuleKind::Browse, "browse"),
    (RuleKind::Mcp, "call"),
    (RuleKind::Expert, "ask the expert"),
    (RuleKind::MemoryRead, "use the memory"),
    (RuleKind::MemoryWrite, "use the memory"),
    (RuleKind::Mode, "switch to"),
    (RuleKind::Delegate, "delegate to"),
];

/// Returns true when some rule could allow or hold a use of this kind under these facts.
pub(crate) fn may_use(rules: &[Rule], kind: RuleKind, facts: &Facts) -> bool {
    if is_taken_away(kind, facts) {
        return false;
    }
    let may = |rule: &&Rule| rule.decision != Decision::Deny && rule.narrowing.holds(facts);
    let mut patterns = rules.iter().filter(may).flat_map(|rule| &rule.patterns);
    patterns.any(|written| written.pattern.kind == kind)
}

/// Returns what is allowed under these facts, one line per kind of act. Kinds without a tool are
/// left out, as are switches and sub-tasks where the settings allow none.
pub(crate) fn lines(
    policy: &Policy,
    facts: &Facts,
    has_tool_for: impl Fn(RuleKind) -> bool,
) -> Vec<String> {
    let switches = policy.settings().modes.switching != Switching::Off;
    let shown = |kind: RuleKind| match kind {
        RuleKind::Browse => true,
        RuleKind::Mode => switches,
        RuleKind::Delegate => policy.may_delegate(facts),
        other => has_tool_for(other),
    };
    let contained = policy.settings().commands.contains(facts);
    let mut lines = Vec::new();
    for (decision, said) in
        [(Decision::Allow, "You may"), (Decision::Hold, HELD), (Decision::Deny, "You may not")]
    {
        let allows = decision == Decision::Allow;
        for (kind, verb) in KINDS.iter().filter(|(kind, _)| shown(*kind)) {
            if decision != Decision::Deny && is_taken_away(*kind, facts) {
                continue;
            }
            if allows && *kind == RuleKind::Command && contained {
                lines.extend(contained_lines(policy));
                continue;
            }
            let texts = if decision == Decision::Deny && *kind == RuleKind::Command && !contained {
                vec![exceptions(policy.judge.rules(), facts)]
            } else {
                texts_by_rule(policy.judge.rules(), *kind, decision, facts)
            };
            if texts.iter().all(Vec::is_empty) {
                continue;
            }
            let apart = if allows && *kind == RuleKind::Read { APART } else { "" };
            let limit = if decision == Decision::Deny { DENIED_LIMIT } else { LISTED_LIMIT };
            let held =
                allows && *kind == RuleKind::MemoryWrite && needs_maintainer(facts).is_some();
            let said = if held { HELD } else { said };
            lines.push(format!("{said} {verb}: {}{apart}", listed(&texts, limit)));
            if allows && *kind == RuleKind::Command {
                lines.extend(by_words_lines(policy, facts));
            }
        }
    }
    lines.extend(restrictions(facts, contained, &has_tool_for));
    let ignored: Vec<String> =
        policy.judge.ignore_files().map(|name| format!("`{name}`")).collect();
    if !ignored.is_empty() && has_tool_for(RuleKind::Read) {
        lines.push(format!("You may not see or change what {} names", ignored.join(", ")));
    }
    lines
}

/// Options and verbs with which a program only says which version it is.
const VERSIONS: &str = "--version -version -v -V version";

/// Returns the programs that rules allow, each once, in their order; what a shell has by itself is
/// left out, and what is only asked for its version.
pub(crate) fn programs(rules: &[Rule]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let allowing = rules.iter().filter(|rule| rule.decision == Decision::Allow);
    for written in allowing.flat_map(|rule| &rule.patterns) {
        let command = written.pattern.command().filter(|command| {
            let asked = command.words.get(1).filter(|_| !command.open && command.words.len() == 2);
            !asked.is_some_and(|word| words::holds(VERSIONS, word))
        });
        if let Some(program) = command.and_then(|command| command.words.first())
            && !is_built_in(program)
            && !is_shell_word(program)
            && !found.contains(program)
        {
            found.push(program.clone());
        }
    }
    found
}

/// Returns the patterns of rules of a kind that decide so under these facts, each in backticks,
/// with what their rules leave out.
pub(crate) fn texts(
    rules: &[Rule],
    kind: RuleKind,
    decision: Decision,
    facts: &Facts,
) -> Vec<String> {
    texts_by_rule(rules, kind, decision, facts).concat()
}

fn texts_by_rule(
    rules: &[Rule],
    kind: RuleKind,
    decision: Decision,
    facts: &Facts,
) -> Vec<Vec<String>> {
    let here = |rule: &&Rule| rule.decision == decision && rule.narrowing.holds(facts);
    let mut texts = Vec::new();
    for rule in rules.iter().filter(here) {
        let of_kind = |patterns: &[LocatedPattern]| -> Vec<String> {
            let patterns = patterns.iter().filter(|written| written.pattern.kind == kind);
            patterns.map(|written| format!("`{}`", shown(written))).collect()
        };
        let mut patterns = of_kind(&rule.patterns);
        let except = of_kind(&rule.except);
        if let Some(last) = patterns.last_mut().filter(|_| !except.is_empty()) {
            last.push_str(&format!(" (except {})", except.join(", ")));
        }
        texts.push(patterns);
    }
    texts
}

/// Returns a pattern as models read it: without its kind, and every form of command in the form
/// that `command(...)` has.
pub(crate) fn shown(written: &LocatedPattern) -> String {
    let text = written.text.trim();
    let inner = text.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')'));
    let inner = inner.unwrap_or(text);
    let open = match written.pattern.command().map(|command| &command.form) {
        Some(CommandForm::Prefix | CommandForm::Text(_)) => inner != "*" && !inner.ends_with(":*"),
        Some(CommandForm::Words | CommandForm::Script(_)) | None => false,
    };
    format!("{inner}{}", if open { ":*" } else { "" })
}

/// Returns the commands that rules refuse under these facts although others seem to allow them:
/// what no rule allows is refused anyway.
fn exceptions(rules: &[Rule], facts: &Facts) -> Vec<String> {
    let patterns = |decision: Decision| {
        let here = move |rule: &&Rule| rule.decision == decision && rule.narrowing.holds(facts);
        let patterns = rules.iter().filter(here).flat_map(|rule| &rule.patterns);
        patterns.filter(|written| written.pattern.kind == RuleKind::Command)
    };
    let words = |written: &'_ LocatedPattern| -> Vec<String> {
        written.pattern.command().map(|command| command.words.clone()).unwrap_or_default()
    };
    let meets_allowed = |denied: &&LocatedPattern| {
        patterns(Decision::Allow).any(|allowed| {
            words(allowed).starts_with(&words(denied)) || words(denied).starts_with(&words(allowed))
        })
    };
    let met = patterns(Decision::Deny).filter(meets_allowed);
    met.map(|written| format!("`{}`", shown(written))).collect()
}

/// Joins patterns; of very many, the first of each rule.
fn listed(by_rule: &[Vec<String>], limit: usize) -> String {
    let all: usize = by_rule.iter().map(Vec::len).sum();
    let mut counts = vec![0_usize; by_rule.len()];
    let mut room = limit.min(all);
    while room > 0 {
        for (count, texts) in counts.iter_mut().zip(by_rule) {
            if room > 0 && *count < texts.len() {
                (*count, room) = (*count + 1, room - 1);
            }
        }
    }
    let named = by_rule.iter().zip(counts).flat_map(|(texts, count)| texts.iter().take(count));
    let named: Vec<&str> = named.map(String::as_str).collect();
    let others = all - named.len();
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

fn contained_lines(policy: &Policy) -> Vec<String> {
    let commands = &policy.settings().commands;
    match (commands.network, network(policy)) {
        (CommandNetwork::Listed, Some(line)) => vec![CONTAINED_LISTED.to_owned(), line],
        (CommandNetwork::Off | CommandNetwork::Listed | CommandNetwork::Open, _) => {
            vec![CONTAINED.to_owned()]
        }
    }
}

fn by_words_lines(policy: &Policy, facts: &Facts) -> Vec<String> {
    let said = match policy.settings().commands.expansions {
        Expansions::Off => BY_WORDS,
        Expansions::Allow => BY_WORDS_EXPANDED,
    };
    let network = network(policy).filter(|_| facts.sandboxed);
    std::iter::once(said.to_owned()).chain(network).collect()
}

/// Returns what commands reach of the network; `None` where they reach all of it.
fn network(policy: &Policy) -> Option<String> {
    let settings = policy.settings();
    match settings.commands.network {
        CommandNetwork::Open => None,
        CommandNetwork::Listed if !settings.network.allow.is_empty() => {
            let hosts = settings.network.allow.iter().map(|listed| format!("`{}`", listed.text));
            Some(format!(
                "Commands reach of the network only {}",
                listed(&[hosts.collect()], LISTED_LIMIT)
            ))
        }
        CommandNetwork::Off | CommandNetwork::Listed => Some("Commands have no network".to_owned()),
    }
}

/// Returns what this run may not do although rules would let it.
fn restrictions(
    facts: &Facts,
    contained: bool,
    has_tool_for: impl Fn(RuleKind) -> bool,
) -> Vec<String> {
    let restriction = &facts.restriction;
    let mut lines = Vec::new();
    if restriction.read_only {
        let runs = has_tool_for(RuleKind::Command);
        lines.push(match (runs, restriction.contained && contained) {
            (true, true) => "This run may only read: what commands write is thrown away".to_owned(),
            (true, false) => "This run may only read: no edits, and only commands that are known \
                              to change nothing"
                .to_owned(),
            (false, _) => "This run may only read".to_owned(),
        });
    } else if !restriction.paths.is_empty() && has_tool_for(RuleKind::Edit) {
        let globs = restriction.paths.iter().map(|glob| format!("`{glob}`"));
        lines.push(format!("This run edits only {}", listed(&[globs.collect()], LISTED_LIMIT)));
    }
    lines
}

/// Returns whether this run may do nothing of a kind, whatever the rules say.
fn is_taken_away(kind: RuleKind, facts: &Facts) -> bool {
    let outside = [
        RuleKind::Edit,
        RuleKind::Fetch,
        RuleKind::Search,
        RuleKind::Browse,
        RuleKind::Mcp,
        RuleKind::MemoryWrite,
    ];
    facts.restriction.read_only && outside.contains(&kind)
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
