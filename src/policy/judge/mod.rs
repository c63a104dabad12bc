//! Decides: one intent against the rules. The worst matching decision wins, no rule means deny,
//! guards come before rules.
//!
//! In: an intent and facts. Out: a verdict with rule, line and reason. Rules are found through an
//! index by kind and, for commands, by program, so that the number of rules hardly matters.

mod commands;
mod network;
mod servers;

use std::collections::HashMap;

use crate::glob::{Case, PathGlob};
use crate::ignore::IgnoreFiles;
use crate::intent::{Facts, Intent, Publication, Restriction};
use crate::kind::{Kind, kind_of, kind_of_intent, start_of};
use crate::paths::{Protection, plain_spelling};
use crate::pattern::{CommandForm, Pattern};
use crate::rule::{Rule, Written};
use crate::schema::PolicySpec;
use crate::verdict::{Cause, Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;

/// Rules made quick to search, with the settings that count as rules.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    origin: String,
    rules: Vec<Rule>,
    by_kind: HashMap<Kind, Vec<(usize, usize)>>,
    by_start: HashMap<(Kind, String), Vec<(usize, usize)>>,
    by_program: HashMap<String, Vec<(usize, usize)>>,
    protection: Protection,
    ignored: IgnoreFiles,
}

/// What is decided on an intent or a part of it, before it is told which intent that was.
#[derive(Clone)]
struct Ruling {
    decision: Decision,
    cause: Cause,
}

/// A rule that matched.
struct Match<'j> {
    rule: &'j Rule,
    written: &'j Written,
}

impl Judge {
    /// Prepares rules for deciding.
    #[must_use]
    pub fn new(rules: Vec<Rule>, origin: &str) -> Self {
        let mut judge = Self { origin: origin.to_owned(), ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            for (at, written) in rule.patterns.iter().enumerate() {
                let place = (index, at);
                match &written.pattern {
                    Pattern::Command(pattern) => {
                        match pattern.words.first().filter(|_| {
                            matches!(pattern.form, CommandForm::Words | CommandForm::Prefix)
                        }) {
                            Some(program) => {
                                judge.by_program.entry(program.clone()).or_default().push(place)
                            }
                            None => judge.by_kind.entry(Kind::AnyCommand).or_default().push(place),
                        }
                    }
                    pattern => match start_of(pattern) {
                        Some(start) => judge
                            .by_start
                            .entry((kind_of(pattern), start.to_owned()))
                            .or_default()
                            .push(place),
                        None => judge.by_kind.entry(kind_of(pattern)).or_default().push(place),
                    },
                }
            }
        }
        judge.rules = rules;
        judge
    }

    /// Hides what ignore files name.
    #[must_use]
    pub fn with_ignored(self, ignored: IgnoreFiles) -> Self {
        Self { ignored, ..self }
    }

    /// Returns patterns of everything that may not be read, or more: protected paths, what ignore
    /// files hide, what rules refuse. Rules about every path are left out: they refuse the folder a
    /// command would go through.
    #[must_use]
    pub fn unseen(&self) -> Vec<PathGlob> {
        let refusing = self
            .rules
            .iter()
            .filter(|rule| rule.decision != Decision::Allow)
            .flat_map(|rule| &rule.patterns);
        let refused = refusing.filter_map(|written| match &written.pattern {
            Pattern::Read(glob) if !glob.matches(&RepoPath::root(), Case::Exact) => Some(glob),
            Pattern::Read(_)
            | Pattern::Edit(_)
            | Pattern::Command(_)
            | Pattern::Fetch(_)
            | Pattern::Browse(_)
            | Pattern::Mcp(_)
            | Pattern::Mode(_)
            | Pattern::Delegate(_)
            | Pattern::Expert(_)
            | Pattern::Publish(_) => None,
        });
        let itself = self.ignored.itself_globs();
        self.protection
            .unread()
            .chain(self.ignored.globs())
            .chain(refused)
            .cloned()
            .chain(itself)
            .collect()
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns where the rules stand.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns what no wildcard opens.
    pub(crate) fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Judges one intent.
    #[must_use]
    pub fn decide(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let Ruling { decision, cause } = self.rule_on(intent, facts, spec);
        Verdict { decision, intent: intent.to_string(), cause }
    }

    fn rule_on(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Ruling {
        if let Some(why) = taken_away(intent, &facts.restriction) {
            return Ruling::deny(why);
        }
        match intent {
            Intent::Command(script) => self.script(script, facts, spec),
            Intent::Read(path) => {
                let guard = self.protection.of_read(path).or_else(|| self.itself(path));
                self.path(intent, facts, guard, path, "reading")
            }
            Intent::Edit(path) => {
                let guard = self.protection.of_edit(path);
                self.path(intent, facts, guard, path, "edits")
            }
            Intent::Publish(publication) => self.listed(
                intent,
                facts,
                spec.publish.allow.contains(publication),
                "publish.allow",
            ),
            Intent::Mode(slug) => self.mode(intent, facts, spec, slug),
            Intent::Delegate(slug) => self.delegate(intent, facts, spec, slug),
            Intent::Fetch(url) => self.fetch(intent, facts, url),
            Intent::Browse(url) => self.browse(intent, facts, url),
            Intent::Connect(destination) => self.connect(facts, spec, destination),
            Intent::Mcp { .. } | Intent::Expert(_) => self.by_rules(intent, facts),
            Intent::Server(name) => self.server(facts, name),
            Intent::Session => Ruling::allow("stays within the session"),
        }
    }

    fn path(
        &self,
        intent: &Intent,
        facts: &Facts,
        guard: Option<&str>,
        path: &RepoPath,
        what: &str,
    ) -> Ruling {
        if !self.ignored.is_empty()
            && let Some(hidden) = self.hidden(path)
        {
            return hidden;
        }
        let ruling = self.by_rules(intent, facts);
        let Some(why) = guard.filter(|_| ruling.decision == Decision::Allow) else { return ruling };
        if self
            .matches(intent, facts)
            .any(|found| found.rule.protected && names_in_full(&found.written.pattern, path))
        {
            return ruling;
        }
        Ruling::deny(format!("protected from {what}: {why}"))
    }

    /// Returns true for what an ignore file names.
    pub(super) fn hides(&self, path: &RepoPath) -> bool {
        !self.ignored.is_empty() && self.hidden(path).is_some()
    }

    /// What an ignore file names is hidden whatever the rules say.
    fn hidden(&self, path: &RepoPath) -> Option<Ruling> {
        let plain = || {
            plain_spelling(path)
                .filter(|plain| plain != path)
                .and_then(|plain| self.ignored.hidden(&plain))
        };
        let line = self.ignored.hidden(path).or_else(plain)?;
        let cause = Cause::Ignored { rule: line, path: path.clone() };
        Some(Ruling { decision: Decision::Deny, cause })
    }

    fn itself(&self, path: &RepoPath) -> Option<&'static str> {
        self.ignored.itself(&plain_spelling(path)?).map(|_| "it names what is hidden")
    }

    /// A list in the settings counts as a rule that allows.
    fn listed(&self, intent: &Intent, facts: &Facts, listed: bool, key: &'static str) -> Ruling {
        let ruling = self.by_rules(intent, facts);
        if !listed || !matches!(ruling.cause, Cause::NoRule { .. }) {
            return ruling;
        }
        let rule = RuleRef { pattern: key.to_owned(), origin: self.origin.clone(), line: 0 };
        Ruling { decision: Decision::Allow, cause: Cause::Setting { rule, key } }
    }

    /// `modes.allow` is a limit as well as a rule: a mode that is not in it never runs.
    fn mode(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec, slug: &String) -> Ruling {
        if spec.modes.allow.contains(slug) {
            return self.listed(intent, facts, true, "modes.allow");
        }
        Ruling::deny(format!("mode `{slug}` is not in `modes.allow`"))
    }

    /// `modes.delegation.from` counts as a rule; rules of their own may let other modes delegate.
    fn delegate(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec, slug: &String) -> Ruling {
        if !spec.modes.allow.contains(slug) {
            return Ruling::deny(format!("mode `{slug}` is not in `modes.allow`"));
        }
        let from = spec.modes.delegation.from.contains(&facts.mode);
        let ruling = self.listed(intent, facts, from, "modes.delegation");
        if matches!(ruling.cause, Cause::NoRule { .. }) {
            return Ruling::deny(format!(
                "mode `{}` may not start sub-tasks (`modes.delegation.from`)",
                facts.mode
            ));
        }
        ruling
    }

    fn by_rules(&self, intent: &Intent, facts: &Facts) -> Ruling {
        let worst = self.matches(intent, facts).max_by(|one, two| {
            one.rule
                .decision
                .cmp(&two.rule.decision)
                .then(two.written.place.cmp(&one.written.place))
        });
        match worst {
            Some(found) => self.ruled(&found),
            None => Ruling::no_rule(intent.to_string()),
        }
    }

    fn matches<'j>(
        &'j self,
        intent: &'j Intent,
        facts: &'j Facts,
    ) -> impl Iterator<Item = Match<'j>> {
        let kind = kind_of_intent(intent);
        let start = match intent {
            Intent::Read(path) | Intent::Edit(path) => path.parts().next().map(str::to_lowercase),
            Intent::Command(_)
            | Intent::Fetch(_)
            | Intent::Browse(_)
            | Intent::Connect(_)
            | Intent::Server(_)
            | Intent::Mcp { .. }
            | Intent::Publish(_)
            | Intent::Delegate(_)
            | Intent::Expert(_)
            | Intent::Mode(_)
            | Intent::Session => None,
        };
        let by_start = kind.zip(start).and_then(|key| self.by_start.get(&key));
        self.at(kind.and_then(|kind| self.by_kind.get(&kind))).chain(self.at(by_start)).filter(
            |found| {
                let case = if found.rule.decision == Decision::Allow {
                    Case::Exact
                } else {
                    Case::Ignored
                };
                found.written.pattern.matches(intent, case)
                    && found.rule.narrowing.holds(facts)
                    && !found
                        .rule
                        .except
                        .iter()
                        .any(|except| except.pattern.matches(intent, opposite(case)))
            },
        )
    }

    fn at<'j>(
        &'j self,
        places: Option<&'j Vec<(usize, usize)>>,
    ) -> impl Iterator<Item = Match<'j>> {
        places.into_iter().flatten().filter_map(|(rule, pattern)| {
            let rule = self.rules.get(*rule)?;
            Some(Match { rule, written: rule.patterns.get(*pattern)? })
        })
    }

    fn ruled(&self, found: &Match<'_>) -> Ruling {
        let decision = found.rule.decision;
        let said = found.rule.reason.clone().unwrap_or_else(|| {
            let said = match decision {
                Decision::Allow => "allowed",
                Decision::Hold => "held",
                Decision::Deny => "denied",
            };
            format!("{said} by `{}`", found.written.text)
        });
        Ruling {
            decision,
            cause: Cause::Rule { rule: found.written.reference(&self.origin), said },
        }
    }
}

impl Ruling {
    /// A built-in check refuses.
    fn deny(said: String) -> Self {
        Self { decision: Decision::Deny, cause: Cause::Check { said } }
    }

    /// There is nothing to refuse.
    fn allow(said: &str) -> Self {
        Self { decision: Decision::Allow, cause: Cause::Check { said: said.to_owned() } }
    }

    fn no_rule(intent: String) -> Self {
        Self { decision: Decision::Deny, cause: Cause::NoRule { intent } }
    }

    /// Returns true when a `deny` rule decided. Elsewhere a denial only means that no rule allows
    /// it.
    fn is_by_deny_rule(&self) -> bool {
        self.cause.is_by_deny_rule(self.decision)
    }

    /// Adds to what the deciding rule says.
    fn remark(mut self, remark: &str) -> Self {
        if let Cause::Rule { said, .. } = &mut self.cause {
            said.push_str(remark);
        }
        self
    }
}

/// Returns why this run may not do it, whatever the rules say.
fn taken_away(intent: &Intent, restriction: &Restriction) -> Option<String> {
    let read_only = || restriction.read_only.then(|| "this run may only read".to_owned());
    match intent {
        Intent::Edit(path) => read_only().or_else(|| outside(path, &restriction.paths)),
        Intent::Command(script) if !script.only_reads() => read_only(),
        Intent::Publish(publication) if *publication != Publication::Comment => read_only(),
        Intent::Fetch(_)
        | Intent::Browse(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Mcp { .. } => read_only(),
        Intent::Read(_)
        | Intent::Command(_)
        | Intent::Publish(_)
        | Intent::Mode(_)
        | Intent::Delegate(_)
        | Intent::Expert(_)
        | Intent::Session => None,
    }
}

/// A glob that cannot be read matches nothing.
fn outside(path: &RepoPath, globs: &[String]) -> Option<String> {
    let inside = globs
        .iter()
        .filter_map(|glob| PathGlob::parse(glob).ok())
        .any(|glob| glob.matches(path, Case::Exact));
    (!globs.is_empty() && !inside).then(|| format!("this run may only edit {}", globs.join(", ")))
}

fn names_in_full(pattern: &Pattern, path: &RepoPath) -> bool {
    pattern.paths().is_some_and(|glob| glob.names(path))
}

fn opposite(case: Case) -> Case {
    match case {
        Case::Exact => Case::Ignored,
        Case::Ignored => Case::Exact,
    }
}
