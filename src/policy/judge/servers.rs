//! Rules about starting MCP servers, and about spellings of their resources: a server that no rule
//! names is not started.
//!
//! In: the server's name, or what it is asked for. Out: a verdict, or why no rule can decide. Which
//! of its tools are called is judged call by call.

use crate::glob::{LetterCase, name_matches_in};
use crate::judge::{Evaluation, Ruling};
use crate::kind::RuleKind;
use crate::pattern::{Pattern, PatternSubject};
use crate::resource;
use crate::verdict::{Cause, Decision};

impl Evaluation<'_> {
    /// Returns why no rule decides on a resource: one is about some addresses, and this one has
    /// other spellings.
    pub(super) fn resource_problem(&self, server: &str, tool: &str) -> Option<String> {
        let problem = resource::problem(tool)?;
        let distinguishes = |pattern: &Pattern| match &pattern.subject {
            PatternSubject::Name(name) => {
                let of = name.split_once('/').map_or("*", |(of, _)| of);
                name_matches_in(LetterCase::Ignored, of, server)
                    && resource::distinguishes_addresses(name)
            }
            _ => false,
        };
        let is_distinguished = self.judge.of_kind(RuleKind::Mcp).any(|found| {
            distinguishes(&found.written.pattern)
                || found.rule.except.iter().any(|except| distinguishes(&except.pattern))
        });
        is_distinguished.then_some(problem)
    }

    /// A rule that allows or holds any of its tools lets a server start, unless another one refuses
    /// them all.
    pub(super) fn server(&self, server: &str) -> Ruling {
        let about = || {
            self.judge.of_kind(RuleKind::Mcp).filter(|found| {
                let PatternSubject::Name(pattern) = &found.written.pattern.subject else {
                    return false;
                };
                let (wanted, tool) = pattern.split_once('/').unwrap_or((pattern, ""));
                let every_tool = tool == "*" && found.rule.except.is_empty();
                let case = match found.rule.decision {
                    Decision::Allow | Decision::Hold => LetterCase::Exact,
                    Decision::Deny => LetterCase::Ignored,
                };
                name_matches_in(case, wanted, server)
                    && found.rule.narrowing.holds(self.facts)
                    && (found.rule.decision != Decision::Deny || every_tool)
            })
        };
        if let Some(refusing) = about().find(|found| found.rule.decision == Decision::Deny) {
            return self.judge.ruled(&refusing);
        }
        match about().max_by_key(|found| found.rule.decision) {
            Some(found) => {
                let said = format!("`{}` is about its tools", found.written.text);
                let rule = found.written.reference(&self.judge.origin);
                Ruling { decision: Decision::Allow, cause: Cause::Rule { rule, said } }
            }
            None => Ruling::deny(format!("no rule is about tools of the server `{server}`")),
        }
    }
}
