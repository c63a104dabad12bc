//! `ProposedRule`: the change of the policy file by which held calls need no person any more, for
//! whoever says `always` beside a yes.
//!
//! In: what a session waits for, its policy as it stands and the facts it is judged by. Out: a
//! patch that was checked, and for each call that it leaves out the reason. Nothing is written: the
//! policy changes when a person commits the patch.

use crate::config::load::ConfigFile;
use locum_agent::report::markdown::{code, fenced, inline};
use locum_agent::session::event::SessionStart;
use locum_agent::session::outcome::HeldCall;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_policy::amend::{self, Amendment, AmendmentError};
use locum_policy::intent::Facts;
use locum_workspace::diff;

/// What is proposed for held calls.
pub struct ProposedRule {
    /// The policy file.
    file: String,
    /// The change as a unified diff; empty where none is proposed.
    pub patch: String,
    /// What the change allows, as patterns.
    allows: Vec<String>,
    /// The calls that it leaves out: each in one line, with the reason.
    left_out: Vec<(String, String)>,
}

impl ProposedRule {
    /// Proposes one change for all of some held calls. `file` is the policy file as it stands,
    /// `None` for the built-in policy.
    pub fn of(
        held: &[&HeldCall],
        start: &SessionStart,
        (policy, file): (&Policy, Option<&ConfigFile>),
        redactor: &Redactor,
    ) -> Self {
        let mut rule = Self {
            file: policy.origin().to_owned(),
            patch: String::new(),
            allows: Vec::new(),
            left_out: Vec::new(),
        };
        let Some(file) = file else {
            let why = "the built-in policy holds it; `locum policy init` writes one to change";
            rule.left_out.extend(held.iter().map(|call| (call.headline.clone(), why.to_owned())));
            return rule;
        };
        let unchanged =
            Amendment { text: file.text.clone(), policy: policy.clone(), patterns: Vec::new() };
        let mut change = unchanged;
        let holds_secret = |pattern: &String| redactor.redact(pattern) != *pattern;
        for call in held {
            let facts = Facts { mode: call.mode.clone(), ..start.facts.clone() };
            let intents: Vec<String> =
                call.verdicts.iter().map(|verdict| verdict.intent.clone()).collect();
            let amended = if start.policy_hash == policy.hash() {
                amend::amend(&change.policy, &change.text, &intents, &facts)
            } else {
                Err(AmendmentError::OtherPolicy)
            };
            match amended {
                Ok(next) if next.patterns.iter().any(holds_secret) => {
                    rule.left_out.push((call.headline.clone(), AmendmentError::Secret.to_string()));
                }
                Ok(next) => {
                    rule.allows.extend(next.patterns.iter().cloned());
                    change = next;
                }
                Err(why) => rule.left_out.push((call.headline.clone(), why.to_string())),
            }
        }
        let path = RepoPath::parse(&file.origin).or_else(|_| RepoPath::parse("policy.yml"));
        let before = Some(file.text.as_bytes());
        let changed =
            path.ok().and_then(|path| diff::between(&path, before, change.text.as_bytes()));
        rule.patch = changed.map(|change| change.patch).unwrap_or_default();
        rule
    }

    /// Returns what is proposed as a comment.
    pub fn comment(&self) -> String {
        let mut parts = vec!["**locum: a rule for the next time**".to_owned()];
        if !self.patch.is_empty() {
            let allows: Vec<String> = self.allows.iter().map(|pattern| code(pattern)).collect();
            parts.push(format!(
                "Once this change of {1} is committed, a run like this one no longer waits for {0}. \
                 It was judged before it was shown: for every run that the policy lets start, all \
                 else is decided as before. Locum never changes its policy itself; `git apply` \
                 takes the patch.",
                allows.join(", "),
                code(&self.file)
            ));
            parts.push(fenced(&self.patch, "diff"));
        }
        parts.extend(self.left_out.iter().map(|(call, why)| {
            format!("No rule is proposed for {}: {}.", code(call), inline(why))
        }));
        parts.join("\n\n")
    }

    /// Returns what is said beside the patch at the command line.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.patch.is_empty() {
            notes.push(format!(
                "proposed: a change of `{}` that allows {} from now on; apply it with `git apply` \
                 and commit it",
                self.file,
                self.allows.join(", ")
            ));
        }
        notes.extend(
            self.left_out
                .iter()
                .map(|(call, why)| format!("no rule is proposed for `{call}`: {why}")),
        );
        notes
    }
}
