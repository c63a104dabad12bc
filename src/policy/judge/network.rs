//! Rules about the network: addresses that are fetched, and hosts that commands and MCP services
//! are at.
//!
//! In: an intent about one of them. Out: a verdict. Nothing is resolved here: addresses behind a
//! name are checked when it is connected to.

use crate::glob::LetterCase;
use crate::intent::Intent;
use crate::judge::{Evaluation, RuleMatch, Ruling};
use crate::kind::RuleKind;
use crate::pattern::{Pattern, PatternSubject};
use crate::query_text::SearchQuery;
use crate::rule::LocatedPattern;
use crate::urls::pattern::UrlPattern;
use crate::urls::{Destination, WebUrl};
use crate::verdict::{Cause, Decision};

impl Evaluation<'_> {
    /// Rules decide, but no rule makes an odd spelling plain or opens this machine and its network.
    pub(super) fn fetch(&self, intent: &Intent, url: &WebUrl) -> Ruling {
        match url.forbidden() {
            Some(why) => Ruling::deny(why),
            None => {
                let ruling = self.by_rules(intent);
                match ruling.decision {
                    Decision::Allow => {
                        ruling.remark("; what the name stands for is checked when it is asked for")
                    }
                    Decision::Hold | Decision::Deny => ruling,
                }
            }
        }
    }

    /// Rules decide on the words of a query, but no rule makes one plain that hides something, or
    /// opens this machine and its network to be asked. The engine's host needs no rule of its own:
    /// the settings name it.
    pub(super) fn search(&self, intent: &Intent, query: &SearchQuery) -> Ruling {
        match query.problem() {
            Some(why) => Ruling::deny(why),
            None => self.by_rules(intent),
        }
    }

    /// A browser may look at what runs on this machine, where a rule says so.
    pub(super) fn browse(&self, intent: &Intent, url: &WebUrl) -> Ruling {
        match url.problem() {
            Some(why) => Ruling::deny(why.to_owned()),
            None => self.by_rules(intent),
        }
    }

    /// A browser connects to hosts that a rule lets it look at some page of, and that no rule
    /// refuses as a whole. What it asks a host for is judged by its address.
    pub(super) fn visit(&self, destination: &Destination) -> Ruling {
        if let Some(why) = destination.host.forbidden() {
            return Ruling::deny(why);
        }
        if let Some(refusal) = self.refused_host(RuleKind::Browse, destination) {
            return refusal;
        }
        let reaches = |pattern: &Pattern, case: LetterCase| matches!(&pattern.subject, PatternSubject::Url(pattern) if pattern.reaches(destination, case));
        let allows = |found: &RuleMatch<'_>| {
            found.rule.decision == Decision::Allow
                && reaches(&found.written.pattern, LetterCase::Exact)
                && found.rule.narrowing.holds(self.facts)
        };
        match self.judge.of_kind(RuleKind::Browse).find(allows) {
            Some(found) => self.judge.ruled(&found),
            None => Ruling::no_rule(Intent::Visit(destination.clone()).to_string()),
        }
    }

    /// `network.allow` lists what commands may connect to; a rule that refuses to fetch from a
    /// whole host refuses this as well.
    pub(super) fn connect(&self, destination: &Destination) -> Ruling {
        if let Some(why) = destination.host.forbidden() {
            return Ruling::deny(why);
        }
        if let Some(refusal) = self.refused_host(RuleKind::Fetch, destination) {
            return refusal;
        }
        let reaches = |listed: &&LocatedPattern<UrlPattern>| {
            listed.pattern.reaches(destination, LetterCase::Exact)
        };
        match self.spec.network.allow.iter().find(reaches) {
            Some(_) if !self.spec.network.is_for(self.facts.job.as_deref()) => {
                let jobs = self.spec.network.jobs.join("`, `");
                Ruling::deny(format!("`network.jobs` opens `{destination}` to `{jobs}` only"))
            }
            Some(listed) => {
                let rule = listed.reference(&self.judge.origin);
                let cause = Cause::Setting { rule, key: "network.allow" };
                Ruling { decision: Decision::Allow, cause }
            }
            None => Ruling::deny(format!("`{destination}` is not in `network.allow`")),
        }
    }

    /// An MCP server is reached where `network.allow` lists its host. On this machine it is
    /// reached at the ports that `mcp.loopback` lists for it, which opens them to nothing else.
    pub(super) fn service(&self, server: &str, destination: &Destination) -> Ruling {
        if !destination.host.is_loopback() {
            return self.connect(destination);
        }
        if let Some(refusal) = self.refused_host(RuleKind::Fetch, destination) {
            return refusal;
        }
        let listed = self.spec.mcp.loopback.get(server).map(Vec::as_slice).unwrap_or_default();
        match listed.iter().find(|one| one.pattern.reaches(destination, LetterCase::Ignored)) {
            Some(listed) => {
                let rule = listed.reference(&self.judge.origin);
                let cause = Cause::Setting { rule, key: "mcp.loopback" };
                Ruling { decision: Decision::Allow, cause }
            }
            None => Ruling::deny(format!(
                "`{destination}` is on this machine, and `mcp.loopback` does not list it for \
                 `{server}`"
            )),
        }
    }

    /// Returns what a rule of this kind says that refuses a whole host.
    fn refused_host(&self, kind: RuleKind, destination: &Destination) -> Option<Ruling> {
        let refusing = self.judge.of_kind(kind).filter(|found| {
            found.rule.decision != Decision::Allow
                && self.counts(found, |pattern, case| is_about(pattern, destination, case))
        });
        let strictest = refusing.max_by_key(|found| found.rule.decision)?;
        Some(self.judge.ruled(&strictest))
    }
}

fn is_about(pattern: &Pattern, destination: &Destination, case: LetterCase) -> bool {
    matches!(&pattern.subject, PatternSubject::Url(pattern) if !pattern.has_path() && pattern.reaches(destination, case))
}
