//! Decides whether an agent may run a command, change a file or reach a host, by a policy file.
//!
#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

pub mod actors;
pub mod amend;
pub mod approval;
mod bounds;
pub mod budget;
pub mod cases;
pub mod command;
mod command_text;
pub mod edit_command;
pub mod example;
pub mod exposure;
pub mod glob;
pub mod ignore;
pub mod import;
pub mod intent;
pub mod judge;
pub mod kind;
pub mod lint;
pub mod memory;
pub mod paths;
pub mod pattern;
pub mod pull_request;
pub mod query;
pub mod query_text;
mod resource;
pub mod rule;
pub mod schema;
pub mod settings;
pub mod spending_limit;
pub mod starter;
pub mod summary;
pub mod urls;
pub mod verdict;
mod widening;
mod words;
mod written;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::approval::Approval;
use crate::example::{Example, ExampleResult, read_examples};
use crate::exposure::{accepted, exposures};
use crate::ignore::IgnoreFiles;
use crate::intent::{Act, Facts, Intent};
use crate::judge::Judge;
use crate::kind::RuleKind;
use crate::lint::instead;
use crate::rule::{RULES_LIMIT, Rule, read_rule};
use crate::schema::{CommandNetwork, PolicyErrors, PolicySpec, SandboxSetting, Triggers};
use crate::verdict::{Decision, Refusal, RefusedBy, RuleRef, Verdict};
use locum_base::path::RepoPath;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{ExactNumber, ListOf};
use locum_files::yaml::YamlDocument;

/// How the built-in policy is named in errors and verdicts.
pub const BUILTIN_ORIGIN: &str = "built-in policy";
/// The built-in policy's text.
pub const BUILTIN_TEXT: &str = include_str!("../../config/policy.yml");

/// A checked policy, ready to decide.
#[derive(Clone, Debug)]
pub struct Policy {
    spec: PolicySpec,
    judge: Judge,
    examples: Vec<Example>,
    hash: String,
}

impl Policy {
    /// Reads a policy file. `origin` names it in errors and verdicts (`.locum/policy.yml`).
    ///
    /// # Errors
    /// Every mistake of the file at once, each with line and column; a failing `examples` entry is
    /// such a mistake.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PolicyErrors> {
        let (policy, mut mistakes) = Self::read(text, origin);
        for example in &policy.examples {
            example.check(&policy.judge, &policy.spec, &mut mistakes);
        }
        PolicyErrors::none_in(mistakes, text, origin).map(|()| policy)
    }

    /// Reads a policy file as [`Policy::parse`] does, but leaves its examples to be tried one by
    /// one.
    ///
    /// # Errors
    /// Every other mistake of the file at once.
    pub fn parse_untried(text: &str, origin: &str) -> Result<Self, PolicyErrors> {
        let (policy, mistakes) = Self::read(text, origin);
        PolicyErrors::none_in(mistakes, text, origin).map(|()| policy)
    }

    fn read(text: &str, origin: &str) -> (Self, Diagnostics) {
        let document = YamlDocument::parse(text);
        let mut mistakes = Diagnostics(document.mistakes);
        let mut policy = Self::allowing_nothing(text, origin);
        match document.root {
            Some(root) => {
                let read = Section::read(&root, "policy", &mut mistakes, read_file);
                if let Some((spec, rules, examples)) = read {
                    policy.spec = spec;
                    policy.judge = Judge::new(rules, origin);
                    policy.examples = examples;
                    policy.spec.commands.unseen = policy.judge.unseen().into();
                }
            }
            None if mistakes.0.is_empty() => mistakes.add_with_hint(
                Position::default(),
                "the file is empty",
                "start with `version: 1`",
            ),
            None => {}
        }
        (policy, mistakes)
    }

    /// Returns the JSON Schema of a policy file.
    pub fn schema() -> serde_json::Value {
        Section::describe(read_file)
    }

    /// Returns the policy that applies where a repository has none (`config/policy.yml`). Should
    /// the program have been built with a broken one, it allows nothing.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN_TEXT, BUILTIN_ORIGIN)
            .unwrap_or_else(|_| Self::allowing_nothing(BUILTIN_TEXT, BUILTIN_ORIGIN))
    }

    fn allowing_nothing(text: &str, origin: &str) -> Self {
        Self {
            spec: PolicySpec::default(),
            judge: Judge::new(Vec::new(), origin),
            examples: Vec::new(),
            hash: hash_of(text),
        }
    }

    /// Returns the policy's own examples.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Tries an example: it must come out for some mode that may run, or some narrowing that the
    /// rules name, so that narrowed rules can have examples too.
    ///
    /// # Errors
    /// When it is not an intent.
    pub fn try_example(&self, example: &Example) -> Result<ExampleResult, String> {
        example.attempt(&self.judge, &self.spec)
    }

    /// Returns true when some rule could allow or hold a use of this kind under these facts. Where
    /// none could, there is no point in offering the tools for it.
    pub fn may_use(&self, kind: RuleKind, facts: &Facts) -> bool {
        let contained = kind == RuleKind::Command && self.spec.commands.contains(facts);
        contained || summary::may_use(self.judge.rules(), kind, facts)
    }

    /// Returns true when the mode of `facts` may start sub-tasks in some mode.
    pub fn may_delegate(&self, facts: &Facts) -> bool {
        let listed = self.spec.modes.delegation.from.contains(&facts.mode);
        self.spec.modes.delegation.depth > 0 && (listed || self.judge.adds_delegation(facts))
    }

    /// Returns the rule by which the mode of `to` may do what the mode of `from` may not, where
    /// both are used for these kinds: one that allows more, or one that no longer refuses. Rules
    /// about the modes themselves do not count.
    pub fn gained(
        &self,
        (from, to): (&Facts, &Facts),
        used: impl Fn(RuleKind) -> bool,
    ) -> Option<RuleRef> {
        let gained = widening::gained(self.judge.rules(), (from, to), used)?;
        Some(gained.reference(self.origin()))
    }

    /// Returns what rules allow, or hold, of one kind under these facts, as written between the
    /// parentheses of their patterns.
    pub fn patterns(&self, kind: RuleKind, decision: Decision, facts: &Facts) -> Vec<&str> {
        summary::patterns(self.judge.rules(), kind, decision, facts)
    }

    /// Returns what is allowed under these facts, one line a kind of act, for prompts and plans.
    /// Kinds that the mode has no tool for are left out.
    pub fn summary_lines(
        &self,
        facts: &Facts,
        has_tool_for: impl Fn(RuleKind) -> bool,
    ) -> Vec<String> {
        summary::lines(self, facts, has_tool_for)
    }

    /// Returns the programs that rules let commands start, under some circumstances at least.
    pub fn programs(&self) -> Vec<String> {
        summary::programs(self.judge.rules())
    }

    /// Returns the patterns that allow acts of a kind under these facts, each in backticks.
    pub fn allowed(&self, kind: RuleKind, facts: &Facts) -> Vec<String> {
        summary::texts(self.judge.rules(), kind, Decision::Allow, facts)
    }

    /// Returns true for a path that an ignore file hides, or that names what is hidden.
    pub fn hides(&self, path: &RepoPath) -> bool {
        self.judge.hides(path)
    }

    /// Whether a rule denies reading a path, under some circumstances at least.
    pub fn may_deny_reading(&self, path: &RepoPath) -> bool {
        self.judge.may_deny_reading(path)
    }

    /// Returns the same policy for commands that no sandbox of ours holds: `commands.sandbox`
    /// decides nothing.
    pub fn without_sandbox(mut self) -> Self {
        self.spec.commands.sandbox = SandboxSetting::Off;
        self
    }

    /// Returns the same policy with everything hidden that ignore files name: for reading, editing
    /// and what commands name alike. They shape what is decided, so the hash covers them.
    pub fn with_ignored(self, ignored: IgnoreFiles) -> Self {
        let hash = if ignored.is_empty() {
            self.hash
        } else {
            let files = ignored.texts().map(|(name, text)| format!("{name} {}\n", hash_of(text)));
            hash_of(&format!("{}\n{}", self.hash, files.collect::<String>()))
        };
        let mut policy = Self { judge: self.judge.with_ignored(ignored), hash, ..self };
        policy.spec.commands.unseen = policy.judge.unseen().into();
        policy
    }

    /// Returns the same policy with other triggers: those that the inputs of the Action leave.
    #[must_use]
    pub fn with_triggers(mut self, triggers: Triggers) -> Self {
        self.spec.triggers = triggers;
        self
    }

    /// Returns the policy as it is for runs of this job, or of none: without the network where
    /// `network.jobs` opens it to other jobs only.
    pub fn of_job(mut self, job: Option<&str>) -> Self {
        if !self.spec.network.is_for(job) {
            self.spec.commands.network = CommandNetwork::Off;
        }
        self
    }

    /// Returns the checked settings (budget, commands, publish, ...).
    pub fn settings(&self) -> &PolicySpec {
        &self.spec
    }

    /// Returns how the policy is named: its file, or [`BUILTIN_ORIGIN`].
    pub fn origin(&self) -> &str {
        self.judge.origin()
    }

    /// Returns a SHA-256 in hexadecimal, as recorded in every journal: of the policy's text; where
    /// ignore files hide something, of that and their texts.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Judges one intent.
    pub fn decide(&self, intent: &Intent, facts: &Facts) -> Verdict {
        self.judge.decide(intent, facts, &self.spec)
    }

    /// Judges an act by all its intents and, when each is allowed, hands it back as a permit.
    ///
    /// # Errors
    /// A refusal with the strictest decision and every verdict that led to it. An act with no
    /// intents is denied.
    pub fn admit<A: Act>(&self, act: A, facts: &Facts) -> Result<Permit<A>, Box<Refusal>> {
        self.weigh(act, facts, None)
    }

    /// As [`Policy::admit`], for an act that was approved: what was held and shown to the approver
    /// is allowed, what is denied stays denied.
    ///
    /// # Errors
    /// As [`Policy::admit`].
    pub fn admit_approved<A: Act>(
        &self,
        act: A,
        facts: &Facts,
        approval: Approval,
    ) -> Result<Permit<A>, Box<Refusal>> {
        self.weigh(act, facts, Some(approval))
    }

    fn weigh<A: Act>(
        &self,
        act: A,
        facts: &Facts,
        approval: Option<Approval>,
    ) -> Result<Permit<A>, Box<Refusal>> {
        let intents = act.intents();
        let mut verdicts: Vec<Verdict> =
            intents.iter().map(|intent| self.decide(intent, facts)).collect();
        if intents.is_empty() {
            verdicts
                .push(Verdict::denied(String::new(), "the call declares no intents".to_owned()));
        }
        let decision_on = |verdict: &Verdict| Approval::applied(approval.as_ref(), verdict);
        let decision = verdicts.iter().map(decision_on).max().unwrap_or(Decision::Deny);
        if decision == Decision::Allow {
            return Ok(Permit { act, verdicts, approval });
        }
        let hint = intents
            .iter()
            .zip(&verdicts)
            .find(|(_, verdict)| decision_on(verdict) == decision)
            .and_then(|(intent, verdict)| instead::hint(self, intent, facts, verdict));
        verdicts.retain(|verdict| decision_on(verdict) != Decision::Allow);
        Err(Box::new(Refusal { decision, verdicts, hint, by: RefusedBy::Policy }))
    }
}

/// Proof that the policy allowed one act. Cannot be made outside this module and cannot be copied.
#[derive(Debug)]
#[must_use = "a permit is for performing the act"]
pub struct Permit<A> {
    act: A,
    verdicts: Vec<Verdict>,
    approval: Option<Approval>,
}

impl<A: Act> Permit<A> {
    /// Returns the act that was allowed.
    pub fn act(&self) -> &A {
        &self.act
    }

    /// Returns why it was allowed.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Returns the approval it rests on; `None` when the rules alone allowed it.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// Returns true when this permit was given for exactly this intent: effects ask it before they
    /// happen.
    pub fn covers(&self, intent: &Intent) -> bool {
        self.act.intents().contains(intent)
    }
}

/// Reads every key of a policy file.
fn read_file(file: &mut Section<'_>) -> (PolicySpec, Vec<Rule>, Vec<Example>) {
    file.required("version", "Version of this format.", ExactNumber(1));
    let spec = settings::read_settings(file);
    let about =
        "What may be done: the strictest matching rule decides; what no rule allows is denied.";
    let rules = file
        .key(
            "rules",
            about,
            ListOf { item: Mapping("rule", read_rule), least: 0, most: RULES_LIMIT },
        )
        .unwrap_or_default();
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    refuse_exposed(file, &spec, &rules);
    let about = "The policy's own tests: a policy whose example does not come out is not accepted.";
    let examples =
        file.key("examples", about, Mapping("examples", read_examples)).unwrap_or_default();
    (spec, rules, examples)
}

/// Refuses a policy that breaks the rule of two without saying why it may.
fn refuse_exposed(file: &mut Section<'_>, spec: &PolicySpec, rules: &[Rule]) {
    for exposure in exposures(spec, rules) {
        let modes: Vec<String> = exposure
            .modes
            .iter()
            .filter(|mode| accepted(spec, mode).is_none())
            .map(|mode| format!("`{mode}`"))
            .collect();
        let Some(first) = modes.first().map(|mode| mode.trim_matches('`').to_owned()) else {
            continue;
        };
        let key = if first.contains('-') || first.chars().all(char::is_alphabetic) {
            first
        } else {
            format!("\"{first}\"")
        };
        let hint = format!(
            "take one of the three away, narrow a rule by `modes` or `triggers`, or say why it is \
             fine: `modes: {{ accept_risk: {{ {key}: \"...\" }} }}`"
        );
        let place =
            if exposure.place.line > 0 { exposure.place } else { file.place_of("commands") };
        let message = format!("in mode {}, {}", modes.join(", "), exposure.what);
        file.wrong(place, Rejection::from(message).hint(hint));
    }
}

fn hash_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests;
