//! What a model whose act was refused could do instead, in one or two sentences: the part of its
//! script that is allowed, the rule that comes nearest, or the paths that are open.
//!
//! In: a refused intent, the facts and the verdict. Out: text. It decides nothing: every part that
//! is named as allowed was judged like any other script. Which tool would do is not known here.

use crate::Policy;
use crate::command::Script;
use crate::command::tree::SimpleCommand;
use crate::glob::PathGlob;
use crate::intent::{Facts, Intent};
use crate::kind::RuleKind;
use crate::lint::nearest::{self, IntentPart, RuleFit};
use crate::summary;
use crate::verdict::{Cause, Decision, Verdict};
use locum_base::path::RepoPath;

/// Most patterns named in a refusal.
const NAMED_LIMIT: usize = 6;

/// Most parts of a script that are judged by themselves.
const PARTS_LIMIT: usize = 24;

/// Longest script that is cut into parts, in bytes.
const CUT_LIMIT_BYTES: usize = 4 * 1024;

/// Programs whose whole point is what they write: without its redirection such a command is
/// pointless.
const WRITERS: &[&str] = &["echo", "printf", "cat", "tee"];

/// Which part of a script was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedUse {
    /// A command; of a script that is not understood, its first words.
    Program(Vec<String>),
    /// A file that it reads.
    Reads,
    /// A file that it writes.
    Writes,
}

/// Returns which part of a script was refused first.
pub fn refused_use(
    policy: &Policy,
    script: &Script,
    facts: &Facts,
    verdict: &Verdict,
) -> RefusedUse {
    match nearest::refused_part(policy, script, facts, verdict).part {
        IntentPart::Words(words) => RefusedUse::Program(words),
        IntentPart::Intent(Intent::Read(_)) => RefusedUse::Reads,
        IntentPart::Intent(_) => RefusedUse::Writes,
    }
}

/// Returns what would be allowed in place of a refused intent, as sentences; `None` where a rule
/// cannot help, or nothing that is allowed is like it.
pub(crate) fn hint(
    policy: &Policy,
    intent: &Intent,
    facts: &Facts,
    verdict: &Verdict,
) -> Option<String> {
    match intent {
        Intent::Command(script) => of_script(policy, script, facts, verdict),
        Intent::Mode(_) | Intent::Delegate(_) => of_modes(policy, intent, facts),
        other => of_patterns(policy, other, facts, verdict),
    }
}

fn of_script(policy: &Policy, script: &Script, facts: &Facts, verdict: &Verdict) -> Option<String> {
    if let Some(part) = allowed_part(policy, script, facts) {
        return Some(format!("Allowed by itself: `{part}`."));
    }
    if verdict.decision == Decision::Hold {
        return None;
    }
    let refused = nearest::refused_part(policy, script, facts, verdict);
    match &refused.part {
        IntentPart::Intent(intent) => of_patterns(policy, intent, facts, &refused.verdict),
        IntentPart::Words(words) => {
            // What a rule refuses, or a check, no nearer rule allows.
            let lacks_rule =
                matches!(refused.verdict.cause, Cause::NoRule { .. } | Cause::Uncovered { .. });
            if script.problem().is_some() || !lacks_rule {
                return None;
            }
            let closest = nearest::closest(policy, &refused.part, facts)?;
            let text = summary::shown(closest.written);
            if closest.fit == RuleFit::Outdone {
                return Some(format!("Without that, `{text}` allows it."));
            }
            let is_near = closest.fit != RuleFit::Other
                || closest.written.pattern.command().is_some_and(|pattern| {
                    pattern.words.first().is_some_and(|word| words.first() == Some(word))
                });
            if is_near {
                let why = nearest::why(policy, facts, &refused, &closest);
                return Some(format!("Nearest rule: `{text}`; {why}."));
            }
            let all =
                summary::texts(policy.judge.rules(), RuleKind::Command, Decision::Allow, facts);
            (!all.is_empty() && all.len() <= NAMED_LIMIT)
                .then(|| format!("Commands allowed here: {}.", all.join(", ")))
        }
    }
}

/// Returns the patterns that allow such acts, the closest first. A check or a rule that refuses is
/// not outdone by any of them.
fn of_patterns(
    policy: &Policy,
    intent: &Intent,
    facts: &Facts,
    verdict: &Verdict,
) -> Option<String> {
    if !matches!(verdict.cause.origin(), Cause::NoRule { .. }) {
        return None;
    }
    let kind = RuleKind::of(intent)?;
    let what = match kind {
        RuleKind::Read => "May be read here",
        RuleKind::Edit => "May be edited here",
        RuleKind::Fetch | RuleKind::Browse => "Addresses allowed here",
        RuleKind::Search => "Queries allowed here",
        RuleKind::Mcp => "MCP tools allowed here",
        RuleKind::Expert => "Experts allowed here",
        RuleKind::MemoryRead | RuleKind::MemoryWrite => "Notes allowed here",
        RuleKind::Command | RuleKind::Mode | RuleKind::Delegate | RuleKind::Publish => return None,
    };
    let rules = policy.judge.rules().iter();
    let mut open: Vec<(usize, String)> = rules
        .filter(|rule| rule.decision == Decision::Allow && rule.narrowing.holds(facts))
        .flat_map(|rule| &rule.patterns)
        .filter(|written| written.pattern.kind == kind)
        .map(|written| {
            let shared = match (path_of(intent), written.pattern.paths()) {
                (Some(path), Some(glob)) => shared_folders(path, glob),
                (_, _) => 0,
            };
            (shared, format!("`{}`", summary::shown(written)))
        })
        .collect();
    open.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let others = open.len().saturating_sub(NAMED_LIMIT);
    let named: Vec<String> = open.into_iter().take(NAMED_LIMIT).map(|(_, text)| text).collect();
    let more = if others > 0 { format!(", and {others} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{what}: {}{more}.", named.join(", ")))
}

/// Returns the modes that the policy lets follow, or be delegated to.
fn of_modes(policy: &Policy, intent: &Intent, facts: &Facts) -> Option<String> {
    let (what, with): (_, fn(String) -> Intent) = match intent {
        Intent::Delegate(_) => ("Sub-tasks may run in", Intent::Delegate),
        _ => ("Modes allowed here:", Intent::Mode),
    };
    let slugs = policy.settings().modes.allow.iter().filter(|slug| {
        policy.decide(&with((*slug).clone()), facts).decision == Decision::Allow
            && intent != &with((*slug).clone())
    });
    let slugs: Vec<String> = slugs.map(|slug| format!("`{slug}`")).collect();
    (!slugs.is_empty()).then(|| format!("{what} {}.", slugs.join(", ")))
}

fn path_of(intent: &Intent) -> Option<&RepoPath> {
    if let Intent::Read(path) | Intent::Edit(path) = intent { Some(path) } else { None }
}

fn shared_folders(path: &RepoPath, glob: &PathGlob) -> usize {
    path.parts().zip(glob.parts()).take_while(|(one, two)| one == two).count()
}

/// Returns the longest part of a script that is allowed by itself: it is cut where commands meet,
/// and begins where a command begins that reads no pipe.
fn allowed_part(policy: &Policy, script: &Script, facts: &Facts) -> Option<String> {
    let text = script.text();
    if text.len() > CUT_LIMIT_BYTES {
        return None;
    }
    let cuts = cuts(text);
    let starts = std::iter::once(0).chain(cuts.iter().filter(|cut| cut.starts).map(|cut| cut.end));
    let mut parts: Vec<(&str, bool)> = starts
        .flat_map(|start| {
            let ends = cuts.iter().map(|cut| (cut.at, cut.redirects)).chain([(text.len(), false)]);
            ends.filter(move |(end, _)| *end > start).map(move |end| (start, end))
        })
        .filter_map(|(start, (end, redirects))| Some((text.get(start..end)?, redirects)))
        .map(|(part, redirects)| (without_assignments(part.trim()), redirects))
        .filter(|(part, _)| !part.is_empty() && part.len() < text.trim().len())
        .collect();
    parts.sort_by_key(|(part, _)| std::cmp::Reverse(part.len()));
    parts.dedup();
    parts
        .into_iter()
        .take(PARTS_LIMIT)
        .map(|(part, redirects)| (part, script.with_text(part), redirects))
        .find(|(_, alone, redirects)| {
            let works = !alone.simple_commands().is_empty() && !is_pointless(alone, script);
            let cut_short = *redirects && alone.simple_commands().last().is_some_and(is_writer);
            works
                && !cut_short
                && policy.decide(&Intent::Command(alone.clone()), facts).decision == Decision::Allow
        })
        .map(|(part, ..)| part.to_owned())
}

/// Whether a command is pointless without its redirection.
fn is_writer(simple: &&SimpleCommand) -> bool {
    simple.words.first().is_some_and(|program| WRITERS.contains(&program.as_str()))
}

/// Returns true for a part that lost what it was there for.
fn is_pointless(part: &Script, whole: &Script) -> bool {
    let words = part.simple_commands();
    let only = |names: &[&str]| {
        words.iter().all(|simple| {
            simple.words.first().is_none_or(|program| names.contains(&program.as_str()))
        })
    };
    let writes = !whole.redirected().1.is_empty() || whole.problem().is_some();
    only(&["cd", "true", "false", "set", ":"]) || (writes && only(WRITERS))
}

/// A place where commands meet.
struct Cut {
    /// First byte of the operator.
    at: usize,
    /// First byte after it.
    end: usize,
    /// Whether the command after it could stand alone.
    starts: bool,
    /// Whether a redirection of the command before it follows.
    redirects: bool,
}

/// Returns where a script may be cut: at operators and redirections outside quotes. Text in
/// brackets is not looked into.
fn cuts(text: &str) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut letters = text.char_indices().peekable();
    let (mut quote, mut depth) = (None, 0_usize);
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                letters.next();
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, '|' | '&' | ';' | '\n' | '>') if depth == 0 => {
                let before = text.get(..at).unwrap_or_default();
                if letter == '&' && before.ends_with(['>', '<']) {
                    continue;
                }
                let mut end = at + letter.len_utf8();
                while let Some((next, follows)) =
                    letters.next_if(|(_, next)| matches!(next, '|' | '&' | ';' | '>'))
                {
                    end = next + follows.len_utf8();
                }
                let operator = text.get(at..end).unwrap_or_default();
                if operator.starts_with(">&") {
                    continue;
                }
                let at = if letter == '>' {
                    before
                        .trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '&')
                        .len()
                } else {
                    at
                };
                cuts.push(Cut {
                    at,
                    end,
                    starts: !matches!(operator, "|" | "|&") && !operator.contains('>'),
                    redirects: operator.contains('>'),
                });
            }
            (None, _) => {}
        }
    }
    cuts
}

/// Takes assignments off the front of a command.
fn without_assignments(mut text: &str) -> &str {
    while let Some((word, rest)) = text.split_once(' ') {
        let is_assignment = word.split_once('=').is_some_and(|(name, value)| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            !name.is_empty() && name.chars().all(plain) && !value.contains(['\'', '"'])
        });
        if !is_assignment {
            break;
        }
        text = rest.trim_start();
    }
    text
}
