//! `Amendment`: the smallest change of a policy file by which calls that it holds would be allowed
//! from now on.
//!
//! In: a policy, the text it was read from, what was held and under which facts. Out: the changed
//! text, or why there is none. A holding rule is given an `except`, or loses the one pattern of its
//! list that means nothing else. Where nothing else allows the call, a rule beside it names exactly
//! that. What comes out is read and judged like any
//! policy: the call must be allowed, and everything like it must be decided as before. It only
//! proposes: a person commits it.

mod neighbours;
mod site;
mod target;
#[cfg(test)]
mod tests;

use crate::Policy;
use crate::actors::Tier;
use crate::amend::site::{NewRule, RuleSite};
use crate::intent::{Facts, Intent};
use crate::memory::needs_maintainer;
use crate::pattern::Pattern;
use crate::query::parse_intent;
use crate::rule::{LocatedPattern, Rule, RuleConditions};
use crate::schema::PolicyErrors;
use crate::verdict::{Cause, Decision, RuleRef, Verdict};
use locum_base::secret::MASK;

/// Most changes of one amendment.
const STEPS_LIMIT: usize = 12;

/// A change of a policy's text that was checked.
#[derive(Clone, Debug)]
pub struct Amendment {
    /// The whole text.
    pub text: String,
    /// The policy that it is, with the same ignore files.
    pub policy: Policy,
    /// What is allowed by it, as patterns.
    pub patterns: Vec<String>,
}

/// Why no change is proposed: a fragment without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmendmentError {
    /// The text is not that of the policy.
    #[error("the policy file is not the one that held the call")]
    OtherPolicy,
    /// The run may do less than the rules say.
    #[error(
        "the run may only read, as it is about a fork's pull request, and no rule changes that"
    )]
    ReadOnly,
    /// The call shows a mask where a secret was.
    #[error("the call holds a secret, which no policy may name")]
    Secret,
    /// The rules do not hold it, as far as its record shows.
    #[error("the rules do not hold `{0}` by its name")]
    NotHeld(String),
    /// What is held is held whatever the rules say.
    #[error("a maintainer has to agree to `{0}` each time, and no rule changes that")]
    EachTime(String),
    /// Only a setting would let it pass.
    #[error("its complexity is what holds it, and only `commands.max_complexity` changes that")]
    Complexity,
    /// A check refuses it once no rule holds it.
    #[error("without the hold it is denied: {0}")]
    Denied(String),
    /// No pattern means this alone.
    #[error("no pattern names `{0}` and nothing else")]
    Unnameable(String),
    /// The text is written in a way that is not changed.
    #[error("{0} is written in a way that only a person can change")]
    Layout(String),
    /// Something else would be decided otherwise.
    #[error("the change would also decide otherwise on `{0}`")]
    Wider(String),
    /// The changed policy is not accepted.
    #[error("the changed policy would not be accepted: {0}")]
    Rejected(String),
}

/// How a rule that holds is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Attempt {
    /// What is written.
    change: RuleChange,
    /// Whether the call is allowed in its own mode alone.
    in_one_mode: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleChange {
    /// What is about nothing else goes: a rule allows, a pattern leaves its list.
    Replaced,
    /// The call is taken out of the rule by an `except`.
    Excepted,
}

impl Attempt {
    /// From the smallest change on.
    const ALL: [Self; 4] = [
        Self { change: RuleChange::Replaced, in_one_mode: false },
        Self { change: RuleChange::Excepted, in_one_mode: false },
        Self { change: RuleChange::Replaced, in_one_mode: true },
        Self { change: RuleChange::Excepted, in_one_mode: true },
    ];
}

/// Returns the change of a policy's text that allows what is held.
///
/// # Errors
/// Why no safe change is known.
pub fn amend(
    policy: &Policy,
    text: &str,
    held: &[String],
    facts: &Facts,
) -> Result<Amendment, AmendmentError> {
    if facts.restriction.read_only {
        return Err(AmendmentError::ReadOnly);
    }
    if held.iter().any(|intent| intent.contains(MASK)) {
        return Err(AmendmentError::Secret);
    }
    if parsed(policy, text)?.hash() != policy.hash() {
        return Err(AmendmentError::OtherPolicy);
    }
    let mut intents = Vec::new();
    for words in held {
        let intent = parse_intent(words).map_err(|_| AmendmentError::NotHeld(words.clone()))?;
        if policy.decide(&intent, facts).decision != Decision::Hold {
            return Err(AmendmentError::NotHeld(words.clone()));
        }
        if matches!(intent, Intent::MemoryWrite(_)) && needs_maintainer(facts).is_some() {
            return Err(AmendmentError::EachTime(words.clone()));
        }
        intents.push(intent);
    }
    let mut wider = None;
    for attempt in Attempt::ALL {
        match Draft::begin(policy, text, facts, attempt).finish(&intents) {
            Err(error @ AmendmentError::Wider(_)) => wider = Some(error),
            result => return result,
        }
    }
    Err(wider.unwrap_or_else(|| AmendmentError::Unnameable(held.join(", "))))
}

/// Reads a text as the same policy would be read, and leaves its examples untried.
fn parsed(policy: &Policy, text: &str) -> Result<Policy, AmendmentError> {
    let read = Policy::parse_untried(text, policy.origin());
    let read = read.map_err(|errors| rejected(&errors))?;
    Ok(read.with_ignored(policy.judge.ignored().clone()))
}

fn rejected(errors: &PolicyErrors) -> AmendmentError {
    let first = errors.0.first().map(|mistake| mistake.message.clone());
    AmendmentError::Rejected(first.unwrap_or_default())
}

/// A policy's text while it is changed.
struct Draft<'d> {
    before: &'d Policy,
    facts: &'d Facts,
    attempt: Attempt,
    now: Amendment,
    /// The rule that held last, and what other rules need of it.
    held_by: Option<(RuleRef, RuleConditions)>,
}

impl<'d> Draft<'d> {
    fn begin(before: &'d Policy, text: &str, facts: &'d Facts, attempt: Attempt) -> Self {
        let now = Amendment { text: text.to_owned(), policy: before.clone(), patterns: Vec::new() };
        Self { before, facts, attempt, now, held_by: None }
    }

    fn finish(mut self, intents: &[Intent]) -> Result<Amendment, AmendmentError> {
        for _ in 0..STEPS_LIMIT {
            let judged =
                intents.iter().map(|intent| (intent, self.now.policy.decide(intent, self.facts)));
            let Some((intent, verdict)) =
                { judged }.find(|(_, verdict)| verdict.decision != Decision::Allow)
            else {
                return self.checked(intents);
            };
            match verdict.decision {
                Decision::Hold => self.except(intent, &verdict)?,
                Decision::Allow | Decision::Deny => self.allow(intent, &verdict)?,
            }
        }
        let left = intents.iter().map(ToString::to_string).collect::<Vec<_>>();
        Err(AmendmentError::Unnameable(left.join(", ")))
    }

    /// Takes what is held out of the rule that holds it.
    fn except(&mut self, intent: &Intent, verdict: &Verdict) -> Result<(), AmendmentError> {
        let mut rule_ref = match verdict.cause.origin() {
            Cause::Rule { rule, .. } => rule.clone(),
            Cause::Complexity { .. } => return Err(AmendmentError::Complexity),
            _ => return Err(AmendmentError::Denied(verdict.reason())),
        };
        let rule = self.rule(&rule_ref)?;
        let patterns = target::held_patterns(intent, &verdict.cause, &rule_ref)
            .ok_or_else(|| AmendmentError::Unnameable(intent.to_string()))?;
        let others = self.others(&rule);
        let is_replaced = self.attempt.change == RuleChange::Replaced;
        for pattern in patterns {
            let is_whole = is_replaced
                && rule.except.is_empty()
                && rule.patterns.iter().all(|only| is_same(only, &pattern));
            if is_whole && others.is_empty() {
                self.write(&rule_ref, |site| site.allowing())?;
                self.names(pattern);
                continue;
            }
            for conditions in others.iter().rev() {
                let reason = rule.reason.as_deref();
                let decision = Decision::Hold;
                let rule = NewRule { decision, pattern: &pattern, conditions, reason };
                self.write(&rule_ref, |site| site.followed_by(&rule))?;
            }
            let left = if is_replaced { self.without(&rule_ref, &pattern, is_whole) } else { None };
            match left {
                Some(left) => rule_ref = left,
                None => self.write(&rule_ref, |site| site.excepting(&pattern))?,
            }
            self.names(pattern);
        }
        let mut conditions = rule.narrowing;
        if others.iter().any(|others| !others.tiers.is_empty()) {
            conditions.tiers = vec![self.facts.tier];
        }
        if self.attempt.in_one_mode {
            conditions.modes = vec![self.facts.mode.clone()];
        }
        self.held_by = Some((rule_ref, conditions));
        Ok(())
    }

    /// Takes a pattern out of the list of the rule, or the whole rule, which those of others
    /// follow; returns where one stands then that new rules can follow. `None`, and nothing
    /// changed, where the rule has no such pattern beside others.
    fn without(&mut self, rule_ref: &RuleRef, pattern: &str, is_whole: bool) -> Option<RuleRef> {
        let at = self.position(rule_ref)?;
        let rule = self.now.policy.judge.rules().get(at)?;
        let site = RuleSite::find(&self.now.text, rule_ref)?;
        let text = if is_whole {
            site.removed()?
        } else {
            let written = rule.patterns.iter().find(|written| is_same(written, pattern))?;
            site.without(written.place)?
        };
        let policy = parsed(self.before, &text).ok()?;
        let rules = self.now.policy.judge.rules().len();
        let is_one = policy.judge.rules().len() + usize::from(is_whole) == rules;
        let left = policy.judge.rules().get(at);
        let left = left.filter(|left| is_one && left.decision == Decision::Hold)?;
        let first = left.patterns.first()?;
        let left = first.reference(&rule_ref.origin);
        self.now.policy = policy;
        self.now.text = text;
        Some(left)
    }

    /// Adds a rule that allows what no rule allows.
    fn allow(&mut self, intent: &Intent, verdict: &Verdict) -> Result<(), AmendmentError> {
        let lacks_rule =
            matches!(verdict.cause.origin(), Cause::NoRule { .. } | Cause::Uncovered { .. });
        let Some((rule_ref, conditions)) = self.held_by.clone().filter(|_| lacks_rule) else {
            return Err(AmendmentError::Denied(verdict.reason()));
        };
        let pattern = target::missing_pattern(&self.now.policy, intent, self.facts, verdict)
            .ok_or_else(|| AmendmentError::Unnameable(intent.to_string()))?;
        let (decision, reason) = (Decision::Allow, None);
        let rule = NewRule { decision, pattern: &pattern, conditions: &conditions, reason };
        self.write(&rule_ref, |site| site.followed_by(&rule))?;
        self.names(pattern);
        Ok(())
    }

    fn names(&mut self, pattern: String) {
        if !self.now.patterns.contains(&pattern) {
            self.now.patterns.push(pattern);
        }
    }

    fn rule(&self, wanted: &RuleRef) -> Result<Rule, AmendmentError> {
        let at = self.position(wanted);
        let rule = at.and_then(|at| self.now.policy.judge.rules().get(at)).cloned();
        rule.ok_or_else(|| AmendmentError::Layout(wanted.place()))
    }

    /// Returns which of the rules holds by a pattern.
    fn position(&self, wanted: &RuleRef) -> Option<usize> {
        self.now.policy.judge.rules().iter().position(|rule| {
            rule.decision == Decision::Hold
                && rule.patterns.iter().any(|written| written.is_at(wanted))
        })
    }

    fn write(
        &mut self,
        rule: &RuleRef,
        change: impl FnOnce(&RuleSite<'_>) -> Option<String>,
    ) -> Result<(), AmendmentError> {
        let changed = RuleSite::find(&self.now.text, rule).and_then(|site| change(&site));
        let text = changed.ok_or_else(|| AmendmentError::Layout(rule.place()))?;
        self.now.policy = parsed(self.before, &text)?;
        self.now.text = text;
        Ok(())
    }

    /// Returns under which other circumstances of a rule the call must stay held: for runs of
    /// others, in other jobs of the schedule, in other modes.
    fn others(&self, rule: &Rule) -> Vec<RuleConditions> {
        let (narrowing, facts) = (&rule.narrowing, self.facts);
        let spec = self.before.settings();
        let mut others = Vec::new();
        let tiers: Vec<Tier> = neighbours::starting_tiers(&spec.triggers)
            .into_iter()
            .filter(|tier| *tier != facts.tier)
            .filter(|tier| narrowing.tiers.is_empty() || narrowing.tiers.contains(tier))
            .collect();
        if !tiers.is_empty() {
            others.push(RuleConditions { tiers, ..narrowing.clone() });
        }
        let jobs: Vec<String> = spec
            .triggers
            .schedule_jobs
            .iter()
            .filter(|job| {
                facts.tier == Tier::Schedule
                    && facts.job.as_ref().is_some_and(|own| own != *job)
                    && (narrowing.jobs.is_empty() || narrowing.jobs.contains(job))
            })
            .cloned()
            .collect();
        if !jobs.is_empty() {
            others.push(RuleConditions { jobs, tiers: vec![Tier::Schedule], ..narrowing.clone() });
        }
        let modes: Vec<String> = spec
            .modes
            .allow
            .iter()
            .filter(|mode| {
                self.attempt.in_one_mode
                    && **mode != facts.mode
                    && (narrowing.modes.is_empty() || narrowing.modes.contains(mode))
            })
            .cloned()
            .collect();
        if !modes.is_empty() {
            others.push(RuleConditions { modes, ..narrowing.clone() });
        }
        others
    }

    /// Returns the change once everything was judged again.
    fn checked(self, intents: &[Intent]) -> Result<Amendment, AmendmentError> {
        Policy::parse(&self.now.text, self.before.origin()).map_err(|errors| rejected(&errors))?;
        let conditions = self.held_by.map(|(_, conditions)| conditions).unwrap_or_default();
        let check = neighbours::Comparison {
            before: self.before,
            after: &self.now.policy,
            conditions: &conditions,
            facts: self.facts,
        };
        match check.changed(intents, &self.now.patterns) {
            Some(other) => Err(AmendmentError::Wider(other)),
            None => Ok(self.now),
        }
    }
}

/// Whether a written pattern means exactly what another text does.
fn is_same(written: &LocatedPattern, pattern: &str) -> bool {
    Pattern::parse(pattern).is_ok_and(|read| read == written.pattern)
}
