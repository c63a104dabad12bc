//! `Comparison`: what is like a held call, judged by a policy before and after it was changed.
//!
//! In: both policies, what is to be allowed and when. Out: the first neighbour that is decided
//! otherwise. Neighbours are other spellings of the call, what no policy should ever open, and one
//! sample of every pattern of the policy; and the call itself under all other circumstances.

use crate::Policy;
use crate::actors::Tier;
use crate::command::Script;
use crate::glob::LetterCase;
use crate::intent::{Facts, Intent, PUBLICATIONS, TriggerKind};
use crate::pattern::Pattern;
use crate::query::parse_intent;
use crate::rule::{RuleConditions, TRIGGERS};
use crate::schema::Triggers;
use crate::verdict::Decision;
use crate::written::pattern_words;

/// Acts that no amendment opens.
const NEVER: &[&str] = &[
    "edit(.github/workflows/ci.yml)",
    "edit(.locum/policy.yml)",
    "edit(.git/config)",
    "edit(AGENTS.md)",
    "edit(CODEOWNERS)",
    "read(.env)",
    "read(.git/config)",
    "read(server.pem)",
    "command(git push)",
    "command(curl https://example.com)",
    "command(sudo ls)",
    "command(sh -c id)",
    "command(npm publish)",
];

/// Most patterns of a policy of which samples are judged.
const SAMPLES_LIMIT: usize = 2_000;

/// Two states of a policy, and for whom the second may allow more.
pub(super) struct Comparison<'c> {
    /// The policy as it is.
    pub(super) before: &'c Policy,
    /// The policy as it would be.
    pub(super) after: &'c Policy,
    /// When what is held may be allowed.
    pub(super) conditions: &'c RuleConditions,
    /// The circumstances of the call.
    pub(super) facts: &'c Facts,
}

impl Comparison<'_> {
    /// Returns what is decided otherwise and should not be.
    pub(super) fn changed(&self, intents: &[Intent], patterns: &[String]) -> Option<String> {
        let read: Vec<Pattern> =
            patterns.iter().filter_map(|pattern| Pattern::parse(pattern).ok()).collect();
        self.elsewhere(intents).or_else(|| {
            let like = patterns.iter().flat_map(|pattern| like(pattern));
            let rules = self.before.judge.rules().iter();
            let rules = rules.flat_map(|rule| rule.patterns.iter().chain(&rule.except));
            let samples = rules.take(SAMPLES_LIMIT).flat_map(|written| samples(&written.text));
            let probes = like.chain(samples).chain(NEVER.iter().map(|text| (*text).to_owned()));
            let probes = probes.chain(self.names());
            let nearby = self.nearby();
            { probes }.find(|probe| {
                let Ok(intent) = parse_intent(probe) else { return false };
                !is_meant(&read, &intent)
                    && nearby.iter().any(|facts| {
                        self.before.decide(&intent, facts).decision
                            != self.after.decide(&intent, facts).decision
                    })
            })
        })
    }

    /// Judges the call under every combination of circumstances.
    fn elsewhere(&self, intents: &[Intent]) -> Option<String> {
        for facts in self.circumstances() {
            let counts = self.conditions.holds(&facts) && facts.tier == self.facts.tier;
            for intent in intents {
                let before = self.before.decide(intent, &facts).decision;
                let after = self.after.decide(intent, &facts).decision;
                let opens = counts && before == Decision::Hold && after == Decision::Allow;
                if before != after && !opens {
                    let (mode, tier) = (&facts.mode, facts.tier.as_str());
                    return Some(format!("{intent} in mode {mode} for tier {tier}"));
                }
            }
        }
        None
    }

    fn circumstances(&self) -> Vec<Facts> {
        let spec = self.before.settings();
        let mut jobs = vec![None];
        jobs.extend(spec.triggers.started_jobs().cloned().map(Some));
        jobs.push(self.facts.job.clone());
        jobs.dedup();
        let mut all = Vec::new();
        for mode in &spec.modes.allow {
            for tier in starting_tiers(&spec.triggers) {
                for (_, trigger) in TRIGGERS {
                    let is_schedule = *trigger == TriggerKind::Schedule;
                    if is_schedule != (tier == Tier::Schedule) {
                        continue;
                    }
                    for job in jobs.iter().filter(|job| job.is_some() || !is_schedule) {
                        all.push(Facts {
                            mode: mode.clone(),
                            tier,
                            trigger: *trigger,
                            job: job.clone(),
                            ..self.facts.clone()
                        });
                    }
                }
            }
        }
        all
    }

    /// Returns the circumstances of the call, and those that differ in one thing.
    fn nearby(&self) -> Vec<Facts> {
        let spec = self.before.settings();
        let own = self.facts;
        let mut all = vec![own.clone()];
        let modes = spec.modes.allow.iter().filter(|mode| **mode != own.mode);
        all.extend(modes.map(|mode| Facts { mode: mode.clone(), ..own.clone() }));
        let tiers = starting_tiers(&spec.triggers).into_iter().filter(|tier| *tier != own.tier);
        all.extend(tiers.map(|tier| Facts { tier, ..own.clone() }));
        all
    }

    /// Returns what has a name: modes and publications.
    fn names(&self) -> impl Iterator<Item = String> {
        let modes = self.before.settings().modes.allow.iter();
        let modes = modes.flat_map(|mode| [format!("mode({mode})"), format!("delegate({mode})")]);
        modes.chain(PUBLICATIONS.iter().map(|(word, _)| format!("publish({word})")))
    }
}

/// Returns the tiers whose runs a policy lets start, one way or another.
pub(super) fn starting_tiers(triggers: &Triggers) -> Vec<Tier> {
    let mut tiers = vec![Tier::Maintainer];
    tiers.extend(triggers.comment.iter().flat_map(|comment| &comment.tiers));
    tiers.extend(triggers.label.iter().flat_map(|label| &label.tiers));
    tiers.extend(triggers.assign.iter().flat_map(|assign| &assign.tiers));
    tiers.extend(&triggers.dispatch_tiers);
    tiers.extend(triggers.events.iter().flat_map(|rule| &rule.tiers));
    if triggers.rules_for(TriggerKind::CiFailure).next().is_some() {
        tiers.push(Tier::Bot);
    }
    if !triggers.users.is_empty() {
        tiers.extend([Tier::Collaborator, Tier::Contributor, Tier::Stranger]);
    }
    if !triggers.bots.is_empty() {
        tiers.push(Tier::Bot);
    }
    if !triggers.schedule_jobs.is_empty() {
        tiers.push(Tier::Schedule);
    }
    let mut once = Vec::new();
    for tier in tiers {
        if !once.contains(&tier) {
            once.push(tier);
        }
    }
    once
}

/// Whether an intent is what the patterns are to allow.
fn is_meant(patterns: &[Pattern], intent: &Intent) -> bool {
    patterns.iter().any(|pattern| match intent {
        Intent::Command(script) => {
            pattern.command().is_some_and(|pattern| is_alone(script, &pattern.words))
        }
        other => pattern.matches(other, LetterCase::Exact),
    })
}

fn is_alone(script: &Script, words: &[String]) -> bool {
    matches!(script.simple_commands().as_slice(), [only] if only.words == words)
}

/// Returns what is written almost like a pattern.
fn like(pattern: &str) -> Vec<String> {
    let Some((kind, inner)) = split(pattern) else { return Vec::new() };
    match kind {
        "command" => of_command(pattern),
        "read" | "edit" => {
            let (folder, name) = inner.rsplit_once('/').unwrap_or(("", inner));
            let beside = |name: &str| match folder {
                "" => format!("{kind}({name})"),
                folder => format!("{kind}({folder}/{name})"),
            };
            let mut all = vec![
                beside(&format!("{name}.x")),
                beside(&format!("x{name}")),
                beside("x"),
                beside(&swapped(name)),
                format!("{kind}({inner}/x)"),
                format!("{kind}(x/{inner})"),
            ];
            all.extend((!folder.is_empty()).then(|| format!("{kind}({folder})")));
            all
        }
        "fetch" | "browse" => {
            let plain = inner.rsplit_once("://").map_or(inner, |(_, rest)| rest);
            let (host, path) = plain.split_once('/').unwrap_or((plain, ""));
            let above = path.rsplit_once('/').map_or("", |(above, _)| above);
            vec![
                format!("{kind}(https://{host})"),
                format!("{kind}(https://{host}/{above}/x)"),
                format!("{kind}(https://{plain}x)"),
                format!("{kind}(https://x.{plain})"),
                format!("{kind}(https://x{plain})"),
                format!("{kind}(http://{host}:8080/{path})"),
            ]
        }
        _ => vec![format!("{kind}({inner}x)"), format!("{kind}(x{inner})")],
    }
}

fn of_command(pattern: &str) -> Vec<String> {
    let read = Pattern::parse(pattern).ok();
    let Some(words) = read.as_ref().and_then(|read| Some(&read.command()?.words)) else {
        return Vec::new();
    };
    let written = |words: &[String]| format!("command({})", pattern_words(words));
    let with = |more: &str| written(&[words.as_slice(), &[more.to_owned()]].concat());
    let mut all = vec![with("x"), with("-x"), with("--x"), with("../x"), with("x=y")];
    if let Some((last, head)) = words.split_last().filter(|(_, head)| !head.is_empty()) {
        all.push(written(head));
        all.push(written(&[head, &[format!("{last}x")]].concat()));
        all.push(written(&[head, &["x".to_owned()]].concat()));
        all.extend(head.first().map(|program| written(std::slice::from_ref(program))));
    }
    all
}

/// Returns one act or two that a pattern is about.
fn samples(pattern: &str) -> Vec<String> {
    let Some((kind, inner)) = split(pattern.trim()) else { return Vec::new() };
    match kind {
        "command" | "command-prefix" | "command-text" => {
            let words = inner.trim().trim_end_matches(":*");
            let words = if words == "*" { "frob" } else { words };
            vec![format!("command({words})"), format!("command({words} x)")]
        }
        "script" => vec![format!("command({inner})")],
        _ => vec![format!("{kind}({})", inner.replace("**", "x").replace(['*', '?'], "x"))],
    }
}

fn split(pattern: &str) -> Option<(&str, &str)> {
    let (kind, rest) = pattern.split_once('(')?;
    Some((kind, rest.strip_suffix(')')?))
}

/// Returns a name with its first letter in the other case.
fn swapped(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| {
        if first.is_lowercase() { first.to_ascii_uppercase() } else { first.to_ascii_lowercase() }
    });
    first.into_iter().chain(letters).collect()
}
