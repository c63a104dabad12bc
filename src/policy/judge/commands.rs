//! Decides on commands: one simple command against the rules, what it reads and writes, what no
//! rule opens.
//!
//! In: a command's examination and facts. Out: the strictest verdict on it and on what it starts.
//! How rules are found and paths judged is the parent's.

use crate::command::examine::{CommandEffects, PathUse, UncoveredWord};
use crate::command::tables::verbs;
use crate::command::{Script, home};
use crate::command_text::NamedCommand;
use crate::glob::{LetterCase, PathGlob, folded};
use crate::intent::Intent;
use crate::judge::{Evaluation, RuleMatch, Ruling};
use crate::kind::RuleKind;
use crate::pattern::{CommandForm, Pattern};
use crate::schema::{CommandEdits, SandboxSetting};
use crate::verdict::{Access, Cause, Decision, RuleRef};
use locum_base::path::RepoPath;

/// Folders of the system in which nothing is a secret.
const PUBLIC: &[&str] = &["/usr/bin/", "/usr/include/", "/usr/lib/", "/usr/share/"];
/// Files of the same kind elsewhere.
const PUBLIC_FILES: &[&str] =
    &["/etc/os-release", "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/usr/bin"];

impl Evaluation<'_> {
    /// Judges one command with all that it starts.
    pub(super) fn command(
        &self,
        named: NamedCommand<'_>,
        examined: &CommandEffects,
        script: &Script,
    ) -> Ruling {
        let mut strictest = StrictestRuling::default();
        self.globs(examined).for_each(|ruling| strictest.consider(ruling));
        for used in &examined.reads {
            self.taken_out(used, examined.descends, script)
                .into_iter()
                .for_each(|ruling| strictest.consider(ruling));
        }
        let hidden =
            if self.judge.ignored.is_empty() { None } else { self.hidden_operand(examined) };
        let refused = hidden.or_else(|| self.moved_folder(named.words, examined));
        refused.into_iter().for_each(|ruling| strictest.consider(ruling));
        strictest.consider(self.simple(named, examined, script));
        strictest.0.unwrap_or_else(|| Ruling::deny("the script runs nothing".to_owned()))
    }

    /// Judges what a command starts as if it stood alone; `None` for one that starts nothing.
    fn started(&self, examined: &CommandEffects, script: &Script) -> Option<Ruling> {
        let mut strictest = StrictestRuling::default();
        for inner in &examined.starts {
            let named = NamedCommand::from(inner.words.as_slice());
            strictest.consider(self.command(named, &inner.effects, script));
        }
        strictest.0
    }

    fn simple(
        &self,
        named: NamedCommand<'_>,
        examined: &CommandEffects,
        script: &Script,
    ) -> Ruling {
        let words = named.words;
        if let Some(never) = &examined.never {
            // That no rule allows it is no reason to forget the one that refuses it.
            let mut strictest = StrictestRuling(Some(Ruling::deny(never.clone())));
            self.consider_refusals(named, &mut strictest);
            return strictest.0.unwrap_or_else(|| Ruling::deny(never.clone()));
        }
        let started = self.started(examined, script);
        let inner = started.as_ref().map(|ruling| ruling.decision);
        let mut refused: Option<RuleMatch<'_>> = None;
        let mut allowed: Option<(RuleMatch<'_>, bool)> = None;
        let mut uncovered = None;
        for found in self.command_matches(named) {
            let decision = found.rule.decision;
            if decision != Decision::Allow {
                if refused.as_ref().is_none_or(|before| decision > before.rule.decision) {
                    refused = Some(found);
                }
                continue;
            }
            let (covered, exact) = coverage(&found.written.pattern, named, examined, inner);
            match covered {
                Ok(()) if allowed.as_ref().is_none_or(|(_, before)| exact && !before) => {
                    allowed = Some((found, exact));
                }
                Ok(()) => {}
                Err(finding) => {
                    let rule = || found.written.reference(&self.judge.origin);
                    uncovered = uncovered.or_else(|| Some((finding, rule())));
                }
            }
        }
        if let Some(found) = refused {
            return self.refused(&found, named, examined);
        }
        // What starts another command cannot be more than that one is, nor can a refusal of it.
        if let Some(ruling) = &started
            && (ruling.is_by_deny_rule() || ruling.decision == Decision::Hold)
        {
            return ruling.clone();
        }
        let Some((allowing, exact)) = allowed else {
            // What a rule denies of its files is said rather than that no rule allows it.
            if let Some(denied) = self.denied_file(&examined.reads, &examined.edits) {
                return denied;
            }
            let plain = examined.only_starts && examined.findings.iter().all(|found| found.started);
            if plain && let Some(started) = started {
                return self.no_sandbox(words, examined).unwrap_or(started);
            }
            let command = words.join(" ");
            return match uncovered {
                Some((finding, rule)) => {
                    let finding = started
                        .filter(|_| finding.started)
                        .and_then(|ruling| ruling.cause.more_than_no_rule())
                        .unwrap_or(finding.reason);
                    let cause = Cause::Uncovered { rule, command, finding };
                    Ruling { decision: Decision::Deny, cause }
                }
                None => Ruling::no_rule(format!("command({command})")),
            };
        };
        if let Some(refusal) = self.no_sandbox(words, examined) {
            return refusal;
        }
        let ruled = self.judge.ruled(&allowing);
        let mut ruling =
            if examined.runs_code { ruled.remark("; runs code of the repository") } else { ruled };
        let reads: &[PathUse] = if exact { &[] } else { &examined.reads };
        let files = accesses(reads, &examined.edits);
        let refusals = files.filter_map(|(used, access)| self.used(used, access));
        let of_globs = examined.edit_globs.iter().filter_map(|glob| self.edited_glob(glob));
        for refusal in refusals.chain(of_globs) {
            if rank(&refusal) > rank(&ruling) {
                ruling = refusal;
            }
        }
        ruling
    }

    /// Looks for a rule that denies one of the files that a command uses.
    fn denied_file(&self, reads: &[PathUse], edits: &[PathUse]) -> Option<Ruling> {
        accesses(reads, edits)
            .filter_map(|(used, access)| self.used(used, access))
            .find(Ruling::is_by_deny_rule)
    }

    /// Returns the verdict on a command that a rule refuses. Once approved, a hold allows,
    /// so whatever would be denied about the command denies it now; that no rule
    /// allows the files it writes is for the approver to weigh.
    fn refused(
        &self,
        found: &RuleMatch<'_>,
        named: NamedCommand<'_>,
        examined: &CommandEffects,
    ) -> Ruling {
        let ruling = self.judge.ruled(found);
        if ruling.decision == Decision::Deny {
            return ruling;
        }
        if let Some(refusal) = self.no_sandbox(named.words, examined) {
            return refusal;
        }
        let exact = coverage(&found.written.pattern, named, examined, None).1;
        let reads: &[PathUse] = if exact { &[] } else { &examined.reads };
        let refuses = |refusal: &Ruling| {
            refusal.decision == Decision::Deny
                && !matches!(refusal.cause.origin(), Cause::NoRule { .. })
        };
        let files = accesses(reads, &examined.edits);
        let refusals = files.filter_map(|(used, access)| self.used(used, access));
        let of_globs = examined.edit_globs.iter().filter_map(|glob| self.edited_glob(glob));
        refusals.chain(of_globs).find(refuses).unwrap_or(ruling)
    }

    /// Judges a path that a command reads or writes; `None` when nothing is wrong with it.
    pub(super) fn used(&self, used: &PathUse, access: Access) -> Option<Ruling> {
        self.used_by(used, access, self.spec.commands.edits)
    }

    /// As [`Self::used`], where edits are judged in this way.
    pub(super) fn used_by(
        &self,
        used: &PathUse,
        access: Access,
        edits: CommandEdits,
    ) -> Option<Ruling> {
        let edit = access == Access::Write;
        let (path, certain) = match used {
            PathUse::Inside(path) => (path, true),
            PathUse::Perhaps(path) => (path, false),
            PathUse::Outside(path)
                if !edit
                    && (self.opened(path) || self.is_public(path) || self.is_of_tools(path)) =>
            {
                return None;
            }
            // A copy is called like what it is a copy of.
            PathUse::Scratch(path) if self.facts.sandboxed => {
                let why = self.secret_elsewhere(path).filter(|_| !edit)?;
                return Some(Ruling::deny(format!("`{path}`: protected from reading: {why}")));
            }
            PathUse::Outside(path) if edit && path.trim_end_matches('/') == "." => {
                return Some(Ruling::deny(format!(
                    "it writes all of `{path}`, and protected files lie there; name files or \
                     folders"
                )));
            }
            PathUse::Outside(path) | PathUse::Scratch(path) => {
                return Some(Ruling::deny(format!("`{path}` is not a path inside the repository")));
            }
        };
        let intent = if edit { Intent::Edit(path.clone()) } else { Intent::Read(path.clone()) };
        let Ruling { decision, cause } = self.rule_on(&intent);
        let free = edit
            && edits == CommandEdits::Checkout
            && self.judge.protection.of_edit(path).is_none();
        let needs_rule = certain && !free;
        if decision == Decision::Allow || (matches!(cause, Cause::NoRule { .. }) && !needs_rule) {
            return None;
        }
        let cause = Cause::Access { access, path: path.clone(), cause: Box::new(cause) };
        Some(Ruling { decision, cause })
    }

    /// Returns true for a file that came with the system, which the sandbox shows to every command.
    fn is_public(&self, path: &str) -> bool {
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        let trimmed = path.trim_end_matches('/');
        let below = PUBLIC.iter().find_map(|folder| trimmed.strip_prefix(folder));
        let protected = RepoPath::parse(trimmed.trim_start_matches('/'))
            .map_or(true, |inside| self.judge.protection.of_read(&inside).is_some());
        self.facts.sandboxed
            && !protected
            && (PUBLIC_FILES.contains(&trimmed)
                || below.is_some_and(|below| below.split('/').all(plain)))
    }

    /// Returns true for a file of a home that a tool keeps: the sandbox shows commands no more of a
    /// home than such folders.
    fn is_of_tools(&self, path: &str) -> bool {
        self.facts.sandboxed
            && self.spec.commands.unread.is_empty()
            && home::is_of_tools(path)
            && self.secret_elsewhere(path).is_none()
    }

    /// Returns why a path that is not of the repository is protected from reading like one that is.
    fn secret_elsewhere(&self, path: &str) -> Option<&'static str> {
        let inside = RepoPath::parse(path.trim_start_matches(['/', '~'])).ok()?;
        self.judge.protection.of_read(&inside)
    }

    /// Returns true for an absolute path that `commands.reads` opens to commands.
    fn opened(&self, path: &str) -> bool {
        let Some(inside) = path.strip_prefix('/').and_then(|rest| RepoPath::parse(rest).ok())
        else {
            return false;
        };
        !path.contains("..")
            && self.judge.protection.of_read(&inside).is_none()
            && self.spec.commands.reads.iter().any(|glob| glob.matches(&inside, LetterCase::Exact))
    }

    pub(super) fn command_matches<'j>(
        &'j self,
        named: NamedCommand<'j>,
    ) -> impl Iterator<Item = RuleMatch<'j>> {
        let words = named.words;
        let plain = verbs::without_dropped(words).or_else(|| verbs::moved(words));
        let program = words.first().map(|program| folded(program));
        let by_program = self.judge.starting(RuleKind::Command, program);
        by_program.chain(self.judge.of_kind(RuleKind::Command)).filter(move |found| {
            self.counts(found, |pattern, case| {
                pattern.command().is_some_and(|pattern| {
                    pattern.matches_command(named, case)
                        || plain.as_ref().is_some_and(|plain| pattern.matches(plain, case))
                })
            })
        })
    }

    /// Looks for what is hidden among all paths that a command names, or might name; a rule that
    /// spells it out does not help.
    pub(super) fn hidden_operand(&self, examined: &CommandEffects) -> Option<Ruling> {
        let tree = examined.trees.iter().find(|path| {
            self.judge
                .ignored
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
                || Some(Ruling::deny(format!("it names `{path}`: {}", self.judge.itself(path)?)));
            self.judge.hidden(path).or_else(itself)
        })
    }

    /// Refuses to move a folder away from what keeps something in it from being read.
    fn moved_folder(&self, words: &[String], examined: &CommandEffects) -> Option<Ruling> {
        let program = words.first().map(String::as_str);
        if program != Some("mv") && (program != Some("git") || verbs::verb(words) != Some("mv")) {
            return None;
        }
        let (_, moved) = examined.edits.split_last()?;
        let path = moved.iter().filter_map(PathUse::inside).find(|path| {
            let below = PathGlob::below(path);
            let kept = self.judge.ignored.globs().chain(self.judge.refused_reads(Decision::Deny));
            kept.filter(|glob| !glob.text().starts_with("**")).any(|glob| glob.meets(&below))
        })?;
        Some(Ruling::deny(format!("something in `{path}` may not be read; move files instead")))
    }

    /// Refuses a path that `commands.reads` takes out with a `!`.
    pub(super) fn taken_out(
        &self,
        used: &PathUse,
        descends: bool,
        script: &Script,
    ) -> Option<Ruling> {
        let unread = &self.spec.commands.unread;
        if unread.is_empty() {
            return None;
        }
        let absolute = match used {
            PathUse::Inside(path) | PathUse::Perhaps(path) => {
                script.root()?.join(path.as_str()).ok()?
            }
            PathUse::Outside(path) | PathUse::Scratch(path) => {
                RepoPath::parse(path.strip_prefix('/')?).ok()?
            }
        };
        let below = PathGlob::below(&absolute);
        let matches = |glob: &&PathGlob| {
            glob.matches(&absolute, LetterCase::Ignored) || (descends && glob.meets(&below))
        };
        let glob = unread.iter().find(matches)?.text();
        let said = format!("it reads `/{absolute}`, and `commands.reads` says `!/{glob}`");
        let rule = RuleRef::setting(format!("!/{glob}"), self.judge.origin.clone());
        Some(Ruling { decision: Decision::Deny, cause: Cause::Rule { rule, said } })
    }

    /// Refuses a command that runs code of the repository where the sandbox it needs is missing.
    fn no_sandbox(&self, words: &[String], examined: &CommandEffects) -> Option<Ruling> {
        let text = words.join(" ");
        if examined.needs_sandbox && !self.facts.sandboxed {
            return Some(Ruling::deny(format!(
                "only a sandbox keeps `{text}` from what may not be read, and there is none here"
            )));
        }
        let missing =
            !self.facts.sandboxed && self.spec.commands.sandbox == SandboxSetting::Required;
        (examined.runs_code && missing).then(|| {
            Ruling::deny(format!(
                "`{text}` runs code of the repository and there is no sandbox here; `commands: {{ \
                 sandbox: off }}` in the policy accepts that"
            ))
        })
    }
}

/// The strictest ruling so far; of two denials the one by a rule.
#[derive(Default)]
pub(super) struct StrictestRuling(pub(super) Option<Ruling>);

impl StrictestRuling {
    pub(super) fn consider(&mut self, ruling: Ruling) {
        if self.0.as_ref().is_none_or(|strictest| rank(&ruling) > rank(strictest)) {
            self.0 = Some(ruling);
        }
    }
}

/// How strict a ruling is: of two denials, one by a rule says more.
fn rank(ruling: &Ruling) -> (Decision, bool) {
    (ruling.decision, ruling.is_by_deny_rule())
}

/// Returns what a command reads, then what it writes.
pub(super) fn accesses<'u>(
    reads: &'u [PathUse],
    edits: &'u [PathUse],
) -> impl Iterator<Item = (&'u PathUse, Access)> {
    let read = reads.iter().map(|used| (used, Access::Read));
    read.chain(edits.iter().map(|used| (used, Access::Write)))
}

/// Whether an allowing pattern covers everything that was found, and whether it spells the command
/// out. `started` is what is decided on the commands that it starts.
fn coverage(
    pattern: &Pattern,
    named: NamedCommand<'_>,
    examined: &CommandEffects,
    started: Option<Decision>,
) -> (Result<(), UncoveredWord>, bool) {
    let Some(pattern) = pattern.command() else {
        let reason = "not a command pattern".to_owned();
        let finding = UncoveredWord { index: 0, reason, unfamiliar: false, started: false };
        return (Err(finding), false);
    };
    if !pattern.open {
        return (Ok(()), true);
    }
    let spelled_out = pattern.spelled_out(named);
    let named = |finding: &UncoveredWord| {
        finding.index < spelled_out
            || (finding.started && started == Some(Decision::Allow))
            || (finding.unfamiliar
                && matches!(pattern.form, CommandForm::Text(_) | CommandForm::Prefix))
    };
    match examined.findings.iter().find(|finding| !named(finding)) {
        Some(finding) => (Err(finding.clone()), false),
        None => (Ok(()), false),
    }
}
