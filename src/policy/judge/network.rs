//! What is said of the network: addresses that are fetched, and hosts that commands talk to.
//!
//! In: an intent about one of them. Out: a verdict. Nothing is resolved: what a name stands for is checked when it is connected to.

use crate::policy::glob::Case;
use crate::policy::intent::{Facts, Intent};
use crate::policy::judge::Judge;
use crate::policy::kind::Kind;
use crate::policy::pattern::Pattern;
use crate::policy::schema::PolicySpec;
use crate::policy::urls::{Destination, WebUrl};
use crate::policy::verdict::{Decision, RuleRef, Verdict};

impl Judge {
    /// Rules decide, but no rule makes an odd spelling plain or opens this machine and its network.
    pub(super) fn fetch(&self, intent: &Intent, facts: &Facts, url: &WebUrl) -> Verdict {
        let host = || url.destination().and_then(|destination| destination.host.forbidden());
        match url.problem().map(str::to_owned).or_else(host) {
            Some(why) => self.guard(intent.to_string(), why),
            None => {
                let mut verdict = self.by_rules(intent, facts);
                if verdict.decision == Decision::Allow {
                    verdict.reason.push_str("; what the name stands for is checked when it is asked for");
                }
                verdict
            }
        }
    }

    /// A browser may look at what runs on this machine, where a rule says so.
    pub(super) fn browse(&self, intent: &Intent, facts: &Facts, url: &WebUrl) -> Verdict {
        match url.problem() {
            Some(why) => self.guard(intent.to_string(), why.to_owned()),
            None => self.by_rules(intent, facts),
        }
    }

    /// `network.allow` lists what commands may talk to; a rule that refuses to fetch from a whole host refuses this as well.
    pub(super) fn connect(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec, destination: &Destination) -> Verdict {
        if let Some(why) = destination.host.forbidden() {
            return self.guard(intent.to_string(), why);
        }
        let refusing = self.at(self.by_kind.get(&Kind::Network)).filter(|found| {
            found.rule.decision != Decision::Allow
                && is_about(&found.written.pattern, destination, Case::Ignored)
                && found.rule.narrowing.holds(facts)
                && !found.rule.except.iter().any(|except| is_about(&except.pattern, destination, Case::Exact))
        });
        if let Some(found) = refusing.max_by_key(|found| found.rule.decision) {
            return self.verdict(intent.to_string(), &found);
        }
        match spec.network.allow.iter().find(|listed| listed.pattern.reaches(destination, Case::Exact)) {
            Some(listed) => Verdict {
                decision: Decision::Allow,
                intent: intent.to_string(),
                rule: Some(RuleRef { pattern: listed.text.clone(), origin: self.origin.clone(), line: listed.place.line }),
                reason: "listed in `network.allow`".to_owned(),
            },
            None => self.guard(intent.to_string(), format!("`{destination}` is not in `network.allow`")),
        }
    }
}

fn is_about(pattern: &Pattern, destination: &Destination, case: Case) -> bool {
    matches!(pattern, Pattern::Fetch(pattern) if !pattern.has_path() && pattern.reaches(destination, case))
}
