//! Decides on commands: every simple command of a script against the rules, what it reads and writes, what nobody may name.
//!
//! In: a script's examinations and facts. Out: the worst verdict of all its parts. How rules are found and paths judged is the
//! parent's.

use crate::base::guard::{self, Guard};
use crate::base::path::RepoPath;
use crate::policy::command::Script;
use crate::policy::command::examine::{Examination, Finding, PathUse};
use crate::policy::command::tree::Simple;
use crate::policy::glob::{Case, PathGlob};
use crate::policy::intent::{Facts, Intent};
use crate::policy::judge::{Judge, Match, opposite};
use crate::policy::kind::Kind;
use crate::policy::pattern::{CommandForm, Pattern};
use crate::policy::schema::{CommandEdits, Expansions, PolicySpec, Sandbox};
use crate::policy::verdict::{Decision, Verdict};

impl Judge {
    pub(super) fn script(&self, script: &Script, intent: &Intent, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let verdict = self.commands(script, intent, facts, spec);
        let wanted = |found: &Match<'_>| {
            matches!(&found.written.pattern, Pattern::Command(pattern) if pattern.is_script(script.text()) || pattern.is_script(&script.told()))
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
        // Of the verdicts on the parts one is returned: only that one tells the whole script.
        Verdict { intent: intent.to_string(), ..self.parts(script, facts, spec) }
    }

    fn parts(&self, script: &Script, facts: &Facts, spec: &PolicySpec) -> Verdict {
        let shown = String::new();
        let expands = spec.commands.expansions == Expansions::Allow || !guard::on(Guard::Expansions);
        let examinations = match script.problem() {
            None => script.examinations(),
            Some(_) if expands && script.text().trim().is_empty() => return self.plain_allow(&shown, "it runs nothing"),
            Some(problem) => match expands.then(|| script.loose_examinations()).and_then(Result::ok) {
                Some(examinations) => examinations,
                None => return self.denied_in_text(script, &shown, facts).unwrap_or_else(|| self.guard(shown, problem.to_owned())),
            },
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
            for (absolute, glob) in &examined.globs {
                let kept = if *absolute { spec.commands.unread.as_slice() } else { spec.commands.unseen.as_ref() };
                if let Some(met) = kept.iter().find(|kept| kept.meets(glob)) {
                    consider(self.guard(
                        shown.clone(),
                        format!("`{}` may match what `{}` keeps from being read; name the files", glob.text(), met.text()),
                    ));
                }
            }
            for used in &examined.reads {
                if let Some(why) = taken_out(used, examined.descends, script, spec) {
                    consider(self.guard(shown.clone(), why));
                }
            }
            let hidden = if self.ignored.is_empty() { None } else { self.hidden_operand(&examined, &shown) };
            consider(hidden.unwrap_or_else(|| self.simple(simple, &examined, &shown, facts, spec)));
        }
        let (reads, edits) = if guard::on(Guard::Redirections) { script.redirected() } else { Default::default() };
        for (used, edit) in reads.iter().map(|used| (used, false)).chain(edits.iter().map(|used| (used, true))) {
            if let Some(why) = taken_out(used, false, script, spec) {
                consider(self.guard(shown.clone(), why));
            }
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
        if let Some(found) = refused {
            return self.refused(&found, simple, examined, shown, facts, spec);
        }
        let Some((allowing, exact)) = allowed else {
            return match uncovered {
                Some((reason, rule)) => {
                    Verdict { decision: Decision::Deny, intent: shown.to_owned(), rule: Some(rule), reason: format!("`{told}`: {reason}") }
                }
                None => self.guard(shown.to_owned(), format!("no rule allows `command({told})`")),
            };
        };
        if let Some(refusal) = no_sandbox(simple, examined, facts, spec) {
            return self.guard(shown.to_owned(), refusal);
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

    /// Returns the verdict on a command that a rule refuses. A hold is a yes once a person has given it, so whatever would be denied
    /// about the command denies it now; that nobody has allowed the files it writes is for the person to weigh.
    fn refused(
        &self,
        found: &Match<'_>,
        simple: &Simple,
        examined: &Examination,
        shown: &str,
        facts: &Facts,
        spec: &PolicySpec,
    ) -> Verdict {
        let verdict = self.verdict(shown.to_owned(), found);
        if verdict.decision == Decision::Deny {
            return verdict;
        }
        if let Some(refusal) = no_sandbox(simple, examined, facts, spec) {
            return self.guard(shown.to_owned(), refusal);
        }
        let exact = coverage(&found.written.pattern, examined).1;
        let uses = examined.reads.iter().map(|used| (used, false)).filter(|_| !exact).chain(examined.edits.iter().map(|used| (used, true)));
        let said_no = |refusal: &Verdict| {
            refusal.decision == Decision::Deny && (refusal.rule.is_some() || !refusal.reason.contains(": no rule allows"))
        };
        let mut refusals = uses.filter_map(|(used, edit)| self.used(used, edit, shown, facts, spec));
        refusals.find(said_no).unwrap_or(verdict)
    }

    /// Judges a path that a command reads or writes; `None` when nothing is wrong with it.
    fn used(&self, used: &PathUse, edit: bool, shown: &str, facts: &Facts, spec: &PolicySpec) -> Option<Verdict> {
        let (path, certain) = match used {
            PathUse::Inside(path) => (path, true),
            PathUse::Perhaps(path) => (path, false),
            PathUse::Outside(path) if !edit && self.opened(path, spec) => return None,
            PathUse::Outside(path) if edit && path.trim_end_matches('/') == "." => {
                let reason = format!("it writes all of `{path}`, and protected files lie there; name files or folders");
                return Some(self.guard(shown.to_owned(), reason));
            }
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

    /// Looks for what is hidden among all paths that a command names, or might name; a rule that spells it out is no excuse.
    fn hidden_operand(&self, examined: &Examination, shown: &str) -> Option<Verdict> {
        let tree = examined
            .trees
            .iter()
            .find(|path| self.ignored.globs().any(|glob| !glob.text().starts_with("**") && glob.meets(&PathGlob::below(path))));
        if let Some(path) = tree {
            return Some(self.guard(shown.to_owned(), format!("something in `{path}` is hidden; name files instead")));
        }
        let uses = examined.reads.iter().chain(&examined.edits).filter_map(PathUse::inside);
        uses.chain(&examined.perhaps).find_map(|path| {
            let itself = || Some(self.guard(shown.to_owned(), format!("it names `{path}`: {}", self.itself(path)?)));
            self.hidden(path, shown.to_owned()).or_else(itself)
        })
    }
}

/// Returns why a path is one that `commands.reads` takes out with a `!`.
fn taken_out(used: &PathUse, descends: bool, script: &Script, spec: &PolicySpec) -> Option<String> {
    if spec.commands.unread.is_empty() {
        return None;
    }
    let absolute = match used {
        PathUse::Inside(path) | PathUse::Perhaps(path) => script.root()?.join(path.as_str()).ok()?,
        PathUse::Outside(path) => RepoPath::parse(path.strip_prefix('/')?).ok()?,
    };
    let below = PathGlob::below(&absolute);
    let matches = |glob: &&PathGlob| glob.matches(&absolute, Case::Ignored) || (descends && glob.meets(&below));
    let found = spec.commands.unread.iter().find(matches)?;
    Some(format!("it reads `/{absolute}`, and `commands.reads` says `!/{}`", found.text()))
}

/// Returns why a command that runs code of the repository may not run here; `None` when it may.
fn no_sandbox(simple: &Simple, examined: &Examination, facts: &Facts, spec: &PolicySpec) -> Option<String> {
    let missing = !facts.sandboxed && spec.commands.sandbox == Sandbox::Required && guard::on(Guard::CodeInSandbox);
    (examined.runs_code && missing).then(|| {
        let told = simple.words.join(" ");
        format!(
            "`{told}` runs code of the repository and there is no sandbox here; `commands: {{ sandbox: off }}` in the policy accepts that"
        )
    })
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
