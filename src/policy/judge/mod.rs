//! Decides: one intent against the rules. The strictest matching rule wins, no rule means deny,
//! built-in checks come before rules.
//!
//! In: an intent and facts. Out: a verdict with rule, line and reason. Rules are found through an
//! index by kind and, for commands, by program, so that the number of rules hardly matters.

mod commands;
mod contained;
mod globs;
mod memory;
mod network;
mod script;
mod servers;

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::command::UNKNOWN;
use crate::glob::{LetterCase, PathGlob, folded};
use crate::ignore::IgnoreFiles;
use crate::intent::{Facts, Intent, PublicationKind, TriggerKind};
use crate::kind::RuleKind;
use crate::paths::{Protection, of_store, plain_spelling};
use crate::pattern::Pattern;
use crate::rule::{LocatedPattern, Rule};
use crate::schema::PolicySpec;
use crate::verdict::{Cause, Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;

/// What all that a pattern matches has in common.
type PatternStart = (RuleKind, Option<String>);

/// Rules made quick to search, with the settings that count as rules.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    origin: String,
    rules: Vec<Rule>,
    /// Rule and pattern, by kind and by what all that it matches starts with.
    index: HashMap<PatternStart, Vec<(usize, usize)>>,
    protection: Protection,
    ignored: IgnoreFiles,
}

/// What is decided on an intent or a part of it, before it is known which intent that was.
#[derive(Clone)]
struct Ruling {
    decision: Decision,
    cause: Cause,
}

/// A rule that matched.
struct RuleMatch<'j> {
    rule: &'j Rule,
    written: &'j LocatedPattern,
}

/// One decision in the making: the rules, and what else it rests on.
#[derive(Clone, Copy)]
struct Evaluation<'e> {
    judge: &'e Judge,
    facts: &'e Facts,
    spec: &'e PolicySpec,
}

impl Judge {
    /// Prepares rules for deciding.
    pub fn new(rules: Vec<Rule>, origin: &str) -> Self {
        let mut judge = Self { origin: origin.to_owned(), ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            for (at, written) in rule.patterns.iter().enumerate() {
                let start = (written.pattern.kind, written.pattern.start());
                judge.index.entry(start).or_default().push((index, at));
            }
        }
        judge.rules = rules;
        judge
    }

    /// Hides what ignore files name.
    pub fn with_ignored(self, ignored: IgnoreFiles) -> Self {
        Self { ignored, ..self }
    }

    /// Returns patterns of everything that may not be read, or more: protected paths, what ignore
    /// files hide, what rules refuse. Rules about every path are left out: they refuse the folder a
    /// command would go through.
    pub fn unseen(&self) -> Vec<PathGlob> {
        let of_folders = |glob: &&PathGlob| !glob.matches(&RepoPath::root(), LetterCase::Exact);
        let refused = self.refused_reads(Decision::Hold).filter(of_folders);
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
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns where the rules stand.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the ignore files that hide something.
    pub(crate) fn ignored(&self) -> &IgnoreFiles {
        &self.ignored
    }

    /// Returns the names of the ignore files that hide something.
    pub(crate) fn ignore_files(&self) -> impl Iterator<Item = &str> {
        self.ignored.texts().map(|(name, _)| name)
    }

    /// Returns what no wildcard opens.
    pub(crate) fn protection(&self) -> &Protection {
        &self.protection
    }

    /// Judges one intent.
    pub fn decide(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let Ruling { decision, cause } = Evaluation { judge: self, facts, spec }.rule_on(intent);
        Verdict { decision, intent: intent.to_string(), cause }
    }

    /// Returns true when a rule about sub-tasks names the mode of these facts.
    pub(crate) fn adds_delegation(&self, facts: &Facts) -> bool {
        self.rules.iter().any(|rule| {
            rule.decision != Decision::Deny
                && rule.narrowing.modes.contains(&facts.mode)
                && rule.narrowing.holds(facts)
                && rule.patterns.iter().any(|written| written.pattern.kind == RuleKind::Delegate)
        })
    }

    /// Returns true for what an ignore file names.
    pub(super) fn hides(&self, path: &RepoPath) -> bool {
        !self.ignored.is_empty() && self.hidden(path).is_some()
    }

    /// Whether a rule denies reading a path, under some circumstances at least.
    pub(super) fn may_deny_reading(&self, path: &RepoPath) -> bool {
        self.refused_reads(Decision::Deny).any(|glob| glob.matches(path, LetterCase::Ignored))
    }

    /// Returns the patterns of the paths whose reading rules refuse at least so much.
    fn refused_reads(&self, least: Decision) -> impl Iterator<Item = &PathGlob> {
        let refusing = self.rules.iter().filter(move |rule| rule.decision >= least);
        let patterns = refusing.flat_map(|rule| &rule.patterns).map(|written| &written.pattern);
        patterns.filter(|pattern| pattern.kind == RuleKind::Read).filter_map(Pattern::paths)
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

    /// Returns the rules of a kind whose patterns start with this; with `None`, with anything.
    fn starting<'j>(
        &'j self,
        kind: RuleKind,
        start: Option<String>,
    ) -> impl Iterator<Item = RuleMatch<'j>> {
        let places = self.index.get(&(kind, start));
        places.into_iter().flatten().filter_map(|(rule, pattern)| {
            let rule = self.rules.get(*rule)?;
            Some(RuleMatch { rule, written: rule.patterns.get(*pattern)? })
        })
    }

    fn of_kind(&self, kind: RuleKind) -> impl Iterator<Item = RuleMatch<'_>> {
        self.starting(kind, None)
    }

    fn ruled(&self, found: &RuleMatch<'_>) -> Ruling {
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

impl Evaluation<'_> {
    fn rule_on(&self, intent: &Intent) -> Ruling {
        if let Some(why) = taken_away(intent, self.facts) {
            return Ruling::deny(why);
        }
        match intent {
            Intent::Command(script) => self.script(script),
            Intent::Read(path) => {
                let protection = &self.judge.protection;
                let guard = protection
                    .of_read(path)
                    .or_else(|| of_store(path))
                    .or_else(|| self.judge.itself(path));
                self.path(intent, path, guard.map(|why| ("reading", why)))
            }
            Intent::Edit(path) => {
                let guard = self.judge.protection.of_edit(path);
                self.path(intent, path, guard.map(|why| ("edits", why)))
            }
            Intent::Publish(publication) => {
                let listed = self.spec.publish.allow.contains(publication);
                self.listed(intent, listed, "publish.allow")
            }
            Intent::Mode(slug) => self.mode(intent, slug),
            Intent::Delegate(slug) => self.delegate(intent, slug),
            Intent::Fetch(url) => self.fetch(intent, url),
            Intent::Search(query) => self.search(intent, query),
            Intent::Browse(url) => self.browse(intent, url),
            Intent::Visit(destination) => self.visit(destination),
            Intent::Connect(destination) => self.connect(destination),
            Intent::Mcp { server, tool } => match self.resource_problem(server, tool) {
                Some(why) => Ruling::deny(why),
                None => self.by_rules(intent),
            },
            Intent::Expert(_) | Intent::MemoryRead(_) => self.by_rules(intent),
            Intent::MemoryWrite(_) => self.memory_write(intent),
            Intent::Server(name) => self.server(name),
            Intent::Service { server, destination } => self.service(server, destination),
            Intent::Session => Ruling::allow("stays within the session"),
        }
    }

    /// Rules decide on a path that is not hidden; one that is protected, from what and why, is
    /// opened only by a rule that names it in full. Protection is also the cause where no rule
    /// allows it: what merely lacks a rule may pass as part of a command.
    fn path(&self, intent: &Intent, path: &RepoPath, protected: Option<(&str, &str)>) -> Ruling {
        if !self.judge.ignored.is_empty()
            && let Some(hidden) = self.judge.hidden(path)
        {
            return hidden;
        }
        let ruling = self.by_rules(intent);
        let is_by_refusal =
            ruling.decision != Decision::Allow && !matches!(ruling.cause, Cause::NoRule { .. });
        let Some((what, why)) = protected.filter(|_| !is_by_refusal) else {
            return ruling;
        };
        let opens = |found: RuleMatch<'_>| {
            found.rule.protected && names_in_full(&found.written.pattern, path)
        };
        if self.matches(intent).any(opens) {
            return ruling;
        }
        Ruling::deny(format!("protected from {what}: {why}"))
    }

    /// A list in the settings counts as a rule that allows.
    fn listed(&self, intent: &Intent, listed: bool, key: &'static str) -> Ruling {
        let ruling = self.by_rules(intent);
        if !listed || !matches!(ruling.cause, Cause::NoRule { .. }) {
            return ruling;
        }
        let rule = RuleRef::setting(key, self.judge.origin.clone());
        Ruling { decision: Decision::Allow, cause: Cause::Setting { rule, key } }
    }

    /// `modes.allow` and `modes.transitions` are limits as well as rules: a mode that the first
    /// does not list never runs, one that the second leaves out does not follow the mode of the
    /// facts.
    fn mode(&self, intent: &Intent, slug: &String) -> Ruling {
        let (modes, from) = (&self.spec.modes, &self.facts.mode);
        if !modes.allow.contains(slug) {
            return Ruling::deny(format!("mode `{slug}` is not in `modes.allow`"));
        }
        match modes.transitions.get(from).filter(|_| from != slug) {
            None => self.listed(intent, true, "modes.allow"),
            Some(follow) if follow.contains(slug) => self.listed(intent, true, "modes.transitions"),
            Some(follow) if follow.is_empty() => {
                Ruling::deny(format!("no other mode follows mode `{from}` (`modes.transitions`)"))
            }
            Some(follow) => Ruling::deny(format!(
                "mode `{from}` is followed only by {} (`modes.transitions`)",
                follow.join(", ")
            )),
        }
    }

    /// Judges a sub-task in another mode. `modes.delegation.from` counts as a rule, and rules that
    /// are narrowed to other modes let those delegate, too. A rule about switching to a mode holds
    /// for sub-tasks in it.
    fn delegate(&self, intent: &Intent, slug: &String) -> Ruling {
        let (modes, mode) = (&self.spec.modes, &self.facts.mode);
        if !modes.allow.contains(slug) {
            return Ruling::deny(format!("mode `{slug}` is not in `modes.allow`"));
        }
        let from = modes.delegation.from.contains(mode);
        let ruling = self.listed(intent, from, "modes.delegation");
        let is_added = from || self.judge.adds_delegation(self.facts);
        let says_nothing = matches!(ruling.cause, Cause::NoRule { .. });
        if says_nothing || (ruling.decision < Decision::Deny && !is_added) {
            return Ruling::deny(format!(
                "mode `{mode}` may not start sub-tasks (`modes.delegation.from`)"
            ));
        }
        let of_mode = self.by_rules(&Intent::Mode(slug.clone()));
        let is_stricter =
            of_mode.decision > ruling.decision && !matches!(of_mode.cause, Cause::NoRule { .. });
        if is_stricter { of_mode } else { ruling }
    }

    fn by_rules(&self, intent: &Intent) -> Ruling {
        let rank = |found: &RuleMatch<'_>| (found.rule.decision, Reverse(found.written.place));
        match self.matches(intent).max_by_key(rank) {
            Some(strictest) => self.judge.ruled(&strictest),
            None => Ruling::no_rule(intent.to_string()),
        }
    }

    fn matches<'j>(&'j self, intent: &'j Intent) -> impl Iterator<Item = RuleMatch<'j>> {
        let start = if let Intent::Read(path) | Intent::Edit(path) = intent {
            path.parts().next().map(folded)
        } else {
            None
        };
        let places = RuleKind::of(intent).into_iter().flat_map(move |kind| {
            let by_start = start.clone().map(|start| self.judge.starting(kind, Some(start)));
            self.judge.of_kind(kind).chain(by_start.into_iter().flatten())
        });
        places.filter(|found| self.counts(found, |pattern, case| pattern.matches(intent, case)))
    }

    /// Returns true when a pattern matches, under these facts, and no `except` of its rule does.
    /// Case counts wherever it makes less allowed.
    fn counts(
        &self,
        found: &RuleMatch<'_>,
        matches: impl Fn(&Pattern, LetterCase) -> bool,
    ) -> bool {
        let (case, opposite) = match found.rule.decision {
            Decision::Allow => (LetterCase::Exact, LetterCase::Ignored),
            Decision::Hold | Decision::Deny => (LetterCase::Ignored, LetterCase::Exact),
        };
        matches(&found.written.pattern, case)
            && found.rule.narrowing.holds(self.facts)
            && !found.rule.except.iter().any(|except| matches(&except.pattern, opposite))
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

    /// Names a command with the words that are not known as they are written.
    fn written_as(mut self, unknown: &[String]) -> Self {
        if let Cause::NoRule { intent: named } | Cause::Uncovered { command: named, .. } =
            &mut self.cause
        {
            for text in unknown {
                *named = named.replacen(UNKNOWN, text, 1);
            }
            *named = named.replace(UNKNOWN, "...");
        }
        self
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
fn taken_away(intent: &Intent, facts: &Facts) -> Option<String> {
    let restriction = &facts.restriction;
    let contains = restriction.contained && facts.contained;
    let read_only = || restriction.read_only.then(|| read_only_because(facts));
    match intent {
        Intent::Edit(path) => read_only().or_else(|| outside(path, &restriction.paths)),
        Intent::Command(script) if !contains && !script.only_reads() => read_only(),
        // What is said changes nothing.
        Intent::Publish(publication)
            if !matches!(
                publication,
                PublicationKind::Comment | PublicationKind::Review | PublicationKind::Check
            ) =>
        {
            read_only()
        }
        Intent::Fetch(_)
        | Intent::Search(_)
        | Intent::Browse(_)
        | Intent::Visit(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Service { .. }
        | Intent::MemoryWrite(_)
        | Intent::Mcp { .. } => read_only(),
        Intent::Read(_)
        | Intent::Command(_)
        | Intent::Publish(_)
        | Intent::Mode(_)
        | Intent::Delegate(_)
        | Intent::Expert(_)
        | Intent::MemoryRead(_)
        | Intent::Session => None,
    }
}

/// Says that a run may only read, and what of it is the cause.
fn read_only_because(facts: &Facts) -> String {
    let cause = if facts.check.is_some() {
        "it makes a check"
    } else if facts.trigger == TriggerKind::MergeGroup {
        "a merge queue started it"
    } else {
        "the pull request comes from a fork (`triggers.forks`)"
    };
    format!("this run may only read: {cause}")
}

/// A glob that cannot be read matches nothing.
fn outside(path: &RepoPath, globs: &[String]) -> Option<String> {
    let inside = globs
        .iter()
        .filter_map(|glob| PathGlob::parse(glob).ok())
        .any(|glob| glob.matches(path, LetterCase::Exact));
    (!globs.is_empty() && !inside).then(|| format!("this run may only edit {}", globs.join(", ")))
}

fn names_in_full(pattern: &Pattern, path: &RepoPath) -> bool {
    pattern.paths().is_some_and(|glob| glob.names(path))
}
