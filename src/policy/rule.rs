//! `Rule`: one entry of a policy's `rules`, with what narrows it.
//!
//! In: the `rules` list of a policy file. Out: checked rules; mistakes go to the collector. It decides nothing by itself.

use crate::base::fields::Mistakes;
use crate::base::yaml::{Node, Place};
use crate::policy::actors::Tier;
use crate::policy::intent::{Facts, TriggerKind};
use crate::policy::pattern::Pattern;
use crate::policy::verdict::{Decision, RuleRef};

/// Words for tiers, as written in policies.
pub const TIERS: &[(&str, Tier)] = &[
    ("maintainer", Tier::Maintainer),
    ("collaborator", Tier::Collaborator),
    ("contributor", Tier::Contributor),
    ("stranger", Tier::Stranger),
    ("bot", Tier::Bot),
    ("schedule", Tier::Schedule),
];

/// Words for triggers, as written in policies.
pub const TRIGGERS: &[(&str, TriggerKind)] = &[
    ("local", TriggerKind::Local),
    ("comment", TriggerKind::Comment),
    ("label", TriggerKind::Label),
    ("dispatch", TriggerKind::Dispatch),
    ("schedule", TriggerKind::Schedule),
];

/// Most rules in one policy, and most patterns in one rule.
pub const RULES_LIMIT: usize = 5_000;

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it says.
    pub decision: Decision,
    /// What it is about: any of these.
    pub patterns: Vec<Written>,
    /// What it is not about.
    pub except: Vec<Written>,
    /// Why, in the maintainer's words.
    pub reason: Option<String>,
    /// When it counts.
    pub narrowing: Narrowing,
    /// Whether it opens protected paths that it names in full.
    pub protected: bool,
}

/// A pattern and where it stands.
#[derive(Clone, Debug)]
pub struct Written {
    /// The pattern.
    pub pattern: Pattern,
    /// The pattern as written.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// When a rule counts; an empty list means always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// In these modes.
    pub modes: Vec<String>,
    /// For runs started so.
    pub triggers: Vec<TriggerKind>,
    /// For people of these tiers.
    pub tiers: Vec<Tier>,
    /// In these jobs.
    pub jobs: Vec<String>,
}

impl Narrowing {
    /// Returns true when a rule with this narrowing counts under these facts.
    #[must_use]
    pub fn holds(&self, facts: &Facts) -> bool {
        let within = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        within(&self.modes, &facts.mode)
            && within(&self.jobs, facts.job.as_deref().unwrap_or_default())
            && (self.triggers.is_empty() || self.triggers.contains(&facts.trigger))
            && (self.tiers.is_empty() || self.tiers.contains(&facts.tier))
    }

    /// Returns true when a rule counts always.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Written {
    /// Returns where this pattern stands, for a verdict.
    #[must_use]
    pub fn reference(&self, origin: &str) -> RuleRef {
        RuleRef { pattern: self.text.clone(), origin: origin.to_owned(), line: self.place.line }
    }
}

/// Reads the `rules` list.
pub fn read_rules(node: &Node, mistakes: &mut Mistakes) -> Vec<Rule> {
    let Some(nodes) = node.list() else {
        mistakes.wanted(node, "rules", "a list");
        return Vec::new();
    };
    if nodes.len() > RULES_LIMIT {
        mistakes.add(node.place, format!("more than {RULES_LIMIT} rules"));
        return Vec::new();
    }
    nodes.iter().filter_map(|node| read_rule(node, mistakes)).collect()
}

/// Reads a list of patterns; a single pattern is a list of one.
pub fn read_patterns(node: &Node, what: &str, mistakes: &mut Mistakes) -> Vec<Written> {
    let texts = mistakes.texts(node, what);
    let mut patterns = Vec::with_capacity(texts.len());
    for (text, place) in texts {
        match Pattern::parse(&text) {
            Ok(pattern) => patterns.push(Written { pattern, text, place }),
            Err(message) => mistakes.add(place, message),
        }
    }
    patterns
}

fn read_rule(node: &Node, mistakes: &mut Mistakes) -> Option<Rule> {
    let known = ["allow", "hold", "deny", "except", "reason", "modes", "triggers", "tiers", "jobs", "protected"];
    let fields = mistakes.fields(node, "rule", &known)?;
    let mut said = Vec::new();
    for (key, decision) in [("allow", Decision::Allow), ("hold", Decision::Hold), ("deny", Decision::Deny)] {
        said.extend(fields.get(key).map(|node| (key, decision, node)));
    }
    let [(key, decision, patterns)] = said.as_slice() else {
        mistakes.add(node.place, "a rule says exactly one of `allow`, `hold`, `deny`");
        return None;
    };
    let patterns = read_patterns(patterns, key, mistakes);
    let except = fields.get("except").map_or_else(Vec::new, |node| read_patterns(node, "except", mistakes));
    let names = |key: &str, mistakes: &mut Mistakes| {
        fields.get(key).map_or_else(Vec::new, |node| mistakes.texts(node, key).into_iter().map(|(text, _)| text).collect())
    };
    let narrowing = Narrowing {
        modes: names("modes", mistakes),
        triggers: fields.get("triggers").map_or_else(Vec::new, |node| mistakes.words(node, "triggers", TRIGGERS)),
        tiers: fields.get("tiers").map_or_else(Vec::new, |node| mistakes.words(node, "tiers", TIERS)),
        jobs: names("jobs", mistakes),
    };
    for key in ["modes", "triggers", "tiers", "jobs", "except"] {
        if let Some(node) = fields.get(key).filter(|node| node.list().is_some_and(<[Node]>::is_empty)) {
            mistakes.add_with_hint(node.place, format!("`{key}` is empty"), "leave it out, or name at least one");
        }
    }
    let protected = fields.get("protected").and_then(|node| mistakes.flag(node, "protected")).unwrap_or(false);
    if protected && *decision != Decision::Allow {
        mistakes.add(node.place, "`protected` opens protected paths and stands only beside `allow`");
    }
    if protected && patterns.iter().any(|written| is_path_with_wildcard(&written.pattern)) {
        mistakes.add(node.place, "a rule with `protected: true` names each path in full, without wildcards");
    }
    let reason = fields.get("reason").and_then(|node| mistakes.text(node, "reason"));
    Some(Rule { decision: *decision, patterns, except, reason, narrowing, protected })
}

fn is_path_with_wildcard(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Read(glob) | Pattern::Edit(glob) => glob.has_wildcard(),
        Pattern::Command(_)
        | Pattern::Fetch(_)
        | Pattern::Browse(_)
        | Pattern::Mcp(_)
        | Pattern::Mode(_)
        | Pattern::Delegate(_)
        | Pattern::Publish(_) => false,
    }
}
