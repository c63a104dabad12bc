//! Locum's own refs, below `refs/locum/`: written and removed also where somebody holds git's
//! locks.
//!
//! A session has its refs to itself. A lock of one is of a run that was killed, and is taken over.
//! Other locks are of programs at work: they are waited for, but not for long.
#![expect(clippy::disallowed_methods, reason = "locks of git are files")]

use std::time::Duration;

use git2::{ErrorCode, Oid};

use crate::repo::{Repo, RepoError};

/// How often a locked ref is tried.
const TRIES: u32 = 20;

/// Time between two tries: with [`TRIES`], a second in all.
const PAUSE: Duration = Duration::from_millis(50);

impl Repo {
    /// Lets one of a session's own refs name an object, whatever it named before.
    ///
    /// # Errors
    /// When git cannot write it.
    pub(super) fn set_own_ref(&self, name: &str, id: Oid, why: &str) -> Result<(), RepoError> {
        self.unlocked(name, || self.git.reference(name, id, true, why).map(drop))
    }

    /// Removes one of a session's own refs; one that is not there is removed already.
    ///
    /// # Errors
    /// When git cannot remove it.
    pub(super) fn remove_own_ref(&self, name: &str) -> Result<(), RepoError> {
        let delete = || self.git.find_reference(name).and_then(|mut found| found.delete());
        self.unlocked(name, || match delete() {
            // Or another process removes it at the same time.
            Err(error) if error.code() == ErrorCode::NotFound => Ok(()),
            deleted => deleted,
        })
    }

    fn unlocked(
        &self,
        name: &str,
        change: impl Fn() -> Result<(), git2::Error>,
    ) -> Result<(), RepoError> {
        let mut changed = change();
        if is_locked(&changed) {
            // Where there is none, it is another lock.
            let _ = std::fs::remove_file(self.git.commondir().join(format!("{name}.lock")));
            changed = change();
        }
        for _ in 1..TRIES {
            if !is_locked(&changed) {
                break;
            }
            std::thread::sleep(PAUSE);
            changed = change();
        }
        Ok(changed?)
    }
}

fn is_locked(changed: &Result<(), git2::Error>) -> bool {
    changed.as_ref().is_err_and(|error| error.code() == ErrorCode::Locked)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{RepoFixture, paths};

    #[test]
    fn a_lock_that_a_killed_run_left_is_taken_over() {
        let fixture = RepoFixture::new();
        let lock = fixture.root.join(".git/refs/locum/s1.lock");
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fixture.write("new", "by the run");
        for content in ["one", "two"] {
            fixture.write("new", content);
            std::fs::write(&lock, "").unwrap();
            fixture.repo.checkpoint("s1", &fixture.base, &paths(&["new"]), "x").unwrap();
        }
        std::fs::write(&lock, "").unwrap();
        fixture.repo.drop_checkpoints("s1").unwrap();
        assert!(fixture.repo.checkpoints("s1", &fixture.base, 9).unwrap().is_empty());
        assert!(!lock.exists());
    }
}
