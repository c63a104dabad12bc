//! Other repositories below the checkout, such as submodules: a run changes only its own, so edits
//! of files there are refused, whatever the policy allows. The session asks before it acts,
//! `locum policy explain` without acting.

use crate::session::live::Session;
use locum_base::path::RepoPath;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Decision, Refusal, RefusedBy, Verdict};
use locum_workspace::repo::Repo;

impl Session<'_> {
    /// Refuses what an act would change of another repository.
    pub(crate) fn of_other_repository(&self, act: &impl Act) -> Option<Box<Refusal>> {
        let intents = act.intents().into_iter();
        let outside = intents.filter_map(|intent| match intent {
            Intent::Edit(path) => self.outside_repository(&path),
            _other => None,
        });
        let verdicts: Vec<Verdict> = outside.collect();
        let (decision, by) = (Decision::Deny, RefusedBy::Policy);
        (!verdicts.is_empty()).then(|| Box::new(Refusal { decision, verdicts, hint: None, by }))
    }

    /// Denies an edit of a path that is, or lies in, another repository.
    pub(crate) fn outside_repository(&self, path: &RepoPath) -> Option<Verdict> {
        denied_edit(&self.parts.workspace.repo, path)
    }
}

/// Denies an edit of a path that is, or lies in, another repository than this one; also where that
/// cannot be found out. `None` for a path of this one.
pub fn denied_edit(repo: &Repo, path: &RepoPath) -> Option<Verdict> {
    let reason = match repo.other_repository(path) {
        Ok(other) => {
            let other = other?;
            format!("it belongs to another repository, `{other}`; a run changes only its own")
        }
        Err(error) => format!("whose file it is cannot be found out: {error}"),
    };
    Some(Verdict::denied(Intent::Edit(path.clone()).to_string(), reason))
}
