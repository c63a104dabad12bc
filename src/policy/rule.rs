//! `Rule`: one entry of a policy's `rules`, with what narrows it.
//!
//! In: the `rules` list of a policy file. Out: checked rules; mistakes go to the collector. Rules
//! are applied in `judge`.

use crate::actors::Tier;
use crate::glob::PathGlob;
use crate::intent::{Facts, TriggerKind, word_of};
use crate::pattern::Pattern;
use crate::verdict::{Decision, RuleRef};
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{AnyText, AtLeastOne, Boolean, Located, OneOf, OneOrMany, ParsedText};

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
    ("assign", TriggerKind::Assign),
    ("dispatch", TriggerKind::Dispatch),
    ("schedule", TriggerKind::Schedule),
    ("pull_request", TriggerKind::PullRequest),
    ("ci_failure", TriggerKind::CiFailure),
    ("push", TriggerKind::Push),
    ("release", TriggerKind::Release),
    ("merge_group", TriggerKind::MergeGroup),
    ("repository_dispatch", TriggerKind::RepositoryDispatch),
];

/// Returns the word for a trigger.
pub fn trigger_word(trigger: TriggerKind) -> &'static str {
    word_of(TRIGGERS, &trigger)
}

/// Returns the word for a tier.
pub(crate) fn tier_word(tier: Tier) -> &'static str {
    word_of(TIERS, &tier)
}

/// Most rules in one policy, and most patterns in one rule.
pub const RULES_LIMIT: usize = 5_000;

/// One checked entry of `rules`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Allow, hold or deny.
    pub decision: Decision,
    /// What it is about: any of these.
    pub patterns: Vec<LocatedPattern>,
    /// What it is not about.
    pub except: Vec<LocatedPattern>,
    /// Why, in the maintainer's words.
    pub reason: Option<String>,
    /// When it counts.
    pub narrowing: RuleConditions,
    /// Whether it opens protected paths that it names in full.
    pub protected: bool,
}

/// A pattern and where it stands.
#[derive(Clone, Debug)]
pub struct LocatedPattern<P = Pattern> {
    /// The pattern, parsed.
    pub pattern: P,
    /// The pattern as written.
    pub text: String,
    /// Line and column in the policy file.
    pub place: Position,
}

/// When a rule counts; an empty list means always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleConditions {
    /// In these modes.
    pub modes: Vec<String>,
    /// For runs started so.
    pub triggers: Vec<TriggerKind>,
    /// By actors of these tiers.
    pub tiers: Vec<Tier>,
    /// In these jobs.
    pub jobs: Vec<String>,
}

impl RuleConditions {
    /// Returns true when a rule with this narrowing counts under these facts.
    pub fn holds(&self, facts: &Facts) -> bool {
        let within =
            |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        within(&self.modes, &facts.mode)
            && within(&self.jobs, facts.job.as_deref().unwrap_or_default())
            && (self.triggers.is_empty() || self.triggers.contains(&facts.trigger))
            && (self.tiers.is_empty() || self.tiers.contains(&facts.tier))
    }

    /// Returns facts under which it holds: the first of each list, a maintainer on the command line
    /// where there is none.
    pub fn facts(&self, default_mode: &str) -> Facts {
        Facts {
            mode: self.modes.first().map_or(default_mode, String::as_str).to_owned(),
            trigger: self.triggers.first().copied().unwrap_or_default(),
            tier: self.tiers.first().copied().unwrap_or_default(),
            job: self.jobs.first().cloned(),
            sandboxed: true,
            contained: true,
            ..Facts::default()
        }
    }

    /// Returns true when a rule counts always.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl<P> LocatedPattern<P> {
    /// Returns true for the reference of this pattern.
    pub(crate) fn is_at(&self, rule: &RuleRef) -> bool {
        rule.line_number() == self.place.line && rule.pattern == self.text
    }

    /// Returns where this pattern stands, for a verdict.
    pub fn reference(&self, origin: &str) -> RuleRef {
        RuleRef::at(self.text.clone(), origin, self.place.line)
    }
}

/// A pattern, `edit(src/**)`, with its place.
pub const PATTERN: Located<ParsedText<(Pattern, String)>> = Located(ParsedText {
    parse: |text| Ok((Pattern::parse(text)?, text.to_owned())),
    write: None,
    pattern: r"^\s*[a-z-]+\([\s\S]*\)\s*$",
    example: "edit(src/lib.rs)",
});

/// Reads one entry of `rules`; `None` when it cannot count.
pub fn read_rule(section: &mut Section<'_>) -> Option<Rule> {
    section.exactly_one(&["allow", "hold", "deny"]);
    let about = |what: &str| format!("What {what}: a pattern, or a list of patterns.");
    let said = [
        (Decision::Allow, section.key("allow", &about("may be done"), OneOrMany(PATTERN))),
        (Decision::Hold, section.key("hold", &about("needs approval first"), OneOrMany(PATTERN))),
        (Decision::Deny, section.key("deny", &about("is refused"), OneOrMany(PATTERN))),
    ];
    let except = section.key("except", "What the rule is not about.", AtLeastOne(PATTERN));
    let reason = section.key("reason", "Why; shown with every verdict of the rule.", AnyText);
    let modes = section.key("modes", "Counts only in these modes, by slug.", AtLeastOne(AnyText));
    let triggers =
        section.key("triggers", "Counts only in runs started so.", AtLeastOne(OneOf(TRIGGERS)));
    let tiers = section.key(
        "tiers",
        "Counts only for runs by actors of these tiers.",
        AtLeastOne(OneOf(TIERS)),
    );
    let jobs = section.key("jobs", "Counts only in these jobs, by name.", AtLeastOne(AnyText));
    let mut protected = false;
    section.set(
        "protected",
        "Beside `allow`: opens the protected paths it names in full.",
        Boolean,
        &mut protected,
    );
    let narrowing = RuleConditions {
        modes: modes.unwrap_or_default(),
        triggers: triggers.unwrap_or_default(),
        tiers: tiers.unwrap_or_default(),
        jobs: jobs.unwrap_or_default(),
    };
    let mut said = said.into_iter().filter_map(|(decision, patterns)| Some((decision, patterns?)));
    let (Some((decision, patterns)), None) = (said.next(), said.next()) else { return None };
    let patterns: Vec<LocatedPattern> = patterns.into_iter().map(LocatedPattern::from).collect();
    if protected && decision != Decision::Allow {
        let why =
            Rejection::from("`protected` opens protected paths and stands only beside `allow`");
        section.wrong(section.place_of("protected"), why);
    }
    if protected && patterns.iter().any(|written| is_path_with_wildcard(&written.pattern)) {
        let why = Rejection::from(
            "a rule with `protected: true` names each path in full, without wildcards",
        );
        section.wrong(section.place_of("protected"), why);
    }
    let except = except.unwrap_or_default().into_iter().map(LocatedPattern::from).collect();
    Some(Rule { decision, patterns, except, reason, narrowing, protected })
}

impl<P> From<((P, String), Position)> for LocatedPattern<P> {
    fn from(((pattern, text), place): ((P, String), Position)) -> Self {
        Self { pattern, text, place }
    }
}

fn is_path_with_wildcard(pattern: &Pattern) -> bool {
    pattern.paths().is_some_and(PathGlob::has_wildcard)
}
