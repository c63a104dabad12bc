//! A carried commit as one file: what git calls a bundle, for a job that can reach no ref.
//!
//! In: a commit, and one that whoever reads the file has. Out: the file; or the commit that a file
//! holds. A file is taken for hostile: its size and the time for it are bounded, git checks every
//! object, and of the refs it names one is read.

use std::ffi::OsString;
use std::path::Path;

use crate::git_binary::process::{self, GitInvocation};
use crate::git_binary::{GitBinary, words};
use crate::remote::Remote;
use crate::repo::{CommitId, RepoError};

/// Largest bundle that is written or read, in bytes.
pub const BUNDLE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// The one ref of a bundle, here as well.
const BUNDLE_REF: &str = "refs/locum/bundle";

impl GitBinary {
    /// Writes a commit into a file, with all it needs besides `known`.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said, or when the file is too large.
    pub async fn write_bundle(
        &self,
        file: &Path,
        commit: &CommitId,
        known: &CommitId,
    ) -> Result<(), RepoError> {
        let name = words(&["update-ref", BUNDLE_REF, &commit.0]);
        GitInvocation::local("update-ref", name, &self.folder).succeed(&self.caller).await?;
        let mut arguments = words(&["bundle", "create", "--quiet"]);
        arguments.push(file.into());
        arguments.extend(words(&[BUNDLE_REF, &format!("^{known}")]));
        let create = GitInvocation::local("bundle", arguments, &self.folder);
        create.succeed(&self.caller).await?;
        Self::check_bundle(file)
    }

    /// Reads the commit that a file holds, whose objects are here then.
    ///
    /// # Errors
    /// [`RepoError::Binary`] when the file is not there, is too large, is damaged, or builds on a
    /// commit that is not here.
    pub async fn read_bundle(&self, file: &Path) -> Result<CommitId, RepoError> {
        Self::check_bundle(file)?;
        let file = file.canonicalize().map_err(|error| failed(file, &error.to_string()))?;
        let place = Remote::parse(&file.display().to_string(), None)
            .map_err(|error| failed(&file, &error.to_string()))?;
        // What unpacks to much is not unpacked into memory.
        let mut arguments: Vec<OsString> = words(&[
            "-c",
            "fetch.fsckObjects=true",
            "-c",
            "core.bigFileThreshold=16m",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--",
        ]);
        arguments.extend(words(&[place.url(), &format!("+{BUNDLE_REF}:{BUNDLE_REF}")]));
        let fetch = GitInvocation::with_remote("fetch", &place, arguments, &self.folder);
        fetch.succeed(&self.caller).await?;
        let named = words(&["rev-parse", "--verify", BUNDLE_REF]);
        let named = GitInvocation::local("rev-parse", named, &self.folder);
        let answer = named.succeed(&self.caller).await?;
        Ok(CommitId(String::from_utf8_lossy(&answer.output).trim().to_owned()))
    }

    /// Checks that a bundle is a file of a size that is read.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_bundle(file: &Path) -> Result<(), RepoError> {
        let found = file.symlink_metadata().map_err(|error| failed(file, &error.to_string()))?;
        if !found.is_file() {
            return Err(failed(file, "it is not a file"));
        }
        let size_bytes = found.len();
        if size_bytes > BUNDLE_LIMIT_BYTES {
            let message = format!("it has {size_bytes} bytes, {BUNDLE_LIMIT_BYTES} at most");
            return Err(failed(file, &message));
        }
        Ok(())
    }
}

fn failed(file: &Path, message: &str) -> RepoError {
    process::failed("bundle", format!("`{}`: {message}", file.display()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

    use std::collections::BTreeMap;
    use std::path::Path;

    use pretty_assertions::assert_eq;

    use super::{BUNDLE_LIMIT_BYTES, GitBinary};
    use crate::fixture::{RepoFixture, paths};
    use crate::repo::Repo;

    fn git(repo: &Repo) -> GitBinary {
        let path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        GitBinary::new(repo, &BTreeMap::from([("PATH".to_owned(), path)]))
    }

    /// Another machine's checkout.
    fn elsewhere(fixture: &RepoFixture, folder: &Path, name: &str) -> Repo {
        let place = folder.join(name);
        git2::Repository::clone(&fixture.root.display().to_string(), &place).unwrap();
        Repo::open(&place).unwrap()
    }

    #[tokio::test]
    async fn a_commit_goes_into_a_file_and_comes_out_whole_or_not_at_all() {
        let fixture = RepoFixture::new();
        let folder = tempfile::tempdir().unwrap();
        let there = elsewhere(&fixture, folder.path(), "there");
        let (sends, receives) = (git(&fixture.repo), git(&there));
        fixture.write("new", "by the run");
        let touched = paths(&["new"]);
        let commit = fixture.repo.checkpoint("s1", &fixture.base, &touched, "x").unwrap();
        let file = folder.path().join("x.bundle");
        sends.write_bundle(&file, &commit, &fixture.base).await.unwrap();

        let bytes = std::fs::read(&file).unwrap();
        let cut = folder.path().join("cut.bundle");
        std::fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
        let mut other = bytes.clone();
        let last = other.len() - 30;
        other[last] ^= 1;
        let changed = folder.path().join("changed.bundle");
        std::fs::write(&changed, other).unwrap();
        let large = folder.path().join("large.bundle");
        std::fs::File::create(&large).unwrap().set_len(BUNDLE_LIMIT_BYTES + 1).unwrap();
        let link = folder.path().join("link.bundle");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for wrong in [cut, changed, large, link, folder.path().join("none")] {
            assert!(receives.read_bundle(&wrong).await.is_err(), "{}", wrong.display());
        }
        assert_eq!(receives.read_bundle(&file).await.unwrap(), commit);
    }
}
