//! Rules that do nothing: those that can never count, those that allow what is refused all the
//! same, and those no run ever needed.
//!
//! In: a policy, and verdicts of runs. Out: a warning for each such rule. Rules that others cover
//! are in `redundant`.

use crate::Policy;
use crate::actors::Tier;
use crate::command::Script;
use crate::command::tables::wrappers;
use crate::edit_command::FILE_PLACE;
use crate::exposure::{EVERY_MODE, exposures, starts};
use crate::glob::name_matches;
use crate::intent::{Facts, Intent, PublicationKind, TriggerKind};
use crate::kind::RuleKind;
use crate::lint::warning::Warning;
use crate::pattern::{CommandForm, CommandPattern, Pattern, PatternSubject};
use crate::rule::{LocatedPattern, Rule, RuleConditions, tier_word, trigger_word};
use crate::schema::events::{ALL_CHECKS, POLICY_CHECK};
use crate::schema::{Delegation, Triggers};
use crate::starter::jobs::JobRecipe;
use crate::verdict::{Cause, Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;
use locum_files::fields::nearest;

/// What follows the words of a command, of many kinds.
const ENDINGS: &[&str] = &[
    "",
    " --help",
    " --version",
    " --check",
    " -q",
    " x",
    " x y",
    " src/x",
    " -m unittest",
    " -m pytest -q",
    " check",
    " check src tests",
    " run x",
    " test",
    " build",
    " list",
    " status",
    " -n 1,4p x",
    " -n x",
];

/// Words of the shell that do nothing before what follows a program, with scripts that use them.
const SHELL_WORDS: &[(&str, &[&str])] = &[
    ("set", &["set -e", "set -euo pipefail", "set"]),
    ("for", &["for x in a b; do ls; done", "for x in a b; do :; done"]),
    ("while", &["while ls; do ls; done", "while :; do :; done"]),
    ("until", &["until ls; do ls; done", "until :; do :; done"]),
    ("case", &["case x in x) ls ;; esac", "case x in x) : ;; esac"]),
];

/// Returns rules that never count, or that allow what a check refuses all the same; and risks
/// that are accepted but absent.
pub(super) fn idle_rules(policy: &Policy) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for rule in policy.judge.rules() {
        let never = never_counts(policy, rule);
        for written in &rule.patterns {
            let message = never
                .clone()
                .or_else(|| never_fits(policy, written))
                .or_else(|| never_allows(policy, rule, written));
            warnings.extend(message.map(|message| Warning::of_rule(policy, written, message)));
        }
    }
    let risky: Vec<String> = exposures(policy.settings(), policy.judge.rules())
        .into_iter()
        .flat_map(|exposure| exposure.modes)
        .collect();
    let needless = |mode: &&String| {
        if *mode == EVERY_MODE { risky.is_empty() } else { !risky.contains(*mode) }
    };
    for mode in policy.settings().modes.accept_risk.keys().filter(needless) {
        warnings.push(Warning::of_key(
            policy,
            "modes.accept_risk",
            format!("`modes.accept_risk` names `{mode}`, where there is no such risk"),
        ));
    }
    warnings.extend(modes_not_allowed(policy));
    warnings.extend(commands_that_never_run(policy));
    warnings.extend(dashboard_without_issue(policy));
    warnings
}

/// A dashboard that no run may write.
fn dashboard_without_issue(policy: &Policy) -> Option<Warning> {
    let settings = policy.settings();
    let never =
        settings.triggers.dashboard && !settings.publish.allow.contains(&PublicationKind::Issue);
    never.then(|| {
        let key = "triggers.schedule.dashboard";
        let message = format!(
            "`{key}` shows nothing: the dashboard is an issue, and `publish.allow` lacks `issue`; \
             add it there"
        );
        Warning::of_key(policy, key, message)
    })
}

/// Commands of the policy's own that no rule lets run, in whatever run.
fn commands_that_never_run(policy: &Policy) -> Vec<Warning> {
    let settings = policy.settings();
    let checks = settings.publish.success.iter().map(|run| ("publish.success", run));
    let after = settings.commands.after_edit.iter();
    let after = after.map(|check| ("commands.after_edit", &check.run));
    let never = |(_, run): &(&str, &String)| {
        let intent = Intent::Command(Script::asked(&run.replace(FILE_PLACE, "file")));
        runs(policy).iter().all(|facts| policy.decide(&intent, facts).decision == Decision::Deny)
    };
    let warning = |(key, run): (&str, &String)| {
        Warning::of_key(policy, key, format!("`{key}` has `{run}`, which no rule allows"))
    };
    checks.chain(after).filter(never).map(warning).collect()
}

/// Returns a run for each mode and each narrowing that a rule has.
fn runs(policy: &Policy) -> Vec<Facts> {
    let modes = &policy.settings().modes.allow;
    let of = |narrowing: &RuleConditions| {
        let modes = if narrowing.modes.is_empty() { modes } else { &narrowing.modes };
        let facts = Facts {
            trigger: narrowing.triggers.first().copied().unwrap_or_default(),
            tier: narrowing.tiers.first().copied().unwrap_or_default(),
            job: narrowing.jobs.first().cloned(),
            sandboxed: true,
            contained: true,
            ..Facts::default()
        };
        modes.iter().map(|mode| Facts { mode: mode.clone(), ..facts.clone() }).collect::<Vec<_>>()
    };
    let narrowings = policy.judge.rules().iter().map(|rule| &rule.narrowing);
    std::iter::once(&RuleConditions::default()).chain(narrowings).flat_map(of).collect()
}

/// Returns the rules that allow and that none of these verdicts rests on.
pub fn unused_rules(policy: &Policy, cited: &[RuleRef]) -> Vec<Warning> {
    let rules = policy.judge.rules().iter().filter(|rule| rule.decision == Decision::Allow);
    let unused = rules
        .flat_map(|rule| &rule.patterns)
        .map(|written| written.reference(policy.origin()))
        .filter(|rule| !cited.contains(rule));
    unused
        .map(|rule| Warning {
            message: format!("`{}` allowed nothing in what was looked at", rule.pattern),
            rule,
        })
        .collect()
}

/// Returns a warning for each job that the policy names and that is unknown.
pub fn unknown_jobs(policy: &Policy, known: &[String]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let unknown = |job: &str| {
        let hint = match JobRecipe::of_name(job) {
            Some(_) => format!("; `locum init --job {job}` writes it"),
            None => did_you_mean(job, known),
        };
        format!("there is no job `{job}`{hint}")
    };
    for rule in policy.judge.rules() {
        for job in rule.narrowing.jobs.iter().filter(|job| !known.contains(job)) {
            let first = rule.patterns.first();
            warnings.extend(first.map(|written| Warning::of_rule(policy, written, unknown(job))));
        }
    }
    let triggers = &policy.settings().triggers;
    for job in triggers.schedule_jobs.iter().filter(|job| !known.contains(job)) {
        warnings.push(Warning::of_key(policy, "triggers.schedule", unknown(job)));
    }
    for rule in &triggers.events {
        let key = format!("triggers.{}", trigger_word(rule.kind));
        let jobs = rule.job.iter().filter(|job| !known.contains(job));
        warnings.extend(jobs.map(|job| Warning::of_key(policy, &key, unknown(job))));
    }
    warnings
}

/// Returns a warning for each check that the policy names and that is unknown.
pub fn unknown_checks(policy: &Policy, known: &[String]) -> Vec<Warning> {
    let is_known = |check: &str| {
        [POLICY_CHECK, ALL_CHECKS].contains(&check) || known.iter().any(|one| one == check)
    };
    let named = policy.settings().triggers.events.iter().flat_map(|rule| &rule.checks);
    let unknown = named.filter(|check| !is_known(check)).map(|check| {
        let message = format!("there is no check `{check}`{}", did_you_mean(check, known));
        Warning::of_key(policy, "triggers.pull_request", message)
    });
    unknown.collect()
}

/// Returns a warning for each mode that the policy allows and that is unknown.
pub fn unknown_modes(policy: &Policy, known: &[String]) -> Vec<Warning> {
    let modes = &policy.settings().modes;
    modes
        .allow
        .iter()
        .filter(|mode| !known.contains(mode))
        .map(|mode| {
            Warning::of_key(
                policy,
                "modes.allow",
                format!("there is no mode `{mode}`{}", did_you_mean(mode, known)),
            )
        })
        .collect()
}

/// Modes that rules name and that are not allowed.
fn modes_not_allowed(policy: &Policy) -> Vec<Warning> {
    let modes = &policy.settings().modes;
    let between = modes.transitions.iter().flat_map(|(from, to)| std::iter::once(from).chain(to));
    let delegating = modes
        .delegation
        .from
        .iter()
        .filter(|_| modes.delegation.from != Delegation::default().from);
    let named = between
        .map(|mode| ("modes.transitions", mode))
        .chain(delegating.map(|mode| ("modes.delegation", mode)));
    let started = policy.settings().triggers.events.iter();
    let started = started.filter_map(|rule| Some((rule, rule.mode.as_ref()?)));
    let started = started.map(|(rule, mode)| {
        (format!("triggers.{}", trigger_word(rule.kind)), mode, rule.mode_place.line)
    });
    named
        .map(|(key, mode)| (key.to_owned(), mode, 0))
        .chain(started)
        .filter(|(_, mode, _)| !modes.allow.contains(mode))
        .map(|(key, mode, line)| {
            let near = did_you_mean(mode, &modes.allow);
            let message = format!("`{key}` names `{mode}`, which is not in `modes.allow`{near}");
            Warning { rule: RuleRef::at(key, policy.origin(), line), message }
        })
        .collect()
}

fn never_counts(policy: &Policy, rule: &Rule) -> Option<String> {
    let narrowing = &rule.narrowing;
    let allowed = &policy.settings().modes.allow;
    if !narrowing.modes.is_empty() && narrowing.modes.iter().all(|mode| !allowed.contains(mode)) {
        let mode = narrowing.modes.first()?;
        return Some(format!(
            "never counts: mode `{mode}` is not in `modes.allow`{}",
            did_you_mean(mode, allowed)
        ));
    }
    let starting = starts(policy.settings());
    if !narrowing.triggers.is_empty()
        && !starting.iter().any(|(kind, _)| narrowing.triggers.contains(kind))
    {
        let word = trigger_word(*narrowing.triggers.first()?);
        return Some(format!("never counts: `triggers` lets nothing be started by `{word}`"));
    }
    let counting = starting
        .iter()
        .filter(|(kind, _)| narrowing.triggers.is_empty() || narrowing.triggers.contains(kind));
    let able: Vec<Tier> =
        counting.flat_map(|(kind, _)| starting_tiers(&policy.settings().triggers, *kind)).collect();
    if !narrowing.tiers.is_empty() && !narrowing.tiers.iter().any(|tier| able.contains(tier)) {
        let word = tier_word(*narrowing.tiers.first()?);
        return Some(format!(
            "never counts: `triggers` lets no actor of tier `{word}` start such a run"
        ));
    }
    None
}

/// Says where a pattern is about modes none of which may run.
fn never_fits(policy: &Policy, written: &LocatedPattern) -> Option<String> {
    let PatternSubject::Name(slugs) = &written.pattern.subject else { return None };
    if !matches!(written.pattern.kind, RuleKind::Mode | RuleKind::Delegate) {
        return None;
    }
    let allowed = &policy.settings().modes.allow;
    let none = !allowed.iter().any(|mode| name_matches(slugs, mode));
    none.then(|| {
        format!(
            "never counts: mode `{slugs}` is not in `modes.allow`{}",
            did_you_mean(slugs, allowed)
        )
    })
}

/// Tries what a rule spells out; a check that refuses it there refuses it everywhere.
fn never_allows(policy: &Policy, rule: &Rule, written: &LocatedPattern) -> Option<String> {
    if rule.decision != Decision::Allow || enters_for_another(policy, written) {
        return None;
    }
    let facts = rule.narrowing.facts(&policy.settings().modes.default);
    let by_check = |verdict: &Verdict| {
        verdict.decision == Decision::Deny && verdict.rule().is_none_or(|rule| written.is_at(rule))
    };
    // What follows a pattern without end can be anything: only what is refused for the same reason
    // whatever follows is refused always. The first example that is not ends the search.
    let samples = samples(&written.pattern);
    let mut verdicts = samples.iter().map(|sample| policy.decide(&sample.intent(), &facts));
    let first = verdicts.next().filter(by_check)?;
    verdicts
        .all(|verdict| by_check(&verdict) && is_of_one_cause(&verdict.cause, &first.cause))
        .then(|| format!("allows nothing: {}", first.reason()))
}

/// Whether two commands are refused for the same, whatever their words are.
fn is_of_one_cause(one: &Cause, other: &Cause) -> bool {
    match (one, other) {
        (Cause::Uncovered { finding, .. }, Cause::Uncovered { finding: other, .. }) => {
            finding == other
        }
        (one, other) => one == other,
    }
}

/// Whether a pattern is that of `cd`, which counts in front of what other rules allow.
fn enters_for_another(policy: &Policy, written: &LocatedPattern) -> bool {
    let is_cd = |pattern: &Pattern| pattern.command().is_some_and(|it| it.words == ["cd"]);
    let allowed = policy.judge.rules().iter().filter(|rule| rule.decision == Decision::Allow);
    let is_other =
        |other: &LocatedPattern| other.pattern.kind == RuleKind::Command && !is_cd(&other.pattern);
    is_cd(&written.pattern) && allowed.flat_map(|rule| &rule.patterns).any(is_other)
}

/// Who may start runs in one way.
fn starting_tiers(triggers: &Triggers, kind: TriggerKind) -> Vec<Tier> {
    let of_events: Vec<Tier>;
    let named = match kind {
        TriggerKind::Local => return vec![Tier::Maintainer],
        TriggerKind::Schedule => return vec![Tier::Schedule],
        TriggerKind::Comment => triggers.comment.as_ref().map(|comment| &comment.tiers),
        TriggerKind::Label => triggers.label.as_ref().map(|label| &label.tiers),
        TriggerKind::Assign => triggers.assign.as_ref().map(|assign| &assign.tiers),
        TriggerKind::Dispatch => Some(&triggers.dispatch_tiers),
        TriggerKind::PullRequest
        | TriggerKind::CiFailure
        | TriggerKind::Push
        | TriggerKind::Release
        | TriggerKind::MergeGroup
        | TriggerKind::RepositoryDispatch => {
            let own = (kind == TriggerKind::CiFailure).then_some(Tier::Bot);
            of_events = own.into_iter().chain(triggers.tiers_for(kind)).collect();
            Some(&of_events)
        }
    };
    let listed = if triggers.users.is_empty() {
        vec![]
    } else {
        vec![Tier::Maintainer, Tier::Collaborator, Tier::Contributor, Tier::Stranger]
    };
    let bots = if triggers.bots.is_empty() { vec![] } else { vec![Tier::Bot] };
    named.into_iter().flatten().copied().chain(listed).chain(bots).collect()
}

fn did_you_mean(word: &str, known: &[String]) -> String {
    let words: Vec<&str> = known.iter().map(String::as_str).collect();
    nearest(word, &words).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// An example of what a pattern is about; a command is read only where it is asked about.
pub(super) enum Sample {
    Path(Intent),
    Command(String),
}

impl Sample {
    pub(super) fn intent(&self) -> Intent {
        match self {
            Self::Path(intent) => intent.clone(),
            Self::Command(text) => Intent::Command(Script::parse(text)),
        }
    }
}

/// Examples of what a pattern is about, where some can be made up.
pub(super) fn samples(pattern: &Pattern) -> Vec<Sample> {
    match &pattern.subject {
        PatternSubject::Path(glob) => {
            let intent = if pattern.kind == RuleKind::Edit { Intent::Edit } else { Intent::Read };
            sample_path(&glob.text()).map(intent).map(Sample::Path).into_iter().collect()
        }
        PatternSubject::Command(CommandPattern { words, open, form: CommandForm::Words })
            if !words.is_empty() =>
        {
            let plain =
                |letter: char| letter.is_ascii_alphanumeric() || "-_./:=+,@".contains(letter);
            // What these start has rules of its own.
            if !words.iter().all(|word| word.chars().all(plain)) || wrappers::starts_another(words)
            {
                return Vec::new();
            }
            if let ([word], true) = (words.as_slice(), *open)
                && let Some((_, scripts)) = SHELL_WORDS.iter().find(|(known, _)| known == word)
            {
                return scripts.iter().map(|text| Sample::Command((*text).to_owned())).collect();
            }
            let endings: &[&str] = if *open { ENDINGS } else { &[""] };
            let script = |ending| Sample::Command(format!("{}{ending}", words.join(" ")));
            endings.iter().map(script).collect()
        }
        PatternSubject::Command(_)
        | PatternSubject::Url(_)
        | PatternSubject::Query(_)
        | PatternSubject::Name(_)
        | PatternSubject::Publication(_) => Vec::new(),
    }
}

fn sample_path(glob: &str) -> Option<RepoPath> {
    if glob.contains(['[', '{', '!']) {
        return None;
    }
    RepoPath::parse(&glob.replace("**", "x").replace(['*', '?'], "x")).ok()
}

#[cfg(test)]
mod tests;
