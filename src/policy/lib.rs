//! Decides whether an agent may do something. Data in, verdict out; no effects, no clock, no
//! environment.
//!
//! `PolicySpec` (what a maintainer wrote) becomes a `Policy` (checked); an act's `Intent`s are
//! judged against it; only [`Policy::admit`] makes a [`Permit`], and every effect in the program
//! takes one.

pub mod actors;
pub mod approval;
pub mod budget;
pub mod cases;
pub mod ceiling;
pub mod command;
pub mod explain;
pub mod exposure;
pub mod glob;
pub mod idle;
pub mod ignore;
pub mod import;
pub mod intent;
pub mod judge;
mod kind;
pub mod nearest;
pub mod paths;
pub mod pattern;
pub mod question;
pub mod rule;
pub mod schema;
pub mod settings;
pub mod starter;
pub mod urls;
pub mod verdict;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::approval::Approval;
use crate::cases::{Example, read_examples};
use crate::exposure::{accepted, exposures};
use crate::ignore::IgnoreFiles;
use crate::intent::{Act, Facts, Intent};
use crate::judge::Judge;
use crate::rule::{RULES_LIMIT, Rule, read_rule};
use crate::schema::{PolicyError, PolicyErrors, PolicySpec};
use crate::verdict::{Decision, Refusal, Verdict};
use locum_base::path::RepoPath;
use locum_files::fields::Mistakes;
use locum_files::section::{Group, Section};
use locum_files::shape::{List, Only, Told};
use locum_files::yaml::{Document, Mistake, Place};

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
        policy.examples.iter().for_each(|example| policy.check_example(example, &mut mistakes));
        if mistakes.0.is_empty() { Ok(policy) } else { Err(errors(mistakes.finish(text), origin)) }
    }

    fn read(text: &str, origin: &str) -> (Self, Mistakes) {
        let document = Document::parse(text);
        let mut mistakes = Mistakes(document.mistakes);
        let mut policy = Self {
            spec: PolicySpec::default(),
            judge: Judge::new(Vec::new(), origin),
            examples: Vec::new(),
            hash: hash_of(text),
        };
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
                Place::default(),
                "the file is empty",
                "start with `version: 1`",
            ),
            None => {}
        }
        (policy, mistakes)
    }

    /// Returns the JSON Schema of a policy file.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        Section::describe(read_file)
    }

    /// Returns the policy that applies where a repository has none (`config/policy.yml`). Should
    /// the program have been built with a broken one, it allows nothing.
    #[must_use]
    pub fn builtin() -> Self {
        Self::parse(BUILTIN_TEXT, BUILTIN_ORIGIN).unwrap_or_else(|_| Self {
            spec: PolicySpec::default(),
            judge: Judge::new(Vec::new(), BUILTIN_ORIGIN),
            examples: Vec::new(),
            hash: hash_of(BUILTIN_TEXT),
        })
    }

    /// Returns true for a path that an ignore file hides, or that names what is hidden.
    #[must_use]
    pub fn hides(&self, path: &RepoPath) -> bool {
        self.judge.hides(path)
    }

    /// Returns the same policy with everything hidden that ignore files name: for reading, editing
    /// and what commands name alike. They shape what is decided, so the hash covers them.
    #[must_use]
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

    /// Returns the checked settings (budget, commands, publish, ...).
    #[must_use]
    pub fn settings(&self) -> &PolicySpec {
        &self.spec
    }

    /// Returns how the policy is named: its file, or [`BUILTIN_ORIGIN`].
    #[must_use]
    pub fn origin(&self) -> &str {
        self.judge.origin()
    }

    /// Returns a SHA-256 in hexadecimal, as recorded in every journal: of the policy's text; where
    /// ignore files hide something, of that and their texts.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Judges one intent.
    #[must_use]
    pub fn decide(&self, intent: &Intent, facts: &Facts) -> Verdict {
        self.judge.decide(intent, facts, &self.spec)
    }

    /// Judges an act by all its intents and, when each is allowed, hands it back as a permit.
    ///
    /// # Errors
    /// A refusal with the worst decision and every verdict that led to it. An act with no intents
    /// is denied.
    pub fn admit<A: Act>(&self, act: A, facts: &Facts) -> Result<Permit<A>, Box<Refusal>> {
        self.weigh(act, facts, None)
    }

    /// As [`Policy::admit`], for an act a person has approved: what was held and shown to them is
    /// allowed, what is denied stays denied.
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
        let verdicts: Vec<Verdict> =
            intents.iter().map(|intent| self.decide(intent, facts)).collect();
        let decision_on = |verdict: &Verdict| Approval::applied(approval.as_ref(), verdict);
        let worst = verdicts.iter().map(decision_on).max();
        match worst {
            Some(Decision::Allow) => Ok(Permit { act, verdicts, approval }),
            Some(decision) => {
                let hint = intents
                    .iter()
                    .zip(&verdicts)
                    .find(|(_, verdict)| decision_on(verdict) == decision)
                    .and_then(|(intent, _)| self.hint(intent, facts));
                let verdicts = verdicts
                    .into_iter()
                    .filter(|verdict| decision_on(verdict) != Decision::Allow)
                    .collect();
                Err(Box::new(Refusal { decision, verdicts, hint }))
            }
            None => {
                let verdict =
                    Verdict::denied(String::new(), "the call declares no intents".to_owned());
                Err(Box::new(Refusal {
                    decision: Decision::Deny,
                    verdicts: vec![verdict],
                    hint: None,
                }))
            }
        }
    }
}

/// Proof that the policy allowed one act. Cannot be made outside this module and cannot be copied.
#[derive(Debug)]
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

    /// Returns the person's yes it rests on; `None` when the rules alone allowed it.
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
    file.required("version", "Version of this format.", Only(1));
    let spec = settings::read_settings(file);
    let about =
        "What may be done: the worst rule that fits decides, and what no rule allows is denied.";
    let rules = file
        .key("rules", about, List { item: Group("rule", read_rule), least: 0, most: RULES_LIMIT })
        .unwrap_or_default();
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    refuse_exposed(file, &spec, &rules);
    let about = "The policy's own tests: a policy whose example does not come out is not accepted.";
    let examples =
        file.key("examples", about, Group("examples", read_examples)).unwrap_or_default();
    (spec, rules, examples)
}

/// The rule of two is no matter of taste: a policy that breaks it is refused, unless it says why it
/// may.
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
        file.wrong(place, Told::from(message).hint(hint));
    }
}

fn errors(mistakes: Vec<Mistake>, origin: &str) -> PolicyErrors {
    let error = |mistake: Mistake| PolicyError {
        origin: origin.to_owned(),
        line: mistake.place.line,
        column: mistake.place.column,
        message: mistake.message,
        hint: mistake.hint,
        excerpt: mistake.excerpt,
    };
    PolicyErrors(mistakes.into_iter().map(error).collect())
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
