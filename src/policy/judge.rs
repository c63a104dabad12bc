//! Decides: one intent against the rules. The worst matching decision wins, no rule means deny, guards come before rules.
//!
//! In: an intent and facts. Out: a verdict with rule, line and reason. Rules are found through an index by kind and, for
//! commands, by program, so that the number of rules hardly matters.

use std::collections::HashMap;

use crate::base::guard::{self, Guard};
use crate::base::path::RepoPath;
use crate::policy::command::Script;
use crate::policy::command::examine::{Examination, Finding, PathUse};
use crate::policy::command::tree::Simple;
use crate::policy::glob::{Case, PathGlob};
use crate::policy::ignore::IgnoreFiles;
use crate::policy::intent::{Facts, Intent, Publication, Restriction};
use crate::policy::kind::{Kind, kind_of, kind_of_intent, start_of};
use crate::policy::paths::{Protection, plain_spelling};
use crate::policy::pattern::{CommandForm, Pattern};
use crate::policy::rule::{Rule, Written};
use crate::policy::schema::{CommandEdits, Expansions, PolicySpec, Sandbox};
use crate::policy::verdict::{Decision, RuleRef, Verdict};

/// Rules made quick to search, with the settings that count as rules.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    origin: String,
    rules: Vec<Rule>,
    by_kind: HashMap<Kind, Vec<(usize, usize)>>,
    by_start: HashMap<(Kind, String), Vec<(usize, usize)>>,
    by_program: HashMap<String, Vec<(usize, usize)>>,
    protection: Protection,
    ignored: IgnoreFiles,
}

/// A rule that matched.
struct Match<'j> {
    rule: &'j Rule,
    written: &'j Written,
}

impl Judge {
    /// Prepares rules for deciding.
    #[must_use]
    pub fn new(rules: Vec<Rule>, origin: &str) -> Self {
        let mut judge = Self { origin: origin.to_owned(), ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            for (at, written) in rule.patterns.iter().enumerate() {
                let place = (index, at);
                match &written.pattern {
                    Pattern::Command(pattern) => {
                        match pattern.words.first().filter(|_| matches!(pattern.form, CommandForm::Words | CommandForm::Prefix)) {
                            Some(program) => judge.by_program.entry(program.clone()).or_default().push(place),
                            None => judge.by_kind.entry(Kind::AnyCommand).or_default().push(place),
                        }
                    }
                    pattern => match start_of(pattern) {
                        Some(start) => judge.by_start.entry((kind_of(pattern), start.to_owned())).or_default().push(place),
                        None => judge.by_kind.entry(kind_of(pattern)).or_default().push(place),
                    },
                }
            }
        }
        judge.rules = rules;
        judge
    }

    /// Hides what ignore files name.
    #[must_use]
    pub fn with_ignored(self, ignored: IgnoreFiles) -> Self {
        Self { ignored, ..self }
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns where the rules stand.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Judges one intent.
    #[must_use]
    pub fn decide(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        if let Some(why) = taken_away(intent, &facts.restriction).filter(|_| guard::on(Guard::Restriction)) {
            return self.guard(intent.to_string(), why);
        }
        match intent {
            Intent::Command(script) => self.script(script, intent, facts, spec),
            Intent::Read(path) => {
                let guard = self.protection.of_read(path).filter(|_| guard::on(Guard::CredentialPaths));
                self.path(intent, facts, guard.or_else(|| self.itself(path)), path, "reading")
            }
            Intent::Edit(path) => {
                let guard = self.protection.of_edit(path).filter(|_| guard::on(Guard::ProtectedPaths));
                self.path(intent, facts, guard, path, "edits")
            }
            Intent::Publish(publication) => self.listed(intent, facts, spec.publish.allow.contains(publication), "publish.allow"),
            Intent::Mode(slug) => self.mode(intent, facts, spec, slug),
            Intent::Delegate(slug) => self.delegate(intent, facts, spec, slug),
            Intent::Fetch(_) | Intent::Browse(_) | Intent::Mcp { .. } => self.by_rules(intent, facts),
            Intent::Session => {
                Verdict { decision: Decision::Allow, intent: intent.to_string(), rule: None, reason: "stays within the session".to_owned() }
            }
        }
    }

    fn path(&self, intent: &Intent, facts: &Facts, guard: Option<&str>, path: &RepoPath, what: &str) -> Verdict {
        if !self.ignored.is_empty()
            && let Some(hidden) = self.hidden(path, intent.to_string())
        {
            return hidden;
        }
        let verdict = self.by_rules(intent, facts);
        let Some(why) = guard.filter(|_| verdict.decision == Decision::Allow) else { return verdict };
        if self.matches(intent, facts).any(|found| found.rule.protected && names_in_full(&found.written.pattern, path)) {
            return verdict;
        }
        self.guard(intent.to_string(), format!("protected from {what}: {why}"))
    }

    /// What an ignore file names is hidden whatever the rules say.
    fn hidden(&self, path: &RepoPath, shown: String) -> Option<Verdict> {
        let plain = || plain_spelling(path).filter(|plain| plain != path).and_then(|plain| self.ignored.hidden(&plain));
        let line = self.ignored.hidden(path).or_else(plain).filter(|_| guard::on(Guard::IgnoreFiles))?;
        let reason = format!("`{path}` is hidden by `{}` in {}:{}", line.pattern, line.origin, line.line);
        Some(Verdict { decision: Decision::Deny, intent: shown, rule: Some(line), reason })
    }

    fn itself(&self, path: &RepoPath) -> Option<&'static str> {
        self.ignored.itself(&plain_spelling(path)?).map(|_| "it names what is hidden")
    }

    /// Looks for what is hidden among all paths that a command names, or might name; a rule that spells it out is no excuse.
    fn hidden_operand(&self, examined: &Examination, shown: &str) -> Option<Verdict> {
        let uses = examined.reads.iter().chain(&examined.edits).filter_map(PathUse::inside);
        uses.chain(&examined.perhaps).find_map(|path| {
            let itself = || Some(self.guard(shown.to_owned(), format!("it names `{path}`: {}", self.itself(path)?)));
            self.hidden(path, shown.to_owned()).or_else(itself)
        })
    }

    /// A list in the settings counts as a rule that allows.
    fn listed(&self, intent: &Intent, facts: &Facts, listed: bool, setting: &str) -> Verdict {
        let verdict = self.by_rules(intent, facts);
        let decided = verdict.decision != Decision::Deny || verdict.rule.is_some();
        if decided || !listed {
            return verdict;
        }
        let rule = RuleRef { pattern: setting.to_owned(), origin: self.origin.clone(), line: 0 };
        Verdict { decision: Decision::Allow, intent: intent.to_string(), rule: Some(rule), reason: format!("listed in `{setting}`") }
    }

    /// `modes.allow` is a limit as well as a rule: a mode that is not in it never runs.
    fn mode(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec, slug: &String) -> Verdict {
        if spec.modes.allow.contains(slug) {
            return self.listed(intent, facts, true, "modes.allow");
        }
        self.guard(intent.to_string(), format!("mode `{slug}` is not in `modes.allow`"))
    }

    /// `modes.delegation.from` counts as a rule; rules of their own may let other modes delegate.
    fn delegate(&self, intent: &Intent, facts: &Facts, spec: &PolicySpec, slug: &String) -> Verdict {
        if !spec.modes.allow.contains(slug) {
            return self.guard(intent.to_string(), format!("mode `{slug}` is not in `modes.allow`"));
        }
        let from = spec.modes.delegation.from.contains(&facts.mode);
        let verdict = self.listed(intent, facts, from, "modes.delegation");
        if verdict.rule.is_none() && !from {
            return self.guard(intent.to_string(), format!("mode `{}` may not start sub-tasks (`modes.delegation.from`)", facts.mode));
        }
        verdict
    }

    fn by_rules(&self, intent: &Intent, facts: &Facts) -> Verdict {
        let worst = self
            .matches(intent, facts)
            .max_by(|one, two| one.rule.decision.cmp(&two.rule.decision).then(two.written.place.cmp(&one.written.place)));
        match worst {
            Some(found) => self.verdict(intent.to_string(), &found),
            None if guard::on(Guard::NoRuleNoEffect) => self.guard(intent.to_string(), format!("no rule allows `{intent}`")),
            None => self.plain_allow(&intent.to_string(), "no rule speaks of it"),
        }
    }

    fn matches<'j>(&'j self, intent: &'j Intent, facts: &'j Facts) -> impl Iterator<Item = Match<'j>> {
        let kind = kind_of_intent(intent);
        let start = match intent {
            Intent::Read(path) | Intent::Edit(path) => path.parts().next().map(str::to_lowercase),
            Intent::Command(_)
            | Intent::Fetch(_)
            | Intent::Browse(_)
            | Intent::Mcp { .. }
            | Intent::Publish(_)
            | Intent::Delegate(_)
            | Intent::Mode(_)
            | Intent::Session => None,
        };
        let by_start = kind.zip(start).and_then(|key| self.by_start.get(&key));
        self.at(kind.and_then(|kind| self.by_kind.get(&kind))).chain(self.at(by_start)).filter(|found| {
            let case = if found.rule.decision == Decision::Allow { Case::Exact } else { Case::Ignored };
            found.written.pattern.matches(intent, case)
                && found.rule.narrowing.holds(facts)
                && !found.rule.except.iter().any(|except| except.pattern.matches(intent, opposite(case)))
        })
    }

    fn at<'j>(&'j self, places: Option<&'j Vec<(usize, usize)>>) -> impl Iterator<Item = Match<'j>> {
        places.into_iter().flatten().filter_map(|(rule, pattern)| {
            let rule = self.rules.get(*rule)?;
            Some(Match { rule, written: rule.patterns.get(*pattern)? })
        })
    }

    fn script(&self, script: &Script, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let verdict = self.commands(script, intent, facts, spec);
        let wanted = |found: &Match<'_>| {
            matches!(&found.written.pattern, Pattern::Command(pattern) if pattern.is_script(script.text()))
                && found.rule.narrowing.holds(facts)
        };
        let spelled_out = self.at(self.by_kind.get(&Kind::AnyCommand)).filter(wanted).max_by_key(|found| found.rule.decision);
        let Some(found) = spelled_out else { return verdict };
        let counts = match found.rule.decision {
            Decision::Allow => {
                let said_no = verdict.decision == Decision::Hold || self.is_denied_by_rule(&verdict);
                verdict.decision != Decision::Allow && !said_no && !self.guards_refuse(script, facts, spec)
            }
            Decision::Hold | Decision::Deny => found.rule.decision > verdict.decision,
        };
        if counts { self.verdict(intent.to_string(), &found) } else { verdict }
    }

    /// Returns true when something is wrong with a script that no rule can put right: nothing to run, no sandbox where one is
    /// required, a shell word that changes later commands, hidden or protected files.
    fn guards_refuse(&self, script: &Script, facts: &Facts, spec: &PolicySpec) -> bool {
        if script.execution().is_none() || (!facts.sandboxed && spec.commands.sandbox == Sandbox::Required) {
            return true;
        }
        let commands = if script.problem().is_none() { script.examinations() } else { script.loose_examinations().unwrap_or_default() };
        let shown = script.text();
        let refused = |used: &PathUse, edit: bool| self.used(used, edit, shown, facts, spec).is_some();
        let (reads, edits) = script.redirected();
        commands.iter().any(|(_, examined)| {
            examined.never.is_some()
                || self.hidden_operand(examined, shown).is_some()
                || examined.edits.iter().any(|used| refused(used, true))
        }) || reads.iter().any(|used| refused(used, false))
            || edits.iter().any(|used| refused(used, true))
    }

    /// Returns true when a `deny` rule spoke: a person said no. Elsewhere a denial only means that nobody said yes.
    #[must_use]
    pub fn is_denied_by_rule(&self, verdict: &Verdict) -> bool {
        let Some(spoke) = verdict.rule.as_ref().filter(|_| verdict.decision == Decision::Deny) else { return false };
        let denying = self.rules.iter().filter(|rule| rule.decision == Decision::Deny).flat_map(|rule| &rule.patterns);
        denying.into_iter().any(|written| written.place.line == spoke.line && written.text == spoke.pattern)
    }

    /// Looks for a denied command in the text of a script that cannot be judged, so that its verdict names the rule. The text is
    /// cut wherever a command could start; the script is refused either way.
    fn denied_in_text(&self, script: &Script, shown: &str, facts: &Facts) -> Option<Verdict> {
        let parts = script.text().split(['\n', '\r', ';', '&', '|', '(', ')', '`', '{', '}']);
        let words = parts.map(|part| -> Vec<String> { part.split_whitespace().map(|word| word.replace(['\'', '"', '\\'], "")).collect() });
        words.filter(|words| !words.is_empty()).find_map(|words| {
            let found = self.command_matches(&words, facts).find(|found| found.rule.decision == Decision::Deny);
            found.map(|found| self.verdict(shown.to_owned(), &found))
        })
    }

    fn commands(&self, script: &Script, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let shown = intent.to_string();
        let expands = spec.commands.expansions == Expansions::Allow || !guard::on(Guard::Expansions);
        let examinations = match (script.problem(), script.loose_examinations()) {
            (None, _) => script.examinations(),
            (Some(_), Ok(examinations)) if expands => examinations,
            (Some(_), _) if expands && script.text().trim().is_empty() => return self.plain_allow(&shown, "it runs nothing"),
            (Some(problem), _) => {
                return self.denied_in_text(script, &shown, facts).unwrap_or_else(|| self.guard(shown, problem.to_owned()));
            }
        };
        if script.problem().is_none() && examinations.is_empty() {
            return self.plain_allow(&shown, "it stays where it is");
        }
        let mut worst: Option<Verdict> = None;
        let mut consider = |verdict: Verdict| {
            let rank = |verdict: &Verdict| (verdict.decision, self.is_denied_by_rule(verdict));
            if worst.as_ref().is_none_or(|worst| rank(&verdict) > rank(worst)) {
                worst = Some(verdict);
            }
        };
        let judged = if guard::on(Guard::EveryCommand) { usize::MAX } else { 1 };
        for (simple, examined) in examinations.into_iter().take(judged) {
            let hidden = if self.ignored.is_empty() { None } else { self.hidden_operand(&examined, &shown) };
            consider(hidden.unwrap_or_else(|| self.simple(simple, &examined, &shown, facts, spec)));
        }
        let (reads, edits) = if guard::on(Guard::Redirections) { script.redirected() } else { Default::default() };
        for (used, edit) in reads.iter().map(|used| (used, false)).chain(edits.iter().map(|used| (used, true))) {
            consider(self.used(used, edit, &shown, facts, spec).unwrap_or_else(|| self.plain_allow(&shown, "its files are allowed")));
        }
        let verdict = worst.unwrap_or_else(|| self.guard(shown.clone(), "the script runs nothing".to_owned()));
        let complexity = script.complexity();
        if verdict.decision == Decision::Allow && complexity > spec.commands.max_complexity {
            let reason = format!("complexity {complexity:.1} is above `commands.max_complexity` {:.1}", spec.commands.max_complexity);
            return Verdict { decision: Decision::Hold, intent: shown, rule: None, reason };
        }
        verdict
    }

    fn simple(&self, simple: &Simple, examined: &Examination, shown: &str, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let told = simple.words.join(" ");
        if let Some(never) = &examined.never {
            return self.guard(shown.to_owned(), never.clone());
        }
        let mut refused: Option<Match<'_>> = None;
        let mut allowed: Option<(Match<'_>, bool)> = None;
        let mut uncovered = None;
        for found in self.command_matches(&simple.words, facts) {
            match found.rule.decision {
                Decision::Allow => {
                    let (covered, exact) = coverage(&found.written.pattern, examined);
                    match covered {
                        Ok(()) if allowed.as_ref().is_none_or(|(_, before)| exact && !before) => allowed = Some((found, exact)),
                        Ok(()) => {}
                        Err(reason) => uncovered = uncovered.or(Some((reason, found.written.reference(&self.origin)))),
                    }
                }
                Decision::Hold | Decision::Deny => {
                    if refused.as_ref().is_none_or(|before| found.rule.decision > before.rule.decision) {
                        refused = Some(found);
                    }
                }
            }
        }
        let Some((allowing, exact)) = allowed else {
            if let Some(found) = refused {
                return self.verdict(shown.to_owned(), &found);
            }
            return match uncovered {
                Some((reason, rule)) => {
                    Verdict { decision: Decision::Deny, intent: shown.to_owned(), rule: Some(rule), reason: format!("`{told}`: {reason}") }
                }
                None => self.guard(shown.to_owned(), format!("no rule allows `command({told})`")),
            };
        };
        if let Some(found) = refused {
            return self.verdict(shown.to_owned(), &found);
        }
        let unheld = !facts.sandboxed && spec.commands.sandbox == Sandbox::Required;
        if examined.runs_code && unheld && guard::on(Guard::CodeInSandbox) {
            let reason = format!(
                "`{told}` runs code of the repository and there is no sandbox here; `commands: {{ sandbox: off }}` in the policy accepts that"
            );
            return self.guard(shown.to_owned(), reason);
        }
        let mut verdict = self.verdict(shown.to_owned(), &allowing);
        if examined.runs_code {
            verdict.reason.push_str("; runs code of the repository");
        }
        let uses = examined.reads.iter().map(|used| (used, false)).filter(|_| !exact).chain(examined.edits.iter().map(|used| (used, true)));
        for (used, edit) in uses {
            if let Some(refusal) = self.used(used, edit, shown, facts, spec).filter(|refusal| refusal.decision > verdict.decision) {
                verdict = refusal;
            }
        }
        verdict
    }

    /// Judges a path that a command reads or writes; `None` when nothing is wrong with it.
    fn used(&self, used: &PathUse, edit: bool, shown: &str, facts: &Facts, spec: &PolicySpec) -> Option<Verdict> {
        let (path, certain) = match used {
            PathUse::Inside(path) => (path, true),
            PathUse::Perhaps(path) => (path, false),
            PathUse::Outside(path) if !edit && self.opened(path, spec) => return None,
            PathUse::Outside(path) => return Some(self.guard(shown.to_owned(), format!("`{path}` is not a path inside the repository"))),
        };
        let intent = if edit { Intent::Edit(path.clone()) } else { Intent::Read(path.clone()) };
        let mut verdict = self.decide(&intent, facts, spec);
        let by_rule_or_guard = verdict.rule.is_some() || !verdict.reason.starts_with("no rule");
        let free = edit && spec.commands.edits == CommandEdits::Checkout && self.protection.of_edit(path).is_none();
        if verdict.decision == Decision::Allow || !((certain && !free) || by_rule_or_guard) {
            return None;
        }
        verdict.reason = format!("it {} `{path}`: {}", if edit { "writes" } else { "reads" }, verdict.reason);
        verdict.intent = shown.to_owned();
        Some(verdict)
    }

    /// Returns true for an absolute path that `commands.reads` opens to commands.
    fn opened(&self, path: &str, spec: &PolicySpec) -> bool {
        let Some(inside) = path.strip_prefix('/').and_then(|rest| RepoPath::parse(rest).ok()) else { return false };
        !path.contains("..")
            && self.protection.of_read(&inside).is_none()
            && spec.commands.reads.iter().any(|glob| glob.matches(&inside, Case::Exact))
    }

    fn command_matches<'j>(&'j self, words: &'j [String], facts: &'j Facts) -> impl Iterator<Item = Match<'j>> {
        let plain = without_global_options(words);
        let by_program = words.first().and_then(|program| self.by_program.get(program));
        self.at(by_program).chain(self.at(self.by_kind.get(&Kind::AnyCommand))).filter(move |found| {
            let matches = |pattern: &Pattern, case: Case| match pattern {
                Pattern::Command(pattern) => {
                    pattern.matches(words, case) || plain.as_ref().is_some_and(|plain| pattern.matches(plain, case))
                }
                _ => false,
            };
            let case = if found.rule.decision == Decision::Allow { Case::Exact } else { Case::Ignored };
            matches(&found.written.pattern, case)
                && found.rule.narrowing.holds(facts)
                && !found.rule.except.iter().any(|except| matches(&except.pattern, opposite(case)))
        })
    }

    fn verdict(&self, intent: String, found: &Match<'_>) -> Verdict {
        let reason = found.rule.reason.clone().unwrap_or_else(|| {
            let said = match found.rule.decision {
                Decision::Allow => "allowed",
                Decision::Hold => "held",
                Decision::Deny => "denied",
            };
            format!("{said} by `{}`", found.written.text)
        });
        Verdict { decision: found.rule.decision, intent, rule: Some(found.written.reference(&self.origin)), reason }
    }

    fn guard(&self, intent: String, reason: String) -> Verdict {
        Verdict { decision: Decision::Deny, intent, rule: None, reason }
    }

    fn plain_allow(&self, shown: &str, reason: &str) -> Verdict {
        Verdict { decision: Decision::Allow, intent: shown.to_owned(), rule: None, reason: reason.to_owned() }
    }
}

/// Returns why this run may not do it, whatever the rules say.
fn taken_away(intent: &Intent, restriction: &Restriction) -> Option<String> {
    let read_only = || restriction.read_only.then(|| "this run may only read".to_owned());
    match intent {
        Intent::Edit(path) => read_only().or_else(|| outside(path, &restriction.paths)),
        Intent::Command(script) if !script.only_reads() => read_only(),
        Intent::Publish(publication) if *publication != Publication::Comment => read_only(),
        Intent::Fetch(_) | Intent::Browse(_) | Intent::Mcp { .. } => read_only(),
        Intent::Read(_) | Intent::Command(_) | Intent::Publish(_) | Intent::Mode(_) | Intent::Delegate(_) | Intent::Session => None,
    }
}

/// A glob that cannot be read matches nothing.
fn outside(path: &RepoPath, globs: &[String]) -> Option<String> {
    let inside = globs.iter().filter_map(|glob| PathGlob::parse(glob).ok()).any(|glob| glob.matches(path, Case::Exact));
    (!globs.is_empty() && !inside).then(|| format!("this run may only edit {}", globs.join(", ")))
}

/// Whether an allowing pattern covers everything that was found, and whether it spells the command out.
fn coverage(pattern: &Pattern, examined: &Examination) -> (Result<(), String>, bool) {
    let Pattern::Command(pattern) = pattern else { return (Err("not a command pattern".to_owned()), false) };
    if !pattern.open {
        return (Ok(()), true);
    }
    let named = |finding: &Finding| {
        finding.index < pattern.words.len() || (finding.unfamiliar && matches!(pattern.form, CommandForm::Text(_) | CommandForm::Prefix))
    };
    match examined.findings.iter().find(|finding| !named(finding)).filter(|_| guard::on(Guard::OptionTables)) {
        Some(finding) => (Err(finding.reason.clone()), false),
        None => (Ok(()), false),
    }
}

/// `git --no-pager diff` is `git diff` to a rule.
fn without_global_options(words: &[String]) -> Option<Vec<String>> {
    let harmless = ["--no-pager", "-P", "--no-optional-locks"];
    let (program, rest) = words.split_first()?;
    let skipped = rest.iter().take_while(|word| harmless.contains(&word.as_str())).count();
    (program == "git" && skipped > 0).then(|| std::iter::once(program).chain(rest.iter().skip(skipped)).cloned().collect())
}

fn names_in_full(pattern: &Pattern, path: &RepoPath) -> bool {
    match pattern {
        Pattern::Read(glob) | Pattern::Edit(glob) => glob.names(path),
        Pattern::Command(_)
        | Pattern::Fetch(_)
        | Pattern::Browse(_)
        | Pattern::Mcp(_)
        | Pattern::Mode(_)
        | Pattern::Delegate(_)
        | Pattern::Publish(_) => false,
    }
}

fn opposite(case: Case) -> Case {
    match case {
        Case::Exact => Case::Ignored,
        Case::Ignored => Case::Exact,
    }
}
