//! Rules that can never decide anything, because another says the same for more or a stricter one
//! covers them; and exceptions that except nothing.

use crate::Policy;
use crate::glob::PathGlob;
use crate::intent::Facts;
use crate::judge::Judge;
use crate::lint::idle::samples;
use crate::lint::warning::Warning;
use crate::pattern::{Pattern, PatternSubject};
use crate::rule::{LocatedPattern, Rule};
use crate::verdict::Decision;

/// Returns a warning for each pattern that something else covers.
pub(super) fn redundant_rules(policy: &Policy) -> Vec<Warning> {
    let rules = policy.judge.rules();
    let mut warnings = Vec::new();
    for rule in rules {
        for written in &rule.patterns {
            let own = rule.except.iter().find(|except| except.pattern.covers(&written.pattern));
            let own = own.filter(|_| !keeps_other_cases(rule, &written.pattern));
            let message = match own {
                Some(except) => {
                    Some(format!("never matches: its own `except` `{}` covers it", except.text))
                }
                None => {
                    covered(rules, rule, written).filter(|_| changes_nothing(policy, rule, written))
                }
            };
            warnings.extend(message.map(|message| Warning::of_rule(policy, written, message)));
        }
        let carves_out_nothing = |except: &&LocatedPattern| {
            !rule.patterns.iter().any(|written| written.pattern.covers(&except.pattern))
                && !has_wildcard_path(&except.pattern)
        };
        for except in rule.except.iter().filter(carves_out_nothing) {
            let message = "carves out nothing: no pattern of its rule covers it".to_owned();
            warnings.push(Warning::of_rule(policy, except, message));
        }
    }
    warnings
}

/// Whether a rule that refuses one path still refuses it in other letter cases, once an exception
/// takes out that path: where case does not count for the files, they are all one file.
fn keeps_other_cases(rule: &Rule, pattern: &Pattern) -> bool {
    rule.decision != Decision::Allow && pattern.paths().is_some_and(|glob| !glob.has_wildcard())
}

fn covered(rules: &[Rule], rule: &Rule, written: &LocatedPattern) -> Option<String> {
    let (one, pattern) = rules
        .iter()
        .filter(|one| one.decision >= rule.decision && one.except.is_empty() && !rule.protected)
        .filter(|one| one.narrowing.is_empty() || one.narrowing == rule.narrowing)
        .flat_map(|one| one.patterns.iter().map(move |pattern| (one, pattern)))
        .filter(|(_, pattern)| {
            pattern.place != written.place && pattern.pattern.covers(&written.pattern)
        })
        .find(|(one, pattern)| {
            let same = pattern.pattern == written.pattern
                && one.decision == rule.decision
                && one.narrowing == rule.narrowing;
            !(same && pattern.place > written.place)
        })?;
    let how = if one.decision == rule.decision { "is redundant" } else { "never decides" };
    Some(format!("{how}: `{}` on line {} covers it", pattern.text, pattern.place.line))
}

/// Asks the judge about what the pattern is about, with it and without it: patterns alone do not
/// tell, as a wide one may leave to others what it does not name in full.
fn changes_nothing(policy: &Policy, rule: &Rule, written: &LocatedPattern) -> bool {
    let without: Vec<Rule> = policy
        .judge
        .rules()
        .iter()
        .map(|other| {
            let mut other = other.clone();
            other.patterns.retain(|pattern| pattern.place != written.place);
            other
        })
        .collect();
    let mut other = policy.clone();
    other.judge = Judge::new(without, policy.origin());
    let samples = samples(&written.pattern);
    if written.pattern.command().is_some() && samples.is_empty() {
        return false;
    }
    let modes = &policy.settings().modes.default;
    [true, false].into_iter().all(|contained| {
        let facts = Facts { contained, ..rule.narrowing.facts(modes) };
        samples.iter().all(|sample| {
            let intent = sample.intent();
            policy.decide(&intent, &facts).decision == other.decide(&intent, &facts).decision
        })
    })
}

fn has_wildcard_path(pattern: &Pattern) -> bool {
    matches!(pattern.subject, PatternSubject::Url(_) | PatternSubject::Query(_))
        || pattern.paths().is_some_and(PathGlob::has_wildcard)
}
