//! Decides on files that a shell finds by a pattern: `cat src/*.c`, `clang-format -i src/*.c`.
//!
//! In: patterns that commands are given. Out: a refusal, unless every file that one may match could
//! be read or edited. Which files there are is not asked for.

use crate::command::examine::CommandEffects;
use crate::glob::PathGlob;
use crate::intent::Intent;
use crate::judge::{Evaluation, RuleMatch, Ruling, taken_away};
use crate::kind::RuleKind;
use crate::schema::CommandEdits;
use crate::verdict::Decision;
use locum_base::path::RepoPath;

impl Evaluation<'_> {
    /// Refuses globs that a shell may expand to what cannot be read.
    pub(super) fn globs(&self, examined: &CommandEffects) -> impl Iterator<Item = Ruling> {
        let commands = &self.spec.commands;
        examined.globs.iter().filter_map(|(absolute, glob)| {
            let kept: &[PathGlob] = if *absolute { &commands.unread } else { &commands.unseen };
            let met = kept.iter().find(|kept| kept.meets(glob))?;
            Some(Ruling::deny(format!(
                "`{}` may match what `{}` keeps from being read; name the files",
                glob.text(),
                met.text()
            )))
        })
    }

    /// Judges all files that a command writes and that a pattern may match; `None` when nothing is
    /// wrong with any.
    pub(super) fn edited_glob(&self, glob: &PathGlob) -> Option<Ruling> {
        let folder = folder_of(glob);
        if let Some(why) = taken_away(&Intent::Edit(folder.clone()), self.facts) {
            return Some(Ruling::deny(why));
        }
        if let Some(refused) = self.refusing_edits(glob) {
            return Some(refused);
        }
        if let Some(met) = self.kept_from_edits(glob) {
            return Some(Ruling::deny(format!(
                "`{}` may match what `{met}` keeps from being edited; name the files",
                glob.text()
            )));
        }
        let is_free = self.spec.commands.edits == CommandEdits::Checkout;
        let allowed = is_free || self.allows_all_edits(glob, &PathGlob::below(&folder));
        (!allowed).then(|| Ruling::no_rule(format!("edit({})", glob.text())))
    }

    /// Returns the rules about edits that count now and decide like this.
    fn rules_about_edits(
        &self,
        counts: impl Fn(Decision) -> bool,
    ) -> impl Iterator<Item = RuleMatch<'_>> {
        let rules = self.judge.rules.iter();
        let rules =
            rules.filter(move |rule| counts(rule.decision) && rule.narrowing.holds(self.facts));
        rules
            .flat_map(|rule| rule.patterns.iter().map(move |written| RuleMatch { rule, written }))
            .filter(|found| found.written.pattern.kind == RuleKind::Edit)
    }

    /// Returns what the strictest rule says that refuses an edit of a file which a pattern may
    /// match.
    fn refusing_edits(&self, glob: &PathGlob) -> Option<Ruling> {
        let meets = |found: &RuleMatch<'_>| {
            found.written.pattern.paths().is_some_and(|refused| refused.meets(glob))
        };
        let refusing = self.rules_about_edits(|decision| decision != Decision::Allow).filter(meets);
        refusing.max_by_key(|found| found.rule.decision).map(|found| self.judge.ruled(&found))
    }

    /// Returns what is protected from edits, or hidden, and may match a pattern.
    fn kept_from_edits(&self, glob: &PathGlob) -> Option<String> {
        let first = glob.parts().first().map_or("", String::as_str);
        // Tools read their configuration from such folders.
        if first.starts_with(['.', '*', '?']) && glob.parts().len() > 1 {
            return Some(".*/**".to_owned());
        }
        let hidden = self.judge.ignored.globs().cloned().chain(self.judge.ignored.itself_globs());
        let mut kept = self.judge.protection.unedited().cloned().chain(hidden);
        // A wildcard at its start matches no name that begins with a dot.
        let name = |glob: &PathGlob| glob.parts().last().cloned().unwrap_or_default();
        let is_visible = name(glob).starts_with(['*', '?']);
        let may_be = |kept: &PathGlob| !(is_visible && name(kept).starts_with('.'));
        kept.find(|kept| may_be(kept) && kept.meets(glob)).map(|kept| kept.text())
    }

    /// Whether one rule allows to edit every file in a folder, and leaves out none that a pattern
    /// may match.
    fn allows_all_edits(&self, glob: &PathGlob, below: &PathGlob) -> bool {
        self.rules_about_edits(|decision| decision == Decision::Allow).any(|found| {
            let covers = found.written.pattern.paths().is_some_and(|open| open.covers(below));
            let mut left_out = found.rule.except.iter().filter_map(|except| except.pattern.paths());
            covers && !left_out.any(|except| except.meets(glob))
        })
    }
}

/// Returns the folder in which all files lie that a pattern may match.
fn folder_of(glob: &PathGlob) -> RepoPath {
    let plain = |part: &&String| !part.contains(['*', '?']);
    let folders = glob.parts().split_last().map(|(_, folders)| folders).unwrap_or_default();
    let folders: Vec<&str> = folders.iter().take_while(plain).map(String::as_str).collect();
    RepoPath::parse(&folders.join("/")).unwrap_or_else(|_| RepoPath::root())
}

#[cfg(test)]
mod tests {
    use super::folder_of;
    use crate::glob::PathGlob;

    #[test]
    fn a_pattern_lies_in_the_folder_before_its_first_wildcard() {
        for (glob, folder) in
            [("src/a/*.c", "src/a"), ("src/a.c", "src"), ("*.c", "."), ("src/*/a.c", "src")]
        {
            assert_eq!(folder_of(&PathGlob::parse(glob).unwrap()).as_str(), folder, "{glob}");
        }
    }
}
