//! Rules that do nothing: those that can never count, those that allow what is refused all the
//! same, and those no run ever needed.
//!
//! In: a policy, and verdicts of runs. Out: a warning for each such rule. Rules that others cover
//! are `explain`'s.

use crate::Policy;
use crate::actors::Tier;
use crate::command::Script;
use crate::explain::Warning;
use crate::exposure::{EVERY_MODE, Exposure, accepted, exposures, starts, with_text};
use crate::glob::name_matches;
use crate::intent::{Facts, Intent, TriggerKind};
use crate::pattern::{CommandForm, CommandPattern, Pattern};
use crate::rule::{Rule, TIERS, TRIGGERS, Written};
use crate::schema::{Delegation, PolicySpec, Source, Triggers};
use crate::verdict::{Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;
use locum_files::fields::nearest;

/// A risk that the policy takes, in its maintainer's words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AcceptedRisk {
    /// The modes it is about.
    pub modes: Vec<String>,
    /// What comes together.
    pub what: String,
    /// Why that is fine.
    pub reason: String,
}

impl std::fmt::Display for AcceptedRisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "accepted risk: in mode {}, {}: {}",
            self.modes.join(", "),
            self.what,
            self.reason
        )
    }
}

impl Policy {
    /// Returns the risks that `modes.accept_risk` accepts.
    #[must_use]
    pub fn accepted_risks(&self) -> Vec<AcceptedRisk> {
        let spec = self.settings();
        let mut found: Vec<AcceptedRisk> = Vec::new();
        for exposure in exposures(spec, self.judge.rules()) {
            for mode in exposure.modes {
                let Some(reason) = accepted(spec, &mode) else { continue };
                match found.iter_mut().find(|one| one.what == exposure.what && one.reason == reason)
                {
                    Some(one) => one.modes.push(mode),
                    None => found.push(AcceptedRisk {
                        modes: vec![mode],
                        what: exposure.what.clone(),
                        reason: reason.to_owned(),
                    }),
                }
            }
        }
        found
    }

    /// Returns what comes together, in modes whose risk is not accepted, when the forge says that
    /// only members see the source and the policy says nothing of it.
    #[must_use]
    pub fn exposed_where_private(&self) -> Vec<Exposure> {
        let spec = self.settings();
        if spec.source.is_some() {
            return Vec::new();
        }
        let private = PolicySpec { source: Some(Source::Private), ..spec.clone() };
        let unaccepted =
            |exposure: &Exposure| exposure.modes.iter().any(|mode| accepted(spec, mode).is_none());
        exposures(&private, self.judge.rules()).into_iter().filter(unaccepted).collect()
    }

    /// Returns why a run that is started so may not be shown strangers' text, where it brings none
    /// of its own.
    #[must_use]
    pub fn refuses_text(&self, trigger: TriggerKind) -> Option<String> {
        with_text(self.settings(), self.judge.rules(), trigger)
    }

    /// Returns rules that never count, or that allow what a check refuses all the same; and risks
    /// accepted that are none.
    #[must_use]
    pub fn idle_rules(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for rule in self.judge.rules() {
            let never = self.never_counts(rule);
            for written in &rule.patterns {
                let message = never
                    .clone()
                    .or_else(|| self.never_fits(written))
                    .or_else(|| self.never_allows(rule, written));
                warnings.extend(
                    message
                        .map(|message| Warning { rule: written.reference(self.origin()), message }),
                );
            }
        }
        let risky: Vec<String> = exposures(self.settings(), self.judge.rules())
            .into_iter()
            .flat_map(|exposure| exposure.modes)
            .collect();
        let needless = |mode: &&String| {
            if *mode == EVERY_MODE { risky.is_empty() } else { !risky.contains(*mode) }
        };
        for mode in self.settings().modes.accept_risk.keys().filter(needless) {
            warnings.push(self.of_key(
                "modes.accept_risk",
                format!("`modes.accept_risk` names `{mode}`, where there is no such risk"),
            ));
        }
        warnings.extend(self.modes_not_allowed());
        warnings
    }

    /// Returns the rules that allow and that none of these verdicts rests on.
    #[must_use]
    pub fn unused_rules(&self, cited: &[RuleRef]) -> Vec<Warning> {
        let allowing = self
            .judge
            .rules()
            .iter()
            .filter(|rule| rule.decision == Decision::Allow)
            .flat_map(|rule| &rule.patterns);
        let unused = allowing
            .map(|written| written.reference(self.origin()))
            .filter(|rule| !cited.contains(rule));
        unused
            .map(|rule| Warning {
                message: format!("`{}` allowed nothing in what was looked at", rule.pattern),
                rule,
            })
            .collect()
    }

    /// Returns jobs that the policy names and that are none of these.
    #[must_use]
    pub fn unknown_jobs(&self, known: &[String]) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let told = |job: &str| format!("there is no job `{job}`{}", did_you_mean(job, known));
        for rule in self.judge.rules() {
            for job in rule.narrowing.jobs.iter().filter(|job| !known.contains(job)) {
                warnings.extend(rule.patterns.first().map(|written| Warning {
                    rule: written.reference(self.origin()),
                    message: told(job),
                }));
            }
        }
        for job in self.settings().triggers.schedule_jobs.iter().filter(|job| !known.contains(job))
        {
            warnings.push(self.of_key("triggers.schedule", told(job)));
        }
        warnings
    }

    /// Returns modes that the policy allows and that are none of these.
    #[must_use]
    pub fn unknown_modes(&self, known: &[String]) -> Vec<Warning> {
        let modes = &self.settings().modes;
        modes
            .allow
            .iter()
            .filter(|mode| !known.contains(mode))
            .map(|mode| {
                self.of_key(
                    "modes.allow",
                    format!("there is no mode `{mode}`{}", did_you_mean(mode, known)),
                )
            })
            .collect()
    }

    /// Modes beside the rules that are not allowed.
    fn modes_not_allowed(&self) -> Vec<Warning> {
        let modes = &self.settings().modes;
        let between =
            modes.transitions.iter().flat_map(|(from, to)| std::iter::once(from).chain(to));
        let delegating = modes
            .delegation
            .from
            .iter()
            .filter(|_| modes.delegation.from != Delegation::default().from);
        let named = between
            .map(|mode| ("modes.transitions", mode))
            .chain(delegating.map(|mode| ("modes.delegation", mode)));
        named
            .filter(|(_, mode)| !modes.allow.contains(mode))
            .map(|(key, mode)| {
                self.of_key(
                    key,
                    format!(
                        "`{key}` names `{mode}`, which is not in `modes.allow`{}",
                        did_you_mean(mode, &modes.allow)
                    ),
                )
            })
            .collect()
    }

    fn of_key(&self, key: &str, message: String) -> Warning {
        Warning {
            rule: RuleRef { pattern: key.to_owned(), origin: self.origin().to_owned(), line: 0 },
            message,
        }
    }

    fn never_counts(&self, rule: &Rule) -> Option<String> {
        let narrowing = &rule.narrowing;
        let allowed = &self.settings().modes.allow;
        if !narrowing.modes.is_empty() && narrowing.modes.iter().all(|mode| !allowed.contains(mode))
        {
            let mode = narrowing.modes.first()?;
            return Some(format!(
                "never counts: mode `{mode}` is not in `modes.allow`{}",
                did_you_mean(mode, allowed)
            ));
        }
        let starting = starts(self.settings());
        if !narrowing.triggers.is_empty()
            && !starting.iter().any(|(kind, _)| narrowing.triggers.contains(kind))
        {
            let kind = narrowing.triggers.first()?;
            let word = TRIGGERS.iter().find(|(_, known)| known == kind).map(|(word, _)| *word)?;
            return Some(format!("never counts: `triggers` lets nothing be started by `{word}`"));
        }
        let counting = starting
            .iter()
            .filter(|(kind, _)| narrowing.triggers.is_empty() || narrowing.triggers.contains(kind));
        let able: Vec<Tier> = counting
            .flat_map(|(kind, _)| starting_tiers(&self.settings().triggers, *kind))
            .collect();
        if !narrowing.tiers.is_empty() && !narrowing.tiers.iter().any(|tier| able.contains(tier)) {
            let tier = narrowing.tiers.first()?;
            let word = TIERS.iter().find(|(_, known)| known == tier).map(|(word, _)| *word)?;
            return Some(format!(
                "never counts: `triggers` lets nobody of tier `{word}` start such a run"
            ));
        }
        None
    }

    /// Says where a pattern is about modes none of which may run.
    fn never_fits(&self, written: &Written) -> Option<String> {
        let (Pattern::Mode(slugs) | Pattern::Delegate(slugs)) = &written.pattern else {
            return None;
        };
        let allowed = &self.settings().modes.allow;
        let none = !allowed.iter().any(|mode| name_matches(slugs, mode));
        none.then(|| {
            format!(
                "never counts: mode `{slugs}` is not in `modes.allow`{}",
                did_you_mean(slugs, allowed)
            )
        })
    }

    /// Tries what a rule spells out; a check that refuses it there refuses it everywhere.
    fn never_allows(&self, rule: &Rule, written: &Written) -> Option<String> {
        let samples = samples(&written.pattern);
        if rule.decision != Decision::Allow || samples.is_empty() {
            return None;
        }
        let narrowing = &rule.narrowing;
        let facts = Facts {
            mode: narrowing.modes.first().unwrap_or(&self.settings().modes.default).clone(),
            trigger: narrowing.triggers.first().copied().unwrap_or_default(),
            tier: narrowing.tiers.first().copied().unwrap_or_default(),
            job: narrowing.jobs.first().cloned(),
            sandboxed: true,
            ..Facts::default()
        };
        let verdicts: Vec<Verdict> =
            samples.iter().map(|intent| self.decide(intent, &facts)).collect();
        let by_check = |verdict: &Verdict| {
            let own =
                |rule: &RuleRef| rule.line == written.place.line && rule.pattern == written.text;
            verdict.decision == Decision::Deny && verdict.rule().is_none_or(own)
        };
        if !verdicts.iter().all(by_check) {
            return None;
        }
        verdicts.first().map(|verdict| format!("allows nothing: {}", verdict.reason()))
    }
}

/// Who may start runs in one way.
fn starting_tiers(triggers: &Triggers, kind: TriggerKind) -> Vec<Tier> {
    let named = match kind {
        TriggerKind::Local => return vec![Tier::Maintainer],
        TriggerKind::Schedule => return vec![Tier::Schedule],
        TriggerKind::Comment => triggers.comment.as_ref().map(|comment| &comment.tiers),
        TriggerKind::Label => triggers.label.as_ref().map(|label| &label.tiers),
        TriggerKind::Assign => triggers.assign.as_ref().map(|assign| &assign.tiers),
        TriggerKind::Dispatch => Some(&triggers.dispatch_tiers),
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

/// Things a pattern is about, where they can be told.
fn samples(pattern: &Pattern) -> Vec<Intent> {
    match pattern {
        Pattern::Read(glob) => sample_path(&glob.text()).map(Intent::Read).into_iter().collect(),
        Pattern::Edit(glob) => sample_path(&glob.text()).map(Intent::Edit).into_iter().collect(),
        Pattern::Command(CommandPattern { words, open, form: CommandForm::Words })
            if !words.is_empty() =>
        {
            let plain = |word: &String| {
                word.chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "-_./:=+,@".contains(letter))
            };
            if !words.iter().all(plain) {
                return Vec::new();
            }
            let alone = words.join(" ");
            let more = if *open {
                vec![format!("{alone} --help"), format!("{alone} x")]
            } else {
                Vec::new()
            };
            std::iter::once(alone)
                .chain(more)
                .map(|text| Intent::Command(Script::parse(&text)))
                .collect()
        }
        Pattern::Command(_)
        | Pattern::Fetch(_)
        | Pattern::Browse(_)
        | Pattern::Mcp(_)
        | Pattern::Mode(_)
        | Pattern::Delegate(_)
        | Pattern::Expert(_)
        | Pattern::Publish(_) => Vec::new(),
    }
}

fn sample_path(glob: &str) -> Option<RepoPath> {
    if glob.contains(['[', '{', '!']) {
        return None;
    }
    RepoPath::parse(&glob.replace("**", "x").replace(['*', '?'], "x")).ok()
}

#[cfg(test)]
mod tests {
    use crate::Policy;
    use crate::verdict::RuleRef;
    use pretty_assertions::assert_eq;

    fn warnings(text: &str) -> Vec<String> {
        let policy = Policy::parse(&format!("version: 1\n{text}"), "p").unwrap();
        policy
            .warnings()
            .into_iter()
            .map(|warning| format!("{}: {}", warning.rule.line, warning.message))
            .collect()
    }

    #[test]
    fn rules_that_never_count_are_named() {
        for (text, told) in [
            (
                "rules:\n  - allow: \"edit(src/**)\"\n    modes: [cod]\n",
                "3: never counts: mode `cod` is not in `modes.allow`; did you mean `code`?",
            ),
            (
                "rules:\n  - deny: \"edit(src/**)\"\n    triggers: [schedule]\n",
                "3: never counts: `triggers` lets nothing be started by `schedule`",
            ),
            (
                "rules:\n  - allow: \"edit(src/**)\"\n    tiers: [bot]\n",
                "3: never counts: `triggers` lets nobody of tier `bot` start such a run",
            ),
            (
                "triggers: { dispatch: { tiers: [maintainer] }, bots: { allow: [\"x[bot]\"] } \
                 }\nrules:\n  - allow: \"edit(src/**)\"\n    tiers: [collaborator]\n",
                "4: never counts: `triggers` lets nobody of tier `collaborator` start such a run",
            ),
            (
                "rules:\n  - allow: \"delegate(coed)\"\n",
                "3: never counts: mode `coed` is not in `modes.allow`; did you mean `code`?",
            ),
            (
                "modes: { transitions: { ask: [coed] } }\n",
                "0: `modes.transitions` names `coed`, which is not in `modes.allow`; did you mean \
                 `code`?",
            ),
            (
                "modes: { delegation: { from: [own] } }\n",
                "0: `modes.delegation` names `own`, which is not in `modes.allow`",
            ),
            (
                "rules:\n  - allow: \"edit(.github/workflows/ci.yml)\"\n",
                "3: allows nothing: protected from edits",
            ),
            (
                "rules:\n  - allow: \"edit(.github/**)\"\n",
                "3: allows nothing: protected from edits",
            ),
            ("rules:\n  - allow: \"read(.env)\"\n", "3: allows nothing: protected from reading"),
            ("rules:\n  - allow: \"command(cd:*)\"\n", "3: allows nothing: "),
            ("rules:\n  - allow: \"command(env:*)\"\n", "3: allows nothing: `env`"),
        ] {
            let found = warnings(text);
            assert!(
                found.len() == 1 && found.iter().all(|found| found.starts_with(told)),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn rules_that_work_are_not_named() {
        for text in [
            "rules:\n  - allow: \"edit(src/**)\"\n    modes: [code]\n    triggers: [comment, \
             local]\n",
            "rules:\n  - allow: \"edit(.github/dependabot.yml)\"\n    protected: true\n",
            "rules:\n  - allow: [\"read(**)\", \"edit(*.md)\", \"edit(docs/)\"]\n",
            "rules:\n  - allow: [\"read(**)\", \"command(env:*)\", \"command(bash \
             scripts/check.sh)\", \"command(cp:*)\"]\n  - allow: \"edit(**)\"\n"
                .replace("\"command(env:*)\", ", "")
                .as_str(),
            "rules:\n  - allow: [\"command(cargo test:*)\", \"command(make:*)\", \"command(npm \
             run build)\", \"command(own-tool:*)\"]\n",
            "triggers: { schedule: { jobs: [a] } }\nrules:\n  - deny: \"edit(src/**)\"\n    \
             triggers: [schedule]\n",
            "triggers: { comment: {}, bots: { allow: [\"x[bot]\"] } }\nrules:\n  - deny: \
             \"edit(src/**)\"\n    triggers: [comment]\n    tiers: [bot]\n",
            "triggers: { label: { name: x }, users: { allow: [bob] } }\nrules:\n  - deny: \
             \"edit(src/**)\"\n    tiers: [stranger]\n",
            "rules:\n  - allow: [\"delegate(co*)\", \"mode(*)\"]\n",
            "modes: { default: code, allow: [code], switching: off }\n",
        ] {
            assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn rules_that_no_verdict_rests_on_are_unused() {
        let text = "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\"]\n  - deny: \
                    \"edit(src/b/**)\"\n";
        let policy = Policy::parse(text, "p").unwrap();
        let cited = [RuleRef { pattern: "read(**)".to_owned(), origin: "p".to_owned(), line: 3 }];
        let unused: Vec<_> = policy
            .unused_rules(&cited)
            .into_iter()
            .map(|warning| (warning.rule.line, warning.rule.pattern))
            .collect();
        assert_eq!(unused, [(3, "edit(src/**)".to_owned())]);
    }

    #[test]
    fn modes_that_are_not_there_are_named() {
        let policy = Policy::parse(
            "version: 1\nmodes: { default: code, allow: [code, docs-writter] }\n",
            "p",
        )
        .unwrap();
        let known = ["code", "docs-writer"].map(str::to_owned);
        let told: Vec<_> =
            policy.unknown_modes(&known).into_iter().map(|warning| warning.message).collect();
        assert_eq!(told, ["there is no mode `docs-writter`; did you mean `docs-writer`?"]);
    }

    #[test]
    fn jobs_that_are_not_there_are_named() {
        let text = "version: 1\ntriggers: { schedule: { jobs: [update, docs] } }\nrules:\n  - \
                    allow: \"edit(src/**)\"\n    jobs: [updat]\n";
        let policy = Policy::parse(text, "p").unwrap();
        let told: Vec<_> = policy
            .unknown_jobs(&["update".to_owned()])
            .into_iter()
            .map(|warning| warning.message)
            .collect();
        assert_eq!(
            told,
            ["there is no job `updat`; did you mean `update`?", "there is no job `docs`"]
        );
    }
}
