//! `NearestRule`: of the rules that allow, the one that comes closest to something that was not
//! allowed, and why it did not do.
//!
//! In: an intent, the facts and the verdict. Out: a rule, or a setting that counts as one, with the
//! reason as text. Of a script only the refused part is looked at: one simple command, or one file
//! that it reads or writes.

use std::cmp::Reverse;

use serde::Serialize;

use crate::Policy;
use crate::command::Script;
use crate::command::examine::PathUse;
use crate::command::tree;
use crate::glob::{LetterCase, PathGlob};
use crate::intent::{Facts, Intent};
use crate::kind::RuleKind;
use crate::paths::Protection;
use crate::pattern::{CommandForm, CommandPattern, Pattern, PatternSubject};
use crate::rule::{LocatedPattern, Rule, RuleConditions, tier_word, trigger_word};
use crate::schema::PolicySpec;
use crate::verdict::{Access, Cause, Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;
use locum_base::text::code_list;

/// Letters of two texts that are compared with each other.
const COMPARED_LETTERS: usize = 64;

/// A rule that nearly allowed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearestRule {
    /// The rule; a setting (`publish.allow`) has line 0.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// Why it did not: a fragment without a full stop.
    pub why: String,
}

/// The part that was not allowed.
pub(crate) enum IntentPart {
    Intent(Intent),
    /// The words of one simple command.
    Words(Vec<String>),
}

/// The part that was refused, and the verdict on it.
pub(crate) struct RefusedPart {
    pub(crate) part: IntentPart,
    pub(crate) verdict: Verdict,
}

/// A rule that allows, and how close it comes.
pub(crate) struct NearCandidate<'p> {
    rule: &'p Rule,
    pub(crate) written: &'p LocatedPattern,
    pub(crate) fit: RuleFit,
}

/// How a rule fits a part. Later is closer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleFit {
    /// Another thing of the same kind.
    Other,
    /// It fits but for the case of letters.
    Case,
    /// It fits, and its own `except` takes the part out.
    Excepted,
    /// It fits, at other times.
    Narrowed,
    /// It fits, and something else spoke.
    Outdone,
}

/// Returns the rule, or the setting, that comes closest to allowing what was not allowed.
pub(super) fn nearest(
    policy: &Policy,
    intent: &Intent,
    facts: &Facts,
    verdict: &Verdict,
) -> Option<NearestRule> {
    if verdict.decision == Decision::Allow {
        return None;
    }
    if let Some((setting, why)) = setting(policy.settings(), intent, facts, verdict) {
        let rule = RuleRef::setting(setting, policy.origin());
        return Some(NearestRule { rule, why });
    }
    let refused = match intent {
        Intent::Command(script) => refused_part(policy, script, facts, verdict),
        other => RefusedPart { part: IntentPart::Intent(other.clone()), verdict: verdict.clone() },
    };
    let closest = closest(policy, &refused.part, facts)?;
    let why = why(policy, facts, &refused, &closest);
    Some(NearestRule { rule: closest.written.reference(policy.origin()), why })
}

/// Returns the allowing rule that comes closest to a part.
pub(crate) fn closest<'p>(
    policy: &'p Policy,
    part: &IntentPart,
    facts: &Facts,
) -> Option<NearCandidate<'p>> {
    let rules = policy.judge.rules().iter().filter(|rule| rule.decision == Decision::Allow);
    let written = rules.flat_map(|rule| rule.patterns.iter().map(move |written| (rule, written)));
    let candidates = written.filter_map(|(rule, written)| {
        let likeness = likeness(part, &written.pattern)?;
        let fit = fit(part, rule, written, facts);
        // Of equals the first in the file.
        let rank = (fit, likeness, Reverse(written.place));
        Some((rank, NearCandidate { rule, written, fit }))
    });
    candidates.max_by_key(|(rank, _)| *rank).map(|(_, found)| found)
}

/// Settings that count as rules: one of them may be what has to change.
fn setting(
    spec: &PolicySpec,
    intent: &Intent,
    facts: &Facts,
    verdict: &Verdict,
) -> Option<(&'static str, String)> {
    let not_listed = |slug: &String| format!("it does not list `{slug}`");
    match intent {
        Intent::Command(script) if matches!(verdict.cause, Cause::Complexity { .. }) => Some((
            "commands.max_complexity",
            format!("the script comes to {:.1}", script.complexity()),
        )),
        Intent::Mode(slug) | Intent::Delegate(slug) if !spec.modes.allow.contains(slug) => {
            Some(("modes.allow", not_listed(slug)))
        }
        Intent::Mode(slug) if verdict.rule().is_none() => {
            Some(("modes.transitions", format!("for `{}` it does not list `{slug}`", facts.mode)))
        }
        Intent::Delegate(_) if verdict.rule().is_none() => {
            Some(("modes.delegation", format!("`from` does not list `{}`", facts.mode)))
        }
        Intent::Connect(destination)
            if verdict.rule().is_none()
                && destination.host.forbidden().is_none()
                && spec.network.is_for(facts.job.as_deref()) =>
        {
            Some(("network.allow", format!("it does not list `{destination}`")))
        }
        Intent::Publish(publication) if verdict.rule().is_none() => {
            Some(("publish.allow", not_listed(&publication.to_string())))
        }
        _ => None,
    }
}

/// Returns the first part of a script that comes out as the whole did, and the verdict on it.
pub(crate) fn refused_part(
    policy: &Policy,
    script: &Script,
    facts: &Facts,
    verdict: &Verdict,
) -> RefusedPart {
    for (simple, _) in script.examinations() {
        let text = simple.words.iter().map(|word| tree::quoted(word)).collect::<Vec<_>>().join(" ");
        let alone = Intent::Command(Script::parse_in(&text, script.folder()));
        let verdict_alone = policy.decide(&alone, facts);
        if verdict_alone.decision == verdict.decision {
            let part = used_part(&verdict_alone.cause)
                .unwrap_or_else(|| IntentPart::Words(simple.words.clone()));
            return RefusedPart { part, verdict: verdict_alone };
        }
    }
    let (reads, edits) = script.redirected();
    let reads = reads.iter().filter_map(PathUse::inside).map(|path| Intent::Read(path.clone()));
    let edits = edits.iter().filter_map(PathUse::inside).map(|path| Intent::Edit(path.clone()));
    for intent in reads.chain(edits) {
        let alone = policy.decide(&intent, facts);
        if alone.decision == verdict.decision {
            return RefusedPart { part: IntentPart::Intent(intent), verdict: alone };
        }
    }
    let words = script
        .simple_commands()
        .first()
        .map_or_else(|| guessed_words(script.text()), |simple| simple.words.clone());
    RefusedPart { part: IntentPart::Words(words), verdict: verdict.clone() }
}

/// Says why the closest rule did not do: a fragment without a full stop.
pub(crate) fn why(
    policy: &Policy,
    facts: &Facts,
    refused: &RefusedPart,
    closest: &NearCandidate<'_>,
) -> String {
    let RefusedPart { part, verdict } = refused;
    let NearCandidate { rule, written, fit } = closest;
    match fit {
        RuleFit::Other => other(part, &written.pattern, policy.judge.protection()),
        RuleFit::Case => almost(part, &written.pattern).to_owned(),
        RuleFit::Excepted => {
            let except = rule
                .except
                .iter()
                .find(|except| is_about(&except.pattern, part, LetterCase::Ignored));
            except.map_or_else(
                || "its own `except` takes this out".to_owned(),
                |except| format!("its own `except` `{}` takes this out", except.text),
            )
        }
        RuleFit::Narrowed => narrowed(&rule.narrowing, facts),
        RuleFit::Outdone => match verdict.rule() {
            Some(spoke) if !written.is_at(spoke) => {
                let place = match spoke.line {
                    _ if spoke.origin != policy.origin() => format!(" on {}", spoke.place()),
                    None => String::new(),
                    Some(line) => format!(" on line {line}"),
                };
                format!("`{}`{place} outweighs it", spoke.pattern)
            }
            Some(_) | None => verdict.reason(),
        },
    }
}

/// A file that a command uses, when that is what was refused.
fn used_part(cause: &Cause) -> Option<IntentPart> {
    let Cause::Access { access, path, .. } = cause else { return None };
    Some(IntentPart::Intent(match access {
        Access::Read => Intent::Read(path.clone()),
        Access::Write => Intent::Edit(path.clone()),
    }))
}

/// Words of a script that was not understood.
fn guessed_words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.replace(['\'', '"'], ""))
        .filter(|word| !word.is_empty())
        .take(COMPARED_LETTERS)
        .collect()
}

fn fit(part: &IntentPart, rule: &Rule, written: &LocatedPattern, facts: &Facts) -> RuleFit {
    if is_about(&written.pattern, part, LetterCase::Exact) {
        if rule.except.iter().any(|except| is_about(&except.pattern, part, LetterCase::Ignored)) {
            RuleFit::Excepted
        } else if rule.narrowing.holds(facts) {
            RuleFit::Outdone
        } else {
            RuleFit::Narrowed
        }
    } else if is_about(&written.pattern, part, LetterCase::Ignored) {
        RuleFit::Case
    } else {
        RuleFit::Other
    }
}

fn is_about(pattern: &Pattern, part: &IntentPart, case: LetterCase) -> bool {
    match part {
        IntentPart::Intent(intent) => pattern.matches(intent, case),
        IntentPart::Words(words) => {
            pattern.command().is_some_and(|pattern| pattern.matches(words, case))
        }
    }
}

/// How much of a pattern and a part is the same from its start: words, folders, labels of a host, a
/// server; and how like the first thing that is not the same is spelled, 0 to 1000, for a name
/// spelled wrong is closer than a wildcard. `None` when they are of different kinds.
fn likeness(part: &IntentPart, pattern: &Pattern) -> Option<(usize, usize)> {
    let intent = match part {
        IntentPart::Intent(intent) => intent,
        IntentPart::Words(words) => {
            let pattern = pattern.command()?;
            let shared = shared_words(words, pattern);
            let spelled = match (words.get(shared), pattern.words.get(shared)) {
                (Some(one), Some(two)) => like(one, two),
                (None, None) => 1000,
                (Some(_), None) | (None, Some(_)) => 500,
            };
            return Some((shared, spelled));
        }
    };
    if RuleKind::of(intent) != Some(pattern.kind) {
        return None;
    }
    Some(match (intent, &pattern.subject) {
        (Intent::Read(path) | Intent::Edit(path), PatternSubject::Path(glob)) => {
            let same = |(one, two): &(&str, &String)| one == two;
            let shared = path.parts().zip(glob.parts()).take_while(same).count();
            let next = path.parts().nth(shared).zip(glob.parts().get(shared));
            (shared, next.map_or(0, |(one, two)| like(one, two)))
        }
        (Intent::Fetch(url) | Intent::Browse(url), PatternSubject::Url(pattern)) => {
            let host = url.destination().map(|to| to.host.to_string()).unwrap_or_default();
            let wanted = pattern.host();
            let labels = host.rsplit('.').zip(wanted.rsplit('.'));
            (labels.take_while(|(one, two)| one == two).count(), like(&host, &wanted))
        }
        (Intent::Search(query), PatternSubject::Query(pattern)) => {
            let words = query.text().split(' ').zip(pattern.split(' '));
            let shared = words.take_while(|(one, two)| one == two).count();
            (shared, like(query.text(), pattern))
        }
        (Intent::Mcp { server, tool }, PatternSubject::Name(name)) => {
            let (wanted, inner) = server_and_tool(name);
            if wanted == server { (1, like(inner, tool)) } else { (0, like(wanted, server)) }
        }
        (
            Intent::Mode(one)
            | Intent::Delegate(one)
            | Intent::Expert(one)
            | Intent::MemoryRead(one)
            | Intent::MemoryWrite(one),
            PatternSubject::Name(two),
        ) => (0, like(one, two)),
        (_, _) => (0, 0),
    })
}

fn server_and_tool(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or((name, ""))
}

fn shared_words(words: &[String], pattern: &CommandPattern) -> usize {
    words.iter().zip(&pattern.words).take_while(|(word, wanted)| word == wanted).count()
}

/// 0 to 1000.
fn like(one: &str, two: &str) -> usize {
    let head = |text: &str| -> String {
        text.chars().take(COMPARED_LETTERS).collect::<String>().to_lowercase()
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the share lies between 0 and 1"
    )]
    let share = (strsim::normalized_levenshtein(&head(one), &head(two)) * 1000.0) as usize;
    share
}

/// Why a rule about another thing does not fit.
fn other(part: &IntentPart, pattern: &Pattern, protection: &Protection) -> String {
    let said = match (part, &pattern.subject) {
        (IntentPart::Words(words), PatternSubject::Command(pattern)) => {
            return other_words(words, pattern);
        }
        (
            IntentPart::Intent(Intent::Read(path) | Intent::Edit(path)),
            PatternSubject::Path(glob),
        ) => {
            let edit = pattern.kind == RuleKind::Edit;
            let guard = if edit { protection.of_edit(path) } else { protection.of_read(path) };
            let guard =
                guard.map(|why| format!(", and it is protected: {why}")).unwrap_or_default();
            return format!("{}{guard}", other_path(path, glob));
        }
        (IntentPart::Intent(Intent::Fetch(_) | Intent::Browse(_)), _) => "it names another address",
        (IntentPart::Intent(Intent::Search(_)), _) => "it is about other queries",
        (IntentPart::Intent(Intent::Mcp { server, .. }), PatternSubject::Name(name))
            if server_and_tool(name).0 == server =>
        {
            "it names another tool of the server"
        }
        (IntentPart::Intent(Intent::Mcp { .. }), _) => "it names another server",
        (IntentPart::Intent(Intent::Mode(_) | Intent::Delegate(_)), _) => "it names another mode",
        (IntentPart::Intent(Intent::Expert(_)), _) => "it names another profile",
        (IntentPart::Intent(Intent::MemoryRead(_) | Intent::MemoryWrite(_)), _) => {
            "it names another note"
        }
        (IntentPart::Intent(_) | IntentPart::Words(_), _) => "it is about something else",
    };
    said.to_owned()
}

/// What a rule that allows takes more exactly than one that refuses.
fn almost(part: &IntentPart, pattern: &Pattern) -> &'static str {
    if let IntentPart::Intent(Intent::Fetch(url) | Intent::Browse(url)) = part
        && let PatternSubject::Url(pattern) = &pattern.subject
        && !url.destination().is_some_and(|to| pattern.reaches(to, LetterCase::Exact))
    {
        return "a rule that names no scheme allows `https`, and one that names no port the port \
                of the scheme";
    }
    "upper and lower case differ"
}

fn other_path(path: &RepoPath, glob: &PathGlob) -> String {
    if !glob.has_wildcard() {
        return "it names another path".to_owned();
    }
    match glob.parts() {
        [folders @ .., last]
            if last == "**" && !folders.iter().any(|part| part.contains(['*', '?'])) =>
        {
            format!("`{path}` is not below `{}`", folders.join("/"))
        }
        parts => format!("`{path}` is not of the form `{}`", parts.join("/")),
    }
}

fn other_words(words: &[String], pattern: &CommandPattern) -> String {
    if let CommandForm::Script(_) = pattern.form {
        return "it spells out another script".to_owned();
    }
    let shared = shared_words(words, pattern);
    match (words.get(shared), pattern.words.get(shared)) {
        (Some(word), Some(wanted)) if shared == 0 => format!("it allows `{wanted}`, not `{word}`"),
        (Some(word), Some(wanted)) => {
            format!(
                "after `{}` it has `{wanted}`, not `{word}`",
                pattern.words.get(..shared).unwrap_or_default().join(" ")
            )
        }
        (None, Some(wanted)) => format!("it also has `{wanted}`"),
        (Some(word), None) if !pattern.open => {
            format!("without `:*` at its end nothing may follow, and `{word}` does")
        }
        (Some(_) | None, None) => "it allows other words".to_owned(),
    }
}

/// Why a rule does not count under these facts.
fn narrowed(narrowing: &RuleConditions, facts: &Facts) -> String {
    let within =
        |words: &[String], word: &str| words.is_empty() || words.iter().any(|one| one == word);
    let mut said = Vec::new();
    if !within(&narrowing.modes, &facts.mode) {
        said.push(format!("in {}, and this is mode `{}`", code_list(&narrowing.modes), facts.mode));
    }
    let triggers: Vec<String> =
        narrowing.triggers.iter().map(|trigger| trigger_word(*trigger).to_owned()).collect();
    let trigger = trigger_word(facts.trigger);
    if !within(&triggers, trigger) {
        said.push(format!(
            "in runs started by {}, and this one is by `{trigger}`",
            code_list(&triggers)
        ));
    }
    let tiers: Vec<String> =
        narrowing.tiers.iter().map(|tier| tier_word(*tier).to_owned()).collect();
    let tier = tier_word(facts.tier);
    if !within(&tiers, tier) {
        said.push(format!("for {}, and this is for `{tier}`", code_list(&tiers)));
    }
    let job = facts.job.as_deref().unwrap_or_default();
    if !within(&narrowing.jobs, job) {
        let here = if job.is_empty() {
            "this is no job".to_owned()
        } else {
            format!("this is job `{job}`")
        };
        said.push(format!("in jobs {}, and {here}", code_list(&narrowing.jobs)));
    }
    format!("it counts only {}", said.join("; only "))
}
