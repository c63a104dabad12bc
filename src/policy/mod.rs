//! Floor 1: decides. Data in, verdict out; no effects, no clock, no environment.
//!
//! `PolicySpec` (what a maintainer wrote) becomes a `Policy` (checked); an act's `Intent`s are judged against it; only
//! [`Policy::admit`] makes a [`Permit`], and every effect in the program takes one.

pub mod actors;
pub mod budget;
pub mod command;
pub mod intent;
pub mod paths;
pub mod schema;
pub mod verdict;

use crate::policy::intent::{Act, Facts, Intent};
use crate::policy::verdict::{Refusal, Verdict};

/// A checked policy, ready to decide.
#[derive(Clone, Debug)]
pub struct Policy {
    _spec: schema::PolicySpec,
}

impl Policy {
    /// Reads a policy file. `origin` names it in errors and verdicts (`.locum/policy.yml`).
    ///
    /// # Errors
    /// Every mistake of the file at once, each with line and column; a failing `examples` entry is such a mistake.
    pub fn parse(_text: &str, _origin: &str) -> Result<Self, schema::PolicyErrors> {
        todo!()
    }

    /// Returns the policy that applies where a repository has none (`config/policy.yml`).
    #[must_use]
    pub fn builtin() -> Self {
        todo!()
    }

    /// Returns the checked settings (budget, commands, publish, ...).
    #[must_use]
    pub fn settings(&self) -> &schema::PolicySpec {
        &self._spec
    }

    /// Returns the SHA-256 of the policy's text in hexadecimal, as recorded in every journal.
    #[must_use]
    pub fn hash(&self) -> &str {
        todo!()
    }

    /// Judges one intent.
    #[must_use]
    pub fn decide(&self, _intent: &Intent, _facts: &Facts) -> Verdict {
        todo!()
    }

    /// Judges an act by all its intents and, when each is allowed, hands it back as a permit.
    ///
    /// # Errors
    /// A refusal with the worst decision and every verdict that led to it. An act with no intents is denied.
    pub fn admit<A: Act>(&self, act: A, facts: &Facts) -> Result<Permit<A>, Box<Refusal>> {
        let _ = (&act, facts);
        todo!()
    }
}

/// Proof that the policy allowed one act. Cannot be made outside this module and cannot be copied.
#[derive(Debug)]
pub struct Permit<A> {
    act: A,
    verdicts: Vec<Verdict>,
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

    /// Returns true when this permit was given for exactly this intent: effects ask it before they happen.
    pub fn covers(&self, intent: &Intent) -> bool {
        self.act.intents().contains(intent)
    }
}
