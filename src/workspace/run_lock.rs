//! `RunLock`: one run at a time in a checkout.
//!
//! In: a checkout. Out: a lock that the kernel holds for this process, so that a run that was
//! killed leaves none behind. The file says who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::PathBuf;

use crate::repo::Repo;

/// The file in git's folder of the checkout.
const LOCK_FILE: &str = "locum.lock";

/// Most bytes that are read of who holds a lock.
const HOLDER_LIMIT_BYTES: u64 = 200;

/// Proof that no other run works in a checkout. It ends with this value, or with the process.
#[derive(Debug)]
#[must_use = "the checkout is locked while it is held"]
pub struct RunLock {
    file: File,
}

/// Why a checkout is not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run works in it.
    #[error("{holder} is at work in this checkout")]
    Held {
        /// The run: its process and session.
        holder: String,
    },
    /// The file cannot be opened, locked or written.
    #[error("the lock of the checkout `{}`: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Repo {
    /// Locks the checkout for a run.
    ///
    /// # Errors
    /// [`LockError::Held`] while another run has it.
    pub fn lock_run(&self) -> Result<RunLock, LockError> {
        let (file, failed) = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => RunLock { file }.named(None).map_err(failed),
            Err(TryLockError::WouldBlock) => Err(LockError::Held { holder: holder(&file) }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Locks the checkout as soon as no other run has it.
    ///
    /// # Errors
    /// When the file cannot be opened, locked or written.
    pub fn wait_for_run(&self) -> Result<RunLock, LockError> {
        let (file, failed) = self.lock_file()?;
        file.lock().and_then(|()| RunLock { file }.named(None)).map_err(failed)
    }

    fn lock_file(&self) -> Result<(File, impl Fn(io::Error) -> LockError), LockError> {
        let path = self.git.path().join(LOCK_FILE);
        let at = path.clone();
        let failed = move |source| LockError::Io { file: at.clone(), source };
        let opened = OpenOptions::new().create(true).read(true).append(true).open(path);
        Ok((opened.map_err(&failed)?, failed))
    }
}

impl RunLock {
    /// Writes down who holds it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn named(mut self, session: Option<&str>) -> io::Result<Self> {
        let session = session.map_or_else(String::new, |session| format!(" (session {session})"));
        self.file.set_len(0)?;
        write!(self.file, "process {}{session}", std::process::id())?;
        Ok(self)
    }
}

fn holder(mut file: &File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(HOLDER_LIMIT_BYTES).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => format!("another run, {},", text.trim()),
        Ok(_) | Err(_) => "another run".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::LockError;
    use crate::fixture::RepoFixture;
    use crate::repo::Repo;

    #[test]
    fn a_second_run_is_told_who_works_in_the_checkout_and_a_later_one_is_let_in() {
        let fixture = RepoFixture::new();
        let other = Repo::open(&fixture.root).unwrap();
        let lock = fixture.repo.lock_run().unwrap().named(Some("abc")).unwrap();
        let Err(LockError::Held { holder }) = other.lock_run() else { panic!("it is held") };
        assert_eq!(holder, format!("another run, process {} (session abc),", std::process::id()));
        drop(lock);
        drop(other.lock_run().unwrap());
        drop(other.wait_for_run().unwrap());
    }
}
