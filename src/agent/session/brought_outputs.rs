//! Build output that the policy names (`commands.outputs`): brought into the run's own checkout at
//! the end.
//!
//! In: what commands left in the layer. Out: the files and links of it that may be brought, and a
//! note that names the others.

use std::collections::BTreeMap;

use crate::session::live::Session;
use crate::session::stop::Stop;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::Policy;
use locum_policy::glob::LetterCase;
use locum_policy::intent::{Facts, Intent};
use locum_policy::paths::Protection;
use locum_policy::verdict::Decision;
use locum_workspace::outputs::OutputJudge;

/// Most files that are named one by one.
const NAMED: usize = 20;

/// Judges build output by the policy.
struct PolicyJudge<'p> {
    policy: &'p Policy,
    facts: Facts,
}

impl OutputJudge for PolicyJudge<'_> {
    fn is_named(&self, path: &RepoPath) -> bool {
        let outputs = &self.policy.settings().commands.outputs;
        let mut above = Some(path.clone()).filter(|path| !path.is_root());
        std::iter::from_fn(|| {
            let parent = above.as_ref().map(RepoPath::parent).filter(|path| !path.is_root());
            std::mem::replace(&mut above, parent)
        })
        .any(|path| outputs.iter().any(|glob| glob.matches(&path, LetterCase::Exact)))
    }

    fn refusal(&self, path: &RepoPath) -> Option<String> {
        let protection = Protection::default();
        if let Some(why) = protection.of_edit(path).or_else(|| protection.of_read(path)) {
            return Some(format!("it is protected: {why}"));
        }
        if self.policy.hides(path) {
            return Some("an ignore file names it".to_owned());
        }
        let verdict = self.policy.decide(&Intent::Edit(path.clone()), &self.facts);
        let may = verdict.rule().is_none_or(|_| verdict.decision == Decision::Allow);
        (!may).then(|| verdict.reason())
    }

    fn link_refusal(&self, leads_to: &RepoPath) -> Option<String> {
        if leads_to.is_root() {
            return Some("it is a link to all of the repository".to_owned());
        }
        let protection = Protection::default();
        let below = || leads_to.join("x").ok().and_then(|path| protection.of_edit(&path));
        let protected = protection.of_edit(leads_to).or_else(below);
        if let Some(why) = protected.or_else(|| protection.of_read(leads_to)) {
            return Some(format!("it is a link to `{leads_to}`, which is protected: {why}"));
        }
        if self.is_named(leads_to) && self.refusal(leads_to).is_none() {
            return None;
        }
        let verdict = self.policy.decide(&Intent::Read(leads_to.clone()), &self.facts);
        (verdict.decision != Decision::Allow)
            .then(|| format!("it is a link to `{leads_to}`, which this run may not read"))
    }
}

impl Session<'_> {
    /// Brings the build output that the policy names into the run's own checkout.
    pub(crate) fn bring_outputs(&mut self) -> Result<(), Stop> {
        let policy = self.parts.run.policy;
        let Some(layer) = self.layers.get(&None).cloned().flatten() else { return Ok(()) };
        if policy.settings().commands.outputs.is_empty() {
            return Ok(());
        }
        let judge = PolicyJudge { policy, facts: self.facts(&self.start().mode.clone()) };
        let (repo, base) = (&self.parts.workspace.repo, self.saved(None));
        let left_out = repo.bring_outputs(&layer, base.as_ref(), &judge)?;
        match said(&left_out) {
            Some(note) => self.note_once(TaskId(0), note),
            None => Ok(()),
        }
    }
}

/// Says what was left out, if anything was.
fn said(left_out: &BTreeMap<RepoPath, String>) -> Option<String> {
    let shown: Vec<String> =
        left_out.iter().take(NAMED).map(|(path, why)| format!("`{path}` ({why})")).collect();
    let more = match left_out.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let shown = shown.join("; ");
    (!shown.is_empty()).then(|| format!("Kept out of the build output: {shown}{more}."))
}
