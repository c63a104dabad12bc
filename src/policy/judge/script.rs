//! Decides on scripts: every simple command of it, its redirections, and the whole as it is
//! written.
//!
//! In: a script and facts. Out: the strictest verdict of all its parts. Single commands are judged
//! in `commands`, scripts that no rule allows and that run contained in `contained`.

use std::cell::LazyCell;

use crate::command::Script;
use crate::command::examine::{CommandEffects, PathUse};
use crate::command::keywords::KeywordFinder;
use crate::command::tree::{Redirect, SimpleCommand};
use crate::command_text::{self, NamedCommand};
use crate::judge::commands::{StrictestRuling, accesses};
use crate::judge::{Evaluation, RuleMatch, Ruling};
use crate::kind::RuleKind;
use crate::schema::{CommandEdits, Expansions, SandboxSetting};
use crate::verdict::{Access, Cause, Decision};

impl Evaluation<'_> {
    pub(super) fn script(&self, script: &Script) -> Ruling {
        let ruling = self.by_words(script);
        let ruling = self.allowed_in_folder(script, &ruling).unwrap_or(ruling);
        // Where it is contained, an environment is entered as it is written.
        let is_refused = ruling.decision != Decision::Allow;
        if (is_refused || script.enters_environment()) && self.spec.commands.contains(self.facts) {
            return self.contained(script, ruling);
        }
        if ruling.decision == Decision::Allow {
            return self.refused_behind(script).unwrap_or(ruling);
        }
        ruling
    }

    /// Judges a script behind a change of folder that a rule allows, where it writes nothing, and
    /// behind one to a folder that it makes itself. Most such changes are taken off before a script
    /// is judged.
    fn allowed_in_folder(&self, script: &Script, ruling: &Ruling) -> Option<Ruling> {
        if ruling.decision != Decision::Deny || ruling.is_by_deny_rule() {
            return None;
        }
        let inner = script.behind_folder()?;
        if let Some(maker) = script.folder_maker() {
            let is_made = self.by_words(&maker).decision == Decision::Allow;
            let ruling = self.by_words(&inner);
            return (is_made && ruling.decision == Decision::Allow).then_some(ruling);
        }
        let words = ["cd".to_owned(), inner.entered()?.to_owned()];
        let mut rules = self.command_matches(NamedCommand::from(words.as_slice()));
        let is_allowed = rules.any(|found| found.rule.decision == Decision::Allow);
        let loose = inner.loose_examinations().unwrap_or_default();
        let writes = |(_, examined): &(_, CommandEffects)| {
            !examined.edits.is_empty() || !examined.edit_globs.is_empty()
        };
        let writes = !inner.redirected().1.is_empty()
            || inner.examinations().iter().chain(&loose).any(writes);
        let ruling = self.by_words(&inner);
        (is_allowed && !writes && ruling.decision == Decision::Allow).then_some(ruling)
    }

    fn by_words(&self, script: &Script) -> Ruling {
        let ruling = self.parts(script);
        let with_folder = script.with_folder();
        let bare = LazyCell::new(|| command_text::bare(&with_folder));
        let spells_out = |found: &RuleMatch<'_>| {
            found.written.pattern.command().is_some_and(|pattern| {
                let refuses = found.rule.decision != Decision::Allow;
                pattern.is_script(script.text())
                    || pattern.is_script(&with_folder)
                    || (refuses && pattern.is_like_script(&bare))
            })
        };
        let spelled_out = self
            .judge
            .of_kind(RuleKind::Command)
            .filter(|found| spells_out(found) && found.rule.narrowing.holds(self.facts))
            .max_by_key(|found| found.rule.decision);
        let Some(found) = spelled_out else { return ruling };
        let counts = match found.rule.decision {
            Decision::Allow => {
                let refused = ruling.decision == Decision::Hold || ruling.is_by_deny_rule();
                ruling.decision != Decision::Allow && !refused && !self.checks_refuse(script)
            }
            Decision::Hold | Decision::Deny => found.rule.decision > ruling.decision,
        };
        if counts { self.judge.ruled(&found) } else { ruling }
    }

    /// Returns true for a script that no rule can allow: nothing to run, no sandbox where one is
    /// required, a shell word that changes later commands, hidden or protected files.
    fn checks_refuse(&self, script: &Script) -> bool {
        if script.execution().is_none()
            || (!self.facts.sandboxed && self.spec.commands.sandbox == SandboxSetting::Required)
        {
            return true;
        }
        let commands = if script.problem().is_none() {
            script.examinations()
        } else {
            script.loose_examinations().unwrap_or_default()
        };
        let refused = |used: &PathUse, access: Access| self.used(used, access).is_some();
        let (reads, edits) = script.redirected();
        commands.iter().any(|(_, examined)| {
            examined.never.is_some()
                || self.hidden_operand(examined).is_some()
                || examined.edits.iter().any(|used| refused(used, Access::Write))
                || examined.edit_globs.iter().any(|glob| self.edited_glob(glob).is_some())
        }) || reads.iter().any(|used| refused(used, Access::Read))
            || edits.iter().any(|used| refused(used, Access::Write))
    }

    /// Looks for a denied command in the text of a script that cannot be judged, so that the
    /// verdict names the rule; the script is refused either way.
    fn denied_in_text(&self, script: &Script) -> Option<Ruling> {
        self.refused_in_text(script).filter(|ruling| ruling.decision == Decision::Deny)
    }

    /// Looks for a held or denied command in the text of a script that cannot be judged. The text
    /// is cut wherever a command could start.
    pub(super) fn refused_in_text(&self, script: &Script) -> Option<Ruling> {
        let text = script.text();
        let parts = text.split(['\n', '\r', ';', '&', '|', '(', ')', '`', '{', '}']);
        let mut at = 0;
        let mut strictest = StrictestRuling::default();
        for part in parts {
            let source = text.get(at..).unwrap_or_default();
            at += part.len() + 1;
            let words: Vec<String> =
                part.split_whitespace().map(|word| word.replace(['\'', '"', '\\'], "")).collect();
            if words.is_empty() {
                continue;
            }
            let named = NamedCommand { source, ..NamedCommand::from(words.as_slice()) };
            self.consider_refusals(named, &mut strictest);
        }
        strictest.0
    }

    fn parts(&self, script: &Script) -> Ruling {
        let commands = &self.spec.commands;
        let expands = commands.expansions == Expansions::Allow;
        let examinations = match script.problem() {
            None => script.examinations(),
            Some(_) if expands && script.text().trim().is_empty() => {
                return Ruling::allow("it runs nothing");
            }
            Some(problem) => {
                let refused = match expands.then(|| script.loose_examinations()) {
                    Some(Ok(found)) => Ok(found),
                    // What it is refused for even so.
                    Some(Err(loose)) => Err(loose),
                    None => Err(problem),
                };
                match refused {
                    Ok(examinations) => examinations,
                    Err(why) => {
                        return self
                            .denied_in_text(script)
                            .unwrap_or_else(|| Ruling::deny(why.to_owned()));
                    }
                }
            }
        };
        let mut strictest = StrictestRuling::default();
        self.refused_besides(script, &mut strictest);
        for (simple, examined) in examinations {
            let ruling = self.command(NamedCommand::from(simple), &examined, script);
            strictest.consider(ruling.written_as(&simple.unknown));
        }
        let (reads, edits) = script.redirected();
        let spelled_out = !edits.is_empty() && self.redirects_spelled_out(script);
        let edits_are = if spelled_out { CommandEdits::Ruled } else { commands.edits };
        for (used, access) in accesses(&reads, &edits) {
            let taken_out = self.taken_out(used, false, script).into_iter();
            taken_out.for_each(|ruling| strictest.consider(ruling));
            let ruling = self.used_by(used, access, edits_are);
            strictest.consider(ruling.unwrap_or_else(|| Ruling::allow("its files are allowed")));
        }
        let StrictestRuling(Some(ruling)) = strictest else {
            return Ruling::allow("it stays where it is, and runs no program");
        };
        let (complexity, limit) = (script.complexity(), commands.max_complexity);
        if ruling.decision == Decision::Allow && complexity > limit {
            let said =
                format!("complexity {complexity:.1} is above `commands.max_complexity` {limit:.1}");
            return Ruling { decision: Decision::Hold, cause: Cause::Complexity { said } };
        }
        ruling
    }

    /// Looks for rules that refuse what needs no rule: a change of folder that was taken off the
    /// front, and what only stays in a folder or ends something.
    pub(super) fn refused_besides(&self, script: &Script, strictest: &mut StrictestRuling) {
        let entering = script.entering();
        let entered = entering.iter().map(|words| NamedCommand::from(words.as_slice()));
        let named = script.set_aside().map(NamedCommand::from).chain(entered);
        named.for_each(|named| self.consider_refusals(named, strictest));
        for words in KeywordFinder::of(script.text()).found() {
            self.consider_refusals(NamedCommand::from(words), strictest);
        }
    }

    /// Considers the rules that hold or deny a command.
    pub(super) fn consider_refusals(
        &self,
        named: NamedCommand<'_>,
        strictest: &mut StrictestRuling,
    ) {
        self.command_matches(named)
            .filter(|found| found.rule.decision != Decision::Allow)
            .for_each(|found| strictest.consider(self.judge.ruled(&found)));
    }

    /// Returns true where a command's output goes into a file although rules only allow that
    /// command word for word: the file is more than they spell out.
    fn redirects_spelled_out(&self, script: &Script) -> bool {
        let writes = |simple: &SimpleCommand| simple.redirects.iter().any(Redirect::writes);
        let loose = script.loose_commands().unwrap_or_default().iter().map(|loose| &loose.simple);
        let commands: Vec<&SimpleCommand> =
            script.simple_commands().into_iter().chain(loose).collect();
        // Where none of them writes, a group of them does.
        let groups = !commands.iter().any(|simple| writes(simple));
        commands.into_iter().filter(|simple| groups || writes(simple)).any(|simple| {
            let mut allowing = self
                .command_matches(NamedCommand::from(simple))
                .filter(|found| found.rule.decision == Decision::Allow)
                .filter_map(|found| found.written.pattern.command())
                .peekable();
            allowing.peek().is_some() && allowing.all(|pattern| !pattern.open)
        })
    }
}
