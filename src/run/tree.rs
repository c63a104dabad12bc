//! The final tree is judged again before anything of it is published: what counts is what changed from the base, not what was
//! allowed on the way there.
//!
//! In: the changes, the policy, the modes that worked. Out: objections, none when the changes may be published.

use crate::base::secret::Redactor;
use crate::base::tool::ToolName;
use crate::modes::{Group, Mode, access};
use crate::policy::Policy;
use crate::policy::budget::{Budget, Spent};
use crate::policy::intent::{Facts, Intent};
use crate::policy::verdict::{Decision, Verdict};
use crate::workspace::diff::FileChange;

/// What the final tree is judged by.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Who asked and how.
    pub facts: &'a Facts,
    /// The modes that worked in the run.
    pub modes: &'a [&'a Mode],
    /// What may be changed at most.
    pub budget: &'a Budget,
    /// Finds secrets.
    pub redactor: &'a Redactor,
}

impl Judge<'_> {
    /// Returns why the changes may not be published, one sentence each; nothing when they may.
    #[must_use]
    pub fn objections(&self, changes: &[FileChange]) -> Vec<String> {
        let mut objections: Vec<String> = changes.iter().filter_map(|change| self.objection(change)).collect();
        let lines = changes.iter().map(|change| change.added.saturating_add(change.removed)).fold(0, u32::saturating_add);
        let size = Spent { files: u32::try_from(changes.len()).unwrap_or(u32::MAX), diff_lines: lines, ..Spent::default() };
        objections.extend(self.budget.ask_changes(&size).err().map(|exhausted| exhausted.to_string()));
        objections
    }

    fn objection(&self, change: &FileChange) -> Option<String> {
        if self.redactor.finds_secret(&change.patch) {
            return Some(format!("the change to `{}` holds a secret", change.path));
        }
        let mut last = None;
        for mode in self.modes.iter().filter(|mode| can_write(mode)) {
            match self.edit_in(mode, change) {
                Ok(()) => return None,
                Err(why) => last = Some(why),
            }
        }
        Some(last.unwrap_or_else(|| format!("no mode that worked may edit `{}`", change.path)))
    }

    /// A file may change when one mode that worked could have changed it: by its own restriction and by the policy.
    fn edit_in(&self, mode: &Mode, change: &FileChange) -> Result<(), String> {
        access::check_edit(mode, ToolName::WriteToFile, &change.path).map_err(|restriction| restriction.to_string())?;
        let facts = Facts { mode: mode.slug.clone(), ..self.facts.clone() };
        let verdict = self.policy.decide(&Intent::Edit(change.path.clone()), &facts);
        if verdict.decision == Decision::Allow { Ok(()) } else { Err(said(&verdict)) }
    }
}

fn can_write(mode: &Mode) -> bool {
    mode.groups.iter().any(|entry| matches!(entry.group, Group::Edit | Group::Command))
}

fn said(verdict: &Verdict) -> String {
    let place = verdict.rule.as_ref().map_or_else(String::new, |rule| format!(" ({}:{})", rule.origin, rule.line));
    format!("{}: {}{place}", verdict.intent, verdict.reason)
}
