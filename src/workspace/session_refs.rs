//! What git keeps of sessions that are over: the refs of their checkpoints, to be found and
//! removed.

use std::collections::BTreeMap;

use crate::carried::SESSION_REFS;
use crate::checkpoint::checkpoint_ref;
use crate::repo::{Repo, RepoError};

/// Where every ref of a session lies.
const OWN_REFS: &str = "refs/locum/";

impl Repo {
    /// Returns the names below `refs/locum/` that may be of sessions, with how many refs each has.
    ///
    /// # Errors
    /// When git cannot list its refs.
    pub fn refs_of_sessions(&self) -> Result<BTreeMap<String, usize>, RepoError> {
        let name_of = |name: &str| {
            let rest = name.strip_prefix(OWN_REFS)?;
            let rest =
                rest.strip_prefix("sessions/").or(rest.strip_prefix("trees/")).unwrap_or(rest);
            rest.split('/').next().map(str::to_owned)
        };
        let refs = self.git.references_glob(&format!("{OWN_REFS}*"))?;
        let mut counts = BTreeMap::new();
        for name in refs.flatten().filter_map(|found| name_of(found.name().ok()?)) {
            *counts.entry(name).or_default() += 1;
        }
        Ok(counts)
    }

    /// Removes every ref of a session: its checkpoints, those of its sub-tasks, what it set aside,
    /// and the session where it was carried. Returns how many there were.
    ///
    /// # Errors
    /// When git cannot list or remove them.
    pub fn forget_session(&self, session: &str) -> Result<usize, RepoError> {
        let mut names = vec![checkpoint_ref(session)?, format!("{SESSION_REFS}{session}")];
        names.retain(|name| self.git.find_reference(name).is_ok());
        let beside = self.git.references_glob(&format!("{OWN_REFS}trees/{session}/*"))?;
        names.extend(beside.flatten().filter_map(|found| Some(found.name().ok()?.to_owned())));
        for name in &names {
            self.remove_own_ref(name)?;
        }
        Ok(names.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::aside::SetAside;
    use crate::fixture::{RepoFixture, paths};
    use crate::repo::CommitId;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_session_is_forgotten_with_its_sub_tasks_and_no_other() {
        let fixture = RepoFixture::new();
        fixture.write("new", "x");
        let touched = paths(&["new"]);
        for name in ["s1", "trees/s1/2", "trees/s10/2", "s10"] {
            fixture.repo.checkpoint(name, &fixture.base, &touched, "x").unwrap();
        }
        let counts = || fixture.repo.refs_of_sessions().unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(counts(), [("s1".to_owned(), 2), ("s10".to_owned(), 2)]);
        assert_eq!(fixture.repo.forget_session("s1").unwrap(), 2);
        assert_eq!(counts(), [("s10".to_owned(), 2)]);
        assert_eq!(fixture.repo.forget_session("s1").unwrap(), 0);
        assert!(fixture.repo.forget_session("..").is_err());
    }

    #[test]
    fn what_is_set_aside_has_a_ref_until_somebody_decides_or_its_session_is_forgotten() {
        let fixture = RepoFixture::new();
        let touched = paths(&["new"]);
        let [first, second] = ["one", "two"].map(|content| {
            fixture.write("new", content);
            let aside = fixture.repo.set_aside_written(&fixture.base, &touched).unwrap();
            for _ in 0..2 {
                fixture.repo.keep_aside("s1", &aside).unwrap();
            }
            aside
        });
        fixture.repo.checkpoint("trees/s1/2", &fixture.base, &touched, "x").unwrap();
        let counts = || fixture.repo.refs_of_sessions().unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(counts(), [("s1".to_owned(), 3)]);
        for _ in 0..2 {
            fixture.repo.drop_aside("s1", &first).unwrap();
        }
        assert_eq!(counts(), [("s1".to_owned(), 2)]);
        assert_eq!(fixture.repo.forget_session("s1").unwrap(), 2);
        let gone = SetAside { after: CommitId("0".repeat(40)), ..second };
        assert!(fixture.repo.keep_aside("s1", &gone).is_err());
        assert_eq!(counts(), []);
    }
}
