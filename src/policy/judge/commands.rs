//! Decides on commands: every simple command of a script against the rules, what it reads and
//! writes, what nobody may name.
//!
//! In: a script's examinations and facts. Out: the worst verdict of all its parts. How rules are
//! found and paths judged is the parent's.

use crate::command::Script;
use crate::command::examine::{Examination, Finding, PathUse};
use crate::command::tree::Simple;
use crate::glob::{Case, PathGlob};
use crate::intent::{Facts, Intent};
use crate::judge::{Judge, Match, Ruling, opposite};
use crate::kind::Kind;
use crate::pattern::{CommandForm, Pattern};
use crate::schema::{CommandEdits, Expansions, PolicySpec, Sandbox};
use crate::verdict::{Access, Cause, Decision};
use locum_base::path::RepoPath;

impl Judge {
    pub(super) fn script(&self, script: &Script, facts: &Facts, spec: &PolicySpec) -> Ruling {
        let ruling = self.parts(script, facts, spec);
        let wanted = |found: &Match<'_>| {
            matches!(&found.written.pattern, Pattern::Command(pattern) if pattern.is_script(script.text()) || pattern.is_script(&script.with_folder()))
                && found.rule.narrowing.holds(facts)
        };
        let spelled_out = self
            .at(self.by_kind.get(&Kind::AnyCommand))
            .filter(wanted)
            .max_by_key(|found| found.rule.decision);
        let Some(found) = spelled_out else { return ruling };
        let counts = match found.rule.decision {
            Decision::Allow => {
                let refused = ruling.decision == Decision::Hold || ruling.is_by_deny_rule();
                ruling.decision != Decision::Allow
                    && !refused
                    && !self.checks_refuse(script, facts, spec)
            }
            Decision::Hold | Decision::Deny => found.rule.decision > ruling.decision,
        };
        if counts { self.ruled(&found) } else { ruling }
    }

    /// Returns true when something is wrong with a script that no rule can put right: nothing to
    /// run, no sandbox where one is required, a shell word that changes later commands, hidden or
    /// protected files.
    fn checks_refuse(&self, script: &Script, facts: &Facts, spec: &PolicySpec) -> bool {
        if script.execution().is_none()
            || (!facts.sandboxed && spec.commands.sandbox == Sandbox::Required)
        {
            return true;
        }
        let commands = if script.problem().is_none() {
            script.examinations()
        } else {
            script.loose_examinations().unwrap_or_default()
        };
        let refused =
            |used: &PathUse, access: Access| self.used(used, access, facts, spec).is_some();
        let (reads, edits) = script.redirected();
        commands.iter().any(|(_, examined)| {
            examined.never.is_some()
                || self.hidden_operand(examined).is_some()
                || examined.edits.iter().any(|used| refused(used, Access::Write))
        }) || reads.iter().any(|used| refused(used, Access::Read))
            || edits.iter().any(|used| refused(used, Access::Write))
    }

    /// Looks for a denied command in the text of a script that cannot be judged, so that the
    /// verdict names the rule. The text is cut wherever a command could start; the script is
    /// refused either way.
    fn denied_in_text(&self, script: &Script, facts: &Facts) -> Option<Ruling> {
        let parts = script.text().split(['\n', '\r', ';', '&', '|', '(', ')', '`', '{', '}']);
        let words = parts.map(|part| -> Vec<String> {
            part.split_whitespace().map(|word| word.replace(['\'', '"', '\\'], "")).collect()
        });
        words.filter(|words| !words.is_empty()).find_map(|words| {
            let found = self
                .command_matches(&words, facts)
                .find(|found| found.rule.decision == Decision::Deny);
            found.map(|found| self.ruled(&found))
        })
    }

    fn parts(&self, script: &Script, facts: &Facts, spec: &PolicySpec) -> Ruling {
        let expands = spec.commands.expansions == Expansions::Allow;
        let examinations = match script.problem() {
            None => script.examinations(),
            Some(_) if expands && script.text().trim().is_empty() => {
                return Ruling::allow("it runs nothing");
            }
            Some(problem) => {
                match expands.then(|| script.loose_examinations()).and_then(Result::ok) {
                    Some(examinations) => examinations,
                    None => {
                        return self
                            .denied_in_text(script, facts)
                            .unwrap_or_else(|| Ruling::deny(problem.to_owned()));
                    }
                }
            }
        };
        if script.problem().is_none() && examinations.is_empty() {
            return Ruling::allow("it stays where it is");
        }
        let mut strictest: Option<Ruling> = None;
        let mut consider = |ruling: Ruling| {
            let rank = |ruling: &Ruling| (ruling.decision, ruling.is_by_deny_rule());
            if strictest.as_ref().is_none_or(|strictest| rank(&ruling) > rank(strictest)) {
                strictest = Some(ruling);
            }
        };
        for (simple, examined) in examinations {
            for (absolute, glob) in &examined.globs {
                let kept = if *absolute {
                    spec.commands.unread.as_slice()
                } else {
                    spec.commands.unseen.as_ref()
                };
                if let Some(met) = kept.iter().find(|kept| kept.meets(glob)) {
                    consider(Ruling::deny(format!(
                        "`{}` may match what `{}` keeps from being read; name the files",
                        glob.text(),
                        met.text()
                    )));
                }
            }
            for used in &examined.reads {
                if let Some(why) = taken_out(used, examined.descends, script, spec) {
                    consider(Ruling::deny(why));
                }
            }
            let hidden =
                if self.ignored.is_empty() { None } else { self.hidden_operand(&examined) };
            consider(hidden.unwrap_or_else(|| self.simple(simple, &examined, facts, spec)));
        }
        let (reads, edits) = script.redirected();
        for (used, access) in accesses(&reads, &edits) {
            if let Some(why) = taken_out(used, false, script, spec) {
                consider(Ruling::deny(why));
            }
            consider(
                self.used(used, access, facts, spec)
                    .unwrap_or_else(|| Ruling::allow("its files are allowed")),
            );
        }
        let ruling =
            strictest.unwrap_or_else(|| Ruling::deny("the script runs nothing".to_owned()));
        let complexity = script.complexity();
        if ruling.decision == Decision::Allow && complexity > spec.commands.max_complexity {
            let said = format!(
                "complexity {complexity:.1} is above `commands.max_complexity` {:.1}",
                spec.commands.max_complexity
            );
            return Ruling { decision: Decision::Hold, cause: Cause::Complexity { said } };
        }
        ruling
    }

    fn simple(
        &self,
        simple: &Simple,
        examined: &Examination,
        facts: &Facts,
        spec: &PolicySpec,
    ) -> Ruling {
        let command = simple.words.join(" ");
        if let Some(never) = &examined.never {
            return Ruling::deny(never.clone());
        }
        let mut refused: Option<Match<'_>> = None;
        let mut allowed: Option<(Match<'_>, bool)> = None;
        let mut uncovered = None;
        for found in self.command_matches(&simple.words, facts) {
            match found.rule.decision {
                Decision::Allow => {
                    let (covered, exact) = coverage(&found.written.pattern, examined);
                    match covered {
                        Ok(()) if allowed.as_ref().is_none_or(|(_, before)| exact && !before) => {
                            allowed = Some((found, exact))
                        }
                        Ok(()) => {}
                        Err(reason) => {
                            uncovered =
                                uncovered.or(Some((reason, found.written.reference(&self.origin))))
                        }
                    }
                }
                Decision::Hold | Decision::Deny => {
                    if refused
                        .as_ref()
                        .is_none_or(|before| found.rule.decision > before.rule.decision)
                    {
                        refused = Some(found);
                    }
                }
            }
        }
        if let Some(found) = refused {
            return self.refused(&found, simple, examined, facts, spec);
        }
        let Some((allowing, exact)) = allowed else {
            return match uncovered {
                Some((finding, rule)) => Ruling {
                    decision: Decision::Deny,
                    cause: Cause::Uncovered { rule, command, finding },
                },
                None => Ruling::no_rule(format!("command({command})")),
            };
        };
        if let Some(refusal) = no_sandbox(simple, examined, facts, spec) {
            return Ruling::deny(refusal);
        }
        let ruled = self.ruled(&allowing);
        let mut ruling =
            if examined.runs_code { ruled.remark("; runs code of the repository") } else { ruled };
        let reads: &[PathUse] = if exact { &[] } else { &examined.reads };
        for (used, access) in accesses(reads, &examined.edits) {
            if let Some(refusal) = self
                .used(used, access, facts, spec)
                .filter(|refusal| refusal.decision > ruling.decision)
            {
                ruling = refusal;
            }
        }
        ruling
    }

    /// Returns the verdict on a command that a rule refuses. A hold is a yes once a person has
    /// given it, so whatever would be denied about the command denies it now; that nobody has
    /// allowed the files it writes is for the person to weigh.
    fn refused(
        &self,
        found: &Match<'_>,
        simple: &Simple,
        examined: &Examination,
        facts: &Facts,
        spec: &PolicySpec,
    ) -> Ruling {
        let ruling = self.ruled(found);
        if ruling.decision == Decision::Deny {
            return ruling;
        }
        if let Some(refusal) = no_sandbox(simple, examined, facts, spec) {
            return Ruling::deny(refusal);
        }
        let exact = coverage(&found.written.pattern, examined).1;
        let reads: &[PathUse] = if exact { &[] } else { &examined.reads };
        let refuses = |refusal: &Ruling| {
            refusal.decision == Decision::Deny
                && !matches!(refusal.cause.origin(), Cause::NoRule { .. })
        };
        let mut refusals = accesses(reads, &examined.edits)
            .filter_map(|(used, access)| self.used(used, access, facts, spec));
        refusals.find(refuses).unwrap_or(ruling)
    }

    /// Judges a path that a command reads or writes; `None` when nothing is wrong with it.
    fn used(
        &self,
        used: &PathUse,
        access: Access,
        facts: &Facts,
        spec: &PolicySpec,
    ) -> Option<Ruling> {
        let edit = access == Access::Write;
        let (path, certain) = match used {
            PathUse::Inside(path) => (path, true),
            PathUse::Perhaps(path) => (path, false),
            PathUse::Outside(path) if !edit && self.opened(path, spec) => return None,
            PathUse::Outside(path) if edit && path.trim_end_matches('/') == "." => {
                return Some(Ruling::deny(format!(
                    "it writes all of `{path}`, and protected files lie there; name files or \
                     folders"
                )));
            }
            PathUse::Outside(path) => {
                return Some(Ruling::deny(format!("`{path}` is not a path inside the repository")));
            }
        };
        let intent = if edit { Intent::Edit(path.clone()) } else { Intent::Read(path.clone()) };
        let Ruling { decision, cause } = self.rule_on(&intent, facts, spec);
        let free = edit
            && spec.commands.edits == CommandEdits::Checkout
            && self.protection.of_edit(path).is_none();
        let needs_rule = certain && !free;
        if decision == Decision::Allow || (matches!(cause, Cause::NoRule { .. }) && !needs_rule) {
            return None;
        }
        let cause = Cause::Access { access, path: path.clone(), cause: Box::new(cause) };
        Some(Ruling { decision, cause })
    }

    /// Returns true for an absolute path that `commands.reads` opens to commands.
    fn opened(&self, path: &str, spec: &PolicySpec) -> bool {
        let Some(inside) = path.strip_prefix('/').and_then(|rest| RepoPath::parse(rest).ok())
        else {
            return false;
        };
        !path.contains("..")
            && self.protection.of_read(&inside).is_none()
            && spec.commands.reads.iter().any(|glob| glob.matches(&inside, Case::Exact))
    }

    fn command_matches<'j>(
        &'j self,
        words: &'j [String],
        facts: &'j Facts,
    ) -> impl Iterator<Item = Match<'j>> {
        let plain = without_global_options(words);
        let by_program = words.first().and_then(|program| self.by_program.get(program));
        self.at(by_program).chain(self.at(self.by_kind.get(&Kind::AnyCommand))).filter(
            move |found| {
                let matches = |pattern: &Pattern, case: Case| match pattern {
                    Pattern::Command(pattern) => {
                        pattern.matches(words, case)
                            || plain.as_ref().is_some_and(|plain| pattern.matches(plain, case))
                    }
                    _ => false,
                };
                let case = if found.rule.decision == Decision::Allow {
                    Case::Exact
                } else {
                    Case::Ignored
                };
                matches(&found.written.pattern, case)
                    && found.rule.narrowing.holds(facts)
                    && !found
                        .rule
                        .except
                        .iter()
                        .any(|except| matches(&except.pattern, opposite(case)))
            },
        )
    }

    /// Looks for what is hidden among all paths that a command names, or might name; a rule that
    /// spells it out is no excuse.
    fn hidden_operand(&self, examined: &Examination) -> Option<Ruling> {
        let tree = examined.trees.iter().find(|path| {
            self.ignored
                .globs()
                .any(|glob| !glob.text().starts_with("**") && glob.meets(&PathGlob::below(path)))
        });
        if let Some(path) = tree {
            return Some(Ruling::deny(format!(
                "something in `{path}` is hidden; name files instead"
            )));
        }
        let uses = examined.reads.iter().chain(&examined.edits).filter_map(PathUse::inside);
        uses.chain(&examined.perhaps).find_map(|path| {
            let itself =
                || Some(Ruling::deny(format!("it names `{path}`: {}", self.itself(path)?)));
            self.hidden(path).or_else(itself)
        })
    }
}

/// Returns what a command reads, then what it writes.
fn accesses<'u>(
    reads: &'u [PathUse],
    edits: &'u [PathUse],
) -> impl Iterator<Item = (&'u PathUse, Access)> {
    let read = reads.iter().map(|used| (used, Access::Read));
    read.chain(edits.iter().map(|used| (used, Access::Write)))
}

/// Returns why a path is one that `commands.reads` takes out with a `!`.
fn taken_out(used: &PathUse, descends: bool, script: &Script, spec: &PolicySpec) -> Option<String> {
    if spec.commands.unread.is_empty() {
        return None;
    }
    let absolute = match used {
        PathUse::Inside(path) | PathUse::Perhaps(path) => {
            script.root()?.join(path.as_str()).ok()?
        }
        PathUse::Outside(path) => RepoPath::parse(path.strip_prefix('/')?).ok()?,
    };
    let below = PathGlob::below(&absolute);
    let matches = |glob: &&PathGlob| {
        glob.matches(&absolute, Case::Ignored) || (descends && glob.meets(&below))
    };
    let found = spec.commands.unread.iter().find(matches)?;
    Some(format!("it reads `/{absolute}`, and `commands.reads` says `!/{}`", found.text()))
}

/// Returns why a command that runs code of the repository may not run here; `None` when it may.
fn no_sandbox(
    simple: &Simple,
    examined: &Examination,
    facts: &Facts,
    spec: &PolicySpec,
) -> Option<String> {
    let missing = !facts.sandboxed && spec.commands.sandbox == Sandbox::Required;
    (examined.runs_code && missing).then(|| {
        let told = simple.words.join(" ");
        format!(
            "`{told}` runs code of the repository and there is no sandbox here; `commands: {{ \
             sandbox: off }}` in the policy accepts that"
        )
    })
}

/// Whether an allowing pattern covers everything that was found, and whether it spells the command
/// out.
fn coverage(pattern: &Pattern, examined: &Examination) -> (Result<(), String>, bool) {
    let Pattern::Command(pattern) = pattern else {
        return (Err("not a command pattern".to_owned()), false);
    };
    if !pattern.open {
        return (Ok(()), true);
    }
    let named = |finding: &Finding| {
        finding.index < pattern.words.len()
            || (finding.unfamiliar
                && matches!(pattern.form, CommandForm::Text(_) | CommandForm::Prefix))
    };
    match examined.findings.iter().find(|finding| !named(finding)) {
        Some(finding) => (Err(finding.reason.clone()), false),
        None => (Ok(()), false),
    }
}

/// `git --no-pager diff` is `git diff` to a rule.
fn without_global_options(words: &[String]) -> Option<Vec<String>> {
    let harmless = ["--no-pager", "-P", "--no-optional-locks"];
    let (program, rest) = words.split_first()?;
    let skipped = rest.iter().take_while(|word| harmless.contains(&word.as_str())).count();
    (program == "git" && skipped > 0)
        .then(|| std::iter::once(program).chain(rest.iter().skip(skipped)).cloned().collect())
}
