//! What is said of starting MCP servers: a server that no rule names is not started.
//!
//! In: the server's name. Out: a verdict. Which of its tools are called is judged call by call.

use crate::policy::glob::name_matches;
use crate::policy::intent::{Facts, Intent};
use crate::policy::judge::Judge;
use crate::policy::kind::Kind;
use crate::policy::pattern::Pattern;
use crate::policy::verdict::{Decision, Verdict};

impl Judge {
    /// A rule that allows or holds any of its tools lets a server start, unless another one refuses them all.
    pub(super) fn server(&self, intent: &Intent, facts: &Facts, server: &str) -> Verdict {
        let about = || {
            self.at(self.by_kind.get(&Kind::Mcp)).filter(|found| {
                let Pattern::Mcp(pattern) = &found.written.pattern else { return false };
                let (wanted, tool) = pattern.split_once('/').unwrap_or((pattern, ""));
                let every_tool = tool == "*" && found.rule.except.is_empty();
                name_matches(wanted, server) && found.rule.narrowing.holds(facts) && (found.rule.decision != Decision::Deny || every_tool)
            })
        };
        if let Some(refusing) = about().find(|found| found.rule.decision == Decision::Deny) {
            return self.verdict(intent.to_string(), &refusing);
        }
        match about().max_by_key(|found| found.rule.decision) {
            Some(found) => Verdict {
                decision: Decision::Allow,
                reason: format!("`{}` is about its tools", found.written.text),
                ..self.verdict(intent.to_string(), &found)
            },
            None => self.guard(intent.to_string(), format!("no rule is about tools of the server `{server}`")),
        }
    }
}
