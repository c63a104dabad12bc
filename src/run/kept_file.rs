//! `KeptFile`: a small file on a ref of Locum's own at a remote, where runs on other machines find
//! it.
//!
//! In: a ref and the file's name. Out: the file with the commit that holds it, or a new commit for
//! it. Moving the ref is up to whoever keeps the file: it takes a permit.

use crate::run::error::RunError;
use locum_base::path::RepoPath;
use locum_workspace::git_binary::{FetchDepth, GitBinary};
use locum_workspace::remote::Remote;
use locum_workspace::repo::{CommitId, Repo};

/// How often a ref is read that moves meanwhile.
const TRIES: u32 = 3;

/// Where refs of Locum's own are: the `git` binary, the remote, the repository they are fetched to.
#[derive(Clone, Copy)]
pub struct KeptAt<'a> {
    /// The `git` binary.
    pub git: &'a GitBinary,
    /// Where the ref is fetched from.
    pub remote: &'a Remote,
    /// Where it is fetched to.
    pub repo: &'a Repo,
}

/// A small file on a ref at a remote.
#[derive(Clone, Copy)]
pub struct KeptFile<'a> {
    /// Full name of the ref.
    pub full_name: &'a str,
    /// Name of the file.
    pub file: &'a str,
    /// Largest file that is read, in bytes.
    pub limit_bytes: u64,
    /// What a person reads where the file is unusable: what happens once the ref is deleted.
    pub once_deleted: &'a str,
    /// Where the ref is.
    pub at: KeptAt<'a>,
}

impl KeptFile<'_> {
    /// Returns the commit the ref is at; `None` where there is none.
    ///
    /// # Errors
    /// When the remote cannot be asked.
    pub async fn tip(&self) -> Result<Option<CommitId>, RunError> {
        let KeptAt { git, remote, .. } = self.at;
        git.ref_tip(remote, self.full_name).await.map_err(RunError::internal)
    }

    /// Returns the file and the commit that holds it.
    ///
    /// # Errors
    /// When the remote cannot be asked, or the ref holds no such file.
    pub async fn look(&self) -> Result<Option<(CommitId, String)>, RunError> {
        let KeptAt { git, remote, repo } = self.at;
        let name = self.full_name;
        let depth = if repo.is_shallow() { FetchDepth::Commits(1) } else { FetchDepth::Full };
        let mut last = RunError::internal(format!("`{name}` moves too fast to be read"));
        for _ in 0..TRIES {
            let Some(tip) = self.tip().await? else { return Ok(None) };
            match git.fetch(remote, &format!("+{name}:{name}"), depth).await {
                Ok(()) if repo.commit_of(name).map_err(RunError::internal)? == tip => {
                    let text = self.read(&tip)?;
                    return Ok(Some((tip, text)));
                }
                // It moved between the two.
                Ok(()) => {}
                // It may have been deleted between the two.
                Err(error) => last = RunError::internal(error),
            }
        }
        Err(last)
    }

    /// Makes the commit of a new text; no ref moves.
    ///
    /// # Errors
    /// When git fails.
    pub fn write(&self, text: &str, message: &str) -> Result<CommitId, RunError> {
        let files = [(self.file, text.as_bytes())];
        self.at.repo.carry(&files, &[], message).map_err(RunError::internal)
    }

    /// Returns the error of a file that cannot be used, with the cure.
    pub fn unusable(&self, why: &str) -> RunError {
        let (name, then) = (self.full_name, self.once_deleted);
        RunError::usage(name, format!("it is unusable: {why}"))
            .hint(format!("delete `{name}`; {then}"))
    }

    fn read(&self, tip: &CommitId) -> Result<String, RunError> {
        let path = RepoPath::parse(self.file).map_err(RunError::internal)?;
        let file = self.at.repo.file_at(tip, &path, self.limit_bytes);
        let file = file.map_err(|error| self.unusable(&error.to_string()))?;
        let file = file.ok_or_else(|| self.unusable("there is no record in it"))?;
        Ok(file.text)
    }
}
